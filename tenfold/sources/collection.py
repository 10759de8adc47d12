"""Dask arrays and frames as sources: fitted where their rows are, one block for each partition.

    model.fit(dask_frame, "price")

They run on the cluster of the client in force, and without one in this process, partition by partition.
Predictions for a collection are a Dask array, not yet computed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.engine import chosen_engine
from tenfold.core.errors import BadInput, BadType
from tenfold.core.threads import single_blas
from tenfold.gate import check
from tenfold.sources.blocks import Blocks, in_block, union_of_labels
from tenfold.sources.cluster import Dask, current_client, guarded, received
from tenfold.sources.stream import is_dask


def open_collection(
    learner: Any,
    X: Any,
    y: Any = None,
    weight: Any = None,
    classes: Any = None,
    categories: Any = None,
    *,
    plain: bool = False,
) -> Source:
    """The gate for Dask collections: rows stay where they are. With `plain` (predict) nothing is computed."""
    if len(getattr(X, "shape", ())) != 2:
        raise BadInput(
            f"Expected 2D array, got a Dask {type(X).__name__} of shape {getattr(X, 'shape', ())}: reshape it first"
        )
    named, beside = list[str | None](), list[Any]()
    for what, given in (("y", y), ("sample_weight", weight)):
        if isinstance(given, str) and given not in getattr(X, "columns", []):
            raise BadInput(
                f"there is no column {given!r} in X to be {what}: give the name of a column of a Dask "
                "frame, or a Dask array"
            )
        named.append(given if isinstance(given, str) else None)
        beside.append(None if given is None or isinstance(given, str) else _beside(X, given, what))
    if plain:
        recipe = Recipe(learner, _nothing, None, None, None, None, plain=True)
    else:
        learner = copy.copy(learner)  # it travels with every task: without what it learned before
        learner._forget_fit()
        recipe = Recipe(learner, _nothing, named[0], named[1], classes, categories, plain=False)
    return Collection(X, beside, recipe)


def _beside(X: Any, given: Any, what: str) -> list[Any]:
    """The partitions of a target or of weights, one for each partition of X."""
    if not is_dask(given):
        if not hasattr(X, "chunks") or np.isnan(X.chunks[0]).any():
            raise BadType(
                f"with this Dask {type(X).__name__}, {what} must be a Dask collection too, or the name of a column"
            )
        given = _dask_array().from_array(np.asarray(given))
    if hasattr(given, "chunks") and hasattr(X, "chunks") and not np.isnan([*X.chunks[0], *given.chunks[0]]).any():
        check.check_length(what, given.shape[0], X.shape[0])
        given = given.rechunk({0: X.chunks[0]})
    parts, expected = _partitions(given), X.npartitions if not hasattr(X, "chunks") else X.numblocks[0]
    if len(parts) != expected:
        raise BadInput(
            f"X has {expected} partitions, but {what} has {len(parts)}: cut them alike, or give {what} as a column of X"
        )
    return parts


def _partitions(X: Any) -> list[Any]:
    if hasattr(X, "chunks") and X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})  # a block holds whole rows
    return list(np.ravel(X.to_delayed()))


def _dask_array() -> Any:
    import dask.array

    return dask.array


def _nothing() -> Iterator[Any]:
    return iter(())


class Recipe(Blocks):
    """How a worker makes a block of a partition (X, y, w): a stream of one block, which has a number."""

    def taught(self, number: int, raw: Any) -> Recipe:
        """With the facts of one partition."""
        self.learn_facts(raw, number)
        return self

    def block(self, number: int, raw: Any) -> Block:
        with in_block(number):
            X, y, w, rows = self._checked(raw)
        cut: Any = slice(None) if len(rows) == X.shape[0] else rows
        return self.load((X[cut], None if y is None else y[cut], None if w is None else w[cut], number, rows))


class Collection(Source):
    """The partitions of a Dask collection, each one block. Those without rows are left out."""

    def __init__(self, X: Any, beside: list[Any], recipe: Recipe) -> None:
        from dask.delayed import delayed

        self.X, self.recipe = X, recipe
        columns = [_partitions(X), *beside]
        n = len(columns[0])
        self.raws = [delayed(_pack)(*row) for row in zip(*(column or [None] * n for column in columns), strict=True)]
        self.numbers, self.persisted = list(range(n)), list[Any]()
        self.home = _home()
        if recipe.plain:
            names = check.column_names(list(X.columns)) if hasattr(X, "columns") else None
            recipe.n_features = self.n_features = X.shape[1]
            if "n_features_in_" in vars(recipe.learner):
                self._check_columns(names)
            self.target, self.facts = Target("none"), check.facts_of(self.n_features, names, Target("none"))
            return
        self._survey()

    def _check_columns(self, names: Array | None) -> None:
        """Columns as in fit; a frame may have more of them."""
        learner, fitted = self.recipe.learner, getattr(self.recipe.learner, "feature_names_in_", None)
        if fitted is not None and names is not None and set(fitted) <= set(names):
            names = fitted
            self.recipe.n_features = self.n_features = len(fitted)
        check.check_names(learner, names)
        check.check_width(learner, self.n_features, learner.n_features_in_)

    def _survey(self) -> None:
        """One small pass: which partitions have rows, and the classes; then the facts from the first."""
        found = [received(one) for one in self._ask("survey", self.numbers)]
        self.numbers = [number for number in self.numbers if found[number][0]]
        self.n_parts, self.n_rows = len(self.numbers), sum(rows for rows, _, _ in found)
        least = max(1, self.recipe.learner.least_rows)
        if self.n_rows < least:
            raise BadInput(f"Found {self.n_rows} sample(s) of weight above zero while a minimum of {least} is required")
        labels = [seen for _, seen, _ in found if seen is not None]
        if labels:
            self.recipe.classes = union_of_labels(labels)
        categories = [seen for _, _, seen in found if seen is not None]
        if categories:
            apart = (self.recipe.y, self.recipe.weight)
            names = [name for name in getattr(self.X, "columns", []) if name not in apart]
            self.recipe.categories = check.union(categories, check.column_names(names))
        self.recipe = received(self._ask("taught", self.numbers[:1])[0])
        self.n_features, self.target, self.facts = (
            self.recipe.n_features,
            self.recipe.target,
            self.recipe.facts,
        )

    def _ask(self, verb: str, numbers: list[int]) -> list[Any]:
        if self.home is None:
            return [_asked(verb, self.recipe, i, self.raws[i].compute()) for i in numbers]
        futures = dict(self.futures(self.home.client))
        asked = [self.home.submit(_asked, verb, self.recipe, i, futures[i]) for i in numbers]
        results: list[Any] = self.home.client.gather(asked)
        return results

    def on_cluster(self, engine: Dask) -> list[Any]:
        """The blocks, as futures of an engine."""
        raws = self.futures(engine.client)
        return [engine.submit(_asked, "block", self.recipe, number, raw) for number, raw in raws]

    def futures(self, client: Any) -> list[tuple[int, Any]]:
        """The partitions on the workers, computed once."""
        if not self.persisted:
            self.persisted = client.compute(self.raws)
        return [(number, self.persisted[number]) for number in self.numbers]

    def parts(self) -> Iterator[tuple[int, Any]]:
        """For an engine of this process: one partition after the other comes here."""
        for number in self.numbers:
            yield number, self.raws[number].compute()

    def load(self, part: tuple[int, Any]) -> Block:
        return self.recipe.block(*part)

    def whole(self) -> Collection:
        recipe = Recipe(self.recipe.learner, _nothing, self.recipe.y, None, None, None, plain=True)
        recipe.categories = self.recipe.categories
        return Collection(self.X, [], recipe)

    def lazily(self, function: Callable[[Any], Array]) -> Any:
        """function(X) as a Dask array with the chunks of X, not yet computed."""
        from dask.delayed import delayed

        da = _dask_array()
        empty = function(np.ones((1, self.n_features), dtype=self._dtype()))[:0]
        rows = self.X.chunks[0] if hasattr(self.X, "chunks") else [np.nan] * len(self.raws)
        mapped = [delayed(_mapped, pure=False)(function, self.recipe, i, raw, empty) for i, raw in enumerate(self.raws)]
        return da.concatenate(
            [
                da.from_delayed(part, (n, *empty.shape[1:]), dtype=empty.dtype)
                for part, n in zip(mapped, rows, strict=True)
            ]
        )

    def _dtype(self) -> Any:
        kinds = [self.X.dtype] if hasattr(self.X, "chunks") else list(self.X.dtypes)
        return np.float32 if all(kind == np.float32 for kind in kinds) else np.float64


def _home() -> Dask | None:
    """The cluster chosen, else the one in force; None for an engine of this process."""
    chosen = chosen_engine()
    if chosen is not None:
        return chosen if isinstance(chosen, Dask) else None
    client = current_client()
    return None if client is None else Dask(client)


# --- what runs on a worker ----------------------------------------------------------------------------------


def _asked(verb: str, recipe: Recipe, number: int, raw: Any) -> Any:
    """What a recipe makes of a partition: its "block", a "survey" of it, or the recipe "taught" by it."""
    return guarded(getattr(recipe, verb), number, raw)


def _mapped(function: Callable[[Any], Array], recipe: Recipe, number: int, raw: Any, empty: Array) -> Array:
    """The rows of a partition through a function; errors are raised, as the user computes this himself."""
    if len(raw[0]) == 0:
        return empty
    with single_blas:
        return function(recipe.block(number, raw).X)


def _pack(*parts: Any) -> tuple[Any, ...]:
    return parts
