"""Sparse rows in the index of neighbours, against SciPy's distances of the same rows written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import tenfold

RNG = np.random.default_rng(0)


def table(kind: str) -> Any:
    X = np.where(RNG.random((300, 60)) < 0.1, RNG.normal(size=(300, 60)), 0.0)
    if kind == "ties":
        X = (RNG.random((300, 12)) < 0.2).astype(float)
    elif kind == "empty rows":
        X[::3] = 0
    elif kind == "all zero":
        X[:] = 0
    elif kind == "nearly equal":
        X = 1e3 + np.zeros((300, 5))
        X += 1e-6 * RNG.normal(size=X.shape)
    elif kind == "huge and tiny":
        X *= 10.0 ** RNG.integers(-90, 90, (300, 1))
    return X


KINDS = ("few values", "ties", "empty rows", "all zero", "nearly equal", "huge and tiny")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "l2"])
def test_the_same_as_of_dense_rows(metric: str, kind: str) -> None:
    X = table(kind)
    Q = np.vstack([X[:20], RNG.permutation(X.ravel()).reshape(X.shape)[:20]])
    dense, index = tenfold.NeighborIndex(X, metric, method="all rows"), tenfold.NeighborIndex(sparse.csr_array(X), metric)
    assert index.method_ == "all rows" and len(index) == 300
    for queries in (Q, None):
        expected, rows = dense.nearest(queries, 7)
        for given in (None,) if queries is None else (sparse.csr_array(queries), sparse.csc_matrix(queries), queries):
            distances, found = index.nearest(given, 7)
            np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-12 if metric == "cosine" else 0)
            if kind in ("ties", "all zero") and metric != "cosine":
                np.testing.assert_array_equal(found, rows)  # ties in the order of rows
        radius = float(np.median(expected)) * (1 + 1e-6)
        start, near, away = index.within(None if queries is None else sparse.csr_array(queries), radius)
        begin, those, apart = dense.within(queries, radius)
        np.testing.assert_array_equal(start, begin)
        np.testing.assert_array_equal(near, those)
        np.testing.assert_allclose(away, apart, rtol=1e-9, atol=1e-12 if metric == "cosine" else 0)


def test_against_scipy() -> None:
    X = table("few values")
    for metric in ("euclidean", "cosine"):
        away = np.nan_to_num(cdist(X[:40], X, metric), nan=1.0)
        found = tenfold.NeighborIndex(sparse.csr_array(X.astype(np.float32)), metric).nearest(X[:40], 9)[0]
        np.testing.assert_allclose(found, np.sort(away, axis=1)[:, :9], rtol=1e-5, atol=1e-5)


def test_no_table_of_zeros_is_made() -> None:
    """8 GB, if it were."""
    import tracemalloc

    X = sparse.random_array((2000, 500_000), density=4e-5, rng=np.random.default_rng(1), format="csr")
    tracemalloc.start()
    rows = tenfold.NeighborIndex(X, "cosine").nearest(X[:100], 2)[1]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2e8
    np.testing.assert_array_equal(rows[:, 0], np.arange(100))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: tenfold.NeighborIndex(X, "manhattan"), "toarray"),
        (lambda X: tenfold.NeighborIndex(X, metric_params={"w": np.ones(60)}), "toarray"),
        (lambda X: tenfold.NeighborIndex(X, method="graph"), "sparse rows all are looked at"),
        (lambda X: tenfold.NeighborIndex(X * np.nan), "NaN"),
        (lambda X: tenfold.NeighborIndex(X).nearest(X[:, :5], 1), "5 columns"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(call: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words) as caught:
        call(sparse.csr_array(table("few values")))
    assert "\n" not in str(caught.value)
