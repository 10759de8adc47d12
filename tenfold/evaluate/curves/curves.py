"""Learning and validation curves: scores on training and held-out rows, along the number of rows or along a parameter."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadParameter
from tenfold.core.random import generator
from tenfold.evaluate.curves.by_words import Asked, grown_points, path_points
from tenfold.evaluate.curves.points import grown_scores, layers_of, path_scores, shares_of
from tenfold.evaluate.curves.result import LearningCurve, ValidationCurve
from tenfold.evaluate.split.folds import check_folds
from tenfold.evaluate.split.plan import plan
from tenfold.evaluate.split.splitting import UNSAID, Splitting, takes_splitting
from tenfold.evaluate.validate.judges import is_ours, judge_of, judges_of, several_labels
from tenfold.evaluate.validate.memory import read
from tenfold.score.record import Score


@takes_splitting("stratify", "kind")
def learning_curve(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    splitting: Splitting,
    sizes: Any = 8,
    score: Any = None,
    sample_weight: Any = None,
    train_sizes: Any = None,
    scoring: Any = None,
    shuffle: bool = False,
    exploit_incremental_learning: bool = False,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: Any = None,
) -> LearningCurve:
    """The score on held-out and on training rows as the training set grows.

    sizes: how many sizes (from a tenth of the training rows to all of them), or shares of the training rows in (0, 1],
    or numbers of rows. A smaller training set is a part of each larger one; classes keep their shares.

    In scikit-learn's words (cv, train_sizes, scoring, shuffle, ...; see `cross_validate`) training sets are the first rows of
    those of `cv`. The result unpacks as sizes, training scores, test scores, greater is better (and seconds for fits and for
    scores with return_times).

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(80, 5)); y = X.sum(axis=1)
    >>> curve = learning_curve(tenfold.Ridge(), X, y, sizes=[10, 20, 72])
    >>> bool(curve.test_mean[0] < curve.test_mean[-1]), [round(size) for size in curve.sizes]
    (True, [10, 20, 72])
    """
    if splitting.cv is not UNSAID or not is_ours(model) or several_labels(model, y):
        return _grown_by_words(
            Asked(model, X, y, splitting, scoring if score is None else score, params, error_score, "learning_curve"),
            np.linspace(0.1, 1.0, 5) if train_sizes is None else train_sizes, shuffle, exploit_incremental_learning, return_times,
        )  # fmt: skip
    source, judge, assigned, began = _begin(model, X, y, sample_weight, splitting, score)
    n, folds = source.n_rows or 0, int(splitting.folds)
    wanted = shares_of(sizes, n - n / folds, folds)
    train, test, counts, method = [], [], [], ""
    rng = generator(splitting.random_state)
    for fold in assigned:
        layers = layers_of(source, fold, folds, wanted, rng)
        points, method = grown_scores(model, source, fold, layers, folds, len(wanted), judge)
        counts.append(
            np.mean([[(layers <= t)[fold != k].sum() for k in range(folds)] for t in range(len(wanted))], axis=1)
        )
        train.append(points[..., 0])
        test.append(points[..., 1])
    both = np.concatenate(train, axis=1), np.concatenate(test, axis=1)
    return LearningCurve(repr(model), judge, *both, folds, method, time.perf_counter() - began, np.mean(counts, axis=0))


@takes_splitting("stratify", "kind")
def validation_curve(
    model: Any,
    X: Any,
    y: Any = None,
    name: Any = None,
    values: Any = None,
    *,
    splitting: Splitting,
    score: Any = None,
    sample_weight: Any = None,
    param_name: Any = None,
    param_range: Any = None,
    scoring: Any = None,
    error_score: Any = np.nan,
    params: Any = None,
) -> ValidationCurve:
    """The score on held-out and on training rows for each value of a parameter; a path costs about one fit.

    In scikit-learn's words: param_name, param_range, cv, scoring, ... (see `cross_validate`); the result unpacks as training
    scores and test scores, greater is better.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import validation_curve
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> validation_curve(tenfold.Ridge(), X, y, "alpha", [0.01, 1.0, 100.0]).best
    0.01
    """
    name, values = name if param_name is None else param_name, values if param_range is None else param_range
    values = [] if values is None else list(np.asarray(values).tolist()) if _plain_values(values) else list(values)
    if not values:
        raise BadParameter("values: give at least one value")
    if splitting.cv is not UNSAID or not is_ours(model) or several_labels(model, y):
        return _path_by_words(
            Asked(model, X, y, splitting, scoring if score is None else score, params, error_score, "validation_curve"), name, values
        )
    source, judge, assigned, began = _begin(model, X, y, sample_weight, splitting, score)
    folds = int(splitting.folds)
    for value in values:
        check.check_params(fresh(model).set_params(**{name: value}))
    train, test, method = [], [], ""
    for fold in assigned:
        points, method = path_scores(model, source, fold, name, values, folds, judge)
        train.append(points[..., 0].T)
        test.append(points[..., 1].T)
    both = np.concatenate(train, axis=1), np.concatenate(test, axis=1)
    return ValidationCurve(repr(model), judge, *both, folds, method, time.perf_counter() - began, name, values)


# --- the work ---------------------------------------------------------------------------------------------------------


def _begin(
    model: Any, X: Any, y: Any, w: Any, splitting: Splitting, score: Any
) -> tuple[Arrays, Score, list[Array], float]:
    began, judge = time.perf_counter(), judge_of(model, score)
    source = read(model, X, y, w)
    n = source.n_rows or 0
    check_folds(splitting.folds, n)
    rounds = plan(model, source, splitting)
    return source, judge, [one.label(n)[0] for one in rounds], began


def _plain_values(values: Any) -> bool:
    return isinstance(values, np.ndarray) or all(isinstance(one, (bool, int, float, str, np.generic)) for one in values)


def _grown_by_words(asked: Asked, train_sizes: Any, shuffle: bool, in_steps: bool, with_times: bool) -> LearningCurve:
    began = time.perf_counter()
    sizes, points, splits = grown_points(asked, train_sizes, shuffle, in_steps)
    table = [one.reshape(len(sizes), splits) for one in points[:4]]
    seconds = time.perf_counter() - began
    return LearningCurve(
        repr(asked.model), points.judge, table[0], table[1], splits, points.method, seconds, sizes,
        times=(table[2], table[3]) if with_times else (),
    )  # fmt: skip


def _path_by_words(asked: Asked, name: str, values: list[Any]) -> ValidationCurve:
    began, judges = time.perf_counter(), None if asked.params else judges_of(asked.model, asked.scoring, y=asked.y)
    if judges is not None and name == asked.model.path:  # the whole path from one fit for each fold
        judge = next(iter(judges.values()))
        source = read(asked.model, asked.X, asked.y)
        rounds = plan(asked.model, source, asked.splitting)
        if len(rounds) == 1 and rounds[0].kind == "folds" and not rounds[0].single:
            folds = len(rounds[0])
            found, method = path_scores(asked.model, source, rounds[0].label(source.n_rows or 0)[0], name, values, folds, judge)
            both, seconds = (found[..., 0].T, found[..., 1].T), time.perf_counter() - began
            return ValidationCurve(repr(asked.model), judge, *both, folds, method, seconds, name, values)
    points, splits = path_points(asked, name, values)
    both = points.train.reshape(len(values), splits), points.test.reshape(len(values), splits)
    seconds = time.perf_counter() - began
    return ValidationCurve(repr(asked.model), points.judge, *both, splits, points.method, seconds, name, values)
