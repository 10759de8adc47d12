"""KMedoids: brute force, no swap that helps, every metric, given distances, samples, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import tenfold
from tenfold import KMedoids
from tenfold.near import measures

IRIS = load_iris(return_X_y=True)[0]


def loss(D: Any, medoids: Any, w: Any = 1.0) -> float:
    return float((w * D[:, list(medoids)].min(axis=1)).sum())


def test_best_medoids_of_few_rows() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, w = rng.normal(size=(12, 2)), rng.uniform(0.5, 2, 12)
        D = cdist(X, X)
        least = min(loss(D, some, w) for some in itertools.combinations(range(12), 3))
        model = KMedoids(3, n_init=20, random_state=0).fit(X, sample_weight=w)
        assert model.inertia_ == pytest.approx(least, rel=1e-6)
        assert model.inertia_ == pytest.approx(loss(D, model.medoid_indices_, w), rel=1e-12)


@pytest.mark.parametrize("init", ["k-medoids++", "random", "build"])
def test_no_swap_helps(init: str) -> None:
    D = cdist(IRIS, IRIS)
    model = KMedoids(4, init=init, random_state=1).fit(IRIS)
    medoids = model.medoid_indices_
    np.testing.assert_array_equal(IRIS[medoids], model.cluster_centers_)
    for place, row in itertools.product(range(4), range(150)):
        swapped = medoids.copy()
        swapped[place] = row
        assert loss(D, swapped) >= model.inertia_ * (1 - 1e-6)
    np.testing.assert_array_equal(model.labels_, D[:, medoids].argmin(axis=1))
    np.testing.assert_array_equal(model.labels_, model.predict(IRIS))
    np.testing.assert_allclose(model.transform(IRIS), D[:, medoids], rtol=1e-12, atol=1e-12)


# By russellrao a row is not at zero from itself.
@pytest.mark.parametrize("metric", sorted({*measures.NAMES} - {"haversine", "russellrao"}))
def test_every_metric(metric: str) -> None:
    X = IRIS[::3] > IRIS.mean(axis=0) if metric in measures.OF_TRUTH else IRIS[::3]
    X = np.unique(np.asarray(X, dtype=float), axis=0)
    params: dict[str, Any] = {"p": 3} if metric == "minkowski" else {}
    known: dict[str, Any] = {"mahalanobis": {"VI": np.linalg.inv(np.cov(X.T))}, "seuclidean": {"V": X.var(axis=0, ddof=1)}}
    rows = X != 0 if metric in measures.OF_TRUTH else X
    D = np.nan_to_num(cdist(rows, rows, {"manhattan": "cityblock"}.get(metric, metric), **params, **known.get(metric, {})))
    np.fill_diagonal(D, 0)
    model = KMedoids(3, metric=metric, metric_params=params or None, n_init=5, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(loss(D, model.medoid_indices_), rel=1e-6, abs=1e-9)
    same = KMedoids(3, metric="precomputed", n_init=30, random_state=0).fit(D)
    assert model.inertia_ == pytest.approx(same.inertia_, rel=1e-2, abs=1e-9)
    np.testing.assert_array_equal(same.labels_, same.predict(D))


def test_a_function_is_the_metric_of_its_name() -> None:
    def city(a: Any, b: Any) -> float:
        return float(np.abs(a - b).sum())

    mine, named = (KMedoids(3, metric=metric, random_state=0).fit(IRIS[::2]) for metric in (city, "manhattan"))
    np.testing.assert_array_equal(mine.medoid_indices_, named.medoid_indices_)
    assert mine.inertia_ == pytest.approx(named.inertia_)


def test_places_on_a_sphere() -> None:
    X = np.radians(np.array([[48.1, 11.6], [48.4, 10.9], [40.7, -74.0], [42.4, -71.1], [39.0, -77.0]]))
    model = KMedoids(2, metric="haversine", random_state=0).fit(X)
    assert sorted(np.bincount(model.labels_)) == [2, 3] and len(set(model.labels_[:2])) == 1


def test_a_sample_comes_near_and_order_and_repetition_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3)) + 5 * rng.normal(size=(6, 3))[rng.integers(0, 6, 1500)]
    whole, sampled = (KMedoids(6, max_rows=rows, random_state=0).fit(X) for rows in (None, 300))
    assert sampled.inertia_ < 1.05 * whole.inertia_
    assert sampled.inertia_ == pytest.approx(loss(cdist(X, X), sampled.medoid_indices_))
    w = rng.integers(0, 3, len(X))
    order = rng.permutation(int(w.sum()))
    for rows in (None, 300):
        weighted = KMedoids(6, max_rows=rows, random_state=0).fit(X, sample_weight=w)
        repeated = KMedoids(6, max_rows=rows, random_state=0).fit(np.repeat(X, w, axis=0)[order])
        np.testing.assert_array_equal(weighted.cluster_centers_, repeated.cluster_centers_)
        assert weighted.inertia_ == pytest.approx(repeated.inertia_)


def test_blocks_and_sparse_rows() -> None:
    X = np.where(IRIS > 1.5, IRIS, 0.0)
    model = KMedoids(3, random_state=0).fit(X)
    for same in (sp.csr_array(X), [X[i : i + 41] for i in range(0, 150, 41)]):
        other = KMedoids(3, random_state=0).fit(same)
        np.testing.assert_array_equal(other.cluster_centers_, model.cluster_centers_)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        assert other.inertia_ == pytest.approx(model.inertia_)
    with pytest.raises(tenfold.NotFitted, match="cluster_centers_ are the medoids"):
        other.medoid_indices_  # noqa: B018


def test_weights_of_zero_and_given_distances() -> None:
    D, w = cdist(IRIS, IRIS), np.ones(150)
    w[::2] = 0
    model = KMedoids(3, metric="precomputed", random_state=0).fit(D, sample_weight=w)
    assert (model.medoid_indices_ % 2 == 1).all() and model.labels_.shape == (150,)
    assert model.inertia_ == pytest.approx(loss(D, model.medoid_indices_, w))
    assert KMedoids(3, metric="precomputed").__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e60])
def test_far_and_near_rows(scale: float) -> None:
    plain, scaled = (KMedoids(3, random_state=0, metric="manhattan").fit(X) for X in (IRIS, IRIS * scale))
    assert scaled.inertia_ == pytest.approx(plain.inertia_ * scale, rel=0.05)


def test_equal_rows_and_fewer_than_clusters() -> None:
    with pytest.warns(tenfold.Degenerate, match="only 1 distinct rows"):
        model = KMedoids(3).fit(np.ones((7, 2)))
    assert model.inertia_ == 0 and set(model.labels_) == {0} and model.medoid_indices_.tolist() == [0, 0, 0]
    two = np.repeat([[0.0], [1.0]], 5, axis=0)
    assert KMedoids(2, random_state=0).fit(two).inertia_ == 0


def test_memory_is_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenfold.core.memory.memory", lambda: (1e9, 1e9))
    X = np.arange(20_000.0)[:, None]
    with pytest.raises(tenfold.TooLarge, match=r"distances of 20,000 rows will take about 1.5 GiB.*max_rows=10000"):
        KMedoids(2).fit(X)
    assert KMedoids(2, max_rows=200, random_state=0).fit(X).labels_.shape == (20_000,)


@pytest.mark.parametrize(
    ("parameters", "X", "words"),
    [
        ({"metric": "nope"}, IRIS, "there is no such metric"),
        ({"metric": "precomputed"}, IRIS, r"square table of distances, not \(150, 4\)"),
        ({"metric": "precomputed"}, np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 4.0, 0.0]]), "row 1 is 3 from row 2, but row 2 is 4"),
        ({"metric": "precomputed"}, -np.ones((3, 3)), "no distance is below 0"),
        ({"metric": "precomputed"}, np.ones((3, 3)), "fill_diagonal"),
        ({"metric": lambda a, b: a[0] - b[0]}, IRIS, "no distance is below 0"),
        ({"metric": lambda a, b: max(a[0] - b[0], 0.0)}, IRIS, "the same both ways"),
        ({"metric": lambda a, b: np.nan}, IRIS, "is NaN"),
        ({"n_clusters": 151}, IRIS, "n_samples=150 should be >= n_clusters=151"),
        ({"init": "heuristic"}, IRIS, "init"),
    ],
)
def test_bad_input_is_told_in_a_sentence(parameters: dict[str, Any], X: Any, words: str) -> None:
    with pytest.raises((tenfold.BadInput, tenfold.BadParameter), match=words) as caught:
        KMedoids(**{"n_clusters": 2, "random_state": 0, **parameters}).fit(X)
    assert "\n" not in str(caught.value)


def test_rounds_that_are_too_few_are_told() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(tenfold.NotConverged, match="raise max_iter"):
        KMedoids(10, init="random", max_iter=1, random_state=0).fit(rng.normal(size=(200, 2)))
