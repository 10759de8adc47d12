"""Radial basis functions: their definition, where centres come from, bandwidths, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.prepare import radial

SHAPES = {
    "gaussian": lambda d: np.exp(-(d**2) / 2),
    "multiquadric": lambda d: np.sqrt(1 + d**2),
    "inverse_multiquadric": lambda d: 1 / np.sqrt(1 + d**2),
    "thin_plate": lambda d: np.where(d > 0, d**2 * np.log(np.where(d > 0, d, 1)), 0.0),
}


def rows(n: int = 300) -> Any:
    """Three groups far apart, on columns of different sizes."""
    rng = np.random.default_rng(0)
    return (rng.normal(size=(n, 2)) + 10 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(n) % 3]) * [1.0, 100.0]


@pytest.mark.parametrize("kernel", SHAPES)
def test_definition(kernel: str) -> None:
    X, C, h = rows(), np.array([[0.0, 100.0], [1.0, -50.0]]), np.array([2.0, 300.0])
    model = tenfold.RadialBasisFeatures(centers=C, bandwidth=h, kernel=kernel).fit(X)
    d = np.sqrt((((X[:, None] - C) / h) ** 2).sum(axis=2))
    np.testing.assert_allclose(model.transform(X), SHAPES[kernel](d), rtol=1e-12)
    at = model.transform(C).diagonal()
    np.testing.assert_allclose(at, SHAPES[kernel](np.zeros(2)), rtol=1e-12)


def test_centres_are_where_the_rows_are() -> None:
    X = rows()
    model = tenfold.RadialBasisFeatures(3).fit(X)
    groups = np.array([X[k::3].mean(axis=0) for k in range(3)])
    order = np.argsort(model.centers_ @ [1.0, 0.02])
    np.testing.assert_allclose(model.centers_[order], groups[np.argsort(groups @ [1.0, 0.02])], rtol=1e-6, atol=1e-6)
    apart = (groups - X.mean(axis=0)) / X.std(axis=0)
    nearest = [min(np.linalg.norm(apart[i] - apart[j]) for j in range(3) if j != i) for i in range(3)]
    np.testing.assert_allclose(model.bandwidth_, X.std(axis=0) * np.median(nearest), rtol=1e-6)


def test_sampled_centres_are_rows_and_a_file_says_so(tmp_path: Any) -> None:
    X = rows()
    model = tenfold.RadialBasisFeatures(20, centers="sample").fit(X)
    found = (np.abs(X[:, None] - model.centers_) < 1e-9).all(axis=2).any(axis=0)
    assert found.all() and len(np.unique(model.centers_, axis=0)) == 20
    tenfold.save(model, tmp_path / "sampled")
    tenfold.save(tenfold.RadialBasisFeatures(3).fit(X), tmp_path / "found")
    assert tenfold.inspect(tmp_path / "sampled").holds_training_rows
    assert not tenfold.inspect(tmp_path / "found").holds_training_rows


def test_a_curve_through_a_pipeline() -> None:
    x = np.random.default_rng(1).uniform(0, 10, size=(400, 1))
    y = np.sin(x[:, 0]) + 0.05 * np.random.default_rng(2).normal(size=400)
    model = tenfold.make_pipeline(tenfold.RadialBasisFeatures(20), tenfold.Ridge(1e-3)).fit(x, y)
    inner = np.linspace(0.5, 9.5, 50)[:, None]
    np.testing.assert_allclose(model.predict(inner), np.sin(inner[:, 0]), atol=0.05)


def test_fewer_rows_than_centres_are_told() -> None:
    with pytest.warns(tenfold.Degenerate, match="only 2 distinct rows"):
        model = tenfold.RadialBasisFeatures(5).fit([[1.0], [2.0], [2.0]])
    assert model.transform([[1.0]]).shape == (1, 2) and list(model.get_feature_names_out()) == ["radial0", "radial1"]


@pytest.mark.parametrize(
    "bad",
    [
        {"centers": "grid"},
        {"centers": [[1.0]]},
        {"centers": [[1.0, np.nan]]},
        {"bandwidth": 0},
        {"bandwidth": [1, 2, 3]},
    ],
    ids=str,
)
def test_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(tenfold.BadParameter, match=next(iter(bad))):
        tenfold.RadialBasisFeatures(**bad).fit(rows())


@pytest.mark.parametrize("kernel", ["gaussian", "multiquadric", "inverse_multiquadric", "thin_plate"])
def test_many_columns_come_from_products_to_the_last_digits(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by columns, far from the origin too; a row has the same bits wherever it stands, and what is far away is so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130, 60)) * rng.uniform(0.1, 5, size=60) + 1000 * rng.normal(size=60)
    one = tenfold.RadialBasisFeatures(centers=X[:40].tolist(), bandwidth=8.0, kernel=kernel).fit(X)
    Z = one.transform(X)
    assert all(np.array_equal(one.transform(X[start:]), Z[start:]) for start in (1, 7, 50, 129))
    far = np.vstack([X[:2], np.full((1, 60), 1e90)])
    away = one.transform(far)
    monkeypatch.setattr(radial, "WIDE", 1000)
    np.testing.assert_allclose(Z, one.transform(X), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(away, one.transform(far), rtol=1e-11, atol=1e-11)
