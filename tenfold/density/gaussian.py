"""One Gaussian: the density of a cloud of rows, in one pass."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from tenfold.base import check
from tenfold.base.estimator import Density
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.memory import check_memory
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Spread
from tenfold.distributions.gaussian import MultivariateGaussian
from tenfold.solve.columns import check_magnitude
from tenfold.solve.whitening import NEARLY_SINGULAR, ROUNDING, SINGULAR, shrunk, whiten


@estimator
class GaussianDensity(Density, OnePass):
    """GaussianDensity: one Gaussian, with a full, diagonal or spherical covariance.

    Model       p(x) = N(x; m, C)
    Objective   max Σ w log p(x): m and C are the mean and the covariance of the rows, or the diagonal of it, or its mean times I;
                then C ← (1 − shrinkage) C + shrinkage (trace C / p) I, and C ← C + reg_covar I
    Algorithm   one pass of centred moments; Cholesky of C scaled to correlations
    Cost        O(n p²) time, O(p²) memory, one pass, merging O(p²), O(p²) a row that is asked; of a diagonal O(n p), O(p), O(p), O(p)
    Fails when  C is singular, as with p rows or fewer: directions without variance then count as impossible (warns Degenerate);
                the remedies are shrinkage, reg_covar and "diag"
    Reference   Anderson 1958, §3.2; shrinkage: Friedman 1989

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0]])
    >>> model = tenfold.GaussianDensity().fit(X)
    >>> model.mean_.tolist(), model.covariance_.tolist()
    ([1.0, 2.0], [[1.0, 0.0], [0.0, 4.0]])
    >>> round(model.score([[1.0, 2.0]]), 4)  # −log 2π − log 2
    -2.531
    """

    mean_: Array = learned("float(p)", "mean of each column")
    covariance_: Any = learned("float(p,p)|float(p)|float", "the covariance; the variances of a diagonal one; that of a spherical one")
    whitening_: Array = learned("float(p,p)|float(p)", "A with Aᵀ C A = I; its diagonal where C is diagonal")
    constant_: float = learned("float", "log density at the mean")
    stats_: Any = learned("Moments(p)|Spread(1,p)", "the moments: for partial_fit, merge and forget", optional=True)

    summary_reads: ClassVar[tuple[str, ...] | None] = ("covariance",)

    covariance: str = param(default="full", one_of=("full", "diag", "spherical"), doc="what the covariance may be")
    _: KW_ONLY
    shrinkage: float = param(
        default=0.0, at_least=0, at_most=1, doc="share of the covariance replaced by its mean variance times the identity"
    )
    reg_covar: float = param(default=0.0, at_least=0, doc="added to the variance of every column")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"covariance": "diag", "shrinkage": 0.2}, {"covariance": "spherical", "reg_covar": 0.1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"reg_covar": 1e-2}

    def _summarize(self, block: Block) -> Moments | Spread:
        if self.covariance != "full":
            return Spread.of(ops.dense(block.X), block.w)
        p = block.width
        check_memory(f"the covariance of {p:,} columns", 32.0 * p * p, 'give fewer columns, or covariance="diag"')
        return Moments.of_block(block, target=False)

    def _solve(self, stats: Moments | Spread) -> dict[str, Any]:
        return self._solve_full(stats) if isinstance(stats, Moments) else self._solve_diagonal(stats)

    def _solve_full(self, stats: Moments) -> dict[str, Any]:
        mean, squares, p = stats.mean, np.diagonal(stats.scatter), len(stats.mean)
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        C = shrunk(stats.scatter / float(stats.weight), self.shrinkage)
        if self.reg_covar:
            C = C + self.reg_covar * np.eye(p)
        A, log_scale, condition = whiten(C, mean, _units(mean, np.diagonal(C)))
        if condition < NEARLY_SINGULAR:
            self._warn(mean, np.diagonal(C), condition <= SINGULAR)
        return dict(mean_=mean, covariance_=C, whitening_=np.ascontiguousarray(A), constant_=_at_mean(p, log_scale))

    def _solve_diagonal(self, stats: Spread) -> dict[str, Any]:
        mean, squares = stats.mean[0], stats.scatter[0]
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        variances = squares / float(stats.weight[0])
        share = 1.0 if self.covariance == "spherical" else self.shrinkage
        variances = (1 - share) * variances + share * variances.mean() + self.reg_covar
        deviations = np.sqrt(variances)
        flat = deviations <= ROUNDING * np.abs(mean)
        if flat.any():
            self._warn(mean, variances, True)
            deviations = np.where(flat, np.sqrt(SINGULAR) * _units(mean, variances), deviations)
        return dict(
            mean_=mean,
            covariance_=float(variances[0]) if self.covariance == "spherical" else variances,
            whitening_=1.0 / deviations,
            constant_=_at_mean(len(mean), float(np.log(deviations).sum())),
        )

    def _warn(self, mean: Array, variances: Array, singular: bool) -> None:
        """One sentence about a covariance that has no inverse, or nearly none."""
        flat = np.flatnonzero(np.sqrt(variances) <= ROUNDING * np.abs(mean))
        if len(flat):
            why = f"{column_name(vars(self).get('feature_names_in_'), int(flat[0]))} of X is constant"
        else:
            why = "columns are linearly dependent, or there are no more rows than columns"
        state = "singular; directions without variance count as impossible" if singular else "nearly singular"
        warn(
            f"GaussianDensity: the covariance is {state}, as {why}: raise shrinkage or reg_covar, or drop columns", Degenerate, stacklevel=2
        )

    def distribution(self) -> MultivariateGaussian:
        """The fitted Gaussian as a value: its marginals, conditionals, entropy and divergence from others."""
        check.check_fitted(self)
        return MultivariateGaussian(self.mean_, self.covariance_, allow_singular=True)

    def _log_density(self, X: Any) -> Array:
        constant, mean, A = np.array([self.constant_]), self.mean_[None], self.whitening_[None]
        scores = ops.quadratic_scores if A.ndim == 3 else _diagonal_scores
        return np.asarray(scores(X, mean, A, constant)[:, 0])

    def _gaussians(self) -> tuple[Array, Array, Array]:
        A = self.whitening_
        return np.zeros(1), self.mean_[None], (A @ A.T if A.ndim == 2 else A**2)[None]

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        noise = rng.normal(size=(n, len(self.mean_)))
        if self.whitening_.ndim == 1:
            return self.mean_ + noise / self.whitening_
        return np.asarray(self.mean_ + np.linalg.solve(self.whitening_.T, noise.T).T)

    def _cdf(self, X: Array) -> Array:
        """Φ((x − m) / σ) of one column."""
        return np.asarray(ndtr((X[:, 0] - self.mean_[0]) * self.whitening_.flat[0]))

    def _quantile(self, q: Array) -> Array:
        return np.asarray(self.mean_[0] + ndtri(q) / self.whitening_.flat[0])


def _diagonal_scores(X: Any, mean: Array, roots: Array, constant: Array) -> Array:
    return ops.spread_scores(X, mean, roots * roots, constant)


def _at_mean(p: int, log_scale: float) -> float:
    """log N(m; m, C), from ½ log det C."""
    return -0.5 * p * math.log(2 * math.pi) - log_scale


def _units(mean: Array, variances: Array) -> Array:
    """Of the columns; of a constant one the size of its value."""
    size = np.where(mean != 0, np.abs(mean), 1.0)
    return np.where(variances > 0, np.sqrt(np.where(variances > 0, variances, 1.0)), size)
