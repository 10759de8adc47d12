"""Single trees grown to the end, and forests of a hundred."""

from __future__ import annotations

from typing import Any

from . import data as make
from .plan import Contender, Judgement, Workload, fit_predict
from .scores import accuracy, r2

TREES, COLUMNS, LEAVES, DEPTH = 100, 30, 1024, 14


def _tree(labels: bool) -> tuple[Contender, ...]:
    kind, score = ("Classifier", accuracy) if labels else ("Regressor", r2)
    one = dict(n_estimators=1, bootstrap=False, max_features=None, random_state=0, n_jobs=2)
    return (
        Contender("tenfold", "tenfold", fit_predict(f"tenfold.DecisionTree{kind}", score, random_state=0), "tenfold"),
        Contender("sklearn", "sklearn", fit_predict(f"sklearn.tree.DecisionTree{kind}", score, random_state=0)),
        Contender(
            "sklearnex forest of one tree, on bins",
            "sklearnex",
            fit_predict(f"sklearnex.ensemble.RandomForest{kind}", score, **one),
            "reference",
        ),
    )


def _share(labels: bool) -> float:
    """Of the columns, drawn for each node."""
    return COLUMNS**0.5 / COLUMNS if labels else 1 / 3


def _same(labels: bool) -> dict[str, Any]:
    drawn: dict[str, Any] = {} if labels else {"max_features": _share(labels)}
    return dict(n_estimators=TREES, random_state=0, n_jobs=2, **drawn)


def _lightgbm(labels: bool) -> Contender:
    kind, score = ("Classifier", accuracy) if labels else ("Regressor", r2)
    boosting = dict(
        boosting_type="rf", n_estimators=TREES, num_leaves=LEAVES, min_child_samples=1, min_child_weight=0, subsample=0.632,
        subsample_freq=1, feature_fraction_bynode=_share(labels), n_jobs=2, verbose=-1, random_state=0,
    )  # fmt: skip
    return Contender("lightgbm rf", "lightgbm", fit_predict(f"lightgbm.LGBM{kind}", score, **boosting))


def _forest(labels: bool) -> tuple[Contender, ...]:
    kind, score = ("Classifier", accuracy) if labels else ("Regressor", r2)
    same = _same(labels)
    deep = dict(
        n_estimators=TREES, max_depth=DEPTH, tree_method="hist", subsample=0.632, reg_lambda=0, min_child_weight=1,
        colsample_bynode=_share(labels), n_jobs=2, random_state=0,
    )  # fmt: skip
    return (
        Contender("tenfold", "tenfold", fit_predict(f"tenfold.RandomForest{kind}", score, **same), "tenfold"),
        Contender("sklearnex", "sklearnex", fit_predict(f"sklearnex.ensemble.RandomForest{kind}", score, **same)),
        _lightgbm(labels),
        Contender("xgboost rf", "xgboost", fit_predict(f"xgboost.XGBRF{kind}", score, **deep), slow=True),
        Contender("sklearn", "sklearn", fit_predict(f"sklearn.ensemble.RandomForest{kind}", score, **same), slow=True),
    )


def _limited(labels: bool) -> tuple[Contender, ...]:
    kind, score = ("Classifier", accuracy) if labels else ("Regressor", r2)
    same = dict(_same(labels), max_leaf_nodes=LEAVES)
    return (
        Contender("tenfold", "tenfold", fit_predict(f"tenfold.RandomForest{kind}", score, **same), "tenfold"),
        _lightgbm(labels),
    )


def _fewer(ours: dict[str, Any], both: dict[str, Any]) -> Any:
    """Forests of numbers, against scikit-learn's, which sorts the rows of every node."""

    def contenders(labels: bool) -> tuple[Contender, ...]:
        same = {**_same(labels), **both}
        fit = fit_predict("tenfold.RandomForestRegressor", r2, **same, **ours)
        peer = fit_predict("sklearn.ensemble.RandomForestRegressor", r2, **same)
        return Contender("tenfold", "tenfold", fit, "tenfold"), Contender("sklearn", "sklearn", peer)

    return contenders


def _workload(name: str, about: str, n: int, p: int, seed: int, labels: bool, contenders: Any) -> Workload:
    surface = "Friedman's surface, " + ("two classes" if labels else "noise of deviation 2")
    return Workload(
        name=name,
        about=f"{about}, {n // 1000}k x {p} uniform columns, {surface}",
        make=lambda shrink: make.friedman(make.shrunk(n, shrink), p, seed=seed, labels=labels),
        contenders=contenders(labels),
        judgement=Judgement("accuracy" if labels else "R2", higher=True, tolerance=0.01),
    )


WORKLOADS = (
    _workload("tree_clf", "one exact tree grown to the end", 200_000, 20, 60, True, _tree),
    _workload("tree_reg", "one exact tree grown to the end", 200_000, 20, 60, False, _tree),
    _workload("forest_clf", "forest of 100 trees, sqrt(p) columns a node", 100_000, COLUMNS, 61, True, _forest),
    _workload("forest_reg", "forest of 100 trees, p / 3 columns a node", 100_000, COLUMNS, 61, False, _forest),
    _workload("forest_clf_1024", "forest of 100 trees of 1024 leaves", 100_000, COLUMNS, 61, True, _limited),
    _workload("forest_reg_1024", "forest of 100 trees of 1024 leaves", 100_000, COLUMNS, 61, False, _limited),
    _workload(
        "forest_median",
        "forest of 100 trees about medians",
        5_000,
        COLUMNS,
        62,
        False,
        _fewer({}, {"criterion": "absolute_error"}),
    ),
    _workload(
        "forest_exact",
        "forest of 100 trees, a bin for each value",
        5_000,
        COLUMNS,
        62,
        False,
        _fewer({"max_bins": 65_535}, {}),
    ),
)
