"""Permutation importance of any fitted model, asked by its own verbs or by a scorer."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import legacy_generator
from tenfold.evaluate.split.folds import check_same_lengths, n_rows
from tenfold.evaluate.validate.ordinary import SCORE, rows_of
from tenfold.score.scoring import check_scoring

LARGEST_SEED = 2**31 - 1


def first_seed(random_state: Any) -> int:
    """The seed that all columns share."""
    return int(legacy_generator(random_state).randint(LARGEST_SEED + 1, dtype=np.int64))


def orders_of(random_state: Any, n: int, repeats: int) -> Array:
    """Random orders (repeats, n), the same for every column."""
    return shuffled(np.random.RandomState(first_seed(random_state)), n, repeats)


def shuffled(rng: np.random.RandomState, n: int, repeats: int) -> Array:
    """Random orders (repeats, n): the rows of each are those of the one before, in an order that is shuffled again."""
    shuffle, order, found = np.arange(n), np.arange(n), []
    for _ in range(repeats):
        rng.shuffle(shuffle)
        order = order[shuffle]
        found.append(order)
    return np.array(found)


def falls_by_verbs(
    model: Any, X: Any, y: Any, scoring: Any, n_repeats: int, random_state: Any, sample_weight: Any, max_samples: Any
) -> tuple[dict[str, float], dict[str, Array], list[str]]:
    """The scores of a fitted model, their falls (columns, repeats) when a column is shuffled, and the names of the columns."""
    table = X if hasattr(X, "iloc") else np.asarray(X)
    if getattr(table, "ndim", 2) != 2 or table.shape[1] < 1:
        raise BadInput(f"X has the shape {getattr(table, 'shape', ())}: give a table of at least one column")
    check_same_lengths(table, y)
    n, scorer = n_rows(table), check_scoring(model, scoring)
    more = {} if sample_weight is None else {"sample_weight": sample_weight}
    drawn = _number_of_rows(max_samples, n)
    seed = first_seed(random_state)
    whole = _named(scorer(model, table, y, **more) if y is not None else scorer(model, table, **more))
    falls: dict[str, list[float]] = {name: [] for name in whole}
    for j in range(table.shape[1]):
        rng = np.random.RandomState(seed)
        rows = np.sort(rng.choice(n, drawn, replace=False)) if drawn < n else np.arange(n)
        part = rows_of(table, rows)
        part = part.copy()
        truth = None if y is None else y if drawn == n else rows_of(y, rows)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight if drawn == n else rows_of(sample_weight, rows)}
        kept = _column(part, j)
        for order in shuffled(rng, drawn, n_repeats):
            _put(part, j, kept, order)
            said = _named(scorer(model, part, truth, **weights) if truth is not None else scorer(model, part, **weights))
            for name, one in said.items():
                falls[name].append(whole[name] - one)
    names = [str(name) for name in table.columns] if hasattr(table, "columns") else [f"x{j}" for j in range(table.shape[1])]
    return whole, {name: np.array(found).reshape(table.shape[1], n_repeats) for name, found in falls.items()}, names


def _named(said: Any) -> dict[str, float]:
    return {name: float(one) for name, one in said.items()} if isinstance(said, dict) else {SCORE: float(said)}


def _number_of_rows(max_samples: Any, n: int) -> int:
    whole = isinstance(max_samples, (int, np.integer)) and not isinstance(max_samples, bool)
    if not whole and not (isinstance(max_samples, float) and 0 < max_samples <= 1):
        raise BadParameter(f"max_samples={max_samples!r}: must be a number of rows, or a share in (0, 1]")
    if whole and not 1 <= max_samples <= n:
        raise BadInput(f"max_samples must be <= n_samples and at least 1: got max_samples={max_samples} of {n} rows")
    return int(max_samples) if whole else max(1, int(max_samples * n))


def _column(table: Any, j: int) -> Any:
    return table.iloc[:, j] if hasattr(table, "iloc") else table[:, j].copy()


def _put(table: Any, j: int, kept: Any, order: Array) -> None:
    """Column j in another order."""
    if hasattr(table, "iloc"):
        column = kept.iloc[order]
        column.index = table.index
        table.isetitem(j, column)
    else:
        table[:, j] = kept[order]
