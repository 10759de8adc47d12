"""The race of `tenfold.select`: the verdict in the score that was asked for, one engine for all training sets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput, BadRequest
from tenfold.score.registry import SCORES
from tenfold.selection import job
from tenfold.selection.choice import held_out
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.honest.estimate import estimated
from tenfold.selection.plan import plan
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race.deadline import Deadline

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race, with fewer trees."""
    shrink(monkeypatch, 10, (5, 20))


# --- the verdict ------------------------------------------------------------------------------------------


def rare_class(n: int = 400) -> tuple[pl.DataFrame, np.ndarray]:
    """One row of ten is of the class "ill", whose columns are higher by one standard deviation: few such rows are more probably ill."""
    rng = np.random.default_rng(0)
    ill = np.arange(n) % 10 == 0
    X = rng.normal(size=(n, 3)) + ill[:, None]
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}), np.where(ill, "ill", "well")


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro", "roc_auc"])
def test_the_verdict_is_taken_on_the_score_that_was_asked_for(metric: str) -> None:
    """The share of errors of the best model by these scores is larger than that of always saying "well"."""
    found = tenfold.select(*rare_class(), metric=metric, folds=5)
    assert found.signal and "guess" not in found.chosen
    assert found.gain.metric == metric and found.gain.low > 0
    assert found.estimate.value > 0.6


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro", "roc_auc"])
def test_noise_is_noise_by_every_score(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random labels have a macro-averaged F1 of 1/2, one label for every row 1/3: that is no signal."""
    monkeypatch.setattr(plan, "portfolio", lambda *shape, **more: [one for one in portfolio(*shape, **more) if not one.raw])
    heard = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        frame = pl.DataFrame({f"x{j}": rng.normal(size=60) for j in range(3)})
        found = tenfold.select(frame, rng.permutation(60) % 2, metric=metric, folds=4, seed=seed)
        heard += bool(found.signal)
    assert heard <= 1


@pytest.mark.skipif(not TABLES.exists(), reason="shared tables are not here")
def test_mammography_has_a_signal() -> None:
    some = pl.read_csv(TABLES / "mammography.csv.gz").gather_every(3)  # 85 of 3,728 rows are of the rare class
    found = tenfold.select(some, "target", metric="balanced_accuracy", folds=3)
    assert found.signal and found.estimate.value > 0.8


def test_an_area_is_of_rows_that_one_model_has_judged() -> None:
    """Models of five folds that are on five scales rank their own rows, in the score as in its estimate."""
    rng = np.random.default_rng(1)
    y, fold, rows = rng.integers(0, 2, 150), np.arange(150) % 5, np.arange(150)
    scores = 1.5 * y + rng.normal(size=150)
    areas, pairs = [], []
    for k in range(5):
        up, down = scores[(fold == k) & (y == 1)], scores[(fold == k) & (y == 0)]
        areas.append((up[:, None] > down).mean())
        pairs.append(len(up) * len(down))
    by_hand = np.average(areas, weights=pairs)
    for shift in (0.0, 3.0):
        output = np.column_stack([np.zeros(150), scores + shift * fold])
        held = HeldOut(output[None], y, fold, SCORES["roc_auc"], np.arange(2))
        assert held.score(output, rows) == held.utilities(rows)[0] == pytest.approx(by_hand)
        assert estimated(SCORES["roc_auc"], held, output, rows, "").value == pytest.approx(by_hand)
    alone = np.where(fold == 0, 1, 0)  # no fold has rows of both classes: all are ranked together
    held = HeldOut(output[None], alone, fold, SCORES["roc_auc"], np.arange(2))
    assert held.score(output, rows) == pytest.approx((output[fold == 0, 1][:, None] > output[fold > 0, 1]).mean())


@pytest.mark.parametrize("weights", [None, "w"])
def test_a_guess_ranks_no_row_before_another(weights: str | None) -> None:
    """A fold with fewer rows of a class has more of it to learn from: ranked together, a guess seems to be worse than chance."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(dict(x=rng.normal(size=75), w=rng.uniform(0.5, 2.0, 75)))
    y, w = np.where(rng.permutation(75) < 21, "ill", "well"), frame["w"].to_numpy()
    share = np.average(y == "ill", weights=None if weights is None else w)
    for metric in ("roc_auc", "average_precision"):
        found = tenfold.select(frame, y, metric=metric, effort="quick", folds=4, weights=weights)
        assert found.signal is False and found.estimate is not None and "guess" in found.estimate.method
        assert found.estimate.value == pytest.approx(0.5 if metric == "roc_auc" else share, rel=1e-9)
        assert found.estimate.low < found.estimate.value < found.estimate.high


# --- memory -----------------------------------------------------------------------------------------------


def test_long_tables_keep_half_of_the_digits_of_held_out_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice stays; the estimate and the gain over the guess are the same to single precision."""
    before = tenfold.select(*rare_class(), folds=3)
    monkeypatch.setattr(held_out, "MOST_KEPT", 0)
    after = tenfold.select(*rare_class(), folds=3)
    assert before.chosen == after.chosen and before.leaderboard[0]["score"] > 0
    assert after.gain.value != before.gain.value
    assert after.gain.value == pytest.approx(before.gain.value, rel=1e-5)
    assert after.estimate.value == pytest.approx(before.estimate.value, rel=1e-5)


# --- learners that cannot be fitted -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pl.String, pl.Boolean])
def test_a_table_of_categories_alone_is_raced_over(kind: type[pl.DataType]) -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: rng.integers(0, 2, 80) for name in "abc"}).cast(pl.Boolean).cast(kind)
    y = (table["a"].cast(pl.String) == "true").to_numpy() + 0.1 * rng.normal(size=80)
    run = tenfold.select(table, y, effort="quick", folds=3)
    assert run.signal and run.record["failures"] == {} and np.corrcoef(run.predict(table), y)[0, 1] > 0.9


@pytest.mark.parametrize("unit", [1e74, 1e-74])
def test_a_target_in_another_unit_has_the_same_signal(unit: float) -> None:
    x = np.random.default_rng(0).normal(size=60)
    table = pl.DataFrame({"x": x, "y": (x + 0.3 * np.sin(100 * x)) * unit})
    run = tenfold.select(table, "y", effort="quick", folds=3)
    assert run.signal and run.estimate is not None and 0.1 * unit < run.estimate.low < run.estimate.high < 0.6 * unit
    with pytest.raises(BadInput, match="whose fourth powers leave the range of floats"):
        tenfold.select(table.with_columns(y=pl.col("y") * unit), "y")


def test_a_forked_process_is_told_what_it_would_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_ran_in", {os.getppid()})
    with pytest.raises(BadRequest, match="start processes by multiprocessing"):
        tenfold.select(pl.DataFrame({"x": range(20), "y": range(20)}), "y")


def test_a_time_may_be_as_long_as_one_likes() -> None:
    deadline = Deadline(False, 1e12)
    with deadline:
        assert deadline.timer is not None
        deadline.timer.join(0.05)
        assert deadline.timer.is_alive()
    assert not (deadline.cut or deadline.interrupted)


def test_a_learner_that_refuses_the_training_rows_has_failed_and_the_run_goes_on() -> None:
    """The only column is constant within each class: a discriminant has no spread to measure by."""
    label = np.arange(60) % 3
    found = tenfold.select(pl.DataFrame({"x": 1.5 * label + 0.25}), np.array(["a", "b", "c"])[label], folds=4)
    row = next(row for row in found.leaderboard if row["family"] == "linear discriminant")
    assert row["against"] == "failed" and "no column varies within any class" in row["reason"]
    assert found.signal and found.record["simple"]["model"] == "naive Bayes"
    assert found.record["members"][0]["model"] == "naive Bayes" and found.record["members"][0]["weight"] >= 0.5  # the rest is hedged
