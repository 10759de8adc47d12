"""A run on disk: a folder, written whole or not at all.

    model.tenfold      the model                      sketch.json        what the columns of the training table held, without its rows
    run.json           how it was found               held_out.parquet   predictions for rows that the model had not seen
    report.html        what a person should see of it explained.json     what drives the model, and where it fails
                       also as report.md, report.pdf  simple.tenfold     the simplest model that is as good, or
                                                      best.tenfold       the best one, where the simplest is preferred
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any

import numpy as np

import tenfold
from tenfold.core.errors import BadFile, BadParameter
from tenfold.saved.writing import check_can_hold, new_folder, put_folder, write_parquet, written_as
from tenfold.selection.model.table_model import TableModel
from tenfold.table.reading import pl
from tenfold.table.sketch import is_sketch

MODEL, RECORD, MARK = "model.tenfold", "run.json", "tenfold select"
SIMPLE, BEST = "simple.tenfold", "best.tenfold"  # what is saved beside the model: the simplest that is as good, or the best
SKETCH, HELD_OUT, EXPLAINED, REPORT = "sketch.json", "held_out.parquet", "explained.json", "report.html"
FILES = frozenset((MODEL, SIMPLE, BEST, RECORD, SKETCH, HELD_OUT, EXPLAINED, REPORT, "report.md", "report.pdf"))
UNSAFE = re.compile(r"[^\w.-]+")  # in the name of a folder
Facts = dict[str, Any]


def check_folder(folder: Path, record: Facts | None = None, replace: bool = False) -> None:
    """Refuse, before any work is done, a folder that is somebody else's, holds another model or cannot be written.

    `record`: what is to be written; `replace`: even if the folder holds a model for another target, or from another file.
    """
    if not folder.name:
        raise BadFile(f"{folder} has no name: give the folder one with --out")
    if folder.exists() and not _is_ours(folder) and not _is_empty(folder):
        raise BadFile(
            f"{folder} exists and was not made by tenfold select or tenfold fit{_strange(folder)}: choose another name with --out"
        )
    if not folder.parent.is_dir():
        raise BadFile(f"there is no folder {folder.parent} to write {folder.name} into: make it first")
    check_can_hold(folder, "--out")
    earlier = record_of(folder)
    if record is None or replace or not earlier:
        return
    other = _other_than(earlier, record)
    if other:
        raise BadFile(f"{folder} holds {other}: choose another folder with --out, or replace it with --replace")


def check_outside(out: Path, run: Path) -> None:
    """Refuse a file for results that would lie in a folder made by tenfold, where it could replace what that holds. run: the folder, or
    the model in it."""
    folder = run if run.is_dir() or not (run.parent / RECORD).is_file() else run.parent
    if out.resolve().is_relative_to(folder.resolve()):
        raise BadParameter(f"--out {out} lies in {folder}, which holds nothing but what tenfold has made: name a file outside of it")


def usual_folder(stem: str, record: Facts) -> tuple[Path, str | None]:
    """The folder of a run that was given no name, and a note where another model has the usual one."""
    folder = Path(f"{stem}.tenfold")
    earlier, target = record_of(folder), record["settings"]["target"]
    if not earlier or earlier.get("settings", {}).get("target") == target:
        return folder, None
    second = Path(f"{stem}-{UNSAFE.sub('_', str(target))[:40]}.tenfold")
    return second, f"{folder}/ holds {_other_than(earlier, record)}, so this run is saved in {second}/"


def stopped_folder(folder: Path, record: Facts) -> Path:
    """Where a run that was stopped is saved, so that it does not replace a finished one."""
    for number in range(1, 1000):
        name = f"{folder.stem}-stopped{'' if number == 1 else f'-{number}'}{folder.suffix}"
        there = folder.with_name(name)
        earlier = record_of(there)
        if not there.exists() or (_is_ours(there) and not is_finished(there) and not _other_than(earlier, record)):
            return there
    raise BadFile(f"{folder.parent} holds too many stopped runs: choose another folder with --out")


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a run that was not stopped."""
    return record_of(folder).get("interrupted") is False


def _other_than(earlier: Facts, record: Facts) -> str | None:
    """What an earlier run holds, in words, if it is not of the same target and the same file."""
    try:
        before, after = earlier["settings"]["target"], record["settings"]["target"]
        data, mine = earlier["data"], record["data"]
        places = {data.get("place"), mine.get("place")} - {None}  # frames, and earlier versions, have none
        if before != after:
            return f"a model for {str(before)[:60]!r}"
        if len(places) < 2:
            return None
        return f"a model from {'another ' if data['name'] == mine['name'] else ''}{data['name']}"
    except (KeyError, TypeError, AttributeError):  # another version, or somebody wrote in it
        return "another model"


def _is_ours(folder: Path) -> bool:
    """Made by us: the mark in run.json, and no file but ours."""
    try:
        return bool(record_of(folder)) and {entry.name for entry in folder.iterdir()} <= FILES
    except OSError:
        return False


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and next(folder.iterdir(), None) is None


def _strange(folder: Path) -> str:
    """The first file in a folder that is not ours."""
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    strange = [name for name in names if name not in FILES]
    return f" (it holds {strange[0][:60]})" if strange else ""


def write_run(
    folder: Path,
    model: TableModel,
    record: Facts,
    replace: bool = False,
    *,
    beside: Mapping[str, TableModel | None] = MappingProxyType({}),
    sketch: Facts | None = None,
    held_out: pl.DataFrame | None = None,
    report: str | None = None,
) -> Path:
    """Write beside the final name, then rename: a reader sees the old folder or the new one.

    A run that was stopped takes the place of a finished one only if asked to. beside: other models, by file; sketch: from `table.sketch`;
    held_out: from `held_out`.
    """
    check_folder(folder, record, replace)
    if record.get("interrupted") and is_finished(folder) and not replace:
        raise BadFile(
            f"{folder} holds a finished run, and this one was stopped: save it in another folder, or replace=True"
        )
    path = os.path.realpath(folder)  # of a link, what it points to
    with written_as(str(folder)), new_folder(path) as new:
        tenfold.save(model, os.path.join(new, MODEL))
        text = json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False)
        _write_text(os.path.join(new, RECORD), text + "\n")
        for name, other in beside.items():
            if other is not None:
                tenfold.save(other, os.path.join(new, name))
        if report is not None:
            _write_text(os.path.join(new, REPORT), report)
        if sketch is not None:
            _write_text(os.path.join(new, SKETCH), json.dumps(plain(sketch), ensure_ascii=False, allow_nan=False) + "\n")
        if held_out is not None:
            write_parquet(os.path.join(new, HELD_OUT), held_out)
        put_folder(new, path)
    return folder


def _write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def open_run(folder: Path) -> TableModel:
    """The model of a saved run."""
    if not folder.exists():
        raise BadFile(f"there is no folder {folder}: tenfold select and tenfold fit make one")
    path = folder / MODEL if folder.is_dir() else folder
    if not path.exists():
        raise BadFile(f"{folder} holds no {MODEL}: give a folder that tenfold select or tenfold fit has made")
    model = tenfold.load(path)
    if not isinstance(model, TableModel):
        raise BadFile(f"{folder} holds no model that predicts a column: give a folder that tenfold select or tenfold fit has made")
    return model


def record_of(folder: Path) -> Facts:
    """What run.json holds of a run; nothing where it is not there, or not ours."""
    try:
        with open(folder / RECORD, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    ours = isinstance(record, dict) and record.get("made_by") == MARK
    return record if ours and all(isinstance(record.get(part), (dict, NoneType)) for part in ("data", "settings", "estimate")) else {}


def table_of(folder: Path, record: Facts, command: str) -> Path:
    """The table that a run was made from, looked for by its name, here and beside the folder. command: for which it can be named."""
    data = record.get("data")
    name = Path(str(data.get("name") or "")).name if isinstance(data, dict) else ""
    found = next((place / name for place in (Path(), folder.resolve().parent) if name and (place / name).is_file()), None)
    if found is None:
        made = f"there is no {name} here, which the run was made from" if name else f"{folder} does not say which table it was made from"
        raise BadFile(f"{made}: name it, as in {command} {folder} path/to/{name or 'table.csv'}")
    return found


def sketch_of(folder: Path) -> Facts:
    """The sketch of the training table of a run; nothing where it is not there, as in runs of earlier versions, or is none."""
    try:
        with open(folder / SKETCH, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if is_sketch(found) else {}


def plain(value: Any) -> Any:
    """Values that JSON has: NaN and infinities become null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (np.floating, np.integer, np.bool_)):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
