"""A tree of any number of branches in words: indented text, and rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.core import check
from tenfold.core.data import Array
from tenfold.tree.manyway import LEAF, MISSING, ManyWay
from tenfold.tree.text import number


class Wording:
    """Mixin: `export_text` and `rules` for a learner with a `tree_` of any number of branches."""

    def export_text(self, decimals: int = 2) -> str:
        """The tree as indented text: one line for each branch, with class and weight at the leaves."""
        check.check_fitted(self)
        return "\n".join(_lines(self, 0, decimals, ""))

    def rules(self, decimals: int = 2) -> list[str]:
        """One readable rule for each leaf: `if colour = red and 2 < size <= 3 then ripe (12 of 13)`."""
        check.check_fitted(self)
        return [_rule(self, conditions, leaf, decimals) for conditions, leaf in _ways(self.tree_, 0, [])]

    def _outline(self, node: int) -> tuple[str, tuple[int | None, float], list[tuple[str, int]]]:
        """For a picture: what a node says and asks, its class and purity, and its branches."""
        tree: ManyWay = self.tree_  # type: ignore[attr-defined]
        counts = tree.counts[node]
        share, chance = float(counts.max() / counts.sum()), 1 / len(counts)
        shade = (int(counts.argmax()), (share - chance) / (1 - chance) if chance < 1 else 1.0)
        said, branches = _verdict(self, node), []
        if tree.feature[node] != LEAF:
            name = _name(self, int(tree.feature[node]))
            said += f"\n{name}"
            for value, child in tree.branches(node):
                condition = _condition(self, node, value, None)
                branches.append((condition.removeprefix(name).removeprefix(" = ").strip(), int(child)))
        return said, shade, branches


def _lines(model: Any, node: int, decimals: int, indent: str) -> Iterator[str]:
    tree: ManyWay = model.tree_
    if tree.feature[node] == LEAF:  # the root alone
        yield indent + _verdict(model, node)
        return
    for value, child in tree.branches(node):
        line = indent + _condition(model, node, value, decimals)
        if tree.feature[child] == LEAF:
            yield f"{line}: {_verdict(model, child)}"
        else:
            yield line
            yield from _lines(model, child, decimals, indent + "|   ")


def _ways(tree: ManyWay, node: int, path: list[tuple[int, float]]) -> Iterator[tuple[list[tuple[int, float]], int]]:
    """Each leaf with the (node, value) of the branches that lead to it."""
    if tree.feature[node] == LEAF:
        yield path, node
    for value, child in tree.branches(node):
        yield from _ways(tree, child, [*path, (node, value)])


def _rule(model: Any, path: list[tuple[int, float]], leaf: int, decimals: int) -> str:
    """Thresholds of one column met on the way become one interval."""
    tree: ManyWay = model.tree_
    said: dict[Any, str] = {}
    bounds: dict[int, list[float]] = {}
    for node, value in path:
        column = int(tree.feature[node])
        if np.isnan(tree.threshold[node]):
            said[column, "value"] = _condition(model, node, value, decimals)
            continue
        low, high = bounds.setdefault(column, [-np.inf, np.inf])
        cut = float(tree.threshold[node])
        bounds[column] = [low, min(high, cut)] if value == 0 else [max(low, cut), high]
        said[column, "interval"] = interval(_name(model, column), *bounds[column], decimals)
    conditions = " and ".join(said.values())
    return f"if {conditions} then {_verdict(model, leaf)}" if conditions else _verdict(model, leaf)


def _condition(model: Any, node: int, value: float, decimals: int | None) -> str:
    tree: ManyWay = model.tree_
    column = int(tree.feature[node])
    name, cut = _name(model, column), float(tree.threshold[node])
    if not np.isnan(cut):
        return interval(name, -np.inf, cut, decimals) if value == 0 else interval(name, cut, np.inf, decimals)
    if value == MISSING:
        return f"{name} is missing"
    edges = model._edges_of(column)
    if edges is not None:
        ends = np.concatenate([[-np.inf], edges, [np.inf]])
        return interval(name, ends[int(value)], ends[int(value) + 1], decimals)
    category = model.categories_[column][int(value)]
    return f"{name} = {category}" if isinstance(category, str) else f"{name} = {category:g}"


def interval(name: str, low: float, high: float, decimals: int | None) -> str:
    """low < name <= high, without an end that is infinite."""
    left = "" if low == -np.inf else f"{number(low, decimals)} < "
    right = "" if high == np.inf else f" <= {number(high, decimals)}"
    return f"{name} > {number(low, decimals)}" if left and not right else f"{left}{name}{right}"


def _name(model: Any, column: int) -> str:
    names = vars(model).get("feature_names_in_")
    return f"x{column}" if names is None else str(names[column])


def _verdict(model: Any, node: int) -> str:
    counts: Array = model.tree_.counts[node]
    best, total = counts.argmax(), counts.sum()
    share = f"{total:g}" if counts[best] == total else f"{counts[best]:.4g} of {total:.4g}"
    return f"{model.classes_[best]} ({share})"
