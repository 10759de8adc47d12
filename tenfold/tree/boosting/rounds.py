"""Rounds of boosting: tree after tree on binned rows, each on the gradients of what the trees before it leave over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from tenfold import _boost
from tenfold.core.data import Array
from tenfold.core.engine import Local, Threads, current_engine, each, lent_threads
from tenfold.core.threads import thread_budget
from tenfold.tree.bins import Bins
from tenfold.tree.boosting.exact_sums import Whole, exact_by
from tenfold.tree.boosting.losses import PROBABILITY, Loss, weighted_quantile
from tenfold.tree.boosting.nodes import VALUE, leaves_of, node_weights, packed, suited, trimmed
from tenfold.tree.boosting.training import DRAWN, HELD, OUTSIDE, Part, Training, Work, started, weights_of
from tenfold.tree.memory import trees_at_once
from tenfold.tree.structure.arrays import Trees

ALL_ROWS = np.empty(0, dtype=np.uint32)
SMALL_TABLE = 1 << 16  # values, times outputs: below, a second thread costs more than it does
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
    price: float = 0.0  # of a leaf, by share of the weight

    def limits(self, number: int) -> _boost.TreeLimits:
        """What the kernels ask for: the limits of tree `number`."""
        return _boost.TreeLimits(
            l1=self.l1,
            l2=self.l2,
            least_curvature=self.least_curvature,
            least_gain=self.least_gain,
            least_rows=self.least_rows,
            split_rows=self.split_rows,
            leaves=self.leaves or NO_LIMIT,
            depth=NO_LIMIT if self.depth is None else self.depth,
            columns=self.columns,
            seed=(self.seed + 0x9E3779B97F4A7C15 * number) % 2**63,
            rate=self.rate,
            longest=LONGEST_STEP if self.loss.link != "identity" else np.inf,
            whole=self.leaves is None,
        )


class Rounds:
    """Abstract: the trees so far, and how well they do. Its kinds differ in where the rows are."""

    threads = 1

    def __init__(self, table: Training, bins: Bins, plan: Plan, outputs: int, start: Array) -> None:
        self.table, self.bins, self.plan, self.outputs = table, bins, plan, outputs
        self.grown: list[list[tuple[Array, ...]]] = [[] for _ in range(outputs)]
        self.n_done = 0  # by this fit
        self.draws = plan.subsample < 1
        self._losses: dict[bool, Array] = {}  # exact sums for each group of rows, before the last round and now
        self._weights: Array | None = None
        table.rows.change("work", started, start, of=("kept", "work"))

    def step(self, number: int) -> None:
        """Round `number` (from 0 over all fits): one tree for each output."""
        self._losses.clear()
        if self.draws:
            self._weights = None
            self.table.draw(number, self.plan.subsample)
        self._grow_round(number)
        self.n_done += 1

    def _grow_round(self, number: int) -> None:
        raise NotImplementedError

    def _parameter(self) -> float:
        """What the loss needs besides."""
        return self.plan.parameter

    def loss(self, of: str) -> float:
        """The mean loss over some rows: "train" (all that are not held out), "drawn" and "outside" (of the training rows), "held";
        "outside before" is before the last round."""
        before = of == "outside before"
        if before not in self._losses:
            with lent_threads(self.threads) as n:
                message = (self.plan.loss, self._parameter(), before, n)
                self._losses[before] = self.table.rows.ask(losses_of, *message, of=("kept", "work")).arrays[0]
        return _exactly(self._losses[before], GROUPS[of]) / self.weight(of)

    def weight(self, of: str) -> float:
        """The weight of some rows."""
        if self._weights is None:
            self._weights = self.table.rows.ask(weights_of, of=("kept", "work")).arrays[0]
        return _exactly(self._weights, GROUPS[of])

    def targets_and_sums(self, of: str) -> tuple[Array, Array, Array | None]:
        """Targets, raw sums (outputs, n) and weights of some rows."""
        raise NotImplementedError

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


GROUPS = {
    "train": [DRAWN, OUTSIDE],
    "drawn": [DRAWN],
    "outside": [OUTSIDE],
    "outside before": [OUTSIDE],
    "held": [HELD],
}


def _exactly(words: Array, groups: list[int]) -> float:
    return float(_boost.exact_values(words[groups].sum(axis=0, keepdims=True))[0])


def losses_of(part: Part, work: Work, loss: Loss, parameter: float, before: bool, threads: int) -> Whole:
    """Exact sums of the weighted loss over each group of rows, now or before the last round."""
    raw = work.before if before else work.raw
    if len(raw) == 1:
        return Whole([_boost.loss_sums(loss.number, part.y, raw[0], work.w, parameter, work.group, 3, threads)])
    own = _boost.softmax(raw, threads)[part.y.astype(np.int64), np.arange(len(part))]
    values = -np.log(np.maximum(own, np.finfo(np.float64).tiny))
    return exact_by(work.group, values * work.w if len(work.w) else values, 3)


def column_facts(bins: Bins, order: Array) -> tuple[Array, Array, Array]:
    """What the kernels ask for: bins, which columns are categories, and the order that values keep with each."""
    categorical = np.array([one is not None for one in bins.categories], dtype=np.uint8)
    return bins.n_bins, categorical, order if len(order) else np.zeros(len(categorical), dtype=np.int64)


class LocalRounds(Rounds):
    """Rounds on rows that are here."""

    def __init__(
        self, table: Training, bins: Bins, plan: Plan, outputs: int, start: Array, order: Array, together: Array
    ) -> None:
        super().__init__(table, bins, plan, outputs, start)
        codes = table.rows.states["kept"].codes
        self.threads = _threads(codes, outputs)
        self.rows = ALL_ROWS if not table.n_held else self._training_rows()
        at_once = trees_at_once(len(table), outputs, self.threads)
        with lent_threads(1 if at_once > 1 else self.threads) as n:
            facts = *column_facts(bins, order), together
            self.natives = [_boost.Boosting(codes, *facts, n) for _ in range(at_once)]

    def _training_rows(self) -> Array:
        return np.flatnonzero(self.work.group == DRAWN).astype(np.uint32)

    @property
    def part(self) -> Part:
        part: Part = self.table.rows.states["kept"]
        return part

    @property
    def work(self) -> Work:
        work: Work = self.table.rows.states["work"]
        return work

    def targets_and_sums(self, of: str) -> tuple[Array, Array, Array | None]:
        rows, work = np.isin(self.work.group, GROUPS[of]), self.work
        return self.part.y[rows], work.raw[:, rows], work.w[rows] if self.table.weighted else None

    def _grow_round(self, number: int) -> None:
        part, work, plan = self.part, self.work, self.plan
        if self.draws:
            self.rows = self._training_rows()
            work.raw = work.raw.copy()
        with lent_threads(self.threads) as n:
            if len(self.natives) == 1:
                self.natives[0].use_threads(n)
            if self.outputs == 1:
                parameter = self._parameter()
                self.natives[0].gradients(plan.loss.number, part.y, work.raw[0], work.w, parameter)
                return self._grow(self.natives[0], 0, number, parameter)
            probabilities = _boost.softmax(work.raw, n)
            if len(self.natives) == 1:
                return self._some_classes(0, probabilities, number)
        each(partial(self._some_classes, probabilities=probabilities, number=number), list(range(len(self.natives))))

    def _some_classes(self, which: int, probabilities: Array, number: int) -> None:
        """The trees of every class that falls to one of the natives."""
        native, y = self.natives[which], self.part.y
        for k in range(which, self.outputs, len(self.natives)):
            own = (y == k).astype(np.float64)
            native.gradients(PROBABILITY, own, probabilities[k], self.work.w, class_factor(self.outputs))
            self._grow(native, k, number * self.outputs + k, 0.0)

    def _grow(self, native: Any, k: int, number: int, parameter: float) -> None:
        plan, part, work = self.plan, self.part, self.work
        nodes = list(native.grow(self.rows, plan.limits(number)))
        if plan.price > 0:
            self.grown[k].append(self._trim(nodes, k, parameter))
            return
        if plan.loss.renews:
            native.renew(plan.loss.number, part.y, work.raw[k], work.w, parameter, plan.rate)
            nodes[VALUE] = native.values()
        nodes.append(native.weight(work.w) if self.table.weighted else nodes[-1].astype(np.float64))
        native.update(work.raw[k])
        self.grown[k].append(tuple(nodes))

    def _trim(self, nodes: list[Array], k: int, parameter: float) -> tuple[Array, ...]:
        """The nodes that are worth their price, whose rows the kernels do not know: they walk down again."""
        plan, part, work = self.plan, self.part, self.work
        nodes = trimmed(nodes, plan.price * self.weight("drawn"))
        leaf, grown_on = leaves_of(nodes, part.codes, self.bins.n_bins), work.group == DRAWN
        w = work.w[grown_on] if self.table.weighted else None
        if plan.loss.renews:
            left = (part.y - work.raw[k])[grown_on]
            nodes[VALUE] = suited(plan.loss, left, w, parameter, leaf[grown_on], nodes[VALUE], plan.rate)
        nodes.append(nodes[-1].astype(np.float64) if w is None else node_weights(nodes, w, leaf[grown_on]))
        work.raw[k] += nodes[VALUE][leaf]
        return tuple(nodes)

    def _parameter(self) -> float:
        """Huber's limit is a quantile of what is left, anew in each round."""
        if self.plan.loss.name != "huber":
            return self.plan.parameter
        train, y, w = self.table.gathered()
        return weighted_quantile(np.abs(y - self.work.raw[0][train]), w, self.plan.parameter)


def class_factor(outputs: int) -> float:
    """Of the curvature: sums of the classes may shift (Friedman)."""
    return outputs / (outputs - 1)


def record(loss: float | None) -> Any:
    """The record of a round for the monitor."""
    return SimpleNamespace(loss=loss)


def _threads(codes: Array, outputs: int) -> int:
    """Threads of the engine in force; one for a small table."""
    on = current_engine()
    if isinstance(on, Local) or codes.size * outputs < SMALL_TABLE:
        return 1
    return min((on.n if isinstance(on, Threads) else None) or thread_budget(), 256)
