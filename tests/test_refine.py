"""Local refinement in `tenfold.select`: variants of the leaders run a second lap, and a choice knows only those of its own leader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.selection import job
from tenfold.selection.job import Job
from tenfold.selection.plan.entries import Shape
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.plan.refine import VARIANTS, affordable_variants
from tenfold.selection.race import checkpoint
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.race.race import Race
from tenfold.selection.search import Replay
from tenfold.selection.settings import Settings

SHAPES = {
    "numbers": Shape("regressor", 600, 8, 0, 8),
    "classes": Shape("classifier", 600, 30, 3, 30),
    "one column": Shape("regressor", 300, 1, 0, 1),
}


def entries(shape: Shape) -> list[Any]:
    return portfolio(shape.role, shape.rows, shape.columns, shape.classes, width=shape.width)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_variant_differs_from_its_family_in_one_step(shape: Shape) -> None:
    """By name and parameters; it is of the same kind, has a cost, and no two are alike."""
    several = [entry for entry in entries(shape) if entry.kind in VARIANTS]
    found = affordable_variants(several, shape, 5, np.inf)
    assert {one.refines for one in found} >= {entry.title for entry in several if entry.kind in ("boosting", "forest")}
    assert len({one.title for one in found}) == len(found) == len({(one.refines, repr(one.learner)) for one in found})
    by_title = {entry.title: entry for entry in several}
    for one in found:
        parent = by_title[one.refines]
        assert one.title.startswith(f"{parent.title}; ") and one.kind == parent.kind and one.seconds > 0
        was, now = (entry.learner.get_params() for entry in (parent, one))
        changed = [name for name in was if name not in ("steps", "kernels", "splines") and repr(was[name]) != repr(now[name])]
        assert len(changed) == 1, (one.title, changed)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_no_model_is_tried_twice_under_two_names(shape: Shape) -> None:
    """Wide kernels made narrower are narrow ones made wider, and twice four leaves are half of sixteen."""
    several = entries(shape)
    found = affordable_variants(several, shape, 5, np.inf, several)
    made = [(repr(one.learner), one.values, one.powers) for one in (*several, *found)]
    assert len(set(made)) == len(made)
    apart = sum(len(affordable_variants([one], shape, 5, np.inf)) for one in several)
    assert len(found) < apart or shape.columns == 1


def test_the_budget_bounds_them_and_few_rows_have_none() -> None:
    shape = SHAPES["numbers"]
    leader = next(entry for entry in entries(shape) if entry.kind == "boosting")
    some = affordable_variants([leader], shape, 5, 5.01 * 2 * leader.seconds)
    assert 0 < len(some) < len(affordable_variants([leader], shape, 5, np.inf))
    assert sum(one.seconds for one in some) <= 2.01 * leader.seconds
    assert affordable_variants([leader], shape, 5, 0.0) == []
    assert affordable_variants([leader], Shape("regressor", 100, 8, 0, 8), 5, np.inf) == []


def steps(n: int = 260) -> tuple[pl.DataFrame, Any]:
    """What trees are best at."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 3))
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}), 2.0 * (X[:, 0] > 0.3) * (X[:, 1] > 0) + 0.3 * rng.normal(size=n)


def raced(monkeypatch: pytest.MonkeyPatch, units: int | None = None, kept: Checkpoint | None = None) -> tuple[Any, Race]:
    """What came of a run, and its race."""
    shrink(monkeypatch, 5, (5, 20))
    seen: list[Race] = []
    decide = job.decide
    monkeypatch.setattr(job, "decide", lambda race, *more: seen.append(race) or decide(race, *more))
    again = None if units is None else Replay(units)
    found = Job(lambda event, **facts: None, False, Settings(task="number", folds=4), kept, again).run(*steps())
    return found, seen[0]


def test_a_second_lap(monkeypatch: pytest.MonkeyPatch) -> None:
    found, race = raced(monkeypatch)
    variants = range(race.first, len(race.families))
    assert len(variants) > 0 and race.complete_folds == [0, 1, 2, 3] and race.complete_rounds == [0, 1, 2, 3]
    leaders = {race.families[number].title for number in race.leaders()}
    assert {race.families[number].refines for number in variants} <= leaders
    order = [number for number, held in race.done if len(held) == 1]
    assert all(number >= race.first for number in order[order.index(race.first) :]), "variants run behind all others"
    # A choice without a fold knows the variants of its own leader, by the same folds.
    for without in (None, *range(4)):
        folds = [k for k in range(4) if k != without]
        scores = {f: np.mean(race.scores["rmse"][race.places[f]][:, folds], axis=1).min() for f in range(1, race.first)}
        best = race.families[min((f for f in scores if np.isfinite(scores[f])), key=lambda f: scores[f])].title
        seen = race.open_to(race.held_out(), folds).usable(np.arange(len(race.y)))
        for number in variants:
            allowed, ran = race.families[number].refines == best, all((number, (k,)) in race.done for k in range(4))
            assert seen[race.places[number]].any() == (allowed and ran)
            assert (number in race.order(without)) == (allowed and number not in race.dropped)
    told = found.record["tried"]
    assert {one["family"] for one in told} == {family.title for family in race.families}


def test_a_lap_that_was_cut_short_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """However far it came, the choice is that of the first lap, and the board says that its variants are out."""
    _, race = raced(monkeypatch)
    singles = [number for number, held in race.done if len(held) == 1]
    first = sum(number < race.first for number in singles)
    for units in (first, first + 1, len(singles) - 1):
        found, cut = raced(monkeypatch, units)
        assert len(cut.done) == units and cut.complete_folds == [0, 1, 2, 3]
        unfinished = {family.title for number, family in enumerate(cut.families) if number >= cut.first and number in cut.gone}
        assert len(unfinished) == len(cut.families) - cut.first - (units == len(singles) - 1) * (len(cut.families) - cut.first - 1)
        board = {one["family"]: one["against"] for one in found.outcome.board}
        assert all(board.get(title, "dropped") == "dropped" for title in unfinished)
        assert sum(title in board for title in unfinished) == len({f for f, _ in cut.done if f in cut.gone and f >= cut.first})
        assert found.outcome.estimates


def test_select_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    told: dict[str, Any] = {}
    frame, y = steps()
    run = tenfold.select(frame, y, folds=3, listen=lambda event, **facts: told.setdefault(event, facts))
    assert told["refined"]["variants"] == len([one for one in run.record["trace"] if ";" in one["family"]]) > 0


def test_a_run_that_was_stopped_in_the_second_lap_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the variants that follow from the first lap, and ends with the same bits."""
    whole, race = raced(monkeypatch)
    singles = sum(len(held) == 1 for _, held in race.done)
    monkeypatch.setattr(checkpoint, "EVERY", 0)
    asked = dict(settings={}, target="y", file="")
    for units in (singles - 2, singles + 3):
        raced(monkeypatch, units, Checkpoint(tmp_path / "run", asked))
        again, other = raced(monkeypatch, kept=Checkpoint.found(tmp_path / "run"))
        assert other.done == race.done and other.dropped == race.dropped
        np.testing.assert_array_equal(other.outputs, race.outputs)
        drop = ("seconds",)
        plain = [[{k: v for k, v in place.items() if k not in drop} for place in found.outcome.board] for found in (whole, again)]
        assert plain[0] == plain[1] and whole.record["estimate"] == again.record["estimate"]
