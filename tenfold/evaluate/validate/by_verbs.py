"""Cross-validation by the ordinary route: of learners that are not Tenfold's, and of what the quick ways do not know."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from tenfold.base.foreign import objection_to
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, warn
from tenfold.evaluate.split.folds import check_same_lengths, n_rows
from tenfold.evaluate.split.splitting import UNSAID, Splitting, check_cv
from tenfold.evaluate.split.strata import target_kind
from tenfold.evaluate.validate.judges import Wanted
from tenfold.evaluate.validate.ordinary import (
    SCORE,
    Job,
    columns_of,
    fit_and_score,
    is_classifier,
    params_of,
    rows_of,
    warn_of_failures,
)
from tenfold.evaluate.validate.outputs import Unkept
from tenfold.evaluate.validate.result import CrossValidation
from tenfold.evaluate.validate.routing import Routed, RoutedScorers, routed
from tenfold.score.record import ALL_OUTPUTS, CLASSES, REGRESSION, Score
from tenfold.score.scorer import Scorers
from tenfold.score.scoring import check_scoring

Pairs = list[tuple[Array, Array]]
ABSENT = {"predict_proba": 0.0}  # what stands for a class that a split has not met; else the smallest number there is


def splits_by_verbs(model: Any, X: Any, y: Any, splitting: Splitting, asked: Mapping[str, Any] | None = None) -> Pairs:
    """Pairs (train, test) of row numbers of a table as the user gave it; a number of folds is of neighbouring rows."""
    if splitting.kind != "k-fold" or splitting.repeats != 1 or splitting.stratify not in ("auto", False):
        raise BadParameter(
            f"{type(model).__name__} is not Tenfold's: it is cross-validated by folds or cv alone, without repeats, kind or stratify"
        )
    check_same_lengths(*(one if one is None or hasattr(one, "shape") or hasattr(one, "__len__") else np.asarray(one) for one in (X, y)))
    cv = check_cv(splitting.folds if splitting.cv is UNSAID else splitting.cv, y, classifier=is_classifier(model))
    more = {"groups": splitting.groups} if asked is None else dict(asked)
    rows = np.asarray(X) if not (hasattr(X, "shape") or hasattr(X, "__len__")) else X
    return [(as_numbers(train, rows), as_numbers(test, rows)) for train, test in cv.split(rows, y, **more)]


def check_learner(model: Any, *verbs: str) -> None:
    """Refuse what cannot be fitted, or not be asked."""
    objection = objection_to(model, *verbs)
    if objection is not None:
        raise BadType(f"the model {objection}")


def as_numbers(rows: Any, X: Any) -> Array:
    """Row numbers of a mask, a slice or a list."""
    if isinstance(rows, slice):
        return np.arange(n_rows(X))[rows]
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def cross_validate_by_verbs(
    model: Any, X: Any, y: Any, splitting: Splitting, scoring: Any, params: Any, wanted: Wanted, function: str = "cross_validate"
) -> CrossValidation:
    """The scores of copies of a learner, each fitted to the training rows of a split."""
    began = time.perf_counter()
    check_learner(model)
    if isinstance(y, str):
        from tenfold.prepare.table_rows import split_by_name  # needs polars

        X, y = split_by_name(X, y)
    scorer = check_scoring(model, scoring, raise_exc=wanted.error_score == "raise")
    asked = routed(function, model, scorer, splitting, params)
    if asked.score and isinstance(scorer, Scorers):  # metadata routing is on
        scorer = RoutedScorers(scorer)
    job = Job(X, y, scorer, asked.fit, asked.score, wanted.error_score, wanted.train)
    pairs = splits_by_verbs(model, X, y, splitting, asked.split)
    outcomes = [fit_and_score(model, job, *pair) for pair in pairs]
    warn_of_failures(outcomes, wanted.error_score)
    test = columns_of([one.test for one in outcomes], wanted.error_score)
    warn_of_nan(test, scoring)
    table: dict[str, Any] = dict(
        fit_time=np.array([one.fit_time for one in outcomes]), score_time=np.array([one.score_time for one in outcomes])
    )
    if wanted.estimator:
        table["estimator"] = [one.model for one in outcomes]
    if wanted.indices:
        table["indices"] = dict(train=[train for train, _ in pairs], test=[test for _, test in pairs])
    train = columns_of([one.train for one in outcomes], wanted.error_score) if wanted.train else {}
    for name, found in test.items():
        table[f"test_{name}"] = found
        if wanted.train:
            table[f"train_{name}"] = train[name]
    name, scores = next(iter(test.items()))
    ratio = float(np.mean([len(test) / len(train) for train, test in pairs]))
    return CrossValidation(
        repr(model), score_by_verbs(model, scorer, name), scores[None], np.empty((1, 0), dtype=np.int64), Unkept(),
        "refitted", time.perf_counter() - began, ratio=ratio, table=table,
    )  # fmt: skip


def score_by_verbs(model: Any, scorer: Any, name: str) -> Score:
    """What is told of a scorer: its name; greater is better."""
    shown = getattr(scorer, "name", "") or getattr(scorer, "__name__", "") or name
    tasks = CLASSES if is_classifier(model) else (REGRESSION,)
    return Score(shown if name == SCORE else name, tasks, True, ALL_OUTPUTS, _nothing, float, merges=False, low=-np.inf)


def _nothing(*given: Any) -> Any:
    raise BadInput("outputs of a model that is not Tenfold's are not kept: there is no pooled score")


def warn_of_nan(scores: dict[str, Array], scoring: Any) -> None:
    """A scorer that returns NaN says nothing of the model: tell of it."""
    for name, found in scores.items():
        if np.isnan(found).any():
            which = scoring if isinstance(scoring, str) else name
            warn(
                f"the score {which!r} is NaN on {int(np.isnan(found).sum())} of {len(found)} splits, first on split "
                f"{int(np.argmax(np.isnan(found)))}: means over splits are NaN too",
                DataWarning,
            )


# --- predictions --------------------------------------------------------------------------------------------------------------------


def predict_by_verbs(model: Any, X: Any, y: Any, splitting: Splitting, method: str, params: Any) -> Any:
    """What a method of copies of a learner says of every row, each fitted without it."""
    check_learner(model, method)
    if isinstance(y, str):
        from tenfold.prepare.table_rows import split_by_name  # needs polars

        X, y = split_by_name(X, y)
    asked: Routed = routed("cross_val_predict", model, None, splitting, params)
    pairs = splits_by_verbs(model, X, y, splitting, asked.split)
    order = np.concatenate([test for _, test in pairs])
    if len(order) != n_rows(X) or len(np.unique(order)) != len(order):
        raise BadInput("cross_val_predict only works for partitions: every row must be held out exactly once")
    classes = _classes_of(y) if method in ("decision_function", "predict_proba", "predict_log_proba") and y is not None else None
    said = []
    for train, test in pairs:
        one, held = fresh(model), rows_of(y, train)
        given = (rows_of(X, train, one),) if y is None else (rows_of(X, train, one), held)
        one.fit(*given, **params_of(asked.fit, X, train))
        response = getattr(one, method)(rows_of(X, test, one, train))
        if not isinstance(response, list) and (n := n_rows(response)) != len(test):
            raise BadInput(f"{type(one).__name__}: {method} has returned {n} of {len(test)} rows: it must return one for each")
        said.append(response if classes is None else _by_class(one, response, classes, method))
    place = np.argsort(order, kind="stable")
    if isinstance(said[0], list):  # several targets
        return [np.concatenate([part[k] for part in said])[place] for k in range(len(said[0]))]
    if ops.is_sparse(said[0]):
        return sparse.vstack(said, format=said[0].format)[place]
    return np.concatenate([np.asarray(part) for part in said])[place]


def _classes_of(y: Any) -> Any:
    """All classes, of several targets as a list; None where y is no classes."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        return [np.unique(column) for column in y.T]
    return np.unique(y) if target_kind(y) in ("binary", "multiclass") else None


def _by_class(model: Any, response: Any, classes: Any, method: str) -> Any:
    """A column for every class of all rows, where some were not met in training."""
    if isinstance(classes, list):
        if not isinstance(response, list):
            return response
        return [_spread(part, own, all_of, method) for part, own, all_of in zip(response, model.classes_, classes, strict=True)]
    return _spread(np.asarray(response), getattr(model, "classes_", classes), classes, method)


def _spread(said: Array, own: Any, classes: Array, method: str) -> Array:
    met = len(own)
    if met == len(classes):
        return said
    warnings.warn(
        f"Number of classes in training fold ({met}) does not match total number of classes ({len(classes)}). Results may not be "
        "appropriate for your use case. To fix this, use a cross-validation technique resulting in properly stratified folds",
        RuntimeWarning,
        stacklevel=2,
    )
    if method == "decision_function":
        if said.ndim == 2 and said.shape[1] != met:
            raise BadInput(
                f"Output shape {said.shape} of {method} does not match number of classes ({met}) in fold. Irregular "
                "decision_function outputs are not currently supported by cross_val_predict"
            )
        if len(classes) <= 2 or said.ndim == 1:
            raise BadInput(
                f"Only {met} class/es in training fold, but {len(classes)} in overall dataset. This is not supported for "
                "decision_function with imbalanced folds. To fix this, use a cross-validation technique resulting in properly "
                "stratified folds"
            )
    whole = np.full((len(said), len(classes)), ABSENT.get(method, np.finfo(said.dtype).min), dtype=said.dtype)
    whole[:, np.searchsorted(classes, own)] = said
    return whole
