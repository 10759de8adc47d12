"""Cross-validation: fold statistics are merged, not refitted, wherever that is exact.

A one-pass learner is summarised once, fold by fold; the statistics of every training set are merges of all folds but one, and
each costs a solve. Other learners are fitted again on each training set, folds side by side on all threads. Either way every
row is predicted by a model that has not seen it.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from tenfold.core import check
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Threads, current_engine, each, single_blas
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.estimator import OnePass, softmax
from tenfold.core.protocol import fresh
from tenfold.core.random import generator
from tenfold.core.stats import Keyed, Rows, all_but_one
from tenfold.evaluate.metrics import Score, find_score
from tenfold.evaluate.result import CrossValidation, ValidationPath
from tenfold.evaluate.splits import assign_folds, check_class_sizes

# Below this share of Σ w y², a squared error computed from moments has lost digits: predict the rows instead.
SMALLEST_SHARE = 1e-6


def cross_validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    folds: int = 10,
    repeats: int = 1,
    stratify: Any = "auto",
    groups: Any = None,
    score: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> CrossValidation:
    """Score a learner on rows it has not seen: k-fold cross-validation, repeated if asked.

    score: "accuracy", "log_loss", "brier", "r2", "mse", "rmse", "mae", or a function of (truth, prediction).
    stratify: "auto" spreads classes evenly over the folds. groups: rows of one group are never split.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> round(tenfold.cross_validate(tenfold.Ridge(alpha=0.1), X, y, folds=5).mean, 3)
    1.0
    """
    source = _in_memory(model, X, y, sample_weight)
    judge = find_score(score, model.role)
    began, scores, outputs, assigned = time.perf_counter(), [], [], []
    for fold in _assignments(model, source, folds, repeats, stratify, groups, random_state):
        output, method = held_out_outputs(model, source, fold)
        scores.append(fold_scores(judge, source, fold, output))
        outputs.append(output)
        assigned.append(fold)
    return CrossValidation(
        repr(model),
        judge,
        np.array(scores),
        np.array(assigned),
        _predictions(source, outputs),
        _probabilities(model, outputs),
        method,
        time.perf_counter() - began,
    )


def cross_val_predict(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    folds: int = 10,
    stratify: Any = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    method: str = "predict",
) -> Array:
    """The prediction of every row by a model that has not seen it; method "predict" or "predict_proba"."""
    result = cross_validate(
        model,
        X,
        y,
        folds=folds,
        stratify=stratify,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    if method == "predict":
        return result.predictions
    if method != "predict_proba" or result.probabilities is None:
        raise BadParameter(f"method={method!r}: must be 'predict', or 'predict_proba' for a classifier")
    return result.probabilities


def validation_path(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    stratify: Any = "auto",
    groups: Any = None,
    score: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> ValidationPath:
    """Cross-validated score for each value of a parameter; along a path (Ridge's alpha) all values cost about one fit.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", [0.01, 1.0, 100.0])
    >>> path.best
    0.01
    """
    source = _in_memory(model, X, y, sample_weight)
    values = list(np.asarray(values).tolist())
    if not values:
        raise BadParameter("values: give at least one value")
    for value in values:
        check.check_params(fresh(model).set_params(**{name: value}))
    judge = find_score(score, model.role)
    began, scores = time.perf_counter(), []
    for fold in _assignments(model, source, folds, repeats, stratify, groups, random_state):
        scores.append(path_scores(model, source, fold, name, values, judge))
    table = np.concatenate(scores, axis=1)  # (values, repeats x folds)
    return ValidationPath(repr(model), name, values, judge, table, folds, source.n_rows, time.perf_counter() - began)


# --- the work ---------------------------------------------------------------------------------------------------------


def held_out_outputs(model: Any, source: Arrays, fold: Array) -> tuple[Array, str]:
    """For every row the output (class scores or values) of the model of its fold, and how the models were made."""
    parts = fold_rows(fold)
    template = prepared(model, source)
    with single_blas:
        trained = merged_training(template, source, parts)
        if trained is not None:
            models = each(lambda stats: template._like(template._solve(stats)), trained[1])
        else:
            models = each(lambda rows: fresh(model)._fit(source.select(rows)), _all_but(parts))
        return outputs_of(models, source, parts), "refitted" if trained is None else "merged statistics"


def path_scores(model: Any, source: Arrays, fold: Array, name: str, values: list[Any], judge: Score) -> Array:
    """Scores (values, folds) on held-out rows."""
    parts = fold_rows(fold)
    template = prepared(model, source)
    with single_blas:
        trained = merged_training(template, source, parts) if name == model.path else None
        if trained is None:
            paths = each(lambda rows: fresh(model)._fit_path(source.select(rows), name, values), _all_but(parts))
        else:
            fits = each(lambda stats: template._solve_path(stats, values), trained[1])
            direct = scores_from_moments(template, trained[0], fits, judge)
            if direct is not None:
                return direct
            paths = [
                [template._like(fit, **{name: value}) for value, fit in zip(values, one, strict=True)] for one in fits
            ]
        columns = [outputs_of([path[v] for path in paths], source, parts) for v in range(len(values))]
        return np.array([fold_scores(judge, source, fold, output) for output in columns])


def merged_training(template: Any, source: Arrays, parts: list[Array]) -> tuple[list[Any], list[Any]] | None:
    """Statistics of each fold and of all folds but it; None where they would not be exact."""
    if not isinstance(template, OnePass):
        return None
    keyed = source.by_key(list(enumerate(parts)))
    stats = current_engine().run(partial(_summarize_keyed, template._summarize), keyed)
    by_fold = [stats[k] for k in range(len(parts))]
    training = all_but_one(by_fold)
    return (by_fold, training) if all(map(template._exact, training)) else None


def _summarize_keyed(summarize: Any, block: Block) -> Keyed:
    return Keyed({block.key: summarize(block)})


def scores_from_moments(
    template: Any, held_out: list[Any], fits: list[list[dict[str, Any]]], judge: Score
) -> Array | None:
    """Squared errors on held-out rows from those rows' own moments; None where the score is another or digits would be lost."""
    if judge.name not in ("mse", "rmse", "r2") or not hasattr(template, "_held_out_squares"):
        return None
    scores = []
    for stats, path in zip(held_out, fits, strict=True):
        squares, share = template._held_out_squares(stats, path)
        p = template.n_features_in_
        if squares.ndim > 1 or share.min() < SMALLEST_SHARE or (judge.name == "r2" and stats.scatter.shape[0] - p > 1):
            return None
        q = stats.scatter.shape[0] - p
        mse = squares / stats.weight / q
        spread = stats.scatter[p, p] / stats.weight
        if judge.name == "r2" and spread == 0:
            return None
        scores.append({"mse": mse, "rmse": np.sqrt(mse), "r2": 1 - mse / (spread or 1.0)}[judge.name])
    return np.array(scores).T


def outputs_of(models: list[Any], source: Arrays, parts: list[Array]) -> Array:
    """Row by row, the output of the model of the row's fold: one pass over the rows, on all threads."""
    keyed = source.by_key(list(enumerate(parts)))
    verb = "_scores" if models[0].role == "classifier" else "_predict"
    rows = Threads().run(lambda block: Rows.of(getattr(models[block.key], verb)(block.X)), keyed).whole()
    out = np.empty((source.n_rows or 0, *rows.shape[1:]))
    out[np.concatenate(parts)] = rows
    return out


def fold_scores(judge: Score, source: Arrays, fold: Array, output: Array) -> list[float]:
    """The score of each fold."""
    truth, w = truth_of(source)
    output = output if output.ndim == 2 else output[:, None]
    return [judge.of(truth[rows], output[rows], w[rows]) for rows in fold_rows(fold)]


def truth_of(source: Arrays) -> tuple[Array, Array]:
    """Target and weights of the rows of a source."""
    rows: Any = slice(None) if source.rows is None else source.rows
    y = source.y[rows] if source.y is not None else np.empty(0)
    return y, np.ones(len(y)) if source.w is None else source.w[rows]


def fold_rows(fold: Array) -> list[Array]:
    """Row numbers of each fold."""
    order = np.argsort(fold, kind="stable")
    return np.split(order, np.cumsum(np.bincount(fold))[:-1])


def _all_but(parts: list[Array]) -> list[Array]:
    return [np.sort(np.concatenate(parts[:k] + parts[k + 1 :])) for k in range(len(parts))]


def prepared(model: Any, source: Source) -> Any:
    """An unfitted copy that knows the facts of the gate."""
    template = fresh(model)
    vars(template).update(source.facts)
    return template


# --- the gate and the answer ------------------------------------------------------------------------------------------


def _in_memory(model: Any, X: Any, y: Any, sample_weight: Any) -> Arrays:
    """Folds need rows by number: files and streams are read into memory."""
    if getattr(model, "role", None) not in ("classifier", "regressor"):
        raise BadInput(
            f"{type(model).__name__} predicts no target, so there is nothing to score: give a classifier or a regressor of Tenfold"
        )
    source = check.check_fit(model, X, y, sample_weight)
    if isinstance(source, Arrays):
        return source
    blocks = current_engine().run(lambda block: Rows.of(block), source).parts
    columns = [np.concatenate([getattr(block, name) for block in blocks]) for name in ("X", "y", "w")]
    return Arrays(columns[0], columns[1], columns[2], source.target, source.facts, missing=model.missing)


def _assignments(
    model: Any, source: Arrays, folds: int, repeats: int, stratify: Any, groups: Any, random_state: Any
) -> list[Array]:
    if not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise BadParameter(f"repeats={repeats!r}: must be a whole number of at least 1")
    if stratify not in ("auto", True, False):
        raise BadParameter(f"stratify={stratify!r}: must be 'auto', True or False")
    codes = None
    if model.role == "classifier":
        codes = truth_of(source)[0]
        check_class_sizes(codes, source.facts["classes_"])
    if groups is not None and source.rows is not None:
        groups = np.asarray(groups)[source.rows]
    rng = generator(random_state)
    spread = codes if stratify in ("auto", True) and groups is None else None
    return [assign_folds(source.n_rows or 0, folds, rng, codes=spread, groups=groups) for _ in range(repeats)]


def _predictions(source: Arrays, outputs: list[Array]) -> Array:
    """The mean output over repeats, as labels or values."""
    mean = sum(outputs) / len(outputs)
    if source.target.classes is not None:
        return source.target.classes[mean.argmax(axis=1)]
    return mean


def _probabilities(model: Any, outputs: list[Array]) -> Array | None:
    if model.role != "classifier":
        return None
    return sum(softmax(output) for output in outputs) / len(outputs)
