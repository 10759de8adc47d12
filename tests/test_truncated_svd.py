"""TruncatedSVD: against scikit-learn and NumPy, sparse and dense, and at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD as TheirSVD

import tenfold
from tenfold.core.errors import BadInput, Degenerate
from tenfold.reduce import svd
from tenfold.reduce.products import spread_of

X = sparse.random(300, 120, density=0.1, random_state=0, format="csr")
RNG = np.random.default_rng(0)


def by_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svd, "SMALL", 0)
    monkeypatch.setattr(svd, "NEARLY", 0)


@pytest.mark.parametrize("algorithm", ["arpack", "randomized"])
@pytest.mark.parametrize("passes", [False, True])
def test_is_theirs(algorithm: str, passes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if passes:
        by_passes(monkeypatch)
    theirs = TheirSVD(6, algorithm="arpack").fit(X)
    whole = np.linalg.svd(X.toarray(), compute_uv=False)[:6]
    rtol = 1e-12 if algorithm == "arpack" or not passes else 1e-4
    for rows in (X, X.toarray(), [X[:100], X[100:]]):
        ours = tenfold.TruncatedSVD(6, algorithm=algorithm, n_iter=12).fit(rows)
        np.testing.assert_allclose(ours.singular_values_, whole, rtol=rtol)
        np.testing.assert_allclose(np.abs((ours.components_ * theirs.components_).sum(axis=1)), 1.0, rtol=0, atol=100 * rtol)
        np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=10 * rtol)
    np.testing.assert_allclose(ours.transform(X), X @ ours.components_.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), ours.transform(X) @ ours.components_, rtol=0, atol=1e-12)


def test_weights_are_copies() -> None:
    w = RNG.integers(0, 3, 300)
    one, two = tenfold.TruncatedSVD(3).fit(X, sample_weight=w), tenfold.TruncatedSVD(3).fit(X.toarray().repeat(w, axis=0))
    for name in ("components_", "singular_values_", "explained_variance_"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=0, atol=1e-11)


def test_small_singular_values_are_right() -> None:
    """Products alone would have lost those below 1e-8."""
    values = np.logspace(0, -11, 12)
    U, V = (np.linalg.qr(RNG.normal(size=(n, 12)))[0] for n in (200, 40))
    model = tenfold.TruncatedSVD(6).fit((U * values) @ V.T)
    assert (np.abs(model.singular_values_ / values[:6] - 1) < 1e-8).all()


def test_rank_and_columns_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"n_components\(121\) must be <= n_features\(120\)"):
        tenfold.TruncatedSVD(121).fit(X)
    low = RNG.normal(size=(50, 2)) @ RNG.normal(size=(2, 30))
    for way in (False, True):
        if way:
            by_passes(monkeypatch)
        with pytest.warns(Degenerate, match="n_components=4, but the rows have rank 2"):
            model = tenfold.TruncatedSVD(4, algorithm="arpack").fit(low)
        assert (model.singular_values_[2:] == 0).all()
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.inverse_transform(model.transform(low)), low, rtol=0, atol=1e-10)


def test_spreads_of_sparse_rows() -> None:
    block = tenfold.core.data.Block(X, None, RNG.random(300))
    found: Any = spread_of(block)
    dense: Any = spread_of(block.with_X(X.toarray()))
    np.testing.assert_allclose(found.mean, dense.mean, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.scatter, dense.scatter, rtol=1e-12)
