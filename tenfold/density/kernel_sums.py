"""Sums of kernels over the rows of a density: fast ones for Euclidean distances, and by all distances for other metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from tenfold._summation import KernelSums
from tenfold.core.data import Array
from tenfold.core.engine import each, lent_threads
from tenfold.core.errors import BadInput
from tenfold.density.kernel_shapes import KernelShape
from tenfold.near.measures import Measure
from tenfold.near.pairs import distances

POINTS = 512  # at a time
PAIRS = 1 << 20  # distances at a time, of metrics without fast sums
FAST = ("euclidean", "seuclidean", "mahalanobis")  # Euclidean distances of changed rows
FARTHEST = 1e150  # bandwidths: beyond, squares would not be finite
NO_ROWS, NO_WEIGHTS = np.empty(0, dtype=np.int64), np.empty(0)


def sums_of(measure: Measure, rows: Array, w: Array, h: Any, shape: KernelShape, rtol: float) -> Any:
    """What sums kernels over weighted rows."""
    return FastSums(measure, rows, w, h, shape, rtol) if measure.name in FAST else AllPairs(measure, rows, w, h, shape)


class FastSums:
    """Sums for Euclidean distances, by the tree."""

    def __init__(self, measure: Measure, rows: Array, w: Array, h: Any, shape: KernelShape, rtol: float) -> None:
        self.measure, self.h = measure, h
        self.center = measure.rows(rows, False).mean(axis=0)  # so that large values keep their digits in bandwidths
        scaled = self._scaled(rows)
        if np.abs(scaled).max() >= FARTHEST:
            least = float(np.min(h))
            raise BadInput(f"KernelDensity: rows are {FARTHEST:g} bandwidths (of {least:.3g}) apart: give a larger bandwidth, or rescale X")
        with lent_threads() as threads:
            self.sums = KernelSums(scaled, w, shape.number, rtol, threads)

    def _scaled(self, X: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(((self.measure.rows(X, False) - self.center) / self.h).clip(-FARTHEST, FARTHEST))

    def log_sums(self, X: Array, absolute: float) -> Array:
        return self._by_parts(self._scaled(X), NO_ROWS, NO_WEIGHTS, absolute)

    def left_out(self, rows: Array, w: Array, asked: Array) -> Array:
        """log of the mean of kernels around some rows, each without one copy of itself."""
        taken = np.minimum(w, 1.0)[asked]
        return np.asarray(self._by_parts(self._scaled(rows[asked]), asked, taken, 0.0) - np.log(w.sum() - taken))

    def _by_parts(self, Z: Array, own: Array, taken: Array, absolute: float) -> Array:
        """Some points that lie together at a time, on all threads; so it also hears of an interrupt."""
        if len(Z) <= POINTS:
            return self.sums.log_sums(Z, own, taken, absolute)
        order, found = self.sums.order(Z), np.empty(len(Z))

        def some(start: int) -> None:
            part = order[start : start + POINTS]
            found[part] = self.sums.log_sums(Z[part], own[part] if len(own) else own, taken[part] if len(own) else taken, absolute)

        each(some, list(range(0, len(Z), POINTS)))
        return found


class AllPairs:
    """Sums for any other metric, by all distances."""

    def __init__(self, measure: Measure, rows: Array, w: Array, h: float, shape: KernelShape) -> None:
        self.measure, self.rows, self.log_w, self.h, self.shape = measure, rows, np.log(w), h, shape

    def _logs(self, X: Array) -> Array:
        return self.shape.log_at(distances(self.measure, X, self.rows) / self.h) + self.log_w

    def log_sums(self, X: Array, absolute: float) -> Array:
        step = max(1, PAIRS // len(self.rows))
        parts = each(lambda start: _log_sum(self._logs(X[start : start + step])), list(range(0, len(X), step)))
        return np.concatenate(parts) if parts else np.empty(0)

    def left_out(self, rows: Array, w: Array, asked: Array) -> Array:
        taken = np.minimum(w, 1.0)[asked]
        step = max(1, PAIRS // len(self.rows))

        def some(start: int) -> Array:
            own = asked[start : start + step]
            logs = self._logs(rows[own])
            with np.errstate(divide="ignore"):
                logs[np.arange(len(own)), own] = self.shape.log_at(np.zeros(1)) + np.log(w[own] - np.minimum(w[own], 1.0))
            return _log_sum(logs)

        parts = each(some, list(range(0, len(asked), step)))
        return np.asarray(np.concatenate(parts) - np.log(w.sum() - taken))


def _log_sum(logs: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(logsumexp(logs, axis=1))
