"""From models of some of the rows to the model of all: what the last rows bring.

Held-out rows are judged by models of (K − 1)/K of the rows, and the model that is saved learns from all of them. Where more rows still
help, the score of the former is too cautious. Models of (K − 2)/K of the rows tell by how much: with a mean loss L of a + b/n,

    L(n) = L(n (K − 1)/K) − (K − 2)/K · g,        g = L(n (K − 2)/K) − L(n (K − 1)/K)

as 1/n falls by K/((K − 1)(K − 2)) between the two, and by 1/(K − 1) from there to n. g is the mean difference of the same rows, by what
the choice of a round takes, of rows that this choice has not looked at. It counts as g − s, with s² the square of its standard error and of
a fifth of g, as the form of the curve is not known either: n^−½ in place of 1/n would make it a seventh more, n^−2 a quarter less. So luck
is not taken for growth; and s widens the range. Where the choice is nested, models of K − 2 folds are there; else those that the choices
without the first two folds take are fitted without both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import thread_budget
from tenfold.score.record import Score, judged_output
from tenfold.selection.choice.choice import Choice, Mix, Z, choose
from tenfold.selection.choice.held_out import WIDER, HeldOut
from tenfold.selection.honest.estimate import Estimate
from tenfold.selection.race.fits import Unit
from tenfold.selection.race.race import Race
from tenfold.selection.settings import PREFERENCES

UNTRIED = "The estimate is for models of the rows without a fold: there was no time to see whether models of all rows are better."
FORM = 0.2  # of a gain: how far the form of the curve may be another one
LEAST, MOST = 0.005, 0.5  # of a loss, that may be taken off: less is not worth the words
PAIR = (0, 1)  # folds that are left out together, where the choice is not nested
SCORES = ("rmse", "r2")  # that are no mean over rows, but follow from one


@dataclass(frozen=True)
class Growth:
    """A mean loss of rows by models of (K − 1)/K of the rows, what these are ahead of models of (K − 2)/K, and its standard error."""

    loss: float
    gain: float
    error: float
    folds: int

    @property
    def share(self) -> float:
        """The loss of the model of all rows, as a share of that of the models of folds."""
        if self.gain <= self.unsure or self.loss <= 0:
            return 1.0
        less = self._part * (self.gain - self.unsure) / self.loss
        return 1.0 if less < LEAST else max(1 - less, 1 - MOST)

    @property
    def spread(self) -> float:
        """The standard error of the logarithm of that share."""
        return self._part * self.unsure / (self.loss * self.share) if self.loss > 0 else 0.0

    @property
    def unsure(self) -> float:
        """The standard error of the gain, and what the form of the curve may change of it."""
        return float(np.hypot(self.error, FORM * self.gain))

    @property
    def _part(self) -> float:
        return (self.folds - 2) / self.folds


def falls_with_rows(judge: Score) -> bool:
    """Whether the judge is a mean loss of rows, or follows from one."""
    loss = judge.mean_of_rows and not judge.greater_is_better and not judge.by_class
    return judge.row_loss is not None and (loss or judge.name in SCORES)


def growth(judge: Score, held: HeldOut, rows: Array, more: Array, fewer: Sequence[Array], folds: int) -> Growth | None:
    """By what was said of rows by models of more of the rows and, several times, of fewer, NaN where nothing was; None where too little is
    known, or the judge is no loss of rows."""
    if judge.row_loss is None or not falls_with_rows(judge):
        return None
    some = np.flatnonzero(np.isfinite([one[:, 0] for one in fewer]).all(axis=0)) if fewer else np.empty(0, np.int64)
    if len(some) < 2:
        return None
    truth, loss_of = held.truth(rows), judge.row_loss

    def losses(output: Array) -> Array:
        return loss_of(truth[some], judged_output(judge, output[some].astype(np.float64, copy=False), held.classes))

    whole = loss_of(truth, judged_output(judge, more.astype(np.float64, copy=False), held.classes))
    ahead = np.mean([losses(one) for one in fewer], axis=0) - losses(more)
    gain, error = float(held.mean(ahead, rows[some])), WIDER * held.error(ahead, rows[some])
    return Growth(float(held.mean(whole, rows)), gain, error, folds)


def grown(found: Estimate, judge: Score, by: Growth | None) -> Estimate:
    """The estimate for the model of all rows."""
    return found if by is None or by.share == 1 else scaled(found, judge, by.share, Z * by.spread, "for the model of all rows")


def scaled(found: Estimate, judge: Score, share: float, spread: float, what: str) -> Estimate:
    """The estimate where rows lose a share of what they did, with its range wider by what the logarithm of that share may be off; what:
    for whom it is then."""
    if judge.name == "rmse":
        share, spread = np.sqrt(share), spread / 2
    turned = judge.name == "r2"  # what is left over falls
    value, low, high = (1 - found.value, 1 - found.high, 1 - found.low) if turned else (found.value, found.low, found.high)
    if not 0 < low <= value <= high < np.inf:
        return found
    down, up = (np.hypot(np.log(value / low), spread), np.hypot(np.log(high / value), spread))
    value *= share
    low, high = value * np.exp(-down), value * np.exp(up)
    if turned:
        value, low, high = 1 - value, 1 - high, 1 - low
    error = found.error * (high - low) / (found.high - found.low) if found.high > found.low else found.error
    method = f"{found.method}; {what}"
    return replace(found, value=float(value), low=float(low), high=float(high), error=float(error), method=method)


# --- models of fewer rows ---


def visible(race: Race, outer: int | None, folds: list[int], outside: Array) -> HeldOut:
    """What a choice from these folds looks at, that is judged on rows outside: nothing of settings that fail there. outer: the round of a
    nested one."""
    table = race.open_to(race.held_out(outer), folds)
    return replace(table, outputs=np.where(race.held_out().usable(outside)[:, None, None], table.outputs, np.nan))


def can_run_fewer(race: Race) -> bool:
    """Whether models of fewer rows can be fitted besides: nested races have them, spans of time differ in more than their rows."""
    complete, nested = len(race.complete_folds) == race.K, len(race.complete_rounds) == race.K
    return complete and not nested and not race.ordered and race.texts is None and race.judges[0].row_loss is not None


def taken_without(race: Race, prefers: Collection[str]) -> list[int]:
    """The families that the choices without a fold of the pair take, by what is preferred."""
    found = set[int]()
    for o in PAIR:
        table = visible(race, None, [k for k in range(race.K) if k != o], race.division.rows(o))
        choice = choose(race.settings, table, np.flatnonzero(race.fold != o))
        found |= {race.families.index(race.settings[c].family) for prefer in prefers for c in choice.taken(prefer).weights}
    return sorted(found)


def seconds_of(race: Race, numbers: list[int]) -> float:
    """About how long fitting these families once more takes."""
    each = [race.fit_seconds(number) for number in numbers]
    return max(*each, sum(each) / thread_budget()) if race.together and len(each) > 1 else sum(each)


def run_fewer(race: Race, numbers: list[int], tick: Callable[[int, int], None]) -> None:
    """Fit these families without both folds of the pair; it counts if all of them are."""
    before, less = race.units_done, dict[tuple[int, int], Array]()

    def keep(number: int, unit: Unit) -> None:
        less.update({(race.places[number][place], k): output for place, k, output, _ in unit.results})
        done = before + numbers.index(number) + 1
        tick(done, max(done, before + len(numbers)))

    race.side_by_side(numbers, PAIR, keep)
    race.less, race.less_units = less, len(numbers)


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
        return [mix.outputs(race.held_out((o + step) % race.K), race.division.rows(o)) for step in (1, race.K - 1)]
    known = [race.less[c, o] for c in mix.weights if (c, o) in race.less]
    if len(known) < len(mix.weights):
        return []
    members = replace(race.held_out(), outputs=np.stack(known))
    return [members.mixed(dict(enumerate(mix.weights.values())), np.arange(known[0].shape[0]))]
