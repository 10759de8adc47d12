"""What a run looks like: each event of `select` as lines of text, or as one JSON object."""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import Any, TextIO

from tenfold.app.words import clean, counted, figure, metric_name, seconds, short
from tenfold.selection.store import plain

PLAIN_EVERY = 5.0  # seconds between lines of progress where there is no terminal
MOST_NOTES = 12
BAR = 21


class Silent:
    """Hears everything, says nothing."""

    def __call__(self, event: str, **facts: Any) -> None:
        """One event."""

    def close(self) -> None:
        """The run is over."""


class Json(Silent):
    """One object for each event, on standard output."""

    def __call__(self, event: str, **facts: Any) -> None:
        print(json.dumps(plain(dict(event=event, **facts)), ensure_ascii=True), flush=True)


class Text(Silent):
    """The transcript. Results go to standard output; progress, which does not stay, to standard error."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.progress = Progress()

    def __call__(self, event: str, **facts: Any) -> None:
        if event == "progress":
            return self.progress.show(**facts)
        self.progress.close()
        for line in getattr(self, f"_{event}")(**facts):
            print(clean(line), file=self.out, flush=True)

    def close(self) -> None:
        self.progress.close()

    # --- one method for each event, giving its lines ---

    def _start(self, version: str, seed: int, cores: int) -> list[str]:
        return [f"tenfold {version}    seed {seed}    {counted(cores, 'core')}", ""]

    def _read(self, file: str, rows: int, columns: int, about: str, seconds: float) -> list[str]:
        return [f"READ     {short(file)}   {counted(rows, 'row')} x {counted(columns, 'column')}   {about}"]

    def _task(self, kind: str, metric: str, why: str | None, notes: list[str], **facts: Any) -> list[str]:
        judged = f"judged by {metric_name(metric)}"
        if kind == "classes":
            counts = facts["classes"]
            total = sum(count for _, count in counts)
            words = {2: "two classes"}.get(len(counts), f"{len(counts)} classes")
            largest = sorted(counts, key=lambda pair: -pair[1])[:4]
            shown = "   ".join(
                f"{short(label, 24)} {count:,} ({100 * count / total:.1f}%)" for label, count in largest
            )
            more = f"   and {len(counts) - 4} more" if len(counts) > 4 else ""
            lines = [f"TASK     {words}   {shown}{more}   {judged}"]
        else:
            spread = [f"{facts[name]:,.6g}" for name in ("smallest", "median", "largest")]
            lines = [
                f"TASK     a number   smallest {spread[0]}, median {spread[1]}, largest {spread[2]}   {judged}"
            ]
        return lines + ([f"         {why}"] if why else []) + [f"  ! {note}" for note in notes]

    def _columns(self, columns: list[dict[str, Any]]) -> list[str]:
        kinds = [column["kind"] for column in columns]
        plural = {
            "category": "categories",
            "text": "texts",
            "empty": "empty",
            "constant": "constant",
            "dropped": "dropped",
            "nested": "nested",
        }
        parts = [
            f"{kinds.count(kind):,} {kind if kinds.count(kind) == 1 else plural.get(kind, kind + 's')}"
            for kind in dict.fromkeys(kinds)
        ]
        told = [column for column in columns if column["note"]]
        width = max((len(short(column["name"], 30)) for column in told), default=0)
        lines = ["COLUMNS  " + ", ".join(parts)]
        for column in told[:MOST_NOTES]:
            undo = f"   (--keep {short(column['name'], 30)})" if column["kept_by_asking"] else ""
            lines.append(f"  ! {short(column['name'], 30):<{width}}   {column['note']}{undo}")
        return lines + (
            [f"    and {len(told) - MOST_NOTES} more, all in run.json"] if len(told) > MOST_NOTES else []
        )

    def _checks(self, copies: str, suspects: list[tuple[str, str]]) -> list[str]:
        lines = [
            f"CHECKS   {copies}   "
            + ("no sign of leakage" if not suspects else f"{counted(len(suspects), 'column')} to look at")
        ]
        for name, how in suspects[:MOST_NOTES]:
            lines += [
                f"  ! {short(name, 30)} alone tells the target almost perfectly ({how}).",
                f"    If it is filled in after the outcome, run again with --drop {short(name, 30)}",
            ]
        return lines

    def _plan(self, families: int, settings: int, folds: int, width: int, fits: int) -> list[str]:
        return [
            f"PLAN     {counted(families, 'learner')}, {counted(settings, 'setting')}, {folds} folds, nested audit: {fits:,} fits on "
            f"{counted(width, 'coded column')}",
            "         every score below is on rows the model had not seen",
        ]

    def _interrupted(self, done: int, of: int, seconds: float) -> list[str]:
        return [
            "",
            f"^C       Stopped by you at {seconds:.1f} s, after {done} of {of} training sets. Finishing with what is complete.",
        ]

    def _board(
        self, rows: list[dict[str, Any]], metric: str, greater_is_better: bool, notes: dict[str, str]
    ) -> list[str]:
        if not rows:
            return ["", "RACE     no fold is complete: only the guess can be saved"]
        width = max(len(short(row["model"], 44)) for row in rows)
        name = metric_name(metric)
        bars = intervals(rows)
        better = "higher is better" if greater_is_better else "lower is better"
        lines = ["", f"RACE{'':5}{'':{width}}{name:>12}  {better:<{BAR}}  against #1     one fit"]
        place = 0
        for row, bar in zip(rows, bars, strict=True):
            model, guess = short(row["model"], 44), row["against"] == "baseline" or row["rank"] == 0
            if row["against"] == "failed":
                lines.append(
                    f"     {'':2}  {model:<{width}}{'failed':>12}  {short(row['reason'] or '', 110)}"
                )
                continue
            place += not guess
            number = "  " if guess else f"{place:>2}"
            lines.append(
                f"     {number}  {model:<{width}}{figure(row['score'], metric):>12}  {bar:<{BAR}}  {row['against']:<13}  {seconds(row['seconds'])}"
            )
        lines += [
            f"  note: {short(title)}: {short((text.partition(': ')[2] or text).partition('; ')[0], 140)}"
            for title, text in notes.items()
        ]
        return [
            *lines,
            "  This board is for ranking. It flatters whoever comes first; the next number does not.",
        ]

    def _estimate(
        self,
        estimates: list[dict[str, Any]],
        metric: str,
        signal: bool | None,
        board: float | None,
        guess: dict[str, float],
        rounds: int,
        search: dict[str, Any] | None,
        gain: dict[str, Any] | None,
        guess_labels: dict[str, str],
        rows: int,
        settings: int,
    ) -> list[str]:
        if search is None or gain is None:
            return [
                "",
                "HONEST ESTIMATE  none: the run was stopped before two outer rounds were complete, and the board flatters",
            ]
        lines = ["", "HONEST ESTIMATE for the finished model on new rows like these"]
        for one in estimates:
            name = one["metric"]
            low, high = (figure(one[end], name) for end in ("low", "high"))
            range_ = f"{low} to {high}"
            beside = f"{guess_labels[name]} gets {figure(guess[name], name)}" if signal is not False else ""
            lines.append(
                f"  {metric_name(name):<10} {figure(one['value'], name):>10}   95% range {range_:<20}   {beside}"
            )
        guessing = guess_labels[metric]
        if signal is None:
            return [
                *lines,
                f"  From {counted(rounds, 'outer round')} only: stopped before it was clear that this is better than {short(guessing)}.",
            ]
        if signal:
            said, found = figure(board, metric), figure(search["value"], metric)
            why = (
                f"picking among {counted(settings, 'setting')} by it did not flatter this time"
                if said == found
                else f"it picked the best of {counted(settings, 'setting')} by that very number, so it flatters"
            )
            return [
                *lines,
                f"  The board said {said}: {why}.",
                f"  This one comes from {rounds} outer rounds that repeat the whole search without the rows they are scored on.",
            ]
        how = (
            f"{metric_name(metric)} {figure(search['value'], metric)} against {figure(guess[metric], metric)}"
        )
        return [
            *lines,
            "",
            f"VERDICT  No usable signal. The best of {counted(settings, 'setting')} is not distinguishable from {short(guessing)}",
            f"         ({how}; range for the gain in {gain['metric']} {figure(gain['low'])} to {figure(gain['high'])}). Saved model: the guess.",
            f"         Worth trying: more rows than {rows:,}, other columns, or check that the target is the right one.",
        ]

    def _chosen(self, model: str, tied: list[str], is_guess: bool, signal: bool | None) -> list[str]:
        lines = ["", f"CHOSEN   {short(model)}"]
        if tied and not is_guess:
            lines.append(
                f"         {len(tied) + 1} models tie, this is the simplest; as good: {', '.join(short(one) for one in tied)}"
            )
        return lines

    def _saved(self, folder: str, size: str, commands: list[str]) -> list[str]:
        first, *more = commands
        return [
            f"SAVED    {folder}/   model.tenfold {size} (holds no training rows)   run.json",
            f"NEXT     {first}",
            *(f"         {command}" for command in more),
        ]

    def _done(self, seconds: float) -> list[str]:
        return [f"done in {seconds:.1f} s"]


class Quiet(Text):
    """One line at the end."""

    def __call__(self, event: str, **facts: Any) -> None:
        if event == "estimate":
            self.estimate = facts
        elif event == "chosen":
            self.model = facts["model"]
        elif event == "saved":
            found = self.estimate["estimates"]
            worth = (
                "no estimate"
                if not found
                else (
                    f"{metric_name(found[0]['metric'])} {figure(found[0]['value'], found[0]['metric'])} "
                    f"({figure(found[0]['low'], found[0]['metric'])} to {figure(found[0]['high'], found[0]['metric'])})"
                )
            )
            verdict = "no usable signal: " if self.estimate["signal"] is False else ""
            print(clean(f"{verdict}{self.model}   {worth}   saved {facts['folder']}/"), file=self.out)


def intervals(rows: list[dict[str, Any]]) -> list[str]:
    """For each row `|--o--|`: score ± one error, on a common scale that ends at the guess."""
    shown = [row for row in rows if row["score"] is not None and row["score"] == row["score"]]
    errors = {id(row): row["error"] if row["error"] == row["error"] else 0.0 for row in shown}
    front = shown[: max(2, len(shown) // 2 + 1)]  # a hopeless last place must not squeeze the others together
    low, high = min(r["score"] - errors[id(r)] for r in front), max(r["score"] + errors[id(r)] for r in front)
    if not high > low:
        return [""] * len(rows)

    def place(value: float) -> int:
        return round((value - low) / (high - low) * (BAR - 1))

    bars = []
    for row in rows:
        if row not in shown or not -1 <= place(row["score"]) <= BAR:
            bars.append("")
            continue
        left, right = (min(max(place(row["score"] + s * errors[id(row)]), 0), BAR - 1) for s in (-1, 1))
        at = min(max(place(row["score"]), 0), BAR - 1)
        line = [" "] * BAR
        line[left : right + 1] = "-" * (right - left + 1)
        line[left], line[right], line[at] = "|", "|", "o"
        bars.append("".join(line).rstrip())
    return bars


class Progress:
    """A live line on a terminal, a plain line every few seconds elsewhere."""

    def __init__(self) -> None:
        self.live: Any = None
        self.last = time.perf_counter()

    def show(self, done: int, of: int, folds: int, seconds: float) -> None:
        if sys.stderr.isatty():
            return self._draw(done, of)
        if time.perf_counter() - self.last >= PLAIN_EVERY and done < of:
            self.last = time.perf_counter()
            print(
                f"RACE     {done} of {of} training sets   {seconds:.0f} s gone", file=sys.stderr, flush=True
            )

    def _draw(self, done: int, of: int) -> None:
        if self.live is None:
            from rich import progress
            from rich.console import Console

            columns = (
                progress.TextColumn("RACE    "),
                progress.BarColumn(min(40, shutil.get_terminal_size().columns // 3)),
                progress.MofNCompleteColumn(),
                progress.TextColumn("training sets"),
                progress.TimeElapsedColumn(),
                progress.TextColumn("gone, about"),
                progress.TimeRemainingColumn(),
                progress.TextColumn("left"),
            )
            self.live = progress.Progress(
                *columns, console=Console(stderr=True), refresh_per_second=5, transient=True
            )
            self.task = self.live.add_task("race", total=of)
            self.live.start()
        self.live.update(self.task, completed=done)

    def close(self) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None
