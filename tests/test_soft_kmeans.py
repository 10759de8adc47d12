"""SoftKMeans: its fixed point, a falling objective, k-means in the limit, equal Gaussians, and stiffness that is too small."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

import tenfold
from tenfold import KMeans, SoftKMeans

IRIS = load_iris(return_X_y=True)[0]


def energy(X: np.ndarray, C: np.ndarray, beta: float, w: np.ndarray | float = 1.0) -> float:
    return float(-(w * logsumexp(-beta * ((X[:, None] - C) ** 2).sum(axis=2), axis=1)).sum() / beta)


@pytest.mark.parametrize("beta", [None, 0.5, 3.0])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_fixed_point_and_objective(beta: float | None, offset: float) -> None:
    w = np.random.default_rng(0).uniform(0, 2, 150)
    X = IRIS + offset
    model = SoftKMeans(3, beta=beta, tol=1e-16, max_iter=3000, random_state=0).fit(X, sample_weight=w)
    C = model.cluster_centers_
    r = model.responsibilities(X)
    logits = -model.beta_ * ((X[:, None] - C) ** 2).sum(axis=2)
    np.testing.assert_allclose(r, np.exp(logits - logsumexp(logits, axis=1, keepdims=True)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(C, (r * w[:, None]).T @ X / (r * w[:, None]).sum(axis=0)[:, None], rtol=1e-5)
    assert model.free_energy_ == pytest.approx(energy(X, C, model.beta_, w), rel=1e-5)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == pytest.approx(-model.score(X, sample_weight=w))


def test_objective_never_rises() -> None:
    losses: list[float | None] = []
    with tenfold.monitor(lambda record: losses.append(record.loss)):
        SoftKMeans(4, beta=1.0, init=IRIS[:4], tol=1e-12, max_iter=2000).fit(IRIS)
    passes = [loss for loss in losses if loss is not None]
    assert len(passes) > 5 and all(b <= a + 1e-9 * abs(a) for a, b in itertools.pairwise(passes))


def test_stiff_beyond_bounds_is_k_means() -> None:
    start = IRIS[[0, 60, 120]]
    hard = KMeans(3, init=start, tol=0).fit(IRIS)
    for beta in (1e4, 1e100):
        soft = SoftKMeans(3, init=start, beta=beta, tol=0).fit(IRIS)
        np.testing.assert_allclose(soft.cluster_centers_, hard.cluster_centers_, rtol=1e-6)
        assert soft.free_energy_ == pytest.approx(hard.inertia_, rel=1e-3)
        np.testing.assert_array_equal(soft.labels_, hard.labels_)


def test_equal_to_gaussians_of_one_known_variance() -> None:
    """One step of expectation and maximisation of round Gaussians with equal weights moves the means to the same places."""
    start, beta = IRIS[[0, 60, 120]], 2.0
    peer = GaussianMixture(
        3, covariance_type="spherical", means_init=start, weights_init=np.ones(3) / 3, precisions_init=np.full(3, 2 * beta), max_iter=1
    )
    with pytest.warns(UserWarning):
        peer.fit(IRIS)
    with pytest.warns(tenfold.NotConverged):
        mine = SoftKMeans(3, init=start, beta=beta, max_iter=1, tol=0).fit(IRIS)
    np.testing.assert_allclose(mine.cluster_centers_, peer.means_, rtol=1e-8)


def test_small_stiffness_runs_into_one() -> None:
    model = SoftKMeans(3, beta=1e-4, random_state=0, tol=1e-14, max_iter=3000).fit(IRIS)
    np.testing.assert_allclose(model.cluster_centers_, np.tile(IRIS.mean(axis=0), (3, 1)), rtol=1e-4)
    np.testing.assert_allclose(model.responsibilities(IRIS), 1 / 3, atol=1e-3)


def test_rows_that_are_equal_and_too_few() -> None:
    assert np.isfinite(SoftKMeans(2, random_state=0).fit(np.ones((6, 2))).cluster_centers_).all()
    with pytest.raises(tenfold.BadInput, match="n_samples=2 should be >= n_clusters=3"):
        SoftKMeans(3).fit(IRIS[:2])
    with pytest.raises(tenfold.BadParameter, match="beta"):
        SoftKMeans(3, beta=0).fit(IRIS)
