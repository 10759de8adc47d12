"""The range of a score from held-out rows: what it is made of, what it covers, and what it is told of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score, roc_auc_score

import tenfold
from tenfold.evaluate import LeaveOneOut, compare, delong, nested_cross_validate, temperature, wilson
from tenfold.evaluate.validate.intervals import gamma_range
from tenfold.evaluate.validate.ranges import (
    error_by_chances,
    loss_range,
    ranged,
    score_difference,
    score_range,
    widening,
)
from tenfold.evaluate.validate.spread import Spread, score_spread
from tenfold.score.registry import find_score, score_names
from tenfold.selection.choice.costs import cost_score
from tenfold.selection.choice.held_out import HeldOut


def _rows(n: int = 80, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + rng.normal(size=n)


# --- what it is made of -----------------------------------------------------------------------------------------------


def test_the_mean_of_losses_by_hand() -> None:
    losses = np.random.default_rng(0).exponential(size=120)
    found = loss_range(losses, widen=1.0)
    error = losses.std(ddof=1) / np.sqrt(120)
    np.testing.assert_allclose(found.estimate, losses.mean(), rtol=1e-14)
    apart = (losses - losses.mean()) ** 2
    degrees = 2 * apart.sum() ** 2 / ((apart**2).sum() - apart.sum() ** 2 / 120)
    reach = stats.t.ppf(0.975, min(degrees, 119)) * error / losses.mean()
    np.testing.assert_allclose((found.low, found.high), losses.mean() * np.exp([-reach, reach]), rtol=1e-12)
    wide = loss_range(losses)
    np.testing.assert_allclose(np.log(wide.high / wide.estimate), widening(120) * reach, rtol=1e-12)
    root = loss_range(losses, root=True)
    np.testing.assert_allclose((root.estimate, root.low, root.high), np.sqrt((wide.estimate, wide.low, wide.high)), rtol=1e-12)


def test_shares_have_wilsons_range_and_never_a_narrower_one() -> None:
    hits = np.arange(50) < 40
    found, plain = loss_range(hits, widen=1.0), wilson(40, 50)
    np.testing.assert_allclose((found.low, found.high), (plain.low, plain.high), rtol=0.02)
    assert found.low <= plain.low and found.high >= plain.high
    none = loss_range(np.zeros(50))
    assert none.estimate == none.low == 0 and none.high > wilson(0, 50).high


def test_a_row_twice_is_a_row_of_weight_two_and_units_count() -> None:
    losses = np.random.default_rng(1).exponential(size=60)
    plain = loss_range(losses)
    again = loss_range(np.tile(losses, 3), units=np.tile(np.arange(60), 3))
    weighted = loss_range(losses, weights=np.full(60, 7.0))
    for other in (again, weighted):
        np.testing.assert_allclose((other.estimate, other.low, other.high), (plain.estimate, plain.low, plain.high), rtol=1e-12)
    groups = loss_range(losses, units=np.arange(60) // 6)
    assert groups.high - groups.low > plain.high - plain.low  # ten groups tell less than sixty rows


def test_pooled_r2_and_rmse_and_the_auc_of_pairs_of_one_model() -> None:
    X, y = _rows(90)
    result = tenfold.cross_validate(tenfold.Ridge(), X, y, score="r2")
    np.testing.assert_allclose(result.estimate.estimate, r2_score(y, result.predictions), rtol=1e-12)
    rmse = tenfold.cross_validate(tenfold.Ridge(), X, y, score="rmse")
    np.testing.assert_allclose(rmse.estimate.estimate, np.sqrt(np.mean((y - rmse.predictions) ** 2)), rtol=1e-12)
    assert rmse.estimate.estimate > rmse.mean  # the root of a mean is larger than the mean of roots
    held = tenfold.cross_validate(tenfold.LogisticRegression(), X, y > 0, score="roc_auc")
    wins = pairs = 0.0
    for rows, output in held.held_out.parts:
        up, s = y[rows] > 0, output[:, 1] - output[:, 0]
        wins += roc_auc_score(up, s) * up.sum() * (~up).sum()
        pairs += up.sum() * (~up).sum()
    np.testing.assert_allclose(held.estimate.estimate, wins / pairs, rtol=1e-12)


def test_the_auc_of_one_model_has_delongs_error() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    s = y + rng.normal(size=300)
    judge = find_score("roc_auc", "classifier")
    found = score_range(judge, y, np.column_stack([np.zeros(300), s]), widen=1.0)
    theirs = delong(y, s)
    np.testing.assert_allclose((found.estimate, found.low, found.high), (theirs.estimate, theirs.low, theirs.high), rtol=0.01)


def test_the_auc_counts_pairs_of_one_model_by_the_weights_of_both_rows() -> None:
    rng, judge = np.random.default_rng(3), find_score("roc_auc", "classifier")
    y, models, w = rng.integers(0, 2, 240), np.arange(240) % 6, rng.choice([0.5, 1.0, 4.0], 240)
    s = np.round(y + 1.5 * rng.normal(size=240), 1) + 5.0 * models  # scores of two models are not on one scale
    output = np.column_stack([np.zeros(240), s])
    wins = pairs = 0.0
    for k in range(6):
        up, down = (np.flatnonzero((models == k) & (y == one)) for one in (1, 0))
        both = w[up][:, None] * w[down][None, :]
        wins += (both * (s[up][:, None] > s[down][None, :]) + both * (s[up][:, None] == s[down][None, :]) / 2).sum()
        pairs += both.sum()
    found = score_range(judge, y, output, w, None, models)
    np.testing.assert_allclose(found.estimate, wins / pairs, rtol=1e-12)
    held = HeldOut(output[None], y, models, judge, np.arange(2), weight=w)
    np.testing.assert_allclose(held.score(output, np.arange(240)), wins / pairs, rtol=1e-12)
    same = [score_range(judge, y, output, one, None, models) for one in (None, np.full(240, 3.0))]
    assert same[0] == same[1]
    drawn = []
    for _ in range(400):  # the error is that of rows drawn with replacement
        rows = rng.integers(0, 240, 240)
        drawn.append(score_range(judge, y[rows], output[rows], w[rows], None, models[rows]).estimate)
    np.testing.assert_allclose(score_spread(judge, y, output, w, None, models, None).error, np.std(drawn), rtol=0.15)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_the_error_of_an_average_precision_counts_the_luck_of_how_many_rows_are_positive(share: float) -> None:
    judge = find_score("average_precision", "classifier")

    def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, 7])
        y = (rng.random(200) < share).astype(np.int64)
        return y, np.column_stack([np.zeros(200), 1.5 * y + rng.normal(size=200)])

    truly = np.std([judge.of(*drawn(seed), None) for seed in range(600)])
    told = np.mean([score_spread(judge, *drawn(seed), None, None, None, None).error for seed in range(25)])
    np.testing.assert_allclose(told, truly, rtol=0.12)


def test_precision_of_few_rows_that_are_said_is_known_no_better_than_by_these() -> None:
    truth = np.repeat([0, 1], [240, 60])
    said = np.zeros(300, dtype=np.int64)
    said[-3:] = 1
    judge = find_score("precision", "classifier")
    found = score_range(judge, truth, 9.0 * np.eye(2)[said], widen=1.0)
    assert found.estimate == found.high == 1
    assert found.low < 0.7  # three of three
    assert score_range(judge, truth, 9.0 * np.eye(2)[truth], widen=1.0).low > 0.95
    never = score_range(judge, truth, 9.0 * np.eye(2)[0 * truth], widen=1.0)
    assert never.estimate == 0 and never.high > 0.5


@pytest.mark.parametrize(("middle", "missed", "rows"), [(-3.5, 200, 400), (-3.5, 50, 100), (-2.0, 50, 400), (-2.0, 20, 100)])
def test_a_mean_cost_counts_dear_errors_that_no_row_shows(middle: float, missed: float, rows: int) -> None:
    """Right chances, and decisions of least expected cost: most tables hold no positive row that is taken for a negative one."""
    judge = cost_score(np.array([[0.0, 1.0], [missed, 0.0]]))

    def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        logs = 1.5 * rng.normal(size=n) + middle
        return (rng.logistic(size=n) < logs).astype(np.int64), np.column_stack([np.zeros(n), logs])

    true = judge.of(*drawn(np.random.default_rng(0), 200_000), None)
    found = [score_range(judge, *drawn(np.random.default_rng([1, seed]), rows), widen=1.0) for seed in range(200)]
    assert np.mean([one.low <= true <= one.high for one in found]) > 0.95
    assert np.median([one.high for one in found]) < 2.5 * true


def test_the_error_by_chances_is_that_of_drawn_classes() -> None:
    rng = np.random.default_rng(4)
    chances, w = rng.dirichlet([1.0, 2.0, 0.5], 50), rng.choice([0.5, 2.0], 50)
    judge = cost_score(np.array([[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [30.0, 4.0, -1.0]]))
    classes = [[rng.choice(3, p=one) for one in chances] for _ in range(2000)]
    costs = [judge.of(np.array(one), np.log(chances), w) for one in classes]
    assert judge.row_loss is not None
    np.testing.assert_allclose(error_by_chances(judge.row_loss, np.log(chances), w), np.std(costs), rtol=0.06)


@pytest.mark.parametrize(("alike", "people", "rows"), [(1, 12, 10), (1, 100, 3), (50, 30, 5), (5, 30, 8)])
def test_a_share_of_rows_of_some_people_is_known_as_well_as_their_rows_are_unlike(alike: int, people: int, rows: int) -> None:
    """People get a share of their rows right that is Beta(alike, alike): with 50 nearly all their rows count as one each."""
    who = np.repeat(np.arange(people), rows)
    found = []
    for seed in range(400):
        rng = np.random.default_rng([2, seed])
        found.append(loss_range((rng.random(len(who)) < rng.beta(alike, alike, people)[who]).astype(float), units=who, widen=1.0))
    assert np.mean([one.low <= 0.5 <= one.high for one in found]) == pytest.approx(0.955, abs=0.03)
    like_one = 1 + (rows - 1) / (2 * alike + 1)  # the design effect
    width = 2 * 1.96 * np.sqrt(0.25 * like_one / len(who))
    assert np.mean([one.high - one.low for one in found]) == pytest.approx(width, rel=0.1)
    one = loss_range(np.array([1.0, 0.0, 1.0]), units=np.zeros(3))
    assert (one.low, one.high) == (0, 1)  # of one person nothing is known


NAMES = [name for name in score_names("classifier") + score_names("regressor") if "msle" not in name and "deviance" not in name]


@pytest.mark.parametrize("name", NAMES)
def test_every_score_has_a_range_around_its_value(name: str) -> None:
    X, y = _rows(100)
    model, y = (tenfold.LogisticRegression(), y > 0) if name in score_names("classifier") else (tenfold.Ridge(), y)
    found = tenfold.cross_validate(model, X, y, score=name)
    judge = found.score
    assert found.estimate.low < found.estimate.estimate < found.estimate.high
    assert judge.low <= found.estimate.low and found.estimate.high <= judge.high
    assert f"95% range {found.estimate.low:.4f} to {found.estimate.high:.4f}" in str(found)


def test_drawn_rows_give_the_error_that_sums_give() -> None:
    X, y = _rows(300)
    held = tenfold.cross_validate(tenfold.LogisticRegression(), X, y > 0, score="f1_micro").held_out
    drawn = score_spread(find_score("f1_micro", "classifier"), *held.together(find_score("f1_micro", "classifier")), held.classes)
    exact = score_spread(find_score("accuracy", "classifier"), *held.together(find_score("accuracy", "classifier")), held.classes)
    assert drawn.drawn and not exact.drawn
    np.testing.assert_allclose((drawn.value, drawn.error), (exact.value, exact.error), rtol=0.1)


# --- what it covers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [80, 300])
def test_ranges_of_cheap_tables_hold_the_truth_in_95_per_cent(rows: int) -> None:
    """200 tables of a line: the truth of a fitted line is known exactly, σ² + ‖b̂ − b‖² + â²."""
    covered, bias, called = [], [], []
    for seed in range(200):
        rng = np.random.default_rng([seed, rows])
        X, b = rng.normal(size=(rows, 5)), rng.normal(size=5)
        y = X @ b + rng.normal(size=rows)
        model = tenfold.Ridge().fit(X, y)
        truth = np.sqrt(1 + ((model.coef_ - b) ** 2).sum() + model.intercept_**2)
        found = tenfold.cross_validate(tenfold.Ridge(), X, y, score="rmse").estimate
        covered.append(found.low <= truth <= found.high)
        bias.append(found.estimate / truth - 1)
        if rows == 80:  # two learners that are the same to the law: one more column of noise each
            Z = rng.normal(size=(rows, 4))
            views = (np.column_stack([X, Z[:, cols]]) for cols in ([0, 1], [2, 3]))
            a, c = (tenfold.cross_validate(tenfold.Ridge(), view, y, score="rmse") for view in views)
            called.append(compare(a, c).p_value < 0.05)
    low, high = stats.binom.ppf([0.001, 0.999], 200, 0.95) / 200
    assert low <= np.mean(covered) <= min(high, 0.995) and abs(np.mean(bias)) < (0.02 if rows == 80 else 0.01)
    if called:
        assert np.mean(called) <= stats.binom.ppf(0.999, 200, 0.05) / 200


def test_class_frequencies_count_although_folds_are_stratified() -> None:
    """A learner that says the frequencies: its log loss is known from the true ones. Folds alone would claim to know it exactly."""
    covered = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        y = (rng.random(80) < 0.5).astype(int)
        result = tenfold.cross_validate(tenfold.LogisticRegression(C=1e-9), rng.normal(size=(80, 1)), y, score="log_loss")
        p = y.mean()
        truth = -0.5 * np.log(p) - 0.5 * np.log(1 - p)
        covered.append(result.estimate.low <= truth <= result.estimate.high)
    assert np.mean(covered) > 0.9


# --- results that use it ----------------------------------------------------------------------------------------------


def test_repeats_groups_and_nested_results() -> None:
    X, y = _rows(60)
    once, often = (tenfold.cross_validate(tenfold.Ridge(), X, y, repeats=k).estimate for k in (1, 4))
    assert 0.7 < (often.high - often.low) / (once.high - once.low) < 1.3  # the same rows again are not more rows
    four = dict(groups=np.repeat(np.arange(60), 4), score="rmse")
    groups = tenfold.cross_validate(tenfold.Ridge(), np.repeat(X, 4, axis=0), np.repeat(y, 4), **four)
    alone = tenfold.cross_validate(tenfold.Ridge(), X, y, score="rmse")
    assert 0.8 < (groups.estimate.high - groups.estimate.low) / (alone.estimate.high - alone.estimate.low) < 1.25
    nested = nested_cross_validate(tenfold.Ridge(), X, y, {"alpha": [0.1, 100.0]}, folds=5, score="rmse")
    np.testing.assert_allclose(nested.estimate.estimate, np.sqrt(np.mean((y - nested.predictions) ** 2)), rtol=1e-12)
    assert f"{nested.estimate.low:.4f} to {nested.estimate.high:.4f}" in str(nested)
    single = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=LeaveOneOut()).estimate
    assert single.low < single.estimate < single.high


def test_what_is_not_kept_has_the_range_of_its_folds() -> None:
    from sklearn.linear_model import Ridge

    X, y = _rows(60)
    theirs = tenfold.cross_validate(Ridge(), X, y, cv=5)
    assert "folds" in theirs.estimate.method and theirs.estimate.low < theirs.estimate.estimate == theirs.mean < theirs.estimate.high


def test_a_comparison_by_rows_is_the_paired_one() -> None:
    X, y = _rows(150)
    a, b = (tenfold.cross_validate(tenfold.Ridge(alpha), X, y, score="mse") for alpha in (1.0, 50.0))
    gap = (y - b.predictions) ** 2 - (y - a.predictions) ** 2
    found = compare(a, b)
    np.testing.assert_allclose(found.difference, gap.mean(), rtol=1e-12)
    np.testing.assert_allclose(found.standard_error, widening(150) * gap.std(ddof=1) / np.sqrt(150), rtol=1e-12)
    plain = found.standard_error / widening(150)
    np.testing.assert_allclose(found.p_value, 2 * stats.t.sf(abs(found.difference) / plain, found.degrees), rtol=1e-9)
    beyond = (found.band - found.difference) / found.standard_error
    np.testing.assert_allclose(found.first_better, stats.t.sf(beyond, found.degrees), rtol=1e-9)
    same = compare(a, a)
    assert same.difference == 0 and same.p_value == 1.0 and same.equal == 1.0
    judge = a.score
    truth, first, w, units, models = a.held_out.together(judge)
    second = b.held_out.together(judge)[1]
    np.testing.assert_allclose(score_difference(judge, truth, first, second, w, units, models).value, -gap.mean(), rtol=1e-12)


def test_corrected_cross_validation_of_what_knows_its_rows_by_heart_is_told() -> None:
    X, y = _rows(80)
    with pytest.warns(tenfold.DataWarning, match="flatters"):
        tenfold.cross_validate(tenfold.DecisionTreeRegressor(), X, y, kind="corrected", score="rmse")
    tenfold.cross_validate(tenfold.Ridge(), X, y, kind="corrected", score="rmse")


# --- few errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 40, 5000])
def test_the_range_of_events_of_one_size_is_garwoods_for_a_poisson_count(count: int) -> None:
    low, high = gamma_range(float(count), np.sqrt(count), 1.0)
    np.testing.assert_allclose(low, stats.chi2.ppf(0.025, 2 * count) / 2, rtol=1e-10)
    np.testing.assert_allclose(high, stats.chi2.ppf(0.975, 2 * (count + 1)) / 2, rtol=1e-10)
    low, high = gamma_range(1.0, 1e-9, 1e-12)  # a mean that is known exactly: no event is rare
    np.testing.assert_allclose((low, high), (1 - 1.96e-9, 1 + 1.96e-9), rtol=0, atol=1e-11)


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 2.5, 6.0)])
def test_ranges_of_rare_events_hold_the_truth(weights: tuple[float, ...]) -> None:
    """Sums of Poisson counts of events of known sizes: the range holds the expected sum in 95 % or more."""
    sizes, rng = np.array(weights), np.random.default_rng(len(weights))
    for rate in (0.7, 3.0):
        counts = rng.poisson(rate, size=(2000, len(sizes)))
        counts = counts[counts.any(axis=1)]
        found = np.array([gamma_range(c @ sizes, np.sqrt(c @ sizes**2), sizes.max()) for c in counts])
        truth = rate * sizes.sum()
        assert np.mean((found[:, 0] <= truth) & (truth <= found[:, 1])) > 0.94


def _hardly_ever_wrong(n: int, errors: int) -> tuple[Any, Any]:
    """Codes, and log chances of two classes: 0.99 for the right one but for some rows, where it is 0.01."""
    truth = np.arange(n) % 2
    right = np.where(np.arange(n) < errors, 0.01, 0.99)
    shares = np.where(truth[:, None] == np.arange(2), right[:, None], 1 - right[:, None])
    return truth, np.log(shares)


def test_few_errors_have_the_range_of_rare_events() -> None:
    judge, (truth, output) = find_score("log_loss", "classifier"), _hardly_ever_wrong(200, 1)
    found = score_range(judge, truth, output)
    spread = score_spread(judge, truth, output, None, None, None, None)
    student = ranged(spread, "log", extra=0.5 * float(stats.chi2.ppf(0.95, 1)) / 200)
    assert spread.degrees < 3 and student.high > 3 * found.high  # Student's quantile says nearly nothing
    error = np.hypot(widening(200) * spread.error, 0.5 * stats.chi2.ppf(0.95, 1) / 200 / stats.norm.ppf(0.975))
    low, high = gamma_range(found.estimate, error, -np.log(0.01) / 200)
    assert found.high == pytest.approx(high, rel=1e-12) and found.low == pytest.approx(max(low, student.low), rel=1e-12)
    twice = score_range(judge, np.tile(truth, 2), np.tile(output, (2, 1)), units=np.tile(np.arange(200), 2))
    np.testing.assert_allclose((twice.low, twice.high), (found.low, found.high), rtol=1e-9)  # the same rows are not more rows
    many = _hardly_ever_wrong(200, 80)
    spread = score_spread(judge, *many, None, None, None, None)
    plain = ranged(spread, "log", extra=0.5 * float(stats.chi2.ppf(0.95, 1)) / 200)
    np.testing.assert_allclose((score_range(judge, *many).low, score_range(judge, *many).high), (plain.low, plain.high), rtol=1e-12)


# --- odd rows ---------------------------------------------------------------------------------------------------------


def test_odd_losses() -> None:
    one = loss_range([0.5])
    assert one.estimate == 0.5 and np.isinf(one.high)
    same = loss_range(np.full(10, 0.25))
    assert same.low == same.high == 0.25
    assert loss_range([0.0, 0.0, 0.0], root=True).high == 0
    signed = loss_range([-1.0, 1.0, 2.0])
    assert signed.low < signed.estimate < signed.high
    huge, tiny = (loss_range(np.array([1.0, 2.0, 4.0]) * size) for size in (1e300, 1e-300))
    np.testing.assert_allclose(huge.high / huge.low, tiny.high / tiny.low, rtol=1e-9)
    perfect = ranged(Spread(1.0, np.zeros(20), False, 20.0), "logit", bounds=(0.0, 1.0))
    assert perfect.high == 1 and 0.6 < perfect.low < 1
    for bad in ([], [np.nan, 1.0], [np.inf]):
        with pytest.raises(tenfold.BadInput):
            loss_range(bad)
    with pytest.raises(tenfold.BadParameter):
        loss_range([1.0, 2.0], level=1.5)


# --- temperature ------------------------------------------------------------------------------------------------------


def test_temperature_is_the_one_of_least_log_loss() -> None:
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    rng = np.random.default_rng(0)
    s = 2 * rng.normal(size=(400, 4))
    y = (s / 2 + rng.gumbel(size=s.shape)).argmax(axis=1)
    even = 1 / 402

    def loss(log_t: float) -> float:
        z = s / np.exp(log_t)
        return float(np.sum(logsumexp(z, axis=1) - (1 - even) * z[np.arange(400), y] - even * z.mean(axis=1)))

    np.testing.assert_allclose(temperature(s, y), np.exp(minimize_scalar(loss, bounds=(-2, 3), method="bounded").x), rtol=1e-4)
    two = s[:, 1] - s[:, 0]
    np.testing.assert_allclose(temperature(two, y % 2), temperature(np.column_stack([np.zeros(400), two]), y % 2), rtol=1e-12)
    np.testing.assert_allclose(temperature(s + 1e3, y), temperature(s, y), rtol=1e-6)
    np.testing.assert_allclose(temperature(s, y, np.full(400, 1.0)), temperature(s, y), rtol=1e-12)


def test_temperature_of_odd_rows() -> None:
    assert 0.5 < temperature(np.array([-5.0, 5.0, -4.0, 4.0]), [0, 1, 0, 1]) < 5  # separated perfectly: no T of 0
    assert temperature(np.array([5.0, -5.0, 4.0]), [0, 1, 0]) > 100  # always wrong: all alike
    assert np.isfinite(temperature(np.array([[0.0, -np.inf], [0.0, -np.inf], [-np.inf, 0.0]]), [0, 0, 1]))
    for outputs, truth in ([[np.nan, 1.0], [0, 1]], [[1.0, 2.0], [0, 2]], [[1.0], [0, 1]], [[], []]):
        with pytest.raises(tenfold.BadInput):
            temperature(np.array(outputs), truth)


def test_isotonic_maps_say_neither_0_nor_1() -> None:
    from tenfold.evaluate import fit_calibrator

    p = np.linspace(0.01, 0.99, 40)
    found = fit_calibrator((p > 0.5).astype(int), p, "isotonic")(p)
    np.testing.assert_allclose((found.min(), found.max()), (1 / 42, 41 / 42), rtol=1e-12)


@pytest.mark.parametrize("value", [1 + 2e-16, 1.0, 0.0, -1e-17])
def test_a_rate_beyond_its_ends_by_rounding(value: float) -> None:
    """As a mean of rows of which one outweighs the others may be."""
    found = ranged(Spread(value, np.full(20, 1e-17) * np.arange(20), False, 20.0), "rate")
    assert 0 <= found.low <= min(max(value, 0), 1) <= found.high <= 1 and found.high - found.low > 0.05
