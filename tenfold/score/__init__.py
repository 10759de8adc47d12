"""Scores: each is defined once, as a statistic of rows that merges over blocks. Names are loaded when first used.

from tenfold.score import accuracy_score, r2_score
"""

from __future__ import annotations

from tenfold.core.lazy import lazy_names

PUBLIC = {
    "accuracy_score": "classification",
    "adjusted_rand_score": "clustering",
    "average_precision_score": "precision_recall",
    "balanced_accuracy_score": "classification",
    "brier_score_loss": "probability",
    "calibration_error": "probability",
    "check_scoring": "scoring",
    "classification_report": "report",
    "cohen_kappa_score": "classification",
    "completeness_score": "clustering",
    "confusion_matrix": "classification",
    "dcg_score": "gains",
    "explained_variance_score": "regression",
    "f1_score": "classification",
    "f_alpha_score": "classification",
    "fbeta_score": "classification",
    "fowlkes_mallows_score": "clustering",
    "get_scorer": "scoring",
    "get_scorer_names": "scoring",
    "hamming_loss": "classification",
    "homogeneity_score": "clustering",
    "jaccard_score": "classification",
    "log_loss": "probability",
    "make_scorer": "scoring",
    "matthews_corrcoef": "classification",
    "max_error": "absolute_errors",
    "mean_absolute_error": "regression",
    "mean_absolute_percentage_error": "relative_errors",
    "mean_gamma_deviance": "relative_errors",
    "mean_pinball_loss": "regression",
    "mean_poisson_deviance": "regression",
    "mean_squared_error": "regression",
    "mean_squared_log_error": "relative_errors",
    "median_absolute_error": "absolute_errors",
    "mutual_info_score": "clustering",
    "ndcg_score": "gains",
    "normalized_mutual_info_score": "clustering",
    "over": "blocks",
    "precision_recall_curve": "precision_recall",
    "precision_recall_fscore_support": "classification",
    "precision_score": "classification",
    "r2_score": "regression",
    "rand_score": "clustering",
    "recall_score": "classification",
    "roc_auc_score": "roc",
    "roc_curve": "roc",
    "root_mean_squared_error": "regression",
    "root_mean_squared_log_error": "relative_errors",
    "silhouette_samples": "silhouette",
    "silhouette_score": "silhouette",
    "specificity_score": "classification",
    "v_measure_score": "clustering",
    "zero_one_loss": "classification",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
