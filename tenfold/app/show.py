"""What a run looks like: each event of `select` as lines of text, or as one JSON object."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from tenfold.app.board import board_lines
from tenfold.app.decisions import decision_lines
from tenfold.app.estimate import Estimated
from tenfold.app.failures import discard_output, print_message
from tenfold.app.progress import Progress
from tenfold.app.promise import promise_lines
from tenfold.app.words import AsItIs, about, clean, counted, figure, full, metric_name, short, terminal_width, wrapped
from tenfold.selection.model.store import plain
from tenfold.selection.monitor.promise import Kept

MOST_NOTES = 12
MEMBERS = 5  # of an ensemble that are named, the heaviest
Facts = dict[str, Any]


def say(text: str, out: TextIO) -> None:
    """Lines for whoever reads them: a reader who goes away, as `head` does, does not end the run."""
    try:
        print(text, file=out, flush=True)
    except BrokenPipeError:
        discard_output()


class Silent:
    """Receives every event, shows nothing."""

    def __call__(self, event: str, **facts: Any) -> None:
        """One event."""

    def close(self) -> None:
        """The run is over."""


class Json(Silent):
    """One object for each event, on standard output."""

    def __call__(self, event: str, **facts: Any) -> None:
        say(json.dumps(plain(dict(event=event, **facts)), ensure_ascii=True), sys.stdout)


class Text(Silent):
    """The transcript. Results go to standard output; progress, which does not stay, to standard error."""

    def __init__(self, out: TextIO | None = None, width: int | None = None) -> None:
        self.out, self.progress = out or sys.stdout, Progress()
        self.width = width or terminal_width(self.out)

    def __call__(self, event: str, **facts: Any) -> None:
        if event == "progress":
            return self.progress.show(**facts)
        self.progress.close()
        if event == "start":
            self.progress.limit = facts.get("time")
        if event == "plan":
            self.progress.forecast = facts["seconds"]
        if event == "screened":
            self.progress.forecast = facts["seconds"] + facts["more"]
        for line in self.lines(event, facts):
            self.say("\n".join(wrapped(line, self.width)))

    def lines(self, event: str, facts: Facts) -> list[str]:
        """An event in words."""
        found: list[str] = getattr(self, f"_{event}")(**facts)
        return found

    def say(self, text: str) -> None:
        """Lines of the transcript."""
        say(text, self.out)

    def close(self) -> None:
        self.progress.close()

    # --- one method for each event, giving its lines ---

    def _start(
        self, version: str, seed: int, cores: int, free: float | None = None, effort: str | None = None, time: float | None = None
    ) -> list[str]:
        parts = [f"tenfold {version}", f"seed {seed}", counted(cores, "core")]
        if free is not None and math.isfinite(free):
            parts.append(f"{free / 1e9:.1f} GB free")
        if effort is not None:
            parts.append(f"effort: {effort}" + ("" if time is None else f", at most {time:g} s"))
        return ["    ".join(parts), ""]

    def _target(self, target: str, targets: list[str]) -> list[str]:
        number, others = targets.index(target) + 1, [short(one, 30) for one in targets if one != target]
        return ["", f"TARGET   {short(target)}   {number} of {len(targets)}; not used to predict it: {', '.join(others)}", ""]

    def _results(self, rows: list[Facts], left: list[str]) -> list[str]:
        lines, width = ["", "TARGETS"], max((len(short(row["target"], 30)) for row in rows), default=0)
        for row in rows:
            name = f"  {short(row['target'], 30):<{width}}"
            if row["folder"] is None:
                lines.append(f"{name}   {row.get('reason', 'stopped: nothing is saved')}")
                continue
            value, low, high = (None if row[end] is None else figure(row[end], row["metric"]) for end in ("value", "low", "high"))
            score = "no estimate" if value is None else f"{metric_name(row['metric'])} {value} ({low} to {high})"
            verdict = "no usable signal" if row["signal"] is False else short(row["model"])
            lines.append(f"{name}   {score}   {verdict}   {row['folder']}/")
        return [*lines, *(f"  {short(one, 30):<{width}}   not begun" for one in left)]

    def _read(
        self, file: str, rows: int, columns: int, about: str, seconds: float, drawn: int | None = None, notes: Sequence[str] = ()
    ) -> list[str]:
        lines = [f"READ     {short(file)}   {counted(rows, 'row')} x {counted(columns, 'column')}   {about}   {seconds:.1f} s"]
        lines += [f"  ! {note}" for note in notes]
        return lines if drawn is None else [*lines, f"         {counted(drawn, 'row')} drawn by chance   (--rows N for more or fewer)"]

    def _task(self, kind: str, metric: str, why: str | None, notes: list[str], **facts: Any) -> list[str]:
        what = _classes(facts["classes"]) if kind == "classes" else _spread(facts)
        lines = [f"TASK     {what}   judged by {metric_name(metric)}", *([f"         {why}"] if why else [])]
        return lines + [f"  ! {note}" for note in notes]

    def _columns(self, columns: list[Facts]) -> list[str]:
        kinds = [column["kind"] for column in columns]
        noted = [column for column in columns if column["note"]]
        width = max((len(short(column["name"], 30)) for column in noted), default=0)
        lines = ["COLUMNS  " + ", ".join(_kinds(kind, kinds.count(kind)) for kind in dict.fromkeys(kinds))]
        for column in noted[:MOST_NOTES]:
            undo = f"   (--{column['undo']} {typed(column['name'])})" if column["undo"] else ""
            lines.append(f"  ! {short(column['name'], 30):<{width}}   {column['note']}{undo}")
        more = len(noted) - MOST_NOTES
        return lines + ([f"    and {more} more, all in run.json"] if more > 0 else [])

    def _checks(self, copies: str, suspects: list[tuple[str, str]], left_out: list[str] = []) -> list[str]:  # noqa: B006
        leaks = f"{counted(len(suspects), 'column')} to look at" if suspects else "no sign of leakage"
        lines = [f"CHECKS   {copies}   {leaks}"]
        for name, how in suspects[:MOST_NOTES]:
            lines.append(f"STOP?    Column {short(name, 30)} alone predicts the target almost perfectly ({how}).")
            if name in left_out:
                lines.append("         That usually means it is filled in after the outcome. The run goes on without it")
                lines.append(f"         (--keep {typed(name)} if it is known at prediction time).")
            else:
                lines.append(f"         If it is filled in after the outcome, run again with --drop {typed(name)}")
        return lines

    def _plan(
        self,
        families: int,
        models: list[str],
        settings: int,
        folds: int,
        width: int,
        fits: int,
        uncoded: int,
        nested: bool,
        screened: int | None,
        seconds: float | None,
    ) -> list[str]:
        how = "nested audit" if nested else "audit by folds"
        heat = [f"         a first heat on {screened:,} rows decides who runs on all"] if screened else []
        return [
            f"PLAN     {counted(families, 'learner')}, {counted(settings, 'setting')}, {folds} folds, "
            f"{how}: at most {fits:,} fits on {counted(width, 'coded column')}"
            + (f" (trees: on the {uncoded} as they are)" if uncoded else ""),
            *heat,
            "         every score below is on rows the model had not seen"
            + ("" if seconds is None else f"; this takes {about(seconds)} here"),
        ]

    def _monotone(self, columns: dict[str, int], families: list[str]) -> list[str]:
        how = ", ".join(f"{short(name, 30)} {'up' if sign > 0 else 'down'}" for name, sign in columns.items())
        return [f"MONOTONE {how}: predictions go one way only; {counted(len(families), 'learner')} of trees can, all others are left out"]

    def _screened(self, kept: list[str], rows: int, on: int, of: int, seconds: float, more: float) -> list[str]:
        where = "all rows" if on == of else f"{on:,} of {of:,} rows, as many as the time has room for"
        return [f"HEAT     on {rows:,} rows {', '.join(kept)} led, and run on {where}; this takes {about(more)}"]

    def _refined(self, variants: int, of: list[str], seconds: float) -> list[str]:
        lead = "which leads" if len(of) == 1 else "which lead"
        return [f"REFINE   {counted(variants, 'variant')} of {', '.join(of)}, {lead}"] if variants else []

    def _repeated(self, divisions: int, families: int, seconds: float) -> list[str]:
        other = "another division" if divisions == 1 else f"{divisions} other divisions"
        return [f"REPEAT   the {counted(families, 'leading family', 'leading families')} on {other} of the rows into folds"]

    def _interrupted(self, done: int, of: int, seconds: float, wall: bool) -> list[str]:
        if wall:
            cut = f"WALL     the time is over at {seconds:.1f} s: the plan was cut after {done} of {of} units of work"
            return ["", f"{cut}; reproduce will stop at the same unit."]
        return [
            "",
            f"^C       Stopped by you at {seconds:.1f} s, after {done} of {of} units of work. Finishing with what is complete:",
            "         ranges are wider than those of a full run.",
        ]

    def _board(self, rows: list[Facts], metric: str, greater_is_better: bool, notes: dict[str, str]) -> list[str]:
        if not rows:
            return ["", "RACE     no fold is complete: only the guess can be saved"]
        return board_lines(rows, metric, greater_is_better, notes, self.width)

    def _estimate(self, **facts: Any) -> list[str]:
        return Estimated(**facts).lines()

    def _copied(self, metric: str, value: float, low: float, high: float, rows: int, of: int, **facts: Any) -> list[str]:
        score = f"{metric_name(metric)} {figure(value, metric)}, 95% range {figure(low, metric)} to {figure(high, metric)}"
        return ["", f"COPIES   {100 * rows / of:.0f}% of these rows have copies. Where as many new rows repeat known ones: {score}"]

    def _decisions(self, **facts: Any) -> list[str]:
        return decision_lines(facts)

    def _chosen(
        self,
        model: str,
        tied: list[str],
        is_guess: bool,
        members: list[Facts],
        prefer: str,
        beside: str | None,
        worth: float | None,
        metric: str,
    ) -> list[str]:
        lines = ["", f"CHOSEN   {full(model)}"]
        if len(members) > 1:
            heaviest = members if len(members) <= MEMBERS + 1 else members[:MEMBERS]
            shares = [f"{100 * one['weight']:.0f}% {full(one['model'])}" for one in heaviest]
            rest = [f"{len(members) - len(heaviest)} lighter ones (all in run.json)"] * (len(heaviest) < len(members))
            lines.append(f"         the weighted mean of {', '.join(shares + rest)}")
        if is_guess or beside is None:
            return lines
        score = "" if worth is None else f" ({metric_name(metric)} {figure(worth, metric)} on new rows)"
        if prefer == "simple":
            lines.append("         the simplest that is as good as the best single model")
            return [*lines, f"BEST     {full(beside)}{score}, saved beside it"]
        return [*lines, f"SIMPLE   {full(beside)}{score}: the simplest that is as good as the best single model, saved beside it"]

    def _words(self, lines: list[str]) -> list[str]:
        return ["", "IN PLAIN WORDS", *(f"  {line}" for line in lines)]

    def _holdout(self, file: str, rows: int, target: str, notes: list[str], scores: list[Facts]) -> list[str]:
        return ["", *promise_lines([Kept(**one) for one in scores], file, rows, notes, target)]

    def _saved(self, folder: str, size: str, rows: bool, files: list[str], commands: list[str], notes: list[str]) -> list[str]:
        held = "holds some training rows" if rows else "holds no training rows"
        return [
            "",
            "   ".join([f"SAVED    {folder}/", f"model.tenfold {size} ({held})", *files]),
            *(f"  ! {note}" for note in notes),
            *(self._command(title, one) for title, one in zip(["NEXT", *[""] * len(commands)], commands, strict=False)),
        ]

    def _command(self, title: str, text: str) -> AsItIs:
        """A command to be copied, never broken; what it does, where there is room."""
        whole, alone = (f"{title:<9}{one}" for one in (text, text.partition("     ")[0]))
        return AsItIs(whole if len(whole) <= self.width else alone)

    def _kept(self, note: str) -> list[str]:
        return [f"SAVED    nothing: {note}"]

    def _done(self, seconds: float, of: float | None = None) -> list[str]:
        return [f"done in {seconds:.1f} s" + ("" if of is None else f" of {of:g} s")]


class Quiet(Text):
    """One line at the end."""

    def __init__(self, out: TextIO | None = None, width: int | None = None) -> None:
        super().__init__(out, width)
        self.estimate: Facts = {}
        self.apart = ""  # what rows kept apart said
        self.chosen: Facts = {}

    def __call__(self, event: str, **facts: Any) -> None:
        if event == "estimate":
            self.estimate = facts
        elif event == "holdout":
            for one in (Kept(**scored) for scored in facts["scores"][:1]):
                score = f"{metric_name(one.metric)} {figure(one.found['value'], one.metric)}"
                self.apart = f"   {facts['file']}: {score}, {one.verdict or 'not promised'}"
        elif event == "chosen":
            self.chosen = facts
        elif event == "kept":
            self.say(clean(f"nothing saved: {facts['note']}"))
        elif event == "saved":
            worth = "no estimate"
            for one in self.estimate["estimates"][:1]:
                name = one["metric"]
                value, low, high = (figure(one[key], name) for key in ("value", "low", "high"))
                worth = f"{metric_name(name)} {value} ({low} to {high})"
            worse = "no usable signal: " if self.chosen["is_guess"] else "worse than guessing: "
            verdict = worse if self.estimate["signal"] is False else ""
            line = f"{verdict}{self.chosen['model']}   {worth}   saved {facts['folder']}/{self.apart}"
            self.say(clean(line))
            for note in facts["notes"]:
                print_message(note)


def _classes(counts: list[tuple[str, int]]) -> str:
    total = sum(count for _, count in counts)
    largest = sorted(counts, key=lambda pair: -pair[1])[:4]
    shown = [f"{_labelled(label)} {count:,} ({100 * count / total:.1f}%)" for label, count in largest]
    more = f"   and {len(counts) - 4} more" if len(counts) > 4 else ""
    return f"{'two' if len(counts) == 2 else len(counts)} classes   {'   '.join(shown)}{more}"


def _labelled(label: str) -> str:
    """The name of a class before a number: one that ends in a digit must not run into it."""
    text = short(label, 24)
    return f"{text}:" if text[-1:].isdigit() else text


def _spread(facts: Facts) -> str:
    ends = [f"{name} {facts[name]:,.6g}" for name in ("smallest", "median", "largest")]
    return f"a number   {', '.join(ends)}"


def _kinds(kind: str, count: int) -> str:
    if kind in ("number", "date", "id", "text", "row number"):
        return counted(count, kind)
    return counted(count, "category", "categories") if kind == "category" else f"{count:,} {kind}"


def typed(name: str) -> str:
    """A name as it is typed in a shell, whole: what is shown can be pasted."""
    return shlex.quote(clean(name))
