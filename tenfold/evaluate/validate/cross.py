"""Cross-validation: training statistics are merged, not made again, wherever that is exact.

A one-pass learner is summarised once, fold by fold; the statistics of every training set are merges, and each
costs a solve. Leave-one-out has closed forms (`Estimator._left_out`). Other learners are fitted again on each training
set, side by side on all threads, from the solution for all rows where they can start there. Either way every
row is predicted by a model that has not seen it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.split.plan import SplitPlan, plan, truth_of
from tenfold.evaluate.split.splitting import Splitting, takes_splitting
from tenfold.evaluate.validate.held_out import held_out, path_outputs, training_and_folds
from tenfold.evaluate.validate.memory import in_memory
from tenfold.evaluate.validate.outputs import Tally, Unkept
from tenfold.evaluate.validate.result import CrossValidation, ValidationPath
from tenfold.evaluate.validate.streamed import folds_of_stream, stream_path_scores, stream_scores
from tenfold.score.record import PROBABILITIES, Score, judged_output
from tenfold.score.registry import find_score


@takes_splitting()
def cross_validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    splitting: Splitting,
    score: Any = None,
    sample_weight: Any = None,
) -> CrossValidation:
    """Score a learner on rows it has not seen.

    folds: a number; or a splitter (KFold, TimeSeriesSplit, LeaveOneOut, ..., scikit-learn's too); or pairs
    (train, test) of row numbers. repeats: how often, with new folds. stratify: "auto" spreads classes evenly
    over the folds. groups: rows of one group are never split; "duplicates" keeps equal rows together. score:
    a name as "accuracy", "log_loss", "roc_auc", "r2" or "rmse" (scikit-learn's are understood too), or a function of
    (truth, prediction) or (model, X, y). An error is shown as it is, positive, also by a name with "neg_".

    kind: "k-fold" trains on all folds but one and tests on that one. "reversed" trains on one fold and tests
    on the rest: less variance, but harder on models that need many rows. "corrected" estimates the optimism
    instead of the test error: err + mean over folds l of (Errₗ − errₗ), with err the error of the fit to all
    rows on all rows, Errₗ that of the model of fold l on its held-out rows, and errₗ that of the same model
    on all rows (Burman 1989); it removes the bias of small folds.

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
    judge, source = _judge_of(model, score), check.check_fit(model, X, y, sample_weight)
    if not isinstance(source, Arrays):
        began, stream = time.perf_counter(), folds_of_stream(model, source, judge, splitting)
        if stream is not None:
            table, method = stream_scores(model, source, judge, *stream)
            none = np.empty((len(table), 0), dtype=np.int64)
            return CrossValidation(repr(model), judge, table, none, Unkept(), method, time.perf_counter() - began)
    return _in_rounds(model, in_memory(source, model.missing), judge, splitting)


def _in_rounds(model: Estimator, source: Arrays, judge: Score, splitting: Splitting) -> CrossValidation:
    """The cross-validation of a table in memory."""
    began, scores, training = time.perf_counter(), [], float("nan")
    rounds, kind = plan(model, source, splitting), splitting.kind
    tally = Tally(source)
    for one in rounds:
        if kind == "corrected":
            whole, everywhere, method = training_and_folds(model, source, one)
            training, corrected = _corrected(judge, source, one, whole, everywhere)
            scores.append(corrected)
            for k, output in enumerate(everywhere):
                tally.add(one.test_rows(k), output[one.test_rows(k)])
        else:
            outputs, method = held_out(model, source, one)
            scores.append(round_scores(judge, source, one, outputs))
            for rows, output in zip(one.parts, outputs, strict=True):
                tally.add(rows, output)
    return CrossValidation(
        repr(model),
        judge,
        np.array(scores),
        np.concatenate([one.label(source.n_rows or 0) for one in rounds]),
        tally,
        method,
        time.perf_counter() - began,
        kind=kind,
        ratio=rounds[0].ratio,
        training=training,
        rows=tally.rows(),
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
) -> Array:
    """The prediction of every row by a model that has not seen it; method "predict" or "predict_proba"."""
    source = _in_memory(model, X, y, sample_weight)
    result = _in_rounds(model, source, find_score(None, model.role), splitting)
    if result.rows is not None:
        raise BadInput(f"only {len(result.rows)} rows are ever held out by these folds: cross_validate returns them")
    if method == "predict":
        return result.predictions
    if method != "predict_proba" or result.probabilities is None or not hasattr(model, "predict_proba"):
        raise BadParameter(f"method={method!r}: must be 'predict', or 'predict_proba' for a classifier")
    return result.probabilities


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
    judge, values = _judge_of(model, score), list(np.asarray(values).tolist())
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


def round_scores(judge: Score, source: Arrays, one: SplitPlan, outputs: list[Array]) -> Any:
    """The score of each split; of all rows at once where splits of one row cannot be scored."""
    if one.single and judge.mean_of_rows and source.w is None:
        return judge.of_rows(*_judged(judge, source, slice(None), outputs[0])[:2])
    return [score_of(judge, source, rows, output) for rows, output in zip(one.parts, outputs, strict=True)]


def score_of(judge: Score, source: Arrays, rows: Any, output: Array) -> float:
    """The score of outputs as `_outputs` gives them."""
    return judge.of(*_judged(judge, source, rows, output), source.target.classes)


def _judged(judge: Score, source: Arrays, rows: Any, output: Array) -> tuple[Array, Array, Array]:
    """Truth, outputs as the score wants them, and weights."""
    truth, w = truth_of(source, rows)
    return truth, judged_output(judge, output, source.target.classes), w


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


# --- the gate and the result ------------------------------------------------------------------------------


def _in_memory(model: Estimator, X: Any, y: Any, sample_weight: Any) -> Arrays:
    """Folds need rows by number: files and streams are read into memory."""
    _role_of(model)
    return in_memory(check.check_fit(model, X, y, sample_weight), model.missing)


def _judge_of(model: Any, score: Any) -> Score:
    """The score by which a model is judged; one of probabilities needs a classifier that has some."""
    judge = find_score(score, _role_of(model))
    if judge.output == PROBABILITIES and not hasattr(model, "predict_proba"):
        raise BadParameter(f"score={judge.name!r}: needs probabilities, and this {type(model).__name__} has no predict_proba")
    return judge


def _role_of(model: Any) -> str:
    """Of a learner that can be scored."""
    role = getattr(model, "role", None)
    if role not in ("classifier", "regressor"):
        raise BadInput(
            f"{type(model).__name__} predicts no target, so there is nothing to score: give a classifier or "
            "a regressor of Tenfold"
        )
    return str(role)
