"""Least squares to full accuracy: from a triangle, refined with residuals in extended precision, or by products alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import NotConverged, warn
from tenfold.core.learning import Learner
from tenfold.core.monitor import note
from tenfold.core.stats import Stats
from tenfold.core.threads import patiently
from tenfold.solve.linalg import rounding, singular_values, upper_triangle

# Beyond this condition a correction by RᵀR no longer contracts, and the error of R itself must be measured.
HARD = 1e7
BLURRED = 1e-3  # an eigenvalue of G below this: R⁻¹ has a direction that is nothing but rounding
EPS = float(np.finfo(float).eps)


@dataclass(slots=True)
class Triangle(Stats):
    """The upper triangular R of √w Z = Q R, diagonal ≥ 0. `+` is the R of the two stacked (TSQR)."""

    weight: float
    R: Array

    @classmethod
    def of(cls, Z: Array, w: Array) -> Triangle:
        return cls(float(w.sum()), upper(Z * np.sqrt(w)[:, None]))

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle(self.weight + other.weight, upper(np.concatenate([self.R, other.R])))


def upper(Z: Array) -> Array:
    """The R of Z = Q R, diagonal ≥ 0."""
    R = upper_triangle(Z)
    sign = np.where(np.diagonal(R) < 0, -1.0, 1.0)
    R[: len(sign)] *= sign[:, None]
    return R


@dataclass(slots=True)
class Extended(Stats):
    """Sums in extended precision."""

    value: Array
    squares: Array


def with_ones(X: Any, fit_intercept: bool) -> Array:
    """[1 X] in float64, or X alone."""
    X = np.asarray(ops.dense(X), dtype=np.float64)
    return np.concatenate([np.ones((len(X), 1)), X], axis=1) if fit_intercept else X


def triangle_of(block: Block, fit_intercept: bool) -> Triangle:
    """The R of [1 X y]."""
    return Triangle.of(np.concatenate([with_ones(block.X, fit_intercept), block.y], axis=1), block.w)


@dataclass(frozen=True)
class TriangleSolution:
    """min ‖Z b − y‖ from the R of [Z y]: coefficients (p, q), rank, condition of the equilibrated Z, singular values."""

    coef: Array
    rank: int
    condition: float
    singular: Array


def solve_triangle(R: Array, p: int, lengths: Array) -> TriangleSolution:
    """Least squares from R; the solution of least norm where the columns are dependent.

    Rank is judged with every column scaled to length 1, so that units do not matter: R D⁻¹ = U S Vᵀ. `lengths` are those of the
    columns before centring, to which rounding is relative: a direction v counts as zero where S is within `rounding` of ‖lengths D⁻¹ v‖,
    and what is left of a constant column is nothing.
    """
    Z, rest = R[:p, :p], R[:p, p:]
    size = np.sqrt((Z * Z).sum(axis=0))
    used = size > rounding(p) * lengths
    singular = singular_values(Z * used)
    singular = np.pad(singular, (0, p - len(singular)))
    Z, size = Z[:, used], size[used]
    U, S, Vt = patiently(np.linalg.svd, Z / size, full_matrices=False)
    noise = np.sqrt((Vt * Vt) @ np.maximum(lengths[used] / size, 1.0) ** 2)
    rank = int((np.maximum(rounding(p) * noise, EPS * p * S.max(initial=0.0)) < S).sum())
    coef = np.zeros((p, rest.shape[1]))
    if rank == p:
        coef[used] = solve_triangular(Z, rest)
        return TriangleSolution(coef, rank, float(S[0] / S[-1]), singular)
    along = (U[:, :rank].T @ rest) / S[:rank, None]
    if len(Z) < Z.shape[1]:  # fewer rows than columns: of all b with Vᵀ D b = along, the one that is a sum of rows
        rows, T = patiently(np.linalg.qr, Vt[:rank].T * size[:, None])
        coef[used] = rows @ solve_triangular(T, along, trans=1)
    else:  # directions that change nothing: take their part out
        inside = (Vt[:rank].T @ along) / size[:, None]
        null, _ = patiently(np.linalg.qr, Vt[rank:].T / size[:, None])
        coef[used] = inside - null @ (null.T @ inside)
    return TriangleSolution(coef, rank, float("inf"), singular)


def refine(R: Array, coef: Array, condition: float, fit_intercept: bool, max_iter: int = 12) -> Learner[Array | None]:
    """Iterative refinement: b ← b + M Zᵀ(y − Z b), residual and gradient in double-double, one pass a step.

    M = (RᵀR)⁻¹ for moderate condition. For a hard one, one pass measures G = R⁻ᵀZᵀZ R⁻¹, which would be the identity if
    R had no error, and M = R⁻¹ G⁻¹ R⁻ᵀ.  (Björck 1987, corrected semi-normal equations)  None where G shows that Z has no full rank.
    """
    p = len(coef)
    R, inner = np.ascontiguousarray(R[:p, :p]), np.eye(p)
    if condition > HARD:
        gram = yield partial(extended_gram, R=R, fit_intercept=fit_intercept)
        G = gram.value[:p, :p].astype(np.float64)
        if patiently(np.linalg.eigvalsh, G)[0] < BLURRED:  # rounding passed for the last directions of R
            return None
        inner = patiently(np.linalg.inv, G)
    B, last = coef.astype(np.longdouble), np.inf
    for _ in range(max_iter):
        hi = B.astype(np.float64)
        g = yield partial(extended_gradient, hi=hi, lo=(B - hi).astype(np.float64), fit_intercept=fit_intercept)
        step = _correction(R, inner, g.value)
        moved = float(np.max(np.abs(step) / np.maximum(np.abs(B), np.abs(B).max(axis=0) * EPS), initial=0.0))
        note(moved)
        if not np.isfinite(moved) or moved > last / 2:  # no longer contracting: keep what we have
            break
        B, last = B + step, moved
        if moved < 2 * EPS:
            break
    return B


def _correction(R: Array, inner: Array, g: Array) -> Array:
    """R⁻¹ G⁻¹ R⁻ᵀ g, with the triangular solves in extended precision."""
    v = g.astype(np.longdouble)
    for j in range(len(R)):  # Rᵀ u = g
        v[j] = (v[j] - R[:j, j] @ v[:j]) / R[j, j]
    v = (inner @ v.astype(np.float64)).astype(np.longdouble)
    for j in reversed(range(len(R))):  # R x = v
        v[j] = (v[j] - R[j, j + 1 :] @ v[j + 1 :]) / R[j, j]
    return v


def extended_gradient(block: Block, hi: Array, lo: Array, fit_intercept: bool) -> Extended:
    """Zᵀ W (y − Z b) at b = hi + lo."""
    ghi, glo, squares = ops.extended_gradient(with_ones(block.X, fit_intercept), block.y, block.w, hi, lo)
    return Extended(ghi.astype(np.longdouble) + glo, squares)


def extended_gram(block: Block, R: Array, fit_intercept: bool) -> Extended:
    """R⁻ᵀ Zᵀ W Z R⁻¹."""
    hi, lo = ops.extended_gram(with_ones(block.X, fit_intercept), np.empty((len(block), 0)), block.w, R)
    return Extended(hi.astype(np.longdouble) + lo, np.zeros(0))


# --- products alone ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Products(Stats):
    """Σ w, Σ w z, Σ w y, and Zᵀ W (Z d)."""

    weight: float
    mean: Array
    target: Array
    product: Array


def conjugate_gradients(
    p: int, q: int, fit_intercept: bool, tol: float, max_iter: int
) -> Learner[tuple[Array, Array, Array, int]]:
    """min ‖Z b − y‖ from products with Z and Zᵀ only: no p × p matrix is made, sparse blocks stay sparse.

    In exact arithmetic these are the iterates of LSQR (Paige & Saunders 1982). Columns are centred implicitly: with means
    m and ȳ, the normal matrix is ZᵀWZ − n m mᵀ. Certificate: |gradient| ≤ tol of its size at b = 0, for every target.
    """
    start = yield partial(first_products, p=p)
    n, m, t = start.weight, start.mean / start.weight, start.target / start.weight
    if not fit_intercept:
        m, t = 0 * m, 0 * t
    gradient = start.product - n * np.outer(m, t)  # Zᵀ(y − ȳ) at b = 0
    B, direction = np.zeros((p, q)), gradient.copy()
    size, first = (gradient**2).sum(axis=0), (gradient**2).sum(axis=0)
    for n_iter in range(1, max_iter + 1):
        s = yield partial(normal_products, D=direction)
        curved = s.product - n * np.outer(m, m @ direction)
        along = (direction * curved).sum(axis=0)
        step = np.divide(size, along, out=np.zeros(q), where=along > 0)
        B += direction * step
        gradient = gradient - curved * step
        before, size = size, (gradient**2).sum(axis=0)
        certificate = float(np.sqrt(np.max(np.divide(size, first, out=np.zeros(q), where=first > 0))))
        note(certificate)
        if certificate <= tol:
            return B, m, t, n_iter
        direction = gradient + direction * np.divide(size, before, out=np.zeros(q), where=before > 0)
    warn(
        f"least squares by products stopped after {max_iter} passes with its gradient at {certificate:.1e} of the start, "
        f"above tol={tol:g}: raise max_iter, or scale the columns",
        NotConverged,
        stacklevel=2,
    )
    return B, m, t, max_iter


def first_products(block: Block, p: int) -> Products:
    weighted = block.y * block.w[:, None]
    return Products(
        float(block.w.sum()),
        np.asarray(block.X.T @ block.w).reshape(p),
        weighted.sum(axis=0),
        np.asarray(block.X.T @ weighted),
    )


def normal_products(block: Block, D: Array) -> Products:
    return Products(0.0, np.zeros(0), np.zeros(0), np.asarray(block.X.T @ ((block.X @ D) * block.w[:, None])))
