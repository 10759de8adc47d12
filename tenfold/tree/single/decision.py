"""Decision trees with exact thresholds. What a presorted table offers to other learners is in tenfold/tree/single/exact.py."""

from __future__ import annotations

from tenfold.core.params import estimator
from tenfold.tree.single.roles import ClassifierTree, RegressorTree


@estimator
class DecisionTreeClassifier(ClassifierTree):
    """DecisionTreeClassifier: a tree of splits on single columns, with class shares at its leaves.

    Model       P(class k | x) = the share of class k among the training rows in the leaf of x
    Objective   at each node the split with the largest loss of impurity (Gini: 1 − Σ pₖ²; entropy: −Σ pₖ log₂ pₖ),
                weights included; gain_ratio: of the columns whose best loss of entropy is at least their mean, the one with
                the largest loss / entropy of the two sides; then fewest leaves at the price ccp_alpha each
    Algorithm   every column is sorted once; a split parts the sorted lists, so that no node sorts again; thresholds half
                way between neighbours; missing values go to the side where they help more; categories are ordered by the
                share of the second class (of more classes: of the most frequent in the node) and cut as numbers are;
                of equal splits the first column and the lowest threshold win
    Several     targets (y of shape (n, q)): one tree for all, its impurity the mean of theirs; categories are ordered by the first
    Sparse      tables are made dense to sort their columns, and by blocks of rows to predict
    Cost        O(n p log n) time to sort and O(n p) for each level, O(n p) memory; the rows are kept while the tree grows
    Fails when  it is grown to the end on noisy rows (limit its leaves, or prune); many categories are mistaken for few
    Reference   Breiman, Friedman, Olshen & Stone 1984; gain ratio: Quinlan 1993

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.DecisionTreeClassifier().fit(X, ["low", "low", "high", "high"])
    >>> print(model.export_text())
    x0 <= 2.50: low (2)
    x0 > 2.50: high (2)
    """


@estimator
class DecisionTreeRegressor(RegressorTree):
    """DecisionTreeRegressor: a tree of splits on single columns, with a number at each leaf.

    Model       ŷ(x) = the mean (absolute_error: the median) of the training targets in the leaf of x
    Objective   at each node the split with the largest loss of squared error (or of absolute error, or of Poisson
                deviance), weights included; then fewest leaves at the price ccp_alpha each
    Algorithm   every column is sorted once; a split parts the sorted lists, so that no node sorts again; thresholds half
                way between neighbours; missing values go to the side where they help more; categories are ordered by the
                mean of their targets and cut as numbers are; of equal splits the first column and the lowest threshold win
    Several     targets (y of shape (n, q)): one tree for all, its error the mean of theirs; categories are ordered by the first
    Sparse      tables are made dense to sort their columns, and by blocks of rows to predict
    Cost        O(n p log n) time to sort and O(n p) for each level (absolute_error: O(n p log n)), O(n p) memory; the rows
                are kept while the tree grows
    Fails when  it is grown to the end on noisy rows (limit its leaves, or prune); outside the range of the training rows
    Reference   Breiman, Friedman, Olshen & Stone 1984

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 7.0])
    >>> model.rules()
    ['if x0 <= 2.50 then 1.00 (2)', 'if x0 > 2.50 then 6.00 (2)']
    """
