"""The honest estimate: the whole choice is made again without some rows, and judged on those, round by round.

    nested      round o leaves out fold o; the choice looks at models that have not seen it either, and what it takes, fitted to
                all other folds, is judged on fold o
    replayed    the same from the models of the race alone, for tables where pairs of folds cost too much: the choice does not look
                at the fold it is judged on, though the models it compares have been fitted to it
    in time     fold o is judged by what would have been chosen before it: from the folds before, by models of rows before those

Either way every row is judged by a choice that did not see it, so the rows together estimate the score of the procedure on new rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.score.record import Score
from tenfold.selection.choice.choice import Choice, Mix, Z, choose
from tenfold.selection.choice.decision import decided
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.honest.estimate import Estimate, estimated
from tenfold.selection.honest.fewer_rows import by_fewer, visible
from tenfold.selection.honest.growth import Growth, falls_with_rows, grown, growth
from tenfold.selection.race.race import Race
from tenfold.selection.settings import PREFERENCES

# Standard errors that the gain over the guess must be above zero. Losses that grow with whatever a model makes of noise are below zero
# there; ranks and decisions cost nothing to overfit, and are above it as often as below.
SIGNAL, SIGNAL_OF_RANKS = 1.0, 2.2
ROUNDING = 1e-9  # of a loss
PARTS, IN_WORDS = 5, {2: "half", 3: "third"}  # of the rows of a single fold, where a race was cut short before the second
SHUFFLES, SHUFFLED_ROWS = 20, 200_000  # of the truth of a fold, at most, and rows of all of them together


def needed(judge: Score) -> float:
    """How many standard errors the gain over the guess must be above zero to be called a signal."""
    return SIGNAL if falls_with_rows(judge) else SIGNAL_OF_RANKS


@dataclass(frozen=True)
class Audit:
    """What the procedure says of rows that had no part in it, for the best model and for the simplest that is as good."""

    method: str
    rows: Array  # that were judged
    held: HeldOut
    guess: int  # the setting that it is
    outputs: dict[str, Array]  # by what is preferred: (rows, outputs)
    choices: list[Choice]  # of each round
    rounds: Array  # of each row
    nested: bool
    fewer: dict[str, list[Array]]  # the same as outputs, once or more, by models of one fold less; NaN where nothing is known

    def estimates(self, judges: list[Score], prefer: str, all_rows: bool = True) -> dict[str, Estimate]:
        """The scores of the procedure with their ranges, for the model of all rows or as it has judged them."""
        found = {judge.name: self.estimate(judge, self.outputs[prefer]) for judge in judges}
        return {judge.name: grown(found[judge.name], judge, self.growth(judge, prefer)) for judge in judges} if all_rows else found

    def growth(self, judge: Score, prefer: str) -> Growth | None:
        """What the last rows bring, where it is known; nothing by other scores than the one that was asked for where that is no loss."""
        if not falls_with_rows(self.held.judge):
            return None
        more, fewer, folds = self.outputs[prefer], self.fewer.get(prefer, []), len(self.choices)
        return growth(judge, self.held, self.rows, more, fewer, self.guessed, folds, self.nested)

    @property
    def guessed(self) -> Array:
        """What the guess says of the same rows."""
        return Mix({self.guess: 1.0}).outputs(self.held, self.rows)

    def estimate(self, judge: Score, outputs: Array) -> Estimate:
        return estimated(judge, self.held, outputs, self.rows, self.method)

    def gain(self, prefer: str) -> Estimate:
        """What the procedure gains over the guess, in the score that was asked for.

        Where it is a mean over rows, or rises and falls with one (RMSE with the squared error), row by row; else round by round, with the
        error that rows give the score: rounds are too few to tell it. Then the guess is not always what chance gets: one class for every
        row has a macro-averaged F1 of 1/3, random labels 1/2. So the gain counts from the guess or from the same outputs on shuffled
        truth, whichever scores more.
        """
        held, judge, outputs = self.held, self.held.judge, self.outputs[prefer]
        guessed = held.decided(self.guessed, self.rows)
        if judge.row_loss is not None:
            lost = held.row_losses(guessed, self.rows)
            ahead = lost - held.row_losses(outputs, self.rows)
            ahead[np.abs(ahead) <= ROUNDING * lost.mean()] = 0.0  # a model that says what the guess says is no better and no worse
            value, error = float(held.mean(ahead, self.rows)), held.error(ahead, self.rows)
            name, how = judge.loss_label, "paired differences of held-out rows"
        else:
            parts = [np.flatnonzero(self.rounds == o) for o in np.unique(self.rounds)]
            found, guesses = (
                judge.sign * np.array([held.score(of[p], self.rows[p]) for p in parts]) for of in (outputs, guessed)
            )
            chance = judge.sign * np.array([self._shuffled(outputs[p], self.rows[p]) for p in parts])
            ahead = found - (guesses if guesses.mean() >= chance.mean() else chance)
            value, error = float(ahead.mean()), self.estimate(judge, outputs).error
            name, how = judge.name, "differences of the rounds, with the error of their rows"
        return Estimate(name, value, value - Z * error, value + Z * error, error, how)

    def _shuffled(self, outputs: Array, rows: Array) -> float:
        """The mean score on rows whose truth is shuffled."""
        times, rng = max(1, min(SHUFFLES, SHUFFLED_ROWS // len(rows))), np.random.default_rng(len(rows))
        orders = [rng.permutation(len(rows)) for _ in range(times)]
        return float(np.mean([self.held.score(outputs, rows[order]) for order in orders]))


def audit(race: Race, nested: bool = True) -> Audit | None:
    """The choice made again in each round, nested where that can be and is asked for; None where there is nothing to choose from yet, or
    too little to judge by."""
    held, folds, guess = race.held_out(), race.complete_folds, race.guess
    if not folds:
        return None
    nested, in_time = nested and len(race.complete_rounds) == race.K, race.ordered and len(folds) > 1
    known = np.flatnonzero(np.isin(race.fold, folds))
    part = race.fold[known] if len(folds) > 1 else _parts(held, known)
    if part is None:
        return None
    rounds = np.unique(part)[1 if in_time else 0 :]
    judged = np.flatnonzero(np.isin(part, rounds))
    rows, said = known[judged], dict[str, Array]()
    choices = []
    for o in rounds:
        inside, outside = known[part < o if in_time else part != o], known[part == o]
        seen = [k for k in folds if (k < o if in_time else k != o)] if len(folds) > 1 else folds
        table = visible(race, int(o) if nested else None, seen, outside)
        choice = choose(race.settings, table, inside)
        choices.append(choice)
        for prefer in PREFERENCES:
            mix = choice.taken(prefer)
            outputs = decided(mix.outputs(held, outside), table.rule(mix.outputs(table, inside), inside))
            said.setdefault(prefer, np.full((len(known), outputs.shape[1]), np.nan))[part == o] = outputs
    found = {prefer: outputs[judged] for prefer, outputs in said.items()}
    fewer = by_fewer(race, choices, nested) if len(choices) == race.K else {}
    return Audit(_method(race, folds, nested, len(rounds)), rows, held, guess, found, choices, part[judged], nested, fewer)


def _parts(held: HeldOut, rows: Array) -> Array | None:
    """The rows of a single fold in parts, which take the place of folds; classes are spread evenly. Where the judge needs rows of every
    class there are no more parts than each has rows; None where that is one."""
    luck, parts = np.random.default_rng(0).permutation(len(rows)), PARTS
    if held.classes is None:
        return np.asarray(luck % parts)
    codes, found = held.y[rows], np.empty(len(rows), dtype=np.int64)
    if held.judge.every_class:
        parts = min(parts, int(np.bincount(codes).min()))
    if parts < 2:
        return None
    found[np.lexsort((luck, codes))] = np.arange(len(rows)) % parts
    return found


def _method(race: Race, folds: list[int], nested: bool, rounds: int) -> str:
    """How the estimate is made, in words."""
    if len(folds) == 1:
        return f"the choice repeated without each {IN_WORDS.get(rounds, f'{rounds}th')} of the rows of one fold"
    if race.ordered:
        spans = "one span of time," if rounds == 1 else f"{rounds} spans of time, each"
        return f"{spans} judged by {'a model of the rows' if race.named else 'the choice made'} before it"
    if race.named:
        return f"cross-validation, {len(folds)} folds"
    if nested:
        return f"nested cross-validation, {race.K} outer rounds of the whole choice, {race.K - 1} inner folds"
    return f"cross-validation, the choice repeated without each of {len(folds)} folds"
