"""Fitted decision trees as text, as a graph for Graphviz and as a picture, with the arguments of scikit-learn's functions.

`model.export_text()`, `model.rules()` and `tenfold.draw.draw_tree` say the same in fewer words, missing values included.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.tree.structure.node_text import NodeText, condition, fills, fitted_tree, names_of_classes, names_of_columns
from tenfold.tree.structure.view import TreeView

CUT = "#C0C0C0"  # of a box that stands for all below it


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """The rules of a fitted decision tree as indented text, in scikit-learn's form.

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["low", "low", "high"])
    >>> print(tenfold.export_text(model, feature_names=["size"]), end="")
    |--- size <= 2.50
    |   |--- class: low
    |--- size >  2.50
    |   |--- class: high
    """
    tree, model = fitted_tree(decision_tree), decision_tree
    for name, value, least in (("max_depth", max_depth, 0), ("spacing", spacing, 1), ("decimals", decimals, 0)):
        _check_whole(name, value, least)
    names = names_of_columns(
        model, feature_names, lambda j: f"feature_{j}" if "feature_names_in_" not in vars(model) else str(model.feature_names_in_[j]),
        "feature_names must contain {1} elements, got {0}",
    )  # fmt: skip
    classes = None
    if model.role == "classifier" and tree.n_outputs == 1:
        classes = names_of_classes(model, model.classes_ if class_names is None else class_names)

    def verdict(node: int) -> str:
        values = tree.value[node]
        if model.role == "regressor":
            return f"value: [{', '.join(f'{value:.{decimals}f}' for value in values[:, 0])}]"
        best = values.argmax(axis=1)
        said = classes[best[0]] if classes is not None else ", ".join(str(own[k]) for own, k in zip(model.classes_, best, strict=True))
        weights = (values * float(tree.weighted_n_node_samples[node])).reshape(-1)
        shown = f"weights: [{', '.join(f'{weight:.{decimals}f}' for weight in weights)}] " if show_weights else ""
        return f"{shown}class: {said}"

    heights, lines = _heights(tree), list[str]()
    todo: list[tuple[int, int, str]] = [(0, 1, "")]
    while todo:
        node, depth, ready = todo.pop()
        dashes = ("|" + " " * spacing) * (depth - 1) + "|" + "-" * spacing
        if ready:
            lines.append(f"{dashes} {ready}")
        elif tree.children_left[node] < 0:
            lines.append(f"{dashes} {verdict(node)}")
        elif depth > max_depth + 1:
            lines.append(f"{dashes} truncated branch of depth {heights[node]}")
        else:
            threshold, name = f"{tree.threshold[node]:.{decimals}f}", names[int(tree.feature[node])]
            sides = [(int(tree.children_left[node]), True), (int(tree.children_right[node]), False)]
            for child, left in reversed(sides):
                todo += [(child, depth + 1, ""), (node, depth, condition(model, node, name, threshold, left))]
    return "\n".join(lines) + "\n"


def export_graphviz(
    decision_tree: Any,
    out_file: Any = None,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """A fitted decision tree in the DOT language of Graphviz: returned, or written to `out_file` (a path, or what has `write`).

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["low", "low", "high"])
    >>> tenfold.export_graphviz(model, impurity=False).splitlines()[3]
    '0 [label="x[0] <= 2.5\\\\nsamples = 3\\\\nvalue = [1, 2]"] ;'
    """
    tree = fitted_tree(decision_tree)
    if max_depth is not None:
        _check_whole("max_depth", max_depth, 0)
    text = NodeText(
        decision_tree, feature_names, class_names, label, impurity, node_ids, proportion, precision,
        "<SUB>{}</SUB>" if special_characters else "[{}]",
    )  # fmt: skip
    columns, colours = text.columns(), _palette(decision_tree) if filled else []
    styles = [name for name, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    style = f', style="{", ".join(styles)}", color="black"' if styles else ""
    out = ["digraph Tree {", f'node [shape=box{style}, fontname="{fontname}"] ;']
    out += ["graph [ranksep=equally, splines=polyline] ;"] if leaves_parallel else []
    out += [f'edge [fontname="{fontname}"] ;'] + (["rankdir=LR ;"] if rotate else [])
    ranks: dict[str, list[str]] = {}
    todo: list[tuple[int, int, int]] = [(0, -1, 0)]
    while todo:
        node, parent, depth = todo.pop()
        leaf, cut = tree.children_left[node] < 0, max_depth is not None and depth > max_depth
        lines = ["(...)"] if cut else list(text.lines(node, columns))
        fill = f', fillcolor="{CUT if cut else colours[node]}"' if filled else ""
        out.append(f"{node} [label={_quoted(lines, special_characters)}{fill}] ;")
        if parent >= 0:
            out.append(f"{parent} -> {node}{_branch(tree, parent, node, rotate, max_depth == 0)} ;")
        if not cut:
            ranks.setdefault("leaves" if leaf else str(depth), []).append(str(node))
        if not leaf and not cut:
            todo += [(int(tree.children_right[node]), node, depth + 1), (int(tree.children_left[node]), node, depth + 1)]
    if leaves_parallel:
        out += [f"{{rank=same ; {'; '.join(ranks[rank])}}} ;" for rank in sorted(ranks)]
    graph = "\n".join([*out, "}"])
    if out_file is None:
        return graph
    if isinstance(out_file, (str, Path)):
        Path(out_file).write_text(graph, encoding="utf-8")
    else:
        out_file.write(graph)
    return None


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: float | None = None,
) -> list[Any]:
    """A fitted decision tree drawn into the current axes, or `ax`: returns its boxes and labels; letters fit unless `fontsize` is given.

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["low", "low", "high"])
    >>> [one.get_text().split(chr(10))[0] for one in tenfold.plot_tree(model, impurity=False)]
    ['x[0] <= 2.5', 'samples = 2', 'True  ', 'samples = 1', '  False']
    """
    from tenfold.draw.nodes import Drawn, draw_nodes

    tree = fitted_tree(decision_tree)
    if max_depth is not None:
        _check_whole("max_depth", max_depth, 0)
    text = NodeText(decision_tree, feature_names, class_names, label, impurity, node_ids, proportion, precision)
    columns, colours = text.columns(), _palette(decision_tree) if filled else []

    def drawn(node: int, depth: int) -> Drawn:
        if max_depth is not None and depth > max_depth:
            return Drawn("\n  (...)  \n", "grey" if filled else "white")
        box = Drawn("\n".join(text.lines(node, columns)), colours[node] if filled else "white")
        if tree.children_left[node] >= 0:
            box.below = [drawn(int(child[node]), depth + 1) for child in (tree.children_left, tree.children_right)]
        return box

    return draw_nodes(drawn(0, 0), ax, rounded=rounded, fontsize=fontsize)


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise BadParameter(f"{name}={value!r}: must be a whole number of at least {least}")


def _palette(model: Any) -> list[str]:
    from tenfold.draw.look import COLOURS

    return fills(model, COLOURS)


def _quoted(lines: list[str], special: bool) -> str:
    """The label of a node: with subscripts and signs as HTML, or as plain text."""
    if special:
        escaped = [html.escape(line).replace("&lt;SUB&gt;", "<SUB>").replace("&lt;/SUB&gt;", "</SUB>") for line in lines]
        return "<" + "<br/>".join(escaped).replace("&lt;=", "&le;").replace("\n", "<br/>") + ">"
    return '"' + "\\n".join(lines).replace('"', '\\"').replace("\n", "\\n") + '"'


def _branch(tree: TreeView, parent: int, node: int, rotate: bool, bare: bool) -> str:
    """The label of a branch: those of the root say which side is which."""
    if parent != 0 or bare:
        return ""
    left = bool(tree.children_left[0] == node)
    return f' [labeldistance=2.5, labelangle={45 if left != rotate else -45}, headlabel="{left}"]'


def _heights(tree: TreeView) -> list[int]:
    """The levels of the subtree of each node: 1 for a leaf."""
    height = np.ones(tree.node_count, dtype=np.int64)
    for node in np.flatnonzero(tree.children_left >= 0)[::-1]:  # children come after their parents
        height[node] = 1 + max(height[tree.children_left[node]], height[tree.children_right[node]])
    return [int(one) for one in height]
