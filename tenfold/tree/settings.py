"""What trees share before they grow: limits as absolute numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.numbers import column_name
from tenfold.core.random import generator
from tenfold.score.record import Score
from tenfold.score.registry import find_score

ROWS = "the {0!r} parameter must be an int in the range [{1}, inf) or a float in the range (0.0, 1.0], a share of the rows"


def refuse(model: Any, name: str, what: str) -> BadParameter:
    """The error for a parameter of a learner."""
    value = repr(getattr(model, name))
    return BadParameter(f"{type(model).__name__}({name}={value[:60]}): {what}")


def generator_of(model: Estimator) -> np.random.Generator:
    """What its `random_state` draws with."""
    try:
        return generator(model.random_state)
    except (TypeError, ValueError):
        raise refuse(model, "random_state", "must be a whole number >= 0, a generator, or None") from None


def chosen_oob_score(model: Any) -> Score | None:
    """The score that `oob_score` names, or is as a function; None where it only sets whether there is one."""
    if isinstance(model.oob_score, (bool, np.bool_)):
        return None
    n_classes = len(model.classes_) if model.target == "label" else None
    return find_score(model.oob_score, model.role, n_classes, parameter="oob_score", owner=type(model).__name__)


def columns_to_draw(model: Estimator, p: int) -> int:
    """How many columns a node looks at; 0 for all of them."""
    value = model.max_features
    if value is None or value is True:
        return 0
    if value == "sqrt":
        return max(1, int(math.sqrt(p)))
    if value == "log2":
        return max(1, int(math.log2(p)))
    if isinstance(value, (int, np.integer)):
        return 0 if value >= p else int(value)
    if not 0 < value <= 1:
        raise refuse(model, "max_features", "a share of the columns must be above 0 and at most 1")
    return 0 if value == 1 else max(1, int(value * p))


def rows_needed(model: Any, name: str, n: int, least: int) -> int:
    """A number of rows, given as such or as a share of n."""
    value = getattr(model, name)
    if isinstance(value, (int, np.integer)):
        if value < least:
            raise refuse(model, name, ROWS.format(name, least))
        return min(int(value), 2**62)
    if not 0 < value <= 1:
        raise refuse(model, name, ROWS.format(name, least))
    return max(least, math.ceil(float(value) * n))


def directions(model: Estimator, p: int, targets: int = 1) -> Array:
    """`monotonic_cst` as an array of −1, 0 and 1 by column; empty where nothing is asked for."""
    given = model.monotonic_cst
    if given is None:
        return np.empty(0, dtype=np.int64)
    if targets > 1:
        raise refuse(
            model, "monotonic_cst", f"Monotonicity constraints are not supported with multiple outputs, and y has {targets} columns"
        )
    if isinstance(given, dict):
        names = vars(model).get("feature_names_in_", np.empty(0)).tolist()
        unknown = sorted(str(name) for name in given if name not in names)
        if not names:
            raise refuse(
                model,
                "monotonic_cst",
                f"{type(model).__name__} was not fitted on data with feature names. Pass monotonic_cst as an integer array instead.",
            )
        if unknown:
            many = f"{unknown[:5]}"[:-1] + (", '...']" if len(unknown) > 5 else "]")
            raise refuse(model, "monotonic_cst", f"monotonic_cst contains {len(unknown)} unexpected feature names: {many}.")
        for name, one in given.items():
            if one not in (-1, 0, 1):
                raise refuse(model, "monotonic_cst", f"monotonic_cst[{name!r}] must be either -1, 0 or 1. Got {one!r}.")
        given = [given.get(name, 0) for name in names]
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(p, np.nan)
    if found.ndim == 1 and len(found) != p:
        raise refuse(model, "monotonic_cst", f"monotonic_cst has shape {len(found)} but the input data X has {p} features.")
    if found.shape != (p,) or not np.isin(found, (-1.0, 0.0, 1.0)).all():
        got = f"Got {str(given)[:60]}: give a value for each column, or a dict by name"
        raise refuse(model, "monotonic_cst", f"monotonic_cst must be None or an array-like of -1, 0 or 1. {got}")
    if model.target == "label" and len(model.classes_) > 2:
        raise refuse(
            model, "monotonic_cst", "Monotonicity constraints are not supported with multiclass classification: two classes only"
        )
    for j, categories in enumerate(vars(model).get("categories_") or []):
        if found[j] and categories is not None and len(categories):
            where = column_name(vars(model).get("feature_names_in_"), j)
            raise refuse(model, "monotonic_cst", f"Categorical features cannot have monotonic constraints: give {where} 0")
    return found.astype(np.int64) if found.any() else np.empty(0, dtype=np.int64)


def column_groups(model: Estimator, p: int) -> Array:
    """`interaction_cst` as (groups, p): which columns may meet on one path of a tree; no group where all may."""
    given = model.interaction_cst
    if given is None:
        return _groups([], p)
    if isinstance(given, str) and given == "pairwise":
        return _groups([(a, b) for a in range(p) for b in range(min(a + 1, p - 1), p)], p)
    if isinstance(given, str) and given == "no_interactions":
        return _groups([(j,) for j in range(p)], p)
    try:
        groups = [tuple(columns) for columns in given]
    except TypeError:
        groups = None
    if groups is None or isinstance(given, str):
        raise refuse(
            model,
            "interaction_cst",
            "Interaction constraints must be a sequence of tuples or lists, 'pairwise' or 'no_interactions'",
        )
    if any(not isinstance(j, (int, np.integer)) or not 0 <= j < p for columns in groups for j in columns):
        raise refuse(
            model,
            "interaction_cst",
            f"Interaction constraints must consist of integer indices in [0, n_features - 1] = [0, {p - 1}], "
            "specifying the position of features, in groups",
        )
    named = {j for columns in groups for j in columns}
    return _groups([*groups, tuple(j for j in range(p) if j not in named)], p)


def _groups(groups: list[tuple[int, ...]], p: int) -> Array:
    """(groups, p): which columns are in which group; empty groups are left out."""
    groups = [columns for columns in groups if columns]
    members = np.zeros((len(groups), p), dtype=np.uint8)
    for row, columns in zip(members, groups, strict=True):
        row[list(columns)] = 1
    return members
