"""MeanShift: scikit-learn's peaks and labels; the Gaussian kernel by hand; tables that are no clusters."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import sklearn.cluster
from sklearn.datasets import load_iris

import tenfold
from tenfold.draw import draw_mean_shift


def table(n: int, p: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + 4 * rng.normal(size=(4, p))[rng.integers(0, 4, n)]


@pytest.mark.parametrize(
    "options",
    [
        {"bandwidth": 1.5},
        {},
        {"bandwidth": 1.5, "bin_seeding": True, "min_bin_freq": 2},
        {"bandwidth": 1.5, "cluster_all": False, "max_iter": 4},
        {"bandwidth": 0.01},
        {"bandwidth": 1.0, "seeds": [[0.0, 0.0], [3.0, 3.0], [-3.0, 1.0]]},
        {"bandwidth": 1e6},
    ],
    ids=str,
)
def test_peaks_are_scikit_learns(options: dict[str, Any]) -> None:
    X = table(150, 2)
    ours, theirs = (kind(**options).fit(X) for kind in (tenfold.MeanShift, sklearn.cluster.MeanShift))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10, atol=1e-12)
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("p", [1, 4, 30])
def test_any_number_of_columns(p: int) -> None:
    X = load_iris().data if p == 4 else table(200, p, seed=p)
    ours, theirs = (kind(bandwidth=0.8 * np.sqrt(p)).fit(X) for kind in (tenfold.MeanShift, sklearn.cluster.MeanShift))
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


def test_bandwidths_are_scikit_learns() -> None:
    X = table(300, 3)
    for options in ({}, {"quantile": 0.05}, {"quantile": 1.0}, {"n_samples": 40}, {"n_samples": 1}):
        found = tenfold.estimate_bandwidth(X, **options)
        np.testing.assert_allclose(found, sklearn.cluster.estimate_bandwidth(X, **options), rtol=1e-12, atol=1e-6)
    for bad in ({"quantile": 1.5}, {"n_samples": 0}):
        with pytest.raises(tenfold.BadParameter, match=next(iter(bad))):
            tenfold.estimate_bandwidth(X, **bad)
    with pytest.raises(tenfold.TenfoldError, match="NaN"):
        tenfold.estimate_bandwidth([[1.0], [np.nan]])


def test_gaussian_peaks_are_where_the_density_has_no_slope() -> None:
    X = table(500, 2, seed=3)
    w = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = tenfold.MeanShift(bandwidth=0.9, kernel="gaussian").fit(X, sample_weight=w)
    for peak in model.cluster_centers_:
        share = w * np.exp(-((X - peak) ** 2).sum(axis=1) / (2 * 0.9**2))
        assert np.linalg.norm(share @ X / share.sum() - peak) <= 2e-3 * 0.9
        around = peak + 0.3 * np.column_stack([np.cos(np.arange(8.0)), np.sin(np.arange(8.0))])
        heights = (w * np.exp(-((X[None] - around[:, None]) ** 2).sum(axis=2) / (2 * 0.9**2))).sum(axis=1)
        assert share.sum() > heights.max()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_give_the_same_bits(threads: int) -> None:
    X = table(1500, 2)
    expected = tenfold.MeanShift(bandwidth=1.0).fit(X)
    with tenfold.threads(threads):
        found = tenfold.MeanShift(bandwidth=1.0).fit(X)
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)


def test_tables_that_are_no_clusters() -> None:
    equal = tenfold.MeanShift().fit(np.full((50, 2), 3.0))
    assert equal.bandwidth_ == 0 and equal.cluster_centers_.tolist() == [[3.0, 3.0]] and not equal.labels_.any()
    assert tenfold.MeanShift(kernel="gaussian").fit(np.full((50, 2), 3.0)).cluster_centers_.tolist() == [[3.0, 3.0]]
    assert tenfold.MeanShift().fit([[1.0, 2.0]]).cluster_centers_.tolist() == [[1.0, 2.0]]
    far = np.array([[0.0, 0.0], [1e100, 0.0], [1e100, 1.0]])
    assert len(tenfold.MeanShift(bandwidth=2.0).fit(far).cluster_centers_) == 2
    with pytest.raises(tenfold.BadInput, match="No point was within bandwidth"):
        tenfold.MeanShift(bandwidth=0.1, seeds=[[-9.0, -9.0]]).fit(table(20, 2))
    for seeds in ([1.0], [[1.0, np.nan]], "rows", [[1.0, 2.0, 3.0]]):
        with pytest.raises(tenfold.BadParameter, match="seeds"):
            tenfold.MeanShift(seeds=seeds).fit(table(20, 2))


def test_rows_beyond_the_bandwidth_belong_to_no_peak() -> None:
    model = tenfold.MeanShift(bandwidth=1.0, cluster_all=False).fit(table(300, 2))
    assert model.predict(model.cluster_centers_).tolist() == list(range(len(model.cluster_centers_)))
    assert model.predict([[1e3, 1e3]]).tolist() == [-1]
    np.testing.assert_array_equal(model.predict(table(300, 2)), model.labels_)


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_ways_end_at_the_peaks(kernel: str) -> None:
    X = table(300, 2)
    model = tenfold.MeanShift(bandwidth=1.2, kernel=kernel).fit(X)
    ax = draw_mean_shift(model, X, most=40)
    ends = np.array([line.get_xydata()[-1] for line in ax.lines])
    assert 20 <= len(ends) <= 40
    away = np.sqrt(((ends[:, None] - model.cluster_centers_[None]) ** 2).sum(axis=2)).min(axis=1)
    assert away.max() < 1.2  # of several within the bandwidth one is a peak
    picture = io.BytesIO()
    ax.figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")
    with pytest.raises(tenfold.BadInput, match="two columns"):
        draw_mean_shift(tenfold.MeanShift(bandwidth=1.0).fit(X[:, :1]), X)
    with pytest.raises(tenfold.BadInput, match="does not move points"):
        draw_mean_shift(tenfold.KMeans(2).fit(X), X)
