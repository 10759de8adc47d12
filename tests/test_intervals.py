"""Intervals, tests, decisions, Bayes error: against closed forms, brute force and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint

import tenfold
from tenfold.evaluate.decide.bayes_error import (
    bayes_error,
    cover_hart,
    estimate_bayes_error,
    guessing_error,
    most_frequent_error,
    simulated_bayes_error,
)
from tenfold.evaluate.decide.risk import REJECT, likelihood_ratio_test, minimum_risk, risk_curve, threshold
from tenfold.evaluate.validate.comparison import compare, corrected_t, mcnemar
from tenfold.evaluate.validate.intervals import bootstrap, delong, delong_test, midranks, placements, wilson
from tenfold.evaluate.validate.selection_bias import bootstrap_bias_correction


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (10, 10), (137, 200)])
def test_wilson_equals_statsmodels(k: int, n: int) -> None:
    found = wilson(k, n, level=0.9)
    np.testing.assert_allclose(
        (found.low, found.high), proportion_confint(k, n, alpha=0.1, method="wilson"), rtol=1e-12, atol=1e-15
    )


def test_midranks_equal_scipy() -> None:
    values = np.random.default_rng(0).integers(0, 20, size=200).astype(float)
    np.testing.assert_array_equal(midranks(values), stats.rankdata(values))


def test_placements_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    positive, scores = rng.random(80) < 0.4, rng.integers(0, 15, size=80).astype(float)
    wins = (scores[positive][:, None] > scores[~positive]) + 0.5 * (scores[positive][:, None] == scores[~positive])
    up, down = placements(positive, scores)
    np.testing.assert_allclose(up, wins.mean(axis=1), rtol=1e-13)
    np.testing.assert_allclose(down, wins.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(up.mean(), roc_auc_score(positive, scores), rtol=1e-13)


def test_delong_covers_as_often_as_it_says() -> None:
    truth_auc = stats.norm.cdf(1 / np.sqrt(2))
    inside = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        y = np.arange(120) < 50
        found = delong(y, rng.normal(size=120) + y, level=0.9)
        inside += found.low <= truth_auc <= found.high
    assert 0.85 <= inside / 300 <= 0.95


def test_delong_test_of_paired_scores() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    good, bad = y + rng.normal(size=400), y + 3 * rng.normal(size=400)
    found = delong_test(y, good, bad)
    assert found.p_value < 1e-3 and found.difference > 0
    assert delong_test(y, good, good).p_value == 1.0
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = rng.random(150) < 0.5
        shared = y + rng.normal(size=150)
        p_values.append(delong_test(y, shared + rng.normal(size=150), shared + rng.normal(size=150)).p_value)
    assert stats.kstest(p_values, "uniform").pvalue > 0.01


def test_bootstrap_covers_a_mean_and_a_skewed_statistic() -> None:
    inside = {"bca": 0, "percentile": 0}
    for seed in range(120):
        values = np.random.default_rng(seed).exponential(size=60)
        for method in inside:
            found = bootstrap(np.mean, values, level=0.9, method=method, replicates=400, random_state=seed)
            inside[method] += found.low <= 1 <= found.high
    assert all(0.8 <= count / 120 <= 0.96 for count in inside.values())


def test_bootstrap_equals_scipy() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=80)
    ours = bootstrap(np.std, values, replicates=4000)
    theirs = stats.bootstrap(
        (values,), np.std, n_resamples=4000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    np.testing.assert_allclose((ours.low, ours.high), theirs, rtol=0.03)


@pytest.mark.parametrize("mid_p", [True, False])
def test_mcnemar(mid_p: bool) -> None:
    truth = np.ones(40)
    a, b = np.ones(40), np.ones(40)
    a[:3], b[3:14] = 0, 0
    found = mcnemar(truth, a, b, mid_p=mid_p)
    exact = statsmodels_mcnemar([[0, 11], [3, 0]], exact=True).pvalue
    expected = exact - stats.binom.pmf(3, 14, 0.5) if mid_p else exact
    np.testing.assert_allclose(found.p_value, expected, rtol=1e-12)
    assert (found.only_first, found.only_second) == (11, 3)


def test_corrected_t_is_that_of_nadeau_and_bengio() -> None:
    d = np.random.default_rng(0).normal(0.1, 0.2, size=10)
    mean, error, degrees, p_value, (below, within, above) = corrected_t(d, 0.1, band=0.05)
    np.testing.assert_allclose(error, np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1)), rtol=1e-13)
    np.testing.assert_allclose(p_value, 2 * stats.t.sf(abs(mean) / error, degrees), rtol=1e-10)
    posterior = stats.t(degrees, loc=mean, scale=error)
    np.testing.assert_allclose(
        (below, within, above),
        (posterior.cdf(-0.05), posterior.cdf(0.05) - posterior.cdf(-0.05), posterior.sf(0.05)),
        rtol=1e-9,
    )


def test_compare_speaks_and_refuses() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + rng.normal(size=300)
    good, same, bad = (tenfold.cross_validate(tenfold.Ridge(alpha), X, y) for alpha in (1.0, 1.1, 3e4))
    assert compare(good, bad).verdict == "the first is better" and compare(bad, good).verdict == "the second is better"
    assert compare(good, same).verdict == "they are equally good for practical purposes"
    with pytest.raises(tenfold.BadInput, match="same folds"):
        compare(good, tenfold.cross_validate(tenfold.Ridge(), X, y, random_state=1))
    with pytest.raises(tenfold.BadInput, match="use one score"):
        compare(good, tenfold.cross_validate(tenfold.Ridge(), X, y, score="mse"))


def test_decisions() -> None:
    loss = np.array([[0.0, 1.0], [10.0, 0.0]])
    p = np.linspace(0, 1, 101)
    chosen = minimum_risk(p, loss)
    np.testing.assert_array_equal(chosen == 1, p > threshold(1, 10))
    rejected = minimum_risk(p, 1 - np.eye(2), reject=0.2)
    np.testing.assert_array_equal(rejected == REJECT, np.minimum(p, 1 - p) > 0.2)
    x = np.linspace(-3, 3, 61)
    log_ratio = stats.norm.logpdf(x, 1) - stats.norm.logpdf(x, -1)
    posterior = 1 / (1 + np.exp(-(log_ratio + np.log(0.3 / 0.7))))
    np.testing.assert_array_equal(likelihood_ratio_test(log_ratio, 0.3, 2.0, 5.0), posterior > threshold(2, 5))
    for bad in ([[0.5, 0.6]], [[np.nan, 1.0]], [[-0.1, 1.1]]):
        with pytest.raises(tenfold.BadInput, match="row 0"):
            minimum_risk(bad, loss)


def test_risk_along_the_roc_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.random(100) < 0.3, rng.integers(0, 30, size=100).astype(float)
    curve = risk_curve(y, s, false_positive=2, false_negative=7)
    for t, risk in zip(curve.thresholds, curve.risk, strict=True):
        expected = (2 * ((s >= t) & ~y).sum() + 7 * ((s < t) & y).sum()) / 100
        np.testing.assert_allclose(risk, expected, rtol=1e-12)
    assert curve.least == curve.risk.min()


def test_bayes_error_of_the_lecture_notes() -> None:
    """Triangle densities: Bayes error 1/4; guessing and the most frequent class 1/2."""
    np.testing.assert_allclose(bayes_error([lambda x: 2 - 2 * x, lambda x: 2 * x], [0.5, 0.5], 0, 1), 0.25, rtol=1e-7)
    assert guessing_error([0.5, 0.5]) == most_frequent_error([0.5, 0.5]) == 0.5


def test_nearest_neighbour_of_one_point_a_class_errs_in_35_percent() -> None:
    """The triangle densities of the notes with one training point a class: the expected error is 35 %."""
    rng = np.random.default_rng(0)
    n = 400_000
    draw = {0: lambda: 1 - np.sqrt(rng.random(n)), 1: lambda: np.sqrt(rng.random(n))}  # inverse cdfs of 2 − 2x and 2x
    a, b, wrong = draw[0](), draw[1](), 0.0
    for label in (0, 1):
        x = draw[label]()
        wrong += 0.5 * np.mean((np.abs(x - a) > np.abs(x - b)) == (label == 0))
    np.testing.assert_allclose(wrong, 0.35, atol=0.003)


def test_simulated_bayes_error_and_bounds() -> None:
    found = simulated_bayes_error(
        [lambda r, n: r.normal(-1, 1, n), lambda r, n: r.normal(1, 1, n)],
        [lambda x: stats.norm.logpdf(x, -1), lambda x: stats.norm.logpdf(x, 1)],
        [0.5, 0.5],
    )
    assert abs(found.estimate - stats.norm.cdf(-1)) < 4 * found.standard_error
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 2
    bounds = estimate_bayes_error((rng.normal(size=3000) + 2 * y)[:, None], y)
    assert bounds.low - 0.02 <= stats.norm.cdf(-1) <= bounds.high + 0.02
    np.testing.assert_allclose(cover_hart(2 * 0.1 * 0.9).low, 0.1, rtol=1e-12)


def test_winner_of_noise_is_not_believed() -> None:
    gaps = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        losses = (rng.random((150, 40)) < 0.5).astype(float)
        winner = bootstrap_bias_correction(losses, replicates=300, random_state=seed)
        gaps.append((winner.naive - 0.5, winner.estimate - 0.5))
        assert winner.low <= 0.5 <= winner.high
    naive, corrected = np.mean(gaps, axis=0)
    assert naive < -0.06 and abs(corrected) < 0.02


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(5, 3),
        lambda: wilson(1, 2, level=1.5),
        lambda: delong([1, 1], [0.1, 0.2]),
        lambda: delong([0, 1], [0.1]),
        lambda: delong([0, 1, 1, 0], [0.1, np.nan, 0.2, 0.3]),
        lambda: bootstrap(np.mean, [1.0]),
        lambda: bootstrap(np.mean, [1.0, 2.0], method="x"),
        lambda: mcnemar([1], [1, 0], [0, 1]),
        lambda: minimum_risk([[0.5, 0.5]], np.eye(3)),
        lambda: threshold(-1, 2),
        lambda: threshold(0, 0),
        lambda: risk_curve([1, 1], [0.1, 0.2], 1, 1),
        lambda: guessing_error([0.2, 0.2]),
        lambda: cover_hart(1.5),
        lambda: corrected_t([1.0], 0.1),
        lambda: bootstrap_bias_correction(np.zeros((1, 3))),
        lambda: bootstrap_bias_correction([[np.nan, 1], [1, 2]]),
    ],
)
def test_bad_input_is_told_in_a_sentence(call) -> None:
    with pytest.raises(tenfold.TenfoldError) as told:
        call()
    assert "\n" not in str(told.value) and len(str(told.value)) > 20
