"""Decision trees with exact thresholds. What a presorted table offers to other learners is in tenfold/tree/exact.py."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.core import check
from tenfold.core.data import Array, Source
from tenfold.core.engine import Summarize
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.estimator import Classifier, Estimator, Regressor, map_rows
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.protocol import fresh
from tenfold.core.random import generator, seed_of
from tenfold.tree.exact import Growth, Presorted
from tenfold.tree.manyway import SMALLEST
from tenfold.tree.packed import Trees
from tenfold.tree.prune import (
    PruningPath,
    bottom_up,
    cost_complexity_path,
    cost_complexity_pruned,
    cut,
    sums_over_nodes,
    upper_error,
)
from tenfold.tree.settings import class_factors, columns_to_draw, directions, refuse, rows_in_memory, rows_needed
from tenfold.tree.text import outline_of, rules_of, text_of


class OneTree(Estimator):
    """Abstract: one tree with exact thresholds."""

    kind: ClassVar[str] = "keeps rows"  # while it grows
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1
    path: ClassVar[str | None] = "ccp_alpha"
    _trees: Trees

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        category = check.categorical_columns(self, source)
        X, y, w = yield from rows_in_memory(source)
        growth = self._growth(len(y), X.shape[1], category)
        trees = self._grow(Presorted(X), growth, y, w)
        if self.ccp_alpha > 0:
            (trees,) = cost_complexity_pruned(trees, [self.ccp_alpha])
        return dict(_trees=trees, max_features_=growth.max_features or X.shape[1])

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All penalties from one tree."""
        if name != "ccp_alpha" or min(values) < 0:
            return super()._fit_path(source, name, values)
        whole: Self = fresh(self).set_params(ccp_alpha=0.0)._fit(source)
        pruned = cost_complexity_pruned(whole._trees, values)
        return [whole._with(trees, ccp_alpha=alpha) for trees, alpha in zip(pruned, values, strict=True)]

    def _with(self, trees: Trees, **changed: Any) -> Self:
        """A fitted learner like this one with another tree."""
        other: Self = fresh(self).set_params(**changed)
        fitted = {key: value for key, value in vars(self).items() if key.endswith("_") or key == "_flat"}
        vars(other).update(fitted, _trees=trees)
        return other

    def _growth(self, n: int, p: int, category: Array) -> Growth:
        return Growth(
            criterion=CRITERIA.get(self.criterion, self.criterion),
            random=self.splitter == "random",
            max_depth=-1 if self.max_depth is None else min(int(self.max_depth), 2**40),
            min_split=rows_needed(self, "min_samples_split", n, 2),
            min_leaf=rows_needed(self, "min_samples_leaf", n, 1),
            max_features=columns_to_draw(self, p),
            max_leaves=-1 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            monotonic=directions(self, p),
            categorical=category.astype(np.uint8),
            seed=seed_of(self._generator()),
        )

    def _generator(self) -> np.random.Generator:
        try:
            return generator(self.random_state)
        except (TypeError, ValueError):
            raise refuse(self, "random_state", "must be a whole number >= 0, a generator, or None") from None

    def _grow(self, rows: Presorted, growth: Growth, y: Array, w: Array) -> Trees:
        raise NotImplementedError

    def _weighed(self, growth: Growth, w: Array) -> tuple[Growth, Array | None]:
        """Limits that depend on the weights; and no weights where all are 1."""
        total = float(w.sum())
        limits = dict(
            min_weight_leaf=float(self.min_weight_fraction_leaf) * total,
            min_gain=float(self.min_impurity_decrease) * total,
        )
        return Growth(**{**vars(growth), **limits}), None if (w == 1).all() else w

    # --- what the tree looks like ---

    @property
    def tree_(self) -> Trees:
        """The tree, node by node; the names are those of scikit-learn."""
        check.check_fitted(self)
        return self._trees

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in the loss of impurity."""
        return self.tree_.importances(self.n_features_in_)

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees, outputs side by side) + offset, and its unit."""
        check.check_fitted(self)
        return [self._trees], 1.0, 0.0, "probability" if self.target == "label" else "prediction"

    def get_depth(self) -> int:
        """The depth of the tree: 0 for a single leaf."""
        return int(self.tree_.depths().max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.tree_.leaves().sum())

    def apply(self, X: Any) -> Array:
        """The number of the leaf of each row."""
        X = check.check_predict(self, X)
        return map_rows(self._leaf, X)

    def _leaf(self, X: Any) -> Array:
        leaves: Array = self._trees._packed.leaves(X, 0, 1)[:, 0]
        return leaves

    def decision_path(self, X: Any) -> Any:
        """(rows, nodes) CSR matrix of ones: the nodes that each row passes."""
        from scipy.sparse import csr_matrix

        leaf, tree = self.apply(X), self.tree_
        depth = tree.depths()
        parent = np.zeros(len(depth), dtype=np.int64)
        inner = np.flatnonzero(~tree.leaves())
        parent[tree.children_left[inner]] = parent[tree.children_right[inner]] = inner
        ends = np.concatenate([[0], np.cumsum(depth[leaf] + 1)])
        nodes, at = np.empty(ends[-1], dtype=np.int64), leaf.copy()
        for step in range(int(depth[leaf].max(initial=0)) + 1):
            on = depth[leaf] >= step
            nodes[ends[1:][on] - 1 - step] = at[on]
            at = parent[at]
        return csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, ends), shape=(len(leaf), len(depth)))

    def export_text(self, *, decimals: int = 2, max_depth: int | None = None) -> str:
        """The tree as indented text: one line for each condition, with value and weight at the leaves."""
        check.check_fitted(self)
        return text_of(self, decimals, max_depth)

    def rules(self, *, decimals: int = 2) -> list[str]:
        """One readable rule for each leaf."""
        check.check_fitted(self)
        return rules_of(self, decimals)

    def _outline(self, node: int) -> Any:
        return outline_of(self, node)

    # --- pruning ---

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> PruningPath:
        """The penalties at which the best subtree changes (`ccp_alphas`), with the impurity of each subtree."""
        whole = fresh(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        return cost_complexity_path(whole.tree_)

    def pruned(self, how: str, X: Any = None, y: Any = None, *, confidence: float = 0.25) -> Self:
        """A fitted tree with fewer leaves.

        "reduced_error": a node becomes a leaf where that does not raise the error on the rows X, y, which fit has not seen.
        "pessimistic": where it does not raise the upper limit of the error at this `confidence` (C4.5; classifiers only).
        """
        check.check_fitted(self)
        if how == "reduced_error":
            if X is None or y is None:
                raise BadInput("pruned('reduced_error') needs rows that the tree has not seen: give X and y")
            errors = sums_over_nodes(self._trees, self.apply(X), self._errors(y))
            return self._with(cut(self._trees, bottom_up(self._trees, self._as_leaves(errors))))
        if how == "pessimistic" and self.role == "classifier" and 0 < confidence < 1:
            weight = self._trees.weighted_n_node_samples
            wrong = weight * (1 - self._trees.value.max(axis=1))
            return self._with(cut(self._trees, bottom_up(self._trees, upper_error(wrong, weight, confidence))))
        raise BadParameter(
            f"pruned({how!r}, confidence={confidence:g}): must be 'reduced_error', or 'pessimistic' for a classifier with a "
            "confidence between 0 and 1"
        )

    def _errors(self, y: Any) -> Array:
        """(rows, columns): what must be summed over rows to know the error of a node as a leaf."""
        raise NotImplementedError

    def _as_leaves(self, sums: Array) -> Array:
        """The error of each node as a leaf, from these sums."""
        raise NotImplementedError


CRITERIA = {"log_loss": "entropy", "friedman_mse": "squared_error"}
SHARE = "or a share of the rows"


@estimator
class DecisionTreeClassifier(Classifier, OneTree):
    """DecisionTreeClassifier: a tree of questions about single columns, with class shares at its leaves.

    Model       P(class k | x) = the share of class k among the training rows in the leaf of x
    Objective   at each node the split with the largest loss of impurity (Gini: 1 − Σ pₖ²; entropy: −Σ pₖ log₂ pₖ),
                weights included; then fewest leaves at the price ccp_alpha each
    Algorithm   every column is sorted once; a split parts the sorted lists, so that no node sorts again; thresholds half
                way between neighbours; missing values go to the side where they help more; categories are ordered by the
                share of the second class (of more classes: of the most frequent in the node) and cut as numbers are;
                of equal splits the first column and the lowest threshold win
    Cost        O(n p log n) time to sort and O(n p) for each level, O(n p) memory; the rows are kept while the tree grows
    Fails when  it is grown to the end on noisy rows (limit its leaves, or prune); many categories are mistaken for few
    Reference   Breiman, Friedman, Olshen & Stone 1984

    Fitted      tree_ (arrays with scikit-learn's names), feature_importances_ (p,), max_features_, classes_,
                categories_, n_features_in_

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.DecisionTreeClassifier().fit(X, ["low", "low", "high", "high"])
    >>> print(model.export_text())
    x0 <= 2.50: low (2)
    x0 > 2.50: high (2)
    """

    _: KW_ONLY
    criterion: str = param(
        "gini", one_of=("gini", "entropy", "log_loss"), doc="the impurity of a node; log_loss is entropy"
    )
    splitter: str = param(
        "best", one_of=("best", "random"), doc="the best threshold of a column, or one drawn at random"
    )
    max_depth: int | None = param(None, at_least=1, doc="most questions on a way; None: no limit")
    min_samples_split: int | float = param(2, above=0, doc=f"rows that a node needs to be split, {SHARE}")
    min_samples_leaf: int | float = param(1, above=0, doc=f"rows that a leaf needs, {SHARE}")
    min_weight_fraction_leaf: float = param(0.0, at_least=0, at_most=0.5, doc="share of the weight that a leaf needs")
    max_features: int | float | str | None = param(
        None, above=0, one_of=("sqrt", "log2", None), doc="columns drawn for each node: a number, a share, or all"
    )
    random_state: int | RandomState | None = param(None, doc="seed of what is drawn")
    max_leaf_nodes: int | None = param(None, at_least=2, doc="most leaves; the best leaf is split first")
    min_impurity_decrease: float = param(0.0, at_least=0, doc="loss of impurity that a split needs, by share of weight")
    class_weight: dict | str | None = param(None, one_of=("balanced",), doc="factors of the classes' weights")
    ccp_alpha: float = param(0.0, at_least=0, doc="price of a leaf when the tree is pruned")
    monotonic_cst: list | None = param(None, doc="−1, 0 or 1 for each column: the second class falls or rises with it")
    categorical_features: str | list | None = param(
        "from_dtype", doc="columns of categories: 'from_dtype', a mask, numbers or names of columns, or None"
    )

    def _grow(self, rows: Presorted, growth: Growth, y: Array, w: Array) -> Trees:
        classes = len(self.classes_)
        factors = class_factors(self, np.bincount(y, w, classes))
        growth, weight = self._weighed(growth, w if factors is None else w * factors[y])
        return rows.grow(growth, y, weight, classes)

    def _probabilities(self, X: Any) -> Array:
        return self._trees.sums(X).astype(X.dtype, copy=False)

    def _log_probabilities(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._probabilities(X)))

    def _scores(self, X: Any) -> Array:
        """Logarithms that stay finite."""
        return np.asarray(np.log(np.maximum(self._trees.sums(X), SMALLEST)))

    def _errors(self, y: Any) -> Array:
        _, codes = check.encode(check.flat_labels(check.as_column(y), len(y)), self.classes_)
        return np.eye(len(self.classes_))[codes]

    def _as_leaves(self, sums: Array) -> Array:
        told = self._trees.value.argmax(axis=1)
        return np.asarray(sums.sum(axis=1) - sums[np.arange(len(sums)), told])


@estimator
class DecisionTreeRegressor(Regressor, OneTree):
    """DecisionTreeRegressor: a tree of questions about single columns, with a number at each leaf.

    Model       ŷ(x) = the mean (absolute_error: the median) of the training targets in the leaf of x
    Objective   at each node the split with the largest loss of squared error (or of absolute error, or of Poisson
                deviance), weights included; then fewest leaves at the price ccp_alpha each
    Algorithm   every column is sorted once; a split parts the sorted lists, so that no node sorts again; thresholds half
                way between neighbours; missing values go to the side where they help more; categories are ordered by the
                mean of their targets and cut as numbers are; of equal splits the first column and the lowest threshold win
    Cost        O(n p log n) time to sort and O(n p) for each level (absolute_error: O(n p log n)), O(n p) memory; the rows
                are kept while the tree grows
    Fails when  it is grown to the end on noisy rows (limit its leaves, or prune); outside the range of the training rows
    Reference   Breiman, Friedman, Olshen & Stone 1984

    Fitted      tree_ (arrays with scikit-learn's names), feature_importances_ (p,), max_features_, categories_,
                n_features_in_

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> model = tenfold.DecisionTreeRegressor(max_depth=1).fit(X, [1.0, 1.0, 5.0, 7.0])
    >>> model.rules()
    ['if x0 <= 2.50 then 1.00 (2)', 'if x0 > 2.50 then 6.00 (2)']
    """

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "of columns that split a node equally well the first is taken",
    }

    _: KW_ONLY
    criterion: str = param(
        "squared_error",
        one_of=("squared_error", "friedman_mse", "absolute_error", "poisson"),
        doc="the error of a node; friedman_mse is squared_error",
    )
    splitter: str = param(
        "best", one_of=("best", "random"), doc="the best threshold of a column, or one drawn at random"
    )
    max_depth: int | None = param(None, at_least=1, doc="most questions on a way; None: no limit")
    min_samples_split: int | float = param(2, above=0, doc=f"rows that a node needs to be split, {SHARE}")
    min_samples_leaf: int | float = param(1, above=0, doc=f"rows that a leaf needs, {SHARE}")
    min_weight_fraction_leaf: float = param(0.0, at_least=0, at_most=0.5, doc="share of the weight that a leaf needs")
    max_features: int | float | str | None = param(
        None, above=0, one_of=("sqrt", "log2", None), doc="columns drawn for each node: a number, a share, or all"
    )
    random_state: int | RandomState | None = param(None, doc="seed of what is drawn")
    max_leaf_nodes: int | None = param(None, at_least=2, doc="most leaves; the best leaf is split first")
    min_impurity_decrease: float = param(0.0, at_least=0, doc="loss of error that a split needs, by share of weight")
    ccp_alpha: float = param(0.0, at_least=0, doc="price of a leaf when the tree is pruned")
    monotonic_cst: list | None = param(None, doc="−1, 0 or 1 for each column: the prediction falls or rises with it")
    categorical_features: str | list | None = param(
        "from_dtype", doc="columns of categories: 'from_dtype', a mask, numbers or names of columns, or None"
    )

    def _grow(self, rows: Presorted, growth: Growth, y: Array, w: Array) -> Trees:
        target = y[:, 0]
        if self.criterion == "poisson" and (target.min() < 0 or target.max() <= 0):
            raise BadInput(
                "DecisionTreeRegressor(criterion='poisson') needs targets that are not negative nor all zero: "
                f"y goes from {target.min():g} to {target.max():g}, so use squared_error"
            )
        growth, weight = self._weighed(growth, w)
        return rows.grow(growth, target, weight)

    def _predict(self, X: Any) -> Array:
        return self._trees.sums(X)[:, 0].astype(X.dtype, copy=False)

    def _errors(self, y: Any) -> Array:
        y = check.real_target(check.as_column(y), len(y))[:, 0]
        return np.column_stack([np.ones(len(y)), y, y * y])

    def _as_leaves(self, sums: Array) -> Array:
        value = self._trees.value[:, 0]
        return np.asarray(np.maximum(sums[:, 2] - 2 * value * sums[:, 1] + value * value * sums[:, 0], 0.0))
