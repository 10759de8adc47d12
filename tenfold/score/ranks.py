"""Statistics of rankings: how often rows of one class score above rows of another.

    RankRows      the rows themselves: exact, in memory
    RankSketch    scores rounded until few enough are distinct: of bounded size, with a bound on its error

Both have `auc` and `curve` for a column of scores; the scores of `roc` and `precision_recall` are computed from either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.stats import Stats, merge
from tenfold.score.confusion import joined
from tenfold.score.inputs import Scores

ONE_CLASS = "Only one class is present in y_true. ROC AUC score is not defined in that case."
MOST_DISTINCT = 2**18
LEAST_DISTINCT = 2**10


class OneClass(BadInput):
    """There is no pair of rows to rank, or no row to find."""


class Bounded(NamedTuple):
    """A value and how far it may be from the exact one; one of each class where they are not averaged."""

    value: Any
    bound: Any


class Curve(NamedTuple):
    """Distinct scores from the largest down, with the weight of both classes that scores at least that."""

    thresholds: Array
    positives: Array
    negatives: Array
    rounded: bool


@dataclass(slots=True)
class RankRows(Stats):
    """Classes, and blocks of (codes of the truth, scores, weights)."""

    classes: Array
    blocks: list[tuple[Array, Array, Array | None]]

    @classmethod
    def of(cls, given: Scores) -> Self:
        return cls(given.classes, [(given.truth, given.scores, given.w)])

    def __add__(self, other: Self) -> Self:
        classes = joined(self.classes, other.classes)
        return type(self)(classes, [*self._coded_for(classes), *other._coded_for(classes)])

    def _coded_for(self, classes: Array) -> list[tuple[Array, Array, Array | None]]:
        if len(classes) == len(self.classes):
            return self.blocks
        place = np.searchsorted(classes, self.classes)
        return [(place[truth], scores, w) for truth, scores, w in self.blocks]

    @property
    def width(self) -> int:
        """Columns of scores."""
        return int(self.blocks[0][1].shape[1])

    def weights(self) -> Array:
        """Weight of each class."""
        truth, _, w = self._whole()
        return np.bincount(truth, weights=w, minlength=len(self.classes)).astype(np.float64)

    def auc(self, column: int, up: int, down: int | None = None) -> Bounded:
        """P(a row of class `up` > one of class `down`, or of any other) + ½ P(equal), by one column."""
        truth, scores, w = self._whole()
        s = np.ascontiguousarray(scores[:, column])
        if down is not None:
            rows = np.flatnonzero((truth == up) | (truth == down))
            truth, s, w = truth[rows], s[rows], None if w is None else w[rows]
        positive = truth if up == 1 and len(self.classes) == 2 else (truth == up).astype(np.int64)
        return Bounded(won_share(*ops.rank_pairs(s, positive, np.empty(0) if w is None else w)), 0.0)

    def pooled_auc(self) -> Bounded:
        """Of all columns as one: each row counts once for each class."""
        truth, scores, w = self._whole()
        k = scores.shape[1]
        positive = (truth[:, None] == np.arange(k)).astype(np.int64).reshape(-1)
        weight = np.empty(0) if w is None else np.repeat(w, k)
        return Bounded(won_share(*ops.rank_pairs(scores.reshape(-1), positive, weight)), 0.0)

    def curve(self, column: int, up: int) -> Curve:
        truth, scores, w = self._whole()
        # Sums of ones do not depend on the order of ties; sums of weights keep that of the rows.
        order = np.argsort(scores[:, column], kind=None if w is None else "stable")[::-1]
        s, positive = scores[order, column], truth[order] == up
        last = np.append(np.flatnonzero(s[1:] != s[:-1]), len(s) - 1)
        if w is None:
            above = np.cumsum(positive, dtype=np.float64)[last]
            return Curve(s[last], above, 1.0 + last - above, False)
        w = w[order]
        return Curve(s[last], np.cumsum(w * positive)[last], np.cumsum(w * ~positive)[last], False)

    def _whole(self) -> tuple[Array, Array, Array | None]:
        if len(self.blocks) > 1:
            truth, scores, w = zip(*self.blocks, strict=True)
            weights = None
            if any(one is not None for one in w):
                filled = [np.ones(len(t)) if one is None else one for t, one in zip(truth, w, strict=True)]
                weights = np.concatenate(filled)
            self.blocks = [(np.concatenate(truth), np.concatenate(scores), weights)]
        return self.blocks[0]


def won_share(positive: float, negative: float, won: float) -> float:
    """Pairs won among all pairs."""
    if not positive or not negative:
        raise OneClass(f"{ONE_CLASS[:-1]}: the truth holds rows of one class")
    return won / positive / negative


@dataclass(slots=True)
class Distinct(Stats):
    """Weight of each group at each distinct score.

    With more than `most` distinct scores, the last binary digits of all are dropped, so that near scores fall
    together. The digits dropped depend only on the rows, not on blocks or their order: more rows never need
    fewer.
    """

    key: Array  # ascending whole numbers in the order of the scores
    weight: Array  # (keys, groups)
    dropped: int
    most: int

    @classmethod
    def of(cls, s: Array, group: Array, w: Array | None, groups: int, most: int) -> Self:
        key, place = np.unique(_key_of(s), return_inverse=True)
        cell = place.reshape(-1) * groups + group
        weight = np.bincount(cell, weights=w, minlength=len(key) * groups).astype(np.float64)
        return cls(key, weight.reshape(len(key), groups), 0, most)._fitted()

    def __add__(self, other: Self) -> Self:
        most, dropped = min(self.most, other.most), max(self.dropped, other.dropped)
        one, two = self._coarser(dropped), other._coarser(dropped)
        key, place = np.unique(np.concatenate([one.key, two.key]), return_inverse=True)
        weight = np.zeros((len(key), one.weight.shape[1]))
        weight[place[: len(one.key)]] += one.weight
        weight[place[len(one.key) :]] += two.weight
        return type(self)(key, weight, dropped, most)._fitted()

    def _coarser(self, dropped: int) -> Self:
        key = self.key >> (dropped - self.dropped)
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        return type(self)(key[first], np.add.reduceat(self.weight, first), dropped, self.most)

    def _fitted(self) -> Self:
        dropped = self.dropped
        while len(self.key) > self.most:
            key = self.key
            while 1 + np.count_nonzero(key[1:] != key[:-1]) > self.most:
                dropped, key = dropped + 1, key >> 1
            self = self._coarser(dropped)
        return self

    @property
    def lows(self) -> Array:
        """The smallest score that each key stands for."""
        return _score_of(self.key << self.dropped)

    @property
    def highs(self) -> Array:
        """The largest."""
        return _score_of((self.key << self.dropped) + ((1 << self.dropped) - 1))


def _key_of(s: Array) -> Array:
    bits = (s.astype(np.float64) + 0.0).view(np.int64)
    return bits ^ (bits >> 63 & np.int64(2**63 - 1))


def _score_of(key: Array) -> Array:
    scores: Array = (key ^ (key >> 63 & np.int64(2**63 - 1))).view(np.float64)
    return scores


@dataclass(slots=True)
class RankSketch(Stats):
    """For each column of scores the weight of each class at each distinct score."""

    classes: Array
    columns: list[Distinct]

    @classmethod
    def of(cls, given: Scores, most: int = MOST_DISTINCT) -> Self:
        k, width = len(given.classes), given.scores.shape[1]
        each = max(min(most, LEAST_DISTINCT), 2 * most // max(2, width))
        columns = [Distinct.of(column, given.truth, given.w, k, each) for column in given.scores.T]
        return cls(given.classes, columns)

    def __add__(self, other: Self) -> Self:
        classes = joined(self.classes, other.classes)
        pairs = zip(self._columns_for(classes), other._columns_for(classes), strict=True)
        return type(self)(classes, [one + two for one, two in pairs])

    def _columns_for(self, classes: Array) -> list[Distinct]:
        if len(classes) == len(self.classes):
            return self.columns
        place = np.searchsorted(classes, self.classes)
        wide = [np.zeros((len(one.key), len(classes))) for one in self.columns]
        for table, one in zip(wide, self.columns, strict=True):
            table[:, place] = one.weight
        return [Distinct(one.key, table, one.dropped, one.most) for table, one in zip(wide, self.columns, strict=True)]

    @property
    def width(self) -> int:
        return len(self.columns)

    def weights(self) -> Array:
        return np.asarray(self.columns[0].weight.sum(axis=0))

    def auc(self, column: int, up: int, down: int | None = None) -> Bounded:
        one = self.columns[column]
        negative = one.weight.sum(axis=1) - one.weight[:, up] if down is None else one.weight[:, down]
        return _auc_between(one.weight[:, up], negative, one.dropped > 0)

    def pooled_auc(self) -> Bounded:
        parts = []
        for a, one in enumerate(self.columns):
            weight = np.stack([one.weight.sum(axis=1) - one.weight[:, a], one.weight[:, a]], axis=1)
            parts.append(Distinct(one.key, weight, one.dropped, one.most))
        pooled: Distinct = merge(parts)
        return _auc_between(pooled.weight[:, 1], pooled.weight[:, 0], pooled.dropped > 0)

    def curve(self, column: int, up: int) -> Curve:
        one = self.columns[column]
        weight = one.weight[::-1]
        above = np.cumsum(weight[:, up])
        return Curve(one.lows[::-1], above, np.cumsum(weight.sum(axis=1) - weight[:, up]), one.dropped > 0)


def _auc_between(positive: Array, negative: Array, rounded: bool) -> Bounded:
    """Pairs at one rounded score may be ranked either way: half of them is the bound."""
    share = won_share(positive.sum(), negative.sum(), float(positive @ (np.cumsum(negative) - negative / 2)))
    tied = positive @ negative / positive.sum() / negative.sum() if rounded else 0.0
    return Bounded(float(share), float(tied / 2))
