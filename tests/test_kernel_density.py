"""Kernel densities: against sums by hand, scikit-learn and SciPy; bandwidths; rows far away; leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import gaussian_kde, kstest, norm

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, Degenerate
from tenfold.density.kernel_shapes import KERNELS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Q = RNG.normal(size=(50, 2)) * 1.5
W = RNG.integers(1, 4, 300).astype(float)


def by_hand(Q: Array, X: Array, w: Array, h: Any, kernel: str) -> Array:
    """Densities by the formula, all pairs."""
    r = np.sqrt((((Q[:, None] - X) / h) ** 2).sum(axis=-1))
    unit = np.exp(KERNELS[kernel].log_integral(X.shape[1])) * np.prod(np.broadcast_to(h, X.shape[1]))
    return np.asarray(np.exp(KERNELS[kernel].log_at(r)) @ w / w.sum() / unit)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [0.5, [0.3, 2.0]], ids=str)
def test_densities_are_those_of_the_formula(kernel: str, h: Any) -> None:
    model = tenfold.KernelDensity(bandwidth=h, kernel=kernel).fit(X, sample_weight=W)
    np.testing.assert_allclose(np.exp(model.score_samples(Q)), by_hand(Q, X, W, h, kernel), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"])
def test_scikit_learn_agrees(kernel: str) -> None:
    from sklearn.neighbors import KernelDensity

    for d in (1, 3, 8)[: 2 if kernel == "cosine" else 3]:  # from 8 columns on scikit-learn's integral of the cosine is negative
        rng = np.random.default_rng(d)
        rows, asked = rng.normal(size=(100, d)), rng.normal(size=(20, d))
        peer = KernelDensity(bandwidth=np.sqrt(d), kernel=kernel).fit(rows, sample_weight=W[:100])
        ours = tenfold.KernelDensity(bandwidth=np.sqrt(d), kernel=kernel).fit(rows, sample_weight=W[:100])
        np.testing.assert_allclose(ours.score_samples(asked), peer.score_samples(asked), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(ours.score(rows), peer.score(rows), rtol=1e-8)


def test_the_tolerance_is_kept() -> None:
    rng = np.random.default_rng(1)
    rows, asked = rng.normal(size=(5000, 2)), rng.normal(size=(200, 2)) * 2
    exact = by_hand(asked, rows, np.ones(5000), 0.2, "gaussian")
    errors = {}
    for rtol in (0.0, 1e-8, 1e-4, 1e-2):
        model = tenfold.KernelDensity(bandwidth=0.2, rtol=rtol).fit(rows)
        errors[rtol] = np.abs(np.exp(model.score_samples(asked)) / exact - 1).max()
        assert errors[rtol] <= (rtol or 1e-10)
    assert errors[0.0] < errors[1e-2]
    coarse = tenfold.KernelDensity(bandwidth=0.2, atol=1e-3).fit(rows).score_samples(asked)
    np.testing.assert_allclose(np.exp(coarse), exact, rtol=1e-9, atol=1e-3)


@pytest.mark.parametrize("kernel, power", [("gaussian", 2), ("exponential", 1)])
def test_far_away_logarithms_are_right(kernel: str, power: int) -> None:
    model = tenfold.KernelDensity(kernel=kernel).fit([[0.0], [1.0]])
    far = np.array([[50.0], [1e4], [1e8], [-1e60]])
    near = np.abs(far[:, 0]) - (far[:, 0] > 0)
    expected = -(near**power) / power - np.log(2) - model._shape.log_integral(1)
    expected += np.log1p(np.exp(-1.0)) if kernel == "exponential" else 0.0  # the other row counts too
    np.testing.assert_allclose(model.score_samples(far), expected, rtol=1e-9)
    apart = tenfold.KernelDensity().fit(np.array([[0.0], [1e9], [1e9 + 1]]))  # a leaf of rows that are far from one another
    np.testing.assert_allclose(
        apart.score_samples([[1e9 + 0.5], [2.0]]), [np.log(2 / 3) + norm.logpdf(0.5), np.log(1 / 3) + norm.logpdf(2)], rtol=1e-9
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "linear"])
def test_rows_left_out_are_as_if_they_were_not_there(kernel: str, metric: str) -> None:
    rows = np.vstack([X[:40], X[:3], [[9.0, 9.0]]])  # copies, and a row on its own
    w = np.r_[W[:43], 1.0]
    model = tenfold.KernelDensity(bandwidth=0.7, kernel=kernel, metric=metric).fit(rows, sample_weight=w)
    expected = []
    for i in range(len(rows)):
        less = w.copy()
        less[i] -= 1
        again = tenfold.KernelDensity(bandwidth=0.7, kernel=kernel, metric=metric).fit(rows, sample_weight=less)
        expected.append(again.score_samples(rows[i : i + 1])[0])
    np.testing.assert_allclose(model.score_samples(), expected, rtol=1e-9)
    assert model.score_samples()[-1] < -50  # gaussian: far, others: out of reach
    with pytest.raises(BadInput, match="none is left"):
        tenfold.KernelDensity().fit([[1.0]]).score_samples()


def test_bandwidths_by_rules() -> None:
    assert tenfold.KernelDensity(bandwidth="scott").fit(X).bandwidth_ == pytest.approx(gaussian_kde(X.T).factor)
    assert tenfold.KernelDensity(bandwidth="silverman").fit(X).bandwidth_ == pytest.approx(gaussian_kde(X.T, "silverman").factor)
    model = tenfold.KernelDensity(bandwidth="cv").fit(X)
    tried = [tenfold.KernelDensity(bandwidth=h).fit(X).score_samples().mean() for h in model.bandwidths_tried_]
    np.testing.assert_allclose(model.log_likelihoods_, tried, rtol=1e-5)
    np.testing.assert_array_equal(model.bandwidth_, model.bandwidths_tried_[np.argmax(tried)])
    steps = [tenfold.KernelDensity(bandwidth=model.bandwidth_ * t).fit(X).score_samples().mean() for t in (0.9, 1.0, 1.1)]
    assert np.argmax(steps) == 1


def test_improved_sheather_jones() -> None:
    """Near the best bandwidth of normal rows, (4 / 3n)^(1/5), and far below the rules where there are several groups."""
    x = np.random.default_rng(1).normal(size=(2000, 1))
    found = tenfold.KernelDensity(bandwidth="isj").fit(x).bandwidth_
    assert abs(found / (4 / 6000) ** 0.2 - 1) < 0.25
    groups = np.concatenate([x, x + 20, x + 40])
    several = tenfold.KernelDensity(bandwidth="isj").fit(groups).bandwidth_
    assert abs(several / found - 1) < 0.3
    both = tenfold.KernelDensity(bandwidth="isj").fit(np.column_stack([groups, 100 * groups]))
    np.testing.assert_allclose(both.bandwidth_, [several, 100 * several], rtol=1e-6)
    with pytest.warns(Degenerate, match="no solution for column 0"):
        tenfold.KernelDensity(bandwidth="isj").fit(np.ones((10, 1)))


@pytest.mark.parametrize("kernel", sorted(set(KERNELS) - {"rectangular", "triangular"}))
def test_rows_drawn_in_one_and_several_columns(kernel: str) -> None:
    one = tenfold.KernelDensity(bandwidth=0.4, kernel=kernel).fit(X[:20, :1], sample_weight=W[:20])
    assert kstest(one.sample(2000, random_state=1)[:, 0], lambda x: one.cdf(x[:, None])).pvalue > 1e-3
    np.testing.assert_allclose(one.quantile(one.cdf([[0.1]])), [0.1], rtol=1e-8)
    around = tenfold.KernelDensity(bandwidth=1.0, kernel=kernel).fit(np.zeros((1, 4)))
    r = np.sqrt((around.sample(4000, random_state=2) ** 2).sum(axis=1))
    x = np.linspace(0, 1 if KERNELS[kernel].compact else 40, 20_001)[1:]
    mass = np.cumsum(np.exp(KERNELS[kernel].log_at(x)) * x**3)
    assert kstest(r, lambda r: np.interp(r, x, mass / mass[-1])).pvalue > 1e-3


def test_a_second_fit_forgets_the_weights_of_the_first() -> None:
    asked = [[0.1, 0.2]]
    for model in (tenfold.KernelDensity(), tenfold.NeighborDensity()):
        plain = type(model)().fit(X).score_samples(asked)
        np.testing.assert_array_equal(model.fit(X, sample_weight=W).fit(X).score_samples(asked), plain)


@pytest.mark.parametrize(
    "params, words",
    [
        ({"bandwidth": 0}, "above 0"),
        ({"bandwidth": -1.0}, "above 0"),
        ({"bandwidth": "best"}, "'isj' or 'cv'|'cv'"),
        ({"bandwidth": [1.0, 2.0, 3.0]}, "one for each of 2 columns"),
        ({"bandwidth": [1.0, np.nan]}, "above 0"),
        ({"bandwidth": [1.0, 2.0], "metric": "manhattan"}, "give one number"),
        ({"kernel": "gauss"}, "kernel"),
        ({"rtol": -1.0}, "rtol"),
        ({"metric": "haversine", "algorithm": "kd_tree"}, "invalid metric"),
    ],
    ids=str,
)
def test_refused(params: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        tenfold.KernelDensity(**params).fit(X)


def test_rows_that_no_number_of_bandwidths_tells_apart_are_refused() -> None:
    with pytest.raises(BadInput, match="give a larger bandwidth"):
        tenfold.KernelDensity(bandwidth=1e-95).fit(X * 1e70)


def test_no_bandwidth_is_found_where_no_row_has_another() -> None:
    with pytest.raises(BadInput, match="needs at least two rows"):
        tenfold.KernelDensity(bandwidth="cv").fit([[1.0]])
    with pytest.raises(BadInput, match="take kernel='gaussian'"):
        tenfold.KernelDensity(bandwidth="cv", kernel="tophat").fit(np.r_[np.zeros(50), 1e9][:, None])


def test_pictures() -> None:
    from tenfold.draw import draw_bandwidths, draw_contours

    one = tenfold.KernelDensity(bandwidth=0.3).fit(X[:20, :1])
    panels = draw_bandwidths(one, X[:20, :1], times=(0.5, 1))
    assert [ax.get_title() for ax in panels] == ["bandwidth 0.15: 0.5 times", "bandwidth 0.3"]
    lines = [line for line in panels[1].lines if len(line.get_xdata()) > 20]
    x, y = lines[-1].get_data()
    np.testing.assert_allclose(y, np.exp(one.score_samples(np.asarray(x)[:, None])), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.sum([line.get_ydata() for line in lines[:-1]], axis=0), y, rtol=1e-9, atol=1e-12)  # kernels of rows
    both = tenfold.KernelDensity(bandwidth=0.3).fit(X)
    ax = draw_contours(both, X)
    (contours,) = [found for found in ax.collections if getattr(found, "filled", None) is False]
    held = (np.exp(both.score_samples(X))[:, None] >= contours.levels).mean(axis=0)
    np.testing.assert_allclose(held, [0.9, 0.75, 0.5, 0.25, 0.1], atol=0.01)
    other = tenfold.Ridge().fit(X, W)
    for call in (lambda: draw_contours(one, X[:, :1]), lambda: draw_bandwidths(both, X), lambda: draw_bandwidths(other, X)):
        with pytest.raises(BadInput, match="fit"):
            call()
