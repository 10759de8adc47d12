"""Repeated folds in `tenfold.select`: the finalists run on other divisions, which lie one below the other, and a row counts once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.selection.job import Job
from tenfold.selection.plan import plan
from tenfold.selection.race import checkpoint
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.race.repeat import of_all_divisions
from tenfold.selection.search import Replay
from tenfold.selection.settings import Settings

ROWS = 120


def table(labels: bool) -> tuple[pl.DataFrame, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 3))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=ROWS)
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}), np.where(y > 0, "yes", "no") if labels else y


def raced(
    monkeypatch: pytest.MonkeyPatch,
    units: int | None = None,
    kept: Checkpoint | None = None,
    *,
    labels: bool = False,
    times: int = 2,
    **asked: Any,
) -> Any:
    shrink(monkeypatch, 5, (5, 20))
    monkeypatch.setattr(plan, "REPEATS", ((ROWS, times),))
    frame, y = table(labels)
    if "groups" in asked or "weights" in asked:
        frame = frame.with_columns(g=pl.Series([f"a{i // 3}" for i in range(ROWS)]), w=pl.Series(np.arange(ROWS) % 3 + 1.0))
    again = None if units is None else Replay(units)
    return Job(lambda event, **facts: None, False, Settings(folds=4, **asked), kept, again).run(frame, y)


@pytest.mark.parametrize("labels", [False, True])
def test_every_row_is_judged_in_each_division_by_models_that_have_not_seen_it(monkeypatch: pytest.MonkeyPatch, labels: bool) -> None:
    found = raced(monkeypatch, labels=labels)
    race = found.outcome.race
    assert len(race.repeats) == 2
    divisions = [race.fold, *(again.fold for again in race.repeats)]
    assert len({fold.tobytes() for fold in divisions}) == 3
    finalists = {race.families[f].title for f in race.finalists()}
    for again in race.repeats:
        assert {family.title for family in again.families} == finalists
        assert np.isfinite(again.outputs).all() and np.isnan(race.outputs).sum() == np.isnan(race.outputs[:, :1]).sum() * ROWS
    # Of one setting, its outputs are those of models fitted by hand without the fold of the row, in this division.
    again = race.repeats[1]
    number = next(f for f, family in enumerate(again.families) if not family.is_guess and family.raw)
    family, (first, *_) = again.families[number], again.places[number]
    frame, y = table(labels)
    inside, outside = (np.flatnonzero(again.fold != 2), np.flatnonzero(again.fold == 2))
    model = family.learners()[0].fit(frame[inside], y[inside])
    if labels:
        np.testing.assert_allclose(np.exp(again.outputs[first, outside]), model.predict_proba(frame[outside]), atol=2 / ROWS, rtol=0)
    else:
        np.testing.assert_allclose(again.outputs[first, outside, 0], model.predict(frame[outside]), atol=1e-12, rtol=1e-9)


def test_divisions_lie_one_below_the_other_and_a_row_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses are means over divisions; copies of one division would change neither a score nor its error."""
    race = raced(monkeypatch).outcome.race
    held, rows = of_all_divisions(race)
    assert len(rows) == 3 * ROWS and held.outputs.shape[1] == 3 * ROWS and len(np.unique(held.fold)) == 12
    again = race.repeats[0]
    title = next(family.title for family in again.families if not family.is_guess)
    here, there = (next(w for f, w in zip(one.families, one.places, strict=True) if f.title == title)[0] for one in (race, again))
    parts = [race.outputs[here], again.outputs[there], *(o.outputs[there] for o in race.repeats[1:])]
    by_hand = np.mean([np.mean((part[:, 0] - race.y) ** 2) for part in parts])
    assert -held.utilities(rows)[here] == pytest.approx(by_hand, rel=1e-12)
    out = [c for f, family in enumerate(race.families) if family.title not in {one.title for one in again.families} for c in race.places[f]]
    single = race.held_out()
    np.testing.assert_allclose(held.utilities(rows)[out], single.utilities(np.arange(ROWS))[out], rtol=1e-12, atol=0)
    race.repeats = [as_a_repeat(race)] * 2
    copied, rows = of_all_divisions(race)
    for c in (here, race.places[0][0]):
        gap = copied.row_losses(copied.outputs[c, rows], rows)
        once = single.row_losses(single.outputs[c], np.arange(ROWS))
        assert copied.mean(gap, rows) == pytest.approx(float(single.mean(once, np.arange(ROWS))))
        assert copied.error(gap, rows) == pytest.approx(single.error(once, np.arange(ROWS)))


def as_a_repeat(race: Any) -> Any:
    """The race itself, as a repeat of it."""

    class Same:
        families, places, outputs, fold = race.families, race.places, race.outputs, race.fold

    return Same()


def test_a_repeat_that_was_cut_short_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = raced(monkeypatch)
    race = whole.outcome.race
    singles, each = len(race.done), len(race.repeats[0].done)
    assert whole.record["units"] == singles + 2 * each == race.units_done
    for units, complete in ((singles, 0), (singles + each - 1, 0), (singles + each, 1), (singles + each + 3, 1)):
        cut = raced(monkeypatch, units)
        assert len(cut.outcome.race.repeats) == complete and cut.record["units"] == singles + complete * each
        assert cut.record["estimate"] == whole.record["estimate"], "the rounds look at the first division alone"
    assert cut.outcome.choice == raced(monkeypatch, times=1).outcome.choice


def test_a_run_that_was_stopped_in_a_repeat_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The repeats begin again, and end with the same bits."""
    whole = raced(monkeypatch)
    race = whole.outcome.race
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    raced(monkeypatch, race.units_done - 2, Checkpoint(tmp_path / "run", dict(settings={}, target="y", file="")))
    again = raced(monkeypatch, kept=Checkpoint.found(tmp_path / "run"))
    assert again.record["units"] == whole.record["units"] and again.record["divisions"] == 3
    assert again.outcome.choice == whole.outcome.choice
    for one, other in zip(race.repeats, again.outcome.race.repeats, strict=True):
        np.testing.assert_array_equal(one.outputs, other.outputs)


def test_groups_stay_together_and_weights_count(monkeypatch: pytest.MonkeyPatch) -> None:
    race = raced(monkeypatch, groups="g", weights="w").outcome.race
    assert race.repeats
    for again in race.repeats:
        assert all(len(set(again.fold[race.division.units == g])) == 1 for g in range(ROWS // 3))
    held, _ = of_all_divisions(race)
    np.testing.assert_array_equal(held.weight, np.tile(race.weight, 3))
    np.testing.assert_array_equal(held.units, np.tile(race.division.units, 3))


def test_what_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores that are no mean over rows, and long tables."""
    assert raced(monkeypatch, labels=True, metric="roc_auc").outcome.race.repeats == []
    monkeypatch.undo()
    shape = plan.Shape("regressor", 501, 4, 0, 4)
    long = plan.Plan.of("normal", None, None, shape)
    assert long.repeats(long.families[1:5]) == 0
    short = plan.Plan.of("normal", None, None, replace(shape, rows=400))
    assert short.repeats(short.families[1:5]) == 2
    assert replace(short, budget=0.0).repeats(short.families[1:5]) == 0


def test_select_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    monkeypatch.setattr(plan, "REPEATS", ((ROWS, 1),))
    told: dict[str, Any] = {}
    tenfold.select(*table(False), folds=3, listen=lambda event, **facts: told.setdefault(event, facts))
    assert told["repeated"]["divisions"] == 1 and told["repeated"]["families"] > 1
