"""Conformal prediction: intervals and sets of guaranteed coverage, for any learner.

Scores of rows by models that have not seen them show how far off predictions are; a new row is treated alike.
Nothing is assumed but that rows are exchangeable (drawn alike, in any order).
"""

from __future__ import annotations

import copy
from math import ceil
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, softmax
from tenfold.base.scored import table_of
from tenfold.base.sklearn_api import SklearnApi, fresh
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter, not_fitted
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.folds import assign_folds
from tenfold.evaluate.split.plan import SplitPlan, folds_plan, target_of
from tenfold.evaluate.validate.held_out import outputs_of, split_models
from tenfold.evaluate.validate.judges import scored_rows
from tenfold.evaluate.validate.leave_out import leave_one_out_coefficients
from tenfold.score.record import split_choice

TINY = 1e-12  # share of the largest residual below which a scale is not trusted
AUTO = "auto"
FEWEST_TO_SCALE, MOST_TO_SCALE = 150, 2000  # rows from which sizes of residuals can be told apart, and that a tree of sizes needs
CELLS = 1 << 22  # numbers of (new row, training row) pairs held at a time


@estimator
class Conformal(SklearnApi):
    """Conformal: prediction intervals and sets with a stated coverage, around any learner.

    Model       regression: the interval of values y whose residual is not unusual among held-out residuals;
                classification: the set of classes whose score is not unusual
    Objective   P(truth in interval or set) = coverage, whatever the learner and the distribution; with
                α = 1 − coverage, split and cqr have at least 1 − α, cv+ and jackknife+ at least 1 − 2α and
                close to 1 − α
    Algorithm   cv+: Rᵢ = |yᵢ − f₋ₖ(xᵢ)|, f₋ₖ the model without the fold of row i; the interval of x goes from
                the ⌊α(n+1)⌋-th smallest f₋ₖ₍ᵢ₎(x) − Rᵢ to the ⌈(1−α)(n+1)⌉-th smallest f₋ₖ₍ᵢ₎(x) + Rᵢ.
                jackknife+: the same with folds of one row (closed form for least squares and ridge).
                split: one model, residuals of rows kept aside. cqr: two quantile regressions, and how far
                the truth lies outside of them. With `scale` (a regressor) residuals are divided by the size
                that it predicts from x: a model of log |residual| of the rows trained on. Without, where noise is
                uneven, intervals of the noisiest rows hold far less than the coverage.
                Classes: lac scores 1 − p(y); aps the probability of y and of all classes more probable
    Cost        the fits of the folds; O(n) a predicted row for cv+ and jackknife+
    Fails when  rows are not exchangeable (time, groups); too few rows for the coverage (infinite intervals)
    Reference   Barber, Candès, Ramdas & Tibshirani 2021 (cv+, jackknife+); Romano, Patterson & Candès 2019
                (cqr); Romano, Sesia & Candès 2020 (aps); Sadinle, Lei & Wasserman 2019 (lac)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import Conformal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)); y = X @ [1.0, 2.0] + rng.normal(size=200)
    >>> interval = Conformal(tenfold.Ridge(), coverage=0.9).fit(X, y).predict_interval(X[:1])
    >>> bool(interval[0, 0] < y[0] < interval[0, 1])
    True
    """

    model: Any = param(default=None, doc="the learner; for cqr one with a parameter `quantile`, or a pair (low, high)")
    _: KW_ONLY
    method: str = param(default="cv+", one_of=("cv+", "jackknife+", "split", "cqr"), doc="how held-out rows are found")
    coverage: float = param(default=0.9, above=0, at_most=1, doc="share of new rows whose truth shall be inside")
    folds: int = param(default=10, at_least=2, doc="folds of cv+")
    scale: Any = param(
        default="auto",
        doc="regressor for the size of residuals; None: the same everywhere; 'auto': a forest from 150 rows on (cv+ and split)",
    )
    sets: str = param(default="lac", one_of=("lac", "aps"), doc="score of classes: smallest sets, or adaptive sets")
    calibration: float = param(default=0.25, above=0, at_most=0.9, doc="share of rows kept aside by split and cqr")
    random_state: Any = param(default=0, doc="seed of the folds")

    n_features_in_: int = learned("int:p", "number of columns")
    model_: Any = learned("learner", "fitted to all rows; to the training part for split; cqr: of the upper quantile")
    low_: Any = learned("learner", "of the lower quantile, for cqr", optional=True)
    scores_: Array = learned("float(n)", "how unusual each held-out row is")
    models_: list[Any] = learned("[learner](k)", "without each fold; one for split", optional=True)
    sizes_: list[Any] = learned(
        "[part](k)", "beside each of them a regressor of the size of residuals with the least size, or None", optional=True
    )
    coefficients_: Array = learned(
        "float(n,*)", "those without each row, intercept last, where they have a closed form", optional=True
    )
    fold_: Array | None = learned("int(n)<k|none", "the fold of each row; None for split", optional=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the models and score the held-out rows. Weights serve the fit; rows count alike in the
        coverage.
        """
        check.check_params(self)
        if self.coverage >= 1:
            raise BadParameter(f"Conformal(coverage={self.coverage}): must be below 1, 0.9 for example")
        fitted = self._fit(X, y, sample_weight)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        vars(self).update(fitted)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        learner = self._learner()
        source = scored_rows(learner, X, y, sample_weight)
        if source.n_targets > 1:
            raise BadInput("Conformal takes one target: fit one for each column of y")
        if self.method == "cqr" and learner.role != "regressor":
            raise BadParameter("Conformal(method='cqr') is for quantile regressors: use 'cv+' for classes")
        if not (self.scale is None or isinstance(self.scale, str)) and learner.role != "regressor":
            raise BadParameter("Conformal(scale=...) is for regressors: classes have no residuals")
        n, rng = source.n_rows or 0, generator(self.random_state)
        codes = target_of(source) if learner.role == "classifier" else None
        with single_blas:
            if self.method in ("split", "cqr"):
                return self._split(learner, source, n, rng)
            if self.method == "jackknife+":
                return self._folds(learner, source, folds_plan(np.arange(n)))
            return self._folds(learner, source, folds_plan(assign_folds(n, self.folds, rng, codes=codes)))

    def _learner(self) -> Any:
        pair = isinstance(self.model, (tuple, list)) and len(self.model) == 2
        if pair and self.method == "cqr":
            return self.model[0]
        if getattr(self.model, "role", None) not in ("classifier", "regressor"):
            raise BadParameter(f"Conformal(model={self.model!r}): give a classifier or a regressor of Tenfold")
        return self.model

    # --- models and scores of held-out rows ---

    def _split(self, learner: Estimator, source: Any, n: int, rng: np.random.Generator) -> dict[str, Any]:
        aside = min(max(round(self.calibration * n), 1), n - 1)
        order = rng.permutation(n)
        train, rest = source.select(np.sort(order[aside:])), np.sort(order[:aside])
        if self.method == "cqr":
            models = [one._fit(train) for one in self._quantiles()]
            low, high = outputs_of(models, source, [rest, rest])
            truth = target_of(source)[rest]
            scores = np.maximum(low - truth, truth - high)[:, 0]
            return dict(source.facts, model_=models[1], low_=models[0], scores_=scores)
        model = fresh(learner)._fit(train)
        size = self._size(model, train, n)
        output = outputs_of([model], source, [rest])[0]
        scores = self._scores(output, source, rest, size)
        return dict(source.facts, model_=model, models_=[model], sizes_=[size], scores_=scores, fold_=None)

    def _folds(self, learner: Estimator, source: Any, one: SplitPlan) -> dict[str, Any]:
        full = fresh(learner)._fit(source)
        known = dict(source.facts, model_=full)
        same = self.scale is None or isinstance(self.scale, str)  # sizes of residuals
        coefficients = leave_one_out_coefficients(full, source) if one.single and same else None
        if coefficients is not None:
            blocks = [source.load(part).X for part in source.parts()]
            table = np.concatenate([np.asarray(ops.dense(X), dtype=np.float64) for X in blocks])
            value = (table * coefficients[:, :-1]).sum(axis=1) + coefficients[:, -1]
            scores = np.abs(target_of(source)[:, 0] - value)
            return dict(known, coefficients_=coefficients, scores_=scores, fold_=np.arange(len(scores)))
        models = split_models(learner, source, one)[0]
        tests = [one.test_rows(k) for k in range(len(one))]
        sizes = each(lambda k: self._size(models[k], source.select(one.train_rows(k)), source.n_rows), list(range(len(one))))
        outputs = outputs_of(models, source, tests)
        scores, fold = np.empty(source.n_rows), np.empty(source.n_rows, dtype=np.int64)
        for k, rows in enumerate(tests):
            scores[rows], fold[rows] = self._scores(outputs[k], source, rows, sizes[k]), k
        return dict(known, models_=models, sizes_=sizes, scores_=scores, fold_=fold)

    def _scale(self, model: Estimator, rows: int) -> Any:
        """The learner of sizes, not fitted; None where they are the same everywhere."""
        if not isinstance(self.scale, str):
            return None if self.scale is None else fresh(self.scale)
        if self.scale != AUTO:
            raise BadParameter(f"Conformal(scale={self.scale!r}): must be a regressor, None or 'auto'")
        if model.role != "regressor" or self.method == "jackknife+" or rows < FEWEST_TO_SCALE:
            return None
        from tenfold.tree import RandomForestRegressor  # loaded when it is needed

        some = min(rows // 2, MOST_TO_SCALE)  # rows of each tree: sizes need no more
        return RandomForestRegressor(n_estimators=50, min_samples_leaf=10, max_samples=some, random_state=0)

    def _quantiles(self) -> list[Any]:
        """The learners of the lower and the upper quantile."""
        if isinstance(self.model, (tuple, list)):
            return [fresh(one) for one in self.model]
        names = [name for name in self.model.get_params() if name.rpartition("__")[2] == "quantile"]
        if len(names) != 1:
            raise BadParameter(
                f"Conformal(method='cqr'): {type(self.model).__name__} has no parameter `quantile`: give a "
                "pair (low, high) of regressors for the two quantiles"
            )
        alpha = 1 - self.coverage
        return [copy.deepcopy(fresh(self.model)).set_params(**{names[0]: q}) for q in (alpha / 2, 1 - alpha / 2)]

    def _size(self, model: Estimator, train: Any, rows: int) -> Any:
        """A regressor of log |residual| of the rows trained on, and the least size it may predict; or None."""
        scale = self._scale(model, rows)
        if scale is None:
            return None
        truth = target_of(train)
        residual = np.abs(truth - outputs_of([model], train, [np.arange(len(truth))])[0])
        least = max(TINY * float(residual.max()), np.finfo(float).tiny)
        target = copy.copy(train)
        y = train.y.copy()
        y[slice(None) if train.rows is None else train.rows] = np.log(np.maximum(residual, least))
        target.y = y
        return scale._fit(target), least

    def _scores(self, output: Array, source: Any, rows: Array, size: Any) -> Array:
        truth = target_of(source)[rows]
        if source.target.classes is None:
            return np.asarray(np.abs(truth - output)[:, 0] / self._sizes(size, source.select(rows)))
        scores, _ = split_choice(output, len(source.target.classes))
        return self._class_scores(softmax(scores))[np.arange(len(truth)), truth]

    def _sizes(self, size: Any, source: Any) -> Any:
        if size is None:
            return 1.0
        return _size_at(size, outputs_of([size[0]], source, [np.arange(source.n_rows)])[0][:, 0])

    def _class_scores(self, p: Array) -> Array:
        """How unusual each class would be for each row."""
        if self.sets == "lac":
            return 1 - p
        order = np.argsort(-p, axis=1, kind="stable")
        total = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
        scores = np.empty_like(p)
        np.put_along_axis(scores, order, total, axis=1)
        return scores

    # --- new rows ---

    def predict(self, X: Any) -> Array:
        """The prediction of the learner fitted to all rows; of cqr, the middle between its two quantiles."""
        model = self._model()
        return np.asarray((self.low_.predict(X) + model.predict(X)) / 2 if self.method == "cqr" else model.predict(X))

    def predict_interval(self, X: Any, coverage: float | None = None) -> Array:
        """Lower and upper ends (n, 2); infinite where the rows are too few for the coverage."""
        model, alpha = self._model(), self._alpha(coverage)
        if model.role != "regressor":
            raise BadInput("predict_interval is for regressors: a classifier has predict_set")
        X = table_of(model, X)
        R, n = self.scores_, len(self.scores_)
        if self.method == "cqr":
            margin = _smallest(R[None], ceil((1 - alpha) * (n + 1)))[0]
            low, high = self.low_._predict(X), model._predict(X)
            return np.sort(np.column_stack([low - margin, high + margin]), axis=1)
        if self.fold_ is None:
            margin = _smallest(R[None], ceil((1 - alpha) * (n + 1)))[0] * self._new_sizes(X, 0)
            value = model._predict(X)
            return np.column_stack([value - margin, value + margin])
        out, last = np.empty((X.shape[0], 2)), ceil((1 - alpha) * (n + 1))
        step = max(1, CELLS // n)
        for start in range(0, X.shape[0], step):
            here = X[start : start + step]
            with single_blas:
                value, spread = self._by_row(here)
            out[start : start + step, 0] = _smallest(value - spread, n + 1 - last)  # ⌊α(n+1)⌋, which α = 1 − 0.9 does not give at n = 99
            out[start : start + step, 1] = _smallest(value + spread, last)
        return out

    def _by_row(self, X: Any) -> tuple[Array, Array]:
        """For every new row and every training row i: f₋ᵢ(x), and Rᵢ times the size at x."""
        if "coefficients_" in vars(self):
            B = self.coefficients_
            return X @ B[:, :-1].T + B[:, -1], np.broadcast_to(self.scores_, (X.shape[0], len(self.scores_)))
        values = np.column_stack([model._predict(X) for model in self.models_])
        sizes = np.column_stack([self._new_sizes(X, k) for k in range(len(self.models_))])
        return values[:, self.fold_], sizes[:, self.fold_] * self.scores_

    def _new_sizes(self, X: Any, k: int) -> Array:
        size = self.sizes_[k]
        return np.ones(X.shape[0]) if size is None else _size_at(size, size[0]._predict(X))

    def predict_set(self, X: Any, coverage: float | None = None) -> Array:
        """Which classes are in the set of each row: booleans (n, classes), in the order of classes_."""
        model, alpha = self._model(), self._alpha(coverage)
        if model.role != "classifier":
            raise BadInput("predict_set is for classifiers: a regressor has predict_interval")
        X = table_of(model, X)
        n = len(self.scores_)
        fold: Array = np.zeros(n, dtype=np.int64) if self.fold_ is None else self.fold_
        below = np.zeros((X.shape[0], len(model.classes_)))
        for k, one in enumerate(self.models_):
            new = self._class_scores(softmax(one._scores(X)))
            below += np.searchsorted(np.sort(self.scores_[fold == k]), new - 1e-12, side="left")
        return below < (1 - alpha) * (n + 1)

    def _model(self) -> Any:
        if "model_" not in vars(self):
            raise not_fitted("Conformal")
        return self.model_

    def _alpha(self, coverage: float | None) -> float:
        coverage = self.coverage if coverage is None else coverage
        if not 0 < coverage < 1:
            raise BadParameter(f"coverage={coverage!r}: must lie between 0 and 1, 0.9 for example")
        if self.method == "cqr" and coverage != self.coverage:
            raise BadParameter("method='cqr' fits quantiles for one coverage: set it before fit")
        return 1 - coverage

    @property
    def role(self) -> str:
        return str(self._learner().role)


def _smallest(values: Array, k: int) -> Array:
    """The k-th smallest number of each row, 1 being the first; infinite beyond the ends."""
    n = values.shape[1]
    if not 1 <= k <= n:
        return np.full(len(values), -np.inf if k < 1 else np.inf)
    return np.partition(values, k - 1, axis=1)[:, k - 1]


def _size_at(size: tuple[Any, float], logs: Array) -> Array:
    """Sizes from their logarithms, within reason: never below what was seen as zero."""
    return np.asarray(np.exp(np.clip(logs, np.log(size[1]), 700.0)))
