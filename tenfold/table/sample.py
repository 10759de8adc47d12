"""A table, or, of one that is longer than a choice among models needs, rows drawn by chance; a large file is never in memory as a whole."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import DataWarning
from tenfold.table.chunks import chunks, is_large
from tenfold.table.large import lines_in
from tenfold.table.reading import Raw, pl, place_of, read_table

MOST_CELLS = 20_000_000  # of the rows that are taken, if no number of rows is asked for


def read_sample(source: Any, rows: int | None, seed: int) -> Raw:
    """The table, if it has at most so many rows (None: 20 million cells); else about as many of its rows, in their order.

    Each row is taken with the same chance, by the seed: numbers are drawn row by row, however the file is cut.
    """
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None and path.is_file() and is_large(path):
        count, width = _size(path)
        most = rows or max(1, MOST_CELLS // width)
        if count > most:
            return _from_parts(path, most / count, seed)
    raw = read_table(source)
    most = rows or max(1, MOST_CELLS // raw.frame.width)
    if raw.frame.height <= most:
        return raw
    taken = np.flatnonzero(np.random.default_rng(seed).random(raw.frame.height) < most / raw.frame.height)
    return replace(raw, frame=raw.frame[taken], drawn=taken, height=raw.frame.height)


def _from_parts(path: Path, share: float, seed: int) -> Raw:
    """Some rows of a large file."""
    began, rng = time.perf_counter(), np.random.default_rng(seed)
    frames, drawn, first = list[pl.DataFrame](), list[Array](), 0
    notes = list[str]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        for frame in _with_texts(path):
            taken = np.flatnonzero(rng.random(frame.height) < share)
            frames.append(frame[taken])
            drawn.append(first + taken)
            first += frame.height
    for one in caught:
        notes.append(str(one.message))
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    about = "Parquet" if path.suffix.lower() in (".parquet", ".pq") else "CSV"
    whole, gone = pl.concat(frames), time.perf_counter() - began
    return Raw(whole, True, path.name, about, gone, path, place_of(path), notes=tuple(notes), drawn=np.concatenate(drawn), height=first)


def _with_texts(path: Path) -> Iterator[pl.DataFrame]:
    """The rows of a large file; codes of texts differ from part to part."""
    for frame in chunks(path):
        yield frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def _size(path: Path) -> tuple[int, int]:
    """Rows, of a CSV file at most so many, and columns."""
    if path.suffix.lower() in (".parquet", ".pq"):
        from pyarrow.parquet import read_metadata

        about = read_metadata(path)
        return about.num_rows, max(1, about.num_columns)
    return lines_in(path), max(1, next(iter(chunks(path))).width)
