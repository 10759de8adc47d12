"""Dask: blocks summarised and merged by the workers of a cluster, and Dask collections as sources.

    with tenfold.engine(tenfold.Dask(client)):       any table, on the workers of a distributed.Client
        model.fit(X, y)
    model.fit(dask_frame, "price")                   a Dask collection is fitted where it is

Merges follow the same tree as in one process: the same blocks give the same bits, with any number of workers. Every task can be run
again from what the scheduler holds, so a worker that dies costs time, not the fit.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tenfold.core import check
from tenfold.core.data import Array, Arrays, Block, Mapped, Source, Target, as_floats
from tenfold.core.engine import Summarize, Tree, chosen_engine, single_blas
from tenfold.core.errors import BadInput, BadParameter, BadType, TenfoldError
from tenfold.core.stream import Blocks, in_block, is_dask, union_of_labels

IN_FLIGHT = 4  # blocks of a stream sent ahead, for each thread of the cluster


class Dask:
    """The engine of a cluster: `Dask(client)`, or the client in force.

    A table in this process is sent to the cluster once for a fit, block by block, and kept there for later passes; the scheduler holds
    it as long as the fit lasts. Blocks of files and streams are sent as they are read, a bounded number ahead.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = client or current_client()
        if self.client is None:
            raise BadParameter("Dask(): there is no client in force: give one, Dask(distributed.Client(address))")
        self.kept: WeakKeyDictionary[Source, list[Any]] = WeakKeyDictionary()  # blocks on the cluster, while their source lives

    def run(self, summarize: Summarize, source: Any) -> Any:
        import cloudpickle

        tree, window = Tree(), deque[tuple[int, Any]]()
        pickled = cloudpickle.dumps(summarize)  # once for a pass, and so that lambdas travel too
        try:
            blocks = self.blocks(source)
            if blocks is None:
                return self._run_stream(pickled, source, tree, window)
            for i, block in enumerate(blocks):
                tree.put(i, _Promise(self, self.submit(_leaf, pickled, block)))
            return _received(tree.result().future.result())
        except BaseException:  # Ctrl-C too
            waiting = [node.future for node in tree.waiting.values() if isinstance(node, _Promise)]
            self.client.cancel([*waiting, *(future for _, future in window)], force=True)
            raise

    def _run_stream(self, pickled: bytes, source: Any, tree: Tree, window: deque[tuple[int, Any]]) -> Any:
        """Statistics are merged here: on the cluster they would keep every block sent so far from being forgotten."""
        ahead = IN_FLIGHT * max(1, sum(self.client.nthreads().values()))
        for i, part in enumerate(source.parts()):
            window.append((i, self.submit(_leaf, pickled, source.load(part))))
            if len(window) > ahead:
                tree.put(window[0][0], _received(window[0][1].result()))
                window.popleft()
        for i, future in window:
            tree.put(i, _received(future.result()))
        return tree.result()

    def blocks(self, source: Any) -> list[Any] | None:
        """The blocks of a source as futures; None where they are only passing through."""
        if source not in self.kept:
            if isinstance(source, Collection):
                self.kept[source] = [self.submit(_asked, "block", source.recipe, *raw) for raw in source.futures(self.client)]
            elif isinstance(source, Arrays):
                self.kept[source] = [self.submit(_same, source.load(part)) for part in source.parts()]
            elif isinstance(source, Mapped) and (inner := self.blocks(source.inner)) is not None:
                self.kept[source] = [self.submit(_changed, source.change, block) for block in inner]
        return self.kept.get(source)

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.client.submit(function, *args, pure=False)

    def __repr__(self) -> str:
        return f"Dask({self.client.scheduler.address if self.client.scheduler else 'closed'!r})"


@dataclass(slots=True)
class _Promise:
    """Statistics on the cluster; `+` asks for their merge there."""

    engine: Dask
    future: Any

    def __add__(self, other: _Promise) -> _Promise:
        return _Promise(self.engine, self.engine.submit(_merge, self.future, other.future))


def current_client() -> Any:
    """The client of distributed in force here, if there is one."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:
        return None


# --- what runs on a worker: an error is a result, and the one of the first block wins -----------------------------------


@dataclass(slots=True)
class _Failed:
    error: Exception


def _guarded(function: Callable[..., Any], *args: Any) -> Any:
    """function(*args) with one BLAS thread; nothing is done with arguments that failed before."""
    before = next((arg for arg in args if isinstance(arg, _Failed)), None)
    if before is not None:
        return before
    try:
        with single_blas:
            return function(*args)
    except Exception as error:
        try:
            return _Failed(pickle.loads(pickle.dumps(error)))
        except Exception:  # an error that cannot travel
            return _Failed(TenfoldError(f"{type(error).__name__}: {error}"))


def _received(result: Any) -> Any:
    if isinstance(result, _Failed):
        raise result.error
    return result


def _leaf(pickled: bytes, block: Any) -> Any:
    return _guarded(lambda b: pickle.loads(pickled)(_aligned(b)), block)


def _aligned(block: Block) -> Block:
    """Arrays that came over the network may start at any byte; kernels want numbers where the machine has them."""
    arrays = [a if not isinstance(a, np.ndarray) or a.flags.aligned else a.copy() for a in (block.X, block.y, block.w)]
    return Block(*arrays, block.key)


def _merge(left: Any, right: Any) -> Any:
    return _guarded(lambda a, b: a + b, left, right)


def _changed(change: Callable[[Any], Any], block: Any) -> Any:
    return _guarded(lambda b: Block(as_floats(change(b.X)), b.y, b.w, b.key), block)


def _asked(verb: str, recipe: Recipe, number: int, raw: Any) -> Any:
    """What a recipe says about a partition: its "block", a "survey" of it, or the recipe "taught" by it."""
    return _guarded(getattr(recipe, verb), number, raw)


def _mapped(function: Callable[[Any], Array], recipe: Recipe, number: int, raw: Any, empty: Array) -> Array:
    """The rows of a partition through a function; errors are raised, as the user computes this himself."""
    if len(raw[0]) == 0:
        return empty
    with single_blas:
        return function(recipe.block(number, raw).X)


def _same(block: Any) -> Any:
    return block


def _pack(*parts: Any) -> tuple[Any, ...]:
    return parts


# --- collections --------------------------------------------------------------------------------------------------------


def open_collection(learner: Any, X: Any, y: Any, sample_weight: Any, classes: Any, plain: bool = False) -> Source:
    """The gate for dask.array and dask.dataframe: rows stay where they are. With `plain` (predict) nothing is computed yet."""
    if len(getattr(X, "shape", ())) != 2:
        raise BadInput(f"Expected 2D array, got a Dask {type(X).__name__} of shape {getattr(X, 'shape', ())}: reshape it first")
    named, beside = list[str | None](), list[Any]()
    for what, given in (("y", y), ("sample_weight", sample_weight)):
        if isinstance(given, str) and given not in getattr(X, "columns", []):
            raise BadInput(f"there is no column {given!r} in X to be {what}: give the name of a column of a Dask frame, or a Dask array")
        named.append(given if isinstance(given, str) else None)
        beside.append(None if given is None or isinstance(given, str) else _beside(X, given, what))
    if plain:
        recipe = Recipe(learner, _nothing, None, None, None, plain=True)
    else:
        learner = copy.copy(learner)  # it travels with every task: without what it learned before
        learner._forget_fit()
        recipe = Recipe(learner, _nothing, named[0], named[1], classes, plain=False)
    return Collection(X, beside, recipe)


def _beside(X: Any, given: Any, what: str) -> list[Any]:
    """The partitions of a target or of weights, one for each partition of X."""
    if not is_dask(given):
        if not hasattr(X, "chunks") or np.isnan(X.chunks[0]).any():
            raise BadType(f"with this Dask {type(X).__name__}, {what} must be a Dask collection too, or the name of a column")
        given = _dask_array().from_array(np.asarray(given))
    if hasattr(given, "chunks") and hasattr(X, "chunks") and not np.isnan([*X.chunks[0], *given.chunks[0]]).any():
        check.check_length(what, given.shape[0], X.shape[0])
        given = given.rechunk({0: X.chunks[0]})
    parts, expected = _partitions(given), X.npartitions if not hasattr(X, "chunks") else X.numblocks[0]
    if len(parts) != expected:
        raise BadInput(f"X has {expected} partitions, but {what} has {len(parts)}: cut them alike, or give {what} as a column of X")
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

    def survey(self, number: int, raw: Any) -> tuple[int, Array | None]:
        """Rows with weight, and their distinct labels where those are wanted."""
        with in_block(number):
            X, y, w = self._split(raw)
            rows = len(X) if w is None else int(np.count_nonzero(w))
            wanted = self.learner.target == "label" and self.classes is None and rows > 0
            return rows, self.labels_of(y, w) if wanted else None

    def taught(self, number: int, raw: Any) -> Recipe:
        """With the facts that one partition tells."""
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
        """One small pass: which partitions have rows, and the classes; then the facts from the first of those."""
        found = [_received(answer) for answer in self._ask("survey", self.numbers)]
        self.numbers = [number for number in self.numbers if found[number][0]]
        self.n_parts, self.n_rows = len(self.numbers), sum(rows for rows, _ in found)
        least = max(1, self.recipe.learner.least_rows)
        if self.n_rows < least:
            raise BadInput(f"Found {self.n_rows} sample(s) of weight above zero while a minimum of {least} is required")
        labels = [seen for _, seen in found if seen is not None]
        if labels:
            self.recipe.classes = union_of_labels(labels)
        self.recipe = _received(self._ask("taught", self.numbers[:1])[0])
        self.n_features, self.target, self.facts = self.recipe.n_features, self.recipe.target, self.recipe.facts

    def _ask(self, verb: str, numbers: list[int]) -> list[Any]:
        if self.home is None:
            return [_asked(verb, self.recipe, i, self.raws[i].compute()) for i in numbers]
        futures = dict(self.futures(self.home.client))
        asked = [self.home.submit(_asked, verb, self.recipe, i, futures[i]) for i in numbers]
        answers: list[Any] = self.home.client.gather(asked)
        return answers

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
        return Collection(self.X, [], Recipe(self.recipe.learner, _nothing, self.recipe.y, None, None, plain=True))

    def lazily(self, function: Callable[[Any], Array]) -> Any:
        """function(X) as a Dask array with the chunks of X, not yet computed."""
        from dask.delayed import delayed

        da = _dask_array()
        empty = function(np.ones((1, self.n_features), dtype=self._dtype()))[:0]
        rows = self.X.chunks[0] if hasattr(self.X, "chunks") else [np.nan] * len(self.raws)
        mapped = [delayed(_mapped, pure=False)(function, self.recipe, i, raw, empty) for i, raw in enumerate(self.raws)]
        return da.concatenate([da.from_delayed(part, (n, *empty.shape[1:]), dtype=empty.dtype)
                               for part, n in zip(mapped, rows, strict=True)])

    def _dtype(self) -> Any:
        kinds = [self.X.dtype] if hasattr(self.X, "chunks") else list(self.X.dtypes)
        return np.float32 if all(kind == np.float32 for kind in kinds) else np.float64


def _home() -> Dask | None:
    """The engine of a collection: the cluster chosen, else the one in force; None for an engine of this process."""
    chosen = chosen_engine()
    if chosen is not None:
        return chosen if isinstance(chosen, Dask) else None
    client = current_client()
    return None if client is None else Dask(client)
