"""DBSCAN: scikit-learn's labels, whatever the route; new rows; and tables that are no clusters."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.cluster
from conftest import plain_id
from sklearn.neighbors import radius_neighbors_graph

import tenfold
from tenfold.draw import draw_neighbor_distances
from tenfold.evaluate import adjusted_rand_score


def table(n: int, p: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, p)) + rng.integers(0, 4, size=(n, 1)) * 3.0, 2)


def same(X: Any, w: Any = None, **options: Any) -> Any:
    ours, theirs = (kind(**options).fit(X, sample_weight=w) for kind in (tenfold.DBSCAN, sklearn.cluster.DBSCAN))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    return ours


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p, eps", [(1, 0.01), (2, 0.25), (2, 3.0), (3, 0.6), (15, 3.8)])  # a tree, and all rows
def test_labels_are_scikit_learns(p: int, eps: float, weighted: bool) -> None:
    w = np.random.default_rng(1).uniform(0.2, 2, 700) if weighted else None
    for min_samples in (1, 4, 20, 800):
        same(table(700, p), w, eps=eps, min_samples=min_samples)


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "manhattan", "eps": 0.3},
        {"metric": "chebyshev", "eps": 0.2},
        {"metric": "minkowski", "p": 3, "eps": 0.2},
        {"metric": "cosine", "eps": 1e-4},
        {"metric": "canberra", "eps": 0.05},
        {"metric": lambda a, b: float(np.abs(a - b).max()), "eps": 0.2},
    ],
    ids=plain_id,
)
def test_metrics(options: dict[str, Any]) -> None:
    same(table(150, 2), min_samples=4, **options)


def test_distances_that_the_user_gives() -> None:
    X = table(300, 2)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    ours = same(D, metric="precomputed", eps=0.4, min_samples=5)
    by_rows = tenfold.DBSCAN(eps=0.4, min_samples=5).fit(X)
    np.testing.assert_array_equal(ours.labels_, by_rows.labels_)
    new = table(40, 2, seed=3)
    told = np.sqrt(((new[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_array_equal(ours.predict(told), by_rows.predict(new))
    near = radius_neighbors_graph(X, 0.6, mode="distance")
    sparse = same(near, metric="precomputed", eps=0.4, min_samples=5)
    np.testing.assert_array_equal(sparse.labels_, by_rows.labels_)
    np.testing.assert_array_equal(sparse.predict(scipy.sparse.csr_matrix(np.where(told < 0.6, told, 0))), by_rows.predict(new))
    one_way = scipy.sparse.csr_matrix(([0.1, 0.1], ([0, 2], [1, 1])), shape=(3, 3))  # within eps one way is enough
    np.testing.assert_array_equal(tenfold.DBSCAN(min_samples=1, metric="precomputed").fit(one_way).labels_, [0, 0, 0])
    with pytest.raises(tenfold.BadInput, match="below 0"):
        tenfold.DBSCAN(metric="precomputed").fit(-D)


def test_new_rows_go_to_the_nearest_core_row() -> None:
    X, new = table(400, 2), table(200, 2, seed=5)
    model = tenfold.DBSCAN(eps=0.3, min_samples=4).fit(X)
    away = np.sqrt(((new[:, None] - model.components_[None]) ** 2).sum(axis=2))
    expected = np.where(away.min(axis=1) <= 0.3, model.labels_[model.core_sample_indices_][away.argmin(axis=1)], -1)
    np.testing.assert_array_equal(model.predict(new), expected)
    np.testing.assert_array_equal(model.predict(model.components_), model.core_labels_)


def test_rows_of_weight_zero_have_labels_and_no_say() -> None:
    X = np.array([[0.0], [0.1], [0.2], [9.0]])
    model = tenfold.DBSCAN(eps=0.15, min_samples=2).fit(X, sample_weight=[1, 0, 1, 1])
    np.testing.assert_array_equal(model.labels_, [-1, -1, -1, -1])
    model = tenfold.DBSCAN(eps=0.15, min_samples=2).fit(X, sample_weight=[0, 1, 1, 1])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, -1])
    np.testing.assert_array_equal(model.core_sample_indices_, [1, 2])


def test_the_order_of_rows_changes_numbers_alone() -> None:
    X = table(500, 2)
    order = np.random.default_rng(2).permutation(len(X))
    one, other = (tenfold.DBSCAN(eps=0.2, min_samples=4).fit(rows) for rows in (X, X[order]))
    np.testing.assert_array_equal(np.sort(order[other.core_sample_indices_]), one.core_sample_indices_)
    core = one.core_sample_indices_
    back = np.empty(len(X), dtype=int)
    back[order] = other.labels_
    assert adjusted_rand_score(one.labels_[core], back[core]) == 1
    np.testing.assert_array_equal(back < 0, one.labels_ < 0)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_give_the_same_labels(threads: int) -> None:
    X = table(5000, 2)
    expected = sklearn.cluster.DBSCAN(eps=0.1, min_samples=6).fit(X)
    with tenfold.threads(threads):
        np.testing.assert_array_equal(tenfold.DBSCAN(eps=0.1, min_samples=6).fit(X).labels_, expected.labels_)


def test_tables_that_are_no_clusters() -> None:
    equal = np.ones((300, 2))
    np.testing.assert_array_equal(tenfold.DBSCAN(eps=1e-12).fit(equal).labels_, 0)
    model = tenfold.DBSCAN().fit([[1.0, 2.0]])
    assert model.labels_.tolist() == [-1] and model.components_.shape == (0, 2) and model.predict([[1.0, 2.0]]).tolist() == [-1]
    assert tenfold.DBSCAN(min_samples=1).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    np.testing.assert_array_equal(tenfold.DBSCAN(min_samples=10**9).fit(equal).labels_, -1)
    np.testing.assert_array_equal(tenfold.DBSCAN(eps=1e6).fit(table(300, 2)).labels_, 0)
    zeros = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    np.testing.assert_array_equal(tenfold.DBSCAN(eps=0.5, min_samples=2, metric="cosine").fit(zeros).labels_, [-1, 0, 0, -1])
    some = np.vstack([np.zeros((9, 2)), np.random.default_rng(0).normal(size=(91, 2))])  # rows without a direction are far from all
    same(some, eps=0.01, min_samples=3, metric="cosine")
    far = table(300, 2) * 1e90
    np.testing.assert_array_equal(tenfold.DBSCAN(eps=0.3e90).fit(far).labels_, tenfold.DBSCAN(eps=0.3).fit(table(300, 2)).labels_)
    for metric in ("nothing", int, 3):
        with pytest.raises(tenfold.TenfoldError, match="metric"):
            tenfold.DBSCAN(metric=metric).fit(equal)


def test_the_bend_of_distances_is_a_guess_at_eps() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 2)) * 0.1, rng.normal(size=(200, 2)) * 0.1 + 5, rng.uniform(-5, 10, (20, 2))])
    ax = draw_neighbor_distances(X, k=4)
    eps = float(ax.lines[1].get_ydata()[0])
    labels = tenfold.DBSCAN(eps=eps, min_samples=5).fit(X).labels_
    assert labels.max() == 1 and 0.05 < eps < 1
    picture = io.BytesIO()
    ax.figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")
    with pytest.raises(tenfold.BadParameter, match="k=500"):
        draw_neighbor_distances(X, k=500)
