"""Pictures, all in one look. Every function returns its axes; `ax.figure.savefig("picture.png")` keeps it.

from tenfold.draw import draw_roc
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PUBLIC = {
    "draw_attributions": "attribution",
    "draw_bias_variance": "bias_variance",
    "draw_calibration": "calibration",
    "draw_confusion": "confusion",
    "draw_dependence": "dependence",
    "draw_folds": "validation",
    "draw_importance": "importance",
    "draw_learning_curve": "curves",
    "draw_path": "validation",
    "draw_precision_recall": "ranking",
    "draw_residuals": "residuals",
    "draw_roc": "ranking",
    "draw_tree": "tree",
    "draw_validation_curve": "curves",
}

__all__ = list(PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'tenfold.draw' has no attribute {name!r}")
    value = getattr(import_module(f"tenfold.draw.{PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
