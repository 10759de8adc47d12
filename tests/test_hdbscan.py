"""HDBSCAN: scikit-learn's tree and labels, the same for any order of rows; new rows; and tables that are no clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from conftest import plain_id
from sklearn.datasets import load_iris, load_wine

import tenfold
from tenfold.cluster.condensed import Condensed, no_smaller
from tenfold.evaluate import adjusted_rand_score


def table(n: int, p: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 4.0 * rng.integers(0, 4, size=(n, 1))


def both(X: Any, **options: Any) -> tuple[Any, Any]:
    return tenfold.HDBSCAN(**options).fit(X), sklearn.cluster.HDBSCAN(copy=True, **options).fit(X)


@pytest.mark.parametrize("p", [1, 2, 3, 20, 40])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra"])
def test_the_tree_is_scikit_learns(p: int, metric: str) -> None:
    """Its edges are as long; where rows are no farther apart than they are (min_samples=1) nothing ties, and labels are equal."""
    X = table(200, p)
    for min_samples in (1, 5):
        ours, theirs = both(X, min_samples=min_samples, metric=metric)
        np.testing.assert_allclose(ours._merges[:, 2], np.sort(theirs._single_linkage_tree_["value"]), rtol=1e-9, atol=1e-12)
        if min_samples == 1:
            np.testing.assert_array_equal(ours.labels_, theirs.labels_)
            np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"min_cluster_size": 15},
        {"cluster_selection_method": "leaf"},
        {"allow_single_cluster": True},
        {"max_cluster_size": 60},
        {"alpha": 0.7},
        {"store_centers": "both"},
    ],
    ids=plain_id,
)
def test_settings(options: dict[str, Any]) -> None:
    ours, theirs = both(table(400, 2), min_samples=1, **options)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-9)
    if "store_centers" in options:
        np.testing.assert_allclose(ours.centroids_, theirs.centroids_, rtol=1e-9)
        np.testing.assert_array_equal(ours.medoids_, theirs.medoids_)


def test_real_tables_and_any_order_of_rows() -> None:
    for X in (load_iris().data, load_wine().data):
        for size in (5, 10):
            ours, theirs = both(X, min_cluster_size=size)
            assert adjusted_rand_score(ours.labels_, theirs.labels_) > 0.97  # rows at ties may go either way there
            order = np.random.default_rng(0).permutation(len(X))
            again = tenfold.HDBSCAN(size).fit(X[order])
            assert adjusted_rand_score(again.labels_, ours.labels_[order]) == 1
            np.testing.assert_allclose(again.probabilities_, ours.probabilities_[order], rtol=1e-12)


def test_distances_that_the_user_gives() -> None:
    X = table(150, 2)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    for alpha in (1.0, 0.8):
        given = tenfold.HDBSCAN(metric="precomputed", min_samples=1, alpha=alpha).fit(D)
        by_rows = tenfold.HDBSCAN(min_samples=1, alpha=alpha).fit(X)
        np.testing.assert_array_equal(given.labels_, by_rows.labels_)
    np.testing.assert_array_equal(given.predict(D[:20]), by_rows.predict(X[:20]))
    with pytest.raises(tenfold.BadInput, match="both ways"):
        tenfold.HDBSCAN(metric="precomputed").fit(D + np.triu(D))
    with pytest.raises(tenfold.BadInput, match="below 0"):
        tenfold.HDBSCAN(metric="precomputed").fit(-D)
    near = scipy.sparse.csr_matrix(np.where(D < 6, D, 0.0))  # what is not stored is far
    stored = tenfold.HDBSCAN(metric="precomputed", min_samples=1).fit(near)
    np.testing.assert_array_equal(stored.labels_, tenfold.HDBSCAN(min_samples=1).fit(X).labels_)
    with pytest.raises(tenfold.BadInput, match="disconnected graph"):
        tenfold.HDBSCAN(metric="precomputed", min_samples=1).fit(scipy.sparse.block_diag([near, near], format="csr"))
    with pytest.raises(tenfold.BadInput, match="fewer than 140 neighbors"):
        tenfold.HDBSCAN(metric="precomputed", min_samples=140).fit(near)
    with pytest.raises(tenfold.BadParameter, match="not a valid metric for a KDTree"):
        tenfold.HDBSCAN(metric="cosine", algorithm="kd_tree").fit(X)
    with pytest.raises(tenfold.BadParameter, match="Cannot store centers"):
        tenfold.HDBSCAN(metric="precomputed", store_centers="medoid").fit(D)


def test_new_rows() -> None:
    X = np.vstack([np.random.default_rng(1).normal(size=(100, 2)) + c for c in (0, 30)])
    model = tenfold.HDBSCAN(min_cluster_size=10).fit(X)
    assert set(model.labels_) - {-1} == {0, 1}
    centre = [X[model.labels_ == k].mean(axis=0) for k in (0, 1)]
    assert model.predict(np.array([*centre, [500.0, 500.0]])).tolist() == [0, 1, -1]
    inside = model.probabilities_ > 0.5
    np.testing.assert_array_equal(model.predict(X[inside]), model.labels_[inside])


def test_clusters_of_one_scale() -> None:
    X = table(300, 2)
    model = tenfold.HDBSCAN(min_samples=5).fit(X)
    found = model.dbscan_clustering(0.5, min_cluster_size=5)
    expected = sklearn.cluster.HDBSCAN(min_samples=5, copy=True).fit(X).dbscan_clustering(0.5, min_cluster_size=5)
    assert adjusted_rand_score(found, expected) == 1
    np.testing.assert_array_equal(found < 0, expected < 0)


def test_weights_are_copies() -> None:
    X, w = table(80, 2), np.random.default_rng(1).integers(0, 4, 80)
    weighted = tenfold.HDBSCAN(6).fit(X, sample_weight=w)
    copies = tenfold.HDBSCAN(6).fit(np.repeat(X, w, axis=0))
    assert adjusted_rand_score(np.repeat(weighted.labels_, w), copies.labels_) == 1
    np.testing.assert_allclose(np.repeat(weighted.probabilities_, w), copies.probabilities_, rtol=1e-12)
    assert len(weighted.labels_) == 80


def test_clusters_do_not_split_below_a_distance() -> None:
    """By hand: the root (0) splits at 2 into 1 and 2, 1 at 1 into 3 and 4, and 3 at 0.5 into 5 and 6."""
    parent, child = np.array([10, 10, 11, 11, 13, 13]), np.array([11, 12, 13, 14, 15, 16])
    leaving = np.arange(10)
    last = np.array([15, 15, 15, 16, 16, 14, 14, 12, 12, 12])
    tree = Condensed(
        10, np.append(parent, last), np.append(child, leaving), np.append([0.5, 0.5, 1, 1, 2, 2], np.full(10, 4.0)), np.ones(16)
    )
    leaves = [2, 4, 5, 6]
    assert no_smaller(tree, leaves, 0.4, False) == leaves
    assert no_smaller(tree, leaves, 0.7, False) == [2, 3, 4]
    assert no_smaller(tree, leaves, 1.5, False) == [1, 2]
    assert no_smaller(tree, leaves, 5.0, False) == [1, 2] and no_smaller(tree, leaves, 5.0, True) == [0]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_give_the_same_bits(threads: int) -> None:
    X = table(3000, 2)
    expected = tenfold.HDBSCAN(10).fit(X)
    with tenfold.threads(threads):
        found = tenfold.HDBSCAN(10).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found._merges, expected._merges)


def test_tables_that_are_no_clusters() -> None:
    equal = np.ones((100, 2))
    assert (tenfold.HDBSCAN().fit(equal).labels_ == -1).all()
    one = tenfold.HDBSCAN(allow_single_cluster=True).fit(equal)
    assert not one.labels_.any() and (one.probabilities_ == 1).all() and one.predict(equal[:3]).tolist() == [0, 0, 0]
    halves = tenfold.HDBSCAN().fit(np.repeat([[0.0], [1.0]], 50, axis=0))  # two heaps of equal rows
    assert set(halves.labels_) == {0, 1}
    assert tenfold.HDBSCAN(2).fit([[0.0], [1.0]]).labels_.tolist() == [-1, -1]
    assert (tenfold.HDBSCAN(50, min_samples=3).fit(table(40, 2)).labels_ == -1).all()
    zeros = np.vstack([np.zeros((9, 2)), table(91, 2)])
    ours, theirs = both(zeros, metric="cosine", min_cluster_size=5, min_samples=2)
    np.testing.assert_allclose(ours._merges[:, 2], np.sort(theirs._single_linkage_tree_["value"]), rtol=0, atol=1e-7)
    with pytest.raises(tenfold.BadInput, match="min_samples \\(60\\) must be at most"):
        tenfold.HDBSCAN(min_samples=60).fit(table(40, 2))
    with pytest.raises(tenfold.TenfoldError, match="NaN"):
        tenfold.HDBSCAN().fit([[0.0], [np.nan], [1.0]])
    with pytest.raises(tenfold.BadInput, match="too large"):
        tenfold.HDBSCAN(alpha=1e-300).fit(table(40, 2))
