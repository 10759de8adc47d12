"""Trees, forests and boosting as other parts of the library meet them."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.evaluate import cross_val_predict, partial_dependence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
THREE = np.argsort(np.argsort(X[:, 0] + X[:, 1])) * 3 // 150
OTHER_UNITS = [  # decision_function is not in logarithms of probabilities
    (tenfold.AdaBoostClassifier(n_estimators=5), THREE),
    (tenfold.AdaBoostClassifier(n_estimators=5, algorithm="SAMME.R"), THREE),
    (tenfold.GradientBoostingClassifier(loss="exponential", n_estimators=5), THREE > 0),
]


@pytest.mark.parametrize(("model", "y"), OTHER_UNITS, ids=["samme", "samme.r", "exponential"])
def test_probabilities_are_those_of_predict_proba_everywhere(model, y):
    fitted = model.fit(X, y)
    found = partial_dependence(fitted, X, 0, grid_resolution=3)
    moved = X.copy()
    moved[:, 0] = found.grid_values[0][1]
    told = fitted.predict_proba(moved).mean(axis=0)
    np.testing.assert_allclose(found.average[:, 1], told if len(told) > 2 else told[1:], rtol=1e-12)
    even, odd = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    held_out = cross_val_predict(model, X, y, folds=[(even, odd), (odd, even)], method="predict_proba")
    np.testing.assert_allclose(held_out[odd], model.fit(X[even], y[even]).predict_proba(X[odd]), rtol=1e-12)


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "AdaBoostRegressor"])
def test_a_seed_is_checked_where_nothing_is_drawn(name):
    with pytest.raises(ValueError, match="random_state='a'"):
        getattr(tenfold, name)(random_state="a").fit(X, THREE)
