"""Gaussian process regression."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor, map_rows
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, BadRequest
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import check_memory
from tenfold.core.numbers import check_finite
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator, generator_of
from tenfold.core.threads import single_blas
from tenfold.kernel_machines.evidence import (
    Posterior,
    Rows,
    definite,
    drawn_functions,
    evidence_and_gradient,
    evidence_of,
    kernel_objection,
    known_optimizer,
    most_probable,
    noise_of,
    own_kernel,
    posterior,
)
from tenfold.kernels.combined import values
from tenfold.kernels.constant import ConstantKernel
from tenfold.kernels.stationary import RBF
from tenfold.solve.tiles import inverse_diagonal, solve_lower


class LeftOut(NamedTuple):
    """What the other rows say of each row of the fit."""

    mean: Array
    std: Array
    log_density: float  # mean over rows of the logarithm of the density of the target


@estimator
class GaussianProcessRegressor(Regressor, Estimator):
    """GaussianProcessRegressor: a distribution over functions, given the rows.

    Model       f ~ GP(0, k),  y = f(x) + e,  e ~ N(0, alpha);  given rows, f(x) ~ N(k(x)ᵀ G y,  k(x, x) − k(x)ᵀ G k(x)),
                G = (K + alpha)⁻¹; a WhiteKernel is noise that is learned, and part of what is told of new rows
    Objective   max over the kernel's parameters θ of the evidence  log p(y | X, θ) = −½ yᵀ G y + ½ log |G| − n/2 log 2π
    Algorithm   Cholesky tile by tile; the gradient ½ tr((G y yᵀ G − G) ∂K/∂θ) without a table of n x n x parameters; L-BFGS-B
                from the kernel's own parameters, and from `n_restarts_optimizer` others
    Cost        O(n³) time for each step, 24 n² bytes; keeps all rows
    Fails when  rows are repeated and alpha is tiny (refused: increase alpha); n² numbers do not fit in memory (there is
                SparseGaussianProcessRegressor)
    Reference   Rasmussen & Williams 2006, algorithm 2.1; leave-one-out: §5.4.2

    Example
    -------
    >>> import numpy as np, tenfold
    >>> from tenfold.kernels import RBF, WhiteKernel
    >>> x = np.linspace(0, 3, 31)[:, None]
    >>> y = np.sin(x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 31)
    >>> model = tenfold.GaussianProcessRegressor(RBF() + WhiteKernel(0.1)).fit(x, y)
    >>> mean, std = model.predict([[1.0], [9.0]], return_std=True)
    >>> bool(std[1] > 4 * std[0])
    True
    """

    X_train_: Any = learned("float(n,p)", "the rows of the fit", rows=True)
    y_train_: Array = learned("float(n,q)", "their targets, standardised if asked for", rows=True)
    alpha_: Array = learned("float(n,q)", "G y: what each row of the fit counts")
    kernel_: Any = learned("kernel", "the kernel with the parameters that were found")
    log_marginal_likelihood_value_: float = learned("float", "the evidence at these")
    _y_train_mean: Array = learned("float(q)", "what was subtracted from the targets")
    _y_train_std: Array = learned("float(q)", "what they were divided by")
    _noise: Array = learned("float(n)>=0", "the variance of the noise of each row")
    _row_weights: Array = learned("float(n)>0", "weights of the rows, where they are not one", optional=True)

    __slots__ = ("_factored",)  # the factor of K: it follows from the rest, and is no part of what is saved, copied or compared

    kind: ClassVar[str] = "keeps rows"
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    double: ClassVar[bool] = True

    kernel: Any = param(default=None, doc="k: a value of tenfold.kernels or scikit-learn's; None: c * RBF(l)")
    _: KW_ONLY
    alpha: float | Array = param(default=1e-10, at_least=0, doc="variance of the noise, one for all rows or one for each")
    optimizer: Any = param(
        default="fmin_l_bfgs_b", doc="'fmin_l_bfgs_b', None (the kernel stays), or a function (objective, start, bounds) -> (theta, value)"
    )
    n_restarts_optimizer: int = param(default=0, at_least=0, doc="more starts, drawn between the bounds")
    normalize_y: bool = param(default=False, doc="standardise the targets, as the mean of the process is zero")
    copy_X_train: bool = param(default=True, doc="no effect: rows are copied")
    n_targets: int | None = param(default=None, at_least=1, doc="targets of the prior: what is predicted before a fit")
    random_state: int | RandomState | None = param(default=None, doc="seed of the restarts")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"kernel": RBF(10.0), "alpha": 0.5, "optimizer": None, "normalize_y": True}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        optimized = known_optimizer(self.optimizer, "GaussianProcessRegressor")
        X, y, w = yield Keep()
        n, kernel = len(X), self._prior_kernel()
        check_memory(f"the kernels of {n:,} rows with one another, and their inverse", 24.0 * n * n, "use SparseGaussianProcessRegressor")
        if self.n_targets is not None and y.shape[1] != self.n_targets:
            raise BadParameter(
                "GaussianProcessRegressor: The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"{y.shape[1]} != {self.n_targets}"
            )
        y = y.astype(np.float64)
        mean, std = np.zeros(y.shape[1]), np.ones(y.shape[1])
        if self.normalize_y:
            mean = np.average(y, axis=0, weights=w)
            std = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=w))
            std = np.where(std > 0, std, 1.0)
        rows = Rows(np.array(X, dtype=np.float64), (y - mean) / std, noise_of(self.alpha, n), np.asarray(w, dtype=np.float64))
        if optimized and kernel.n_dims > 0:
            restarts, rng = self.n_restarts_optimizer, generator_of(self)
            kernel = most_probable(kernel, evidence_of(rows), self.optimizer, restarts, rng, "GaussianProcessRegressor")
        found = definite(posterior(kernel, rows), kernel)
        self._factored = found
        flat = self._flat
        return dict(
            X_train_=rows.X, y_train_=rows.y[:, 0].copy() if flat else rows.y, alpha_=found.dual[:, 0].copy() if flat else found.dual,
            kernel_=kernel, log_marginal_likelihood_value_=found.log_evidence, _noise=rows.noise,
            _y_train_mean=mean[0] if flat else mean, _y_train_std=std[0] if flat else std,
        ) | ({"_row_weights": rows.w} if rows.weighted else {})  # fmt: skip

    def _prior_kernel(self) -> Any:
        return own_kernel(self.kernel, ConstantKernel(1.0) * RBF(1.0), "GaussianProcessRegressor")

    def _publish(self, apart: Self) -> None:
        super()._publish(apart)
        self._factored = apart._factored

    def _rows(self) -> Rows:
        y = self.y_train_ if self.y_train_.ndim == 2 else self.y_train_[:, None]
        return Rows(self.X_train_, y, self._noise, vars(self).get("_row_weights", np.ones(len(y))))

    @single_blas
    def _posterior(self) -> Posterior:
        """Made anew where the model comes from a file or another process."""
        known: Posterior | None = getattr(self, "_factored", None)
        if known is None:
            known = definite(posterior(self.kernel_, self._rows()), self.kernel_)
            self._factored = known
        return known

    @property
    def L_(self) -> Array:
        """The lower triangular factor of K + alpha."""
        check.check_fitted(self)
        return np.tril(self._posterior().L)

    def _objection(self) -> str | None:
        columns = self.X_train_.shape[1]
        if columns != self.n_features_in_:
            return f"the rows have {columns} columns, not {self.n_features_in_}"
        return kernel_objection(self.kernel_, self.X_train_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # it predicts from the prior
        return tags

    # --- what it says of rows ---

    def _predict(self, X: Any) -> Array:
        return self._posterior_moments(X)[0]

    def _posterior_moments(self, X: Any, with_std: bool = False) -> tuple[Array, Array]:
        """Means, and standard deviations where they are asked for; as (rows,) or (rows, targets)."""
        precise = X.astype(np.float64, copy=False)
        near = values(self.kernel_, precise, self.X_train_[:])
        mean = (near @ self.alpha_) * self._y_train_std + self._y_train_mean
        if not with_std:
            return mean.astype(X.dtype, copy=False), np.empty(0)
        inside = solve_lower(self._posterior().L, near.T)
        variance = np.maximum(self.kernel_.diag(precise) - np.einsum("ij,ij->j", inside, inside), 0.0)
        std = np.multiply.outer(np.sqrt(variance), self._y_train_std)
        return mean.astype(X.dtype, copy=False), std.astype(X.dtype, copy=False)

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean of the process at each row; with `return_std` also its standard deviation, with `return_cov` the covariance of all
        rows with one another. Before the fit: the prior."""
        if return_std and return_cov:
            raise BadRequest("At most one of return_std or return_cov can be requested.")
        if "n_features_in_" not in vars(self):
            table, names = check.as_table(self, X)
            rows = np.asarray(table, dtype=np.float64)
            check_finite(rows, slice(0, None), names, False)
            return self._prior(rows, return_std, return_cov)
        if return_cov:
            return self._with_covariance(X)
        if not return_std:
            return super().predict(X)
        wide = self.y_train_.reshape(len(self.y_train_), -1).shape[1]
        found = map_rows(lambda X: np.column_stack(self._posterior_moments(X, True)), check.check_predict(self, X))
        mean, std = found[:, :wide], found[:, wide:]
        return (mean[:, 0].copy(), std[:, 0].copy()) if self._flat else (mean, std)

    def _prior(self, X: Array, return_std: bool, return_cov: bool) -> Any:
        kernel, many = self._prior_kernel(), self.n_targets or 1
        mean = np.zeros(len(X)) if many == 1 else np.zeros((len(X), many))
        if return_cov:
            K = values(kernel, X, X)
            return mean, K if many == 1 else np.repeat(K[:, :, None], many, axis=2)
        if return_std:
            std = np.sqrt(kernel.diag(X))
            return mean, std if many == 1 else np.repeat(std[:, None], many, axis=1)
        return mean

    @single_blas
    def _with_covariance(self, X: Any) -> tuple[Array, Array]:
        X = np.asarray(check.check_predict(self, X), dtype=np.float64)
        mean = self._posterior_moments(X)[0]
        inside = solve_lower(self._posterior().L, values(self.kernel_, X, self.X_train_[:]).T)
        covariance = values(self.kernel_, X, X) - inside.T @ inside
        return mean, np.multiply.outer(covariance, np.asarray(self._y_train_std) ** 2)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Functions drawn from the process, at these rows: (rows, samples), or (rows, targets, samples)."""
        mean, covariance = self.predict(X, return_cov=True)
        return drawn_functions(mean, covariance, n_samples, generator(random_state))

    # --- how probable the rows are ---

    @single_blas
    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """The evidence of the rows of the fit under the kernel with other parameters, and with `eval_gradient` its gradient."""
        check.check_fitted(self)
        if theta is None:
            if eval_gradient:
                raise BadParameter("Gradient can only be evaluated for theta!=None")
            return np.float64(self.log_marginal_likelihood_value_)
        kernel = self.kernel_.clone_with_theta(theta) if clone_kernel else self.kernel_
        kernel.theta = theta
        if eval_gradient:
            return evidence_and_gradient(kernel, self._rows())
        found = posterior(kernel, self._rows())
        return np.float64(-np.inf if found is None else found.log_evidence)

    @single_blas
    def leave_one_out(self) -> LeftOut:
        """What the other rows say of each row, with the parameters that were found: means, standard deviations (noise included), and the
        mean logarithm of the density of the targets. Of one target."""
        check.check_fitted(self)
        if not self._flat:
            raise BadParameter("leave_one_out: there are several targets: fit one at a time")
        known, rows = self._posterior(), self._rows()
        inverse = inverse_diagonal(known.L)
        mean, variance = rows.y[:, 0] - known.dual[:, 0] / inverse, 1 / inverse
        scale = float(self._y_train_std)
        apart = (rows.y[:, 0] - mean) ** 2 / variance
        density = -0.5 * np.mean(apart + np.log(2 * np.pi * variance)) - np.log(scale)
        return LeftOut(mean * scale + float(self._y_train_mean), np.sqrt(variance) * scale, float(density))
