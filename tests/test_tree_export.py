"""`export_text`, `export_graphviz` and `plot_tree`: what scikit-learn's functions write of the same trees."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.tree

import tenfold
from tenfold.core.errors import BadInput, BadParameter, BadType, NotFitted

Array = np.ndarray[Any, Any]


def rows() -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3)).astype(np.float32).astype(np.float64)
    y = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=150)
    return X, y, np.digitize(y, [-1, 1]), rng.integers(1, 5, 150) / 2.0


def targets() -> dict[str, Array]:
    _, y, label, _ = rows()
    return {
        "Classifier": label, "Regressor": y, "Classifier of several": np.column_stack([label, y > 0]),
        "Regressor of several": np.column_stack([y, -y]),
    }  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_depth": 1, "filled": True},
        {"feature_names": ['a "quoted" name', "b", "c"], "class_names": True},
        {"label": "root", "proportion": True, "node_ids": True, "rounded": True},
        {"label": "none", "impurity": False, "rotate": True, "leaves_parallel": True, "precision": 2, "fontname": "sans"},
        {"special_characters": True, "class_names": ["low", "mid", "high"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", list(targets()))
def test_graphviz_is_that_of_scikit_learn(kind: str, options: dict[str, Any]) -> None:
    """Colours of boxes are our own."""
    X, _, _, w = rows()
    y = targets()[kind]
    tree = getattr(tenfold, f"DecisionTree{kind.split()[0]}")(max_depth=3).fit(X, y, w)
    theirs = sklearn.tree.export_graphviz(tree, out_file=None, **options)
    ours = tenfold.export_graphviz(tree, **options)
    without = [re.sub(r', fillcolor="[^"]*"', "", text) for text in (ours, theirs)]
    assert without[0] == without[1]
    assert ours.count("fillcolor") == theirs.count("fillcolor")


@pytest.mark.parametrize(
    "options",
    [{}, {"max_depth": 1}, {"spacing": 1, "decimals": 4}, {"feature_names": ["a", "b", "c"]}, {"show_weights": True}],
    ids=str,
)
@pytest.mark.parametrize("kind", ["Classifier", "Regressor", "Regressor of several"])
def test_text_is_that_of_scikit_learn(kind: str, options: dict[str, Any]) -> None:
    X, _, _, w = rows()
    y, name = targets()[kind], f"DecisionTree{kind.split()[0]}"
    ours = getattr(tenfold, name)(min_samples_leaf=10).fit(X, y, w)
    theirs = getattr(sklearn.tree, name)(min_samples_leaf=10, random_state=0).fit(X, y, w)
    assert tenfold.export_text(ours, **options) == sklearn.tree.export_text(theirs, **options)


def test_the_words_of_a_picture_are_those_of_scikit_learn() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, _, label, _ = rows()
    ours = tenfold.DecisionTreeClassifier(max_depth=3, min_samples_leaf=10).fit(X, label)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=3, min_samples_leaf=10, random_state=0).fit(X, label)
    for options in ({}, {"max_depth": 1, "filled": True, "rounded": True}, {"class_names": ["x", "y", "z"], "fontsize": 7}):
        figure, axes = pyplot.subplots(1, 2)
        mine = tenfold.plot_tree(ours, ax=axes[0], **options)
        other = sklearn.tree.plot_tree(theirs, ax=axes[1], **options)
        assert [one.get_text() for one in mine] == [one.get_text() for one in other]
        figure.canvas.draw()
        pyplot.close(figure)
    figure = pyplot.figure(figsize=(6, 4))
    boxes = tenfold.plot_tree(ours)
    assert boxes[0].axes is figure.gca(), "the current axes are drawn into"
    figure.canvas.draw()
    drawn = [one.get_window_extent() for one in boxes if "samples" in one.get_text()]
    for i, one in enumerate(drawn):
        assert not any(one.overlaps(other) for other in drawn[i + 1 :]), "letters are small enough"
    pyplot.close(figure)


def test_categories_missing_values_and_several_labels() -> None:
    colour = np.array(["red", "green", "blue", "red"] * 6, dtype=object)
    X = np.column_stack([colour, np.arange(24) % 5]).astype(object)
    tree = tenfold.DecisionTreeClassifier(max_depth=1).fit(X, np.where(colour == "red", "stop", "go"))
    assert tenfold.export_text(tree) == (
        "|--- feature_0 in {blue, green}\n|   |--- class: go\n|--- feature_0 not in {blue, green}\n|   |--- class: stop\n"
    )
    assert "x[0] in {blue, green}" in tenfold.export_graphviz(tree)
    x = np.where(np.arange(24) < 12, np.nan, np.arange(24.0))[:, None]
    known = tenfold.DecisionTreeClassifier(max_depth=1).fit(x, np.isnan(x[:, 0]))
    assert "feature_0 is known" in tenfold.export_text(known) and "feature_0 is missing" in tenfold.export_text(known)
    assert "x[0] is known" in tenfold.export_graphviz(known)
    both = tenfold.DecisionTreeClassifier(max_depth=1).fit(x, np.column_stack([np.isnan(x[:, 0]), np.isnan(x[:, 0])]))
    assert "class: False, False" in tenfold.export_text(both)


def test_files_and_bad_arguments(tmp_path: Path) -> None:
    X, y, label, _ = rows()
    tree = tenfold.DecisionTreeClassifier(max_depth=2).fit(X, label)
    whole = tenfold.export_graphviz(tree)
    buffer = io.StringIO()
    assert tenfold.export_graphviz(tree, buffer) is tenfold.export_graphviz(tree, str(tmp_path / "tree.dot")) is None
    assert buffer.getvalue() == (tmp_path / "tree.dot").read_text() == whole
    for function in (tenfold.export_text, tenfold.export_graphviz, tenfold.plot_tree):
        with pytest.raises(NotFitted):
            function(tenfold.DecisionTreeClassifier())
        with pytest.raises(BadType, match="not an estimator instance"):
            function(tree.tree_)
        with pytest.raises(BadType, match="one tree"):
            function(tenfold.Ridge().fit(X, y))
        with pytest.raises(BadInput, match="feature_names"):
            function(tree, feature_names=["a"])
        with pytest.raises(BadInput, match="must be strings"):
            function(tree, feature_names=["a", "b", 1])
        with pytest.raises(BadInput, match="Got 1 while the tree was fitted with 3 classes"):
            function(tree, class_names=["a"])
        with pytest.raises(BadParameter, match="max_depth=-1"):
            function(tree, max_depth=-1)
    with pytest.raises(BadParameter, match="label='some'"):
        tenfold.plot_tree(tree, label="some")
    with pytest.raises(BadParameter, match="precision=-1"):
        tenfold.export_graphviz(tree, precision=-1)


def test_the_module_of_trees_has_the_names_of_scikit_learn() -> None:
    from tenfold import tree

    for name in sklearn.tree.__all__:
        if name != "BaseDecisionTree":
            assert getattr(tree, name) is getattr(tenfold, name)
