"""The index of neighbours: every metric against SciPy's distances of all pairs, ties, odd tables, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import tenfold
from tenfold.near.measures import NAMES

RNG = np.random.default_rng(0)
SHAPES = {"narrow": (300, 3), "one column": (120, 1), "wide": (150, 500), "few rows": (7, 4)}


def rows_for(metric: str, n: int, p: int) -> Any:
    if metric in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"):
        return (RNG.random((n, p)) < 0.4).astype(float)
    if metric == "hamming":
        return RNG.integers(0, 3, (n, p)).astype(float)
    if metric == "jensenshannon":
        found = RNG.random((n, p)) + 0.01
        return found / found.sum(axis=1, keepdims=True)
    return RNG.normal(size=(n, p))


def by_scipy(metric: str, Q: Any, X: Any) -> Any:
    names = {"manhattan": "cityblock"}
    more: dict[str, Any] = {"p": 3.0} if metric == "minkowski" else {}
    if metric == "seuclidean":
        more = {"V": X.var(axis=0, ddof=1)}
    if metric == "mahalanobis":
        more = {"VI": np.linalg.pinv(np.atleast_2d(np.cov(X, rowvar=False)), hermitian=True)}
    if metric == "haversine":
        h = np.sin((Q[:, None, 0] - X[None, :, 0]) / 2) ** 2
        h = h + np.cos(Q[:, None, 0]) * np.cos(X[None, :, 0]) * np.sin((Q[:, None, 1] - X[None, :, 1]) / 2) ** 2
        return 2 * np.arcsin(np.sqrt(h))
    truth = metric in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(cdist(Q != 0 if truth else Q, X != 0 if truth else X, names.get(metric, metric), **more))


# One column has no direction, and is one share of one.
IN_SHAPES = [(m, shape) for m in NAMES for shape in SHAPES if not (m in ("correlation", "jensenshannon") and shape == "one column")]


@pytest.mark.parametrize("metric, shape", IN_SHAPES)
def test_every_metric_finds_the_nearest_of_all_pairs(metric: str, shape: str) -> None:
    n, p = SHAPES[shape]
    if metric == "haversine":
        p = 2
    X, Q = rows_for(metric, n, p), rows_for(metric, 25, p)
    away, k = by_scipy(metric, Q, X), min(6, n)
    scale = max(1.0, float(np.abs(away).max()))
    methods = ["auto", "all rows", *(["tree"] if tenfold.NeighborIndex(X, metric, p=3).measure.boxed else [])]
    for method in methods:
        index = tenfold.NeighborIndex(X, metric, p=3, method=method)
        distances, rows = index.nearest(Q, k)
        np.testing.assert_allclose(distances, np.sort(away, axis=1)[:, :k], rtol=1e-7, atol=1e-9 * scale)
        np.testing.assert_allclose(distances, np.take_along_axis(away, rows, axis=1), rtol=1e-7, atol=1e-9 * scale)
        radius = float(np.median(away))
        start, near, apart = index.within(Q, radius)
        for q in range(len(Q)):
            mine = set(near[start[q] : start[q + 1]].tolist())
            surely = set(np.flatnonzero(away[q] < radius - 1e-9 * scale).tolist())
            perhaps = set(np.flatnonzero(away[q] <= radius + 1e-9 * scale).tolist())
            assert surely <= mine <= perhaps
        expected = away[np.repeat(np.arange(len(Q)), np.diff(start)), near]
        np.testing.assert_allclose(apart, expected, rtol=1e-7, atol=1e-9 * scale)


def test_without_queries_no_row_is_its_own_neighbour() -> None:
    X = np.repeat(RNG.normal(size=(20, 2)), 3, axis=0)
    for metric in ("euclidean", "cosine", "canberra"):
        distances, rows = tenfold.NeighborIndex(X, metric).nearest(k=2)
        assert not (rows == np.arange(60)[:, None]).any()
        np.testing.assert_allclose(distances, 0, rtol=0, atol=1e-7)
        np.testing.assert_array_equal(rows // 3, np.arange(60)[:, None] // 3 * np.ones((1, 2), int))


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev", "minkowski", "cosine", "haversine"])
def test_rows_within_a_radius_of_their_own_are_counted(metric: str) -> None:
    X = rows_for(metric, 700, 2)
    index = tenfold.NeighborIndex(X, metric, method="tree")
    radii = index.nearest(None, 9)[0][:, -1]
    radii[::3] *= 0.5
    for radius in np.unique(radii)[::50]:
        assert np.array_equal(index.count_within(None, radius), np.diff(index.within(None, float(radius))[0]))
    some = [len(index.within(X[[q]], float(radii[q]))[1]) for q in range(40)]
    assert index.count_within(X[:40], radii[:40]).tolist() == some


def test_a_row_of_zeros_has_no_direction() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [-1e-200, 0.0]])
    distances, rows = tenfold.NeighborIndex(X, "cosine").nearest([[0.0, 0.0], [3.0, 0.0]], 4)
    np.testing.assert_allclose(distances[0], 1.0, rtol=1e-12)
    np.testing.assert_array_equal(rows[1], [1, 0, 2, 3])
    np.testing.assert_allclose(distances[1], [0, 1, 1, 2], rtol=0, atol=1e-12)


def test_weights_of_columns_and_other_names() -> None:
    X, Q, w = RNG.normal(size=(90, 4)), RNG.normal(size=(10, 4)), np.array([1.0, 0.0, 2.5, 4.0])
    for metric, p, name in (("l1", 1, "cityblock"), ("l2", 2, "euclidean"), ("minkowski", 3, "minkowski")):
        away = cdist(Q, X, name, w=w, **({"p": 3} if name == "minkowski" else {}))
        found = tenfold.NeighborIndex(X, metric, p=p, metric_params={"w": w}).nearest(Q, 5)[0]
        np.testing.assert_allclose(found, np.sort(away, axis=1)[:, :5], rtol=1e-9)


def test_any_function_is_a_metric() -> None:
    X = np.arange(12.0).reshape(6, 2)
    index = tenfold.NeighborIndex(X, lambda a, b: abs(a[0] - b[0]))
    assert index.method_ == "all rows"
    distances, rows = index.nearest([[3.0, 0.0]], 3)
    assert rows.tolist() == [[1, 2, 0]] and distances.tolist() == [[1.0, 1.0, 3.0]]  # ties in the order of rows


def test_the_choice_of_a_search_follows_the_shape() -> None:
    assert tenfold.NeighborIndex(RNG.normal(size=(500, 3))).method_ == "tree"
    assert tenfold.NeighborIndex(RNG.normal(size=(500, 30))).method_ == "all rows"
    assert tenfold.NeighborIndex(RNG.normal(size=(20, 3))).method_ == "all rows"
    assert tenfold.NeighborIndex(RNG.normal(size=(500, 3)), "cosine").method_ == "tree"


def test_threads_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Q = RNG.normal(size=(2000, 5)), RNG.normal(size=(1700, 5))
    with tenfold.threads(1):
        alone = tenfold.NeighborIndex(X).nearest(Q, 4)
    for method in ("tree", "all rows"):
        found = tenfold.NeighborIndex(X, method=method).nearest(Q, 4)
        for one, other in zip(alone, found, strict=True):
            np.testing.assert_array_equal(one, other)


def test_frames_lists_and_single_precision() -> None:
    import polars as pl

    X = RNG.normal(size=(80, 3)).astype(np.float32)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    expected = tenfold.NeighborIndex(X.astype(float)).nearest(X.astype(float)[:5], 2)
    for rows in (X, frame, X.tolist()):
        for one, other in zip(tenfold.NeighborIndex(rows).nearest(X[:5], 2), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: tenfold.NeighborIndex(X, "nearly"), "no such metric"),
        (lambda X: tenfold.NeighborIndex(X, method="ball_tree"), "choose one of"),
        (lambda X: tenfold.NeighborIndex(X, "hamming", method="tree"), "no tree"),
        (lambda X: tenfold.NeighborIndex(X, "minkowski", p=0), "above 0"),
        (lambda X: tenfold.NeighborIndex(X, metric_params={"V": 1}), "takes no 'V'"),
        (lambda X: tenfold.NeighborIndex(X, metric_params={"w": [1.0]}), "weight"),
        (lambda X: tenfold.NeighborIndex(X, "mahalanobis", metric_params={"VI": -np.eye(3)}), "negative eigenvalues"),
        (lambda X: tenfold.NeighborIndex(X, "mahalanobis", metric_params={"VI": np.eye(2)}), "symmetric matrix of 3"),
        (lambda X: tenfold.NeighborIndex(X, "haversine"), "latitude"),
        (lambda X: tenfold.NeighborIndex(np.where(X > 1, np.nan, X)), "NaN"),
        (lambda X: tenfold.NeighborIndex(X).nearest(X[:, :2], 1), "2 columns"),
        (lambda X: tenfold.NeighborIndex(X).nearest(X, 31), "from 1 to 30"),
        (lambda X: tenfold.NeighborIndex(X).nearest(None, 30), "from 1 to 29"),
        (lambda X: tenfold.NeighborIndex(X).nearest(X, True), "whole number"),
        (lambda X: tenfold.NeighborIndex(X).within(X, -1), "at least 0"),
        (lambda X: tenfold.NeighborIndex(X).count_within(X), "use method='tree'"),
        (lambda X: tenfold.NeighborIndex(X, method="tree").count_within(X, -1), "at least 0"),
        (lambda X: tenfold.NeighborIndex(X, method="tree").count_within(X, [1.0, 2.0]), "one for each of 30"),
        (lambda X: tenfold.NeighborIndex(X, lambda a, b: np.nan).nearest(X, 1), "NaN"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words) as caught:
        call(RNG.normal(size=(30, 3)))
    assert "\n" not in str(caught.value)
