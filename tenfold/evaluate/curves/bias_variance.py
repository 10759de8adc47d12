"""Bias and variance: why a learner errs, found by training it on many resampled tables.

Squared loss          error = bias² + variance + noise
0-1 loss (Domingos)   error = bias + net variance + effect of noise
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.threads import single_blas
from tenfold.evaluate.curves.decomposition import BiasVariance, BiasVariancePath, squared, zero_one
from tenfold.evaluate.validate.memory import read
from tenfold.score.record import split_choice

Sampler = Callable[[np.random.Generator], tuple[Any, Any]]


def bias_variance(
    model: Any,
    X: Any,
    y: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    truth: Any = None,
    noise: float | None = None,
    replicates: int = 100,
    random_state: Any = 0,
) -> BiasVariance:
    """Bias and variance of a learner: squared loss for a regressor, 0-1 loss for a classifier.

    Training sets are bootstrap samples of the rows (X, y), or what X(rng) returns if X is a function (a simulation).
    Rows are judged at (X_test, y_test); without them, each row of X by the models that did not draw it.

    truth   of the judged rows: E[y|x], or the probabilities of the classes of a classifier, a column each
    noise   instead of truth, the variance of y given x (regressors)

    Squared loss, with f̄ the mean over B models:  variance = Σ (f − f̄)²/(B − 1),  bias² = (truth − f̄)² − variance/B,
    both unbiased.
    0-1 loss (Domingos 2000), with m the most frequent prediction and t the most probable class:  bias = [m ≠ t],
    variance = P(f ≠ m) where m = t and −P(f = t) elsewhere,  noise = Σₖ P(f = k)(1 − P(y = k)) − P(f ≠ t).

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import bias_variance
    >>> X = np.random.default_rng(0).normal(size=(100, 2)); y = X[:, 0] ** 2
    >>> parts = bias_variance(tenfold.LinearRegression(), X, y)
    >>> parts.bias > parts.variance
    True
    """
    return _decompose([model], X, y, X_test, y_test, truth, noise, replicates, random_state)[0]


def bias_variance_path(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    truth: Any = None,
    noise: float | None = None,
    replicates: int = 100,
    random_state: Any = 0,
) -> BiasVariancePath:
    """`bias_variance` for each value of a parameter, all on the same training sets.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import bias_variance_path
    >>> X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0]
    >>> path = bias_variance_path(tenfold.Ridge(), X, y, "alpha", [0.1, 100.0], replicates=20)
    >>> path.best
    0.1
    """
    values = list(np.asarray(values).tolist())
    if not values:
        raise BadParameter("values: give at least one value")
    models = [fresh(model).set_params(**{name: value}) for value in values]
    return BiasVariancePath(
        name, values, _decompose(models, X, y, X_test, y_test, truth, noise, replicates, random_state)
    )


def _decompose(
    models: list[Any],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    truth: Any,
    noise: Any,
    replicates: int,
    random_state: Any,
) -> list[BiasVariance]:
    model = models[0]
    if getattr(model, "role", None) not in ("classifier", "regressor"):
        raise BadInput(f"{type(model).__name__} predicts no target: give a classifier or a regressor of Tenfold")
    if not isinstance(replicates, (int, np.integer)) or replicates < 2:
        raise BadParameter(f"replicates={replicates!r}: must be a whole number of at least 2")
    for one in models:
        check.check_params(one)
    if noise is not None and (truth is not None or model.role == "classifier" or not noise >= 0):
        raise BadParameter(f"noise={noise!r}: must not be negative, is for regressors, and takes the place of truth")
    rng = generator(random_state)
    draws: list[tuple[int, Array | None]]
    if callable(X):
        if X_test is None:
            raise BadInput("a simulation needs rows to be judged at: give X_test, and y_test or truth")
        train, draws = X, [(seed, None) for seed in rng.integers(0, 2**63, size=replicates)]
        judged = check.in_memory(model, X_test, _target_at(model, y_test, truth, None))
    else:
        rows = read(model, X, y)
        train, draws = rows, [(0, _counts(rng, rows)) for _ in range(replicates)]
        judged = rows
        if X_test is not None:
            check.check_width(model, np.shape(X_test)[1], rows.n_features)
            classes, categories = rows.facts.get("classes_"), rows.facts.get("categories_")
            judged = check.in_memory(
                model, X_test, _target_at(model, y_test, truth, classes), None, classes, categories
            )

    def predictions(draw: tuple[int, Array | None]) -> list[Array]:
        source = _training(model, train, draw, judged)
        fitted = [fresh(one)._fit(source) for one in models]
        return [_prediction(map_rows(one._outputs, judged.whole()), judged) for one in fitted]

    if model.role == "regressor" and judged.target.width > 1:
        raise BadInput("the target has several columns: decompose the error of one at a time")
    with single_blas:
        predicted = np.array(each(predictions, draws))  # (replicates, models, rows)
    seen = np.array(
        [np.ones(predicted.shape[2], bool) if c is None or X_test is not None else c == 0 for _, c in draws]
    )
    if seen.sum(axis=0).min() < 2:
        raise BadInput(
            f"row {int(seen.sum(axis=0).argmin())} was left out of fewer than 2 of {replicates} samples: "
            "ask for more replicates"
        )
    if model.role == "regressor":
        return [
            squared(predicted[:, m], seen, judged, truth, noise, X_test is not None and y_test is None)
            for m in range(len(models))
        ]
    return [zero_one(predicted[:, m], seen, judged, truth) for m in range(len(models))]


def _prediction(output: Array, judged: Arrays) -> Array:
    """The value, or the number of the class, that a model gives to each row."""
    if judged.target.classes is None:
        return output[:, 0]
    scores, chosen = split_choice(output, len(judged.target.classes))
    return scores.argmax(axis=1) if chosen is None else chosen


def _target_at(model: Estimator, y_test: Any, truth: Any, classes: Array | None) -> Any:
    """The targets of the judged rows; where only the truth is known, any labels that name every class."""
    if y_test is not None:
        return y_test
    if truth is None:
        raise BadInput("rows to be judged at need their targets: give y_test, or truth")
    truth = np.asarray(truth, dtype=np.float64)
    if model.role == "regressor":
        return truth
    width = truth.shape[1] if truth.ndim == 2 else 0
    if width < 2 or len(truth) < width or (classes is not None and len(classes) != width):
        raise BadInput(
            f"truth has shape {truth.shape}: a classifier needs one column of probabilities for each of its classes"
        )
    return (np.arange(width) if classes is None else classes)[np.arange(len(truth)) % width]


def _counts(rng: np.random.Generator, source: Arrays) -> Array:
    """How often each row is drawn; drawn again where a class would be absent."""
    n = source.n_rows or 0
    for _ in range(100):
        counts = np.bincount(rng.integers(0, n, size=n), minlength=n).astype(np.float64)
        classes = source.target.classes
        if classes is None or source.y is None or np.bincount(source.y, counts, minlength=len(classes)).min() > 0:
            return counts
    raise BadInput("bootstrap samples keep missing a class: its rows are too few for the bootstrap")


def _training(model: Estimator, train: Arrays | Sampler, draw: tuple[int, Array | None], judged: Arrays) -> Arrays:
    seed, counts = draw
    if isinstance(train, Arrays):
        assert counts is not None
        drawn = np.flatnonzero(counts)
        return Arrays(train.X, train.y, counts, train.target, train.facts, rows=drawn, missing=train.missing)
    X, y = train(np.random.default_rng(seed))
    return check.in_memory(model, X, y, None, judged.facts.get("classes_"), judged.facts.get("categories_"))
