"""What kernel machines share: a kernel by name, as a value or as a function, and its matrix, tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, group, param
from tenfold.kernel_machines.evidence import kernel_objection
from tenfold.kernels.combined import values
from tenfold.kernels.named import PARAMETERS, named_kernel
from tenfold.solve.tiles import in_rows

PRECOMPUTED = "precomputed"
NAMES = (*PARAMETERS, PRECOMPUTED)


@group
class Kernelized(Estimator):
    """Abstract: has a kernel."""

    kernel: Any = param(
        default="linear",
        doc="'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'cosine', 'chi2' by name, a value of tenfold.kernels, a function of two "
        "rows, or 'precomputed': X is the table of kernels",
    )
    _: KW_ONLY
    gamma: float | None = param(default=None, at_least=0, doc="γ of the kernels by name that have one; None: 1 / number of columns")
    degree: float | None = param(default=3, at_least=0, doc="power of 'poly'")
    coef0: float | None = param(default=1, doc="constant of 'poly' and 'sigmoid'")
    kernel_params: dict[str, Any] | None = param(default=None, doc="what a function takes besides the two rows")

    @property
    def accepts(self) -> str:
        """Rows, or a table of kernels."""
        return "pairs" if isinstance(self.kernel, str) and self.kernel == PRECOMPUTED else "rows"

    def _check_kernel(self, precomputed: bool = True) -> None:
        if isinstance(self.kernel, str) and self.kernel not in (NAMES if precomputed else PARAMETERS):
            raise BadParameter(
                f"{type(self).__name__}(kernel={self.kernel!r}): The 'kernel' parameter must be one of {', '.join(map(repr, NAMES))}, a "
                "kernel of tenfold.kernels or a function of two rows"
            )
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise BadParameter(f"{type(self).__name__}(kernel={str(self.kernel)[:60]}): must be a name, a kernel or a function of two rows")

    def _misfit(self, rows: Array) -> str | None:
        """Of files: why the kernel, or the rows that it was fitted to, are none."""
        columns = rows.shape[1]
        if columns != self.n_features_in_:
            return f"the rows have {columns} columns, not {self.n_features_in_}"
        return misfit_of(self.kernel, NAMES, rows)

    def _between(self, X: Any, Y: Any) -> Array:
        """The kernels of rows with kept rows; of a table of kernels, that table."""
        kernel = self.kernel
        if self.accepts == "pairs":
            return np.asarray(ops.dense(X), dtype=np.float64)
        if isinstance(kernel, str):
            known = {name: value for name in PARAMETERS[kernel] if (value := getattr(self, name)) is not None}
            return named_kernel(kernel, X, Y, **known)
        if callable(getattr(kernel, "clone_with_theta", None)):
            return values(kernel, ops.dense(X), ops.dense(Y))
        return _by_function(kernel, ops.dense(X), ops.dense(Y), self.kernel_params or {})

    def _lower(self, X: Any) -> Array:
        """The matrix of the kernels of rows with one another; what is above the tiles of the diagonal is left empty."""
        n = X.shape[0]
        check_memory(f"the kernels of {n:,} rows with one another", 8.0 * n * n, "give fewer rows, or use Nystroem or RBFSampler")
        if self.accepts == "pairs":
            return np.array(ops.dense(X), dtype=np.float64)
        K = np.empty((n, n))

        def fill(rows: slice) -> None:
            K[rows, : rows.stop] = self._between(X[rows], X[: rows.stop])

        in_rows(n, fill)
        self._check_finite(K, n)
        return K

    def _check_finite(self, K: Array, n: int) -> None:
        """Kernels may overflow where the values of X are large."""
        wrong: list[tuple[int, int]] = []

        def look(rows: slice) -> None:
            part = K[rows, : rows.stop]
            if not np.isfinite(part).all():
                i, j = np.argwhere(~np.isfinite(part))[0]
                wrong.append((rows.start + int(i), int(j)))

        in_rows(n, look)
        if wrong:
            i, j = min(wrong)
            raise BadInput(
                f"{type(self).__name__}: the kernel of rows {i} and {j} is {K[i, j]}: scale the columns first, as with StandardScaler, or "
                "take another kernel"
            )


def misfit_of(kernel: Any, names: Collection[str], rows: Array | None) -> str | None:
    """Why a kernel from a file is none, or does not take rows from a file."""
    if isinstance(kernel, str):
        return None if kernel in names else f"the kernel {kernel[:60]!r} is none of {', '.join(names)}"
    if not callable(kernel):
        return f"the kernel {str(kernel)[:60]!r} is neither a name nor a kernel"
    if rows is None or not len(rows) or not hasattr(kernel, "clone_with_theta"):
        return None
    return kernel_objection(kernel, rows)


def _by_function(function: Callable[..., Any], X: Array, Y: Array, more: dict[str, Any]) -> Array:
    try:
        return np.array([[float(function(x, y, **more)) for y in Y] for x in X]).reshape(len(X), len(Y))
    except (TypeError, ValueError) as problem:
        raise BadParameter(f"kernel={getattr(function, '__name__', 'function')}: must give a number for two rows ({problem})") from problem


def mirrored(K: Array) -> Array:
    """K itself, with what is above the tiles of the diagonal from below it."""

    def copy(rows: slice) -> None:
        K[: rows.start, rows] = K[rows, : rows.start].T

    in_rows(len(K), copy)
    return K
