"""Cross-validation: training statistics are merged, not made again, wherever that is exact.

A one-pass learner is summarised once, fold by fold; the statistics of every training set are merges, and each
costs a solve. Leave-one-out has closed forms (`Estimator._left_out`). Other learners are fitted again on each training
set, side by side on all threads, from the solution for all rows where they can start there. Either way every
row is predicted by a model that has not seen it.
"""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.evaluate.split.plan import SplitPlan, check_classes_met, groups_of, plan
from tenfold.evaluate.split.splitting import UNSAID, Splitting, takes_splitting
from tenfold.evaluate.validate.by_verbs import cross_validate_by_verbs, predict_by_verbs
from tenfold.evaluate.validate.held_out import held_out, path_outputs, training_and_folds
from tenfold.evaluate.validate.judges import (
    Judges,
    Made,
    Wanted,
    check_one_scoring,
    judge_of,
    judges_of,
    round_scores,
    score_of,
)
from tenfold.evaluate.validate.memory import in_memory
from tenfold.evaluate.validate.ordinary import SCORE
from tenfold.evaluate.validate.outputs import Tally, Unkept
from tenfold.evaluate.validate.result import CrossValidation, FoldScores, ValidationPath
from tenfold.evaluate.validate.streamed import folds_of_stream, stream_path_scores, stream_scores
from tenfold.score.record import Score
from tenfold.score.registry import find_score

BY_HEART = 0.5  # error on training rows as a share of that on held-out rows, below which a model is not smooth


@takes_splitting()
def cross_validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    splitting: Splitting,
    score: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    params: Any = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = UNSAID,
) -> CrossValidation:
    """Score a learner on rows it has not seen.

    folds: a number; or a splitter (KFold, TimeSeriesSplit, LeaveOneOut, ..., scikit-learn's too); or pairs
    (train, test) of row numbers. repeats: how often, with new folds. stratify: "auto" spreads classes evenly
    over the folds. groups: rows of one group are never split; "duplicates" keeps equal rows together. score:
    a name as "accuracy", "log_loss", "roc_auc", "r2" or "rmse" (scikit-learn's are understood too), or a function of
    (truth, prediction) or (model, X, y). An error is shown as it is, positive, also by a name with "neg_".

    In scikit-learn's words: cv (a number, None for 5: folds of neighbouring rows, classes spread evenly for a classifier; a splitter;
    or pairs), scoring (a name, a scorer, several as a list or dict; None: the model's own score), params (what `fit` is given
    besides), return_train_score, return_estimator, return_indices, error_score. A model of another library is fitted again for
    each split and asked by its own verbs. The result is a dict with scikit-learn's keys, and more.

    kind: "k-fold" trains on all folds but one and tests on that one. "reversed" trains on one fold and tests
    on the rest: less variance, but harder on models that need many rows. "corrected" estimates the optimism
    instead of the test error: err + mean over folds l of (Errₗ − errₗ), with err the error of the fit to all
    rows on all rows, Errₗ that of the model of fold l on its held-out rows, and errₗ that of the same model
    on all rows (Burman 1989); it removes the bias of small folds. It is meant for smooth models of few parameters: of those
    that know their training rows nearly by heart (forests, neighbours) it takes off up to 1/folds of the error, and warns.

    `estimate` of the result is the score of all held-out rows together with its 95 % range for new rows.

    Files, streams and Dask collections are read block by block and never held in memory, if `folds` is a number or a
    HashKFold, and neither the learner nor the score keeps rows: folds are those of HashKFold(folds, random_state), a one-pass
    learner needs two readings, another as many as its slowest fold and one more. Everything else is read into memory first.

    Folds of one row are judged together where the score is not a mean over rows (R², RMSE), or rows have
    weights.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> round(tenfold.cross_validate(tenfold.Ridge(alpha=0.1), X, y, folds=5).mean, 3)
    1.0
    """
    wanted = Wanted(return_train_score, return_estimator, return_indices, np.nan if error_score is UNSAID else error_score)
    own_word = score is not None or (scoring is None and splitting.cv is UNSAID)
    judges = judges_of(model, scoring if score is None else score, own_word, y) if not params else None
    if judges is None:
        asked = {**(params or {}), **_weights(sample_weight)}
        return cross_validate_by_verbs(model, X, y, splitting, scoring if score is None else score, asked, wanted)
    judge, source = next(iter(judges.values())), check.check_fit(model, X, y, sample_weight)
    if not isinstance(source, Arrays) and not wanted.models and len(judges) == 1:
        began, stream = time.perf_counter(), folds_of_stream(model, source, judge, splitting)
        if stream is not None:
            table, method = stream_scores(model, source, judge, *stream)
            none = np.empty((len(table), 0), dtype=np.int64)
            return CrossValidation(repr(model), judge, table, none, Unkept(), method, time.perf_counter() - began)
    try:
        return _in_rounds(model, in_memory(source, model.missing), judges, splitting, wanted)
    except Exception:
        if splitting.cv is UNSAID or error_score == "raise":
            raise
    return cross_validate_by_verbs(model, X, y, splitting, scoring, _weights(sample_weight), wanted)


@takes_splitting("repeats", "kind")
def cross_val_score(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    splitting: Splitting,
    scoring: Any = None,
    params: Any = None,
    sample_weight: Any = None,
    error_score: Any = UNSAID,
) -> FoldScores:
    """The score of each split, greater is better, as an array that knows its `standard_error`; see `cross_validate`. cv: 5 folds.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> tenfold.cross_val_score(tenfold.Ridge(alpha=0.1), X, y, cv=3).round(3).tolist()
    [1.0, 1.0, 1.0]
    """
    check_one_scoring(scoring)
    words = {} if splitting.cv is UNSAID and splitting.folds != Splitting.folds else dict(cv=None)
    chosen = {f.name: getattr(splitting, f.name) for f in fields(splitting) if getattr(splitting, f.name) is not f.default}
    found = cross_validate(
        model, X, y, scoring=scoring, params=params, sample_weight=sample_weight, error_score=error_score, **(words | chosen)
    )
    return FoldScores.of(found)


def _in_rounds(
    model: Estimator, source: Arrays, judges: Judges, splitting: Splitting, wanted: Wanted = Wanted()  # noqa: B008
) -> CrossValidation:
    """The cross-validation of a table in memory."""
    began, training = time.perf_counter(), float("nan")
    rounds, kind = plan(model, source, splitting), splitting.kind
    if splitting.cv is not UNSAID:
        check_classes_met(source, rounds)
    judge, tally, made = next(iter(judges.values())), Tally(source, groups_of(source, splitting.groups)), Made(wanted)
    scores: dict[str, list[Any]] = {name: [] for name in judges}
    for one in rounds:
        if kind == "corrected":
            whole, everywhere, method = training_and_folds(model, source, one)
            training, corrected = _corrected(judge, source, one, whole, everywhere)
            scores[next(iter(judges))].append(corrected)
            for k, output in enumerate(everywhere):
                tally.add(one.test_rows(k), output[one.test_rows(k)])
        else:
            outputs, method = made.outputs(model, source, one) if wanted.models else held_out(model, source, one)
            for name, each_judge in judges.items():
                scores[name].append(round_scores(each_judge, source, one, outputs))
            made.judge(judges, source, one)
            for rows, output in zip(one.parts, outputs, strict=True):
                tally.add(rows, output)
    if kind == "corrected":
        _warn_of_flattery(judge, training, tally.pooled(judge))
    seconds = time.perf_counter() - began
    return CrossValidation(
        repr(model),
        judge,
        np.array(scores[next(iter(judges))]),
        np.concatenate([one.label(source.n_rows or 0) for one in rounds]),
        tally,
        method,
        seconds,
        kind=kind,
        ratio=rounds[0].ratio,
        training=training,
        rows=tally.rows(),
        table=made.table({name: judges[name].sign * np.array(found).reshape(-1) for name, found in scores.items() if found}, seconds),
    )


@takes_splitting("repeats", "kind")
def cross_val_predict(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    splitting: Splitting,
    sample_weight: Any = None,
    method: str = "predict",
    params: Any = None,
) -> Any:
    """The prediction of every row by a model that has not seen it; method "predict", "predict_proba", "predict_log_proba" or
    "decision_function". `cv`, `params` and models of other libraries as in `cross_validate`.
    """
    direct = method == "predict" or (method == "predict_proba" and hasattr(model, "predict_proba"))
    if judges_of(model, None, y=y) is None or params or not direct:
        return predict_by_verbs(model, X, y, splitting, method, {**(params or {}), **_weights(sample_weight)})
    source = in_memory(check.check_fit(model, X, y, sample_weight), model.missing)
    try:
        result = _in_rounds(model, source, {SCORE: find_score(None, model.role)}, splitting)
    except Exception:
        if splitting.cv is UNSAID:
            raise
        return predict_by_verbs(model, X, y, splitting, method, _weights(sample_weight))
    if result.rows is not None:
        raise BadInput(
            f"cross_val_predict only works for partitions: only {len(result.rows)} rows are ever held out by these folds; "
            "cross_validate returns them"
        )
    found = result.predictions if method == "predict" else result.probabilities
    return np.asarray(found)


@takes_splitting("kind")
def validation_path(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Any,
    *,
    splitting: Splitting,
    score: Any = None,
    sample_weight: Any = None,
) -> ValidationPath:
    """Cross-validated score for each value of a parameter; along a path (Ridge's alpha) all values cost about
    one fit. Of files and streams too, in one reading and bounded memory, where the learner needs one pass (see
    `cross_validate` for their folds); everything else is read into memory first.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", [0.01, 1.0, 100.0])
    >>> path.best
    0.01
    """
    judge, values = judge_of(model, score), list(np.asarray(values).tolist())
    if not values:
        raise BadParameter("values: give at least one value")
    for value in values:
        check.check_params(fresh(model).set_params(**{name: value}))
    given = check.check_fit(model, X, y, sample_weight)
    began = time.perf_counter()
    stream = None if isinstance(given, Arrays) else folds_of_stream(model, given, judge, splitting)
    if stream is not None:
        found = stream_path_scores(model, given, judge, *stream, name, values)
        if found is not None:
            seconds = time.perf_counter() - began
            return ValidationPath(repr(model), name, values, judge, found, stream[0], given.n_rows, seconds)
    source = in_memory(given, model.missing)
    rounds = plan(model, source, splitting)
    table = np.concatenate([path_scores(model, source, one, name, values, judge) for one in rounds], axis=1)
    seconds = time.perf_counter() - began
    return ValidationPath(
        repr(model), name, values, judge, table, len(rounds[0]), source.n_rows, seconds, ratio=rounds[0].ratio
    )


def path_scores(model: Estimator, source: Arrays, one: SplitPlan, name: str, values: list[Any], judge: Score) -> Array:
    """Scores (values, splits) on held-out rows."""
    direct, outputs = path_outputs(model, source, one, name, values, judge)
    if direct is not None:
        return direct
    return np.array([round_scores(judge, source, one, output) for output in outputs])


# --- scores -------------------------------------------------------------------------------------------------


def _corrected(
    judge: Score, source: Arrays, one: SplitPlan, whole: Array, everywhere: list[Array]
) -> tuple[float, list[float]]:
    """The error of the fit to all rows, and that plus the optimism of each fold's model."""
    if one.single and not judge.mean_of_rows:
        raise BadParameter(f"kind='corrected' cannot judge folds of one row by {judge.name}: take fewer folds")
    every = slice(None)
    training = score_of(judge, source, every, whole)
    tests = [one.test_rows(k) for k in range(len(one))]
    held = [score_of(judge, source, rows, out[rows]) for rows, out in zip(tests, everywhere, strict=True)]
    seen = [score_of(judge, source, every, out) for out in everywhere]
    return training, [training + error - low for error, low in zip(held, seen, strict=True)]


def _warn_of_flattery(judge: Score, training: float, held_out: float) -> None:
    """The correction takes models as smooth: one that has learned its rows by heart has no error on them, and 1/K of its error less."""
    best = judge.high if judge.greater_is_better else judge.low
    if abs(best - training) < BY_HEART * abs(best - held_out):
        warn(
            f"kind='corrected': the {judge.name} is {training:.4g} on training rows and {held_out:.4g} on held-out rows; the corrected "
            "score of a model that knows its rows so well flatters by some per cent: use kind='k-fold'",
            DataWarning,
        )


def _weights(sample_weight: Any) -> dict[str, Any]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}
