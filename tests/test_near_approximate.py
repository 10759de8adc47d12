"""Searches that find most of the nearest rows: their recall on rows that they have not seen, and what they fall back on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import tenfold

RNG = np.random.default_rng(0)
ALL = RNG.normal(size=(4300, 12)) + 2.0 * RNG.normal(size=(8, 12))[RNG.integers(0, 8, 4300)]
X, Q = ALL[:4000], ALL[4000:]
METHODS = ("graph", "codes")
ERROR = 3 * np.sqrt(0.95 * 0.05 / len(Q))  # of a share, if the neighbours of a query are found or missed together


def recall(away: Any, rows: Any) -> float:
    last = np.sort(away, axis=1)[:, rows.shape[1] - 1 : rows.shape[1]]
    return float(np.mean(np.take_along_axis(away, rows, axis=1) <= last * (1 + 1e-9) + 1e-12))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "mahalanobis"])
def test_the_recall_is_what_was_measured(method: str, metric: str) -> None:
    VI = np.linalg.inv(np.cov(X, rowvar=False))
    away = cdist(Q, X, metric, **({"VI": VI} if metric == "mahalanobis" else {}))
    index = tenfold.NeighborIndex(X, metric, method=method, metric_params={"VI": VI} if metric == "mahalanobis" else None)
    assert index.method_ == method and 0.95 <= index.recall_ <= 1
    for k in (1, 10, 25):
        distances, rows = index.nearest(Q, k)
        assert recall(away, rows) > 0.95 - ERROR  # of other rows than those it was measured on
        np.testing.assert_allclose(distances, np.take_along_axis(away, rows, axis=1), rtol=1e-9, atol=1e-12)
        assert (np.diff(distances, axis=1) >= 0).all() and all(len(set(row)) == k for row in rows.tolist())


@pytest.mark.parametrize("method", METHODS)
def test_more_recall_is_more_work_and_is_reached(method: str) -> None:
    away = cdist(Q, X)
    some, most = (tenfold.NeighborIndex(X, method=method, recall=share) for share in (0.6, 0.995))
    assert most.recall_ >= 0.995 and most.recall_ > some.recall_ >= 0.6
    assert recall(away, most.nearest(Q, 10)[1]) > max(0.98, recall(away, some.nearest(Q, 10)[1]))


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_largest_inner_products(method: str) -> None:
    told, rows = tenfold.NeighborIndex(X, "inner_product", method=method).nearest(Q, 5)
    products = Q @ X.T
    assert recall(-products + 1e3, rows) > (0.95 - ERROR if method != "auto" else 1 - 1e-12)
    np.testing.assert_allclose(told, -np.take_along_axis(products, rows, axis=1), rtol=1e-12)


def test_the_graph_is_the_same_on_any_number_of_threads() -> None:
    found = []
    for threads in (1, 2, 3):
        with tenfold.threads(threads):
            found.append(tenfold.NeighborIndex(X, method="graph", random_state=3).nearest(Q, 8))
    for distances, rows in found[1:]:
        np.testing.assert_array_equal(rows, found[0][1])
        np.testing.assert_array_equal(distances, found[0][0])


@pytest.mark.parametrize("method", METHODS)
def test_no_row_is_its_own_neighbour(method: str) -> None:
    rows = tenfold.NeighborIndex(X, method=method).nearest(k=6)[1]
    assert not (rows == np.arange(len(X))[:, None]).any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["equal", "two places", "one column", "outlier", "far from zero", "huge", "tiny", "wide"])
def test_odd_tables_reach_the_target_too(method: str, kind: str) -> None:
    n = 2000
    rows = RNG.normal(size=(n, 5))
    if kind == "equal":
        rows[:] = rows[0]
    elif kind == "two places":
        rows = np.repeat(rows[:2], n // 2, axis=0)
    elif kind == "one column":
        rows = rows[:, :1].copy()
    elif kind == "outlier":
        rows[7] *= 1e12
    elif kind == "far from zero":
        rows = 1e6 + 1e-3 * rows
    elif kind in ("huge", "tiny"):
        rows *= 1e120 if kind == "huge" else 1e-120
    elif kind == "wide":
        rows = RNG.normal(size=(n, 300))
    away = np.sqrt(((rows[:50, None] - rows[None]) ** 2).sum(axis=2))
    index = tenfold.NeighborIndex(rows, method=method)
    assert index.recall_ >= 0.95
    assert recall(away, index.nearest(rows[:50], 10)[1]) > 0.9


def test_few_rows_and_many_neighbours_are_looked_at_one_by_one() -> None:
    index = tenfold.NeighborIndex(X[:200], method="graph")
    assert index.method_ == "all rows" and index.recall_ == 1
    index = tenfold.NeighborIndex(X, method="graph")
    away = cdist(Q[:9], X)
    np.testing.assert_allclose(index.nearest(Q[:9], 3999)[0], np.sort(away, axis=1)[:, :3999], rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tenfold.NeighborIndex(X, "manhattan", method="graph"), "no Euclidean distance"),
        (lambda: tenfold.NeighborIndex(X, method="codes", recall=0), "share above 0"),
        (lambda: tenfold.NeighborIndex(X, method="graph", recall=1.5), "share above 0"),
        (lambda: tenfold.NeighborIndex(X, method="graph").within(Q, 1.0), "not all within a radius"),
        (lambda: tenfold.NeighborIndex(X, "inner_product").within(Q, 1.0), "no distance"),
        (lambda: tenfold.NeighborIndex(X, method="graph", random_state="x"), "random_state"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
