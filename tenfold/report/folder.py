"""The report of a run that was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tenfold.core.errors import BadFile, BadInput
from tenfold.report.page import write_report
from tenfold.saved.writing import cannot_write, replacing
from tenfold.selection.explained import explained
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
        found = plain(_drivers(folder, record, held_out, table))
        try:
            with replacing(str(folder / EXPLAINED)) as file:
                file.write((json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8"))
        except OSError as reason:
            raise cannot_write(str(folder / EXPLAINED), reason) from None
    return write_report(folder / REPORT if path is None else path, record, held_out, found)


def _drivers(folder: Path, record: Facts, held_out: pl.DataFrame, table: Any) -> Facts:
    raw = read_table(table)
    rows = held_out["row"]
    wanted, given = record.get("data", {}).get("rows"), raw.frame.height
    if wanted != given or (rows.max() or 0) >= given:  # type: ignore[operator]
        raise BadInput(f"{raw.name} has {given:,} rows, but the run was made from {wanted:,}: give the table that it was made from")
    order = held_out.unique("row", keep="first").sort("row")
    numbers, settings = order["row"].to_numpy(), record.get("settings", {})
    model = open_run(folder / MODEL)
    truth = order["truth"].to_numpy()
    metric, seed = str(settings.get("metric") or ""), int(settings.get("seed") or 0)
    return explained(model, raw.frame[numbers], truth, held_out, metric, seed, rows=numbers)


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
