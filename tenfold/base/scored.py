"""The gate for rows that are judged: with their true targets, which may be the name of a column, as in fit, or in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, not_fitted
from tenfold.core.stats import Rows


def rows_and_truth(learner: Any, X: Any, y: Any) -> tuple[Any, Array]:
    """X without the target, and the target of each row; of files and Dask collections y is read in a pass of its own."""
    if not learner.__sklearn_is_fitted__():
        raise not_fitted(type(learner).__name__)
    if y is None:
        raise BadInput(f"{type(learner).__name__}.score requires y to be passed, but the target y is None")
    if not isinstance(y, str):
        return X, check.as_column(y)
    if check.is_frame(X) or isinstance(X, np.ndarray):
        return check.split_target(X, y)
    known = vars(learner)
    source = check.check_fit(learner, X, y, None, known.get("classes_"), known.get("categories_"))
    truth: Array = current_engine(source).run(_targets, source).whole()
    return X, truth if source.target.classes is None else source.target.classes[truth]


def table_of(learner: Any, X: Any) -> Any:
    """X as in `check_predict`, in memory: files, streams and collections are read."""
    rows = check.check_predict(learner, X)
    return current_engine(rows).run(_table, rows).whole() if isinstance(rows, Source) else rows


def _table(block: Any) -> Rows:
    return Rows.of(block.X)


def _targets(block: Any) -> Rows:
    return Rows.of(block.y)
