"""Rows of boosting where they are: what is kept of them, and what can be asked of them, here or on the workers of a cluster.

`Part` is what never changes, `Work` what the rounds change. A question is a function of these and returns statistics whose merge
does not depend on the order: whole numbers, exact sums (67 words of 32 bits each), largest values, or rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenfold import _boost
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.pages import pages
from tenfold.core.stats import Rows
from tenfold.tree.bins import Bins
from tenfold.tree.boosting.losses import Loss
from tenfold.tree.structure.arrays import Trees

DRAWN, OUTSIDE, HELD = range(3)  # groups of rows: the tree is grown on them, it could have been, they are held out
NO_WEIGHTS = np.empty(0)


class Travels:
    """Base of what is sent between processes: arrays that arrive at any byte are moved to where kernels take them."""

    __slots__ = ()

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            setattr(self, name, [_ready(one) for one in value] if isinstance(value, list) else _ready(value))


def _ready(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) and value.ctypes.data % 16 else value


@dataclass(slots=True)
class Part(Travels):
    """Some rows as codes of bins."""

    codes: Array  # (n, width) uint8 or uint16
    y: Array  # (n,) float64: numbers, or codes of classes
    w: Array | None  # None where every row counts the same
    hash: Array  # (n,) of the content of each row and its target; empty where nothing is drawn
    earlier: Array | None  # (outputs, n) the sums of the trees of earlier fits

    def __len__(self) -> int:
        return len(self.y)

    def __sizeof__(self) -> int:
        return self.codes.nbytes + 24 * len(self.y)


@dataclass(slots=True)
class Work(Travels):
    """What the rounds know of the same rows."""

    w: Array  # empty where every row counts the same
    group: Array  # (n,) int32
    key: Array  # (n,) uint64, by which rows are drawn; or empty
    raw: Array  # (outputs, n) the sums of the trees so far
    before: Array  # the same before the last round, where rows are drawn

    def __sizeof__(self) -> int:
        return self.raw.nbytes + 20 * len(self.group)


@dataclass(slots=True)
class Whole(Travels):
    """Sums in whole numbers, one array after the other."""

    arrays: list[Array]

    def __add__(self, other: Whole) -> Whole:
        return Whole([a + b for a, b in zip(self.arrays, other.arrays, strict=True)])

    def values(self) -> Array:
        """What the exact sums of the first array stand for."""
        return _boost.exact_values(self.arrays[0])


# --- how parts are made -----------------------------------------------------------------------------------------------


def coded(block: Block, bins: Bins, hashed: int | None, trees: Trees | None, outputs: int) -> Part:
    """A block as codes, with its target, weights and (with a seed) hashes, and the sums of earlier trees."""
    X = ops.dense(block.X)
    y = np.ascontiguousarray(block.y.reshape(-1), dtype=np.float64)
    w = None if (block.w == 1).all() else block.w
    hash: Array = np.empty(0, dtype=np.uint64)
    if hashed is not None:
        hash = ops.hash_rows(X, hashed) ^ ops.hash_rows(y[:, None], 1)
    earlier = None if trees is None else class_sums(trees, X, outputs, 0, len(trees) // outputs).T.copy()
    codes = bins.code(X)
    kept = aligned(len(codes), codes.shape[1], codes.dtype)
    kept[:] = codes
    return Part(kept, y, w, hash, earlier)


def joined(parts: list[Part]) -> Part:
    """Several parts as one, which are used up: the codes of each are let go as soon as they are copied."""
    if len(parts) == 1:
        return parts[0]
    codes = aligned(sum(map(len, parts)), parts[0].codes.shape[1], parts[0].codes.dtype)
    at = 0
    for i, part in enumerate(parts):
        codes[at : at + len(part)] = part.codes
        at += len(part)
        parts[i] = replace(part, codes=codes[:0])
    w = None
    if any(part.w is not None for part in parts):
        w = np.concatenate([np.ones(len(part)) if part.w is None else part.w for part in parts])
    earlier = None if parts[0].earlier is None else np.concatenate([part.earlier for part in parts], axis=1)
    y, hash = np.concatenate([part.y for part in parts]), np.concatenate([part.hash for part in parts])
    return Part(codes, y, w, hash, earlier)


def aligned(n: int, width: int, dtype: Any = np.uint8) -> Array:
    """A table of codes (n, width) that begins on a cache line, all zero."""
    size = n * width * np.dtype(dtype).itemsize
    memory = pages(size + 64)
    start = -memory.ctypes.data % 64
    return np.asarray(memory[start : start + size].view(dtype).reshape(n, width))


def class_sums(trees: Trees, X: Array, outputs: int, start: int, stop: int) -> Array:
    """(rows, outputs): sums over rounds start, ..., stop − 1 of trees that are stored class by class."""
    rounds = len(trees) // outputs
    if outputs == 1:
        return trees.sums(X, start, stop)
    return np.hstack([trees.sums(X, k * rounds + start, k * rounds + stop) for k in range(outputs)])


# --- what is asked before the rounds ----------------------------------------------------------------------------------


def facts_of(part: Part) -> Rows:
    """How many rows, whether they have weights, the least target and the largest."""
    return Rows.of((len(part), part.w is not None, float(part.y.min()), float(part.y.max())))


def class_weights_of(part: Part, classes: int) -> Whole:
    return exact_by(part.y, np.ones(len(part)) if part.w is None else part.w, classes)


def exact_by(group: Array, values: Array, n: int) -> Whole:
    return Whole([_boost.exact_sums(values, group.astype(np.int32), n)])


def weighed(part: Part, weighted: bool, factors: Array | None) -> Work:
    """The state to begin with; rows of a class weigh its factor more."""
    w = np.ones(len(part)) if weighted and part.w is None else part.w
    if factors is not None:
        assert w is not None
        w = w * factors[part.y.astype(np.int64)]
    nothing = np.empty((0, len(part)))
    group = np.full(len(part), DRAWN, dtype=np.int32)
    return Work(NO_WEIGHTS if w is None else w, group, part.hash, nothing, nothing)


def hashes_of(part: Part, work: Work, labels: bool) -> Rows:
    """What draws need to know of each row: 8 bytes, as much again for weights, 4 for classes."""
    return Rows.of((part.hash, work.w, part.y.astype(np.int32) if labels else None))


def marked(copies: tuple[Array, Array], part: Part, work: Work, cuts: Array | None) -> Work:
    """Keys that set copies apart: `copies` are rows that have copies before them, and their keys. Held out are rows with keys below
    the cut of their class."""
    key, group = first_keys(part.hash), work.group
    key[copies[0]] = copies[1]
    if cuts is not None:
        cut = cuts[part.y.astype(np.int64)] if len(cuts) > 1 else cuts[0]
        group = np.where(key < cut, HELD, DRAWN).astype(np.int32)
    return replace(work, key=key, group=group)


def first_keys(hash: Array) -> Array:
    """The keys of rows that have no copy before them."""
    return np.asarray(hash ^ copy_keys(np.zeros(1)))


def copy_keys(number: Array) -> Array:
    """A number that sets copy 0, 1, ... of a row apart."""
    keys: Array = ops.hash_rows(number[:, None], 2)
    return keys


def weights_of(part: Part, work: Work) -> Whole:
    """The weight of each group of rows."""
    return exact_by(work.group, np.ones(len(part)) if not len(work.w) else work.w, 3)


def targets_of(part: Part, work: Work, classes: int) -> Whole:
    """Of the training rows: the weight of each class; or, without classes, Σ w and Σ w y."""
    train = work.group != HELD
    y, w = part.y[train], work.w[train] if len(work.w) else np.ones(int(train.sum()))
    if classes:
        return exact_by(y, w, classes)
    both = np.repeat(np.arange(2), len(y))
    return exact_by(both, np.concatenate([w, w * y]), 2)


# --- what is asked between them ---------------------------------------------------------------------------------------


def started(part: Part, work: Work, start: Array) -> Work:
    raw = np.repeat(start[:, None], len(part), axis=1) + (0 if part.earlier is None else part.earlier)
    return replace(work, raw=raw, before=raw)


def drawn(work: Work, number: int, cut: int) -> Work:
    """The rows of a round: those with keys up to the cut. The raw sums before it are kept."""
    group = np.where(mixed(work.key, number) <= np.uint64(cut), DRAWN, OUTSIDE).astype(np.int32)
    group[work.group == HELD] = HELD
    return replace(work, group=group, before=work.raw)


def mixed(key: Array, number: int) -> Array:
    """The keys of a round."""
    with np.errstate(over="ignore"):
        key = (key ^ np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
    return key


def losses_of(part: Part, work: Work, loss: Loss, parameter: float, before: bool, threads: int) -> Whole:
    """Exact sums of the weighted loss over each group of rows, now or before the last round."""
    raw = work.before if before else work.raw
    if len(raw) == 1:
        return Whole([_boost.loss_sums(loss.number, part.y, raw[0], work.w, parameter, work.group, 3, threads)])
    own = _boost.softmax(raw, threads)[part.y.astype(np.int64), np.arange(len(part))]
    values = -np.log(np.maximum(own, np.finfo(np.float64).tiny))
    return exact_by(work.group, values * work.w if len(work.w) else values, 3)
