"""Standard errors, tests and intervals of generalised linear models, from Fisher's information at the solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput, BadParameter
from tenfold.linear.wald import Wald


@dataclass(frozen=True)
class GlmInference(Wald):
    """Uncertainty of one row of coefficients; the log-likelihood is NaN where it has no closed form (Tweedie)."""

    dispersion: float  # that the covariance was multiplied with
    deviance: float
    null_deviance: float

    @property
    def freedom(self) -> float:
        """Degrees of freedom left for the residuals."""
        return self.n - len(self.names)

    def table(self, level: float = 0.95) -> str:
        """All of it, to be read."""
        ends, errors, z, p = self.intervals(level)[0], self.standard_errors[0], self.z[0], self.p_values[0]
        width = max(9, *(len(name) for name in self.names))
        low, high = f"{50 * (1 - level):g} %", f"{50 * (1 + level):g} %"
        lines = [
            f"rows {self.n:g}   degrees of freedom {self.freedom:g}   dispersion {self.dispersion:.6g}",
            f"deviance {self.deviance:.6g}   of a constant mean {self.null_deviance:.6g}",
        ]
        if np.isfinite(self.log_likelihood):
            lines.append(f"log-likelihood {self.log_likelihood:.6g}   AIC {self.aic:.6g}   BIC {self.bic:.6g}")
        lines += ["", f"{'':<{width}} {'coef':>12} {'std error':>12} {'z':>9} {'p':>9} {low:>12} {high:>12}"]
        lines += [
            f"{name:<{width}} {self.coef[0, j]:>12.6g} {errors[j]:>12.4g} {z[j]:>9.3f} {p[j]:>9.3g} {ends[j, 0]:>12.6g} {ends[j, 1]:>12.6g}"
            for j, name in enumerate(self.names)
        ]
        return "\n".join(lines)

    __str__ = table


def infer(model: Any, dispersion: Any) -> GlmInference:
    """The uncertainty of a fitted model; refused, with the reason, where theory gives none."""
    known, first = vars(model), int(model.fit_intercept)
    if "covariance_" not in known:
        why = known.get("absent_", {}).get("covariance_", "this fit kept no covariance: fit again")
        raise BadInput(f"{type(model).__name__}: {why}")
    phi, free = _dispersion(model, dispersion), model._free_columns()
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]
    coef = np.append([model.intercept_] * first, model.coef_[free]).astype(np.float64)
    reached, scale = known.get("log_likelihood_", np.nan), 1.0 if model._pair()[0].known else known.get("dispersion_", np.nan)
    return GlmInference(
        ["intercept"] * first + [names[j] for j in free],
        coef[None],
        model.covariance_ * phi,
        reached,
        reached - (model.null_deviance_ - model.deviance_) / (2 * scale),
        model.n_rows_,
        bool(first),
        phi,
        model.deviance_,
        model.null_deviance_,
    )


def _dispersion(model: Any, given: Any) -> float:
    if isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given < np.inf:
        return float(given)
    if given not in (None, "pearson"):
        raise BadParameter(f"inference(dispersion={given!r}): must be None, 'pearson' or a number above 0")
    return 1.0 if given is None and model._pair()[0].known else float(model.dispersion_)
