"""The report of a run that was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.errors import BadFile, BadInput, BadParameter
from tenfold.core.threads import single_blas
from tenfold.report.markdown import markdown_of
from tenfold.report.page import write_report, write_text
from tenfold.selection.explain.drivers import explained, gaps_of
from tenfold.selection.explain.examples import examples
from tenfold.selection.explain.inside import inside
from tenfold.selection.honest.unseen import Unseen, read_held_out
from tenfold.selection.model.store import EXPLAINED, HELD_OUT, MODEL, REPORT, SIMPLE, open_run, plain, record_of
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.monitor.order import first_seen, ordered
from tenfold.table.cells import label_of
from tenfold.table.columns import Asked, check_name, comma_of
from tenfold.table.reading import Raw, pl, read_table

PAGES = (".html", ".htm")
Facts = dict[str, Any]


@single_blas
def report_run(folder: Any, table: Any = None, path: Any = None, by: str | None = None, markdown: bool = False) -> Path:
    """Write the report of a run's folder, into it unless a path is given; returns where it is.

    table: the training table. What drives the model, and where it fails, is then found out and kept in the folder for the next time.
    by: a column of it by whose groups the errors are told. markdown: the same facts also as a text beside the page, report.md.
    """
    folder = Path(folder)
    record = record_of(folder)
    if not record:
        raise BadFile(f"{folder} holds no run: give a folder that tenfold select or tenfold fit has made")
    _check_by(by, table)
    held_out = _held_out(folder)
    found = explained_of(folder)
    if table is not None and held_out is not None:
        simple = open_run(folder / SIMPLE) if (folder / SIMPLE).exists() else None
        found = drivers_of(open_run(folder / MODEL), record, held_out, table, by, simple)
        write_text(folder / EXPLAINED, json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n")
    page = write_report(folder / REPORT if path is None else path, record, held_out, found)
    if markdown:
        write_text(page.with_suffix(".md"), markdown_of(record, held_out, found))
    return page


@single_blas
def report_of(
    path: Any, model: TableModel, record: Facts, held_out: pl.DataFrame | None, table: Any = None, by: str | None = None
) -> Path:
    """Write the report of a run in memory; returns where it is."""
    if Path(path).suffix.lower() not in PAGES:
        raise BadParameter(f"path={str(path)!r}: this is where the page goes, not the table: end it in .html")
    _check_by(by, table)
    found = None if table is None or held_out is None else drivers_of(model, record, held_out, table, by)
    return write_report(path, plain(record), held_out, found)


def _check_by(by: str | None, table: Any) -> None:
    if by is not None and table is None:
        raise BadParameter(f"by={by!r}: groups of rows are told from the training table: give it too")


def drivers_of(
    model: TableModel, record: Facts, held_out: pl.DataFrame, table: Any, by: str | None = None, simple: TableModel | None = None
) -> Facts:
    """What drives a model and where it fails, from its training table.

    by: a column by whose groups the errors are told; simple: the simplest model that is as good, of which is told what it is made of.
    """
    raw = read_table(table)
    wanted, given = record.get("data", {}).get("rows"), raw.frame.height
    if wanted != given:
        raise BadInput(f"{raw.name} has {given:,} rows, but the run was made from {wanted:,}: give the table that it was made from")
    order = held_out.unique("row", keep="first").sort("row")
    numbers, settings = order["row"].to_numpy(), record.get("settings", {})
    if raw.digest != record.get("data", {}).get("sha256"):
        _check_targets(raw, model, order)
    metric, seed = str(settings.get("metric") or ""), int(settings.get("seed") or 0)
    if by is not None:
        check_name(by, raw.frame.columns, f" in {raw.name}")
        if by == settings.get("target"):
            raise BadParameter(f"by={by!r}: this is the column that is predicted, name another one")
    more = dict(rows=numbers, positive=settings.get("positive"), by=None if by is None else raw.frame[by][numbers])
    facts = explained(model, raw.frame[numbers], order["truth"].to_numpy(), held_out, metric, seed, **more)
    gaps = gaps_of(raw, numbers, Asked(settings.get("keep") or (), (), settings.get("category") or ()))
    facts["missing"] = {name: count for name, count in gaps.items() if name != settings.get("target")}
    positive, columns, held = settings.get("positive"), record.get("columns") or [], Unseen.of(held_out)
    facts |= dict(inside=inside(model, positive), inside_simple=None if simple is None else inside(simple, positive))
    facts |= dict(order=ordered(raw, columns, settings), first_seen=first_seen(raw.frame, columns, held))
    found: Facts = plain(facts | dict(examples=examples(model, raw, held, positive, seed)))
    return found


def _check_targets(raw: Raw, model: TableModel, order: pl.DataFrame) -> None:
    """Refuse a table whose rows are others: what was said of the rows of the run would be held against these. It may be another file of
    the same rows."""
    if model.target_ not in raw.frame.columns:  # the target was given beside the table
        return
    numbers, truth = order["row"].to_numpy(), order["truth"].to_numpy()
    try:
        given = model._truth(raw.frame[model.target_][numbers], comma_of(raw))
    except BadInput:  # one of them has none
        given = np.full(len(numbers), np.nan)
    if model.role == "classifier":
        labels = [str(one) for one in model.classes_]
        same = np.array([label_of(one, labels) == label_of(other, labels) for one, other in zip(given, truth, strict=True)])
    else:
        same = np.isclose(given, truth, rtol=1e-9)
    if not same.all():
        row = int(numbers[np.argmin(same)]) + 1
        raise BadInput(f"{raw.name} is not the table that the run was made from: {model.target_!r} is another in row {row:,}")


def _held_out(folder: Path) -> pl.DataFrame | None:
    """The held-out predictions of a run; none in those of earlier versions."""
    path = folder / HELD_OUT
    return read_held_out(path) if path.exists() else None


def explained_of(folder: Path) -> Facts | None:
    """What was found out about the model before."""
    try:
        with open(folder / EXPLAINED, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
