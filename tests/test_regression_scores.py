"""Scores of predicted numbers: equal to scikit-learn with weights, several targets and single rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as theirs

from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter, Degenerate
from tenfold.score.absolute_errors import AbsoluteErrors
from tenfold.score.regression import ValueSums

NAMES = [
    "r2_score",
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "median_absolute_error",
    "mean_pinball_loss",
]


def same(mine: Any, other: Any) -> None:
    np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


def numbers(seed: int, n: int, q: int, weighted: bool, digits: int = 9) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    shape = (n, q) if q else n
    y = np.round(rng.normal(size=shape), digits)
    return y, np.round(y + rng.normal(size=shape), digits), rng.uniform(0.1, 3, n) if weighted else None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "case", [(0, 50, 0, False), (1, 51, 3, True), (2, 40, 2, False, 0), (3, 41, 0, True, 1), (4, 2, 2, True)]
)
def test_equal_to_scikit_learn(case: Any, name: str) -> None:
    y, v, w = numbers(*case)
    choices: list[Any] = ["raw_values", "uniform_average"] + ([list(range(1, y.shape[1] + 1))] if y.ndim == 2 else [])
    for choice in choices + (["variance_weighted"] if name == "r2_score" else []):
        given = {"sample_weight": w, "multioutput": choice}
        same(getattr(ours, name)(y, v, **given), getattr(theirs, name)(y, v, **given))


@pytest.mark.parametrize("name", NAMES[1:])
def test_one_row(name: str) -> None:
    same(getattr(ours, name)([3.0], [1.0]), getattr(theirs, name)([3.0], [1.0]))


def test_r2_at_its_limits() -> None:
    with pytest.warns(Degenerate, match="not well-defined with less than two samples"):
        assert np.isnan(ours.r2_score([1.0], [2.0]))
    assert ours.r2_score([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert ours.r2_score([1.0, 1.0], [1.0, 2.0]) == 0.0
    assert np.isnan(ours.r2_score([1.0, 1.0], [1.0, 1.0], force_finite=False))
    assert ours.r2_score([1.0, 1.0], [1.0, 2.0], force_finite=False) == -np.inf


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 1.0])
def test_pinball(alpha: float) -> None:
    y, v, w = numbers(5, 60, 0, True)
    same(
        ours.mean_pinball_loss(y, v, alpha=alpha, sample_weight=w),
        theirs.mean_pinball_loss(y, v, alpha=alpha, sample_weight=w),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_poisson(weighted: bool) -> None:
    rng = np.random.default_rng(6)
    mu = rng.uniform(0.1, 5, 80)
    y, w = rng.poisson(mu), rng.uniform(0.1, 2, 80) if weighted else None
    same(ours.mean_poisson_deviance(y, mu, sample_weight=w), theirs.mean_poisson_deviance(y, mu, sample_weight=w))


def test_a_far_mean_costs_no_digits() -> None:
    y, v, w = numbers(7, 500, 0, True)
    parts = [ValueSums.of(y[i::5] + 1e7, v[i::5] + 1e7, w[i::5]) for i in range(5)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    np.testing.assert_allclose(total.r2(), ours.r2_score(y, v, sample_weight=w), rtol=0, atol=1e-8)


@pytest.mark.parametrize("most", [8, 50, 10**6])
def test_the_median_of_a_sketch_is_within_its_bound(most: int) -> None:
    y, v, w = numbers(8, 3000, 0, True)
    exact = ours.median_absolute_error(y, v, sample_weight=w)
    total = AbsoluteErrors.of(y[:1000], v[:1000], w[:1000], most=most) + AbsoluteErrors.of(
        y[1000:], v[1000:], w[1000:], most=most
    )
    value, bound = total.median()
    assert abs(value - exact) <= bound * (1 + 1e-12)
    assert (bound > 0) == (most < 3000)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.r2_score([1.0, 2.0], [1.0]), BadInput, "y_true has 2 rows, y_pred has 1"),
        (lambda: ours.r2_score([[1.0, 2.0]], [[1.0]]), BadInput, r"different number of output \(2!=1\)"),
        (lambda: ours.mean_squared_error([1.0, np.inf], [1.0, 2.0]), BadInput, "Input y_true contains infinity.* in row 1"),
        (lambda: ours.mean_squared_error([1.0, 2.0], [1.0, np.nan]), BadInput, "Input y_pred contains NaN in row 1"),
        (lambda: ours.mean_squared_error([], []), BadInput, "shape"),
        (lambda: ours.mean_squared_error(["a"], [1.0]), BadInput, "does not hold numbers"),
        (lambda: ours.mean_squared_error([1.0], [1.0], sample_weight=[0.0]), BadInput, "zero in every row"),
        (lambda: ours.mean_squared_error([1.0], [1.0], multioutput="sum"), BadParameter, "multioutput='sum'"),
        (lambda: ours.mean_squared_error([1.0], [1.0], multioutput=[1, 2]), BadParameter, "2 weights for 1 targets"),
        (lambda: ours.mean_pinball_loss([1.0], [1.0], alpha=2), BadParameter, "alpha=2"),
        (lambda: ours.mean_poisson_deviance([-1], [1.0]), BadInput, "y_true must be at least 0, but is -1 in row 0"),
        (lambda: ours.mean_poisson_deviance([1], [0.0]), BadInput, "y_pred must be above 0"),
        (lambda: ours.mean_poisson_deviance([[1, 2]], [[1, 2]]), BadInput, "2 targets"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["mean_absolute_percentage_error", "mean_squared_log_error", "root_mean_squared_log_error"])
@pytest.mark.parametrize("multioutput", ["raw_values", "uniform_average", [0.3, 0.7]])
def test_relative_errors(name: str, multioutput: Any) -> None:
    rng = np.random.default_rng(8)
    y, p, w = rng.gamma(2.0, size=(30, 2)), rng.gamma(2.0, size=(30, 2)), rng.random(30)
    for given in (dict(), dict(sample_weight=w)):
        np.testing.assert_allclose(
            getattr(ours, name)(y, p, multioutput=multioutput, **given),
            getattr(theirs, name)(y, p, multioutput=multioutput, **given),
            rtol=1e-12,
        )
    assert isinstance(getattr(ours, name)(y[:, 0], p[:, 0]), float)


def test_gamma_deviance() -> None:
    rng = np.random.default_rng(9)
    y, p, w = rng.gamma(2.0, size=30), rng.gamma(2.0, size=30), rng.random(30)
    assert ours.mean_gamma_deviance(y, p, sample_weight=w) == pytest.approx(theirs.mean_gamma_deviance(y, p, sample_weight=w))
    with pytest.raises(BadInput, match="less than or equal to 0: y_true is 0 in row 1"):
        ours.mean_gamma_deviance([1.0, 0.0], [1.0, 1.0])
    with pytest.raises(BadInput, match=r"Logarithmic Error cannot be used .* y_pred is -2 in row 0"):
        ours.mean_squared_log_error([1.0, 0.0], [-2.0, 1.0])
    with pytest.raises(BadInput, match="2 targets"):
        ours.mean_gamma_deviance([[1.0, 2.0]], [[1.0, 2.0]])
