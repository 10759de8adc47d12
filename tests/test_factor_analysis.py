"""FactorAnalysis: against scikit-learn, its certificate, rotations, few rows, pieces and edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_wine
from sklearn.decomposition import FactorAnalysis as TheirAnalysis

import tenfold
from tenfold.core.errors import BadInput, BadParameter, Degenerate, NotConverged

RNG = np.random.default_rng(0)
X = RNG.normal(size=(800, 3)) @ RNG.normal(size=(3, 10)) + RNG.normal(size=(800, 10)) * RNG.uniform(0.3, 1.5, 10) + 4
TIGHT: dict[str, Any] = {"tol": 1e-9}


@pytest.mark.parametrize("name", ["factors", "wide"])
def test_is_theirs(name: str) -> None:
    rows = X if name == "factors" else RNG.normal(size=(30, 2)) @ RNG.normal(size=(2, 80)) + RNG.normal(size=(30, 80))
    ours, theirs = tenfold.FactorAnalysis(2, **TIGHT).fit(rows), TheirAnalysis(2, svd_method="lapack", tol=1e-10, max_iter=5000).fit(rows)
    assert ours.loglike_[-1] == pytest.approx(theirs.loglike_[-1], rel=1e-9)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=0, atol=1e-3)
    np.testing.assert_allclose(np.abs(ours.transform(rows)), np.abs(theirs.transform(rows)), rtol=0, atol=1e-2)
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=0, atol=1e-2)


@pytest.mark.parametrize("load", [load_wine])
def test_no_less_likely_than_theirs(load: Any) -> None:
    rows = load().data
    rows = rows[:, rows.std(axis=0) > 0.5]
    ours, theirs = tenfold.FactorAnalysis(3).fit(rows), TheirAnalysis(3, svd_method="lapack").fit(rows)
    assert ours.loglike_[-1] >= theirs.loglike_[-1] and (np.diff(ours.loglike_) > 0).all()
    assert ours.loglike_[-1] == pytest.approx(ours.score_samples(rows).sum(), rel=1e-9)


def test_no_gradient_is_left() -> None:
    """At the maximum the model has the variances of the rows, and S Σ⁻¹ Wᵀ = Wᵀ (Lawley & Maxwell 1971)."""
    model = tenfold.FactorAnalysis(3, **TIGHT).fit(X)
    S, W = np.cov(X.T, bias=True), model.components_
    np.testing.assert_allclose(np.diagonal(model.get_covariance()), np.diagonal(S), rtol=1e-4)
    np.testing.assert_allclose(S @ model.get_precision() @ W.T, W.T, rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(10), rtol=0, atol=1e-10)
    normal = stats.multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), normal.logpdf(X), rtol=1e-10)


def test_units_do_not_matter() -> None:
    scale = 10.0 ** np.arange(-5, 5)
    one, two = tenfold.FactorAnalysis(3, **TIGHT).fit(X), tenfold.FactorAnalysis(3, **TIGHT).fit(X * scale)
    np.testing.assert_allclose(two.noise_variance_ / scale**2, one.noise_variance_, rtol=1e-4)


@pytest.mark.parametrize("rotation", ["varimax", "quartimax"])
def test_rotation_changes_nothing_but_the_loadings(rotation: str) -> None:
    plain, turned = tenfold.FactorAnalysis(3).fit(X), tenfold.FactorAnalysis(3, rotation=rotation).fit(X)
    np.testing.assert_allclose(turned.get_covariance(), plain.get_covariance(), rtol=1e-9, atol=1e-9)

    def simple(W: Any) -> float:
        squares = W.T**2
        return float((squares**2).sum() - (squares.sum(axis=0) ** 2).sum() / len(squares) * (rotation == "varimax"))

    best, rng = simple(turned.components_), np.random.default_rng(1)
    assert best > simple(plain.components_)
    for _ in range(50):
        turn = np.linalg.qr(np.eye(3) + 0.1 * rng.normal(size=(3, 3)))[0]
        assert simple(turn @ turned.components_) <= best * (1 + 1e-9)


def test_pieces_and_weights() -> None:
    whole, parts = tenfold.FactorAnalysis(2, **TIGHT).fit(X), tenfold.FactorAnalysis(2, **TIGHT)
    for start in range(0, 800, 160):
        parts.partial_fit(X[start : start + 160])
    w = RNG.integers(0, 3, 800)
    one, two = tenfold.FactorAnalysis(2, **TIGHT).fit(X, sample_weight=w), tenfold.FactorAnalysis(2, **TIGHT).fit(X.repeat(w, axis=0))
    for a, b in ((parts, whole), (one, two)):
        np.testing.assert_allclose(a.components_, b.components_, rtol=0, atol=1e-6)


def test_edges() -> None:
    with pytest.raises(BadInput, match="n_components=11 is more than the 10 columns"):
        tenfold.FactorAnalysis(11).fit(X)
    with pytest.raises(BadParameter, match="10 numbers above zero"):
        tenfold.FactorAnalysis(2, noise_variance_init=np.ones(3)).fit(X)
    with pytest.warns(NotConverged, match="did not converge"):
        tenfold.FactorAnalysis(2, max_iter=1).fit(X)
    with pytest.warns(Degenerate, match="constant"):
        model = tenfold.FactorAnalysis(2).fit(np.hstack([X, np.ones((800, 1))]))
    np.testing.assert_allclose(model.components_[:, -1], 0.0, atol=1e-12)
    none = tenfold.FactorAnalysis(0).fit(X)
    np.testing.assert_allclose(none.noise_variance_, X.var(axis=0), rtol=1e-4)
    assert none.transform(X).shape == (800, 0)
    every = tenfold.FactorAnalysis().fit(X)
    assert every.loglike_[-1] >= tenfold.FactorAnalysis(5).fit(X).loglike_[-1] - 1.0
