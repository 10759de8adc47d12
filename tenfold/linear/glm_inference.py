"""What a generalised linear model knows about its own uncertainty, from Fisher's information at the solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter


@dataclass(frozen=True)
class GlmInference:
    """Uncertainty of p' coefficients (the intercept first, where there is one), which are normal for many rows."""

    names: list[str]
    coef: Array
    covariance: Array  # (p', p')
    dispersion: float
    deviance: float
    null_deviance: float
    log_likelihood: float | None
    n: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom left for the residuals."""
        return self.n - len(self.names)

    @property
    def standard_errors(self) -> Array:
        return np.asarray(np.sqrt(np.diagonal(self.covariance)))

    @property
    def z(self) -> Array:
        """Coefficients over their standard errors."""
        return np.asarray(self.coef / self.standard_errors)

    @property
    def p_values(self) -> Array:
        """Two-sided, of the hypothesis that a coefficient is zero (Wald)."""
        return np.asarray(2 * ndtr(-np.abs(self.z)))

    def intervals(self, level: float = 0.95) -> Array:
        """(p', 2): lower and upper ends."""
        if not 0 < level < 1:
            raise BadParameter(f"intervals(level={level!r}): must be above 0 and below 1, as 0.95")
        half = ndtri(0.5 + level / 2) * self.standard_errors
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    @property
    def aic(self) -> float:
        return 2 * len(self.names) - 2 * self._likelihood

    @property
    def bic(self) -> float:
        return float(np.log(self.n)) * len(self.names) - 2 * self._likelihood

    @property
    def _likelihood(self) -> float:
        if self.log_likelihood is None:
            raise BadInput("the likelihood of this family has no closed form, and neither have AIC and BIC: compare deviances")
        return self.log_likelihood

    def table(self, level: float = 0.95) -> str:
        """All of it, to be read."""
        ends, errors, z, p = self.intervals(level), self.standard_errors, self.z, self.p_values
        width = max(9, *(len(name) for name in self.names))
        low, high = f"{50 * (1 - level):g} %", f"{50 * (1 + level):g} %"
        criteria = (
            ""
            if self.log_likelihood is None
            else f"log-likelihood {self.log_likelihood:.6g}   AIC {self.aic:.6g}   BIC {self.bic:.6g}"
        )
        lines = [
            f"rows {self.n:g}   degrees of freedom {self.freedom:g}   dispersion {self.dispersion:.6g}",
            f"deviance {self.deviance:.6g}   of a constant mean {self.null_deviance:.6g}",
            criteria,
            "",
            f"{'':<{width}} {'coef':>12} {'std error':>12} {'z':>9} {'p':>9} {low:>12} {high:>12}",
        ]
        for j, name in enumerate(self.names):
            lines.append(
                f"{name:<{width}} {self.coef[j]:>12.6g} {errors[j]:>12.4g} {z[j]:>9.3f} {p[j]:>9.3g} "
                f"{ends[j, 0]:>12.6g} {ends[j, 1]:>12.6g}"
            )
        return "\n".join(line for line in lines if line or line is not criteria)

    __str__ = table


def infer(model: Any, dispersion: Any) -> GlmInference:
    """The uncertainty of a fitted model; refused, with the reason, where theory gives none."""
    known, what = vars(model), type(model).__name__
    if "covariance_" not in known:
        why = known.get("absent_", {}).get("covariance_", "few rows do not determine so many coefficients: give more rows")
        raise BadInput(f"{what}: {why}")
    phi = _dispersion(model, dispersion)
    free, first = model._free_columns(), int(model.fit_intercept)
    covariance = np.roll(model.covariance_, first, axis=(0, 1)) * phi
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]
    coef = np.append([model.intercept_] * first, model.coef_[free]).astype(np.float64)
    return GlmInference(
        ["intercept"] * first + [names[j] for j in free],
        coef,
        covariance,
        phi,
        model.deviance_,
        model.null_deviance_,
        known.get("log_likelihood_"),
        model.n_rows_,
    )


def _dispersion(model: Any, given: Any) -> float:
    if isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given < np.inf:
        return float(given)
    if given not in (None, "pearson"):
        raise BadParameter(f"inference(dispersion={given!r}): must be None, 'pearson' or a number above 0")
    if given is None and model._pair()[0].known:
        return 1.0
    return float(model.dispersion_)
