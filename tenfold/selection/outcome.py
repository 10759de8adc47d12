"""What a race comes to: the board, the honest estimate, the verdict, and the models that are taken."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tenfold.base.by_rows import softmax
from tenfold.core.data import Array
from tenfold.score.record import Score, split_choice
from tenfold.selection.board import guess_label, name_of, place_facts
from tenfold.selection.choice.choice import Choice, Mix, choose
from tenfold.selection.choice.floor import floored
from tenfold.selection.errors import NothingFitted
from tenfold.selection.honest.audit import Audit, audit, needed
from tenfold.selection.honest.certainty import Certainty
from tenfold.selection.honest.decisions import Decisions
from tenfold.selection.honest.estimate import Estimate
from tenfold.selection.honest.growth import falls_with_rows
from tenfold.selection.honest.unseen import DECISION, UNIT, WEIGHT
from tenfold.selection.race.race import Race
from tenfold.selection.race.repeat import of_all_divisions
from tenfold.table.reading import pl
from tenfold.table.task import Task


@dataclass(frozen=True)
class Outcome:
    """All that is decided after the race, before the refit."""

    race: Race
    task: Task
    judge: Score
    prefer: str
    choice: Choice
    audit: Audit | None
    gain: Estimate | None  # over the guess
    signal: bool | None  # None: stopped too early to know; of a learner that was named, neither better nor worse than the guess
    taken: Mix
    decisions: Decisions

    def preferring(self, prefer: str) -> Outcome:
        """What the same race comes to where something else is preferred."""
        gain = None if self.audit is None else self.audit.gain(prefer)
        if self.race.named:
            signal = None if gain is None or gain.low <= 0 <= gain.high else gain.value > 0
            return replace(self, prefer=prefer, gain=gain, signal=signal, taken=self.choice.taken(prefer))
        signal = None if gain is None else gain.value > needed(self.judge) * gain.error
        if signal is False and len(self.race.complete_folds) < self.race.K:
            signal = None  # a few folds can show that there is a signal, not that there is none
        taken = Mix({self.race.guess: 1.0}) if signal is False or self.audit is None else self.choice.taken(prefer)
        return replace(self, prefer=prefer, gain=gain, signal=signal, taken=taken)

    def hurried(self, seconds: float) -> Outcome:
        """The same, but for what can be fitted in so many seconds by what fits have taken so far: the best single model rather than an
        ensemble, the simplest that is as good rather than that; the quickest of them where none can. For want of time a signal does not
        become none: of those that show none by themselves nothing is taken."""
        others = [self.preferring(other) for other in ("fast", "simple") if other != self.prefer]
        found = [self, *(one for one in others if self.is_guess or not one.is_guess)]
        return next((one for one in found if one.fit_seconds(one.taken) <= seconds), min(found, key=lambda one: one.fit_seconds(one.taken)))

    def fit_seconds(self, mix: Mix) -> float:
        """Seconds that fitting a model to all rows takes, about."""
        race = self.race
        numbers = {race.families.index(race.settings[c].family) for c in mix.weights}
        return sum(race.fit_seconds(number) for number in numbers) * race.K / (race.K - 1)

    @property
    def is_guess(self) -> bool:
        return self.taken.single == self.race.guess

    @property
    def simple(self) -> Mix:
        """The simplest model that is as good as the best setting."""
        return self.taken if self.is_guess else self.choice.simple

    @property
    def label(self) -> str:
        """What is saved, in words."""
        return guess_label(self.task, weight=self.race.weight) if self.is_guess else self.name(self.taken)

    def name(self, mix: Mix) -> str:
        """A model in words."""
        return name_of(mix, self.race)

    @property
    def members(self) -> list[dict[str, Any]]:
        """What is saved is the weighted mean of these, heaviest first."""
        order = sorted(self.taken.weights.items(), key=lambda pair: -pair[1])
        return [dict(model=self.race.settings[c].label, family=self.race.settings[c].family.title, weight=w) for c, w in order]

    @property
    def tied(self) -> list[str]:
        """The families that are as good, apart from what is taken."""
        as_good = [p for p in self.choice.places if p.against in ("best", "as good") and p.mix.weights != self.taken.weights]
        return [self.name(p.mix) for p in as_good]

    @property
    def on_board(self) -> float | None:
        """What the board says of the model that is taken."""
        return next((one.score for one in self.choice.places if one.mix.weights == self.taken.weights), None)

    @property
    def board(self) -> list[dict[str, Any]]:
        guesses = {} if self.audit is None else self.guesses
        idle = self.race.idle
        return [place_facts(place, self.race, guesses) for place in self.choice.places if place.setting not in idle]

    def estimates_of(self, prefer: str) -> dict[str, Estimate]:
        """What a model is worth on new rows; of the guess its own cross-validation."""
        if self.audit is None:
            return {}
        if not self.is_guess:
            return self.audit.estimates(self.race.judges, prefer)
        outputs = self.audit.held.decided(self.audit.guessed, self.audit.rows)
        level = np.tile(outputs.mean(axis=0), (len(outputs), 1))  # no fold before another: for ranks
        method = "cross-validation of the guess, which was not picked by its score"
        found = {judge.name: self.audit.estimate(judge, level if judge.every_class else outputs) for judge in self.race.judges}
        return {name: Estimate(**{**asdict(one), "method": method}) for name, one in found.items()}

    @property
    def estimates(self) -> dict[str, Estimate]:
        return self.estimates_of(self.prefer)

    @property
    def guesses(self) -> dict[str, float]:
        """What the guess scores; by folds where classes are ranked or decided, as shares of a class differ a little between folds."""
        assert self.audit is not None
        held, rows, found = self.audit.held, self.audit.rows, dict[str, float]()
        for judge in self.race.judges:  # each by its own best: the most likely class, the least cost
            by_folds = self.race.scores[judge.name][self.race.guess]
            by_fold = judge.row_loss is None and judge.role == "classifier"
            found[judge.name] = float(np.nanmean(by_folds)) if by_fold else held.score(self.audit.guessed, rows, judge)
        return found

    @property
    def outputs(self) -> Array | None:
        """What the procedure says of held-out rows."""
        if self.audit is None or not self.is_guess:
            return None if self.audit is None else self.audit.outputs[self.prefer]
        return self.audit.held.decided(self.audit.guessed, self.audit.rows)

    def rule(self, mix: Mix) -> Array | None:
        """The costs by which a model decides for a class; None for the most likely one."""
        held, rows = self.race.held_out(), np.flatnonzero(np.isin(self.race.fold, self.race.complete_folds))
        return held.costs if not rows.size else held.rule(mix.outputs(held, rows), rows)

    @property
    def held_out(self) -> pl.DataFrame | None:
        """The rows that were judged: their number in the table, fold, truth, and what was said of them without having seen them."""
        if self.audit is None or self.outputs is None:
            return None
        found, task, outputs = self.audit, self.task, self.outputs
        columns = {"row": pl.Series(task.rows[found.rows]), "fold": pl.Series(self.race.fold[found.rows])}
        columns["truth"] = pl.Series(task.y[found.rows].tolist())
        if self._weights is not None:
            columns[WEIGHT] = pl.Series(self._weights)
        if found.held.units is not None:
            columns[UNIT] = pl.Series(found.held.units[found.rows])
        if task.kind == "number":
            return pl.DataFrame({**columns, "prediction": pl.Series(outputs[:, 0])})
        scores, codes = split_choice(outputs, task.n_classes)
        shares = softmax(scores)
        if codes is not None:
            columns[DECISION] = pl.Series(task.classes[codes].tolist())
        return pl.DataFrame({**columns, **{f"chance of {one}": pl.Series(shares[:, k]) for k, one in enumerate(task.classes)}})

    @cached_property
    def decision_facts(self) -> dict[str, Any] | None:
        """What is to be said of decisions, where costs were given, a threshold was chosen, or a class is rare."""
        if self.audit is None or self.outputs is None:
            return None
        return self.decisions.facts(self.task, self.audit, self.outputs, self.rule(self.taken))

    @cached_property
    def certainty(self) -> Certainty | None:
        """How far single predictions can be relied on; None where no row was judged."""
        if self.audit is None or self.outputs is None:
            return None
        held, rows, probabilities, losses = self.audit.held, self.audit.rows, None, None
        if self.task.kind == "number":
            losses = held.row_losses(self.outputs, rows)
        else:
            probabilities = softmax(split_choice(self.outputs, self.task.n_classes)[0])
            if self.is_guess:
                # The guess says the same of all rows, a little else in every fold: by those a class would be in all sets or in none, so
                # that its probabilities are those of the guess that is saved.
                shares = np.bincount(held.y, held.weight, self.task.n_classes)
                probabilities = np.repeat(floored(shares[None] / shares.sum(), self.race.fits.floor), len(rows), axis=0)
        labels = [] if probabilities is None else list(self.task.classes)
        return Certainty(self.outputs, held.y[rows], self._weights, self.audit.rounds, self.judge.name, losses, probabilities, labels)

    @property
    def _weights(self) -> Array | None:
        assert self.audit is not None
        return None if self.audit.held.weight is None else self.audit.held.weight[self.audit.rows]

    @property
    def growth(self) -> dict[str, Any] | None:
        """By how much the estimate for the model of all rows is below the loss of models of folds, where it is."""
        found = None if self.audit is None or self.is_guess else self.audit.growth(self.judge, self.prefer)
        if found is None or found.share == 1 or self.audit is None:
            return None
        before = self.audit.estimate(self.judge, self.audit.outputs[self.prefer])
        return dict(asdict(found), share=found.share, clear=found.clear, score=before.value, low=before.low, high=before.high)

    @property
    def untried(self) -> bool:
        """Whether models of fewer rows could tell what the last ones bring, but there are none: for want of time, or as they failed."""
        race, found = self.race, self.audit
        if found is None or self.is_guess or race.ordered:
            return False
        return len(race.complete_folds) == race.K and falls_with_rows(self.judge) and not found.fewer.get(self.prefer)


def decide(race: Race, task: Task, judge: Score, prefer: str = "best", decisions: Decisions | None = None) -> Outcome:
    """The choice from what is complete, its honest estimate, and whether there is anything to choose."""
    guess, nothing = race.guess, Mix({race.guess: 1.0})
    decisions = decisions or Decisions.of(task)
    folds = race.complete_folds
    if not race.begun:
        return Outcome(race, task, judge, prefer, Choice([], guess, nothing, nothing), None, None, None, nothing, decisions)
    held, rows = of_all_divisions(race)
    usable = held.usable(rows)
    if not np.delete(usable, guess).any() and race.failures:  # and not stopped before any of them ran
        one = race.families[-1]
        if one.named:
            name, guess_name = (type(family.learner).__name__ for family in (one, race.families[0]))
            reason = race.failures[one.title].replace(guess_name, name).removeprefix(f"{name}: ")  # rows are gated for both at once
            raise NothingFitted(f"{one.title} could not be fitted: {reason}")
        reasons = "; ".join(f"{title}: {reason}" for title, reason in race.failures.items())
        raise NothingFitted(f"no learner could be fitted ({reasons})")
    choice = choose(race.settings, race.open_to(held, folds), rows)
    return Outcome(race, task, judge, prefer, choice, audit(race), None, None, nothing, decisions).preferring(prefer)
