"""Whether a function of two rows is a kernel, as far as a finite set of rows can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.kernels.kernel import Array, Kernel


@dataclass(frozen=True)
class MercerCheck:
    """What was found. `passed` proves nothing for other rows; a failure is final."""

    passed: bool
    reason: str
    asymmetry: float  # the largest |k(x, y) − k(y, x)|
    smallest: float  # eigenvalue
    largest: float
    vector: Array  # c with Σ cᵢ cⱼ k(xᵢ, xⱼ) = smallest: what the condition of Mercer fails for

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.reason


def mercer_check(kernel: Any, X: Any, *, tol: float = 1e-10) -> MercerCheck:
    """Whether K of these rows is symmetric and positive semidefinite, as that of a kernel is for all sets of rows (Mercer 1909).

    kernel    a kernel, any function of two rows or of two tables of rows, or a matrix in its place (then X is None)
    tol       share of the largest eigenvalue that is taken for rounding

    >>> from tenfold.kernels import mercer_check
    >>> str(mercer_check(lambda x, y: -abs(x - y), [0.0, 1.0, 3.0])).partition(":")[0]
    'not positive semidefinite'
    """
    K = np.asarray(kernel if X is None else _of_pairs(kernel, X), dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
        raise BadInput(f"mercer_check: the kernel gives values of shape {K.shape}, which is no square table of pairs")
    if not np.isfinite(K).all():
        i, j = map(int, np.argwhere(~np.isfinite(K))[0])
        none = np.full(len(K), np.nan)
        return MercerCheck(False, f"k of rows {i} and {j} is {K[i, j]}, which is no number", np.nan, np.nan, np.nan, none)
    apart = np.abs(K - K.T)
    i, j = divmod(int(apart.argmax()), len(K))
    eigenvalues, vectors = np.linalg.eigh((K + K.T) / 2)
    low, high, size = float(eigenvalues[0]), float(eigenvalues[-1]), float(np.abs(eigenvalues).max())
    found = (float(apart[i, j]), low, high, vectors[:, 0])
    if apart[i, j] > tol * size:
        return MercerCheck(False, f"not symmetric: k of rows {i} and {j} is {K[i, j]:.6g}, of rows {j} and {i} it is {K[j, i]:.6g}", *found)
    if low < -tol * size * len(K):
        heavy = int(np.abs(vectors[:, 0]).argmax())
        return MercerCheck(
            False,
            f"not positive semidefinite: the smallest eigenvalue is {low:.6g} beside a largest of {high:.6g}, mostly by row {heavy}; "
            "a distance is no kernel, exp(−γ distance²) of a Euclidean one is",
            *found,
        )
    words = f"symmetric and positive semidefinite on these {len(K)} rows: eigenvalues from {low:.3g} to {high:.3g}"
    return MercerCheck(True, words, *found)


def _of_pairs(kernel: Any, X: Any) -> Any:
    """The values of all pairs of rows. A function is one of tables if it gives such a table, else of two rows."""
    if isinstance(kernel, Kernel):
        return kernel(X)
    reason: Exception | None = None
    try:
        if np.shape(found := kernel(X, X)) == (len(X), len(X)):
            return found
    except Exception as failure:  # whatever a function of two rows does with two tables
        reason = failure
    try:
        return [[float(kernel(x, y)) for y in X] for x in X]
    except Exception as failure:
        message = f"mercer_check: the function takes neither two rows ({failure}) nor two tables of them: see FunctionKernel"
        raise BadInput(message) from reason
