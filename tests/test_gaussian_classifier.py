"""GaussianProcessClassifier against scikit-learn, its evidence against differences, its average sigmoid against quadrature."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as peer
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier as Peer

import tenfold
from tenfold import kernels
from tenfold.core.errors import BadParameter, NotConverged
from tenfold.kernel_machines.laplace import Labels, averaged_sigmoid, mode

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (80, 2))
NEW = RNG.uniform(-3, 3, (300, 2))
TRUTH = np.sin(2 * X[:, 0]) + X[:, 1]
y = (TRUTH + 0.4 * RNG.normal(size=80) > 0).astype(int)
THREE = np.digitize(TRUTH + 0.2 * RNG.normal(size=80), [-0.7, 0.7])
W = RNG.integers(1, 4, 80).astype(float)


def kernel(space: Any = kernels) -> Any:
    return 1.0 * space.RBF([1.0, 1.0])


def test_two_classes_are_those_of_scikit_learn() -> None:
    ours, theirs = tenfold.GaussianProcessClassifier(kernel()).fit(X, y), Peer(kernel(peer)).fit(X, y)
    np.testing.assert_allclose(ours.kernel_.theta, theirs.kernel_.theta, rtol=1e-3, atol=1e-3)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-6)
    for shift in (0.0, 0.4, -1.0, [1.0, -0.5, 2.0]):
        theta = theirs.kernel_.theta + shift
        (mine, slope), (their, slope_there) = (one.log_marginal_likelihood(theta, eval_gradient=True) for one in (ours, theirs))
        assert mine == pytest.approx(their, abs=1e-8)
        np.testing.assert_allclose(slope, slope_there, rtol=1e-5, atol=1e-7)
    fixed = tenfold.GaussianProcessClassifier(theirs.kernel_, optimizer=None).fit(X, y)
    for found, expected in zip(fixed.latent_mean_and_variance(NEW), theirs.latent_mean_and_variance(NEW), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(fixed.predict_proba(NEW), theirs.predict_proba(NEW), rtol=0, atol=3e-4)  # theirs is rounded so much
    assert (fixed.predict(NEW) == theirs.predict(NEW)).all()


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_three_classes_are_those_of_scikit_learn(multi_class: str) -> None:
    labels = np.array(["low", "middle", "high"])[THREE]
    options: dict[str, Any] = dict(optimizer=None, multi_class=multi_class)
    ours = tenfold.GaussianProcessClassifier(kernel(), **options).fit(X, labels)
    theirs = Peer(kernel(peer), **options).fit(X, labels)
    assert (ours.predict(NEW) == theirs.predict(NEW)).all()
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-8)
    assert ours.kernel_.theta.shape == theirs.kernel_.theta.shape
    assert ours.log_marginal_likelihood([1.0, 0.3, 0.1]) == pytest.approx(theirs.log_marginal_likelihood([1.0, 0.3, 0.1]), abs=1e-8)
    if multi_class == "one_vs_rest":
        np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), rtol=0, atol=3e-4)
    else:
        assert not hasattr(ours, "predict_proba")


def test_with_the_kernel_by_default_and_with_foreign_ones() -> None:
    ours, theirs = tenfold.GaussianProcessClassifier().fit(X, y), Peer().fit(X, y)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood(), abs=1e-8)
    foreign = tenfold.GaussianProcessClassifier(kernel(peer)).fit(X, y)
    ours = tenfold.GaussianProcessClassifier(kernel()).fit(X, y)
    assert foreign.log_marginal_likelihood() == pytest.approx(ours.log_marginal_likelihood())


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("target", [y, THREE], ids=["two", "three"])
def test_the_gradient_of_the_evidence_is_that_of_differences(weights: Any, target: Any) -> None:
    mixed = kernel() + 0.3 * kernels.Matern(0.5, nu=2.5) + kernels.WhiteKernel(0.2)
    model = tenfold.GaussianProcessClassifier(mixed, optimizer=None).fit(X, target, weights)
    for theta in (mixed.theta, mixed.theta + RNG.normal(size=6)):
        _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
        np.testing.assert_allclose(gradient, approx_fprime(theta, model.log_marginal_likelihood, 1e-6), rtol=1e-3, atol=1e-4)
    every = np.asarray(model.kernel_.theta)
    _, gradient = model.log_marginal_likelihood(every, eval_gradient=True)
    np.testing.assert_allclose(gradient, approx_fprime(every, model.log_marginal_likelihood, 1e-6), rtol=1e-3, atol=1e-4)


def test_the_evidence_is_largest_where_the_fit_ends() -> None:
    model = tenfold.GaussianProcessClassifier(kernel(), n_restarts_optimizer=2, random_state=0).fit(X, y)
    best = model.log_marginal_likelihood()
    assert best == pytest.approx(model.log_marginal_likelihood(model.kernel_.theta), abs=1e-8)
    for move in RNG.normal(scale=0.5, size=(10, 3)):
        assert model.log_marginal_likelihood(model.kernel_.theta + move) < best


def test_weights_are_copies() -> None:
    copies = np.repeat(np.arange(80), W.astype(int))
    weighed = tenfold.GaussianProcessClassifier(kernels.RBF([1.0, 1.0])).fit(X, y, W)
    copied = tenfold.GaussianProcessClassifier(kernels.RBF([1.0, 1.0])).fit(X[copies], y[copies])
    assert weighed.log_marginal_likelihood() == pytest.approx(copied.log_marginal_likelihood(), abs=1e-6)
    np.testing.assert_allclose(weighed.predict_proba(NEW), copied.predict_proba(NEW), rtol=0, atol=1e-4)


@pytest.mark.parametrize("mean", [-30.0, -5.0, -1.0, 0.0, 0.3, 4.0])
@pytest.mark.parametrize("variance", [0.01, 0.5, 3.99, 4.01, 30.0, 1e4])
def test_the_average_of_a_sigmoid_has_all_digits(mean: float, variance: float) -> None:
    deviation = variance**0.5

    def weighed(z: float) -> float:
        return float(expit(z)) * np.exp(-0.5 * ((z - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))

    ends = np.sort([*(mean + deviation * np.array([-12.0, -3, 0, 3, 12])), -40.0, -4.0, 0.0, 4.0, 40.0])
    expected = sum(quad(weighed, a, b, epsabs=1e-16, epsrel=1e-13)[0] for a, b in pairwise(ends) if b > a)
    assert averaged_sigmoid(np.array([mean]), np.array([variance]))[0] == pytest.approx(expected, abs=2e-14)


def test_the_mode_is_one_whatever_the_start_and_the_scale() -> None:
    """At the mode a = ∇ log p(t | K a): a certificate. Steps that overshoot are halved."""
    labels = Labels(y.astype(float), W)
    for scale in (1e-12, 1.0, 1e4, 1e8):
        K = np.asarray((scale * kernels.RBF(0.5))(X))
        for start in (None, W * (y - 0.5), RNG.normal(size=80) / scale):
            found = mode(K, labels, start, 100)
            assert found is not None and found.converged
            np.testing.assert_allclose(found.dual, W * (y - expit(K @ found.dual)), rtol=0, atol=1e-7)


def test_probabilities_are_those_of_the_process() -> None:
    """Classes drawn from a known process: of what is given a chance near c, a share near c has the class."""
    places, said, seen = np.linspace(0, 8, 240)[:, None], [], []
    truth = 9.0 * kernels.RBF(0.6)
    draws = tenfold.GaussianProcessRegressor(truth).sample_y(places, 20, random_state=3).T
    for f in draws:
        t = RNG.random(240) < expit(f)
        model = tenfold.GaussianProcessClassifier(truth, optimizer=None).fit(places[::2], t[::2])
        said.append(model.predict_proba(places[1::2])[:, 1])
        seen.append(t[1::2])
    chance, happened = np.concatenate(said), np.concatenate(seen)
    for low in np.arange(0, 1, 0.2):
        some = (chance >= low) & (chance < low + 0.2)
        assert abs(happened[some].mean() - chance[some].mean()) < 0.06


def test_saved_and_loaded(tmp_path: Any) -> None:
    for target in (y, THREE):
        model = tenfold.GaussianProcessClassifier(kernels.RBF([1.0, 1.0])).fit(X, target, W)
        tenfold.save(model, tmp_path / "gp")
        again = tenfold.load(tmp_path / "gp")
        np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
        theta = model.kernel_.theta + 0.1
        assert again.log_marginal_likelihood(theta) == pytest.approx(model.log_marginal_likelihood(theta), abs=1e-9)


def test_the_bits_do_not_depend_on_threads() -> None:
    rows, labels = RNG.normal(size=(700, 3)), RNG.integers(0, 2, 700)
    found = []
    for n in (1, 3):
        with tenfold.threads(n):
            found.append(tenfold.GaussianProcessClassifier(kernels.RBF(0.5), optimizer=None).fit(rows, labels).predict_proba(rows))
    np.testing.assert_array_equal(*found)


def test_a_warm_start_ends_where_a_cold_one_does() -> None:
    warm = tenfold.GaussianProcessClassifier(kernel(), optimizer=None, warm_start=True).fit(X, y)
    expected = tenfold.GaussianProcessClassifier(kernel(), optimizer=None).fit(X, 1 - y)
    np.testing.assert_allclose(warm.fit(X, 1 - y).predict_proba(NEW), expected.predict_proba(NEW), rtol=1e-8)


def test_bad_parameters_are_told() -> None:
    with pytest.raises(BadParameter, match="cannot be a CompoundKernel"):
        tenfold.GaussianProcessClassifier(kernels.CompoundKernel([kernels.RBF()])).fit(X, y)
    with pytest.raises(BadParameter, match="Unknown optimizer"):
        tenfold.GaussianProcessClassifier(kernel(), optimizer="adam").fit(X, y)
    with pytest.raises(BadParameter, match="must be a kernel of"):
        tenfold.GaussianProcessClassifier("rbf").fit(X, y)
    with pytest.raises(np.linalg.LinAlgError, match="scale the columns"):
        tenfold.GaussianProcessClassifier(kernels.DotProduct() ** 5).fit(1e90 * X, y)
    with pytest.raises(BadParameter, match="either 3 or 3"):
        tenfold.GaussianProcessClassifier(kernel(), optimizer=None).fit(X, y).log_marginal_likelihood([1.0])
    with pytest.raises(BadParameter, match="only supported for binary"):
        tenfold.GaussianProcessClassifier(kernel(), optimizer=None).fit(X, THREE).latent_mean_and_variance(X)
    with pytest.warns(NotConverged, match="allow more steps"):
        tenfold.GaussianProcessClassifier(1e6 * kernels.RBF(0.3), optimizer=None, max_iter_predict=1).fit(X, y)
