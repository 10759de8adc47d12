"""Kernel principal components."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadRequest, DataWarning, NotFitted, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.numbers import check_finite
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.kernel_machines.kernelized import Kernelized, mirrored
from tenfold.kernels.named import named_kernel
from tenfold.solve.leading import eigenpairs, product
from tenfold.solve.linalg import rounding
from tenfold.solve.tiles import cholesky_in_place, in_rows, solve_both


@estimator
class KernelPCA(Transformer, Kernelized):
    """KernelPCA: principal components of the features that a kernel stands for.

    Model       z_k(x) = Σᵢ a_kᵢ kc(x, xᵢ) / √λ_k,  kc the kernel about the mean of the features
    Objective   max over orthogonal directions of the variance of the features
    Algorithm   the leading eigenvectors of K = R Kc R, R the roots of the weights, by block Krylov spaces, or all of them; the largest
                entry of each is positive. Rows back from components (`fit_inverse_transform`): kernel ridge from these to the columns
    Cost        O(n² (p + 100 k)) time, 8 n² bytes; keeps all rows
    Fails when  n² numbers do not fit in memory; eigenvalues are equal (their vectors are then free to turn)
    Reference   Schölkopf, Smola & Müller 1998; pre-images: Bakır, Weston & Schölkopf 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> Z = tenfold.KernelPCA(n_components=1, kernel="rbf", gamma=0.5).fit_transform(np.vstack([ring, 3 * ring]))
    >>> np.unique(np.abs(Z[:40, 0] - Z[0, 0]).round(6)).tolist(), bool(abs(Z[0, 0] - Z[40, 0]) > 0.5)  # two rings, two points
    ([0.0], True)
    """

    eigenvalues_: Array = learned("float(k)", "variances of the components times the weight of the rows, by falling size")
    eigenvectors_: Array = learned("float(n,k)", "a: what each row of the fit counts in each component")
    X_fit_: Any = learned("float(n,*)", "the rows of the fit; of a table of kernels that table", rows=True)
    X_transformed_fit_: Array = learned("float(n,k)", "their components, where rows can come back from them", optional=True)
    dual_coef_: Array = learned("float(n,p)", "what each of these counts for the columns", optional=True)
    _center: Array = learned("float(n)", "mean of the kernels with each row of the fit")

    kind: ClassVar[str] = "keeps rows"
    double: ClassVar[bool] = True
    sparse: ClassVar[bool] = True

    n_components: int | None = param(default=None, at_least=1, doc="components; None: all whose eigenvalues are not zero", before="kernel")
    _: KW_ONLY
    alpha: float = param(default=1.0, at_least=0, doc="penalty of the way back")
    fit_inverse_transform: bool = param(default=False, doc="learn the way back")
    eigen_solver: str = param(
        default="auto", one_of=("auto", "dense", "arpack", "randomized"), doc="no effect: the exact components are found"
    )
    tol: float = param(default=0, at_least=0, doc="no effect: they are found to working precision")
    max_iter: int | None = param(default=None, at_least=1, doc="no effect: it goes on until they are")
    iterated_power: int | str = param(default="auto", at_least=0, one_of=("auto",), doc="no effect: see eigen_solver")
    remove_zero_eig: bool = param(default=False, doc="leave out components whose eigenvalue is zero")
    random_state: int | RandomState | None = param(default=None, doc="no effect: the result does not depend on the draw")
    copy_X: bool = param(default=True, doc="no effect: rows are copied")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_components": 2, "kernel": "rbf", "gamma": 0.05}, {"n_components": 2, "kernel": "poly", "degree": 2, "gamma": 0.1}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_kernel()
        if self.fit_inverse_transform and self.accepts == "pairs":
            raise BadRequest("Cannot fit_inverse_transform with a precomputed kernel.")
        X, _, w = yield Keep()
        rows = np.array(X, dtype=np.float64)  # the user may change the array that was given
        K, share = mirrored(self._lower(rows)), w / w.sum()
        center, root = product(K, share[:, None])[:, 0], np.sqrt(np.asarray(w, dtype=np.float64))
        beside = center - float(center @ share)

        def about_the_mean(rows: slice) -> None:
            K[rows] -= center + beside[rows, None]
            if (root != 1).any():
                K[rows] *= root[rows, None] * root

        in_rows(len(K), about_the_mean)
        values, vectors = eigenpairs(K, min(self.n_components or len(K), len(K)))
        values = self._sound(values, len(K))
        zero = values == 0
        if (self.n_components is None and zero.any()) or self.remove_zero_eig:
            values, vectors = values[~zero], vectors[:, ~zero]
        if not len(values):
            raise BadInput("KernelPCA: the kernels of all rows are the same, so that there are no components: take another kernel")
        told = vectors / np.where(root > 0, root, 1.0)[:, None]  # as of each copy of a row
        top = told[np.abs(told).argmax(axis=0), np.arange(len(values))]
        vectors = vectors * np.where(top < 0, -1.0, 1.0) * root[:, None]
        fitted: dict[str, Any] = dict(eigenvalues_=values, eigenvectors_=vectors, X_fit_=rows, _center=center)
        return fitted | (self._way_back(vectors, values, rows, root) if self.fit_inverse_transform else {})

    def _sound(self, values: Array, n: int) -> Array:
        """Eigenvalues without rounding; those of what is no kernel are told."""
        largest = float(values.max(initial=0.0))
        if values.min(initial=0.0) < -1e-5 * max(largest, 1e-300):
            warn(
                f"KernelPCA: the kernels have the eigenvalue {values.min():.3g} beside a largest of {largest:.3g}, so that they are of no "
                "kernel (see tenfold.kernels.mercer_check): negative ones are left out",
                DataWarning,
                stacklevel=2,
            )
        return np.where(values > rounding(n) * largest, values, 0.0)

    def _way_back(self, vectors: Array, values: Array, rows: Array, root: Array) -> dict[str, Any]:
        """Kernel ridge regression of the columns on the components."""
        Z = vectors / np.where(root > 0, root, 1.0)[:, None] * np.sqrt(values)
        K = self._of_components(Z, Z)
        K *= root[:, None] * root
        K[np.diag_indices(len(K))] += self.alpha
        if not cholesky_in_place(K):
            raise BadInput(f"KernelPCA(alpha={self.alpha:g}): rows cannot come back from their components: increase alpha")
        return dict(X_transformed_fit_=Z, dual_coef_=root[:, None] * solve_both(K, root[:, None] * rows))

    def _of_components(self, Z: Array, of: Array) -> Array:
        """The kernel between rows of components."""
        gamma = self.gamma if self.gamma is not None else 1.0 / self.n_features_in_
        if isinstance(self.kernel, str) and self.kernel != "linear":
            degree, coef0 = 3 if self.degree is None else self.degree, 1.0 if self.coef0 is None else self.coef0
            return named_kernel(self.kernel, Z, of, gamma=gamma, degree=degree, coef0=coef0)
        return self._between(Z, of)

    def _transform(self, X: Any) -> Array:
        near = self._between(X if self.accepts == "pairs" else ops.dense(X).astype(np.float64, copy=False), self.X_fit_)
        found = (near - self._center) @ self._scaled()  # the mean of a row's own kernels is multiplied by zero: Σᵢ a_kᵢ = 0
        return np.asarray(found.astype(X.dtype, copy=False))

    def _scaled(self) -> Array:
        """a / √λ; of components without variance nothing."""
        a, values = self.eigenvectors_, self.eigenvalues_
        return np.asarray(np.divide(a, np.sqrt(values), out=np.zeros_like(a), where=values > 0))

    @available(lambda self: self.fit_inverse_transform or _no_way_back())
    def inverse_transform(self, X: Any) -> Array:
        """Rows whose components are nearly these, by the way back that `fit_inverse_transform` has learned."""
        check.check_fitted(self)
        if "dual_coef_" not in vars(self):
            _no_way_back()
        table, _ = check.as_table(self, X)
        check.check_width(self, table.shape[1], len(self.eigenvalues_))
        Z = np.asarray(ops.dense(table), dtype=np.float64)
        check_finite(Z, slice(0, None), None, False)
        return np.asarray(self._of_components(Z, self.X_transformed_fit_) @ self.dual_coef_)

    def _names_out(self) -> list[str]:
        return [f"kernelpca{i}" for i in range(len(self.eigenvalues_))]

    def _objection(self) -> str | None:
        return self._misfit(self.X_fit_)


def _no_way_back() -> NoReturn:
    raise NotFitted(
        "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse transform is not available."
    )
