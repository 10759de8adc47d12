"""Second-order conditions of a minimum under constraints: the curvature of the Lagrangian along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.solve.slopes import functions_of

LONGEST = 40  # coordinates up to which the Hessian is taken by differences
CLEAR = 1e-4  # share of the largest curvature beyond which the sign of the least one is known


def second_order(
    x: Array,
    objective: Callable[[Array], Any],
    inequalities: Any,
    equalities: Any,
    lam: Array,
    mu: Array,
    strict: Array,
    equal: Array,
    weak: bool,
) -> str:
    """What the curvature says of a point where the first-order conditions hold. `strict` and `equal` are the gradients of the
    constraints with λ > 0 and of the equalities; `weak`: others are active with λ = 0, and keep some directions away."""
    if len(x) > LONGEST:
        return ""
    below, on = ([one for _, one in functions_of(given, "")] for given in (inequalities, equalities))

    def lagrangian(at: Array) -> float:
        total = float(np.asarray(objective(at)).reshape(-1)[0])
        for functions, weights in ((below, lam), (on, mu)):
            values = [np.atleast_1d(np.asarray(one(at), dtype=np.float64)) for one in functions]
            total += float(weights @ np.concatenate(values)) if values else 0.0
        return total

    H = hessian(lagrangian, x)
    if not np.isfinite(H).all():
        return ""
    along = _null_space(np.vstack([strict, equal]))
    if not along.shape[1]:
        return "second order: the active constraints leave no direction: a strict local minimum"
    curvature, directions = np.linalg.eigh(along.T @ H @ along)
    clear = CLEAR * float(np.abs(H).max(initial=0.0))
    if curvature[0] > clear:
        return f"second order: the least curvature along the constraints is {curvature[0]:.3g}: a strict local minimum"
    if curvature[0] < -clear and not weak:
        way = along @ directions[:, 0]
        shown = ", ".join(f"{one:.3g}" for one in way[:6]) + (", ..." if len(way) > 6 else "")
        return f"second order: the curvature along ({shown}) is {curvature[0]:.3g}: a saddle point or a maximum, not a minimum"
    return f"second order: the least curvature along the constraints is {curvature[0]:.3g}, which does not decide"


def hessian(function: Callable[[Array], float], x: Array) -> Array:
    """Second derivatives by central differences."""
    n = len(x)
    size = np.finfo(np.float64).eps ** 0.25 * np.maximum(np.abs(x), np.linalg.norm(x) / np.sqrt(n) or 1.0)
    moves, here, H = np.diag(size), function(x.copy()), np.empty((n, n))
    for i in range(n):
        H[i, i] = (function(x + moves[i]) - 2 * here + function(x - moves[i])) / size[i] ** 2
        for j in range(i):
            corners = (function(x + s * moves[i] + t * moves[j]) * s * t for s in (1, -1) for t in (1, -1))
            H[i, j] = H[j, i] = sum(corners) / (4 * size[i] * size[j])
    return H


def _null_space(A: Array) -> Array:
    """Orthonormal directions along which no row of A changes."""
    n = A.shape[1]
    if not len(A):
        return np.eye(n)
    rows = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    _, s, V = np.linalg.svd(rows, full_matrices=True)
    return np.asarray(V[int((s > 1e-8).sum()) :].T)
