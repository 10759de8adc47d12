"""Rounds of boosting: tree after tree on binned rows, each on the gradients of what the trees before it leave over."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tenfold import _boost
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import Local, Summarize, Threads, current_engine, each
from tenfold.core.stats import Rows
from tenfold.core.threads import thread_budget
from tenfold.tree.bins import Bins
from tenfold.tree.losses import PROBABILITY, Loss, log_priors, weighted_quantile
from tenfold.tree.packed import Trees

NO_WEIGHTS = np.empty(0)
ALL_ROWS = np.empty(0, dtype=np.uint32)
SMALL_TABLE = 1 << 16  # values, times outputs: below, a second thread costs more than it does
SHORT_TABLE = 50_000  # rows
NO_LIMIT = 1 << 30
LONGEST_STEP = (
    10.0  # of a leaf, where the curvature of the loss may vanish: else one row of a rare class throws it far out
)


@dataclass(frozen=True)
class Plan:
    """What every tree of a fit may be."""

    loss: Loss
    rate: float
    leaves: int | None
    depth: int | None
    least_rows: int
    columns: int  # that a node looks at
    seed: int
    parameter: float = 0.0  # of the loss
    split_rows: int = 2
    l1: float = 0.0
    l2: float = 0.0
    least_curvature: float = 1e-3
    least_gain: float = 0.0
    subsample: float = 1.0


@dataclass
class Table:
    """The rows that a fit keeps while it grows trees."""

    codes: Array  # (n, width) uint8
    y: Array  # (n,) float64: numbers, or codes of classes
    w: Array | None  # None where every row counts the same
    hash: Array  # (n,) of the content of each row; empty where nothing is drawn
    raw: Array | None  # (outputs, n) what earlier trees say

    def __len__(self) -> int:
        return len(self.y)


def binned_rows(
    source: Source, bins: Bins, hashed: int | None, trees: Trees | None, outputs: int
) -> Generator[Summarize, Any, Table]:
    """One pass: each row as bytes, with its target, weight and (with a seed) hash, and the sums of earlier trees."""
    kept = yield partial(_binned, bins=bins, hashed=hashed, trees=trees, outputs=outputs)
    codes = aligned(sum(len(part[1]) for part in kept.parts), bins.width)
    at = 0
    for i, (part, *_) in enumerate(kept.parts):
        codes[at : at + len(part)] = part
        at += len(part)
        kept.parts[i] = (None, *kept.parts[i][1:])
    _, y, w, hash, raw = (list(column) for column in zip(*kept.parts, strict=True))
    weights = None
    if any(one is not None for one in w):
        weights = np.concatenate([np.ones(len(b)) if a is None else a for a, b in zip(w, y, strict=True)])
    earlier = None if trees is None else np.concatenate(raw, axis=1)
    target = np.concatenate(y)
    return Table(codes, target, weights, _keys(np.concatenate(hash), target, weights), earlier)


def _keys(hash: Array, y: Array, w: Array | None) -> Array:
    """A key for each row, of its content and target; copies are numbered, so that they are drawn one by one."""
    if not len(hash):
        return hash
    hash = hash ^ ops.hash_rows(y[:, None], 1)
    order = np.argsort(hash, kind="stable") if w is None else np.lexsort((w, hash))
    new = np.concatenate([[True], hash[order[1:]] != hash[order[:-1]]])
    number = np.arange(len(hash)) - np.maximum.accumulate(np.where(new, np.arange(len(hash)), 0))
    keys = np.empty_like(hash)
    keys[order] = hash[order] ^ ops.hash_rows(number[:, None].astype(np.float64), 2)
    return keys


def _binned(block: Block, bins: Bins, hashed: int | None, trees: Trees | None, outputs: int) -> Rows:
    y = np.ascontiguousarray(block.y.reshape(-1), dtype=np.float64)
    w = None if (block.w == 1).all() else block.w
    hash = np.empty(0, dtype=np.uint64) if hashed is None else ops.hash_rows(block.X, hashed)
    raw = None if trees is None else class_sums(trees, block.X, outputs, 0, len(trees) // outputs).T.copy()
    return Rows.of((bins.code(block.X), y, w, hash, raw))


def class_sums(trees: Trees, X: Array, outputs: int, start: int, stop: int) -> Array:
    """(rows, outputs): sums over rounds start, ..., stop − 1 of trees that are stored class by class."""
    rounds = len(trees) // outputs
    if outputs == 1:
        return trees.sums(X, start, stop)
    return np.hstack([trees.sums(X, k * rounds + start, k * rounds + stop) for k in range(outputs)])


def aligned(n: int, width: int) -> Array:
    """An empty (n, width) table of bytes that begins on a cache line."""
    memory = np.empty(n * width + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + n * width].reshape(n, width)


class Rounds:
    """The state of a fit: raw predictions of all rows, and the trees so far."""

    def __init__(
        self,
        table: Table,
        bins: Bins,
        plan: Plan,
        outputs: int,
        held: Array,
        order: Array,
        together: Array,
        start: Array,
    ) -> None:
        self.table, self.bins, self.plan, self.outputs = table, bins, plan, outputs
        self.start = start
        self.raw = np.repeat(start[:, None], len(table), axis=1) + (0 if table.raw is None else table.raw)
        self.held = np.flatnonzero(held)
        self.train = np.flatnonzero(~held).astype(np.uint32) if len(self.held) else ALL_ROWS
        self.w = NO_WEIGHTS if table.w is None else table.w
        self.grown: list[list[tuple[Array, ...]]] = [[] for _ in range(outputs)]
        self.n_done = 0  # by this fit
        self.earlier = self.raw  # before the last round, where rows are drawn
        categorical = np.array([one is not None for one in bins.categories], dtype=np.uint8)
        order = order if len(order) else np.zeros(len(categorical), dtype=np.int64)
        threads = _threads(table.codes, outputs)
        # Of several classes in a short table each tree has a thread; else each thread has rows of one tree.
        at_once = min(threads, outputs) if len(table) < SHORT_TABLE else 1
        self.natives = [
            _boost.Boosting(table.codes, bins.n_bins, categorical, order, together, 1 if at_once > 1 else threads)
            for _ in range(at_once)
        ]

    def step(self, number: int) -> Array:
        """Round `number` (from 0 over all fits): one tree for each output. Returns the rows it was grown on."""
        rows = self.train
        if self.plan.subsample < 1:
            rows, self.earlier = self._drawn(number), self.raw.copy()
        y, plan = self.table.y, self.plan
        if self.outputs == 1:
            parameter = self._parameter()
            self.natives[0].gradients(plan.loss.number, y, self.raw[0], self.w, parameter)
            self._grow(self.natives[0], 0, rows, number, parameter)
        else:
            shares = self.natives[0].softmax(self.raw)
            each(partial(self._some_classes, shares=shares, rows=rows, number=number), list(range(len(self.natives))))
        self.n_done += 1
        return rows

    def _some_classes(self, which: int, shares: Array, rows: Array, number: int) -> None:
        """The trees of every class that falls to one of the natives."""
        native, factor = (
            self.natives[which],
            self.outputs / (self.outputs - 1),
        )  # sums of the classes may shift (Friedman)
        for k in range(which, self.outputs, len(self.natives)):
            native.gradients(PROBABILITY, (self.table.y == k).astype(np.float64), shares[k], self.w, factor)
            self._grow(native, k, rows, number * self.outputs + k, 0.0)

    def _grow(self, native: Any, k: int, rows: Array, number: int, parameter: float) -> None:
        plan = self.plan
        nodes = list(
            native.grow(
                rows,
                plan.l1,
                plan.l2,
                plan.least_curvature,
                plan.least_gain,
                plan.least_rows,
                plan.split_rows,
                plan.leaves or NO_LIMIT,
                NO_LIMIT if plan.depth is None else plan.depth,
                plan.columns,
                (plan.seed + 0x9E3779B97F4A7C15 * number) % 2**63,
                plan.rate,
                LONGEST_STEP if plan.loss.link != "identity" else np.inf,
                plan.leaves is None,
            )
        )
        if plan.loss.renews:
            native.renew(plan.loss.number, self.table.y, self.raw[k], self.w, parameter, plan.rate)
            nodes[VALUE] = native.values()
        nodes.append(nodes[-1].astype(np.float64) if self.table.w is None else native.weight(self.w))
        native.update(self.raw[k])
        self.grown[k].append(tuple(nodes))

    def _parameter(self) -> float:
        """What the loss needs besides: Huber's limit is a quantile of what is left, anew in each round."""
        if self.plan.loss.name != "huber":
            return self.plan.parameter
        rows: Any = self.train if len(self.train) else slice(None)
        left = np.abs(self.table.y[rows] - self.raw[0][rows])
        return weighted_quantile(left, None if self.table.w is None else self.table.w[rows], self.plan.parameter)

    def _drawn(self, number: int) -> Array:
        """A share of the training rows, drawn by a hash of their content and the number of the round."""
        hash = self.table.hash if not len(self.train) else self.table.hash[self.train]
        with np.errstate(over="ignore"):
            key = (hash ^ np.uint64(number + 1)) * np.uint64(0x9E3779B97F4A7C15)
            key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(32)
        count = max(1, int(self.plan.subsample * len(key)))
        chosen = np.flatnonzero(key <= np.partition(key, count - 1)[count - 1]).astype(np.uint32)
        return chosen if not len(self.train) else self.train[chosen]

    def loss(self, rows: Array | None = None, raw: Array | None = None) -> float:
        """The mean loss over some rows, or over all training rows."""
        if rows is None and len(self.train):
            rows = self.train
        y, w, raw = self.table.y, self.table.w, self.raw if raw is None else raw
        if rows is not None:
            y, w, raw = y[rows], None if w is None else w[rows], raw[:, rows]
        weight = len(y) if w is None else float(w.sum())
        if self.outputs > 1:
            shares = self.natives[0].softmax(np.ascontiguousarray(raw))
            told = np.log(np.maximum(shares[y.astype(np.int64), np.arange(len(y))], np.finfo(np.float64).tiny))
            return -float(told.sum() if w is None else w @ told) / weight
        weights, line = NO_WEIGHTS if w is None else w, np.ascontiguousarray(raw[0])
        parameter = self._parameter()
        return float(self.natives[0].loss(self.plan.loss.number, y, line, weights, parameter)) / weight

    def trees(self, before: Trees | None) -> Trees:
        """All trees, class by class, those of earlier fits first."""
        parts = []
        for k in range(self.outputs):
            if before is not None:
                rounds = len(before) // self.outputs
                parts.append(before[k * rounds : (k + 1) * rounds])
            if self.grown[k]:
                parts.append(packed(self.grown[k], self.bins))
        return parts[0] if len(parts) == 1 else Trees.joined(parts)


LEFT, RIGHT, FEATURE, BIN, MISSING_LEFT, BY_SET, SETS, VALUE, GAIN, N_ROWS, WEIGHT = range(11)


def packed(grown: list[tuple[Array, ...]], bins: Bins) -> Trees:
    """Trees whose nodes speak of bins, as trees that speak of values."""
    node = [np.concatenate([tree[i] for tree in grown]) for i in range(11)]
    feature, leaf = node[FEATURE], node[LEFT] < 0
    threshold = np.minimum(bins.padded[np.maximum(feature, 0), node[BIN]], np.finfo(np.float64).max)
    subset, bits = np.full(len(feature), -1, dtype=np.int64), [np.empty(0, dtype=np.uint64)]
    length = 0
    for i in np.flatnonzero(node[BY_SET]):
        bins_left = np.unpackbits(node[SETS][i].astype("<u8").view(np.uint8), bitorder="little") > 0
        mask = bins.mask(int(feature[i]), bins_left, bool(node[MISSING_LEFT][i]))
        subset[i] = length
        length += len(mask)
        bits.append(mask)
    return Trees(
        first=np.concatenate([[0], np.cumsum([len(tree[0]) for tree in grown])]).astype(np.int64),
        children_left=node[LEFT],
        children_right=node[RIGHT],
        feature=feature,
        threshold=np.where(leaf | (node[BY_SET] > 0), -2.0, threshold),
        missing_go_to_left=node[MISSING_LEFT],
        subset=subset,
        bits=np.concatenate(bits),
        value=node[VALUE][:, None],
        impurity=np.zeros(len(feature)),
        gain=node[GAIN],
        n_node_samples=node[N_ROWS],
        weighted_n_node_samples=node[WEIGHT],
    )


def first_raw(table: Table, train: Any, plan: Plan, outputs: int) -> Array:
    """(outputs,) the constant to begin with, from the training rows."""
    y, w = table.y[train], None if table.w is None else table.w[train]
    if outputs > 1:
        return log_priors(y, w, outputs)
    return np.array([plan.loss.start(y, w, plan.parameter)])


def held_out(table: Table, share: float, classes: int | None) -> Array:
    """Which rows are held out: those with the smallest hashes, of each class its share."""
    held = np.zeros(len(table), dtype=bool)
    groups = [np.arange(len(table))]
    if classes is not None:
        groups = [np.flatnonzero(table.y == k) for k in range(classes)]
    for rows in groups:
        count = min(max(1, round(share * len(rows))), len(rows) - 1)  # one stays at least
        held[rows[np.argsort(table.hash[rows], kind="stable")[: max(count, 0)]]] = True
    return held


def record(loss: float | None) -> Any:
    """What the monitor is told of a round."""
    return SimpleNamespace(loss=loss)


def _threads(codes: Array, outputs: int) -> int:
    """Threads of the engine in force; one for a small table."""
    on = current_engine()
    if isinstance(on, Local) or codes.size * outputs < SMALL_TABLE:
        return 1
    return min((on.n if isinstance(on, Threads) else None) or thread_budget(), 256)
