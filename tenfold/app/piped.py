"""Tables that come through a pipe."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from tenfold.core.errors import BadFile, TenfoldError
from tenfold.saved.writing import cannot_keep

STANDARD_INPUT = "-"
PARQUET = b"PAR1"  # how such a file begins; whatever else comes is taken for text
GZIP = b"\x1f\x8b"
PIECE = 1 << 20


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The same table as a file that can be read more than once: what comes from standard input ("-") or another pipe is kept meanwhile."""
    piped = str(path) == STANDARD_INPUT
    if not piped and (path.is_file() or path.is_dir() or not path.exists()):  # what is wrong with it is told by who reads it
        yield path
        return
    try:
        temporary = tempfile.TemporaryDirectory(prefix="tenfold-")
    except OSError as reason:
        raise cannot_keep(reason) from None
    with temporary as place, nullcontext(sys.stdin.buffer) if piped else open(path, "rb") as source:
        name = "standard input" if piped else str(path)
        kept = _kept(source, name, Path(place))
        try:
            yield kept
        except TenfoldError as reason:  # the place where it was kept means nothing to anybody
            raise type(reason)(str(reason).replace(str(kept), name).replace(kept.name, name)) from None


def _kept(source: BinaryIO, name: str, place: Path) -> Path:
    """What comes, as a file in this folder; what fails is named, the pipe or the temporary folder."""
    pieces = _pieces(source, name)
    begin = next(pieces, b"")
    if begin[: len(GZIP)] == GZIP:
        raise BadFile(f"{name}: gzip is not unpacked from a pipe: use zcat")
    kept = place / ("standard_input.parquet" if begin[: len(PARQUET)] == PARQUET else "standard_input.csv")
    try:
        with open(kept, "wb") as file:
            file.write(begin)
            file.writelines(pieces)
    except OSError as reason:
        raise cannot_keep(reason) from None
    return kept


def _pieces(source: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        while piece := source.read(PIECE):
            yield piece
    except OSError as reason:
        raise BadFile(f"{name}: cannot be read ({reason.strerror or reason})") from None
