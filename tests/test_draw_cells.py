"""Pictures of density trees, of copulas, and of rows that are images."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold.core.errors import BadInput, NotFitted
from tenfold.draw import draw_cells, draw_copula, draw_images

X = np.exp(np.random.default_rng(0).normal(size=(300, 3)))


def test_cells_of_two_columns() -> None:
    model = tenfold.DensityTree(3, prune=None).fit(X[:, :2])
    ax = draw_cells(model, X[:, :2])
    boxes, points = ax.collections
    assert len(boxes.get_paths()) == model.get_n_leaves() == 8
    low, high = model.boxes()
    drawn = np.array([path.get_extents().get_points() for path in boxes.get_paths()])
    np.testing.assert_allclose(drawn[:, 0], low, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(drawn[:, 1], high, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(boxes.get_array(), np.exp(model.log_density_[model.feature_ < 0]), rtol=1e-9, atol=1e-12)
    assert len(points.get_offsets()) == 300 and ax.get_title() == "DensityTree(max_depth=3, prune=None): 8 cells"


def test_steps_of_one_column() -> None:
    model = tenfold.DensityTree(3, prune=None).fit(X[:, :1])
    stairs = draw_cells(model).patches[0].get_data()
    np.testing.assert_allclose(stairs.values @ np.diff(stairs.edges), 1.0, rtol=1e-9, atol=1e-12)


def test_rows_ranks_and_rows_drawn() -> None:
    model = tenfold.CopulaDensity().fit(X)
    axes = draw_copula(model, X, (2, 0))
    rows, ranks, drawn = (ax.collections[0].get_offsets() for ax in axes)
    assert {tuple(row) for row in rows.tolist()} == {tuple(row) for row in X[:, [2, 0]].tolist()}
    np.testing.assert_allclose(np.sort(ranks[:, 0]), np.sort(model.marginals_[2].cdf(X[:, [2]])), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(drawn, model.sample(300, random_state=0)[:, [2, 0]], rtol=1e-9, atol=1e-12)
    assert [ax.get_xlabel() for ax in axes] == ["x2", "F(x2)", "x2"]


def test_a_sheet_of_images() -> None:
    sheet = draw_images(np.arange(36).reshape(3, 12), (3, 4), columns=2).images[0].get_array()
    assert sheet.shape == (7, 9)
    np.testing.assert_array_equal(sheet[:3, 5:], np.arange(12, 24).reshape(3, 4))
    np.testing.assert_array_equal(sheet[4:, :4], np.arange(24, 36).reshape(3, 4))
    with pytest.raises(BadInput, match="rows must have 6 columns"):
        draw_images(X, (2, 3))


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="draw_cells: is for a DensityTree of one or two columns, not for a DensityTree of 3"):
        draw_cells(tenfold.DensityTree().fit(X))
    with pytest.raises(BadInput, match="draw_copula: is for a CopulaDensity"):
        draw_copula(tenfold.DensityTree().fit(X), X)
    with pytest.raises(NotFitted):
        draw_cells(tenfold.DensityTree())
