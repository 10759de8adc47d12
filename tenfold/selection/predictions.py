"""Answers of a saved model as a CSV file."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import Any

from tenfold.core.errors import BadFile
from tenfold.selection.model import TableModel
from tenfold.selection.reading import pl

FORMULA = r"^[=+\-@\t\r\x00]"  # a spreadsheet would run a cell that starts so


def write_predictions(model: TableModel, table: Any, out: Path | None, raw: bool = False) -> int:
    """A line for each row: the answer, and its range or the probability of each class. Returns the number of rows."""
    rows = model.coded(table)
    pipeline: Any = model.pipeline
    answers = pipeline.predict(rows)
    columns = {model.target_: pl.Series(answers.tolist())}
    if "reach_" in vars(model):
        low, high = model.around(answers).T
        columns |= {"90% from": pl.Series(low), "90% to": pl.Series(high)}
    if model.role == "classifier":
        share = pipeline.predict_proba(rows)
        columns |= {f"chance of {label}": pl.Series(share[:, k]) for k, label in enumerate(model.classes_)}
    frame = pl.DataFrame(columns)
    if not raw:
        texts = pl.col(pl.String)
        frame = frame.with_columns(
            pl.when(texts.str.contains(FORMULA)).then(pl.lit("'") + texts).otherwise(texts).name.keep()
        )
        frame = frame.rename({name: _harmless(name) for name in frame.columns})
    text = frame.write_csv()
    if out is None:
        sys.stdout.write(text)
    else:
        _replace(out, text)
    return frame.height


def _harmless(name: str) -> str:
    return f"'{name}" if name[:1] in "=+-@\t\r\0" else name


def _replace(path: Path, text: str) -> None:
    """The file whole or not at all."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(new, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as reason:
        new.unlink(missing_ok=True)
        raise BadFile(f"{path} could not be written: {reason.strerror or reason}") from None
