"""Tables that come through a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tenfold.core.errors import TenfoldError

STANDARD_INPUT = "-"
PARQUET = b"PAR1"  # how such a file begins; whatever else comes is taken for text


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The same table as a file that can be read more than once: what comes from standard input ("-") or another pipe is kept meanwhile."""
    piped = str(path) == STANDARD_INPUT
    if not piped and (path.is_file() or path.is_dir() or not path.exists()):  # what is wrong with it is told by who reads it
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="tenfold-") as place, nullcontext(sys.stdin.buffer) if piped else open(path, "rb") as source:
        begin = source.read(len(PARQUET))
        kept = Path(place) / ("standard_input.parquet" if begin == PARQUET else "standard_input.csv")
        with open(kept, "wb") as file:
            file.write(begin)
            shutil.copyfileobj(source, file)
        try:
            yield kept
        except TenfoldError as reason:  # the place where it was kept means nothing to anybody
            raise type(reason)(str(reason).replace(str(kept), "standard input" if piped else str(path))) from None
