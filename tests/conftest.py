"""What the tests share: every public learner, discovered, in the settings it is tried in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import MISSING
from typing import Any

import pytest

import tenfold
from tenfold.base.estimator import Estimator
from tenfold.core.params import domains

LDA, LINE = tenfold.LinearDiscriminantAnalysis(), tenfold.LinearRegression()
STUMP, NB = tenfold.DecisionTreeClassifier(max_depth=1), tenfold.GaussianNB()
# Settings in which a learner is tried; the default alone where none is listed. `tol` is tight where answers
# are compared to many digits with those from the same rows in another form.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "RandomForestClassifier": [{"n_estimators": 10, "random_state": 0}],
    "RandomForestRegressor": [
        {"n_estimators": 10, "random_state": 0},
        {"n_estimators": 3, "criterion": "absolute_error", "random_state": 0},
    ],
    "ExtraTreesClassifier": [{"n_estimators": 10, "random_state": 0}],
    "ExtraTreesRegressor": [{"n_estimators": 10, "random_state": 0}],
    "GroupLasso": [{"alpha": 0.1}],
    "ReweightedLeastSquares": [{"tol": 1e-12}],
    "AdaBoostClassifier": [
        {"n_estimators": 6},
        {"estimator": tenfold.GaussianNB(), "n_estimators": 3, "algorithm": "SAMME.R", "learning_rate": 0.7},
    ],
    "AdaBoostRegressor": [
        {"n_estimators": 5},
        {"estimator": tenfold.Ridge(), "n_estimators": 3, "loss": "exponential", "learning_rate": 0.7},
    ],
    "CascadeClassifier": [
        {
            "estimators": [tenfold.GaussianNB(), tenfold.AdaBoostClassifier(n_estimators=4)],
            "max_miss": 0.5,
            "confidence": 0.5,
            "random_state": 0,
        },
    ],
    "BaggingClassifier": [
        {"n_estimators": 3, "random_state": 0},
        {
            "estimator": tenfold.GaussianNB(),
            "n_estimators": 2,
            "max_samples": 0.7,
            "bootstrap": False,
            "random_state": 0,
        },
    ],
    "BaggingRegressor": [
        {"n_estimators": 3, "random_state": 0},
        {"estimator": tenfold.Ridge(), "n_estimators": 2, "max_features": 0.5, "random_state": 0},
    ],
    "CalibratedClassifierCV": [
        {"estimator": tenfold.GaussianNB(), "cv": 3},
        {"estimator": tenfold.GaussianNB(), "method": "temperature", "cv": 3, "ensemble": False},
    ],
    "VotingClassifier": [
        {"estimators": [("nb", tenfold.GaussianNB()), ("lr", tenfold.LogisticRegression(tol=1e-12))], "voting": "soft"},
        {
            "estimators": [("nb", tenfold.GaussianNB()), ("tree", tenfold.DecisionTreeClassifier()), ("lda", LDA)],
            "weights": [1, 2, 1.5],
        },
    ],
    "VotingRegressor": [
        {"estimators": [("ridge", tenfold.Ridge()), ("tree", tenfold.DecisionTreeRegressor(max_depth=3))]},
        {"estimators": [("ridge", tenfold.Ridge()), ("off", "drop"), ("line", LINE)], "weights": [2, 5, 1]},
    ],
    "StackingClassifier": [
        {"estimators": [("nb", tenfold.GaussianNB()), ("lda", LDA)], "final_estimator": tenfold.GaussianNB(), "cv": 3},
        {"estimators": [("nb", tenfold.GaussianNB()), ("tree", STUMP)], "final_estimator": NB, "cv": 2, "passthrough": True},
    ],
    "StackingRegressor": [
        {"estimators": [("ridge", tenfold.Ridge()), ("tree", tenfold.DecisionTreeRegressor(max_depth=2))], "cv": 3},
        {"estimators": [("line", LINE), ("off", "drop")], "final_estimator": tenfold.Ridge(), "passthrough": True},
    ],
    "OneVsRestClassifier": [{"estimator": tenfold.GaussianNB()}, {"estimator": tenfold.LogisticRegression(tol=1e-12)}],
    "OneVsOneClassifier": [{"estimator": tenfold.GaussianNB()}, {"estimator": tenfold.DecisionTreeClassifier(max_depth=2)}],
    "MultiOutputRegressor": [{"estimator": tenfold.Ridge()}, {"estimator": tenfold.DecisionTreeRegressor(max_depth=3)}],
    "TransformedTargetRegressor": [{"transformer": tenfold.StandardScaler()}, {"regressor": tenfold.Ridge()}],
    "GridSearchCV": [
        {"estimator": tenfold.Ridge(), "param_grid": {"alpha": [0.1, 10.0], "fit_intercept": [True, False]}, "cv": 3},
        {"estimator": tenfold.GaussianNB(), "param_grid": {"var_smoothing": [1e-9, 0.1]}, "cv": 3, "scoring": "neg_log_loss"},
    ],
    "RandomizedSearchCV": [
        {
            "estimator": tenfold.Ridge(),
            "param_distributions": {"alpha": [0.1, 0.5, 1.0, 5.0, 10.0]},
            "n_iter": 4,
            "cv": 3,
            "random_state": 0,
        }
    ],
    "HalvingGridSearchCV": [
        {"estimator": tenfold.Ridge(), "param_grid": {"alpha": [0.1, 1.0, 10.0]}, "cv": 3, "random_state": 0}
    ],
    "HalvingRandomSearchCV": [
        {"estimator": tenfold.Ridge(), "param_distributions": {"alpha": [0.1, 1.0, 10.0]}, "cv": 3, "random_state": 0}
    ],
    "NonNegativeLeastSquares": [{}, {"fit_intercept": False}],
    "OrthogonalMatchingPursuit": [{"n_nonzero_coefs": 4}, {"n_nonzero_coefs": 4, "positive": True}],
    "LinearRegression": [{}, {"fit_intercept": False}],
    "Ridge": [{}, {"alpha": 0.1, "fit_intercept": False}, {"positive": True}],
    "RANSACRegressor": [
        {"random_state": 0},
        {"random_state": 1, "residual_threshold": 2.0, "n_models": 2},
        {"random_state": 0, "estimator": tenfold.Ridge(0.1), "residual_threshold": 2.0},
    ],
    "LinearSVR": [{"tol": 1e-12}, {"tol": 1e-12, "loss": "squared_epsilon_insensitive", "epsilon": 0.1}],
    "MMRegressor": [{"n_subsets": 2}],
    "QuantileRegressor": [{"alpha": 0.0}, {"alpha": 0.01, "quantile": 0.8}],
    "LogisticRegression": [{"tol": 1e-12}, {"C": 0.1, "tol": 1e-12, "fit_intercept": False}],
    "PCA": [{}, {"n_components": 2, "whiten": True}],
    "OneHotEncoder": [{"handle_unknown": "ignore", "sparse_output": False}],
    "OrdinalEncoder": [{"handle_unknown": "use_encoded_value", "unknown_value": -1}],
    "StandardScaler": [{}, {"with_mean": False}],
    "SimpleImputer": [{}, {"strategy": "median"}],
    "QuadraticDiscriminantAnalysis": [{}, {"reg_param": 0.2}],
    "NearestCentroid": [{}, {"shrink_threshold": 0.3}, {"metric": "manhattan"}],
    "HistGradientBoostingClassifier": [
        {"max_iter": 5},
        {"max_iter": 4, "learning_rate": 0.3, "l2_regularization": 1.0},
    ],
    "HistGradientBoostingRegressor": [{"max_iter": 20}, {"max_iter": 5, "loss": "absolute_error", "max_leaf_nodes": 4}],
    "GradientBoostingClassifier": [{"n_estimators": 5}],
    "GradientBoostingRegressor": [
        {"n_estimators": 20},
        {"n_estimators": 4, "loss": "huber"},
    ],
    "KMeans": [
        {"n_clusters": 3, "random_state": 0},
        {"n_clusters": 4, "n_init": 2, "random_state": 1, "tol": 0.0},
    ],
}


@pytest.fixture(autouse=True)
def no_figures_left() -> Iterator[None]:
    """Once a test has imported pyplot, pictures are its figures; they are closed, and no window is opened."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def public_classes() -> dict[str, type]:
    """Every public learner that stands alone, by name."""
    found = {name: getattr(tenfold, name) for name in tenfold.PUBLIC if name[0].isupper()}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, type) and issubclass(value, Estimator) and name != "Pipeline"
    }


def plain(name: str) -> Any:
    """A learner with nothing but what its class requires."""
    cls: Any = public_classes()[name]
    needed = [key for key, domain in domains(cls).items() if domain.default is MISSING]
    return cls(**{key: SETTINGS[name][0][key] for key in needed})


def learners() -> list[Any]:
    """Every public learner in its settings, and pipelines of them."""
    single = [cls(**setting) for name, cls in public_classes().items() for setting in SETTINGS.get(name, [{}])]
    return single + pipelines()


def pipelines() -> list[Any]:
    scale = tenfold.StandardScaler
    return [
        tenfold.make_pipeline(scale(), tenfold.Ridge()),
        tenfold.make_pipeline(scale(), tenfold.PCA(2), tenfold.LogisticRegression(tol=1e-12)),
        tenfold.make_pipeline(scale(), tenfold.KMeans(3, random_state=0)),
        tenfold.make_pipeline(scale(), tenfold.PCA(2)),
    ]


def label(learner: Any) -> str:
    """A name for a test."""
    return repr(learner).replace("\n", " ")[:60]
