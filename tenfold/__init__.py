"""Tenfold: statistical learning as folds, and a command that chooses a model for a table, honestly.

    import tenfold
    model = tenfold.Ridge(alpha=1.0).fit(X, y)
    tenfold.cross_validate(model, X, y)

All public names are flat and loaded when first used, so that `import tenfold` is quick. Learners are listed in the folder of their family.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.21.0"

# Folders of learners: the table PUBLIC of each says which learners it has, and where.
FAMILIES = (
    "linear", "generative", "density", "near", "neighbors", "cluster", "reduce", "prepare",
    "features", "text", "nonlinear", "kernel_machines", "manifold", "tree", "compose",
)  # fmt: skip


def _learners(folder: str, table: str) -> dict[str, str]:
    """Name -> module of the learners of a folder; their modules are not loaded."""
    package = f"tenfold.{folder}"
    return {name: f"{package}.{module}" for name, module in getattr(import_module(package), table).items()}


# Public name -> the module that defines it.
PUBLIC = {name: module for family in FAMILIES for name, module in _learners(family, "PUBLIC").items()} | {
    "advise": "tenfold.advisor.advice",
    "choose_clusters": "tenfold.cluster.choose",
    "choose_mixture": "tenfold.density.choose",
    "cross_validate": "tenfold.evaluate.validate.cross",
    "cross_val_predict": "tenfold.evaluate.validate.cross",
    "cross_val_score": "tenfold.evaluate.validate.cross",
    "validation_path": "tenfold.evaluate.validate.cross",
    "select": "tenfold.selection.run",
    "Select": "tenfold.selection.estimator",
    "read": "tenfold.table.table",
    "Table": "tenfold.table.table",
    "kkt": "tenfold.solve.kkt",
    "save": "tenfold.saved.files",
    "load": "tenfold.saved.files",
    "inspect": "tenfold.saved.files",
    "engine": "tenfold.core.engine",
    "threads": "tenfold.core.threads",
    "Local": "tenfold.core.engine",
    "Threads": "tenfold.core.engine",
    "Dask": "tenfold.sources.cluster",
    "monitor": "tenfold.core.monitor",
    "progress": "tenfold.app.progress",
    "TenfoldError": "tenfold.core.errors",
    "BadInput": "tenfold.core.errors",
    "BadParameter": "tenfold.core.errors",
    "BadFile": "tenfold.core.errors",
    "NotFitted": "tenfold.core.errors",
    "ReadOnce": "tenfold.core.errors",
    "CannotForget": "tenfold.core.errors",
    "TooLarge": "tenfold.core.errors",
    "NotConverged": "tenfold.core.errors",
    "Degenerate": "tenfold.core.errors",
    "DataWarning": "tenfold.core.errors",
}
INSIDE = _learners("prepare", "INSIDE") | _learners("selection", "INSIDE")

# Namespaces of their own: tenfold.evaluate.roc_auc_score, tenfold.draw.draw_roc.
NAMESPACES = ("evaluate", "score", "kernels", "distributions", "draw")

__all__ = ["__version__", *NAMESPACES, *PUBLIC]


def __getattr__(name: str) -> Any:
    if name in NAMESPACES:
        return import_module(f"tenfold.{name}")
    module = PUBLIC.get(name) or INSIDE.get(name)
    if module is None:
        raise AttributeError(f"module 'tenfold' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
