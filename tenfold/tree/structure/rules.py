"""A tree of any number of branches in words: indented text, and rules.

Values that fit saw in a column, but not among the rows of a node that splits on it, have no branch: their prediction is that of the node
itself, and it is shown with a weight of 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.tree.structure.describe import (
    MOST_NAMED,
    NO_VALUE,
    among,
    categories_of,
    class_verdict,
    had_missing,
    interval,
    name_of,
    purity,
    word,
)
from tenfold.tree.structure.multiway import LEAF, MISSING, ManyWay
from tenfold.tree.structure.text import Style

if TYPE_CHECKING:  # Python need not know what a mixin stands beside
    _Beside = Estimator
else:
    _Beside = object


class Wording(_Beside):
    """Mixin: `export_text` and `rules` for a learner with a `tree_` of any number of branches."""

    shares_missing: ClassVar[bool] = False  # whether a row with a missing value goes down every branch with part of its weight

    def export_text(self, decimals: int = 2, *, max_categories: int | None = MOST_NAMED) -> str:
        """The tree as indented text: one line for each branch, with class and weight at the leaves.

        A weight of 0: values that fit saw, but in no row of that node. Of a set of categories `max_categories` are named.
        """
        check.check_fitted(self)
        return "\n".join(_lines(self, Style(decimals, max_categories)))

    def rules(self, decimals: int = 2, *, max_categories: int | None = MOST_NAMED) -> list[str]:
        """One readable rule for each leaf: `if colour = red and 2 < size <= 3 then ripe (12 of 13)`.

        A weight of 0: values that fit saw, but in no row of that node. Of a set of categories `max_categories` are named.
        """
        check.check_fitted(self)
        style = Style(decimals, max_categories)
        return [_rule(self, *way, style) for way in _ways(self, style)]

    def _outline(self, place: Any) -> tuple[str, tuple[int | None, float], list[tuple[str, Any]]]:
        """For a picture: the prediction and the column of a node, its class and purity, and its branches."""
        tree: ManyWay = self.tree_
        node = place or 0
        text, branches = class_verdict(self, tree.counts[node]), []
        if tree.feature[node] != LEAF:
            name = name_of(self, int(tree.feature[node]))
            text += f"\n{name}"
            for value, child in tree.branches(node):
                condition = _condition(self, node, value, None)
                label = condition.removeprefix(name).removeprefix(" = ").replace(f" < {name} <= ", " to ")
                branches.append((label.strip(), child))
        return text, purity(tree.counts[node]), branches


def _lines(model: Estimator, style: Style) -> Iterator[str]:
    """By a list of what is left to write, not by recursion: lines that are ready, and nodes with their condition and depth."""
    tree: ManyWay = model.tree_
    todo: list[str | tuple[str, int, int]] = [("", 0, 0)]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            yield one
            continue
        condition, node, depth = one
        above, indent = "|   " * (depth - 1), "|   " * depth
        if tree.feature[node] == LEAF:
            yield f"{above}{condition}{': ' if depth else ''}{class_verdict(model, tree.counts[node])}"
            continue
        if depth:
            yield above + condition
        column = int(tree.feature[node])
        branches: list[str | tuple[str, int, int]] = [
            (_condition(model, node, value, style.decimals), child, depth + 1) for value, child in tree.branches(node)
        ]
        branches += [f"{indent}{others}: {_class(model, node)} (0)" for others in _without_branch(model, node, style)]
        if model.shares_missing and had_missing(model, column):
            branches.append(f"{indent}{name_of(model, column)} is missing: all of these, by their weights")
        todo += reversed(branches)


def _ways(model: Estimator, style: Style) -> Iterator[tuple[Any, str, str]]:
    """Each leaf: the (node, value) of the branches that lead to it, further conditions, and its prediction."""
    tree: ManyWay = model.tree_
    todo: list[tuple[list[tuple[int, float]], int, str | None]] = [([], 0, None)]
    while todo:
        path, node, others = todo.pop()
        if others is not None:
            yield path, others, f"{_class(model, node)} (0)"
        elif tree.feature[node] == LEAF:
            yield path, "", class_verdict(model, tree.counts[node])
        else:
            below = [([*path, (node, value)], child, None) for value, child in tree.branches(node)]
            todo += reversed([*below, *((path, node, one) for one in _without_branch(model, node, style))])


def _rule(model: Estimator, path: list[tuple[int, float]], others: str, verdict: str, style: Style) -> str:
    """Thresholds of one column met on the way become one interval."""
    tree: ManyWay = model.tree_
    conditions: dict[Any, str] = {}
    bounds: dict[int, tuple[float, float]] = {}
    for node, value in path:
        column = int(tree.feature[node])
        if np.isnan(tree.threshold[node]):
            conditions[column, "value"] = _condition(model, node, value, style.decimals)
            continue
        low, high = bounds.setdefault(column, (-np.inf, np.inf))
        cut = float(tree.threshold[node])
        low, high = bounds[column] = (low, min(high, cut)) if value == 0 else (max(low, cut), high)
        conditions[column, "interval"] = interval(name_of(model, column), low, high, style.decimals)
    condition = " and ".join([*conditions.values(), *([others] if others else [])])
    return f"if {condition} then {verdict}" if condition else verdict


def _condition(model: Estimator, node: int, value: float, decimals: int | None) -> str:
    tree: ManyWay = model.tree_
    column = int(tree.feature[node])
    name, cut = name_of(model, column), float(tree.threshold[node])
    if not np.isnan(cut):
        return interval(name, -np.inf, cut, decimals) if value == 0 else interval(name, cut, np.inf, decimals)
    if value == MISSING:
        return f"{name} is missing"
    edges = model._edges_of(column)
    if edges is not None:
        return _between(name, edges, int(value), int(value), decimals)
    return f"{name} = {word(categories_of(model, column)[int(value)])}"


def _between(name: str, edges: Any, first: int, last: int, decimals: int | None) -> str:
    """Intervals first, ..., last of those that the edges part."""
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    low, high = ends[first], ends[last + 1]
    return f"{name} is known" if low == -high else interval(name, low, high, decimals)


def _without_branch(model: Estimator, node: int, style: Style) -> Iterator[str]:
    """Values that fit saw in the column of a node, but not there."""
    tree: ManyWay = model.tree_
    if not np.isnan(tree.threshold[node]):
        return
    column = int(tree.feature[node])
    name, here = name_of(model, column), {value for value, _ in tree.branches(node)}
    missing = had_missing(model, column) and not model.shares_missing and MISSING not in here
    edges = model._edges_of(column)
    if edges is None:
        words = [word(one) for code, one in enumerate(categories_of(model, column)) if code not in here]
        if words or missing:
            yield among(name, [*words, NO_VALUE] if missing else words, style.most)
        return
    gaps = np.array([i for i in range(len(edges) + 1) if i not in here], dtype=np.int64)
    for run in np.split(gaps, np.flatnonzero(np.diff(gaps) > 1) + 1):
        if len(run):
            yield _between(name, edges, int(run[0]), int(run[-1]), style.decimals)
    if missing:
        yield f"{name} is missing"


def _class(model: Estimator, node: int) -> str:
    return word(model.classes_[model.tree_.counts[node].argmax()])
