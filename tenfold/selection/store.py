"""A run on disk: a folder with model.tenfold and run.json, written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.core.errors import BadFile
from tenfold.selection.model import TableModel

MODEL, RECORD, MARK = "model.tenfold", "run.json", "tenfold select"


def check_folder(folder: Path) -> None:
    """Refuse, before any work is done, a folder that is somebody else's or cannot be written."""
    if folder.exists() and not _is_ours(folder):
        raise BadFile(f"{folder} exists and was not made by tenfold select: choose another name with --out")
    if not folder.parent.is_dir():
        raise BadFile(f"there is no folder {folder.parent} to write {folder.name} into")
    if not os.access(folder.parent, os.W_OK):
        raise BadFile(f"the folder {folder.parent} cannot be written: choose another one with --out")


def _is_ours(folder: Path) -> bool:
    """Made by us: the mark in run.json, and no file but ours."""
    try:
        return bool(record_of(folder)) and {entry.name for entry in folder.iterdir()} <= {MODEL, RECORD}
    except OSError:
        return False


def write_run(folder: Path, model: TableModel, record: dict[str, Any]) -> Path:
    """Write beside the final name, then rename: a reader sees the old folder or the new one."""
    check_folder(folder)
    new = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    old = folder.with_name(f"{new.name}.old")
    try:
        new.mkdir()
        tenfold.save(model, new / MODEL)
        _write_text(new / RECORD, json.dumps(plain(record), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        if folder.exists():
            folder.rename(old)
        try:
            new.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    except OSError as reason:
        raise BadFile(f"{folder} could not be written: {reason.strerror or reason}") from None
    finally:
        for rest in (new, old):
            shutil.rmtree(rest, ignore_errors=True)
    return folder


def _write_text(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def open_run(folder: Path) -> TableModel:
    """The model of a saved run."""
    if not folder.exists():
        raise BadFile(f"there is no folder {folder}: tenfold select makes one")
    path = folder / MODEL if folder.is_dir() else folder
    if not path.exists():
        raise BadFile(f"{folder} holds no {MODEL}: give a folder that tenfold select has made")
    model = tenfold.load(path)
    if not isinstance(model, TableModel):
        raise BadFile(f"{path} holds a {type(model).__name__}, not a model for tables: load it with tenfold.load")
    return model


def record_of(folder: Path) -> dict[str, Any]:
    """What run.json tells of a run; nothing where it is not there, or not ours."""
    try:
        with open(folder / RECORD, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) and record.get("made_by") == MARK else {}


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
