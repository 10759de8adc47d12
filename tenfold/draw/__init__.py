"""Pictures, all in one look. Every function returns its axes; `ax.figure.savefig("picture.png")` keeps it.

In a notebook, and wherever pyplot was imported, a picture is pyplot's: it appears by itself or with plt.show().

from tenfold.draw import draw_roc
"""

from __future__ import annotations

from tenfold.core.lazy import lazy_names

PUBLIC = {
    "draw_attributions": "attribution",
    "draw_bandwidths": "contours",
    "draw_bias_variance": "bias_variance",
    "draw_biplot": "components",
    "draw_calibration": "calibration",
    "draw_cells": "cells",
    "draw_class_posteriors": "densities",
    "draw_cluster_choice": "groups",
    "draw_clusters": "groups",
    "draw_coefficients": "coefficients",
    "draw_components": "components",
    "draw_confusion": "confusion",
    "draw_contours": "contours",
    "draw_copula": "cells",
    "draw_dendrogram": "dendrogram",
    "draw_density": "densities",
    "draw_dependence": "dependence",
    "draw_elimination": "features",
    "draw_em_steps": "mixture",
    "draw_evidence": "processes",
    "draw_embedding": "embedding",
    "draw_feature_scores": "features",
    "draw_fit": "fit",
    "draw_folds": "validation",
    "draw_gains": "gains",
    "draw_histogram": "densities",
    "draw_images": "cells",
    "draw_importance": "importance",
    "draw_kernel": "kernels",
    "draw_kmeans_steps": "steps",
    "draw_learning_curve": "curves",
    "draw_leverage": "influence",
    "draw_margins": "margins",
    "draw_mean_shift": "clusters",
    "draw_mixture": "mixture",
    "draw_neighbor_distances": "clusters",
    "draw_path": "validation",
    "draw_posteriors": "posteriors",
    "draw_precision_recall": "ranking",
    "draw_process": "processes",
    "draw_qq": "influence",
    "draw_regions": "regions",
    "draw_residuals": "residuals",
    "draw_roc": "ranking",
    "draw_scree": "components",
    "draw_search": "search",
    "draw_silhouette": "groups",
    "draw_sources": "components",
    "draw_tree": "tree",
    "draw_validation_curve": "curves",
    "draw_weights": "influence",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
