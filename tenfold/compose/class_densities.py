"""Densities of the classes, fitted side by side: each learns from the rows of its class, and one reading serves all."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.foreign import own_of
from tenfold.base.sums import Sums
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


def count_classes(block: Block, K: int) -> Keyed:
    """Weight and number of the rows of each class."""
    return Keyed(weight=Counts.of(block.y, block.w, K), rows=Counts.of(block.y, np.ones(len(block)), K))


def classes_apart(classes: list[Class], count: Any) -> Learner[tuple[list[Any], Array, Array]]:
    """The fitted densities of the classes that have rows, and the weight and number of the rows of each class."""
    learners: dict[Any, Any] = {one.number: _named(_learned(one), one.label) for one in classes if one.source is not None}
    found = yield from lockstep({COUNTS: _counted(count), **learners})
    counts = found.pop(COUNTS)
    fitted = [own_of(one) for one in found.values() if one is not None]
    return fitted, counts["weight"].weight, counts["rows"].weight


def _counted(count: Any) -> Learner[Keyed]:
    found: Keyed = yield count
    return found


def _learned(one: Class) -> Learner[Any]:
    """The fitted density of a class; None where it has no rows."""
    assert one.source is not None
    n, least = one.source.n_rows, one.density.least_rows
    if n is not None and n < least:
        raise BadInput(f"{type(own_of(one.density)).__name__} needs at least {least} rows, and there {'is' if n == 1 else 'are'} {n}")
    try:
        return (yield from through(partial(only_class, one.number), fit_inside(one.density, one.source), drops=True))
    except NoRows:
        return None


def _named(learner: Learner[Any], label: Any) -> Learner[Any]:
    """The same learner; what it objects to and warns of begins with the class."""
    found = None
    while True:
        with kept_warnings() as told:
            try:
                asked, done = learner.send(found), False
            except StopIteration as end:
                asked, done = end.value, True
            except (BadInput, BadParameter) as objection:
                raise type(objection)(f"class {label!r}: {objection}") from objection
        for one in told:
            warn(f"class {label!r}: {one}", type(one), stacklevel=2)
        if done:
            return asked
        found = yield asked


@dataclass(frozen=True)
class ClassSums:
    """Densities that follow from sums over the rows of their class: what cross-validation merges."""

    classes: list[Class]
    sums: dict[int, Sums] = field(default_factory=dict)

    @classmethod
    def of(cls, classes: list[Class], source: Source) -> ClassSums | None:
        """None where a density has to see the rows again."""
        found: dict[int, Sums] = {}
        for one in classes:
            vars(one.density).update({key: fact for key, fact in source.facts.items() if key in COLUMN_FACTS})
            sums = one.density._from_sums(source if one.source is None else one.source)
            if sums is None:
                return None
            found[one.number] = sums
        return cls(classes, found)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.sums.values())

    @property
    def key(self) -> Any:
        keys = [one.key for one in self.sums.values()]
        return None if None in keys else (ClassSums, *keys)

    def summarize(self, block: Block) -> Keyed:
        parts = ((k, only_class(k, block)) for k in self.sums)
        found: dict[Any, Any] = {k: self.sums[k].summarize(part) for k, part in parts if part is not None}
        return Keyed({COUNTS: count_classes(block, len(self.sums)), **found})

    def solve(self, total: Keyed) -> tuple[list[Any], Array, Array] | None:
        """As `classes_apart`; None where sums are not exact enough."""
        fitted = []
        for k, sums in self.sums.items():
            found = sums.solve(total[k], []) if k in total else []
            if found is None:
                return None
            fitted += found
        return fitted, total[COUNTS]["weight"].weight, total[COUNTS]["rows"].weight
