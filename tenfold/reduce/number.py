"""How many components: by their share of the variance, by evidence, against chance, or by cells that are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lgamma, log, pi

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.random import generator
from tenfold.core.stats import Keyed
from tenfold.reduce.parallel import beyond_chance, rows_for
from tenfold.reduce.table import Table
from tenfold.solve.sketch import Sample

Scatter = Callable[[Array | None], Array]

FOLDS = 5  # of rows that are left out, by the content of a row: copies of it are left out together
MOST = 200  # components that are tried
ITSELF = 1e-8  # of a column: what the components leave of it, below which no other column tells of it


def reached(values: Array, goal: float) -> int:
    """How many of the values it takes for their sum to exceed the goal."""
    return min(int(np.searchsorted(np.cumsum(values), goal, side="right")) + 1, len(values))


# --- against chance ---


def with_sample(block: Block, seed: int) -> Keyed:
    """The table, and some of its rows to be shuffled."""
    return Keyed(table=Table.of(block), rows=Sample.of(block.X, block.w, rows_for(block.width), seed))


def parallel(sample: Sample, seed: int) -> int:
    """How many leading components explain more than 95 % of tables do whose columns are shuffled against one another (Horn 1965)."""
    wanted = min(sample.k, max(round(float(sample.weight.sum())), 2))
    steps = np.cumsum(sample.weight) / sample.weight.sum()  # each row as often as its weight says
    rows = np.searchsorted(steps, (np.arange(wanted) + 0.5) / wanted)
    return beyond_chance(sample.rows[np.minimum(rows, len(steps) - 1)], None, generator(seed)).beyond


# --- by cells that are left out ---


def by_fold(block: Block, seed: int) -> Keyed:
    """The tables of the folds."""
    fold = ops.hash_rows(block.X, seed) % np.uint64(FOLDS)
    rows = {i: np.flatnonzero(fold == i) for i in range(FOLDS)}
    return Keyed({i: Table.of(block.take(some)) for i, some in rows.items() if len(some)})


def by_cells(folds: Sequence[Table], p: int) -> int:
    """The number of components that tell cells of new rows best, each from all other cells of its row; 0: the mean does.

    With P = V Vᵀ of the rows of the other folds and e = (I − P)(x − m), a cell that is left out is missed by eⱼ / (1 − Pⱼⱼ): no row
    is projected again, and sums of squares of e follow from the moments of the fold. Reference: Bro, Kjeldahl, Smilde & Kiers 2008.
    """
    most = min(MOST, p - 1, *(int(sum(one.weight for one in folds) - fold.weight) - 1 for fold in folds))
    if most < 1 or len(folds) < 2:
        return 0
    return int(np.argmin(sum(_missed(folds, i, most) for i in range(len(folds)))))


def _missed(folds: Sequence[Table], i: int, most: int) -> Array:
    """Σ w of squared errors over the cells of fold i, with 0, ..., most components of the other folds."""
    rest = [fold for j, fold in enumerate(folds) if j != i]
    others = rest[0]
    for one in rest[1:]:
        others = others + one
    others = Table(others.moments, others.rows)
    others.gather()
    axes, S = others.spectrum(most, most).axes[:most], _about(folds[i], others.mean)
    SV = S(axes)  # (p, k)
    inner, leverage = axes @ SV, np.zeros(axes.shape[1])
    squares = S(None)
    left, missed = squares.copy(), [float(squares.sum())]
    for k, axis in enumerate(axes):  # left: the diagonal of (I − P) S (I − P)
        left += -2 * axis * SV[:, k] + 2 * axis * (inner[k, :k] @ axes[:k]) + inner[k, k] * axis**2
        leverage += axis**2
        alone = 1 - leverage < ITSELF
        missed.append(float(np.where(alone, squares, left / np.where(alone, 1.0, 1 - leverage) ** 2).sum()))
    return np.maximum(missed, 0.0)


def _about(fold: Table, mean: Array) -> Scatter:
    """axes -> S axesᵀ for the scatter S of a fold about a mean that is not its own; None -> its diagonal."""
    fold = Table(fold.moments, fold.rows)
    fold.gather()
    if fold.moments is None:
        X, w = fold.rows[0]
        rows = (X - mean) * np.sqrt(w)[:, None]
        return lambda axes: (rows * rows).sum(axis=0) if axes is None else rows.T @ (rows @ axes.T)
    S, apart = fold.as_moments().scatter, np.sqrt(fold.weight) * (fold.mean - mean)
    return lambda axes: np.diagonal(S) + apart**2 if axes is None else S @ axes.T + np.outer(apart, axes @ apart)


# --- by evidence ---


def minka(spectrum: Array, n: float) -> int:
    """The number of components with the largest evidence (Minka 2000, equation 30), from 1 to p − 1.

    log p(D | k) ≈ log p(U) − n/2 Σ log λᵢ − n (p − k)/2 log v + (m + k)/2 log 2π − ½ log |A| − k/2 log n
    with m = pk − k(k + 1)/2, v the mean of the eigenvalues left out, and
    log |A| = Σ over i ≤ k, j > i of log(λᵢ − λⱼ) + log(1/λ̂ⱼ − 1/λ̂ᵢ) + log n,
    where λ̂ is λ with v in place of what is left out.
    """
    p = len(spectrum)
    tiny = np.finfo(float).eps * spectrum[0]
    gaps = np.log(np.maximum(spectrum[:, None] - spectrum, tiny * np.finfo(float).eps))
    logs = np.log(np.maximum(spectrum, tiny))
    above = np.triu(gaps, 1)
    best, chosen = -np.inf, 0
    log_prior = 0.0
    for k in range(1, p):
        half = (p - k + 1) / 2
        log_prior += lgamma(half) - log(pi) * half - log(2)
        if spectrum[k - 1] <= tiny:
            break
        v = max(float(spectrum[k:].sum()) / (p - k), tiny)
        m = p * k - k * (k + 1) / 2
        inner = (
            above[:k, :k].sum() - (k - 1) * logs[:k].sum()
        )  # both of the pair kept: log(1/λⱼ − 1/λᵢ) = gap − log λᵢ − log λⱼ
        outer = (p - k) * np.log(np.maximum(1 / v - 1 / spectrum[:k], tiny * np.finfo(float).eps)).sum()
        determinant = above[:k].sum() + inner + outer + m * log(n)
        evidence = (
            log_prior
            - n / 2 * logs[:k].sum()
            - n * (p - k) / 2 * log(v)
            + (m + k) / 2 * log(2 * pi)
            - determinant / 2
            - k / 2 * log(n)
        )
        if evidence > best:
            best, chosen = evidence, k
    return chosen
