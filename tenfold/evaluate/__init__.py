"""Evaluation: scores, intervals, comparisons, decisions. Names are loaded when first used.

from tenfold.evaluate import delong, compare, minimum_risk
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
    "accuracy_score": "classification",
    "adjusted_rand_score": "clusters",
    "attributions": "attribution",
    "average_precision_score": "ranking",
    "balanced_accuracy_score": "classification",
    "bayes_error": "bayes",
    "bias_variance": "decompose",
    "bias_variance_path": "decompose",
    "bootstrap": "intervals",
    "bootstrap_bias_correction": "winner",
    "bootstrap_error": "resample",
    "brier_score_loss": "probability",
    "calibration_curve": "calibrate",
    "calibration_error": "probability",
    "classification_report": "report",
    "compare": "comparison",
    "confusion_matrix": "classification",
    "corrected_t": "comparison",
    "cover_hart": "bayes",
    "cross_val_predict": "cross",
    "cross_validate": "cross",
    "dcg_score": "gains",
    "degrees_of_freedom": "optimism",
    "delong": "intervals",
    "delong_test": "intervals",
    "duplicate_groups": "folds",
    "estimate_bayes_error": "bayes",
    "f1_score": "classification",
    "f_alpha_score": "classification",
    "fbeta_score": "classification",
    "fit_calibrator": "calibrators",
    "guessing_error": "bayes",
    "isotonic_regression": "isotonic",
    "learning_curve": "curves",
    "likelihood_ratio_test": "decide",
    "log_loss": "probability",
    "mallows_cp": "optimism",
    "mcnemar": "comparison",
    "mean_absolute_error": "regression",
    "mean_pinball_loss": "regression",
    "mean_poisson_deviance": "regression",
    "mean_squared_error": "regression",
    "median_absolute_error": "regression",
    "minimum_risk": "decide",
    "most_frequent_error": "bayes",
    "mutual_info_score": "clusters",
    "ndcg_score": "gains",
    "nested_cross_validate": "nested",
    "noise_variance": "optimism",
    "normalized_mutual_info_score": "clusters",
    "optimism_by_sampling": "optimism",
    "over": "blocks",
    "partial_dependence": "dependence",
    "permutation_importance": "importance",
    "precision_recall_curve": "ranking",
    "precision_recall_fscore_support": "classification",
    "precision_score": "classification",
    "r2_score": "regression",
    "recall_score": "classification",
    "risk_curve": "decide",
    "roc_auc_score": "ranking",
    "roc_curve": "ranking",
    "root_mean_squared_error": "regression",
    "silhouette_samples": "clusters",
    "silhouette_score": "clusters",
    "simulated_bayes_error": "bayes",
    "specificity_score": "classification",
    "threshold": "decide",
    "train_test_split": "folds",
    "validation_curve": "curves",
    "validation_path": "cross",
    "vc_bound": "optimism",
    "wilson": "intervals",
    "zero_one_loss": "classification",
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
