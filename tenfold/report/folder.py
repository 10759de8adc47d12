"""The report of a run that was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tenfold.core.errors import BadFile, BadInput
from tenfold.report.page import write_report
from tenfold.saved.writing import cannot_write, replacing
from tenfold.selection.explained import explained
from tenfold.selection.model import TableModel
from tenfold.selection.store import EXPLAINED, HELD_OUT, MODEL, REPORT, open_run, plain, record_of
from tenfold.table.reading import pl, read_table

Facts = dict[str, Any]


def report_run(folder: Any, table: Any = None, path: Any = None) -> Path:
    """Write the report of a run's folder, into it unless a path is given; returns where it is.

    table: the training table. What drives the model, and where it fails, is then found out and kept in the folder for the next time.
    """
    folder = Path(folder)
    record = record_of(folder)
    if not record:
        raise BadFile(f"{folder} holds no run: give a folder that tenfold select has made")
    held_out = _held_out(folder)
    found = _known(folder)
    if table is not None and held_out is not None:
        found = drivers_of(open_run(folder / MODEL), record, held_out, table)
        try:
            with replacing(str(folder / EXPLAINED)) as file:
                file.write((json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8"))
        except OSError as reason:
            raise cannot_write(str(folder / EXPLAINED), reason) from None
    return write_report(folder / REPORT if path is None else path, record, held_out, found)


def report_of(path: Any, model: TableModel, record: Facts, held_out: pl.DataFrame | None, table: Any = None) -> Path:
    """Write the report of a run in memory; returns where it is."""
    found = None if table is None or held_out is None else drivers_of(model, record, held_out, table)
    return write_report(path, plain(record), held_out, found)


def drivers_of(model: TableModel, record: Facts, held_out: pl.DataFrame, table: Any) -> Facts:
    """What drives a model and where it fails, from its training table."""
    raw = read_table(table)
    wanted, given = record.get("data", {}).get("rows"), raw.frame.height
    if wanted != given:
        raise BadInput(f"{raw.name} has {given:,} rows, but the run was made from {wanted:,}: give the table that it was made from")
    order = held_out.unique("row", keep="first").sort("row")
    numbers, settings = order["row"].to_numpy(), record.get("settings", {})
    metric, seed = str(settings.get("metric") or ""), int(settings.get("seed") or 0)
    more = dict(rows=numbers, positive=settings.get("positive"))
    facts: Facts = plain(explained(model, raw.frame[numbers], order["truth"].to_numpy(), held_out, metric, seed, **more))
    return facts


def _held_out(folder: Path) -> pl.DataFrame | None:
    """The held-out predictions of a run; none in those of earlier versions."""
    path = folder / HELD_OUT
    if not path.exists():
        return None
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as reason:
        raise BadFile(f"{path} cannot be read: {str(reason).splitlines()[0]}") from None


def _known(folder: Path) -> Facts | None:
    """What was found out about the model before."""
    try:
        with open(folder / EXPLAINED, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
