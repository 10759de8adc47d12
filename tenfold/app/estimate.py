"""The honest estimate as lines of text: what is estimated, by what, and why it differs from the board."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tenfold.app.words import counted, figure, metric_name, short
from tenfold.score.registry import known_score

Facts = dict[str, Any]


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
    leaders: float | None = None  # score of what led in each outer round, on the rows of that round
    kind: str = ""  # its kind of model
    picks: list[str] | None = None  # the kind of model that each outer round picked

    def lines(self) -> list[str]:
        if self.search is None or self.gain is None:
            return ["", "HONEST ESTIMATE  none: stopped before two outer rounds were complete"]
        what = "the whole search" if self.signal is not False else "the guess"
        lines = ["", f"HONEST ESTIMATE of {what}, on new rows like these", *map(self._score, self.estimates)]
        if self.reach is not None:
            by_level = (
                f" ({figure(min(self.reaches))} to {figure(max(self.reaches))}, by its size)" if self.reaches else ""
            )
            lines.append(f"  In 90% of new rows the truth is within {figure(self.reach)} of the prediction{by_level}.")
        if self.signal is None:
            few, guessing = counted(self.rounds, "outer round"), short(self.guess_labels[self.metric])
            return [*lines, f"  From {few} only: stopped before it was clear that this beats {guessing}."]
        if self.signal:
            return [*lines, f"  {self._rounds()}", f"  {self._board(self.search['value'])}"]
        return [*lines, "", *self._verdict(self.search, self.gain)]

    def _score(self, one: Facts) -> str:
        name = one["metric"]
        value, low, high = (figure(one[key], name) for key in ("value", "low", "high"))
        extent = f"95% range {low} to {high}"
        beside = f"{self.guess_labels[name]} gets {figure(self.guess[name], name)}" if self.signal is not False else ""
        return f"  {metric_name(name):<10} {value:>10}   {extent:<30}   {beside}".rstrip()

    def _rounds(self) -> str:
        """The estimate is of the procedure: how often it came to the kind of model that is saved."""
        what = f"{self.rounds} outer rounds repeat the search, each without the rows that it is scored on (nested cross-validation)"
        if not self.picks:
            return f"{what}."
        counts = Counter(self.picks)
        mine = counts.pop(self.kind, 0)
        if not counts:
            return f"{what}; all took the kind of model that is saved."
        others = ", ".join(f"{count} {short(kind)}" for kind, count in counts.most_common())
        return f"{what}; {mine} took {short(self.kind)}, which is saved, and {others}."

    def _board(self, value: float) -> str:
        """Why the board differs: it chose by its own numbers, and rounds take simpler models that are as good."""
        tried, leaders = counted(self.settings, "setting"), value if self.leaders is None else self.leaders
        shown, led, found = (figure(one, self.metric) for one in (self.board, leaders, value))
        score = known_score(self.metric)
        if shown != led and score is not None and score.sign * (self.board - leaders) > 0:
            text = f"The board shows {shown}: it is the best of {tried} by that very number, so it flatters"
        else:
            text = f"The board shows {shown}: picking among {tried} by it did not flatter this time"
        if led == found or score is None or score.sign * (leaders - value) <= 0:
            return f"{text}."
        return f"{text} (the best of each round gets {led}); simpler models, taken where they are as good, get {found}."

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
