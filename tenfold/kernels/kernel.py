"""What every kernel is: a positive definite function of two rows, with parameters of which some may be learned.

A kernel says k(x, y) for all pairs of rows (`cross`), and how its values change with the logarithms of its learnable parameters
(`_derivatives`). Everything else follows: the names and the vector `theta` of what is learnable, sums, products and powers, and the
gradient of whatever depends on the matrix K of a set of rows (`Evaluated.pull`), without a table of n x n x parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tenfold.core.errors import BadParameter

Array = NDArray[Any]


class Hyperparameter(NamedTuple):
    """A learnable parameter: its name, the bounds of its values, how many numbers it is, and whether it is fixed."""

    name: str
    value_type: str
    bounds: Any
    n_elements: int = 1
    fixed: bool = False


@dataclass(slots=True)
class Evaluated:
    """The matrix K of a set of rows, and its derivatives with respect to theta."""

    K: Array
    derivatives: Callable[[], Iterator[Array]]  # ∂K/∂θ, one matrix after the other
    pull: Callable[[Array], list[float]]  # of W: Σᵢⱼ Wᵢⱼ ∂Kᵢⱼ/∂θ, for each θ


class Kernel:
    """Abstract: a kernel. Its parameters are the fields of a dataclass, each learnable one with its bounds beside it."""

    learnable: ClassVar[tuple[str, ...]] = ()  # in the order of theta
    requires_vector_input: ClassVar[bool] = True

    # --- what a kernel says ---

    def cross(self, X: Array, Y: Array) -> Array:
        """k(x, y) of every row of X with every row of Y; K itself where Y is X."""
        raise NotImplementedError

    def diag(self, X: Any) -> Array:
        """k(x, x) of every row."""
        raise NotImplementedError

    def _derivatives(self, X: Array, K: Array) -> Iterator[Array]:
        """∂K/∂ log(parameter) for every learnable number that is not fixed."""
        return iter(())

    def is_stationary(self) -> bool:
        """Whether k(x, y) depends on x − y alone."""
        return False

    def formula(self) -> str:
        """k(x, y) as it would be written."""
        raise NotImplementedError

    # --- values and derivatives of a set of rows ---

    def evaluate(self, X: Array) -> Evaluated:
        """K of the rows, with what is needed for its derivatives."""
        K = self.cross(X, X)
        return Evaluated(K, lambda: self._derivatives(X, K), lambda W: self._pull(X, K, W))

    def _pull(self, X: Array, K: Array, W: Array) -> list[float]:
        return [float(np.vdot(W, one)) for one in self._derivatives(X, K)]

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """The matrix of k(x, y), and with `eval_gradient` its derivatives along a third axis, with respect to theta."""
        X = rows_of(X, self)
        if Y is None and not eval_gradient:
            return self.cross(X, X)
        if not eval_gradient:
            return self.cross(X, rows_of(Y, self)[:])  # another array, even where it is the same: its rows are not those of X
        if Y is not None:
            raise BadParameter("Gradient can only be evaluated when Y is None.")
        found = self.evaluate(X)
        every = list(found.derivatives())
        return found.K, np.stack(every, axis=2) if every else np.empty((len(X), len(X), 0))

    # --- parameters, as scikit-learn has them ---

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]  # every kernel is a dataclass

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; `k1__name` reaches into a kernel inside."""
        known = self.get_params(deep=False)
        for key, value in params.items():
            name, mark, rest = key.partition("__")
            if name not in known:
                raise BadParameter(
                    f"Invalid parameter {name} for kernel {type(self).__name__}. Check the list of available parameters with "
                    "`kernel.get_params().keys()`."
                )
            if mark:
                known[name].set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    @property
    def hyperparameters(self) -> list[Hyperparameter]:
        """What may be learned, and within which bounds."""
        found = []
        for name in self.learnable:
            value, bounds = getattr(self, name), getattr(self, f"{name}_bounds")
            size, fixed = int(np.size(value)), isinstance(bounds, str) and bounds == "fixed"
            if not fixed:
                bounds = np.atleast_2d(bounds)
                if bounds.shape[0] not in (1, size):
                    raise BadParameter(f"Bounds on {name} should have either 1 or {size} dimensions. Given are {bounds.shape[0]}")
                bounds = np.repeat(bounds, size, 0) if bounds.shape[0] == 1 else bounds
            found.append(Hyperparameter(name, "numeric", bounds, size, fixed))
        return found

    @property
    def n_dims(self) -> int:
        """The number of learnable numbers that are not fixed."""
        return len(self.theta)

    @property
    def theta(self) -> Array:
        """The logarithms of the learnable numbers that are not fixed."""
        free = [np.ravel(getattr(self, one.name)) for one in self.hyperparameters if not one.fixed]
        return np.log(np.concatenate(free).astype(np.float64)) if free else np.array([])

    @theta.setter
    def theta(self, theta: Any) -> None:
        values = np.exp(np.asarray(theta, dtype=np.float64))
        if values.shape != (self.n_dims,):
            raise BadParameter(f"theta has not the correct number of entries. Should be {self.n_dims}; given are {values.size}")
        start = 0
        for one in self.hyperparameters:
            if not one.fixed:
                some = values[start : start + one.n_elements]
                setattr(self, one.name, some.copy() if np.ndim(getattr(self, one.name)) else float(some[0]))
                start += one.n_elements

    @property
    def bounds(self) -> Array:
        """The logarithms of the bounds of the learnable numbers that are not fixed."""
        free = [one.bounds for one in self.hyperparameters if not one.fixed]
        with np.errstate(divide="ignore"):
            return np.log(np.vstack(free).astype(np.float64)) if free else np.array([])

    def clone_with_theta(self, theta: Any) -> Self:
        """The same kernel with other values of what is learnable."""
        other = deepcopy(self)
        other.theta = theta
        return other

    def _is_free(self, name: str) -> bool:
        bounds = getattr(self, f"{name}_bounds")
        return not (isinstance(bounds, str) and bounds == "fixed")

    def _vector_free(self, name: str, p: int) -> bool:
        """Whether the parameter is one number for each of p columns."""
        size = np.size(getattr(self, name))
        if np.ndim(getattr(self, name)) > 0 and size not in (1, p):
            raise BadParameter(f"Anisotropic kernel must have the same number of dimensions as data ({size}!={p})")
        return bool(np.ndim(getattr(self, name)) > 0 and size > 1)

    def objection(self) -> str | None:
        """Why the parameters are none that a kernel can have, or None. Asked of kernels from files."""
        for name in self.learnable:
            value, bounds = getattr(self, name), getattr(self, f"{name}_bounds")
            if not _are_numbers(value) or np.ndim(value) > 1 or not np.all(np.asarray(value) > 0):
                return f"{name} is not made of numbers above 0"
            if not (isinstance(bounds, str) and bounds == "fixed") and not (_are_numbers(bounds) and np.shape(bounds)[-1:] == (2,)):
                return f"{name}_bounds are not two numbers, or 'fixed'"
        return None

    # --- sums, products, powers ---

    def __add__(self, other: Any) -> Kernel:
        from tenfold.kernels.combined import Sum, as_kernel

        return Sum(self, as_kernel(other))

    def __radd__(self, other: Any) -> Kernel:
        from tenfold.kernels.combined import Sum, as_kernel

        return Sum(as_kernel(other), self)

    def __mul__(self, other: Any) -> Kernel:
        from tenfold.kernels.combined import Product, as_kernel

        return Product(self, as_kernel(other))

    def __rmul__(self, other: Any) -> Kernel:
        from tenfold.kernels.combined import Product, as_kernel

        return Product(as_kernel(other), self)

    def __pow__(self, exponent: float) -> Kernel:
        from tenfold.kernels.combined import Exponentiation

        return Exponentiation(self, exponent)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(), other.get_params()
        return set(mine) == set(theirs) and all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # parameters may be set

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={short(getattr(self, name))}" for name in self.learnable)
        return f"{type(self).__name__}({values})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>k(x, y) = {escape(self.formula())}</code>"


def _are_numbers(value: Any) -> bool:
    try:
        found = np.asarray(value)
    except ValueError:
        return False
    return bool(found.dtype.kind in "iuf" and found.size and np.isfinite(found).all())


def _same(one: Any, other: Any) -> bool:
    same: Any = np.array_equal(one, other) if isinstance(one, np.ndarray) or isinstance(other, np.ndarray) else one == other
    return bool(np.all(same))


def short(value: Any) -> str:
    """A number or a vector of them in three digits."""
    if np.ndim(value):
        return f"[{', '.join(f'{one:.3g}' for one in np.ravel(value))}]"
    return f"{value:.3g}" if isinstance(value, (int, float, np.number)) else str(value)


def rows_of(X: Any, kernel: Kernel) -> Array:
    """Rows as an array of numbers; what else it may be the kernel has to know."""
    if not kernel.requires_vector_input:
        return X  # type: ignore[no-any-return]  # texts, graphs: what the user's function takes
    found = np.atleast_2d(np.asarray(X))
    if found.dtype.kind not in "fiub" or found.ndim != 2:
        raise BadParameter(f"{type(kernel).__name__}: takes rows of numbers, not an array of {found.dtype} with {found.ndim} axes")
    return found if found.dtype in (np.float32, np.float64) else found.astype(np.float64)
