"""Densities by the k-th nearest row: the closed form, volumes by counting, weights, and k by leaving rows out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

import tenfold
from tenfold.core.errors import BadInput, BadParameter
from tenfold.neighbors.density import _log_density

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(150, 2)), RNG.normal(size=(40, 2))


def test_in_the_plane_it_is_k_over_n_and_the_disc() -> None:
    model = tenfold.NeighborDensity(7).fit(X)
    radius = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(NEW)[0][:, -1]
    np.testing.assert_allclose(model.score_samples(NEW), np.log(7 / (150 * np.pi * radius**2)), rtol=1e-12)
    own = NearestNeighbors(n_neighbors=7).fit(X).kneighbors()[0][:, -1]
    np.testing.assert_allclose(model.score_samples(), np.log(7 / (149 * np.pi * own**2)), rtol=1e-12)


@pytest.mark.parametrize(("p", "d"), [(1, 2), (1, 3), (2, 3), (3, 2), (1.5, 3), (np.inf, 3), (2, 1), (0.5, 2)])
def test_volumes_of_balls_are_what_points_count(p: float, d: int) -> None:
    points = np.random.default_rng(1).uniform(-1, 1, size=(400_000, d))
    inside = np.abs(points).max(axis=1) <= 1 if p == np.inf else (np.abs(points) ** p).sum(axis=1) <= 1
    volume = float(np.exp(-_log_density(1, np.ones(1), 1.0, d, p))[0])
    np.testing.assert_allclose(volume, inside.mean() * 2**d, rtol=0.01)
    np.testing.assert_allclose(_log_density(1, np.full(1, 3.0), 1.0, d, p), -np.log(volume) - d * np.log(3), rtol=1e-12)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "euclidean", "minkowski"])
def test_the_metric_is_that_of_the_ball(metric: str) -> None:
    power = {"manhattan": 1, "chebyshev": np.inf, "euclidean": 2, "minkowski": 3}[metric]
    away = np.sort(cdist(NEW, X, "minkowski", p=power) if power != np.inf else cdist(NEW, X, "chebyshev"), axis=1)
    found = tenfold.NeighborDensity(4, metric=metric, p=3).fit(X).score_samples(NEW)
    np.testing.assert_allclose(found, _log_density(4, away[:, 3], 150, 2, power), rtol=1e-12)


def test_k_by_leaving_one_row_out_after_the_other() -> None:
    for w in (None, RNG.integers(1, 4, 150)):
        rows = X if w is None else np.repeat(X, w, axis=0)
        away = cdist(rows, rows)
        np.fill_diagonal(away, np.inf)
        away.sort(axis=1)
        n = len(rows)
        with np.errstate(divide="ignore"):
            every = [np.log(k / ((n - 1) * np.pi * away[:, k - 1] ** 2)).sum() for k in range(1, int(4 * np.sqrt(n)) + 1)]
        every = [-np.inf if np.isinf(one) else one for one in every]
        model = tenfold.NeighborDensity("cv").fit(X, sample_weight=w)
        assert model.n_neighbors_ == 1 + np.argmax(every)
        total = model.score_samples() @ (np.ones(150) if w is None else w)
        np.testing.assert_allclose(total, max(every), rtol=1e-10)


def test_copies_of_rows_and_what_is_refused() -> None:
    rows = np.repeat(np.arange(4.0), 3)[:, None]
    assert (tenfold.NeighborDensity(3).fit(rows).score_samples(rows) == np.inf).all()
    assert tenfold.NeighborDensity("cv").fit(rows).n_neighbors_ >= 3
    with pytest.raises(BadInput, match="a row is there more than"):
        tenfold.NeighborDensity("cv").fit(np.zeros((50, 1)))
    with pytest.raises(BadInput, match="at least two rows"):
        tenfold.NeighborDensity("cv").fit([[1.0]])
    with pytest.raises(BadInput, match=r"n_neighbors = 13.*at most 12 neighbours"):
        tenfold.NeighborDensity(13).fit(rows)
    with pytest.raises(BadInput, match="when one is left out"):
        tenfold.NeighborDensity(12).fit(rows).score_samples()
    for metric in ("cosine", "precomputed", "haversine"):
        with pytest.raises(BadParameter, match="volume of its balls is not known"):
            tenfold.NeighborDensity(metric=metric).fit(X)
    with pytest.raises(BadParameter, match="volume of its balls is not known"):
        tenfold.NeighborDensity(metric_params={"w": [1.0, 2.0]}).fit(X)
