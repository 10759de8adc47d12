"""Rows that a learner keeps while it learns, with their targets and weights."""

from __future__ import annotations

from dataclasses import dataclass

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.stats import Rows, Stats


@dataclass(slots=True)
class Kept(Stats):
    """Rows, as they are or as codes of bins, with target and weight: `+` appends."""

    X: Rows
    y: Rows
    w: Rows

    @classmethod
    def of(cls, block: Block) -> Kept:
        return cls(Rows.of(ops.dense(block.X)), Rows.of(block.y), Rows.of(block.w))

    def arrays(self) -> tuple[Array, Array, Array]:
        return self.X.whole(), self.y.whole(), self.w.whole()
