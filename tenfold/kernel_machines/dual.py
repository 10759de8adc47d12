"""The equations of kernel ridge regression for many penalties, and for rows left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import Degenerate, warn
from tenfold.core.threads import patiently, single_blas
from tenfold.kernel_machines.kernelized import mirrored
from tenfold.solve.linalg import EPS, SINGULAR, rounding
from tenfold.solve.tiles import cholesky_in_place, in_rows, solve_both

LEAST_ROWS = 200  # from which a low rank is looked for
LARGEST_RANK = 4  # rows for each column of the factor, at least
PIVOTS = 32  # taken at once
LOST = 1e-10  # share of the smallest penalty that what a low rank leaves out may be
MOST_ROUNDED = 1e-6  # share of the smallest eigenvalue that rounding may be, for what follows from the decomposition
TINY, MOST_TINY = 1e-15, 1e-7  # share of the trace that rounding leaves, and the share of the smallest penalty that this may be


class Decomposed:
    """K = V e Vᵀ: (K + alpha)⁻¹ for any alpha, of directions in which that is rounding nothing."""

    def __init__(self, K: Array) -> None:
        self.values, self.vectors = patiently(np.linalg.eigh, K)

    def knows(self, alpha: float) -> bool:
        """Whether the smallest eigenvalue of K + alpha has digits beside the rounding of the largest."""
        largest = float(np.abs(self.values).max(initial=0.0))
        return bool(EPS * largest <= MOST_ROUNDED * float((self.values + alpha).min(initial=np.inf)))

    def _inverse(self, alpha: float) -> Array:
        shifted = self.values + alpha
        sound = np.abs(shifted) > rounding(len(shifted)) * float(np.abs(shifted).max(initial=0.0))
        return np.asarray(np.divide(1.0, shifted, out=np.zeros_like(shifted), where=sound))

    def turned(self, y: Array) -> Array:
        """What of the targets all penalties share."""
        return np.asarray(self.vectors.T @ y)

    def solved(self, alpha: float, y: Array, turned: Array) -> Array:
        return np.asarray(self.vectors @ (self._inverse(alpha)[:, None] * turned))

    def diagonal(self, alpha: float) -> Array:
        return np.asarray(self.squares @ self._inverse(alpha))

    @cached_property
    def squares(self) -> Array:
        return np.asarray(self.vectors**2)

    def apart(self, number: int, rows: Array, alpha: float, dual: Array) -> Array:
        """(G_FF)⁻¹ G_F y for the rows of a part, by its number."""
        some = self.vectors[rows]
        return np.asarray(np.linalg.solve((some * self._inverse(alpha)) @ some.T, dual[rows]))


class LowRank(Decomposed):
    """K = H Hᵀ with columns that are orthogonal, of squared lengths e:  (K + alpha)⁻¹ = (I − H (e + alpha)⁻¹ Hᵀ) / alpha."""

    def __init__(self, factor: Array) -> None:
        self.values, turn = patiently(np.linalg.eigh, factor.T @ factor)
        self.vectors = factor @ turn
        self.others: dict[int, tuple[Array, Array]] = {}

    def knows(self, alpha: float) -> bool:
        return True  # such a factor is only made where rounding is little beside the penalties

    def _inverse(self, alpha: float) -> Array:
        return np.asarray(1.0 / (np.maximum(self.values, 0.0) + alpha))

    def solved(self, alpha: float, y: Array, turned: Array) -> Array:
        return (y - super().solved(alpha, y, turned)) / alpha

    def diagonal(self, alpha: float) -> Array:
        return (1.0 - super().diagonal(alpha)) / alpha

    def apart(self, number: int, rows: Array, alpha: float, dual: Array) -> Array:
        """alpha (I + H_F (e − H_Fᵀ H_F + alpha)⁻¹ H_Fᵀ): what other rows say of e, decomposed once for all penalties."""
        if number not in self.others:
            some = self.vectors[rows]
            values, turn = np.linalg.eigh(np.diag(self.values) - some.T @ some)
            self.others[number] = np.maximum(values, 0.0), some @ turn
        values, some = self.others[number]
        return np.asarray(alpha * (dual[rows] + some @ ((some.T @ dual[rows]) / (values + alpha)[:, None])))


def low_rank(K: Array, least: float) -> Array | None:
    """F with few columns, where K − F Fᵀ is nothing beside penalties from `least` on: a Cholesky factor whose pivots are the rows of the
    largest rest, some at once. None where there is none: the kernel is of a high rank, or not positive definite."""
    n = len(K)
    left, factor, taken = np.diagonal(K).copy(), np.empty((n, n // LARGEST_RANK)), 0
    tiny = TINY * float(left.sum())
    if tiny > MOST_TINY * least:
        return None
    lost = max(LOST * least, tiny)
    while float(left.sum()) > lost:
        pivots = np.sort(np.argpartition(-left, PIVOTS)[:PIVOTS])
        columns = K[:, pivots] - factor[:, :taken] @ factor[pivots, :taken].T
        corner, order, rank, _ = lapack.dpstrf(columns[pivots], lower=1, tol=float(left[pivots].max()) * 1e-3)
        if not rank or taken + rank > factor.shape[1]:
            return None
        chosen = order[:rank] - 1
        some, _ = lapack.dtrtrs(corner[:rank, :rank], columns[:, chosen].T, lower=1)
        factor[:, taken : taken + rank] = some.T
        left -= np.einsum("ij,ij->j", some, some)
        left[pivots[chosen]] = 0.0
        if float(left.min()) < -1e-8 * float(np.diagonal(K).max()):
            return None
        left = np.maximum(left, 0.0)
        taken += rank
    return factor[:, :taken]


class System:
    """(K + alpha S⁻¹) c = y for rows with weights S, of which some may be zero: with R = √S,  (R K R + alpha) R⁻¹c = R y."""

    def __init__(self, lower: Callable[[], Array], y: Array, w: Array, least: float = 0.0) -> None:
        """`least` of the penalties that there will be: what is below its rounding need not be known of K."""
        self.lower, self.y, self.root, self.least = lower, y, np.sqrt(w), least

    @property
    def targets(self) -> int:
        return int(self.y.shape[1])

    def _weighed(self) -> Array:
        """The lower triangle of R K R."""
        K = self.lower()

        def weigh(rows: slice) -> None:
            K[rows, : rows.stop] *= self.root[rows, None] * self.root[: rows.stop]

        if (self.root != 1).any():
            in_rows(len(K), weigh)
        return K

    def solved(self, alpha: float) -> Array:
        """c by Cholesky; where that fails, by the eigendecomposition."""
        K = self._weighed()
        K[np.diag_indices(len(K))] += alpha
        largest = float(np.diagonal(K).max(initial=0.0))
        if cholesky_in_place(K) and float(np.diagonal(K).min(initial=1.0)) ** 2 > SINGULAR * largest:
            return np.asarray(self.root[:, None] * solve_both(K, self.root[:, None] * self.y))
        del K
        warn(
            f"KernelRidge(alpha={alpha:g}): Singular matrix in solving dual problem. Using least-squares solution instead: K + alpha is "
            "not positive definite, as rows are repeated or the kernel is none (tenfold.kernels.mercer_check); a larger alpha helps",
            Degenerate,
            stacklevel=2,
        )
        return self._along_axes(alpha)

    @cached_property
    def spectrum(self) -> tuple[Decomposed, Array]:
        """A decomposition of R K R, and what of the targets all penalties share."""
        K, factor = mirrored(self._weighed()), None
        if self.least > 0 and len(K) >= LEAST_ROWS:
            factor = low_rank(K, self.least)
        known = Decomposed(K) if factor is None else LowRank(factor)
        return known, known.turned(self.root[:, None] * self.y)

    def at(self, alpha: float) -> Array:
        """c from the decomposition, which all penalties share; by Cholesky where that has more digits."""
        return self._along_axes(alpha) if self.knows(alpha) else self.solved(alpha)

    def _along_axes(self, alpha: float) -> Array:
        known, turned = self.spectrum
        return np.asarray(self.root[:, None] * known.solved(alpha, self.root[:, None] * self.y, turned))

    def knows(self, alpha: float) -> bool:
        """Whether the decomposition says what a fit with this penalty would."""
        return self.spectrum[0].knows(alpha)

    @single_blas
    def left_out(self, alpha: float, parts: Sequence[Array] | None) -> list[Array]:
        """For the rows of each part what the fit to all others predicts; without parts for every row, each left out alone.

        y_F − f₋F(x_F) = R_F⁻¹ (G_FF)⁻¹ (G R y)_F  with  G = (R K R + alpha)⁻¹
        """
        (known, turned), root = self.spectrum, self.root[:, None]
        dual = known.solved(alpha, root * self.y, turned)
        if parts is None:
            return [np.asarray(self.y - dual / known.diagonal(alpha)[:, None] / root)]

        def of_part(number: int) -> Array:
            rows = parts[number]
            return np.asarray(self.y[rows] - known.apart(number, rows, alpha, dual) / root[rows])

        return each(of_part, list(range(len(parts))))
