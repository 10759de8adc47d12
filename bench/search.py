"""Search for parameters by cross-validation: grids in which one parameter is a path, beside scikit-learn's search."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload

FOLDS = 5


def _pairs(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same folds for everybody."""
    fold = np.random.default_rng(0).permutation(n) % FOLDS
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]


def _searched(search: Any, data: Data, meter: Meter) -> Quality:
    fitted = meter.fit(search.fit, data["X"], data["y"])
    meter.predict(fitted.predict, data["Xt"])
    return {"score": float(fitted.best_score_)}


def curved(n: int, p: int, seed: int) -> Data:
    """Linear terms, squares and products of columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n // 10, p))
    signal = X @ rng.standard_normal(p) + (X**2) @ rng.standard_normal(p) / 2 + X[:, 0] * X[:, 1]
    return make.hold_out(X, signal + rng.standard_normal(len(X)), n // 10)


GRID = {"ridge__alpha": np.logspace(-3, 3, 20).tolist(), "polynomialfeatures__degree": [1, 2, 3]}


def _polynomial_ours(data: Data, meter: Meter) -> Quality:
    import tenfold

    model = tenfold.make_pipeline(tenfold.PolynomialFeatures(), tenfold.Ridge())
    return _searched(tenfold.GridSearchCV(model, GRID, cv=_pairs(len(data["y"]))), data, meter)


def _polynomial_theirs(data: Data, meter: Meter) -> Quality:
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    model = make_pipeline(PolynomialFeatures(), Ridge())
    return _searched(GridSearchCV(model, GRID, cv=_pairs(len(data["y"])), n_jobs=-1), data, meter)


POLYNOMIAL = Workload(
    name="search_ridge",
    about="grid search: 20 penalties of ridge x 3 degrees of polynomials, 5 folds, 20k x 10",
    make=lambda shrink: curved(make.shrunk(20_000, shrink), 10, seed=90),
    contenders=(
        Contender("tenfold GridSearchCV", "tenfold", _polynomial_ours, "tenfold"),
        Contender("sklearn GridSearchCV", "sklearn", _polynomial_theirs, slow=True),
    ),
    judgement=Judgement("score", higher=True, tolerance=1e-6),
)


def _boosted(library: str) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        if library == "tenfold":
            from tenfold import GridSearchCV, HistGradientBoostingClassifier

            more: dict[str, Any] = {}
        else:
            from sklearn.ensemble import HistGradientBoostingClassifier
            from sklearn.model_selection import GridSearchCV

            more = {"n_jobs": 1}  # the learner has threads of its own
        grid = {"max_iter": [25, 50, 100, 150, 200], "max_leaf_nodes": [7, 15, 31]}
        model = HistGradientBoostingClassifier(early_stopping=False)
        search = GridSearchCV(model, grid, cv=_pairs(len(data["y"])), scoring="neg_log_loss", **more)
        return _searched(search, data, meter)

    return run


BOOSTING = Workload(
    name="search_boosting",
    about="grid search: 5 numbers of boosting rounds x 3 sizes of trees, 5 folds, 20k x 20",
    make=lambda shrink: make.two_classes(make.shrunk(20_000, shrink), 20, seed=91),
    contenders=(
        Contender("tenfold GridSearchCV", "tenfold", _boosted("tenfold"), "tenfold"),
        Contender("sklearn GridSearchCV", "sklearn", _boosted("sklearn"), slow=True),
    ),
    judgement=Judgement("score", higher=True, tolerance=0.02),
)

WORKLOADS = (POLYNOMIAL, BOOSTING)
