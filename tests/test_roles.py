"""Weights, groups and times of rows in `tenfold.select`."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.registry import SCORES
from tenfold.selection.choice.ensemble import greedy_weights
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.honest.audit import audit
from tenfold.selection.honest.estimate import half_width_of
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.folds import Division, folds_in_time, make_folds
from tenfold.selection.plan.guess import FrequencyGuess, MeanGuess
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows


def numbers(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X @ [1.0, 2.0, 0.0, -1.0] + rng.standard_t(4, size=n)


def families() -> list[Family]:
    tree = Family("tree", tenfold.DecisionTreeRegressor(min_samples_leaf=5), 3)
    ridge = Family("ridge", tenfold.Ridge(), 1, "alpha", (0.1, 10.0))
    return [Family("mean", MeanGuess(), 0), ridge, Family("lasso", tenfold.Lasso(0.05), 1), tree]


def race(X: Any, y: Any, division: Division, **more: Any) -> Race:
    found = Race(Rows(X, y, division, pl.DataFrame(X), **more), families(), [SCORES["rmse"], SCORES["r2"]])
    found.run()
    return found


# --- weights ----------------------------------------------------------------------------------------------


def test_a_whole_weight_is_so_many_copies_of_a_row() -> None:
    X, y = numbers(200)
    times = np.random.default_rng(1).integers(1, 4, 200)
    fold = make_folds(y, 5, 0, "regressor", None).fold
    copies = np.repeat(np.arange(200), times)
    # the smallest leaf counts rows, not weights: the tree is left out
    by_weight = Race(Rows(X, y, Division(fold), weight=times * 1.0), families()[:3], [SCORES["rmse"]])
    by_copies = Race(Rows(X[copies], y[copies], Division(fold[copies], units=copies)), families()[:3], [SCORES["rmse"]])
    by_weight.run()
    by_copies.run()
    np.testing.assert_allclose(by_weight.outputs[:, copies], by_copies.outputs, rtol=1e-8)
    np.testing.assert_allclose(by_weight.scores["rmse"], by_copies.scores["rmse"], rtol=1e-8)
    one, other = by_weight.held_out(), by_copies.held_out()
    rows, all_rows = np.arange(200), np.arange(len(copies))
    np.testing.assert_allclose(one.utilities(rows), other.utilities(all_rows), rtol=1e-8)
    np.testing.assert_allclose(
        one.behind(one.outputs[1, rows], one.outputs[3, rows], rows),
        other.behind(other.outputs[1, all_rows], other.outputs[3, all_rows], all_rows),
        rtol=1e-8,
    )
    assert greedy_weights(one, [0, 1, 2, 3], rows) == greedy_weights(other, [0, 1, 2, 3], all_rows)
    first, second = audit(by_weight), audit(by_copies)
    assert first is not None and second is not None
    for name in ("value", "low", "high"):
        told = [getattr(found.estimate(SCORES["rmse"], found.outputs["best"]), name) for found in (first, second)]
        assert told[0] == pytest.approx(told[1], rel=1e-6)
    gains = [found.gain("best") for found in (first, second)]
    assert (gains[0].value, gains[0].error) == pytest.approx((gains[1].value, gains[1].error), rel=1e-6)


def test_the_unit_of_weights_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (3,))
    X, y = numbers(120)
    w = np.random.default_rng(2).uniform(0.5, 2.0, 120)
    frame = pl.DataFrame(X, schema=list("abcd")).with_columns(y=pl.Series(y))
    told = [
        tenfold.select(frame.with_columns(w=pl.Series(unit * w)), "y", effort="quick", folds=3, weights="w") for unit in (1.0, 1024.0)
    ]
    assert told[0].estimate == told[1].estimate and told[0].chosen == told[1].chosen
    assert [one["kind"] for one in told[0].record["columns"] if one["name"] == "w"] == ["dropped"]


def test_a_weight_says_which_rows_the_estimate_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of one kind have ten times the noise of the other: weighted towards them, the estimate is of their error."""
    shrink(monkeypatch, 3, (3,))
    rng = np.random.default_rng(3)
    X, noisy = rng.normal(size=(400, 2)), np.arange(400) % 2 == 1
    y = X[:, 0] + np.where(noisy, 2.0, 0.2) * rng.normal(size=400)
    weights = dict(w=pl.Series(np.where(noisy, 100.0, 1.0)), v=pl.Series(noisy * 1.0))
    frame = pl.DataFrame(X, schema=["a", "b"]).with_columns(y=pl.Series(y), **weights)
    heavy = tenfold.select(frame.drop("v"), "y", effort="quick", folds=3, weights="w")
    alone = tenfold.select(frame.drop("w"), "y", effort="quick", folds=3, weights="v")
    assert heavy.estimate is not None and alone.estimate is not None
    assert 1.8 < heavy.estimate.value < 2.2 and 1.8 < alone.estimate.value < 2.2
    assert heavy.estimate.low < 2.0 < heavy.estimate.high
    assert "200 rows of weight 0 left out" in alone.record["notes"] and alone.record["data"]["rows_used"] == 200
    rows = alone.held_out
    assert rows is not None and (rows["row"].to_numpy() % 2 == 1).all()
    assert heavy.record["reach"] == pytest.approx(1.645 * 2, rel=0.25)  # 90 % of the weight


def test_the_reach_by_weight() -> None:
    off = np.arange(1.0, 101.0) ** 2
    assert half_width_of(off, "rmse") == half_width_of(off, "rmse", np.full(100, 0.25)) == 91.0
    light = np.where(np.arange(100) < 50, 1.0, 1e-9)
    assert half_width_of(off, "rmse", light) == 46.0
    assert half_width_of(off[:5], "rmse") is None and half_width_of(off[:5], "rmse", np.ones(5)) is None


def test_the_guess_is_called_what_it_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (3,))
    rng = np.random.default_rng(10)
    high = np.arange(90) % 3 == 0
    frame = pl.DataFrame(dict(x=rng.normal(size=90), w=np.where(high, 8.0, 1.0), y=np.where(high, 30.0, 0.0) + rng.normal(size=90)))
    run = tenfold.select(frame, "y", effort="quick", folds=3, weights="w")
    assert run.signal is False and run.chosen == f"always guessing {run.predict(frame)[0]:.4g}" and run.predict(frame)[0] > 20
    told: dict[str, Any] = {}
    asked = dict(effort="quick", folds=3, weights="w", listen=lambda event, **facts: told.update({event: facts}))
    tenfold.select(frame.with_columns(y=np.where(high, "high", "low")), "y", **asked)
    assert told["estimate"]["guess_labels"]["accuracy"] == "always predicting high"


def of_weight(label: np.ndarray, counts: dict[str, int]) -> pl.DataFrame:
    """Rows of classes or numbers, so many of each with a weight above zero."""
    weight = np.zeros(len(label))
    for one, count in counts.items():
        weight[np.flatnonzero(label == one)[:count]] = 1.0
    x = np.random.default_rng(9).normal(size=len(label))
    return pl.DataFrame(dict(x=x, y=label, w=weight))


def test_what_can_be_learned_is_asked_of_the_rows_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of weight 0 are left out, and do not make up for classes of too few rows or a target that is the same in all others."""
    shrink(monkeypatch, 3, (3,))
    y = np.array(["a", "b", "c"])[np.arange(90) % 3]
    for counts, said in (
        (dict(a=4, b=4, c=1), "only 9 rows of a weight above 0 have a value of 'y': at least 10 are needed"),
        (dict(a=30, b=2, c=1), r"3 different values in 33 rows of a weight above 0, and fewer than two of them occur in at least 3 rows"),
    ):
        with pytest.raises(BadInput, match=said):
            tenfold.select(of_weight(y, counts), "y", effort="quick", folds=3, weights="w")
    run = tenfold.select(of_weight(y, dict(a=30, b=30, c=2)), "y", effort="quick", folds=3, weights="w")
    assert run.model.classes_.tolist() == ["a", "b"] and run.record["data"]["rows_used"] == 60
    assert "28 rows of weight 0 left out" in run.record["notes"]
    assert any("1 class with fewer than 3 rows of a weight above 0 left out ('c'): 2 rows" in note for note in run.record["notes"])
    level = np.where(np.arange(90) < 40, 2.5, np.arange(90.0))
    with pytest.raises(BadInput, match=r"the target column 'y' is 2\.5 in every row of a weight above 0: there is nothing to predict"):
        tenfold.select(of_weight(level, {2.5: 40}), "y", effort="quick", folds=3, weights="w")  # type: ignore[dict-item]


# --- groups -----------------------------------------------------------------------------------------------


def test_the_error_of_a_mean_counts_groups() -> None:
    """Rows of a group err alike: the range is that of so many groups."""
    rng = np.random.default_rng(4)
    of_group = rng.normal(size=40)
    groups = np.repeat(np.arange(40), 25)
    values = of_group[groups]
    outputs = np.zeros((1, 1000, 1))
    by_row = HeldOut(outputs, values, groups % 5, SCORES["rmse"], None)
    by_group = HeldOut(outputs, values, groups % 5, SCORES["rmse"], None, units=groups)
    rows = np.arange(1000)
    assert by_row.error(values, rows) == pytest.approx(values.std(ddof=1) / np.sqrt(1000))
    assert by_group.error(values, rows) == pytest.approx(of_group.std(ddof=1) / np.sqrt(40))


# --- time -------------------------------------------------------------------------------------------------


def test_folds_in_time_follow_each_other() -> None:
    rng = np.random.default_rng(5)
    time = rng.integers(0, 60, 700) * 1.0
    division = folds_in_time(time, 5, "day")
    assert division.ordered and division.folds == 5
    for k in range(5):
        training, judged = division.training((k,)), division.rows(k)
        assert time[training].max() < time[judged].min()
        assert len(training) + len(judged) + (division.fold > k).sum() == 700
        assert 80 <= len(judged) <= 120
    assert division.units is not None
    order = np.argsort(time, kind="stable")
    assert (np.diff(division.units[order]) >= 0).all() and 30 < len(np.unique(division.units)) <= 60
    with pytest.raises(BadInput, match="'day' has 3 different times"):
        folds_in_time(time % 3, 5, "day")


def test_models_in_time_have_seen_the_rows_before_and_no_others() -> None:
    X, y = numbers(180)
    X[::7, 1] = np.nan
    time = np.random.default_rng(6).permutation(180) * 1.0
    division = folds_in_time(time, 4, "t")
    found = race(X, y, division)
    for k in range(4):
        past, now = division.training((k,)), division.rows(k)
        ridge = tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.Ridge(0.1)).fit(X[past], y[past])
        np.testing.assert_allclose(found.outputs[1, now, 0], ridge.predict(X[now]), rtol=1e-9)
        tree = tenfold.DecisionTreeRegressor(min_samples_leaf=5).fit(X[past], y[past])
        np.testing.assert_array_equal(found.outputs[4, now, 0], tree.predict(X[now]))
    assert np.isnan(found.outputs[:, division.fold < 0]).all()


def test_a_choice_in_time_looks_at_the_past_alone() -> None:
    X, y = numbers(300)
    division = folds_in_time(np.arange(300.0), 5, "t")
    found = race(X, y, division)
    honest = audit(found)
    assert honest is not None and honest.method == "4 spans of time, each judged by the choice made before it"
    assert sorted(set(found.fold[honest.rows])) == [1, 2, 3, 4] and len(honest.choices) == 4
    before = [one.best for one in honest.choices]
    late = found.fold >= 3
    found.outputs[:, late] = np.random.default_rng(0).normal(size=found.outputs[:, late].shape)
    again = audit(found)
    assert again is not None and [one.best for one in again.choices][:3] == before[:3]
    np.testing.assert_array_equal(again.outputs["best"][found.fold[again.rows] < 3], honest.outputs["best"][found.fold[honest.rows] < 3])


def test_one_span_of_time_has_the_luck_of_its_rows() -> None:
    """Of a score that is no mean over rows, where the run was cut after two spans, one of which is judged."""
    X, y = numbers(200)
    codes, division = (y > 0).astype(np.int64), folds_in_time(np.arange(200.0), 5, "t")
    both = [Family("guess", FrequencyGuess(), 0), Family("logistic", tenfold.LogisticRegression(), 1)]
    found = Race(Rows(X, codes, division, pl.DataFrame(X)), both, [SCORES["roc_auc"]])
    found.run(singles=2)
    honest = audit(found)
    assert honest is not None and honest.method == "one span of time, judged by the choice made before it"
    gain = honest.gain("best")
    assert gain.value > 0.2 and 0 < gain.error < 0.2


def test_an_estimate_in_time_is_one_for_the_future(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every month has a level of its own: folds by chance have seen it, and promise what the future does not keep."""
    shrink(monkeypatch, 5, (5, 40))
    rng = np.random.default_rng(7)

    def world(months: range) -> pl.DataFrame:
        level = np.repeat(2 * rng.normal(size=len(months)), 20)
        day, x = np.repeat(30 * np.array(months), 20) + np.tile(np.arange(20), len(months)), rng.normal(size=len(level))
        return pl.DataFrame(dict(day=pl.Series(day).cast(pl.Date).cast(pl.String), x=x, y=x + level + 0.3 * rng.normal(size=len(x))))

    past, future = world(range(360, 400)), world(range(400, 500))
    truth = future["y"].to_numpy()
    by_chance = tenfold.select(past, "y", effort="quick")
    in_time = tenfold.select(past, "y", effort="quick", time_column="day")
    for run in (by_chance, in_time):
        assert run.estimate is not None
    found = [np.sqrt(np.mean((run.predict(future) - truth) ** 2)) for run in (by_chance, in_time)]
    assert by_chance.estimate is not None and in_time.estimate is not None
    assert by_chance.estimate.high < found[0]
    assert in_time.estimate.low < found[1] < in_time.estimate.high


def test_classes_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first fold comes after some rows of each class, as nothing could be learned of a class before."""
    shrink(monkeypatch, 3, (3,))
    rng = np.random.default_rng(8)
    n = 240
    x = rng.normal(size=n)
    y = np.where(np.arange(n) < 110, "no", np.where(x + rng.normal(size=n) > 0, "yes", "no"))
    frame = pl.DataFrame(dict(t=np.arange(n), x=x, y=y))
    run = tenfold.select(frame, "y", effort="quick", folds=4, time_column="t")
    assert run.estimate is not None and run.signal and list(run.others) == ["accuracy", "roc_auc"]
    assert (np.asarray(run.held_out["row"]) > 112).all() if run.held_out is not None else False
    assert run.predict(pl.DataFrame(dict(t=[300, 301], x=[3.0, -3.0]))).tolist() == ["yes", "no"]
    late = frame.with_columns(y=pl.Series(np.where(np.arange(n) < 220, "no", "yes")))
    with pytest.raises(BadInput, match="the class 'yes' has its third row after 92 % of the rows by 't'"):
        tenfold.select(late, "y", effort="quick", folds=4, time_column="t")


# --- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (dict(weights="x"), r"the weight of row 2 in 'x' is -1: weights are numbers of at least 0"),
        (dict(weights="name"), r"the column 'name' is read as category: weights are numbers"),
        (dict(weights="gappy"), r"row 3 has nothing in 'gappy', or what cannot be read: weights are numbers"),
        (dict(weights="zero"), r"all weights in 'zero' are 0: no row counts"),
        (dict(weights="half"), r"all rows of the class 'b' have weight 0 in 'half'"),
        (dict(time_column="name"), r"the column 'name' is read as category: times are dates or numbers"),
        (dict(time_column="gappy"), r"row 3 has nothing in 'gappy'"),
        (dict(time_column="half", keep=["gappy"]), r"'half' has 2 different times: too few for 3 spans"),
        (dict(weights="wieght"), r"there is no column 'wieght'"),
        (dict(time_column="y"), r"time_column='y': this is the column to predict"),
        (dict(groups="name", time_column="x"), r"groups='name': folds are made by groups or by time \('x'\), give one of them"),
        (dict(weights=3), r"weights=3: must be the name of a column"),
    ],
)
def test_roles_that_cannot_be(asked: dict[str, Any], said: str) -> None:
    n = 60
    x = np.tile([1.0, -1.0, 2.0], n // 3)
    y = np.where(np.arange(n) < 30, "a", "b")
    frame = pl.DataFrame(
        dict(
            x=x, name=["u", "v", "w"] * (n // 3), gappy=[None if i == 2 else 1.0 + i for i in range(n)], zero=[0.0] * n,
            half=np.where(y == "a", 1.0, 0.0), z=np.random.default_rng(0).normal(size=n), y=y,
        )
    )  # fmt: skip
    with pytest.raises((BadInput, BadParameter), match=said):
        tenfold.select(frame, "y", effort="quick", folds=3, **asked)


def test_a_class_that_a_weighted_guess_has_seen() -> None:
    guess = FrequencyGuess().fit(np.zeros((3, 1)), ["a", "a", "b"], sample_weight=[1.0, 1.0, 2.0])
    np.testing.assert_allclose(guess.predict_proba(np.zeros((1, 1))), [[0.5, 0.5]], rtol=1e-12)
