"""A kernel that the user writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.kernels.kernel import Array, Kernel


@dataclass(eq=False, repr=False)
class FunctionKernel(Kernel):
    """k(x, y) = function(x, y) of two rows, or of all pairs at once where `whole`; rows may be anything that it takes, as texts.

    Whether it is a kernel at all, `mercer_check` sees on a finite set of rows.
    """

    learnable: ClassVar[tuple[str, ...]] = ()
    requires_vector_input: ClassVar[bool] = False

    function: Callable[[Any, Any], Any]
    whole: bool = False

    def cross(self, X: Any, Y: Any) -> Array:
        if self.whole:
            found = np.asarray(self.function(X, Y), dtype=np.float64)
            if found.shape != (len(X), len(Y)):
                raise BadParameter(f"{self}: gave values of shape {found.shape} for {len(X)} and {len(Y)} rows")
            return found
        return np.array([[float(self.function(x, y)) for y in Y] for x in X]).reshape(len(X), len(Y))

    def diag(self, X: Any) -> Array:
        if self.whole:
            return np.array([float(np.asarray(self.function(X[i : i + 1], X[i : i + 1]))[0, 0]) for i in range(len(X))])
        return np.array([float(self.function(x, x)) for x in X])

    def __repr__(self) -> str:
        return f"FunctionKernel({getattr(self.function, '__name__', 'function')})"

    def formula(self) -> str:
        return f"{getattr(self.function, '__name__', 'function')}(x, y)"
