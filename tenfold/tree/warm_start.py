"""Warm starts: what the rows of the next fit must have in common with those of the fit before."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Source
from tenfold.core.errors import BadInput
from tenfold.core.numbers import column_name


def check_goes_on(model: Estimator, source: Source) -> None:
    """A fitted model goes on with these rows: as many columns, the same classes, the same categories."""
    before, now = vars(model), source.facts
    other = None
    if before["n_features_in_"] != source.n_features:
        other = f"X has {source.n_features} columns, and the fit before had {before['n_features_in_']}"
    elif "classes_" in before and not _same_classes(before["classes_"], now["classes_"]):
        other = "the classes of y are not those of the fit before"
    else:
        pairs = zip_longest(before.get("categories_") or [], now.get("categories_") or [])
        changed = [j for j, (one, two) in enumerate(pairs) if not _equal(one, two)]
        if changed:
            other = (
                f"{column_name(now.get('feature_names_in_'), changed[0])} has other categories than in the fit before"
            )
    if other is not None:
        raise BadInput(f"{type(model).__name__}(warm_start=True): {other}: give the same, or set warm_start=False")


def _same_classes(one: Any, two: Any) -> bool:
    """Those of one target, or lists with those of several."""
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(np.array_equal, one, two))
    return type(one) is type(two) and np.array_equal(one, two)


def _equal(one: Any, two: Any) -> bool:
    return one is two or (one is not None and two is not None and list(one) == list(two))
