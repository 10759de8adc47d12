"""Evaluation: scores, intervals, comparisons, decisions. Names are loaded when first used.

from tenfold.evaluate import delong, compare, minimum_risk
"""

from __future__ import annotations

from tenfold.core.lazy import lazy_names
from tenfold.score import PUBLIC as SCORES

PUBLIC = {
    "Conformal": "calibrate.conformal",
    "GroupKFold": "split.group_splitters",
    "GroupShuffleSplit": "split.random_splitters",
    "HashKFold": "split.splitters",
    "KFold": "split.splitters",
    "LeaveOneGroupOut": "split.group_splitters",
    "LeaveOneOut": "split.splitters",
    "LeavePGroupsOut": "split.group_splitters",
    "LeavePOut": "split.splitters",
    "PredefinedSplit": "split.splitters",
    "RepeatedKFold": "split.random_splitters",
    "RepeatedStratifiedKFold": "split.random_splitters",
    "ShuffleSplit": "split.random_splitters",
    "StratifiedGroupKFold": "split.group_splitters",
    "StratifiedKFold": "split.splitters",
    "StratifiedShuffleSplit": "split.random_splitters",
    "TimeSeriesSplit": "split.splitters",
    "accumulated_effects": "explain.dependence",
    "attributions": "explain.attribution",
    "bayes_error": "decide.bayes_error",
    "bias_variance": "curves.bias_variance",
    "bias_variance_path": "curves.bias_variance",
    "bootstrap": "validate.intervals",
    "bootstrap_bias_correction": "validate.selection_bias",
    "bootstrap_error": "validate.resample",
    "calibration_curve": "calibrate.curve",
    "check_cv": "split.splitting",
    "compare": "validate.comparison",
    "corrected_t": "validate.comparison",
    "cover_hart": "decide.bayes_error",
    "cross_val_predict": "validate.cross",
    "cross_val_score": "validate.cross",
    "cross_validate": "validate.cross",
    "degrees_of_freedom": "validate.optimism",
    "delong": "validate.intervals",
    "delong_test": "validate.intervals",
    "duplicate_groups": "split.folds",
    "estimate_bayes_error": "decide.bayes_error",
    "fit_calibrator": "calibrate.maps",
    "guessing_error": "decide.bayes_error",
    "isotonic_regression": "calibrate.isotonic",
    "learning_curve": "curves.curves",
    "likelihood_ratio_test": "decide.risk",
    "mallows_cp": "validate.optimism",
    "mcnemar": "validate.comparison",
    "minimum_risk": "decide.risk",
    "most_frequent_error": "decide.bayes_error",
    "nested_cross_validate": "validate.nested",
    "noise_variance": "validate.optimism",
    "optimism_by_sampling": "validate.optimism",
    "partial_dependence": "explain.dependence",
    "permutation_importance": "explain.importance",
    "risk_curve": "decide.risk",
    "simulated_bayes_error": "decide.bayes_error",
    "threshold": "decide.risk",
    "train_test_split": "split.parts",
    "validation_curve": "curves.curves",
    "validation_path": "validate.cross",
    "vc_bound": "validate.optimism",
    "wilson": "validate.intervals",
} | {name: f"tenfold.score.{module}" for name, module in SCORES.items()}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
