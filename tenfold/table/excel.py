"""Sheets of Excel and OpenDocument files as frames, by fastexcel or, where that is not installed, openpyxl."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from tenfold.core.errors import BadFile, BadParameter
from tenfold.table.lines import Tell
from tenfold.table.packed import bytes_of, is_packed

EXCEL = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
HEAD = 50  # rows in which the header is looked for
NAMELESS = "__UNNAMED__"  # what the reader calls a column without a name


def read_excel(path: Path, sheet: str | None, tell: Tell) -> pl.DataFrame:
    """The sheet of this name, or the first; lines above the header are left out."""
    try:
        fastexcel: Any = import_module("fastexcel")
    except ImportError:
        return _by_openpyxl(path, sheet, tell)
    try:
        book = fastexcel.read_excel(bytes_of(path) if is_packed(path) else str(path))
        name = _chosen(path, book.sheet_names, sheet, tell)
        head = book.load_sheet(name, header_row=None, n_rows=HEAD, dtypes="string").to_polars()
        above = _above_header(head.rows())
        names = [str(cell).strip() for cell in head.row(above) if cell is not None] if head.height else []
        frame: pl.DataFrame = book.load_sheet(name, header_row=above, schema_sample_rows=None).to_polars()
    except fastexcel.FastExcelError as reason:
        raise BadFile(f"{path} cannot be read as an Excel file: {_words(reason)}") from None
    if above:
        tell(f"{path.name!r}: {above} line{'s' if above > 1 else ''} above the header left out")
    repeated = list(dict.fromkeys(one for one in names if names.count(one) > 1)) if len(set(names)) < len(names) else []
    if repeated:
        tell(f"{path.name!r}: two columns or more are called {repeated[0]!r}: all but the first get a number behind their name")
    return frame.rename({column: "" if i == 0 else f"_duplicated_{i}" for i, column in enumerate(frame.columns) if NAMELESS in column})


def _by_openpyxl(path: Path, sheet: str | None, tell: Tell) -> pl.DataFrame:
    try:
        openpyxl: Any = import_module("openpyxl")
    except ImportError:
        raise BadFile(f"reading {path.name} needs fastexcel or openpyxl: pip install fastexcel") from None
    data = bytes_of(path)
    try:
        name = _chosen(path, openpyxl.load_workbook(io.BytesIO(data), read_only=True).sheetnames, sheet, tell)
        return pl.read_excel(io.BytesIO(data), engine="openpyxl", sheet_name=name)
    except (BadParameter, pl.exceptions.PolarsError):
        raise
    except Exception as reason:  # of a file that is none it says so in errors of many classes
        raise BadFile(f"{path} cannot be read as an Excel file: {_words(reason)}") from None


def _chosen(path: Path, sheets: Sequence[str], wanted: str | None, tell: Tell) -> str:
    if wanted is not None and wanted not in sheets:
        raise BadParameter(f"table={wanted!r}: there is no such sheet in {path.name}, which has {', '.join(sheets[:8])}")
    if wanted is None and len(sheets) > 1:
        first, other = sheets[:2]
        tell(f"{path.name!r} has {len(sheets)} sheets, the first of them, {first!r}, is read: in Python table={other!r} reads another")
    return sheets[0] if wanted is None else wanted


def _above_header(rows: list[tuple[Any, ...]]) -> int:
    """The number of lines above the header: it is the first with as many names as columns have values further down."""
    filled = [sum(cell is not None and str(cell).strip() != "" for cell in row) for row in rows]
    if not filled or max(filled) < 2:
        return 0
    usual = max(filled, key=filled.count)
    first = next((i for i, count in enumerate(filled) if count >= max(2, usual)), 0)
    return first if all(count <= 1 for count in filled[:first]) else 0


def _words(reason: Exception) -> str:
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0].rstrip(".")[:300]
