"""State that stays with its rows on the workers of a cluster, for learners that ask the same rows again and again.

    rows = engine.resident(source, begin, join)                  begin(block) on every block; those of a worker are joined
    rows.ask(function, *message)                                 the merged statistics function(kept, *message)
    rows.change("work", function, *message)                      work = function(kept, *message), there
    rows.step("work", function, *message, of=("kept", "work"))   both: function(kept, work, *message) -> (work, statistics)

What a part keeps has names; "kept" is what `begin` made. Every state is the result of a task that changes nothing: a worker that
dies costs the time to make its states again. Statistics must be such that the order of their merges does not matter (whole
numbers, largest values): parts are those rows that happen to be on one worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable
from functools import reduce
from operator import add
from typing import Any

from tenfold.sources.cluster import Dask, guarded, received

AT_ONCE = 16  # statistics that one task merges


class Resident:
    """The rows of a source, one part for each thread of the workers that hold them."""

    def __init__(self, engine: Dask, blocks: list[Any], begin: Callable[[Any], Any], join: Callable[[list[Any]], Any]):
        from distributed import wait

        self.engine = engine
        begun = [engine.submit(_called, pickle.dumps(begin), block) for block in blocks]
        wait(begun)  # type: ignore[no-untyped-call]
        joining = pickle.dumps(join)
        self.states = {"kept": [engine.submit(_joined, joining, *part) for part in self._parts(begun)]}
        self.n_parts = len(self.states["kept"])

    def _parts(self, begun: list[Any]) -> list[list[Any]]:
        """Blocks that lie together, in as many parts as their worker has threads."""
        threads, places = self.engine.client.nthreads(), self.engine.client.who_has(begun)
        held: dict[Hashable, list[Any]] = {}
        for future in begun:
            held.setdefault(min(places.get(future.key) or ("",)), []).append(future)
        parts = []
        for worker in sorted(held, key=str):
            count = min(threads.get(worker, 1), len(held[worker]))
            parts += [held[worker][i::count] for i in range(count)]
        return parts

    def ask(self, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        """The merged statistics function(*states, *message)."""
        return self._merged(self._each(function, message, of))

    def change(
        self,
        into: str,
        function: Callable[..., Any],
        *message: Any,
        of: tuple[str, ...] = ("kept",),
        own: list[Any] | None = None,
    ) -> None:
        """Makes a state; `own` has an argument for each part, which comes first."""
        self.states[into] = self._each(function, message, of, own)

    def step(self, into: str, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        """Both: the function returns a state and statistics."""
        both = self._each(function, message, of)
        self.states[into] = [self.engine.submit(_first, one) for one in both]
        return self._merged(both, 1)

    def _each(
        self, function: Callable[..., Any], message: tuple[Any, ...], of: tuple[str, ...], own: list[Any] | None = None
    ) -> list[Any]:
        task = pickle.dumps((function, message))
        states = zip(*([] if own is None else [own]), *(self.states[name] for name in of), strict=True)
        return [self.engine.submit(_asked, task, *one) for one in states]

    def _merged(self, answers: list[Any], half: int | None = None) -> Any:
        while half is not None or len(answers) > 1:
            some = [answers[i : i + AT_ONCE] for i in range(0, len(answers), AT_ONCE)]
            answers, half = [self.engine.submit(_added, half, *few) for few in some], None
        try:
            return received(answers[0].result())
        except BaseException:  # Ctrl-C too
            self.engine.client.cancel(answers, force=True)
            raise

    def forget(self, name: str) -> None:
        """Let go of a state."""
        self.states.pop(name, None)


# --- what runs on a worker ---


def _called(pickled: bytes, block: Any) -> Any:
    return guarded(lambda b: pickle.loads(pickled)(b), block)


def _joined(pickled: bytes, *parts: Any) -> Any:
    return guarded(lambda *p: pickle.loads(pickled)(list(p)), *parts)


def _asked(pickled: bytes, *states: Any) -> Any:
    function, message = pickle.loads(pickled)
    return guarded(lambda *s: function(*s, *message), *states)


def _first(answer: Any) -> Any:
    return guarded(lambda pair: pair[0], answer)


def _added(half: int | None, *answers: Any) -> Any:
    return guarded(lambda *some: reduce(add, (one if half is None else one[half] for one in some)), *answers)
