"""The Dask engine: blocks summarised and merged by the workers of a cluster.

    with tenfold.engine(tenfold.Dask(client)):
        model.fit(X, y)

Merges follow the same tree as in one process: the same blocks give the same bits, with any number of workers.
Every task can be run again from what the scheduler holds, so a worker that dies costs time, not the fit.
Dask collections are sources of their own: see `sources.collection`.

Learners that ask the same rows again and again (boosting) leave a state with them: see `sources.resident`. What travels then does
not grow with the rows. On one machine that is slower than threads, because each question takes the scheduler some milliseconds:
it is for tables that do not fit into one.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tenfold.core.data import Arrays, Block, Source, as_floats
from tenfold.core.engine import Engine, Summarize, ordered_numbers
from tenfold.core.errors import BadParameter, TenfoldError
from tenfold.core.mapped import Mapped
from tenfold.core.merge_tree import MergeTree
from tenfold.core.resident import Resident
from tenfold.core.threads import single_blas

IN_FLIGHT = 4  # blocks of a stream sent ahead, for each thread of the cluster


class Dask(Engine):
    """The engine of a cluster: `Dask(client)`, or the client in force.

    A table in this process is sent to the cluster once for a fit, block by block, and kept there for later
    passes; the scheduler holds it as long as the fit lasts. Blocks of files and streams are sent as they
    are read, a bounded number ahead. Boosting of tables and collections leaves the rows on their workers: histograms
    of whole numbers are merged, and the trees are those of one process to the bit.
    """

    local = False

    def __init__(self, client: Any = None) -> None:
        self.client = client or current_client()
        if self.client is None:
            raise BadParameter("Dask(): there is no client in force: give one, Dask(Client(address))")
        # Blocks on the cluster, while their source lives.
        self.kept: WeakKeyDictionary[Source, list[Any]] = WeakKeyDictionary()

    def run(self, summarize: Summarize, source: Any) -> Any:
        from distributed.protocol import pickle as travelling

        tree, window = MergeTree(), deque[tuple[int, Any]]()
        # Once for a pass, and by cloudpickle where needed, so that lambdas travel too.
        pickled: bytes = travelling.dumps(summarize)
        try:
            blocks = self.blocks(source)
            if blocks is None:
                return self._run_stream(pickled, source, tree, window)
            for i, block in enumerate(blocks):
                tree.put(i, _Promise(self, self.submit(_leaf, pickled, block)))
            return received(tree.result().future.result())
        except BaseException:  # Ctrl-C too
            waiting = [node.future for node in tree.alive() if isinstance(node, _Promise)]
            self.client.cancel([*waiting, *(future for _, future in window)], force=True)
            raise

    def _run_stream(self, pickled: bytes, source: Any, tree: MergeTree, window: deque[tuple[int, Any]]) -> Any:
        """Merged here: merges on the cluster would keep every block sent so far from being forgotten."""
        ahead = IN_FLIGHT * max(1, sum(self.client.nthreads().values()))
        for i, part in enumerate(source.parts()):
            window.append((i, self.submit(_leaf, pickled, source.load(part))))
            if len(window) > ahead:
                tree.put(window[0][0], received(window[0][1].result()))
                window.popleft()
        for i, future in window:
            tree.put(i, received(future.result()))
        return tree.result()

    def blocks(self, source: Any) -> list[Any] | None:
        """The blocks of a source as futures; None where they are only passing through."""
        if source not in self.kept:
            there = source.on_cluster(self)
            if there is not None:
                self.kept[source] = there
            elif isinstance(source, Arrays):
                self.kept[source] = [self.submit(_same, source.load(part)) for part in source.parts()]
            elif isinstance(source, Mapped) and (inner := self.blocks(source.inner)) is not None:
                self.kept[source] = [self.submit(_changed, source.change, block) for block in inner]
        return self.kept.get(source)

    def reside(self, source: Any, begin: Callable[[Any], Any], join: Callable[[list[Any]], Any]) -> Resident:
        """The rows of a source as parts that stay on the workers (`sources.resident`); here, where blocks are only passing through."""
        from tenfold.sources.resident import ClusterRows

        blocks = self.blocks(source)
        if blocks is None:
            return super().reside(source, begin, join)
        return ClusterRows(self, blocks, partial(_begun, begin), join)

    def scan(self, step: Callable[[Any, Any], Any], state: Any, source: Any, shuffle: int | None) -> Any:
        """The state travels from block to block, where those are."""
        from distributed.protocol import pickle as travelling

        blocks = self.blocks(source)
        if blocks is None:
            return super().scan(step, state, source, shuffle)
        pickled: bytes = travelling.dumps(step)
        at: Any = state
        for i in ordered_numbers(len(blocks), shuffle):
            at = self.submit(_stepped, pickled, at, blocks[i])
        try:
            return received(at.result()) if blocks else state
        except BaseException:  # Ctrl-C too
            self.client.cancel([at], force=True)
            raise

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


# --- what runs on a worker: an error is a result, and the one of the first block wins ------------------


@dataclass(slots=True)
class _Failed:
    """The error of a task, as its result."""

    error: Exception


def guarded(function: Callable[..., Any], *args: Any) -> Any:
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


def received(result: Any) -> Any:
    if isinstance(result, _Failed):
        raise result.error
    return result


def _leaf(pickled: bytes, block: Any) -> Any:
    return guarded(lambda b: pickle.loads(pickled)(_aligned(b)), block)


def _stepped(pickled: bytes, state: Any, block: Any) -> Any:
    return guarded(lambda s, b: pickle.loads(pickled)(s, _aligned(b)), state, block)


def _begun(begin: Callable[[Any], Any], block: Block) -> Any:
    return begin(_aligned(block))


def _aligned(block: Block) -> Block:
    """Arrays that came over the network may start at any byte; kernels do not take those."""
    arrays = (block.X, block.y, block.w)
    X, y, w = (np.require(a, requirements="A") if isinstance(a, np.ndarray) else a for a in arrays)
    return Block(X, y, w, block.key)


def _merge(left: Any, right: Any) -> Any:
    return guarded(lambda a, b: a + b, left, right)


def _changed(change: Callable[[Any], Any], block: Any) -> Any:
    return guarded(lambda b: Block(as_floats(change(b.X)), b.y, b.w, b.key), block)


def _same(block: Any) -> Any:
    return block
