"""The one gate. What users give is checked here and in the parts of `tenfold.gate`, and nowhere else.

`check_fit` turns whatever the user gave into a `Source` of clean blocks; `check_predict` into an array of the
right width. What the gate found out (`n_features_in_`, `feature_names_in_`, `classes_`) travels as `source.facts`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Source, Target, as_floats
from tenfold.core.errors import BadInput, TooLarge, too_large
from tenfold.core.numbers import check_finite
from tenfold.gate.categories import Categories
from tenfold.gate.check import (
    Coder,
    as_column,
    as_objects,
    as_table,
    as_target,
    as_weights,
    categorical_columns,
    check_fitted,
    check_length,
    check_names,
    check_params,
    check_width,
    coder_of,
    encode,
    flat_labels,
    frame_names,
    in_memory,
    is_frame,
    known_coder,
    listed,
    real_target,
    short,
    split_target,
)
from tenfold.gate.inputs import entries_of, source_of
from tenfold.gate.names import by_name

# Learners and tools above call all of the gate by this one name.
__all__ = [
    "Coder", "as_column", "as_objects", "as_table", "as_target", "as_weights", "categorical_columns", "check_fit", "check_fitted",
    "check_length", "check_more", "check_names", "check_params", "check_predict", "check_width", "coder_of", "elsewhere", "encode",
    "flat_labels", "frame_names",
    "in_memory", "is_frame", "known_coder", "listed", "real_target", "short", "split_target",
]  # fmt: skip


def check_fit(
    learner: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    classes: Any = None,
    categories: Categories | None = None,
) -> Source:
    """Everything a learner needs to fit, as a source of clean blocks; `classes` and `categories` where they are known before."""
    check_params(learner)
    if learner.accepts == "table":
        coded: Source = learner._source(X, y, sample_weight, classes)
        return coded
    categories = learner.given_categories if categories is None else categories
    elsewhere = _opened(learner, X, y, sample_weight, classes, categories)
    if elsewhere is not None:
        return elsewhere
    try:
        source = in_memory(learner, X, y, sample_weight, classes, categories)
    except MemoryError as error:
        if isinstance(error, TooLarge):
            raise
        n, *width = np.shape(X)
        raise too_large(type(learner).__name__, n, width[0] if width else 1, error) from error
    source.single = getattr(source.X, "dtype", None) == np.float32  # of the table that was given, not of parts of it
    source.looked = learner._look(split_target(X, y)[0] if isinstance(y, str) else X)
    return source


def check_more(learner: Any, X: Any, y: Any, sample_weight: Any, classes: Any, begun: bool) -> Source:
    """Rows for `partial_fit`: of one that has begun, columns and classes as before; the first rows come with all classes."""
    if not begun:
        if classes is None and learner.target == "label" and "classes_" not in vars(learner):
            raise BadInput("classes must be passed on the first call to partial_fit: all labels that will ever come")
        return check_fit(learner, X, y, sample_weight, classes)
    known = learner.classes_ if learner.target == "label" else None
    if classes is not None and not np.array_equal(np.unique(classes), known if known is not None else []):
        raise BadInput(f"classes={short(classes)} is not the same as on last call to partial_fit")
    source = check_fit(learner, X, y, sample_weight, known, vars(learner).get("categories_"))
    check_width(learner, source.n_features, learner.n_features_in_)
    check_names(learner, source.facts.get("feature_names_in_"))
    return source


def _opened(learner: Any, X: Any, *given: Any, plain: bool = False) -> Source | None:
    """The source of rows in files, blocks or Dask collections; None for a table in memory."""
    if type(X) is np.ndarray or learner.accepts != "rows":
        return None
    from tenfold.sources import stream, tables

    if tables.is_path(X):
        return tables.open_files(learner, X, *given, plain=plain)
    if stream.is_dask(X):
        from tenfold.sources.collection import open_collection

        return open_collection(learner, X, *given, plain=plain)
    return stream.open_stream(learner, X, *given, plain=plain) if stream.is_stream(X) else None


def elsewhere(X: Any) -> bool:
    """Whether X is no table in memory: a path, blocks of rows, a Dask collection, rows on their way through a pipeline."""
    if type(X) is np.ndarray:
        return False
    from tenfold.sources import stream, tables

    return isinstance(X, Source) or tables.is_path(X) or stream.is_dask(X) or stream.is_stream(X)


def check_predict(learner: Any, X: Any, *, width: int | None = None) -> Any:
    """X as the learner was fitted on it: names, width, type, finite. Paths and streams become a Source."""
    check_fitted(learner)
    if isinstance(X, Source):
        return X  # rows on their way from one step of a pipeline to the next: they have been here
    accepts = learner.accepts
    if accepts == "table":
        return learner._coded_rows(X)
    width = learner.n_features_in_ if width is None else width
    if accepts != "rows":
        entries, _ = entries_of(learner, X, width)
        return source_of(learner, entries, None, None, Target("none"), {"n_features_in_": width})
    source = _opened(learner, X, plain=True)
    if source is not None:
        return source
    names = frame_names(X)
    if names is not None and (used := learner._columns_used()) is not None:
        X, names = by_name(learner, X, names, used)
    check_names(learner, names)
    X, _ = as_table(learner, X, known_coder(learner))
    check_width(learner, X.shape[1], width)
    X = as_floats(X)
    if not ops.all_usable(X):
        check_finite(X, slice(0, None), getattr(learner, "feature_names_in_", None), learner.missing, learner.double)
    return X
