"""The best cut of a table in two against every cut tried one by one: ties, missing values, classes, weights of zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenfold import _stump


def score(left: Any, y: Any, w: Any, classes: int) -> float:
    """Σₖ Lₖ²/L + Σₖ Rₖ²/R."""
    total = 0.0
    for side in (left, ~left):
        by_class = np.bincount(y[side], w[side], classes)
        if by_class.sum() == 0:
            return -1.0
        total += (by_class**2).sum() / by_class.sum()
    return total


def every_cut(X: Any, y: Any, w: Any, classes: int) -> float:
    """The best score of all."""
    found = [-1.0]
    for column in X.T:
        blank = np.isnan(column)
        for value in np.unique(column[~blank]):
            found += [score((column <= value) | (blank & side), y, w, classes) for side in (False, True)]
    return max(found)


@pytest.mark.parametrize("classes", [1, 2, 3, 7])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (40, 4), (1500, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_best_cut(classes: int, missing: float, shape: tuple[int, int], dtype: Any) -> None:
    rng = np.random.default_rng(classes)
    values = rng.integers(0, 9 if shape[0] < 100 else 40, shape).astype(dtype)
    X = np.where(rng.random(shape) < missing, np.nan, values).astype(dtype)
    y = rng.integers(0, classes, shape[0])
    w = rng.integers(0, 1000, shape[0])
    stumps = _stump.Stumps(X, y, classes, 2)
    column, low, high, missing_left, side, counts = stumps.best(w, 2)
    expected = every_cut(X, y, w, classes)
    if column < 0:
        assert expected < 0 and not side.any()
        return
    x = X[:, column]
    left = np.isnan(x) & missing_left | (x <= x[low])
    assert high < 0 or x[low] < x[high]
    assert score(left, y, w, classes) == pytest.approx(expected, rel=1e-9)
    np.testing.assert_array_equal(side, ~left)
    np.testing.assert_array_equal(counts, [np.bincount(y[s], w[s], classes) for s in (left, ~left)])
    assert stumps.best(w, 1)[:4] == (column, low, high, missing_left)


def test_ties_go_to_the_first_column() -> None:
    x = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 9.0]])
    assert _stump.Stumps(x, np.array([0, 0, 1]), 2, 1).best(np.array([1, 1, 1]), 1)[:3] == (0, 1, 2)


@pytest.mark.parametrize(
    "codes, classes, weights, words",
    [
        ([0, 2], 2, [1, 1], "not that of a class"),
        ([0, -1], 2, [1, 1], "not that of a class"),
        ([0], 2, [1, 1], "a class for each row"),
        ([0, 1], 2, [1], "a weight for each row"),
        ([0, 1], 2, [1, -1], "negative"),
        ([0, 1], 2, [2**62, 2**62], "below"),
    ],
)
def test_what_does_not_fit_is_refused(codes: Any, classes: int, weights: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _stump.Stumps(np.zeros((2, 1)), np.array(codes), classes, 1).best(np.array(weights), 1)
