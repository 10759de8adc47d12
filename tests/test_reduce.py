"""PCA: against scikit-learn, closed forms, and at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn import datasets
from sklearn.decomposition import PCA as TheirPCA

import tenfold
from tenfold.core.data import Block
from tenfold.core.errors import BadInput, BadParameter, CannotForget, Degenerate, NotFitted
from tenfold.reduce.table import SPARE, Table, Triangular
from tenfold.solve.linalg import largest_eigh

TABLES = {
    name: getattr(datasets, f"load_{name}")(return_X_y=True)[0] for name in ("iris", "wine", "breast_cancer", "digits")
}
TABLES["wide"] = np.random.default_rng(0).normal(size=(40, 100)) * np.linspace(1, 3, 100)
ANSWERS = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
)


@pytest.fixture(params=TABLES)
def X(request: Any) -> Any:
    return TABLES[request.param]


def assert_close(found: Any, expected: Any, *, rtol: float = 1e-8) -> None:
    """Equal up to `rtol` of the largest number."""
    scale = float(np.abs(np.asarray(expected)).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * scale + 1e-300)


def assert_same_fit(one: Any, other: Any, *, rtol: float = 1e-8) -> None:
    for name in ANSWERS:
        assert_close(getattr(one, name), getattr(other, name), rtol=rtol)


# --- against scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        {"n_components": 3},
        {"n_components": 3, "whiten": True},
        {"n_components": 0.9},
        {"n_components": "mle"},
        {"n_components": 0},
        {},
    ],
    ids=str,
)
def test_is_theirs(X: Any, setting: dict[str, Any]) -> None:
    if setting.get("n_components") == "mle" and len(X) < X.shape[1]:
        pytest.skip("defined for at least as many rows as columns")
    ours, theirs = tenfold.PCA(**setting).fit(X), TheirPCA(svd_solver="full", **setting).fit(X)
    assert ours.n_components_ == theirs.n_components_
    sound = int(
        (theirs.explained_variance_ > 1e-14 * theirs.explained_variance_.max(initial=0)).sum()
    )  # others: any basis
    for name in ANSWERS[1:-1]:
        assert_close(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, rel=1e-9, abs=1e-14 * X.var())
    assert_close(ours.components_[:sound], theirs.components_[:sound], rtol=1e-9)
    assert_close(ours.transform(X)[:, :sound], theirs.transform(X)[:, :sound])
    if not setting.get("whiten") and ours.n_components_:
        assert_close(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)))
        assert_close(ours.get_covariance(), theirs.get_covariance())
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_density_is_theirs(X: Any) -> None:
    ours, theirs = tenfold.PCA(n_components=3).fit(X), TheirPCA(n_components=3, svd_solver="full").fit(X)
    assert_close(ours.score_samples(X), theirs.score_samples(X))
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-8)
    assert_close(ours.get_precision(), theirs.get_precision())


# --- closed forms ---------------------------------------------------------------------------------


def test_components_diagonalise_the_covariance(X: Any) -> None:
    model = tenfold.PCA().fit(X)
    V, C = model.components_, np.cov(X.T)
    assert_close(V @ V.T, np.eye(len(V)), rtol=1e-12)
    assert_close(V @ C @ V.T, np.diag(model.explained_variance_), rtol=1e-12)
    assert (V[np.arange(len(V)), np.abs(V).argmax(axis=1)] > 0).all()


def test_whitened_components_have_variance_one() -> None:
    X = TABLES["wine"]
    model = tenfold.PCA(n_components=5, whiten=True).fit(X)
    Z = model.transform(X)
    assert_close(np.cov(Z.T), np.eye(5), rtol=1e-9)
    assert_close(
        model.inverse_transform(Z),
        tenfold.PCA(n_components=5).fit(X).inverse_transform(tenfold.PCA(n_components=5).fit_transform(X)),
        rtol=1e-10,
    )


def test_density_is_gaussian() -> None:
    X = TABLES["iris"]
    for k in (2, 4):
        model = tenfold.PCA(n_components=k).fit(X)
        by_hand = stats.multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
        assert_close(model.score_samples(X), by_hand, rtol=1e-10)
        assert_close(model.get_precision() @ model.get_covariance(), np.eye(4), rtol=1e-10)


def test_leading_eigenvectors_are_those_of_all() -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(80, 60))
    A = A.T @ A
    values, vectors = np.linalg.eigh(A)
    for k in (0, 1, 7, 60):
        some, axes = largest_eigh(A, k)
        assert_close(some, values[60 - k :], rtol=1e-12)
        assert_close(np.abs(np.sum(axes * vectors[:, 60 - k :], axis=0)), np.ones(k), rtol=1e-10)


# --- more rows, fewer rows, weights, containers ---------------------------------------------------


def test_weights_are_copies(X: Any) -> None:
    w = np.random.default_rng(0).integers(0, 4, len(X))
    copies = np.repeat(X, w, axis=0)
    for k in (2, None):
        one, two = tenfold.PCA(k).fit(X, sample_weight=w), tenfold.PCA(k).fit(copies)
        assert_same_fit(one, two)
        assert one.n_samples_ == two.n_samples_ == len(copies)


def test_in_pieces_merged_and_forgotten() -> None:
    X = TABLES["wine"]
    whole = tenfold.PCA(3).fit(X)
    parts = tenfold.PCA(3)
    for start in range(0, len(X), 7):
        parts.partial_fit(X[start : start + 7])
    assert_same_fit(parts, whole)
    merged = tenfold.PCA(3).fit(X[:90]).merge(tenfold.PCA(3).fit(X[90:]))
    assert_same_fit(merged, whole)
    assert_same_fit(merged.forget(X[90:]), tenfold.PCA(3).fit(X[:90]))


def test_rows_are_kept_only_while_they_are_fewer_than_columns() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(130, 100))
    model = tenfold.PCA(2)
    for stop, kept in ((30, True), (60, True), (90, True), (120, False)):
        model.partial_fit(X[stop - 30 : stop])
        assert (model.stats_.moments is None) == kept
        assert_same_fit(model, tenfold.PCA(2).fit(X[:stop]))
    with pytest.raises(CannotForget, match="fewer rows than columns"):
        tenfold.PCA(2).fit(X[:40]).forget(X[:3])
    few, many = Table.of(Block(X[:10], None, np.ones(10))), Table.of(Block(X, None, np.ones(130)))
    for order in (few + many, many + few):
        assert_close(order.as_moments().scatter, np.cov(np.vstack([X, X[:10]]).T) * 139, rtol=1e-12)


def test_kept_rows_do_not_follow_the_array_they_came_from() -> None:
    X = np.random.default_rng(2).normal(size=(10, 50))
    expected = tenfold.PCA(2).fit(X.copy()).partial_fit(X.copy())
    mine = X.copy()
    model = tenfold.PCA(2).fit(mine)
    mine[:] = 0.0
    assert_same_fit(model.partial_fit(X), expected)


def test_many_columns_make_no_square_matrix() -> None:
    """30,000 columns: their covariance would need 7 GB."""
    X = np.random.default_rng(0).normal(size=(20, 30_000))
    model = tenfold.PCA(5).fit(X)
    assert_close(model.singular_values_, np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:5], rtol=1e-10)


def test_sparse_rows() -> None:
    for shape in ((200, 20), (30, 90)):
        X = sparse.random(*shape, density=0.2, format="csr", random_state=0)
        ours, dense = tenfold.PCA(4).fit(X), tenfold.PCA(4).fit(X.toarray())
        assert_same_fit(ours, dense, rtol=1e-12)
        assert_close(ours.transform(X), dense.transform(X.toarray()), rtol=1e-12)


def test_single_precision() -> None:
    X = TABLES["wine"].astype(np.float32)
    one, two = tenfold.PCA(3).fit(X), tenfold.PCA(3).fit(X.astype(np.float64))
    assert one.components_.dtype == np.float32  # computed in float64, told in float32
    for name in ANSWERS:  # rounded once, and that is all that is lost
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=2.0**-24, atol=1e-12 * np.abs(getattr(two, name)).max())
    assert one.transform(X).dtype == one.inverse_transform(one.transform(X)).dtype == np.float32


# --- edges ----------------------------------------------------------------------------------------


def test_too_few_rows() -> None:
    for k, words in ((None, "1 sample is not enough"), (3, "1 sample")):
        with pytest.raises(BadInput, match=words):
            tenfold.PCA(k).fit([[1.0, 2.0, 3.0, 4.0]])
    with pytest.raises(BadInput, match="n_components=5 must be between 0 and"):
        tenfold.PCA(5).fit(TABLES["iris"])
    with pytest.raises(BadInput, match="n_samples >= n_features"):
        tenfold.PCA("mle").fit(TABLES["wide"])
    model = tenfold.PCA(3).partial_fit(TABLES["iris"][:2])
    with pytest.raises(NotFitted, match="n_components=3"):
        model.transform(TABLES["iris"])
    assert_same_fit(model.partial_fit(TABLES["iris"][2:]), tenfold.PCA(3).fit(TABLES["iris"]))


def test_bad_parameters() -> None:
    for k in (1.5, -1, "all"):
        with pytest.raises(BadParameter, match="n_components"):
            tenfold.PCA(k).fit(TABLES["iris"])


def test_directions_without_variance() -> None:
    X = TABLES["iris"]
    double = np.hstack([X, X[:, :2], np.ones((150, 1))])
    model = tenfold.PCA().fit(double)
    assert (model.explained_variance_[4:] == 0).all() and (model.explained_variance_[:4] > 0).all()
    assert_close(model.components_ @ model.components_.T, np.eye(7), rtol=1e-12)
    with pytest.warns(Degenerate, match="no variance in some direction"):
        assert np.isfinite(model.score_samples(double)).all()
    with pytest.warns(Degenerate, match="no variance to be scaled"):
        assert np.isfinite(tenfold.PCA(whiten=True).fit_transform(double)).all()
    with pytest.warns(Degenerate, match="no column of X varies"):
        flat = tenfold.PCA(2).fit(np.ones((5, 3)))
    assert flat.explained_variance_ratio_.tolist() == [0.0, 0.0]


def test_large_means_cost_no_digits() -> None:
    X = np.round(TABLES["iris"] * 16) / 16
    near, far = tenfold.PCA().fit(X), tenfold.PCA().fit(X + 2.0**27)
    assert_close(far.components_, near.components_, rtol=1e-11)
    assert_close(far.explained_variance_, near.explained_variance_, rtol=1e-12)


def test_values_that_cannot_be_squared_are_told() -> None:
    X = TABLES["iris"] * np.array([1, 1, 1, 1e-200])
    with pytest.warns(Degenerate, match="column 3 of X are too small"):
        tenfold.PCA(2).fit(X)
    with pytest.raises(BadInput, match="column 3"):
        tenfold.PCA(2).fit(TABLES["iris"] * np.array([1, 1, 1, 1e200]))
    with pytest.raises(BadInput, match="3 features"):
        tenfold.PCA(2).fit(TABLES["iris"]).inverse_transform(np.ones((2, 3)))


@pytest.mark.parametrize("p", [5, 200])
def test_merged_triangles_lend_their_memory(p: int) -> None:
    """Pages that were cleared for one block serve the next: clearing new ones takes longer than summing."""
    X = np.random.default_rng(p).normal(size=(4 * p, p))
    merged = Table(Triangular.of(X, np.ones(len(X))), ())
    assert isinstance(merged.moments, Triangular)
    memory = merged.moments.scatter
    merged.drop()
    again = Triangular.of(X, np.ones(len(X)))
    SPARE.clear()
    assert np.shares_memory(again.scatter, memory)
