"""What drives a model and where it fails, held to closed forms, to SciPy's tests, and to what was planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import tenfold
from tenfold.core.data import Array
from tenfold.prepare.coder import TableCoder
from tenfold.report.page import page_of
from tenfold.score.registry import SCORES
from tenfold.selection.explain.alone import order_of, single_strengths
from tenfold.selection.explain.drivers import explained
from tenfold.selection.explain.slices import RATE, by_column, groups_of, slices_of, span_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.store import plain
from tenfold.selection.model.table_model import TableModel


def table(n: int = 800, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns = dict(a=rng.normal(size=n), b=rng.normal(size=n), c=rng.normal(size=n), colour=rng.choice(["red", "blue", "green"], n))
    return pl.DataFrame(columns)


def fitted(frame: pl.DataFrame, y: Array, learner: object) -> TableModel:
    coder = TableCoder().fit(frame)
    steps = [("impute", tenfold.SimpleImputer()), ("model", learner)]
    return TableModel.of(coder, tenfold.Pipeline(steps).fit(coder.transform(frame), y), "y")


def test_importance_of_a_linear_model_is_that_of_its_coefficients() -> None:
    """Shuffling a column of unit variance adds 2 b² to the mean squared error of y = Σ b x + noise."""
    frame = table(4000)
    noise = np.random.default_rng(1).normal(size=4000)
    y = 3 * frame["a"].to_numpy() + frame["b"].to_numpy() + noise
    facts = explained(fitted(frame, y, tenfold.LinearRegression()), frame, y)
    falls = {one["column"]: one for one in facts["importance"]}
    assert [one["column"] for one in facts["importance"]][:2] == ["a", "b"]
    assert falls["a"]["fall"] == pytest.approx(np.sqrt(19) - 1, rel=0.06)
    assert falls["b"]["fall"] == pytest.approx(np.sqrt(3) - 1, rel=0.12)
    assert falls["a"]["low"] < falls["a"]["fall"] < falls["a"]["high"] and falls["c"]["low"] <= 0.01
    effect = next(one for one in facts["effects"] if one["column"] == "a")
    slope = np.diff(effect["effect"][0]) / np.diff(effect["grid"])
    np.testing.assert_allclose(slope, 3.0, rtol=0.03)
    assert all(pair["share"] < 1e-9 for pair in facts["interactions"])  # a sum has no interactions
    assert plain(facts) is not None and facts["baseline"] == pytest.approx(1, rel=0.1)


def test_interactions_and_categories() -> None:
    frame = table(2000)
    a, b, colour = frame["a"].to_numpy(), frame["b"].to_numpy(), frame["colour"].to_numpy()
    y = a * b + 2.0 * (colour == "red") + 0.1 * np.random.default_rng(2).normal(size=2000)
    coder = TableCoder().fit(frame)
    model = tenfold.HistGradientBoostingRegressor(random_state=0).fit(coder.frame(frame), y)
    facts = explained(TableModel.of(coder, model, "y"), frame, y)
    assert facts["interactions"][0]["columns"] in (["a", "b"], ["b", "a"]) and facts["interactions"][0]["share"] > 0.8
    effect = next(one for one in facts["effects"] if one["column"] == "colour")
    by_level = dict(zip(effect["levels"], effect["effect"][0], strict=True))
    assert by_level["red"] - by_level["blue"] == pytest.approx(2, abs=0.2)
    assert explained(TableModel.of(coder, model, "y"), frame, y) == facts  # the same seed, the same facts


def test_groups_where_it_fails_are_found_and_no_others() -> None:
    frame, rng = table(2000), np.random.default_rng(3)
    y = frame["a"].to_numpy() + rng.normal(size=2000) * np.where(frame["colour"].to_numpy() == "red", 3.0, 0.5)
    model = fitted(frame, y, tenfold.LinearRegression())
    held = pl.DataFrame(dict(row=np.arange(2000), fold=np.arange(2000) % 5, truth=y, prediction=frame["a"]))
    facts = explained(model, frame, y, held, by=frame["colour"])
    worse = facts["slices"]["worse"]
    assert [(one["column"], one["group"]) for one in worse] == [("colour", "red")]
    assert worse[0]["rows"] == (frame["colour"] == "red").sum() and worse[0]["loss"] == pytest.approx(9, rel=0.15)
    by_group = {one["group"]: one for one in facts["fair"]["groups"]}
    assert set(by_group) == {"red", "blue", "green"} and by_group["red"]["loss"]["value"] == pytest.approx(worse[0]["loss"])
    assert all(one["differs"] for one in by_group.values()) and facts["fair"]["used"] is True
    some = facts["residuals"][0]
    assert some["column"] == "a" and np.abs(some["middle"]).max() < 0.6
    later = held.with_columns(row=held["row"] * 2)  # of a table from which every second row was left out
    assert explained(model, frame, y, later, rows=np.arange(2000) * 2)["slices"] == facts["slices"]


def test_dates_are_written_as_days() -> None:
    rng, n = np.random.default_rng(9), 600
    day = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 1) + pl.duration(days=n - 1), eager=True)
    frame = pl.DataFrame(dict(day=day.cast(pl.String), a=rng.normal(size=n)))
    read, late = frame.with_columns(day=day.cast(pl.Int32).cast(pl.Float64)), np.arange(n) >= 480
    y = np.arange(n) / 100 + rng.normal(size=n) * np.where(late, 3.0, 0.3)
    held = pl.DataFrame(dict(row=np.arange(n), fold=np.arange(n) % 5, truth=y, prediction=np.arange(n) / 100))
    coder = TableCoder().fit(read, forms=dict(day="%Y-%m-%d"))
    steps = tenfold.Pipeline([("impute", tenfold.SimpleImputer()), ("model", tenfold.LinearRegression())])
    model = TableModel.of(coder, steps.fit(coder.transform(read), y), "y")
    facts = explained(model, frame, y, held, by=frame["day"])
    worst = facts["slices"]["worse"][0]
    assert worst["column"] == "day" and worst["group"] == "2021-04-25 to 2021-08-22"
    assert worst["group"] in {one["group"] for one in facts["fair"]["groups"]}
    days = {one["column"]: one.get("kind") for one in [*facts["effects"], *facts["residuals"]]}
    assert days["day"] == "date" and days.get("a") is None
    page = page_of(dict(settings=dict(task="number", target="y")), held, facts)
    assert page.count(">2020-") >= 4 and "1.8e+04" not in page and ">18500<" not in page and ">18.5k<" not in page


def test_spans_of_numbers() -> None:
    assert span_of(0.123456, 2.34567) == "0.1235 to 2.346" and span_of(99_911.2, 100_014) == "99,911.2 to 100,014"
    assert span_of(1013.21, 1013.44) == "1,013.21 to 1,013.44" and span_of(3, 3) == "3"
    assert span_of(18_262, 18_263, "date") == "2020-01-01 to 2020-01-02" and span_of(-3.5, 2, "text") == "of score -3.5 to 2"


def test_effects_are_of_the_positive_class() -> None:
    frame = table(400)
    y = np.where(frame["a"].to_numpy() > 0, "yes", "no")
    model = fitted(frame, y, tenfold.LogisticRegression())
    yes, no = ({one["column"]: one for one in explained(model, frame, y, positive=label)["effects"]} for label in ("yes", "no"))
    assert yes["a"]["outputs"] == ["P(yes)"] and no["a"]["outputs"] == ["P(no)"]
    np.testing.assert_allclose(no["a"]["effect"], -np.array(yes["a"]["effect"]), atol=1e-12, rtol=0)


def test_groups_of_a_named_column() -> None:
    """Means with Student's ranges, calibration of the positive class, what is decided; small groups are counted, numbers cut in fifths."""
    rng, n = np.random.default_rng(8), 900
    sex = np.where(np.arange(n) < 500, "f", np.where(np.arange(n) < 890, "m", "x"))
    chance = rng.uniform(0.1, 0.9, n)
    truth = rng.random(n) < np.where(sex == "m", np.clip(chance - 0.2, 0, 1), chance)  # men are overrated by 20 points
    held = Unseen(np.arange(n), np.arange(n) % 5, (~truth).astype(int), ["no", "yes"][::-1], np.column_stack([chance, 1 - chance]))
    losses = held.losses(SCORES["log_loss"])
    codes, levels = np.searchsorted(["f", "m", "x"], sex).astype(float), np.array(["f", "m", "x"], dtype=object)
    found = by_column(codes, levels, held, losses, "yes")
    f, m = found["groups"]
    assert (f["group"], f["rows"], m["group"], m["rows"], found["class"]) == ("f", 500, "m", 390, "yes")
    assert found["small"] == dict(groups=1, rows=10, least=15) and found["more"] == 0
    assert f["gap"]["low"] < 0 < f["gap"]["high"] and 0.1 < m["gap"]["low"] < m["gap"]["value"] < 0.25
    some = losses[sex == "m"]
    wanted = stats.t.interval(0.95, len(some) - 1, some.mean(), stats.sem(some))
    assert (m["loss"]["low"], m["loss"]["high"]) == pytest.approx(wanted) and m["said"] - m["true"] == pytest.approx(m["gap"]["value"])
    is_yes, said = truth[sex == "f"], chance[sex == "f"] > 0.5
    assert f["flagged"] == said.mean() and f["found"] == said[is_yes].mean() and f["alarms"] == said[~is_yes].mean()
    fifths = by_column(rng.normal(size=n), None, held, losses, "yes")
    assert len(fifths["groups"]) == 5 and sum(one["rows"] for one in fifths["groups"]) == n
    assert not by_column(np.zeros(n), np.array(["all"], dtype=object), held, losses)["groups"][0]["differs"]


def test_slices_are_welchs_test_and_benjamini_hochberg() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 8))
    X[rng.random((500, 8)) < 0.1] = np.nan
    losses = rng.exponential(size=500) + (X[:, 0] > 1)
    names, categories = [f"x{j}" for j in range(8)], [None] * 8
    found = slices_of(X, names, categories, losses)
    groups = [(names[j], label, where) for j in range(8) for label, where in groups_of(X[:, j], None) if 15 <= where.sum() <= 485]
    p = np.array([stats.ttest_ind(losses[w], losses[~w], equal_var=False, alternative="greater").pvalue for _, _, w in groups])
    wanted = {(name, label) for (name, label, _), q in zip(groups, stats.false_discovery_control(p), strict=True) if q <= RATE}
    assert {(one["column"], one["group"]) for one in found["worse"]} == wanted and wanted
    assert found["groups"] == len(groups)


def test_pure_noise_names_few_groups() -> None:
    """The rate of runs that name any group is at most that of the test, 5 %, and some room for chance."""
    rng, named = np.random.default_rng(5), 0
    for _ in range(60):
        found = slices_of(rng.normal(size=(300, 6)), [f"x{j}" for j in range(6)], [None] * 6, rng.exponential(size=300))
        named += bool(found["worse"])
    assert named <= 8


def test_rows_that_belong_together_are_one_each() -> None:
    """Thirty people with twenty rows each, who err alike: what they have in common is named no more often than the test says."""
    rng, named, who = np.random.default_rng(5), 0, np.repeat(np.arange(30), 20)
    levels = np.array(["few", "many"], dtype=object)
    for _ in range(40):
        X, losses = rng.normal(size=(30, 5))[who], (rng.normal(size=30)[who] + rng.normal(size=600)) ** 2
        named += bool(slices_of(X, list("abcde"), [None] * 5, losses, unit=who)["worse"])
        held = Unseen(np.arange(600), who % 5, np.zeros(600), [], np.zeros((600, 1)), unit=who)
        named += any(one["differs"] for one in by_column((X[:, 0] > 0).astype(float), levels, held, losses)["groups"])
    assert named <= stats.binom.ppf(0.999, 80, 0.05)
    alone = Unseen(np.arange(600), who % 5, np.zeros(600), [], np.zeros((600, 1)), unit=(who > 0).astype(int))
    one = by_column((who == 0).astype(float), levels, alone, losses)["groups"][1]
    assert one["rows"] == 20 and not one["differs"] and np.isnan(one["loss"]["low"])  # of one person nothing is known


def test_rows_count_by_their_weights() -> None:
    """A row of weight 3 makes up the means that it would as three rows."""
    rng, n = np.random.default_rng(9), 400
    times, y, x = rng.integers(1, 4, n), rng.integers(0, 2, n), (np.arange(n) < 150).astype(float)
    chance = np.clip(0.5 + 0.3 * (y - 0.5) + 0.2 * rng.normal(size=n), 0.01, 0.99)
    some = Unseen(np.arange(n), np.arange(n) % 5, y, ["no", "yes"], np.column_stack([1 - chance, chance]), weight=times / times.mean())
    again = np.repeat(np.arange(n), times)
    every = Unseen(np.arange(len(again)), some.fold[again], y[again], some.classes, some.outputs[again])
    judge, levels = SCORES["log_loss"], np.array(["a", "b"], dtype=object)
    assert some.score(judge) == pytest.approx(every.score(judge), rel=1e-12)
    pairs: list[tuple[Unseen, Any]] = [(some, slice(None)), (every, again)]
    one, other = (by_column(x[at], levels, held, held.losses(judge), "yes") for held, at in pairs)
    assert one["mean"] == pytest.approx(other["mean"], rel=1e-12)
    for first, second in zip(one["groups"], other["groups"], strict=True):
        assert first["group"] == second["group"] and first["loss"]["low"] < second["loss"]["low"]  # rows are no more than there are
        assert all(first[key] == pytest.approx(second[key], rel=1e-12) for key in ("said", "true", "flagged", "found", "alarms"))
        assert all(first[key]["value"] == pytest.approx(second[key]["value"], rel=1e-12) for key in ("loss", "gap"))
    sliced = [slices_of(x[at][:, None], ["x"], [levels], held.losses(judge), weight=held.weight) for held, at in pairs]
    assert sliced[0]["mean"] == pytest.approx(sliced[1]["mean"], rel=1e-12)


def test_drivers_are_those_of_the_rows_that_count() -> None:
    """Rows that count a millionth have another law, which neither moves a model nor judges it."""
    frame, heavy = table(400), np.arange(400) % 2 == 0
    y = np.where(heavy, 3.0 * frame["a"].to_numpy(), 3.0 * frame["b"].to_numpy()) + 0.1 * np.random.default_rng(2).normal(size=400)
    held = pl.DataFrame(dict(row=np.arange(400), fold=np.arange(400) % 5, truth=y, prediction=y, weight=np.where(heavy, 2.0, 2e-6)))
    told = explained(fitted(frame, y, tenfold.LinearRegression()), frame, y, held)
    falls = {one["column"]: one["fall"] for one in told["importance"]}
    assert told["baseline"] == pytest.approx(0.1, rel=0.2) and falls["a"] > 3 and abs(falls["b"]) < 0.01
    assert [one["score"] for one in told["sizes"]] == [pytest.approx(0.1, rel=0.3)] * 4
    assert abs(told["sizes"][-1]["gain"]) < 0.01


def test_models_of_other_rows_say_no_less_of_a_class() -> None:
    """One neighbour is sure of its class: what it loses where it is wrong is what the saved model loses, and not all that there is."""
    frame, rng = table(400), np.random.default_rng(1)
    y = np.where(frame["a"].to_numpy() + rng.logistic(size=400) > 0, "yes", "no")
    model = fitted(frame, y, tenfold.KNeighborsClassifier(1))
    model = TableModel.of(model.coder, model.pipeline, "y", floor=1 / 800)
    told = [explained(model, frame, y, None, metric) for metric in ("log_loss", "accuracy")]
    losses, rights = ((one["baseline"], one["sizes"][-1]["score"]) for one in told)
    for loss, right in zip(losses, rights, strict=True):
        assert loss == pytest.approx((1 - right) * -np.log(1 / 800) + right * -np.log(1 - 1 / 800), rel=1e-6)


def test_what_more_rows_bring_is_judged_on_other_people() -> None:
    """Forty people with ten nearly equal rows each, whose classes are dealt out: who has seen nine knows the tenth."""
    rng, who = np.random.default_rng(3), np.repeat(np.arange(40), 10)
    X = rng.normal(size=(40, 3))[who] + 0.01 * rng.normal(size=(400, 3))
    frame, y = pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}), rng.choice(["no", "yes"], 40)[who]
    held = pl.DataFrame(dict(row=np.arange(400), fold=who % 5, truth=y, **{"chance of no": np.full(400, 0.5), "chance of yes": 0.5}))
    model = fitted(frame, y, tenfold.KNeighborsClassifier(3))
    told = [explained(model, frame, y, one, "accuracy") for one in (held, held.with_columns(unit=who))]
    assert [one["sizes"][-1]["score"] for one in told] == [1.0, pytest.approx(0.5, abs=0.3)]
    assert told[0]["baseline"] == 1.0 and told[1]["baseline"] < 0.8 and told[1]["held_out_rows"] % 10 == 0


def test_one_column_alone() -> None:
    rng = np.random.default_rng(6)
    n = 3000
    a, noise = rng.normal(size=n), rng.normal(size=n)
    y = (a + 0.5 * rng.normal(size=n) > 0).astype(int)
    ids, levels = np.arange(n, dtype=float), rng.integers(0, 3, n).astype(float)
    X = np.column_stack([a, noise, ids, levels, np.full(n, np.nan)])
    found = single_strengths(X, [None, None, None, np.array(["p", "q", "r"]), None], y, True, 100)
    assert found[0] == pytest.approx(roc_auc_score(y, a), abs=0.02)
    assert all(abs(float(one or 0) - 0.5) < 0.04 for one in found[1:])
    number = single_strengths(X, [None] * 5, 2 * a + noise, False, 100)
    assert number[0] == pytest.approx(0.8, abs=0.05) and float(number[2] or 0) < 0.02
    assert order_of(X, [None] * 5, y, True)[0] == 0
    few = single_strengths(X, [None] * 5, y, True, 2)
    assert few[0] is not None and sum(one is not None for one in few) == 2


def test_wide_tables_and_odd_ones() -> None:
    rng = np.random.default_rng(7)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=150) for j in range(600)})
    y = np.where(frame["x7"].to_numpy() > 0, "yes", "no")
    facts = explained(fitted(frame, y, tenfold.LogisticRegression()), frame, y)
    assert facts["importance"][0]["column"] == "x7" and len(facts["importance"]) == 25 and facts["importance_of"] == 600
    small = frame[:12]
    labels = np.array(["no", "yes"] * 6)
    assert "importance" not in explained(fitted(small, labels, tenfold.LogisticRegression()), small, labels)  # too few rows
    one = frame.select("x0")
    facts = explained(fitted(one, y, tenfold.GaussianNB()), one, y)
    assert [each["column"] for each in facts["importance"]] == ["x0"] and facts["interactions"] == []


def test_three_quarters_without_a_class_say_why() -> None:
    frame = table(60)
    y = np.array(["no"] * 59 + ["yes"])
    model = fitted(frame, y, tenfold.LogisticRegression())
    seeds = [explained(model, frame, y, seed=seed) for seed in range(6)]
    assert any("why_not" in facts for facts in seeds) and any("importance" in facts for facts in seeds)
