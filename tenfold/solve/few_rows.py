"""Least squares of tables much wider than long: from the rows themselves, in O(n² p), without a matrix of p x p."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import CannotForget, Degenerate, warn
from tenfold.core.stats import Moments, Stats
from tenfold.core.threads import patiently
from tenfold.solve.linalg import differ, eigh, singular_values, upper_triangle

WIDE_FROM = 256  # columns: below, sums of products are small and quickly made
EPS = float(np.finfo(float).eps)
ROUNDING = 16 * EPS


@dataclass
class FewRows(Stats):
    """Rows while they are fewer than half of the columns; their moments beyond.

    It has the fields of `Moments` too, which are made when somebody asks for them.
    """

    X: Array  # (n, p) float64, a copy
    y: Array  # (n, q)
    w: Array  # (n,)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, FewRows):
            return self.moments + other
        pairs = ((self.X, other.X), (self.y, other.y), (self.w, other.w))
        joined = FewRows(*(np.concatenate(pair) for pair in pairs))
        return joined if are_few(len(joined.w), joined.X.shape[1]) else joined.moments

    def __sub__(self, other: Any) -> Any:
        raise CannotForget("there are fewer rows than columns, and no sums to take rows from: fit again without them")

    @cached_property
    def moments(self) -> Moments:
        """The same rows as sums."""
        return Moments.of(self.X, self.y, self.w)

    @property
    def weight(self) -> Any:
        return self.w.sum()

    @property
    def center(self) -> Array:
        return self.mean

    @property
    def offset(self) -> Array:
        return np.zeros(self.X.shape[1] + self.y.shape[1])

    @property
    def scatter(self) -> Array:
        return self.moments.scatter

    @property
    def mean(self) -> Array:
        """Of (X, y)."""
        Z, share = np.hstack([self.X, self.y]), self.w / self.w.sum()
        center = share @ Z
        return np.asarray(center + share @ (Z - center))

    def centred(self, fit_intercept: bool) -> tuple[Array, Array, Array]:
        """The mean of (X, y), and √w (x − x̄), √w (y − ȳ); without an intercept nothing is subtracted.

        What is left of a constant column after that is rounding, and becomes zero.
        """
        p, mean, root = self.X.shape[1], self.mean, np.sqrt(self.w)[:, None]
        shift = mean if fit_intercept else np.zeros_like(mean)
        Z, t = (self.X - shift[:p]) * root, (self.y - shift[p:]) * root
        if fit_intercept:  # once more: a mean is rounded to its own size, which may be far above that of what is left
            Z, t = (part - root * (root[:, 0] @ part / self.weight) for part in (Z, t))
            Z[:, (Z * Z).sum(axis=0) <= self.weight * (ROUNDING * np.abs(mean[:p])) ** 2] = 0.0
        return mean, Z, t


@dataclass(frozen=True)
class RowProducts:
    """A least-squares problem by its centred rows: of its cross-products G = ZᵀZ only those exist that are asked for."""

    Z: Array  # (n, p)
    t: Array  # (n,)

    @classmethod
    def of(cls, stats: FewRows, fit_intercept: bool) -> tuple[Array, list[RowProducts]]:
        """The mean of (X, y), and a problem for each target."""
        mean, Z, t = stats.centred(fit_intercept)
        return mean, [cls(Z, np.ascontiguousarray(one)) for one in t.T]

    @cached_property
    def q(self) -> Array:
        return np.asarray(self.Z.T @ self.t)

    @cached_property
    def yy(self) -> float:
        return float(self.t @ self.t)

    def among(self, some: Any, others: Any) -> Array:
        """G of some columns and others."""
        A = self.Z[:, some]
        return np.asarray(A.T @ (A if others is some else self.Z[:, others]))

    def times(self, some: Any, v: Array) -> Array:
        """G v, of a v that is zero but at some columns."""
        return np.asarray(self.Z.T @ (self.Z[:, some] @ v))

    def inner(self, some: Any, v: Array) -> Array:
        """The part of G v that belongs to the same columns."""
        A = self.Z[:, some]
        return np.asarray(A.T @ (A @ v))

    def axes(self, some: Any) -> tuple[Array, Array]:
        """Eigenvalues and -vectors of G of some columns; of more than rows, those that are not zero."""
        if len(some) <= len(self.t):
            return eigh(self.among(some, some))
        _, singular, Vt = patiently(np.linalg.svd, self.Z[:, some], full_matrices=False)
        return singular**2, np.ascontiguousarray(Vt.T)

    def rest(self, w: Array) -> Array:
        """q − G w: what is left of the correlations with the target."""
        return np.asarray(self.Z.T @ (self.t - self.Z @ w))

    def least_norm(self, what: str) -> Array:
        """The w of least norm of those with least squares, with a warning that there are others."""
        warn(f"{what}: the columns are linearly dependent; returned the solution of least norm", Degenerate, stacklevel=2)
        return np.where(self.Z.any(axis=0), least_norm(self.Z, self.t[:, None])[0][:, 0], 0.0)


def are_few(n: int, p: int) -> bool:
    return p > WIDE_FROM and 2 * n < p


def rows_or_moments(block: Block) -> FewRows | Moments:
    """The statistic of least squares: the rows of a block much wider than long (dense, which takes less than p²), else its moments."""
    if not are_few(len(block), block.width):
        return Moments.of_block(block)
    X = np.array(ops.dense(block.X), dtype=np.float64)
    return FewRows(X, np.array(block.y, dtype=np.float64), np.array(block.w))


def target_squares(stats: Any, p: int) -> Array:
    """(q,): Σ w (y − ȳ)² of each target, from rows or from anything with the scatter of (X, y)."""
    if not isinstance(stats, FewRows):
        return np.diagonal(stats.scatter)[p:]
    apart = stats.y - stats.w @ stats.y / stats.weight
    return np.asarray(stats.w @ (apart * apart))


def ridge_from_rows(Z: Array, t: Array, alphas: Array) -> Array:
    """(m, q, p): w(alpha) = Zᵀ (Z Zᵀ + alpha I)⁻¹ t for each alpha >= 0, from one eigendecomposition of Z Zᵀ.

    With Z Zᵀ = U diag(e) Uᵀ. Directions of no length have no part in w: so alpha = 0 gives the solution of least norm.
    Of columns in very different units products would lose the small ones: there the axes are those of the rows themselves.
    """
    if differ((Z * Z).sum(axis=0)):
        e, V = principal(Z)
        shrunk = (t.T @ (Z @ V)) / (e + alphas[:, None])[:, None]  # (m, q, r)
        return np.asarray(shrunk @ V.T)
    e, U = _axes(Z)
    shrunk = (t.T @ U) / (e + alphas[:, None])[:, None]  # (m, q, n)
    return np.asarray((shrunk.reshape(-1, len(e)) @ (U.T @ Z)).reshape(len(alphas), t.shape[1], Z.shape[1]))


def inverse_root(Z: Array, alpha: float) -> tuple[Array, float]:
    """F (p, r) with F Fᵀ z = (ZᵀZ + alpha I)⁻¹ z for every z that is a sum of rows of Z, and the condition of the matrix there.

    With Z Zᵀ = U diag(e) Uᵀ and ZᵀZ = V diag(e) Vᵀ:  F = V diag(e + alpha)^(−1/2) = Zᵀ U diag(e (e + alpha))^(−1/2).
    """
    if differ((Z * Z).sum(axis=0)):
        e, V = principal(Z)
        F = V / np.sqrt(e + alpha)
    else:
        e, U = _axes(Z)
        F = Z.T @ (U / np.sqrt(e * (e + alpha)))
    return F, float((e.max(initial=0.0) + alpha) / (e.min(initial=np.inf) + alpha))


def _axes(Z: Array) -> tuple[Array, Array]:
    """Eigenvalues above zero of Z Zᵀ, and their eigenvectors."""
    e, U = patiently(np.linalg.eigh, Z @ Z.T)
    keep = e > e.max(initial=0.0) * max(Z.shape) * EPS
    return e[keep], U[:, keep]


def principal(Z: Array) -> tuple[Array, Array]:
    """Squared singular values of Z above rounding, largest first, and the directions (p, r) that they belong to.

    Each column is rounded to its own length, also where lengths are very different: the rows are turned so that the longest columns
    come first in a triangle, whose singular values keep their digits.
    """
    squares = (Z * Z).sum(axis=0)
    uneven = differ(squares)
    order = np.argsort(-squares, kind="stable") if uneven else np.arange(Z.shape[1])
    turned = upper_triangle(Z[:, order]) if uneven else Z
    _, singular, Vt = patiently(np.linalg.svd, turned, full_matrices=False)
    keep = singular**2 > (Vt * Vt) @ squares[order] * (EPS * max(Z.shape)) ** 2
    vectors = np.empty((Z.shape[1], int(keep.sum())))
    vectors[order] = Vt[keep].T
    return singular[keep] ** 2, vectors


def least_norm(Z: Array, t: Array) -> tuple[Array, int, Array]:
    """The w of least norm among those with least ‖Z w − t‖ (p, q), the rank, and the singular values of Z.

    Rank is judged with every column scaled to length 1, so that units do not matter.
    """
    size = np.sqrt((Z * Z).sum(axis=0))
    scaled = singular_values(Z / np.where(size > 0, size, 1.0))
    rank = int((scaled > scaled.max(initial=0.0) * EPS * max(Z.shape)).sum())
    U, singular, Vt = patiently(np.linalg.svd, Z, full_matrices=False)
    return Vt[:rank].T @ ((U[:, :rank].T @ t) / singular[:rank, None]), rank, singular
