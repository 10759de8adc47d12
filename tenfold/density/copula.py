"""Copula densities: one density for each column, times one of how the columns depend on each other."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy.special import ndtr, ndtri

from tenfold.base import check
from tenfold.base.estimator import Density, Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.density.forest import DensityForest
from tenfold.density.gaussian import GaussianDensity
from tenfold.density.histogram import Histogram
from tenfold.density.kernel import KernelDensity
from tenfold.density.partition import Partition
from tenfold.density.tree import DensityTree

ENDS = (1e-12, 1 - 1e-12)  # of probabilities: a normal score is finite, and a quantile within the support
LEAST = 1e-9  # eigenvalue of correlations
SMOOTHING = 0.1  # of a row added to each bin of a histogram: none has the density 0


@estimator
class CopulaDensity(Density, Estimator):
    """CopulaDensity: the densities of the columns, times that of their ranks.

    Model       p(x) = c(u) Πⱼ pⱼ(xⱼ),  uⱼ = Fⱼ(xⱼ) the cdf of pⱼ: the columns by themselves, and how they depend on each other.
                copula="tree": c is a DensityTree on the unit cube; "forest": a DensityForest; "gaussian": log c = −½ log|R| −
                ½ zᵀ(R⁻¹ − I)z with zⱼ = Φ⁻¹(uⱼ)
    Objective   that of each pⱼ; c is fitted to ranks (r − ½) / n, ties in their middle, so that it does not depend on how well the pⱼ fit.
                R are the correlations of Φ⁻¹(ranks), moved towards I by the share λ = Σ var(rᵢⱼ) / Σ rᵢⱼ² of least expected error
    Algorithm   columns one by one, then the copula; rows are drawn from c, and go through the inverse cdfs
    Cost        that of p densities of one column, and of the copula; the rows are kept during the fit
    Fails when  a column has few values: widths of its own density must suit their grid (give Histogram with edges half way between them);
                a row lies where one pⱼ is zero (trees and histograms end near the rows); weights count as copies of rows
    Reference   Sklar 1959; Joe 1997; shrinkage: Schäfer & Strimmer 2005

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> x = rng.gamma(2, size=500)
    >>> X = np.column_stack([x, np.exp(x) * rng.lognormal(0, 0.3, 500)])
    >>> model = tenfold.CopulaDensity("gaussian").fit(X)
    >>> model.correlation_.round(1).tolist()
    [[1.0, 0.9], [0.9, 1.0]]
    >>> model.sample(1000, random_state=0).shape
    (1000, 2)
    """

    marginals_: list[Any] = learned("[part](p)", "the fitted densities of the columns")
    copula_: Any = learned("learner", "the fitted density of the ranks, of trees", optional=True)
    correlation_: Array = learned("float(p,p)", "correlations R of the normal scores, of a Gaussian copula", optional=True)
    shrinkage_: float = learned("float", "the share λ by which they were moved towards 0", optional=True)

    kind: ClassVar[str] = "keeps rows"  # during the fit
    sparse: ClassVar[bool] = True  # made dense

    copula: Any = param(
        default="tree",
        doc="how columns depend on each other: 'tree', 'forest' or 'gaussian'; or a DensityTree or DensityForest with its parameters",
    )
    marginals: Any = param(
        default="tree",
        doc="density of each column: 'tree', 'histogram', 'kde' or 'gaussian'; or any density with a cdf, of which each column gets a copy",
    )
    _: KW_ONLY
    shrinkage: float | None = param(
        default=None, at_least=0, at_most=1, doc="how far a Gaussian copula is moved towards independence; None: by the rows"
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of a forest")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"copula": "gaussian", "marginals": "gaussian"}]

    # --- what is asked for ---

    def _marginal(self) -> Any:
        found = _named(self.marginals) if isinstance(self.marginals, str) else self.marginals
        if not isinstance(found, Density) or not found.has_samples:
            raise BadParameter(
                f"CopulaDensity(marginals={check.short(self.marginals)}): must be {', '.join(map(repr, NAMES))}, or a density with a cdf, "
                "as Histogram()"
            )
        return found

    def _alone(self, X: Array, j: int, w: Array, marginal: Any) -> Any:
        """The density of a column. One of a single value gets a bin one wide, unless the user has given what it gets."""
        flat = isinstance(self.marginals, str) and not np.ptp(X[:, j])
        try:
            return (Histogram() if flat else fresh(marginal)).fit(X[:, [j]], sample_weight=w)
        except BadInput as error:
            where = column_name(vars(self).get("feature_names_in_"), j)
            raise BadInput(f"CopulaDensity: there is no density of {where} alone: {error}") from error

    def _dependence(self) -> Any:
        """The density of ranks to be fitted; None: Gaussian."""
        if isinstance(self.copula, str) and self.copula == "gaussian":
            return None
        named = {"tree": DensityTree(), "forest": DensityForest(random_state=self.random_state)}
        found = named.get(self.copula) if isinstance(self.copula, str) else self.copula
        if not isinstance(found, Partition):
            raise BadParameter(
                f"CopulaDensity(copula={check.short(self.copula)}): must be 'tree', 'forest', 'gaussian', a DensityTree or a DensityForest"
            )
        return fresh(found).set_params(support=(0.0, 1.0))

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        marginal, dependence = self._marginal(), self._dependence()
        X, _, w = yield Keep()
        X = np.asarray(X, dtype=np.float64)
        if not w.all():
            X, w = X[w > 0], w[w > 0]
        fitted: dict[str, Any] = dict(marginals_=[self._alone(X, j, w, marginal) for j in range(X.shape[1])])
        if X.shape[1] == 1:
            return fitted
        U = ranks(X, w)
        if dependence is not None:
            return fitted | dict(copula_=dependence.fit(U, sample_weight=w))
        R, share = shrunken_correlations(ndtri(U), w, self.shrinkage)
        return fitted | dict(correlation_=R, shrinkage_=share)

    def _objection(self) -> str | None:
        if any(one.n_features_in_ != 1 or not isinstance(one, Density) for one in self.marginals_):
            return "marginals_ are not densities of one column"
        if self.n_features_in_ == 1:
            return None
        if ("copula_" in vars(self)) == ("correlation_" in vars(self)):
            return "there is not one copula"
        if "copula_" in vars(self):
            unit = isinstance(self.copula_, Partition) and not self.copula_.lower_.any() and (self.copula_.upper_ == 1).all()
            return None if unit else "copula_ is not a density of the unit cube"
        R = self.correlation_
        if not np.allclose(R, R.T) or not np.allclose(np.diag(R), 1.0) or np.linalg.eigvalsh(R)[0] <= 0:
            return "correlation_ does not hold correlations"
        return None

    # --- what it says of rows ---

    def _log_density(self, X: Any) -> Array:
        X = np.asarray(ops.dense(X), dtype=np.float64)
        columns = [np.ascontiguousarray(X[:, [j]]) for j in range(X.shape[1])]
        alone = np.sum([one._log_density(x) for one, x in zip(self.marginals_, columns, strict=True)], axis=0)
        if len(columns) == 1:
            return np.asarray(alone)
        return np.asarray(alone + self._log_copula(np.column_stack([one._cdf(x) for one, x in zip(self.marginals_, columns, strict=True)])))

    def _log_copula(self, U: Array) -> Array:
        if "copula_" in vars(self):
            return np.asarray(self.copula_._log_density(np.clip(U, 0.0, 1.0)))
        Z = ndtri(np.clip(U, *ENDS))
        L = np.linalg.cholesky(self.correlation_)
        white = np.linalg.solve(L, Z.T)
        return np.asarray(0.5 * ((Z**2).sum(axis=1) - (white**2).sum(axis=0)) - np.log(np.diag(L)).sum())

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        p: int = self.n_features_in_
        if p == 1:
            U = rng.random((n, 1))
        elif "copula_" in vars(self):
            U = self.copula_._draw(n, rng)
        else:
            U = ndtr(rng.normal(size=(n, p)) @ np.linalg.cholesky(self.correlation_).T)
        return np.column_stack([one._quantile(np.clip(u, *ENDS)) for one, u in zip(self.marginals_, U.T, strict=True)])

    def _cdf(self, X: Any) -> Array:
        return np.asarray(self.marginals_[0]._cdf(X))

    def _quantile(self, q: Array) -> Array:
        return np.asarray(self.marginals_[0]._quantile(q))

    def _support(self) -> tuple[Array, Array]:
        low, high = zip(*(one._support() for one in self.marginals_), strict=True)
        return np.concatenate(low), np.concatenate(high)

    def _kinks(self) -> list[Array]:
        alone = [one._kinks()[0] for one in self.marginals_]
        if "copula_" not in vars(self):
            return alone
        cuts = [np.clip(u[(u > 0) & (u < 1)], *ENDS) for u in self.copula_._kinks()]
        return [np.unique(np.concatenate([x, one._quantile(u)])) for one, x, u in zip(self.marginals_, alone, cuts, strict=True)]


NAMES = ("tree", "histogram", "kde", "gaussian")


def _named(name: str) -> Any:
    """A density of one column."""
    if name == "kde":
        return KernelDensity(bandwidth="isj")
    return {"histogram": Histogram(smoothing=SMOOTHING), "tree": DensityTree(), "gaussian": GaussianDensity()}.get(name)


def ranks(X: Array, w: Array) -> Array:
    """(r − ½) / n of each column, ties in their middle; a row of weight w is w rows."""
    found = np.empty(X.shape)
    for j, column in enumerate(X.T):
        _, place = np.unique(column, return_inverse=True)
        weight = np.bincount(place, w)
        total = np.cumsum(weight)  # its last, and not a sum of other rounding: no rank is above 1
        found[:, j] = ((total - 0.5 * weight) / total[-1])[place]
    return found


def shrunken_correlations(Z: Array, w: Array, share: float | None) -> tuple[Array, float]:
    """(1 − λ) R + λ I, and λ; a column without spread is correlated with none. λ is that of least expected squared error, estimated."""
    total = w.sum()
    apart = Z - w @ Z / total
    spread = np.sqrt(w @ apart**2 / total)
    flat = spread <= 1e-12 * max(1.0, float(np.abs(Z).max(initial=0.0)))
    scores = np.where(flat, 0.0, apart / np.where(flat, 1.0, spread))
    R = scores.T @ (scores * w[:, None]) / total
    off = ~np.eye(len(R), dtype=bool)
    if share is None:
        doubt = ((scores**2).T @ (scores**2 * w[:, None]) / total - R**2)[off].sum() / total
        strength = (R**2)[off].sum()
        share = float(np.clip(doubt / strength, 0.0, 1.0)) if strength > 0 else 1.0
    R = np.where(off, (1 - share) * R, 1.0)
    lowest = share if share >= LEAST else float(np.linalg.eigvalsh(R)[0])
    if lowest < LEAST:  # columns that say the same: as little more as makes R invertible
        more = (LEAST - lowest) / (1 - lowest)
        share, R = 1 - (1 - share) * (1 - more), np.where(off, (1 - more) * R, 1.0)
    return (R + R.T) / 2, share

