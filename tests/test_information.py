"""Entropy, information and divergence: the loan table by hand, scipy.stats, identities, and estimates against known distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import sparse, stats

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.distributions import (
    Beta,
    Categorical,
    Dirichlet,
    MultivariateGaussian,
    MultivariateT,
    conditional_entropy,
    entropy,
    estimate_entropy,
    estimate_kl_divergence,
    estimate_mutual_information,
    joint_entropy,
    kl_divergence,
    mutual_information,
)

CLOSE: dict[str, Any] = dict(rtol=1e-12, atol=1e-14)
RNG = np.random.default_rng(0)
x, y = RNG.integers(0, 3, 60), RNG.integers(0, 4, 60)
TABLE = np.array([[((x == i) & (y == j)).sum() for j in range(4)] for i in range(3)])

# Credit report, employment, collateral of five loans, and whether they were paid back.
LOANS = pandas.DataFrame(
    [["positive", "yes", "no"], ["positive", "no", "yes"], ["positive", "no", "no"], ["negative", "no", "yes"], ["negative", "yes", "no"]]
)
PAID = ["yes", "yes", "no", "no", "no"]


def test_the_loans() -> None:
    """Entropy 0.97 bit, of which the credit report says 0.42."""
    assert entropy([2, 3]) == entropy(Categorical.from_rows(PAID)) == pytest.approx(0.97, abs=5e-3)
    report = LOANS[0]
    assert conditional_entropy(PAID, given=report) == pytest.approx(3 / 5 * entropy([2, 1])) == pytest.approx(3 / 5 * 0.918, abs=1e-3)
    assert mutual_information(report, PAID) == pytest.approx(0.42, abs=5e-3)
    assert mutual_information(report, PAID) == pytest.approx(tenfold.information_gain(LOANS, PAID)[0], rel=1e-12)
    ratio = mutual_information(report, PAID) / entropy(Categorical.from_rows(report))
    assert ratio == pytest.approx(tenfold.gain_ratio(LOANS, PAID)[0], rel=1e-12)


def test_entropies_are_sums() -> None:
    for base in (2, math.e, 10):
        np.testing.assert_allclose(entropy(TABLE[0], base=base), stats.entropy(TABLE[0], base=base), **CLOSE)
        np.testing.assert_allclose(joint_entropy(x, y, base=base), stats.entropy(TABLE.ravel(), base=base), **CLOSE)
        p, q = TABLE[0] + 1, TABLE[1] + 2
        np.testing.assert_allclose(kl_divergence(p, q, base=base), stats.entropy(p, q, base=base), **CLOSE)
    np.testing.assert_allclose(joint_entropy(x, y), entropy(TABLE.sum(axis=1)) + conditional_entropy(y, given=x), **CLOSE)
    np.testing.assert_allclose(mutual_information(x, y), entropy(TABLE.sum(axis=0)) - conditional_entropy(TABLE), rtol=0, atol=1e-12)
    np.testing.assert_allclose(mutual_information(x, y), mutual_information(TABLE.T), rtol=0, atol=1e-12)
    assert mutual_information(sparse.csr_array(TABLE), base=math.e) == tenfold.score.mutual_info_score(x, y)
    w = RNG.integers(0, 3, 60)
    copies = np.repeat(x, w), np.repeat(y, w)
    np.testing.assert_allclose(conditional_entropy(y, given=x, sample_weight=w), conditional_entropy(copies[1], given=copies[0]), **CLOSE)
    assert entropy([5, 0]) == mutual_information(["a"] * 3, [0, 1, 2]) == kl_divergence([1, 2], [2, 4]) == 0
    assert kl_divergence([1, 1], [1, 0]) == math.inf and kl_divergence([1, 0], [1, 1]) == 1


def test_distributions_have_their_own() -> None:
    one, other = MultivariateGaussian([0.0, 0.0], [1.0, 4.0]), MultivariateGaussian([1.0, 0.0], [2.0, 4.0])
    np.testing.assert_allclose(entropy(one, base=math.e), stats.multivariate_normal([0, 0], [1, 4]).entropy(), **CLOSE)
    np.testing.assert_allclose(kl_divergence(one, other), one.kl(other) / math.log(2), **CLOSE)
    heavy = [0, 0], [[1, 0.2], [0.2, 3]], 3.5
    np.testing.assert_allclose(MultivariateT(*heavy).entropy(), stats.multivariate_t(*heavy).entropy(), rtol=1e-9, atol=0)
    for a, b in ((Beta(2, 3), Beta(3, 2)), (Dirichlet([1, 2]), Dirichlet([2, 1]))):
        assert kl_divergence(a, b) > 0 == kl_divergence(a, a)


# --- from rows ------------------------------------------------------------------------------------------------------

JOINT = MultivariateGaussian([0, 1, 2], [[1, 0.5, 0.8], [0.5, 2, 0.3], [0.8, 0.3, 1.5]])
ROWS = JOINT.sample(3000, random_state=0) * [1, 1e6, 1e-6]  # units say nothing


def test_entropy_of_rows_is_near_the_truth() -> None:
    units = np.log([1, 1e6, 1e-6]).sum()
    for k in (1, 3, 10):
        assert abs(estimate_entropy(ROWS, k=k, base=math.e) - units - JOINT.entropy()) < 0.06
    uniform = RNG.random(3000)
    assert abs(estimate_entropy(4 * uniform) - 2) < 0.06
    assert abs(estimate_entropy(-np.log(uniform), base=math.e) - 1) < 0.06  # exponential
    assert estimate_entropy(uniform * 2.0**-600) == pytest.approx(estimate_entropy(uniform) - 600)
    np.testing.assert_allclose(estimate_entropy(pandas.Series(uniform)), estimate_entropy(uniform[:, None].tolist()), **CLOSE)


def test_information_of_rows_is_near_the_truth() -> None:
    truth = JOINT.marginal([0, 1]).entropy() + JOINT.marginal([2]).entropy() - JOINT.entropy()
    for k in (1, 3, 10):
        assert abs(estimate_mutual_information(ROWS[:, :2], ROWS[:, 2], k=k, base=math.e) - truth) < 0.06
    one, other = ROWS[:, :2], ROWS[:, 2]
    np.testing.assert_allclose(estimate_mutual_information(one, other), estimate_mutual_information(other, one), **CLOSE)
    assert estimate_mutual_information(RNG.normal(size=(1000, 2)), RNG.normal(size=(1000, 3))) < 0.05
    label = RNG.integers(0, 2, 3000)
    one = RNG.random(3000) + label / 2  # half of the rows are where both are: 1/2 bit
    for labels in (label == 1, np.where(label, "b", "a")):
        assert abs(estimate_mutual_information(one, labels) - 0.5) < 0.05
    both = np.column_stack([one, RNG.random(3000)])
    assert abs(estimate_mutual_information(both, label, discrete=True, k=5) - 0.5) < 0.06


def test_rounded_numbers_count_their_copies() -> None:
    """Of few values they are labels: the estimates come to the sums."""
    a = RNG.integers(0, 3, 4000)
    b = np.where(RNG.random(4000) < 0.5, a, RNG.integers(0, 3, 4000))
    exact = mutual_information(a, b)
    assert abs(estimate_mutual_information(a, b) - exact) < 0.01 and exact > 0.2
    assert abs(estimate_mutual_information(a.astype(float), b, discrete=True) - exact) < 0.01
    p, q = np.bincount(a, minlength=3), np.array([1000, 2000, 1000])
    assert abs(estimate_kl_divergence(a, np.repeat(np.arange(3), q)) - kl_divergence(p, q)) < 0.01


def test_divergence_of_rows_is_near_the_truth() -> None:
    a, b = JOINT.marginal([0, 1]), MultivariateGaussian([0.5, 0.5], [[1, 0], [0, 3]])
    X, Y = a.sample(4000, random_state=1), b.sample(3000, random_state=2)
    for k in (1, 3, 10):
        assert abs(estimate_kl_divergence(X, Y, k=k, base=math.e) - a.kl(b)) < 0.06
        assert abs(estimate_kl_divergence(X, a.sample(3000, random_state=3), k=k)) < 0.06
    assert abs(estimate_kl_divergence(X * [1e5, 1e-5], Y * [1e5, 1e-5]) - estimate_kl_divergence(X, Y)) < 1e-9


def test_columns_one_by_one_are_those_of_features() -> None:
    mine = [estimate_mutual_information(ROWS[:, j], ROWS[:, 2], base=math.e) for j in (0, 1)]
    np.testing.assert_allclose(mine, tenfold.mutual_info_regression(ROWS[:, :2], ROWS[:, 2], random_state=0), rtol=0, atol=1e-3)


REFUSED = {
    "negative": (lambda: entropy([1, -1]), r"p\[1\] is -1: counts"),
    "NaN": (lambda: entropy([np.nan]), r"p\[0\] is nan"),
    "zeros": (lambda: entropy([0, 0]), "nothing but zeros"),
    "text": (lambda: entropy(["a", "b"]), "must be made of numbers"),
    "base": (lambda: entropy([1, 1], base=1), "base=1: must be a number above 1"),
    "vector": (lambda: mutual_information([1, 2]), "rows and columns"),
    "lengths": (lambda: joint_entropy([1, 2], [1]), "2 labels of x, but 1 of y"),
    "missing": (lambda: joint_entropy([1, 2], [1, np.nan]), "NaN"),
    "shapes": (lambda: kl_divergence([1, 2], [1, 2, 3]), "same categories"),
    "kinds": (lambda: kl_divergence(Beta(1, 1), Dirichlet([1, 1])), "divergence of a Beta is from another one"),
    "numbers and values": (lambda: kl_divergence([1], Beta(1, 1)), "two distributions, or two vectors"),
    "no closed form": (lambda: MultivariateT(0, 1, 3).kl(MultivariateT(0, 1, 3)), "no divergence in closed form"),
    "copies": (lambda: estimate_entropy([1.0, 2, 2, 2, 2, 3]), "row 1 occurs more than k=3 times"),
    "constant": (lambda: estimate_entropy(np.column_stack([x, np.ones(60)])), "column 1 does not vary"),
    "gap": (lambda: estimate_entropy([[1.0], [np.nan]]), "NaN in column 0, row 1"),
    "one row": (lambda: estimate_entropy([[1.0]]), "at least two rows"),
    "neighbours": (lambda: estimate_entropy([1.0, 2, 3], k=3), r"k=3\): must be a whole number from 1 to 2"),
    "rows": (lambda: estimate_mutual_information(x, y[:5]), "inconsistent numbers"),
    "columns": (lambda: estimate_kl_divergence(ROWS, ROWS[:, :2]), "X has 3 columns, but Y 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(TenfoldError, match=message):
        call()
