"""A planted leak: what a transformer learns in cross-validation comes from the training rows alone.

The rows of one test fold are made so strange that any look at them changes every code, bin, mean or neighbour of the others. The scores of
the other folds' models on clean rows must not see that; and the model that is tested on the strange rows must be the one of a fit
without them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

import tenfold

rng = np.random.default_rng(0)
N = 90
FOLDS = list(KFold(3).split(np.zeros((N, 1))))
NUMBERS = rng.normal(size=(N, 4))
TEXTS = rng.choice(list("abcd"), (N, 2)).astype(object)
DATES = np.array(rng.integers(0, 10**9, (N, 1)), dtype="datetime64[s]")
Y = NUMBERS[:, 0] + (TEXTS[:, 0] == "a")
GAPS = np.where(rng.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)

CASES: dict[str, tuple[Any, Any]] = {
    "uniform": (tenfold.KBinsDiscretizer(4, strategy="uniform"), NUMBERS),
    "quantile": (tenfold.KBinsDiscretizer(4), NUMBERS),
    "kmeans": (tenfold.KBinsDiscretizer(3, strategy="kmeans"), NUMBERS),
    "TargetEncoder": (tenfold.TargetEncoder(), TEXTS),
    "OneHotEncoder": (tenfold.OneHotEncoder(handle_unknown="ignore"), TEXTS),
    "OrdinalEncoder": (tenfold.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), TEXTS),
    "SimpleImputer": (tenfold.SimpleImputer(), GAPS),
    "median": (tenfold.SimpleImputer(strategy="median"), GAPS),
    "KNNImputer": (tenfold.KNNImputer(), GAPS),
    "IterativeImputer": (tenfold.IterativeImputer(tenfold.Ridge(), max_iter=60), GAPS),
    "EMImputer": (tenfold.EMImputer(max_iter=1000), GAPS),
    "DateParts": (tenfold.DateParts(), DATES),
}


def _spoiled(X: Any, y: Any, rows: Any) -> tuple[Any, Any]:
    X, y = X.copy(), y.copy()
    y[rows] = 1e6
    if X.dtype == object:
        X[rows] = "strange"
    elif X.dtype.kind == "M":
        X[rows] = np.datetime64("1800-01-01")
    else:
        X[rows] = np.where(np.isnan(X[rows]), np.nan, 1e4 + 10 * X[rows])
    return X, y


@pytest.mark.parametrize("name", CASES)
def test_nothing_of_the_test_fold_enters_the_preparation(name: str) -> None:
    transformer, X = CASES[name]
    model = tenfold.make_pipeline(transformer, tenfold.Ridge())
    train, test = FOLDS[1]
    bad_X, bad_y = _spoiled(X, Y, test)
    found = tenfold.cross_val_predict(model, bad_X, bad_y, cv=[FOLDS[1]] + [(t, s) for t, s in FOLDS if s is not test])
    alone = tenfold.make_pipeline(transformer, tenfold.Ridge()).fit(X[train], Y[train])
    np.testing.assert_allclose(found[test], alone.predict(bad_X[test]), rtol=1e-8, atol=1e-8)
