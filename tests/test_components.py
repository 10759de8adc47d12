"""PCA by each of its ways: triangles, products, numbers of components, missing cells, and as what a linear autoencoder finds."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA as TheirPCA

import tenfold
from tenfold.core.errors import BadInput, BadParameter, CannotForget, Degenerate, NotConverged, NotFitted
from tenfold.reduce import pca
from tenfold.solve.leading import leading

SHARED = Path(__file__).parents[2] / "shared" / "data" / "tables"
RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(600, 3)) @ RNG.normal(size=(3, 12)) + 0.3 * RNG.normal(size=(600, 12)) + 5


def orthonormal(n: int, p: int, seed: int) -> Any:
    Z = np.random.default_rng(seed).normal(size=(n, p))
    return np.linalg.qr(Z - Z.mean(axis=0))[0]


def assert_axes(found: Any, expected: Any, *, atol: float) -> None:
    """Equal up to sign."""
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=1)), 1.0, rtol=0, atol=atol)


# --- triangles ---


def graded(p: int = 25) -> tuple[Any, Any, Any]:
    """Rows with singular values from 1 to 1e-12 along known axes."""
    values, V = np.logspace(0, -12, p), orthonormal(p + 1, p, 1)[:p]
    V = np.linalg.qr(V)[0]
    return (orthonormal(400, p, 2) * values) @ V.T, values, V.T


def test_small_singular_values_are_right() -> None:
    """Products of columns would have nothing left of them; triangles err by rounding over the value, as an SVD of all rows does."""
    X, values, axes = graded()
    bound = 50 * np.finfo(float).eps / values
    for solver, w in (("auto", None), ("full", None), ("full", np.ones(400))):
        model = tenfold.PCA(svd_solver=solver).fit(X, sample_weight=w)
        assert model.solver_ == "full"
        assert (np.abs(model.singular_values_ / values - 1) < bound).all()
        assert_axes(model.components_, axes, atol=1e-8)
    lost = tenfold.PCA(svd_solver="covariance_eigh").fit(X)
    assert lost.solver_ == "covariance_eigh" and abs(lost.singular_values_[-1] / values[-1] - 1) > 0.5


def test_triangles_merge_and_stream() -> None:
    X, values, _ = graded()
    whole = tenfold.PCA(svd_solver="full").fit(X + 3.0)
    parts = tenfold.PCA(svd_solver="full")
    for start in range(0, 400, 9):
        parts.partial_fit(X[start : start + 9] + 3.0)
    merged = tenfold.PCA(svd_solver="full").fit(X[:7] + 3.0).merge(tenfold.PCA(svd_solver="full").fit(X[7:] + 3.0))
    streamed = tenfold.PCA(svd_solver="full").fit(iter([X[:100] + 3.0, X[100:] + 3.0]))
    for one in (parts, merged, streamed):
        np.testing.assert_allclose(one.singular_values_, whole.singular_values_, rtol=0, atol=1e-14)
        np.testing.assert_allclose(one.singular_values_[:10], values[:10], rtol=1e-9)  # adding 3 has cost digits of the others
        np.testing.assert_allclose(one.mean_, 3.0, rtol=1e-13)
    with pytest.raises(CannotForget, match="triangle"):
        whole.forget(X[:5])


def test_saved_triangles_go_on(tmp_path: Path) -> None:
    X = graded()[0]
    tenfold.save(tenfold.PCA(svd_solver="full").fit(X[:300]), tmp_path / "a", resumable=True)
    again = tenfold.load(tmp_path / "a").partial_fit(X[300:])
    np.testing.assert_allclose(again.singular_values_, tenfold.PCA(svd_solver="full").fit(X).singular_values_, rtol=0, atol=1e-15)


def test_dependent_columns_have_no_variance_left() -> None:
    X = RNG.normal(size=(100, 5))
    X = np.hstack([X, X @ RNG.normal(size=(5, 3))])
    model = tenfold.PCA().fit(X)
    assert model.solver_ == "full" and (model.explained_variance_ > 0).sum() == 5
    with pytest.warns(Degenerate, match="n_components=7, but the centred rows have rank 5"):
        tenfold.PCA(7).fit(X)


@pytest.mark.parametrize("shape", [(30, 400), (300, 40)])
def test_way_is_recorded(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(1).normal(size=shape)
    model, theirs = tenfold.PCA(5).fit(X), TheirPCA(5, svd_solver="full").fit(X)
    assert model.solver_ == ("gram" if shape[0] < shape[1] else "covariance_eigh")
    np.testing.assert_allclose(model.singular_values_, theirs.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(model.components_, theirs.components_, rtol=0, atol=1e-10)
    steep = X * 10.0 ** -np.minimum(np.arange(shape[1]) / 3, 6.0)
    assert tenfold.PCA(14).fit(steep[:30]).solver_ == "full"  # products of rows would have lost the last


# --- products ---


def test_products_find_the_leading_components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pca, "PAYS", 2)
    for X in (FACTORS @ RNG.normal(size=(12, 60)), sparse.random(500, 90, density=0.1, random_state=0, format="csr")):
        exact = tenfold.PCA(3).fit(X)
        for solver, atol in (("arpack", 1e-7), ("randomized", 1e-4)):
            model = tenfold.PCA(3, svd_solver=solver, random_state=0).fit(X)
            assert model.solver_ == "randomized"
            np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-9)
            np.testing.assert_allclose(model.noise_variance_, exact.noise_variance_, rtol=1e-6, atol=1e-12)
            np.testing.assert_allclose(model.components_, exact.components_, rtol=0, atol=atol)
        with pytest.raises(NotFitted, match="no statistics"):
            model.partial_fit(X)
    rough = tenfold.PCA(3, svd_solver="randomized", iterated_power=0).fit(X)
    assert 0 < rough.explained_variance_ratio_.sum() < exact.explained_variance_ratio_.sum()
    with pytest.warns(NotConverged, match="have not settled"):
        monkeypatch.setattr(pca, "PASSES", 2)
        tenfold.PCA(3, svd_solver="arpack").fit(np.random.default_rng(0).normal(size=(300, 100)))


def test_many_columns_are_sought_by_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pca, "WIDE", 500)
    X = sparse.random(400, 600, density=0.03, random_state=1, format="csr")
    model = tenfold.PCA(2).fit(X)
    assert model.solver_ == "randomized"
    np.testing.assert_allclose(model.singular_values_, tenfold.PCA(2, svd_solver="covariance_eigh").fit(X).singular_values_, rtol=1e-10)


def test_spaces_end_with_the_rank() -> None:
    """What a matrix of low rank leads to beyond its range is rounding, and no eigenvector."""
    for rank in (1, 3, 15):
        A = RNG.normal(size=(200, rank))
        found = leading(A @ A.T, 5)
        assert found is not None
        np.testing.assert_allclose(found[0], np.linalg.eigvalsh(A @ A.T)[::-1][:5], rtol=0, atol=1e-10)


# --- numbers ---


@pytest.mark.parametrize("rule", ["parallel", "cv", "mle"])
def test_number_of_factors_is_found(rule: str) -> None:
    model = tenfold.PCA(rule).fit(FACTORS)
    assert model.n_components_ == 3
    streamed = tenfold.PCA(rule).fit(iter([FACTORS[:100], FACTORS[100:]]))
    w = np.random.default_rng(0).integers(1, 3, len(FACTORS))
    one, two = (tenfold.PCA(rule).fit(X, sample_weight=v) for X, v in ((FACTORS, w), (np.repeat(FACTORS, w, axis=0), None)))
    assert streamed.n_components_ == 3 and one.n_components_ == two.n_components_


@pytest.mark.parametrize("rule", ["parallel", "cv"])
def test_number_beyond_chance(rule: str) -> None:
    noise = np.random.default_rng(3).normal(size=(300, 8))
    with pytest.warns(Degenerate, match="one is kept"):
        assert tenfold.PCA(rule).fit(noise).n_components_ == 1
    wide = np.random.default_rng(4).normal(size=(60, 4)) @ RNG.normal(size=(4, 200)) + RNG.normal(size=(60, 200))
    assert tenfold.PCA(rule).fit(wide).n_components_ == 4
    with pytest.raises(BadParameter, match="needs all rows at once"):
        tenfold.PCA(rule).partial_fit(FACTORS)
    assert tenfold.PCA(rule, svd_solver="full").fit(FACTORS).solver_ == "full"


def test_left_out_cells_by_hand() -> None:
    """The closed form of "cv": each cell from the others of its row, by least squares in the plane of the other folds."""
    from tenfold.core.data import Block
    from tenfold.reduce.number import _missed, by_fold

    found = by_fold(Block(FACTORS, None, np.ones(len(FACTORS))), 0)
    folds = [found[i] for i in sorted(found)]
    parts = by_hand = [FACTORS[tenfold.core.ops.hash_rows(FACTORS, 0) % np.uint64(5) == i] for i in range(5)]
    rest, new = np.concatenate(parts[1:]), by_hand[0]
    V, total = TheirPCA(2, svd_solver="full").fit(rest).components_, 0.0
    for j in range(12):
        others = np.arange(12) != j
        apart = new - rest.mean(axis=0)
        scores = np.linalg.lstsq(V[:, others].T, apart[:, others].T, rcond=None)[0]
        total += float(np.sum((apart[:, j] - V[:, j] @ scores) ** 2))
    assert _missed(folds, 0, 5)[2] == pytest.approx(total, rel=1e-10)
    few = by_fold(Block(FACTORS[:40], None, np.ones(40)), 0)  # rows are kept: the same sums from them
    assert all(one.moments is None for one in few.values())


# --- missing cells ---


def with_gaps(share: float) -> Any:
    return np.where(np.random.default_rng(5).random(FACTORS.shape) < share, np.nan, FACTORS)


def test_no_gaps_are_pca() -> None:
    for k in (2, 0.9, None):
        ours, plain = tenfold.PCA(k, missing_cells="em").fit(FACTORS), tenfold.PCA(k).fit(FACTORS)
        assert ours.solver_ == "em"
        for name in ("components_", "explained_variance_", "mean_", "noise_variance_", "explained_variance_ratio_"):
            np.testing.assert_allclose(getattr(ours, name), getattr(plain, name), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.transform(FACTORS), plain.transform(FACTORS), rtol=1e-8, atol=1e-8)


def test_gaps_are_told_by_the_other_cells() -> None:
    X = with_gaps(0.2)
    gaps = np.isnan(X)
    model = tenfold.PCA(3, missing_cells="em").fit(X)
    assert_axes(model.components_, tenfold.PCA(3).fit(FACTORS).components_, atol=1e-3)
    back = model.inverse_transform(model.transform(X))
    assert np.sqrt(np.mean((back - FACTORS)[gaps] ** 2)) < 0.45  # the noise is 0.3; the deviations of the columns are about 1.7
    assert np.isfinite(model.score_samples(X)).all() and (model.reconstruction_error(X) >= 0).all()
    streamed = tenfold.PCA(3, missing_cells="em").fit([X[:250], X[250:]])
    np.testing.assert_allclose(streamed.components_, model.components_, rtol=0, atol=1e-9)
    w = np.random.default_rng(0).integers(1, 3, len(X))
    one, two = (tenfold.PCA(3, missing_cells="em").fit(Z, sample_weight=v) for Z, v in ((X, w), (np.repeat(X, w, axis=0), None)))
    np.testing.assert_allclose(one.explained_variance_, two.explained_variance_, rtol=1e-8)


def test_all_components_are_the_gaussian_of_highest_likelihood() -> None:
    X = with_gaps(0.1)
    model = tenfold.PCA(missing_cells="em").fit(X)
    normal = tenfold.GaussianMixture(1, reg_covar=0.0, tol=1e-12, max_iter=1000).fit(X)
    np.testing.assert_allclose(model.get_covariance() * 599 / 600, normal.covariances_[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.mean_, normal.means_[0], rtol=1e-6)


def test_gaps_that_cannot_be_told() -> None:
    X = with_gaps(0.1)
    with pytest.raises(BadInput, match="NaN"):
        tenfold.PCA(2).fit(X)
    with pytest.raises(BadParameter, match="give a number"):
        tenfold.PCA("cv", missing_cells="em").fit(X)
    with pytest.raises(BadParameter, match="needs all rows at once"):
        tenfold.PCA(2, missing_cells="em").partial_fit(X)
    with pytest.raises(BadInput, match=r"column 3 of X has no value"):
        tenfold.PCA(2, missing_cells="em").fit(np.where(np.arange(12) == 3, np.nan, X))
    empty = np.full((1, 12), np.nan)  # a row of which nothing is known lies at the mean
    model = tenfold.PCA(2, missing_cells="em").fit(np.vstack([X, empty]))
    np.testing.assert_allclose(model.transform(empty), 0.0, atol=1e-12)


# --- real tables ---


@cache
def real_tables() -> dict[str, Any]:
    found = {"digits": load_digits().data, "breast_cancer": load_breast_cancer().data}
    path = SHARED / "tecator.csv.gz"
    if path.exists():
        found["tecator"] = pandas.read_csv(path).select_dtypes("number").to_numpy(float)
    return found


@pytest.mark.parametrize("name", real_tables())
def test_is_theirs_on_real_tables(name: str) -> None:
    X = real_tables()[name]
    theirs = TheirPCA(10, svd_solver="full").fit(X)
    for solver in ("auto", "full", "covariance_eigh", "randomized"):
        ours = tenfold.PCA(10, svd_solver=solver).fit(X)
        np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-12 if solver == "full" else 1e-9)
        assert_axes(ours.components_, theirs.components_, atol=1e-9)
        np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-5)


# --- what a linear autoencoder finds ---


def test_linear_autoencoder_is_pca() -> None:
    """Baldi & Hornik 1989: the loss Σ ‖x − B A x‖² of centred rows has no gradient at any span of principal axes, is least at that of
    the leading ones, and descent from anywhere finds that span."""
    X = FACTORS - FACTORS.mean(axis=0)
    S, V = X.T @ X / len(X), tenfold.PCA().fit(X).components_

    def loss(A: Any, B: Any) -> float:
        return float(np.trace(S) - 2 * np.trace(B @ A @ S) + np.trace(B.T @ B @ A @ S @ A.T))

    def gradients(A: Any, B: Any) -> tuple[Any, Any]:
        return 2 * (B.T @ B @ A @ S - B.T @ S), 2 * (B @ A @ S @ A.T - S @ A.T)

    for some in ([0, 1], [0, 4], [3, 7]):
        assert max(np.abs(g).max() for g in gradients(V[some], V[some].T)) < 1e-12
        assert loss(V[some], V[some].T) >= loss(V[:2], V[:2].T)
    least = loss(V[:2], V[:2].T)
    assert least == pytest.approx(tenfold.PCA(2).fit(X).reconstruction_error(X).mean(), rel=1e-10)
    A, B = 0.1 * np.random.default_rng(7).normal(size=(2, 2, 12))
    B = B.T
    for _ in range(200):  # each of the two has a least squares solution given the other
        A = np.linalg.solve(B.T @ B, B.T)
        B = S @ A.T @ np.linalg.inv(A @ S @ A.T)
    assert loss(A, B) == pytest.approx(least, rel=1e-10)
    np.testing.assert_allclose(B @ A, V[:2].T @ V[:2], rtol=0, atol=1e-6)
