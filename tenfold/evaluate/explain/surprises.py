"""Which cells make a row unusual: what each of them costs in log density, and what the others would lead one to expect there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

from tenfold.core.data import Array

COVERAGE = 0.8  # of the range that is expected
TELLING = 1.0  # a cell that costs less is not worth a word
HALVINGS, STEPS = 60, 30
CELLS = 1 << 21  # of rows with replaced cells that are scored at once
FINE = 24  # values between those that a range begins and ends at


@dataclass(frozen=True)
class Surprises:
    """What makes rows unusual, cell by cell.

    gain       (n, p) how much log density (or score) the row gains where the cell has the value that fits the others best; 0 or more
    low, high  (n, p) the range that the others lead to expect there, four times in five
    """

    names: Sequence[str]
    values: Array
    gain: Array
    low: Array
    high: Array

    def columns(self, row: int, most: int = 3) -> list[int]:
        """The columns that make a row unusual, the worst first; the worst in any case."""
        order = np.argsort(-self.gain[row], kind="stable")[:most]
        return [int(j) for j in order if self.gain[row, j] >= TELLING or j == order[0]]

    def words(self, row: int, most: int = 3) -> list[str]:
        """The same as sentences."""
        return [
            expected_words(self.names[j], number(self.values[row, j]), number(self.low[row, j]), number(self.high[row, j]))
            for j in self.columns(row, most)
        ]


def expected_words(name: str, value: str, low: str, high: str, between: str = "to") -> str:
    """What stands in a cell, and what the others lead to expect."""
    expected = f"{low} was" if low == high else f"{low} {between} {high} were"
    return f"{name} {value} where {expected} expected given the others"


def number(value: float) -> str:
    """Four digits, or a whole number."""
    return f"{value:.4g}" if not 1e4 <= abs(value) < 1e15 else f"{value:,.0f}"


def of_gaussians(log_shares: Array, means: Array, precisions: Array, X: Array, names: Sequence[str]) -> Surprises:
    """Exact, for a sum of Gaussians. Of one of them, with precision P, the cell j given the others is a Gaussian with mean
    x_j − (P (x − m))_j / P_jj and variance 1 / P_jj, and the density of the others that of the row without the part that j adds; these
    densities are the shares of the Gaussians that the cell then comes from. precisions: (k, p, p), or (k, p) of diagonal ones.
    """
    apart = X[None] - means[:, None]  # (k, n, p)
    full = precisions.ndim == 3
    pull = apart @ precisions if full else apart * precisions[:, None]
    diagonal = np.diagonal(precisions, axis1=1, axis2=2) if full else precisions
    log_det = np.linalg.slogdet(precisions)[1] if full else np.log(precisions).sum(axis=1)
    joint = (log_shares + 0.5 * log_det)[:, None] - 0.5 * (apart * pull).sum(axis=2)  # but for a constant
    height = 0.5 * np.log(diagonal)[:, None]
    others = joint[:, :, None] + 0.5 * pull**2 / diagonal[:, None] - height
    center, root = X - pull / diagonal[:, None], np.sqrt(diagonal)[:, None]
    best = np.max([_mode(one, others + height, center, diagonal[:, None]) for one in center], axis=0)
    gain = np.maximum(best - logsumexp(joint, axis=0)[:, None], 0.0)
    shares = np.exp(others - logsumexp(others, axis=0))
    ends = [_quantile(share, shares, center, root) for share in ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)]
    return Surprises(names, X, gain, *ends)


def _mode(start: Array, heights: Array, center: Array, precision: Array) -> Array:
    """The largest log density of a sum of Gaussians of one column that is reached from a start, by steps that never fall."""
    for step in range(STEPS + 1):
        logs = heights - 0.5 * precision * (start - center) ** 2
        if step < STEPS and len(center) > 1:
            pull = np.exp(logs - logs.max(axis=0)) * precision
            start = (pull * center).sum(axis=0) / pull.sum(axis=0)
    return np.asarray(logsumexp(logs, axis=0))


def _quantile(share: float, shares: Array, center: Array, root: Array) -> Array:
    """Of sums of Gaussians of one column each (k, n, p), by halving."""
    low, high = (center - 10 / root).min(axis=0), (center + 10 / root).max(axis=0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        below = (shares * ndtr((middle - center) * root)).sum(axis=0) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(0.5 * (low + high))


def of_any(score: Callable[[Array], Array], X: Array, choices: Array, names: Sequence[str], log_density: bool) -> Surprises:
    """For any score: the cell gets other values, those of the column `choices[:, j]`, in rising order; then finer ones where it matters.

    A log density makes the cell's law given the others of them. Of other scores the range is where half of the gain is to be had.
    """
    base = score(X)
    gain, low, high = (np.zeros(X.shape) for _ in range(3))
    for j in range(X.shape[1]):
        known = np.unique(choices[:, j])
        found = along(score, X, [j], known, known[:, None], base, log_density)
        gain[:, j], low[:, j], high[:, j] = found.gain, found.low, found.high
    gain[np.isnan(X)] = 0.0  # what is missing costs nothing
    return Surprises(names, X, gain, low, high)


@dataclass(frozen=True)
class Along:
    """Of one column of a table and each row: the gain, the ends of the expected range, and the cells (n, columns) that fit best."""

    gain: Array
    low: Array
    high: Array
    best: Array


def along(
    score: Callable[[Array], Array], X: Array, columns: Sequence[int], values: Array, cells: Array, base: Array, log_density: bool
) -> Along:
    """One column of a table, whose values (m), in rising order, are written in several columns of X as cells (m, columns): between two
    values the cells are between theirs.
    """
    at = np.broadcast_to(np.arange(len(values), dtype=np.float64), (len(X), len(values)))
    top, best = base, X[:, list(columns)]
    for fine in (False, True):
        tried = between(cells, at)
        scores = replaced_scores(score, X, columns, tried)
        better = scores.max(axis=1) > top
        best = np.where(better[:, None], tried[np.arange(len(X)), scores.argmax(axis=1)], best)
        top = np.maximum(top, scores.max(axis=1))
        places = ends_of(at, between(values[:, None], at)[:, :, 0], scores, base, log_density)
        if fine or len(values) < 3:
            break
        first, last = np.maximum(np.ceil(places[0]) - 1, 0), np.minimum(np.floor(places[1]) + 1, len(values) - 1)
        at = np.linspace(first, last, FINE, axis=1)
    low, high = (between(values[:, None], one[:, None])[:, 0, 0] for one in places)
    return Along(gains(base, top), low, high, best)


def gains(base: Array, top: Array) -> Array:
    """How much is gained; endless where what was impossible becomes possible."""
    there = np.isfinite(base)
    return np.where(there, top - np.where(there, base, 0.0), np.where(np.isfinite(top), np.inf, 0.0))


def between(cells: Array, at: Array) -> Array:
    """Rows of a table of cells (m, g) at places (n, q), which may lie between two of them: (n, q, g)."""
    low = np.floor(at).astype(np.int64)
    part = (at - low)[:, :, None]
    return np.asarray(cells[low] * (1 - part) + cells[np.minimum(low + 1, len(cells) - 1)] * part)


def replaced_scores(score: Callable[[Array], Array], X: Array, columns: Sequence[int], cells: Array) -> Array:
    """(n, m): the score of each row with its cells of these columns replaced by each of cells (n, m, columns)."""
    (n, p), m = X.shape, cells.shape[1]
    found = np.empty((n, m))
    size = max(1, CELLS // (m * p))
    for start in range(0, n, size):
        rows = np.repeat(X[start : start + size, None], m, axis=1)
        rows[:, :, list(columns)] = cells[start : start + size]
        found[start : start + size] = score(rows.reshape(-1, p)).reshape(-1, m)
    return found


def ends_of(at: Array, values: Array, scores: Array, base: Array, log_density: bool) -> tuple[Array, Array]:
    """The places where the expected range of a cell begins and ends, among those `at` (n, m), from the scores of its values there."""
    top = scores.max(axis=1, keepdims=True)
    top, edge = np.where(np.isfinite(top), top, 0.0), 0.0
    if log_density:
        width = np.gradient(values, axis=1) if values.shape[1] > 1 else np.ones(values.shape)
        weight, edge = np.exp(scores - top) * width, (1 - COVERAGE) / 2
    else:
        floor = np.where(np.isfinite(base), base, top[:, 0])[:, None]
        weight = (scores >= 0.5 * (top + floor)).astype(np.float64)
    weight[~weight.any(axis=1)] = 1.0  # no value makes the row possible: nothing is known of the cell
    total = np.cumsum(weight, axis=1)
    middle, rows = total - 0.5 * weight, np.arange(len(values))
    inside = (weight > 0) & (middle >= edge * total[:, -1:]) & (middle <= (1 - edge) * total[:, -1:])
    inside = np.where(inside.any(axis=1, keepdims=True), inside, weight == weight.max(axis=1, keepdims=True))
    return at[rows, inside.argmax(axis=1)], at[rows, inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)]
