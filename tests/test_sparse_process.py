"""SparseGaussianProcessRegressor against the exact process, its bound and gradient, ranges against draws, streams, weights, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

import tenfold
from tenfold import kernels
from tenfold.core.data import Block
from tenfold.core.errors import BadParameter, NotConverged, TooLarge
from tenfold.kernel_machines.inducing import Scale, bound_at, gradient_at, least_known
from tenfold.kernel_machines.sparse_process import _here
from tenfold.kernels.between import between, own_noise
from tenfold.solve.boxed import minimum

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (60, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * RNG.normal(size=60)
Y = np.column_stack([y, X[:, 0] * y])
W = RNG.integers(1, 4, 60).astype(float)
NOISY: list[Any] = [
    1.5 * kernels.RBF([1.0, 0.7]) + kernels.WhiteKernel(0.1),
    kernels.Matern(1.2, nu=1.5) + kernels.DotProduct() + kernels.WhiteKernel(0.1),
    2.0 * (kernels.RationalQuadratic(1.0, 0.5) + kernels.WhiteKernel(0.2)),
    kernels.RBF(1.0) * kernels.Matern(0.8, nu=2.5) + kernels.WhiteKernel(0.1, "fixed"),
    (kernels.RBF(1.0) + kernels.WhiteKernel(0.3)) ** 2,
]


def kernel() -> Any:
    return 1.0 * kernels.RBF([1.0, 1.0]) + kernels.WhiteKernel(0.1)


@pytest.mark.parametrize("one", NOISY, ids=str)
def test_the_gradient_of_the_bound_is_that_of_differences(one: Any) -> None:
    rows, scale = Block(X, Y, W), Scale(np.array([0.1, 0.0]), np.array([1.0, 2.0]))
    at = X[least_known(one, X, W, 12)] + 0.01

    def bound(theta: Any) -> Any:
        return _here(bound_at(one.clone_with_theta(theta), at, 0.01, scale), rows)  # type: ignore[arg-type]

    known = bound(one.theta)
    found = _here(gradient_at(known), rows)  # type: ignore[arg-type]
    steps = 1e-5 * np.eye(len(one.theta))
    expected = [(bound(one.theta + step).bound - bound(one.theta - step).bound) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("one", [*NOISY, kernels.ExpSineSquared(), kernels.Matern(0.7, nu=0.5) * 2.0], ids=str)
def test_kernels_of_two_tables(one: Any) -> None:
    """Their values, how they change, and what rows do not share, against the matrix of one table."""
    found, V = between(one, X[:7], X[7:12]), RNG.normal(size=(7, 5))
    whole, slopes = one(X[:12], eval_gradient=True)
    np.testing.assert_allclose(found.K, whole[:7, 7:], rtol=1e-12)
    np.testing.assert_allclose(found.pull(V), np.einsum("ij,ijt->t", V, slopes[:7, 7:]), rtol=1e-10, atol=1e-12)
    shared = np.array([one(row[None], row[None].copy())[0, 0] for row in X[:12]])
    np.testing.assert_allclose(own_noise(one, X[:12]), one.diag(X[:12]) - shared, atol=1e-7)  # distances of equal rows are rounded


@pytest.mark.parametrize("target", [y, Y], ids=["one", "two"])
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
def test_with_all_rows_as_points_it_is_the_exact_process(target: Any, weights: Any) -> None:
    options: dict[str, Any] = {"alpha": 0.01, "optimizer": None, "normalize_y": True}
    exact = tenfold.GaussianProcessRegressor(kernel(), **options).fit(X, target, weights)
    every = tenfold.SparseGaussianProcessRegressor(kernel(), inducing_points=X, **options).fit(X, target, weights)
    chosen = tenfold.SparseGaussianProcessRegressor(kernel(), **options).fit(X, target, weights)
    for model in (every, chosen):
        assert model.lower_bound_ == pytest.approx(exact.log_marginal_likelihood_value_, abs=1e-5)
        assert model.lower_bound_ <= exact.log_marginal_likelihood_value_ + 1e-9
        for asked in ({"return_std": True}, {"return_cov": True}):
            for found, expected in zip(model.predict(X + 0.1, **asked), exact.predict(X + 0.1, **asked), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert chosen.sample_y(X[:3], 2).shape == exact.sample_y(X[:3], 2).shape


@pytest.mark.parametrize("one", NOISY, ids=str)
def test_the_bound_is_below_the_evidence_and_rises_with_the_points(one: Any) -> None:
    exact = tenfold.GaussianProcessRegressor(one, optimizer=None).fit(X, y).log_marginal_likelihood_value_
    order = least_known(one, X, W, 60)
    fits = [tenfold.SparseGaussianProcessRegressor(one, optimizer=None, inducing_points=X[order[:m]]).fit(X, y) for m in (1, 5, 20, 40)]
    bounds = [model.lower_bound_ for model in fits]
    assert (np.diff([*bounds, exact]) > -1e-7).all()


def test_the_largest_bound_is_near_the_largest_evidence() -> None:
    exact = tenfold.GaussianProcessRegressor(kernel()).fit(X, y, W)
    found = tenfold.SparseGaussianProcessRegressor(kernel()).fit(X, y, W)
    assert exact.log_marginal_likelihood_value_ - 1e-3 < found.lower_bound_ <= exact.log_marginal_likelihood_value_ + 1e-6
    copies = np.repeat(np.arange(60), W.astype(int))
    copied = tenfold.SparseGaussianProcessRegressor(kernel()).fit(X[copies], y[copies])
    blocks = [(X[i : i + 7], y[i : i + 7], W[i : i + 7]) for i in range(0, 60, 7)]
    streamed = tenfold.SparseGaussianProcessRegressor(kernel()).fit(blocks)
    for other in (copied, streamed):
        np.testing.assert_allclose(other.predict(X), found.predict(X), rtol=1e-5, atol=1e-6)
        assert other.lower_bound_ == pytest.approx(found.lower_bound_, rel=1e-7)


def test_steps_on_drawn_rows_end_where_those_on_all_rows_do(monkeypatch: Any) -> None:
    many = RNG.uniform(-2, 2, (2_500, 1))
    target = np.sin(3 * many[:, 0]) + 0.1 * RNG.normal(size=2_500)
    start = 1.0 * kernels.RBF(1.0) + kernels.WhiteKernel(1.0)
    whole = tenfold.SparseGaussianProcessRegressor(start, n_inducing=10).fit(many, target)
    monkeypatch.setattr("tenfold.kernel_machines.sparse_process.FEWEST", 300)
    drawn = tenfold.SparseGaussianProcessRegressor(start, n_inducing=10, n_restarts_optimizer=1, random_state=0).fit(many, target)
    assert drawn.lower_bound_ == pytest.approx(whole.lower_bound_, abs=1.0)  # their points are drawn from other rows
    fresh = RNG.uniform(-2, 2, (500, 1))
    assert np.abs(whole.predict(fresh) - np.sin(3 * fresh[:, 0])).max() < 0.03


def test_ranges_cover_what_is_drawn_from_the_process() -> None:
    """Functions of a known process, observed with noise: 90 % ranges of new targets hold 88 to 92 % of them."""
    held, places = [], RNG.uniform(-3, 3, (600, 1))
    truth = 1.0 * kernels.RBF(0.8) + kernels.WhiteKernel(0.05)
    for draw in tenfold.GaussianProcessRegressor(truth).sample_y(places, 12, random_state=1).T:
        model = tenfold.SparseGaussianProcessRegressor(n_inducing=15).fit(places[:300], draw[:300])
        mean, std = model.predict(places[300:], return_std=True)
        held.append(np.abs(draw[300:] - mean) < norm.ppf(0.95) * std)
    assert 0.88 <= np.mean(held) <= 0.92


def test_a_minimum_between_bounds() -> None:
    """Against SciPy's L-BFGS-B, on a valley with a bound in its way."""

    def value(at: Any) -> float:
        return float((1 - at[0]) ** 2 + 10 * (at[1] - at[0] ** 2) ** 2 + np.sum(at[2:] ** 2))

    def slope(at: Any) -> Any:
        bent = 10 * (at[1] - at[0] ** 2)
        return np.concatenate([[-2 * (1 - at[0]) - 4 * bent * at[0], 2 * bent], 2 * at[2:]])

    def value_at(at: Any) -> Any:
        yield lambda rows: None
        return value(at), at

    def gradient_of(at: Any) -> Any:
        yield lambda rows: None
        return slope(at)

    bounds = np.array([[-2.0, 0.7], [-2.0, 2.0], [0.5, 1.0]])
    found = _here(minimum(value_at, gradient_of, np.array([-1.5, 1.5, 0.9]), bounds), None)  # type: ignore[arg-type]
    expected = minimize(value, [-1.5, 1.5, 0.9], jac=slope, bounds=bounds, method="L-BFGS-B")
    assert found.converged and found.value == pytest.approx(expected.fun, abs=1e-8)
    np.testing.assert_allclose(found.theta, expected.x, atol=1e-4)


def test_saved_and_loaded(tmp_path: Any) -> None:
    model = tenfold.SparseGaussianProcessRegressor(kernel(), n_inducing=10).fit(X, Y)
    tenfold.save(model, tmp_path / "gp")
    again = tenfold.load(tmp_path / "gp")
    for found, expected in zip(again.predict(X, return_std=True), model.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_repeated_rows_and_constant_columns() -> None:
    """The kernel of the points would be singular: no row is chosen twice."""
    twice, target = np.vstack([X, X]), np.concatenate([y, y])
    model = tenfold.SparseGaussianProcessRegressor(kernel(), optimizer=None).fit(twice, target)
    assert len(np.unique(model.inducing_points_, axis=0)) == len(model.inducing_points_) <= 60
    exact = tenfold.GaussianProcessRegressor(kernel(), optimizer=None).fit(twice, target)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=1e-6)
    same = tenfold.SparseGaussianProcessRegressor(optimizer=None).fit(np.ones((5, 2)), y[:5])
    assert len(same.inducing_points_) == 1
    np.testing.assert_allclose(same.predict(np.ones((1, 2))), y[:5].sum() / 6, rtol=1e-6)


def test_bad_parameters_are_told(monkeypatch: Any) -> None:
    fits = tenfold.SparseGaussianProcessRegressor
    with pytest.raises(BadParameter, match=r"add a WhiteKernel\(\) to the kernel"):
        fits(kernels.RBF()).fit(X, y)
    with pytest.raises(BadParameter, match="the same for all rows"):
        fits(kernels.DotProduct() * kernels.WhiteKernel()).fit(X, y)
    with pytest.raises(BadParameter, match="rows of 2 numbers"):
        fits(inducing_points=np.ones((3, 5))).fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="mercer_check"):
        fits(kernels.FunctionKernel(lambda a, b: -float(a @ b)), alpha=0.1).fit(X, y)
    with pytest.warns(NotConverged, match="close to the specified upper bound"):
        fits(kernels.RBF(1.0, (0.01, 0.1)) + kernels.WhiteKernel(), n_inducing=5).fit(X[:, :1], X[:, 0])
    monkeypatch.setattr("tenfold.core.memory.memory", lambda: (1e6, 1e6))
    monkeypatch.setattr("tenfold.core.memory.LITTLE", 0)
    with pytest.raises(TooLarge, match="use SparseGaussianProcessRegressor"):
        tenfold.GaussianProcessRegressor().fit(RNG.normal(size=(300, 2)), np.zeros(300))
