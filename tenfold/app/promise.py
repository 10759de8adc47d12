"""`tenfold estimate`: a saved model on new labelled rows, and whether it keeps its promise."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.options import JsonResult, QuietFlag, RunFolder
from tenfold.app.words import AsItIs, clean, counted, figure, metric_name, short, terminal_width, wrapped
from tenfold.selection.model.store import open_run, plain, record_of
from tenfold.selection.monitor.labelled import labelled_rows
from tenfold.selection.monitor.promise import KEPT, WORSE, Kept, in_words, kept

AS_PROMISED, LESS = 0, 1


def estimate_command(
    folder: RunFolder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="new rows with the target column, none of them from training")],
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
) -> int:
    """Score a saved model on new rows whose truth is known, and test whether it is as good as was promised.

    Ends with 0 where the model is as promised or better, 1 where it is worse than luck explains.

    Example:  tenfold estimate churn.tenfold last_month.csv
    """
    model, record = open_run(folder), record_of(folder)
    labelled = labelled_rows(model, file, (record.get("data") or {}).get("sha256"), record.get("settings") or {})
    found = kept(labelled, record)
    verdict = found[0].verdict
    if as_json:
        scores = [dict(one.found, promised=one.promised, p_value=one.p_value, verdict=one.verdict) for one in found]
        print(json.dumps(plain(dict(rows=labelled.rows, verdict=verdict, scores=scores, notes=labelled.notes)), ensure_ascii=True))
    else:
        width = terminal_width(sys.stdout)
        target = str((record.get("settings") or {}).get("target", "the target"))
        lines = _line(found[0]) if quiet else promise_lines(found, file.name, labelled.rows, labelled.notes, target)
        print("\n".join(piece for line in lines for piece in wrapped(line, width)))
    return LESS if verdict == WORSE else AS_PROMISED


def _line(first: Kept) -> list[str]:
    return [clean(f"{metric_name(first.metric)} {_range(first)}   {first.verdict or 'no promise to hold it against'}")]


def promise_lines(found: list[Kept], file: str, rows: int, notes: list[str], target: str) -> list[str]:
    """Scores of new rows beside what was promised, and what to make of the difference."""
    lines = [f"ROWS     {short(file)}   {counted(rows, 'row')} with a value of {short(target)!r}"]
    lines += [f"  ! {note}" for note in notes]
    lines += ["", "ON THESE ROWS, with 95% ranges"]
    for one in found:
        promised = "" if one.promised is None else f"promised {_range_of(one.promised, one.metric)}"
        lines.append(AsItIs(f"  {metric_name(one.metric):<9}  {_range(one):<27}  {promised}".rstrip()))
    return [*lines, "", *_verdict(found[0])]


def _verdict(first: Kept) -> list[str]:
    name = metric_name(first.metric)
    if first.promised is None or first.p_value is None:
        return [f"VERDICT  None: this run was saved without an estimate of {name}."]
    if first.verdict == KEPT:
        less = first.p_value < 0.5 and first.found["value"] != first.promised["value"]
        how = f"{name} is behind the estimate by what {in_words(first.p_value)}" if less else f"{name} is not behind the estimate"
        return [f"VERDICT  As promised: {how}."]
    if first.verdict == WORSE:
        return [
            f"VERDICT  Worse than promised: {name} is behind the estimate by what {in_words(first.p_value)}.",
            "         Worth trying: tenfold watch shows which columns have changed; then select again with these rows.",
        ]
    return [f"VERDICT  Better than promised: {name} is ahead of the estimate by what {in_words(1 - first.p_value)}."]


def _range(one: Kept) -> str:
    return _range_of(one.found, one.metric)


def _range_of(facts: dict[str, object], metric: str) -> str:
    value, low, high = (figure(float(str(facts[key])), metric) for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"
