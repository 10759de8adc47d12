"""`tenfold check`: a table as it was read, in words or as a page with pictures, and an exit code for CI."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from tenfold.app.check_page import page_of
from tenfold.app.failures import print_message
from tenfold.app.options import Columns, JsonResult, QuietFlag, columns_of
from tenfold.app.options import Table as File
from tenfold.app.words import clean
from tenfold.core.errors import BadFile, BadParameter, TenfoldError
from tenfold.saved.writing import replacing
from tenfold.table.reading import read_table
from tenfold.table.show import lines_of, shown
from tenfold.table.table import Table

CLEAN, WARNED, UNREADABLE = 0, 1, 2


def check_command(
    file: File,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="the column to predict: others are looked at for giving it away", autocompletion=columns_of),
    ] = None,
    kind: Annotated[
        Columns, typer.Option(metavar="COLUMN=KIND", help="the kind of a column, such as zip=nominal; may be given again")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="write a page with small pictures")] = None,
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
) -> int:
    """A table as it is read: the kind of each column with the evidence, missing values, odd cells with their lines, copies, ids, leaks.

    Ends with 0 where there is nothing to warn of, 1 with warnings, 2 where the file cannot be read or the command is wrong.

    Example:  tenfold check churn.csv --target churned
    """
    return check(file, target, given_kinds(kind or []), html, as_json, quiet)


def check(file: Path, target: str | None, kinds: dict[str, str], html: Path | None, as_json: bool, quiet: bool) -> int:
    """Print what was read and what should be known; the exit code: 0 clean, 1 with warnings, 2 unreadable."""
    try:
        table = _read(file, target, kinds)
    except BadParameter:
        raise
    except (TenfoldError, OSError) as reason:
        print_message(reason)
        return UNREADABLE
    if html is not None:
        if html.exists() and file.exists() and html.samefile(file):
            raise BadParameter(f"--html {html} is the table itself: choose another name for the page")
        page = page_of(table)
        try:
            with replacing(os.fspath(html)) as new:
                new.write(page.encode("utf-8"))
        except BadFile as reason:
            raise BadParameter(f"--html {reason}") from None
    warnings = sum(flag.warning for flag in table.flags)
    if as_json:
        print(json.dumps(facts_of(table), ensure_ascii=True))
    else:
        lines, count = lines_of(table), f"{warnings:,} warning{'s' if warnings != 1 else ''}" if warnings else "no warnings"
        for line in [f"{lines[0]}   {count}"] if quiet else [*lines, count]:
            print(clean(line))
        if html is not None and not quiet:
            print(clean(f"page written to {html}"))
    return WARNED if warnings else CLEAN


def _read(file: Path, target: str | None, kinds: dict[str, str]) -> Table:
    """The table, looked at; what was told about the file is among its flags."""
    table = Table(read_table(file, tell=lambda note: None), target, kinds)
    _ = table.flags
    return table


def given_kinds(given: list[str]) -> dict[str, str]:
    """zip=nominal as a dictionary."""
    pairs = [one.rpartition("=") for one in given]
    for (name, mark, kind), one in zip(pairs, given, strict=True):
        if not (name and mark and kind):
            raise BadParameter(f"--kind {one}: give COLUMN=KIND, such as zip=nominal")
    return {name: kind for name, _, kind in pairs}


def facts_of(table: Table) -> dict[str, Any]:
    """What the command prints, for other programs."""
    columns = [
        dict(
            name=column.name,
            kind=column.kind,
            evidence=column.evidence,
            missing=column.missing,
            odd=[dict(place=cell.place, text=shown(cell.text), kind=cell.kind) for cell in column.odd],
            notes=list(column.notes),
        )
        for column in table.columns
    ]
    flags = [dict(what=flag.what, text=flag.text, columns=list(flag.columns), warning=flag.warning) for flag in table.flags]
    rows, width = table.shape
    return dict(file=table.raw.name, about=table.raw.about, rows=rows, width=width, target=table.target, columns=columns, flags=flags)
