"""Rows in memory, for what needs them by number."""

from __future__ import annotations

from typing import Any

from tenfold.base import check
from tenfold.core.data import Arrays, Source
from tenfold.core.engine import current_engine
from tenfold.core.stats import Rows


def read(model: Any, X: Any, y: Any, *rest: Any) -> Arrays:
    """What `fit` takes, checked for the model, as a table; `rest` as in `check_fit`."""
    return in_memory(check.check_fit(model, X, y, *rest), model.missing)


def in_memory(source: Source, missing: bool) -> Arrays:
    """The rows of any source as a table: files and streams are read."""
    if isinstance(source, Arrays):
        return source
    return as_arrays(current_engine(source).run(Rows.of, source), source, missing)


def as_arrays(rows: Rows, source: Source, missing: bool) -> Arrays:
    """The blocks of a source as a table."""
    blocks = rows.parts
    columns = [Rows([getattr(block, name) for block in blocks]).whole() for name in ("X", "y", "w")]
    return Arrays(*columns, source.target, source.facts, missing=missing)
