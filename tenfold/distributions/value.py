"""What all distributions have in common: values that do not change, made of numbers that were looked at, asked about points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import gate_of
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.numbers import check_finite
from tenfold.core.random import generator
from tenfold.core.stats import Moments
from tenfold.core.threads import single_blas

SHOWN = 3  # rows and columns of an array that a formula shows whole


class Distribution:
    """Abstract: a frozen value. Two are equal where all that they are made of is."""

    sparse: ClassVar[bool] = True  # points may be sparse rows

    def log_density(self, x: Any) -> Any:
        raise NotImplementedError

    def density(self, x: Any) -> Any:
        """exp of the log density: 0 where that is too small for a number."""
        return np.exp(self.log_density(x))

    def entropy(self) -> float:
        """−E log p(x), in nats."""
        raise BadInput(f"{type(self).__name__} has no entropy in closed form: average −log_density over what sample() draws")

    def kl(self, other: Any) -> float:
        """KL(self ‖ other) = E log p(x) / q(x) in nats, of two distributions of the same kind; infinite where this one has points that the
        other cannot have.
        """
        if type(other) is not type(self):
            raise BadInput(f"the divergence of a {type(self).__name__} is from another one, not from a {type(other).__name__}")
        return self._kl(other)

    def _kl(self, other: Any) -> float:
        raise BadInput(f"{type(self).__name__} has no divergence in closed form: average log_density − other.log_density over draws")

    def _set(self, **changed: Any) -> None:
        """Fields as they were checked; arrays can no longer be written to."""
        for name, value in changed.items():
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def _parts(self) -> list[Any]:
        return [getattr(self, one.name) for one in fields(self) if one.init]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._parts(), other._parts(), strict=True))

    def __hash__(self) -> int:
        return hash((type(self), *(tuple(one.ravel().tolist()) if isinstance(one, np.ndarray) else one for one in self._parts())))


# --- what a value is made of ----------------------------------------------------------------------------------------


def number(place: str, given: Any, least: float = -np.inf, most: float = np.inf, above: float = -np.inf) -> float:
    """A finite number within its bounds."""
    found = numbers(place, given)
    if found.ndim or not (np.isfinite(found) and least <= found <= most and found > above):
        low = f"above {above:g}" if above > least else f"at least {least:g}" if np.isfinite(least) else ""
        bound = " and ".join(part for part in (low, f"at most {most:g}" if np.isfinite(most) else "") if part)
        raise BadParameter(f"{place}={check.short(given)}: must be a finite number" + f", {bound}" * bool(bound))
    return float(found)


def vector(place: str, given: Any, least: float = -np.inf, above: float = -np.inf) -> Array:
    """Finite numbers in a row, one at least; a number is a row of one."""
    found = np.atleast_1d(numbers(place, given))
    if found.ndim != 1 or not len(found):
        raise BadParameter(f"{place} must be a vector of numbers, not of shape {found.shape}")
    bad = ~(np.isfinite(found) & (found >= least) & (found > above))
    if bad.any():
        i = int(bad.argmax())
        low = f" above {above:g}" if above > least else f" of at least {least:g}" if np.isfinite(least) else ""
        raise BadParameter(f"{place}[{i}] is {found[i]:g}: must be a finite number{low}")
    return found


def square(place: str, given: Any, p: int) -> Array:
    """A symmetric (p, p) matrix; a number is so many times the identity, a vector a diagonal."""
    found = numbers(place, given)
    if found.ndim == 0 or (found.ndim == 1 and len(found) == p):
        found = np.diag(np.broadcast_to(found, p))
    if found.shape != (p, p):
        raise BadParameter(f"{place} is of shape {found.shape}: give ({p}, {p}), {p} variances or one, as the mean has {p} columns")
    if not np.isfinite(found).all():
        i, j = np.argwhere(~np.isfinite(found))[0]
        raise BadParameter(f"{place}[{i}, {j}] is {found[i, j]:g}: must be a finite number")
    size = np.sqrt(np.abs(np.diagonal(found)))
    apart = np.abs(found - found.T) > 1e-8 * size[:, None] * size
    if apart.any():
        i, j = np.argwhere(apart)[0]
        raise BadParameter(f"{place} is not symmetric: [{i}, {j}] is {found[i, j]:g}, but [{j}, {i}] is {found[j, i]:g}")
    return np.asarray(found / 2 + found.T / 2)


def numbers(place: str, given: Any) -> Array:
    """Numbers of any shape as float64."""
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "fiub":
            found = found.astype(object)
            if any(isinstance(one, (str, bytes, complex)) or one is None for one in found.flat):
                raise ValueError
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter(f"{place}={check.short(given)}: must be made of numbers") from None


def places(given: Any, p: int) -> list[int]:
    """Columns by place, different ones, at least one; negative places count from the end."""
    one = [given] if isinstance(given, (int, np.integer)) else list(given) if isinstance(given, (Sequence, np.ndarray)) else None
    if one is None or isinstance(given, (str, bytes)) or any(not isinstance(j, (int, np.integer)) or isinstance(j, bool) for j in one):
        raise BadParameter(f"columns={check.short(given)}: must be places of columns, whole numbers from 0 to {p - 1}")
    found = [int(j) + p if j < 0 else int(j) for j in one]
    for j, asked in zip(found, one, strict=True):
        if not 0 <= j < p:
            raise BadParameter(f"columns={check.short(given)}: there is no column {asked}, they are 0 to {p - 1}")
    if not found or len(set(found)) < len(found):
        raise BadParameter(f"columns={check.short(given)}: name at least one column, and each once")
    return found


# --- points and rows ------------------------------------------------------------------------------------------------


def points(distribution: Distribution, x: Any, p: int) -> tuple[Array, tuple[int, ...]]:
    """Points as float64 rows (n, p), and the shape of answers: a vector is one point of p columns, or n points of one."""
    plain = np.asarray(x) if isinstance(x, (int, float, list, tuple, np.ndarray, np.generic)) or hasattr(x, "to_frame") else None
    shape: tuple[int, ...] | None = None
    if plain is not None and plain.ndim < 2 and plain.dtype.kind in "fiub":
        if p > 1 and plain.shape == (p,):
            x, shape = plain[None, :], ()
        elif p == 1 and plain.size:
            x, shape = plain.reshape(-1, 1), plain.shape
    rows, names = check.as_table(distribution, x)
    if rows.shape[1] != p:
        raise BadInput(f"the points have {rows.shape[1]} columns, but {type(distribution).__name__} has {p}")
    rows = np.asarray(ops.dense(rows), dtype=np.float64)
    check_finite(rows, slice(0, len(rows)), names, missing=False, double=True)
    return rows, (len(rows),) if shape is None else shape


def values(distribution: Distribution, x: Any, what: str) -> Array:
    """Numbers of any shape, as they stand."""
    found = numbers(what, x)
    if np.isnan(found).any():
        raise BadInput(f"{what} of {type(distribution).__name__} holds NaN at place {int(np.isnan(found).ravel().argmax())}: drop it first")
    return found


def moments_of(name: str, X: Any, sample_weight: Any) -> Moments:
    """Weight, mean and scatter of rows wherever they are: arrays, frames, sparse rows, files, streams, Dask collections."""
    source = check.check_fit(gate_of(name, "none"), X, None, sample_weight)
    with single_blas:
        found: Moments = current_engine(source).run(partial(Moments.of_block, target=False), source)
    return found


def rng_of(place: str, random_state: Any, n: Any) -> np.random.Generator:
    """The generator of n draws."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise BadParameter(f"{place}.sample(n={check.short(n)}): must be a whole number of at least 1")
    try:
        return generator(random_state)
    except (TypeError, ValueError):
        raise BadParameter(
            f"{place}.sample(random_state={check.short(random_state)}): must be a whole number >= 0, a generator, or None"
        ) from None


def as_text(array: Array) -> str:
    """An array in a formula: as it is where it is small, else its shape."""
    if max(array.shape, default=0) > SHOWN:
        return f"({' x '.join(map(str, array.shape))})"
    if array.size == 1:
        return f"{array.item():.4g}"
    return "[" + ", ".join(as_text(one) if one.ndim else f"{one:.4g}" for one in array) + "]"
