"""CircleFit: exact circles, optimality, short arcs, and points on a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tenfold

Array = np.ndarray[Any, Any]


def arc(n: int, length: float, noise: float, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, length, n)
    circle = np.column_stack([10 + 3 * np.cos(angle), -4 + 3 * np.sin(angle)])
    return circle + noise * rng.normal(size=(n, 2))


@pytest.mark.parametrize("method", ["geometric", "algebraic"])
@pytest.mark.parametrize("p", [2, 3, 5])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_exact_spheres(method: str, p: int, far: float) -> None:
    rng = np.random.default_rng(p)
    direction = rng.normal(size=(40, p))
    center = rng.normal(size=p) + far
    X = center + 2.5 * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    fitted = tenfold.CircleFit(method).fit(X)
    np.testing.assert_allclose(fitted.center_, center, rtol=0, atol=1e-13 * max(far, 10))
    np.testing.assert_allclose(fitted.radius_, 2.5, rtol=1e-12 * max(far, 1))
    assert fitted.rms_ < 1e-9


@pytest.mark.parametrize("length", [6.28, 3.0, 1.0])
def test_geometric_is_the_optimum(length: float) -> None:
    """No centre and radius have a smaller sum of squares; SciPy finds the same from the truth."""
    X = arc(200, length, 0.05)
    fitted = tenfold.CircleFit().fit(X)
    theirs = scipy.optimize.least_squares(
        lambda b: np.hypot(*(X - b[:2]).T) - b[2], [10, -4, 3], xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    np.testing.assert_allclose([*fitted.center_, fitted.radius_], theirs.x, rtol=1e-6)
    assert fitted.rms_**2 * len(X) <= 2 * theirs.cost * (1 + 1e-12) and fitted.certificate_ < 1e-11
    np.testing.assert_allclose(fitted.decision_function(X), theirs.fun, rtol=0, atol=1e-6)


def test_algebraic_is_linear_least_squares() -> None:
    """Of ‖x‖² = 2 c·x + (r² − ‖c‖²)."""
    X = arc(100, 3.0, 0.05)
    A = np.column_stack([2 * X, np.ones(len(X))])
    *c, k = np.linalg.lstsq(A, (X**2).sum(axis=1))[0]
    fitted = tenfold.CircleFit("algebraic").fit(X)
    np.testing.assert_allclose(fitted.center_, c, rtol=1e-10)
    np.testing.assert_allclose(fitted.radius_, np.sqrt(k + np.dot(c, c)), rtol=1e-10)


def test_short_arcs_are_too_small_for_the_algebraic_fit() -> None:
    """What the lecture warns of: on a sixth of a circle it is far off; the geometric fit is not."""
    radii = {
        method: np.median([tenfold.CircleFit(method).fit(arc(200, 1.0, 0.1, seed)).radius_ for seed in range(40)])
        for method in ("algebraic", "geometric")
    }
    assert radii["algebraic"] < 0.85 * 3 and abs(radii["geometric"] - 3) < 0.15, radii


def test_nearest_points() -> None:
    fitted = tenfold.CircleFit().fit(arc(50, 6.28, 0.1))
    rows = np.random.default_rng(1).normal(size=(20, 2)) * 5 + fitted.center_
    onto = fitted.transform(np.vstack([rows, fitted.center_]))
    np.testing.assert_allclose(np.linalg.norm(onto - fitted.center_, axis=1), fitted.radius_, rtol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(onto[:20] - rows, axis=1), np.abs(fitted.decision_function(rows)), rtol=1e-9
    )


def test_points_on_a_line_are_told() -> None:
    with pytest.warns(tenfold.Degenerate, match="CircleFit"):
        tenfold.CircleFit("algebraic").fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    with pytest.warns(tenfold.NotConverged, match="certificate"):
        tenfold.CircleFit(max_iter=1).fit(arc(30, 1.0, 0.1))


def test_a_centre_that_is_too_far_to_be_squared_is_refused() -> None:
    """Points on a parabola that is flat but for its last digits: overflows were told by NumPy alone."""
    x = np.linspace(-1, 1, 9)
    with pytest.raises(tenfold.BadInput, match="so flat that their centre lies beyond 1e150"):
        tenfold.CircleFit().fit(np.column_stack([x, x**2 * 1e-152]))
