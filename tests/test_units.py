"""Columns in very different units: no learner that decomposes all of them at once may lose the small ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

import tenfold
from tenfold.solve.linalg import eigh_graded

UNITS = [[1e-6, 1.0, 1e5, 3e-3], [1.0, 1.0, 1.0, 1e7], [1.0, 1e6, 1e9, 1.0], [1.0, 0.0, 1e9, 1.0]]


def table(units: list[float], n: int = 30, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, len(units)))
    return Z * units, Z @ np.resize([1.0, 2.0, 3.0, 4.0], len(units)) + rng.normal(size=n)


def exact_ridge(X: Any, y: Any, alpha: float) -> Any:
    """w = Xᵀ (X Xᵀ + alpha)⁻¹ y of the centred rows, in fractions."""
    n, p = X.shape
    rows, t = [[Fraction(float(x)) for x in row] for row in X], [Fraction(float(one)) for one in y]
    means = [sum(row[j] for row in rows) / n for j in range(p)]
    rows, t = [[x - m for x, m in zip(row, means, strict=True)] for row in rows], [one - sum(t) / n for one in t]
    if p <= n:
        A = [[sum(row[j] * row[k] for row in rows) + Fraction(alpha) * (j == k) for k in range(p)] for j in range(p)]
        return np.array([float(w) for w in solved(A, [sum(row[j] * one for row, one in zip(rows, t, strict=True)) for j in range(p)])])
    A = [[sum(x * z for x, z in zip(a, b, strict=True)) + Fraction(alpha) * (a is b) for b in rows] for a in rows]
    c = solved(A, t)
    return np.array([float(sum(row[j] * one for row, one in zip(rows, c, strict=True))) for j in range(p)])


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """By elimination: of a positive definite matrix, without pivots."""
    A, b = [list(row) for row in A], list(b)
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            share = A[i][k] / A[k][k]
            A[i] = [x - share * z for x, z in zip(A[i], A[k], strict=True)]
            b[i] -= share * b[k]
    for k in reversed(range(len(b))):
        b[k] = (b[k] - sum(A[k][j] * b[j] for j in range(k + 1, len(b)))) / A[k][k]
    return b


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_every_penalty_of_a_path_is_exact(units: list[float]) -> None:
    X, y = table(units)
    alphas = [1.0, 1e3, 1e9]
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", alphas, folds=[(np.arange(20), np.arange(20, 30))], score="mse")
    for alpha, error in zip(alphas, np.ravel(path.mean), strict=True):
        exact = exact_ridge(X, y, alpha)
        np.testing.assert_allclose(tenfold.RidgeCV([alpha]).fit(X, y).coef_, exact, rtol=1e-10)
        w = exact_ridge(X[:20], y[:20], alpha)
        left = y[20:] - y[:20].mean() - (X[20:] - X[:20].mean(axis=0)) @ w
        np.testing.assert_allclose(error, np.mean(left**2), rtol=1e-8)


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_rows_left_out_and_the_penalty_that_they_choose(units: list[float]) -> None:
    X, y = table(units)
    means = {}
    for alpha in (1.0, 1e9):
        left = [np.delete(np.arange(30), i) for i in range(30)]
        fits = [exact_ridge(X[rows], y[rows], alpha) for rows in left]
        errors = [y[i] - y[rows].mean() - (X[i] - X[rows].mean(axis=0)) @ w for i, (rows, w) in enumerate(zip(left, fits, strict=True))]
        means[alpha] = np.mean(np.square(errors))
        np.testing.assert_allclose(-tenfold.RidgeCV([alpha]).fit(X, y).best_score_, means[alpha], rtol=1e-9)
    assert tenfold.RidgeCV([1.0, 1e9]).fit(X, y).alpha_ == min(means, key=lambda alpha: means[alpha])


@pytest.mark.parametrize("unit", [1e3, 1e6, 1e9])
def test_tables_wider_than_long(unit: float) -> None:
    """Products of such rows would hold the largest column alone."""
    units = np.ones(300)
    units[3], units[5] = unit, np.sqrt(unit)
    X, y = table(units.tolist(), n=8)
    exact = exact_ridge(X, y, 1.0)
    for model in (tenfold.Ridge(), tenfold.RidgeCV([1.0])):
        np.testing.assert_allclose(model.fit(X, y).coef_, exact, rtol=0, atol=1e-10 * np.abs(exact).max())
    found = tenfold.cross_val_predict(tenfold.Ridge(), X, y, folds=tenfold.evaluate.LeaveOneOut())
    rows = np.arange(1, 8)
    first = y[rows].mean() + (X[0] - X[rows].mean(axis=0)) @ exact_ridge(X[rows], y[rows], 1.0)
    np.testing.assert_allclose(found[0], first, rtol=1e-8)


@pytest.mark.parametrize("units", UNITS, ids=str)
def test_evidence_of_all_columns(units: list[float]) -> None:
    """scikit-learn decomposes the rows, which keeps the digits here. A column that is there twice is a column times √2."""
    X, y = table(units, n=60)
    theirs = linear_model.BayesianRidge(tol=1e-12, max_iter=10_000)
    for columns, factor in (([0, 1, 2, 3], 1.0), ([0, 1, 2, 3, 2], np.sqrt(2))):
        ours, new = tenfold.BayesianRidge().fit(X[:, columns], y), X * [1.0, 1.0, factor, 1.0]
        np.testing.assert_allclose(ours.predict(X[:, columns]), theirs.fit(new, y).predict(new), rtol=1e-6)
        np.testing.assert_allclose((ours.lambda_, ours.alpha_), (theirs.lambda_, theirs.alpha_), rtol=1e-6)


@pytest.mark.parametrize("lift", [0.0, 1e-14])
def test_graded_eigenvalues(lift: float) -> None:
    """The eigenvalues of D C D: their products are the determinant, and each vector turns A into a multiple of itself, column by column."""
    rng = np.random.default_rng(2)
    Z, d = rng.normal(size=(20, 5)), np.array([1e-3, 1e6, 0.0, 1.0, 1e9])
    A = (Z * d).T @ (Z * d)
    values, V = eigh_graded(A, lift)
    used = d > 0
    assert values[0] == 0 and (np.diff(values) >= 0).all() and abs(V[2, 0]) == 1
    sign, log = np.linalg.slogdet(Z[:, used].T @ Z[:, used])
    np.testing.assert_allclose(np.log(values[1:]).sum(), log + 2 * np.log(d[used]).sum(), rtol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-14)
    errors = (A @ V - V * values) / np.where(used, d, 1.0)[:, None] / np.sqrt(np.where(values > 0, values, 1.0))
    assert np.abs(errors).max() < 1e-11 and sign == 1
