"""Factor analysis."""

from __future__ import annotations

from math import log, pi
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.reduce.probabilistic import double
from tenfold.reduce.table import Table
from tenfold.solve.columns import check_magnitude
from tenfold.solve.communal import Leading, least_noise, rotated
from tenfold.solve.leading import eigenpairs
from tenfold.solve.linalg import largest_eigh

ROTATIONS = {"varimax": 1.0, "quartimax": 0.0}


@estimator
class FactorAnalysis(Transformer, OnePass):
    """FactorAnalysis: few hidden factors behind all columns, and noise of its own in each.

    Model       x = m + Wᵀ z + e,  z ~ N(0, I),  e ~ N(0, diag(ψ)):  x ~ N(m, Wᵀ W + diag(ψ))
    Objective   max of the likelihood over W and ψ
    Algorithm   one pass of centred moments (the rows, while they are fewer than columns); then Newton steps in log ψ with W at its best
                for each ψ, of expectation-maximisation where these do not pay. The largest loading of each factor is positive
    Cost        O(n p²) time and O(p²) memory for the pass; O(p² k + p³) a step, about ten of them
    Fails when  (p − k)² < p + k: many ψ are as likely; ψ of a column falls to its bound, 1e-6 of its variance (a Heywood case: too
                many factors). Factors are known up to a rotation
    Reference   Lawley & Maxwell 1971; Jöreskog 1967; rotation: Kaiser 1958

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> loadings = np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0, 2.0, 2.0]])
    >>> X = rng.normal(size=(5000, 2)) @ loadings + 0.5 * rng.normal(size=(5000, 6))
    >>> model = tenfold.FactorAnalysis(n_components=2, rotation="varimax").fit(X)
    >>> np.abs(model.components_).round(1).tolist(), model.noise_variance_.round(1).tolist()
    ([[0.0, 0.0, 0.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]], [0.2, 0.3, 0.2, 0.2, 0.2, 0.3])
    """

    components_: Array = learned("float(k,p)", "loadings W")
    noise_variance_: Array = learned("float(p)>0", "ψ, the noise of each column")
    mean_: Array = learned("float(p)", "mean of each column")
    loglike_: Array = learned("float(t)", "log-likelihood of the rows at each step")
    n_iter_: int = learned("int", "number of steps")
    stats_: Any = learned("Table(p)", "the moments, or few rows: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True
    least_rows: ClassVar[int] = 2
    own_score: ClassVar[bool] = True

    n_components: int | None = param(default=None, at_least=0, doc="number of factors; None: as many as columns")
    _: KW_ONLY
    tol: float = param(default=1e-2, at_least=0, doc="gain of the log-likelihood of all rows below which steps end")
    copy: bool = param(default=True, doc="no effect: X is never changed")
    max_iter: int = param(default=1000, at_least=1, doc="most steps")
    noise_variance_init: Any = param(default=None, doc="where ψ begins (p); None: half of the variances")
    svd_method: str = param(default="randomized", one_of=("lapack", "randomized"), doc="no effect: eigenvectors are exact")
    iterated_power: int = param(default=3, at_least=0, doc="no effect: eigenvectors are exact")
    rotation: str | None = param(default=None, one_of=(None, *ROTATIONS), doc="turn the loadings so that few are large")
    random_state: Any = param(default=0, doc="no effect: nothing is drawn")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_components": 1, "tol": 1e-6}]

    def _summarize(self, block: Block) -> Table:
        return Table.of(block)

    def _solve(self, stats: Table) -> dict[str, Any]:
        stats.gather()
        n, mean, squares = stats.weight, stats.mean, stats.squares()
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        p = len(mean)
        k = p if self.n_components is None else int(self.n_components)
        if k > p:
            raise BadInput(f"FactorAnalysis: n_components={k} is more than the {p} columns of X: lower it")
        variance = squares / n
        if not variance.all():
            warn("FactorAnalysis: some columns of X are constant, and take no part: leave them out", Degenerate, stacklevel=2)
        found = least_noise(variance, leading_of(stats, k), self._start(variance), n, self.tol, self.max_iter)
        if not found.converged:
            message = f"FactorAnalysis did not converge in {self.max_iter} steps: raise max_iter or tol"
            warn(message, NotConverged, stacklevel=2)
        stats.settle()
        W = np.zeros((k, p))
        W[: len(found.W)] = found.W if self.rotation is None else rotated(found.W, ROTATIONS[self.rotation])
        if self.rotation is not None:
            W = W[np.argsort(-(W * W).sum(axis=1), kind="stable")]
        told = found.likelihoods
        W = np.where((np.take_along_axis(W, np.abs(W).argmax(axis=1)[:, None], 1) < 0) if k else False, -W, W)
        return dict(components_=W, noise_variance_=found.psi, mean_=mean, loglike_=np.array(told), n_iter_=len(told))

    def _start(self, variance: Array) -> Array:
        if self.noise_variance_init is None:
            return np.asarray(variance / 2)
        try:
            start = np.array(self.noise_variance_init, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"FactorAnalysis(noise_variance_init={self.noise_variance_init!r}): must be numbers") from None
        if start.shape != variance.shape or not (np.isfinite(start) & (start > 0)).all():
            raise BadParameter(f"FactorAnalysis(noise_variance_init=...): must be {len(variance)} numbers above zero, one for each column")
        return start

    # --- rows ---

    def _inner(self) -> tuple[Array, Array]:
        """W Ψ⁻¹ and the inverse of I + W Ψ⁻¹ Wᵀ."""
        W = double(self.components_)
        scaled = W / self.noise_variance_
        return scaled, np.linalg.inv(np.eye(len(W)) + scaled @ W.T)

    def _transform(self, X: Any) -> Array:
        X = ops.dense(X)
        scaled, inverse = self._inner()
        return np.asarray(((X - self.mean_) @ (scaled.T @ inverse)).astype(X.dtype, copy=False))

    def _names_out(self) -> list[str]:
        return [f"factoranalysis{i}" for i in range(len(self.components_))]

    # --- density ---

    def score_samples(self, X: Any) -> Array:
        """The log density of each row under the model N(mean_, get_covariance())."""
        return map_rows(self._log_density, check.check_predict(self, X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Array:
        """Wᵀ W + diag(ψ)."""
        covariance: Array = self.components_.T @ self.components_
        covariance[np.diag_indices(len(covariance))] += self.noise_variance_
        return covariance

    def get_precision(self) -> Array:
        """The inverse of `get_covariance()`."""
        unit = np.sqrt(np.diagonal(self.get_covariance()))  # through W Ψ⁻¹ noise near zero would cost digits
        return np.asarray(np.linalg.inv(self.get_covariance() / unit / unit[:, None]) / unit / unit[:, None])

    def _log_density(self, X: Any) -> Array:
        scaled, inverse = self._inner()
        apart = ops.dense(X) - self.mean_
        along = apart @ scaled.T
        far = (apart * apart) @ (1 / self.noise_variance_) - np.einsum("ij,ij->i", along @ inverse, along)
        size = np.log(self.noise_variance_).sum() - np.linalg.slogdet(inverse)[1] + X.shape[1] * log(2 * pi)
        return np.asarray(-0.5 * (far + size))


def leading_of(stats: Table, k: int) -> Leading:
    """The k leading eigenpairs of D S D for the covariance S and a diagonal D; of few rows through their products."""
    if stats.moments is not None:
        S = stats.as_moments().scatter / stats.weight
        return lambda d: eigenpairs(S * d * d[:, None], k) if k else (np.empty(0), np.empty((len(d), 0)))
    X, w = stats.rows[0]
    rows = (X - stats.mean) * np.sqrt(w / stats.weight)[:, None]

    def of_rows(d: Array) -> tuple[Array, Array]:
        scaled = rows * d
        values, left = largest_eigh(scaled @ scaled.T, min(k, len(rows)))
        there = values[::-1] > 1e-12 * values.max(initial=0.0)
        values, left = values[::-1][there], left[:, ::-1][:, there]
        return values, scaled.T @ left / np.sqrt(values)

    return of_rows
