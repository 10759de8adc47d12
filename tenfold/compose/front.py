"""The front of a pipeline whose transformers map column by column, and what lies behind it, from moments of the rows before it.

A row is written as e = [x with an anchor c for what is missing, q], q = 1 where a column with gaps is missing. That does not depend
on any fit. Filling with v, shifting by m and scaling by s are then one affine map,

    z = ((x + (v − c) q) − m) / s,

so the moments of z follow from those of e: of every training set by merging, without another look at the rows. The least and the largest
values go the same way where a step asks for them; a selector of columns whose scores follow from the moments keeps a part of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.columns import ColumnSums
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays, Block
from tenfold.core.stats import Counts, Moments, Spread, Stats
from tenfold.prepare.scaler import Extremes
from tenfold.solve.few_rows import are_few

SOME = 1000  # rows whose median is near the values of a column


@dataclass(slots=True)
class Ahead(Stats):
    """What is summed over rows before the front."""

    moments: Moments
    ends: Extremes | None  # where a step asks for them


@dataclass(frozen=True)
class Front:
    """Transformers `by_column` before a learner of one pass, on rows of this source."""

    steps: list[Any]
    facts: dict[str, Any]  # of the columns
    width: int
    groups: int  # classes, or 0 where the target is a number and joins the moments
    gaps: Array  # columns where something is missing
    anchor: Array  # a number near the values of each of them

    @classmethod
    def of(cls, steps: list[Any], source: Any) -> Front | None:
        """None where a step is none of the kind, or the rows are no dense table in memory, or fewer than their columns."""
        if not isinstance(source, Arrays) or not isinstance(source.X, np.ndarray) or source.target.kind == "none":
            return None
        X = source.X
        if not all(step.role == "transformer" and step.by_column for step in steps) or are_few(len(X), X.shape[1]):
            return None
        with np.errstate(invalid="ignore"):
            gaps = np.flatnonzero(np.isnan(X.sum(axis=0))) if source.missing else np.empty(0, dtype=np.int64)
        if np.isnan(X[:, gaps]).all(axis=0).any():
            return None  # a column without any value is dropped: no map of the others
        anchor = np.array([_near(X[:, j]) for j in gaps], dtype=np.float64)
        classes = source.target.classes
        facts = {name: fact for name, fact in source.facts.items() if name in ("n_features_in_", "feature_names_in_", "classes_")}
        return cls(steps, facts, X.shape[1], 0 if classes is None else len(classes), gaps, anchor)

    @property
    def size(self) -> int:
        """Bytes of the moments of one set of rows."""
        return 8 * max(self.groups, 1) * (self.width + len(self.gaps) + 1) ** 2

    def dropped(self, total: Ahead, behind: Moments) -> int:
        """How many columns selectors have left out."""
        return int(total.moments.center.shape[-1] - len(self.gaps) - behind.center.shape[-1])

    @property
    def by_ends(self) -> bool:
        return any(step.by_ends for step in self.steps)

    def summarize(self, block: Block) -> Ahead:
        """Moments of [e y], or of e class by class."""
        e = block.X
        if len(self.gaps):
            missing = np.isnan(e[:, self.gaps])
            e = np.concatenate([e, missing], axis=1, dtype=np.float64)
            e[:, self.gaps] = np.where(missing, self.anchor, e[:, self.gaps])
        moments = Moments.by_group(e, block.y, block.w, self.groups) if self.groups else Moments.of(e, block.y, block.w)
        return Ahead(moments, Extremes.of(block) if self.by_ends else None)

    def solve(self, total: Ahead) -> tuple[list[Any], Moments] | None:
        """The fitted transformers for rows of these sums, and the moments behind them; None where no map by columns does it."""
        moments, gaps, width, facts = total.moments, len(self.gaps), self.width, self.facts
        low, high = (None, None) if total.ends is None else (total.ends.low, total.ends.high)
        columns, fitted = self._columns(moments), list[Any]()
        missing = self._missing(columns)
        for step in self.steps:
            one = fresh(step)
            vars(one).update(facts if one.target == "label" else {name: fact for name, fact in facts.items() if name != "classes_"})
            stats = one._from_columns(ColumnSums(self._present(columns, missing, width), missing, low, high, moments, self.groups))
            if stats is None:
                return None
            one = one._fitted_copy(one._solve(stats))
            fill, shift, scale = one._column_map()
            if gaps:
                if fill is None or np.isnan(fill[self.gaps]).any():
                    return None
                moments, gaps = self._filled(moments, fill[self.gaps] - self.anchor), 0
                if low is not None and high is not None:
                    some = missing.weight > 0
                    low, high = np.where(some, np.fmin(low, fill), low), np.where(some, np.fmax(high, fill), high)
                missing = Counts(0 * missing.weight)
            moments = self._scaled(moments, shift, scale, width)
            if low is not None and high is not None:
                low, high = (low - shift) / scale, (high - shift) / scale
            if (kept := one._columns_kept()) is not None:
                if not len(kept):
                    return None  # refused where the steps are fitted one by one
                moments = self._part(moments, kept, width)
                low, high = (None if ends is None else ends[kept] for ends in (low, high))
                missing = Counts(missing.weight[kept])
                width, facts = len(kept), {**facts, "n_features_in_": len(kept)}
                facts.pop("feature_names_in_", None)
            columns = self._columns(moments)
            fitted.append(one)
        return None if gaps else (fitted, moments)

    def _part(self, moments: Moments, kept: Array, width: int) -> Moments:
        """Of some of the columns, and of the target where it stands behind them."""
        places = np.r_[kept, np.arange(width, moments.center.shape[-1])]
        parts = moments.center[..., places], moments.offset[..., places], moments.scatter[..., places[:, None], places]
        return Moments(moments.weight, *map(np.ascontiguousarray, parts))

    def _columns(self, moments: Moments) -> Spread:
        """Weight, mean and squares of each column of all rows, groups together; (columns, 1) but the weight."""
        groups = moments.spread()
        total = groups.weight.sum()
        center = groups.center[groups.weight.argmax()]
        apart = (groups.center - center) + groups.offset
        offset = (groups.weight / total) @ apart
        squares = groups.scatter.sum(axis=0) + groups.weight @ (apart - offset) ** 2
        return Spread(np.full(len(center), total), center[:, None], offset[:, None], squares[:, None])

    def _missing(self, columns: Spread) -> Counts:
        """The weight of what is missing in each column of the table."""
        weight = np.zeros(self.width)
        share = columns.mean[self.width : self.width + len(self.gaps), 0]
        weight[self.gaps] = np.round(columns.weight[0] * share, 9)
        return Counts(weight)

    def _present(self, columns: Spread, missing: Counts, p: int) -> Spread:
        """The same of the values that are there alone: what is missing counted as the anchor."""
        J = self.gaps
        weight, center, offset, squares = (
            part[:p].copy() for part in (columns.weight, columns.center, columns.offset, columns.scatter)
        )
        if missing.weight.any():
            total = columns.weight[0]
            weight -= missing.weight
            here = np.where(weight[J] > 0, weight[J], 1.0)[:, None]
            apart = (center[J] - self.anchor[:, None]) + offset[J]  # of all rows from the anchor
            squares[J] = np.maximum(squares[J] + total * apart**2 * (1 - total / here), 0.0)
            center[J], offset[J] = self.anchor[:, None], apart * total / here
        return Spread(weight, center, offset, squares)

    def _filled(self, moments: Moments, more: Array) -> Moments:
        """Of [x + more q, y], from those of [x, q, y]."""
        p, J, Q = self.width, self.gaps, np.arange(self.width, self.width + len(self.gaps))
        center, offset, S = moments.center.copy(), moments.offset.copy(), moments.scatter.copy()
        center[..., J] += more * center[..., Q]
        offset[..., J] += more * offset[..., Q]
        S[..., :, J] += more * S[..., :, Q]
        S[..., J, :] += more[:, None] * S[..., Q, :]
        kept = np.r_[np.arange(p), np.arange(p + len(J), center.shape[-1])]
        parts = center[..., kept], offset[..., kept], S[..., kept[:, None], kept]
        return Moments(moments.weight, *map(np.ascontiguousarray, parts))

    def _scaled(self, moments: Moments, shift: Any, scale: Any, width: int) -> Moments:
        """Of [(x − shift) / scale, y]."""
        every = moments.center.shape[-1]
        m, s = np.zeros(every), np.ones(every)
        m[:width], s[:width] = shift, scale
        return Moments(
            moments.weight,
            (moments.center - m) / s,
            moments.offset / s,
            np.ascontiguousarray(moments.scatter / s / s[:, None]),
        )


def _near(column: Array) -> float:
    """A number near most of the values there are, whatever a few rows hold: those of a test fold must not cost digits of the others."""
    some = column[:: max(1, len(column) // SOME)]
    some = some if not np.isnan(some).all() else column
    return float(np.nanmedian(some))
