"""Generalised linear models of any family and link, with offsets and elastic-net penalties."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learning import Learner, through
from tenfold.core.mapped import Mapped
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.linear.families import Binomial, Family, NegativeBinomial, Power
from tenfold.linear.glm_model import GeneralizedLinear
from tenfold.linear.glm_outcome import Problem
from tenfold.linear.links import LINKS, LOG, Link

POWERS = {"normal": 0.0, "poisson": 1.0, "gamma": 2.0, "inverse_gaussian": 3.0}
FAMILIES = (*POWERS, "tweedie", "binomial", "negative_binomial")
LARGEST_POWER = 100.0


class Beside(NamedTuple):
    """The columns that enter scores with a coefficient of one: an offset as it is, an exposure by its logarithm."""

    offset: int | None
    exposure: int | None
    free: Array  # all other columns

    def apart(self, block: Block) -> Block:
        """A block without these columns, and with the target [y offset]."""
        moved = np.zeros(len(block))
        if self.offset is not None:
            moved += _column(block.X, self.offset)
        if self.exposure is not None:
            moved += self.logarithm(block.X)
        X = block.X[:, self.free] if ops.is_sparse(block.X) else np.ascontiguousarray(block.X[:, self.free])
        return replace(block, X=X, y=np.column_stack([block.y, moved]), unread=None)

    def logarithm(self, X: Any) -> Array:
        """The logarithm of the exposure; not finite where there is none."""
        with np.errstate(all="ignore"):
            return np.asarray(np.log(_column(X, self.exposure)))


def _column(X: Any, j: Any) -> Array:
    column = X[:, [j]].toarray()[:, 0] if ops.is_sparse(X) else X[:, j]
    return np.asarray(column, dtype=np.float64)


@estimator
class GeneralizedLinearRegressor(GeneralizedLinear, Estimator):
    """GeneralizedLinearRegressor: a function of the mean that is linear in the columns, for any family of distributions.

    Model       E(y) = μ,  g(μ) = x·w + b + offset + log(exposure),  Var(y) = φ V(μ) / s.  Families by V: normal 1, poisson μ, gamma μ²,
                inverse_gaussian μ³, tweedie μ^power, binomial μ (1 − μ), negative_binomial μ + overdispersion μ². Links g: identity, log,
                logit, probit, cloglog (log(−log(1 − μ))), inverse, inverse_squared, sqrt; canonical is that of the family
                (identity, log, inverse, inverse_squared, log, logit, log)
    Objective   min over w, b of  ½ Σᵢ sᵢ d(yᵢ, μᵢ) / Σᵢ sᵢ + alpha (½ (1 − ρ) ‖w‖² + ρ ‖w‖₁),  d the deviance, ρ = l1_ratio  (b free)
    Algorithm   Newton steps, a pass each; rows whose curvature is negative enter with its expectation (Fisher scoring); steps are
                shortened until the objective falls and every row has a mean. With ρ > 0: Newton steps on the columns that matter,
                each an elastic net. A share y of m trials is a row of weight m. `offset` and `exposure` are columns of X, by
                name or number: so they go through files, streams, pipelines and cross-validation with their rows; `coef_` is 1
                for the offset and 0 for the exposure
    Cost        O(n p²) time a pass, about six passes; O(p²) memory, O(p) above a thousand columns
    Fails when  the link has means outside the family, and no coefficients are found that give every row a mean of it (refused);
                shares are predicted perfectly, or columns are dependent, and alpha is 0 (Degenerate)
    Reference   Nelder & Wedderburn 1972; McCullagh & Nelder 1989; with ρ > 0: Lee, Sun & Saunders 2014

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 100.0], [1.0, 200.0], [2.0, 100.0], [3.0, 50.0]])  # a dose, and how many were given it
    >>> model = tenfold.GeneralizedLinearRegressor(family="poisson", exposure=1).fit(X, [5, 21, 17, 18])
    >>> model.coef_.round(3), model.predict([[1.0, 1000.0]]).round(1)
    (array([0.628, 0.   ]), array([99.]))
    """

    family: str = param(default="normal", one_of=FAMILIES, doc="the distribution of y")
    link: str = param(default="canonical", one_of=("canonical", *LINKS), doc="what of the mean is linear")
    _: KW_ONLY
    power: float = param(default=1.5, at_least=-LARGEST_POWER, at_most=LARGEST_POWER, doc="tweedie: V(μ) is this power of μ")
    overdispersion: float = param(default=1.0, above=0, doc="negative_binomial: a in V(μ) = μ + a μ²")
    alpha: float = param(default=0.0, at_least=0, doc="strength of the penalty")
    l1_ratio: float = param(
        default=0.0, at_least=0, at_most=1, doc="share of the L1 penalty, which sets coefficients to zero"
    )
    offset: str | int | None = param(default=None, doc="column, by name or number, that is added to the score as it is")
    exposure: str | int | None = param(
        default=None, doc="column, by name or number, that counts are relative to: its logarithm is added to the score (link log)"
    )
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    max_iter: int = param(default=100, at_least=1, doc="most steps, each a pass over the rows")
    tol: float = param(default=1e-6, above=0, doc="bound on max |gradient|; steps go on while they are cheap and help")
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before; it ends at the same place")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        tight: dict[str, Any] = {"tol": 1e-12}
        return [
            tight,
            {**tight, "family": "gamma", "link": "log", "alpha": 0.01, "l1_ratio": 0.5},
            {**tight, "family": "binomial", "alpha": 0.01},
        ]

    @property
    def target_range(self) -> tuple[float, float]:
        name, power = self.family if isinstance(self.family, str) else "normal", self.power
        real = name == "normal" or (name == "tweedie" and not (isinstance(power, numbers.Real) and power > 0))
        return (-np.inf if real else 0.0), (1.0 if name == "binomial" else np.inf)

    def _pair(self) -> tuple[Family, Link]:
        family: Family
        if self.family == "binomial":
            family = Binomial()
        elif self.family == "negative_binomial":
            family = NegativeBinomial(self.overdispersion)
        else:
            family = Power(POWERS.get(self.family, self.power), "" if self.family == "tweedie" else self.family)
        return family, family.canonical if self.link == "canonical" else LINKS[self.link]

    def _problem(self, offset: bool = False) -> Problem:
        alpha, share = float(self.alpha), float(self.l1_ratio)
        return super()._problem(offset)._replace(l1=alpha * share, l2=alpha * (1 - share))

    def _beside(self) -> Beside | None:
        """The columns of the offset and the exposure, by their numbers."""
        if self.offset is None and self.exposure is None:
            return None
        offset, exposure = (self._number(name) for name in ("offset", "exposure"))
        if offset == exposure:
            raise BadParameter(f"{type(self).__name__}: offset and exposure are the same column {self.offset!r}: give one of the two")
        if exposure is not None and self._pair()[1] is not LOG:
            raise BadParameter(
                f"{type(self).__name__}(exposure={self.exposure!r}): means are relative to an exposure with link='log' alone: choose it, "
                "or divide y by the exposure and give that as sample_weight"
            )
        return Beside(offset, exposure, np.setdiff1d(np.arange(self.n_features_in_), [j for j in (offset, exposure) if j is not None]))

    def _number(self, name: str) -> int | None:
        """The number of the column that a parameter names."""
        given, p = getattr(self, name), self.n_features_in_
        if given is None:
            return None
        known = [str(one) for one in vars(self).get("feature_names_in_", ())]
        where = f"{type(self).__name__}({name}={given!r})"
        if isinstance(given, str):
            if given not in known:
                told = f"they are {', '.join(known[:6])}{', ...' if len(known) > 6 else ''}" if known else "they have none: give its number"
                raise BadInput(f"{where}: no column of X has this name; {told}")
            return known.index(given)
        if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, np.integer)) or not -p <= given < p:
            raise BadParameter(f"{where}: must be the name of a column or a number from 0 to {p - 1}")
        return int(given) % p

    def _free_columns(self) -> Array:
        beside = self._beside()
        return super()._free_columns() if beside is None else beside.free

    def _learn_from(self, source: Source, start: Any) -> Learner[dict[str, Any]]:
        beside = self._beside()
        if beside is None:
            return (yield from self._shaped(source, start, False))
        if start is not None:
            start = start[:, np.append(beside.free, -1)]
        narrow = Mapped(source, lambda X: X, len(beside.free))
        fitted = yield from through(beside.apart, self._shaped(narrow, start, True))
        coef = np.zeros(source.n_features)
        coef[beside.free] = fitted["coef_"]
        if beside.offset is not None:
            coef[beside.offset] = 1.0
        return {**fitted, "coef_": coef}

    def _scores(self, X: Any) -> Array:
        eta, beside = super()._scores(X), self._beside()
        if beside is None or beside.exposure is None:
            return eta
        moved = beside.logarithm(X)
        if not np.isfinite(moved).all():
            value = _column(X, beside.exposure)[~np.isfinite(moved)][0]
            raise BadInput(f"{type(self).__name__}: the exposure of a row is {value:g}: it must be above 0")
        return eta + moved
