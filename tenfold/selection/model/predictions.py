"""Predictions of a saved model as a file: large tables part by part, written whole or not at all."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.saved.writing import cannot_keep, is_stream, replacing
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.model.unlike import COLUMN, Unlike
from tenfold.table.chunks import chunks, is_large
from tenfold.table.reading import pl, read_table

FORMULA = r"^[=+\-@\t\r\x00]"  # a spreadsheet would run a cell that starts so
SET, BETWEEN = "90% set", " | "
FORMATS = (".csv", ".tsv", ".parquet", ".jsonl")
TOLD = re.compile(r"column '.*?'")  # what a warning is about
PIECE = 1 << 20


def check_format(out: Path) -> str:
    """The format of a file by the end of its name; what is no file (a pipe, a device) gets CSV."""
    end = out.suffix.lower()
    if end in FORMATS:
        return end
    if is_stream(os.fspath(out)):
        return ".csv"
    raise BadParameter(f"out={str(out)!r}: the name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")


def write_predictions(
    model: TableModel, table: Any, out: Path | None, raw: bool = False, looked: Unlike | None = None, mark: bool = False
) -> int:
    """A line for each row: the prediction, and its range, or the classes that it may be and the probability of each. Returns the number
    of rows.

    looked: is shown all rows; mark: what it says of each is a column more. A file that is too large to be read at once is read in
    parts, and what is predicted lies on the disk until it is complete, so that memory is bounded.
    """
    end = ".csv" if out is None else check_format(out)
    with _place(out) as file:
        writer, rows = _Writer(file, end), 0
        for frame in _parts(model, table):
            if isinstance(table, (str, os.PathLike)):
                model.check_columns(frame.columns, Path(table).name)
            found = predictions(model, frame)
            words = None if looked is None else looked.look(frame)
            if mark and words is not None:
                found = found.with_columns(words.alias(_free(COLUMN, found.columns)))
            writer.write(found if raw or end not in (".csv", ".tsv") else _without_formulas(found))
            rows += found.height
        writer.close()
    return rows


def write_frame(frame: pl.DataFrame, out: Path) -> None:
    """A table as a file, by the end of its name: whole or not at all, and no cell that a spreadsheet would run."""
    end = check_format(out)
    with _place(out) as file:
        writer = _Writer(file, end)
        writer.write(frame if end not in (".csv", ".tsv") else _without_formulas(frame))
        writer.close()


def predictions(model: TableModel, table: Any) -> pl.DataFrame:
    """A row for each row of a table: the prediction, and its range, or the classes that it may be and the probability of each; or its
    scores on some axes."""
    rows = model.coded(table)
    if model.role == "transformer":
        scores: pl.DataFrame = model.frame(rows)
        return scores
    predicted = model.predictions(rows)
    columns = {model.target_: pl.Series(predicted.tolist())}
    if "reach_" in vars(model):
        low, high = model.around(predicted).T
        columns |= {_free("90% from", columns): pl.Series(low), _free("90% to", columns): pl.Series(high)}
    if model.role == "classifier":
        share = model.probabilities(rows)
        if "least_" in vars(model):
            columns[_free(SET, columns)] = _joined(model.within(share), [str(one) for one in model.classes_])
        columns |= {_free(f"chance of {label}", columns): pl.Series(share[:, k]) for k, label in enumerate(model.classes_)}
    return pl.DataFrame(columns)


def _joined(inside: Array, labels: list[str]) -> pl.Series:
    """The labels of each set as one text; there are few different sets."""
    sets, of = np.unique(inside, axis=0, return_inverse=True)
    texts = [BETWEEN.join(label for label, here in zip(labels, one, strict=True) if here) for one in sets]
    return pl.Series(texts, dtype=pl.String)[of.reshape(-1)]


def _parts(model: TableModel, table: Any) -> Iterator[pl.DataFrame]:
    """The rows of a table, in parts where it is a large file; what is told of a column is told once."""
    if not (isinstance(table, (str, os.PathLike)) and is_large(Path(table))):
        yield read_table(table, known=model.columns).frame
        return
    told, row = set[str](), 0
    known = model.as_columns() if isinstance(model, TableModel) else []
    for frame in chunks(Path(table), model.columns, known):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield frame
        where = f"in rows {row + 1:,} to {row + frame.height:,}; later ones are not told"
        row += frame.height
        for one in caught:
            about = TOLD.match(str(one.message))
            if about is None or about[0] not in told:
                told.add(about[0] if about else "")
                warnings.warn(f"{one.message} ({where})", one.category, stacklevel=2)


class _Writer:
    """Frames of the same columns, one after another, in a file."""

    def __init__(self, file: BinaryIO, end: str) -> None:
        self.file, self.end, self.started = file, end, False
        self.parquet: Any = None

    def write(self, frame: pl.DataFrame) -> None:
        if self.end == ".parquet":
            import pyarrow.parquet

            table = frame.to_arrow()
            if self.parquet is None:
                self.parquet = pyarrow.parquet.ParquetWriter(self.file, table.schema)
            self.parquet.write_table(table.cast(self.parquet.schema))
        elif self.end == ".jsonl":
            frame.write_ndjson(self.file)
        else:
            frame.write_csv(self.file, separator="\t" if self.end == ".tsv" else ",", include_header=not self.started)
        self.started = True

    def close(self) -> None:
        if self.parquet is not None:
            self.parquet.close()


@contextmanager
def _place(out: Path | None) -> Iterator[BinaryIO]:
    """A file to write to that becomes what was asked for when all is written: a file, or standard output."""
    if out is not None:
        with replacing(os.fspath(out)) as file:
            yield file
        return
    with ExitStack() as stack:
        try:
            kept = stack.enter_context(tempfile.TemporaryFile())
            yield kept
            kept.seek(0)
        except OSError as reason:
            if reason.filename is not None:
                raise
            raise cannot_keep(reason) from None
        _print(kept)


def _print(kept: Any) -> None:
    """To standard output in UTF-8, as to a file, whatever the terminal takes: a label must not become a question mark."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # it takes texts alone
        shutil.copyfileobj(codecs.getreader("utf-8")(kept), sys.stdout, PIECE)
        return
    shutil.copyfileobj(kept, stream, PIECE)
    stream.flush()


def _free(name: str, taken: Collection[str]) -> str:
    """A name that no column has: the target may be called as what stands beside it."""
    while name in taken:
        name += "_"
    return name


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """A quote before texts and names that a spreadsheet would run."""
    texts = pl.col(pl.String)
    quoted = pl.when(texts.str.contains(FORMULA)).then(pl.lit("'") + texts).otherwise(texts).name.keep()
    return frame.with_columns(quoted).rename({name: _harmless(name) for name in frame.columns})


def _harmless(name: str) -> str:
    return f"'{name}" if name[:1] in "=+-@\t\r\0" else name
