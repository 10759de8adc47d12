"""What the commands that look at a table share: the columns they go by, and the folder they keep what was found in.

    model.tenfold   Prepare and a learner as one pipeline     sketch.json   what the columns held, without the rows
    run.json        what was found                            report.html   the same as a page
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import tenfold
from tenfold.app.failures import Stopped
from tenfold.core.errors import BadFile, BadInput, BadParameter
from tenfold.prepare.table_rows import in_other_letters
from tenfold.saved.writing import check_can_hold, new_folder, put_folder, write_parquet, written_as
from tenfold.selection.model.store import MODEL, RECORD, REPORT, SKETCH, plain
from tenfold.table.columns import typed_names
from tenfold.table.reading import pl, place_of
from tenfold.table.sketch import sketch
from tenfold.table.table import Table

FILES = frozenset((MODEL, RECORD, SKETCH, REPORT))
Facts = dict[str, Any]


# --- the table ---


def chosen(table: Table, columns: list[str], without: list[str], purpose: str) -> Table:
    """The table with the columns that are wanted; purpose: what they are for, in words."""
    wanted = table.select(typed_names(columns, table.raw.frame.columns)) if columns else table
    left = wanted.drop(typed_names(without, wanted.raw.frame.columns)) if without else wanted
    if not left.width:
        raise BadParameter("--without: no column is left to go by")
    if not left.values.width:
        raise BadInput(f"no column of {table.raw.name} is left to {purpose}: tenfold check shows what its columns hold")
    return left


def prepared(table: Table) -> Any:
    """A fitted Prepare for which every column counts alike; texts are left out."""
    return tenfold.Prepare("neighbors", most_words=0).fit(table)


def left_out(prepare: Any) -> list[tuple[str, str]]:
    """Columns that are not used, and why."""
    used = set(prepare._used)
    facts = zip(prepare.feature_names_in_, prepare.kinds_, prepare.notes_, strict=True)
    return [(str(name), str(note or f"{kind}, left out")) for name, kind, note in facts if str(name) not in used]


def kinds_of(table: Table) -> dict[str, str]:
    """number, date or category, by column."""
    return {column.name: column.look.kind for column in table.columns if column.look is not None}


def places_of(prepare: Any) -> dict[str, list[int]]:
    """The prepared columns that each column of the table became."""
    found: dict[str, list[int]] = {name: [] for name in prepare._used}
    start = 0
    for name, width in zip([*prepare._used, *prepare._cycles], prepare._widths(), strict=True):
        found[name] += range(start, start + width)
        start += width
    return found


def labels_of(table: Table) -> list[Any]:
    """What a column of ids calls each row; None where there is no such column."""
    names = next((column.name for column in table.columns if column.kind == "id"), None)
    return [None] * table.height if names is None else table.raw.frame[names].to_list()


def check_new(prepare: Any, columns: Sequence[str], name: str) -> None:
    """Refuse a table of this name that has not all columns that are used."""
    in_other_letters(columns, prepare._used, f" in {name}, which is needed")


def pipeline_of(prepare: Any, *steps: tuple[str, Any]) -> Any:
    """Fitted learners behind a fitted Prepare, as one model for tables."""
    pipeline = tenfold.Pipeline([("prepare", prepare), *steps])
    vars(pipeline).update(n_features_in_=prepare.n_features_in_, feature_names_in_=prepare.feature_names_in_)
    return pipeline


# --- the folder ---


@dataclass(frozen=True)
class Kept:
    """The folders of one command: what is in their run.json, and how they are spoken of."""

    mark: str  # tenfold cluster
    option: str  # that names the folder
    other: str  # what one holds that was made from another table: "holds the groups of"
    files: frozenset[str] = FILES

    def check_place(self, folder: Path, file: Path, replace: bool) -> None:
        """Refuse, before any work is done, a folder that is somebody else's, cannot be written, or was made from another table."""
        earlier = self.record_of(folder)
        there = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set[str]()
        if (there and not (earlier and there <= self.files)) or (folder.exists() and not folder.is_dir()):
            raise BadFile(f"{folder} exists and was not made by {self.mark}: choose another name with {self.option}")
        if not folder.parent.is_dir():
            raise BadFile(f"there is no folder {folder.parent} to write {folder.name} into: make it first")
        check_can_hold(folder, self.option)
        data = earlier.get("data")
        if earlier and not replace and (data.get("place") if isinstance(data, dict) else None) != place_of(file):
            raise BadFile(f"{folder} {self.other} another table: choose another folder with {self.option}, or replace it with --replace")

    def refuse_given(self, ctx: typer.Context, *names: str) -> None:
        """Refuse options that were typed beside a folder: it keeps what it was made with, and they would be ignored."""
        for name in names:
            source = ctx.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                raise BadParameter(
                    f"--{name} does nothing with a folder that is made already: leave it out, or run {self.mark} on the table again with it"
                )

    def record_of(self, folder: Path) -> Facts:
        """What run.json holds; nothing where it is not there, or another command's."""
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return record if isinstance(record, dict) and record.get("made_by") == self.mark else {}

    def model_in(self, folder: Path) -> Any:
        if not (folder / MODEL).exists():
            raise BadFile(f"{folder} holds no {MODEL}: run {self.mark} again")
        return tenfold.load(folder / MODEL)

    def record(self, table: Table, prepare: Any, file: Path, seed: int, found: Facts) -> Facts:
        """What run.json is to hold."""
        record: Facts = plain(dict(
            made_by=self.mark, version=tenfold.__version__, python=platform.python_version(), seed=seed,
            data=dict(name=file.name, place=place_of(file), rows=table.height), columns=prepare._used, left_out=dict(left_out(prepare)),
            **found,
        ))  # fmt: skip
        return record


@contextlib.contextmanager
def saved_in(folder: Path | None) -> Iterator[None]:
    """What comes after the folder was saved: Ctrl-C is told with its name. None: nothing was saved."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        raise Stopped(f"stopped; the model is saved in {folder}/") from None


def write_folder(
    folder: Path, model: Any, record: Facts, table: Table, page: str | None, frames: Mapping[str, pl.DataFrame] | None = None
) -> None:
    """The model, its record, a sketch of the columns it goes by, the page, and tables as Parquet: whole or not at all."""
    looks = [column.look for column in table.columns if column.look is not None and column.name in record["columns"]]
    kept = {RECORD: record, SKETCH: plain(sketch(table.values, looks))}
    texts = {name: json.dumps(one, indent=2, ensure_ascii=False, allow_nan=False) + "\n" for name, one in kept.items()}
    texts |= {} if page is None else {REPORT: page}
    path = os.path.realpath(folder)  # of a link, what it points to
    with written_as(str(folder)), new_folder(path) as new:
        tenfold.save(model, os.path.join(new, MODEL))
        for name, text in texts.items():
            Path(new, name).write_text(text, encoding="utf-8")
        for name, frame in (frames or {}).items():
            write_parquet(os.path.join(new, name), frame)
        put_folder(new, path)
