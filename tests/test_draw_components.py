"""Pictures of components, of rows in few dimensions, and of signals."""

from __future__ import annotations

import io
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.datasets import load_wine

import tenfold
from tenfold.core.errors import BadInput, NotFitted
from tenfold.draw import draw_biplot, draw_clusters, draw_components, draw_embedding, draw_scree, draw_sources

WINE = load_wine(as_frame=True)
X = (WINE.data - WINE.data.mean()) / WINE.data.std()
Y = WINE.target_names[WINE.target]
RNG = np.random.default_rng(0)


def saved(ax: Any) -> Any:
    """The same axes, after they were rendered without a complaint."""
    file = io.BytesIO()
    ax.figure.savefig(file, format="png", dpi=50)
    assert file.getvalue().startswith(b"\x89PNG")
    return ax


def test_scree_shows_shares_their_sum_and_chance() -> None:
    model = tenfold.PCA(5).fit(X)
    ax = saved(draw_scree(model, chance=[0.1, 0.09, 0.08]))
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], 100 * model.explained_variance_ratio_, rtol=1e-9, atol=1e-12)
    total, chance = ax.lines
    np.testing.assert_allclose(total.get_ydata(), 100 * np.cumsum(model.explained_variance_ratio_), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(chance.get_ydata(), [10, 9, 8], rtol=1e-9, atol=1e-12)
    wide = draw_scree(tenfold.PCA().fit(RNG.normal(size=(80, 60))))
    assert len(wide.patches) == 40 and wide.get_title().endswith("the first 40 of 60")
    with pytest.raises(BadInput, match="no explained_variance_ratio_"):
        draw_scree(tenfold.StandardScaler().fit(X))
    with pytest.raises(BadInput, match="has no component"):
        draw_scree(tenfold.PCA(0).fit(X))
    with pytest.raises(NotFitted):
        draw_scree(tenfold.PCA())


def boxes(ax: Any) -> np.ndarray[Any, Any]:
    ax.figure.draw_without_rendering()
    return np.array([text.get_window_extent().extents for text in ax.texts if text.get_text()])


def test_biplot_has_scores_correlations_and_labels_apart() -> None:
    model = tenfold.PCA(3).fit(X)
    ax = saved(draw_biplot(model, X, Y, (0, 2), name="cultivar"))
    drawn = np.concatenate([some.get_offsets() for some in ax.collections])
    scores = np.asarray(model.transform(X))[:, [0, 2]]
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(scores[:, 0]), rtol=1e-9, atol=1e-9)
    arrows = {text.get_text(): text for text in ax.texts if text.get_text()}
    assert len(arrows) <= 10 and "flavanoids" in arrows and ax.get_legend().get_title().get_text() == "cultivar"
    r = np.corrcoef(X["flavanoids"], scores[:, 0])[0, 1]
    assert np.sign(arrows["flavanoids"].get_position()[0]) == np.sign(r)
    for some in (boxes(ax), boxes(draw_clusters(X, Y))):
        over = [(a, b) for a, b in combinations(some, 2) if (a[:2] < b[2:] - 1).all() and (b[:2] < a[2:] - 1).all()]
        assert not over
    frame = ax.get_window_extent()
    assert (boxes(ax)[:, 0] >= frame.x0 - 2).all() and (boxes(ax)[:, 2] <= frame.x1 + 2).all()
    assert ax.get_xlabel().startswith("component 1: 36 %") and ax.get_ylabel().startswith("component 3: 11 %")
    plain = draw_biplot(tenfold.PCA(2).fit(X.to_numpy()), X.to_numpy(), most=3)
    assert sorted(text.get_text()[0] for text in plain.texts if text.get_text()) == ["x", "x", "x"]
    saved(draw_biplot(tenfold.PCA(2).fit(scipy.sparse.csr_matrix(X)), scipy.sparse.csr_matrix(X)))
    with pytest.raises(BadInput, match="the model has 3 components"):
        draw_biplot(model, X, axes=(0, 3))
    with pytest.raises(BadInput, match="2 names for 13 columns"):
        draw_biplot(model, X, names=["a", "b"])
    with pytest.raises(BadInput, match="there are 178 rows"):
        draw_biplot(model, X, Y[:5])


def test_biplot_of_constant_columns_and_huge_numbers() -> None:
    rows = np.column_stack([RNG.normal(size=(40, 2)) * 1e90, np.ones(40)])
    ax = saved(draw_biplot(tenfold.PCA(2).fit(rows), rows))
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["x0", "x1"]


def test_components_are_images_each_in_its_range() -> None:
    model = tenfold.PCA(6).fit(RNG.normal(size=(50, 12)))
    ax = saved(draw_components(model, (3, 4), most=4, columns=2))
    sheet = ax.images[0]
    first = model.components_[0].reshape(3, 4)
    np.testing.assert_allclose(sheet.get_array()[:3, :4], first / np.abs(first).max(), rtol=1e-9, atol=1e-12)
    assert sheet.get_array().shape == (7, 9) and sheet.get_clim() == (-1, 1)
    with pytest.raises(BadInput, match="rows must have 6 columns"):
        draw_components(model, (2, 3))
    with pytest.raises(BadInput, match="has no components_"):
        draw_components(tenfold.StandardScaler().fit(X), (1, 13))


def test_embeddings_by_class_by_number_and_in_pairs() -> None:
    Z = RNG.normal(size=(60, 4))
    labels = np.repeat(["a", "b", "c"], 20)
    ax = saved(draw_embedding(Z, labels, (2, 1)))
    for some, label in zip(ax.collections, "abc", strict=True):
        np.testing.assert_allclose(some.get_offsets(), Z[labels == label][:, [2, 1]], rtol=1e-12, atol=0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("axis 3", "axis 2")
    values = Z[:, 0].copy()
    values[:5] = np.nan
    ax = saved(draw_embedding(Z, values, name="first"))
    gone, there = ax.collections
    assert len(gone.get_offsets()) == 5 and ax.figure.axes[1].get_ylabel() == "first"
    np.testing.assert_allclose(there.get_array(), values[5:], rtol=1e-12, atol=0)
    classes = draw_embedding(Z, np.arange(60) % 10)
    assert [text.get_text() for text in classes.get_legend().get_texts()] == list("0123456789")
    assert draw_embedding(Z, np.arange(60)).get_legend() is None  # amounts
    grid = draw_embedding(Z, labels, "pairs")
    assert grid.shape == (3, 3) and saved(grid[2, 0]).get_xlabel() == "axis 1" and grid[0, 2].get_legend() is not None
    assert saved(draw_embedding(Z, None, "pairs")[0, 0]).get_ylabel() == "axis 2"
    assert len(draw_embedding(RNG.normal(size=(9000, 2))).collections[0].get_offsets()) == 5000
    saved(draw_embedding(pandas.DataFrame(Z), pandas.Series(labels)))


def test_embeddings_of_learners_and_what_is_refused() -> None:
    rows = RNG.normal(size=(40, 3))
    model = tenfold.Isomap(n_neighbors=8).fit(rows)
    np.testing.assert_allclose(draw_embedding(model).collections[0].get_offsets(), model.embedding_, rtol=1e-12, atol=0)
    for given, words in (
        ((tenfold.PCA(2).fit(rows),), "holds no embedding_"),
        ((rows[:, :1],), "there are 1 axes"),
        ((rows, None, (0, 9)), "there are 3 axes"),
        ((rows, None, 3), "must be two numbers"),
        ((rows[:, :2], None, "pairs"), "three or more"),
        ((rows[0],), "must have the shape"),
        ((np.where(np.arange(40)[:, None] == 7, np.nan, rows),), "row 7 is not finite"),
        ((rows, [1, 2]), "give one value for each"),
    ):
        with pytest.raises(BadInput, match=words):
            draw_embedding(*given)


def test_signals_in_panels() -> None:
    t = np.linspace(0, 4, 200)
    sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t)), np.zeros(200)])
    first, second = draw_sources({"sources": sources, "mixed": t}, rate=50)
    saved(first)
    assert len(first.lines) == 3 and len(second.lines) == 1 and second.get_xlabel() == "seconds" and first.get_title() == "sources"
    heights = [line.get_ydata() for line in first.lines]
    assert all(a.min() > b.max() for a, b in pairwise(heights))
    np.testing.assert_allclose(np.ptp(heights[0]), 1.0, rtol=1e-9, atol=0)
    np.testing.assert_allclose(first.lines[0].get_xdata()[-1], 199 / 50, rtol=1e-12, atol=0)
    many, gap = {"a": np.zeros((5, 13))}, {"a": np.full(5, np.nan)}
    for given, words in (({}, "at least one group"), (gap, "finite numbers"), (many, "at most 12")):
        with pytest.raises(BadInput, match=words):
            draw_sources(given)
    with pytest.raises(BadInput, match="2 axes for 1 groups"):
        draw_sources({"a": t}, axes=[first, second])
