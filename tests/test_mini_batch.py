"""MiniBatchKMeans: the update against its formula, k-means in the limit, streams, centres that nobody comes to, and the end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans as Peer
from sklearn.datasets import load_digits

import tenfold
from tenfold import KMeans, MiniBatchKMeans


def blobs(n: int, p: int, k: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 6 * rng.standard_normal((k, p))[rng.integers(0, k, n)]


@pytest.mark.parametrize("weighted", [False, True])
def test_batches_are_those_of_scikit_learn(weighted: bool) -> None:
    X, start = blobs(600, 3, 5), blobs(5, 3, 5, seed=3)
    w = np.random.default_rng(1).uniform(0.5, 2, 600) if weighted else None
    mine, peer = (kind(5, init=start, n_init=1, reassignment_ratio=0, random_state=0) for kind in (MiniBatchKMeans, Peer))
    for i in range(0, 600, 60):
        part = None if w is None else w[i : i + 60]
        mine.partial_fit(X[i : i + 60], sample_weight=part)
        peer.partial_fit(X[i : i + 60], sample_weight=part)
    np.testing.assert_allclose(mine.cluster_centers_, peer.cluster_centers_, rtol=1e-10)
    np.testing.assert_allclose(mine.counts_, peer._counts, rtol=1e-12)
    np.testing.assert_array_equal(mine.labels_, peer.labels_)
    assert mine.inertia_ == pytest.approx(peer.inertia_) and mine.n_steps_ == peer.n_steps_ == 10


def test_centres_are_means_of_the_rows_that_came() -> None:
    X = blobs(100, 2, 1)
    model = MiniBatchKMeans(1, init=np.zeros((1, 2)))
    for i in range(0, 100, 7):
        model.partial_fit(X[i : i + 7])
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0), rtol=1e-12)
    assert model.counts_[0] == 100


def test_nearly_as_good_as_all_rows_and_as_scikit_learn() -> None:
    X = load_digits(return_X_y=True)[0]
    mine = np.mean([MiniBatchKMeans(10, batch_size=256, random_state=i).fit(X).inertia_ for i in range(8)])
    peers = np.mean([Peer(10, batch_size=256, n_init=1, random_state=i).fit(X).inertia_ for i in range(8)])
    assert mine <= 1.02 * peers
    assert mine <= 1.05 * np.mean([KMeans(10, random_state=i).fit(X).inertia_ for i in range(8)])


def test_attributes_belong_together_and_repeat() -> None:
    X = blobs(3000, 4, 6)
    model = MiniBatchKMeans(6, batch_size=100, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == pytest.approx(-model.score(X)) and model.n_iter_ == -(-model.n_steps_ * 100 // 3000)
    with tenfold.threads(1):
        again = MiniBatchKMeans(6, batch_size=100, random_state=0).fit(X)
    np.testing.assert_array_equal(again.cluster_centers_, model.cluster_centers_)
    quick = MiniBatchKMeans(6, batch_size=100, random_state=0, compute_labels=False).fit(X)
    assert "labels_" not in vars(quick) and quick.inertia_ == pytest.approx(model.inertia_, rel=0.2)


def test_streams_and_sparse_rows() -> None:
    X = blobs(900, 3, 4)
    whole = KMeans(4, n_init=5, random_state=0).fit(X).inertia_
    blocks = [X[i : i + 130] for i in range(0, 900, 130)]
    for rows in (blocks, lambda: iter(blocks)):
        model = MiniBatchKMeans(4, batch_size=64, random_state=0).fit(rows)
        assert model.inertia_ == pytest.approx(-model.score(X)) and model.inertia_ < 1.1 * whole
    with pytest.raises(tenfold.ReadOnce, match="partial_fit"):
        MiniBatchKMeans(4).fit(iter(blocks))
    X[X < 0] = 0
    dense, sparse = (MiniBatchKMeans(4, random_state=0).fit(rows) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, rtol=1e-9)


def test_centres_that_nobody_comes_to_are_moved() -> None:
    X = blobs(500, 2, 5)
    start = np.vstack([X[:1], np.full((4, 2), 1e4)])
    stuck = MiniBatchKMeans(5, init=start, reassignment_ratio=0, batch_size=50, random_state=0).fit(X)
    moved = MiniBatchKMeans(5, init=start, batch_size=50, random_state=0).fit(X)
    assert len(set(stuck.labels_)) == 1 and len(set(moved.labels_)) == 5


def test_it_ends_by_tolerance_patience_or_passes() -> None:
    X = blobs(1000, 3, 3)
    endless = MiniBatchKMeans(3, batch_size=30, max_iter=4, max_no_improvement=None, random_state=0).fit(X)
    assert (endless.n_iter_, endless.n_steps_) == (4, 4 * 1000 // 30)
    assert MiniBatchKMeans(3, batch_size=30, tol=1e-3, max_no_improvement=None, random_state=0).fit(X).n_iter_ < 100
    assert MiniBatchKMeans(3, batch_size=30, max_no_improvement=2, random_state=0).fit(X).n_steps_ < endless.n_steps_


def test_more_clusters_than_rows_are_refused() -> None:
    X = blobs(5, 2, 1)
    for learn in (MiniBatchKMeans(6).fit, MiniBatchKMeans(6).partial_fit, lambda X: MiniBatchKMeans(6).fit([X[:3], X[3:]])):
        with pytest.raises(tenfold.BadInput, match="n_samples=5 should be >= n_clusters=6"):
            learn(X)
    model = MiniBatchKMeans(2, random_state=0).partial_fit(X)
    with pytest.raises(tenfold.BadInput, match="3 features"):
        model.partial_fit(np.ones((4, 3)))


def test_rows_that_come_cluster_by_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """No centre is given up, and nothing ends, before all rows were seen once."""
    monkeypatch.setattr("tenfold.cluster.mini_batch.WINDOW_ROWS", 200)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5)) + 8 * rng.normal(size=(20, 5))[np.arange(4000) // 200]
    model = MiniBatchKMeans(20, batch_size=100, random_state=0).fit(X)
    assert model.inertia_ < 1.05 * KMeans(20, n_init=5, random_state=0).fit(X).inertia_
