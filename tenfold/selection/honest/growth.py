"""From models of some of the rows to the model of all: what the last rows bring.

Held-out rows are judged by models of (K − 1)/K of the rows, and the model that is saved learns from all of them. Where more rows still
help, the score of the former is too cautious. Models of (K − 2)/K of the rows tell by how much. With a mean loss of a + b/n, and q for
the share of it that endlessly many rows would take off the loss L of models of (K − 1)/K of them,

    models of all rows lose L (1 − q/K),        models of (K − 2)/K of the rows L (1 + q/(K − 2))

Of q the mean difference g of the same rows is seen, as q̂ = (K − 2) g/L with a standard error s: by what the choice of a round takes, of
rows that this choice has not looked at. More rows help as a rule, and seldom by much: before anything is seen q has the law
Beta(1/2, 5/2), a sixth on average, by which what was seen on training rows of 29 real tables is the likeliest. Then the density of √q on
0 to 1 is as

    (1 − q)^(3/2) exp(−(q̂ − q)²/2s²)

and q counts with its mean: q̂ where the rows tell it well, what is usual where they do not, so that luck is not taken for growth. Its
standard deviation widens the range, as does a fifth of the mean, since the form of the curve is not known either: n^−½ in place of 1/n
would make it a seventh more, n^−2 a quarter less.

Where the choice is nested, models of K − 2 folds are there; else those that the choices without the first folds take are fitted
without two of them, a pair or two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tenfold.core.data import Array
from tenfold.core.threads import thread_budget
from tenfold.evaluate.validate.training_sets import Held
from tenfold.score.record import Score, judged_output
from tenfold.selection.choice.choice import Choice, Mix, Z, choose
from tenfold.selection.choice.held_out import WIDER, HeldOut
from tenfold.selection.honest.estimate import Estimate
from tenfold.selection.race.fits import Unit
from tenfold.selection.race.race import Race
from tenfold.selection.settings import PREFERENCES

UNTRIED = "The estimate is for models of the rows without a fold: there was no time to see whether models of all rows are better."
SELDOM_MUCH = 2.5  # b of the Beta(1/2, b) law of what endlessly many rows would take off a loss, before anything is seen
FORM = 0.2  # of a gain: how far the form of the curve may be another one
LEAST = 0.001  # of a loss, that may be taken off: less is not worth the words
TINY = 1e-12  # of a loss: an error is not less, and no figure more than its inverse
FAR, GRID = 8.0, 2001  # standard errors of what is looked at around the likeliest share, in so many steps
PAIRS = (0, 1), (2, 3)  # folds that are left out together, where the choice is not nested
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
        less = self._endless[0] / self.folds
        return 1 - less if less >= LEAST else 1.0

    @property
    def spread(self) -> float:
        """The standard error of the logarithm of that share."""
        expected, unsure = self._endless
        return float(np.hypot(unsure, FORM * expected)) / (self.folds * self.share)

    @property
    def clear(self) -> bool:
        """Whether more rows help, beyond chance."""
        return self.gain > Z * self.error

    @property
    def _endless(self) -> tuple[float, float]:
        """The share that endlessly many rows would take off, as expected by what is seen, and its standard deviation."""
        if self.loss <= 0:
            return 0.0, 0.0
        scale = (self.folds - 2) / self.loss
        seen, error = (float(np.clip(scale * one, least, 1 / TINY)) for one, least in ((self.gain, -1 / TINY), (self.error, TINY)))
        best = min(max(seen, 0.0), 1.0)
        off, wide = abs(seen - best), FAR * error
        reach = wide / (off + np.hypot(off, wide)) * wide  # as far from the best as what is seen is less likely there by exp(-FAR²/2)
        ends = np.linspace(np.sqrt(max(best - reach, 0.0)), np.sqrt(min(best + reach, 1.0)), GRID)
        q = ((ends[1:] + ends[:-1]) / 2) ** 2
        further = (q - best) / error * ((q + best - 2 * seen) / error)  # (seen - q)²/s² - (seen - best)²/s²
        law = (1 - q) ** (SELDOM_MUCH - 1) * np.exp(-further / 2)
        if not (total := law.sum()) > 0:
            return best, 0.0  # 1, for sure
        mean = float((law * q).sum() / total)
        return mean, float(np.sqrt((law * (q - mean) ** 2).sum() / total))


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
    found = Growth(float(held.mean(whole, rows)), float(held.mean(ahead, rows[some])), WIDER * held.error(ahead, rows[some]), folds)
    return found if np.isfinite([found.loss, found.gain, found.error]).all() else None


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
