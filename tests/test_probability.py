"""Log loss, Brier score and calibration error: equal to scikit-learn, or to the definition by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as theirs

from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter


def same(mine: Any, other: Any) -> None:
    np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


def drawn(seed: int, n: int, k: int, weighted: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(k), n)
    P[: n // 10] = np.eye(k)[rng.integers(0, k, n // 10)]  # sure, and often wrong
    return np.append(np.arange(k), rng.integers(0, k, n - k)), P, rng.uniform(0.1, 3, n) if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 5])
def test_all_columns(k: int, dtype: Any, weighted: bool) -> None:
    y, P, w = drawn(k, 200, k, weighted)
    P = P.astype(dtype)
    rtol = 1e-12 if dtype == np.float64 else 1e-6  # scikit-learn sums float32 in float32
    for normalize in (True, False):
        np.testing.assert_allclose(
            ours.log_loss(y, P, sample_weight=w, normalize=normalize),
            theirs.log_loss(y, P, sample_weight=w, normalize=normalize),
            rtol=rtol,
        )
    for half in ("auto", True, False):
        np.testing.assert_allclose(
            ours.brier_score_loss(y, P, sample_weight=w, scale_by_half=half),
            theirs.brier_score_loss(y, P, sample_weight=w, scale_by_half=half),
            rtol=rtol,
        )


@pytest.mark.parametrize("names", [(0, 1), (-1, 1), (3, 8)])
def test_one_column(names: tuple[int, int]) -> None:
    y, P, w = drawn(1, 100, 2, True)
    y, p = np.array(names)[y], P[:, 1]
    same(ours.log_loss(y, p, sample_weight=w), theirs.log_loss(y, p, sample_weight=w))
    same(ours.brier_score_loss(y, p, sample_weight=w), theirs.brier_score_loss(y, p, sample_weight=w))
    same(
        ours.brier_score_loss(y, p, pos_label=names[0], sample_weight=w),
        theirs.brier_score_loss(y, p, pos_label=names[0], sample_weight=w),
    )


def test_one_row_and_missing_classes() -> None:
    same(ours.log_loss([1], [[0.2, 0.8]], labels=[0, 1]), -np.log(0.8))
    same(ours.brier_score_loss([1], [0.8]), 0.04)
    same(ours.brier_score_loss([0], [0.8]), 0.64)
    y, P, _ = drawn(2, 50, 3, False)
    kept = y != 1
    same(ours.log_loss(y[kept], P[kept], labels=[0, 1, 2]), theirs.log_loss(y[kept], P[kept], labels=[0, 1, 2]))


@pytest.mark.parametrize("bins", [1, 7, 10])
@pytest.mark.parametrize("k", [1, 3])
def test_calibration_error_by_brute_force(k: int, bins: int) -> None:
    y, P, w = drawn(3, 300, max(k, 2), True)
    stated, true = (P[:, 1], y == 1) if k == 1 else (P.max(axis=1), P.argmax(axis=1) == y)
    shares, gaps = [], []
    for b in range(bins):
        last = b == bins - 1
        rows = (stated >= b / bins) & ((stated < (b + 1) / bins) | last)
        if rows.any():
            shares.append(w[rows].sum() / w.sum())
            gaps.append(abs(np.average(stated[rows], weights=w[rows]) - np.average(true[rows], weights=w[rows])))
    given = P[:, 1] if k == 1 else P
    for norm, expected in (
        ("l1", np.dot(shares, gaps)),
        ("l2", np.dot(shares, np.square(gaps)) ** 0.5),
        ("max", max(gaps)),
    ):
        same(ours.calibration_error(y, given, n_bins=bins, norm=norm, sample_weight=w), expected)


def test_perfect_calibration_has_no_error() -> None:
    assert ours.calibration_error([0, 1, 1, 1], [0.75] * 4) == 0


def test_probabilities_that_do_not_sum_to_one_are_told_of() -> None:
    told = [[0.5, 0.6], [0.5, 0.5]]
    with pytest.warns(UserWarning, match=r"do not sum to one.*row 0"):
        found = ours.log_loss([0, 1], told)
    assert found == pytest.approx(-(np.log(0.5) + np.log(0.5)) / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.log_loss([0, 1], [0.2, 1.3]), BadInput, "greater than 1: 1.3 in row 1"),
        (lambda: ours.log_loss([0, 1], [-0.2, 0.3]), BadInput, "lower than 0: -0.2 in row 0"),
        (lambda: ours.log_loss([0, 0], [0.2, 0.3]), BadInput, "only one label .*explicitly through the labels argument"),
        (lambda: ours.log_loss([0, 1, 2], [0.2, 0.3, 0.4]), BadInput, "different number of classes: 3 vs 2"),
        (
            lambda: ours.log_loss([0, 5], [0.2, 0.3], labels=[0, 1]),
            BadInput,
            r"values \{5\} not belonging to the passed labels .* see row 1",
        ),
        (lambda: ours.log_loss([0, 1], [0.2, 0.3], labels=[1, 1]), BadParameter, "'labels' must be unique"),
        (lambda: ours.log_loss([0, 1], [0.2]), BadInput, "y_true has 2 rows"),
        (lambda: ours.log_loss([0, 1], [0.2, np.nan]), BadInput, "Input y_proba contains NaN in row 1"),
        (lambda: ours.brier_score_loss(["a", "b"], [0.2, 0.4]), BadParameter, "pass pos_label explicitly"),
        (lambda: ours.brier_score_loss([0, 1, 2], [0.2, 0.4, 0.1]), BadInput, "is multiclass but should be binary"),
        (lambda: ours.calibration_error([0, 1], [0.2, 0.4], n_bins=0), BadParameter, "n_bins=0"),
        (lambda: ours.calibration_error([0, 1], [0.2, 0.4], norm="l3"), BadParameter, "norm='l3'"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
