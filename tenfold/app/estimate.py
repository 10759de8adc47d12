"""The honest estimate as lines of text: what is estimated, by what, and why it is not what the board says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tenfold.app.words import counted, figure, metric_name, short
from tenfold.score.registry import known_score

Facts = dict[str, Any]


@dataclass(frozen=True)
class Estimated:
    """What `select` says of the estimate, as it is in the event."""

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
    leader: str = ""  # the first place of the board
    taken: str = ""  # the place that was taken: the leader, or a simpler one that is as good
    taken_board: float | None = None  # score of that place
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
        """Why the board says something else: it chose by its own numbers, or a simpler model was taken than its best."""
        tried = counted(self.settings, "setting")
        simpler = self.taken != self.leader and self.taken_board is not None
        shown = self.taken_board if simpler and self.taken_board is not None else self.board
        score = known_score(self.metric)
        flatters = (
            figure(shown, self.metric) != figure(value, self.metric)
            and score is not None
            and score.sign * (shown - value) > 0
        )
        if not simpler:
            best, fair = f"it is the best of {tried} by that very number, so it flatters", "did not flatter this time"
            why = best if flatters else f"picking among {tried} by it {fair}"
            return f"The board said {figure(self.board, self.metric)}: {why}."
        said = (
            f"The board said {figure(self.board, self.metric)} for {short(self.leader)} and {figure(shown, self.metric)} for the "
            "simpler model that is taken, which is as good within the error"
        )
        return f"{said}; chosen among {tried} by these numbers, they flatter." if flatters else f"{said}."

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
