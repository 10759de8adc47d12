"""Entropy and information of numbers that are measured, from rows alone, by the distances of nearest rows.

Distances are the largest difference of a column, columns in units of their standard deviations. `shared_by_numbers` and
`shared_by_labels` are the estimates themselves, of clean columns; `features.mutual_info` uses them too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import digamma

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.numbers import check_finite
from tenfold.distributions.categorical import column
from tenfold.distributions.information import unit_of
from tenfold.near.index import NeighborIndex
from tenfold.score.kinds import encoded


def estimate_entropy(X: Any, *, k: int = 3, base: float = 2) -> float:
    """The entropy −∫ p log p dx of the density that rows come from (Kozachenko & Leonenko 1987).

    ψ(n) − ψ(k) + p log 2 + p ⟨log ε⟩, ε the distance to the k-th nearest other row. Rows that occur more than k times have no density, and
    are refused. A small k has little bias, a large one little variance. A vector is one column.

    >>> import numpy as np
    >>> from tenfold.distributions import MultivariateGaussian, entropy, estimate_entropy
    >>> truth = MultivariateGaussian([0.0, 1.0], [[1.0, 0.5], [0.5, 2.0]])
    >>> abs(estimate_entropy(truth.sample(2000, random_state=0)) - entropy(truth)) < 0.1
    True
    """
    unit, rows = unit_of(base), _rows("estimate_entropy", X)
    n, p = rows.shape
    size, deviation = _spread(rows)
    if not deviation.all():
        raise BadInput(f"estimate_entropy: column {int((deviation == 0).argmax())} does not vary, which leaves no density: drop it")
    radius = _kth_distance(rows / size / deviation, _near(k, n, "estimate_entropy"))
    if not radius.all():
        raise BadInput(
            f"estimate_entropy: row {int((radius == 0).argmax())} occurs more than k={k} times, which leaves no density: take a larger k, "
            "drop copies, or give all digits of what was measured"
        )
    found = digamma(n) - digamma(k) + p * math.log(2) + p * np.log(radius).mean() + (np.log(size) + np.log(deviation)).sum()
    return float(found) / unit


def estimate_mutual_information(X: Any, Y: Any, *, k: int = 3, discrete: bool = False, base: float = 2) -> float:
    """How much X says of Y, and Y of X: I(X; Y) of the distribution that their rows come from; at least 0.

    Both of numbers, any columns each: ψ(n) + ψ(k) − ⟨ψ(n_x + 1)⟩ − ⟨ψ(n_y + 1)⟩, where n_x and n_y count the rows that are nearer in X,
    or in Y, than the k-th neighbour in both (Kraskov, Stögbauer & Grassberger 2004). With labels Y (discrete=True; text and truth values
    always are): ψ(n) + ⟨ψ(k)⟩ − ⟨ψ(n_y)⟩ − ⟨ψ(m)⟩, where m counts the rows as near as the k-th neighbour of the same label (Ross 2014).
    A row that occurs more than k times counts its copies instead of k (Gao, Kannan, Oh & Viswanath 2017), so that rounded numbers do.
    Of single columns against a target, as scikit-learn has it: `tenfold.mutual_info_regression`, `tenfold.mutual_info_classif`.

    >>> import numpy as np
    >>> from tenfold.distributions import estimate_mutual_information
    >>> x = np.random.default_rng(0).normal(size=(1000, 2))
    >>> round(estimate_mutual_information(x[:, 0], x[:, 1]), 1), estimate_mutual_information(x, x[:, 0] > 0) > 0.9
    (0.0, True)
    """
    name = "estimate_mutual_information"
    unit, one = unit_of(base), scaled(_rows(name, X))
    near = _near(k, len(one), name)
    if discrete or _labels(Y):
        codes = encoded(column(Y), "Y")[1]
        check.check_length("Y", len(codes), len(one))
        return max(0.0, shared_by_labels(one, codes, near)) / unit
    other = scaled(_rows(name, Y))
    check.check_length("Y", len(other), len(one))
    return max(0.0, shared_by_numbers(one, other, near)) / unit


def estimate_kl_divergence(X: Any, Y: Any, *, k: int = 3, base: float = 2) -> float:
    """KL(p ‖ q) of the distributions p and q that the rows of X and of Y come from.

    p ⟨log ν / ρ⟩ + log(m / (n − 1)) over the n rows of X, where ρ and ν are the distances to the k-th nearest other row of X and of the m
    rows of Y (Wang, Kulkarni & Verdú 2009). A row that occurs more than k times in X or in Y counts the rows of both within the larger
    distance instead: ψ(n_i) − ψ(m_i). Below 0 by chance where p = q; where Y has no rows near some of X it grows without end with the rows.

    >>> import numpy as np
    >>> from tenfold.distributions import estimate_kl_divergence
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=4000), rng.normal(1.0, 1.0, size=4000)
    >>> round(estimate_kl_divergence(a, b, base=np.e), 1)
    0.5
    """
    name = "estimate_kl_divergence"
    unit, mine, theirs = unit_of(base), _rows(name, X), _rows(name, Y)
    if mine.shape[1] != theirs.shape[1]:
        raise BadInput(f"{name}: X has {mine.shape[1]} columns, but Y {theirs.shape[1]}: give the same columns")
    near = _near(k, min(len(mine), len(theirs) + 1), name)
    both = scaled(np.concatenate([mine, theirs]))
    n, m = len(mine), len(theirs)
    one, other = (NeighborIndex(part, "chebyshev", method="tree") for part in (both[:n], both[n:]))
    rho, nu = one.nearest(None, near)[0][:, -1], other.nearest(both[:n], near)[0][:, -1]
    same = (rho == 0) | (nu == 0)
    ratio = both.shape[1] * np.log(np.where(same, 1.0, nu) / np.where(same, 1.0, rho))
    if same.any():
        rows, radius = both[:n][same], np.maximum(rho, nu)[same]
        ratio[same] = digamma(one.count_within(rows, radius) - 1) - digamma(other.count_within(rows, radius))
    return float(ratio.mean() + math.log(m / (n - 1))) / unit


# --- the estimates, of clean columns --------------------------------------------------------------------------------


def shared_by_numbers(X: Array, Y: Array, k: int) -> float:
    """I(X; Y) in nats, by Kraskov, Stögbauer & Grassberger's first estimate."""
    Z = np.column_stack([X, Y])
    radius = _kth_distance(Z, k)
    inside, near = np.nextafter(radius, 0), np.full(len(Z), k)
    if (same := radius == 0).any():
        near[same] = _copies(Z)[same] - 1
    return float(digamma(len(Z)) + (digamma(near) - digamma(_count(X, inside)) - digamma(_count(Y, inside))).mean())


def shared_by_labels(X: Array, codes: Array, k: int) -> float:
    """I(X; codes) in nats, by Ross' estimate; labels of one row are left out."""
    sizes = np.bincount(codes)
    left = np.flatnonzero(sizes[codes] > 1)
    if X.shape[1] == 1:
        left = left[np.argsort(X[left, 0], kind="stable")]  # all that follows finds them in order
    X, codes = X[left], codes[left]
    if not len(X):
        return 0.0
    radius, near = np.empty(len(X)), np.minimum(k, sizes - 1)[codes]
    for label in np.flatnonzero(sizes > 1):
        rows = np.flatnonzero(codes == label)
        radius[rows] = _kth_distance(X[rows], int(min(k, sizes[label] - 1)))
    if (same := radius == 0).any():
        near[same] = _copies(np.column_stack([X, codes]))[same] - 1
    counted = _count(X, np.nextafter(radius, 0))
    return float(digamma(len(X)) + (digamma(near) - digamma(sizes[codes]) - digamma(counted)).mean())


def _kth_distance(X: Array, k: int) -> Array:
    """The distance of each row to its k-th nearest other one."""
    if X.shape[1] > 1:
        return NeighborIndex(X, "chebyshev", method="tree").nearest(None, k)[0][:, -1]
    order = np.argsort(X[:, 0], kind="stable")
    found = np.empty(len(X))
    found[order] = _sorted_kth_distance(X[order, 0], k)
    return found


def _count(X: Array, radius: Array) -> Array:
    """How many rows, itself among them, are at most as far from each as its radius."""
    if X.shape[1] > 1:
        return NeighborIndex(X, "chebyshev", method="tree").count_within(None, radius) + 1
    order = np.argsort(X[:, 0], kind="stable")
    found = np.empty(len(X), dtype=np.int64)
    found[order] = _sorted_count(X[order, 0], radius[order])
    return found


def _copies(X: Array) -> Array:
    """How often each row occurs."""
    _, row, count = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(count[row.ravel()])


def _sorted_kth_distance(x: Array, k: int) -> Array:
    """From each of some sorted numbers to its k-th neighbour: the k nearest are neighbours in the order, j of them on the left."""
    n = len(x)
    padded = np.concatenate([np.full(k, -np.inf), x, np.full(k, np.inf)])
    best = np.full(n, np.inf)
    for j in range(k + 1):
        left, right = x - padded[k - j : k - j + n], padded[2 * k - j : 2 * k - j + n] - x
        np.minimum(best, np.maximum(left, right), out=best)
    return best


def _sorted_count(x: Array, radius: Array) -> Array:
    """How many of some sorted numbers, itself among them, are as near to each as its radius: |x_j − x_i| ≤ r_i, as it is rounded."""
    first = np.searchsorted(x, x - radius, side="left")
    stop = np.searchsorted(x, x + radius, side="right")
    n = len(x)
    while (more := (first > 0) & (x - x[np.maximum(first - 1, 0)] <= radius)).any():
        first[more] -= 1
    while (less := (x - x[np.minimum(first, n - 1)] > radius)).any():
        first[less] += 1
    while (more := (stop < n) & (x[np.minimum(stop, n - 1)] - x <= radius)).any():
        stop[more] += 1
    while (less := (stop > 0) & (x[stop - 1] - x > radius)).any():
        stop[less] -= 1
    return np.asarray(stop - first)


# --- what is given --------------------------------------------------------------------------------------------------


class _Table:
    """What the gate asks of a function's table."""

    sparse = True


def _rows(name: str, X: Any) -> Array:
    """Finite rows of numbers; a vector is one column."""
    if isinstance(X, (list, tuple, np.ndarray)) and np.ndim(X) == 1:
        X = np.asarray(X)[:, None]
    elif hasattr(X, "to_frame"):
        X = X.to_frame()
    rows, names = check.as_table(_Table(), X)
    rows = np.asarray(ops.dense(rows), dtype=np.float64)
    check_finite(rows, slice(0, len(rows)), names, missing=False, double=True)
    if len(rows) < 2:
        raise BadInput(f"{name} needs at least two rows, and there is one")
    return rows


def _labels(Y: Any) -> bool:
    """Whether these are labels by their type."""
    return not hasattr(Y, "columns") and np.asarray(Y).ndim == 1 and np.asarray(Y).dtype.kind not in "fiu"


def _near(k: Any, n: int, name: str) -> int:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k < n:
        raise BadParameter(f"{name}(k={check.short(k)}): must be a whole number from 1 to {n - 1}, one less than there are rows")
    return int(k)


def scaled(Z: Array) -> Array:
    """In units of the standard deviations; constants as they are."""
    size, deviation = _spread(Z)
    return np.asarray(np.where(deviation > 0, Z / size / np.where(deviation > 0, deviation, 1.0), Z))


def _spread(Z: Array) -> tuple[Array, Array]:
    """The power of two that a column reaches, by which nothing is rounded and no square vanishes, and its standard deviation in that unit;
    0 of a constant."""
    size = np.ldexp(1.0, np.frexp(np.abs(Z).max(axis=0))[1])
    deviation = np.std(Z / size, axis=0)
    return size, np.where(deviation > 10 * np.finfo(float).eps * np.abs(Z / size).max(axis=0), deviation, 0.0)
