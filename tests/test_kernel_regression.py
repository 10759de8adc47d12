"""KernelRegressor against its definition, statsmodels and exact lines."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import KernelRegressor
from tenfold.nonlinear.fast_means import FastMeans
from tenfold.nonlinear.kernel_regression import Neighbourhood
from tenfold.solve import few_rows

Array = np.ndarray[Any, Any]
KERNELS = {
    "gaussian": lambda d: np.exp(-0.5 * d),
    "epanechnikov": lambda d: np.maximum(1 - d, 0),
    "tricube": lambda d: np.maximum(1 - d**1.5, 0) ** 3,
}


@pytest.fixture
def data() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(80, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=80)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("degree", [0, 1])
def test_definition(data: Any, kernel: str, degree: int) -> None:
    """Weighted least squares around each point, one at a time."""
    X, y = data
    h, w = np.array([0.7, 0.9]), np.random.default_rng(1).uniform(0.5, 2, 80)
    new = np.random.default_rng(2).uniform(-1.5, 1.5, size=(15, 2))
    model = KernelRegressor(h, degree=degree, kernel=kernel).fit(X, y, w)
    expected = []
    for x in new:
        root = np.sqrt(w * KERNELS[kernel]((((X - x) / h) ** 2).sum(axis=1)))
        A = np.column_stack([np.ones(80), X - x])[:, : 1 + 2 * degree]
        expected.append(np.linalg.lstsq(root[:, None] * A, root * y)[0][0])
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-9)


@pytest.mark.parametrize("degree, kind", [(0, "lc"), (1, "ll")])
def test_statsmodels(data: Any, degree: int, kind: str) -> None:
    nonparametric = pytest.importorskip("statsmodels.nonparametric.kernel_regression")
    X, y = data
    theirs = nonparametric.KernelReg(y, X, "cc", reg_type=kind, bw=[0.5, 0.6], rng=np.random.default_rng(0))
    ours = KernelRegressor([0.5, 0.6], degree=degree).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.fit(X)[0], rtol=1e-7)


def test_lines_are_exact(data: Any) -> None:
    X, _ = data
    y = 3 * X[:, 0] - 2 * X[:, 1] + 5
    for kernel in KERNELS:
        model = KernelRegressor(2.0, kernel=kernel).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_far_away_the_nearest_row_counts(data: Any, kernel: str) -> None:
    X, y = data
    model = KernelRegressor(0.01, degree=0, kernel=kernel).fit(X, y)
    far = np.array([[1e6, 1e6]])
    nearest = ((X - far) ** 2).sum(axis=1).argmin()
    np.testing.assert_allclose(model.predict(far), y[nearest], rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1])
def test_leave_one_out(data: Any, degree: int) -> None:
    """The error is that of fits without each row, and the bandwidth the best of those tried."""
    X, y = data
    model = KernelRegressor("leave_one_out", degree=degree).fit(X, y)

    def error(h: Array) -> float:
        rest = [
            y[i] - KernelRegressor(h, degree=degree).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0]
            for i in range(80)
        ]
        return float(np.mean(np.square(rest)))

    np.testing.assert_allclose(model.loo_error_, error(model.bandwidth_), rtol=1e-9)
    assert model.loo_error_ < min(error(1.2 * model.bandwidth_), error(model.bandwidth_ / 1.2))


def test_several_targets(data: Any) -> None:
    X, y = data
    both = KernelRegressor(0.5).fit(X, np.column_stack([y, -2 * y])).predict(X)
    one = KernelRegressor(0.5).fit(X, y).predict(X)
    np.testing.assert_allclose(both, np.column_stack([one, -2 * one]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.nan, "wide", [1.0, 2.0, 3.0], [[1.0]], True, None], ids=str)
def test_bandwidths_that_make_no_sense(data: Any, bandwidth: Any) -> None:
    with pytest.raises(tenfold.BadParameter, match="bandwidth"):
        KernelRegressor(bandwidth).fit(*data)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "tricube"])
def test_lines_of_many_columns_from_few_rows(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By products of rows, as by products of columns; and no matrix of 5,000 x 5,000 for each point."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 300)) * rng.uniform(0.1, 10, 300) + 5
    X[:, 7] = 3.0
    Y, w, points = rng.normal(size=(40, 2)), rng.uniform(0.5, 2, 40), np.vstack([X[:1], X[:2] + 0.01, X[:2] - X[4:6]])
    by_rows = tenfold.KernelRegressor(20.0, kernel=kernel).fit(X, Y, w).predict(points)
    monkeypatch.setattr(few_rows, "WIDE_FROM", 300)
    by_columns = tenfold.KernelRegressor(20.0, kernel=kernel).fit(X, Y, w).predict(points)
    np.testing.assert_allclose(by_rows, by_columns, rtol=1e-9, atol=1e-10)
    monkeypatch.undo()
    wide = rng.normal(size=(20, 5000))
    tracemalloc.start()
    try:
        tenfold.KernelRegressor(kernel=kernel).fit(wide, wide[:, 0]).predict(wide)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 40e6


def test_means_of_many_rows_by_fast_sums() -> None:
    """Equal to sums over all rows, far away too, with weights and with rows left out."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(4096, 2)), rng.integers(1, 4, 4096).astype(float)
    Y = np.column_stack([np.sin(X[:, 0]) - 3, np.full(4096, 2.0)])
    points = np.vstack([rng.normal(size=(50, 2)), 1e4 * rng.normal(size=(3, 2)), X[:50]])
    h = np.array([0.2, 0.5])
    near = Neighbourhood(X, Y, w, 0, "gaussian")
    assert FastMeans.suit(X, w, h) and not FastMeans.suit(X[1:], w[1:], h)
    for other in (w * (w > 1), h), (w, h * 1e-155):
        assert not FastMeans.suit(X, *other)
    own = np.arange(50)
    for asked, skip in ((points, own[:0]), (X[:50], own)):
        np.testing.assert_allclose(near.at(asked, h, skip), near._row_by_row(asked, h, skip), rtol=1e-9)
    near = Neighbourhood(1e9 * X, Y, w, 0, "gaussian")
    np.testing.assert_allclose(near.at(points * 1e9, h * 1e9), Neighbourhood(X, Y, w, 0, "gaussian").at(points, h), rtol=1e-9)
