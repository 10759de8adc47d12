"""Tenfold: statistical learning as folds, and a command that chooses a model for a table, honestly.

    import tenfold
    model = tenfold.Ridge(alpha=1.0).fit(X, y)
    tenfold.cross_validate(model, X, y)

All public names are flat and loaded when first used, so that `import tenfold` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
PUBLIC = {
    "LinearRegression": "tenfold.linear.least_squares",
    "WeightedLeastSquares": "tenfold.linear.weighted",
    "GeneralizedLeastSquares": "tenfold.linear.generalized",
    "ReweightedLeastSquares": "tenfold.linear.reweighted",
    "TotalLeastSquares": "tenfold.linear.total",
    "Ridge": "tenfold.linear.ridge",
    "RidgeCV": "tenfold.linear.ridge_cv",
    "Lasso": "tenfold.linear.lasso",
    "ElasticNet": "tenfold.linear.lasso",
    "LassoCV": "tenfold.linear.lasso_cv",
    "ElasticNetCV": "tenfold.linear.lasso_cv",
    "LassoLars": "tenfold.linear.lars",
    "Lars": "tenfold.linear.lars",
    "OrthogonalMatchingPursuit": "tenfold.linear.pursuit",
    "NonNegativeLeastSquares": "tenfold.linear.nonnegative",
    "GroupLasso": "tenfold.linear.group",
    "HuberRegressor": "tenfold.linear.robust",
    "MMRegressor": "tenfold.linear.mm",
    "QuantileRegressor": "tenfold.linear.quantile",
    "LeastAbsoluteDeviations": "tenfold.linear.deviations",
    "LinearSVR": "tenfold.linear.svr",
    "BayesianRidge": "tenfold.linear.bayesian",
    "RANSACRegressor": "tenfold.compose.ransac",
    "LogisticRegression": "tenfold.linear.logistic",
    "GaussianNB": "tenfold.generative.naive_bayes",
    "LinearDiscriminantAnalysis": "tenfold.generative.discriminant",
    "QuadraticDiscriminantAnalysis": "tenfold.generative.discriminant",
    "NearestCentroid": "tenfold.generative.centroid",
    "PCA": "tenfold.reduce.pca",
    "StandardScaler": "tenfold.prepare.scale",
    "OneHotEncoder": "tenfold.prepare.encode",
    "OrdinalEncoder": "tenfold.prepare.encode",
    "SimpleImputer": "tenfold.prepare.impute",
    "KMeans": "tenfold.cluster.kmeans",
    "HistGradientBoostingClassifier": "tenfold.tree.boosting.hist_boosting",
    "HistGradientBoostingRegressor": "tenfold.tree.boosting.hist_boosting",
    "GradientBoostingClassifier": "tenfold.tree.boosting.gradient",
    "GradientBoostingRegressor": "tenfold.tree.boosting.gradient",
    "Pipeline": "tenfold.compose.pipeline",
    "make_pipeline": "tenfold.compose.pipeline",
    "VotingClassifier": "tenfold.compose.voting",
    "VotingRegressor": "tenfold.compose.voting",
    "StackingClassifier": "tenfold.compose.stacking",
    "StackingRegressor": "tenfold.compose.stacking",
    "OneVsRestClassifier": "tenfold.compose.multiclass",
    "OneVsOneClassifier": "tenfold.compose.multiclass",
    "MultiOutputRegressor": "tenfold.compose.targets",
    "TransformedTargetRegressor": "tenfold.compose.targets",
    "PolynomialFeatures": "tenfold.prepare.basis",
    "FunctionTransformer": "tenfold.prepare.basis",
    "SplineTransformer": "tenfold.prepare.spline",
    "RadialBasisFeatures": "tenfold.prepare.radial",
    "CurveFit": "tenfold.nonlinear.curve_fit",
    "CircleFit": "tenfold.nonlinear.circle",
    "KernelRegressor": "tenfold.nonlinear.kernel_regression",
    "AnscombeTransformer": "tenfold.prepare.anscombe",
    "DecisionTreeClassifier": "tenfold.tree.single.decision",
    "DecisionTreeRegressor": "tenfold.tree.single.decision",
    "RandomForestClassifier": "tenfold.tree.forest.forest",
    "RandomForestRegressor": "tenfold.tree.forest.forest",
    "ExtraTreesClassifier": "tenfold.tree.forest.forest",
    "ExtraTreesRegressor": "tenfold.tree.forest.forest",
    "ID3Classifier": "tenfold.tree.single.id3",
    "C45Classifier": "tenfold.tree.single.c45",
    "BaggingClassifier": "tenfold.compose.bagging",
    "BaggingRegressor": "tenfold.compose.bagging",
    "AdaBoostClassifier": "tenfold.compose.adaboost",
    "AdaBoostRegressor": "tenfold.compose.adaboost_r2",
    "CascadeClassifier": "tenfold.compose.cascade",
    "CalibratedClassifierCV": "tenfold.compose.calibrated",
    "GridSearchCV": "tenfold.compose.search.grid",
    "RandomizedSearchCV": "tenfold.compose.search.grid",
    "HalvingGridSearchCV": "tenfold.compose.search.halving",
    "HalvingRandomSearchCV": "tenfold.compose.search.halving",
    "ParameterGrid": "tenfold.compose.search.parameters",
    "ParameterSampler": "tenfold.compose.search.parameters",
    "advise": "tenfold.advisor.advice",
    "cross_validate": "tenfold.evaluate.validate.cross",
    "cross_val_predict": "tenfold.evaluate.validate.cross",
    "validation_path": "tenfold.evaluate.validate.cross",
    "select": "tenfold.selection.run",
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

# Learners that saved runs are made of: found by name when a file is loaded, but not offered.
INSIDE = {
    "TableModel": "tenfold.selection.model",
    "TableCoder": "tenfold.selection.coder",
    "FrequencyGuess": "tenfold.selection.guess",
    "MeanGuess": "tenfold.selection.guess",
}

# Namespaces of their own: tenfold.evaluate.roc_auc_score, tenfold.draw.draw_roc.
NAMESPACES = ("evaluate", "score", "draw")

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
