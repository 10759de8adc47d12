"""Local refinement: variants of the families that lead a race, a step away from them in one parameter each.

They run a second lap on the same folds, behind all others, where the budget has room. Who leads is asked anew for every choice: a variant
may be chosen only where the family that it refines leads by the folds that the choice looks at, in each round of the estimate as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tenfold.base.sklearn_api import fresh
from tenfold.selection.plan.entries import Entry, Shape
from tenfold.selection.plan.tree_entries import boost

LEAST_ROWS = 200  # fewer do not tell variants of one model apart
NARROWER, WIDER = 0.7, 1.4  # of the width of kernels
SMALL_LEAF, LARGE_LEAF = 5, 20
PENALTY = 10.0  # of the values of leaves
KEPT = ("loss", "max_features", "min_samples_leaf", "subsample", "monotonic_cst")  # of boosting, by a variant that does not change them


def affordable_variants(
    leaders: Sequence[Entry], shape: Shape, fits: float, left: float, known: Sequence[Entry] = ()
) -> list[Entry]:
    """The variants of these families, in their order, that so many seconds of one core have room for, each with so many fits; none that is
    the same as another one, or as one of those that are known, such as wide kernels made narrower and narrow ones made wider."""
    found, seen = [], {_made_of(one) for one in (*leaders, *known)}
    for entry in leaders if shape.rows >= LEAST_ROWS else []:
        for one in VARIANTS[entry.kind](entry, shape) if entry.kind in VARIANTS else []:
            if one.seconds * fits <= left and _made_of(one) not in seen:
                found.append(replace(one, refines=entry.title))
                seen.add(_made_of(one))
                left -= one.seconds * fits
    return found


def _made_of(entry: Entry) -> tuple[object, ...]:
    """What is fitted: the same for families that differ by their titles alone."""
    return repr(entry.learner), entry.name, entry.values, entry.powers


def _of_boosting(entry: Entry, shape: Shape) -> list[Entry]:
    """Slower, with larger and smaller trees, other leaves, fewer columns, a penalty."""
    learner: Any = entry.learner
    leaves, rate, least = learner.max_leaf_nodes, learner.learning_rate, learner.min_samples_leaf
    same = {name: getattr(learner, name) for name in KEPT}
    changed: list[tuple[str, int, float, dict[str, Any]]] = [
        ("half the rate", leaves, rate / 2, {}),
        ("twice the leaves", 2 * leaves, rate, {}),
        ("half the leaves", max(3, leaves // 2), rate, {}),
        ("smaller leaves", leaves, rate, {"min_samples_leaf": SMALL_LEAF})
        if least > SMALL_LEAF
        else ("larger leaves", leaves, rate, {"min_samples_leaf": LARGE_LEAF}),
        ("half as many columns", leaves, rate, {"max_features": learner.max_features / 2}),
        ("penalised", leaves, rate, {"l2_regularization": PENALTY}),
    ]
    return [boost(shape, f"{entry.title}; {name}", many, slow, same | options) for name, many, slow, options in changed]


def _of_forest(entry: Entry, shape: Shape) -> list[Entry]:
    """More and fewer columns for a node, larger leaves."""
    learner: Any = entry.learner
    p = shape.columns
    drawn = max(1, int(math.sqrt(p))) if learner.max_features == "sqrt" else max(1, round(float(learner.max_features) * p))
    changed: dict[str, tuple[float, dict[str, Any]]] = {"larger leaves": (1.0, {"min_samples_leaf": 3 * learner.min_samples_leaf})}
    if 2 * drawn <= p:
        changed["twice the columns"] = 2.0, {"max_features": 2 * drawn / p}
    if drawn >= 2:
        changed["half the columns"] = 1.0, {"max_features": (drawn // 2) / p}
    return [_changed(entry, name, options, times) for name, (times, options) in changed.items()]


def _of_basis(entry: Entry, shape: Shape) -> list[Entry]:
    """Kernels of other widths, splines with more knots."""
    steps = dict(entry.learner.steps)
    if "kernels" in steps:
        width = steps["kernels"].bandwidth
        both = {"narrower": NARROWER * width, "wider": WIDER * width}
        return [_changed(entry, name, {"kernels__bandwidth": value}) for name, value in both.items()]
    if "splines" in steps:
        return [_changed(entry, "twice the knots", {"splines__n_knots": 2 * steps["splines"].n_knots}, 2.0)]
    return []


def _changed(entry: Entry, name: str, options: dict[str, Any], times: float = 1.0) -> Entry:
    """The entry with other parameters, whose fits take so many times as long."""
    return replace(
        entry, title=f"{entry.title}; {name}", learner=fresh(entry.learner).set_params(**options), seconds=times * entry.seconds
    )


VARIANTS: dict[str, Callable[[Entry, Shape], list[Entry]]] = {
    "boosting": _of_boosting,
    "forest": _of_forest,
    "extra": _of_forest,
    "basis": _of_basis,
}
