"""Rows in memory, for what needs them by number."""

from __future__ import annotations

from typing import Any

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.engine import current_engine
from tenfold.core.learning import Keep


def read(model: Estimator, X: Any, y: Any, *rest: Any) -> Arrays:
    """What `fit` takes, checked for the model, as a table; `rest` as in `check_fit`."""
    return in_memory(check.check_fit(model, X, y, *rest), model.missing)


def in_memory(source: Source, missing: bool) -> Arrays:
    """The rows of any source as a table: files and streams are read."""
    if isinstance(source, Arrays):
        return source
    return table_of(Keep(sparse=True).answer(source, current_engine(source)), source, missing)


def table_of(rows: tuple[Any, Array, Array], source: Source, missing: bool) -> Arrays:
    """Rows that were kept as a table with the facts of their source."""
    X, y, w = rows
    made = Arrays(X, y if source.target.kind != "none" else None, w, source.target, source.facts, missing=missing)
    made.looked = source.looked
    return made
