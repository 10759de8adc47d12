"""Of columns that say nearly the same, one is kept."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.features.selector import Selector

EPS = float(np.finfo(float).eps)


@estimator
class CorrelationFilter(Selector, OnePass):
    """CorrelationFilter: of each pair of columns that are correlated above a threshold, drops one, and tells which and why.

    Model       x ↦ (x_j : |r_ij| ≤ threshold for every column i kept before it)
    Objective   r_ij = Σ w (x_i − m_i)(x_j − m_j) / √(Σ w (x_i − m_i)² Σ w (x_j − m_j)²)
    Algorithm   columns are visited in their order (keep="first"), or those more correlated with y first (keep="target"; for classes
                the correlation ratio √(SS between / SS)), and kept unless one kept before is too near; a constant has no correlation
    Cost        O(n p²) time, O(p²) memory, one pass; merging O(p²)
    Fails when  columns depend on one another in threes: no pair shows it; they are related along a curve
    Reference   Hall 1999

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.arange(6.0)
    >>> X = np.column_stack([x, 2 * x + 1, [1, 0, 1, 0, 0, 1]])
    >>> chosen = tenfold.CorrelationFilter().fit(X)
    >>> chosen.get_support().tolist(), chosen.dropped_
    ([True, False, True], {'x1': 'correlation 1 with x0'})
    """

    support_: Array = learned("bool(p)", "which columns are kept")
    nearest_: Array = learned("int(p)", "place of the column because of which one is dropped; −1 for those that are kept")
    correlations_: Array = learned("float(p,p)", "correlations of all pairs of columns; 0 for a constant")
    relevance_: Any = learned("float(p)|none", "correlation of each column with y, without its sign; None with keep='first'")
    stats_: Any = learned("Moments(m)", "the moments: for partial_fit, merge and forget", optional=True)

    threshold: float = param(default=0.95, at_least=0, at_most=1, doc="pairs of a correlation above it, of either sign, are not both kept")
    _: KW_ONLY
    keep: str = param(default="first", one_of=("first", "target"), doc="the earlier of a pair, or the one more correlated with y")

    sparse: ClassVar[bool] = True
    summary_reads: ClassVar[tuple[str, ...] | None] = ("keep",)
    exempt: ClassVar[dict[str, str]] = {"column_order": "of a pair the earlier column is kept"}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"threshold": 0.3}, {"threshold": 0.3, "keep": "target"}]

    @property
    def target(self) -> str:
        return str(vars(self).get("_given", "real")) if self._by_target else "none"

    @property
    def _by_target(self) -> bool:
        return isinstance(self.keep, str) and self.keep == "target"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn which columns to keep; y, numbers or classes, is asked for with keep="target"."""
        text = y is not None and not isinstance(y, str) and np.asarray(y).dtype.kind in "OUSb" and not check.elsewhere(X)
        if text:
            vars(self)["_given"] = "label"
        try:
            return super().fit(X, y, sample_weight)
        finally:
            vars(self).pop("_given", None)

    def _summarize(self, block: Block) -> Moments:
        y = block.y if self._by_target else np.empty((len(block), 0))
        if y.ndim == 1:  # codes of classes: an indicator of each
            y = (y[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        return Moments.of(ops.dense(block.X), y, block.w)

    def _solve(self, stats: Moments) -> dict[str, Any]:
        p = self.n_features_in_
        squares = np.diagonal(stats.scatter).copy()
        squares[squares <= stats.weight * (4 * EPS * stats.mean) ** 2] = 0.0  # what is left of a constant
        length = np.sqrt(squares)
        scale = np.where(length > 0, length, np.inf)
        r = np.clip(stats.scatter[:p, :p] / scale[:p, None] / scale[:p], -1.0, 1.0)
        relevance = None
        if self._by_target:
            with_y = stats.scatter[:p, p:] / scale[:p, None]
            classes = "classes_" in vars(self) and "_flat" not in vars(self)
            parts = np.sqrt(stats.weight * stats.mean[p:]) if classes else scale[p:]
            relevance = np.sqrt(np.minimum((np.divide(with_y, parts, where=parts > 0, out=np.zeros_like(with_y)) ** 2).sum(axis=1), 1.0))
        order = np.arange(p) if relevance is None else np.argsort(-relevance, kind="stable")
        kept, nearest = np.zeros(p, dtype=bool), np.full(p, -1)
        for j in order:
            near = np.where(kept, np.abs(r[j]), 0.0)
            kept[j] = near.max(initial=0.0) <= self.threshold
            nearest[j] = -1 if kept[j] else near.argmax()
        return dict(support_=kept, nearest_=nearest, correlations_=r, relevance_=relevance)

    @property
    def dropped_(self) -> dict[str, str]:
        """Why each of the columns that are not kept is dropped, by its name."""
        check.check_fitted(self)
        names = vars(self).get("feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return {str(names[j]): self._reason(int(j), int(self.nearest_[j]), names) for j in np.flatnonzero(~self.support_)}

    def _reason(self, j: int, i: int, names: Any) -> str:
        text = f"correlation {self.correlations_[j, i]:.3g} with {names[i]}"
        if self.relevance_ is None:
            return text
        return f"{text}, which is more correlated with y ({self.relevance_[i]:.3g}, not {self.relevance_[j]:.3g})"

    def _objection(self) -> str | None:
        wrong = (self.nearest_ >= self.n_features_in_).any() or ((self.nearest_ < 0) != self.support_).any()
        return "columns are dropped because of columns that there are not" if wrong else None

    def _mask(self) -> Array:
        return self.support_
