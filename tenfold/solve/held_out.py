"""Rows that are held out of a fit by what they hold, and what a plane says of rows: right, wrong, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.stats import Counts, Spread, Stats


class Split(NamedTuple):
    """Rows that are held out, a share of all by a hash of their values; what is equal stays together."""

    share: float
    seed: int

    def held(self, block: Block) -> Array:
        """Which rows of a block."""
        X = block.X
        if ops.is_sparse(X):
            X = np.ascontiguousarray(X @ np.random.default_rng(self.seed).normal(size=(X.shape[1], 1)))
        hashes = ops.hash_rows(X, self.seed) ^ ops.hash_rows(targets(block)[:, None], self.seed + 1)
        return np.asarray(hashes < np.uint64(min(int(self.share * 2.0**64), 2**64 - 1)))


def targets(block: Block) -> Array:
    """The one target of each row, or the number of its class."""
    return np.ascontiguousarray(block.y if block.y.ndim == 1 else block.y[:, 0], dtype=np.float64)


def plane(X: Any, coef: Array, intercept: Any) -> Array:
    """X wᵀ + b, (rows, M)."""
    if ops.is_sparse(X):
        return np.asarray(X @ coef.T + intercept)
    return np.asarray(ops.linear_scores(X, *(np.ascontiguousarray(part, dtype=np.float64) for part in (coef, intercept))))


def split_counts(block: Block, split: Split) -> Counts:
    held = int(split.held(block).sum())
    return Counts(np.array([len(block) - held, held], dtype=np.float64))


@dataclass(slots=True)
class Held(Stats):
    """Of the rows that are held out: their weight, Σ w of what is predicted right or Σ w of squared errors, and the spread of y."""

    weight: float
    found: Array  # (M,)
    spread: Spread | None

    def mean(self) -> Array:
        """The share of right classes, or R²."""
        if self.spread is None:
            return self.found / max(self.weight, 1e-300)
        return 1.0 - self.found / max(float(self.spread.scatter[0, 0]), 1e-300)


def held_score(block: Block, weights: Array, intercepts: Array, split: Split, positive: Array) -> Held:
    """Of the rows of a block that are held out, for each problem."""
    block = block.take(np.flatnonzero(split.held(block)))
    said, w = plane(block.X, weights, intercepts), block.w
    if positive[0] < 0:
        y = block.y[:, :1]
        return Held(float(w.sum()), w @ (y - said) ** 2, Spread.of(np.ascontiguousarray(y), w))
    right = (said > 0) == (block.y[:, None] == positive)
    return Held(float(w.sum()), w @ right, None)


@dataclass(slots=True)
class Wrong(Stats):
    """The weight of the rows of a wrong class, and of all."""

    wrong: float
    weight: float

    def mean(self) -> float:
        """Their share."""
        return self.wrong / max(self.weight, 1e-300)


def mistakes(block: Block, weights: Array, intercepts: Array, split: Split | None, positive: Array) -> Wrong:
    """Of the rows of a block that are not held out, by the class that leads."""
    if split is not None:
        block = block.take(np.flatnonzero(~split.held(block)))
    said = plane(block.X, weights, intercepts)
    choice = (said[:, 0] > 0) * positive[0] if len(positive) == 1 else said.argmax(axis=1)
    return Wrong(float(block.w @ (choice != block.y)), float(block.w.sum()))
