"""Rounds of boosting on rows that stay on the workers of a cluster: histograms, splits and a few numbers travel, rows do not.

A turn asks all parts of the rows at once for the histograms of every node that may be split next, so a tree takes about as many
turns as it is deep. Sums are whole numbers: the tree is that of `LocalRounds`, to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tenfold import _boost
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.stats import Keyed
from tenfold.core.threads import thread_budget
from tenfold.tree.bins import Bins
from tenfold.tree.boosting.exact_sums import Travels, Whole
from tenfold.tree.boosting.losses import PROBABILITY, Loss
from tenfold.tree.boosting.nodes import VALUE, WAY, summed_up, trimmed
from tenfold.tree.boosting.rounds import Plan, Rounds, class_factor, column_facts
from tenfold.tree.boosting.training import DRAWN, Part, Training, Work

MOST_ROWS = 1 << 27  # so that sums of whole numbers keep enough digits


class ClusterRounds(Rounds):
    """Rounds on rows that are on a cluster."""

    def __init__(
        self, table: Training, bins: Bins, plan: Plan, outputs: int, start: Array, order: Array, together: Array
    ) -> None:
        if len(table) >= MOST_ROWS:
            raise BadInput(f"boosting takes less than {MOST_ROWS:,} rows, there are {len(table):,}: draw some of them")
        super().__init__(table, bins, plan, outputs, start)
        facts = (*column_facts(bins, order), together)
        threads = thread_budget() if outputs == 1 else 1
        self.natives = [_boost.DistributedTree(*facts, threads) for _ in range(outputs)]
        self.tops: Array = table.rows.ask(extents, plan.loss, plan.parameter, of=("kept", "work")).largest

    def _grow_round(self, number: int) -> None:
        rows, plan, n_bins = self.table.rows, self.plan, self.bins.n_bins
        of = (plan.loss, plan.parameter, self.tops, len(self.table), n_bins)
        found = rows.step("tree", planted, *of, of=("kept", "work")).arrays
        for k, native in enumerate(self.natives):
            tree = number if self.outputs == 1 else number * self.outputs + k
            gradient, curvature = self.tops[k].tolist()
            native.begin(found[k], gradient, curvature, len(self.table), plan.limits(tree))
        while True:
            wanted = [native.asked() for native in self.natives]
            if not any(len(asked[0]) for asked in wanted):
                break
            found = rows.step("tree", turned, wanted, n_bins, of=("kept", "tree")).arrays
            for native, histograms in zip(self.natives, found, strict=True):
                if len(histograms):
                    native.answer(histograms)
        rows.forget("tree")
        trees = [list(native.nodes()) for native in self.natives]
        price = plan.price * self.weight("drawn") if plan.price > 0 else 0.0
        self._add([trimmed(nodes, price) for nodes in trees] if price > 0 else trees)

    def _add(self, trees: list[list[Array]]) -> None:
        """Adds a tree for each output, here and to the raw sums of the rows."""
        ways = [tuple(nodes[WAY]) for nodes in trees]
        message = (ways, [nodes[VALUE] for nodes in trees], self.bins.n_bins, self.plan.loss, self.plan.parameter)
        after = self.table.rows.step("work", added, *message, of=("kept", "work"))
        self.tops, at = after["tops"].largest, 0
        weights = after["weights"].values() if self.table.weighted else None
        for k, nodes in enumerate(trees):
            weight = nodes[-1].astype(np.float64)
            if weights is not None:
                weight = summed_up(nodes, weights[at : at + len(weight)])
                at += len(weight)
            self.grown[k].append((*nodes, weight))


# --- what is asked of the rows ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tops(Travels):
    """The largest gradient and curvature of each output, (outputs, 2)."""

    largest: Array

    def __add__(self, other: Tops) -> Tops:
        return Tops(np.maximum(self.largest, other.largest))


@dataclass(slots=True)
class Sprout(Travels):
    """One tree as the holder of some rows sees it."""

    terms: Array  # (n, 2) int64: gradient, and curvature with a count
    rows: Array  # those that the tree is grown on, node by node
    places: dict[int, tuple[int, int]]  # where the rows of a node begin and end

    def __sizeof__(self) -> int:
        return self.terms.nbytes + self.rows.nbytes


def _at(part: Part, work: Work, loss: Loss, parameter: float) -> list[tuple[int, Array, Array, Array, float]]:
    """For each output: where the kernels take gradients."""
    if len(work.raw) == 1:
        return [(loss.number, part.y, work.raw[0], work.w, parameter)]
    probabilities, factor = _boost.softmax(work.raw, 1), class_factor(len(work.raw))
    return [(PROBABILITY, (part.y == k).astype(np.float64), probabilities[k], work.w, factor) for k in range(len(work.raw))]


def extents(part: Part, work: Work, loss: Loss, parameter: float) -> Tops:
    return Tops(np.array([_boost.extent(*at) for at in _at(part, work, loss, parameter)]))


class Sprouts(list[Sprout]):
    """Those of all outputs."""

    def __sizeof__(self) -> int:
        return sum(one.__sizeof__() for one in self)


def planted(
    part: Part, work: Work, loss: Loss, parameter: float, tops: Array, n: int, n_bins: Array
) -> tuple[Sprouts, Whole]:
    """The trees of a round before their first split, and the histograms of all their rows."""
    rows = np.flatnonzero(work.group == DRAWN).astype(np.uint32)
    sprouts, found = Sprouts(), []
    for at, (gradient, curvature) in zip(_at(part, work, loss, parameter), tops.tolist(), strict=True):
        terms = _boost.fixed_gradients(*at, gradient, curvature, n)
        sprouts.append(Sprout(terms, rows, {0: (0, len(rows))}))
        found.append(_boost.sum_rows(part.codes, n_bins, terms, rows))
    return sprouts, Whole(found)


def turned(part: Part, sprouts: Sprouts, wanted: list[tuple[Array, ...]], n_bins: Array) -> tuple[Sprouts, Whole]:
    """The rows of some nodes parted, and the histograms that were asked for."""
    grown, found = Sprouts(), []
    for sprout, (node, first, *splits) in zip(sprouts, wanted, strict=True):
        places = [sprout.places[i] for i in node.tolist()]
        begin, end = np.array(places, dtype=np.int64).reshape(-1, 2).T.copy()
        where = (part.codes, n_bins, sprout.terms, sprout.rows, begin, end)
        rows, lefts, histograms = _boost.part_and_sum(*where, *splits)
        known = dict(sprout.places)
        for left, (a, b), count in zip(first.tolist(), places, lefts.tolist(), strict=True):
            known[left], known[left + 1] = (a, a + count), (a + count, b)
        grown.append(replace(sprout, rows=rows, places=known))
        found.append(histograms)
    return grown, Whole(found)


def added(
    part: Part,
    work: Work,
    ways: list[tuple[Array, ...]],
    values: list[Array],
    n_bins: Array,
    loss: Loss,
    parameter: float,
) -> tuple[Work, Keyed]:
    """The raw sums with the trees of a round; what the next round's units need, and the weights of the leaves."""
    leaves = [_boost.leaves_of(part.codes, n_bins, *way) for way in ways]
    raw = np.stack([old + value[leaf] for old, value, leaf in zip(work.raw, values, leaves, strict=True)])
    after = replace(work, raw=raw)
    stats = Keyed(tops=extents(part, after, loss, parameter))
    if len(work.w):
        rows, first = work.group == DRAWN, np.cumsum([0, *map(len, values)])
        leaf = np.concatenate([one[rows] + at for one, at in zip(leaves, first, strict=False)]).astype(np.int32)
        stats["weights"] = Whole([_boost.exact_sums(np.tile(work.w[rows], len(values)), leaf, int(first[-1]))])
    return after, stats
