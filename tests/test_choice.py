"""The race, the choice and the ensemble of `tenfold.select`, and whether the estimate is honest."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput
from tenfold.prepare.coder import TableCoder
from tenfold.score.registry import SCORES
from tenfold.selection import run
from tenfold.selection.board import place_facts
from tenfold.selection.choice import choice
from tenfold.selection.choice.choice import Mix, choose
from tenfold.selection.choice.ensemble import HEDGE, greedy_weights, hedged_weights, is_hedged
from tenfold.selection.choice.floor import floor_of, floored
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.errors import NothingFitted
from tenfold.selection.honest.audit import audit
from tenfold.selection.honest.estimate import half_widths_of
from tenfold.selection.model import store
from tenfold.selection.model.blend import BlendClassifier, BlendRegressor, Indicators
from tenfold.selection.model.refit import refit
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.plan import plan
from tenfold.selection.plan.candidates import Family, settings_of
from tenfold.selection.plan.folds import Division, make_folds
from tenfold.selection.plan.guess import FrequencyGuess, MeanGuess
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race import race
from tenfold.selection.race.fits import Fits
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows
from tenfold.table.task import find_task


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race, with fewer trees."""
    shrink(monkeypatch, 10, (5, 20))


def two_classes(n: int, seed: int, strength: float = 1.0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = rng.random(n) < 1 / (1 + np.exp(-strength * (X[:, 0] - X[:, 1] + 0.5 * X[:, 2])))
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(6)}), np.where(y, "yes", "no")


def small_race(n: int = 90, folds: int = 4, pairs: bool = True) -> Race:
    frame, y = two_classes(n, 3)
    X = frame.to_numpy().copy()
    X[::7, 2] = np.nan
    codes = (y == "yes").astype(np.int64)
    rows = Rows(X, codes, make_folds(codes, folds, 0, "classifier", None), pl.DataFrame(X).fill_nan(None))
    return Race(rows, portfolio("classifier", n, 6, 2), [SCORES["log_loss"], SCORES["accuracy"]], pairs=pairs)


# --- the race ------------------------------------------------------------------------------------------


def test_a_round_is_a_race_without_its_fold() -> None:
    """The choice repeated inside an outer round hears exactly what a run without the outer fold would hear."""
    whole = small_race()
    whole.run()
    assert whole.complete_rounds == [0, 1, 2, 3]
    for o in range(whole.K):
        rest = whole.fold != o
        division = Division(np.unique(whole.fold[rest], return_inverse=True)[1])
        alone = Race(Rows(whole.X[rest], whole.y[rest], division, whole.frame.filter(rest)), whole.families, whole.judges)
        alone.fits.floor = whole.fits.floor
        alone.run()
        heard = np.isfinite(whole.inner[o][:, rest, 0]).all(axis=1)
        drawn = ("kernels", "mixture")  # whose centres and starts are drawn by the bits of rows, which are scaled by other sums
        heard &= [not any(word in one.label for word in drawn) for one in whole.settings]
        assert heard.sum() >= 10 and not np.isfinite(whole.inner[o][:, ~rest]).any()
        np.testing.assert_allclose(whole.inner[o][heard][:, rest], alone.outputs[heard], rtol=1e-7, atol=1e-9)


def test_what_is_learned_of_columns_is_learned_in_training_rows() -> None:
    found = small_race()
    found.run()
    place = next(c for c, setting in enumerate(found.settings) if setting.family.title == "linear discriminant")
    for i in range(found.K):
        steps = [tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.LinearDiscriminantAnalysis()]
        model = tenfold.make_pipeline(*steps).fit(found.X[found.fold != i], found.y[found.fold != i])
        share = floored(model.predict_proba(found.X[found.fold == i]), found.fits.floor)
        by_hand = -np.log(share[np.arange(len(share)), found.y[found.fold == i]]).mean()
        assert found.scores["log_loss"][place, i] == pytest.approx(by_hand, rel=1e-9)


def test_who_has_no_chance_is_dropped_and_the_winner_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "LEAST_RACING", 2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=600) * 0.3
    families = [
        Family("mean", MeanGuess(), 0),
        Family("ridge", tenfold.Ridge(), 1),
        Family("lasso", tenfold.Lasso(0.01), 1),
        Family("stump", tenfold.DecisionTreeRegressor(max_depth=1), 1),
    ]
    fold = make_folds(y, 5, 0, "regressor", None)
    frame = pl.DataFrame(X)
    found = Race(Rows(X, y, fold, frame), families, [SCORES["rmse"]])
    found.run()
    assert found.dropped == {3: 1} and found.complete_folds == [0, 1, 2, 3, 4]
    assert np.isfinite(found.scores["rmse"][3]).tolist() == [True, True, False, False, False]
    assert len(found.done) == 17 == found.units
    monkeypatch.setattr(race, "HOPELESS", np.inf)
    whole = Race(Rows(X, y, fold, frame), families, [SCORES["rmse"]])
    whole.run()
    assert not whole.dropped
    rows = np.arange(600)
    taken = [choose(one.settings, one.held_out(), rows) for one in (found, whole)]
    assert taken[0].leader == taken[1].leader and taken[0].best == taken[1].best


def test_of_a_family_that_was_dropped_the_board_has_the_best_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "LEAST_RACING", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=600) * 0.3
    trees = Family("tree", tenfold.DecisionTreeRegressor(), 2, "max_depth", (1, 3))
    families = [Family("mean", MeanGuess(), 0), Family("ridge", tenfold.Ridge(), 1), trees]
    found = Race(Rows(X, y, make_folds(y, 5, 0, "regressor", None), pl.DataFrame(X)), families, [SCORES["rmse"]])
    found.run()
    assert found.dropped == {2: 1}
    places = [place_facts(place, found, {}) for place in choose(found.settings, found.held_out(), np.arange(600)).places]
    dropped = next(place for place in places if place["against"] == "dropped")
    shallow, deep = (float(np.nanmean(found.scores["rmse"][c])) for c in (2, 3))
    assert dropped["score"] == deep < shallow
    variant = replace(families[1], title="ridge; more", learner=tenfold.Ridge(alpha=9.0), refines="tree")
    found.enter([variant])
    found.run()
    seen = found.open_to(found.held_out(), list(range(5)))
    places = [place_facts(place, found, {}) for place in choose(found.settings, seen, np.arange(600)).places]
    assert {one["model"]: one["against"] for one in places}["ridge; more"] == "passed over"  # it has run, and trees do not lead


def test_a_race_that_was_cut_goes_on_where_it_was() -> None:
    """What was done is not done again, and the end is the same to the bit."""
    whole, cut = small_race(), small_race()
    whole.run()

    def stop(done: int, of: int) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut.run(stop)
    assert len(cut.done) >= 20  # what was ready by then counts too
    cut.run()
    assert cut.done == whole.done and cut.dropped == whole.dropped
    np.testing.assert_array_equal(cut.outputs, whole.outputs)
    for mine, other in zip(cut.inner, whole.inner, strict=True):
        np.testing.assert_array_equal(mine, other)


LINEAR = [
    Family("always the mean", MeanGuess(), 0),
    Family("linear regression", tenfold.LinearRegression(), 1),
    Family("ridge regression", tenfold.Ridge(), 2),
]


# --- the choice ----------------------------------------------------------------------------------------


def said(losses: list[np.ndarray], seed: int = 0) -> HeldOut:
    """Numbers whose squared errors are these, errors of either sign; the truth is zero."""
    sign = np.random.default_rng(seed).choice([-1.0, 1.0], (len(losses), len(losses[0])))
    outputs = (sign * np.sqrt(np.array(losses)))[:, :, None]
    n = outputs.shape[1]
    return HeldOut(outputs, np.zeros(n), np.arange(n) % 5, SCORES["rmse"], None)


def test_the_simplest_that_is_as_good_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LEAST_ROWS", 1000)  # no ensemble
    settings = settings_of(LINEAR)
    rng, rows = np.random.default_rng(0), np.arange(200)
    noise = rng.exponential(size=200)
    noise /= noise.mean()

    def against(linear: np.ndarray) -> tuple[str, str]:
        found = choose(settings, said([np.full(200, 4.0), linear, noise]), rows)
        simple = settings[found.simple.single].family.title
        return simple, next(p.against for p in found.places if p.setting == 1)

    assert against(noise * 1.001) == ("linear regression", "as good")  # practically equal, though behind
    assert against(noise[::-1] * 1.01) == ("linear regression", "as good")  # within the noise
    assert against(noise * 1.3) == ("ridge regression", "worse")
    far = noise.copy()
    far[7] = 60.0
    assert against(far) == ("ridge regression", "perhaps worse")  # a large error does not make it as good
    assert against(np.where(rows == 3, np.nan, noise)) == ("ridge regression", "failed")
    flat = choose(settings, said([np.full(200, 4.0), noise * 4.2, noise * 4.4]), rows)
    assert settings[flat.simple.single].family.is_guess and settings[flat.leader].family.is_guess


def test_scores_of_the_same_losses_find_the_same_models_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LEAST_ROWS", 1000)  # no ensemble
    settings, rows, y = settings_of(LINEAR), np.arange(200), np.tile([-9.0, 9.0], 100)

    def simplest(held: HeldOut) -> str:
        return settings[choose(settings, held, rows).simple.single].family.title

    # far off on a row: behind by little of what the leader gains, and by much of what it still loses
    far = said([np.full(200, 60.0), np.where(rows == 7, 200.0, 1.0), np.ones(200)])
    far = replace(far, y=y, outputs=far.outputs + y[:, None])
    assert [simplest(replace(far, judge=SCORES[name])) for name in ("rmse", "mse", "r2")] == ["ridge regression"] * 3
    # 14 errors and 10, of 200: no more than luck
    right = np.array([rows % 2 == 0, rows >= 14, (rows < 188) | (rows >= 198)])
    held = HeldOut(np.where(right[:, :, None], [1.0, 0.0], [0.0, 1.0]), np.zeros(200, np.int64), rows % 5, SCORES["error"], np.arange(2))
    assert [simplest(replace(held, judge=SCORES[name])) for name in ("error", "accuracy")] == ["linear regression"] * 2


def test_of_trees_those_with_fewer_leaves_are_simpler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forest of thousands of leaves is not the simplest of a tie."""
    shrink(monkeypatch, 200, (25, 50, 400))
    for rows, classes in ((900, 2), (700, 19), (50_000, 2), (60, 3)):
        settings = settings_of(portfolio("classifier", rows, 8, classes))
        trees = {setting.label: setting for setting in settings if setting.leaves}
        order = sorted(trees, key=lambda label: trees[label].simplicity)
        assert all(setting.simplicity < trees[order[0]].simplicity for setting in settings if not setting.leaves)
        assert trees[order[0]].leaves == min(one.leaves for one in trees.values())


def test_leaves_are_counted_as_they_are_at_most() -> None:
    frame, y = two_classes(300, 0)
    for setting in settings_of(portfolio("classifier", 300, 4, 2)):
        if setting.leaves:
            model = setting.learner.fit(frame, y)
            assert 0 < model._trees.leaves().sum() <= setting.leaves


def test_worse_than_guessing_is_worse() -> None:
    """A learner that is far off on a few rows has a large error, and is not perhaps worse because of it."""
    settings = settings_of(LINEAR)
    noise = np.random.default_rng(1).exponential(size=200)
    off = np.where(np.arange(200) == 5, 4000.0, noise)
    found = choose(settings, said([noise * 9, off, noise]), np.arange(200))
    titles = {settings[p.setting].family.title: p.against for p in found.places if len(p.mix.weights) == 1}
    assert titles["linear regression"] == "worse" and titles["always the mean"] == "baseline"


# --- the ensemble --------------------------------------------------------------------------------------


def test_greedy_weights_come_near_the_best_convex_ones() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=400)
    values = truth + np.array([0.5, 0.6, 0.7, 3.0])[:, None] * rng.normal(size=(4, 400))
    held = HeldOut(values[:, :, None], truth, np.arange(400) % 5, SCORES["rmse"], None)
    weights = greedy_weights(held, range(4), np.arange(400))
    assert sum(weights.values()) == pytest.approx(1) and 3 not in weights

    def loss(w: Any) -> float:
        return float(((np.asarray(w) @ values - truth) ** 2).mean())

    best = minimize(loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda w: sum(w) - 1})
    assert loss([weights.get(c, 0.0) for c in range(4)]) <= 1.02 * best.fun < 0.7 * min(loss(one) for one in np.eye(4))


def three_classes(n: int = 300) -> HeldOut:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, n)
    clue = np.eye(3)[y] * 1.5
    outputs = np.stack([clue + rng.normal(size=(n, 3)), clue + rng.normal(size=(n, 3)), rng.normal(size=(n, 3)) * 4])
    return HeldOut(outputs, y, np.arange(n) % 5, SCORES["log_loss"], np.arange(3))


def test_an_ensemble_of_classes_averages_probabilities() -> None:
    held, rows = three_classes(), np.arange(300)
    weights = greedy_weights(held, range(3), rows)
    assert set(weights) == {0, 1}
    shares = sum(w * np.exp(log_softmax(held.outputs[c], axis=1)) for c, w in weights.items())
    by_hand = -np.log(shares[rows, held.y]).mean()
    assert held.row_losses(held.mixed(weights, rows), rows).mean() == pytest.approx(by_hand)
    assert by_hand < min(held.row_losses(held.outputs[c], rows).mean() for c in range(3))


def test_half_of_the_weight_is_hedged_among_what_samples_of_the_rows_take() -> None:
    held, rows = three_classes(), np.arange(300)
    found = hedged_weights(held, range(3), rows, {0: 1.0})
    assert sum(found.values()) == pytest.approx(1) and found[0] > HEDGE and found[1] > 0.1 and found.get(2, 0.0) < 0.05
    assert found == hedged_weights(held, range(3), rows, {0: 1.0})
    # a row that stands three times, as one unit, counts once
    again = replace(
        held,
        outputs=np.tile(held.outputs, (1, 3, 1)),
        y=np.tile(held.y, 3),
        fold=np.tile(held.fold, 3),
        units=np.tile(rows, 3),
    )
    assert hedged_weights(again, range(3), np.arange(900), {0: 1.0}) == pytest.approx(found)


def test_long_tables_are_not_hedged_however_few_units_they_have() -> None:
    """A thousand rows are the limit, in spans of time and in few groups too; what stands there once for each division counts once."""
    short, long = three_classes(1000), three_classes(1001)
    for units in (None, np.arange(1001) % 12):
        few = None if units is None else units[:1000]
        assert is_hedged(replace(short, units=few), range(3)) and not is_hedged(replace(long, units=units), range(3))
    third = replace(three_classes(999), divisions=3)
    assert is_hedged(third, range(3)) and is_hedged(replace(three_classes(1200), divisions=3, units=np.arange(1200) % 10), range(3))


def test_who_was_sure_and_lucky_does_not_get_all_of_the_weight() -> None:
    """80 rows, on which a model that knows no doubt is right: the next error would cost all that it has gained."""
    y, rng = np.arange(80) % 2, np.random.default_rng(0)
    right = np.eye(2)[y] * 2 - 1
    doubts = [right * d + 0.1 * rng.normal(size=(80, 2)) for d in (6.0, 1.8, 1.7)]
    guess = np.zeros((80, 2))
    models = [Family(f"model {k}", tenfold.GaussianNB(), 1) for k in range(3)]
    settings = settings_of([Family("class frequencies", FrequencyGuess(), 0), *models])
    held = HeldOut(np.stack([guess, *doubts]), y, np.arange(80) % 5, SCORES["log_loss"], np.arange(2))
    assert greedy_weights(held, [1, 2, 3], np.arange(80)) == {1: 1.0}
    mix = choose(settings, held, np.arange(80)).best
    assert mix.weights[1] > HEDGE and mix.weights[2] + mix.weights[3] > 0.1
    wrong, rows = replace(held, y=1 - y), np.arange(80)  # what a row costs that turns out the other way
    assert wrong.row_losses(mix.outputs(held, rows), rows).max() < 7 < 11 < wrong.row_losses(doubts[0], rows).min()


def test_no_class_is_impossible() -> None:
    """Probabilities have a floor, the same in the race and in the saved model; labels and order stay."""
    shares = floored(np.array([[1.0, 0.0, 0.0], [0.2, 0.5, 0.3]]), 0.01)
    np.testing.assert_allclose(shares, [[0.98, 0.01, 0.01], [0.204, 0.495, 0.301]], rtol=1e-12)
    frame, y = two_classes(200, 0, strength=30.0)
    found = tenfold.select(frame, y, folds=4)
    assert found.record["floor"] == floor_of(200, 2) == found.model.floor_
    said = found.predict_proba(pl.DataFrame({f"x{j}": [1e6 * (j == 0), -1e6 * (j == 0)] for j in range(6)}))
    assert said.min() >= 0.0025 and said.max() > 0.8
    assert 0.0025 <= found.predict_proba(frame).min() < 0.01
    coded = found.model._coded_rows(frame)
    np.testing.assert_allclose(np.exp(found.model._scores(coded)), found.predict_proba(frame), rtol=1e-9)


def mixed_table(n: int = 300) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    names = np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)].astype(object)
    names[:2] = "rare", None
    names[5:15] = None
    x = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    frame = pl.DataFrame({"name": names.tolist(), "x": x, "z": rng.normal(size=n)}).with_columns(pl.col("x").fill_nan(None))
    z, known = frame["z"].to_numpy(), np.nan_to_num(x, nan=3.0)
    y = 2.0 * (frame["name"] == "b").fill_null(False).to_numpy() + known + np.abs(z) * (z > 0) + z / 2 + rng.normal(size=n) / 2
    return frame, y  # a line and a bend: neither linear models nor few trees have it alone


def test_indicators_make_the_matrix_of_the_coder() -> None:
    frame, _ = mixed_table()
    coder = TableCoder().fit(frame)
    raw = coder.frame(frame)
    assert coder.pooled_.any()
    matrix = Indicators(coder).fit(raw).transform(raw)
    np.testing.assert_array_equal(matrix, coder.transform(frame))


@pytest.mark.parametrize("classes", [False, True])
def test_a_saved_ensemble_is_the_mean_of_its_members(classes: bool, tmp_path: Path) -> None:
    frame, y = mixed_table()
    target = np.where(y > 1, "high", "low") if classes else y
    found = tenfold.select(frame, target, folds=4)
    blend = found.model.pipeline
    assert isinstance(blend, BlendClassifier if classes else BlendRegressor), found
    coded = found.model._coded_rows(frame)
    if classes:
        raised = [one._probabilities(coded) ** a for one, a in zip(blend.members, blend.powers or [1] * len(blend.members), strict=True)]
        shares = sum(w * p / p.sum(axis=1, keepdims=True) for w, p in zip(blend.weights, raised, strict=True))
        np.testing.assert_allclose(found.predict_proba(frame), floored(shares, found.model.floor_), rtol=1e-9)
    else:
        values = sum(w * np.ravel(one._predict(coded)) for one, w in zip(blend.members, blend.weights, strict=True))
        np.testing.assert_allclose(found.predict(frame), values, rtol=1e-9)
    found.save(tmp_path / "run")
    again = store.open_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict(frame), found.predict(frame))
    assert found.record["members"][0]["weight"] == max(blend.weights)
    new = frame[:20].with_columns(name=pl.Series(["unseen", *frame["name"].to_list()[1:20]]))
    assert len(again.predict(new)) == 20
    simple = tenfold.load(tmp_path / "run" / "simple.tenfold")
    np.testing.assert_array_equal(simple.predict(frame), found.simple.predict(frame))


def test_an_ensemble_can_be_fitted_again() -> None:
    frame, y = mixed_table()
    model = tenfold.select(frame, y, folds=4).model
    before = model.predict(frame)
    model.fit(frame[:200], y[:200])
    assert len(model.pipeline.members) > 1
    assert np.abs(model.predict(frame) - before).max() > 0
    model.fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), before, rtol=1e-9)


# --- the estimate --------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [True, False])
def test_every_row_is_judged_by_a_choice_that_did_not_look_at_it(pairs: bool) -> None:
    found = small_race(pairs=pairs)
    found.run()
    judged = audit(found)
    held = found.held_out()
    assert ("nested" in judged.method) == pairs and judged.rows.tolist() == list(range(90))
    for o in range(found.K):
        inside, outside = np.flatnonzero(found.fold != o), np.flatnonzero(found.fold == o)
        taken = choose(found.settings, found.held_out(o) if pairs else held, inside)
        for prefer in ("best", "simple", "fast"):
            np.testing.assert_array_equal(judged.outputs[prefer][outside], taken.taken(prefer).outputs(held, outside))


def noise_run(seed: int) -> run.Run:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=80) for j in range(5)})
    return tenfold.select(frame, rng.normal(size=80) if seed % 2 else rng.integers(0, 2, 80), folds=4, seed=seed)


@pytest.fixture
def few_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five families, for tests of many runs."""
    kinds = ("", "linear", "boosting")
    monkeypatch.setattr(plan, "portfolio", lambda *shape, **more: [one for one in portfolio(*shape, **more) if one.kind in kinds])


def test_pure_noise_is_called_noise(few_families: None) -> None:
    runs = [noise_run(seed) for seed in range(20)]
    assert sum(bool(one.signal) for one in runs) <= 2
    for one in runs:
        if not one.signal:
            assert "guess" in one.chosen and "guess" in str(one.estimate.method)


def test_the_board_flatters_and_the_estimate_does_not(few_families: None) -> None:
    """Against 4,000 hidden rows: the estimate is unbiased and its range covers; the board is too good."""
    off, covered, flattery, heard = [], 0, [], 0
    hidden, truth = two_classes(4000, 999, strength=1.5)
    for seed in range(12):
        frame, y = two_classes(120, seed, strength=1.5)
        found = tenfold.select(frame, y, folds=5, seed=seed)
        share = found.predict_proba(hidden)
        real = -np.log(share[np.arange(len(truth)), (truth == "yes").astype(int)]).mean()
        estimate = found.estimate
        heard += bool(found.signal)
        off.append(estimate.value - real)
        covered += estimate.low <= real <= estimate.high
        flattery.append(estimate.value - min(row["score"] for row in found.leaderboard))
    assert heard >= 10
    assert abs(np.mean(off)) <= 2.5 * np.std(off, ddof=1) / np.sqrt(len(off))
    assert covered >= 10
    assert np.mean(flattery) > 0


# --- runs ----------------------------------------------------------------------------------------------


def test_the_time_is_kept_and_what_is_complete_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = two_classes(3000, 1)
    unit = Fits.unit

    def slow(self: Fits, *given: Any) -> Any:
        time.sleep(0.05)  # whatever the machine, all units take longer than there is time
        return unit(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(Fits, "unit", slow)
        found = tenfold.select(frame, y, time=0.05)
    assert found.record["cut_by_time"] and not found.interrupted
    assert found.record["seconds"]["total"] < 60  # other work may run beside
    assert len(found.predict(frame)) == 3000
    told: dict[str, Any] = {}
    tenfold.select(frame[:60], y[:60], time=600, listen=lambda event, **facts: told.setdefault(event, facts))
    assert "interrupted" not in told


def test_long_tables_have_a_first_heat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SCREENED_ROWS", 400)
    monkeypatch.setattr(plan, "SCREENED", 200)
    monkeypatch.setattr(plan, "BUDGET", dict.fromkeys(plan.BUDGET, 1e-9))
    frame, y = two_classes(500, 1, strength=2.0)
    told: dict[str, Any] = {}
    found = tenfold.select(frame, y, folds=3, listen=lambda event, **facts: told.setdefault(event, facts))
    assert told["screened"]["rows"] == 200 and len(told["screened"]["kept"]) == 2
    assert {row["family"] for row in found.leaderboard} - {"ensemble", "class frequencies"} == set(told["screened"]["kept"])


def test_a_long_table_has_as_many_rows_as_there_is_time_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plan, "SCREENED_ROWS", 400)
    monkeypatch.setattr(plan, "SCREENED", 200)
    rows_in_time = plan.Plan.rows_in_time
    monkeypatch.setattr(plan.Plan, "rows_in_time", lambda self, families, time: min(300, rows_in_time(self, families, time)))
    frame, y = two_classes(500, 1, strength=2.0)
    told: dict[str, Any] = {}
    found = tenfold.select(frame, y, folds=3, time=60, listen=lambda event, **facts: told.setdefault(event, facts))
    assert (told["screened"]["rows"], told["screened"]["on"], told["screened"]["of"]) == (200, 300, 500)
    assert found.record["data"]["rows_used"] == 300 and found.record["rows_known"] == 500 and not found.record["heat"]
    assert found.held_out.height == 300 and (y[found.held_out["row"].to_numpy()] == found.held_out["truth"].to_numpy()).all()
    assert "learned from 300 of 500 rows" in found.report(tmp_path / "t.html").read_text()


def test_rows_for_which_there_is_time() -> None:
    made = plan.Plan.of("normal", 5, 60, plan.Shape("classifier", 1_000_000, 10, 2, width=10))
    slowest = sorted(made.families[1:], key=lambda one: -one.seconds)[:2]
    counts = [made.rows_in_time(slowest, seconds) for seconds in (1, 30, 60, 36_000)]
    assert counts == sorted(counts) and counts[0] == 10_000 and counts[-1] == 1_000_000 and len(set(counts)) == 4
    cost = sum(one.seconds for one in slowest) + 1.25 * slowest[0].seconds  # one fold of five, and the fit to all rows
    assert cost * counts[2] / 1e6 == pytest.approx(2 * 60 - plan.HEAT * made.budget, rel=1e-3)


def test_where_there_is_no_time_for_all_rows_the_first_heat_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped on a long table, when a fit to all of its rows takes longer than anybody waits."""
    monkeypatch.setattr(plan, "SCREENED_ROWS", 400)
    monkeypatch.setattr(plan, "SCREENED", 200)
    monkeypatch.setattr(Race, "fit_seconds", lambda self, number: 1.0 if len(self.y) < 300 else 100.0)
    work = Race._record

    def heard(self: Race, number: int, held: Any, unit: Any) -> None:
        if len(self.y) == 500 and held == (2,):
            raise KeyboardInterrupt
        work(self, number, held, unit)

    monkeypatch.setattr(Race, "_record", heard)
    frame, y = two_classes(500, 1, strength=2.0)
    found = tenfold.select(frame, y, folds=4, finish_early=True)
    assert found.interrupted and found.record["heat"] and found.record["data"]["rows_used"] == 200
    assert len(found.predict(frame)) == 500


def test_a_choice_looks_at_so_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = small_race()
    whole.run()
    rows = np.arange(len(whole.y))
    thinned = rows[np.linspace(0, len(rows) - 1, 60).astype(int)]
    by_few = choose(whole.settings, whole.held_out(), thinned)
    monkeypatch.setattr(choice, "MOST_ROWS", 60)
    found = choose(whole.settings, whole.held_out(), rows)
    assert found == by_few and [place.score for place in found.places] == [place.score for place in by_few.places]


def test_a_run_that_is_stopped_in_its_first_heat_has_a_model_of_those_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SCREENED_ROWS", 400)
    monkeypatch.setattr(plan, "SCREENED", 200)
    work = Race._record

    def heard(self: Race, number: int, held: Any, unit: Any) -> None:
        if len(self.done) == 4:
            raise KeyboardInterrupt
        work(self, number, held, unit)

    monkeypatch.setattr(Race, "_record", heard)
    frame, y = two_classes(500, 1, strength=2.0)
    found = tenfold.select(frame, y, folds=4, finish_early=True)
    assert found.interrupted and found.signal and found.record["data"]["rows_used"] == 200
    assert found.held_out.height == pytest.approx(50, abs=15) and (found.predict(frame) == y).mean() > 0.7


def test_groups_stay_in_one_fold() -> None:
    """Rows of a group share their target by more than the columns: without groups the estimate would flatter."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 10)
    level = rng.normal(size=40)[group]
    frame = pl.DataFrame({"who": group, "mark": level + rng.normal(size=400) * 1e-3, "x": rng.normal(size=400)})
    y = rng.normal(size=40)[group] + rng.normal(size=400) * 0.1
    found = tenfold.select(frame, y, groups="who", folds=5)
    folds = found.held_out["fold"].to_numpy()
    assert all(len(set(folds[group == one])) == 1 for one in range(40))
    assert found.signal is False and "who" not in found.model.feature_names_in_
    assert tenfold.select(frame.drop("who"), y, folds=5).estimate.value < found.estimate.value * 0.8
    with pytest.raises(BadInput, match="'who' has 2 groups"):
        tenfold.select(frame.with_columns(who=pl.Series(group % 2)), y, groups="who")


@pytest.mark.parametrize("prefer", ["simple", "fast"])
def test_what_is_preferred_is_saved_with_its_own_estimate(prefer: str, tmp_path: Path) -> None:
    frame, y = mixed_table()
    found = tenfold.select(frame, y, folds=4, prefer=prefer)
    assert len(found.record["members"]) == 1 and found.record["prefer"] == prefer
    if prefer == "simple":
        best = tenfold.select(frame, y, folds=4)
        assert len(best.record["members"]) > 1 and best.record["prefer"] == "best"
        assert best.record["simple"]["estimate"]["rmse"]["value"] == found.estimate.value
        assert found.record["best"]["estimate"]["rmse"]["value"] == best.estimate.value
        found.save(tmp_path / "run")  # both are saved, whichever is preferred
        np.testing.assert_array_equal(tenfold.load(tmp_path / "run" / "best.tenfold").predict(frame), best.predict(frame))
        assert best.simple is not None and found.simple is None
        np.testing.assert_array_equal(best.simple.predict(frame), found.predict(frame))


def test_what_learners_say_names_columns_and_classes() -> None:
    """Of one coded column that is constant in each class, and of a class whose covariance is singular."""
    n = 60
    y = np.repeat(["no", "yes"], n // 2)
    frame = pl.DataFrame({"kind": np.repeat(["a", "b"], n // 2), "x": np.arange(n) % 7 + np.arange(n) / n, "y": y})
    told: dict[str, Any] = {}
    tenfold.select(frame, "y", folds=3, keep=["kind"], listen=lambda event, **facts: told.setdefault(event, facts))
    notes = " ".join(told["board"]["notes"].values())
    assert "'kind=b'" in notes and "class no" in notes
    assert told["plan"]["width"] == told["plan"]["uncoded"] == 2


def test_trees_take_the_columns_as_they_are(tmp_path: Path) -> None:
    """Categories and blanks reach them without one-hot columns and means; folds, board and file are those of the others."""
    rng = np.random.default_rng(0)
    n = 240
    names = np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)].astype(object)
    x = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    frame = pl.DataFrame({"name": [*names[:-2], None, None], "x": x}).with_columns(pl.col("x").fill_nan(None))
    y = ((names == "b") | (names == "d") | np.isnan(x)).astype(np.int64)
    pooled = frame.with_columns(name=pl.Series(["rare", *frame["name"].to_list()[1:]]))
    assert TableCoder().fit(pooled).frame(pooled)["name"].to_list()[::239] == ["(other)", None]
    coder = TableCoder().fit(frame)
    raw = coder.frame(frame)
    assert raw.equals(frame)
    division = make_folds(y, 4, 0, "classifier", None)
    fold = division.fold
    tree = Family("tree", tenfold.DecisionTreeRegressor(min_samples_leaf=5), 1)
    found = Race(Rows(coder.transform(frame), y * 1.0, division, raw), [Family("mean", MeanGuess(), 0), tree], [SCORES["rmse"]])
    found.run()
    for i in range(4):
        model = tenfold.DecisionTreeRegressor(min_samples_leaf=5).fit(raw.filter(fold != i), y[fold != i] * 1.0)
        by_hand = np.sqrt(np.mean((model.predict(raw.filter(fold == i)) - y[fold == i]) ** 2))
        assert found.scores["rmse"][1, i] == pytest.approx(by_hand, rel=1e-9)
    assert found.scores["rmse"][1].max() < 0.3 < found.scores["rmse"][0].min()
    fitted = refit(found, find_task(pl.Series("y", y * 1.0), asked="number"), coder, Mix({1: 1.0}))
    model = TableModel.of(coder, fitted, "y", half_width=0.5)
    tenfold.save(model, tmp_path / "m.tenfold")
    new = pl.DataFrame({"x": [0.1, None, 2.0], "name": ["unseen", "b", None]})
    again = tenfold.load(tmp_path / "m.tenfold")
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.predict_interval(new)[:, 0], model.predict(new) - 0.5)


def test_two_classes_have_an_area_and_numbers_a_range() -> None:
    frame, y = two_classes(150, 4, strength=2.0)
    found = tenfold.select(frame, y, folds=3)
    assert 0.75 < found.others["roc_auc"].value < 1 and found.others["roc_auc"].high <= 1
    assert found.leaderboard[0]["others"].keys() == {"accuracy", "roc_auc"}
    guess = next(place for place in found.leaderboard if place["against"] == "baseline")
    assert guess["others"]["roc_auc"] == 0.5  # within a fold it ranks nothing; shares of the class differ between folds
    with pytest.raises(BadInput, match="no ranges"):
        found.predict_interval(frame)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2400, 3))
    target = X @ [1.0, 2.0, 0.0] + rng.normal(size=2400)
    table = pl.DataFrame(X, schema=["a", "b", "c"])
    numbers = tenfold.select(table[:400], target[:400], folds=5)
    low, high = numbers.predict_interval(table[400:]).T
    inside = (low <= target[400:]) & (target[400:] <= high)
    assert 0.86 < inside.mean() < 0.94
    assert numbers.record["reach"] == pytest.approx(1.645, abs=0.25)  # 90 % of a normal distribution


@pytest.mark.parametrize("metric", ["max_error", "median_absolute_error"])
def test_the_guess_is_judged_on_all_rows_as_the_models_are(metric: str) -> None:
    """A mean over folds of their largest errors is less than the largest error."""
    frame, _ = two_classes(100, 6)
    y = frame["x0"].to_numpy() + np.random.default_rng(6).standard_t(3, size=100)
    found = tenfold.select(frame, y, metric=metric, effort="quick", folds=5)
    assert found.held_out is not None
    fold, off = found.held_out["fold"].to_numpy(), np.empty(100)
    for k in range(5):
        off[fold == k] = np.abs(y[fold == k] - y[fold != k].mean())
    guess = next(place for place in found.leaderboard if place["against"] == "baseline")
    assert guess["score"] == pytest.approx(off.max() if metric == "max_error" else np.median(off))


def test_ranges_are_wider_where_answers_are_further_off(tmp_path: Path) -> None:
    """Noise in proportion to the target: the range of a small answer is small, and both hold 90 % of new rows."""
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 10, 6000)
    y = x * (1 + rng.normal(size=6000) / 10)
    table = pl.DataFrame({"x": x})
    found = tenfold.select(table[:1200], y[:1200], folds=3)
    assert found.model.reaches_.shape == (2, 6)
    low, high = found.predict_interval(table[1200:]).T
    inside, small = (low <= y[1200:]) & (y[1200:] <= high), x[1200:] < 3
    assert 0.85 < inside[small].mean() < 0.95 and 0.85 < inside[~small].mean() < 0.95
    assert (high - low)[small].mean() < (high - low)[~small].mean() / 2
    found.save(tmp_path / "run")
    again = store.open_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict_interval(table[:50]), found.predict_interval(table[:50]))
    assert half_widths_of(np.full(900, 2.0), np.arange(900.0), "rmse") is None  # one answer has one level
    same = np.repeat([1.0, 2.0, 3.0, 4.0], [195, 390, 5, 410])  # a level of less than 200 rows belongs to the next one
    levels = half_widths_of(same, np.random.default_rng(0).exponential(size=1000), "mae")
    assert levels is not None and levels[0].tolist() == [2.0, 4.0]
    assert half_widths_of(np.arange(399.0), np.arange(399.0), "rmse") is None


def test_a_failing_learner_is_shown_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BadInput("not today: come back tomorrow")

    monkeypatch.setattr(tenfold.GaussianNB, "_solve", fail)
    frame, y = two_classes(60, 0)
    found = tenfold.select(frame, y, folds=3)
    row = next(row for row in found.leaderboard if row["family"] == "naive Bayes")
    assert row["against"] == "failed" and row["reason"] == "not today: come back tomorrow"
    assert sum(row["against"] == "failed" for row in found.leaderboard) == 1
    monkeypatch.setattr(plan, "portfolio", lambda *shape, **more: [f for f in portfolio(*shape, **more) if f.rank in (0, 2)])
    with pytest.raises(NothingFitted, match="naive Bayes: not today"):
        tenfold.select(frame, y, folds=3)
