"""Bins, against scikit-learn's, and cuts by entropy against trees of scikit-learn and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import KBinsDiscretizer as Theirs
from sklearn.tree import DecisionTreeClassifier

import tenfold
from tenfold.solve.class_cuts import class_cuts

rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=300), rng.exponential(size=300), rng.integers(0, 12, 300), rng.normal(size=300) * 1e6])
WEIGHTS = {"none": None, "whole": rng.integers(0, 3, 300).astype(float), "any": rng.uniform(0.1, 3.0, 300)}


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_bins_are_those_of_scikit_learn(strategy: str, encode: str, weights: str) -> None:
    setting: Any = dict(n_bins=[3, 4, 4, 5] if strategy == "kmeans" else [3, 6, 4, 30], strategy=strategy, encode=encode)
    w = WEIGHTS[weights]
    ours, theirs = tenfold.KBinsDiscretizer(**setting).fit(X, sample_weight=w), Theirs(**setting).fit(X, sample_weight=w)
    for mine, other in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)
    new = np.vstack([X, X.max(axis=0) + 1, X.min(axis=0) - 1])
    rows, expected = ours.transform(new), theirs.transform(new)
    assert type(rows) is type(expected) or encode == "onehot"
    np.testing.assert_array_equal(_dense(rows), _dense(expected))
    np.testing.assert_allclose(ours.inverse_transform(rows), theirs.inverse_transform(expected), rtol=1e-12)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "method", ["linear", "hazen", "weibull", "inverted_cdf", "closest_observation", "median_unbiased", "normal_unbiased"]
)
def test_quantile_methods(method: str) -> None:
    ours, theirs = tenfold.KBinsDiscretizer(4, quantile_method=method).fit(X), Theirs(4, quantile_method=method).fit(X)
    for mine, other in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
        np.testing.assert_array_equal(mine, other)
    if method != "inverted_cdf":
        with pytest.raises(tenfold.BadParameter, match="quantile_method should either"):
            tenfold.KBinsDiscretizer(4, quantile_method=method).fit(X, sample_weight=WEIGHTS["any"])


def test_the_same_rows_are_drawn() -> None:
    for w in (None, WEIGHTS["any"]):
        ours = tenfold.KBinsDiscretizer(3, subsample=100, random_state=3).fit(X, sample_weight=w)
        theirs = Theirs(3, subsample=100, random_state=3).fit(X, sample_weight=w)
        for mine, other in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
            np.testing.assert_array_equal(mine, other)
    drawn = [tenfold.KBinsDiscretizer(3, subsample=100, random_state=3).fit(rows).bin_edges_ for rows in (X, [X[:70], X[70:]])]
    for mine, other in zip(*drawn, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_entropy_cuts_where_the_classes_change() -> None:
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 2] > 5)
    found = tenfold.KBinsDiscretizer(strategy="entropy", encode="ordinal").fit(X, y)
    assert found.bin_edges_[2].tolist() == [0.0, 5.5, 11.0]
    assert len(found.bin_edges_[1]) == len(found.bin_edges_[3]) == 2  # nothing to learn of the classes there: one bin
    assert 0.25 < found.bin_edges_[0][1] < 0.35 and len(found.bin_edges_[0]) == 3
    assert (found.transform(X)[:, 1] == 0).all()


def test_first_entropy_cut_is_that_of_a_tree() -> None:
    """The cut of least entropy; accepted where MDL says so, by its formula."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        x = np.sort(draw.normal(size=200))
        y = ((x > draw.normal()) ^ (draw.random(200) < 0.1)).astype(int)
        if len(np.unique(y)) < 2:
            continue
        root = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(x[:, None], y).tree_
        cuts = class_cuts(x, y, np.ones(200), 2)
        if len(cuts):
            assert np.abs(cuts - root.threshold[0]).min() < 1e-6  # scikit-learn's trees see float32
        else:
            h, h1, h2 = root.impurity
            n, n1, n2 = root.n_node_samples
            gain = h - (n1 * h1 + n2 * h2) / n
            k, k1, k2 = (len(np.unique(part)) for part in (y, y[x <= root.threshold[0]], y[x > root.threshold[0]]))
            assert gain <= (np.log2(n - 1) + np.log2(3.0**k - 2) - (k * h - k1 * h1 - k2 * h2)) / n


def test_weights_are_copies_in_entropy() -> None:
    x, y, w = np.sort(rng.normal(size=90)), rng.integers(0, 3, 90), rng.integers(1, 4, 90)
    y[30:60] = 1
    again = np.repeat(np.arange(90), w)
    np.testing.assert_allclose(class_cuts(x, y, w.astype(float), 3), class_cuts(x[again], y[again], np.ones(len(again)), 3), rtol=1e-12)


def test_odd_columns() -> None:
    odd = np.column_stack([np.zeros(6), [0, 0, 0, 0, 0, 1.0], [1e100, -1e100, 0, 1, 2, 3], [1e-300, 0, 2e-300, 3e-300, 1e-300, 0]])
    with pytest.warns(tenfold.DataWarning, match=r"Feature 0 is constant|width are too small"):
        found = tenfold.KBinsDiscretizer(3, encode="ordinal", strategy="uniform").fit(odd)
    assert found.n_bins_.tolist() == [1, 3, 3, 3]
    assert np.isfinite(found.transform(odd)).all() and np.isnan(found.inverse_transform(found.transform(odd))[:, 0]).all()
    with pytest.raises(tenfold.BadInput, match="Incorrect number of features"):
        found.inverse_transform(odd[:, :2])
    with pytest.raises(tenfold.BadInput, match="column 1 has 3 bins"):
        found.inverse_transform(np.full((1, 4), 7.0)[:, [0, 1, 2, 3]] * [0, 1, 0, 0])
    with pytest.raises(tenfold.BadParameter, match="invalid number of bins at indices 1"):
        tenfold.KBinsDiscretizer([2, 1, 3, 3]).fit(odd)
    with pytest.raises(tenfold.BadInput, match="requires y"):
        tenfold.KBinsDiscretizer(strategy="entropy").fit(odd)
    with pytest.raises(tenfold.BadParameter, match="float32 or float64"):
        tenfold.KBinsDiscretizer(dtype=int).fit(odd)


def test_single_precision_and_types() -> None:
    single = X.astype(np.float32)
    assert tenfold.KBinsDiscretizer(3).fit_transform(single).dtype == np.float32
    assert tenfold.KBinsDiscretizer(3, dtype=np.float64).fit_transform(single).dtype == np.float64
    assert tenfold.KBinsDiscretizer(3, dtype=np.float32, encode="ordinal").fit_transform(X).dtype == np.float32


def test_inside_a_pipeline() -> None:
    y = X[:, 0] ** 2
    model = tenfold.make_pipeline(tenfold.KBinsDiscretizer(8), tenfold.Ridge())
    assert tenfold.cross_val_score(model, X, y, cv=5).mean() > 0.5 > tenfold.cross_val_score(tenfold.Ridge(), X, y, cv=5).mean()
