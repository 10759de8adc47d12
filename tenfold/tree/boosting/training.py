"""The rows of a boosted fit, in this process or on the workers of a cluster, and what is asked of them.

`Part` is what never changes of some rows, `Work` what the rounds change; `Training` is all of them. A question is a function of a part
and returns statistics whose merge does not depend on the order: whole numbers, exact sums, largest values, or rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import current_engine
from tenfold.core.learning import Learner, Reside
from tenfold.core.resident import Resident
from tenfold.core.stats import Rows
from tenfold.tree.bins import Bins, aligned
from tenfold.tree.boosting.exact_sums import Travels, Whole, exact_by
from tenfold.tree.boosting.losses import Loss, priors, weighted_quantile
from tenfold.tree.boosting.nodes import class_sums
from tenfold.tree.structure.arrays import Trees

DRAWN, OUTSIDE, HELD = range(3)  # groups of rows: the tree is grown on them, it could have been, they are held out
NO_WEIGHTS = np.empty(0)
FEW_BYTES = 1 << 26  # of coded rows: up to this many come here, because a question to the workers takes longer than the work


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


class Training:
    """The training rows, in this process or on a cluster."""

    def __init__(self, rows: Resident) -> None:
        self.rows, facts = rows, rows.ask(facts_of).parts
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
        weights: Array = self.rows.ask(class_weights_of, classes).values()
        return weights

    def weigh(self, factors: Array | None) -> None:
        """Fixes the weights: those given, times the factor of the row's class."""
        self.weighted = self.weighted or factors is not None
        self.rows.change("work", weighed, self.weighted, factors)

    def weight(self) -> float:
        """Σ w."""
        return float(
            self.rows.ask(weights_of, of=("kept", "work")).values().sum() if self.weighted else len(self)
        )

    def mark(self, share: float | None, classes: int) -> None:
        """Gives each row a key; with a share, holds out that part of the rows (of each class), those with the smallest keys."""
        found = self.rows.ask(hashes_of, bool(classes), of=("kept", "work")).parts
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
        self.rows.change("work", marked, cuts, of=("kept", "work"), own=own)

    def draw(self, number: int, share: float) -> None:
        """Draws a share of the training rows for a round, by a hash of their content and the number of the round."""
        key = mixed(self.key, number)
        count = max(1, int(share * len(key)))
        self.rows.change("work", drawn, number, int(np.partition(key, count - 1)[count - 1]), of=("work",))

    def gathered(self) -> tuple[Array, Array, Array | None]:
        """Which rows are not held out, their targets and weights; where the rows are here."""
        part, work = self.rows.states["kept"], self.rows.states["work"]
        train = work.group != HELD
        return train, part.y[train], work.w[train] if self.weighted else None

    def add(self, raw: Array) -> None:
        """Adds to what the rounds begin with, (outputs, n); where the rows are here."""
        part = self.rows.states["kept"]
        part.earlier = raw if part.earlier is None else part.earlier + raw

    def hold(self, given: Part) -> None:
        """Adds rows that are held out from the start, with the weights they have; where the rows are here."""
        part, work = self.rows.states["kept"], self.rows.states["work"]
        n, more = len(part), len(given)
        self.weighted = self.weighted or given.w is not None
        w = NO_WEIGHTS
        if self.weighted:
            w = np.concatenate([work.w if len(work.w) else np.ones(n), np.ones(more) if given.w is None else given.w])
        group = np.concatenate([work.group, np.full(more, HELD, dtype=np.int32)])
        key = np.concatenate([work.key, np.zeros(more, dtype=np.uint64)]) if len(work.key) else work.key
        nothing = np.empty((0, n + more))
        self.rows.states.update(kept=joined([part, given]), work=Work(w, group, key, nothing, nothing))
        self.lengths.append(more)
        self.n_held = more

    def start(self, loss: Loss, parameter: float, outputs: int) -> Array:
        """(outputs,) the constant to begin with, from the rows that are not held out."""
        if loss.renews:
            _, y, w = self.gathered()
            return np.array([weighted_quantile(y, w, parameter if loss.name == "quantile" else 0.5)])
        sums = self.rows.ask(targets_of, outputs if outputs > 1 else 0, of=("kept", "work")).values()
        return priors(sums) if outputs > 1 else np.array([loss.start(float(sums[1] / sums[0]))])


def training_rows(
    source: Source, bins: Bins, hashed: int | None, trees: Trees | None, outputs: int, gather: bool
) -> Learner[Training]:
    """One pass: each row as codes. They stay on the workers where blocks live on a cluster, unless they are few or to be gathered."""
    code = partial(coded, bins=bins, hashed=hashed, trees=trees, outputs=outputs)
    few = source.n_rows is not None and source.n_rows * bins.row_bytes <= FEW_BYTES
    return Training((yield Reside(code, joined, here=gather or few)))


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


# --- what is asked before the rounds ----------------------------------------------------------------------------------


def facts_of(part: Part) -> Rows:
    """How many rows, whether they have weights, the least target and the largest."""
    return Rows.of((len(part), part.w is not None, float(part.y.min()), float(part.y.max())))


def class_weights_of(part: Part, classes: int) -> Whole:
    return exact_by(part.y, np.ones(len(part)) if part.w is None else part.w, classes)


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


def given_rows(source: Source, bins: Bins, hashed: int | None, trees: Trees | None, outputs: int) -> Part:
    """Rows beside those of the fit, as codes, here."""
    code = partial(coded, bins=bins, hashed=hashed, trees=trees, outputs=outputs)
    parts: list[Part] = current_engine(source).run(lambda block: Rows.of(code(block)), source).parts
    return joined(parts)


def numbered(hash: Array, w: Array) -> Array:
    """A key for each row: its hash; copies are numbered, so that they are drawn one by one."""
    order = np.argsort(hash, kind="stable") if not len(w) else np.lexsort((w, hash))
    new = np.concatenate([[True], hash[order[1:]] != hash[order[:-1]]])
    number = np.arange(len(hash)) - np.maximum.accumulate(np.where(new, np.arange(len(hash)), 0))
    keys = np.empty_like(hash)
    keys[order] = hash[order] ^ copy_keys(number.astype(np.float64))
    return keys


def _copies(hash: Array, key: Array) -> tuple[Array, Array]:
    """The rows whose key is not that of a first copy, and their keys."""
    rows = np.flatnonzero(key != first_keys(hash))
    return rows, key[rows]


def _cut(key: Array, share: float) -> int:
    """The key below which there is the share of the keys; at least one is below it and one is not, where there are two."""
    count = max(min(max(1, round(share * len(key))), len(key) - 1), 0)
    return 0 if count == 0 else int(np.partition(key, count)[count])


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
