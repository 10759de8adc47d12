"""Facts about the estimate itself: folds, shuffled truth, coverage of ranges, pairs of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtr

from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.report.facts import as_list, number
from tenfold.score.record import Score
from tenfold.selection.unseen import Unseen

SHUFFLES, SHUFFLED_ROWS = 200, 4_000_000  # of the truth, and rows of all of them together
NOMINAL = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PROMISED = 0.9
PARTS, LEAST_PART = 4, 40  # groups whose coverage is told, and the rows of each at least


def fold_scores(held: Unseen, judge: Score) -> list[float]:
    """The score of each fold; a fold that has none is left out."""
    found = []
    for k in np.unique(held.fold):
        try:
            found.append(held.score(judge, held.fold == k))
        except TenfoldError:  # a fold without one of the classes
            continue
    return [one for one in found if np.isfinite(one)]


def shuffled_scores(held: Unseen, judge: Score, seed: int = 0) -> list[float]:
    """What the same predictions score where the truth is dealt out anew: nothing but chance."""
    rng = np.random.default_rng(seed)
    times = int(min(SHUFFLES, SHUFFLED_ROWS // max(len(held), 1)))
    try:
        found = [held.score(judge, truth=rng.permutation(held.truth)) for _ in range(times)]
    except TenfoldError:
        return []
    return [one for one in found if np.isfinite(one)]


@dataclass(frozen=True)
class Coverage:
    """How often ranges or sets hold the truth, at several levels; `groups` at the promised level; sizes of the sets there."""

    nominal: Array
    held: Array
    groups: list[tuple[str, int, float]]
    sizes: list[tuple[int, float]]  # classes in a set, and the share of rows
    half_width: float | None = None  # of numbers


def coverage(held: Unseen) -> Coverage | None:
    """Split conformal ranges, each fold by the held-out errors of the other folds, so that no row takes part in its own range."""
    scores = 1 - held.outputs[np.arange(len(held)), held.truth] if held.classes else np.abs(held.truth - held.predicted)
    folds = np.unique(held.fold)
    if len(folds) < 2 or len(held) < LEAST_PART:
        return None
    reach = np.full((len(NOMINAL), len(held)), np.inf)
    for k in folds:
        others, here = np.sort(scores[held.fold != k]), held.fold == k
        for i, level in enumerate(NOMINAL):
            place = int(np.ceil(level * (len(others) + 1)))
            if place <= len(others):
                reach[i, here] = others[place - 1]
    inside = scores <= reach
    promised = NOMINAL.index(PROMISED)
    groups = [(name, int(where.sum()), float(inside[promised, where].mean())) for name, where in _groups(held) if where.sum() >= LEAST_PART]
    sizes: list[tuple[int, float]] = []
    if held.classes:
        size = (1 - held.outputs <= reach[promised][:, None]).sum(axis=1)
        sizes = [(int(one), float((size == one).mean())) for one in np.unique(size)]
    finite = reach[promised][np.isfinite(reach[promised])]
    half = float(finite.mean()) if len(finite) and not held.classes else None
    return Coverage(np.array(NOMINAL), inside.mean(axis=1), groups, sizes, half)


def _groups(held: Unseen) -> list[tuple[str, Array]]:
    if held.classes:
        return [(name, held.truth == code) for code, name in enumerate(held.classes)][:12]
    ends = np.unique(np.quantile(held.predicted, np.arange(1, PARTS) / PARTS))
    place = np.searchsorted(ends, held.predicted)
    return [
        (f"predicted {held.predicted[place == part].min():.4g} to {held.predicted[place == part].max():.4g}", place == part)
        for part in np.unique(place)
    ]


def trace_of(record: dict[str, Any]) -> list[tuple[str, Array, bool]]:
    """Of each family its name, its score on each fold as far as it went, and whether it was dropped on the way."""
    found = []
    for one in as_list(record.get("trace")):
        if isinstance(one, dict):
            scores = np.array([np.nan if (score := number(value)) is None else score for value in as_list(one.get("scores"))])
            gone = np.flatnonzero(~np.isfinite(scores))
            scores = scores[: gone[0]] if len(gone) else scores
            if len(scores):
                found.append((str(one.get("family", "")), scores, one.get("dropped") is not None))
    return found


def fold_table(record: dict[str, Any]) -> tuple[list[str], Array] | None:
    """Names of families and their scores (families, folds), of those that ran to the end."""
    trace = trace_of(record)
    longest = max((len(scores) for _, scores, _ in trace), default=0)
    whole = [(name, scores) for name, scores, dropped in trace if len(scores) == longest and not dropped]
    return ([name for name, _ in whole], np.array([scores for _, scores in whole])) if len(whole) > 1 else None


def beats(scores: Array, greater_is_better: bool, equal: float) -> tuple[Array, Array]:
    """(families, families): the probability that the row is better than the column by more than `equal`, and that they are equal.

    The correlated Bayesian t-test (Corani & Benavoli 2015): Student's t around the mean difference, with the variance
    (1/K + 1/(K − 1)) s² of K folds whose training sets overlap (Nadeau & Bengio 2003).
    """
    m, K = scores.shape
    better, same = np.zeros((m, m)), np.eye(m)
    for i in range(m):
        for j in range(m):
            if i == j:
                continue
            d = (scores[i] - scores[j]) * (1 if greater_is_better else -1)
            mean, error = d.mean(), np.sqrt((1 / K + 1 / (K - 1)) * d.var(ddof=1))
            if error > 0:
                above, below = (float(stdtr(K - 1, (mean - end) / error)) for end in (equal, -equal))
                better[i, j], same[i, j] = above, below - above
            else:
                better[i, j], same[i, j] = float(mean > equal), float(abs(mean) <= equal)
    return better, same
