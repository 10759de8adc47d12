"""How likely two rows are neighbours, and where stochastic neighbour embedding starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from tenfold import _embed
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.manifold.embedding import upright
from tenfold.solve.leading import eigenpairs

SMALL = 1e-4  # spread of the first axis of a start


@dataclass(frozen=True)
class Joint:
    """Joint probabilities of pairs of rows, as rows of those that are not zero; they sum to one."""

    start: Array  # (n + 1)
    to: Array
    p: Array
    weight: Array  # of the rows, one on average

    @property
    def entropy(self) -> float:
        return float(-xlogy(self.p, self.p).sum())


def shares(away: Array, weight: Array, perplexity: float) -> Array:
    """(rows, k): how a row shares its attention among neighbours, by their distances and weights."""
    with lent_threads() as threads:
        return _embed.affinities(np.ascontiguousarray(away), np.ascontiguousarray(weight), perplexity, threads)


def joint(away: Array, near: Array, w: Array, perplexity: float) -> Joint:
    """Pᵢⱼ = (wᵢ pⱼᵢ + wⱼ pᵢⱼ) / 2 Σ w, of the nearest rows of each."""
    n, k = near.shape
    p = shares(away, w[near], perplexity) * w[:, None]
    table = csr_array((p.ravel(), near.ravel().astype(np.int32), np.arange(0, n * k + 1, k)), shape=(n, n))
    both: Any = (table + table.T).tocsr()
    both.sort_indices()
    return Joint(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data / (2 * w.sum()), w)


def principal_start(rows: Array, w: Array, k: int, rng: Any) -> Array:
    """Principal components, made small; axes that the rows do not have are drawn. Zeros where all rows are the same."""
    size = float(np.abs(rows).max(initial=0.0)) or 1.0
    share = w / w.sum()
    centered = rows / size
    centered = centered - share @ centered
    some, root = min(k, *rows.shape), np.sqrt(share)[:, None]
    if rows.shape[1] <= len(rows):
        places = centered @ eigenpairs((centered * root).T @ (centered * root), some)[1]
    else:
        values, vectors = eigenpairs((centered * root) @ (centered * root).T, some)
        places = vectors * np.sqrt(np.maximum(values, 0.0)) / root
    spread = float(np.sqrt(share @ places[:, 0] ** 2))
    if not spread > np.finfo(np.float64).eps:
        return np.zeros((len(rows), k))
    places = upright(places) / spread * SMALL
    return np.column_stack([places, SMALL * rng.standard_normal((len(rows), k - some))]) if k > some else places
