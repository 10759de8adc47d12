"""Embeddings: rows on curved surfaces, unrolled; new rows, pieces, and what scikit-learn finds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from conftest import together
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.datasets import make_s_curve, make_swiss_roll
from sklearn.neighbors import kneighbors_graph

import tenfold

Array = np.ndarray[Any, Any]
ROLL, TURN = make_swiss_roll(400, random_state=0)
METHODS = ("standard", "hessian", "modified", "ltsa")


def same_up_to_sign(found: Array, expected: Array, *, atol: float) -> None:
    signs = np.sign(np.einsum("ij,ij->j", found, expected))
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=atol * np.abs(expected).max())


def flat(places: Array, truth: Array) -> float:
    """R² of the truth as a linear function of the places."""
    A = np.column_stack([places, np.ones(len(places))])
    rest = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return float(1 - (rest**2).sum() / ((truth - truth.mean(axis=0)) ** 2).sum())


# --- locally linear embedding ---


@together("method", ["standard", "modified", "ltsa"])
def test_lle_is_that_of_scikit_learn(method: str) -> None:
    ours = tenfold.LocallyLinearEmbedding(n_neighbors=12, method=method).fit(ROLL)
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=12, method=method, eigen_solver="dense").fit(ROLL)
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-6)
    same_up_to_sign(ours.embedding_, theirs.embedding_, atol=1e-6)
    new = ROLL[:30] + 0.1
    same_up_to_sign(ours.transform(new), theirs.transform(new), atol=1e-6)


@together("method", ["hessian", "modified", "ltsa"])
def test_surfaces_are_unrolled_to_scale(method: str) -> None:
    """Without noise these methods find the coordinates on the surface, up to a linear map; so do new rows."""
    angle, width = np.random.default_rng(1).uniform([0.0, 0.0], [1.5 * np.pi, 3.0], (500, 2)).T
    X, truth = np.column_stack([np.cos(angle), np.sin(angle), width]), np.column_stack([angle, width])
    model = tenfold.LocallyLinearEmbedding(n_neighbors=12, method=method).fit(X[:450])
    assert flat(model.embedding_, truth[:450]) > 0.99
    assert flat(model.transform(X[450:]), truth[450:]) > 0.98


def test_hessians_of_flat_rows_vanish_on_linear_functions_only() -> None:
    """x and y are in the null space of the second derivatives; x² is not, whose Hessian is 2 everywhere."""
    X = np.random.default_rng(0).uniform(size=(300, 2))
    hessian = tenfold.LocallyLinearEmbedding(n_neighbors=9, method="hessian", n_components=2).fit(X)
    assert hessian.reconstruction_error_ < 1e-10
    assert flat(hessian.embedding_, X) > 1 - 1e-6


@together("method", METHODS)
def test_solvers_agree(method: str) -> None:
    by_steps = tenfold.LocallyLinearEmbedding(n_neighbors=10, method=method).fit(ROLL)
    whole = tenfold.LocallyLinearEmbedding(n_neighbors=10, method=method, eigen_solver="dense").fit(ROLL)
    np.testing.assert_allclose(by_steps.embedding_, whole.embedding_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(by_steps.embedding_.T @ by_steps.embedding_, np.eye(2), rtol=0, atol=1e-10)
    np.testing.assert_allclose(by_steps.embedding_.sum(axis=0), 0, rtol=0, atol=1e-10)


def test_weights_of_rows_scale_the_objective() -> None:
    """Certificate: Σ w y = 0, Σ w y yᵀ = I, and the objective is that of the places."""
    w = np.random.default_rng(2).uniform(0.5, 2, len(ROLL))
    model = tenfold.LocallyLinearEmbedding(n_neighbors=10).fit(ROLL, sample_weight=w)
    Y, near = model.embedding_, tenfold.NeighborIndex(ROLL).nearest(None, 10)[1]
    np.testing.assert_allclose(w @ Y, 0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(Y.T @ (w[:, None] * Y), np.eye(2), rtol=0, atol=1e-9)
    from sklearn.manifold._locally_linear import barycenter_weights

    rest = Y - np.einsum("ij,ijk->ik", barycenter_weights(ROLL, ROLL, near), Y[near])
    assert model.reconstruction_error_ == pytest.approx(float(w @ (rest**2).sum(axis=1)), rel=1e-6)


def test_lle_tells_pieces_apart() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(50, 3)) + 100])
    with pytest.warns(tenfold.DataWarning, match="2 pieces"):
        places = tenfold.LocallyLinearEmbedding(n_neighbors=8, n_components=1).fit_transform(X)[:, 0]
    assert places[:40].std() + places[40:].std() < 1e-6 * abs(places[0] - places[-1])


def test_pieces_that_lead_into_others_are_none() -> None:
    """A row between two groups has neighbours in both: the groups are still pieces, which no way leaves."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal((40, 0), size=(30, 2)), [[20.0, 0.0]]])
    with pytest.warns(tenfold.DataWarning, match="2 pieces"):
        tenfold.LocallyLinearEmbedding(n_neighbors=7, n_components=1).fit(X)


@together(
    "options, wrong",
    [
        ({"n_neighbors": 40}, "n_neighbors < n_samples.*n_samples = 40.*at most 39"),
        ({"n_components": 4}, "output dimension.*3 columns"),
        ({"method": "hessian", "n_neighbors": 5}, "greater than"),
        ({"method": "modified", "n_neighbors": 1}, "requires"),
        ({"method": "ltsa", "n_neighbors": 2}, "greater than n_components"),
        ({"method": "other"}, "one of"),
    ],
)
def test_lle_refuses(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=wrong):
        tenfold.LocallyLinearEmbedding(**options).fit(ROLL[:40])


def test_equal_rows_are_told() -> None:
    with pytest.raises(tenfold.BadInput, match=r"reg=0: .*increase reg"):
        tenfold.LocallyLinearEmbedding(reg=0.0).fit(np.repeat(ROLL[:10], 8, axis=0))
    doubled = np.repeat(ROLL[:60], 2, axis=0)
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tenfold.DataWarning)
            assert np.isfinite(
                tenfold.LocallyLinearEmbedding(n_neighbors=8, method=method).fit_transform(doubled)
            ).all()


@together("scale", [1e-75, 1e75])
def test_scale_does_not_matter(scale: float) -> None:
    for model in (
        tenfold.LocallyLinearEmbedding(n_neighbors=8),
        tenfold.LocallyLinearEmbedding(n_neighbors=8, method="ltsa"),
    ):
        expected = model.fit_transform(ROLL)
        np.testing.assert_allclose(model.fit_transform(ROLL * scale), expected, rtol=0, atol=1e-5)


# --- Isomap ---


@together(
    "options", [{"n_neighbors": 8}, {"n_neighbors": None, "radius": 6.0}, {"n_neighbors": 10, "metric": "manhattan"}]
)
def test_isomap_is_that_of_scikit_learn(options: dict[str, Any]) -> None:
    ours, theirs = tenfold.Isomap(**options).fit(ROLL), manifold.Isomap(**options).fit(ROLL)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-12)
    same_up_to_sign(ours.embedding_, theirs.embedding_, atol=1e-9)
    new = ROLL[:40] + 0.1
    same_up_to_sign(ours.transform(new), theirs.transform(new), atol=1e-9)
    assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-6)


def test_isomap_knows_distances_alone() -> None:
    X, new = make_s_curve(150, random_state=0)[0], make_s_curve(20, random_state=1)[0]
    expected = tenfold.Isomap(n_neighbors=7).fit(X)
    given = tenfold.Isomap(n_neighbors=7, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(given.embedding_, expected.embedding_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(given.transform(cdist(new, X)), expected.transform(new), rtol=0, atol=1e-9)
    graph = tenfold.Isomap(n_neighbors=7, metric="precomputed").fit(kneighbors_graph(X, 7, mode="distance"))
    np.testing.assert_allclose(graph.embedding_, expected.embedding_, rtol=0, atol=1e-9)


def test_weights_of_rows_are_copies_within_a_radius() -> None:
    """There a copy takes no neighbour's place."""
    X, w = ROLL[:80], np.random.default_rng(0).integers(1, 4, 80)
    some = tenfold.Isomap(n_neighbors=None, radius=12.0).fit(X, sample_weight=w)
    copies = tenfold.Isomap(n_neighbors=None, radius=12.0).fit(np.repeat(X, w, axis=0))
    np.testing.assert_allclose(np.repeat(some.embedding_, w, axis=0), copies.embedding_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(some.transform(X[:9] + 0.2), copies.transform(X[:9] + 0.2), rtol=0, atol=1e-8)
    assert some.reconstruction_error() == pytest.approx(copies.reconstruction_error(), rel=1e-6)


def test_pieces_are_joined_by_their_nearest_rows() -> None:
    X = np.array([0.0, 1, 2, 5, 6, 7])[:, None]
    with pytest.warns(tenfold.DataWarning, match="components of the neighbors graph is 2 > 1"):
        ours = tenfold.Isomap(n_neighbors=2, n_components=1).fit(X)
    np.testing.assert_allclose(ours.dist_matrix_, cdist(X, X), rtol=0, atol=1e-12)
    graph = csr_matrix(kneighbors_graph(X, 2, mode="distance"))
    with pytest.raises(tenfold.BadInput, match="is 2 > 1"):
        tenfold.Isomap(n_neighbors=2, metric="precomputed").fit(graph)


@together(
    "options, wrong",
    [
        ({"n_neighbors": 40}, "at most 39"),
        ({"n_neighbors": 5, "radius": 1.0}, "Both n_neighbors and radius"),
        ({"n_neighbors": None}, "Neither n_neighbors nor radius"),
    ],
)
def test_isomap_refuses(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=wrong):
        tenfold.Isomap(**options).fit(ROLL[:40])


def test_isomap_joins_rows_without_a_neighbour_to_the_nearest() -> None:
    """Wherever they stand among the others; the way to all rows of the fit is the one through the nearest."""
    model = tenfold.Isomap(n_neighbors=None, radius=15.0).fit(ROLL[:60])
    new = np.array([ROLL[0] - 2e3, ROLL[0], ROLL[5] + 1e3, ROLL[5] + 1.1e3])
    ways = model._ways(new)
    for one, row in zip(ways, new, strict=True):
        away = np.linalg.norm(ROLL[:60] - row, axis=1)
        near = np.flatnonzero(away <= 15.0) if (away <= 15.0).any() else [away.argmin()]
        np.testing.assert_allclose(one, (model.dist_matrix_[near] + away[near, None]).min(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.transform(new)[1], model.transform(ROLL[:1])[0], rtol=1e-9, atol=1e-9)


def test_axes_beyond_the_dimensions_are_zero() -> None:
    X = np.linspace(0, 1, 30)[:, None]
    with pytest.warns(tenfold.DataWarning, match="1 dimensions"):
        model = tenfold.Isomap(n_neighbors=3, n_components=2).fit(X)
    assert (model.embedding_[:, 1] == 0).all() and (model.transform(X)[:, 1] == 0).all()


# --- all of them ---

EVERY = [tenfold.LocallyLinearEmbedding(n_neighbors=8), tenfold.Isomap(n_neighbors=8)]


@together("model", EVERY)
def test_places_of_the_fit_and_of_rows_of_no_weight(model: Any) -> None:
    X, w = ROLL[:90], np.ones(90)
    w[[3, 50]] = 0
    places = model.fit_transform(X, sample_weight=w)
    assert places.shape == (90, 2) and model.embedding_.shape == (88, 2)
    assert np.array_equal(places[w > 0], model.embedding_)
    np.testing.assert_allclose(places[[3, 50]], model.transform(X[[3, 50]]), rtol=1e-9)


@together("model", EVERY)
def test_single_precision_and_frames(model: Any) -> None:
    places = model.fit_transform(ROLL[:100].astype(np.float32))
    assert places.dtype == np.float32 and model.embedding_.dtype == np.float32
    frame = model.set_output(transform="pandas").fit_transform(ROLL[:100])
    assert list(frame.columns) == [f"{type(model).__name__.lower()}{i}" for i in range(2)]
    model.set_output(transform="default")
