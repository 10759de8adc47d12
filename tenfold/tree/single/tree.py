"""One tree with exact thresholds: how it grows, what it looks like, how it is pruned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.scored import rows_and_truth
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, domains, group, param
from tenfold.core.random import seed_of
from tenfold.tree.options import CRITERIA, TreeOptions
from tenfold.tree.settings import columns_to_draw, directions, generator_of, rows_needed
from tenfold.tree.single.exact import Growth, Presorted
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.structure.describe import MOST_NAMED, missing_columns
from tenfold.tree.structure.prune import (
    PruningPath,
    bottom_up,
    cost_complexity_path,
    cost_complexity_pruned,
    cut,
    sums_over_nodes,
    upper_error,
)
from tenfold.tree.structure.text import Style, outline_of, rules_of, text_of
from tenfold.tree.structure.view import TreeView


@group
class OneTree(TreeOptions, Estimator):
    """Abstract: one tree with exact thresholds."""

    max_features_: int = learned("int", "columns looked at for each split")
    blank_: Array = learned("bool(p)", "columns that held missing values in fit", optional=True)

    _: KW_ONLY
    splitter: str = param(
        default="best",
        one_of=("best", "random"),
        doc="the best threshold of a column, or one drawn at random",
        before="max_depth",
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of what is drawn", before="max_leaf_nodes")

    kind: ClassVar[str] = "keeps rows"  # while it grows
    sparse: ClassVar[bool] = True  # made dense, as it grows on sorted columns; rows to predict are made dense by blocks
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1
    path: ClassVar[str | None] = "ccp_alpha"
    _trees: Trees

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        category = check.categorical_columns(source)
        X, y, w = yield Keep()
        growth, missing = self._growth(X.shape, y, category), missing_columns(X)
        trees = self._grow(Presorted(X, once=True), growth, y, w)
        if self.ccp_alpha > 0:
            (trees,) = cost_complexity_pruned(trees, [self.ccp_alpha])
        return dict(_trees=trees, max_features_=growth.max_features or X.shape[1], blank_=missing)

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All penalties from one tree."""
        if name != "ccp_alpha" or min(values) < 0:
            return super()._fit_path(source, name, values)
        whole: Self = fresh(self).set_params(ccp_alpha=0.0)._fit(source)
        pruned = cost_complexity_pruned(whole._trees, values)
        return [whole._fitted_copy(whole._fitted_state(_trees=trees), ccp_alpha=alpha) for trees, alpha in zip(pruned, values, strict=True)]

    def _pruned(self, leaves: Array) -> Self:
        """This fitted learner with these nodes as leaves."""
        return self._fitted_copy(self._fitted_state(_trees=cut(self._trees, leaves)))

    def _growth(self, shape: tuple[int, int], y: Array, category: Array) -> Growth:
        n, p = shape
        return Growth(
            criterion=CRITERIA.get(self.criterion, self.criterion),
            random=self.splitter == "random",
            max_depth=-1 if self.max_depth is None else min(int(self.max_depth), 2**40),
            min_split=rows_needed(self, "min_samples_split", n, 2),
            min_leaf=rows_needed(self, "min_samples_leaf", n, 1),
            max_features=columns_to_draw(self, p),
            max_leaves=-1 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            monotonic=directions(self, p, 1 if y.ndim == 1 else y.shape[1]),
            categorical=category.astype(np.uint8),
            seed=seed_of(generator_of(self)),
        )

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
    def tree_(self) -> TreeView:
        """The tree, node by node: scikit-learn's names and meaning (`structure.view`)."""
        check.check_fitted(self)
        return TreeView(self._trees, self.n_features_in_, self._widths())

    def _widths(self) -> list[int]:
        """How many values each target has at a leaf: its classes, or 1 for numbers."""
        raise NotImplementedError

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in the loss of impurity."""
        return self.tree_.compute_feature_importances()

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees, outputs side by side) + offset, and its unit."""
        check.check_fitted(self)
        return [self._trees], 1.0, 0.0, "probability" if self.target == "label" else "prediction"

    def get_depth(self) -> int:
        """The depth of the tree: 0 for a single leaf."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self.tree_.n_leaves

    def apply(self, X: Any) -> Array:
        """The number of the leaf of each row."""
        X = check.check_predict(self, X)
        return map_rows(self._leaf, X)

    def _leaf(self, X: Any) -> Array:
        leaves: Array = self._trees._packed.leaves(ops.dense(X), 0, 1)[:, 0]
        return leaves

    def decision_path(self, X: Any) -> Any:
        """(rows, nodes) CSR matrix of ones: the nodes that each row passes."""
        return self._trees.paths(self.apply(X)[:, None])

    def export_text(
        self, *, decimals: int = 2, max_depth: int | None = None, max_categories: int | None = MOST_NAMED
    ) -> str:
        """The tree as indented text: one line for each condition, with value and weight at the leaves.

        It shows where missing values go in columns in which fit saw some; so does a category that fit has not seen. Of a set of
        categories `max_categories` are named.
        """
        check.check_fitted(self)
        return text_of(self, Style(decimals, max_categories), max_depth)

    def rules(self, *, decimals: int = 2, max_categories: int | None = MOST_NAMED) -> list[str]:
        """One readable rule for each leaf, in the words of `export_text`."""
        check.check_fitted(self)
        return rules_of(self, Style(decimals, max_categories))

    def _outline(self, place: Any) -> Any:
        return outline_of(self, place)

    # --- pruning ---

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> PruningPath:
        """The penalties at which the best subtree changes (`ccp_alphas`), with the impurity of each subtree."""
        whole = fresh(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        return cost_complexity_path(whole._trees)

    def pruned(self, how: str, X: Any = None, y: Any = None, *, confidence: float = 0.25) -> Self:
        """A fitted tree with fewer leaves.

        "reduced_error": a node becomes a leaf where that does not raise the error on the rows X, y, which fit has not seen.
        "pessimistic": where it does not raise the upper limit of the error at this `confidence` (C4.5; classifiers only).
        """
        check.check_fitted(self)
        if how == "reduced_error":
            if X is None or y is None:
                raise BadInput("pruned('reduced_error') needs rows that the tree has not seen: give X and y")
            X, y = rows_and_truth(self, X, y)
            errors = sums_over_nodes(self._trees, self.apply(X), self._errors(y))
            return self._pruned(bottom_up(self._trees, self._as_leaves(errors)))
        if how == "pessimistic" and self.role == "classifier" and self.n_outputs_ == 1 and 0 < confidence < 1:
            weight = self._trees.weighted_n_node_samples
            wrong = weight * (1 - self._trees.value.max(axis=1))
            return self._pruned(bottom_up(self._trees, upper_error(wrong, weight, confidence)))
        raise BadParameter(
            f"pruned({how!r}, confidence={confidence:g}): must be 'reduced_error', or 'pessimistic' for a classifier of one target "
            "with a confidence between 0 and 1"
        )

    def _errors(self, y: Any) -> Array:
        """(rows, columns): what must be summed over rows to know the error of a node as a leaf."""
        raise NotImplementedError

    def _as_leaves(self, sums: Array) -> Array:
        """The error of each node as a leaf, from these sums."""
        raise NotImplementedError


OWN = ("random_state", "class_weight")  # what the trees of a forest do not have in common with it


def as_learners(model: Estimator, kind: Callable[[], OneTree]) -> list[OneTree]:
    """The packed trees of a fitted model as learners of their own, one after the other."""
    check.check_fitted(model)
    shared = {name: getattr(model, name) for name in domains(kind()) if name in domains(model) and name not in OWN}
    members, target = [kind(**shared) for _ in range(len(model._trees))], kind().target
    names = ["n_features_in_", "feature_names_in_", "categories_"] + (["classes_"] if target == "label" else [])
    facts = {name: vars(model)[name] for name in names if name in vars(model)}
    if target == "real":
        facts["_flat"] = vars(model).get("_flat", True)
    for t, member in enumerate(members):
        vars(member).update(facts, _trees=model._trees[t], max_features_=model.n_features_in_)
    return members
