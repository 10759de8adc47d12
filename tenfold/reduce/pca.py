"""Principal component analysis."""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, as_floats
from tenfold.core.errors import BadInput, BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.numbers import check_finite
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.reduce.table import Table
from tenfold.solve.columns import check_magnitude

NEAR = 100.0  # deviations that the mean may lie from zero, up to which rows are projected first and centred then


@estimator
class PCA(Transformer, OnePass):
    """PCA: the orthogonal directions of largest variance.

    Model       x ≈ m + Σₖ zₖ vₖ,  z = V (x − m),  V orthonormal rows; as a density, N(m, Vᵀ (Λ − σ² I) V + σ²
                I)
    Objective   max over orthonormal V of the variance of V (x − m)
    Algorithm   one pass of centred moments and the leading eigenvectors of the covariance; an SVD of the rows
                themselves while there are fewer rows than columns. The largest entry of each component is
                positive
    Cost        O(n p²) time, O(min(n, p) p) memory, one pass; merging O(p²)
    Fails when  columns have different units (standardise first); variances below about 1e-16 of the largest
                are rounding errors (whiten=True then warns Degenerate)
    Reference   Hotelling 1933; density: Tipping & Bishop 1999; n_components="mle": Minka 2000

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> model = tenfold.PCA(n_components=1).fit(X)
    >>> model.components_.round(4).tolist(), model.explained_variance_ratio_.round(6).tolist()
    ([[0.7071, 0.7071]], [1.0])
    """

    components_: Array = learned("float(k,p)", "principal axes, by falling variance", like_x=True)
    explained_variance_: Array = learned("float(k)", "variance along each axis", like_x=True)
    explained_variance_ratio_: Array = learned("float(k)", "its share of the whole", like_x=True)
    singular_values_: Array = learned("float(k)", "singular values of the centred rows", like_x=True)
    mean_: Array = learned("float(p)", "mean of each column", like_x=True)
    n_components_: int = learned("int", "number of axes")
    n_samples_: int = learned("int", "number of rows")
    noise_variance_: float = learned("float", "mean variance along the axes that were left out")
    stats_: Any = learned("Table(p)", "the moments, or few rows: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True

    n_components: int | float | str | None = param(
        default=None,
        at_least=0,
        one_of=(None, "mle"),
        doc='components kept; below 1: share of the variance; "mle": Minka\'s rule; None: all',
    )
    _: KW_ONLY
    copy: bool = param(default=True, doc="no effect: X is never changed")
    whiten: bool = param(default=False, doc="scale the components of transform to variance 1")
    svd_solver: str = param(
        default="auto",
        one_of=("auto", "full", "covariance_eigh", "arpack", "randomized"),
        doc="no effect: the exact leading components are always found",
    )
    tol: float = param(default=0.0, at_least=0, doc="no effect: the solution is direct")
    iterated_power: int | str = param(
        default="auto", at_least=0, one_of=("auto",), doc="no effect: the solution is direct"
    )
    n_oversamples: int = param(default=10, at_least=1, doc="no effect: the solution is direct")
    power_iteration_normalizer: str = param(
        default="auto", one_of=("auto", "QR", "LU", "none"), doc="no effect: the solution is direct"
    )
    random_state: Any = param(default=None, doc="no effect: nothing is drawn")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"n_components": 2, "whiten": True}]

    def _summarize(self, block: Block) -> Table:
        return Table.of(block)

    def _solve(self, stats: Table) -> dict[str, Any]:
        stats.gather()
        fitted = self._components(stats)
        stats.settle()
        return fitted

    def _components(self, stats: Table) -> dict[str, Any]:
        n, mean, squares = stats.weight, stats.mean, stats.squares()
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        most = min(len(mean), int(n + 1e-6))
        k = self._count(n, len(mean), most)
        if isinstance(k, str):
            return {"absent_": dict.fromkeys(("components_", "mean_", "explained_variance_"), k)}
        values, axes = stats.spectrum(k, most)
        total = float(squares.sum())
        if k is None:
            wanted = self.n_components
            assert wanted is not None  # which asks for all of them
            k = minka(values / (n - 1), n) if isinstance(wanted, str) else _reached(values, total * wanted)
        rest = float(values[k:].sum() if len(values) == most else total - values[:k].sum()) / (n - 1)
        values, axes = values[:k], _oriented(axes[:k])
        if total == 0 or (self.whiten and k and values[-1] <= 0):
            message = (
                "no column of X varies"
                if total == 0
                else "the last components have no variance to be scaled to 1: lower n_components"
            )
            warn(f"PCA: {message}", Degenerate, stacklevel=2)
        return dict(
            components_=axes,
            explained_variance_=values / (n - 1),
            explained_variance_ratio_=values / (total or 1.0),
            singular_values_=np.sqrt(values),
            mean_=mean,
            n_components_=int(k),
            n_samples_=int(n) if n == int(n) else n,
            noise_variance_=rest / (most - k) if k < most else 0.0,
        )

    def _count(self, n: float, p: int, most: int) -> int | str | None:
        """How many components to find; None: all, to choose among them; a sentence where rows are too few."""
        k = self.n_components
        if n <= 1:
            return "PCA: 1 sample is not enough (rows count with their weights): give at least two rows"
        if k is None:
            return most
        if isinstance(k, str):
            return None if n >= p else "PCA: n_components='mle' is only supported if n_samples >= n_features"
        if isinstance(k, (int, np.integer)):
            return (
                int(k)
                if k <= most
                else (
                    f"PCA: n_components={k} must be between 0 and min(n_samples, n_features)={most} with svd_solver='full' or any other, "
                    f"the smaller of n_samples={n:g} and n_features={p}: lower it, or give more rows"
                )
            )
        if not 0 < k < 1:
            raise BadParameter(
                f"PCA(n_components={k}): must be a whole number, or a share of the variance between 0 and 1"
            )
        return None

    def _finish(self, source: Source) -> None:
        if "absent_" in vars(self):
            raise BadInput(self.absent_["components_"])

    # --- rows ---

    def _transform(self, X: Any) -> Array:
        axes, mean, X = self._axes(), double(self.mean_), ops.dense(X)
        far = np.abs(self.components_) @ np.abs(self.mean_)
        if (far <= NEAR * np.sqrt(self.explained_variance_)).all():
            rows = ops.linear_scores(X, np.ascontiguousarray(axes), -(axes @ mean))
        else:  # what is left after the mean is taken away would have lost digits
            rows = (X - mean) @ axes.T
        return np.asarray(rows.astype(X.dtype, copy=False))

    def _axes(self) -> Array:
        """The rows that transform multiplies with."""
        if not self.whiten:
            return double(self.components_)
        return double(self.components_) / np.maximum(np.sqrt(double(self.explained_variance_)), np.finfo(float).eps)[:, None]

    def _objection(self) -> str | None:
        return None if self.n_components_ == len(self.components_) else "n_components_ is not the number of components"

    def _names_out(self) -> list[str]:
        return [f"pca{i}" for i in range(self.n_components_)]

    def inverse_transform(self, X: Any) -> Array:
        """Rows of components back in the original columns."""
        check.check_fitted(self)
        Z, _ = check.as_table(self, X)
        check.check_width(self, Z.shape[1], self.n_components_)
        Z = as_floats(ops.dense(Z))
        check_finite(Z, slice(0, None), None, False)
        axes = double(self.components_)
        axes = axes * np.sqrt(self.explained_variance_)[:, None] if self.whiten else axes
        return map_rows(lambda Z: (Z @ axes + self.mean_).astype(Z.dtype, copy=False), Z)

    # --- density ---

    def score_samples(self, X: Any) -> Array:
        """The log density of each row under the model N(mean_, get_covariance())."""
        return map_rows(self._log_density, check.check_predict(self, X))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> Array:
        """Vᵀ (Λ − σ² I) V + σ² I."""
        axes, gain = double(self.components_), np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        covariance: Array = (axes.T * gain) @ axes
        covariance[np.diag_indices(len(covariance))] += self.noise_variance_
        return covariance

    def get_precision(self) -> Array:
        """The inverse of `get_covariance()`."""
        variances, noise = self._variances()
        axes = double(self.components_)
        inside: Array = (axes.T * (1 / variances - 1 / noise)) @ axes
        inside[np.diag_indices(len(inside))] += 1 / noise
        return inside

    def _variances(self) -> tuple[Array, float]:
        """Variances along the components and in all other directions, all above zero."""
        k, p = self.components_.shape
        variances = np.maximum(double(self.explained_variance_), self.noise_variance_)
        least = float(np.finfo(np.float64).eps * p * variances.max(initial=0.0)) or 1e-300
        if variances.min(initial=np.inf) < least or (k < p and self.noise_variance_ < least):
            warn(
                "PCA: the rows have no variance in some direction, where the density takes it to be at the "
                "limit of rounding: lower n_components",
                Degenerate,
                stacklevel=4,
            )
        return np.maximum(variances, least), max(self.noise_variance_, least) if k < p else 1.0

    def _log_density(self, X: Any) -> Array:
        variances, noise = self._variances()
        apart, axes = ops.dense(X) - double(self.mean_), double(self.components_)
        Z = apart @ axes.T
        apart -= Z @ axes
        far = (Z * Z) @ (1 / variances) + (
            np.einsum("ij,ij->i", apart, apart) / noise if Z.shape[1] < X.shape[1] else 0.0
        )
        size = np.log(variances).sum() + (X.shape[1] - Z.shape[1]) * log(noise) + X.shape[1] * log(2 * pi)
        return np.asarray(-0.5 * (far + size))


def double(values: Array) -> Array:
    """Fitted numbers to compute with: they are told in float32 where the table was."""
    return values.astype(np.float64, copy=False)


def _oriented(axes: Array) -> Array:
    """Each row with its entry of largest size positive."""
    if not len(axes):
        return axes.copy()
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    return np.ascontiguousarray(axes * signs[:, None])


def _reached(values: Array, goal: float) -> int:
    """How many of the values it takes for their sum to exceed the goal."""
    return min(int(np.searchsorted(np.cumsum(values), goal, side="right")) + 1, len(values))


def minka(spectrum: Array, n: float) -> int:
    """The number of components with the largest evidence (Minka 2000, equation 30), from 1 to p − 1.

    log p(D | k) ≈ log p(U) − n/2 Σ log λᵢ − n (p − k)/2 log v + (m + k)/2 log 2π − ½ log |A| − k/2 log n
    with m = pk − k(k + 1)/2, v the mean of the eigenvalues left out, and
    log |A| = Σ over i ≤ k, j > i of log(λᵢ − λⱼ) + log(1/λ̂ⱼ − 1/λ̂ᵢ) + log n,
    where λ̂ is λ with v in place of what is left out.
    """
    p = len(spectrum)
    tiny = np.finfo(float).eps * spectrum[0]
    gaps = np.log(np.maximum(spectrum[:, None] - spectrum, tiny * np.finfo(float).eps))
    logs = np.log(np.maximum(spectrum, tiny))
    above = np.triu(gaps, 1)
    best, chosen = -np.inf, 0
    log_prior = 0.0
    for k in range(1, p):
        half = (p - k + 1) / 2
        log_prior += lgamma(half) - log(pi) * half - log(2)
        if spectrum[k - 1] <= tiny:
            break
        v = max(float(spectrum[k:].sum()) / (p - k), tiny)
        m = p * k - k * (k + 1) / 2
        inner = (
            above[:k, :k].sum() - (k - 1) * logs[:k].sum()
        )  # both of the pair kept: log(1/λⱼ − 1/λᵢ) = gap − log λᵢ − log λⱼ
        outer = (p - k) * np.log(np.maximum(1 / v - 1 / spectrum[:k], tiny * np.finfo(float).eps)).sum()
        determinant = above[:k].sum() + inner + outer + m * log(n)
        evidence = (
            log_prior
            - n / 2 * logs[:k].sum()
            - n * (p - k) / 2 * log(v)
            + (m + k) / 2 * log(2 * pi)
            - determinant / 2
            - k / 2 * log(n)
        )
        if evidence > best:
            best, chosen = evidence, k
    return chosen
