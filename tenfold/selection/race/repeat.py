"""Repeated folds: the finalists of a small race run again on other divisions of the rows.

Which rows a fold holds is luck, and on few rows it decides who leads. So the choice that is saved looks at every row as often as there
are divisions, each time judged by models that have not seen it: the divisions lie one below the other, and a row counts once (its copies
are one unit of the standard errors). Families that ran the first division alone count as they did there.

The rounds of the estimate look at the first division alone: models of the others have seen the rows that a round leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tenfold.core.data import Array
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.race.race import Race

STRIDE = 1_000_003  # between the seeds of two divisions


def can_repeat(race: Race) -> bool:
    """Whether other divisions are as good as the first: not in order of time; and texts are read for the folds of one division. Scores
    that are no mean over rows are those of one division."""
    complete = len(race.complete_folds) == race.K
    return complete and not race.ordered and race.texts is None and race.judges[0].row_loss is not None


def run_again(race: Race, seed: int, number: int, tick: Callable[[int, int], None], units: int | None = None) -> None:
    """The finalists of a race on another division of its rows, the one of this number. It counts if it is complete; units: of the race
    with all repeats, after which nothing more is done."""
    role, before = "regressor" if race.classes is None else "classifier", race.units_done
    division = make_folds(race.y, race.K, seed + STRIDE * number, role, race.division.units)
    families = [replace(race.families[f], refines="") for f in sorted(race.finalists())]
    again = Race(replace(race.rows, division=division), families, race.judges[:1], costs=race.costs, drops=False, workers=race.workers)
    again.run(lambda done, of: tick(before + done, before + of), most=None if units is None else units - before)
    if len(again.done) == len(families) * again.K:
        race.repeats.append(again)


def of_all_divisions(race: Race) -> tuple[HeldOut, Array]:
    """What is known of rows by models that have not seen them, from all divisions, and the rows that it is known of."""
    held, rows = race.held_out(), np.flatnonzero(np.isin(race.fold, race.complete_folds))
    if not race.repeats:
        return held, rows
    n, times = len(race.y), 1 + len(race.repeats)
    place = {family.title: number for number, family in enumerate(race.families)}
    outputs, folds = [race.outputs], [race.fold]
    for one, again in enumerate(race.repeats, 1):
        said = race.outputs.copy()
        for family, where in zip(again.families, again.places, strict=True):
            said[race.places[place[family.title]]] = again.outputs[where]
        outputs.append(said)
        folds.append(again.fold + one * race.K)
    units = np.arange(n) if race.division.units is None else race.division.units
    stacked = replace(
        held,
        outputs=np.concatenate(outputs, axis=1),
        y=np.tile(held.y, times),
        fold=np.concatenate(folds),
        weight=None if held.weight is None else np.tile(held.weight, times),
        units=np.tile(units, times),
        divisions=times,
    )
    return stacked, np.arange(n * times)
