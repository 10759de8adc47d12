"""Local outlier factors: against scikit-learn, the formula in NumPy, copies of rows, and what is refused or told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.neighbors
from scipy.spatial.distance import cdist

import tenfold
from tenfold.core.errors import DataWarning

RNG = np.random.default_rng(1)
X = np.vstack([RNG.normal(size=(80, 3)), RNG.normal(size=(20, 3)) * 0.1 + 6, [[20.0, 0, 0], [3.0, 3, 3]]])
NEW = RNG.normal(size=(40, 3)) * 3


@pytest.mark.parametrize("options", [{}, {"contamination": 0.1, "n_neighbors": 5}, {"metric": "manhattan", "contamination": 0.33}], ids=str)
def test_as_scikit_learn(options: dict[str, Any]) -> None:
    for novelty in (False, True):
        ours = tenfold.LocalOutlierFactor(novelty=novelty, **options).fit(X)
        theirs = sklearn.neighbors.LocalOutlierFactor(novelty=novelty, **options).fit(X)
        np.testing.assert_allclose(ours.negative_outlier_factor_, theirs.negative_outlier_factor_, rtol=1e-10)
        assert ours.offset_ == pytest.approx(theirs.offset_, rel=1e-10)
    np.testing.assert_allclose(ours.score_samples(NEW), theirs.score_samples(NEW), rtol=1e-10)
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    found = tenfold.LocalOutlierFactor(**options).fit_predict(X)
    np.testing.assert_array_equal(found, sklearn.neighbors.LocalOutlierFactor(**options).fit_predict(X))
    assert found[100] == -1


def test_the_formula() -> None:
    k, away = 4, cdist(X, X)
    np.fill_diagonal(away, np.inf)
    near = np.argsort(away, axis=1)[:, :k]
    last = np.take_along_axis(away, near, axis=1)[:, -1]
    density = np.array([1 / (np.maximum(away[i, near[i]], last[near[i]]).mean() + 1e-10) for i in range(len(X))])
    expected = -np.array([(density[near[i]] / density[i]).mean() for i in range(len(X))])
    np.testing.assert_allclose(tenfold.LocalOutlierFactor(k).fit(X).negative_outlier_factor_, expected, rtol=1e-10)


def test_a_row_of_weight_three_is_three_rows() -> None:
    w = RNG.integers(0, 4, len(X))
    for options in ({"n_neighbors": 6}, {"n_neighbors": 9, "contamination": 0.2}):
        weighted = tenfold.LocalOutlierFactor(novelty=True, **options).fit(X, None, w)
        copied = tenfold.LocalOutlierFactor(novelty=True, **options).fit(np.repeat(X, w, axis=0))
        np.testing.assert_allclose(weighted.score_samples(NEW), copied.score_samples(NEW), rtol=1e-9)
        factors = np.repeat(weighted.negative_outlier_factor_, w[w > 0])
        np.testing.assert_allclose(factors, copied.negative_outlier_factor_, rtol=1e-9)
        assert weighted.offset_ == pytest.approx(copied.offset_, rel=1e-9)


def test_what_is_told_and_refused() -> None:
    with pytest.warns(DataWarning, match=r"n_neighbors \(500\) is greater than the total number of samples \(102\)"):
        assert tenfold.LocalOutlierFactor(500).fit(X).n_neighbors_ == 101
    with pytest.warns(DataWarning, match="Duplicate values"):
        tenfold.LocalOutlierFactor(3).fit(np.vstack([np.zeros((10, 3)), X[:20]]))
    with pytest.raises(tenfold.BadInput, match="n_neighbors = 1, n_samples_fit = 1"):
        tenfold.LocalOutlierFactor(1).fit(X[:1])
    with pytest.raises(tenfold.BadInput, match="infinitely far"):
        tenfold.LocalOutlierFactor(3, metric=lambda a, b: np.inf).fit(X[:9])
    model = tenfold.LocalOutlierFactor(5)
    assert not hasattr(model, "predict") and not hasattr(tenfold.LocalOutlierFactor(novelty=True), "fit_predict")
    same = tenfold.LocalOutlierFactor(5).fit(np.ones((20, 2)))
    np.testing.assert_allclose(same.negative_outlier_factor_, -1.0, rtol=1e-12)


def test_distances_that_are_given() -> None:
    given = tenfold.LocalOutlierFactor(5, novelty=True, metric="precomputed").fit(cdist(X, X))
    rows = tenfold.LocalOutlierFactor(5, novelty=True).fit(X)
    np.testing.assert_allclose(given.negative_outlier_factor_, rows.negative_outlier_factor_, rtol=1e-10)
    np.testing.assert_allclose(given.score_samples(cdist(NEW, X)), rows.score_samples(NEW), rtol=1e-10)
