"""`tenfold watch`: whether new rows are still like the training table."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.options import JsonResult, NewRows, QuietFlag, RunFolder
from tenfold.app.words import counted, short, terminal_width, wrapped
from tenfold.core.errors import BadFile
from tenfold.selection.model.store import open_run, plain, record_of, sketch_of
from tenfold.selection.monitor.drift import Drift, Together, Unread, drift, together, unread_of
from tenfold.table.columns import check_name
from tenfold.table.reading import Raw, read_table

ALIKE, DRIFTED = 0, 1
MOST_SHOWN = 20


def watch_command(
    folder: RunFolder,
    file: NewRows,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="the training table itself: also looks at all columns together, by a classifier"),
    ] = None,
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
) -> int:
    """Look whether the columns of new rows are distributed as in the training table, of which the run keeps a sketch.

    Numbers by Kolmogorov and Smirnov's test, categories and missing values by chi-square, all corrected for the number of columns;
    the target is not needed. Ends with 0 where nothing has drifted, 1 where something has or a column cannot be read.

    Example:  tenfold watch churn.tenfold this_month.csv
    """
    open_run(folder)
    sketched, record = sketch_of(folder), record_of(folder)
    if not sketched:
        raise BadFile(f"{folder} keeps no sketch of its training table, as runs of earlier versions: run tenfold select again")
    new = _read(file, sketched)
    found, unread = drift(sketched, new.frame), unread_of(sketched, new.frame)
    all_columns = None
    notes = list(unread.notes)
    if against is not None:
        training = _read(against, sketched)
        if training.digest != (record.get("data") or {}).get("sha256"):
            notes.append(f"{against.name} is not the file that the model was fitted to, or has changed since")
        all_columns = together(_without(sketched, unread.columns), training.frame, new.frame)
        if all_columns is None:
            notes.append("all columns together are not compared: that takes two different rows on either side")
    drifted = any(one.drifted for one in found) or bool(all_columns and all_columns.drifted)
    if as_json:
        facts = [dict(asdict(one), drifted=one.drifted, size=one.size) for one in found]
        joint = None if all_columns is None else asdict(all_columns)
        whole = dict(rows=new.frame.height, drifted=drifted, columns=facts, unread=unread.columns, together=joint, notes=notes)
        print(json.dumps(plain(whole), ensure_ascii=True))
    else:
        width = terminal_width(sys.stdout)
        lines = [_verdict(found, all_columns, unread)] if quiet else _lines(new, sketched, found, all_columns, notes, unread)
        print("\n".join(piece for line in lines for piece in wrapped(line, width)))
    return DRIFTED if drifted or unread.columns else ALIKE


def _without(sketched: dict[str, object], names: list[str]) -> dict[str, object]:
    """A sketch without some of its columns."""
    columns = sketched["columns"]
    assert isinstance(columns, list)
    return dict(sketched, columns=[one for one in columns if one["name"] not in names])


def _read(file: Path, sketched: dict[str, object]) -> Raw:
    columns = sketched["columns"]
    assert isinstance(columns, list)
    names = [one["name"] for one in columns]
    raw = read_table(file, known=names)
    for name in names:
        check_name(name, raw.frame.columns, f" in {raw.name}, which the training table had")
    return raw


def _lines(
    new: Raw, sketched: dict[str, object], found: list[Drift], joint: Together | None, notes: list[str], unread: Unread
) -> list[str]:
    lines = [f"ROWS     {short(new.name)}   {counted(new.frame.height, 'row')} against {sketched['rows']:,} of the training table"]
    lines += [f"  ! {note}" for note in notes]
    drifted = [one for one in found if one.drifted]
    name = max((len(short(one.name, 24)) for one in drifted), default=0)
    if drifted:
        lines += ["", f"DRIFTED  {counted(len(drifted), 'column')} of {len(found):,}, after correction for their number"]
    for one in drifted[:MOST_SHOWN]:
        lines.append(f"  {short(one.name, 24):<{name}}   {one.size:<6}   {one.how}   {_chance(one.p_value)}, index {one.index:.2f}")
    if len(drifted) > MOST_SHOWN:
        lines.append(f"  and {counted(len(drifted) - MOST_SHOWN, 'more column', 'more columns')}: --json gives all")
    strange = [one for one in found if one.new]
    if strange:
        wide = max(len(short(one.name, 24)) for one in strange[:MOST_SHOWN])
        lines += ["", "NEVER SEEN in training, rows"]
        lines += [f"  {short(one.name, 24):<{wide}}   {short(one.new, 90)}" for one in strange[:MOST_SHOWN]]
        if len(strange) > MOST_SHOWN:
            lines.append(f"  and {counted(len(strange) - MOST_SHOWN, 'more column', 'more columns')}")
    if joint is not None:
        area = f"AUC {joint.value:.3f} (95% {joint.low:.3f} to {joint.high:.3f})"
        lines += ["", f"TOGETHER a classifier tells new rows from training rows with {area}; 0.5 is chance"]
    else:
        lines += ["", "TOGETHER not looked at: --against TRAINING_TABLE lets a classifier look at all columns together"]
    return [*lines, "", f"VERDICT  {_verdict(found, joint, unread)}"]


def _verdict(found: list[Drift], joint: Together | None, unread: Unread) -> str:
    if not unread.columns:
        return _of_read(found, joint)
    which = short(repr(unread.columns[0]), 30) if len(unread.columns) == 1 else counted(len(unread.columns), "column")
    others = _of_read(found, joint)
    rest = f" Of the others: {others[0].lower()}{others[1:]}" if found else ""
    return f"{which} cannot be read: write the values as in training.{rest}"


def _of_read(found: list[Drift], joint: Together | None) -> str:
    """What is to be made of the columns that can be read."""
    drifted = [one for one in found if one.drifted]
    if drifted:
        worst = "strongly" if drifted[0].size == "strong" else "clearly" if drifted[0].size == "clear" else "slightly"
        most = f"{counted(len(drifted), 'column has', 'columns have')} drifted, {short(drifted[0].name, 30)} most ({worst})"
        return f"{most}. If answers matter, score labelled rows with tenfold estimate."
    if joint is not None and joint.drifted:
        return "No column has drifted by itself, but together they have: new rows combine values in other ways."
    return "No sign of drift."


def _chance(p: float) -> str:
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"
