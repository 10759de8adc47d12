"""Fitted attributes: declared once, with the form in which a file holds them and one line of documentation.

A learner writes

    coef_: Array = learned("float(q,p)", "coefficients")
    stats_: Moments = learned("Moments(p+q)", "the moments: for partial_fit, merge and forget", optional=True)

and gets its documentation, its saved form and its tests from these lines. The language of the forms is explained in `saved.forms`. A
declaration leaves no attribute behind: before `fit` there is none. What several learners share stands in a class that they inherit; one
that is declared again keeps its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Learned:
    """What a fitted attribute may be, and what it means."""

    form: str
    doc: str
    optional: bool
    rows: bool | tuple[str, Any]
    like_x: bool

    def __set_name__(self, owner: Any, name: str) -> None:
        delattr(owner, name)
        owner._declared = {**vars(owner).get("_declared", {}), name: self}

    def holds_rows(self, params: dict[str, Any]) -> bool:
        """Whether a learner with these parameters keeps rows of the training table, or values of its columns, in it."""
        return params.get(self.rows[0]) == self.rows[1] if isinstance(self.rows, tuple) else self.rows


def learned(
    form: str,
    doc: str,
    *,
    optional: bool = False,
    rows: bool | tuple[str, Any] = False,
    like_x: bool = False,
    init: Literal[False] = False,
) -> Any:
    """A fitted attribute of a learner. `optional`: not every fit leaves it. `rows`: it is made of rows or values of the training
    table, always or where a parameter has a value. `like_x`: it is float32 where the table was. `init` is for type checkers: the
    constructor does not take it."""
    return Learned(form, doc, optional, rows, like_x)


def in_single(cls: type, fitted: dict[str, Any]) -> dict[str, Any]:
    """Those of the fitted attributes that have the precision of X, as float32 where its range holds them."""
    with np.errstate(over="ignore"):
        found = {name: _rounded(fitted[name]) for name in _like_x(cls) if name in fitted}
    return {name: value for name, value in found.items() if all(map(_is_finite, value if isinstance(value, list) else [value]))}


def _rounded(value: Any) -> Any:
    return [np.float32(one) for one in value] if isinstance(value, list) else np.float32(value)


def _is_finite(value: Any) -> bool:
    return bool(np.isfinite(value).all())


def is_single(cls: type, fitted: dict[str, Any]) -> bool:
    """Whether a fit has left float32."""
    return any(getattr(fitted.get(name), "dtype", None) == np.float32 for name in _like_x(cls))


@cache
def _like_x(cls: type) -> tuple[str, ...]:
    return tuple(name for name, one in learned_by(cls).items() if one.like_x)


def learned_by(cls: Any) -> dict[str, Learned]:
    """The declared fitted attributes of a learner or of its class, in order."""
    return _learned_by(cls if isinstance(cls, type) else type(cls))


@cache
def _learned_by(cls: type) -> dict[str, Learned]:
    found: dict[str, Learned] = {}
    for base in reversed(cls.__mro__):
        found |= vars(base).get("_declared", {})
    return found


def forms_of(cls: Any) -> str:
    """The forms of all fitted attributes, in the language of `saved.forms`."""
    return " ".join(f"{name}{'?' * one.optional}={one.form}" for name, one in learned_by(cls).items())


def described(cls: Any) -> list[str]:
    """Two lines of documentation for each public fitted attribute, those that are computed when they are asked for included."""
    found: dict[str, str] = {}
    declaring = [base for base in cls.__mro__ if "_declared" in vars(base)]
    for base in reversed(cls.__mro__):
        for name, one in vars(base).get("_declared", {}).items():
            found[name] = f"    {name}: {_shown(one.form)}{' (optional)' * one.optional}\n        {one.doc}"
        for name, one in vars(base).items():
            if isinstance(one, property) and name.endswith("_"):
                says, _, _ = (one.__doc__ or "").partition("\n")  # nothing where Python leaves out documentation (-OO)
                found[name] = f"    {name}\n        {says.rstrip('.')}"
    for name in vars(declaring[-1])["_declared"]:  # what all learners have comes last
        found[name] = found.pop(name)
    return [text for name, text in found.items() if not name.startswith("_")]


def _shown(form: str) -> str:
    """A form for readers."""
    return form.partition(":")[0].replace(",", ", ").replace("|", " | ")
