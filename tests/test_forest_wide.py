"""Forests on columns with more bins than a byte can tell: max_bins above 255."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadParameter

Array = np.ndarray[Any, Any]


def rows(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize(
    "criterion", ["squared_error", "absolute_error", "poisson", "gini", "entropy", "gini of 3", "entropy of 3"]
)
def test_a_bin_for_each_value_grows_the_exact_tree(criterion: str) -> None:
    X, y = rows(900)
    w = np.random.default_rng(1).integers(1, 4, 900)
    limits = dict(criterion=criterion.removesuffix(" of 3"), max_depth=5, min_samples_leaf=9)
    role = "Classifier" if criterion[0] in "ge" else "Regressor"
    target = np.abs(y) if role == "Regressor" else np.digitize(y, [-0.5, 0.5] if "3" in criterion else [0.0])
    forest = getattr(tenfold, f"RandomForest{role}")(1, bootstrap=False, max_features=None, max_bins=65_535, **limits)
    alone = getattr(tenfold, f"DecisionTree{role}")(**limits).fit(X, target, w)
    tree = forest.fit(X, target, w).estimators_[0]
    for asked, least in ((X, 0.98), (rows(900, seed=9)[0], 0.95)):  # of equal splits another one may be taken
        predicted = [m.predict_proba(asked)[:, 1] if role == "Classifier" else m.predict(asked) for m in (tree, alone)]
        assert np.isclose(*predicted, rtol=1e-9, atol=1e-12).mean() > least
    np.testing.assert_allclose(tree._trees.gain[0], alone._trees.gain[0], rtol=1e-6)
    coarse = fresh(forest).set_params(max_bins=255).fit(X, target, w)
    assert coarse.trees_.gain[0] < tree._trees.gain[0] * (1 + 1e-6)


def test_every_value_is_told_apart() -> None:
    """Without limits a tree learns 5,000 values by heart; with 255 bins it cannot."""
    X = np.random.default_rng(0).permutation(np.arange(5000.0))[:, None] / 7
    y = np.random.default_rng(1).normal(size=5000)
    for kind in ("RandomForest", "ExtraTrees"):
        model = getattr(tenfold, f"{kind}Regressor")(2, bootstrap=False, max_bins=5000).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-9, atol=1e-9)
        assert model.set_params(max_bins=255).fit(X, y).score(X, y) < 0.2


def test_few_values_have_the_bins_they_always_had() -> None:
    X, y = rows(400)
    X = np.round(X, 1)
    model = tenfold.RandomForestRegressor(3, random_state=0).fit(X, y)
    for most in (255, 256, 65_535):
        other = fresh(model).set_params(max_bins=most).fit(X, y)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_beside_blanks_categories_and_few_values(kind: str, criterion: str, tmp_path: Path) -> None:
    """The same forest on any threads, from a file, from copies and in another order; monotone, with quantiles and out of bag."""
    X, y = rows(600)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.loc[::7, "a"] = np.nan
    frame["c"] = np.round(frame["c"])
    frame["e"] = np.array(["low", "mid", "top"])[np.random.default_rng(2).integers(0, 3, 600)]
    y = y + (frame["e"] == "mid").to_numpy()
    w = np.random.default_rng(3).integers(1, 3, 600)
    model = getattr(tenfold, f"{kind}Regressor")(
        5, criterion=criterion, max_bins=1000, bootstrap=True, keep_targets=True, random_state=0,
        min_weight_fraction_leaf=0.005, monotonic_cst=[0, 1, 0, 0, 0],
    )  # fmt: skip
    with tenfold.threads(1):
        predicted = model.fit(frame, y, w).predict(frame)
    assert len(np.unique(model.trees_.threshold[model.trees_.feature == 0])) > 15 and model.oob_score_ > 0.1
    moved = model.predict(frame.assign(b=frame["b"] + 0.5))
    assert (moved >= predicted - 1e-12).all() and (moved > predicted).any()
    with tenfold.threads(3):
        np.testing.assert_array_equal(fresh(model).fit(frame, y, w).predict(frame), predicted)
    tenfold.save(model, tmp_path / "wide")
    loaded = tenfold.load(tmp_path / "wide")
    np.testing.assert_array_equal(loaded.predict_quantiles(frame), model.predict_quantiles(frame))
    order = np.random.default_rng(4).permutation(600)
    again = fresh(model).fit(frame.iloc[order], y[order], w[order])
    np.testing.assert_array_equal(again.predict(frame), predicted)
    assert model.oob_importance(frame, y, w).importances_mean[0] > 0.05
    model.set_params(bootstrap=False, max_features=2)  # where no rows are drawn, a whole weight is so many copies
    known = frame["a"].notna().to_numpy()  # missing values that a node has not seen go where more rows go
    copies = fresh(model).fit(frame.loc[np.repeat(frame.index, w)], np.repeat(y, w))
    np.testing.assert_allclose(copies.predict(frame)[known], model.fit(frame, y, w).predict(frame)[known], rtol=1e-9)


def test_long_tables_grow_in_copies_too() -> None:
    """Rows of small nodes lie side by side in copies: their codes, of one byte and of two, go with them."""
    X, y = rows(6000)
    X[:, 3] = np.round(X[:, 3])
    model = tenfold.RandomForestRegressor(1, bootstrap=False, max_features=None, max_bins=65_535).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("most", [1, 65_536, 2.5])
def test_bad_numbers_of_bins(most: Any) -> None:
    X, y = rows(30)
    with pytest.raises(BadParameter, match="max_bins"):
        tenfold.RandomForestRegressor(2, max_bins=most).fit(X, y)
