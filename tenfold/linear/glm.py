"""Generalised linear models of scikit-learn's names: Poisson, gamma and Tweedie regression with an L2 penalty."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

from tenfold.base.estimator import Estimator
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.linear.families import Family, Power
from tenfold.linear.glm_model import GeneralizedLinear, GlmOptions
from tenfold.linear.links import LINKS, LOG, Link

INF = float("inf")


@estimator
class PoissonRegressor(GlmOptions, GeneralizedLinear, Estimator):
    """PoissonRegressor: counts whose logarithmic mean is linear in the columns.

    Model       y ~ Poisson(μ),  log μ = x·w + b
    Objective   min over w, b of  Σᵢ sᵢ (μᵢ − yᵢ log μᵢ) / Σᵢ sᵢ + ½ alpha ‖w‖²  (half the mean deviance, up to a constant; b free)
    Algorithm   Newton steps, a pass over the rows each, in a metric that is renewed when that pays and shortened where the
                objective would rise; a large table starts at the solution for one block in eight; few rows of many columns
                are fitted in the space that they span
    Cost        O(n p²) time a pass, about six passes; O(p²) memory, O(p) above a thousand columns
    Fails when  all counts are zero, or a column is zero in every row but some without counts, and alpha is 0: the optimum lies at
                infinity; columns are dependent and alpha is 0: one of many solutions (Degenerate)
    Reference   Nelder & Wedderburn 1972; McCullagh & Nelder 1989, ch. 6

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = tenfold.PoissonRegressor().fit(X, [12, 17, 22, 21])
    >>> model.coef_.round(3), model.predict([[1.0, 1.0]]).round(3)
    (array([0.121, 0.158]), array([10.676]))
    """

    target_range: ClassVar[tuple[float, float]] = (0.0, INF)

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12, "alpha": 0.01}, {"tol": 1e-12, "alpha": 0.0, "fit_intercept": False}]

    def _pair(self) -> tuple[Family, Link]:
        return Power(1, "poisson"), LOG


@estimator
class GammaRegressor(GlmOptions, GeneralizedLinear, Estimator):
    """GammaRegressor: positive numbers whose logarithmic mean is linear in the columns, and whose spread grows with it.

    Model       y ~ Gamma of mean μ and variance φ μ²,  log μ = x·w + b
    Objective   min over w, b of  Σᵢ sᵢ (yᵢ / μᵢ + log μᵢ) / Σᵢ sᵢ + ½ alpha ‖w‖²  (half the mean deviance, up to a constant; b free)
    Algorithm   that of PoissonRegressor
    Cost        O(n p²) time a pass, about six passes; O(p²) memory, O(p) above a thousand columns
    Fails when  columns are dependent and alpha is 0: one of many solutions (Degenerate)
    Reference   Nelder & Wedderburn 1972; McCullagh & Nelder 1989, ch. 8

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = tenfold.GammaRegressor().fit(X, [19, 26, 33, 30])
    >>> model.coef_.round(3), round(model.score(X, [19, 26, 33, 30]), 3)
    (array([0.073, 0.067]), 0.773)
    """

    target_range: ClassVar[tuple[float, float]] = (0.0, INF)

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12, "alpha": 0.01}]

    def _pair(self) -> tuple[Family, Link]:
        return Power(2, "gamma"), LOG


@estimator
class TweedieRegressor(GlmOptions, GeneralizedLinear, Estimator):
    """TweedieRegressor: a mean that is linear in the columns, or its logarithm is, and a variance that is a power of it.

    Model       Var(y) = φ μ^power,  g(μ) = x·w + b;  power 0: normal, 1: Poisson, between 1 and 2: sums of a Poisson number of
                gammas, as claims of insurance with many zeros, 2: gamma, 3: inverse Gaussian
    Objective   min over w, b of  ½ Σᵢ sᵢ d(yᵢ, μᵢ) / Σᵢ sᵢ + ½ alpha ‖w‖²,  d the deviance  (b free)
    Algorithm   that of PoissonRegressor; where the loss is not convex (power above 2), rows of negative curvature enter with its
                expectation
    Cost        O(n p²) time a pass, about six passes; O(p²) memory, O(p) above a thousand columns
    Fails when  link is "identity" and no coefficients give every row a mean above zero; columns are dependent and alpha is 0: one of
                many solutions (Degenerate)
    Reference   Jørgensen 1987; McCullagh & Nelder 1989

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]])
    >>> model = tenfold.TweedieRegressor(power=1.5).fit(X, [2, 3.5, 5, 5.5])
    >>> model.predict([[1.0, 1.0]]).round(3)
    array([2.246])
    """

    _: KW_ONLY
    power: float = param(default=0.0, at_least=-100, at_most=100, doc="the variance is this power of the mean", before="alpha")
    link: str = param(
        default="auto",
        one_of=("auto", "identity", "log"),
        doc="what of the mean is linear; auto: itself for power <= 0, its logarithm above",
        before="solver",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12, "alpha": 0.01}, {"tol": 1e-12, "alpha": 0.01, "power": 1.5}]

    @property
    def target_range(self) -> tuple[float, float]:
        return (0.0, INF) if isinstance(self.power, numbers.Real) and self.power > 0 else (-INF, INF)

    def _pair(self) -> tuple[Family, Link]:
        auto = "identity" if self.power <= 0 else "log"
        return Power(float(self.power)), LINKS[auto if self.link == "auto" else self.link]
