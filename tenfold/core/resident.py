"""Rows that stay where they are, for learners that ask the same rows again and again.

    rows = yield Reside(begin, join)                             begin(block) on every block; those of a worker are joined
    rows.ask(function, *message)                                 the merged statistics function(kept, *message)
    rows.change("work", function, *message)                      work = function(kept, *message), there
    rows.step("work", function, *message, of=("kept", "work"))   both: function(kept, work, *message) -> (work, statistics)

What a part of the rows keeps has names; "kept" is what `begin` and `join` made. Parts are those rows that happen to lie together:
what is merged must not depend on how rows are parted, as sums of whole numbers and largest values do not.
`Here` holds one part in this process; the parts of a cluster are in `sources.resident`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Resident:
    """Abstract: rows in one or more parts, each with named states."""

    here = False  # whether there is one part, in this process, whose states can be looked at
    states: dict[str, Any]

    def ask(self, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        """The merged statistics function(*states, *message)."""
        raise NotImplementedError

    def change(
        self,
        into: str,
        function: Callable[..., Any],
        *message: Any,
        of: tuple[str, ...] = ("kept",),
        own: list[Any] | None = None,
    ) -> None:
        """Makes a state; `own` has an argument for each part, which comes first."""
        raise NotImplementedError

    def step(self, into: str, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        """Both: the function returns a state and statistics."""
        raise NotImplementedError

    def forget(self, name: str) -> None:
        """Let go of a state."""
        raise NotImplementedError


class Here(Resident):
    """One part in this process, asked as those of a cluster are."""

    here = True

    def __init__(self, kept: Any) -> None:
        self.states: dict[str, Any] = {"kept": kept}

    def ask(self, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        return function(*(self.states[name] for name in of), *message)

    def change(
        self,
        into: str,
        function: Callable[..., Any],
        *message: Any,
        of: tuple[str, ...] = ("kept",),
        own: list[Any] | None = None,
    ) -> None:
        self.states[into] = function(*(own or ()), *(self.states[name] for name in of), *message)

    def step(self, into: str, function: Callable[..., Any], *message: Any, of: tuple[str, ...] = ("kept",)) -> Any:
        self.states[into], stats = self.ask(function, *message, of=of)
        return stats

    def forget(self, name: str) -> None:
        self.states.pop(name, None)
