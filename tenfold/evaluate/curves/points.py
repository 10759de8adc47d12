"""The points of learning and validation curves: scores on training and held-out rows.

A one-pass learner is summarised once. Each fold is cut into layers; the first layers of a fold merge to its prefixes,
and the prefixes of all folds but one are the training statistics of one point of the curve: one pass, then solves.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays, Block
from tenfold.core.engine import current_engine, each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.stats import Keyed, merge
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.plan import target_of
from tenfold.evaluate.validate.held_out import prepared, scores_from_moments
from tenfold.evaluate.validate.judges import score_of
from tenfold.evaluate.validate.merges import all_but_one
from tenfold.score.record import Score


def shares_of(sizes: Any, most: float, folds: int) -> Array:
    """Growing shares of the training rows."""
    if isinstance(sizes, (int, np.integer)) and not isinstance(sizes, bool):
        if sizes < 1:
            raise BadParameter(f"sizes={sizes}: must be at least 1")
        return np.linspace(0.1, 1.0, int(sizes)) if sizes > 1 else np.ones(1)
    wanted = np.asarray(sizes, dtype=np.float64).reshape(-1)
    shares = wanted if wanted.size and wanted.max() <= 1 else wanted / most
    if not shares.size or not (np.diff(shares) > 0).all() or not shares[0] > 0 or shares[-1] > 1 + folds / most:
        raise BadParameter(
            f"sizes={sizes!r}: must grow, from above 0 to the {most:g} rows of a training set, or to 1 as shares"
        )
    return np.minimum(shares, 1.0)


def layers_of(source: Arrays, fold: Array, folds: int, shares: Array, rng: np.random.Generator) -> Array:
    """For each row the first point of the curve whose training sets hold it; one above the last if none does.

    Rows are put in random order inside each fold; classes alternate in proportion, so that they grow alike.
    """
    n = len(fold)
    classes = np.zeros(n, dtype=np.int64) if source.target.classes is None else target_of(source)
    order = rng.permutation(n)
    place = np.empty(n)
    for k in range(folds):
        inside = order[fold[order] == k]
        for c in np.unique(classes[inside]):
            rows = inside[classes[inside] == c]
            place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        ranked = inside[np.argsort(place[inside], kind="stable")]
        place[ranked] = np.arange(len(ranked))
    # Rounding is up in some folds and down in others, so that training sets hold the share that was asked for.
    start = (np.arange(folds) + 0.5) / folds
    held = np.array([np.floor(share * np.bincount(fold, minlength=folds) + start * (share < 1)) for share in shares])
    layers = (place[None, :] >= held[:, fold]).sum(axis=0)
    if source.target.classes is not None:
        for k in range(folds):
            found = np.bincount(classes[(fold != k) & (layers == 0)], minlength=len(source.target.classes))
            if found.min() == 0:
                absent = source.target.classes[int(found.argmin())]
                raise BadInput(
                    f"the smallest training set holds no row of class {absent!r}: begin with more rows in sizes="
                )
    if min(((fold != k) & (layers == 0)).sum() for k in range(folds)) == 0:
        raise BadInput("the smallest training set holds no rows: begin with more rows in sizes=")
    return np.asarray(layers)


def _summarize_keyed(summarize: Any, block: Block) -> Keyed:
    return Keyed({block.key: summarize(block)})


def _fold_statistics(template: Any, source: Arrays, fold: Array, layers: Array, folds: int) -> Keyed | None:
    """Statistics of each (fold, layer), from one pass; None for learners of many passes."""
    if not isinstance(template, OnePass):
        return None
    groups = [((k, t), np.flatnonzero((fold == k) & (layers == t))) for k in range(folds) for t in np.unique(layers)]
    keyed = source.by_key([(key, rows) for key, rows in groups if len(rows)])
    with single_blas:
        stats: Keyed = current_engine().run(partial(_summarize_keyed, template._summarize), keyed)
    return stats


def path_scores(
    model: Estimator, source: Arrays, fold: Array, name: str, values: list[Any], folds: int, judge: Score
) -> tuple[Array, str]:
    """Scores (folds, values, 2) on training and held-out rows."""
    template = prepared(model, source)
    stats = _fold_statistics(template, source, fold, np.zeros_like(fold), folds) if name == model.path else None
    held_out = [] if stats is None else [stats[k, 0] for k in range(folds)]
    trained = all_but_one(held_out) if held_out else []
    merged = bool(trained) and all(map(template._exact, trained))
    with single_blas:
        fits = each(lambda one: template._solve_path(one, values), trained) if merged else []
        if merged:
            both = [scores_from_moments(template, rows, fits, judge) for rows in (trained, held_out)]
            if both[0] is not None and both[1] is not None:
                return np.stack([both[0].T, both[1].T], axis=-1), "merged statistics"

        def scores(k: int) -> list[tuple[float, float]]:
            if merged:
                models = [template._fitted_copy(fit, **{name: value}) for value, fit in zip(values, fits[k], strict=True)]
            else:
                models = fresh(model)._fit_path(source.select(np.flatnonzero(fold != k)), name, values)
            return [_both_scores(one, source, fold, k, None, judge) for one in models]

        return np.array(each(scores, list(range(folds)))), "merged statistics" if merged else "refitted"


def grown_scores(
    model: Estimator, source: Arrays, fold: Array, layers: Array, folds: int, points: int, judge: Score
) -> tuple[Array, str]:
    """Scores (points, folds, 2) on training and held-out rows."""
    template = prepared(model, source)
    stats = _fold_statistics(template, source, fold, layers, folds)
    training = None if stats is None else _prefixes(stats, folds, points)
    merged = training is not None and all(template._exact(one) for row in training for one in row)

    def scores(at: tuple[int, int]) -> tuple[float, float]:
        t, k = at
        if merged and training is not None:
            one = template._fitted_copy(template._solve(training[t][k]))
        else:
            one = fresh(model)._fit(source.select(np.flatnonzero((fold != k) & (layers <= t))))
        return _both_scores(one, source, fold, k, layers <= t, judge)

    with single_blas:
        direct = _from_moments(template, stats, training, judge) if merged else None
        if direct is not None:
            return direct, "merged statistics"
        found = np.array(each(scores, [(t, k) for t in range(points) for k in range(folds)]))
    return found.reshape(points, folds, 2), "merged statistics" if merged else "refitted"


def _from_moments(template: Estimator, stats: Any, training: Any, judge: Score) -> Array | None:
    """Scores (points, folds, 2) from the moments of the rows they are of; None where those do not give them."""
    held_out = [merge(one for (fold, _), one in stats.items() if fold == k) for k in range(len(training[0]))]
    points = []
    for trained in training:
        fits = each(lambda one: [template._solve(one)], trained)
        both = [scores_from_moments(template, rows, fits, judge) for rows in (trained, held_out)]
        if both[0] is None or both[1] is None:
            return None
        points.append(np.stack([both[0][0], both[1][0]], axis=-1))
    return np.array(points)


def _prefixes(stats: Keyed, folds: int, points: int) -> list[list[Any]]:
    """For each point t and fold k, the merge of the layers up to t of all folds but k."""
    training: list[list[Any]] = []
    grown: list[Any] = [None] * folds
    for t in range(points):
        for k in range(folds):
            if (k, t) in stats:
                grown[k] = stats[k, t] if grown[k] is None else grown[k] + stats[k, t]
        if any(one is None for one in grown):  # a fold of which no row is needed yet
            here = [[one for j, one in enumerate(grown) if j != k and one is not None] for k in range(folds)]
            training.append([sum(rest[1:], start=rest[0]) for rest in here])
        else:
            training.append(all_but_one(grown))
    return training


def _both_scores(
    one: Any, source: Arrays, fold: Array, k: int, held: Array | None, judge: Score
) -> tuple[float, float]:
    """The score of a model on the rows it learned (those of other folds that are `held`) and on fold k."""
    learned = fold != k if held is None else (fold != k) & held
    scores = []
    for rows in (np.flatnonzero(learned), np.flatnonzero(fold == k)):
        output = map_rows(one._outputs, _plain(source.select(rows)))
        scores.append(score_of(judge, source, rows, output))
    return scores[0], scores[1]


def _plain(source: Arrays) -> Arrays:
    return Arrays(source.X, None, None, source.target, source.facts, rows=source.rows, missing=source.missing)
