"""A forest once it has grown: its mean, its trees, and their predictions for rows that they have not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.scored import rows_and_truth, table_of
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, NotFitted
from tenfold.core.learned import learned
from tenfold.core.learning import drive
from tenfold.core.params import domains
from tenfold.core.random import seed_of
from tenfold.core.threads import single_blas
from tenfold.tree.forest.binned_table import rows_of_tree
from tenfold.tree.forest.out_of_bag import OutOfBagImportance, TreeCorrelation, oob_importance, tree_correlation
from tenfold.tree.settings import generator_of
from tenfold.tree.single.tree import as_learners
from tenfold.tree.structure.arrays import Trees

STEP = 0x9E3779B97F4A7C15  # between the seeds of trees


def seed_of_tree(seed: int, t: int) -> int:
    return (seed + STEP * (t + 1)) % 2**64


class Grown(Estimator):
    """Abstract: the mean of many trees."""

    _times: Array = learned("int(n)", "how many trees have not seen each training row")
    _seed: int = learned("int", "seed of the draws")
    _draws: Array = learned("int(n,2)", "by which the trees have drawn rows, where they have", optional=True)
    _oob_score: Any = learned("float|none", "the score on rows that a tree has not seen")

    random_thresholds: ClassVar[bool] = False
    _trees: Trees
    _sums: Array  # (n, outputs): sums over the trees that have not seen a row

    def _mean(self, X: Any) -> Array:
        """(rows, outputs): the mean of the trees."""
        return np.asarray(self._trees.sums(X) / len(self._trees))

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees, outputs side by side) + offset, and its unit."""
        check.check_fitted(self)
        return [self._trees], 1 / len(self._trees), 0.0, "probability" if self.target == "label" else "prediction"

    @property
    def oob_score_(self) -> float:
        """The score on rows that a tree has not seen: accuracy, or R²."""
        check.check_fitted(self)
        self._check_out_of_bag("oob_score_")
        return float(vars(self)["_oob_score"])

    def _check_out_of_bag(self, name: str) -> None:
        if vars(self).get("_oob_score") is None:
            raise NotFitted(vars(self).get("absent_", {}).get(name, f"{type(self).__name__} has no {name}"))

    def _outputs_out_of_bag(self, name: str) -> Array:
        check.check_fitted(self)
        self._check_out_of_bag(name)
        with np.errstate(invalid="ignore"):
            return np.asarray(self._sums / np.where(self._times > 0, self._times, np.nan)[:, None])

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in the loss of impurity, averaged over the trees."""
        check.check_fitted(self)
        return self._trees.importances(self.n_features_in_)

    @property
    def trees_(self) -> Trees:
        """All trees, node by node."""
        check.check_fitted(self)
        return self._trees

    @property
    def estimators_(self) -> list[Any]:
        """The trees as learners of their own, with the parameters that they grew by; random_state is the number that drew for them."""
        members = as_learners(self, self._tree_class())
        for t, member in enumerate(members):
            vars(member).update(vars(self.estimator), random_state=seed_of_tree(self._seed, t) % 2**32)
        return members

    @property
    def estimators_samples_(self) -> list[Array]:
        """The rows that each tree has drawn (those of weight 0 left out of the count), as often as it has drawn them."""
        check.check_fitted(self)
        n, seeds = len(self._times), [seed_of_tree(self._seed, t) for t in range(len(self._trees))]
        if not self.bootstrap:
            return [np.arange(n, dtype=np.int32) for _ in seeds]
        draws, found = vars(self).get("_draws"), list[Array]()
        if draws is not None:
            found = [rows_of_tree(draws, self._rate(n), seed) for seed in seeds]
        seen = np.zeros(n, dtype=np.int64)
        for rows in found:
            seen[np.unique(rows)] += 1
        if not np.array_equal(len(self._trees) - seen, self._times):
            raise BadInput(
                f"{type(self).__name__}.estimators_samples_: rows were not drawn with these parameters, or are not in the file: fit again"
            )
        return found

    @property
    def estimator(self) -> Any:
        """A tree as the forest grows them, not fitted; `estimator_` of a fitted forest is the same."""
        kind = self._tree_class()
        shared = {name: getattr(self, name) for name in domains(kind) if name in domains(self) and name != "random_state"}
        if self.target == "label" and shared["class_weight"] == "balanced_subsample":
            shared["class_weight"] = "balanced"
        return kind(**shared, splitter="random" if self.random_thresholds else "best")

    @property
    def estimator_(self) -> Any:
        """A tree as the forest has grown them, not fitted."""
        check.check_fitted(self)
        return self.estimator

    def __len__(self) -> int:
        """The number of trees."""
        check.check_fitted(self)
        return len(self._trees)

    def __getitem__(self, number: Any) -> Any:
        """One of `estimators_`, or some of them."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def __bool__(self) -> bool:
        return True  # fitted or not, however many trees

    def _tree_class(self) -> Any:
        raise NotImplementedError

    def _rate(self, n: int) -> float:
        """How often a row is drawn for a tree, on average; 0: every row once."""
        raise NotImplementedError

    def apply(self, X: Any) -> Array:
        """(rows, trees): the number of the leaf of each row in each tree."""
        X = check.check_predict(self, X)
        return map_rows(lambda block: self._trees._packed.leaves(ops.dense(block), 0, len(self._trees)), X)

    def decision_path(self, X: Any) -> tuple[Any, Array]:
        """(rows, nodes of all trees) CSR matrix of ones, the nodes that each row passes; and the first node of each tree."""
        leaves = self.apply(X)
        return self._trees.paths(leaves), self._trees.first.copy()

    def tree_correlation(self, X: Any, y: Any) -> TreeCorrelation:
        """The mean correlation ρ of the trees' errors on rows they have not seen, and 10 (1 − ρ) / ρ.

        The variance of the mean of T trees is σ² (ρ + (1 − ρ) / T): beyond that number of trees the second part is less
        than a tenth of the first.
        """
        X, y = rows_and_truth(self, X, y)
        rows = ops.dense(table_of(self, X))
        errors = [self._errors(self._trees.sums(rows, t, t + 1), y) for t in range(len(self._trees))]
        return tree_correlation(np.stack(errors))

    def oob_importance(self, X: Any, y: Any, sample_weight: Any = None, random_state: Any = 0) -> OutOfBagImportance:
        """How much worse the trees become on rows that they have not seen when a column is shuffled among these.

        Give the training rows again: they are not kept. For each tree and column the loss of accuracy, or the rise of the squared
        error (Breiman 2001); the mean over the trees, and its standard error.
        """
        check.check_fitted(self)
        if vars(self).get("_oob_score") is None:
            raise NotFitted(
                f"{type(self).__name__}.oob_importance: every tree has seen every row, use bootstrap=True and more trees"
            )
        again = fresh(self).set_params(random_state=random_state)
        source = check.check_fit(again, X, y, sample_weight)
        check.check_width(self, source.n_features, self.n_features_in_)
        vars(again).update(source.facts)
        with single_blas:
            table: Any = drive(again._table(source), source, current_engine(source), type(self).__name__)
            seeds = [seed_of_tree(self._seed, t) for t in range(len(self._trees))]
            found = oob_importance(
                table, self._trees, seeds, self._times, self._losses, seed_of(generator_of(again)), type(self).__name__
            )
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return replace(found, columns=[str(name) for name in names])

    def _losses(self, outputs: Array, y: Array) -> Array:
        """The loss of a tree by row, from its outputs and the targets (of labels their numbers)."""
        raise NotImplementedError

    def _errors(self, outputs: Array, y: Any) -> Array:
        """How wrong one tree is, row by row."""
        raise NotImplementedError
