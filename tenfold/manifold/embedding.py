"""What embeddings share: places of the rows of the fit, and the search for those that are near new rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.near.given import remembered
from tenfold.near.index import NeighborIndex


class Embedding(Transformer, Estimator):
    """Abstract: places rows in few dimensions."""

    embedding_: Array = learned("float(n,k)", "places of the rows of the fit, those of weight 0 aside", like_x=True)

    n_components: int  # a parameter of each of them

    __slots__ = (
        "_search",
    )  # (rows, what searches them): it follows from the rows, and is no part of what is saved, copied or compared

    kind: ClassVar[str] = "keeps rows"
    double: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    by_verbs: ClassVar[bool] = True  # places of the rows of the fit are not those that new rows like them get
    least_rows: ClassVar[int] = 2

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return `embedding_`: the places of these rows; those of weight 0 are placed as new ones."""
        self.fit(X, y, sample_weight)
        return self._places_of(X, sample_weight)

    def _places_of(self, X: Any, sample_weight: Any) -> Any:
        """Of the rows of the fit that was just made."""
        absent = None if sample_weight is None else np.asarray(sample_weight).ravel() == 0
        if absent is None or not absent.any():
            return self._dressed(self.embedding_, X)
        places = np.empty((len(absent), self.embedding_.shape[1]), dtype=self.embedding_.dtype)
        places[~absent] = self.embedding_
        places[absent] = self._places_of_absent(X, absent)
        return self._dressed(places, X)

    def _places_of_absent(self, X: Any, absent: Array) -> Array:
        container, places = vars(self).pop("_output", None), None
        try:
            places = np.asarray(self.transform(X))[absent]
        finally:
            if container is not None:
                vars(self)["_output"] = container
        return places

    def _index(self, rows: Array, **options: Any) -> Any:
        """What finds the nearest of the rows that are kept."""
        return remembered(self, rows, lambda: NeighborIndex(rows, **options))

    def _publish(self, apart: Self) -> None:
        super()._publish(apart)
        self._search = getattr(apart, "_search", (None, None))

    def _check_neighbors(self, k: int, n: int) -> None:
        if k >= n:
            raise BadInput(
                f"{type(self).__name__}(n_neighbors={k}): Expected n_neighbors < n_samples, but n_samples = {n}, n_neighbors = {k}: a row "
                f"has at most {n - 1} others: decrease n_neighbors, or give more rows"
            )

    def _names_out(self) -> list[str]:
        return [f"{type(self).__name__.lower()}{i}" for i in range(self.embedding_.shape[1])]


def as_rows(X: Any) -> Array:
    """The rows as float64, an array of their own: the user may change the one that was given."""
    return np.array(ops.dense(X), dtype=np.float64)


def upright(vectors: Array) -> Array:
    """Columns whose entry of largest size is positive."""
    top = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(top < 0, -1.0, 1.0))
