"""Rows with missing cells under a Gaussian mixture: what is observed of them decides, and what is missing is expected given that.

Of one Gaussian with precision P, a row with the cells o observed and m missing has the conditional mean
x_m = m_m − P_mm⁻¹ P_mo (x_o − m_o) and covariance P_mm⁻¹, and its quadratic form at that mean is that of the marginal density of x_o. So

    log N(x_o) = log N(x, filled by its conditional mean) + ½ (|m| log 2π − log det P_mm)

Rows are taken together by pattern of gaps: one factorisation for each pattern and part. Little & Rubin 2002, §11.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.stats import Moments, Spread

ROWS = 1024  # at a time, of one pattern
NUMBERS = 1 << 17  # in the conditional covariances of rows that are taken together
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows with equally many gaps: `places` (u, c) of each of their u patterns, and the pattern of each row."""

    rows: Array
    places: Array
    pattern: Array

    @property
    def gaps(self) -> Array:
        """(rows, c): the columns of their missing cells."""
        return np.asarray(self.places[self.pattern])


def slices(missing: Array) -> Iterator[Slice]:
    """Rows that have gaps, by pattern; patterns of few rows side by side."""
    if not len(missing):
        return
    packed = np.ascontiguousarray(np.packbits(missing, axis=1))
    code = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
    count = missing[first].sum(axis=1)
    order = np.lexsort((pattern, count[pattern]))
    new = np.concatenate([[True], np.diff(pattern[order]) != 0, [True]])
    new[::ROWS] = True  # a long pattern in pieces
    starts = np.flatnonzero(new)
    together: list[tuple[int, int]] = []
    for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        c = int(count[pattern[order[start]]])
        if together:
            size, begun = int(count[pattern[order[together[0][0]]]]), together[0][0]
            if size != c or (stop - begun) * c * c > NUMBERS or stop - begun > ROWS:
                yield _slice(missing, order, together)
                together = []
        together.append((start, stop))
    if together:
        yield _slice(missing, order, together)


def _slice(missing: Array, order: Array, together: list[tuple[int, int]]) -> Slice:
    rows = order[together[0][0] : together[-1][1]]
    places = np.array([np.flatnonzero(missing[order[start]]) for start, _ in together])
    return Slice(rows, places, np.repeat(np.arange(len(together)), [stop - start for start, stop in together]))


@dataclass(frozen=True, slots=True)
class Given:
    """A slice of rows under every part, given what is observed."""

    slice: Slice
    apart: Array  # (k, rows, p): rows, filled by their conditional means, less the mean of the part
    covariance: Array  # (k, u, c, c): conditional, of each pattern; (k, u, c) where covariances are diagonal
    joint: Array  # (rows, k): log πₖ + log marginal density


def given_observed(X: Array, means: Array, roots: Array, constants: Array) -> Iterator[Given]:
    """The rows of X, all of which have gaps; parts as `Components` have them."""
    precisions = None if roots.ndim == 2 else roots @ roots.transpose(0, 2, 1)
    for one in slices(np.isnan(X)):
        gaps, (u, c) = one.gaps, one.places.shape
        apart = X[one.rows] - means[:, None, :]
        apart[np.isnan(apart)] = 0.0
        joint, at = np.empty((len(one.rows), len(means))), np.arange(len(one.rows))[:, None]
        covariance = np.empty((len(means), u, c) if precisions is None else (len(means), u, c, c))
        for k, D in enumerate(apart):
            if precisions is None:
                root = roots[k]
                covariance[k] = 1.0 / root[one.places] ** 2
                log_det = 2 * np.log(root[one.places]).sum(axis=1)
                squares = ((D * root) ** 2).sum(axis=1)
            else:
                covariance[k], log_det = _inverses(precisions[k], one.places, k)
                pull = np.take_along_axis(D @ precisions[k], gaps, axis=1)
                D[at, gaps] = -_times(covariance[k], one.pattern, pull)
                squares = ((D @ roots[k]) ** 2).sum(axis=1)
            joint[:, k] = constants[k] - 0.5 * squares + 0.5 * (c * LOG_2PI - log_det[one.pattern])
        yield Given(one, apart, covariance, joint)


def _inverses(P: Array, places: Array, k: int) -> tuple[Array, Array]:
    """P_mm⁻¹ and log det P_mm of each pattern."""
    block = P[places[:, :, None], places[:, None, :]]
    unit = 1.0 / np.sqrt(np.diagonal(block, axis1=1, axis2=2))
    try:
        L = np.linalg.cholesky(block * unit[:, :, None] * unit[:, None, :])
    except np.linalg.LinAlgError:
        raise BadInput(
            f"component {k}: its missing cells follow from the observed ones but for rounding, so that its covariance cannot be inverted: "
            "increase reg_covar, ask for fewer components, or drop columns that repeat others"
        ) from None
    low = np.linalg.inv(L) * unit[:, None, :]
    log_det = 2 * (np.log(np.diagonal(L, axis1=1, axis2=2)) - np.log(unit)).sum(axis=1)
    return low.transpose(0, 2, 1) @ low, log_det


def _times(matrices: Array, pattern: Array, vectors: Array) -> Array:
    """The matrix of each row's pattern times its vector."""
    if len(matrices) == 1:
        return np.asarray(vectors @ matrices[0].T)
    return np.asarray((matrices[pattern] @ vectors[:, :, None])[:, :, 0])


def moments(found: Given, means: Array, shares: Array) -> Moments | Spread:
    """Expected moments of the rows of a slice, which count by shares (k, rows): of the filled rows, and what gaps spread about them."""
    weight = shares.sum(axis=1)
    safe = np.maximum(weight, np.finfo(float).tiny)
    offset = np.einsum("kn,knp->kp", shares, found.apart) / safe[:, None]
    places, k = found.slice.places, len(means)
    by_pattern = np.array([np.bincount(found.slice.pattern, weights=one, minlength=len(places)) for one in shares])
    D = found.apart - offset[:, None, :]
    if found.covariance.ndim == 3:
        squares = np.einsum("kn,knp->kp", shares, D * D)
        for one in range(k):
            np.add.at(squares[one], places, by_pattern[one][:, None] * found.covariance[one])
        return Spread(weight, means.copy(), offset, squares)
    scatter = (D * shares[:, :, None]).transpose(0, 2, 1) @ D
    for one in range(k):
        np.add.at(scatter[one], (places[:, :, None], places[:, None, :]), by_pattern[one][:, None, None] * found.covariance[one])
    return Moments(weight, means.copy(), offset, scatter)


def imputed(X: Array, means: Array, roots: Array, constants: Array, rng: np.random.Generator | None) -> Array:
    """X with conditional means in its gaps; with `rng`, draws from their conditional distribution."""
    whole, gaps = X.copy(), np.flatnonzero(np.isnan(X).any(axis=1))
    for found in given_observed(X[gaps], means, roots, constants):
        rows, places, pattern = gaps[found.slice.rows][:, None], found.slice.gaps, found.slice.pattern
        shares = np.exp(found.joint - found.joint.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        if rng is None:
            values = np.einsum("nk,knp->np", shares, found.apart) + shares @ means
            whole[rows, places] = np.take_along_axis(values, places, axis=1)
            continue
        part = np.minimum((shares.cumsum(axis=1) < rng.random((len(rows), 1))).sum(axis=1), len(means) - 1)
        values = np.take_along_axis(found.apart[part, np.arange(len(rows))] + means[part], places, axis=1)
        noise = rng.normal(size=values.shape)
        for k in np.unique(part):
            here, spread = part == k, found.covariance[k]
            if spread.ndim == 2:
                values[here] += np.sqrt(spread[pattern[here]]) * noise[here]
            else:
                values[here] += _times(np.linalg.cholesky(spread), pattern[here], noise[here])
        whole[rows, places] = values
    return whole
