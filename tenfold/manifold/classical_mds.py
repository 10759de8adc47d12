"""Classical scaling of rows or of a table of dissimilarities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.core.data import Array, Source
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.manifold.classical import Scaled
from tenfold.manifold.dissimilarities import from_fit, table_given, table_of_rows
from tenfold.manifold.embedding import as_rows
from tenfold.near.given import PRECOMPUTED


@estimator
class ClassicalMDS(Scaled):
    """ClassicalMDS: places whose distances are those of the rows, as far as few dimensions hold them.

    Model       bᵢⱼ: the products about the mean that the squares of dissimilarities stand for; bᵢⱼ ≈ zᵢ·zⱼ
    Objective   min Σᵢⱼ wᵢ wⱼ (bᵢⱼ − zᵢ·zⱼ)²; of Euclidean distances these are the principal components
    Algorithm   the leading eigenvectors of b, by block Krylov spaces. The largest entry of each axis is positive. New rows by their
                dissimilarities to those of the fit (Gower's formula): a row of the fit gets its own place again
    Cost        O(n² (p + k)) time, 24 n² bytes; keeps all rows and their dissimilarities
    Fails when  n² numbers do not fit in memory (refused); dissimilarities with fewer dimensions leave axes of zeros (warns)
    Reference   Torgerson 1952; Gower 1968, equation 10

    Example
    -------
    >>> import numpy as np, tenfold
    >>> miles = np.array([[0.0, 3, 5], [3, 0, 4], [5, 4, 0]])
    >>> places = tenfold.ClassicalMDS(metric="precomputed").fit_transform(miles)
    >>> [round(float(np.linalg.norm(places[i] - places[j])), 6) for i, j in ((0, 1), (0, 2), (1, 2))]
    [3.0, 5.0, 4.0]
    """

    dissimilarity_matrix_: Array = learned("float(n,n)>=0", "dissimilarities of the rows of the fit", like_x=True)
    _fit_X: Array = learned("float(n,p)", "the rows of the fit, where X was none of dissimilarities", rows=True, optional=True)

    least_rows: ClassVar[int] = 2

    n_components: int = param(default=2, at_least=1, doc="dimensions of the embedding")
    _: KW_ONLY
    metric: str | Callable[..., Any] = param(
        default="euclidean",
        doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X is a table of dissimilarities",
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")

    @property
    def accepts(self) -> str:
        """Rows, or a table of dissimilarities."""
        return "pairs" if isinstance(self.metric, str) and self.metric == PRECOMPUTED else "rows"

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"n_components": 3, "metric": "manhattan"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 1}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep(sparse=self.accepts == "pairs")
        if self.accepts == "pairs":
            D = table_given(X, "ClassicalMDS")
            return self._scaled(D, w) | dict(dissimilarity_matrix_=D)
        rows = as_rows(X)
        D = table_of_rows(rows, self.metric, self.metric_params, "ClassicalMDS", X.dtype)
        return self._scaled(D, w) | dict(dissimilarity_matrix_=D, _fit_X=rows)

    def _transform(self, X: Any) -> Array:
        return np.asarray(self._placed(from_fit(self, X, self.metric, self.metric_params)).astype(X.dtype, copy=False))

    def _objection(self) -> str | None:
        return "_fit_X is missing" if self.accepts == "rows" and "_fit_X" not in vars(self) else None
