"""Kernels of hierarchical clustering: at every instruction set the trees of a plain version, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tenfold import _linkage

LEVELS = ("baseline", "avx2", "avx512")
SINGLE, COMPLETE, AVERAGE, WEIGHTED, WARD, CENTROID, MEDIAN = range(7)
NO_ROWS = np.empty((0, 1))


@pytest.fixture(params=LEVELS)
def level(request: Any) -> Iterator[str]:
    if not _linkage.use_level(request.param):
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    for name in LEVELS:
        _linkage.use_level(name)  # the best comes last


def heights(D: Any, linkage: int, w: Any) -> list[float]:
    """One nearest pair after the other, from a square table of distances."""
    D, w, left, found = D.copy(), w.copy(), list(range(len(D))), []
    while len(left) > 1:
        i, j = min(((a, b) for a in left for b in left if a < b), key=lambda pair: D[pair])
        d = D[i, j]
        found.append(d)
        left.remove(j)
        for x in left:
            a, b, v, u, t = D[i, x], D[j, x], w[i], w[j], w[x]
            D[i, x] = D[x, i] = {
                SINGLE: min(a, b),
                COMPLETE: max(a, b),
                AVERAGE: (v * a + u * b) / (v + u),
                WEIGHTED: (a + b) / 2,
                WARD: np.sqrt(max(((v + t) * a * a + (u + t) * b * b - t * d * d) / (v + u + t), 0)),
                CENTROID: np.sqrt(max((v * a * a + u * b * b) / (v + u) - v * u * d * d / (v + u) ** 2, 0)),
                MEDIAN: np.sqrt(max((a * a + b * b) / 2 - d * d / 4, 0)),
            }[linkage]
        w[i] += w[j]
    return found


@pytest.mark.parametrize("linkage", range(7))
def test_trees_are_those_of_a_plain_version(level: str, linkage: int) -> None:
    rng = np.random.default_rng(linkage)
    for n, p in ((1, 1), (2, 1), (3, 2), (17, 3), (40, 70)):
        X = rng.normal(size=(n, p))
        w = rng.uniform(0.5, 2, n) if linkage in (AVERAGE, CENTROID, WARD) else np.ones(n)
        D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
        if linkage == WARD:
            D = D * np.sqrt(2 * w * w[:, None] / (w + w[:, None]))
        expected = heights(D, linkage, w)
        pairs = D[np.tri(n, k=-1, dtype=bool)]
        trees = [_linkage.tree_of_rows(X, linkage, w, 0, 2.0, True, 2), _linkage.tree_of_pairs(pairs, linkage, w, 2)]
        if linkage not in (CENTROID, MEDIAN, WARD):
            first, second = np.triu_indices(n, 1)
            trees.append(_linkage.tree_of_graph(first, second, D[first, second], linkage, w, NO_ROWS))
        if linkage == WARD:
            first, second = np.triu_indices(n, 1)
            trees.append(_linkage.tree_of_graph(first, second, np.zeros(len(first)), linkage, w, X))
        for Z in trees:
            np.testing.assert_allclose(Z[:, 2], expected, rtol=1e-10, atol=0)


@pytest.mark.parametrize("linkage", [COMPLETE, AVERAGE, WEIGHTED, WARD])
def test_rounds_merge_what_chains_merge(level: str, linkage: int) -> None:
    """So many rows that pairs are merged all at once, with and without a table; the table of Ward's linkage goes by chains alone."""
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(1400, 3)), rng.uniform(0.5, 2, 1400)
    by_rows = [_linkage.tree_of_rows(X, linkage, w, 0, 2.0, True, threads) for threads in (1, 2)]
    assert np.array_equal(*by_rows)
    table = _linkage.pairs(X, 0, 2.0, True, 2)
    if linkage == WARD:
        i, j = np.tril_indices(1400, -1)
        table *= np.sqrt(2 * w[i] * w[j] / (w[i] + w[j]))
    by_table = _linkage.tree_of_pairs(table, linkage, w, 2)
    np.testing.assert_allclose(by_rows[0][:, 2], by_table[:, 2], rtol=1e-10, atol=0)
    assert np.array_equal(by_rows[0][:, [0, 1, 3]], by_table[:, [0, 1, 3]])


def test_distances(level: str) -> None:
    rng = np.random.default_rng(2)
    for n, p in ((1, 1), (5, 3), (40, 600), (1100, 2)):
        X, Q = rng.normal(size=(n, p)), rng.normal(size=(7, p))
        expected = np.sqrt(((Q[:, None] - X) ** 2).sum(axis=2))
        np.testing.assert_allclose(_linkage.between(Q, X, 0, 2.0, True), expected, rtol=1e-12, atol=0)
        np.testing.assert_allclose(_linkage.between(Q, X, 1, 1.0, False), np.abs(Q[:, None] - X).sum(axis=2), rtol=1e-12, atol=0)
        pairs = _linkage.pairs(X, 2, 1.0, False, 2)
        for i in (0, n // 2, n - 1):
            assert np.array_equal(pairs[i * (i - 1) // 2 : i * (i + 1) // 2], np.abs(X[i] - X[:i]).max(axis=1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, w: _linkage.tree_of_rows(X, 9, w, 0, 2.0, True, 1), "no such linkage"),
        (lambda X, w: _linkage.tree_of_rows(X, 0, w, 9, 2.0, True, 1), "no such measure"),
        (lambda X, w: _linkage.tree_of_rows(X, 0, w[1:], 0, 2.0, True, 1), "weight for each row"),
        (lambda X, w: _linkage.tree_of_rows(X, 0, 0 * w, 0, 2.0, True, 1), "above 0"),
        (lambda X, w: _linkage.tree_of_pairs(w, 0, w, 1), "distance for each pair"),
        (lambda X, w: _linkage.pairs(X[:0], 0, 2.0, True, 1), "rows and columns"),
        (lambda X, w: _linkage.between(X[:, :1].copy(), X, 0, 2.0, True), "same columns"),
        (lambda X, w: _linkage.tree_of_graph(np.array([0]), np.array([9]), w[:1], 1, w, NO_ROWS), "between two rows"),
        (lambda X, w: _linkage.tree_of_graph(np.array([0]), np.array([1]), w[:1], 5, w, NO_ROWS), "no such linkage"),
        (lambda X, w: _linkage.tree_of_graph(np.array([0]), np.array([1]), w[:1], 1, w, NO_ROWS), "not connected"),
        (lambda X, w: _linkage.tree_of_rows(np.where(X > 0, 1e300, X), 2, w, 0, 2.0, True, 1), "not finite"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises((ValueError, OverflowError), match=words):
        call(np.random.default_rng(0).normal(size=(9, 2)), np.ones(9))
