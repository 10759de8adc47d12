"""The centred rows as a triangle: small singular values keep the digits that products of columns lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import CannotForget
from tenfold.core.stats import Centred
from tenfold.core.threads import patiently
from tenfold.solve.least_squares import upper

EPS = float(np.finfo(float).eps)


class Spectrum(NamedTuple):
    """Eigenvalues of the centred scatter, the largest first, eigenvectors as rows, and how they were found."""

    values: Array
    axes: Array
    solver: str


@dataclass(slots=True)
class Root(Centred):
    """Weight, mean and the triangle R with RᵀR = Σ w (x − m)(x − m)ᵀ, which is never formed; it stands in `scatter`.

    `+` is the R of both triangles and the difference of the means, stacked (TSQR). Fewer rows than columns are a trapezoid.
    """

    @classmethod
    def of(cls, block: Block) -> Root:
        X, w = np.asarray(ops.dense(block.X), dtype=np.float64), block.w
        share = w / w.sum()
        center = share @ X
        offset = share @ (X - center)
        return cls(float(w.sum()), center, offset, _reduced((X - (center + offset)) * np.sqrt(w)[:, None]))

    def _merged_scatter(self, other: Array, delta: Array, into: bool) -> Array:
        return _reduced(np.concatenate([self.scatter, other, delta[None]]))

    def __sub__(self, other: Root) -> Root:
        raise CannotForget('a triangle cannot be un-merged exactly: fit again without those rows, or with svd_solver="covariance_eigh"')

    def objection(self) -> str | None:
        return None if len(self.scatter) <= max(len(self.center), 1) else "a triangle has no more rows than columns"

    def gather(self) -> None:
        """As `Table`: nothing is left to be done before the solution, or after it."""

    settle = gather

    def squares(self) -> Array:
        """Centred sums of squares of the columns."""
        with np.errstate(over="ignore"):
            return np.asarray((self.scatter * self.scatter).sum(axis=0))

    def spectrum(self, k: int | None, most: int) -> Spectrum:
        """All of it, whatever k is."""
        return singular_spectrum(self.scatter, most, "full")


def _reduced(Z: Array) -> Array:
    """The R of Z where that has fewer rows."""
    return upper(Z) if len(Z) > Z.shape[1] else Z


def singular_spectrum(rows: Array, most: int, solver: str) -> Spectrum:
    """That of the scatter rowsᵀ rows, without forming it: `most` eigenpairs."""
    if len(rows) < most:  # a row of weight 2 stands for two
        rows = np.concatenate([rows, np.zeros((most - len(rows), rows.shape[1]))])
    _, singular, axes = patiently(np.linalg.svd, rows, full_matrices=False)
    return Spectrum(*completed(singular[:most] ** 2, axes[:most], (4 * rows.shape[1] * EPS) ** 2), solver)


def completed(values: Array, axes: Array, least: float) -> tuple[Array, Array]:
    """Directions without variance (below `least` of the largest) are any basis of what is left.

    Choose one that rounding does not decide: the first columns of X, made orthogonal to all before.
    """
    rank = int((values > least * values[:1]).sum())
    if rank == len(values):
        return values, axes
    values, axes = values.copy(), axes.copy()
    values[rank:] = 0.0
    column = 0
    for i in range(rank, len(axes)):
        norm = 0.0
        while norm < 1e-3:
            before = axes[:i]
            new = -before[:, column] @ before
            new[column] += 1.0
            new -= (before @ new) @ before  # twice: the first time may leave rounding errors
            norm, column = float(np.sqrt(new @ new)), column + 1
        axes[i] = new / norm
    return values, axes


def oriented(axes: Array) -> Array:
    """Each row with its entry of largest size positive."""
    if not len(axes):
        return axes.copy()
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    return np.ascontiguousarray(axes * signs[:, None])
