"""Gradients of a user's functions at one point: as given, by complex steps, or by central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter

COMPLEX_STEP = 1e-30
AGREE = 1e-5  # complex steps are taken where they are within this share of central differences: abs and conj make them wrong


class Slopes(NamedTuple):
    """A function at a point: values (m,), gradients (m, n), and whether it gives one number and no vector."""

    values: Array
    slopes: Array
    flat: bool


def functions_of(given: Any, kind: str) -> list[tuple[str, Callable[[Array], Any]]]:
    """Constraints by name."""
    if callable(given):
        given = [given]
    if isinstance(given, Mapping):
        named = [(str(name), one) for name, one in given.items()]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        named = [(f"{kind} {i}" if len(given) > 1 else kind, one) for i, one in enumerate(given)]
    else:
        raise BadParameter(f"kkt: {kind} constraints are functions of x: a dict by name, a list, or one function")
    for name, one in named:
        if not callable(one):
            raise BadParameter(f"kkt: {name} is no function of x")
    return named


def slopes(function: Callable[[Array], Any], x: Array, gradient: Any, name: str) -> Slopes:
    """Values and gradients of a function of one or several numbers at x."""
    value = _values(function, x, name)
    flat, value = value.ndim == 0, np.atleast_1d(value)
    if value.ndim != 1:
        raise BadInput(f"kkt: {name} gives an array of shape {value.shape} at x: one number, or a vector")
    if not np.isfinite(value).all():
        raise BadInput(f"kkt: {name} is {value[~np.isfinite(value)][0]} at x")
    found = differences(function, x, name, len(value)) if gradient is None else _told(gradient, x, name)
    if found.shape == (len(x),) and len(value) == 1:
        found = found[None]
    if found.shape != (len(value), len(x)):
        raise BadParameter(f"kkt: the gradient of {name} has the shape {found.shape}, not {(len(value), len(x))}")
    if not np.isfinite(found).all():
        raise BadInput(f"kkt: the gradient of {name} is {found[~np.isfinite(found)][0]} at x")
    return Slopes(value, found, flat)


def _values(function: Callable[[Array], Any], x: Array, name: str) -> Array:
    found = function(x.copy())
    try:
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"kkt: {name} gives {str(found)[:60]!r} at x, which is no number") from None


def _told(gradient: Any, x: Array, name: str) -> Array:
    try:
        return np.asarray(gradient(x.copy()) if callable(gradient) else gradient, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter(f"kkt: the gradient of {name} must be numbers, or a function of x that gives them") from None


def differences(function: Callable[[Array], Any], x: Array, name: str, m: int) -> Array:
    """(m, n) by central differences, to ten digits; where complex steps agree with them these, to all digits."""
    size = np.cbrt(np.finfo(np.float64).eps) * np.maximum(np.abs(x), np.linalg.norm(x) / np.sqrt(len(x)) or 1.0)
    central = np.empty((m, len(x)))
    for j, step in enumerate(size):
        ends = [x.copy(), x.copy()]
        ends[0][j] += step
        ends[1][j] -= step
        up, down = (np.atleast_1d(_values(function, end, name)) for end in ends)
        central[:, j] = (up - down) / (ends[0][j] - ends[1][j])
    exact = _complex_steps(function, x, m)
    scale = np.abs(central).max(axis=1, keepdims=True, initial=0.0)
    return exact if exact is not None and (np.abs(exact - central) <= AGREE * scale).all() else central


def _complex_steps(function: Callable[[Array], Any], x: Array, m: int) -> Array | None:
    """Im f(x + i t) / t, without cancellation; None where the function does not take complex numbers."""
    found = np.empty((m, len(x)))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")  # a function that discards imaginary parts warns
            for j in range(len(x)):
                z = x.astype(np.complex128)
                z[j] += 1j * COMPLEX_STEP
                found[:, j] = np.atleast_1d(np.asarray(function(z))).imag / COMPLEX_STEP
    except Exception:  # whatever a function of real numbers may say of complex ones
        return None
    return found if np.isfinite(found).all() else None
