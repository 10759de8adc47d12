"""Models of fewer rows, which tell what the last rows bring.

Where the choice is nested, models of K − 2 folds are there. Else the families that the choices without the first folds take are fitted
without two of them, a pair or two, once all else is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import thread_budget
from tenfold.evaluate.validate.training_sets import Held
from tenfold.selection.choice.choice import Choice, Mix, choose
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.race.fits import Unit
from tenfold.selection.race.race import Race
from tenfold.selection.settings import PREFERENCES

PAIRS = (0, 1), (2, 3)  # folds that are left out together, where the choice is not nested


def visible(race: Race, outer: int | None, folds: list[int], outside: Array) -> HeldOut:
    """What a choice from these folds looks at, that is judged on rows outside: nothing of settings that fail there. outer: the round of a
    nested one."""
    table = race.open_to(race.held_out(outer), folds)
    return replace(table, outputs=np.where(race.held_out().usable(outside)[:, None, None], table.outputs, np.nan))


def pairs_of(race: Race) -> list[Held]:
    """The pairs of folds that models of fewer rows are without."""
    return [pair for pair in PAIRS if max(pair) < race.K]


def can_run_fewer(race: Race) -> bool:
    """Whether models of fewer rows can be fitted besides: nested races have them, spans of time differ in more than their rows."""
    complete, nested = len(race.complete_folds) == race.K, len(race.complete_rounds) == race.K
    return complete and not nested and not race.ordered and race.judges[0].row_loss is not None


def taken_without(race: Race, pair: Held, prefers: Collection[str]) -> list[int]:
    """The families that the choices without a fold of the pair take, by what is preferred."""
    found = set[int]()
    for o in pair:
        table = visible(race, None, [k for k in range(race.K) if k != o], race.division.rows(o))
        choice = choose(race.settings, table, np.flatnonzero(race.fold != o))
        found |= {race.families.index(race.settings[c].family) for prefer in prefers for c in choice.taken(prefer).weights}
    return sorted(found)


def seconds_of(race: Race, numbers: list[int]) -> float:
    """About how long fitting these families once more takes."""
    each = [race.fit_seconds(number) for number in numbers]
    reading = 0.0 if race.texts is None else race.texts.seconds * (race.K - 2)
    return reading + (max(*each, sum(each) / thread_budget()) if race.together and len(each) > 1 else sum(each))


def run_fewer(race: Race, pair: Held, numbers: list[int], tick: Callable[[int, int], None]) -> None:
    """Fit these families without both folds of the pair; it counts if all of them are."""
    before, less = race.units_done, dict[tuple[int, int], Array]()

    def keep(number: int, unit: Unit) -> None:
        less.update({(race.places[number][place], k): output for place, k, output, _ in unit.results})
        done = before + numbers.index(number) + 1
        tick(done, max(done, before + len(numbers)))

    race.side_by_side(numbers, pair, keep)
    race.less, race.less_units = race.less | less, race.less_units + len(numbers)


def by_fewer(race: Race, choices: list[Choice], nested: bool) -> dict[str, list[Array]]:
    """By what is preferred, what models of one fold less say of all rows, once or more: in each round those that its choice takes; NaN
    where nothing is known."""
    found = dict[str, list[Array]]()
    for prefer in PREFERENCES:
        outputs = [_outputs_by_fewer(race, choice.taken(prefer), o, nested) for o, choice in enumerate(choices)]
        for o, each in enumerate(outputs):
            for number, one in enumerate(each):
                tables = found.setdefault(prefer, [])
                if number == len(tables):
                    tables.append(np.full((len(race.y), one.shape[1]), np.nan))
                tables[number][race.division.rows(o)] = one
    return found


def _outputs_by_fewer(race: Race, mix: Mix, o: int, nested: bool) -> list[Array]:
    """What models that have seen one fold less say of the rows of fold o; nothing where some member has none."""
    if nested:
        return [mix.outputs(race.held_out((o + step) % race.K), race.division.rows(o)) for step in range(1, race.K)]
    known = [race.less[c, o] for c in mix.weights if (c, o) in race.less]
    if len(known) < len(mix.weights):
        return []
    members = replace(race.held_out(), outputs=np.stack(known))
    return [members.mixed(dict(enumerate(mix.weights.values())), np.arange(known[0].shape[0]))]
