"""Steps of one row at a time equal their plain twin: every loss, penalty and rate, dense and sparse, averaged, in any precision."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import together
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from tenfold import _stochastic
from tenfold.core.threads import cancellable
from tenfold.solve.online import LOSSES, NUMBERS, RATES, Rule, Steps

Array = np.ndarray[Any, Any]

# loss -> its value and slope at (y, p)
TWINS: dict[str, Callable[[float, float, float], tuple[float, float]]] = {
    "log_loss": lambda y, p, e: (float(np.logaddexp(0, -y * p)), -y / (1 + np.exp(y * p))),
    "perceptron": lambda y, p, e: (max(0, -y * p), -y if y * p <= 0 else 0),
    "hinge": lambda y, p, e: (max(0, 1 - y * p), -y if y * p <= 1 else 0),
    "squared_hinge": lambda y, p, e: (max(0, 1 - y * p) ** 2, -2 * y * max(0, 1 - y * p)),
    "modified_huber": lambda y, p, e: (-4 * y * p, -4 * y) if y * p < -1 else (max(0, 1 - y * p) ** 2, -2 * y * max(0, 1 - y * p)),
    "squared_error": lambda y, p, e: ((p - y) ** 2 / 2, p - y),
    "absolute_error": lambda y, p, e: (abs(p - y), np.sign(p - y)),
    "huber": lambda y, p, e: ((p - y) ** 2 / 2, p - y) if abs(p - y) <= e else (e * abs(p - y) - e * e / 2, e * np.sign(p - y)),
    "epsilon_insensitive": lambda y, p, e: (max(0, abs(p - y) - e), np.sign(p - y) * (abs(p - y) > e)),
    "squared_epsilon_insensitive": lambda y, p, e: (max(0, abs(p - y) - e) ** 2, 2 * np.sign(p - y) * max(0, abs(p - y) - e)),
}


def rule(**changed: Any) -> Rule:
    given: dict[str, Any] = dict(
        loss="hinge", epsilon=0.1, l1=0.0, l2=0.0, learning_rate="invscaling", eta0=0.1, power_t=0.5, alpha=0.01, fit_intercept=True,
        average=0,
    )  # fmt: skip
    return Rule(**(given | changed))


def twin(X: Array, y: Array, s: Array, by: Rule, factors: Array, decay: float, touched: Array) -> dict[str, Any]:
    """One row after the other, as the formulas say. `touched` (n, p): the columns from which L1 is taken at a row."""
    w, b, due, paid = np.zeros(X.shape[1]), 0.0, 0.0, np.zeros(X.shape[1])
    total, b_total, count, loss = np.zeros(X.shape[1]), 0.0, 0, 0.0
    for i, x in enumerate(X):
        t, weight = i + 1, s[i] * factors[int(y[i] > 0)]
        p = x @ w + b
        value, slope = TWINS[by.loss](y[i], p, by.epsilon)
        loss += weight * value
        rate = {
            "optimal": 1 / (by.alpha * (by.alpha**-0.75 + t - 1)), "invscaling": by.eta0 / t**by.power_t,
        }.get(by.learning_rate, by.eta0)  # fmt: skip
        change = -rate * slope
        if by.learning_rate == "pa1":
            change = -np.sign(slope) * min(by.eta0, value / (x @ x)) if x.any() else 0.0
        if by.learning_rate == "pa2":
            change = -np.sign(slope) * value / (x @ x + 0.5 / by.eta0)
        w = max(0.0, 1 - by.l2 * rate) * w + weight * change * x
        b += decay * weight * change
        due += by.l1 * rate
        for j in np.flatnonzero(touched[i]) if by.l1 else ():
            left = max(0, w[j] - (due + paid[j])) if w[j] > 0 else min(0, w[j] + (due - paid[j]))
            paid[j] += left - w[j]
            w[j] = left
        if by.average and t >= by.average:
            total, b_total, count = total + w, b_total + b, count + 1
    mean = (total / count, b_total / count) if count else (w, b)
    return dict(w=w, b=b, mean=mean, loss=loss, paid=paid, due=due)


def table(n: int = 60, p: int = 11, seed: int = 0, numbers: bool = False) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5)
    X[min(3, n - 1)] = 0
    y = X @ rng.normal(size=p) + 0.1 * rng.normal(size=n)
    return X, y if numbers else np.sign(y + 1e-9), rng.uniform(0.2, 2, n)


def run(X: Any, y: Array, s: Array, by: Rule, steps: Steps | None = None, **given: Any) -> Steps:
    """With the kernel, of one problem."""
    p = X.shape[1]
    steps = Steps.start(by, np.zeros((1, p)), np.zeros(1)) if steps is None else steps
    positive = given.get("positive", np.array([-1]))
    factors = given.get("factors", np.ones((len(positive), 2)))
    numbers = steps.numbers.view(np.float64).reshape(len(steps.v), -1)
    rest = (y, s, steps.v, steps.rest, steps.paid, numbers, positive, factors)
    options = (given.get("seed"), given.get("threads", 1))
    if isinstance(X, csr_array):
        _stochastic.sparse_steps(X.data, X.indices, X.indptr, p, *rest, by.native(True, True), *options)
    else:
        _stochastic.steps(X, *rest, by.native(False, True), *options)
    return steps


SETTINGS: list[dict[str, Any]] = [
    dict(loss=loss, l2=0.02, average=average) for loss in LOSSES for average in (0, 1, 13)
] + [
    dict(loss="log_loss", learning_rate=one, l1=l1, l2=l2, eta0=0.3, power_t=0.25, average=average)
    for one in RATES[:4]
    for l1, l2, average in ((0.0, 0.0, 0), (0.05, 0.0, 5), (0.05, 0.03, 1), (0.0, 40.0, 1))  # the last shrinks to zero again and again
] + [dict(loss=loss, learning_rate=one, eta0=2.0) for one in RATES[4:] for loss in ("hinge", "epsilon_insensitive")]  # fmt: skip


@together("dtype", [np.float64, np.float32])
@together("kind", ["dense", "int32", "int64"])
@pytest.mark.parametrize("changed", SETTINGS, ids=lambda one: "-".join(map(str, one.values())))
def test_equals_its_twin(changed: dict[str, Any], kind: str, dtype: Any) -> None:
    by = rule(**changed)
    X, y, s = table(numbers=LOSSES.index(by.loss) > 4)
    X, factors = X.astype(dtype), np.array([[0.7, 1.6]])
    given = X if kind == "dense" else csr_array(X)
    if kind != "dense":
        given.indices, given.indptr = given.indices.astype(kind), given.indptr.astype(kind)
    steps = run(given, y, s, by, factors=factors)
    touched = np.ones(X.shape) if kind == "dense" else X != 0
    expected = twin(X.astype(np.float64), y, s, by, factors[0], 1.0 if kind == "dense" else 0.01, touched)
    near = dict(rtol=1e-9, atol=1e-11)
    mean, b_mean = steps.average
    assert_allclose(steps.weights[0], expected["w"], **near)
    assert_allclose(steps.numbers["intercept"], expected["b"], **near)
    assert_allclose(mean[0], expected["mean"][0], **near)
    assert_allclose(b_mean, expected["mean"][1], **near)
    assert_allclose(steps.numbers["loss"], expected["loss"], **near)
    if by.l1:
        assert_allclose(steps.paid[0], expected["paid"], **near)
        assert_allclose(steps.numbers["due"], expected["due"], **near)


def test_a_scale_that_vanishes_is_taken_over_by_the_weights() -> None:
    by = rule(loss="squared_error", l2=2.0, learning_rate="constant", eta0=0.05, average=20)
    X, y, s = table(n=400, numbers=True)
    steps = run(X, y, s, by)  # 0.9 to the power of 400
    expected = twin(X, y, s, by, np.ones(2), 1.0, np.ones(X.shape))
    assert_allclose(steps.weights[0], expected["w"], rtol=1e-9, atol=1e-12)
    assert_allclose(steps.average[0][0], expected["mean"][0], rtol=1e-9, atol=1e-12)
    assert steps.numbers["scale"][0] > 1e-4


def test_blocks_one_after_the_other_are_one_block() -> None:
    by = rule(loss="log_loss", l1=0.01, l2=0.01, average=7)
    X, y, s = table()
    whole, parts = run(X, y, s, by), None
    for a in range(0, 60, 7):
        parts = run(X[a : a + 7], y[a : a + 7], s[a : a + 7], by, parts)
    assert parts is not None
    for one, other in ((whole.v, parts.v), (whole.rest, parts.rest), (whole.paid, parts.paid), (whole.numbers, parts.numbers)):
        assert_array_equal(one, other)


def test_a_class_against_the_others_on_any_number_of_threads() -> None:
    by, codes = rule(loss="hinge", l2=0.01), np.arange(60.0) % 5
    X, _, s = table()
    found = []
    for threads in (1, 3):
        steps = Steps.start(by, np.zeros((5, 11)), np.zeros(5))
        found.append(run(X, codes, s, by, steps, positive=np.arange(5), threads=threads))
    assert_array_equal(found[0].v, found[1].v)
    for k in range(5):
        assert_allclose(found[0].weights[k], run(X, np.where(codes == k, 1.0, -1.0), s, by).weights[0], rtol=1e-9)


def test_an_order_is_drawn_from_the_seed_and_has_every_row_once() -> None:
    by = rule(loss="absolute_error", learning_rate="constant", fit_intercept=False)  # steps of one size
    X, y, s = np.eye(500), np.full(500, 100.0), np.ones(500)
    assert_allclose(run(X, y, s, by, seed=3).weights, 0.1, rtol=1e-9)
    X, y, s = table()
    by = rule(l2=0.01)
    first, again, other = (run(X, y, s, by, seed=seed) for seed in (3, 3, 4))
    assert_array_equal(first.v, again.v)
    assert np.abs(first.v - other.v).max() > 1e-3 and np.abs(first.v - run(X, y, s, by).v).max() > 1e-3


def test_finished_and_diverged_problems_stay_as_they_are() -> None:
    by = rule(loss="squared_error", learning_rate="constant", eta0=1e307)
    X, y, s = table(numbers=True)
    steps = run(X, y, s, by)
    assert steps.numbers["diverged"][0] == 1
    taken = steps.numbers["steps"][0]
    assert run(X, y, s, by, steps).numbers["steps"][0] == taken < 60
    calm = run(X, y, s, rule())
    calm.numbers["finished"] = 1
    before = calm.v.copy()
    assert_array_equal(run(X, y, s, rule(), calm).v, before)


def test_no_rows_and_no_columns() -> None:
    for n, p in ((0, 3), (4, 0)):
        steps = run(np.ones((n, p)), np.ones(n), np.ones(n), rule(average=1), seed=1)
        assert steps.v.shape == (1, p) and steps.numbers["steps"][0] == n
    empty = csr_array((0, 3))
    assert run(empty, np.ones(0), np.ones(0), rule()).numbers["steps"][0] == 0


def test_what_makes_no_sense_is_refused() -> None:
    X, y, s = table()
    by = rule(average=1, l1=0.1)

    def call(**changed: Any) -> None:
        state = Steps.start(by, np.zeros((1, 11)), np.zeros(1))
        given = dict(
            X=X, y=y, w=s, v=state.v, rest=state.rest, paid=state.paid, numbers=state.numbers.view(np.float64).reshape(1, -1),
            positive=np.array([-1]), factors=np.ones((1, 2)), rule=by.native(False, True), seed=None, threads=1,
        )  # fmt: skip
        _stochastic.steps(**(given | changed))

    call()
    for name in ("y", "w"):
        with pytest.raises(ValueError, match="target and a weight"):
            call(**{name: s[:-1].copy()})
    for name in ("v", "rest", "paid", "numbers"):
        for shape in ((1, 3), (2, 11)):
            with pytest.raises(ValueError, match="must"):
                call(**{name: np.zeros(shape)})
        with pytest.raises(ValueError, match="must"):
            call(**{name: np.zeros((1, 11), dtype=np.float32)})
    with pytest.raises(ValueError, match="factors"):
        call(factors=np.ones((1, 3)))
    for name in ("loss", "rate"):
        words = dict(loss=0, epsilon=0.1, l1=0.1, l2=0.0, rate=0, first_rate=0.1, power=0.5, slowness=1.0, onset=1.0, intercept=1.0)
        with pytest.raises(ValueError, match=name):
            call(rule=_stochastic.Rule(**(words | {name: 99}), average_from=1.0, measure=True))
    with pytest.raises(ValueError, match="threads"):
        call(threads=0)
    with pytest.raises(TypeError):
        call(X=X.astype(np.int64))
    sparse = csr_array(X)
    for place, bad in ((1, sparse.indices + 8), (2, sparse.indptr[::-1].copy()), (2, sparse.indptr + 1), (0, sparse.data[1:].copy())):
        parts = [sparse.data, sparse.indices, sparse.indptr]
        parts[place] = bad
        state = Steps.start(rule(), np.zeros((1, 11)), np.zeros(1))
        with pytest.raises(ValueError):
            numbers = state.numbers.view(np.float64).reshape(1, -1)
            one = np.array([-1]), np.ones((1, 2)), rule().native(True, True), None, 1
            _stochastic.sparse_steps(*parts, 11, y, s, state.v, state.rest, state.paid, numbers, *one)
    assert len(NUMBERS) == 13


def test_a_cancelled_run_stops_it_and_no_other() -> None:
    X, y, s = table(n=5000)
    done: list[float] = []
    other = threading.Thread(target=lambda: done.append(run(X, y, s, rule()).numbers["steps"][0]))
    with pytest.raises(KeyboardInterrupt), cancellable() as cancelled:
        cancelled.cancel()
        other.start()
        run(X, y, s, rule())
    other.join()
    assert done == [5000]
