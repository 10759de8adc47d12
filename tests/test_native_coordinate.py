"""Coordinate descent along a path of penalties equals its plain twin, whatever the shapes, and can be stopped."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tenfold import _coordinate
from tenfold.core.threads import cancellable


def gram_path(
    G: np.ndarray,
    q: np.ndarray,
    yy: float,
    l1: np.ndarray,
    l2: np.ndarray,
    start: np.ndarray,
    positive: bool,
    tol: float,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pair of penalties w of ½wᵀGw − q·w + l1‖w‖₁ + ½l2‖w‖² (w ≥ 0 if positive) to a duality gap of tol,
    from the w before; with the gaps and the sweeps, at most `most`."""
    w, r = start.copy(), q - G @ start
    found, gaps, sweeps = np.zeros((len(l1), len(q))), np.zeros(len(l1)), np.zeros(len(l1))
    for i, (a, b) in enumerate(zip(l1, l2, strict=True)):
        while (gap := duality_gap(q, w, r, yy, a, b, positive)) > tol and sweeps[i] < most:
            before = w.copy()
            for j in np.flatnonzero(np.diagonal(G) > 0):
                z = r[j] + G[j, j] * w[j]
                best = max(z - a, 0.0) if positive or z > 0 else min(z + a, 0.0)
                change = best / (G[j, j] + b) - w[j]
                w[j] += change
                r -= change * G[j]
            sweeps[i] += 1
            if (w == before).all():
                break
        found[i], gaps[i] = w, gap
    return found, gaps, sweeps


def duality_gap(q: np.ndarray, w: np.ndarray, r: np.ndarray, yy: float, l1: float, l2: float, positive: bool) -> float:
    """What ½‖y − Xw‖² + l1‖w‖₁ + ½l2‖w‖² is above the dual at the residual, scaled to be feasible; r = q − Gw."""
    c = r - l2 * w
    largest = np.max(c if positive else np.abs(c), initial=0.0)
    rest = max(0.0, yy - q @ w - w @ r) + l2 * (w @ w)
    scale = l1 / largest if largest > l1 else 1.0
    return float(max(0.0, rest / 2 + l1 * np.abs(w).sum() - scale * (yy - q @ w) + scale**2 * rest / 2))


Array = np.ndarray[Any, Any]


def problem(n: int, p: int, k: int, seed: int = 0, l2: float = 0.0) -> tuple[Any, ...]:
    """G, q, yy, l1 and l2 of a path that begins where all coefficients are zero; a third of the columns are copies."""
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, p))
    X[:, : p // 3] = X[:, p // 3 : 2 * (p // 3)]
    y = X @ (r.normal(size=p) * (r.random(p) < 0.4)) + 0.1 * r.normal(size=n)
    G, q = np.ascontiguousarray(X.T @ X), X.T @ y
    l1 = np.max(np.abs(q), initial=1.0) * np.geomspace(1.0, 1e-3, max(k, 1))[:k]
    return G, q, float(y @ y), l1, np.full(k, l2)


def objective(given: tuple[Any, ...], W: Array) -> Array:
    G, q, yy, l1, l2 = given
    return np.array(
        [
            yy / 2 + w @ G @ w / 2 - q @ w + a * np.abs(w).sum() + b * (w @ w) / 2
            for w, a, b in zip(W, l1, l2, strict=True)
        ]
    )


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize(
    "shape", [(5, 0, 3), (1, 1, 4), (30, 1, 1), (40, 7, 0), (40, 9, 12), (20, 35, 4), (150, 70, 3)]
)
def test_equals_its_twin(shape: tuple[int, int, int], l2: float, positive: bool) -> None:
    given = problem(*shape, l2=l2)
    yy, p = given[2], shape[1]
    rest = (np.zeros(p), positive, 1e-9 * yy, 1000)
    W, gaps, sweeps = _coordinate.gram_path(*given, *rest)
    expected, their_gaps, _ = gram_path(*given, *rest)
    assert W.shape == expected.shape == (shape[2], p) and (sweeps <= 1000).all()
    apart = np.abs(objective(given, W) - objective(given, expected))
    assert (apart <= np.maximum(gaps, their_gaps) + 1e-12 * yy).all()
    assert not positive or (W >= 0).all()
    for w, gap, a, b in zip(W, gaps, *given[3:], strict=True):
        true = duality_gap(given[1], w, given[1] - given[0] @ w, yy, a, b, positive)
        assert_allclose(gap, true, rtol=1e-6, atol=1e-13 * yy)
    assert (gaps <= np.maximum(2 * their_gaps, 1e-9 * yy)).all()
    if l2:  # the optimum is unique
        assert_allclose(W, expected, rtol=0, atol=1e-3 * np.max(np.abs(expected), initial=1e-12))


def test_starts_where_it_is_told_and_stops_after_so_many_sweeps() -> None:
    given = problem(50, 12, 1)
    first = _coordinate.gram_path(*given[:3], given[3] * 0.05, given[4], np.zeros(12), False, 1e-13 * given[2], 5000)
    again = _coordinate.gram_path(*given[:3], given[3] * 0.05, given[4], first[0][0], False, 1e-12 * given[2], 5000)
    assert again[2][0] == 0 and first[2][0] > 0
    assert_array_equal(again[0], first[0])
    none = _coordinate.gram_path(*given[:3], given[3] * 0.05, given[4], np.zeros(12), False, 0.0, 0)
    assert none[2][0] == 0 and not none[0].any()
    few = _coordinate.gram_path(*given[:3], given[3] * 0.05, given[4], np.zeros(12), False, 0.0, 3)
    assert few[2][0] <= 3


def test_columns_of_zeros_and_numbers_that_are_none() -> None:
    G, q = np.zeros((3, 3)), np.zeros(3)
    W, gaps, _ = _coordinate.gram_path(G, q, 0.0, np.ones(2), np.zeros(2), np.zeros(3), False, 0.0, 10)
    assert not W.any() and not gaps.any()
    G[:] = np.nan
    _coordinate.gram_path(G, q + np.nan, np.nan, np.ones(2), np.zeros(2), np.ones(3), False, 0.0, 10)


def test_sizes_that_disagree_and_wrong_arrays_are_refused() -> None:
    given = (*problem(20, 4, 3), np.zeros(4), False, 1e-6, 10)
    for place in (0, 1, 3, 4, 5):
        longer = np.concatenate([given[place], given[place]])
        with pytest.raises(ValueError, match="must"):
            _coordinate.gram_path(*given[:place], longer, *given[place + 1 :])
        for bad in (given[place].astype(np.float32), given[place].tolist(), None):
            with pytest.raises(TypeError):
                _coordinate.gram_path(*given[:place], bad, *given[place + 1 :])


def endless() -> tuple[Any, ...]:
    """A problem whose gap never is zero to the last bit."""
    given = problem(300, 300, 1, seed=3)
    return (*given[:3], given[3] * 1e-7, given[4], np.zeros(300), False, -1.0, 10**12)


def test_a_cancelled_run_stops_it() -> None:
    with pytest.raises(KeyboardInterrupt), cancellable() as run:
        run.cancel()
        _coordinate.gram_path(*endless())


def test_a_signal_stops_it_within_a_second() -> None:
    class Enough(Exception):
        pass

    def handler(*_: Any) -> None:
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    begun = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Enough):
            _coordinate.gram_path(*endless())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - begun < 1.2  # of which it works 0.2 at most before the signal
