"""RobustPCA: exact recovery, its certificate, weights, missing cells and new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import tenfold
from tenfold.core.errors import BadInput, Degenerate, NotConverged
from tenfold.reduce.robust import nearest


def spoiled(n: int, p: int, rank: int, share: float, seed: int = 0) -> tuple[Any, Any]:
    """A table of low rank, and with gross errors in some cells."""
    rng = np.random.default_rng(seed)
    clean = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    return clean, np.where(rng.random((n, p)) < share, rng.uniform(-50, 50, (n, p)), 0.0) + clean


def missed(found: Any, clean: Any) -> float:
    return float(np.linalg.norm(found - clean) / np.linalg.norm(clean))


def test_recovers_rank_ten_under_gross_errors() -> None:
    clean, X = spoiled(500, 500, 10, 0.1)
    model = tenfold.RobustPCA().fit(X)
    assert model.n_components_ == 10 and missed(model.low_rank_, clean) < 1e-6
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, X, rtol=0, atol=1e-9)
    assert ((np.abs(model.sparse_) > 1e-5) == (clean != X)).mean() > 0.9999


@pytest.mark.parametrize("shape", [(60, 30), (30, 60)])
def test_duality_gap_is_a_bound(shape: tuple[int, int]) -> None:
    """Noise in all cells: no exact recovery, but the objective is least: no other pair has less by more than the gap."""
    rng = np.random.default_rng(1)
    _, X = spoiled(*shape, 3, 0.1)
    X = X + 0.1 * rng.normal(size=shape)
    model, price = tenfold.RobustPCA().fit(X), 1 / np.sqrt(60)

    def value(L: Any) -> float:
        return float(np.linalg.svd(L, compute_uv=False).sum() + price * np.abs(X - L).sum())

    least = value(model.low_rank_)
    assert 0 <= model.dual_gap_ <= 1e-5
    fine = tenfold.RobustPCA(tol=1e-7, max_iter=5000).fit(X)
    assert value(fine.low_rank_) >= least * (1 - model.dual_gap_)
    for _ in range(5):
        assert value(model.low_rank_ + 0.01 * rng.normal(size=shape)) >= least * (1 - 1e-5)


def test_weights_are_copies_and_missing_cells_are_filled() -> None:
    clean, X = spoiled(120, 40, 2, 0.05)
    w = np.random.default_rng(0).integers(1, 3, 120)
    one, two = tenfold.RobustPCA().fit(X, sample_weight=w), tenfold.RobustPCA().fit(X.repeat(w, axis=0))
    np.testing.assert_allclose(one.low_rank_.repeat(w, axis=0), two.low_rank_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(one.components_, two.components_, rtol=0, atol=1e-7)
    gaps = np.random.default_rng(3).random(X.shape) < 0.15
    model = tenfold.RobustPCA(tol=1e-7).fit(np.where(gaps, np.nan, X))
    assert missed(model.low_rank_, clean) < 1e-4 and (model.sparse_[gaps] == 0).all()


def test_new_rows_by_least_absolute_values() -> None:
    """As a linear program finds it; errors in a few cells move nothing."""
    clean, X = spoiled(200, 50, 3, 0.05)
    model = tenfold.RobustPCA().fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), clean, rtol=0, atol=1e-5)
    rng = np.random.default_rng(5)
    V, rows = np.linalg.qr(rng.normal(size=(12, 3)))[0].T, rng.normal(size=(4, 12))
    for x, z in zip(rows, nearest(rows, V), strict=True):
        equal = np.hstack([V.T, np.eye(12), -np.eye(12)])
        program = linprog(np.r_[np.zeros(3), np.ones(24)], A_eq=equal, b_eq=x, bounds=[(None, None)] * 3 + [(0, None)] * 24)
        assert np.abs(x - z @ V).sum() <= program.fun * (1 + 1e-5)


def test_edges() -> None:
    _, X = spoiled(60, 30, 2, 0.05)
    with pytest.warns(Degenerate, match="low rank part has rank 2"):
        assert tenfold.RobustPCA(5).fit(X).n_components_ == 2
    with pytest.warns(NotConverged, match="duality gap"):
        tenfold.RobustPCA(max_iter=3).fit(X)
    nothing = tenfold.RobustPCA().fit(np.zeros((5, 3)))
    assert nothing.n_components_ == 0 and not nothing.low_rank_.any() and nothing.transform(np.ones((2, 3))).shape == (2, 0)
    plain = tenfold.RobustPCA().fit(X).low_rank_
    for scale in (1e-80, 1e80):
        np.testing.assert_allclose(tenfold.RobustPCA().fit(X * scale).low_rank_ / scale, plain, rtol=1e-6, atol=1e-6)
    with pytest.raises(BadInput, match="no value"):
        tenfold.RobustPCA().fit(np.full((4, 3), np.nan))
