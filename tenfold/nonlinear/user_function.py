"""A function that a user gave, with its Jacobian, and one sentence for what may be wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.check import short
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.solve.levenberg import complex_step, difference

# Complex step and differences are the same derivative if they differ by less than this share of it.
AGREE = 1e-4


class UserFunction:
    """f(x, *b) as a function of b that gives (n,) numbers, and its (n, k) derivatives."""

    def __init__(self, function: Any, jacobian: Any, x: Any, n: int | None, box: tuple[Array, Array, Array]) -> None:
        start, lower, upper = box
        if not (jacobian is None or callable(jacobian) or jacobian in ("complex", "difference")):
            raise BadParameter(
                f"CurveFit(jacobian={short(jacobian)}): must be a function, 'complex', 'difference' or None"
            )
        self.function, self.given, self.x, self.n = function, jacobian, x, n
        self.lower, self.upper = lower, upper
        self.typical = np.where(start == 0, 0.1, np.abs(start))
        self.kind = "given" if callable(jacobian) else jacobian or "complex"

    def __call__(self, b: Array) -> Array:
        with np.errstate(all="ignore"):
            values = self._called(self.function, "function", b)
        if values.dtype.kind == "c":
            raise BadInput(f"function gave complex numbers at the real parameters {_written(b)}: it must give real ones")
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise BadInput(f"function gave {values.dtype} and not numbers at the parameters {_written(b)}") from None
        if self.n is None and values.ndim == 1:
            self.n = len(values)
        if values.ndim != 1 or len(values) != self.n:
            rows = "rows of x" if self.n is None else str(self.n)
            raise BadInput(
                f"function gave an array of shape {values.shape} where one number for each row, shape "
                f"({rows},), is needed: it must return as many numbers as y has"
            )
        return values

    def _called(self, function: Any, name: str, b: Array) -> Array:
        try:
            return np.asarray(function(self.x, *b))
        except ArithmeticError:  # an overflow or a division by zero of Python's own numbers
            return np.full(self.n or 1, np.nan)
        except Exception as wrong:
            raise BadInput(f"{name} raised {type(wrong).__name__}: {wrong}, at the parameters {_written(b)}") from wrong

    def check_start(self, b: Array) -> None:
        """The search can begin only where the function has values. Find out which Jacobian can be had."""
        values = self(b)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise BadInput(f"function is {values[row]} in row {row} at the start {_written(b)}: begin where it is finite")
        if self.given is None and not self.agrees(b):
            self.use_differences()
        J = self.jacobian(b)
        if not np.isfinite(J).all():
            row, j = (int(i) for i in np.argwhere(~np.isfinite(J))[0])
            raise BadInput(
                f"the derivative by parameter {j} is {J[row, j]} in row {row} at the start {_written(b)}: begin elsewhere"
            )

    def jacobian(self, b: Array) -> Array:
        """(n, k) derivatives at b."""
        with np.errstate(all="ignore"):
            if self.kind == "complex":
                return complex_step(self._complex, b)
            if self.kind == "difference":
                return difference(self, b, self.lower, self.upper, self.typical)
            J = self._called(self.given, "jacobian", b)
        n = len(self(b)) if self.n is None else self.n
        if J.shape != (n, len(b)) or J.dtype.kind not in "fiu":
            raise BadInput(
                f"jacobian gave {J.dtype} of shape {J.shape} where numbers of shape ({n}, {len(b)}) are "
                "needed: one row for each row of x, one column for each parameter"
            )
        return J.astype(np.float64)

    def use_differences(self) -> None:
        self.kind = "difference"

    def agrees(self, b: Array) -> bool:
        """Whether the complex step is right at b: functions of |b| or with real buffers lose it."""
        if self.kind != "complex" or self.given == "complex":
            return True
        try:
            J = self.jacobian(b)
        except BadInput:
            return False
        other = difference(self, b, self.lower, self.upper, self.typical)
        if J.shape != other.shape or not np.isfinite(J).all():
            return False
        if not np.isfinite(other).all():
            return True
        # a difference is uncertain by the rounding of f over its step
        noise = 1e-9 * np.abs(self(b)).max(initial=0.0) / np.maximum(np.abs(b), 0.01 * self.typical) * np.sqrt(len(J))
        gap, size = np.linalg.norm(J - other, axis=0), np.linalg.norm(other, axis=0)
        return bool((gap <= AGREE * size + noise).all())

    def _complex(self, b: Array) -> Array:
        values = self._called(self.function, "function", b)
        if values.ndim != 1:
            raise BadInput(f"function gave an array of shape {values.shape} at complex parameters")
        return values


def _written(b: Array) -> str:
    return "[" + ", ".join(f"{value:.6g}" for value in b[:8]) + (", ...]" if len(b) > 8 else "]")
