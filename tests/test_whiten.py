"""Whitening: identity covariance, scikit-learn's whitened components, and dependent columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

import tenfold
from tenfold.core.errors import BadInput, BadParameter, Degenerate

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5)) + 1e4


@pytest.mark.parametrize("method", ["pca", "zca"])
def test_covariance_is_the_identity(method: str) -> None:
    model = tenfold.Whitener(method=method).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(5), rtol=0, atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(Z), X, rtol=1e-12, atol=0)
    w = rng.integers(0, 4, 400)
    weighted = tenfold.Whitener(method=method).fit(X, sample_weight=w).transform(X)
    np.testing.assert_allclose(np.cov(weighted.T, fweights=w), np.eye(5), rtol=0, atol=1e-9)
    parts = tenfold.Whitener(method=method).fit(X[i : i + 37] for i in range(0, 400, 37))
    np.testing.assert_allclose(parts.transform(X), Z, rtol=0, atol=1e-9)


def test_components_are_those_of_scikit_learn() -> None:
    theirs = PCA(3, whiten=True, svd_solver="full").fit(X)
    ours = tenfold.Whitener(3).fit(X)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9, atol=0)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=0, atol=1e-8)
    assert ours.get_feature_names_out().tolist() == ["whitener0", "whitener1", "whitener2"]


def test_zca_is_the_symmetric_root_and_nearest_to_x() -> None:
    Z = tenfold.Whitener(method="zca").fit(X).transform(X)
    cross = np.cov(Z.T, (X - X.mean(axis=0)).T)[:5, 5:]
    np.testing.assert_allclose(cross, cross.T, rtol=0, atol=1e-8)  # Cov(z, x) = C^(1/2)
    np.testing.assert_allclose(cross @ cross, np.cov(X.T), rtol=0, atol=1e-8)


def test_dependent_columns_are_told_and_left_out() -> None:
    wide = np.column_stack([X, X @ rng.normal(size=(5, 2))])
    with pytest.warns(Degenerate, match="rank 5 of 7, and 5 directions"):
        model = tenfold.Whitener().fit(wide)
    assert model.rank_ == model.n_components_ == 5 and model.transform(wide).shape == (400, 5)
    np.testing.assert_allclose(np.cov(model.transform(wide).T), np.eye(5), rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.inverse_transform(model.transform(wide)), wide, rtol=1e-9, atol=1e-6)
    assert tenfold.Whitener(4).fit(wide).n_components_ == 4  # as many as were asked for: nothing to tell
    with pytest.warns(Degenerate, match="rank 2"):
        assert tenfold.Whitener(method="zca").fit(X[:3]).transform(X[:3]).shape == (3, 5)
    with pytest.raises(BadInput, match="constant"):
        tenfold.Whitener().fit(np.ones((5, 2)))
    with pytest.raises(BadParameter, match="n_components=9"):
        tenfold.Whitener(9).fit(X)
