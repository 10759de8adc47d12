"""Evaluation: scores, intervals, comparisons, decisions. Names are loaded when first used.

from tenfold.evaluate import delong, compare, minimum_risk
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PUBLIC = {
    "Calibrated": "calibrate",
    "accumulated_effects": "dependence",
    "bayes_error": "bayes",
    "bias_variance": "decompose",
    "bias_variance_path": "decompose",
    "bootstrap": "intervals",
    "bootstrap_bias_correction": "winner",
    "bootstrap_error": "resample",
    "calibration_curve": "calibrate",
    "compare": "comparison",
    "corrected_t": "comparison",
    "cover_hart": "bayes",
    "degrees_of_freedom": "optimism",
    "delong": "intervals",
    "delong_test": "intervals",
    "estimate_bayes_error": "bayes",
    "fit_calibrator": "calibrators",
    "guessing_error": "bayes",
    "isotonic_regression": "isotonic",
    "learning_curve": "curves",
    "likelihood_ratio_test": "decide",
    "mallows_cp": "optimism",
    "mcnemar": "comparison",
    "minimum_risk": "decide",
    "most_frequent_error": "bayes",
    "noise_variance": "optimism",
    "optimism_by_sampling": "optimism",
    "partial_dependence": "dependence",
    "permutation_importance": "importance",
    "risk_curve": "decide",
    "simulated_bayes_error": "bayes",
    "threshold": "decide",
    "validation_curve": "curves",
    "vc_bound": "optimism",
    "wilson": "intervals",
}

__all__ = list(PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'tenfold.evaluate' has no attribute {name!r}")
    value = getattr(import_module(f"tenfold.evaluate.{PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
