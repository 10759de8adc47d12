"""Gower's distance against its formula, pair by pair, and metrics that are no metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

RNG = np.random.default_rng(0)


def mixed(n: int, gaps: float) -> Any:
    X = np.column_stack([RNG.normal(size=n), 100 * RNG.random(n), RNG.integers(0, 4, n), np.ones(n), RNG.integers(0, 2, n)])
    X[RNG.random(X.shape) < gaps] = np.nan
    X[:, 3] = 1.0
    return X


def by_formula(q: Any, r: Any, span: Any, categorical: Any, w: Any) -> float:
    total = counted = 0.0
    for j in range(len(q)):
        if np.isnan(q[j]) or np.isnan(r[j]):
            continue
        s = float(q[j] != r[j]) if j in categorical else abs(q[j] - r[j]) / (span[j] if span[j] > 0 else 1.0)
        total, counted = total + w[j] * s, counted + w[j]
    return total / counted


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("w", [None, [1.0, 0.0, 2.5, 1.0, 0.5]])
def test_gower_is_its_formula(gaps: float, w: Any) -> None:
    X, Q = mixed(80, gaps), mixed(15, gaps)
    span = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    away = np.array([[by_formula(q, r, span, (2, 4), w or np.ones(5)) for r in X] for q in Q])
    params = {"categorical": [2, 4]} | ({} if w is None else {"w": w})
    index = tenfold.NeighborIndex(X, "gower", metric_params=params)
    distances, rows = index.nearest(Q, 6)
    np.testing.assert_allclose(distances, np.sort(away, axis=1)[:, :6], rtol=1e-12)
    np.testing.assert_allclose(distances, np.take_along_axis(away, rows, axis=1), rtol=1e-12)
    start, near, _ = index.within(Q, 0.2)
    assert all(set(near[start[q] : start[q + 1]]) == set(np.flatnonzero(away[q] <= 0.2)) for q in range(15))
    mask = tenfold.NeighborIndex(X, "gower", metric_params=params | {"categorical": np.arange(5) % 2 == 0})
    assert mask.nearest(Q, 1)[0].shape == (15, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: tenfold.NeighborIndex(X, "gower", metric_params={"categorical": [5]}), "from 0 to 4"),
        (lambda X: tenfold.NeighborIndex(X, "gower", metric_params={"categorical": ["a"]}), "truth values"),
        (lambda X: tenfold.NeighborIndex(X, "gower", metric_params={"w": np.zeros(5)}), "weight"),
        (lambda X: tenfold.NeighborIndex(np.where(X > 99, np.inf, X), "gower"), "inf"),
        (lambda X: tenfold.NeighborIndex(X, "gower").nearest(np.full((2, 5), np.nan), 1), "no column that both know"),
        (lambda X: tenfold.NeighborIndex(X), "NaN"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(call: Any, words: str) -> None:
    X = mixed(90, 0.2)
    X[0, 1] = 99.5
    with pytest.raises(tenfold.TenfoldError, match=words) as caught:
        call(X)
    assert "\n" not in str(caught.value)


def test_clusters_refuse_a_function_that_is_not_symmetric() -> None:
    X = RNG.normal(size=(30, 2))
    with pytest.raises(tenfold.TenfoldError, match="not symmetric"):
        tenfold.DBSCAN(1.0, metric=lambda a, b: max(a[0] - b[0], 0.0)).fit(X)
    tenfold.DBSCAN(1.0, metric=lambda a, b: abs(a[0] - b[0])).fit(X)
