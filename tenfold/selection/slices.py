"""Where a model fails: groups of rows whose held-out loss is larger than that of the others, beyond chance.

Each level of a category, each fifth of a number and each gap is a group. One is named if its mean loss exceeds that of the
other rows in Welch's test, one-sided, after the control of the false discovery rate over all groups (Benjamini & Hochberg 1995).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import stdtr

from tenfold.core.data import Array

LEAST_ROWS = 15  # of a group
LEAST_SHARE = 0.01
MOST_LEVELS = 30  # of a category, the most frequent
PARTS = 5  # of a number
RATE = 0.05  # of the groups that are named, the share expected to be no worse than the others
MOST_SLICES = 20


def slices_of(X: Array, names: list[str], categories: list[Array | None], losses: Array) -> dict[str, Any]:
    """Groups with larger losses, worst first; X has codes where there are categories, NaN for missing."""
    least = max(LEAST_ROWS, int(LEAST_SHARE * len(losses)))
    groups = [
        (names[j], label, where)
        for j in range(X.shape[1])
        for label, where in groups_of(X[:, j], categories[j])
        if least <= where.sum() <= len(losses) - LEAST_ROWS
    ]
    p = np.array([_chance(losses[where], losses[~where]) for _, _, where in groups])
    worse: list[dict[str, Any]] = [
        dict(
            column=groups[i][0],
            group=groups[i][1],
            rows=int(groups[i][2].sum()),
            loss=float(losses[groups[i][2]].mean()),
            p=float(p[i]),
        )
        for i in _discovered(p, RATE)
    ]
    worse.sort(key=lambda one: -one["loss"])
    return dict(groups=len(groups), least=least, mean=float(losses.mean()), worse=worse[:MOST_SLICES], found=len(worse))


def groups_of(column: Array, levels: Array | None) -> Iterator[tuple[str, Array]]:
    """Groups of rows by one column, in words."""
    missing = np.isnan(column)
    if missing.any():
        yield "missing", missing
    if levels is not None:
        codes, counts = np.unique(column[~missing].astype(np.int64), return_counts=True)
        for code in codes[np.argsort(-counts, kind="stable")][:MOST_LEVELS]:
            yield level_name(levels, code), column == code
        return
    values = column[~missing]
    if not len(values):
        return
    ends = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS, method="inverted_cdf"))
    low = -np.inf
    for end in (*ends.tolist(), np.inf):
        where = (column > low) & (column <= end)
        if where.any():
            inside = column[where]
            yield _span(float(inside.min()), float(inside.max())), where
        low = end


def level_name(levels: Array, code: Any) -> str:
    return str(levels[int(code)]) if 0 <= int(code) < len(levels) else "other"


def _span(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _chance(inside: Array, outside: Array) -> float:
    """How likely a mean as large is by chance: Welch's test, one-sided."""
    v, u = inside.var(ddof=1) / len(inside), outside.var(ddof=1) / len(outside)
    gap = inside.mean() - outside.mean()
    if not v + u > 0:
        return 1.0 if gap <= 0 else 0.0
    free = (v + u) ** 2 / (v**2 / (len(inside) - 1) + u**2 / (len(outside) - 1))
    return float(stdtr(free, -gap / np.sqrt(v + u)))


def _discovered(p: Array, rate: float) -> list[int]:
    """The hypotheses that are rejected at this false discovery rate."""
    if not len(p):
        return []
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    return [int(i) for i in order[: below[-1] + 1]] if len(below) else []
