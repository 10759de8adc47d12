"""What the gate checks of tables in memory and of fitted learners: parameters, containers, types, labels, weights, widths.

The door is `base.check`, which opens files, streams and collections too; sources check their blocks with what is here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array, Arrays, Source, Target
from tenfold.core.errors import BadInput, BadParameter, not_fitted
from tenfold.core.params import domains
from tenfold.gate.categories import Categories, Coder, coder_of, short, union
from tenfold.gate.columns import numbered_column
from tenfold.gate.containers import (
    as_objects,
    as_table,
    column_names,
    frame_names,
    is_frame,
    listed,
    split_target,
)
from tenfold.gate.inputs import entries_of, source_of
from tenfold.gate.names import check_names
from tenfold.gate.targets import (
    ALL,
    as_column,
    as_target,
    as_weights,
    check_classes,
    check_length,
    drop_unseen_classes,
    encode,
    flat_labels,
    real_target,
)

__all__ = [
    "ALL", "Coder", "as_column", "as_objects", "as_table", "as_target", "as_weights", "categorical_columns", "check_classes",
    "check_fitted", "check_length", "check_names", "check_params", "check_width", "coder_of", "column_names", "encode",
    "facts_of", "flat_labels", "frame_names", "in_memory", "is_frame", "known_coder", "listed", "numbered_column",
    "real_target", "short", "split_target", "union",
]  # fmt: skip


def check_params(learner: Any) -> None:
    """Every parameter against its declared domain."""
    for name, domain in domains(learner).items():
        value = getattr(learner, name)
        if value is domain.default:
            continue
        objection = domain.objection(value)
        if objection:
            raise BadParameter(f"{type(learner).__name__}({name}={short(value)}): {objection}")


def in_memory(
    learner: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    classes: Any = None,
    categories: Categories | None = None,
) -> Arrays:
    """The gate for a table in memory."""
    if learner.accepts not in ("rows", "table"):
        return _entries_in_memory(learner, X, y, sample_weight, classes)
    if isinstance(y, str):
        X, y = split_target(X, y)
    coder = coder_of(learner, categories)
    X, names = as_table(learner, X, coder)
    target, codes = as_target(learner, y, X.shape[0], classes)
    w = as_weights(sample_weight, X.shape[0])
    rows = None
    if w is not None and not w.all():
        rows = np.flatnonzero(w)
        codes, target = drop_unseen_classes(codes, target, rows, classes)
        check_classes(learner, target)
        X = X if coder is None else coder.without_unseen(X, rows)
    n = X.shape[0] if rows is None else len(rows)
    if n < learner.least_rows:
        raise BadInput(
            f"Found array with {n} sample(s) (shape={X.shape}) while a minimum of {learner.least_rows} "
            f"is required by {type(learner).__name__}" + (": 1 sample is not enough" if n == 1 else "")
        )
    facts = facts_of(X.shape[1], names, target, None if coder is None else coder.found)
    return Arrays(X, codes, w, target, facts, rows=rows, missing=learner.missing, double=learner.double, lean=learner.lean_fit)


def _entries_in_memory(learner: Any, X: Any, y: Any, sample_weight: Any, classes: Any) -> Arrays:
    """Input of another kind than rows of fixed width (`gate.inputs`)."""
    names = None
    if learner.accepts == "anything":
        X, y = split_target(X, y) if isinstance(y, str) else (X, y)
        names = frame_names(X)
    X, width = entries_of(learner, X)
    target, codes = as_target(learner, y, X.shape[0], classes)
    w = as_weights(sample_weight, X.shape[0])
    return source_of(learner, X, codes, w, target, facts_of(width, names, target))


def facts_of(width: int, names: Array | None, target: Target, categories: Categories | None = None) -> dict[str, Any]:
    """The fitted attributes that the gate knows."""
    facts: dict[str, Any] = {"n_features_in_": width}
    if names is not None:
        facts["feature_names_in_"] = names
    if target.classes is not None:
        facts["classes_"] = target.classes
    if target.kind == "real":
        facts["_flat"] = target.flat
    if categories is not None:
        facts["categories_"] = categories
    return facts


def categorical_columns(source: Source) -> Array:
    """Which columns of a source hold codes of categories, (p,) of truth values."""
    found = source.facts.get("categories_")
    if found is None:
        return np.zeros(source.n_features, dtype=bool)
    return np.array([one is not None and len(one) > 0 for one in found])


def check_fitted(learner: Any) -> None:
    if "n_features_in_" not in vars(learner):
        raise not_fitted(type(learner).__name__)


def known_coder(learner: Any) -> Coder | None:
    """The coder of a fitted learner."""
    known = vars(learner).get("categories_")
    return None if known is None else coder_of(learner, known)


def check_width(learner: Any, width: int, expected: int) -> None:
    if width != expected:
        raise BadInput(
            f"X has {width} features, but {type(learner).__name__} is expecting {expected} features as input"
        )
