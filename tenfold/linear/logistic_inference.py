"""Standard errors, tests, intervals and odds ratios of logistic regression, from the curvature that the fit has kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.linear.wald import Wald


@dataclass(frozen=True)
class LogisticInference(Wald):
    """Uncertainty of logistic regression: a row of coefficients for each class but the first, which the others are compared with.

    `coef[k]` says how log(P(class k + 1) / P(first class)) grows with the columns; for two classes that is `coef_`.
    """

    classes: list[str]  # (m + 1,)

    @property
    def odds_ratios(self) -> Array:
        """exp(coef): by what factor the odds of a class against the first grow with one unit of a column."""
        with np.errstate(over="ignore"):
            return np.exp(self.coef)

    def odds_ratio_intervals(self, level: float = 0.95) -> Array:
        """(m, p', 2): lower and upper ends of `odds_ratios`."""
        with np.errstate(over="ignore"):
            return np.exp(self.intervals(level))

    def table(self, level: float = 0.95) -> str:
        """All of it, to be read: one table for each class but the first."""
        ends, errors, z, p, odds = self.intervals(level), self.standard_errors, self.z, self.p_values, self.odds_ratios
        width = max(9, *(len(name) for name in self.names))
        low, high = f"{50 * (1 - level):g} %", f"{50 * (1 + level):g} %"
        lines = [
            f"rows {self.n:g}   log-likelihood {self.log_likelihood:.6g}   pseudo R² (McFadden) {self.pseudo_r2:.6g}",
            f"likelihood ratio {self.likelihood_ratio:.6g} on {self.n_slopes} degrees of freedom "
            f"(p {self.likelihood_ratio_p_value:.3g})   AIC {self.aic:.6g}   BIC {self.bic:.6g}",
        ]
        for k, name in enumerate(self.classes[1:]):
            lines += [
                "",
                f"class {name} against {self.classes[0]}",
                f"{'':<{width}} {'coef':>12} {'std error':>12} {'z':>9} {'p':>9} {low:>12} {high:>12} {'odds ratio':>12}",
            ]
            lines += [
                f"{column:<{width}} {self.coef[k, j]:>12.6g} {errors[k, j]:>12.4g} {z[k, j]:>9.3f} {p[k, j]:>9.3g} "
                f"{ends[k, j, 0]:>12.6g} {ends[k, j, 1]:>12.6g} {odds[k, j]:>12.6g}"
                for j, column in enumerate(self.names)
            ]
        return "\n".join(lines)

    __str__ = table


def infer(model: Any) -> LogisticInference:
    """The uncertainty of a fitted LogisticRegression; refused, with the reason, where theory gives none."""
    if np.isfinite(model._C()):
        raise BadInput(
            f"LogisticRegression(C={model.C:g}): a penalty biases the coefficients, so standard errors would mislead: fit with C=inf"
        )
    if model.class_weight is not None:
        raise BadInput(
            "LogisticRegression: class_weight makes the odds those of other rows than there are, so standard errors would mislead: "
            "fit with class_weight=None"
        )
    if "covariance_" not in vars(model):
        raise BadInput(vars(model).get("absent_", {}).get("covariance_", "LogisticRegression: this fit kept no covariance: fit again"))
    covariance: Array = model.covariance_
    coef, p = np.asarray(model._coefficients(), dtype=np.float64), model.n_features_in_
    if model.fit_intercept:
        coef = np.column_stack([model.intercept_, coef])
    if len(coef) > 1:
        coef = coef[1:] - coef[0]
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(p)])]
    return LogisticInference(
        ["intercept"] * model.fit_intercept + names,
        coef,
        covariance,
        model.log_likelihood_,
        model.null_log_likelihood_,
        model.n_rows_,
        bool(model.fit_intercept),
        [str(name) for name in model.classes_],
    )
