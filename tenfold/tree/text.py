"""A tree of two branches in words: indented text, and rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.tree.packed import Trees

HUGE = 1e300  # a threshold beyond this has every number on the left, and what is missing on the right


def text_of(model: Any, decimals: int, max_depth: int | None) -> str:
    """The tree of a fitted learner as indented text, one line for each condition."""
    return "\n".join(_lines(model, 0, "", decimals, np.inf if max_depth is None else max_depth))


def rules_of(model: Any, decimals: int) -> list[str]:
    """One rule for each leaf: `if 2 < size <= 3 and colour in {red} then ripe (12)`."""
    return [
        f"if {' and '.join(conditions) or 'anything'} then {_verdict(model, leaf, decimals)}"
        for conditions, leaf in _ways(model, 0, [], {}, decimals)
    ]


def outline_of(model: Any, node: int) -> tuple[str, tuple[int | None, float], list[tuple[str, int]]]:
    """For a picture: what a node says and asks, its class and purity (or None and how high it is), and its branches."""
    tree: Trees = model.tree_
    value = tree.value[node]
    if model.role == "regressor":
        low, high = tree.value[:, 0].min(), tree.value[:, 0].max()
        shade: tuple[int | None, float] = (None, float((value[0] - low) / (high - low)) if high > low else 0.5)
    else:
        share, chance = float(value.max() / value.sum()), 1 / len(value)
        shade = (int(value.argmax()), (share - chance) / (1 - chance) if chance < 1 else 1.0)
    said, branches = _verdict(model, node, None), []
    if tree.children_left[node] >= 0:
        name = name_of(model, int(tree.feature[node]))
        said += f"\n{name}"
        for left, children in ((True, tree.children_left), (False, tree.children_right)):
            condition = condition_of(model, node, left, None)
            branches.append((condition.removeprefix(name).strip(), int(children[node])))
    return said, shade, branches


def _lines(model: Any, node: int, indent: str, decimals: int, deepest: float) -> Iterator[str]:
    tree: Trees = model.tree_
    if tree.children_left[node] < 0:
        yield f"{indent}{_verdict(model, node, decimals)}"
        return
    if deepest <= 0:
        yield f"{indent}... ({_verdict(model, node, decimals)})"
        return
    for left in (True, False):
        child = int((tree.children_left if left else tree.children_right)[node])
        condition = indent + condition_of(model, node, left, decimals)
        if tree.children_left[child] < 0:
            yield f"{condition}: {_verdict(model, child, decimals)}"
        else:
            yield condition
            yield from _lines(model, child, indent + "|   ", decimals, deepest - 1)


def _ways(
    model: Any, node: int, said: list[str], bounds: dict[int, tuple[float, float]], decimals: int
) -> Iterator[tuple[list[str], int]]:
    """Each leaf with the conditions that lead to it; thresholds of one column become one interval."""
    tree: Trees = model.tree_
    if tree.children_left[node] < 0:
        between = [_interval(name_of(model, j), *limits, decimals) for j, limits in bounds.items()]
        yield [*between, *said], node
        return
    j, threshold = int(tree.feature[node]), float(tree.threshold[node])
    for left in (True, False):
        child = int((tree.children_left if left else tree.children_right)[node])
        if tree.subset[node] >= 0 or threshold > HUGE:
            yield from _ways(model, child, [*said, condition_of(model, node, left, decimals)], bounds, decimals)
            continue
        low, high = bounds.get(j, (-np.inf, np.inf))
        narrower = {**bounds, j: (low, min(high, threshold)) if left else (max(low, threshold), high)}
        yield from _ways(model, child, said, narrower, decimals)


def _interval(name: str, low: float, high: float, decimals: int) -> str:
    if low == -np.inf:
        return f"{name} <= {number(high, decimals)}"
    return (
        f"{name} > {number(low, decimals)}"
        if high == np.inf
        else f"{number(low, decimals)} < {name} <= {number(high, decimals)}"
    )


def condition_of(model: Any, node: int, left: bool, decimals: int | None) -> str:
    """What rows that go to one side have in common."""
    tree: Trees = model.tree_
    name = name_of(model, int(tree.feature[node]))
    if tree.subset[node] < 0:
        threshold = float(tree.threshold[node])
        if threshold > HUGE:
            return f"{name} is known" if left else f"{name} is missing"
        return f"{name} {'<=' if left else '>'} {number(threshold, decimals)}"
    codes = tree.categories_left(node)
    known = (getattr(model, "categories_", None) or {int(tree.feature[node]): None})[int(tree.feature[node])]
    words = [str(known[code]) if known is not None and code < len(known) else str(code) for code in codes]
    return f"{name} {'in' if left else 'not in'} {{{', '.join(words)}}}"


def number(value: float, decimals: int | None) -> str:
    """With so many decimals, or with three digits that count."""
    return f"{value:.3g}" if decimals is None else f"{value:.{decimals}f}"


def name_of(model: Any, column: int) -> str:
    names = vars(model).get("feature_names_in_")
    return f"x{column}" if names is None else str(names[column])


def _verdict(model: Any, node: int, decimals: int | None) -> str:
    tree: Trees = model.tree_
    weight = f"{tree.weighted_n_node_samples[node]:g}"
    if model.role == "regressor":
        return f"{number(tree.value[node, 0], decimals)} ({weight})"
    return f"{model.classes_[tree.value[node].argmax()]} ({weight})"
