"""GaussianProcessRegressor against scikit-learn, its evidence against differences, rows left out against refits, ranges against draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as peer
from scipy.optimize import approx_fprime
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor as Peer

import tenfold
from tenfold import kernels
from tenfold.core.errors import BadFile, BadInput, BadParameter

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (60, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * RNG.normal(size=60)
W = RNG.integers(1, 4, 60).astype(float)


def kernel(space: Any = kernels) -> Any:
    return 1.0 * space.RBF([1.0, 1.0]) + space.WhiteKernel(0.1)


@pytest.mark.parametrize("target", [y, np.column_stack([y, X[:, 0] * y])], ids=["one", "two"])
@pytest.mark.parametrize("normalize_y", [False, True])
def test_equal_to_scikit_learn(target: Any, normalize_y: bool) -> None:
    ours = tenfold.GaussianProcessRegressor(kernel(), normalize_y=normalize_y).fit(X, target)
    theirs = Peer(kernel(peer), normalize_y=normalize_y).fit(X, target)
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, rtol=1e-3, atol=1e-3)
    assert ours.log_marginal_likelihood_value_ == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-6)
    fixed = tenfold.GaussianProcessRegressor(theirs.kernel_, optimizer=None, normalize_y=normalize_y).fit(X, target)
    for options in ({"return_std": True}, {"return_cov": True}):
        for found, expected in zip(fixed.predict(X + 0.1, **options), theirs.predict(X + 0.1, **options), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
def test_the_gradient_of_the_evidence_is_that_of_differences(weights: Any) -> None:
    model = tenfold.GaussianProcessRegressor(kernel() + kernels.DotProduct(), alpha=0.01, optimizer=None).fit(X, y, weights)
    for theta in (model.kernel_.theta, model.kernel_.theta + np.array([0.3, -0.5, 0.2, 0.4, 0.1])):
        _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
        np.testing.assert_allclose(gradient, approx_fprime(theta, model.log_marginal_likelihood, 1e-6), rtol=1e-4, atol=1e-4)


def test_weights_are_copies() -> None:
    copies = np.repeat(np.arange(60), W.astype(int))
    weighed = tenfold.GaussianProcessRegressor(kernel()).fit(X, y, W)
    copied = tenfold.GaussianProcessRegressor(kernel()).fit(X[copies], y[copies])
    assert weighed.log_marginal_likelihood_value_ == pytest.approx(copied.log_marginal_likelihood_value_, rel=1e-8)
    for found, expected in zip(weighed.predict(X, return_std=True), copied.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_rows_left_out_equal_refits() -> None:
    model = tenfold.GaussianProcessRegressor(kernel(), normalize_y=False).fit(X, y)
    found = model.leave_one_out()
    for i in range(0, 60, 11):
        other = tenfold.GaussianProcessRegressor(model.kernel_, optimizer=None).fit(np.delete(X, i, 0), np.delete(y, i))
        mean, std = other.predict(X[i : i + 1], return_std=True)
        assert found.mean[i] == pytest.approx(mean[0], abs=1e-9) and found.std[i] == pytest.approx(std[0], rel=1e-7)
    expected = norm.logpdf(y, found.mean, found.std).mean()
    assert found.log_density == pytest.approx(expected, rel=1e-9)


def test_ranges_cover_what_is_drawn_from_the_process() -> None:
    """Functions of a known process, observed with noise: 90 % ranges of new targets hold 88 to 92 % of them."""
    held, places = [], RNG.uniform(-3, 3, (300, 1))
    truth = 1.0 * kernels.RBF(0.8) + kernels.WhiteKernel(0.05)
    for draw in tenfold.GaussianProcessRegressor(truth).sample_y(places, 12, random_state=1).T:
        model = tenfold.GaussianProcessRegressor(1.0 * kernels.RBF(1.0) + kernels.WhiteKernel(0.1)).fit(places[:150], draw[:150])
        mean, std = model.predict(places[150:], return_std=True)
        held.append(np.abs(draw[150:] - mean) < norm.ppf(0.95) * std)
    assert 0.88 <= np.mean(held) <= 0.92


def test_restarts_find_the_better_of_two_optima() -> None:
    few, target = np.array([[0.1], [0.9], [2.0], [3.1], [4.2], [5.0]]), np.array([0.0, 1.1, -1.0, 0.9, -1.2, 1.0])
    start = kernels.RBF(1e4, (1e-3, 1e5)) + kernels.WhiteKernel(1.0, (1e-8, 1e2))
    values = [
        tenfold.GaussianProcessRegressor(start, n_restarts_optimizer=n, random_state=0).fit(few, target).log_marginal_likelihood_value_
        for n in (0, 5)
    ]
    assert values[1] >= values[0]


def test_saved_and_loaded(tmp_path: Any) -> None:
    model = tenfold.GaussianProcessRegressor(kernel()).fit(X, y)
    tenfold.save(model, tmp_path / "gp")
    again = tenfold.load(tmp_path / "gp")
    assert again.kernel_ == model.kernel_
    for found, expected in zip(again.predict(X, return_std=True), model.predict(X, return_std=True), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_kernels_of_many_terms_come_back_as_they_were(tmp_path: Any) -> None:
    many = sum((float(i) * kernels.RBF(float(i)) for i in range(2, 30)), start=kernels.WhiteKernel(0.1)) + kernels.DotProduct() ** 2
    tenfold.save(tenfold.GaussianProcessRegressor(many, optimizer=None).fit(X, y), tmp_path / "many")
    assert repr(tenfold.load(tmp_path / "many").kernel_) == repr(many)
    deep: Any = kernels.RBF()
    for _ in range(3):
        deep = kernels.RBF() * (kernels.RBF() + deep)
    with pytest.raises(BadFile, match="fewer brackets"):
        tenfold.save(tenfold.GaussianProcessRegressor(deep, optimizer=None, alpha=0.1).fit(X, y), tmp_path / "deep")


def test_bad_parameters_are_told() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not returning a positive definite matrix"):
        tenfold.GaussianProcessRegressor(kernels.DotProduct(), alpha=0.0, optimizer=None).fit(X, y)
    with pytest.raises(BadParameter, match="must be a kernel of"):
        tenfold.GaussianProcessRegressor("rbf").fit(X, y)
    for length in (0.0, np.inf, -1.0):
        with pytest.raises(BadParameter, match="must be numbers above 0, and finite"):
            tenfold.GaussianProcessRegressor(kernels.RBF(length)).fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        tenfold.GaussianProcessRegressor(alpha=0.0, optimizer=None).fit(np.vstack([X, X]), np.concatenate([y, y]))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        tenfold.GaussianProcessRegressor(kernels.FunctionKernel(lambda a, b: -float(a @ b)), alpha=0.1).fit(X, y)
    with pytest.raises(BadParameter, match="same number of entries"):
        tenfold.GaussianProcessRegressor(alpha=np.ones(3)).fit(X, y)
    with pytest.raises(BadParameter, match="one at a time"):
        tenfold.GaussianProcessRegressor(optimizer=None).fit(X, np.column_stack([y, y])).leave_one_out()


@pytest.mark.parametrize("wrong, words", [([["a"]], "column 0, row 0"), ([[np.nan]], "NaN in column 0"), (np.zeros((2, 2, 2)), "3D")])
def test_rows_of_the_prior_pass_the_gate(wrong: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        tenfold.GaussianProcessRegressor().predict(wrong)
