"""Kernels of the distance between two rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.kernels.kernel import Array, Kernel, short

BOUNDS = (1e-5, 1e5)


def squared_distances(X: Array, Y: Array) -> Array:
    """‖x − y‖² of all pairs, from products: rows are taken about a common centre first, so that little cancels."""
    center = X.mean(axis=0) if len(X) else np.zeros(X.shape[1])
    same = Y is X
    X = X - center
    Y = X if same else Y - center
    xx = np.einsum("ij,ij->i", X, X)
    yy = xx if same else np.einsum("ij,ij->i", Y, Y)
    found: Array = X @ Y.T
    found *= -2.0
    found += xx[:, None]
    found += yy
    np.maximum(found, 0.0, out=found)
    if same:
        np.fill_diagonal(found, 0.0)
    return found


class _Stationary(Kernel):
    """Abstract: a function of the distance in length scales, one for all columns or one for each."""

    def is_stationary(self) -> bool:
        return True

    def diag(self, X: Any) -> Array:
        return np.ones(len(X))

    def _scaled(self, X: Array) -> Array:
        scale = getattr(self, "length_scale")  # noqa: B009  # a field of the classes below
        self._vector_free("length_scale", X.shape[1])
        return np.asarray(X / np.asarray(scale, dtype=X.dtype))

    def _squared(self, X: Array, Y: Array) -> Array:
        Z = self._scaled(X)
        return squared_distances(Z, Z if Y is X else self._scaled(Y))

    def _along_scales(self, X: Array, slope: Array) -> Iterator[Array]:
        """∂K/∂ log l, where `slope` is ∂K/∂ log of all scales at once divided by the squared distance."""
        if not self._is_free("length_scale"):
            return
        Z = self._scaled(X)
        if not self._vector_free("length_scale", X.shape[1]):
            yield slope * squared_distances(Z, Z)
            return
        for column in Z.T:
            yield slope * (column[:, None] - column) ** 2

    def _pull_along_scales(self, X: Array, slope: Array, W: Array) -> list[float]:
        """Σ W ∂K/∂ log l from products: with M = (W + Wᵀ)/2 ∘ slope, Σᵢⱼ Mᵢⱼ (zᵢ − zⱼ)² = 2 Σᵢ zᵢ² Σⱼ Mᵢⱼ − 2 zᵀ M z."""
        if not self._is_free("length_scale"):
            return []
        Z = self._scaled(X)
        Z = Z - Z.mean(axis=0)
        M = W * slope
        along = (M.sum(axis=1) + M.sum(axis=0)) @ Z**2 - 2.0 * np.einsum("ij,ij->j", Z, M @ Z)
        return along.tolist() if self._vector_free("length_scale", X.shape[1]) else [float(along.sum())]


@dataclass(eq=False, repr=False)
class RBF(_Stationary):
    """The Gaussian kernel: k(x, y) = exp(−‖(x − y) / l‖² / 2)."""

    learnable: ClassVar[tuple[str, ...]] = ("length_scale",)

    length_scale: Any = 1.0
    length_scale_bounds: Any = BOUNDS

    def cross(self, X: Array, Y: Array) -> Array:
        K = self._squared(X, Y)
        K *= -0.5
        return np.exp(K, out=K)

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        return self._along_scales(X, K)

    def _pull(self, X: Array, K: Array, W: Array) -> list[float]:
        return self._pull_along_scales(X, K, W)

    def formula(self) -> str:
        return f"exp(−‖(x − y) / {short(self.length_scale)}‖² / 2)"


@dataclass(eq=False, repr=False)
class Matern(_Stationary):
    """The kernel of Matern: with r = ‖(x − y) / l‖ and s = √(2ν) r,  k = 2^(1−ν) / Γ(ν) s^ν K_ν(s).

    ν = 1/2 is exp(−r), ν = 3/2 is (1 + s) exp(−s), ν = 5/2 is (1 + s + s²/3) exp(−s), ν = ∞ the Gaussian kernel.
    """

    learnable: ClassVar[tuple[str, ...]] = ("length_scale",)

    length_scale: Any = 1.0
    length_scale_bounds: Any = BOUNDS
    nu: float = 1.5

    def cross(self, X: Array, Y: Array) -> Array:
        square = self._squared(X, Y)
        if self.nu == np.inf:
            return np.asarray(np.exp(-0.5 * square))
        s = np.sqrt(2 * self.nu * square)
        decay = np.exp(-s)
        if self.nu == 0.5:
            return decay
        if self.nu == 1.5:
            return np.asarray((1 + s) * decay)
        if self.nu == 2.5:
            return np.asarray((1 + s + s**2 / 3) * decay)
        return _bessel(s, self.nu)

    def _slope(self, X: Array, K: Array) -> Array:
        """∂K/∂ log l divided by the squared distance: it has no pole but for ν = 1/2, where the distance of a row from itself is 0."""
        return K if self.nu == np.inf else self.slope_at(self._squared(X, X), K)

    def slope_at(self, square: Array, K: Array) -> Array:
        """The same from squared distances in length scales, for ν < ∞."""
        s = np.sqrt(2 * self.nu * square)
        if self.nu == 0.5:
            return np.asarray(np.divide(K, s, out=np.zeros_like(s), where=s > 0))
        if self.nu == 1.5:
            return np.asarray(3 * np.exp(-s))
        if self.nu == 2.5:
            return np.asarray(5 / 3 * (1 + s) * np.exp(-s))
        # of s^ν K_ν(s) the derivative is −s^ν K_(ν−1)(s)
        from scipy.special import kv

        with np.errstate(invalid="ignore", over="ignore"):
            inner = np.where(s > 0, s ** (self.nu - 1) * kv(self.nu - 1, np.where(s > 0, s, 1.0)), 0.0)
        return np.asarray(2 * self.nu * 2 ** (1 - self.nu) / math.gamma(self.nu) * np.where(np.isfinite(inner), inner, 0.0))

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        return self._along_scales(X, self._slope(X, K))

    def _pull(self, X: Array, K: Array, W: Array) -> list[float]:
        return self._pull_along_scales(X, self._slope(X, K), W)

    def objection(self) -> str | None:
        sound = isinstance(self.nu, (int, float)) and not isinstance(self.nu, bool) and self.nu > 0
        return super().objection() if sound else "nu is no number above 0"

    def __repr__(self) -> str:
        return f"Matern(length_scale={short(self.length_scale)}, nu={self.nu:.3g})"

    def formula(self) -> str:
        order = {0.5: "1/2", 1.5: "3/2", 2.5: "5/2", np.inf: "∞"}.get(self.nu, f"{self.nu:g}")
        return f"Matern[{order}](‖(x − y) / {short(self.length_scale)}‖)"


def _bessel(s: Array, nu: float) -> Array:
    from scipy.special import kv

    tiny = np.finfo(np.float64).eps
    s = np.where(s == 0, tiny, s)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = 2 ** (1 - nu) / math.gamma(nu) * s**nu * kv(nu, s)
    return np.asarray(np.where(s == tiny, 1.0, found))


@dataclass(eq=False, repr=False)
class Laplacian(Kernel):
    """The exponential kernel of the city-block distance: k(x, y) = exp(−Σⱼ |xⱼ − yⱼ| / lⱼ)."""

    learnable: ClassVar[tuple[str, ...]] = ("length_scale",)

    length_scale: Any = 1.0
    length_scale_bounds: Any = BOUNDS

    def is_stationary(self) -> bool:
        return True

    def diag(self, X: Any) -> Array:
        return np.ones(len(X))

    def _scaled(self, X: Array) -> Array:
        self._vector_free("length_scale", X.shape[1])
        return np.asarray(X / np.asarray(self.length_scale, dtype=X.dtype))

    def cross(self, X: Array, Y: Array) -> Array:
        found = np.zeros((len(X), len(Y)), dtype=np.result_type(X, Y))
        for one, other in zip(self._scaled(X).T, self._scaled(Y).T, strict=True):
            found -= np.abs(one[:, None] - other)
        return np.exp(found, out=found)

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        if not self._is_free("length_scale"):
            return
        apart = (np.abs(one[:, None] - one) for one in self._scaled(X).T)
        if self._vector_free("length_scale", X.shape[1]):
            yield from (K * one for one in apart)
        else:
            yield K * sum(apart)

    def formula(self) -> str:
        return f"exp(−‖(x − y) / {short(self.length_scale)}‖₁)"


@dataclass(eq=False, repr=False)
class RationalQuadratic(_Stationary):
    """A mixture of Gaussian kernels of many scales: k(x, y) = (1 + ‖x − y‖² / (2 α l²))^(−α)."""

    learnable: ClassVar[tuple[str, ...]] = ("alpha", "length_scale")

    length_scale: float = 1.0
    alpha: float = 1.0
    length_scale_bounds: Any = BOUNDS
    alpha_bounds: Any = BOUNDS

    def _base(self, X: Array, Y: Array) -> Array:
        if np.ndim(self.length_scale) and np.size(self.length_scale) > 1:
            raise AttributeError("RationalQuadratic kernel only supports isotropic version, please use a single scalar for length_scale")
        return 1.0 + self._squared(X, Y) / (2 * self.alpha)

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray(self._base(X, Y) ** -self.alpha)

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        base = self._base(X, X)
        if self._is_free("alpha"):
            yield K * self.alpha * ((base - 1.0) / base - np.log(base))
        if self._is_free("length_scale"):
            yield K * (base - 1.0) * 2 * self.alpha / base

    def formula(self) -> str:
        return f"(1 + ‖(x − y) / {short(self.length_scale)}‖² / {2 * self.alpha:.3g})^(−{self.alpha:.3g})"


@dataclass(eq=False, repr=False)
class ExpSineSquared(_Stationary):
    """A periodic kernel: k(x, y) = exp(−2 sin²(π ‖x − y‖ / period) / l²)."""

    learnable: ClassVar[tuple[str, ...]] = ("length_scale", "periodicity")

    length_scale: float = 1.0
    periodicity: float = 1.0
    length_scale_bounds: Any = BOUNDS
    periodicity_bounds: Any = BOUNDS

    def _angle(self, X: Array, Y: Array) -> Array:
        if not np.all(np.asarray(self.periodicity) > 0):
            raise BadParameter(f"ExpSineSquared(periodicity={self.periodicity}): must be > 0")
        return np.asarray(np.pi * np.sqrt(squared_distances(X, Y)) / self.periodicity)

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray(np.exp(-2 * (np.sin(self._angle(X, Y)) / self.length_scale) ** 2))

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        angle = self._angle(X, X)
        sine = np.sin(angle)
        if self._is_free("length_scale"):
            yield 4 / self.length_scale**2 * sine**2 * K
        if self._is_free("periodicity"):
            yield 4 * angle / self.length_scale**2 * np.cos(angle) * sine * K

    def formula(self) -> str:
        return f"exp(−2 sin²(π ‖x − y‖ / {self.periodicity:.3g}) / {self.length_scale:.3g}²)"
