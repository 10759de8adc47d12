"""NMF: scikit-learn's factors step by step, an objective that no step raises, rows at their optimum, starts, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix

import tenfold
from tenfold.core.errors import Degenerate, NotConverged
from tenfold.solve import nmf_start
from tenfold.solve.factors import Penalty, Table, exponent, multiplied
from tenfold.solve.nmf import Problem, cleared, descend, multiply, rows_of

Array = np.ndarray[Any, Any]
QUIET = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::tenfold.core.errors.NotConverged")
BETAS = [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0]


def counts(n: int = 40, p: int = 30, k: int = 4, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.5, 1, (n, k)) @ rng.gamma(0.5, 4, (k, p))).astype(float)


def started(X: Array, k: int) -> tuple[Array, Array]:
    """As scikit-learn draws them."""
    rng = np.random.RandomState(0)
    size = np.sqrt(X.mean() / k)
    H = np.abs(size * rng.standard_normal((k, X.shape[1])))
    return np.abs(size * rng.standard_normal((len(X), k))), H


# --- scikit-learn ---


@QUIET
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("sparse", [False, True])
def test_multiplicative_steps_are_scikit_learns(beta: float, sparse: bool) -> None:
    from sklearn.decomposition import NMF

    X = counts() + (0.5 if beta <= 0 else 0.0)
    more: dict[str, Any] = dict(init="random", solver="mu", beta_loss=beta, max_iter=25, tol=0, random_state=0, alpha_W=0.01, l1_ratio=0.3)
    theirs, ours = NMF(4, **more), tenfold.NMF(4, **more)
    expected, found = theirs.fit_transform(X), ours.fit_transform(csr_array(X) if sparse else X)
    assert_allclose(ours.components_, theirs.components_, rtol=1e-7, atol=1e-9 * ours.components_.max())
    assert ours.n_iter_ == 25
    if beta == 2:  # W is the optimum for H, which is no worse
        assert ours.reconstruction_err_ <= theirs.reconstruction_err_
    else:
        assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * expected.max())
        assert_allclose(ours.reconstruction_err_, theirs.reconstruction_err_, rtol=1e-8)


@QUIET
@pytest.mark.parametrize("shuffle", [False, True])
def test_coordinate_descent_is_scikit_learns_sweep_by_sweep(shuffle: bool) -> None:
    from sklearn.decomposition import non_negative_factorization

    X = counts()
    W0, H0 = started(X, 4)
    more: dict[str, Any] = dict(init="custom", max_iter=30, tol=0, alpha_W=0.01, alpha_H=0.02, l1_ratio=0.4, random_state=3)
    W, H, _ = non_negative_factorization(X, W0.copy(), H0.copy(), 4, shuffle=shuffle, **more)
    penalties = Penalty(30 * 0.01 * 0.4, 30 * 0.01 * 0.6), Penalty(40 * 0.02 * 0.4, 40 * 0.02 * 0.6)
    found = descend(Table.of(X), Problem(2.0, *penalties), W0, H0, 0.0, 30, np.random.RandomState(3) if shuffle else None, sweeps=1)
    assert_allclose(found.W, W, rtol=1e-8, atol=1e-9)
    assert_allclose(found.H, H, rtol=1e-8, atol=1e-9)


@QUIET
@pytest.mark.parametrize("solver, beta", [("cd", 2), ("mu", 2), ("mu", 1), ("mu", 0.5)])
def test_ends_no_worse_than_scikit_learn(solver: str, beta: float) -> None:
    from sklearn.decomposition import NMF

    X = counts(60, 25, seed=4)
    more: dict[str, Any] = dict(n_components=5, init="nndsvda", solver=solver, beta_loss=beta, max_iter=60, random_state=0)
    theirs, ours = NMF(**more).fit(X), tenfold.NMF(**more).fit(X)
    assert ours.reconstruction_err_ <= 1.002 * theirs.reconstruction_err_


def test_starts_from_singular_vectors_are_scikit_learns() -> None:
    from sklearn.decomposition._nmf import _initialize_nmf

    for X in (counts(30, 12, 3, seed=1), counts(12, 30, 3, seed=2)):
        expected = _initialize_nmf(X, 3, init="nndsvd", random_state=0)
        found = nmf_start.start(Table.of(X), 3, "nndsvd", np.random.RandomState(0), False)
        filled = nmf_start.start(Table.of(X), 3, "nndsvda", np.random.RandomState(0), False)
        for a, b, c in zip(found, expected, filled, strict=True):
            assert_allclose(a, b, rtol=1e-6, atol=1e-6)
            assert_allclose(c, np.where(a == 0, np.sqrt(X.mean() / 3), a), rtol=1e-12)


def test_singular_vectors_of_many_rows_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    X = counts(60, 50, 3, seed=1)
    w = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    exact = nmf_start.singular(Table.of(X, w), 3, np.random.RandomState(0))
    for rows in (X, csr_matrix(X)):
        with monkeypatch.context() as patch:
            patch.setattr(nmf_start, "EXACT", 1)
            found = nmf_start.singular(Table.of(rows, w), 3, np.random.RandomState(0))
        assert_allclose(found[1], exact[1], rtol=1e-6)
        assert_allclose(np.abs(np.einsum("ij,ij->j", found[2], exact[2])), 1.0, rtol=1e-4)
    copies = nmf_start.singular(Table.of(np.repeat(X, w.astype(int), axis=0)), 3, np.random.RandomState(0))
    assert_allclose(copies[1], exact[1], rtol=1e-10)


# --- no step raises the objective ---


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("sparse", [False, True])
def test_no_multiplicative_step_raises_the_objective(beta: float, sparse: bool) -> None:
    X = counts(30, 20) + (0.5 if beta <= 0 else 0.0)
    table = Table.of(csr_array(X) if sparse else X, np.random.default_rng(0).random(30) + 0.2)
    problem = Problem(beta, Penalty(0.3, 0.2), Penalty(0.1, 0.4))
    W, H = started(X, 4)
    before, floor = problem.value(table, W, H), table.floor()
    for _ in range(30):
        W, above, below = table.step(W, H, beta, problem.of_W, floor, True)
        H = cleared(multiplied(H, above, below, problem.of_H, exponent(beta)), beta)
        now = problem.value(table, W, H)
        assert now <= before * (1 + 1e-12)
        before = now


@pytest.mark.parametrize("sparse", [False, True])
def test_no_sweep_raises_the_objective(sparse: bool) -> None:
    X = counts(30, 20)
    table = Table.of(csr_array(X) if sparse else X, np.random.default_rng(0).random(30) + 0.2)
    problem = Problem(2.0, Penalty(0.3, 0.2), Penalty(0.1, 0.4))
    W, H = started(X, 4)
    before = problem.value(table, W, H)
    for _ in range(30):
        found = descend(table, problem, W, H, 0.0, 1)
        W, H = found.W, found.H
        now = problem.value(table, W, H)
        assert now <= before * (1 + 1e-12)
        before = now


def test_the_product_is_found_again() -> None:
    """X of rank three with parts that do not overlap: the factors are unique but for order and scale."""
    rng = np.random.default_rng(0)
    W, H = rng.random((40, 3)) * (rng.random((40, 3)) > 0.4), np.kron(np.eye(3), rng.random((1, 6)) + 0.2)
    for more in ({}, {"solver": "mu", "beta_loss": 1, "init": "nndsvdar"}):
        model = tenfold.NMF(3, tol=1e-10, max_iter=4000, random_state=0, **more)
        found = model.fit_transform(W @ H)
        assert model.reconstruction_err_ < 1e-3
        shares = model.components_ / model.components_.sum(axis=1, keepdims=True)
        order = shares[:, ::6].argmax(axis=1)
        assert_allclose(shares, (H / H.sum(axis=1, keepdims=True))[order], atol=1e-3)
        assert_allclose(model.inverse_transform(found), W @ H, atol=1e-3)


# --- new rows ---


@QUIET
@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("penalty", [{}, {"alpha_W": 0.02, "l1_ratio": 0.5}])
def test_new_rows_are_at_the_optimum(solver: str, penalty: dict[str, Any]) -> None:
    """The certificate: w ≥ 0, slope ≥ 0, and no entry has both above zero."""
    X, new = counts(), counts(15, 30, seed=9)
    model = tenfold.NMF(5, solver=solver, max_iter=20, **penalty)
    fitted = model.fit_transform(X)
    assert_array_equal(fitted, model.transform(X))
    W, H = model.transform(new), model.components_
    l1, l2 = (30 * 0.02 * 0.5, 30 * 0.02 * 0.5) if penalty else (0.0, 0.0)
    slope = W @ (H @ H.T + l2 * np.eye(5)) - new @ H.T + l1
    size = np.abs(new @ H.T).max()
    assert W.min() >= 0 and slope.min() > -1e-11 * size and np.abs(W * slope).max() < 1e-11 * size * max(W.max(), 1.0)
    assert_allclose(model.transform(csr_array(new)), W, rtol=1e-9, atol=1e-11)


@QUIET
@pytest.mark.parametrize("beta", [1.0, 0.5, 1.5])
def test_new_rows_of_other_losses_come_near_the_optimum(beta: float) -> None:
    """Slopes vanish where w is above zero; a row of zeros has none."""
    X, new = counts() + 0.1, counts(15, 30, seed=9) + 0.1
    model = tenfold.NMF(3, solver="mu", beta_loss=beta, max_iter=30).fit(X).set_params(max_iter=3000, tol=1e-9)
    W, H = model.transform(new), model.components_
    Y = W @ H
    above, below = (new * Y ** (beta - 2)) @ H.T, Y ** (beta - 1) @ H.T
    assert np.abs(W * (above / below - 1)).max() < 1e-4 * W.max()
    assert (above / below)[1e-6 * W.max() > W].max(initial=0.0) < 1.001
    assert_array_equal(model.transform(np.zeros((2, 30))), np.zeros((2, 3)))
    each = np.concatenate([model.transform(row[None]) for row in new])
    assert_allclose(each, W, rtol=1e-9, atol=1e-12)


# --- starts, weights, what is given ---


@QUIET
@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "acol"])
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_every_start_leads_to_a_fit(init: str, solver: str) -> None:
    X = counts(60, 20)
    size = np.linalg.norm(X - X.mean(axis=0))
    more: dict[str, Any] = dict(n_components=4, init=init, solver=solver, random_state=0, max_iter=60)
    with pytest.warns(Degenerate) if (init, solver) == ("nndsvd", "mu") else _nothing():
        model = tenfold.NMF(**more).fit(X)
        again, sparse = tenfold.NMF(**more).fit(X), tenfold.NMF(**more).fit(csr_matrix(X))
    assert_array_equal(model.components_, again.components_)
    assert_allclose(sparse.components_, model.components_, rtol=1e-6, atol=1e-7 * model.components_.max())
    assert model.components_.min() >= 0 and model.reconstruction_err_ < 0.8 * size


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


@QUIET
@pytest.mark.parametrize("more", [{}, {"solver": "mu", "beta_loss": 1}, {"solver": "mu", "beta_loss": 2.5, "init": "kmeans"}])
def test_weights_are_copies(more: dict[str, Any]) -> None:
    X, w = counts(30, 12), np.random.default_rng(0).integers(0, 4, 30)
    model = tenfold.NMF(3, alpha_W=0.01, l1_ratio=0.5, max_iter=20, random_state=0, **more)
    expected = model.fit(np.repeat(X, w, axis=0))
    found = tenfold.NMF(**model.get_params()).fit(X, sample_weight=w)
    assert_allclose(found.components_, expected.components_, rtol=1e-7, atol=1e-9)
    assert_allclose(found.reconstruction_err_, expected.reconstruction_err_, rtol=1e-9)
    assert tenfold.NMF(**model.get_params()).fit_transform(X, sample_weight=w).shape == (30, 3)


@QUIET
def test_factors_to_begin_with() -> None:
    X = counts(20, 10)
    W, H = started(X, 3)
    model = tenfold.NMF(3, init="custom", max_iter=3)
    drawn = tenfold.NMF(3, init="random", random_state=0, max_iter=3).fit(X)
    assert_allclose(model.fit(X, W=W, H=H).components_, drawn.components_, rtol=1e-12)
    weight = np.arange(20) % 3
    some = tenfold.NMF(3, init="custom", max_iter=3).fit(X, sample_weight=weight, W=W, H=H)
    kept = tenfold.NMF(3, init="custom", max_iter=3).fit(X[weight > 0], sample_weight=weight[weight > 0], W=W[weight > 0], H=H)
    assert_array_equal(some.components_, kept.components_)
    for given, words in (
        ({"H": H}, "input W.* is missing"),
        ({"H": H, "W": W[1:]}, "wrong first dimension"),
        ({"H": H[:, 1:], "W": W}, "wrong second dimension"),
        ({"H": -H, "W": W}, "Negative values in data passed to NMF .input H"),
        ({"H": H, "W": 0 * W}, "full of zeros"),
        ({"H": H * np.nan, "W": W}, "finite"),
        ({"H": H, "W": W.astype(np.float32)}, "same dtype"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            model.fit(X, **given)


def test_pictures_of_parts() -> None:
    model = tenfold.NMF(3, tol=1e-2).fit(counts(30, 12))
    ax = tenfold.draw.draw_components(model, (3, 4))
    assert ax.images[0].get_clim()[0] >= 0  # parts have no signs


# --- odd tables ---


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_refused(sparse: bool) -> None:
    X = counts(20, 5)
    X[7, 3] = -2.0
    rows: Any = csr_array(X) if sparse else X
    with pytest.raises(ValueError, match=r"Negative values.* row 7, column 3 holds -2.* PCA"):
        tenfold.NMF(2).fit(rows)
    model = tenfold.NMF(2, tol=0.1).fit(abs(rows))
    with pytest.raises(ValueError, match="row 7, column 3 holds -2"):
        model.transform(rows)
    with pytest.raises(ValueError, match=r"min.n_samples, n_features.*at most 5"):
        tenfold.NMF(6, init="nndsvd").fit(abs(rows))
    with pytest.raises(ValueError, match=r"does not handle beta_loss = 1.*mu"):
        tenfold.NMF(2, beta_loss=1).fit(abs(rows))
    with pytest.raises(ValueError, match=r"beta_loss <= 0 and X contains zeros"):
        tenfold.NMF(2, solver="mu", beta_loss=0).fit(abs(rows))
    for scale, words in ((1e120, "too large"), (1e-200, r"largest value of X is .*divide X by it")):
        with pytest.raises(ValueError, match=words):
            tenfold.NMF(2).fit(abs(rows) * scale)
    with pytest.warns(NotConverged, match="Maximum number of iterations 2"):
        tenfold.NMF(2, max_iter=2, tol=1e-9).fit(abs(rows))


@QUIET
@pytest.mark.parametrize("more", [{}, {"solver": "mu", "beta_loss": 1}, {"solver": "mu"}])
def test_zeros(more: dict[str, Any]) -> None:
    X = counts(20, 8)
    X[3], X[:, 2], X[:, 5] = 0.0, 0.0, X[:, 4]
    model = tenfold.NMF(3, max_iter=100, **more)
    W = model.fit_transform(X)
    assert np.isfinite(W).all() and np.isfinite(model.components_).all()
    assert W[3].max() < 1e-6 * W.max() and model.components_[:, 2].max() < 1e-6 * model.components_.max()
    with pytest.warns(Degenerate, match="nothing but zeros"):
        none = tenfold.NMF(2, **more).fit(np.zeros((6, 4)))
    assert not none.components_.any() and not none.transform(np.ones((2, 4))).any() and none.reconstruction_err_ == 0
    assert tenfold.NMF(2, **more).fit(X[:1]).components_.shape == (2, 8)


@QUIET
def test_units_do_not_matter() -> None:
    X = counts(30, 12)
    for more in ({"beta_loss": 2}, {"beta_loss": 1, "solver": "mu"}):
        for init in ("random", None, "nndsvdar", "acol"):
            one, other = (tenfold.NMF(3, max_iter=20, init=init, random_state=0, **more).fit(X * unit) for unit in (1.0, 2.0**80))
            assert_allclose(other.components_, one.components_ * (2.0**80 if init == "acol" else 2.0**40), rtol=1e-7, atol=1e-9)
            assert one.n_iter_ == other.n_iter_


@QUIET
def test_powers_beyond_the_range_of_numbers() -> None:
    X = counts(30, 12) + 1.0
    with pytest.raises(ValueError, match=r"powers of X .* beyond the range of numbers"):
        tenfold.NMF(3, solver="mu", beta_loss=5.0).fit(X * 1e90)


def test_the_divergences() -> None:
    X, (W, H) = counts(20, 10) + 0.1, started(counts(20, 10), 3)
    Y = W @ H
    table = Table.of(X)
    assert_allclose(table.divergence(W, H, 1.0, 1e-12), (X * np.log(X / Y) - X + Y).sum(), rtol=1e-12)
    assert_allclose(table.divergence(W, H, 2.0, 1e-12), 0.5 * ((X - Y) ** 2).sum(), rtol=1e-12)
    assert_allclose(table.divergence(W, H, 0.0, 1e-12), (X / Y - np.log(X / Y) - 1).sum(), rtol=1e-12)
    for beta, near in ((0.0, 1e-6), (1.0, 1e-6), (2.0, 1e-6)):  # they join one another
        assert_allclose(table.divergence(W, H, beta + near, 1e-12), table.divergence(W, H, beta, 1e-12), rtol=1e-4)


def test_steps_end_where_nothing_moves() -> None:
    X = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    table, problem = Table.of(X), Problem(1.0, Penalty(), Penalty())
    found = multiply(table, problem, np.ones((3, 1)), np.ones((1, 2)), 1e-4, 200)
    assert found.settled and found.n_iter == 20
    assert_allclose(found.W @ found.H, X, rtol=1e-12)
    assert_allclose(rows_of(table, found.H, problem, 1e-12, 100) @ found.H, X, rtol=1e-12)
