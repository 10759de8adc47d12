"""All k at once: one table of neighbours tells what every number of them says, of new rows and of rows that are left out."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.params import group
from tenfold.neighbors.kept import AsksNearest, WeighsNeighbors
from tenfold.neighbors.search import Near
from tenfold.neighbors.weights import needs_further

LAST = 4  # tables that are remembered: searches ask on several threads


class Tables:
    """The last tables of neighbours of the models of one path: where these are too many to be asked at once, rows are searched once."""

    def __init__(self, most: int) -> None:
        self.most, self.known, self.lock = most, dict[bytes, Near](), threading.Lock()

    def of(self, X: Array, search: Callable[[int], Near]) -> Near:
        """The table of the largest k for these rows."""
        key = hashlib.blake2b(np.ascontiguousarray(X).tobytes()).digest()
        found = self.known.get(key)
        if found is None:
            found = search(self.most)
            with self.lock:
                self.known[key] = found
                while len(self.known) > LAST:
                    del self.known[next(iter(self.known))]
        return found


@group
class AlongNeighbors(WeighsNeighbors, AsksNearest):
    """Abstract: predicts by k neighbours; the models of all k share their rows and their search."""

    __slots__ = ("_tables",)  # of a path

    path: ClassVar[str | None] = "n_neighbors"

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"n_neighbors": 7, "weights": "distance"}, {"n_neighbors": 4, "weights": "epanechnikov", "p": 1}]

    def _further(self) -> bool:
        return needs_further(self.weights)

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All k from one fit."""
        if name != "n_neighbors" or not all(isinstance(k, (int, np.integer)) and k >= 1 for k in values):
            return super()._fit_path(source, name, values)
        whole: Self = fresh(self).set_params(n_neighbors=values[0])._fit(source)
        models = [whole._fitted_copy(whole._fitted_state(), n_neighbors=k) for k in values]
        tables = Tables(int(max(values)))
        for one in models:
            one._share(whole._search, tables)
        return models

    def _share(self, search: Any, tables: Tables) -> None:
        self._search, self._tables = search, tables

    def _outputs_along(self, models: list[Any], X: Any) -> list[Array]:
        return list(self._of_all(models, X))

    def _left_out_along(self, models: list[Any], source: Source) -> Iterator[Array]:
        return self._of_all(models, None)

    def _of_all(self, models: list[Any], X: Any) -> Iterator[Array]:
        """The outputs of models that differ in k alone, for rows of a block; without X for each row of the fit, by all others."""
        wanted = sorted({int(one.n_neighbors) for one in models})
        tables, further = getattr(self, "_tables", None), self._further()
        if tables is None or X is None:
            near = self._near(X, wanted[-1], further=further)
        else:
            near = tables.of(self._plain(X), lambda most: self._near(X, most, further=further))
        asked = [int(one.n_neighbors) for one in models]
        if asked == wanted:  # one after the other: they need not all be there at a time
            yield from self._outputs_of(near, wanted)
            return
        found = dict(zip(wanted, self._outputs_of(near, wanted), strict=True))
        yield from (found[k] for k in asked)

    def _outputs_of(self, near: Near, wanted: list[int]) -> Iterator[Array]:
        """What `_outputs` are for each of these k, in rising order, by a table of the neighbours of the largest."""
        raise NotImplementedError
