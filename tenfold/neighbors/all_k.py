"""All k at once: one table of neighbours tells what every number of them says, of new rows and of rows that are left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.params import group
from tenfold.neighbors.kept import AsksNearest, WeighsNeighbors
from tenfold.neighbors.search import Near
from tenfold.neighbors.weights import needs_further


@group
class AlongNeighbors(WeighsNeighbors, AsksNearest):
    """Abstract: predicts by k neighbours; the models of all k share their rows and their search."""

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
        for one in models:
            one._search = whole._search
        return models

    def _outputs_along(self, models: list[Any], X: Any) -> list[Array]:
        return list(self._of_all(models, X))

    def _left_out_along(self, models: list[Any], source: Source) -> Iterator[Array]:
        return self._of_all(models, None)

    def _of_all(self, models: list[Any], X: Any) -> Iterator[Array]:
        """The outputs of models that differ in k alone, for rows of a block; without X for each row of the fit, by all others."""
        wanted = sorted({int(one.n_neighbors) for one in models})
        near = self._near(X, wanted[-1], further=self._further())
        asked = [int(one.n_neighbors) for one in models]
        if asked == wanted:  # one after the other: they need not all be there at a time
            yield from self._outputs_of(near, wanted)
            return
        found = dict(zip(wanted, self._outputs_of(near, wanted), strict=True))
        yield from (found[k] for k in asked)

    def _outputs_of(self, near: Near, wanted: list[int]) -> Iterator[Array]:
        """What `_outputs` are for each of these k, in rising order, by a table of the neighbours of the largest."""
        raise NotImplementedError
