"""Trees, forests and boosted trees. `from tenfold import tree` has their names too, for who wrote `from sklearn import tree`."""

from __future__ import annotations

from tenfold.core.lazy import lazy_names

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "HistGradientBoostingClassifier": "boosting.hist_boosting",
    "HistGradientBoostingRegressor": "boosting.hist_boosting",
    "GradientBoostingClassifier": "boosting.gradient",
    "GradientBoostingRegressor": "boosting.gradient",
    "DecisionTreeClassifier": "single.decision",
    "DecisionTreeRegressor": "single.decision",
    "ExtraTreeClassifier": "single.extra",
    "ExtraTreeRegressor": "single.extra",
    "RandomForestClassifier": "forest.forest",
    "RandomForestRegressor": "forest.forest",
    "ExtraTreesClassifier": "forest.forest",
    "ExtraTreesRegressor": "forest.forest",
    "RandomTreesEmbedding": "forest.embedding",
    "ID3Classifier": "single.id3",
    "C45Classifier": "single.c45",
    "export_graphviz": "structure.export",
    "export_text": "structure.export",
    "plot_tree": "structure.export",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, PUBLIC)
