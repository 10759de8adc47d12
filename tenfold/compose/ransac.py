"""Random sample consensus: a model that many rows agree on, whatever the others say."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.compose import consensus, planes
from tenfold.compose.agreed import Agreed
from tenfold.compose.consensus import Draws, Rule
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.gate.inputs import of_rows
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.least_squares import LinearRegression
from tenfold.solve.sketch import Sample

SAMPLED = 4096  # distinct rows from which subsets are drawn, and on which they compete first


def n_draws(success: float, inlier_share: float, size: int) -> float:
    """Subsets of `size` rows to draw, so that with probability `success` one of them holds inliers only."""
    clean = inlier_share**size
    if clean <= 0 or success >= 1:
        return np.inf
    return 1.0 if clean >= 1 else max(float(np.ceil(np.log1p(-success) / np.log1p(-clean))), 1.0)


@estimator
class RANSACRegressor(Agreed):
    """RANSACRegressor: a fit to the rows that agree with a model fitted to few of them.

    Model       that of `estimator` (None: y ≈ X w + b) on an unknown part of the rows (the inliers), anything
                on the others
    Objective   the most weight with |y − f(x)| ≤ residual_threshold, over models f of random subsets; then a
                fit to those rows, again with its own inliers while they grow
    Algorithm   subsets drawn from up to 4,096 rows chosen by a hash, as many as stop_probability asks for,
                given the inliers so far; the best 8 compete on all rows; n_models > 1 removes inliers
                and repeats
    Cost        trials fits of few rows, and some fits of all; memory of the rows drawn from
    Fails when  no subset of max_trials is clean (see n_draws), or the threshold is not that of the noise
    Reference   Fischler & Bolles 1981

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(20.0)[:, None]
    >>> y = np.where(np.arange(20) % 3 == 0, -50.0, 2 * X[:, 0] + 1)
    >>> model = tenfold.RANSACRegressor(residual_threshold=0.1, random_state=0).fit(X, y)
    >>> model.coef_.round(6), model.intercept_.round(6), model.inlier_mask_[:4]
    (array([2.]), np.float64(1.0), array([False,  True,  True, False]))
    """

    residual_threshold_: float = learned("float", "largest residual of an inlier")
    inlier_share_: float = learned("float", "share of the weight that inliers have")
    n_trials_: int = learned("int", "subsets drawn")
    coef_: Array = learned("float(p)", "coefficients, without `estimator`", optional=True)
    intercept_: float = learned("float", "constant, without `estimator`", optional=True)
    models_: Array = learned("float(*,*)", "w and b of each of the n_models, without `estimator`", optional=True)
    _estimators: list[Any] = learned("[learner](k)", "the fitted models, where `estimator` was given", optional=True)
    _mask: Array = learned("bool(n)", "inliers among the rows of a table in memory", optional=True)
    _skips: Array = learned("int(3)", "subsets without inliers, of invalid data, of invalid models", optional=True)

    sparse: ClassVar[bool] = True  # made dense, block by block
    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "subsets are drawn by a hash of the row, which reads the columns in their order",
        "several_targets": "a row agrees with a model in all targets together, and subsets are drawn by a hash that reads them all",
    }

    estimator: object = param(
        default=None,
        doc="any regressor, also a Pipeline, a CurveFit (whose x are then rows) or a CircleFit (without y); "
        "None: least squares",
    )
    _: KW_ONLY
    min_samples: int | float | None = param(
        default=None,
        above=0,
        doc="rows in a subset, or their share; None: as many as parameters, where these can be counted",
    )
    residual_threshold: float | None = param(
        default=None,
        at_least=0,
        doc="largest loss of an inlier; None: median |y − median y| of the rows drawn from",
    )
    is_data_valid: object = param(default=None, doc="function of (X, y) of a subset that says whether to use it")
    is_model_valid: object = param(
        default=None, doc="function of (model, X, y) of a subset that says whether to use it"
    )
    max_trials: int = param(default=100, at_least=1, at_most=100_000, doc="most subsets for each model")
    max_skips: float = param(
        default=np.inf, at_least=0, at_most=np.inf, doc="most subsets that may be invalid before the drawing stops"
    )
    stop_n_inliers: float = param(default=np.inf, at_least=0, at_most=np.inf, doc="stop at this weight of inliers")
    stop_score: float = param(default=np.inf, at_most=np.inf, doc="stop at this R² of the inliers of the best subset so far")
    stop_probability: float = param(
        default=0.99, at_least=0, at_most=1, doc="probability with which one subset should be free of outliers"
    )
    loss: object = param(
        default="absolute_error",
        doc="what the threshold bounds: 'absolute_error', 'squared_error' or a function of (y, predicted)",
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of the sample and of the draws from it")
    n_models: int = param(default=1, at_least=1, doc="models to look for, one after the other")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [
            {"random_state": 0},
            {"random_state": 1, "residual_threshold": 2.0, "n_models": 2},
            {"random_state": 0, "estimator": Ridge(alpha=0.1), "residual_threshold": 2.0},
        ]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """As `fit` of every learner; with a CircleFit there is no y. Weights count in the consensus; `estimator` receives them, and
        `params`, as metadata routing says."""
        routed_params = self._routed("fit", params, sample_weight)
        if routed_params and sample_weight is not None and not np.all(sample_weight):  # rows of weight zero are left out
            routed_params = of_rows(routed_params, np.flatnonzero(sample_weight), len(sample_weight))
        vars(self)["_received"] = routed_params
        try:
            return self._fit_given(X, y, sample_weight)
        finally:
            vars(self).pop("_received", None)

    def _fit_given(self, X: Any, y: Any, sample_weight: Any) -> Self:
        vars(self)["_counted"] = np.zeros(3, dtype=np.int64)  # told also of a fit that fails
        if getattr(self.estimator, "target", "real") != "none":
            super().fit(X, y, sample_weight)
        else:
            check.check_params(self)
            consensus.check_model(self.estimator)
            self._fit(check.check_fit(self.estimator, X, None, sample_weight))
        vars(self).pop("_counted", None)
        return self

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        for name in ("_estimators", "_mask"):
            vars(self).pop(name, None)
        vars(self).setdefault("_counted", np.zeros(3, dtype=np.int64))
        consensus.check_parts(self)
        rng = generator_of(self)
        sample = yield partial(_sample, k=SAMPLED, seed=seed_of(rng))
        hooks = self.is_data_valid is not None or self.is_model_valid is not None or callable(self.loss)
        hooks = hooks or self.stop_score < np.inf or not source.target.flat
        given = self.estimator
        plain = given is None or (isinstance(given, LinearRegression) and repr(given) == "LinearRegression()")
        if plain and not hooks and vars(self).get("_received") is None:
            return (yield from self._planes(source, sample, rng))
        return (yield from self._models(source, sample, rng))

    # --- planes, without a learner for each ---

    def _planes(self, source: Source, sample: Sample, rng: Any) -> Learner[dict[str, Any]]:
        Z, y, w = sample.rows[:, :-1], sample.rows[:, -1], sample.weight
        size = self._subset_size(source.n_features + 1, len(Z), sample.total)
        threshold = self._threshold(y, w)
        draws = self._draws(size)
        reach = float(np.sqrt(threshold)) if self.loss == "squared_error" else threshold
        found: list[Array] = []
        trials, share = 0, 0.0
        for _ in range(self.n_models):
            free = planes.unexplained(Z, y, found, reach)
            if free.sum() < size:
                break
            models, more = planes.candidates(Z[free], y[free], w[free], reach, draws, sample.total, rng)
            trials += more
            agreed = yield partial(planes.agreement, models=models, threshold=reach, found=found)
            if agreed.weight.max() <= 0:
                break
            model, weight = yield from planes.settle(models[agreed.best()], reach, found)
            share = share or weight / sample.total
            found = [*found, model]
        first = self._first(found, trials, threshold)
        return dict(
            coef_=first[:-1].copy(),
            intercept_=first[-1],
            residual_threshold_=threshold,
            inlier_share_=share,
            n_trials_=trials,
            models_=np.array(found),
        )

    def _draws(self, size: int) -> Draws:
        return Draws(
            size,
            self.max_trials,
            self.max_skips,
            self.stop_n_inliers,
            lambda share: n_draws(self.stop_probability, share, size),
            self.is_data_valid,
            self.is_model_valid,
            float(self.stop_score),
            vars(self)["_counted"],
        )

    def _first(self, found: list[Any], trials: int, threshold: float) -> Any:
        if not found:
            raise BadInput(
                f"RANSAC could not find a valid consensus set: no row lies within residual_threshold="
                f"{threshold:g} of a model in {trials} trials: raise residual_threshold or max_trials"
            )
        return found[0]

    # --- any model ---

    def _models(self, source: Source, sample: Sample, rng: Any) -> Learner[dict[str, Any]]:
        model = LinearRegression() if self.estimator is None else self.estimator
        p, w = source.n_features, sample.weight
        more = sample.rows.shape[1] - p
        Z, y = np.ascontiguousarray(sample.rows[:, :p]), None if not more else sample.rows[:, p] if more == 1 else sample.rows[:, p:]
        received, of_sample = vars(self).get("_received"), None
        if received is not None:  # rows themselves are drawn, as what is given belongs to them
            table, target, weight = yield Keep()
            Z, y, w, rows = _drawn(table, target, weight, rng)
            of_sample = of_rows(received, rows, source.n_rows or len(rows))
        size = self._subset_size(consensus.own_size(model, p), len(Z), sample.total)
        rule = Rule(self._threshold(y, w), self.loss)
        draws = self._draws(size)
        found: list[Any] = []
        trials, share = 0, 0.0
        for _ in range(self.n_models):
            free = rule.free(found, Z, y)
            if free.sum() < size:
                break
            some = Z[free], None if y is None else y[free], w[free]
            own = None if of_sample is None else of_rows(of_sample, np.flatnonzero(free), len(Z))
            models, more = consensus.candidates(model, *some, rule, draws, sample.total, rng, own)
            trials += more
            agreed = yield partial(consensus.agreement, models=models, rule=rule, found=found)
            if agreed.weight.max() <= 0:
                break
            best = models[agreed.best()]
            one, weight = yield from consensus.settle(model, best, source, rule, found, size, received)
            share = share or weight / sample.total
            found = [*found, one]
        self._first(found, trials, rule.threshold)
        return dict(_estimators=found, residual_threshold_=rule.threshold, inlier_share_=share, n_trials_=trials)

    @property
    def multi_output(self) -> bool:
        return self.estimator is None or bool(getattr(self.estimator, "multi_output", True))

    def _objection(self) -> str | None:
        found = vars(self).get("_estimators", [])
        if bool(found) == ("coef_" in vars(self)) or ("coef_" in vars(self)) != ("models_" in vars(self)):
            return "there is no model, or more than was found"
        return None

    def _predict(self, X: Any) -> Array:
        if "coef_" in vars(self):
            return AffineRegressor._predict(cast(Any, self), X)
        model = self.estimator_
        if not hasattr(model, "predict"):
            raise BadInput(f"a {type(model).__name__} predicts no y: ask estimator_, or inliers(X)")
        rows = ops.dense(X)
        values: Array = model._predict(rows) if isinstance(model, Estimator) else model.predict(rows)
        return values.astype(X.dtype, copy=False)

    def _subset_size(self, parameters: int | None, distinct: int, total: float) -> int:
        given = self.min_samples
        if given is None and parameters is None:
            raise BadParameter(
                f"RANSACRegressor(min_samples=None): tell how many rows a {type(self.estimator).__name__} needs"
            )
        size = min(parameters or 0, distinct) if given is None else int(np.ceil(given * total)) if given < 1 else given
        if size != int(size):
            raise BadParameter(f"RANSACRegressor(min_samples={given!r}): must be a whole number or a share below 1")
        if distinct < size:
            raise BadInput(
                f"n_samples={distinct} distinct rows should be >= min_samples={int(size)}: give more rows, "
                "or set min_samples"
            )
        return int(size)

    def _threshold(self, y: Array | None, w: Array) -> float:
        if self.residual_threshold is not None:
            return float(self.residual_threshold)
        if y is None:
            raise BadParameter(
                "RANSACRegressor(residual_threshold=None): tell how far from the model an inlier may lie"
            )
        y, w = y.ravel(), np.repeat(w, y.size // len(w))
        return _median(np.abs(y - _median(y, w)), w)


def _sample(block: Block, k: int, seed: int) -> Sample:
    X = np.asarray(ops.dense(block.X), dtype=np.float64)
    return Sample.of(X if block.y is None else np.column_stack([X, block.y]), block.w, k, seed)


def _drawn(X: Any, y: Array, w: Array, rng: Any) -> tuple[Array, Array, Array, Array]:
    """Rows to draw subsets from, targets, weights and places: all, or as many as SAMPLED."""
    rows = np.flatnonzero(w > 0)
    if len(rows) > SAMPLED:
        rows = np.sort(rng.choice(rows, SAMPLED, replace=False))
    target = y[rows, 0] if y.shape[1] == 1 else y[rows]
    return np.asarray(ops.dense(X[rows]), dtype=np.float64), target, w[rows], rows


def _median(values: Array, w: Array) -> float:
    """The mean of the lower and the upper weighted median."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(w[order])
    low = np.searchsorted(total, total[-1] / 2, side="left")
    high = np.searchsorted(total, total[-1] / 2, side="right")
    return float(values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2
