"""Run by tests/test_native_memory.py with failing_malloc preloaded: fits learners while allocation 1, 2, 3, ... of C++ fails.

    python out_of_memory.py FAMILY       prints for each learner how many failed, and in how many of them the fit went on without

Each failure must be a MemoryError, or be borne; the process must be sound after it, and give the same bits.
"""

from __future__ import annotations

import ctypes
import faulthandler
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import tenfold

rng = np.random.default_rng(0)
X = rng.normal(size=(9000, 6))  # enough for threads in every grower
Y = X @ np.arange(1.0, 7.0) + rng.normal(size=len(X))
LABEL, MANY = (Y > 0).astype(int), np.digitize(Y, [-3, 0, 3])
SMALL, SHORT, FEW = X[:400], Y[:400], MANY[:400]
WIDE = rng.normal(size=(300, 60))
CATEGORIES = np.where(rng.random((9000, 1)) < 0.1, np.nan, rng.integers(0, 9, (9000, 1)))
TALL, LONG = np.tile(np.hstack([X, CATEGORIES]), (2, 1)), np.tile(Y, 2)
LITTLE = dict(max_iter=2, early_stopping=False, max_leaf_nodes=7)

FITS: dict[str, dict[str, Callable[[], Any]]] = {
    "blocks": {
        "Ridge": lambda: tenfold.Ridge().fit(SMALL, SHORT).coef_,
        "LinearRegression": lambda: tenfold.LinearRegression().fit(SMALL, SHORT).coef_,
        "Lasso": lambda: tenfold.Lasso(0.1).fit(SMALL, SHORT).coef_,
        "LogisticRegression": lambda: tenfold.LogisticRegression().fit(SMALL, FEW).coef_,
        "LogisticRegression of two classes": lambda: tenfold.LogisticRegression().fit(SMALL, LABEL[:400]).coef_,
        "KMeans": lambda: tenfold.KMeans(5, n_init=1, random_state=0).fit(SMALL).cluster_centers_,
        "GaussianNB": lambda: tenfold.GaussianNB().fit(SMALL, FEW).predict_proba(SMALL),
        "LinearDiscriminantAnalysis": lambda: tenfold.LinearDiscriminantAnalysis().fit(SMALL, FEW).predict_proba(SMALL),
        "QuadraticDiscriminantAnalysis": lambda: tenfold.QuadraticDiscriminantAnalysis().fit(SMALL, FEW).predict(SMALL),
        "PCA": lambda: tenfold.PCA(3).fit(WIDE).components_,
        "KernelRegressor": lambda: tenfold.KernelRegressor().fit(SMALL, SHORT).predict(SMALL[:50]),
        "cross_validate": lambda: tenfold.cross_validate(tenfold.GaussianNB(), SMALL, FEW, folds=5).scores,
        "leave-one-out": lambda: tenfold.cross_validate(tenfold.GaussianNB(), SMALL, FEW, folds=len(SMALL)).scores,
        "roc_auc_score": lambda: tenfold.evaluate.roc_auc_score(LABEL, Y + X[:, 5]),
    },
    "trees": {
        "DecisionTreeRegressor": lambda: tenfold.DecisionTreeRegressor(min_samples_leaf=9).fit(X, Y).predict(X),
        "DecisionTreeClassifier": lambda: (
            tenfold.DecisionTreeClassifier(criterion="entropy", max_depth=7).fit(X, MANY).predict(X)
        ),
        "several targets": lambda: tenfold.DecisionTreeRegressor(max_depth=4).fit(X, X[:, :2]).predict(X),
        "best-first tree": lambda: tenfold.DecisionTreeRegressor(max_leaf_nodes=20).fit(X, Y).predict(X),
        "AdaBoostClassifier": lambda: tenfold.AdaBoostClassifier(n_estimators=3).fit(X, MANY).predict(X),
    },
    "forests": {
        "RandomForestClassifier": lambda: tenfold.RandomForestClassifier(2, random_state=0).fit(SMALL, FEW).predict(X),
        "RandomForestRegressor": lambda: tenfold.RandomForestRegressor(2, random_state=0).fit(SMALL, SHORT).predict(X),
        "attributions": lambda: (
            tenfold.evaluate.attributions(
                tenfold.RandomForestRegressor(2, max_depth=3, random_state=0).fit(SMALL, SHORT), SMALL[:20]
            ).values
        ),
    },
    "boosting": {
        "HistGradientBoostingRegressor": lambda: (
            tenfold.HistGradientBoostingRegressor(**LITTLE).fit(TALL, LONG).predict(TALL)
        ),
        "HistGradientBoostingClassifier": lambda: (
            tenfold.HistGradientBoostingClassifier(**LITTLE).fit(X, MANY).predict(X)
        ),
        "GradientBoostingRegressor": lambda: (
            tenfold.GradientBoostingRegressor(n_estimators=2).fit(SMALL, SHORT).predict(X)
        ),
    },
}


def survive(fit: Callable[[], Any], fail_at: Any) -> tuple[int, int]:
    """How many allocations failed, and in how many of them the fit went on without."""
    expected = fit()
    failures, borne, k = 0, 0, 1
    while True:
        fail_at(k)
        try:
            found = fit()
        except MemoryError:
            found = None
        if not fail_at(0):
            return failures, borne
        failures += 1
        borne += found is not None
        for one in (found, fit()):
            assert one is None or np.array_equal(one, expected), f"other bits after failure {k}"
        k += max(1, k // 4)  # each of the first ones, then some of thousands


def main(family: str) -> None:
    faulthandler.enable()
    fail_at = ctypes.CDLL(None).fail_at
    fail_at.argtypes = [ctypes.c_long]
    with tenfold.threads(3):
        for name, fit in FITS[family].items():
            print(name, end=": ", flush=True)
            print(*survive(fit, fail_at), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
