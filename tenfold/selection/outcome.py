"""What a race comes to: the board, the nested estimate, the verdict, and the setting that is taken."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.score.record import Score
from tenfold.selection import choice as choices
from tenfold.selection.choice import Choice, Estimate, Nested, Place
from tenfold.selection.race import Race
from tenfold.table.task import Task


class NothingFitted(TenfoldError):
    """Every learner of the race failed."""


@dataclass(frozen=True)
class Outcome:
    """All that is decided after the race, before the refit."""

    race: Race
    task: Task
    judge: Score
    choice: Choice
    search: Nested | None
    signal: bool | None  # None: stopped too early to know
    guess: int
    chosen: int

    @property
    def is_guess(self) -> bool:
        return self.chosen == self.guess

    @property
    def label(self) -> str:
        """The chosen setting in words."""
        return guess_label(self.task) if self.is_guess else self.race.settings[self.chosen].label

    @property
    def tied(self) -> list[str]:
        """The others that are as good."""
        as_good = [p.setting for p in self.choice.places if p.against in ("best", "as good")]
        return [self.race.settings[c].label for c in as_good if c != self.chosen]

    @property
    def board(self) -> list[dict[str, Any]]:
        return [describe_place(place, self.race) for place in self.choice.places]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """What the saved model is worth: the nested estimate, or for the guess its own cross-validation."""
        if self.search is None:
            return {}
        if not self.is_guess:
            return self.search.estimates
        method, rows = "cross-validation of the guess, which was not picked by its score", len(self.race.y)
        return {
            name: choices.honest_range(choices.estimated(name, scores, self.race.K, method), rows)
            for name, scores in self.guess_scores().items()
        }

    @property
    def reach(self) -> float | None:
        """Half the width of the range around a prediction that holds 90 % of new rows; None for classes, or too few rows."""
        found = self._held_out()
        return None if found is None else choices.reach_of(found[1], self.judge.name)

    @property
    def reaches(self) -> Array | None:
        """The same by the size of the prediction, where there are rows enough: (2, levels), ends of levels and half widths."""
        found = self._held_out()
        return None if found is None else choices.reaches_of(*found, self.judge.name)

    def _held_out(self) -> tuple[Array, Array] | None:
        """Answers and losses of the rows of the outer rounds, by what was picked without them."""
        race, search = self.race, self.search
        if self.task.kind == "classes" or search is None:
            return None
        rounds = race.complete_outer
        taken = [self.guess] * len(rounds) if self.is_guess else search.picks
        parts = [(c, np.flatnonzero(race.fold == o)) for c, o in zip(taken, rounds, strict=True)]
        predictions = np.concatenate([race.outputs[c, rows, 0] for c, rows in parts])
        return predictions, np.concatenate([race.losses(c, rows) for c, rows in parts])

    def guess_scores(self) -> dict[str, Array]:
        """The scores of the guess on the complete folds, by metric."""
        done = self.race.complete_folds
        return {name: scores[self.guess, done, done] for name, scores in self.race.scores.items() if done}

    def facts(self) -> dict[str, Any]:
        """The estimate and what it is compared with, as plain values for a listener."""
        race, done = self.race, self.race.complete_folds
        guessed = {name: float(scores.mean()) for name, scores in self.guess_scores().items()}
        scores, search = race.scores[self.judge.name], self.search
        leader = scores[self.choice.leader, done, done].mean() if done else None
        kinds = [setting.family.title for setting in race.settings]
        return dict(
            estimates=[asdict(one) for one in self.estimates.values()],
            metric=self.judge.name,
            signal=self.signal,
            board=leader,
            guess=guessed,
            guess_labels={name: guess_label(self.task, name) for name in race.scores},
            search=None if self.search is None else asdict(self.search.estimates[self.judge.name]),
            gain=None if self.search is None else asdict(self.search.gain),
            rounds=len(race.complete_outer),
            rows=len(self.task.y),
            settings=len(race.settings) - 1,
            reach=self.reach,
            reaches=None if self.reaches is None else self.reaches[1].tolist(),
            leaders=None
            if search is None
            else float(np.mean(scores[search.leaders, race.complete_outer, race.complete_outer])),
            kind=kinds[self.choice.chosen],
            picks=None if search is None else [kinds[c] for c in search.picks],
        )

    def record(self) -> dict[str, Any]:
        """What run.json keeps of it."""
        search = self.search
        audit = (
            None
            if search is None
            else dict(
                gain=asdict(search.gain),
                picks=[self.race.settings[c].label for c in search.picks],
                estimates={name: asdict(one) for name, one in search.estimates.items()},
            )
        )
        return dict(
            chosen=self.label,
            tied=self.tied,
            signal=self.signal,
            board=self.board,
            search=audit,
            estimate={name: asdict(one) for name, one in self.estimates.items()},
            reach=self.reach,
            reaches=None if self.reaches is None else self.reaches.tolist(),
            warnings=self.race.warned,
            failures=self.race.failures,
            merged=[
                family.title for family, sets in zip(self.race.families, self.race.sets, strict=True) if sets.merged
            ],
            notes=self.task.notes,
        )


def decide(race: Race, task: Task, judge: Score) -> Outcome:
    """The choice from what is complete, its nested estimate, and whether there is anything to choose."""
    guess = next(c for c, setting in enumerate(race.settings) if setting.family.is_guess)
    done = race.complete_folds
    table = race.scores[judge.name][:, done, done]
    if done and not np.isfinite(np.delete(table, guess, axis=0)).all(axis=1).any():
        reasons = "; ".join(f"{title}: {reason}" for title, reason in race.failures.items())
        raise NothingFitted(f"no learner could be fitted ({reasons})")
    choice = choices.choose(race.settings, table, judge) if done else Choice([], guess, guess)
    search = choices.nested_estimate(race, judge)
    signal = None if search is None else search.signal
    if signal is False and len(race.complete_outer) < race.K:
        signal = None  # a few rounds can show that there is a signal, not that there is none
    chosen = guess if signal is False else choice.chosen
    return Outcome(race, task, judge, choice, search, signal, guess, chosen)


def guess_label(task: Task, metric: str = "") -> str:
    """The guess in words."""
    if task.kind == "number":
        mean = task.y.mean()
        return f"always guessing {mean:,.0f}" if 1e3 <= abs(mean) < 1e12 else f"always guessing {mean:.4g}"
    if metric == "roc_auc":
        return "guessing"
    if metric == "accuracy":
        return f"always predicting {max(task.counts(), key=lambda pair: pair[1])[0]}"
    return "guessing the class frequencies"


def describe_place(place: Place, race: Race) -> dict[str, Any]:
    """A place of the board as plain values."""
    setting = race.settings[place.setting]
    family = setting.family
    fits = max(race.units_done, 1) * max(len(family.values), 1)
    done = race.complete_folds
    others = {
        judge.name: float(race.scores[judge.name][place.setting, done, done].mean())
        for judge in race.judges[1:]
        if done
    }
    return dict(
        model=setting.label if np.isfinite(place.mean) else family.title,
        family=family.title,
        score=place.mean,
        error=place.error,
        against=place.against,
        rank=family.rank,
        seconds=float(race.seconds[race.families.index(family)] / fits),
        reason=race.failures.get(family.title),
        others=others,
    )
