"""Predictions of a saved model as a file."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from tenfold.core.errors import BadParameter
from tenfold.saved.writing import is_stream, replacing
from tenfold.selection.model import TableModel
from tenfold.table.reading import pl

FORMULA = r"^[=+\-@\t\r\x00]"  # a spreadsheet would run a cell that starts so
FORMATS = (".csv", ".tsv", ".parquet", ".jsonl")


def check_format(out: Path) -> str:
    """The format of a file by the end of its name; what is no file (a pipe, a device) gets CSV."""
    end = out.suffix.lower()
    if end in FORMATS:
        return end
    if is_stream(os.fspath(out)):
        return ".csv"
    raise BadParameter(f"out={str(out)!r}: the name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def write_predictions(model: TableModel, table: Any, out: Path | None, raw: bool = False) -> int:
    """A line for each row: the prediction, and its range or the probability of each class. Returns the number of rows."""
    end = ".csv" if out is None else check_format(out)
    frame = predictions(model, table)
    if not raw and end in (".csv", ".tsv"):
        frame = _without_formulas(frame)
    content = _written(frame, end)
    if out is None:
        sys.stdout.write(content.decode())
    else:
        with replacing(os.fspath(out)) as file:
            file.write(content)
    return frame.height


def predictions(model: TableModel, table: Any) -> pl.DataFrame:
    """A row for each row of a table: the prediction, and its range or the probability of each class."""
    rows = model.coded(table)
    pipeline: Any = model.pipeline
    predicted = pipeline.predict(rows)
    columns = {model.target_: pl.Series(predicted.tolist())}
    if "reach_" in vars(model):
        low, high = model.around(predicted).T
        columns |= {"90% from": pl.Series(low), "90% to": pl.Series(high)}
    if model.role == "classifier":
        share = pipeline.predict_proba(rows)
        columns |= {f"chance of {label}": pl.Series(share[:, k]) for k, label in enumerate(model.classes_)}
    return pl.DataFrame(columns)


def _written(frame: pl.DataFrame, end: str) -> bytes:
    file = io.BytesIO()
    if end == ".parquet":
        frame.write_parquet(file)
    elif end == ".jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_csv(file, separator="\t" if end == ".tsv" else ",")
    return file.getvalue()


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """A quote before texts and names that a spreadsheet would run."""
    texts = pl.col(pl.String)
    quoted = pl.when(texts.str.contains(FORMULA)).then(pl.lit("'") + texts).otherwise(texts).name.keep()
    return frame.with_columns(quoted).rename({name: _harmless(name) for name in frame.columns})


def _harmless(name: str) -> str:
    return f"'{name}" if name[:1] in "=+-@\t\r\0" else name
