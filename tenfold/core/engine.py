"""Engines: where the blocks of a source are summarised. What learners ask of them is in `core.learning`.

An engine must have one method, `run(summarize, source) -> stats`. Statistics are merged along a fixed tree over block numbers,
as a counter of eight digits would: the same blocks give the same bits, whatever the number of threads or workers, and only
O(log n) partial results are alive at a time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

from tenfold._kernels import Budget, Lease, Run
from tenfold.core.errors import BadParameter
from tenfold.core.merge_tree import MergeTree
from tenfold.core.random import generator
from tenfold.core.resident import Here, Resident
from tenfold.core.stats import Rows
from tenfold.core.threads import cancellable, chosen_budget, current_budget, start, thread_budget

Summarize = Callable[[Any], Any]


class Engine:
    """Base: `run` is all that an engine must have; the rest is done in this process unless it knows better."""

    local = True  # whether resident rows are in this process

    def run(self, summarize: Summarize, source: Any) -> Any:
        """The merged `summarize(block)` of every block of the source."""
        raise NotImplementedError

    def scan(self, step: Callable[[Any, Any], Any], state: Any, source: Any, shuffle: int | None) -> Any:
        """The state after every block, one after the other, in the order that a seed gives or in their own."""
        for part in ordered_parts(source, shuffle):
            state = step(state, source.load(part))
        return state

    def reside(self, source: Any, begin: Callable[[Any], Any], join: Callable[[list[Any]], Any]) -> Resident:
        """`begin(block)` of every block, joined, to be asked again and again."""
        return Here(join(self.run(partial(_begun, begin), source).parts))


def ordered_parts(source: Any, shuffle: int | None) -> Iterator[Any]:
    """The parts of a source; in an order drawn from the seed where all of them can be read at any time."""
    if shuffle is None or not source.numbered:
        return iter(source.parts())
    parts = list(source.parts())
    return (parts[i] for i in ordered_numbers(len(parts), shuffle))


def ordered_numbers(n: int, shuffle: int | None) -> list[int]:
    """0, ..., n − 1, in an order drawn from the seed where there is one."""
    numbers: list[int] = list(range(n)) if shuffle is None or n < 2 else generator(shuffle).permutation(n).tolist()
    return numbers


def _begun(begin: Callable[[Any], Any], block: Any) -> Rows:
    return Rows.of(begin(block))


class Foreign(Engine):
    """An engine of the user that has `run` and nothing else."""

    def __init__(self, inner: Any) -> None:
        vars(self).update(run=inner.run)  # its own, with nothing between
        self.inner = inner

    def __repr__(self) -> str:
        return repr(self.inner)


def reader(source: Any) -> Callable[[Any], Any]:
    """What turns a part into a block; where summaries run in this process, X need not be read ahead of them."""
    read: Callable[[Any], Any] = source.lazy
    return read


class Local(Engine):
    """One block after the other, in the calling thread."""

    def run(self, summarize: Summarize, source: Any) -> Any:
        tree, load = MergeTree(), reader(source)
        for i, part in enumerate(source.parts()):
            tree.put(i, summarize(load(part)))
        return tree.result()

    def __repr__(self) -> str:
        return "Local()"


class Threads(Engine):
    """Blocks shared among threads; BLAS runs on one thread inside a block, so there is one thread budget.

    The calling thread works too, and takes helpers whenever threads of the budget are free: of `tenfold.threads`, else its own n.
    When it is interrupted (Ctrl-C) or a block fails, the others stop after the block they are at; an interrupt also stops kernels
    within a block, those of this run alone.
    """

    def __init__(self, n: int | None = None) -> None:
        self.n = n
        self._own = None if n is None else Budget(n)

    @property
    def budget(self) -> Budget:
        """Where helpers come from."""
        return chosen_budget() or self._own or current_budget()

    def run(self, summarize: Summarize, source: Any) -> Any:
        if source.n_parts == 1:  # small tables are fitted by the thousand: no tree, no look at the budget
            return summarize(source.load(next(iter(source.parts()))))
        budget = self.budget
        most = min(self.n or budget.n, budget.n, source.n_parts or 1 << 30)
        if most == 1:
            return Local().run(summarize, source)
        with cancellable() as run:
            work = _Work(summarize, source, run, budget, most)
            try:
                work.loop(recruiting=True)
                work.settle()
            except BaseException as failure:
                work.give_up(failure)
                work.settle()
                raise
            if work.ended is not None:
                raise work.ended
        if work.failures:
            # blocks are handed out in order: the first to fail is the same for any n
            raise work.failures[min(work.failures)]
        return work.tree.result()

    def __repr__(self) -> str:
        return f"Threads({self.n or thread_budget()})"


class _Work:
    """One pass, shared by the threads: the parts still to do, the tree, who helps, and what went wrong."""

    def __init__(self, summarize: Summarize, source: Any, run: Run, budget: Budget, most_threads: int) -> None:
        self.summarize, self.load = summarize, reader(source)
        self.parts, self.n_parts, self.handed = source.parts(), source.n_parts or 1 << 30, 0
        self.lock, self.tree = threading.Lock(), MergeTree()
        self.run, self.budget, self.most_threads, self.helpers = run, budget, most_threads, list[_Helper]()
        self.stop, self.failures = False, dict[int, Exception]()
        self.ended: BaseException | None = None  # what no block is to blame for: an interrupt

    def loop(self, recruiting: bool = False) -> None:
        while not self.stop:
            if recruiting and self.budget.free:
                self._recruit()
            i = self.handed
            try:
                with self.lock:  # a stream is read by one thread at a time, and converted by many
                    i = self.handed
                    part = next(self.parts, _END)
                    self.handed += 1
                if part is _END:
                    return
                self.tree.put(i, self.summarize(self.load(part)))
            except Exception as failure:  # of this block, or of reading it
                self.failures[i] = failure
                self.stop = True

    def _recruit(self) -> None:
        """Threads may be free later that are not now: those of work beside this one that ends before it."""
        while len(self.helpers) + 1 < min(self.most_threads, self.n_parts - self.handed):
            helper = _Helper(self, Lease(self.budget))
            self.helpers.append(helper)  # before it takes a thread: wherever an interrupt falls, `settle` gives it back
            if not helper.lease.take(1):
                self.helpers.pop()
                return
            if not start(helper.help):  # the system has no more threads: it is not asked again
                self.helpers.pop()
                self.most_threads = 1

    def give_up(self, failure: BaseException) -> None:
        """In whichever thread: nothing of this pass is used."""
        self.stop, self.ended = True, self.ended or failure
        self.run.cancel()

    def settle(self) -> None:
        """Wait for the helpers; those that have not begun need not, as the caller did their work.

        An interrupt may fall anywhere in here, and then it is done again: each step can be.
        """
        for helper in self.helpers:
            if helper.taken.setdefault("by", "caller") == "caller":
                helper.lease.give_back()
            elif not helper.over:
                helper.working.acquire()
        self.helpers.clear()


class _Helper:
    """A thread that works in the loop of another one.

    Plain locks, because an interrupt in the middle of waiting for an Event may leave it held.
    """

    def __init__(self, work: _Work, lease: Lease) -> None:
        self.work, self.lease, self.over = work, lease, False
        self.taken: dict[str, str] = {}  # by whom its work is done: who comes first, in one step that no thread and no interrupt can part
        self.working = threading.Lock()  # held until the end
        self.working.acquire()

    def help(self) -> None:
        if self.taken.setdefault("by", "helper") != "helper":
            return
        try:
            self.work.loop()
        except BaseException as failure:
            self.work.give_up(failure)
        finally:
            self.lease.give_back()
            self.over = True
            self.working.release()


_END = object()


class _Items:
    """Any list of things as a source, for work that is parallel but not over rows."""

    def __init__(self, items: list[Any]) -> None:
        self.items, self.n_parts = items, len(items)

    def parts(self) -> Iterator[Any]:
        return iter(self.items)

    def load(self, item: Any) -> Any:
        return item

    lazy = load


class _List(list[Any]):
    """Results in the order of the items: `+` appends."""

    def __add__(self, other: Any) -> Any:
        return _List([*self, *other])


def each(function: Callable[[Any], Any], items: list[Any], source: Any = None, on: Any = None) -> list[Any]:
    """[function(item) for item in items], on all threads where threads are the engine in force (for this source), or given."""
    if len(items) > 1 and on is None:
        on = current_engine(source)
    if len(items) < 2 or not isinstance(on, Threads):
        return [function(item) for item in items]
    done: list[Any] = on.run(lambda item: _List([function(item)]), _Items(items))
    return list(done)


@contextlib.contextmanager
def lent_threads(most: int = 1 << 30) -> Iterator[int]:
    """How many threads a native call may use: the caller's own and those that are free, which are taken while it runs."""
    on = current_engine()
    if most < 2 or isinstance(on, Local):
        yield 1
        return
    budget = on.budget if isinstance(on, Threads) else current_budget()
    lease = Lease(budget)
    try:
        yield 1 + lease.take(min(most, budget.n, (on.n if isinstance(on, Threads) else None) or most) - 1)
    finally:
        lease.give_back()


# --- the engine in force --------------------------------------------------------------------------------------------------

_engine: ContextVar[Engine] = ContextVar("tenfold_engine")
_default = Threads()


def current_engine(source: Any = None) -> Engine:
    """The engine in force here: the one chosen, else the one where the rows of the source live, else threads."""
    home: Engine | None = getattr(source, "home", None)
    return chosen_engine() or home or _default


def chosen_engine() -> Engine | None:
    """The engine of the innermost `with tenfold.engine(...)`, if there is one."""
    return _engine.get(None)


@contextlib.contextmanager
def engine(on: Any) -> Iterator[Any]:
    """Within this context learners run on the given engine: `with tenfold.engine(tenfold.Dask(client)): model.fit(X, y)`."""
    if not callable(getattr(on, "run", None)):
        raise BadParameter(
            f"engine({on!r}): must have a method run(summarize, source), as Local(), Threads() and Dask(client) do"
        )
    token = _engine.set(on if isinstance(on, Engine) else Foreign(on))
    try:
        yield on
    finally:
        _engine.reset(token)
