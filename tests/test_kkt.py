"""The checker of constrained solutions: worked cases, solutions of SciPy and of scikit-learn, and points that fail one condition each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

import tenfold
from tenfold.core.errors import BadInput, BadParameter


def square(x: Any) -> Any:
    return x @ x


def line(x: Any) -> Any:
    return x[0] + x[1] - 1


def test_the_nearest_point_of_a_line() -> None:
    found = tenfold.kkt([0.5, 0.5], square, equalities={"line": line})
    assert found and found.found and found.independent and not found.active
    assert found.equality_multipliers == {"line": pytest.approx(-1.0, abs=1e-12)}
    assert "strict local minimum" in found.second_order
    wrong = tenfold.kkt([0.6, 0.4], square, equalities={"line": line})
    assert not wrong.passed and [one.name for one in wrong.conditions if not one.holds] == ["stationarity"]
    assert wrong.stationarity.violation == pytest.approx(np.hypot(0.2, 0.2), rel=1e-9)  # what is left of (1.2, 0.8) beside (1, 1)
    off = tenfold.kkt([0.6, 0.6], square, equalities={"line": line})
    assert not off.primal.holds and off.primal.where == "line" and off.primal.violation == pytest.approx(0.2)


SEPARABLE = np.array([[2.0, 2.0], [4.0, 2.0], [3.0, 4.0], [0.0, 0.0], [-1.0, 1.0], [0.0, -2.0]])
SIDE = np.array([1.0, 1, 1, -1, -1, -1])


def margin(z: Any) -> Any:
    """1 − y (w·x − b) ≤ 0 for each row: the widest margin of two classes, in the variables (w, b)."""
    return 1 - SIDE * (SEPARABLE @ z[:2] - z[2])


def half_square(z: Any) -> Any:
    return z[:2] @ z[:2] / 2


def test_which_of_some_proposals_separates_the_classes_best() -> None:
    """Six rows and two classes: of some w, b and λ, the conditions tell the right one, and what is wrong of the others."""
    right = np.array([0.5, 0.5, 1.0])
    weights = np.array([0.25, 0, 0, 0.25, 0, 0])  # w = Σ λ y x, Σ λ y = 0
    assert tenfold.kkt(right, half_square, {"row": margin}, multipliers=weights)
    found = tenfold.kkt(right, half_square, {"row": margin})
    assert found and set(found.active) == {"row[0]", "row[3]", "row[4]"} and not found.primal.violation
    np.testing.assert_allclose(list(found.multipliers.values()), weights, atol=1e-9)
    for w, lam, fails in [
        (right, -weights, ["stationarity", "dual feasibility"]),
        (right, np.array([0, 0.25, 0, 0.25, 0, 0]), ["stationarity", "complementary slackness"]),
        (2 * right, 2 * weights, ["complementary slackness"]),
        (right / 2, weights / 2, ["primal feasibility", "complementary slackness"]),
        (np.array([1.0, 0.0, 1.0]), np.array([0.5, 0, 0, 0.5, 0, 0]), ["stationarity"]),
    ]:
        told = tenfold.kkt(w, half_square, {"row": margin}, multipliers=lam)
        assert [one.name for one in told.conditions if not one.holds] == fails, str(told)
    machine = SVC(kernel="linear", C=1e6, tol=1e-10).fit(SEPARABLE, SIDE)
    fitted = np.append(machine.coef_[0], -machine.intercept_[0])
    assert tenfold.kkt(fitted, half_square, {"row": margin}, rtol=1e-5)


def test_a_dual_of_a_support_vector_machine() -> None:
    """Rows that overlap: 0 ≤ a ≤ C and Σ a y = 0, by scikit-learn."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (15, 2)), rng.normal(1.5, 1, (15, 2))])
    y = np.repeat([-1.0, 1.0], 15)
    model = SVC(kernel="linear", C=0.7, tol=1e-12).fit(X, y)
    a = np.zeros(30)
    a[model.support_] = np.abs(model.dual_coef_[0])
    Q = (X @ X.T) * np.outer(y, y)
    below, above = {"below": lambda a: -a, "above": lambda a: a - 0.7}, {"sum": lambda a: a @ y}
    assert tenfold.kkt(a, lambda a: a @ Q @ a / 2 - a.sum(), below, above, gradient=lambda a: Q @ a - 1)
    inner = int(np.flatnonzero((a > 0.01) & (a < 0.69))[0])
    a[inner] += 0.05
    told = tenfold.kkt(a, lambda a: a @ Q @ a / 2 - a.sum(), below, above)
    assert not told.stationarity.holds and not told.primal.holds and told.primal.where == "sum"


@pytest.mark.parametrize("seed", range(5))
def test_solutions_of_scipy_pass_and_others_do_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4))
    A, b, c = A @ A.T + np.eye(4), rng.normal(size=4) * 3, rng.normal(size=(3, 4))

    def f(x: Any) -> Any:
        return x @ A @ x / 2 + b @ x + np.exp(x[0])

    limits = {"ball": lambda x: x @ x - 1, "planes": lambda x: c[:2] @ x - 0.2}
    on = {"plane": lambda x: c[2] @ x - 0.1}
    asked = [{"type": "ineq", "fun": lambda x, g=g: -np.atleast_1d(g(x))} for g in limits.values()]
    asked.append({"type": "eq", "fun": on["plane"]})
    solved = minimize(f, np.zeros(4), constraints=asked, tol=1e-14, options={"maxiter": 500}).x
    found = tenfold.kkt(solved, f, limits, on, rtol=1e-5, atol=1e-5)
    assert found, str(found)
    assert "strict local minimum" in found.second_order
    assert not tenfold.kkt(solved + 0.01 * rng.normal(size=4), f, limits, on)


def test_a_saddle_point_passes_at_first_order_and_is_told() -> None:
    found = tenfold.kkt([0.0, 0.0], lambda x: x[0] ** 2 - x[1] ** 2)
    assert found and "not a minimum" in found.second_order
    held = tenfold.kkt([0.0, 0.0], lambda x: x[0] ** 2 - x[1] ** 2, equalities=lambda x: x[1])
    assert held and "strict local minimum" in held.second_order
    flat = tenfold.kkt([0.0, 0.0], lambda x: x[0] ** 2 + x[1] ** 4)
    assert flat and "does not decide" in flat.second_order
    corner = tenfold.kkt([0.0, 0.0], lambda x: x[0] + x[1], lambda x: -x)
    assert corner and "leave no direction" in corner.second_order


def test_constraints_whose_gradients_depend_are_told() -> None:
    """The cusp (1 − x)³ ≥ y ≥ 0 of Kuhn and Tucker: the point (1, 0) is largest in x, and has no multipliers."""
    cusp = {"curve": lambda x: x[1] - (1 - x[0]) ** 3, "floor": lambda x: -x[1]}
    found = tenfold.kkt([1.0, 0.0], lambda x: -x[0], cusp)
    assert not found and not found.independent and not found.stationarity.holds
    assert "curve" in found.qualification and "floor" in found.qualification
    still = tenfold.kkt([0.0], lambda x: x[0], {"square": lambda x: x[0] ** 2})
    assert not still.independent and "gradient of square is zero" in still.qualification
    twice = tenfold.kkt([1.0], lambda x: x[0] ** 2, {"a": lambda x: 1 - x[0], "b": lambda x: 2 - 2 * x[0]})
    assert twice and not twice.independent


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e100])
def test_units_of_a_constraint_do_not_matter(scale: float) -> None:
    for x, expected in (([0.5, 0.5], True), ([0.5, 0.501], False)):
        assert tenfold.kkt(x, square, {"line": lambda x: scale * (1 - x[0] - x[1])}).passed is expected


def test_gradients_given_wrong_or_by_differences() -> None:
    def rough(x: Any) -> Any:
        return abs(x[0]) ** 3 + float(x[1]) ** 2  # takes no complex numbers

    assert tenfold.kkt([0.0, 1.0], rough, {"floor": lambda x: 1 - x[1]})
    assert tenfold.kkt([0.0, 1.0], rough, {"floor": lambda x: 1 - x[1]}, gradient=np.array([0.0, 2.0]), inequality_gradients=[[0.0, -1.0]])
    assert not tenfold.kkt([0.0, 1.0], rough, {"floor": lambda x: 1 - x[1]}, gradient=[1.0, 2.0])
    absolute = tenfold.kkt([2.0], lambda x: np.abs(x[0]) - x[0])  # complex steps see −1 + |·| wrongly: differences are taken
    assert absolute


def test_it_reads_well() -> None:
    told = tenfold.kkt([0.6, 0.6], square, {"budget <": lambda x: x.sum() - 1}, {"line": line})
    text, page = str(told), told._repr_html_()
    assert text.startswith("not a minimum: primal feasibility fails\n") and "budget < is off by 0.2, more than" in text
    assert ", and 1 more" in text and "multipliers (found): budget <" in text
    assert "&lt;" in page and "budget <" not in page


def test_bad_input_is_told() -> None:
    for call, words in [
        (lambda: tenfold.kkt([np.nan], square), r"x\[0\] is nan"),
        (lambda: tenfold.kkt([[1.0]], square), "vector of numbers"),
        (lambda: tenfold.kkt([1.0], lambda x: [1.0, 2.0]), "2 numbers"),
        (lambda: tenfold.kkt([1.0], lambda x: np.inf), "is inf at x"),
        (lambda: tenfold.kkt([1.0], lambda x: "a"), "no number"),
        (lambda: tenfold.kkt([1.0], square, gradient=[1.0, 2.0]), r"shape \(2,\)"),
    ]:
        with pytest.raises(BadInput if "shape" not in words else BadParameter, match=words):
            call()
    for options, words in [
        (dict(inequalities=3), "functions of x"),
        (dict(inequalities={"a": 3}), "a is no function"),
        (dict(inequalities={"a": square}, multipliers={"b": 1.0}), "no constraint b"),
        (dict(inequalities={"a": square}, multipliers=[1.0, 2.0]), "1 finite numbers"),
        (dict(inequalities={"a": square}, equality_multipliers=[]), "give those of a too"),
        (dict(inequalities={"a": square}, inequality_gradients={"b": [1.0]}), "gradient of b"),
        (dict(inequalities=[square, square], inequality_gradients=[[1.0]]), "1 gradients"),
        (dict(rtol=-1), "rtol"),
    ]:
        with pytest.raises(BadParameter, match=words):
            tenfold.kkt([1.0], square, **options)
