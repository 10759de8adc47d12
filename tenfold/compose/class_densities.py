"""Densities of the classes, fitted side by side: each learns from the rows of its class, and one reading serves all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.foreign import own_of
from tenfold.compose.fitting import COLUMN_FACTS, fit_inside, viewed
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadInput, BadParameter, kept_warnings, warn
from tenfold.core.learning import Learner, NoRows, lockstep, through
from tenfold.core.stats import Counts, Keyed

COUNTS = "counts"  # the key of what is counted beside the densities


@dataclass(frozen=True)
class Class:
    """A class by its number and label, with the density that is to learn its rows."""

    number: int
    label: Any
    density: Any
    source: Source | None  # None: without rows


def only_class(k: int, block: Block) -> Block | None:
    """The rows of a class, without a target."""
    rows = np.flatnonzero(block.y == k)
    if not len(rows):
        return None
    part = block.take(rows)
    return Block(part.X, None, part.w, part.key)


def class_rows(source: Source, k: int) -> Source | None:
    """The rows of a class as a source of their own; None where a table in memory has none."""
    facts = {key: fact for key, fact in source.facts.items() if key in COLUMN_FACTS}
    try:
        return viewed(source, partial(only_class, k), Target("none"), facts)
    except BadInput:
        return None


@contextmanager
def named(label: Any) -> Iterator[None]:
    """What is objected to and warned of within begins with the class."""
    with kept_warnings() as told:
        try:
            yield
        except (BadInput, BadParameter) as objection:
            raise type(objection)(f"class {label!r}: {objection}") from objection
    for one in told:
        warn(f"class {label!r}: {one}", type(one), stacklevel=3)


def classes_apart(classes: list[Class]) -> Learner[tuple[list[Any], Array, Array]]:
    """The fitted densities of the classes that have rows, and the weight and number of the rows of each class."""
    learners: dict[Any, Any] = {one.number: _learned(one) for one in classes if one.source is not None}
    found = yield from lockstep({COUNTS: _counted(len(classes)), **learners})
    counts = found.pop(COUNTS)
    fitted = [own_of(one) for one in found.values() if one is not None]
    return fitted, counts["weight"].weight, counts["rows"].weight


def _counted(K: int) -> Learner[Keyed]:
    found: Keyed = yield partial(_count, K=K)
    return found


def _count(block: Block, K: int) -> Keyed:
    return Keyed(weight=Counts.of(block.y, block.w, K), rows=Counts.of(block.y, np.ones(len(block)), K))


def _learned(one: Class) -> Learner[Any]:
    """The fitted density of a class; None where it has no rows."""
    assert one.source is not None
    learner, found = through(partial(only_class, one.number), fit_inside(one.density, one.source), drops=True), None
    n, least = one.source.n_rows, one.density.least_rows
    with named(one.label):
        if n is not None and n < least:
            raise BadInput(f"{type(own_of(one.density)).__name__} needs at least {least} rows, and there {'is' if n == 1 else 'are'} {n}")
    while True:
        with named(one.label):
            try:
                asked = learner.send(found)
            except StopIteration as done:
                return done.value
            except NoRows:
                return None
        found = yield asked
