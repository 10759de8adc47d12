"""Attributions of any model: Shapley's values by sampling orders of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.evaluate.explain.response import ROWS_AT_ONCE, Response, response_of

CELLS_AT_ONCE = 4_000_000  # of altered rows
MOST_APART = 30  # columns that are looked at one by one; the others, which move a prediction less, are one group


@dataclass(frozen=True)
class SampledAttributions:
    """How much each column has moved the prediction for one row away from that for rows of the background.

    base + the sum of `values` + `rest` = the prediction for the row, for each output, up to rounding.
    """

    columns: list[str]
    outputs: list[str]
    base: Array  # (outputs): the mean prediction of the background rows that were drawn
    values: Array = field(repr=False)  # (columns, outputs); 0 for columns that are in `rest`
    errors: Array = field(repr=False)  # standard errors of the values, from sampling
    rest: Array  # (outputs): of all columns that were not looked at one by one
    apart: list[int]  # the columns that were looked at one by one

    @property
    def prediction(self) -> Array:
        return np.asarray(self.base + self.values.sum(axis=0) + self.rest)


def sampled_attributions(
    model: Any, row: Any, background: Any, *, orders: int = 100, most: int = MOST_APART, random_state: Any = 0
) -> SampledAttributions:
    """The Shapley values of the columns for one row of any fitted model, or of a function of rows, by sampling.

    value_j = mean over orders π of the columns and rows b of the background of
              f(row in the columns up to j in π, b in the others) − f(row in those before j in π, b in the others)

    (Štrumbelj & Kononenko 2014). Each order is used forwards and backwards with one row b, which takes most of the sampling error
    away where columns act one by one. For each pair of orders the values sum to f(row) − f(b), so that they add up exactly. Of many
    columns those that change the prediction most by themselves are looked at one by one, `most` of them, and the others as one group.

    >>> import numpy as np
    >>> from tenfold.evaluate import sampled_attributions
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> found = sampled_attributions(lambda rows: 3 * rows[:, 0] + rows[:, 1], X[:1], X)
    >>> bool(np.allclose(found.prediction, 3 * X[0, 0] + X[0, 1])), bool(abs(found.values[2, 0]) < 1e-12)
    (True, True)
    """
    if not isinstance(orders, (int, np.integer)) or orders < 2:
        raise BadParameter(f"orders={orders!r}: must be a whole number of at least 2")
    response, known = response_of(model, row), response_of(model, background)
    if len(response.X) != 1:
        raise BadInput(f"row has {len(response.X)} rows: attributions are of one row")
    if response.X.shape[1] != known.X.shape[1]:
        raise BadInput(f"row has {response.X.shape[1]} columns and background {known.X.shape[1]}: give the same columns")
    rng, x = generator(random_state), response.X[0]
    apart = _apart(response, x, known.X, int(most), rng)
    groups = [np.array([j]) for j in apart]
    others = np.setdiff1d(np.arange(len(x)), apart)
    if len(others):
        groups.append(others)
    pairs = max(1, int(orders) // 2)
    # Rows of the background in turn, shuffled: every row is used before one is used again.
    drawn = np.concatenate([rng.permutation(len(known.X)) for _ in range(pairs // len(known.X) + 1)])[:pairs]
    steps = _walks(response, x, known.X, drawn, groups, np.stack([rng.permutation(len(groups)) for _ in drawn]))
    base = response.of(known.X[drawn]).mean(axis=0)
    mean = steps.mean(axis=0)
    error = steps.std(axis=0, ddof=1) / np.sqrt(pairs) if pairs > 1 else np.full(mean.shape, np.nan)
    values, errors = (np.zeros((len(x), mean.shape[1])) for _ in range(2))
    values[apart], errors[apart] = mean[: len(apart)], error[: len(apart)]
    rest = mean[len(apart) :].sum(axis=0)
    return SampledAttributions(response.columns, response.outputs, base, values, errors, rest, [int(j) for j in apart])


def _apart(response: Response, x: Array, background: Array, most: int, rng: np.random.Generator) -> Array:
    """The columns that move the prediction most when they alone take other values."""
    p = len(x)
    if p <= most:
        return np.arange(p)
    some = background[rng.permutation(len(background))[:5]]
    here = response.of(x[None, :])[0]
    moved = np.zeros(p)
    at_once = max(1, ROWS_AT_ONCE // max(1, p))
    for start in range(0, p, at_once):
        columns = np.arange(start, min(start + at_once, p))
        rows = np.tile(x, (len(columns) * len(some), 1))
        where = np.repeat(columns, len(some))
        rows[np.arange(len(rows)), where] = np.tile(some, (len(columns), 1))[np.arange(len(rows)), where]
        change = np.abs(response.of(rows) - here).max(axis=1)
        moved[columns] = change.reshape(len(columns), len(some)).mean(axis=1)
    return np.sort(np.argsort(-moved, kind="stable")[:most])


def _walks(response: Response, x: Array, background: Array, drawn: Array, groups: list[Array], orders: Array) -> Array:
    """(pairs, groups, outputs): what each group adds on the way from a row of the background to x, the mean of an order and its reverse;
    of several pairs at once."""
    length = len(groups) + 1
    together = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(x)) // (2 * length))
    found = []
    for start in range(0, len(drawn), together):
        begun, ways = background[drawn[start : start + together]], orders[start : start + together]
        rows = np.tile(begun[:, None, None, :], (1, 2, length, 1))  # pair, way, step, column
        for pair, order in zip(rows, ways, strict=True):
            for there, way in zip(pair, (order, order[::-1]), strict=True):
                for step, g in enumerate(way):
                    there[step + 1 :, groups[g]] = x[groups[g]]
        gains = np.diff(response.of(rows.reshape(-1, len(x))).reshape(*rows.shape[:3], -1), axis=2)
        both = (gains[:, 0] + gains[:, 1, ::-1]) / 2  # by steps of the order
        found.append(np.take_along_axis(both, np.argsort(ways, axis=1)[:, :, None], axis=1))
    return np.concatenate(found)
