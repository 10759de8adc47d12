"""A tree of two branches in words: indented text, and rules that are true of the rows of a leaf and of no others.

A `Way` is what is known of a column on the path down: an interval of numbers or some categories, and whether a missing value may still
come this way. A category that fit has not seen goes where missing values go. Missing values are named in columns where fit saw some;
elsewhere sets of categories are written so that unseen ones are on the right side of "in" and "not in".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.structure.describe import (
    NO_VALUE,
    among,
    amount,
    categories_of,
    class_verdict,
    had_missing,
    interval,
    name_of,
    number,
    purity,
    word,
)

LABEL = 30  # letters on a line of a picture
HUGE = 1e300  # a threshold beyond this has every number on the left, and missing values on the right


@dataclass(frozen=True, slots=True)
class Way:
    """What is known of a column: low < x <= high, or x in `codes`; `missing` where a missing value may be here."""

    low: float = -np.inf
    high: float = np.inf
    codes: Array | None = None
    missing: bool = True


Ways = dict[int, Way]  # by column; a column without a split is not there


@dataclass(frozen=True, slots=True)
class Style:
    """How numbers and sets are written."""

    decimals: int | None = 2
    most: int | None = None  # categories named of a set; None: all

    def __post_init__(self) -> None:
        if self.decimals is not None and not (isinstance(self.decimals, (int, np.integer)) and self.decimals >= 0):
            raise BadParameter(f"decimals={self.decimals!r}: must be a whole number of at least 0")


def text_of(model: Estimator, style: Style, max_depth: int | None) -> str:
    """The tree of a fitted learner as indented text, one line for each condition."""
    return "\n".join(_lines(model, style, np.inf if max_depth is None else max_depth))


def rules_of(model: Estimator, style: Style) -> list[str]:
    """One rule for each leaf: `if 2 < size <= 3 and colour in {red} then ripe (12)`."""
    rules, either = [], re.compile(r" or missing$| is missing or not ")
    for ways, leaf in _leaves(model):
        conditions = [_whole(model, j, way, style) for j, way in ways.items()]
        if len(conditions) > 1:
            conditions = [f"({one})" if either.search(one) else one for one in conditions]
        rules.append(f"if {' and '.join(conditions) or 'anything'} then {_verdict(model, leaf, style)}")
    return rules


def outline_of(model: Estimator, place: Any) -> tuple[str, tuple[int | None, float], list[tuple[str, Any]]]:
    """For a picture: the prediction and the column of a node, its class and purity (or None and its value), and its branches."""
    tree: Trees = model._trees
    node, ways = place or (0, {})
    value, style = model.tree_.value[node, 0], Style(None, 3)  # of several targets the first
    shade = (None, float(value[0])) if model.role == "regressor" else purity(value)
    text, branches = _verdict(model, node, style), []
    if tree.children_left[node] >= 0:
        name = name_of(model, int(tree.feature[node]))
        text += f"\n{name}"
        longer, shorter = _sides(model, node, ways, style), _sides(model, node, ways, Style(None, 2))
        for (long, child, below), (brief, _, _) in zip(longer, shorter, strict=True):
            label = long if len(long) - len(name) <= LABEL else brief
            branches.append((label.removeprefix(name).strip(), (child, below)))
    return text, shade, branches


def _lines(model: Estimator, style: Style, deepest: float) -> Iterator[str]:
    """By a list of what is left to write, not by recursion: trees may be deeper than Python's stack."""
    tree: Trees = model._trees
    todo: list[tuple[str, int, Ways, int]] = [("", 0, {}, 0)]
    while todo:
        condition, node, ways, depth = todo.pop()
        indent, leaf = "|   " * (depth - 1), tree.children_left[node] < 0
        if leaf:
            yield f"{indent}{condition}{': ' if depth else ''}{_verdict(model, node, style)}"
            continue
        if depth:
            yield indent + condition
        if depth >= deepest:
            yield f"{'|   ' * depth}... ({_verdict(model, node, style)})"
            continue
        sides = list(_sides(model, node, ways, style))
        todo += [(condition, child, below, depth + 1) for condition, child, below in reversed(sides)]


def _leaves(model: Estimator) -> Iterator[tuple[Ways, int]]:
    """Each leaf, with what is known of the columns there."""
    tree: Trees = model._trees
    todo: list[tuple[Ways, int]] = [({}, 0)]
    while todo:
        ways, node = todo.pop()
        if tree.children_left[node] < 0:
            yield ways, node
            continue
        j = int(tree.feature[node])
        todo += [({**ways, j: way}, child) for child, way in reversed(_parted(model, node, ways))]


def _sides(model: Estimator, node: int, ways: Ways, style: Style) -> Iterator[tuple[str, int, Ways]]:
    """Left and right: the condition that leads there, the child, and what is known below."""
    tree: Trees = model._trees
    j = int(tree.feature[node])
    name, before = name_of(model, j), ways.get(j, Way())
    parts = _parted(model, node, ways)
    for (child, here), (_, there) in (parts, parts[::-1]):
        first = child == parts[0][0]
        if here.codes is None:
            step = replace(here, low=-np.inf) if first else replace(here, high=np.inf)
            condition = _numbers(name, step, here.missing and had_missing(model, j), style)
        else:
            condition = _set(model, j, (here, there), before.missing, first, style)
        yield condition, child, {**ways, j: here}


def _parted(model: Estimator, node: int, ways: Ways) -> list[tuple[int, Way]]:
    """The children of a node, with what is known there of the column it splits on."""
    tree: Trees = model._trees
    j, threshold = int(tree.feature[node]), float(tree.threshold[node])
    way = ways.get(j, Way())
    to_left = bool(tree.missing_go_to_left[node])
    left, right = replace(way, missing=way.missing and to_left), replace(way, missing=way.missing and not to_left)
    if tree.subset[node] >= 0:
        codes = np.arange(len(categories_of(model, j))) if way.codes is None else way.codes
        goes = np.isin(codes, tree.categories_left(node))
        left, right = replace(left, codes=codes[goes]), replace(right, codes=codes[~goes])
    elif threshold > HUGE:
        right = replace(right, low=np.inf)  # no number is there
    else:
        left, right = replace(left, high=min(way.high, threshold)), replace(right, low=max(way.low, threshold))
    return [(int(tree.children_left[node]), left), (int(tree.children_right[node]), right)]


def _whole(model: Estimator, j: int, way: Way, style: Style) -> str:
    """All that is known of a column at a leaf."""
    if way.codes is None:
        return _numbers(name_of(model, j), way, way.missing and had_missing(model, j), style)
    others = np.setdiff1d(np.arange(len(categories_of(model, j))), way.codes)
    return _set(model, j, (way, Way(codes=others, missing=not way.missing)), True, True, style)


def _numbers(name: str, way: Way, missing: bool, style: Style) -> str:
    if way.low == np.inf:
        return f"{name} is missing"
    if way.low == -np.inf and way.high == np.inf:
        return f"{name} is known"
    return interval(name, way.low, way.high, style.decimals) + (" or missing" if missing else "")


def _set(model: Estimator, j: int, sides: tuple[Way, Way], missing: bool, first: bool, style: Style) -> str:
    """Categories of this side against those of the other: the fewer ones are named, of equally many those of the `first` side."""
    name, known, seen = name_of(model, j), categories_of(model, j), had_missing(model, j)
    here, there = (side.codes if side.codes is not None else np.empty(0, dtype=np.int64) for side in sides)
    inside = len(here) < len(there) + first
    if missing and not seen:  # whatever fit has not seen is "not in"
        inside = not sides[0].missing
    words = [word(known[code]) for code in (here if inside else there)]
    in_set = sides[0 if inside else 1].missing and missing and seen
    condition = among(name, [*words, NO_VALUE] if in_set else words, style.most, inside)
    if not (sides[0].missing and missing and seen) or inside:
        return condition
    return f"{name} is missing or {condition.removeprefix(name).replace(' is', '', 1).strip()}"


def _verdict(model: Estimator, node: int, style: Style) -> str:
    """The prediction at a node and its weight; of several targets one after the other."""
    weight, values = float(model._trees.weighted_n_node_samples[node]), model.tree_.value[node]
    if model.role == "regressor":
        return f"{', '.join(number(float(value), style.decimals) for value in values[:, 0])} ({amount(weight)})"
    if len(values) == 1:
        return class_verdict(model, values[0] * weight)
    classes = zip(model.classes_, values.argmax(axis=1), strict=True)
    return f"{', '.join(word(own[best]) for own, best in classes)} ({amount(weight)})"
