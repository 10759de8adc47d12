"""Covariances taken apart: what densities, draws and conditionals of elliptic distributions are computed with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.threads import patiently
from tenfold.solve.linalg import (
    SINGULAR,
    cholesky,
    eigh,
    invert_triangle,
    reciprocal_condition,
    rounding,
    whitened_squares,
)

DEPENDENT = 1e-10  # what is left of a row of unit length that others explain
OFF = float(np.sqrt(np.finfo(float).eps))  # a point so far from a plane, relative to its size, is not on it


@dataclass(frozen=True, eq=False)
class Factor:
    """C = A Aᵀ with A of p rows and r columns, r the rank; RᵀA = I, so that z = (x − m) R has covariance I; and log √det AᵀA.

    The columns are scaled to variance 1 before rank is judged: units are no dependence.
    """

    spread: Array  # A
    root: Array  # R
    log_volume: float

    @classmethod
    def of(cls, place: str, C: Array, allow_singular: bool) -> Factor:
        variance = np.diagonal(C)
        if (variance < 0).any():
            j = int((variance < 0).argmax())
            raise BadParameter(f"{place}[{j}, {j}] is {variance[j]:g}: a variance is not negative")
        unit = np.sqrt(variance)
        used = np.flatnonzero(unit > 0)
        scaled = C[np.ix_(used, used)] / unit[used] / unit[used, None]
        if len(used) == len(C):
            L = cholesky(scaled)
            if L is not None and reciprocal_condition(scaled, L) > SINGULAR:
                volume = float(np.log(np.diagonal(L)).sum() + np.log(unit).sum())
                return cls(unit[:, None] * L, np.ascontiguousarray(invert_triangle(L).T / unit[:, None]), volume)
        elif C[unit == 0].any():
            j = int((C != 0).any(axis=1)[unit == 0].argmax())
            raise BadParameter(f"{place}: column {np.flatnonzero(unit == 0)[j]} has no variance, but covariances with others")
        return cls._of_singular(place, scaled, unit, allow_singular)

    @classmethod
    def _of_singular(cls, place: str, scaled: Array, unit: Array, allow_singular: bool) -> Factor:
        used = np.flatnonzero(unit > 0)
        values, vectors = eigh(scaled) if len(used) else (np.empty(0), np.empty((0, 0)))
        least = rounding(len(unit)) * values.max(initial=0.0)
        if values.min(initial=0.0) < -1e3 * least:
            columns = used[np.argsort(-np.abs(vectors[:, 0]))[:2]]
            raise BadParameter(
                f"{place} is no covariance: columns {', '.join(map(str, sorted(columns)))} would have a combination of negative variance"
            )
        if not allow_singular:
            raise BadInput(
                f"{place} is singular, {_reason(vectors, unit)}: leave a column out, add a number to the diagonal, take the MAP "
                "of a NormalInverseWishart prior, or, of a Gaussian, allow_singular=True for the density on the plane that is left"
            )
        keep = values > least
        inside, size = vectors[:, keep], np.sqrt(values[keep])
        spread, root = np.zeros((len(unit), keep.sum())), np.zeros((len(unit), keep.sum()))
        spread[used], root[used] = unit[used, None] * inside * size, inside / size / unit[used, None]
        triangle = patiently(np.linalg.qr, spread, mode="r")
        return cls(spread, root, float(np.log(np.abs(np.diagonal(triangle))).sum()))

    @property
    def rank(self) -> int:
        return int(self.spread.shape[1])

    def whitened(self, apart: Array) -> Array:
        """z = (x − m) R of rows x − m."""
        return np.asarray(apart @ self.root)

    def squares(self, X: Array, mean: Array) -> Array:
        """The squared Mahalanobis distance of rows from the mean; infinite off the plane of a singular covariance."""
        if self.rank == len(self.spread):
            return whitened_squares(np.ascontiguousarray(X), mean[None], self.root[None])[:, 0]
        z = self.whitened(X - mean)
        return np.where(self.off(X - mean, z, mean), np.inf, np.einsum("ij,ij->i", z, z))

    def off(self, apart: Array, z: Array, size: Array) -> Array:
        """Which rows x − m = A z are not."""
        left = np.abs(apart - z @ self.spread.T)
        unit = np.sqrt(np.einsum("ij,ij->i", self.spread, self.spread))
        return np.asarray((left > OFF * (np.abs(apart) + np.abs(size) + unit)).any(axis=1))

    def given(self, C: Array, columns: list[int], rest: list[int], apart: Array) -> tuple[Array, Array, float]:
        """Of the rest, given x − m of some columns: the shift of the mean, A of what is left, and the squared distance of what is given.

        With C = L Lᵀ, the given columns first, z = L_bb⁻¹ (x_b − m_b):  L_ab z  and  L_aa.  Where C is singular, x_b − m_b = A_b z fixes
        z but for the null space N of A_b:  A_a z  and  A_a N.
        """
        q, order = len(columns), columns + rest
        unit = np.sqrt(np.diagonal(C)[order])
        if self.rank == len(C):
            L = cholesky(C[np.ix_(order, order)] / unit / unit[:, None])
            if L is not None:
                z = solve_triangular(L[:q, :q], apart / unit[:q], lower=True)
                return unit[q:] * (L[q:, :q] @ z), unit[q:, None] * L[q:, q:], float(z @ z)
        return self._on_plane(columns, rest, apart)

    def _on_plane(self, columns: list[int], rest: list[int], apart: Array) -> tuple[Array, Array, float]:
        A = self.spread[columns]
        unit = np.sqrt(np.einsum("ij,ij->i", A, A))
        unit = np.where(unit > 0, unit, 1.0)
        Q, T, order = patiently(_qr, (A / unit[:, None]).T)
        rank = int((np.abs(np.diagonal(T)) > DEPENDENT).sum())
        inside = solve_triangular(T[:rank, :rank], (apart / unit)[order[:rank]], trans="T")
        shift = Q[:, :rank] @ inside
        return self.spread[rest] @ shift, self.spread[rest] @ Q[:, rank:], float(inside @ inside)


def _qr(A: Array) -> tuple[Array, Array, Array]:
    Q, T, order = qr(A, mode="full", pivoting=True)
    return Q, T, order


def _reason(vectors: Array, unit: Array) -> str:
    """Which columns make a covariance singular."""
    if not unit.all():
        return f"as column {int((unit == 0).argmax())} does not vary"
    part = np.abs(vectors[:, 0])
    columns = np.flatnonzero(part > 1e-3 * part.max())
    if len(columns) > 6:
        return f"as {len(columns)} columns are linearly dependent, column {int(part.argmax())} among them"
    return f"as columns {', '.join(map(str, columns[:-1]))} and {columns[-1]} are linearly dependent"
