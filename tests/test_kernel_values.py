"""Kernels as values: against scikit-learn's, their derivatives against differences, their algebra, and Mercer's condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as peer
from sklearn.metrics.pairwise import pairwise_kernels as peer_pairwise

import tenfold
from tenfold import kernels
from tenfold.core.errors import BadParameter

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 3)), RNG.normal(size=(5, 3))
SHARED: list[tuple[str, dict[str, Any]]] = [
    ("RBF", {"length_scale": 0.7}),
    ("RBF", {"length_scale": [1.0, 2.0, 3.0]}),
    ("RBF", {"length_scale": 0.7, "length_scale_bounds": "fixed"}),
    ("Matern", {"length_scale": 0.7, "nu": 0.5}),
    ("Matern", {"length_scale": [1.0, 0.7, 2.0], "nu": 1.5}),
    ("Matern", {"length_scale": 0.7, "nu": 2.5}),
    ("Matern", {"length_scale": 0.7, "nu": np.inf}),
    ("RationalQuadratic", {"length_scale": 0.7, "alpha": 1.4}),
    ("ExpSineSquared", {"length_scale": 0.7, "periodicity": 1.4}),
    ("DotProduct", {"sigma_0": 2.0}),
    ("ConstantKernel", {"constant_value": 2.0}),
    ("WhiteKernel", {"noise_level": 2.0}),
]
OWN = [
    kernels.Matern([1.0, 0.7, 2.0], nu=1.7),
    kernels.Laplacian(0.8),
    kernels.Laplacian([0.8, 1.0, 2.0]),
    kernels.Polynomial(3, 1.5, 0.7),
    kernels.PairwiseKernel(0.4, metric="rbf"),
    2.0 * kernels.RBF([1.0, 2.0, 3.0]) * kernels.DotProduct() + kernels.WhiteKernel(0.1) + 3.0,
]


@pytest.mark.parametrize("case", range(len(SHARED)))
def test_values_derivatives_and_parameters_are_those_of_scikit_learn(case: int) -> None:
    name, params = SHARED[case]
    ours, theirs = getattr(kernels, name)(**params), getattr(peer, name)(**params)
    pairs = [
        (ours, theirs),
        (2.0 * ours + kernels.RBF(0.5), 2.0 * theirs + peer.RBF(0.5)),
        (ours**2 * kernels.RBF([0.5, 1, 2]), theirs**2 * peer.RBF([0.5, 1, 2])),
    ]
    for one, other in pairs:
        (K, slopes), (expected, expected_slopes) = one(X, eval_gradient=True), other(X, eval_gradient=True)
        np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(slopes, expected_slopes, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(one(X, Y), other(X, Y), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(one.diag(X), other.diag(X), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-14, atol=0)
        assert str(one) == str(other) and one.is_stationary() == other.is_stationary()
        assert [h.name for h in one.hyperparameters] == [h.name for h in other.hyperparameters]
        moved = one.clone_with_theta(one.theta + 0.1)
        np.testing.assert_allclose(moved(X), other.clone_with_theta(other.theta + 0.1)(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", OWN, ids=lambda kernel: type(kernel).__name__)
def test_derivatives_are_those_of_differences_and_pull_sums_them(kernel: Any) -> None:
    W = RNG.normal(size=(12, 12))
    W = W + W.T
    K, slopes = kernel(X, eval_gradient=True)
    step = 1e-5
    for t, move in enumerate(step * np.eye(len(kernel.theta))):
        ends = [kernel.clone_with_theta(kernel.theta + sign * move)(X) for sign in (1, -1)]
        np.testing.assert_allclose(slopes[:, :, t], (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-7)
    pulled = kernel.evaluate(X).pull(W)
    np.testing.assert_allclose(pulled, np.einsum("ij,ijt->t", W, slopes), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(K), rtol=1e-12, atol=1e-12)
    assert kernels.mercer_check(kernel, X)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "additive_chi2"])
def test_kernels_by_name_are_those_of_scikit_learn(name: str) -> None:
    A, B = np.abs(X), np.abs(Y)
    np.testing.assert_allclose(kernels.pairwise_kernels(A, B, metric=name), peer_pairwise(A, B, metric=name), rtol=1e-12, atol=1e-12)
    with pytest.raises(BadParameter, match="does not look at"):
        kernels.pairwise_kernels(A, B, metric=name, length=1.0)


def test_noise_is_of_the_same_row_only() -> None:
    assert (kernels.WhiteKernel()(X, X) == 0).all() and (np.diagonal(kernels.WhiteKernel()(X)) == 1).all()


def test_equal_kernels_formulas_and_pages() -> None:
    one = 2.0 * kernels.RBF() + kernels.WhiteKernel()
    assert one == kernels.WhiteKernel() + 2.0 * kernels.RBF() and one != 2.0 * kernels.RBF(2.0) + kernels.WhiteKernel()
    assert one.formula() == "2 · exp(−‖(x − y) / 1‖² / 2) + 1 [x is y]" and "exp" in one._repr_html_()
    assert one.get_params()["k1__k2__length_scale"] == 1.0
    assert one.set_params(k1__k2__length_scale=3.0).k1.k2.length_scale == 3.0
    with pytest.raises(ValueError, match="Invalid parameter"):
        one.set_params(k3=1)
    with pytest.raises(BadParameter, match="can not be added"):
        one + "RBF"


def test_what_is_no_kernel_is_told_why() -> None:
    distance = kernels.FunctionKernel(lambda x, y: float(np.linalg.norm(x - y)))
    found = kernels.mercer_check(distance, X)
    assert not found and "eigenvalue" in str(found)
    np.testing.assert_allclose(found.vector @ distance(X) @ found.vector, found.smallest, rtol=1e-9)
    assert "not symmetric" in str(kernels.mercer_check(lambda A, B: A @ np.triu(np.ones((3, 3))) @ B.T, X))
    by_rows = kernels.mercer_check(lambda x, y: float(np.linalg.norm(x - y)), X)  # a function of two rows
    np.testing.assert_allclose([by_rows.smallest, by_rows.largest], [found.smallest, found.largest], rtol=1e-9, atol=0)
    with pytest.raises(tenfold.BadInput, match="neither two rows"):
        kernels.mercer_check(lambda x: x, X)
    assert "no number" in str(kernels.mercer_check(np.array([[1.0, np.nan], [np.nan, 1.0]]), None))


def test_a_function_of_texts_is_a_kernel() -> None:
    shared = kernels.FunctionKernel(lambda one, other: len(set(one) & set(other)))
    texts = ["kernel", "colonel", "kennel", "data"]
    assert kernels.mercer_check(shared, texts)
    model = tenfold.KernelRidge(alpha=0.1, kernel="precomputed").fit(shared(texts), [1.0, 2.0, 1.0, 5.0])
    assert model.predict(shared(["kernels"], texts))[0] == pytest.approx(model.predict(shared(texts))[0], abs=0.7)
