"""Regularised risk by descent: the optimum of every loss with every penalty, as linear programs and the solvers of others find it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import sklearn.linear_model
import sklearn.svm
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import tenfold
from tenfold import RiskClassifier, RiskRegressor
from tenfold.solve.losses import CORNERS, loss_terms
from tenfold.solve.online import LOSSES

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4)) * [1, 3, 0.2, 1] + [0, 2, 0, 10]
Y = X @ np.array([1.0, -0.3, 2.0, 0.5]) + RNG.standard_t(3, size=150) - 5
SIGN = np.where(Y + RNG.normal(size=150) > 0, 1, -1)
ALPHA = 0.02
EPSILON = 0.3
NUMBERS = LOSSES[5:]


def objective(loss: str, y: Array, coef: Array, intercept: Any, l1: float, l2: float) -> float:
    """With corners as they are."""
    value = loss_terms(loss, y, X @ np.ravel(coef) + np.ravel(intercept)[0], EPSILON)[0].mean()
    return float(value + l1 * np.abs(coef).sum() + 0.5 * l2 * (coef**2).sum())


def by_linear_program(loss: str, y: Array, l1: float) -> float:
    """The least Σ t / n + l1 Σ u over w, b, t, u with t ≥ loss and u ≥ |w|."""
    n, p = X.shape
    Z = np.column_stack([X, np.ones(n)])
    I, small = np.eye(n), np.eye(p + 1)[:p]
    if loss in ("hinge", "perceptron"):
        rows, limit = [np.hstack([-y[:, None] * Z, -I])], [np.full(n, -1.0 if loss == "hinge" else 0.0)]
    else:
        margin = EPSILON if loss == "epsilon_insensitive" else 0.0
        rows, limit = [np.hstack([Z, -I]), np.hstack([-Z, -I])], [y + margin, margin - y]
    A = np.vstack([np.hstack([part, np.zeros((n, p))]) for part in rows])
    U = np.vstack([np.hstack([sign * small, np.zeros((p, n)), -np.eye(p)]) for sign in (1, -1)])
    cost = np.concatenate([np.zeros(p + 1), np.full(n, 1 / n), np.full(p, l1)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (n + p)
    found = scipy.optimize.linprog(cost, np.vstack([A, U]), np.concatenate([*limit, np.zeros(2 * p)]), bounds=bounds)
    return float(found.fun)


@pytest.mark.parametrize("penalty", ["l1", None])
@pytest.mark.parametrize("loss", sorted(CORNERS))
def test_corners_have_the_optimum_of_a_linear_program(loss: str, penalty: str | None) -> None:
    kind, y = (RiskRegressor, Y) if loss in NUMBERS else (RiskClassifier, SIGN)
    model = kind(loss, penalty=penalty, alpha=ALPHA, epsilon=EPSILON, tol=1e-7, max_iter=100_000).fit(X, y)
    l1 = ALPHA if penalty else 0.0
    best = by_linear_program(loss, y, l1)
    assert best - 1e-9 <= objective(loss, y, model.coef_, model.intercept_, l1, 0.0) <= best + 5e-6
    assert model.objective_ == pytest.approx(best, abs=5e-6)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("loss", sorted({*LOSSES} - CORNERS))
def test_smooth_losses_satisfy_the_conditions_of_an_optimum(loss: str, penalty: str | None) -> None:
    """By a gradient of differences, and by what another minimiser wins from there: nothing."""
    kind, y = (RiskRegressor, Y) if loss in NUMBERS else (RiskClassifier, SIGN)
    model = kind(loss, penalty=penalty, alpha=ALPHA, l1_ratio=0.4, epsilon=EPSILON, tol=1e-9).fit(X, y)
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": 0.4, None: 0.0}[penalty]
    alpha = ALPHA if penalty else 0.0
    l1, l2 = share * alpha, (1 - share) * alpha
    w = np.append(model.coef_, model.intercept_)
    p, signs = X.shape[1], np.sign(np.append(model.coef_, 0.0))
    slope = loss_terms(loss, y, X @ w[:p] + w[p], EPSILON)[1]
    gradient = np.append(X.T @ slope, slope.sum()) / len(X) + np.append(l2 * w[:p], 0.0)
    active = (signs != 0) | (np.arange(p + 1) == p)
    assert_allclose((gradient + l1 * signs)[active], 0, atol=1e-7)
    assert (np.abs(gradient[~active]) <= l1 + 1e-8).all()
    value = objective(loss, y, w[:p], w[p], l1, l2)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    other = scipy.optimize.minimize(lambda v: objective(loss, y, v[:p], v[p], l1, l2), w, method="Powell", options={"maxiter": 3})
    assert other.fun >= value - 1e-9


def test_the_solvers_of_others_find_the_same() -> None:
    n = len(X)
    C = 1 / (ALPHA * n)
    given: dict[str, Any] = dict(alpha=ALPHA, tol=1e-8, max_iter=100_000)
    logistic = tenfold.LogisticRegression(C=C, tol=1e-12).fit(X, SIGN)
    assert_allclose(RiskClassifier(**given).fit(X, SIGN).coef_, logistic.coef_, rtol=1e-5)
    Z = X - X.mean(axis=0)
    for loss in ("hinge", "squared_hinge"):
        svm = sklearn.svm.LinearSVC(C=C, loss=loss, fit_intercept=False, tol=1e-12, max_iter=10**6, random_state=0).fit(Z, SIGN)
        assert_allclose(RiskClassifier(loss, fit_intercept=False, **given).fit(Z, SIGN).coef_, svm.coef_, rtol=1e-3, atol=1e-4)
    ridge = tenfold.Ridge(alpha=ALPHA * n).fit(X, Y)
    assert_allclose(RiskRegressor(**given).fit(X, Y).coef_, ridge.coef_, rtol=1e-6)
    lasso = tenfold.Lasso(alpha=ALPHA, tol=1e-12).fit(X, Y)
    assert_allclose(RiskRegressor(penalty="l1", **given).fit(X, Y).coef_, lasso.coef_, rtol=1e-5, atol=1e-7)
    median = sklearn.linear_model.QuantileRegressor(quantile=0.5, alpha=ALPHA / 2).fit(X, Y)
    assert_allclose(RiskRegressor("absolute_error", penalty="l1", **given).fit(X, Y).coef_, median.coef_, atol=1e-3)


@pytest.mark.parametrize("solver", ["gradient", "conjugate", "lbfgs"])
def test_all_solvers_end_at_the_same_place(solver: str) -> None:
    labels = np.array(["a", "b", "c"])[np.digitize(Y, [-1, 1])]
    expected = RiskClassifier(alpha=0.1, tol=1e-10).fit(X, labels)
    found = RiskClassifier(alpha=0.1, tol=1e-10, solver=solver).fit(X, labels)
    assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(found.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    sparse = RiskClassifier(alpha=0.1, tol=1e-10, solver=solver).fit(csr_array(X), labels)
    assert_allclose(sparse.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_units_of_target_and_columns_do_not_matter() -> None:
    for loss in ("squared_error", "absolute_error"):
        plain = RiskRegressor(loss, alpha=0.0, tol=1e-8).fit(X, Y)
        for unit in (1e8, 1e-8, 1e50):
            assert_allclose(RiskRegressor(loss, alpha=0.0, tol=1e-8).fit(X, unit * Y).coef_, unit * plain.coef_, rtol=1e-3)
            assert_allclose(RiskRegressor(loss, alpha=0.0, tol=1e-8).fit(unit * X, Y).coef_, plain.coef_ / unit, rtol=1e-3)


def test_a_warm_start_takes_fewer_passes_and_ends_at_the_same_place() -> None:
    model = RiskClassifier(warm_start=True, alpha=0.05, tol=1e-9).fit(X, SIGN)
    first, coef = model.n_iter_, model.coef_.copy()
    assert model.fit(X, SIGN).n_iter_ < first
    assert_allclose(model.coef_, coef, rtol=1e-6)


def test_what_goes_wrong_is_told() -> None:
    with pytest.raises(tenfold.BadParameter, match="takes no L1 penalty"):
        RiskClassifier(penalty="l1", solver="lbfgs").fit(X, SIGN)
    with pytest.warns(tenfold.NotConverged, match="raise max_iter"):
        RiskRegressor(max_iter=3, tol=1e-12).fit(X, Y)
    with pytest.raises(tenfold.BadInput, match="only one class"):
        RiskClassifier().fit(X, np.ones(150))
    weak = RiskClassifier().fit(1e-70 * X, SIGN)  # a penalty that leaves next to nothing
    assert 0 < np.abs(weak.coef_).max() < 1e-60
    constant = RiskRegressor(tol=1e-10).fit(np.ones((20, 2)), np.full(20, 3.0))
    assert_allclose(constant.predict(np.ones((1, 2))), 3.0, rtol=1e-6)
