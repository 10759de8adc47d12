"""Names of a package that are loaded when first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str, where: dict[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose names are in its modules: {name: module}.

    A module of another package is written in full, from `tenfold.` on.
    """

    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home(package, where[name])), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(where), list(where)


def home(package: str, module: str) -> str:
    """The full name of a module in a table of lazy names."""
    return module if module.startswith("tenfold.") else f"{package}.{module}"
