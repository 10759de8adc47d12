"""Scores of decisions from what is counted of each class, for many rules of decision at once.

    right (..., K)   rows of a class for which it is decided      said (..., K)   rows for which it is decided      true (K)   its rows

What these scores share is that another threshold than one half, or weights of the classes, may be better by them.
"""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array


def _ratio(above: Array, below: Array) -> Array:
    """above / below, 0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape), where=below > 0)


def averaged(right: Array, said: Array, true: Array, share: str, average: str) -> Array:
    """F₁ = 2 R/(S + T) or the Jaccard index R/(S + T − R): of the second class, or a mean over classes that are true or said."""
    total = said + true
    values = _ratio(2 * right, total) if share == "f1" else _ratio(right, total - right)
    if average == "binary":
        return np.asarray(values[..., 1])
    if average == "weighted":
        return np.asarray((values * true).sum(axis=-1) / true.sum())
    return np.asarray((values * (total > 0)).sum(axis=-1) / (total > 0).sum(axis=-1))


def balanced(right: Array, said: Array, true: Array) -> Array:
    """The mean over the classes that are there of R/T."""
    there = true > 0
    return np.asarray((right[..., there] / true[there]).mean(axis=-1))


def matthews(right: Array, said: Array, true: Array) -> Array:
    """(n ΣR − ΣST) / √((n² − ΣS²)(n² − ΣT²)), 0 where one class is said or true alone."""
    n = true.sum()
    above = n * right.sum(axis=-1) - (said * true).sum(axis=-1)
    below = (n**2 - (said**2).sum(axis=-1)) * (n**2 - (true**2).sum())
    return _ratio(above, np.sqrt(np.maximum(below, 0.0)))
