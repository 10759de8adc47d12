"""The native kernels again, each as one short array expression: specification, device path, test oracle.

Every function has the name, the arguments and the results of its kernel in `tenfold._kernels`. All but the
last three are written in the array API standard alone; those work on bits, or on more digits than float64 has, and
need NumPy.
"""

from typing import Any

import numpy as np

Array = Any  # any array with __array_namespace__: NumPy, array_api_strict, device arrays


def all_finite(X: Array) -> bool:
    """True when no value is NaN or infinite."""
    xp = X.__array_namespace__()
    return bool(xp.all(xp.isfinite(X)))


def moments(X: Array, Y: Array, w: Array) -> tuple[float, Array, Array, Array]:
    """Of Z = [X Y]: Σw, a centre, Σw(z − centre)/Σw, and Σw(z − mean)(z − mean)ᵀ."""
    xp = X.__array_namespace__()
    Z = xp.concat([_double(X), Y], axis=1)
    weight = xp.sum(w)
    share = w / xp.where(weight > 0, weight, xp.ones_like(weight))
    center = share @ Z
    offset = share @ (Z - center)
    D = (Z - center) - offset
    return float(weight), center, offset, (D * w[:, None]).T @ D


def moments_at(X: Array, rows: Array, Y: Array, w: Array) -> tuple[float, Array, Array, Array]:
    """The moments of the rows of X with these numbers; Y and w hold those rows only."""
    return moments(take_rows(X, rows), Y, w)


def take_rows(X: Array, rows: Array) -> Array:
    """The rows of X with these numbers."""
    return X.__array_namespace__().take(X, rows, axis=0)


def merge_scatter(A: Array, B: Array, d: Array, into: bool) -> Array:
    """A + B + d dᵀ; with `into` the memory of A may be used for it."""
    return A + B + d[:, None] * d[None, :]


def group_moments(X: Array, g: Array, w: Array, k: int) -> tuple[Array, Array, Array, Array]:
    """The moments of the rows of each group 0..k−1; zeros for an empty group."""
    xp = X.__array_namespace__()
    weight, center, offset, D, W = _centred_groups(X, g, w, k)
    return weight, center, offset, xp.matmul(xp.matrix_transpose(D * W[:, :, None]), D)


def group_spreads(X: Array, g: Array, w: Array, k: int) -> tuple[Array, Array, Array, Array]:
    """As group_moments, with only the diagonal of each scatter."""
    xp = X.__array_namespace__()
    weight, center, offset, D, W = _centred_groups(X, g, w, k)
    return weight, center, offset, xp.sum(D * D * W[:, :, None], axis=1)


def weighted_gram(X: Array, d: Array) -> Array:
    """Σ d z zᵀ over the rows z = [x 1]; d is not negative."""
    Z = _with_ones(X)
    return (Z * d[:, None]).T @ Z


def logistic_terms(X: Array, y: Array, w: Array, beta: Array) -> tuple[float, Array]:
    """With η = [x 1]β: Σw(log(1 + e^η) − yη) and its gradient Σw(sigmoid(η) − y)[x 1]."""
    xp = X.__array_namespace__()
    Z = _with_ones(X)
    sign = 2 * _double(y) - 1
    margin = sign * (Z @ beta)  # both terms are functions of it alone, and small ones keep their digits
    e = xp.exp(-xp.abs(margin))  # never overflows
    lost = xp.where(margin < 0, -margin, xp.zeros_like(margin)) + xp.log1p(e)
    missed = xp.where(margin < 0, xp.ones_like(e), e) / (1 + e)
    return float(xp.sum(w * lost)), (-sign * w * missed) @ Z


def logistic_curvature(X: Array, w: Array, beta: Array) -> Array:
    """Σ w μ(1 − μ) z zᵀ over the rows z = [x 1], with μ = sigmoid(zβ)."""
    xp = X.__array_namespace__()
    e = xp.exp(-xp.abs(_with_ones(X) @ beta))
    return weighted_gram(X, w * e / (1 + e) ** 2)


def softmax_terms(X: Array, y: Array, w: Array, B: Array) -> tuple[float, Array]:
    """With η = B[x 1]: Σw(log Σₖe^ηₖ − η_y) and its gradient, one row per class."""
    xp = X.__array_namespace__()
    if X.shape[0] == 0:
        return 0.0, xp.zeros_like(B)
    Z = _with_ones(X)
    eta = Z @ B.T
    eta = eta - xp.max(eta, axis=1, keepdims=True)
    chosen = _one_hot(y, B.shape[0])
    e = xp.exp(eta)
    total = xp.sum(e, axis=1, keepdims=True)
    loss = xp.sum(w * (xp.log(total[:, 0]) - xp.sum(xp.where(chosen > 0, eta, xp.zeros_like(eta)), axis=1)))
    return float(loss), (w[:, None] * (e / total - chosen)).T @ Z


def nearest(X: Array, C: Array) -> tuple[Array, Array]:
    """The number of the centre nearest to each row (ties: the smallest) and the squared distance to it."""
    xp = X.__array_namespace__()
    distance2 = xp.sum((_double(X)[:, None, :] - C[None, :, :]) ** 2, axis=2)
    return xp.argmin(distance2, axis=1), xp.min(distance2, axis=1)


def assign_sums(X: Array, w: Array, C: Array) -> tuple[Array, Array, float]:
    """One Lloyd step: for each centre Σw and Σwx of the rows nearest to it; and Σw‖x − c‖²."""
    xp = X.__array_namespace__()
    label, distance2 = nearest(X, C)
    W = _one_hot(label, C.shape[0]) * w[:, None]
    return xp.sum(W, axis=0), W.T @ _double(X), float(xp.sum(w * distance2))


def lloyd(X: Array, w: Array, C: Array, tol: float, most: int) -> tuple[Array, float, float, int]:
    """Centres moved to the means of their rows until Σ‖move‖² ≤ tol, `most` times, and not where one has no rows.

    With the inertia before the last move, the length of that move, and the number of moves.
    """
    xp, inertia, shift, steps = X.__array_namespace__(), float("inf"), float("inf"), 0
    while steps < most and shift > tol:
        weight, total, before = assign_sums(X, w, C)
        if not bool(xp.all(weight > 0)):
            break
        moved = total / weight[:, None]
        inertia, shift, steps = before, float(xp.sum((moved - C) ** 2)), steps + 1
        C = moved
    return C, inertia, shift, steps


def linear_scores(X: Array, B: Array, b: Array) -> Array:
    """X Bᵀ + b."""
    return _double(X) @ B.T + b


def spread_scores(X: Array, mean: Array, inverse: Array, constant: Array) -> Array:
    """constantₖ − ½ Σⱼ (xⱼ − meanₖⱼ)² inverseₖⱼ."""
    xp = X.__array_namespace__()
    D = _double(X)[:, None, :] - mean[None, :, :]
    return constant - 0.5 * xp.sum(D * D * inverse, axis=2)


def quadratic_scores(X: Array, mean: Array, W: Array, constant: Array) -> Array:
    """constantₖ − ½ ‖(x − meanₖ) Wₖ‖²."""
    xp = X.__array_namespace__()
    V = xp.matmul(_double(X)[None, :, :] - mean[:, None, :], W)  # (k, n, p)
    return constant - 0.5 * xp.sum(V * V, axis=2).T


def rank_pairs(s: Array, y: Array, w: Array) -> tuple[float, float, float]:
    """Weight of the positives (y ≠ 0), of the negatives, and of the pairs the positive wins, ties half; no w: all ones."""
    xp = s.__array_namespace__()
    weight = w if w.shape[0] else xp.ones(s.shape, dtype=xp.float64, device=s.device)
    up, down = weight * _double(y != 0), weight * _double(y == 0)
    won = _double(s[:, None] > s[None, :]) + 0.5 * _double(s[:, None] == s[None, :])
    return float(xp.sum(up)), float(xp.sum(down)), float(xp.sum(up * (won @ down)))


def hash_rows(X: Array, seed: int) -> Array:
    """mix(seed + G p + Σⱼ mix(bits(float32(xⱼ)) + G (j + 1))) modulo 2⁶⁴, with −0 as 0 and one NaN."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore", invalid="ignore"):  # float32 overflow, and integers modulo 2⁶⁴
        rounded = X.astype(np.float32) + np.float32(0)
        rounded[np.isnan(rounded)] = np.nan
        place = golden * np.arange(1, X.shape[1] + 1, dtype=np.uint64)
        mixed = _mix_bits(rounded.view(np.uint32).astype(np.uint64) + place)
        start = np.uint64(seed) + golden * np.uint64(X.shape[1])
        return _mix_bits(start + mixed.sum(axis=1, dtype=np.uint64))


def extended_gradient(X: Array, Y: Array, w: Array, Bhi: Array, Blo: Array) -> tuple[Array, Array, Array]:
    """With r = y − x(Bhi + Blo): Σ w xᵀr as a sum hi + lo, and Σ w r², in extended precision."""
    Z = X.astype(np.longdouble)
    residual = Y - Z @ (Bhi.astype(np.longdouble) + Blo)
    weighted = residual * w[:, None]
    return *_split(Z.T @ weighted), (weighted * residual).sum(axis=0).astype(np.float64)


def extended_gram(X: Array, Y: Array, w: Array, R: Array) -> tuple[Array, Array]:
    """Σ w z zᵀ over the rows z = [x R⁻¹, y] as a sum hi + lo; R is upper triangular."""
    Z = np.hstack([X, Y]).astype(np.longdouble)
    for j in range(X.shape[1]):  # forward substitution: z R = x
        Z[:, j] = (Z[:, j] - Z[:, :j] @ R[:j, j]) / R[j, j]
    return _split((Z * w[:, None]).T @ Z)


def _double(values: Array) -> Array:
    xp = values.__array_namespace__()
    return xp.astype(values, xp.float64)


def _with_ones(X: Array) -> Array:
    xp = X.__array_namespace__()
    return xp.concat([_double(X), xp.ones((X.shape[0], 1), dtype=xp.float64, device=X.device)], axis=1)


def _one_hot(labels: Array, k: int) -> Array:
    xp = labels.__array_namespace__()
    return _double(labels[:, None] == xp.arange(k, dtype=labels.dtype, device=labels.device)[None, :])


def _centred_groups(X: Array, g: Array, w: Array, k: int) -> tuple[Array, Array, Array, Array, Array]:
    """Weight, centre, offset of each group; the rows about its mean (k, n, p); their weights (k, n)."""
    xp = X.__array_namespace__()
    W, Z = _one_hot(g, k).T * w, _double(X)
    weight = xp.sum(W, axis=1)
    share = (W / xp.where(weight > 0, weight, xp.ones_like(weight))[:, None])[:, None, :]  # (k, 1, n)
    center = xp.matmul(share, xp.broadcast_to(Z, (k, *Z.shape)))[:, 0, :]
    D = Z[None, :, :] - center[:, None, :]
    offset = xp.matmul(share, D)[:, 0, :]
    return weight, center, offset, D - offset[:, None, :], W


def _mix_bits(z: Array) -> Array:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _split(values: Array) -> tuple[Array, Array]:
    """A long double as the sum of two doubles."""
    hi = values.astype(np.float64)
    return hi, (values - hi).astype(np.float64)
