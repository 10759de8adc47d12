"""The table of a search in scikit-learn's form: `cv_results_`, and which of its lines is the best."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.compose.search.parameters import Setting
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType


class BadIndex(BadParameter, IndexError):
    """The number of a setting that there is not."""


def results_table(
    settings: list[Setting], names: list[str], test: Array, train: Array | None, times: Array, more: dict[str, Array]
) -> dict[str, Any]:
    """`test` and `train` are (scores, settings, splits), `times` (fit and score, settings, splits); `names` those of the scores."""
    table: dict[str, Any] = dict(more)
    for what, seconds in zip(("fit_time", "score_time"), times, strict=True):
        table |= {f"mean_{what}": seconds.mean(axis=1), f"std_{what}": seconds.std(axis=1)}
    for name in dict.fromkeys(name for setting in settings for name in setting):
        table[f"param_{name}"] = _column(settings, name)
    table["params"] = settings
    for place, name in enumerate(names):
        table |= _of_splits(f"test_{name}", test[place])
        table[f"rank_test_{name}"] = ranks(test[place].mean(axis=1))
        if train is not None:
            table |= _of_splits(f"train_{name}", train[place])
    return table


def _of_splits(what: str, scores: Array) -> dict[str, Array]:
    by_split = {f"split{k}_{what}": scores[:, k] for k in range(scores.shape[1])}
    return {**by_split, f"mean_{what}": scores.mean(axis=1), f"std_{what}": scores.std(axis=1)}


def _column(settings: list[Setting], name: str) -> Any:
    """The values of a parameter, masked where a setting does not have it; numbers and truth values as such, all else as objects."""
    there = [i for i, setting in enumerate(settings) if name in setting]
    values = [settings[i][name] for i in there]
    plain = all(isinstance(one, (bool, int, float, np.generic)) for one in values)
    column = np.ma.MaskedArray(np.empty(len(settings), dtype=np.array(values).dtype if plain else object), mask=True)
    for i, value in zip(there, values, strict=True):
        column[i] = value
    return column


def ranks(means: Array) -> Array:
    """1 for the best mean score; equal ones share the first of their ranks, and fits that failed share the last."""
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.int32)
    worst = np.nanmin(means) - 1
    losses = -np.where(np.isnan(means), worst, means)
    return (1 + np.searchsorted(np.sort(losses), losses)).astype(np.int32)


def check_means(search: Any, means: Array) -> None:
    """Some setting has a score to be chosen by."""
    if not np.isnan(means).all():
        return
    given = search.scoring
    name = "" if given is None else f" {getattr(given, '__name__', None) or check.short(given)}"
    raise BadInput(
        f"{type(search).__name__}: the scorer{name} gives NaN for every setting, so that nothing chooses between them: give one that is a "
        "number on each test set, or error_score='raise' to see why it fails"
    )


def index_by_function(search: Any) -> int:
    """The setting that a function as `refit` chooses."""
    must = f"the function of cv_results_ must return the number of a setting, 0 to {len(search._settings) - 1}"
    here = f"{type(search).__name__}(refit=...)"
    try:
        index = search.refit(search.cv_results_)
    except Exception as reason:
        raise BadParameter(f"{here}: {must}, but raised {type(reason).__name__}: {reason}") from reason
    if not isinstance(index, (int, np.integer)):
        raise BadType(f"best_index_ returned is not an integer: {here}: {must}, not {check.short(index)}")
    if not 0 <= index < len(search._settings):
        raise BadIndex(f"best_index_ index out of range: {here}: {must}, not {check.short(index)}")
    return int(index)
