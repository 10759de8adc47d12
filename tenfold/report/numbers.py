"""Facts about predicted numbers on held-out rows: residuals along the predictions, and their distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.selection.honest.unseen import Unseen

MOST_DOTS = 1200  # rows drawn one by one; of more, counts of cells
CELLS = 36  # on a side
BINS = 36


@dataclass(frozen=True)
class Cloud:
    """Points one by one, or the counts of cells where there are many."""

    x: Array
    y: Array
    x_edges: Array | None = None
    y_edges: Array | None = None
    counts: Array | None = None


def trimmed(values: Array, share: float = 0.001) -> tuple[float, float]:
    """A range that leaves out at most the utmost values, where they lie far away."""
    low, high = float(values.min()), float(values.max())
    inner_low, inner_high = (float(one) for one in np.quantile(values, [share, 1 - share]))
    reach = inner_high - inner_low
    return (inner_low if low < inner_low - reach else low), (inner_high if high > inner_high + reach else high)


def cloud(x: Array, y: Array, x_range: tuple[float, float], y_range: tuple[float, float]) -> Cloud:
    """What is drawn of many points."""
    inside = (x >= x_range[0]) & (x <= x_range[1]) & (y >= y_range[0]) & (y <= y_range[1])
    x, y = x[inside], y[inside]
    if len(x) <= MOST_DOTS or x_range[0] >= x_range[1] or y_range[0] >= y_range[1]:
        return Cloud(x[:MOST_DOTS], y[:MOST_DOTS])
    counts, x_edges, y_edges = np.histogram2d(x, y, CELLS, [x_range, y_range])
    return Cloud(x, y, x_edges, y_edges, counts)


def residuals(held: Unseen) -> Array:
    """Truth − prediction."""
    return np.asarray(held.truth - held.predicted)


def histogram(values: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Edges and counts, the utmost values in the first and the last column."""
    low, high = trimmed(values)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    whole = np.all(values == np.round(values)) and high - low <= 2 * bins
    edges = np.arange(np.floor(low) - 0.5, np.ceil(high) + 1) if whole else np.linspace(
        low,
        high,
        min(bins, max(6, int(2 * len(values) ** 0.4))) + 1,
    )
    counts, edges = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return edges, counts


def skew(values: Array) -> float:
    """The third standardised moment."""
    spread = values.std()
    return float((((values - values.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
