"""How learners inside a learner are fitted: in place, side by side, on all rows or on rows of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Arrays, Block, Source, Target
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learning import Change, Key, Learner, lockstep, through
from tenfold.gate.inputs import AsGiven

# What the gate tells a learner that has no use for the target.
COLUMN_FACTS = ("n_features_in_", "feature_names_in_", "categories_")


def fit_inside(member: Estimator, source: Source, name: str | None = None) -> Learner[Any]:
    """Fit a learner in place to the rows of a source, and return it; `name` stands before what it objects to."""
    try:
        check.check_params(member)
        member._forget_fit()
        wanted = source.facts.keys() if member.target != "none" else COLUMN_FACTS
        vars(member).update({key: fact for key, fact in source.facts.items() if key in wanted})
        vars(member).update((yield from member._learn(source)))
        member._finish(source)
    except (BadInput, BadParameter) as objection:
        if name is None:
            raise
        raise type(objection)(f"{name!r}: {objection}") from objection
    return member


Only = Callable[[Key, Block], Block | None]  # the rows of a block that the learner of this key sees


def side_by_side(
    members: Mapping[Key, Any], sources: Mapping[Key, Source], only: Only | None = None, named: bool = False
) -> Learner[dict[Key, Any]]:
    """Fit learners, in place: one reading of the rows serves all of them."""
    learners = {key: fit_inside(one, sources[key], str(key) if named else None) for key, one in members.items()}
    if only is not None:
        learners = {key: through(partial(only, key), one, drops=True) for key, one in learners.items()}
    return (yield from lockstep(learners))


def with_target(block: Block, y: Any) -> Block:
    """The same rows with another target; what is not yet read stays so."""
    if block.unread is not None:
        return Block(None, y, block.w, block.key, block.unread)
    return replace(block, y=y)


class Viewed(Source):
    """The rows of a source with some of them left out, other columns, or another target, block by block."""

    def __init__(self, inner: Source, change: Change, target: Target, facts: dict[str, Any]) -> None:
        self.inner, self.change, self.target, self.facts = inner, change, target, facts
        self.n_features, self.n_parts, self.rereadable = facts["n_features_in_"], inner.n_parts, inner.rereadable
        self.n_rows, self.home, self.looked = inner.n_rows, inner.home, inner.looked

    def parts(self) -> Iterator[Any]:
        return self.inner.parts()

    def load(self, part: Any) -> Block:
        block = self.inner.load(part)
        changed = self.change(block)
        return block.take(np.empty(0, dtype=np.int64)) if changed is None else changed

    def whole(self) -> Source:
        return self


def viewed(source: Source, change: Change, target: Target, facts: dict[str, Any]) -> Source:
    """A source as a learner inside sees it: with some of its rows, or another target. A table in memory stays one."""
    if not isinstance(source, Arrays):
        return Viewed(source, change, target, facts)
    rows: Array = np.arange(source.X.shape[0]) if source.rows is None else source.rows
    places = Block(rows[:, None], source.y[rows] if source.y is not None else None, np.ones(len(rows)))
    part = change(places)
    if part is None:
        raise BadInput("no row is left to learn from")
    there = part.X[:, 0]
    y = None
    if part.y is not None:
        y = np.zeros((source.X.shape[0], *part.y.shape[1:]), dtype=part.y.dtype)
        y[there] = part.y
    chosen = None if source.rows is None and len(there) == len(rows) else there
    made = type(source)(source.X, y, source.w, target, facts, rows=chosen, missing=source.missing, width=source.n_features)
    made.looked = source.looked
    if isinstance(made, AsGiven) and isinstance(source, AsGiven):
        made.fit_params = source.fit_params
    return made
