"""The protocol on one page: what a learner may yield, and the one driver that answers.

A learner is a generator. It does not know where the rows are; it yields what it wants to know of all of them, and receives

    stats = yield summarize                   the merged statistics of all blocks; `summarize(block)` gives those of one
    state = yield Scan(step, state)           the state after `state = step(state, block)` over the blocks in order, or shuffled by a seed
    rows  = yield Keep()                      the rows themselves, in memory, which was looked at before it is taken
    rows  = yield Reside(begin, join)         rows that stay where they are (`Resident`), to be asked again and again

and returns its fitted attributes. `drive` runs a learner on a source; `through` runs one on rows that are changed or chosen on their
way, and `lockstep` runs several side by side, so that one reading of a block serves them all. Both are learners themselves: they
yield, and may be driven, changed and put side by side again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Engine, Summarize
from tenfold.core.errors import BadInput
from tenfold.core.memory import check_memory
from tenfold.core.monitor import Passes
from tenfold.core.random import generator
from tenfold.core.resident import Resident
from tenfold.core.stats import Counts, Keyed, Rows, Stats
from tenfold.core.threads import stopping

Change = Callable[[Block], Block | None]  # of a block on its way to a learner; None where no row is left
Result = TypeVar("Result")


class NoRows(BadInput):
    """None of the rows is left for a learner that sees only some of them."""


class Request:
    """Base of what a learner may yield besides a function of a block."""

    def answer(self, source: Source, on: Engine) -> Any:
        """What the learner receives."""
        raise NotImplementedError

    def behind(self, change: Change) -> Request:
        """The same, asked of rows that pass through a change first."""
        raise NotImplementedError


Asked = Summarize | Request
Learner = Generator[Asked, Any, Result]


@dataclass(frozen=True, slots=True)
class Scan(Request):
    """Receives the state after all blocks, one after the other: `state = step(state, block)`.

    With a seed `shuffle` the rows of each block come in an order drawn from it, and so do the blocks where they can be read in any
    order. The same seed gives the same order on every engine. A step that orders the rows of a block by itself says so (`rows_too`).
    """

    step: Callable[[Any, Block], Any]
    state: Any
    shuffle: int | None = None
    rows_too: bool = True

    def answer(self, source: Source, on: Engine) -> Any:
        step = partial(_shuffled_step, self.step, self.shuffle) if self.shuffle is not None and self.rows_too else self.step
        return on.scan(step, self.state, source, self.shuffle)

    def behind(self, change: Change) -> Scan:
        return replace(self, step=partial(_step_behind, change, self.step))


def _shuffled_step(step: Callable[[Any, Block], Any], seed: int, state: Any, block: Block) -> Any:
    """The order of rows is keyed by the seed and what the block holds, so that it does not depend on where the block is."""
    content = ops.hash_rows(np.ascontiguousarray(block.w[:, None]), seed)
    if block.X.dtype in (np.float32, np.float64):  # documents and other objects: by their places alone
        content = content ^ ops.hash_rows(block.X, seed)
    places = generator(seed).permutation(len(block))  # of equal rows
    return step(state, block.take(np.lexsort((places, content))))


def _step_behind(change: Change, step: Callable[[Any, Block], Any], state: Any, block: Block) -> Any:
    some = change(block)
    return state if some is None else step(state, some)


@dataclass(slots=True)
class Kept(Stats):
    """Rows with target and weight: `+` appends."""

    X: Rows
    y: Rows | None
    w: Rows

    @classmethod
    def of(cls, block: Block, sparse: bool = False) -> Kept:
        X = block.X if sparse else ops.dense(block.X)
        return cls(Rows.of(X), None if block.y is None else Rows.of(block.y), Rows.of(block.w))

    def arrays(self) -> tuple[Any, Array, Array]:
        """X, y and w of all rows; y is empty where there is no target."""
        return self.X.whole(), np.empty(0) if self.y is None else self.y.whole(), self.w.whole()


@dataclass(frozen=True, slots=True)
class Keep(Request):
    """Receives (X, y, w) of all rows, in order: the user's own array where it will do, else a copy.

    sparse    CSR stays CSR; else it is made dense
    own       a copy even where the user's array would do, because it will be written to
    change    blocks pass through it first; it may give codes of `value_bytes` for numbers
    """

    sparse: bool = False
    own: bool = False
    change: Change | None = None
    value_bytes: int = 8

    def answer(self, source: Source, on: Engine) -> tuple[Any, Array, Array]:
        if self.change is None and not self.own and isinstance(source, Arrays) and source.rows is None and self._will_do(source):
            if not ops.is_sparse(source.X) or not ops.all_usable(source.X):
                on.run(Counts.of_rows, source)  # every block passes the gate
            w = np.ones(source.X.shape[0]) if source.w is None else source.w
            return source.X, np.empty(0) if source.y is None else source.y, w
        if source.n_rows is not None and not self.sparse:
            size = float(self.value_bytes * source.n_rows * source.n_features)
            check_memory(f"{source.n_rows:,} rows of {source.n_features:,} columns", size)
        kept = on.run(partial(_kept_behind, self.change, self.sparse), source)
        if "rows" not in kept:
            raise NoRows("no row is left to learn from")
        arrays: tuple[Any, Array, Array] = kept["rows"].arrays()
        return arrays

    def _will_do(self, source: Arrays) -> bool:
        """Whether the table can be handed on as it is."""
        if not ops.is_sparse(source.X):
            return source.plain_rows
        return self.sparse and source.X.format == "csr" and source.X.dtype in (np.float32, np.float64)

    def behind(self, change: Change) -> Keep:
        return replace(self, change=change if self.change is None else partial(_both, change, self.change))


def _kept_behind(change: Change | None, sparse: bool, block: Block) -> Keyed:
    some = block if change is None else change(block)
    return Keyed() if some is None else Keyed(rows=Kept.of(some, sparse))


def _both(first: Change, then: Change, block: Block) -> Block | None:
    some = first(block)
    return None if some is None else then(some)


@dataclass(frozen=True, slots=True)
class Reside(Request):
    """Receives `Resident`: `begin(block)` of every block, joined on each worker by `join(list)`, and kept there.

    `here` brings the rows to this process, wherever they are.
    """

    begin: Callable[[Block], Any]
    join: Callable[[list[Any]], Any]
    here: bool = False

    def answer(self, source: Source, on: Engine) -> Resident:
        return Engine.reside(on, source, self.begin, self.join) if self.here else on.reside(source, self.begin, self.join)

    def behind(self, change: Change) -> Reside:
        return replace(self, begin=partial(_begin_behind, change, self.begin))


def _begin_behind(change: Change, begin: Callable[[Block], Any], block: Block) -> Any:
    some = change(block)
    return begin(block.take(np.empty(0, dtype=np.int64)) if some is None else some)


# --- drivers ----------------------------------------------------------------------------------------------------------


def drive(algorithm: Learner[Result], source: Source, on: Engine, name: str = "") -> Result:
    """Run a learner: it yields what it wants to know, and receives that of all the rows."""
    passes = Passes(name)
    try:
        asked = next(algorithm)
        while True:
            found = asked.answer(source, on) if isinstance(asked, Request) else on.run(asked, source)
            if stopping():  # a thread beside the one that was interrupted: no member of a bag learns from half a pass
                raise KeyboardInterrupt
            passes.done(found)
            asked = algorithm.send(found)
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        algorithm.close()


def through(change: Change, algorithm: Learner[Result], *, drops: bool = False) -> Learner[Result]:
    """The same learner, on rows that pass through a change first: transformed, weighted anew, or (`drops`) only some of them."""
    try:
        asked = next(algorithm)
        while True:
            if isinstance(asked, Request):
                found = yield asked.behind(change)
            elif not drops:
                found = yield partial(_summarize_changed, change, asked)
            else:
                found = (yield partial(_summarize_left, change, asked)).get("rows")
                if found is None:
                    raise NoRows("no row is left to learn from")
            asked = algorithm.send(found)
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        algorithm.close()


def _summarize_changed(change: Change, summarize: Summarize, block: Block) -> Any:
    return summarize(change(block))


def _summarize_left(change: Change, summarize: Summarize, block: Block) -> Keyed:
    some = change(block)
    return Keyed() if some is None else Keyed(rows=summarize(some))


Key = Any
Share = Callable[[Block], Mapping[Key, Block]]


def lockstep(learners: Mapping[Key, Learner[Result]], share: Share | None = None) -> Learner[dict[Key, Result]]:
    """Several learners side by side: each reading serves all that want one. Returns what each has returned.

    `share(block)` are the rows of a block that each learner sees, by its key; without it all see all rows. Sums are asked for
    together; what else a learner asks for, it gets by itself.
    """
    found: dict[Key, Any] = dict.fromkeys(learners)
    results: dict[Key, Result] = {}
    try:
        while found:
            sums: dict[Key, Summarize] = {}
            for key, one in found.items():
                try:
                    asked = learners[key].send(one)
                    while isinstance(asked, Request):  # answered at once: of tables that are kept, one is there at a time
                        asked = learners[key].send((yield asked if share is None else asked.behind(partial(_own, share, key))))
                except StopIteration as done:
                    results[key] = done.value
                    continue
                sums[key] = asked
            found = dict((yield partial(_sums_of_all, sums, share))) if sums else {}
            missing = sums.keys() - found.keys()
            if missing:
                raise NoRows(f"no row is left to learn from for learner {sorted(missing)[0]}")
        return {key: results[key] for key in learners}
    finally:
        for learner in learners.values():
            learner.close()


def _sums_of_all(sums: dict[Key, Summarize], share: Share | None, block: Block) -> Keyed:
    if share is None:
        return Keyed({key: summarize(block) for key, summarize in sums.items()})
    return Keyed({key: sums[key](rows) for key, rows in share(block).items() if key in sums})


def _own(share: Share, key: Key, block: Block) -> Block | None:
    return share(block).get(key)
