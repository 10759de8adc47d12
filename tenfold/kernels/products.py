"""Kernels of the product of two rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.kernels.kernel import Array, Kernel

BOUNDS = (1e-5, 1e5)


@dataclass(eq=False, repr=False)
class DotProduct(Kernel):
    """The linear kernel: k(x, y) = σ² + x·y, where σ² is the variance of the intercept."""

    learnable: ClassVar[tuple[str, ...]] = ("sigma_0",)

    sigma_0: float = 1.0
    sigma_0_bounds: Any = BOUNDS

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray(X @ Y.T + self.sigma_0**2)

    def diag(self, X: Any) -> Array:
        return np.asarray(np.einsum("ij,ij->i", X, X) + self.sigma_0**2)

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        if self._is_free("sigma_0"):
            yield np.full(K.shape, 2 * self.sigma_0**2)

    def formula(self) -> str:
        return f"{self.sigma_0:.3g}² + x·y"


@dataclass(eq=False, repr=False)
class Polynomial(Kernel):
    """The polynomial kernel: k(x, y) = (c + x·y / l²)^degree; c > 0 brings all lower powers in."""

    learnable: ClassVar[tuple[str, ...]] = ("coef0", "length_scale")

    degree: int = 2
    length_scale: float = 1.0
    coef0: float = 1.0
    length_scale_bounds: Any = BOUNDS
    coef0_bounds: Any = BOUNDS

    def _base(self, X: Array, Y: Array) -> Array:
        return np.asarray(X @ Y.T / self.length_scale**2)

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray((self.coef0 + self._base(X, Y)) ** self.degree)

    def diag(self, X: Any) -> Array:
        return np.asarray((self.coef0 + np.einsum("ij,ij->i", X, X) / self.length_scale**2) ** self.degree)

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        base = self._base(X, X)
        lower = self.degree * (self.coef0 + base) ** (self.degree - 1)
        if self._is_free("coef0"):
            yield lower * self.coef0
        if self._is_free("length_scale"):
            yield -2.0 * lower * base

    def objection(self) -> str | None:
        sound = isinstance(self.degree, int) and not isinstance(self.degree, bool) and 1 <= self.degree <= 1000
        return super().objection() if sound else "the degree is no whole number above 0"

    def __repr__(self) -> str:
        return f"Polynomial(degree={self.degree}, length_scale={self.length_scale:.3g}, coef0={self.coef0:.3g})"

    def formula(self) -> str:
        return f"({self.coef0:.3g} + x·y / {self.length_scale:.3g}²)^{self.degree}"
