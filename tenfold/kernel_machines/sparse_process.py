"""Gaussian process regression of many rows, by a few points."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.linalg import lapack

from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, BadRequest, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator, generator_of
from tenfold.core.stats import Keyed, Spread
from tenfold.core.threads import single_blas
from tenfold.kernel_machines.evidence import NotDefinite, drawn_functions, kernel_objection, own_kernel, warn_of_bounds
from tenfold.kernel_machines.inducing import Points, Scale, Solved, bound_at, gradient_at, least_known, points_of
from tenfold.kernels.between import between, own_noise
from tenfold.kernels.combined import values
from tenfold.kernels.constant import ConstantKernel, WhiteKernel
from tenfold.kernels.stationary import RBF
from tenfold.solve.boxed import Boxed, minimum
from tenfold.solve.sketch import Sample

CANDIDATES = 10  # drawn rows for each point that may become one
FIRST = 4, 40  # drawn rows for each point that the parameters are first learned from,
FEWEST, MOST_CELLS = 2_000, 1 << 24  # though at least so many, and so many numbers at most
LEAST_NOISE = 1e-8  # share of k(x, x) below which rows beyond the points contradict them
TOL = 1e-7  # what a step must promise of the bound, for each row


class Told(NamedTuple):
    """What predictions need: L⁻¹, and the factor of B."""

    points: Points
    root: Array


@estimator
class SparseGaussianProcessRegressor(Regressor, Estimator):
    """SparseGaussianProcessRegressor: a Gaussian process for many rows, which it knows by their kernels with a few points.

    Model       as GaussianProcessRegressor, but f is known by its values at m points u:  q(f) = ∫ p(f | f(u)) N(f(u) | µ, A),
                f(x) ~ N(k(x)ᵀ a,  k(x, x) − k(x)ᵀ (k(u, u)⁻¹ − C) k(x)),  k(x) = k(u, x)
    Objective   max over the kernel's parameters θ of a bound on the evidence (Titsias 2009), the largest for any µ and A:
                log N(y | 0, Q + v) − tr(K − Q) / 2v,  Q = K_fu K_uu⁻¹ K_uf, v the noise: a WhiteKernel, and alpha
    Algorithm   points: rows drawn in proportion to the variance that those before leave them; a value of the bound is one pass of
                sums over the rows, its gradient another; quasi-Newton steps, first on drawn rows, from where few are left to do
    Cost        O(n m²) time for each step, O(m²) memory and passes as many as steps, about 10
    Fails when  the function has more detail than m points can follow: the bound shows it, and the noise is overestimated
    Reference   Titsias 2009; points: Chen, Epperly, Tropp & Webber 2024

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 9, 1000)[:, None]
    >>> y = np.sin(x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 1000)
    >>> model = tenfold.SparseGaussianProcessRegressor(n_inducing=20).fit(x, y)
    >>> mean, std = model.predict([[1.0], [30.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.0)) < 0.05 and std[1] > 4 * std[0])
    True
    """

    inducing_points_: Array = learned("float(m,p)", "u: the points, rows of the fit unless they were given", rows=True)
    alpha_: Array = learned("float(m,q)", "a: what each point counts")
    kernel_: Any = learned("kernel", "the kernel with the parameters that were found")
    lower_bound_: float = learned("float", "the bound on the evidence at these")
    _gain: Array = learned("float(m,m)", "Σ w z zᵀ / v: what the rows add to what is known of z(u) = L⁻¹ f(u) before")
    _y_train_mean: Array = learned("float(q)", "what was subtracted from the targets")
    _y_train_std: Array = learned("float(q)", "what they were divided by")

    __slots__ = ("_factored",)  # it follows from the rest, and is no part of what is saved, copied or compared

    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    double: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"column_order": "rows are drawn by a hash, which reads the columns in their order"}

    kernel: Any = param(default=None, doc="k: a value of tenfold.kernels or scikit-learn's; None: c * RBF(l) + WhiteKernel(s)")
    _: KW_ONLY
    n_inducing: int = param(default=600, at_least=1, doc="m: the most points; fewer where these know all")
    inducing_points: Any = param(default=None, doc="the points (m, columns), where they shall not be chosen")
    alpha: float = param(default=1e-10, at_least=0, doc="variance of the noise beside the kernel's own")
    optimizer: str | None = param(default="fmin_l_bfgs_b", one_of=("fmin_l_bfgs_b",), doc="None: the kernel stays as it is")
    n_restarts_optimizer: int = param(default=0, at_least=0, doc="more starts, drawn between the bounds, on the drawn rows")
    normalize_y: bool = param(default=False, doc="standardise the targets, as the mean of the process is zero")
    random_state: int | RandomState | None = param(default=None, doc="seed of the restarts")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        kernel = RBF(10.0) + WhiteKernel(0.5)
        return [{"kernel": kernel, "n_inducing": 8, "optimizer": None, "normalize_y": True}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        kernel = own_kernel(self.kernel, ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(1.0), type(self).__name__)
        check_memory(f"the kernels of {self.n_inducing:,} points with one another", 64.0 * self.n_inducing**2, "give fewer: n_inducing=...")
        m, p = self.n_inducing, source.n_features
        most = MOST_CELLS // (p + 1)
        drawn = yield partial(_drawn, rows=max(FEWEST, min(FIRST[-1] * m, most)), points=max(FEWEST, min(CANDIDATES * m, most)))
        scale, sample, places = _scale(drawn["target"], self.normalize_y), drawn["rows"], drawn["points"]
        rows = Block(sample.rows[:, :p].copy(), sample.rows[:, p:].copy(), sample.weight)
        candidates, curvature = Block(places.rows, None, places.weight), None
        self._check_noise(kernel, candidates.X)
        at = self._points(kernel, candidates)
        if self.optimizer is not None and kernel.n_dims:
            for share in FIRST:
                few = rows.take(np.arange(min(max(FEWEST, share * m), len(rows))))
                if curvature is None or len(few) > FEWEST:
                    kernel, curvature = self._first(kernel, at, scale, curvature, few)
                    at = self._points(kernel, candidates)
        found = yield from self._best(kernel, at, scale, curvature)
        if found.known is None:
            raise NotDefinite(
                f"The kernel, {kernel}, is not positive definite at the {len(at)} points, or there is no noise: mercer_check(kernel, X) "
                "says which, and a WhiteKernel or alpha=... is noise"
            )
        if not found.converged:
            warn(
                f"{type(self).__name__}: the bound could still be raised where the search ended: scale the columns, or give other bounds "
                "of the kernel's parameters",
                NotConverged,
                stacklevel=2,
            )
        return self._fitted(found.known, scale)

    # --- the fit ---

    def _points(self, kernel: Any, rows: Block) -> Array:
        X, w = rows.X, rows.w
        if self.inducing_points is None:
            chosen = least_known(kernel, X, w, self.n_inducing)
            return np.asarray(X[chosen] if len(chosen) else X[:1])
        try:
            given = np.array(self.inducing_points, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.ndim != 2 or given.shape[1] != X.shape[1] or not len(given) or not np.isfinite(given).all():
            raise BadParameter(f"{type(self).__name__}(inducing_points=...): must be rows of {X.shape[1]} numbers, as X has columns")
        return given

    def _check_noise(self, kernel: Any, X: Array) -> None:
        own, whole = own_noise(kernel, X[:100]), np.asarray(kernel.diag(X[:100]))
        if np.ptp(own) > 1e-9 * float(own.max()):
            raise BadParameter(
                f"{type(self).__name__}(kernel={kernel}): the noise must be the same for all rows: add a WhiteKernel, instead of "
                "multiplying with one"
            )
        if self.alpha + float(own.max()) < LEAST_NOISE * float(np.abs(whole).max()):
            raise BadParameter(
                f"{type(self).__name__}(kernel={kernel}, alpha={self.alpha:g}): there is hardly any noise, so that rows beyond the points "
                "would contradict them: add a WhiteKernel() to the kernel, or give alpha"
            )

    def _first(self, kernel: Any, at: Array, scale: Scale, curvature: Array | None, rows: Block) -> tuple[Any, Array | None]:
        """The kernel that drawn rows lead to, and the curvature there; at first from the best of several starts."""
        starts, bounds = [kernel], np.asarray(kernel.bounds)
        if self.n_restarts_optimizer and curvature is None:
            if not np.isfinite(bounds).all():
                raise BadParameter("Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite.")
            rng = generator_of(self)
            draws = (rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(self.n_restarts_optimizer))
            starts += [kernel.clone_with_theta(theta) for theta in draws]
        ends = [_here(self._best(one, at, scale, curvature), rows) for one in starts]
        best = min(ends, key=lambda end: end.value)
        return (kernel, curvature) if best.known is None else (best.known.points.kernel, best.curvature)

    def _best(self, kernel: Any, at: Array, scale: Scale, curvature: Array | None) -> Learner[Boxed]:
        """The parameters of the largest bound with these points, from those of the kernel."""

        def value_at(theta: Array) -> Learner[tuple[float, Any]]:
            known = yield from bound_at(kernel.clone_with_theta(theta) if len(theta) else kernel, at, self.alpha, scale)
            if known is None:
                return np.inf, None
            return -known.bound / known.sums.weight, known

        def slope_at(known: Solved) -> Learner[Array]:
            return -(yield from gradient_at(known)) / known.sums.weight

        learns = self.optimizer is not None
        start, bounds = (np.asarray(kernel.theta), np.asarray(kernel.bounds)) if learns else (np.empty(0), np.empty((0, 2)))
        found = yield from minimum(value_at, slope_at, start, bounds, curvature=curvature, tol=TOL)
        return found

    def _fitted(self, known: Solved, scale: Scale) -> dict[str, Any]:
        points, flat = known.points, self._flat
        dual = points.inverse.T @ known.mean / known.noise
        self._factored = Told(points, known.root)
        if self.optimizer is not None:
            warn_of_bounds(points.kernel)
        return dict(
            inducing_points_=points.at, alpha_=dual[:, 0].copy() if flat else dual, kernel_=points.kernel, lower_bound_=known.bound,
            _gain=known.sums.zz / known.noise,
            _y_train_mean=scale.mean[0] if flat else scale.mean, _y_train_std=scale.std[0] if flat else scale.std,
        )  # fmt: skip

    def _publish(self, apart: Self) -> None:
        super()._publish(apart)
        self._factored = apart._factored

    @single_blas
    def _inside(self) -> Told:
        """Made anew where the model comes from a file or another process."""
        known: Told | None = getattr(self, "_factored", None)
        if known is None:
            points = points_of(self.kernel_, self.inducing_points_, Scale(self._y_train_mean, self._y_train_std))
            root, fail = lapack.dpotrf(np.eye(len(self._gain)) + self._gain, lower=1, clean=1)
            if points is None or fail:
                raise NotDefinite(f"{type(self).__name__}: the kernel of the points, or what rows add to it, is not positive definite")
            known = Told(points, root)
            self._factored = known
        return known

    def _objection(self) -> str | None:
        m, columns = self.inducing_points_.shape
        if columns != self.n_features_in_:
            return f"the points have {columns} columns, not {self.n_features_in_}"
        if not m:
            return "there are no points"
        return kernel_objection(self.kernel_, self.inducing_points_)

    # --- what it says of rows ---

    def _predict(self, X: Any) -> Array:
        return self._posterior_moments(X)[0]

    def _posterior_moments(self, X: Any, with_std: bool = False) -> tuple[Array, Array]:
        """Means, and standard deviations where they are asked for; as (rows,) or (rows, targets)."""
        precise = ops.dense(X).astype(np.float64, copy=False)
        near = between(self.kernel_, precise, self.inducing_points_).K
        mean = (near @ self.alpha_) * self._y_train_std + self._y_train_mean
        if not with_std:
            return mean.astype(X.dtype, copy=False), np.empty(0)
        before, after = self._turned(near)
        less = np.einsum("ij,ij->j", before, before) - np.einsum("ij,ij->j", after, after)
        variance = np.maximum(np.asarray(self.kernel_.diag(precise)) - less, 0.0)
        std = np.multiply.outer(np.sqrt(variance), self._y_train_std)
        return mean.astype(X.dtype, copy=False), std.astype(X.dtype, copy=False)

    def _turned(self, near: Array) -> tuple[Array, Array]:
        """Of kernels with the points: z, and R⁻¹ z with R Rᵀ = B. The variance is k − z·z + z·B⁻¹z."""
        known = self._inside()
        before = known.points.inverse @ near.T
        after, _ = lapack.dtrtrs(known.root, before, lower=1)
        return before, np.asarray(after)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of the process at each row; with `return_std` also its standard deviation, with `return_cov` the covariance of all
        rows with one another."""
        if return_std and return_cov:
            raise BadRequest("At most one of return_std or return_cov can be requested.")
        if return_cov:
            return self._with_covariance(X)
        if not return_std:
            return super().predict(X)
        check.check_fitted(self)
        wide = self.alpha_.reshape(len(self.alpha_), -1).shape[1]
        found = map_rows(lambda X: np.column_stack(self._posterior_moments(X, True)), check.check_predict(self, X))
        mean, std = found[:, :wide], found[:, wide:]
        return (mean[:, 0].copy(), std[:, 0].copy()) if self._flat else (mean, std)

    @single_blas
    def _with_covariance(self, X: Any) -> tuple[Array, Array]:
        X = np.asarray(ops.dense(check.check_predict(self, X)), dtype=np.float64)
        before, after = self._turned(between(self.kernel_, X, self.inducing_points_).K)
        covariance = values(self.kernel_, X, X) - before.T @ before + after.T @ after
        return self._posterior_moments(X)[0], np.multiply.outer(covariance, np.asarray(self._y_train_std) ** 2)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Functions drawn from the process, at these rows: (rows, samples), or (rows, targets, samples)."""
        mean, covariance = self.predict(X, return_cov=True)
        return drawn_functions(mean, covariance, n_samples, generator(random_state))


def _drawn(block: Block, rows: int, points: int) -> Keyed:
    """Drawn rows with their targets, drawn rows alone (which points there are does not depend on targets), and the mean and spread of all
    targets."""
    X, y = np.ascontiguousarray(ops.dense(block.X), dtype=np.float64), np.ascontiguousarray(block.y, dtype=np.float64)
    both = np.ascontiguousarray(np.column_stack([X, y]))
    return Keyed(rows=Sample.of(both, block.w, rows), points=Sample.of(X, block.w, points), target=Spread.of(y, block.w))


def _scale(spread: Spread, normalize: bool) -> Scale:
    mean = spread.mean[0]
    if not normalize:
        return Scale(np.zeros_like(mean), np.ones_like(mean))
    std = np.sqrt(spread.scatter[0] / spread.weight[0])
    return Scale(mean, np.where(std > 0, std, 1.0))


def _here(algorithm: Learner[Boxed], rows: Block) -> Boxed:
    """What a learner returns that has these rows and no others."""
    try:
        asked: Any = next(algorithm)
        while True:
            asked = algorithm.send(asked(rows))
    except StopIteration as done:
        result: Boxed = done.value
        return result
