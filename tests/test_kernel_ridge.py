"""KernelRidge against scikit-learn, its optimality, and rows left out against refitting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import KernelPCA as PeerPCA
from sklearn.kernel_ridge import KernelRidge as Peer

import tenfold
from tenfold import kernels
from tenfold.base.estimator import Estimator
from tenfold.core.errors import BadInput, BadParameter, DataWarning, Degenerate, NotFitted
from tenfold.core.threads import single_blas
from tenfold.kernel_machines import dual
from tenfold.solve.leading import eigenpairs
from tenfold.solve.tiles import cholesky_in_place, inverse_diagonal, inverse_from_lower, solve_both

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=90)
Y = np.column_stack([y, X[:, 2] - y])
W = RNG.integers(1, 4, 90).astype(float)
KERNELS: list[dict[str, Any]] = [
    {"kernel": "rbf", "alpha": 0.1},
    {"alpha": 2.0},
    {"kernel": "poly", "alpha": 0.3, "degree": 2},
    {"kernel": "laplacian"},
    {"kernel": "sigmoid", "gamma": 0.01},
]


@pytest.mark.parametrize("params", KERNELS, ids=str)
@pytest.mark.parametrize("target", [y, Y], ids=["one", "two"])
def test_equal_to_scikit_learn(params: dict[str, Any], target: Any) -> None:
    ours, theirs = tenfold.KernelRidge(**params).fit(X, target, W), Peer(**params).fit(X, target, W)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.predict(X + 0.1), theirs.predict(X + 0.1), rtol=1e-9, atol=1e-9)
    sparse = tenfold.KernelRidge(**params).fit(csr_matrix(X), target, W)
    np.testing.assert_allclose(sparse.predict(X), ours.predict(X), rtol=1e-9, atol=1e-9)


def test_the_gradient_is_zero() -> None:
    model = tenfold.KernelRidge(alpha=0.1, kernel=kernels.Matern([1.0, 2.0, 1.0, 3.0])).fit(X, y, W)
    K = model.kernel(X)
    np.testing.assert_allclose(K @ (W * (K @ model.dual_coef_ - y)) + 0.1 * K @ model.dual_coef_, 0, atol=1e-9)


def test_a_penalty_for_each_target() -> None:
    ours = tenfold.KernelRidge(alpha=[0.1, 3.0], kernel="rbf").fit(X, Y)
    np.testing.assert_allclose(ours.dual_coef_, Peer(alpha=[0.1, 3.0], kernel="rbf").fit(X, Y).dual_coef_, rtol=1e-8, atol=1e-9)
    with pytest.raises(BadParameter, match="do not correspond"):
        tenfold.KernelRidge(alpha=[1.0, 2.0, 3.0]).fit(X, Y)


@pytest.mark.parametrize("folds", [90, 10, 4])
@pytest.mark.parametrize("target", [y, Y], ids=["one", "two"])
def test_rows_left_out_for_all_penalties_equal_refits(folds: int, target: Any, monkeypatch: Any) -> None:
    model, alphas = tenfold.KernelRidge(kernel="rbf", gamma=0.3), np.geomspace(1e-3, 1e2, 7)

    def asked() -> tuple[Any, Any]:
        path = tenfold.validation_path(model, X, target, "alpha", alphas, folds=folds, score="rmse", sample_weight=W)
        return path.scores, tenfold.cross_validate(model, X, target, folds=folds, score="rmse", sample_weight=W)

    scores, once = asked()
    assert once.method == "closed form"
    monkeypatch.setattr(tenfold.KernelRidge, "_folds_along", Estimator._folds_along)
    monkeypatch.setattr(tenfold.KernelRidge, "_left_out_along", Estimator._left_out_along)
    refitted, again = asked()
    assert again.method == "refitted"
    np.testing.assert_allclose(scores, refitted, rtol=1e-8)
    np.testing.assert_allclose(once.predictions, again.predictions, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("params", [{}, {"kernel": "poly", "degree": 2}, {"kernel": "rbf", "gamma": 0.01}], ids=str)
def test_kernels_of_a_low_rank(params: dict[str, Any], monkeypatch: Any) -> None:
    """Many penalties, and rows left out, by a factor of few columns: as by the eigendecomposition, and as refitted."""
    many, weights = RNG.normal(size=(240, 2)), RNG.integers(1, 4, 240).astype(float)
    target, alphas = np.sin(many) + many[:, :1] ** 2, np.geomspace(1e-3, 1e2, 4)
    model = tenfold.KernelRidge(**params)
    seen: list[Any] = []
    low_rank = dual.low_rank
    monkeypatch.setattr(dual, "low_rank", lambda K, least: seen.append(low_rank(K, least)) or seen[-1])

    def scores(folds: int) -> Any:
        return tenfold.validation_path(model, many, target, "alpha", alphas, folds=folds, score="rmse", sample_weight=weights).scores

    found = [scores(folds) for folds in (240, 5)]
    assert seen and all(one is not None and one.shape[1] <= 60 for one in seen)
    monkeypatch.setattr(dual, "LEAST_ROWS", 10**9)
    whole = [scores(folds) for folds in (240, 5)]
    monkeypatch.setattr(tenfold.KernelRidge, "_folds_along", Estimator._folds_along)
    for one, expected in zip([*found, found[1]], [*whole, scores(5)], strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-8)


@pytest.mark.parametrize("shift", [0.0, 100.0, 1e3])
def test_rows_far_from_zero_left_out_are_those_of_refits(shift: float) -> None:
    """Beside the kernel's largest eigenvalue the penalty is rounding: one decomposition of all rows says nothing of the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + shift
    y = X @ [1.0, -2.0, 0.5, 1.0] + rng.normal(size=60)
    folds = [(np.delete(np.arange(60), test), test) for test in np.array_split(rng.permutation(60), 4)]
    for params in ({"kernel": "linear"}, {"kernel": "poly", "degree": 2, "gamma": 0.2}):
        model = tenfold.KernelRidge(2.0, **params)
        found = tenfold.cross_val_predict(model, X, y, folds=folds)
        along = tenfold.validation_path(model, X, y, "alpha", [0.5, 2.0], folds=folds, score="mse")
        for train, test in folds:
            np.testing.assert_allclose(found[test], model.fit(X[train], y[train]).predict(X[test]), rtol=1e-5)
        np.testing.assert_allclose(np.ravel(along.mean)[1], np.mean([np.mean((y - found)[test] ** 2) for _, test in folds]), rtol=1e-5)
        both = tenfold.KernelRidge([0.5, 2.0], **params).fit(X, np.column_stack([y, y])).predict(X)
        np.testing.assert_allclose(both[:, 1], model.fit(X, y).predict(X), rtol=1e-5)


def test_kernels_of_a_high_rank_have_no_small_factor() -> None:
    far = 100 * RNG.normal(size=(220, 3))
    assert dual.low_rank(kernels.pairwise_kernels(far, metric="rbf"), 1e-3) is None
    turned = kernels.pairwise_kernels(far, metric="sigmoid", gamma=1e-4)
    assert np.linalg.eigvalsh(turned)[0] < -0.1 and dual.low_rank(turned, 1e-3) is None  # no kernel: it has negative directions


def test_a_table_of_kernels() -> None:
    K = kernels.pairwise_kernels(X, metric="rbf")
    model = tenfold.KernelRidge(alpha=0.5, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.predict(K), tenfold.KernelRidge(alpha=0.5, kernel="rbf").fit(X, y).predict(X), rtol=1e-9)


def test_repeated_rows_without_penalty() -> None:
    with pytest.warns(Degenerate, match="Singular matrix"):
        model = tenfold.KernelRidge(alpha=0.0, kernel="rbf").fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_bad_kernels_are_told() -> None:
    with pytest.raises(BadParameter, match="must be one of 'linear'"):
        tenfold.KernelRidge(kernel="rfb").fit(X, y)
    with pytest.raises(BadParameter, match="a name, a kernel or a function"):
        tenfold.KernelRidge(kernel=3).fit(X, y)
    with pytest.raises(BadParameter, match="gamma=inf"):
        tenfold.KernelRidge(kernel="rbf", gamma=np.inf).fit(X, y)
    flat = tenfold.KernelRidge(kernel="rbf", gamma=0.0).fit(X, y)  # the kernel of all pairs is 1: a mean, drawn to zero
    np.testing.assert_allclose(flat.predict(X), y.sum() / 91, rtol=1e-9)
    with pytest.warns(Degenerate, match="mercer_check"):
        tenfold.KernelRidge(kernel="sigmoid", gamma=1.0, alpha=1e-8).fit(X, y)
    with pytest.raises(BadInput, match=r"kernel of rows \d+ and \d+ is inf: scale"):
        tenfold.KernelRidge(kernel="poly", degree=60).fit(1e9 * X, y)


def test_many_rows_are_told_and_learned_by_landmarks() -> None:
    """Two passes; with as many landmarks as rows the solution is the exact one."""
    many = RNG.normal(size=(20_100, 2))
    target = np.sin(many[:, 0]) * many[:, 1]
    with pytest.warns(DataWarning, match="20,100 rows"):
        model = tenfold.KernelRidge(alpha=0.01, kernel="rbf").fit(many, target)
    assert len(model.X_fit_) == 1000 and model.score(many[:2000], target[:2000]) > 0.999
    exact = tenfold.KernelRidge(alpha=0.5, kernel="rbf").fit(X, Y, W)
    every = tenfold.KernelRidge(alpha=0.5, kernel="rbf", landmarks=90).fit(X, Y, W)
    np.testing.assert_allclose(every.predict(X + 0.1), exact.predict(X + 0.1), rtol=1e-6, atol=1e-7)
    blocks = [(X[i : i + 7], Y[i : i + 7], W[i : i + 7]) for i in range(0, 90, 7)]
    streamed = tenfold.KernelRidge(alpha=0.5, kernel="rbf", landmarks=30).fit(blocks)
    whole = tenfold.KernelRidge(alpha=0.5, kernel="rbf", landmarks=30).fit(X, Y, W)
    np.testing.assert_allclose(streamed.predict(X), whole.predict(X), rtol=1e-7, atol=1e-9)


def test_features_stand_for_the_kernel() -> None:
    K = kernels.pairwise_kernels(X, metric="rbf", gamma=0.2)
    Z = tenfold.Nystroem(gamma=0.2, n_components=90, random_state=0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-8)
    few = tenfold.Nystroem(gamma=0.2, n_components=30, random_state=0).fit(X)
    z = few.transform(few.components_)
    np.testing.assert_allclose(z @ z.T, kernels.pairwise_kernels(few.components_, metric="rbf", gamma=0.2), atol=1e-8)
    waves = tenfold.RBFSampler(gamma=0.2, n_components=20_000, random_state=0).fit_transform(X)
    np.testing.assert_allclose(waves @ waves.T, K, atol=0.05)
    scaled = tenfold.RBFSampler(gamma="scale", n_components=20_000, random_state=0).fit_transform(X)
    np.testing.assert_allclose(scaled @ scaled.T, kernels.pairwise_kernels(X, metric="rbf", gamma=1 / (4 * X.var())), atol=0.05)
    with pytest.warns(DataWarning, match="n_components was set to 90"):
        tenfold.Nystroem(n_components=200).fit(X)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf"}, {"kernel": "poly", "degree": 2}], ids=str)
def test_kernel_components_are_those_of_scikit_learn(params: dict[str, Any]) -> None:
    ours, theirs = tenfold.KernelPCA(3, **params).fit(X), PeerPCA(3, **params).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(ours.transform(X + 0.1)), np.abs(theirs.transform(X + 0.1)), rtol=1e-8, atol=1e-9)
    copies = tenfold.KernelPCA(3, **params).fit(np.repeat(X, W.astype(int), axis=0))
    weighed = tenfold.KernelPCA(3, **params).fit(X, sample_weight=W)
    np.testing.assert_allclose(weighed.transform(X), copies.transform(X), rtol=1e-8, atol=1e-9)


def test_rows_come_back_from_kernel_components() -> None:
    params: dict[str, Any] = {"n_components": 20, "kernel": "rbf", "gamma": 0.1, "alpha": 0.01, "fit_inverse_transform": True}
    ours, theirs = tenfold.KernelPCA(**params).fit(X), PeerPCA(**params).fit(X)
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(X)), rtol=1e-7, atol=1e-8)
    assert np.abs(back - X).mean() < 0.1
    for wrong, words in (([["a"] * 20], "column 0, row 0"), ([[np.nan] * 20], "NaN in column 0"), ([[1.0]], "1 features"), ([1.0], "2D")):
        with pytest.raises(BadInput, match=words):
            ours.inverse_transform(wrong)
    assert not hasattr(tenfold.KernelPCA(2).fit(X), "inverse_transform")
    with pytest.raises(NotFitted, match="was not set to True"):
        tenfold.KernelPCA(2).fit(X).set_params(fit_inverse_transform=True).inverse_transform(X[:, :2])
    with pytest.raises(BadInput, match="no components"):
        tenfold.KernelPCA(2, remove_zero_eig=True).fit(np.ones((5, 2)))


@single_blas
def test_leading_eigenpairs_are_those_of_the_whole() -> None:
    basis = np.linalg.qr(RNG.normal(size=(600, 600)))[0]
    A = (basis * np.geomspace(1, 1e-9, 600)) @ basis.T
    values, vectors = eigenpairs(A, 8)
    np.testing.assert_allclose(values, np.geomspace(1, 1e-9, 600)[:8], rtol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-11)


@pytest.mark.parametrize("n", [1, 5, 256, 257, 700])
@single_blas
def test_tiles_are_the_whole(n: int) -> None:
    B = RNG.normal(size=(n, n + 20))
    A = B @ B.T + np.eye(n)
    L = A.copy()
    assert cholesky_in_place(L)
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(A), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(A @ inverse_from_lower(L), np.eye(n), atol=1e-10)
    np.testing.assert_allclose(A @ solve_both(L, B[:, :2]), B[:, :2], atol=1e-9)
    np.testing.assert_allclose(inverse_diagonal(L), np.diagonal(np.linalg.inv(A)), rtol=1e-8)
    assert not cholesky_in_place(-A)


def test_threads_do_not_change_a_bit() -> None:
    wide = RNG.normal(size=(600, 3))
    models = []
    for n in (1, 2):
        with tenfold.threads(n):
            models.append(tenfold.KernelRidge(kernel="rbf").fit(wide, wide[:, 0]).dual_coef_)
    np.testing.assert_array_equal(*models)
