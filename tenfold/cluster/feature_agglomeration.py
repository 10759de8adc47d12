"""Columns that are alike, put together."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer
from tenfold.cluster.linkage import is_precomputed
from tenfold.cluster.tree_cut import TreeCut
from tenfold.core import ops
from tenfold.core.data import Array, Source, as_floats
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.numbers import check_finite
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.solve.cut import numbered

POOLS: dict[str, Callable[..., Any]] = {"mean": np.mean, "median": np.median, "max": np.max, "min": np.min}
POWERS = {"euclidean": 2, "l2": 2, "cosine": 2, "manhattan": 1, "l1": 1, "cityblock": 1}  # metrics that rows can be weighted in


@estimator
class FeatureAgglomeration(Transformer, TreeCut):
    """FeatureAgglomeration: columns are merged two by two, the nearest first, and each cluster of them becomes one column.

    Model       z_k = mean of the columns of cluster k, or another function of them
    Objective   none beyond the order of merges, as for AgglomerativeClustering: its rows are the columns here
    Algorithm   the tree of the columns, cut at a number of clusters, a distance, or the largest gap
    Cost        O(n p²) time, O(p²) memory and the rows
    Fails when  columns have other units: scale them first. Columns that are opposite are far apart, though they tell the same
    Reference   Lance & Williams 1967; Thirion et al. 2006

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 0.2, 9.0], [1.0, 1.2, 7.0], [2.0, 2.2, 8.0]])
    >>> tenfold.FeatureAgglomeration(n_clusters=2).fit_transform(X)
    array([[0.1, 9. ],
           [1.1, 7. ],
           [2.1, 8. ]])
    """

    labels_: Array = learned("int(p)", "the cluster of each column")

    kind: ClassVar[str] = "keeps rows"

    _: KW_ONLY
    pooling_func: str | Callable[..., Any] = param(
        default=np.mean, before="distance_threshold", doc="what becomes of a cluster: f(columns, axis=1), or 'mean', 'median', 'max', 'min'"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        others = {"linkage": "average", "metric": "manhattan", "pooling_func": "max"}
        return [{"n_clusters": 2, "pooling_func": "mean"}, {"n_clusters": 3, **others}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_settings()
        if is_precomputed(self.metric):
            raise BadParameter("metric='precomputed': columns are compared by what they hold; use AgglomerativeClustering on distances")
        self._pool()
        X, _, w = yield Keep()
        X = np.asarray(ops.dense(X), dtype=np.float64)
        if (w != w[0]).any():
            power = POWERS.get(self.metric) if isinstance(self.metric, str) else None
            if power is None:
                raise BadInput(f"sample_weight: metric={self.metric!r} does not take rows of other weights; use one of {', '.join(POWERS)}")
            X = X * (w ** (1 / power))[:, None]
        elif w[0] != 1 and isinstance(self.metric, str) and POWERS.get(self.metric):
            X = X * w[0] ** (1 / POWERS[self.metric])
        return self._tree(np.ascontiguousarray(X.T), np.ones(X.shape[1]))

    def _pool(self) -> Callable[..., Any]:
        if callable(self.pooling_func) and not isinstance(self.pooling_func, type):
            return self.pooling_func
        if not isinstance(self.pooling_func, str) or self.pooling_func not in POOLS:
            raise BadParameter(f"pooling_func={self.pooling_func!r}: choose one of {', '.join(map(repr, POOLS))}, or a function")
        return POOLS[self.pooling_func]

    def _named(self) -> Self:
        """The same with one of the functions above by its name: in files, and wherever two are compared."""
        made = copy(self)
        vars(made)["pooling_func"] = next((name for name, one in POOLS.items() if one is self.pooling_func), self.pooling_func)
        return made

    def __repr__(self) -> str:
        return super(FeatureAgglomeration, self._named()).__repr__()

    def _saved_params(self) -> dict[str, Any]:
        return super()._saved_params() | {"pooling_func": self._named().pooling_func}

    def _objection(self) -> str | None:
        return None if numbered(self.labels_, self.n_clusters_) else "labels_ are not those of n_clusters_ clusters"

    def _transform(self, X: Any) -> Array:
        pool, X = self._pool(), ops.dense(X)
        found = [np.asarray(pool(X[:, self.labels_ == k], axis=1)) for k in range(self.n_clusters_)]
        return np.column_stack(found).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Each column as that of its cluster."""
        check.check_fitted(self)
        Z, _ = check.as_table(self, X)
        check.check_width(self, Z.shape[1], self.n_clusters_)
        Z = as_floats(ops.dense(Z))
        check_finite(Z, slice(0, None), None, False)
        return np.ascontiguousarray(Z[:, self.labels_])

    def _names_out(self) -> list[str]:
        return [f"featureagglomeration{k}" for k in range(self.n_clusters_)]
