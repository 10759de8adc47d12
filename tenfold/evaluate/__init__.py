"""Evaluation: scores, intervals, comparisons, decisions. Names are loaded when first used.

from tenfold.evaluate import delong, compare, minimum_risk
"""

from __future__ import annotations

from tenfold.core.lazy import lazy_names
from tenfold.score import PUBLIC as SCORES

PUBLIC = {
    "CalibratedClassifierCV": "calibrated",
    "Conformal": "conformal",
    "GroupKFold": "splits",
    "HashKFold": "splits",
    "KFold": "splits",
    "LeaveOneOut": "splits",
    "LeavePOut": "splits",
    "RepeatedKFold": "splits",
    "ShuffleSplit": "splits",
    "StratifiedGroupKFold": "splits",
    "StratifiedKFold": "splits",
    "TimeSeriesSplit": "splits",
    "accumulated_effects": "dependence",
    "attributions": "attribution",
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
    "cross_val_predict": "cross",
    "cross_validate": "cross",
    "degrees_of_freedom": "optimism",
    "delong": "intervals",
    "delong_test": "intervals",
    "duplicate_groups": "folds",
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
    "nested_cross_validate": "nested",
    "noise_variance": "optimism",
    "optimism_by_sampling": "optimism",
    "partial_dependence": "dependence",
    "permutation_importance": "importance",
    "risk_curve": "decide",
    "simulated_bayes_error": "bayes",
    "threshold": "decide",
    "train_test_split": "folds",
    "validation_curve": "curves",
    "validation_path": "cross",
    "vc_bound": "optimism",
    "wilson": "intervals",
} | {name: f"tenfold.score.{module}" for name, module in SCORES.items()}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
