"""The splits of a search: folds that depend on what the rows hold, or those that a splitter or the user gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.compose.folds import DEFAULT_FOLDS, folds_by_content
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.split.plan import SplitPlan, folds_plan, plan
from tenfold.evaluate.split.splitting import Splitting


def rounds_of_search(search: Any, member: Estimator, rows: Arrays, groups: Any) -> tuple[list[SplitPlan], Array | None]:
    """The rounds that `cv` asks for, and the group of each row where there are groups."""
    cv, name = search.cv, type(search).__name__
    of_rows = None if groups is None else _groups(groups, rows)
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if (number and cv < 2) or isinstance(cv, (bool, float)):
        raise BadParameter(f"{name}(cv={cv!r}): must be at least 2 folds, a splitter, or pairs of row numbers")
    if (cv is None or (number and search.folds_by_content)) and groups is None:
        return [folds_plan(folds_by_content(rows, DEFAULT_FOLDS if cv is None else int(cv)))], None
    try:
        if groups is None:
            return plan(member, rows, Splitting(cv=int(cv) if number else cv)), of_rows
        folds = DEFAULT_FOLDS if cv is None else int(cv) if number else cv
        return plan(member, rows, Splitting(folds=folds, groups=groups)), of_rows
    except (BadInput, BadParameter) as failure:
        raise type(failure)(f"{name}(cv={check.short(cv)}): {failure}") from None


def _groups(groups: Any, rows: Arrays) -> Array:
    """The group of each row that takes part."""
    given = np.asarray(groups)
    check.check_length("groups", len(given), rows.X.shape[0])
    return given if rows.rows is None else given[rows.rows]
