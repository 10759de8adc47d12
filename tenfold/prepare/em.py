"""Filling missing values by the normal distribution that makes the values there most likely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Stats
from tenfold.prepare.filling import Filling, where_missing
from tenfold.prepare.scale import column_spreads, constant
from tenfold.solve.em import ascend

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(slots=True)
class Expected(Stats):
    """Sums over rows as expected, from the means of the step before: Σ w z, Σ w (z zᵀ + covariance), and the log-likelihood."""

    weight: float
    first: Array
    second: Array
    likelihood: float


class Normal(NamedTuple):
    """Means and covariances, and how far the step to them has moved the farthest, in standard deviations."""

    mean: Array
    covariance: Array
    moved: float


def _maximised(sums: Expected, before: Normal, level: Array, unit: Array) -> Normal:
    """From expected sums; columns that are `level` have no spread."""
    step = sums.first / sums.weight
    new = sums.second / sums.weight - step[:, None] * step
    new[level] = new[:, level] = 0.0
    moved = max(float(np.abs(step / unit).max()), float(np.abs((new - before.covariance) / (unit[:, None] * unit)).max()))
    return Normal(before.mean + step, (new + new.T) / 2, moved)


@estimator
class EMImputer(Filling):
    """EMImputer: missing values replaced by their conditional means under a normal distribution fitted to what is there.

    Model       x ~ N(μ, Σ);  x_m = μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o) for the missing part m of a row, given its observed part o
    Objective   max Σ w log N(x_o | μ_o, Σ_oo), the likelihood of the observed values
    Algorithm   EM: in each pass the sums of rows as expected given their observed part, for all rows of one pattern of gaps
                together; then means and covariances from the sums. The likelihood never falls. At its maximum a step moves nothing: its
                gradient is W Σ⁻¹ Δμ, and ½ W Σ⁻¹ (ΔΣ + Δμ Δμᵀ) Σ⁻¹
    Cost        O(n p² + patterns p³) time a pass, O(p²) memory
    Fails when  columns are dependent (a `ridge` keeps covariances invertible); two columns are never observed together: their
                correlation is not determined, and stays where the steps leave it
    Reference   Dempster, Laird & Rubin 1977; Little & Rubin 2002, §11.2

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rows = [[1.0, 2.1], [2.0, 3.9], [3.0, 6.0], [4.0, np.nan]]
    >>> tenfold.EMImputer().fit_transform(rows).round(1).tolist()[3]
    [4.0, 7.9]
    """

    mean_: Array = learned("float(p)", "means, 0 of columns without values")
    covariance_: Array = learned("float(p,p)", "covariances")
    log_likelihood_: Array = learned("real(*)", "log-likelihood of the observed values before each step")
    n_iter_: int = learned("int", "steps")

    _: KW_ONLY
    max_iter: int = param(default=200, at_least=1, doc="most steps, a pass each")
    tol: float = param(default=1e-6, at_least=0, doc="largest change of a mean or covariance, in standard deviations, at which to stop")
    ridge: float = param(default=1e-9, at_least=0, doc="share of each variance that is added to it where covariances are inverted")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}]

    double: ClassVar[bool] = True

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        facts = where_missing((yield self._missing_weight))
        vars(self).update(facts)
        spread = yield self._spreads
        p = source.n_features
        here, mean = ~facts["empty_"], np.zeros(p)
        mean[here] = spread.mean[here, 0]
        variance = np.where(here, spread.scatter[:, 0] / np.where(spread.weight > 0, spread.weight, 1.0), 0.0)
        variance[constant(variance, mean, spread.weight)] = 0.0
        level, unit = variance == 0, np.sqrt(np.where(variance > 0, variance, 1.0))
        start = Normal(mean, np.diag(variance), np.inf)
        best = yield from ascend(
            [start],
            self._expect,
            partial(_maximised, level=level, unit=unit),
            lambda sums, _: float(sums.likelihood),
            self.tol,
            self.max_iter,
            moved=lambda _, after: float(after.moved),
        )
        found: Normal = best.model
        if not best.converged:
            warn(
                f"EMImputer: the last of {self.max_iter} steps still moves a mean or covariance by {found.moved:.1e} deviations: raise "
                "max_iter, or tol",
                NotConverged,
                stacklevel=4,
            )
        history = np.array(best.bounds)
        return dict(**facts, mean_=found.mean, covariance_=found.covariance, log_likelihood_=history, n_iter_=len(history))

    def _spreads(self, block: Block) -> Any:
        X = self._with_nan(block.X)
        return column_spreads(X, block.w, ~np.isnan(X))

    def _expect(self, block: Block, model: Normal) -> Expected:
        """The sums of the rows of a block as they are expected to be, given what is there."""
        mean, covariance = model.mean, model.covariance
        X, w, p = self._with_nan(block.X).astype(np.float64) - mean, block.w, len(mean)
        first, second, likelihood = np.zeros(p), np.zeros((p, p)), 0.0
        for rows, there in patterns(X[:, ~self.empty_]):
            o, m = self._parts(there)
            Z, own = X[rows], w[rows]
            weight = own.sum()
            Z[:, self.empty_] = 0.0
            if len(o):
                inner = self._inverted(covariance, o)
                likelihood -= 0.5 * float(
                    own @ np.einsum("ij,jk,ik->i", Z[:, o], inner, Z[:, o])
                    + weight * (len(o) * LOG_2PI - np.linalg.slogdet(inner)[1])
                )
            if len(m):
                slope = inner @ covariance[np.ix_(o, m)] if len(o) else np.zeros((0, len(m)))
                Z[:, m] = Z[:, o] @ slope
                second[np.ix_(m, m)] += weight * (covariance[np.ix_(m, m)] - covariance[np.ix_(m, o)] @ slope)
            first += own @ Z
            second += (Z * own[:, None]).T @ Z
        return Expected(float(w.sum()), first, second, likelihood)

    def _parts(self, there: Array) -> tuple[Array, Array]:
        """Columns of a pattern that are observed, and those that are missing."""
        here = np.flatnonzero(~self.empty_)
        return here[there], here[~there]

    def _inverted(self, covariance: Array, o: Array) -> Array:
        unit = np.sqrt(np.diag(covariance)[o])
        unit[unit == 0] = 1.0  # a constant column tells nothing
        part = covariance[np.ix_(o, o)] / (unit[:, None] * unit)
        part[np.diag_indices(len(o))] = 1 + self.ridge
        found = np.linalg.pinv(part, hermitian=True) if self.ridge == 0 else np.linalg.inv(part)
        with np.errstate(over="ignore", invalid="ignore"):
            inverted = np.asarray(found / (unit[:, None] * unit))
        if not np.isfinite(inverted).all():
            raise BadInput("EMImputer: the variance of a column is so small that its inverse is no number: rescale the columns first")
        return inverted

    def _fill(self, X: Array) -> Array:
        Z = X - self.mean_
        for rows, there in patterns(X[:, ~self.empty_]):
            o, m = self._parts(there)
            if len(m):
                slope = self._inverted(self.covariance_, o) @ self.covariance_[np.ix_(o, m)] if len(o) else np.zeros((0, len(m)))
                Z[np.ix_(rows, m)] = Z[np.ix_(rows, o)] @ slope
        return np.asarray(Z + self.mean_)


def patterns(X: Array) -> list[tuple[Array, Array]]:
    """Rows by where they have values: numbers of the rows, and which columns are there."""
    there = ~np.isnan(X)
    if there.all():
        return [(np.arange(len(X)), np.ones(X.shape[1], dtype=bool))]
    packed = np.packbits(there, axis=1)
    order = np.lexsort(packed.T[::-1])
    new = np.append(True, (packed[order[1:]] != packed[order[:-1]]).any(axis=1))
    return [(rows, there[rows[0]]) for rows in np.split(order, np.flatnonzero(new)[1:])]
