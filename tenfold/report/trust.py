"""Facts about the estimate itself: folds, shuffled truth, coverage of ranges, pairs of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtr

from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.report.facts import as_list, number
from tenfold.score.record import Score
from tenfold.selection.explain.slices import span_of
from tenfold.selection.honest.estimate import COVERAGE, enough_by_class, half_width_of, in_sets, least_of
from tenfold.selection.honest.unseen import Unseen

SHUFFLES, SHUFFLED_ROWS = 200, 4_000_000  # of the truth, and rows of all of them together
PROMISED = COVERAGE
PARTS, LEAST_PART = 4, 40  # groups whose coverage is told, and the rows of each at least
MOST_GROUPS = 12


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
    """How often 90 % ranges or sets hold the truth, in all rows and in groups of them; how wide, or how large, they are."""

    kept: float  # share of rows
    groups: list[tuple[str, int, float]]  # of rows: name, how many, share that is held
    half: Array | None = None  # of numbers: half the width of the range of each row
    sizes: list[tuple[int, float]] = field(default_factory=list)  # classes in a set, and the share of rows
    least: Array | None = None  # the chance from which each class is in a set


def coverage(held: Unseen, ends: Sequence[float] = (), weights: Array | None = None) -> Coverage | None:
    """Split conformal ranges, each fold by the held-out errors of the other folds, so that no row takes part in its own range.

    ends: of numbers, the largest prediction of each level that has a width of its own in the saved model; none: one width for all.
    weights: of the rows, where the run has counted them so.
    """
    if len(np.unique(held.fold)) < 2 or len(held) < LEAST_PART:
        return None
    w = np.ones(len(held)) if weights is None else weights
    return _of_classes(held, w, weights is not None) if held.classes else _of_numbers(held, ends, w, weights is not None)


def _of_numbers(held: Unseen, ends: Sequence[float], w: Array, weighted: bool) -> Coverage | None:
    off, half = np.abs(held.truth - held.predicted), np.full(len(held), np.inf)
    level = np.searchsorted(ends[:-1], held.predicted) if len(ends) else np.zeros(len(held), dtype=np.int64)
    for part in np.unique(level):
        for k in np.unique(held.fold):
            others = (level == part) & (held.fold != k)
            half_width = half_width_of(off[others], "mae", w[others] if weighted else None)
            if half_width is not None:
                half[(level == part) & (held.fold == k)] = half_width
    if not len(ends):
        level = np.searchsorted(np.unique(np.quantile(held.predicted, np.arange(1, PARTS) / PARTS)), held.predicted)
    groups = [(_span(held.predicted[level == part]), level == part) for part in np.unique(level)]
    inside = off <= half
    return Coverage(float(np.average(inside, weights=w)), [*_shares(inside, groups, w)], half)


def _span(predicted: Array) -> str:
    return f"predicted {span_of(float(predicted.min()), float(predicted.max()))}"


def _of_classes(held: Unseen, w: Array, weighted: bool) -> Coverage | None:
    """The sets that a model of these classes has: of the classes that are likely enough, each by a threshold of its own where it can be."""
    by_class = enough_by_class(held.truth, len(held.classes))
    inside = np.ones(held.outputs.shape, dtype=bool)
    least = least_of(held.outputs, held.truth, w if weighted else None, by_class=by_class)
    if least is None:
        return None
    for k in np.unique(held.fold):
        rest, here = held.fold != k, held.fold == k
        found = least_of(held.outputs[rest], held.truth[rest], w[rest] if weighted else None, by_class=by_class)
        if found is not None:
            inside[here] = in_sets(held.outputs[here], found)
    kept, size = inside[np.arange(len(held)), held.truth], inside.sum(axis=1)
    counts = np.bincount(held.truth, minlength=len(held.classes))
    most = sorted(np.argsort(-counts, kind="stable")[:MOST_GROUPS].tolist())
    groups = [(held.classes[code], held.truth == code) for code in most]
    sizes = [(int(one), float(np.average(size == one, weights=w))) for one in np.unique(size)]
    return Coverage(float(np.average(kept, weights=w)), [*_shares(kept, groups, w)], sizes=sizes, least=least)


def _shares(inside: Array, groups: list[tuple[str, Array]], w: Array) -> Iterator[tuple[str, int, float]]:
    for name, where in groups:
        if where.sum() >= LEAST_PART:
            yield name, int(where.sum()), float(np.average(inside[where], weights=w[where]))


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
