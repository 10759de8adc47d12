"""Kernels that do not look at the rows: a constant, and noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.kernels.kernel import Array, Kernel

BOUNDS = (1e-5, 1e5)


@dataclass(eq=False, repr=False)
class ConstantKernel(Kernel):
    """k(x, y) = c: a factor that scales a kernel, or a term that shifts it."""

    learnable: ClassVar[tuple[str, ...]] = ("constant_value",)
    requires_vector_input: ClassVar[bool] = False

    constant_value: float = 1.0
    constant_value_bounds: Any = BOUNDS

    def is_stationary(self) -> bool:
        return True

    def cross(self, X: Any, Y: Any) -> Array:
        return np.full((len(X), len(Y)), float(self.constant_value))

    def diag(self, X: Any) -> Array:
        return np.full(len(X), float(self.constant_value))

    def _derivatives(self, X: Any, K: Array) -> Iterator[Array]:
        if self._is_free("constant_value"):
            yield K

    def __repr__(self) -> str:
        return f"{np.sqrt(self.constant_value):.3g}**2"

    def formula(self) -> str:
        return f"{self.constant_value:.3g}"


@dataclass(eq=False, repr=False)
class WhiteKernel(Kernel):
    """Noise: k(x, y) = s if x and y are the same row, else 0. Two rows of two tables are never the same."""

    learnable: ClassVar[tuple[str, ...]] = ("noise_level",)
    requires_vector_input: ClassVar[bool] = False

    noise_level: float = 1.0
    noise_level_bounds: Any = BOUNDS

    def is_stationary(self) -> bool:
        return True

    def cross(self, X: Any, Y: Any) -> Array:
        return self.noise_level * np.eye(len(X)) if Y is X else np.zeros((len(X), len(Y)))

    def diag(self, X: Any) -> Array:
        return np.full(len(X), float(self.noise_level))

    def _derivatives(self, X: Any, K: Array) -> Iterator[Array]:
        if self._is_free("noise_level"):
            yield K

    def _pull(self, X: Any, K: Array, W: Array) -> list[float]:
        return [float(self.noise_level * np.trace(W))] if self._is_free("noise_level") else []

    def formula(self) -> str:
        return f"{self.noise_level:.3g} [x is y]"
