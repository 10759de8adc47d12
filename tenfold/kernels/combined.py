"""Kernels made of kernels: sums, products and powers of kernels are kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.kernels.constant import ConstantKernel
from tenfold.kernels.kernel import Array, Evaluated, Hyperparameter, Kernel, rows_of
from tenfold.kernels.products import DotProduct


class _Named(NamedTuple):
    """A kernel inside another, and the name it has there."""

    name: str
    kernel: Any


class _Combined(Kernel):
    """Abstract: what is learnable is what is learnable of the kernels inside, one after the other."""

    def _inside(self) -> list[_Named]:
        raise NotImplementedError

    @property
    def requires_vector_input(self) -> bool:  # type: ignore[override]  # depends on what is inside
        return any(one.kernel.requires_vector_input for one in self._inside())

    def is_stationary(self) -> bool:
        return all(one.kernel.is_stationary() for one in self._inside())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = super().get_params(deep=False)
        if deep:
            for one in self._inside():
                params.update({f"{one.name}__{key}": value for key, value in one.kernel.get_params().items()})
        return params

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        return [
            Hyperparameter(f"{one.name}__{inner.name}", *inner[1:5])
            for one in self._inside()
            for inner in one.kernel.hyperparameters
        ]

    @property
    def theta(self) -> Array:
        parts = [one.kernel.theta for one in self._inside()]
        return np.concatenate(parts) if parts else np.array([])

    @theta.setter
    def theta(self, theta: Any) -> None:
        theta = np.asarray(theta, dtype=np.float64)
        start = 0
        for one in self._inside():
            size = one.kernel.n_dims
            one.kernel.theta = theta[start : start + size]
            start += size

    @property
    def bounds(self) -> Array:
        parts = [one.kernel.bounds for one in self._inside() if one.kernel.n_dims]
        return np.vstack(parts) if parts else np.array([])

    def objection(self) -> str | None:
        for one in self._inside():
            if not isinstance(one.kernel, Kernel):
                return f"{one.name} is no kernel"
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Combined) or type(self) is not type(other):
            return False
        mine, theirs = [one.kernel for one in self._inside()], [one.kernel for one in other._inside()]
        return mine == theirs or (isinstance(self, _Pair) and mine == theirs[::-1])

    __hash__ = None  # parameters may be set


class _Pair(_Combined):
    """Abstract: two kernels."""

    k1: Any
    k2: Any

    def terms(self) -> list[Any]:
        """All that are put together by the same sign, in their order: of (a + b) + c these three."""
        found = [self.k2]
        first = self.k1
        while type(first) is type(self):
            found.append(first.k2)
            first = first.k1
        return [first, *found[::-1]]

    def _inside(self) -> list[_Named]:
        return [_Named("k1", self.k1), _Named("k2", self.k2)]


@dataclass(eq=False, repr=False)
class Sum(_Pair):
    """k(x, y) = k1(x, y) + k2(x, y)."""

    k1: Any
    k2: Any

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray(values(self.k1, X, Y) + values(self.k2, X, Y))

    def diag(self, X: Any) -> Array:
        return np.asarray(self.k1.diag(X) + self.k2.diag(X))

    def evaluate(self, X: Array) -> Evaluated:
        one, other = evaluated(self.k1, X), evaluated(self.k2, X)

        def derivatives() -> Iterator[Array]:
            yield from one.derivatives()
            yield from other.derivatives()

        return Evaluated(one.K + other.K, derivatives, lambda W: one.pull(W) + other.pull(W))

    def __repr__(self) -> str:
        return f"{self.k1} + {self.k2}"

    def formula(self) -> str:
        return f"{_formula(self.k1)} + {_formula(self.k2)}"


@dataclass(eq=False, repr=False)
class Product(_Pair):
    """k(x, y) = k1(x, y) k2(x, y)."""

    k1: Any
    k2: Any

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray(values(self.k1, X, Y) * values(self.k2, X, Y))

    def diag(self, X: Any) -> Array:
        return np.asarray(self.k1.diag(X) * self.k2.diag(X))

    def evaluate(self, X: Array) -> Evaluated:
        one, other = evaluated(self.k1, X), evaluated(self.k2, X)

        def derivatives() -> Iterator[Array]:
            yield from (slope * other.K for slope in one.derivatives())
            yield from (slope * one.K for slope in other.derivatives())

        return Evaluated(one.K * other.K, derivatives, lambda W: one.pull(W * other.K) + other.pull(W * one.K))

    def __repr__(self) -> str:
        return f"{self.k1} * {self.k2}"

    def formula(self) -> str:
        return " · ".join(f"({_formula(one)})" if isinstance(one, (Sum, DotProduct)) else _formula(one) for one in (self.k1, self.k2))


@dataclass(eq=False, repr=False)
class Exponentiation(_Combined):
    """k(x, y) = k(x, y)^exponent: a kernel for whole exponents, and for others where all values are positive."""

    kernel: Any
    exponent: float

    def _inside(self) -> list[_Named]:
        return [_Named("kernel", self.kernel)]

    def objection(self) -> str | None:
        sound = isinstance(self.exponent, (int, float)) and not isinstance(self.exponent, bool) and 0 < self.exponent < 1e3
        return super().objection() if sound else "the exponent is no number above 0"

    def cross(self, X: Array, Y: Array) -> Array:
        return np.asarray(values(self.kernel, X, Y) ** self.exponent)

    def diag(self, X: Any) -> Array:
        return np.asarray(self.kernel.diag(X) ** self.exponent)

    def evaluate(self, X: Array) -> Evaluated:
        inner = evaluated(self.kernel, X)
        slope = self.exponent * inner.K ** (self.exponent - 1)
        return Evaluated(
            inner.K**self.exponent, lambda: (slope * one for one in inner.derivatives()), lambda W: inner.pull(W * slope)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exponentiation) and self.kernel == other.kernel and self.exponent == other.exponent

    __hash__ = None  # parameters may be set

    def __repr__(self) -> str:
        return f"{self.kernel} ** {self.exponent}"

    def formula(self) -> str:
        return f"({_formula(self.kernel)})^{self.exponent:g}"


@dataclass(eq=False, repr=False)
class CompoundKernel(_Combined):
    """Several kernels of the same rows side by side, their matrices along a third axis: one for each of several outputs."""

    kernels: list[Any]

    def _inside(self) -> list[_Named]:
        return [_Named(f"k{i}", one) for i, one in enumerate(self.kernels)]

    def objection(self) -> str | None:
        return super().objection() if isinstance(self.kernels, list) and self.kernels else "there is no list of kernels"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"kernels": self.kernels}

    def cross(self, X: Array, Y: Array) -> Array:
        return np.dstack([values(one, X, Y) for one in self.kernels])

    def diag(self, X: Any) -> Array:
        return np.vstack([one.diag(X) for one in self.kernels]).T

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        if not eval_gradient:
            return super().__call__(X, Y)
        found = [one(X, Y, eval_gradient) for one in self.kernels]
        return np.dstack([K for K, _ in found]), np.concatenate([slope for _, slope in found], axis=2)

    def __repr__(self) -> str:
        return f"CompoundKernel({', '.join(map(str, self.kernels))})"

    def formula(self) -> str:
        return ", ".join(map(_formula, self.kernels))


def as_kernel(value: Any) -> Any:
    """A kernel as it is; a number as a constant one."""
    if callable(getattr(value, "clone_with_theta", None)):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and value > 0:
        return ConstantKernel(float(value))
    raise BadParameter(f"{str(value)[:60]} can not be added to or multiplied with a kernel: only kernels and numbers above 0 can")


def values(kernel: Any, X: Array, Y: Array) -> Array:
    """k(x, y) of all pairs, of ours or of another library's kernel."""
    if isinstance(kernel, Kernel):
        return kernel.cross(X, Y)
    return np.asarray(kernel(X) if Y is X else kernel(X, Y))


def evaluated(kernel: Any, X: Array) -> Evaluated:
    """The matrix of the rows with its derivatives, of ours or of another library's kernel."""
    if isinstance(kernel, Kernel):
        return kernel.evaluate(rows_of(X, kernel))
    K, slopes = kernel(X, eval_gradient=True)
    last = slopes.shape[2]
    return Evaluated(K, lambda: (slopes[:, :, i] for i in range(last)), lambda W: np.einsum("ij,ijt->t", W, slopes).tolist())


def _formula(kernel: Any) -> str:
    return kernel.formula() if isinstance(kernel, Kernel) else str(kernel)
