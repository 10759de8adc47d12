"""Neighbours that vote: against all distances by SciPy, scikit-learn, and refits; all k at once; odd tables and what is refused."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sklearn.neighbors
from conftest import plain_id
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

import tenfold
from tenfold.compose.search import evaluation
from tenfold.core.errors import DataWarning

RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(150, 4)), RNG.normal(size=(60, 4))
LABELS = np.array(["a", "b", "c"])[np.abs(X[:, 0] * 2).astype(int) % 3]
Y = np.column_stack([X[:, 0] ** 2, X[:, 1] + X[:, 2]])
LEARNERS = [tenfold.KNeighborsClassifier, tenfold.KNeighborsRegressor]
AROUND = [tenfold.RadiusNeighborsClassifier, tenfold.RadiusNeighborsRegressor]
KERNELS = {
    "gaussian": lambda u: np.exp(-u * u / 2), "epanechnikov": lambda u: 1 - u * u, "triangular": lambda u: 1 - u,
    "tricube": lambda u: (1 - u**3) ** 3,
}  # fmt: skip


def target(cls: Any) -> Any:
    return LABELS if cls.role == "classifier" else Y


def outputs(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


NAMED = ("uniform", "distance", None)
# Within a radius the function gets an array of arrays, which exp does not take.
WEIGHTED = [*((cls, weights) for cls in LEARNERS + AROUND for weights in NAMED), *((cls, lambda d: np.exp(-d)) for cls in LEARNERS)]


@pytest.mark.parametrize("cls, weights", WEIGHTED, ids=plain_id)
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "chebyshev", "cosine", "canberra"])
def test_as_scikit_learn(cls: Any, metric: str, weights: Any) -> None:
    first = 7 if cls in LEARNERS else {"cosine": 0.9, "manhattan": 4.0}.get(metric, 3.5)
    theirs: Any = getattr(sklearn.neighbors, cls.__name__)(first, metric=metric, weights=weights).fit(X, target(cls))
    ours = cls(first, metric=metric, weights=weights).fit(X, target(cls))
    same(outputs(ours, Q), outputs(theirs, Q))
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q)) if cls.role == "classifier" else None


@pytest.mark.parametrize("cls", LEARNERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_as_wide_as_the_next_row_is_far(kernel: str, cls: Any) -> None:
    k, away = 6, cdist(Q, X)
    order = np.argsort(away, axis=1)
    d = np.take_along_axis(away, order, axis=1)
    share = KERNELS[kernel](d[:, :k] / d[:, k : k + 1])
    truth = (LABELS[:, None] == np.unique(LABELS)) if cls.role == "classifier" else Y
    expected = np.einsum("qk,qkc->qc", share, truth[order[:, :k]].astype(float)) / share.sum(axis=1, keepdims=True)
    same(outputs(cls(k, weights=kernel).fit(X, target(cls)), Q), expected)


@pytest.mark.parametrize("cls", AROUND)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_within_a_radius(kernel: str, cls: Any) -> None:
    away = cdist(Q, X)
    share = np.where(away <= 4.0, KERNELS[kernel](np.minimum(away / 4.0, 1)), 0.0)
    truth = (LABELS[:, None] == np.unique(LABELS)) if cls.role == "classifier" else Y
    expected = share @ truth.astype(float) / share.sum(axis=1, keepdims=True)
    same(outputs(cls(4.0, weights=kernel).fit(X, target(cls)), Q), expected)


@pytest.mark.parametrize("cls", LEARNERS + AROUND)
@pytest.mark.parametrize("weights", ["uniform", "distance", "gaussian"])
def test_a_row_of_weight_two_is_two_rows(weights: str, cls: Any) -> None:
    w = RNG.integers(0, 4, len(X))
    more, y = np.repeat(np.arange(len(X)), w), target(cls)
    first = 7 if cls in LEARNERS else 4.0
    weighted, copied = cls(first, weights=weights).fit(X, y, w), cls(first, weights=weights).fit(X[more], y[more])
    same(outputs(weighted, Q), outputs(copied, Q))


def test_weights_that_are_shares() -> None:
    """Rows of weight 1/2 and twice the neighbours are rows of weight 1."""
    for weights in ("uniform", "distance"):
        half = tenfold.KNeighborsRegressor(4, weights=weights).fit(X, Y, np.full(len(X), 0.5))
        same(half.predict(Q), tenfold.KNeighborsRegressor(8, weights=weights).fit(X, Y).predict(Q))


@pytest.mark.parametrize("cls", LEARNERS)
@pytest.mark.parametrize("weights", ["uniform", "distance", "epanechnikov", lambda d: 1 / (1 + d)], ids=plain_id)
@pytest.mark.parametrize("weighted", [False, True])
def test_all_k_from_one_table_are_those_of_refits(cls: Any, weights: Any, weighted: bool) -> None:
    """By k-fold and by leave-one-out, equal rows with different targets included."""
    rows, y = np.vstack([X[:40], X[:10]]).round(0), target(cls)[:50]
    w = RNG.integers(1, 3, 50) if weighted else None
    values = [9, 1, 2, 20]
    for folds in (4, tenfold.evaluate.LeaveOneOut()):
        path = tenfold.validation_path(cls(weights=weights), rows, y, "n_neighbors", values, folds=folds, sample_weight=w)
        for k, scores in zip(values, path.scores, strict=True):
            alone = tenfold.cross_validate(cls(k, weights=weights), rows, y, folds=folds, sample_weight=w)
            same(np.mean(scores), alone.mean)
    model = cls(5, weights=weights)
    by_all_others = outputs(model.fit(rows, y, w), None)
    for j in range(0, 50, 7):
        others = np.delete(np.arange(50), j)
        same(by_all_others[[j]], outputs(model.fit(rows[others], y[others], None if w is None else w[others]), rows[[j]]))


@pytest.mark.parametrize("cls", LEARNERS)
def test_a_search_of_k_is_that_of_scikit_learn(cls: Any) -> None:
    from sklearn.model_selection import GridSearchCV

    grid = {"n_neighbors": [1, 30, 2, 7], "weights": ["uniform", "distance"]}
    theirs = GridSearchCV(getattr(sklearn.neighbors, cls.__name__)(), grid, cv=3).fit(X, target(cls))
    ours = tenfold.GridSearchCV(cls(), grid, cv=3).fit(X, target(cls))
    same(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_


def test_a_search_of_k_asks_once_for_each_split(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    search = tenfold.NeighborIndex.nearest
    monkeypatch.setattr(tenfold.NeighborIndex, "nearest", lambda self, X=None, k=5: (asked.append(k), search(self, X, k))[1])
    for size in (evaluation.LARGEST_OUTPUTS, 8 * 3 * 50 * 7):  # all models at once, and seven at a time
        monkeypatch.setattr(evaluation, "LARGEST_OUTPUTS", size)
        tenfold.GridSearchCV(tenfold.KNeighborsClassifier(), {"n_neighbors": range(1, 41)}, cv=3, refit=False).fit(X, LABELS)
        assert asked == [40] * 3
        asked.clear()
    tenfold.validation_path(tenfold.KNeighborsClassifier(), X, LABELS, "n_neighbors", range(1, 41), folds=tenfold.evaluate.LeaveOneOut())
    assert asked == [40]


def test_several_targets_of_labels() -> None:
    both = np.column_stack([LABELS, LABELS[::-1]])
    model = tenfold.KNeighborsClassifier(5).fit(X, both)
    assert model.outputs_2d_ and model.predict(Q).shape == (60, 2)
    for j in range(2):
        alone = tenfold.KNeighborsClassifier(5).fit(X, both[:, j])
        np.testing.assert_array_equal(model.predict(Q)[:, j], alone.predict(Q))
        np.testing.assert_array_equal(model.predict_proba(Q)[j], alone.predict_proba(Q))


def test_equal_distances_come_in_the_order_of_the_rows() -> None:
    rows, y = np.zeros((6, 2)), np.array([2, 1, 1, 0, 0, 0])
    assert tenfold.KNeighborsClassifier(3).fit(rows, y).predict([[0.0, 0.0]]).tolist() == [1]
    assert tenfold.KNeighborsClassifier(6).fit(rows, y).predict([[1.0, 0.0]]).tolist() == [0]
    for weights in ("distance", *KERNELS):  # all at one distance: all the same
        model = tenfold.KNeighborsRegressor(3, weights=weights).fit(rows, y)
        same(model.predict([[0.0, 0.0], [1.0, 1.0]]), [4 / 3, 4 / 3])
    # votes that are equal go to the first class
    assert tenfold.KNeighborsClassifier(2).fit([[0.0], [2.0]], ["b", "a"]).predict([[1.0]]).tolist() == ["a"]


@pytest.mark.parametrize("graph", [False, True], ids=["dense", "sparse"])
def test_distances_that_are_given(graph: bool) -> None:
    inner, outer = cdist(X, X), cdist(Q, X)
    search = tenfold.NearestNeighbors(n_neighbors=5).fit(X)
    if graph:
        inner, outer = search.kneighbors_graph(X, 8, "distance"), search.kneighbors_graph(Q, 8, "distance")
    for cls in LEARNERS:
        same(outputs(cls(metric="precomputed").fit(inner, target(cls)), outer), outputs(cls().fit(X, target(cls)), Q))
    given = tenfold.NearestNeighbors(n_neighbors=5, metric="precomputed").fit(inner)
    np.testing.assert_array_equal(given.kneighbors(None)[1], search.kneighbors(None)[1])
    if graph:
        with pytest.raises(tenfold.BadInput, match="9 neighbors per samples are required, but some samples have only 8"):
            given.kneighbors(outer, 9)
    else:
        scores = tenfold.cross_val_score(tenfold.KNeighborsRegressor(metric="precomputed"), inner, Y)
        same(scores, tenfold.cross_val_score(tenfold.KNeighborsRegressor(), X, Y))
        inner[3, 7] = -1.0
        with pytest.raises(tenfold.BadInput, match=r"Negative values.*row 3 to row 7 is -1"):
            given.fit(inner)
        with pytest.raises(tenfold.BadInput, match="square"):
            given.fit(outer)


def test_searches_within_a_radius() -> None:
    model, away = tenfold.NearestNeighbors(radius=1.5).fit(X), cdist(Q, X)
    distances, rows = model.radius_neighbors(Q, sort_results=True)
    for q in range(len(Q)):
        expected = np.flatnonzero(away[q] <= 1.5)
        assert sorted(rows[q]) == expected.tolist()
        same(distances[q], np.sort(away[q][expected]))
    same(model.radius_neighbors_graph(Q, mode="distance").toarray(), np.where(away <= 1.5, away, 0))
    graph = model.kneighbors_graph(Q, 4)
    assert graph.shape == (60, 150) and (graph.sum(axis=1) == 4).all()


def test_rows_without_neighbours() -> None:
    far = np.vstack([Q[:3], Q[:2] + 1e6])
    with pytest.warns(DataWarning, match="no neighbors within.*row 3"):
        assert np.isnan(tenfold.RadiusNeighborsRegressor(3.0).fit(X, Y).predict(far)[3:]).all()
    with pytest.raises(tenfold.BadInput, match=r"No neighbors found for test samples array\(\[3, 4\]\)"):
        tenfold.RadiusNeighborsClassifier(3.0).fit(X, LABELS).predict(far)
    named = tenfold.RadiusNeighborsClassifier(3.0, outlier_label="far away").fit(X, LABELS)
    assert named.predict(far)[3:].tolist() == ["far away"] * 2
    with pytest.warns(DataWarning, match="far away is not in training classes"):
        assert not named.predict_proba(far)[3:].any()
    common = tenfold.RadiusNeighborsClassifier(3.0, outlier_label="most_frequent").fit(X, LABELS)
    most = max(set(LABELS.tolist()), key=LABELS.tolist().count)
    assert common.predict(far)[3:].tolist() == [most] * 2 and common.outlier_label_ == [most]
    for label in (7, ["a", "b"]):
        with pytest.raises(tenfold.BadParameter, match="outlier_label"):
            tenfold.RadiusNeighborsClassifier(outlier_label=label).fit(X, LABELS)


@pytest.mark.parametrize("cls", LEARNERS)
def test_too_many_neighbours(cls: Any) -> None:
    model = cls(151).fit(X, target(cls))
    with pytest.raises(tenfold.BadInput, match="n_neighbors = 151, n_samples_fit = 150, n_samples = 60: ask for at most 150"):
        model.predict(Q)
    with pytest.raises(tenfold.BadInput, match="at most 149"):
        cls(150).fit(X, target(cls)).predict(None)
    assert len(cls(150, weights="epanechnikov").fit(X, target(cls)).predict(Q)) == 60  # there is no next row: as wide as the last is far
    with pytest.raises(tenfold.BadInput, match="the weight of the rows"):
        cls(8).fit(X[:9], target(cls)[:9], np.full(9, 0.5)).predict(Q)


def test_functions_of_the_user() -> None:
    """One that is not symmetric is asked from the new row to the kept one; NaN is refused, and so are weights below zero."""

    def one_way(a: Any, b: Any) -> float:
        return float(np.maximum(b - a, 0).sum())

    rows = tenfold.NearestNeighbors(n_neighbors=1, metric=one_way).fit([[0.0], [5.0]]).kneighbors([[9.0], [3.0]], return_distance=False)
    assert rows.ravel().tolist() == [0, 0]
    with pytest.raises(tenfold.BadInput, match="NaN"):
        tenfold.KNeighborsRegressor(1, metric=lambda a, b: np.nan).fit(X, Y).predict(Q)
    with pytest.raises(tenfold.BadInput, match="must give numbers >= 0"):
        tenfold.KNeighborsRegressor(2, weights=lambda d: -d).fit(X, Y).predict(Q)
    with pytest.raises(tenfold.BadInput, match="zero weights"):
        tenfold.KNeighborsClassifier(2, weights=lambda d: 0 * d).fit(X, LABELS).predict(Q)


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "ball_tree", "brute"])
def test_every_algorithm_finds_the_same(algorithm: str) -> None:
    expected = tenfold.NearestNeighbors(algorithm="brute").fit(X).kneighbors(Q)
    for found, right in zip(tenfold.NearestNeighbors(algorithm=algorithm).fit(X).kneighbors(Q), expected, strict=True):
        np.testing.assert_array_equal(found, right)
    if algorithm == "kd_tree":
        for metric in ("canberra", lambda a, b: 0.0):
            with pytest.raises(tenfold.BadParameter, match="kd_tree"):
                tenfold.NearestNeighbors(algorithm="kd_tree", metric=metric).fit(X)


def test_the_search_is_made_once_and_left_out_of_copies(tmp_path: Any) -> None:
    model = tenfold.KNeighborsClassifier().fit(X, LABELS)
    expected = model.predict_proba(Q)
    tenfold.save(model, tmp_path / "m")
    for again in (pickle.loads(pickle.dumps(model)), tenfold.load(tmp_path / "m")):
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda model: (model.predict_proba(Q), model._searched()), [again] * 4))
        assert all((shares == expected).all() for shares, _ in found)
        assert len({id(search) for _, search in found}) == 1
    given = X.copy()
    model = tenfold.KNeighborsClassifier().fit(given, LABELS)
    given[:] = 0.0  # the user's array is the user's
    np.testing.assert_array_equal(model.predict_proba(Q), expected)
    assert (model.fit(X[:20], LABELS[:20]).kneighbors(Q)[1] < 20).all()


def test_tables_of_all_kinds() -> None:
    wide = RNG.normal(size=(30, 500))
    y = np.arange(30.0)
    expected = tenfold.KNeighborsRegressor(3).fit(wide, y).predict(wide[:5])
    same(tenfold.KNeighborsRegressor(3).fit(csr_matrix(wide), y).predict(csr_matrix(wide[:5])), expected)
    single = tenfold.KNeighborsRegressor(3).fit(np.float32(wide), y).predict(np.float32(wide[:5]))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-5)
    assert tenfold.KNeighborsClassifier(1).fit([[0.0]], ["only"]).predict([[3.0]]).tolist() == ["only"]
    zero = np.vstack([np.zeros((1, 3)), np.eye(3)])
    distances = tenfold.NearestNeighbors(n_neighbors=4, metric="cosine").fit(zero).kneighbors([[0.0, 0.0, 0.0]])[0]
    same(distances, [[1.0] * 4])  # a row without direction is one unit away from all


def test_labels_of_another_number_than_the_rows_of_the_fit() -> None:
    with pytest.raises(tenfold.BadInput, match=f"X has {len(X)} rows, but y has 2"):
        tenfold.KNeighborsClassifier().fit(X, LABELS).score(None, [0, 1])
