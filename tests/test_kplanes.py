"""KPlanes: lines and planes that are there, principal components for one, a falling objective, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

import tenfold
from tenfold import KPlanes


def on_planes(k: int, q: int, p: int, n: int = 200, noise: float = 0.01, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(k), n)
    V, m = rng.normal(size=(k, q, p)), 3 * rng.normal(size=(k, p))
    X = m[label] + np.einsum("nq,nqp->np", 4 * rng.normal(size=(k * n, q)), V[label]) + noise * rng.normal(size=(k * n, p))
    return X, label


@pytest.mark.parametrize(("k", "q", "p"), [(2, 1, 2), (3, 1, 3), (2, 2, 3), (4, 2, 6)])
def test_planes_that_are_there_are_found(k: int, q: int, p: int) -> None:
    X, label = on_planes(k, q, p)
    model = KPlanes(k, n_components=q, random_state=0).fit(X)
    assert adjusted_rand_score(label, model.labels_) > 0.95
    assert model.inertia_ < 2 * 0.01**2 * len(X) * (p - q)
    for V in model.components_:
        np.testing.assert_allclose(V @ V.T, np.eye(q), atol=1e-12)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(model.labels_, model.transform(X).argmin(axis=1))
    assert model.inertia_ == pytest.approx((model.transform(X).min(axis=1) ** 2).sum())


def test_one_plane_is_principal_components() -> None:
    X, _ = on_planes(1, 2, 5, noise=0.5)
    model, peer = KPlanes(1, n_components=2, random_state=0).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], peer.mean_, rtol=1e-9)
    V = model.components_[0]
    np.testing.assert_allclose(V.T @ V, peer.components_.T @ peer.components_, atol=1e-8)
    rest = X - peer.inverse_transform(peer.transform(X))
    assert model.inertia_ == pytest.approx((rest**2).sum())


def test_a_fixed_point_and_an_objective_that_never_rises() -> None:
    X, _ = on_planes(3, 1, 4, noise=1.0)
    w = np.random.default_rng(1).uniform(0, 2, len(X)).round(1)
    losses: list[float | None] = []
    with tenfold.monitor(lambda record: losses.append(record.loss)):
        model = KPlanes(3, tol=0, n_init=2, random_state=0).fit(X, sample_weight=w)
    passes = [loss for loss in losses[-model.n_iter_ :] if loss is not None]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(passes))
    for k in range(3):
        mine = model.labels_ == k
        mean = np.average(X[mine], axis=0, weights=w[mine])
        np.testing.assert_allclose(model.cluster_centers_[k], mean, rtol=1e-6, atol=1e-6)
        top = np.linalg.eigh((X[mine] - mean).T @ ((X[mine] - mean) * w[mine, None]))[1][:, -1]
        assert abs(model.components_[k, 0] @ top) == pytest.approx(1, abs=1e-6)


def test_streams_and_far_from_zero() -> None:
    X, label = on_planes(2, 1, 3)
    model = KPlanes(2, random_state=0).fit(X)
    streamed = KPlanes(2, random_state=0).fit([X[i : i + 93] for i in range(0, 400, 93)])
    np.testing.assert_allclose(streamed.components_, model.components_, rtol=1e-6, atol=1e-9)
    far = KPlanes(2, random_state=0).fit(X + 1e6)
    assert adjusted_rand_score(label, far.labels_) > 0.95 and far.inertia_ == pytest.approx(model.inertia_, rel=1e-3)


def test_few_equal_and_flat_rows() -> None:
    assert KPlanes(2, random_state=0).fit(np.ones((5, 3))).inertia_ == pytest.approx(0, abs=1e-20)
    assert KPlanes(3, random_state=0).fit(np.eye(3)).inertia_ == pytest.approx(0, abs=1e-20)
    with pytest.raises(tenfold.BadParameter, match=r"n_components=2\): must be less than n_features=2"):
        KPlanes(2, n_components=2).fit(np.eye(2))
    with pytest.raises(tenfold.BadInput, match="n_samples=2 should be >= n_clusters=3"):
        KPlanes(3).fit(np.eye(2))
