"""KMeans: brute force, scikit-learn's Lloyd, a falling objective, empty clusters, order and repetition."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans as Peer
from sklearn.datasets import load_digits, load_iris

import tenfold
from tenfold import KMeans
from tenfold.solve.lloyd import plus_plus, random_rows
from tenfold.solve.sketch import Sample


def blobs(n: int, p: int, k: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 4 * rng.standard_normal((k, p))[rng.integers(0, k, n)]


def inertia(X: np.ndarray, centers: np.ndarray, w: np.ndarray | float = 1.0) -> float:
    return float((w * ((X[:, None] - centers) ** 2).sum(2).min(1)).sum())


def test_best_partition_of_few_rows() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, w = rng.standard_normal((8, 2)), rng.uniform(0.5, 2, 8)
        costs = []
        for labels in itertools.product([0], *[range(3)] * 7):  # the first row's cluster may be called the first
            groups = [np.array(labels) == k for k in range(3)]
            centers = [np.average(X[g], axis=0, weights=w[g]) for g in groups if g.any()]
            costs.append(inertia(X, np.array(centers), w))
        found = KMeans(3, n_init=20, random_state=0).fit(X, sample_weight=w)
        np.testing.assert_allclose(found.inertia_, min(costs), rtol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_steps_as_scikit_learn(weighted: bool, offset: float) -> None:
    X = blobs(2000, 8, 15) + offset  # no ties: both libraries break them by rounding
    w = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
    start = X[np.random.default_rng(0).choice(len(X), 10, replace=False)]
    for max_iter in (1, 3, 300):
        mine = KMeans(10, init=start, tol=0, max_iter=max_iter).fit(X, sample_weight=w)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn tells that it did not converge
            peer = Peer(10, init=start, n_init=1, tol=0, max_iter=max_iter).fit(X, sample_weight=w)
        np.testing.assert_array_equal(mine.labels_, peer.labels_)
        np.testing.assert_allclose(mine.cluster_centers_, peer.cluster_centers_, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(mine.inertia_, peer.inertia_, rtol=1e-8 if offset else 1e-11)
    assert mine.n_iter_ <= peer.n_iter_


def test_seeds_as_good_as_scikit_learns() -> None:
    X = load_digits(return_X_y=True)[0]
    mine = [KMeans(10, random_state=i).fit(X).inertia_ for i in range(10)]
    theirs = [Peer(10, random_state=i, n_init=1).fit(X).inertia_ for i in range(10)]
    assert np.mean(mine) <= 1.01 * np.mean(theirs)


def test_fitted_attributes_belong_together() -> None:
    X = blobs(5000, 3, 7)
    w = np.random.default_rng(1).uniform(0, 2, len(X)).round(1)
    model = KMeans(7, random_state=0).fit(X, sample_weight=w)
    assert model.labels_.shape == (5000,) and model.labels_.dtype == np.int32
    distances = model.transform(X)
    np.testing.assert_array_equal(model.labels_, distances.argmin(1))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_allclose(model.inertia_, w @ distances.min(1) ** 2, rtol=1e-10)
    np.testing.assert_allclose(model.score(X, sample_weight=w), -model.inertia_, rtol=1e-10)
    np.testing.assert_allclose(distances, np.sqrt(((X[:, None] - model.cluster_centers_) ** 2).sum(2)), rtol=1e-8)
    assert model.get_feature_names_out().tolist() == [f"kmeans{k}" for k in range(7)]
    assert KMeans(7, random_state=0).fit_transform(X).shape == (5000, 7)


def test_rows_left_out_have_no_inertia() -> None:
    X = blobs(900, 3, 4)
    model = KMeans(4, random_state=0)
    source = tenfold.base.check.check_fit(model, X)
    model._fit(source.select(np.arange(0, 900, 3)))
    np.testing.assert_allclose(model.inertia_, inertia(X[::3], model.cluster_centers_), rtol=1e-10)


def test_inertia_never_rises() -> None:
    X, start = blobs(3000, 4, 12), blobs(12, 4, 12, seed=5)
    records: list[float | None] = []
    with tenfold.monitor(lambda record: records.append(record.loss)):
        KMeans(12, init=start, tol=0).fit(X)
    passes = [loss for loss in records if loss is not None]
    assert len(passes) > 3 and all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(passes))


def test_empty_clusters_move_to_far_rows() -> None:
    X = np.vstack([blobs(200, 2, 1), blobs(200, 2, 1) + 50, blobs(10, 2, 1) - 80])
    start = np.vstack([X[0], [1e4, 1e4], [-1e4, 1e4]])  # two centres so far away that no row comes to them
    records: list[float | None] = []
    with tenfold.monitor(lambda record: records.append(record.loss)):
        model = KMeans(3, init=start, tol=0).fit(X)
    assert np.bincount(model.labels_).min() == 10
    passes = [loss for loss in records if loss is not None]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(passes))


def test_fewer_distinct_rows_than_clusters_are_told() -> None:
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], 4, axis=0)
    with pytest.warns(tenfold.Degenerate, match="only 3 clusters have rows"):
        model = KMeans(5, random_state=0).fit(X)
    assert model.inertia_ == 0 and len(set(model.labels_)) == 3 and np.isfinite(model.cluster_centers_).all()
    with pytest.raises(tenfold.BadInput, match=r"n_samples=12 should be >= n_clusters=13"):
        KMeans(13).fit(X)


@pytest.mark.parametrize("n", [400, 30_000])  # all rows in the sample, or not
def test_order_and_repetition_change_nothing(n: int) -> None:
    X = blobs(n, 3, 6)
    w = np.random.default_rng(3).integers(0, 3, n)
    order = np.random.default_rng(4).permutation(int(w.sum()))
    weighted = KMeans(6, random_state=0).fit(X, sample_weight=w)
    repeated = KMeans(6, random_state=0).fit(np.repeat(X, w, axis=0)[order])
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, w)[order], repeated.labels_)
    np.testing.assert_allclose(weighted.inertia_, repeated.inertia_, rtol=1e-10)
    with tenfold.threads(1):
        one = KMeans(6, random_state=0).fit(X, sample_weight=w)
    np.testing.assert_array_equal(one.cluster_centers_, weighted.cluster_centers_)
    assert one.inertia_ == weighted.inertia_


def test_blocks_float32_and_sparse_rows() -> None:
    X = blobs(600, 4, 5).round(2)
    model = KMeans(5, random_state=0).fit(X)
    streamed = KMeans(5, random_state=0).fit([X[i : i + 71] for i in range(0, 600, 71)])
    np.testing.assert_allclose(streamed.cluster_centers_, model.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(streamed.labels_, model.labels_)
    small = KMeans(5, random_state=0).fit(X.astype(np.float32))
    np.testing.assert_allclose(small.cluster_centers_, model.cluster_centers_, rtol=1e-5)
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    X[X < 1] = 0
    dense, sparse = KMeans(5, random_state=0).fit(X), KMeans(5, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.labels_)


def test_ways_to_begin() -> None:
    X = load_iris(return_X_y=True)[0]
    seen: list[tuple[int, ...]] = []

    def first_rows(rows: np.ndarray, k: int, random_state: np.random.RandomState) -> np.ndarray:
        seen.append(rows.shape)
        return rows[random_state.permutation(len(rows))[:k]]

    for init in ("random", first_rows):
        assert KMeans(3, init=init, random_state=0).fit(X).inertia_ == pytest.approx(78.85, abs=0.01)
    assert seen == [(149, 4)] * 10  # restarts on the distinct rows: one of the 150 occurs twice
    assert KMeans(3, random_state=5).fit(X).inertia_ == KMeans(3, random_state=5).fit(X).inertia_


@pytest.mark.parametrize(
    "parameters",
    [
        {"init": "best"},
        {"init": np.zeros((2, 4))},
        {"init": np.full((3, 4), np.nan)},
        {"n_init": 0},
        {"n_init": "many"},
        {"n_clusters": 0},
        {"algorithm": "full"},
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(tenfold.BadParameter, match="KMeans"):
        KMeans(**{"n_clusters": 3, **parameters}).fit(load_iris(return_X_y=True)[0])


@pytest.mark.parametrize("seed", [plus_plus, random_rows])
def test_seeds_are_different_rows(seed: object) -> None:
    X = np.repeat(np.random.default_rng(0).standard_normal((40, 2)), 3, axis=0)
    sample = Sample.of(X, np.ones(120), 1000, 0)
    assert len(sample.rows) == 40
    for i in range(20):
        seeds = seed(sample.rows, sample.weight, 40, np.random.default_rng(i))
        assert len(np.unique(seeds, axis=0)) == 40


def test_repair_splits_and_merges() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 2)) + place for place in ([0, 0], [40, 0], [46, 0], [90, 9])])
    start = np.array([[-1.0, 0.0], [1.0, 0.0], [43.0, 0.0], [90.0, 9.0]])  # two for one blob, one for two
    stuck, repaired = (KMeans(4, init=start, repair=repair).fit(X) for repair in (False, True))
    assert repaired.inertia_ < 0.5 * stuck.inertia_
    assert np.bincount(repaired.labels_).min() > 290
    X = blobs(5000, 4, 30)
    plain, better = ([KMeans(30, random_state=i, repair=repair).fit(X).inertia_ for i in range(5)] for repair in (False, True))
    assert all(b <= a * (1 + 1e-9) for a, b in zip(plain, better, strict=True)) and np.mean(better) < np.mean(plain)
    assert max(better) < 1.01 * min(better)
    again = KMeans(30, random_state=0, repair=True).fit(X)
    assert again.inertia_ == better[0]


def test_repair_of_few_clusters_equal_rows_and_zero_weights() -> None:
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], 4, axis=0)
    for k in (1, 2, 3):
        assert KMeans(k, random_state=0, repair=True).fit(X).inertia_ <= KMeans(k, random_state=0).fit(X).inertia_
    with pytest.warns(tenfold.Degenerate, match="only 3 clusters have rows"):
        KMeans(5, random_state=0, repair=True).fit(X)
    w = np.array([1.0, 0.0, 1.0] * 4)
    assert np.isfinite(KMeans(3, random_state=0, repair=True).fit(blobs(12, 2, 3), sample_weight=w).inertia_)
