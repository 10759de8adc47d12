"""Extremely randomized trees, alone: one threshold drawn at random for each column that a node looks at."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.tree.options import drawn_columns
from tenfold.tree.single.roles import ClassifierTree, RegressorTree


@group
class DrawnThresholds:
    """Abstract: thresholds are drawn, unless the best are asked for."""

    _: KW_ONLY
    splitter: str = param(
        default="random", one_of=("best", "random"), doc="the best threshold of a column, or one drawn at random"
    )


@estimator
class ExtraTreeClassifier(DrawnThresholds, ClassifierTree):
    """ExtraTreeClassifier: a tree whose thresholds are drawn at random, a member of ExtraTreesClassifier.

    Model       P(class k | x) = the share of class k among the training rows in the leaf of x
    Objective   at each node the best of max_features columns, each with one threshold drawn between its least and largest value
    Algorithm   that of DecisionTreeClassifier with splitter="random"; of missing values a coin decides which side they go to;
                what a node draws is keyed by its place in the tree, so that neither the order of rows nor threads matter
    Cost        O(n p log n) time to sort and O(n p) for each level, O(n p) memory; the rows are kept while the tree grows
    Fails when  it is alone: use ExtraTreesClassifier, or bag it
    Reference   Geurts, Ernst & Wehenkel 2006

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.ExtraTreeClassifier(random_state=0).fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[1.0], [4.0]])
    array(['low', 'high'], dtype='<U4')
    """

    exempt: ClassVar[dict[str, str]] = {"column_order": "columns and thresholds are drawn by the numbers of the columns"}

    _: KW_ONLY
    max_features: int | float | str | None = drawn_columns("sqrt")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"random_state": 0}]


@estimator
class ExtraTreeRegressor(DrawnThresholds, RegressorTree):
    """ExtraTreeRegressor: a tree whose thresholds are drawn at random, a member of ExtraTreesRegressor.

    Model       ŷ(x) = the mean (absolute_error: the median) of the training targets in the leaf of x
    Objective   at each node the best of max_features columns, each with one threshold drawn between its least and largest value
    Algorithm   that of DecisionTreeRegressor with splitter="random"; of missing values a coin decides which side they go to;
                what a node draws is keyed by its place in the tree, so that neither the order of rows nor threads matter
    Cost        O(n p log n) time to sort and O(n p) for each level, O(n p) memory; the rows are kept while the tree grows
    Fails when  it is alone: use ExtraTreesRegressor, or bag it
    Reference   Geurts, Ernst & Wehenkel 2006

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> tenfold.ExtraTreeRegressor(random_state=0).fit(X, [1.0, 1.0, 5.0, 7.0]).predict([[1.0], [4.0]])
    array([1., 7.])
    """

    _: KW_ONLY
    max_features: int | float | str | None = drawn_columns(1.0)

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"random_state": 2}]
