"""The words of the nodes of a fitted tree, with scikit-learn's arguments: what `export_graphviz` and `plot_tree` write into a box."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.tree.single.tree import OneTree
from tenfold.tree.structure.describe import MOST_NAMED, among, categories_of, purity, word
from tenfold.tree.structure.text import HUGE
from tenfold.tree.structure.view import TreeView

WHITE = (255, 255, 255)


def fitted_tree(model: Any) -> TreeView:
    """The tree of a fitted learner that is one."""
    if not isinstance(model, OneTree):
        raise BadType(f"{model!r:.80} is not an estimator instance that holds one tree: give a fitted decision tree")
    check.check_fitted(model)
    return model.tree_


def names_of_columns(model: OneTree, given: Any, missing: Callable[[int], str], words: str) -> list[str]:
    """The names of the columns: those given, or those that `missing` makes of their numbers."""
    p = model.n_features_in_
    if given is None:
        return [missing(j) for j in range(p)]
    names = list(given)
    if len(names) != p:
        raise BadInput(words.format(len(names), p))
    if not all(isinstance(name, str) for name in names):
        raise BadInput(f"All feature names must be strings. Got {names[:8]}")
    return names


def names_of_classes(model: OneTree, given: Any) -> list[str]:
    """The names of the classes of one target."""
    classes = model.classes_
    if len(given) != len(classes):
        raise BadInput(
            "When `class_names` is an array, it should contain as many items as `decision_tree.classes_`. "
            f"Got {len(given)} while the tree was fitted with {len(classes)} classes."
        )
    return [str(name) for name in given]


def condition(model: OneTree, node: int, name: str, threshold: str, left: bool = True) -> str:
    """What rows that go left have in common, or those that go right."""
    tree = model._trees
    if tree.subset[node] >= 0:
        known = categories_of(model, int(tree.feature[node]))
        return among(name, [word(known[code]) for code in tree.categories_left(node) if code < len(known)], MOST_NAMED, left)
    if tree.threshold[node] > HUGE:  # every number goes left
        return f"{name} is {'known' if left else 'missing'}"
    return f"{name} <= {threshold}" if left else f"{name} >  {threshold}"


@dataclass(frozen=True, slots=True)
class NodeText:
    """How nodes are told: the arguments that `plot_tree` and `export_graphviz` share."""

    model: OneTree
    feature_names: Any
    class_names: Any
    label: str
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    subscript: str = "[{}]"  # how numbers of columns and classes are written

    def __post_init__(self) -> None:
        if self.label not in ("all", "root", "none"):
            raise BadParameter(f"label={self.label!r}: must be 'all', 'root' or 'none'")
        if isinstance(self.precision, bool) or not isinstance(self.precision, (int, np.integer)) or self.precision < 0:
            raise BadParameter(f"precision={self.precision!r}: must be a whole number of at least 0")

    def columns(self) -> list[str]:
        """The names of the columns."""
        words = "Length of feature_names, {} does not match number of features, {}"
        return names_of_columns(self.model, self.feature_names, lambda j: f"x{self.subscript.format(j)}", words)

    def lines(self, node: int, columns: list[str]) -> Iterator[str]:
        """The lines of a node: its number, the condition of its left branch, impurity, rows, value and class."""
        tree = self.model.tree_
        told = self.label == "all" or (self.label == "root" and node == 0)

        def line(name: str, text: str) -> str:
            return f"{name} = {text}" if told else text

        if self.node_ids:
            yield f"{'node ' if told else ''}#{node}"
        if tree.children_left[node] >= 0:
            threshold = str(rounded(tree.threshold[node], self.precision))
            yield condition(self.model, node, columns[int(tree.feature[node])], threshold)
        if self.impurity:
            yield line(str(self.model.criterion), str(rounded(tree.impurity[node], self.precision)))
        rows = int(tree.n_node_samples[node])
        share = f"{rounded(100.0 * rows / float(tree.n_node_samples[0]), 1)}%"
        yield line("samples", share if self.proportion else str(rows))
        yield line("value", self.value(tree, node))
        if self.class_names is not None and self.model.role == "classifier" and tree.n_outputs == 1 and tree.max_n_classes > 1:
            best = int(tree.value[node, 0].argmax())
            named = f"y{self.subscript.format(best)}"
            yield line("class", named if self.class_names is True else names_of_classes(self.model, self.class_names)[best])

    def value(self, tree: TreeView, node: int) -> str:
        """Weights of the classes, their shares with `proportion`, or numbers; of several targets a line each."""
        values = tree.value[node]
        if self.model.role == "classifier" and not (self.proportion and tree.max_n_classes > 1):
            values = values * float(tree.weighted_n_node_samples[node])
        whole = tree.max_n_classes > 1 and not self.proportion and bool((np.abs(values - np.rint(values)) < 1e-9).all())
        texts = [[str(int(np.rint(x))) if whole else str(rounded(x, self.precision)) for x in row] for row in values]
        if len(texts) == 1 and len(texts[0]) == 1:
            return texts[0][0]
        rows = "\n".join(f"[{', '.join(row)}]" for row in texts)
        return rows if len(texts) == 1 else f"[{rows}]"


def fills(model: OneTree, palette: tuple[str, ...]) -> list[str]:
    """A colour for each node: of its class, the purer the deeper; of numbers the larger, of several targets the purer."""
    tree = model.tree_
    colours = [tuple(int(one[i : i + 2], 16) for i in (1, 3, 5)) for one in palette]
    if model.role == "classifier" and tree.n_outputs == 1:
        depth = [purity(value) for value in tree.value[:, 0]]
    else:
        level = tree.value[:, 0, 0] if tree.n_outputs == 1 else -tree.impurity
        span = float(level.max() - level.min())
        depth = [(0, float(one)) for one in ((level - level.min()) / span if span > 0 else np.zeros(len(level)))]
    return [_blend(colours[k % len(colours)], share) for k, share in depth]


def _blend(colour: Any, share: float) -> str:
    parts: Array = np.rint(share * np.array(colour) + (1 - share) * np.array(WHITE)).astype(int)
    return "#" + "".join(f"{part:02x}" for part in parts.tolist())


def rounded(value: Any, precision: int) -> float:
    """As NumPy rounds; a number too large for decimals stays as it is."""
    return float(value) if abs(value) >= 1e15 else float(np.around(float(value), precision))
