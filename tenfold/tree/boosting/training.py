"""The rows of a boosted fit as a whole: what must be known of all of them before the first round."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from tenfold.core.data import Array, Source
from tenfold.core.learning import Learner, Reside
from tenfold.core.resident import Resident
from tenfold.tree.bins import Bins
from tenfold.tree.boosting import rows as parts
from tenfold.tree.boosting.losses import Loss, priors, weighted_quantile
from tenfold.tree.structure.arrays import Trees

FEW_BYTES = (
    1 << 26
)  # of coded rows: up to this many come here, because a question to the workers takes longer than the work


class Training:
    """The training rows, in this process or on a cluster."""

    def __init__(self, rows: Resident) -> None:
        self.rows, facts = rows, rows.ask(parts.facts_of).parts
        self.lengths = [n for n, _, _, _ in facts]
        self.weighted = any(weighted for _, weighted, _, _ in facts)
        self.lowest, self.highest = min(low for _, _, low, _ in facts), max(high for _, _, _, high in facts)
        self.key = np.empty(0, dtype=np.uint64)  # of the rows that are not held out, where rows are drawn
        self.n_held = 0

    def __len__(self) -> int:
        return sum(self.lengths)

    @property
    def here(self) -> bool:
        return self.rows.here

    def class_weights(self, classes: int) -> Array:
        """Σ w of each class."""
        weights: Array = self.rows.ask(parts.class_weights_of, classes).values()
        return weights

    def weigh(self, factors: Array | None) -> None:
        """Fixes the weights: those given, times the factor of the row's class."""
        self.weighted = self.weighted or factors is not None
        self.rows.change("work", parts.weighed, self.weighted, factors)

    def weight(self) -> float:
        """Σ w."""
        return float(
            self.rows.ask(parts.weights_of, of=("kept", "work")).values().sum() if self.weighted else len(self)
        )

    def mark(self, share: float | None, classes: int) -> None:
        """Gives each row a key; with a share, holds out that part of the rows (of each class), those with the smallest keys."""
        found = self.rows.ask(parts.hashes_of, bool(classes), of=("kept", "work")).parts
        hash = np.concatenate([one for one, _, _ in found])
        key = numbered(hash, np.concatenate([w for _, w, _ in found]))
        cuts = None
        if share is not None:
            label = np.concatenate([y for _, _, y in found]) if classes else np.zeros(len(key), dtype=np.int32)
            cuts = np.array([_cut(key[label == k], share) for k in range(max(classes, 1))], dtype=np.uint64)
            held = key < cuts[label]
            self.n_held, self.key = int(held.sum()), key[~held]
        else:
            self.key = key
        ends = np.cumsum([0, *self.lengths])
        own = [_copies(hash[a:b], key[a:b]) for a, b in pairwise(ends)]
        self.rows.change("work", parts.marked, cuts, of=("kept", "work"), own=own)

    def draw(self, number: int, share: float) -> None:
        """Draws a share of the training rows for a round, by a hash of their content and the number of the round."""
        key = parts.mixed(self.key, number)
        count = max(1, int(share * len(key)))
        self.rows.change("work", parts.drawn, number, int(np.partition(key, count - 1)[count - 1]), of=("work",))

    def gathered(self) -> tuple[Array, Array, Array | None]:
        """Which rows are not held out, their targets and weights; where the rows are here."""
        part, work = self.rows.states["kept"], self.rows.states["work"]
        train = work.group != parts.HELD
        return train, part.y[train], work.w[train] if self.weighted else None

    def add(self, raw: Array) -> None:
        """Adds to what the rounds begin with, (outputs, n); where the rows are here."""
        part = self.rows.states["kept"]
        part.earlier = raw if part.earlier is None else part.earlier + raw

    def start(self, loss: Loss, parameter: float, outputs: int) -> Array:
        """(outputs,) the constant to begin with, from the rows that are not held out."""
        if loss.renews:
            _, y, w = self.gathered()
            return np.array([weighted_quantile(y, w, parameter if loss.name == "quantile" else 0.5)])
        sums = self.rows.ask(parts.targets_of, outputs if outputs > 1 else 0, of=("kept", "work")).values()
        return priors(sums) if outputs > 1 else np.array([loss.start(float(sums[1] / sums[0]))])


def training_rows(
    source: Source, bins: Bins, hashed: int | None, trees: Trees | None, outputs: int, gather: bool
) -> Learner[Training]:
    """One pass: each row as codes. They stay on the workers where blocks live on a cluster, unless they are few or to be gathered."""
    code = partial(parts.coded, bins=bins, hashed=hashed, trees=trees, outputs=outputs)
    few = source.n_rows is not None and source.n_rows * bins.row_bytes <= FEW_BYTES
    return Training((yield Reside(code, parts.joined, here=gather or few)))


def numbered(hash: Array, w: Array) -> Array:
    """A key for each row: its hash; copies are numbered, so that they are drawn one by one."""
    order = np.argsort(hash, kind="stable") if not len(w) else np.lexsort((w, hash))
    new = np.concatenate([[True], hash[order[1:]] != hash[order[:-1]]])
    number = np.arange(len(hash)) - np.maximum.accumulate(np.where(new, np.arange(len(hash)), 0))
    keys = np.empty_like(hash)
    keys[order] = hash[order] ^ parts.copy_keys(number.astype(np.float64))
    return keys


def _copies(hash: Array, key: Array) -> tuple[Array, Array]:
    """The rows whose key is not that of a first copy, and their keys."""
    rows = np.flatnonzero(key != parts.first_keys(hash))
    return rows, key[rows]


def _cut(key: Array, share: float) -> int:
    """The key below which there is the share of the keys; at least one is below it and one is not, where there are two."""
    count = max(min(max(1, round(share * len(key))), len(key) - 1), 0)
    return 0 if count == 0 else int(np.partition(key, count)[count])
