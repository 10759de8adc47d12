"""Least squares from products alone: the answers of the matrix, scipy's LSQR, and operators that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import random_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.sparse.linalg import lsqr as theirs
from test_lasso import table

import tenfold

Array = np.ndarray[Any, Any]


def forms(X: Any) -> list[Any]:
    return [aslinearoperator(X), (lambda v: X @ v, lambda u: X.T @ u)]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", [0, 1], ids=["operator", "pair"])
def test_the_answers_of_the_matrix(form: int, fit_intercept: bool) -> None:
    X, y, s = table(p=8)
    for target in (y, np.column_stack([y, X[:, 3] - y])):
        model = tenfold.LinearRegression(solver="lsqr", tol=1e-13, fit_intercept=fit_intercept)
        model.fit(forms(X)[form], target, s)
        expected = tenfold.LinearRegression(fit_intercept=fit_intercept).fit(X, target, s)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())
        np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=0, atol=1e-5)
        np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-6)
        assert model.solver_ == "lsqr" and model.n_iter_ >= 8


@pytest.mark.parametrize("alpha", [0.1, 1e4])
def test_ridge_is_damping(alpha: float) -> None:
    X, y, s = table(p=8)
    model = tenfold.Ridge(alpha, tol=1e-13).fit(aslinearoperator(X), y, s)
    np.testing.assert_allclose(model.coef_, tenfold.Ridge(alpha).fit(X, y, s).coef_, rtol=1e-6)


@pytest.mark.parametrize("damp", [0.0, 0.7])
def test_step_by_step_as_scipy(damp: float) -> None:
    """The same iterates, on a matrix too wide for anything else: also where it stops early."""
    A = random_array((400, 900), density=0.02, rng=np.random.default_rng(0), format="csr")
    y = np.random.default_rng(1).normal(size=400)
    for steps in (1, 4, 9):
        with pytest.warns(tenfold.NotConverged, match=f"stopped after {steps} steps"):
            model = tenfold.Ridge(damp**2, fit_intercept=False, max_iter=steps, tol=0.0).fit(aslinearoperator(A), y)
        expected = theirs(A, y, damp=damp, iter_lim=steps, atol=0, btol=0, conlim=0)[0]
        np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=1e-10)


def test_the_least_norm_where_there_are_many() -> None:
    X, y, _ = table(n=20, p=60)
    model = tenfold.LinearRegression(solver="lsqr", tol=1e-12, fit_intercept=False).fit(aslinearoperator(X), y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y, rcond=None)[0], rtol=0, atol=1e-7)


def test_nothing_to_find() -> None:
    X, y, _ = table(p=5)
    model = tenfold.LinearRegression(solver="lsqr").fit(aslinearoperator(X), np.full(len(y), 3.0))
    assert not model.coef_.any() and model.intercept_ == 3.0


def test_saved_and_loaded(tmp_path: Any) -> None:
    X, y, _ = table(p=5)
    for learner in (tenfold.LinearRegression(solver="lsqr"), tenfold.Ridge()):
        fitted = learner.fit(aslinearoperator(X), y)
        tenfold.save(fitted, tmp_path / "model.tenfold")
        np.testing.assert_array_equal(tenfold.load(tmp_path / "model.tenfold").coef_, fitted.coef_)


def test_wrong_operators() -> None:
    X, y, _ = table(p=5)
    good, turned = (lambda v: X @ v), (lambda u: X.T @ u)

    def raises(v: Array) -> Array:
        raise RuntimeError("out of paper")

    for wrong, words in (
        ((good, lambda u: 2 * X.T @ u), "not those of one matrix and its transpose"),
        ((lambda v: X[:5] @ v, turned), r"X v has shape \(5,\)"),
        ((lambda v: X @ v * np.nan, turned), "X v is not finite"),
        ((lambda v: X @ v * 1j, turned), "complex128"),
        ((raises, turned), "RuntimeError: out of paper"),
        (aslinearoperator(X[:7]), r"shape \(7, 5\)"),
    ):
        with pytest.raises(tenfold.BadInput, match=words):
            tenfold.LinearRegression(solver="lsqr").fit(wrong, y)
    with pytest.raises(tenfold.BadInput, match="goes with solver='lsqr'"):
        tenfold.LinearRegression(solver="qr").fit(aslinearoperator(X), y)
    with pytest.raises(tenfold.BadInput, match="requires y"):
        tenfold.LinearRegression().fit(aslinearoperator(X))
    with pytest.raises(tenfold.BadInput, match="blocks of rows"):
        tenfold.Lasso().fit(LinearOperator(X.shape, matvec=good, rmatvec=turned), y)
