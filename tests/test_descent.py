"""Descent by passes and by mini-batches: the optimum of quadratics and of the logistic risk, its certificate, and its passes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import tenfold
from tenfold.base.check import check_fit
from tenfold.core.data import Block, Source
from tenfold.core.engine import Local, Threads
from tenfold.core.learning import drive
from tenfold.core.stats import Terms
from tenfold.solve.descent import Descended, Risk, conjugate_gradients, gradient_descent, lbfgs
from tenfold.solve.stochastic import Adam, Momentum, Trained, mini_batches

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6)) @ np.diag([1, 2, 0.5, 1, 3, 1]) + 0.3
Y = X @ RNG.normal(size=6) + RNG.normal(size=400)
LABEL = (Y + RNG.normal(size=400) > 0).astype(int)
SOLVERS = (gradient_descent, conjugate_gradients, lbfgs)
SMOOTH = (conjugate_gradients, lbfgs)


def rows(y: Array) -> Source:
    """In blocks, so that a pass has several."""
    kind = tenfold.LogisticRegression() if y.dtype.kind == "i" else tenfold.Ridge()
    return check_fit(kind, X, y).finer(64)  # type: ignore[attr-defined, no-any-return]


def squares(block: Block, theta: Array) -> Terms:
    r = block.X @ theta - block.y[:, 0]
    return Terms(0.5 * float(block.w @ r**2), block.X.T @ (block.w * r), float(block.w.sum()))


def logistic(block: Block, theta: Array) -> Terms:
    y = 2.0 * block.y - 1
    z = y * (block.X @ theta)
    return Terms(float(block.w @ np.logaddexp(0, -z)), -block.X.T @ (block.w * y / (1 + np.exp(z))), float(block.w.sum()))


def run(solver: Any, risk: Risk, y: Array, **options: Any) -> Descended:
    return drive(solver(risk, np.zeros(6), **{"tol": 1e-10, "max_iter": 5000, **options}), rows(y), Threads(2))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_a_quadratic_has_its_solution(solver: Any, l2: float) -> None:
    found = run(solver, Risk(squares, l2), Y)
    n = len(X)
    assert_allclose(found.theta, np.linalg.solve(X.T @ X / n + l2 * np.eye(6), X.T @ Y / n), rtol=1e-7)
    assert found.converged and found.certificate <= 1e-10
    gradient = X.T @ (X @ found.theta - Y) / n + l2 * found.theta
    assert_allclose(np.abs(gradient).max(), found.certificate, rtol=1e-3, atol=1e-14)
    assert found.n_pass < (400 if solver is gradient_descent else 60)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_logistic_risk_has_its_optimum(solver: Any) -> None:
    found = run(solver, Risk(logistic, 0.01), LABEL)
    best = tenfold.LogisticRegression(C=1 / (0.01 * len(X)), fit_intercept=False, tol=1e-12).fit(X, LABEL)
    assert_allclose(found.theta, best.coef_[0], rtol=1e-7)
    z = (2 * LABEL - 1) * (X @ best.coef_[0])
    assert found.value == pytest.approx(np.logaddexp(0, -z).mean() + 0.005 * (best.coef_**2).sum(), abs=1e-12)


def test_plain_descent_takes_an_l1_penalty() -> None:
    prices = np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.0])
    found = run(gradient_descent, Risk(squares, l1=prices), Y)
    assert found.converged
    gradient = X.T @ (X @ found.theta - Y) / len(X)
    zero = found.theta == 0
    assert zero.any() and not zero.all()
    assert (np.abs(gradient[zero]) <= prices[zero] + 1e-9).all()
    assert_allclose(gradient[~zero], -(prices * np.sign(found.theta))[~zero], atol=1e-9)
    lasso = tenfold.Lasso(alpha=0.5, fit_intercept=False, tol=1e-12).fit(X, Y)
    assert_allclose(run(gradient_descent, Risk(squares, l1=0.5), Y).theta, lasso.coef_, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_passes_are_bounded_and_counted(solver: Any) -> None:
    passes: list[int] = []

    def counted(block: Block, theta: Array) -> Terms:
        passes.append(len(block))
        return squares(block, theta)

    found = drive(solver(Risk(counted), np.zeros(6), tol=0.0, max_iter=7), rows(Y), Local())
    assert sum(passes) == found.n_pass * 400 and found.n_pass <= 7 and not found.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_optimum_to_begin_with_costs_one_pass_and_noise_ends_a_search(solver: Any) -> None:
    best = run(lbfgs, Risk(squares), Y).theta
    found = drive(solver(Risk(squares), best, tol=1e-9, max_iter=100), rows(Y), Local())
    assert found.n_pass == 1 and found.converged
    endless = drive(solver(Risk(squares), best, tol=0.0, max_iter=500), rows(Y), Local())
    assert endless.n_pass < 500
    assert_allclose(endless.theta, best, rtol=1e-7)


@pytest.mark.parametrize("solver", SMOOTH)
def test_a_narrow_valley_is_walked_along(solver: Any) -> None:
    """Curvatures from 1 to 1e6."""
    size = np.geomspace(1, 1e3, 6)

    def valley(block: Block, theta: Array) -> Terms:
        s = squares(block.with_X(block.X * size), theta)
        return s

    found = run(solver, Risk(valley), Y, tol=1e-6)
    assert found.converged
    assert_allclose(found.theta * size, np.linalg.lstsq(X, Y, rcond=None)[0], rtol=1e-5)


# --- mini-batches ---


def mean_gradient(block: Block, theta: list[Array], risk: Any, l2: float) -> list[Array]:
    s = risk(block, theta[0][:, 0])
    return [(s.gradient / s.weight + l2 * theta[0][:, 0])[:, None]]


@pytest.mark.parametrize(
    "rule",
    [
        Momentum(0.05, momentum=0.0, decay=0.01), Momentum(0.02, decay=0.01), Momentum(0.02, nesterov=True, decay=0.01),
        Adam(0.05, decay=0.02),
    ],
    ids=["plain", "momentum", "nesterov", "adam"],
)  # fmt: skip
@pytest.mark.parametrize("risk, y", [(squares, Y), (logistic, LABEL)], ids=["squares", "logistic"])
def test_mini_batches_come_near_the_optimum(rule: Any, risk: Any, y: Array) -> None:
    best = run(lbfgs, Risk(risk, 0.1), y)
    fresh = type(rule)(**{name: getattr(rule, name) for name in rule.__dataclass_fields__ if name not in ("t", "v", "m", "s")})
    steps = mini_batches(partial(mean_gradient, risk=risk, l2=0.1), [np.zeros((6, 1))], fresh, batch=16, epochs=60, seed=1)
    found: Trained = drive(steps, rows(y), Local())
    assert found.certificate < 0.2 and found.n_steps == 60 * 25  # six blocks of four batches and one of one
    assert_allclose(found.theta[0][:, 0], best.theta, atol=0.05)


def test_the_certificate_is_the_mean_gradient_and_a_seed_gives_one_order() -> None:
    gradient = partial(mean_gradient, risk=squares, l2=0.0)
    found = [
        drive(mini_batches(gradient, [np.zeros((6, 1))], Adam(0.01), epochs=2, seed=seed), rows(Y), Local()) for seed in (1, 1, 2)
    ]
    theta = found[0].theta[0][:, 0]
    assert found[0].certificate == pytest.approx(np.abs(X.T @ (X @ theta - Y)).max() / len(X))
    assert (found[0].theta[0] == found[1].theta[0]).all() and (found[0].theta[0] != found[2].theta[0]).any()


def test_the_first_steps_of_adam_and_momentum_are_those_of_their_formulas() -> None:
    g = [np.array([1.0, -2.0])]
    assert_allclose(Adam(0.1).step([np.zeros(2)], g)[0], [-0.1, 0.1], rtol=1e-6)
    rule = Momentum(0.1, momentum=0.5)
    theta = rule.step(rule.step([np.zeros(2)], g), g)
    assert_allclose(theta[0], [-0.1 - 0.15, 0.2 + 0.3], rtol=1e-12)
