"""What support vector machines share: the kernel, the rows that carry the solution, and what it says of new rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, BadType, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, group, param
from tenfold.kernel_machines.kernel_rows import (
    FORMS,
    Form,
    Kernels,
    ProductKernels,
    SparseKernels,
    TableKernels,
    sums_with,
)
from tenfold.kernel_machines.kernelized import misfit_of
from tenfold.kernel_machines.smo import MOST_STEPS, Problem, Solution, solve
from tenfold.kernels.combined import values

PRECOMPUTED = "precomputed"
DENSE_COLUMNS = 2048  # up to which sparse rows are made dense for the fit, where that takes little memory
DENSE_BYTES = 1 << 28


@group
class VectorMachine(Estimator):
    """Abstract: f(x) = Σᵢ cᵢ k(x, xᵢ) + b over rows xᵢ of the fit, the support vectors, most of which are left out."""

    support_: Array = learned("int(v)", "the rows of the fit that carry the solution")
    _vectors: Array = learned("float(v,p)", "these rows", rows=True, optional=True)
    _values: Array = learned("float(*)", "values of these rows where they are sparse", rows=True, optional=True)
    _places: Array = learned("int(*)", "the columns of these values", optional=True)
    _starts: Array = learned("int(v+1)", "where each row begins among them", optional=True)
    dual_coef_: Array = learned("float(*,v)", "what each support vector counts")
    intercept_: Array = learned("float(*)", "b, of each output")
    n_support_: Array = learned("int(*)", "the number of support vectors, of each class")
    fit_status_: int = learned("int", "0 where the gap is closed, else 1")
    kkt_gap_: Any = learned("float|float(*)", "m − M: by how much the conditions of a minimum are missed at most; `tol` bounds it")
    _gamma: float = learned("float", "γ of the kernel")
    _n_fit: int = learned("int", "the number of rows of the fit")

    kind: ClassVar[str] = "keeps rows"
    sparse: ClassVar[bool] = True
    double: ClassVar[bool] = True

    _: KW_ONLY
    kernel: Any = param(
        default="rbf",
        doc="'linear' x·y, 'poly' (γ x·y + coef0)^degree, 'rbf' exp(−γ ‖x − y‖²), 'sigmoid' tanh(γ x·y + coef0), a value of "
        "tenfold.kernels, a function of two tables of rows, or 'precomputed': X is the table of kernels",
    )
    degree: int = param(default=3, at_least=0, at_most=1000, doc="power of 'poly'")
    gamma: float | str = param(
        default="scale", above=0, one_of=("scale", "auto"), doc="γ; 'scale': 1 / (columns x variance of X), 'auto': 1 / columns"
    )
    coef0: float = param(default=0.0, doc="constant of 'poly' and 'sigmoid'")
    tol: float = param(default=1e-3, above=0, doc="bound on the gap m − M")
    shrinking: bool = param(default=True, doc="no effect on what is found: working sets leave out what does not matter")
    cache_size: float = param(default=200, above=0, doc="no effect: kernels are made again, which is quicker than to keep them")
    verbose: bool = param(default=False, doc="no effect: use tenfold.progress()")
    max_iter: int = param(default=-1, at_least=-1, doc="most steps of two variables; −1: ten million, or 100 for each row")

    @property
    def accepts(self) -> str:
        """Rows, or a table of kernels."""
        return "pairs" if isinstance(self.kernel, str) and self.kernel == PRECOMPUTED else "rows"

    # --- the kernel ---

    def _kernels(self, X: Any, w: Array) -> tuple[Kernels, float]:
        """The kernels of the rows of the fit, and γ."""
        me, n = type(self).__name__, X.shape[0]
        if isinstance(self.kernel, str) and self.kernel not in (*FORMS, PRECOMPUTED):
            raise BadParameter(
                f"{me}(kernel={self.kernel!r}): The 'kernel' parameter must be one of {', '.join(map(repr, (*FORMS, PRECOMPUTED)))}, a "
                "kernel of tenfold.kernels or a function of two tables of rows"
            )
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise BadParameter(f"{me}(kernel={str(self.kernel)[:60]}): must be a name, a kernel or a function of two tables of rows")
        if self.accepts == "pairs" and ops.is_sparse(X):
            raise BadType(f"{me}(kernel='precomputed'): Sparse precomputed kernels are not supported: give X.toarray()")
        if not isinstance(self.kernel, str) or self.accepts == "pairs":
            if self.accepts != "pairs":
                check_memory(f"the kernels of {n:,} rows with one another", 8.0 * n * n, "give fewer rows, or take a kernel by name")
            return TableKernels(self._checked_table(X)), 0.0
        gamma = self._gamma_of(X, w)
        form = self._form(gamma)
        if ops.is_sparse(X):
            p = X.shape[1]
            if p > DENSE_COLUMNS or 8.0 * n * p > DENSE_BYTES or self.kernel == "linear":
                return SparseKernels(X.astype(np.float64), form), gamma
            X = ops.dense(X)
        check_memory(f"{n:,} rows of {X.shape[1]:,} columns, in two orders", 24.0 * n * X.shape[1])
        X = X.astype(np.float64, copy=False)
        return self._products(X, form), gamma

    def _products(self, X: Array, form: Form) -> ProductKernels:
        with np.errstate(over="ignore", invalid="ignore"):
            Z = form.scaled(X, X.mean(axis=0))
            largest = np.einsum("ij,ij->i", Z, Z)
            worst = int(np.argmax(np.where(np.isfinite(largest), largest, np.inf)))
            size = largest[worst] if form.name != "poly" else (largest[worst] + abs(form.coef0)) ** form.degree
        if not size < 1e200:
            raise BadInput(
                f"{type(self).__name__}: The dual coefficients or intercepts are not finite: the kernel of row {worst} with itself is "
                "beyond 1e200: scale the columns first, as with StandardScaler, or take another kernel"
            )
        return ProductKernels(Z, form)

    def _form(self, gamma: float) -> Form:
        return Form(self.kernel, gamma, float(self.coef0), int(self.degree))

    def _gamma_of(self, X: Any, w: Array) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        if self.gamma == "auto":
            return 1.0 / int(X.shape[1])
        mass = float(w.sum()) * X.shape[1]
        if ops.is_sparse(X):
            X = X.astype(np.float64)
            mean = float((w @ X).sum()) / mass
            variance = float((w @ X.multiply(X)).sum()) / mass - mean**2
        else:
            mean = float((w @ X.astype(np.float64, copy=False)).sum()) / mass
            parts = (slice(at, at + 1024) for at in range(0, len(X), 1024))
            variance = sum(float((w[rows] @ (X[rows].astype(np.float64) - mean) ** 2).sum()) for rows in parts) / mass
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        if not np.isfinite(gamma) or gamma > 1e300 or (variance <= 0 and X.min() < X.max() < 1e-100):
            raise BadInput(
                f"{type(self).__name__}(gamma='scale'): the values of X are so near to one another that 1 / their variance is beyond the "
                "range of numbers: scale the columns first, as with StandardScaler"
            )
        return float(gamma)

    def _table(self, X: Any, Y: Any) -> Array:
        """What a kernel that is no name says of two tables of rows."""
        X = ops.dense(X).astype(np.float64, copy=False)
        Y = X if Y is None else Y
        if callable(getattr(self.kernel, "clone_with_theta", None)):
            return np.asarray(values(self.kernel, X, Y), dtype=np.float64)
        try:
            found = np.asarray(ops.dense(self.kernel(X, Y)))
        except (TypeError, ValueError) as problem:
            raise BadParameter(
                f"{type(self).__name__}(kernel={getattr(self.kernel, '__name__', 'function')}): must give numbers for two tables of rows "
                f"({problem})"
            ) from problem
        if found.shape != (len(X), len(Y)) or found.dtype.kind not in "biuf":
            raise BadInput(
                f"{type(self).__name__}: the kernel gives values of shape {found.shape} for {len(X)} and {len(Y)} rows: it must be a "
                "function of two tables of rows that gives a number for each pair. X.shape[0] should be equal to X.shape[1]"
            )
        return found.astype(np.float64)

    def _checked_table(self, X: Any) -> Array:
        """The table of the kernels of all rows: finite and symmetric; a word where it is not positive semidefinite."""
        me = type(self).__name__
        K = np.array(ops.dense(X), dtype=np.float64) if self.accepts == "pairs" else self._table(X, None)
        if not ops.all_usable(K):
            i, j = np.argwhere(~(np.abs(K) < 1e100))[0]
            raise BadInput(f"{me}: the kernel of rows {i} and {j} is {K[i, j]}: scale the columns first, or take another kernel")
        apart = np.abs(K - K.T)
        if apart.max(initial=0.0) > 1e-6 * np.abs(K).max(initial=0.0):
            i, j = np.unravel_index(int(apart.argmax()), K.shape)
            raise BadInput(
                f"{me}: the kernel is not symmetric: that of rows {i} and {j} is {K[i, j]:.6g}, that of rows {j} and {i} is {K[j, i]:.6g}"
            )
        square = np.diag(K)[:, None] + np.diag(K) - 2 * K
        i, j = np.unravel_index(int(square.argmin()), K.shape) if len(K) else (0, 0)
        if len(K) and square[i, j] < -1e-8 * np.abs(K).max():
            warn(
                f"{me}: the kernel is not positive semidefinite: k(x, x) + k(y, y) − 2 k(x, y), a squared distance, is {square[i, j]:.3g} "
                f"for rows {i} and {j}. What is found meets the conditions of a minimum, but there may be others: a distance is no kernel, "
                "exp(−γ distance²) of a Euclidean one is (see tenfold.kernels.mercer_check)",
                Degenerate,
                stacklevel=2,
            )
        return K

    # --- the fit ---

    def _solved(self, problem: Problem, kernels: Kernels, tol: float | None = None) -> Solution:
        many = len(problem.cost)
        most = max(MOST_STEPS, 100 * many) if self.max_iter < 0 else int(self.max_iter)
        found = solve(problem, kernels, float(self.tol) if tol is None else tol, most)
        if not (np.isfinite(found.b).all() and np.isfinite(found.gradient).all()):
            raise BadInput(
                f"{type(self).__name__}: The dual coefficients or intercepts are not finite: kernels or C are too large: scale the columns "
                "first, as with StandardScaler, or lower C"
            )
        return found

    def _warn(self, solutions: list[Solution]) -> None:
        """A word about fits that have not converged."""
        open_ones = [one for one in solutions if not one.converged]
        if open_ones:
            worst = max(open_ones, key=lambda one: one.gap)
            warn(
                f"{type(self).__name__}: Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with "
                f"StandardScaler or MinMaxScaler. The gap m − M is {worst.gap:.2g} after {worst.steps:,} steps, above tol={self.tol:g}: "
                "lower C, raise max_iter, or raise tol",
                NotConverged,
                stacklevel=2,
            )

    def _vectors_of(self, X: Any, support: Array) -> dict[str, Any]:
        """Fitted attributes that hold the support vectors."""
        if self.accepts == "pairs":
            return {}
        some = X[support]
        if ops.is_sparse(some):
            some = some.tocsr().astype(np.float64)
            some.sort_indices()
            places, starts = some.indices.astype(np.int64), some.indptr.astype(np.int64)
            return dict(_values=np.array(some.data), _places=places, _starts=starts)
        return dict(_vectors=np.array(some, dtype=np.float64))

    # --- what is known after it ---

    @property
    def support_vectors_(self) -> Any:
        """The rows that carry the solution; sparse where the rows of the fit were. Empty for a table of kernels."""
        fitted = vars(self)
        if "_vectors" in fitted:
            return self._vectors
        if "_values" in fitted:
            from scipy.sparse import csr_matrix

            return csr_matrix((self._values, self._places, self._starts), shape=(len(self.support_), self.n_features_in_))
        return np.empty((0, 0)) if "support_" in fitted else self.__getattr__("support_vectors_")

    @property
    def shape_fit_(self) -> tuple[int, int]:
        """The shape of X."""
        return int(self._n_fit), int(self.n_features_in_)

    @property
    def coef_(self) -> Array:
        """Coefficients of the columns, for kernel='linear'."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        found = np.asarray(self._weights_of_vectors() @ self.support_vectors_)
        found.flags.writeable = False
        return found

    def _weights_of_vectors(self) -> Array:
        """(outputs, support vectors)."""
        return self.dual_coef_

    def _sums(self, X: Any) -> Array:
        """(rows, outputs): f of new rows."""
        weights = self._weights_of_vectors()
        if self.accepts == "pairs":
            found = np.asarray(X[:, self.support_] @ weights.T)
        elif isinstance(self.kernel, str):
            X = X.astype(np.float64, copy=False)
            found = sums_with(X, self.support_vectors_, weights, self._form(float(self._gamma)))
        else:
            vectors = ops.dense(self.support_vectors_)
            found = self._table(X, vectors) @ weights.T if len(vectors) else np.zeros((X.shape[0], len(weights)))
        return np.asarray(found + self.intercept_)

    def _objection(self) -> str | None:
        """Of files: whether the parts belong together."""
        v, fitted = len(self.support_), vars(self)
        if v and not (self.support_.min() >= 0 and self.support_.max() < self._n_fit):
            return "a support vector is none of the rows"
        wrong = misfit_of(self.kernel, (*FORMS, PRECOMPUTED), fitted.get("_vectors"))
        if wrong is not None:
            return wrong
        if self.accepts == "pairs":
            return None if self._n_fit == self.n_features_in_ else "there are not as many columns as rows in a table of kernels"
        if ("_vectors" in fitted) == ("_values" in fitted):
            return "the support vectors are not there once"
        if "_vectors" in fitted:
            return None if self._vectors.shape[1] == self.n_features_in_ else "the support vectors have another number of columns"
        if not {"_places", "_starts"} <= fitted.keys():
            return "the places of sparse values are missing"
        starts, places = self._starts, self._places
        rising = len(starts) == v + 1 and starts[0] == 0 and starts[-1] == len(places) == len(self._values) and (np.diff(starts) >= 0).all()
        inside = not len(places) or (places.min() >= 0 and places.max() < self.n_features_in_)
        return None if rising and inside else "the places of sparse values are not those of rows"
