"""The parts of a Gaussian mixture: their log densities at rows, and the sums of rows by their responsibilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput
from tenfold.core.stats import Centred, Moments, Spread, Stats, merge
from tenfold.density.gaps import given_observed, imputed, moments
from tenfold.solve.linalg import cholesky, invert_triangle

ROWS = 1024  # at a time: their products of columns stay in the cache
WIDE = 64  # columns: with more, a block of fewer rows than columns has more products than numbers
CLOSE = 1e-6  # variances below this share of the column's, along any axis: products of columns would lose too many digits


@dataclass(frozen=True, slots=True)
class Frame:
    """Where columns are counted from, and in what unit: so that products of columns keep their digits."""

    center: Array
    unit: Array
    gaps: bool = False  # whether some rows have missing cells


@dataclass(slots=True)
class Responsibilities(Stats):
    """Σ w log p(x), and the moments of all rows for each part, a row counting by its probability of coming from it."""

    log_likelihood: float
    moments: Centred


@dataclass(frozen=True, slots=True)
class Components:
    """k Gaussians with their shares. `roots`: Aₖ with Aₖᵀ Cₖ Aₖ = I, as (k, p, p), or 1 / σ as (k, p) where covariances are diagonal."""

    shares: Array
    means: Array
    roots: Array
    extra: Any = 0.0  # what else a log density has, the same everywhere: of a distribution over parameters

    @classmethod
    def of(cls, shares: Array, means: Array, covariances: Array) -> Components:
        """covariances: (k, p, p), or variances (k, p)."""
        if covariances.ndim == 2:
            if not (covariances > 0).all():
                raise ill_defined(int(np.flatnonzero(~(covariances > 0).all(axis=1))[0]))
            return cls(shares, means, 1.0 / np.sqrt(covariances))
        roots = np.empty_like(covariances)
        for k, C in enumerate(covariances):
            if not np.isfinite(C).all():
                raise ill_defined(k)
            unit = np.sqrt(np.maximum(np.diagonal(C), np.finfo(float).tiny))
            L = cholesky(C / unit / unit[:, None])
            if L is None or not np.isfinite(L).all():
                raise ill_defined(k)
            roots[k] = invert_triangle(L).T / unit[:, None]
        return cls(shares, means, roots)

    @property
    def components(self) -> Components:
        """Itself: what is asked of rows."""
        return self

    def raised(self, extra: Array) -> Components:
        """With log densities that are larger by so much."""
        return Components(self.shares, self.means, self.roots, extra)

    @property
    def diagonals(self) -> Array:
        """(k, p): of the roots; their product is 1 / √det Cₖ."""
        return self.roots if self.roots.ndim == 2 else np.diagonal(self.roots, axis1=1, axis2=2)

    @property
    def constants(self) -> Array:
        """log πₖ − ½ log det(2π Cₖ)."""
        shares = np.log(np.maximum(self.shares, np.finfo(np.float64).tiny))
        return np.asarray(shares + self.extra + np.log(self.diagonals).sum(axis=1) - 0.5 * self.means.shape[1] * math.log(2 * math.pi))

    def log_joint(self, X: Any) -> Array:
        """(rows, k): log πₖ + log N(x; mₖ, Cₖ); of rows with gaps, the marginal density of what is observed."""
        X = np.asarray(ops.dense(X), dtype=np.float64)
        if not ops.all_finite(X):
            return self._marginal(X)
        if self.roots.ndim == 3:
            return ops.quadratic_scores(np.ascontiguousarray(X), self.means, self.roots, self.constants)
        found = [(((X - mean) * root) ** 2).sum(axis=1) for mean, root in zip(self.means, self.roots, strict=True)]
        return np.asarray(self.constants - 0.5 * np.column_stack(found))

    def _marginal(self, X: Array) -> Array:
        gaps = np.isnan(X).any(axis=1)
        joint, rows = np.empty((len(X), len(self.means))), np.flatnonzero(gaps)
        if len(rows) < len(X):
            joint[~gaps] = self.log_joint(X[~gaps])
        for found in given_observed(X[rows], self.means, self.roots, self.constants):
            joint[rows[found.slice.rows]] = found.joint
        return joint

    def imputed(self, X: Any, rng: np.random.Generator | None = None) -> Array:
        """X with its gaps filled: by their means given what is observed, or by draws."""
        return imputed(np.asarray(X, dtype=np.float64), self.means, self.roots, self.constants, rng)

    def expected(self, moments: Centred) -> float:
        """Σₖ Σ r log joint of the rows that have these moments."""
        apart, weight = moments.mean - self.means, moments.weight
        if self.roots.ndim == 2:
            squares = ((moments.scatter + weight[:, None] * apart**2) * self.roots**2).sum(axis=1)
        else:
            spread = moments.scatter + weight[:, None, None] * apart[:, :, None] * apart[:, None, :]
            squares = np.einsum("kia,kij,kja->k", self.roots, spread, self.roots)
        there = weight > 0
        return float(weight[there] @ self.constants[there] - 0.5 * squares[there].sum())

    # --- the expectation step ---

    def expect(self, block: Block, frame: Frame) -> Responsibilities:
        """The sums over a block."""
        X = np.asarray(ops.dense(block.X), dtype=np.float64)
        return self._with_gaps(X, block.w, frame) if frame.gaps else self._of_whole(X, block.w, frame)

    def _with_gaps(self, X: Array, w: Array, frame: Frame) -> Responsibilities:
        gaps = np.isnan(X).any(axis=1)
        parts = [] if gaps.all() else [self._of_whole(X[~gaps], w[~gaps], frame)]
        X, w = X[gaps], w[gaps]
        for found in given_observed(X, self.means, self.roots, self.constants):
            shares = np.ascontiguousarray(found.joint.T)
            likelihood = _share_out(shares, w[found.slice.rows])
            parts.append(Responsibilities(likelihood, moments(found, self.means, shares)))
        merged: Responsibilities = merge(parts)
        return merged

    def _of_whole(self, X: Array, w: Array, frame: Frame) -> Responsibilities:
        """Of rows without gaps; by products of columns, all parts at once, unless one of them is so narrow that this loses digits, or rows
        are few and long."""
        if self.roots.ndim == 3 and len(X) < X.shape[1] > WIDE:
            return self._by_parts(X, w)
        coefficients = self._coefficients(frame)
        return self._by_parts(X, w) if coefficients is None else self._by_products(X, w, frame, coefficients)

    def _coefficients(self, frame: Frame) -> Array | None:
        """(k, q): log joint densities as linear functions of the products of columns; None where a part is too narrow."""
        m, p = (self.means - frame.center) / frame.unit, self.means.shape[1]
        if self.roots.ndim == 2:
            P = (self.roots * frame.unit) ** 2
            if P.max() > 1 / CLOSE:
                return None
            return np.column_stack([self.constants - 0.5 * (P * m * m).sum(axis=1), P * m, -0.5 * P])
        A = self.roots * frame.unit[:, None]
        P = A @ A.transpose(0, 2, 1)
        if np.trace(P, axis1=1, axis2=2).max() > 1 / CLOSE:
            return None
        linear = np.einsum("kij,kj->ki", P, m)
        i, j = _pairs(p)
        return np.column_stack([self.constants - 0.5 * (linear * m).sum(axis=1), linear, P[:, i, j] * np.where(i == j, -0.5, -1.0)])

    def _by_products(self, X: Array, w: Array, frame: Frame, coefficients: Array) -> Responsibilities:
        k, q = coefficients.shape
        n, p = X.shape
        sums, likelihood = np.zeros((k, q)), 0.0
        products = np.empty((q, min(ROWS, n)))
        products[0] = 1.0
        for start in range(0, n, ROWS):
            rows = slice(start, min(start + ROWS, n))
            Z, F = products[1 : 1 + p, : rows.stop - start], products[:, : rows.stop - start]
            np.subtract(X[rows].T, frame.center[:, None], out=Z)
            Z /= frame.unit[:, None]
            if self.roots.ndim == 2:
                np.multiply(Z, Z, out=F[1 + p :])
            else:
                at = 1 + p
                for i in range(p):
                    np.multiply(Z[i], Z[i:], out=F[at : at + p - i])
                    at += p - i
            R = coefficients @ F
            likelihood += _share_out(R, w[rows])
            sums += R @ F.T
        return Responsibilities(likelihood, self._centred(sums, frame))

    def _centred(self, sums: Array, frame: Frame) -> Centred:
        """Moments from sums of products about the frame's centre."""
        k, p = self.means.shape
        weight = sums[:, 0]
        mean = sums[:, 1 : 1 + p] / np.maximum(weight, np.finfo(float).tiny)[:, None]
        center = np.tile(frame.center, (k, 1))
        if self.roots.ndim == 2:
            squares = np.maximum(sums[:, 1 + p :] - weight[:, None] * mean * mean, 0.0)
            return Spread(weight, center, mean * frame.unit, squares * frame.unit**2)
        scatter, (i, j) = np.empty((k, p, p)), _pairs(p)
        scatter[:, i, j] = scatter[:, j, i] = sums[:, 1 + p :]
        scatter -= weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return Moments(weight, center, mean * frame.unit, scatter * frame.unit * frame.unit[:, None])

    def _by_parts(self, X: Array, w: Array) -> Responsibilities:
        """One part after the other, about its own mean: all digits."""
        R = np.ascontiguousarray(self.log_joint(X).T)
        likelihood = _share_out(R, w)
        weight, (k, p) = R.sum(axis=1), self.means.shape
        safe = np.maximum(weight, np.finfo(float).tiny)
        offset, scatter = np.empty((k, p)), np.empty(self.roots.shape)
        for one in range(k):
            apart = X - self.means[one]
            offset[one] = R[one] @ apart / safe[one]
            apart -= offset[one]
            scatter[one] = R[one] @ (apart * apart) if self.roots.ndim == 2 else (apart * R[one][:, None]).T @ apart
        kind = Spread if self.roots.ndim == 2 else Moments
        return Responsibilities(likelihood, kind(weight, self.means.copy(), offset, scatter))


def _pairs(p: int) -> tuple[Array, Array]:
    """The pairs of columns i <= j, kept where they are few: small blocks ask for them again and again."""
    return _few_pairs(p) if p <= WIDE else np.triu_indices(p)


@lru_cache(maxsize=64)
def _few_pairs(p: int) -> tuple[Array, Array]:
    return np.triu_indices(p)


def _share_out(R: Array, w: Array) -> float:
    """Log joint densities (k, rows) become w times probabilities of the parts, in place; Σ w log p(x)."""
    top = R.max(axis=0)
    if not np.isfinite(top).all():
        raise BadInput("a row is so far from every component that its density is zero: scale the columns, or drop the row")
    R -= top
    np.exp(R, out=R)
    total = R.sum(axis=0)
    R *= w / total
    return float(w @ (top + np.log(total)))


def ill_defined(k: int | None = None) -> BadInput:
    which = "" if k is None else f"Component {k}: "
    return BadInput(
        f"{which}Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance caused by "
        "singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or scale the input data."
    )
