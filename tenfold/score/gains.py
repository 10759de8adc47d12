"""Discounted gains: how good the top of a ranked list is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.inputs import Values, truth_and_values
from tenfold.score.means import Mean


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """Σᵣ gain at rank r / log(r + 1), over the k best ranks; the mean over lists.

    Each row is a list: y_true its gains, y_score what it is ranked by. Items of equal score share the mean
    discount of their ranks (ignore_ties=True takes them in any order, which is faster).

    >>> from tenfold.evaluate import dcg_score
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 3)
    9.499
    """
    sums = gain_sums(y_true, y_score, sample_weight, k=k, log_base=log_base, ignore_ties=ignore_ties)
    return sums.value()


def ndcg_score(
    y_true: Any, y_score: Any, *, k: int | None = None, sample_weight: Any = None, ignore_ties: bool = False
) -> float:
    """DCG divided by that of the best possible ranking, between 0 and 1; a list without any gain counts 0.

    >>> from tenfold.evaluate import ndcg_score
    >>> round(ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 3)
    0.696
    """
    return normalized_gain_sums(y_true, y_score, sample_weight, k=k, ignore_ties=ignore_ties).value()


def gain_sums(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    *,
    k: int | None = None,
    log_base: float = 2,
    ignore_ties: bool = False,
) -> Mean:
    """The statistic of the DCG."""
    if not log_base > 0 or log_base == 1:
        raise BadParameter(f"log_base={log_base!r}: must be above 0, and not 1")
    gain, score, w = _lists(y_true, y_score, sample_weight)
    return Mean.of(_gains(gain, score, _discounts(gain.shape[1], k, log_base), ignore_ties), w)


def normalized_gain_sums(
    y_true: Any, y_score: Any, sample_weight: Any = None, *, k: int | None = None, ignore_ties: bool = False
) -> Mean:
    """The statistic of the NDCG."""
    gain, score, w = _lists(y_true, y_score, sample_weight)
    if gain.min() < 0:
        row = int(np.flatnonzero((gain < 0).any(axis=1))[0])
        raise BadInput(f"ndcg_score should not be used on negative y_true values: see row {row}")
    if gain.shape[1] < 2:
        raise BadInput("Computing NDCG is only meaningful when there is more than 1 document. Got 1 instead.")
    discounts = _discounts(gain.shape[1], k, 2)
    best = np.sort(gain, axis=1)[:, ::-1] @ discounts
    reached = _gains(gain, score, discounts, ignore_ties)
    return Mean.of(np.divide(reached, best, out=np.zeros(len(best)), where=best > 0), w)


def _lists(y_true: Any, y_score: Any, sample_weight: Any) -> Values:
    given = truth_and_values(y_true, y_score, sample_weight, ("y_true", "y_score"))
    if np.ndim(y_true) != 2:
        raise BadInput(f"lists of shape {np.shape(y_true)}: give a table with a row for each list")
    return given


def _discounts(items: int, k: int | None, log_base: float) -> Array:
    if k is not None and (not isinstance(k, (int, np.integer)) or k < 1):
        raise BadParameter(f"k={k!r}: must be a whole number of at least 1")
    discounts: Array = np.log(log_base) / np.log(np.arange(2, items + 2))
    discounts[items if k is None else k :] = 0.0
    return discounts


def _gains(gain: Array, score: Array, discounts: Array, ignore_ties: bool) -> Array:
    """Σ gain × discount of each list."""
    order = np.argsort(-score, axis=1, kind="stable")
    gain = np.take_along_axis(gain, order, axis=1)
    if ignore_ties:
        return gain @ discounts
    n, m = score.shape
    score = np.take_along_axis(score, order, axis=1)
    new = np.concatenate([np.ones((n, 1), dtype=bool), score[:, 1:] != score[:, :-1]], axis=1)
    group = np.cumsum(new.reshape(-1)) - 1
    shared = np.bincount(group, weights=np.tile(discounts, n)) / np.bincount(group)
    return np.asarray((gain * shared[group].reshape(n, m)).sum(axis=1))
