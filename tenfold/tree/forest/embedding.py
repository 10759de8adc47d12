"""Trees grown without a target, whose leaves are columns of ones."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.tree.bins import learn_bins
from tenfold.tree.forest.binned_table import BinnedTable, code_block, native_forest
from tenfold.tree.forest.growing import Forest
from tenfold.tree.single.extra import ExtraTreeRegressor
from tenfold.tree.structure.arrays import Trees


@estimator
class RandomTreesEmbedding(Transformer, Forest):
    """RandomTreesEmbedding: a column for each leaf of trees whose columns and thresholds are drawn at random.

    Model       z(x) = (1 where x ends in leaf l of tree t, else 0)ₜₗ
    Objective   none: rows that end in the same leaves are near one another
    Algorithm   extremely randomised trees of max_depth, one column drawn for each node, on targets drawn at random by the content
                of a row; weights, missing values and bins as in ExtraTreesRegressor
    Cost        O(n max_depth) time for each tree; n p bytes, and the trees
    Fails when  distances matter: rows on both sides of a threshold share nothing of that tree (use more trees)
    Reference   Geurts, Ernst & Wehenkel 2006; Moosmann, Triggs & Jurie 2006

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> Z = tenfold.RandomTreesEmbedding(10, max_depth=3, random_state=0).fit_transform(X)
    >>> Z.sum(axis=1).ravel()[:, :3].tolist()
    [[10.0, 10.0, 10.0]]
    """

    random_thresholds: ClassVar[bool] = True
    multi_output: ClassVar[bool] = False
    categorical: ClassVar[bool] = False
    path: ClassVar[str | None] = None

    _trees: Trees = learned("Trees(t,1)", "all trees")
    _sums: Array = learned("float(n,1)", "zeros: every tree has seen every row")

    n_estimators: int = param(default=100, at_least=1, doc="number of trees")
    _: KW_ONLY
    max_depth: int | None = param(default=5, at_least=1, doc="largest depth of a tree; None: no limit")
    min_samples_split: int | float = param(default=2, above=0, doc="rows that a node needs to be split, or a share of the rows")
    min_samples_leaf: int | float = param(default=1, above=0, doc="rows that a leaf needs, or a share of the rows")
    min_weight_fraction_leaf: float = param(default=0.0, at_least=0, at_most=0.5, doc="share of the weight that a leaf needs")
    max_leaf_nodes: int | None = param(default=None, at_least=2, doc="most leaves of a tree; the best leaf is split first")
    min_impurity_decrease: float = param(default=0.0, at_least=0, doc="loss of impurity that a split needs, by share of weight")
    sparse_output: bool = param(default=True, doc="a CSR matrix, not an array")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    random_state: int | RandomState | None = param(default=None, doc="seed of what is drawn")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    warm_start: bool = param(default=False, doc="keep the trees of the last fit on the same rows and add more")

    # What forests are asked for, and this one has no choice of.
    max_features: ClassVar[int] = 1
    max_bins: ClassVar[int] = 255
    ccp_alpha: ClassVar[float] = 0.0
    bootstrap: ClassVar[bool] = False
    max_samples: ClassVar[None] = None
    oob_score: ClassVar[bool] = False
    monotonic_cst: ClassVar[None] = None

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_estimators": 5, "sparse_output": False, "random_state": 0}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 1, "sparse_output": False, "random_state": 0}

    def _table(self, source: Source) -> Learner[BinnedTable]:
        category = check.categorical_columns(source)
        bins = yield from learn_bins(source, self.max_bins, category, weighted=False)
        codes, _, w = yield Keep(change=partial(code_block, bins=bins), value_bytes=1)
        hashes = ops.hash_rows(codes[:, : source.n_features].astype(np.float32), 2)
        y = np.asarray((hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53)
        forest = native_forest(bins, category, codes, y, w, classes=[0], factors=None, rate=0.0, criterion="squared_error")
        return BinnedTable(forest, bins, codes, y, w, [1], False, np.empty((0, 2), dtype=np.int64))

    def _tree_class(self) -> Any:
        return ExtraTreeRegressor

    def _leaf_columns(self) -> tuple[Array, int]:
        """By node of all trees the column of the leaf, and how many columns there are."""
        leaf = self._trees.leaves()
        return np.where(leaf, np.cumsum(leaf) - 1, -1), int(leaf.sum())

    def _columns(self, X: Any) -> Array:
        """(rows, trees): the column of the leaf of each row."""
        node = self._trees._packed.leaves(ops.dense(X), 0, len(self._trees)) + self._trees.first[:-1]
        return np.asarray(self._leaf_columns()[0][node])

    def _transform(self, X: Any) -> Array:
        columns = self._columns(X)
        found = np.zeros((len(columns), self._leaf_columns()[1]), dtype=X.dtype)
        np.put_along_axis(found, columns, 1.0, axis=1)
        return found

    def _sparse(self, X: Any) -> Any:
        from scipy.sparse import csr_matrix

        columns = np.sort(self._columns(X), axis=1)
        starts = np.arange(len(columns) + 1) * columns.shape[1]
        return csr_matrix((np.ones(columns.size, X.dtype), columns.ravel(), starts), shape=(len(columns), self._leaf_columns()[1]))

    def transform(self, X: Any) -> Any:
        """(rows, leaves) ones where a row ends, zeros elsewhere: a CSR matrix, unless sparse_output is False."""
        return self._dressed(map_rows(self._undressed, check.check_predict(self, X)), X)

    def _undressed(self, X: Any) -> Any:
        return self._sparse(X) if self.sparse_output else self._transform(X)

    def _sparse_row(self) -> tuple[float, int] | None:
        return (len(self._trees), self._leaf_columns()[1]) if self.sparse_output else None

    def _names_out(self) -> list[str]:
        trees, name = self._trees, type(self).__name__.lower()
        leaf, tree = trees.leaves(), np.repeat(np.arange(len(trees)), np.diff(trees.first))
        place = np.arange(len(leaf)) - trees.first[tree]
        return [f"{name}_{t}_{node}" for t, node in zip(tree[leaf].tolist(), place[leaf].tolist(), strict=True)]
