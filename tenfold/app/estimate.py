"""The honest estimate as lines of text: what is estimated, by what, and why it differs from the board."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tenfold.app.words import counted, figure, full, metric_name, short
from tenfold.score.registry import known_score
from tenfold.selection.honest.growth import UNTRIED

Facts = dict[str, Any]
SELDOM = 0.8  # a class that sets hold less often is named


@dataclass(frozen=True)
class Estimated:
    """What `select` reports of the estimate, as it is in the event."""

    estimates: list[Facts]
    metric: str
    signal: bool | None
    board: float  # score of the first place
    guess: dict[str, float]
    guess_labels: dict[str, str]
    search: Facts | None
    gain: Facts | None
    rounds: int
    rows: int
    settings: int
    reach: float | None = None
    reaches: list[float] | None = None
    method: str = ""
    picks: list[str] | None = None  # what each round took
    growth: Facts | None = None  # where models of all rows are expected to be better than those of folds
    untried: bool = False  # whether they are could be told, but there was no time to
    sets: Facts | None = None  # of classes: what the sets of held-out rows are like,
    chances: Facts | None = None  # and by how much chances are off
    is_guess: bool = False  # that is saved, as there is no signal

    def lines(self) -> list[str]:
        if self.search is None or self.gain is None:
            return ["", "HONEST ESTIMATE  none: stopped before a fold was complete"]
        lines = self.scores("the guess" if self.is_guess else "the whole search")
        if self.signal is None:
            guessing = short(self.guess_labels[self.metric])
            return [*lines, f"  By {self.method}: stopped before it was clear that this beats {guessing}."]
        if self.signal:
            return [*lines, f"  {self._rounds()}", *self._growth(), f"  {self._board(self.search['value'])}"]
        return [*lines, "", *self._verdict(self.search, self.gain)]

    def of_one(self) -> list[str]:
        """The same of a learner that was named, where nothing was chosen."""
        if self.search is None or self.gain is None:
            return self.lines()
        lines = [*self.scores("this learner"), f"  By {self.method}.", *self._growth()]
        if self.signal:
            return lines
        worse = "is worse than" if self.signal is False else "cannot be told from"
        verdict = f"VERDICT  On these rows this learner {worse} guessing."
        return [*lines, "", f"{verdict} Worth trying: tenfold select, more rows, other columns."]

    def scores(self, what: str) -> list[str]:
        """The scores of something on new rows, and how sure single predictions are."""
        lines = ["", f"HONEST ESTIMATE of {what}, on new rows like these", *map(self._score, self.estimates)]
        if self.reach is not None:
            by_level = f" ({figure(min(self.reaches))} to {figure(max(self.reaches))}, by its size)" if self.reaches else ""
            lines.append(f"  In 90% of new rows the truth is within {figure(self.reach)} of the prediction{by_level}.")
        return lines + self._sets() + self._chances()

    def _score(self, one: Facts) -> str:
        name = one["metric"]
        value, low, high = (figure(one[key], name) for key in ("value", "low", "high"))
        extent = f"95% range {low} to {high}"
        beside = "" if self.is_guess else f"{self.guess_labels[name]} gets {figure(self.guess[name], name)}"
        width = max(10, *(len(metric_name(each["metric"])) for each in self.estimates))
        return f"  {metric_name(name):<{width}} {value:>10}   {extent:<30}   {beside}".rstrip()

    def _sets(self) -> list[str]:
        """How often one class is enough, and how often it could be another."""
        if self.sets is None:
            return []
        one, two, *more = self.sets["sizes"]
        said = [("one class", one), ("two" if more else "either", two), ("more", sum(more))]
        shares = [f"{name} for {_whole(share)}" for name, share in said if share > 0]
        shares[0] += " of rows" if len(shares) > 1 else ""
        worst, few = self.sets["worst"], ""
        if not self.sets["by_class"] and worst["coverage"] < SELDOM:
            few = f" Of rows of {short(worst['label'], 24)}, too few for a bound of their own, in {_whole(worst['coverage'])}."
        return [f"  In at least 90% of new rows the truth is in the set: {', '.join(shares)}.{few}"]

    def _chances(self) -> list[str]:
        """Whether chances come true as often as they say; few rows seem to show an error where there is none."""
        if self.chances is None or self.is_guess:
            return []
        off, luck = (100 * self.chances[name] for name in ("off", "luck"))
        if off <= luck:
            return [f"  Chances are off by {off:.1f} points on average, as right ones may seem to be on {counted(self.rows, 'row')}."]
        return [f"  Chances are off by {off:.1f} points on average; right ones would seem to be by {luck:.1f} at most."]

    def _rounds(self) -> str:
        """The estimate is of the procedure: what it took when it was repeated."""
        picks = ["an ensemble" if one.startswith("ensemble of ") else full(one) for one in self.picks or []]
        taken = ", ".join(f"{count} of {len(picks)} times {kind}" for kind, count in Counter(picks).most_common(3))
        return f"By {self.method}; it took {taken}." if taken else f"By {self.method}."

    def _growth(self) -> list[str]:
        """Why the estimate is better than what held-out rows show."""
        if self.untried:
            return [f"  {UNTRIED}"]
        if self.growth is None:
            return []
        folds, score = self.growth["folds"], figure(self.growth["score"], self.metric)
        seen = f"Models of {folds - 1} of {folds} folds score {score}"
        if self.growth.get("clear"):
            return [f"  {seen}, and are ahead of models of {folds - 2} folds: more rows help, and the estimate is for all of them."]
        return [f"  {seen}; the estimate is for all rows, which as a rule bring a little more."]

    def _board(self, value: float) -> str:
        """Why the board differs: it chose by its own numbers."""
        tried, score = counted(self.settings, "setting"), known_score(self.metric)
        shown, found = (figure(one, self.metric) for one in (self.board, value))
        which = "" if self.growth is None else " for such models"
        if shown != found and score is not None and score.sign * (self.board - value) > 0:
            return f"The board shows {shown}{which}: it was picked among {tried} and their means by that very number, so it flatters."
        return f"The board shows {shown}{which}: picking among {tried} by it did not flatter this time."

    def _verdict(self, search: Facts, gain: Facts) -> list[str]:
        how = f"{metric_name(self.metric)} {figure(search['value'], self.metric)} against "
        how += figure(self.guess[self.metric], self.metric)
        extent = f"{figure(gain['low'])} to {figure(gain['high'])}"
        return [
            f"VERDICT  No usable signal. The best of {counted(self.settings, 'setting')} is not distinguishable from "
            f"{short(self.guess_labels[self.metric])}",
            f"         ({how}; range for the gain in {gain['metric']} {extent}). Saved model: the guess.",
            f"         Worth trying: more rows than {self.rows:,}, other columns, or another target.",
        ]


def _whole(share: float) -> str:
    """A share of the rows in whole per cent; of what is neither nothing nor all never 0 or 100."""
    if share in (0, 1):
        return "every row" if share else "none"
    return "less than 1%" if share < 0.01 else "more than 99%" if share > 0.99 else f"{100 * share:.0f}%"
