"""LSQR: least squares where the matrix is known by its products alone (Paige & Saunders 1982).

    min over x of ‖A x − y‖² + damp² ‖x‖²

A and its transpose are functions. In exact arithmetic these are the iterates of conjugate gradients on the normal equations,
but the bidiagonalisation keeps more digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.monitor import note

Product = Callable[[Array], Array]


class Solution(NamedTuple):
    """x, the size of the gradient relative to that at x = 0, and the steps taken."""

    x: Array
    certificate: float
    steps: int


def lsqr(A: Product, At: Product, y: Array, p: int, *, damp: float, tol: float, most: int) -> Solution:
    """Steps until the gradient is at most `tol` of its size at the start."""
    x, beta = np.zeros(p), float(np.linalg.norm(y))
    v = At(y / beta) if beta > 0 else np.zeros(p)
    alpha = float(np.linalg.norm(v))
    if alpha == 0:
        return Solution(x, 0.0, 0)
    u, v = y / beta, v / alpha
    direction, diagonal, rest = v, alpha, beta
    first = certificate = alpha * beta
    for step in range(1, most + 1):
        u, beta = _unit(A(v) - alpha * u)  # the next pair of the bidiagonalisation
        v, alpha = _unit(At(u) - beta * v)
        if damp > 0:  # a rotation for the row of damping
            damped = float(np.hypot(diagonal, damp))
            rest, diagonal = rest * diagonal / damped, damped
        rho = float(np.hypot(diagonal, beta))  # and one that keeps R triangular
        if rho == 0:
            return Solution(x, 0.0, step)
        c, s = diagonal / rho, beta / rho
        x = x + (c * rest / rho) * direction
        direction = v - (s * alpha / rho) * direction
        certificate = alpha * abs(s * c * rest)
        diagonal, rest = -c * alpha, s * rest
        note(certificate / first)
        if certificate <= tol * first:
            break
    return Solution(x, certificate / first, step)


def _unit(v: Array) -> tuple[Array, float]:
    size = float(np.linalg.norm(v))
    return (v / size if size > 0 else v), size
