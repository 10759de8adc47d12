"""Entropy and information of counts, probabilities, labels and distributions.

    H(x) = −Σ p log p      H(x, y)      H(y | x) = H(x, y) − H(x)      I(x; y) = H(y) − H(y | x)      KL(p ‖ q) = Σ p log p / q

A table has a row for each value of x and a column for each of y. In bits, unless `base` says otherwise (math.e: nats). Of columns against
a target: `tenfold.information_gain` and `tenfold.gain_ratio`; from rows of numbers: `distributions.samples`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core import information, ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.distributions.categorical import column
from tenfold.distributions.value import Distribution, numbers
from tenfold.score.kinds import encoded


def entropy(p: Any, *, base: float = 2) -> float:
    """H = −Σ p log p of counts or probabilities, which are divided by their sum; of a distribution its own entropy.

    Labels are counted first: `entropy(Categorical.from_rows(labels))`. Of a density it is −∫ p log p dx, which may be negative.

    >>> from tenfold.distributions import entropy
    >>> round(entropy([3, 2]), 4), entropy([0.5, 0.25, 0.25])
    (0.971, 1.5)
    """
    unit = unit_of(base)
    if isinstance(p, Distribution):
        return p.entropy() / unit
    return float(information.entropy(weights("p", p).ravel())) / unit


def joint_entropy(x: Any, y: Any = None, *, base: float = 2, sample_weight: Any = None) -> float:
    """H(x, y) of two columns of labels, or of a table of counts or probabilities.

    >>> from tenfold.distributions import joint_entropy
    >>> joint_entropy(["a", "a", "b", "b"], [0, 1, 0, 1])
    2.0
    """
    return float(information.entropy(table_of(x, y, sample_weight).ravel())) / unit_of(base)


def conditional_entropy(y: Any, given: Any = None, *, base: float = 2, sample_weight: Any = None) -> float:
    """H(y | x) = Σ p(x) H(y | x): what is not known of y where x is `given`. Two columns of labels; or one table, with a row for each
    value of what is given and a column for each of y.

    >>> from tenfold.distributions import conditional_entropy
    >>> conditional_entropy([0, 1, 0, 0], given=["a", "a", "b", "b"])
    0.5
    """
    table = table_of(y, None) if given is None else table_of(given, y, sample_weight)
    rows = table.sum(axis=1)
    return float(rows @ information.entropy(table) / rows.sum()) / unit_of(base)


def mutual_information(x: Any, y: Any = None, *, base: float = 2, sample_weight: Any = None) -> float:
    """I(x; y) = H(x) + H(y) − H(x, y): how much one of two columns of labels says of the other; or of a table of counts.

    >>> from tenfold.distributions import mutual_information
    >>> mutual_information(["a", "a", "b", "b"], [0, 0, 1, 1]), mutual_information([[1, 1], [1, 1]])
    (1.0, 0.0)
    """
    return information.mutual_information(table_of(x, y, sample_weight)) / unit_of(base)


def kl_divergence(p: Any, q: Any, *, base: float = 2) -> float:
    """KL(p ‖ q) = Σ p log p / q of counts or probabilities of the same categories, or of two distributions of one kind; infinite where q
    has nothing and p has.

    >>> from tenfold.distributions import Bernoulli, kl_divergence
    >>> kl_divergence([0.5, 0.5], [0.25, 0.75]) == kl_divergence(Bernoulli(0.5), Bernoulli(0.25))
    True
    """
    unit = unit_of(base)
    if isinstance(p, Distribution):
        return p.kl(q) / unit
    if isinstance(q, Distribution):
        raise BadInput(f"the divergence of numbers from a {type(q).__name__}: give two distributions, or two vectors")
    from scipy.special import rel_entr

    a, b = weights("p", p), weights("q", q)
    if a.shape != b.shape:
        raise BadInput(f"p is of shape {a.shape}, but q of {b.shape}: give the same categories in the same order")
    return max(0.0, float(rel_entr(a / a.sum(), b / b.sum()).sum())) / unit


# --- what is given --------------------------------------------------------------------------------------------------


def unit_of(base: Any) -> float:
    """Nats in the unit of information."""
    if not isinstance(base, (int, float)) or isinstance(base, bool) or not (math.isfinite(base) and base > 1):
        raise BadParameter(f"base={check.short(base)}: must be a number above 1, 2 for bits, math.e for nats")
    return 1.0 if base == math.e else math.log(base)


def weights(name: str, given: Any) -> Array:
    """Counts or probabilities: not negative, finite, not all zero."""
    found = np.atleast_1d(numbers(name, given.toarray() if ops.is_sparse(given) else given))
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise BadInput(f"{name}{list(place)} is {found[place]:g}: counts and probabilities are finite and not negative")
    if not found.any():
        raise BadInput(f"{name} holds nothing but zeros: at least one count must be above zero")
    return found


def table_of(x: Any, y: Any = None, sample_weight: Any = None) -> Array:
    """The weight of each pair of values; x alone is such a table."""
    if y is None:
        table = weights("the table", x)
        if table.ndim != 2:
            raise BadInput(f"a table of counts has rows and columns, not shape {table.shape}: give one, or two columns of labels")
        return table
    one, other = column(x), column(y)
    if len(one) != len(other):
        raise BadInput(f"{len(one)} labels of x, but {len(other)} of y: both are of the same rows")
    return counted(encoded(one, "x")[1], encoded(other, "y")[1], check.as_weights(sample_weight, len(one)))


def counted(a: Array, b: Array, w: Array | None = None) -> Array:
    """The table of the weights of pairs of codes."""
    rows, columns = int(a.max()) + 1, int(b.max()) + 1
    return np.bincount(a * columns + b, weights=w, minlength=rows * columns).reshape(rows, columns).astype(np.float64)
