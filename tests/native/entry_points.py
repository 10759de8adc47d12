"""Every function and class that native code offers to Python, by name, and which of them a piece of work calls.

`watched()` must come before tenfold is used: it puts functions that keep a record in the place of those of the modules.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import tenfold

# They take no memory of their own to work on: settings, and what runs and threads are counted with.
APART = {"use_level", "room", "TreeLimits", "Run", "Budget", "Lease"}


def modules() -> list[ModuleType]:
    folder = Path(tenfold.__file__).parent
    names = sorted({file.name.partition(".")[0] for file in folder.glob("_*.so")})
    return [importlib.import_module(f"tenfold.{name}") for name in names]


def bound(module: ModuleType) -> dict[str, Any]:
    """Functions and classes of a module by name."""
    return {
        name: what
        for name, what in vars(module).items()
        if callable(what) and not name.startswith("_") and name not in APART
    }


def methods(kind: type) -> list[str]:
    return [name for name, what in vars(kind).items() if callable(what) and not name.startswith("_")]


def entry_points() -> set[str]:
    """`_kernels.moments`, `_forest.Forest.tree`, ... (the making of an object goes with its methods)."""
    found = set()
    for module in modules():
        short = module.__name__.rpartition(".")[2]
        for name, what in bound(module).items():
            inside = methods(what) if isinstance(what, type) else None
            found |= {f"{short}.{name}"} if inside is None else {f"{short}.{name}.{method}" for method in inside}
    return found


def watched() -> set[str]:
    """A set into which the name of each entry point goes when it is called."""
    seen = set[str]()

    def watch(owner: Any, name: str, full: str) -> None:
        native: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(native, assigned=("__name__", "__doc__"), updated=())
        def recorded(*args: Any, **kwargs: Any) -> Any:
            seen.add(full)
            return native(*args, **kwargs)

        setattr(owner, name, recorded)

    for module in modules():
        short = module.__name__.rpartition(".")[2]
        for name, what in bound(module).items():
            if isinstance(what, type):
                for method in methods(what):
                    watch(what, method, f"{short}.{name}.{method}")
            else:
                watch(module, name, f"{short}.{name}")
    return seen
