"""What the commands that look at a table say in the same words: how it was read, the columns they go by, and what was saved."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tenfold
from tenfold.app.run_folder import left_out
from tenfold.app.words import AsItIs, counted, file_size, short
from tenfold.core.errors import BadParameter
from tenfold.selection.model.predictions import check_format
from tenfold.selection.model.store import MODEL, REPORT, check_outside
from tenfold.table.table import Table

MOST_NAMES, MOST_NOTES = 8, 8
Tell = Callable[[str], None]  # what is being done; nothing: it is done


def check_given(seed: int, rows: int | None) -> None:
    if seed < 0:
        raise BadParameter(f"--seed {seed}: must be a whole number of at least 0")
    if rows is not None and rows < 1:
        raise BadParameter(f"--rows {rows}: must be at least 1")


def check_out(out: Path | None, folder: Path, *tables: Path | None) -> None:
    """A file for results: of a known format, none of the tables that are read, and not in the folder that is made or read."""
    if out is None:
        return
    check_format(out)
    check_outside(out, folder)
    if any(one is not None and one.exists() and out.exists() and out.samefile(one) for one in tables):
        raise BadParameter(f"--out {out} is the table itself: choose another name")


def teller(quiet: bool) -> Tell:
    """One line on a terminal that is written over; nothing elsewhere, or where nothing is wanted."""
    return (lambda stage: None) if quiet or not sys.stderr.isatty() else _live


def _live(stage: str) -> None:
    sys.stderr.write(f"\r\x1b[K{short(stage)}{' ...' if stage else ''}")
    sys.stderr.flush()


def head_lines(table: Table, prepare: Any, seed: int, saved: bool = True) -> list[str]:
    """The version, the table as it was read, the columns that are used and those that are not."""
    raw = table.raw
    drawn = "" if raw.drawn is None else f"   {counted(raw.frame.height, 'row')} drawn by chance (--rows N for more or fewer)"
    total = raw.frame.height if raw.height is None else raw.height
    used, left = prepare._used, left_out(prepare)
    names = ", ".join(short(name, 24) for name in used[:MOST_NAMES]) + (", ..." if len(used) > MOST_NAMES else "")
    return [
        f"tenfold {tenfold.__version__}    seed {seed}",
        "",
        f"READ     {short(raw.name)}   {counted(total, 'row')} x {counted(raw.frame.width, 'column')}   {raw.about}{drawn}",
        f"COLUMNS  {len(used)} used: {names}",
        *(f"  ! {short(name, 30)}   {note}" for name, note in left[:MOST_NOTES]),
        *([f"    and {len(left) - MOST_NOTES} more, all in run.json"] if len(left) > MOST_NOTES and saved else []),
    ]


def saved_lines(folder: Path, commands: list[str]) -> list[str]:
    """Where it is, and what to type next."""
    size = file_size((folder / MODEL).stat().st_size)
    saved = f"SAVED    {folder}/   model {size}, and a page with pictures: {folder / REPORT}"
    return ["", saved, *(AsItIs(f"{'NEXT' if i == 0 else '':<8} {one}") for i, one in enumerate(commands))]
