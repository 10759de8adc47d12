"""Rows that stay on the workers of a cluster, with the states that a learner leaves with them (`core.resident`).

Every state is the result of a task that changes nothing: a worker that dies costs the time to make its states again.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from tenfold.core.resident import Resident
from tenfold.sources.cluster import Dask, guarded, received

AT_ONCE = 16  # statistics that one task merges
ASK, CHANGE, STEP = "ask", "change", "step"


class ClusterRows(Resident):
    """The rows of a source, one part for each thread of the workers that hold them."""

    def __init__(self, engine: Dask, blocks: list[Any], begin: Callable[[Any], Any], join: Callable[[list[Any]], Any]):
        from distributed import wait

        self.client = engine.client
        starting, joining = pickle.dumps(begin), pickle.dumps(join)
        begun = [engine.submit(_called, starting, block) for block in blocks]
        wait(begun)
        together = self._parts(begun)
        self.homes = [home for home, _ in together]
        self.states = {"kept": [self._submit(i, _joined, joining, *some) for i, (_, some) in enumerate(together)]}

    def _parts(self, begun: list[Any]) -> list[tuple[Any, list[Any]]]:
        """Blocks that lie together, in as many parts as their worker has threads; with the worker."""
        threads, places = self.client.nthreads(), self.client.who_has(begun)
        held: dict[Any, list[Any]] = {}
        for future in begun:
            held.setdefault(min(places.get(future.key) or ("",)), []).append(future)
        parts = []
        for worker in sorted(held):
            count = min(threads.get(worker, 1), len(held[worker]))
            parts += [(worker, held[worker][i::count]) for i in range(count)]
        return parts

    def _submit(self, part: int, function: Callable[..., Any], *args: Any) -> Any:
        """A task, where the part is; elsewhere when that worker is gone."""
        home = dict(workers=[self.homes[part]], allow_other_workers=True) if self.homes[part] else {}
        return self.client.submit(function, *args, pure=False, **home)

    def ask(self, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        """The merged statistics function(*states, *message)."""
        return self._merged(self._each(ASK, function, message, of))

    def change(
        self,
        into: str,
        function: Callable[..., Any],
        *message: Any,
        of: tuple[str, ...] = ("kept",),
        own: list[Any] | None = None,
    ) -> None:
        """Makes a state; `own` has an argument for each part, which comes first."""
        self.states[into] = self._each(CHANGE, function, message, of, own)

    def step(self, into: str, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        """Both: the function returns a state and statistics."""
        self.states[into] = self._each(STEP, function, message, of)
        return self._merged(self.states[into])

    def forget(self, name: str) -> None:
        """Let go of a state."""
        self.states.pop(name, None)

    def _each(
        self,
        kind: str,
        function: Callable[..., Any],
        message: tuple[Any, ...],
        of: tuple[str, ...],
        own: list[Any] | None = None,
    ) -> list[Any]:
        task = pickle.dumps((kind, function, message))
        firsts = [()] * len(self.homes) if own is None else [(one,) for one in own]
        states = zip(*(self.states[name] for name in of), strict=True)
        return [self._submit(i, _asked, task, firsts[i], *one) for i, one in enumerate(states)]

    def _merged(self, results: list[Any]) -> Any:
        """The statistics of the results alone come here, not the states beside them."""
        merged = False
        while not merged or len(results) > 1:
            parts = range(0, len(results), AT_ONCE)
            results, merged = [self._submit(i, _added, *results[i : i + AT_ONCE]) for i in parts], True
        try:
            return received(results[0].result())
        except BaseException:  # Ctrl-C too
            self.client.cancel(results, force=True)
            raise


# --- what runs on a worker: results are pairs, a state and statistics; merged statistics stand alone ---


def _called(pickled: bytes, block: Any) -> Any:
    return guarded(lambda b: pickle.loads(pickled)(b), block)


def _joined(pickled: bytes, *parts: Any) -> Any:
    return guarded(lambda *some: Result(pickle.loads(pickled)(list(some)), None), *parts)


def _asked(pickled: bytes, own: tuple[Any, ...], *states: Any) -> Any:
    kind, function, message = pickle.loads(pickled)

    def run(*given: Result) -> Result:
        found = function(*own, *(one.state for one in given), *message)
        return Result(*found) if kind == STEP else Result(found, None) if kind == CHANGE else Result(None, found)

    return guarded(run, *states)


def _added(*results: Any) -> Any:
    return guarded(lambda *some: reduce(add, (one.stats if isinstance(one, Result) else one for one in some)), *results)


@dataclass(slots=True)
class Result:
    """What a part was turned into, and its statistics."""

    state: Any
    stats: Any

    def __sizeof__(self) -> int:  # by which the scheduler judges what moving it would cost
        return sys.getsizeof(self.state) + sys.getsizeof(self.stats)
