"""Least squares where X need not exist: a linear operator, or a pair of functions that multiply by X and by its transpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, NotConverged, warn
from tenfold.linear.affine import AffineRegressor
from tenfold.solve.lsqr import lsqr

APART = 1e-4  # how far ⟨X v, u⟩ and ⟨v, Xᵀu⟩ may differ, relative to ‖X v‖ ‖u‖, before they are not of one X
STEPS = 1000  # where the learner names no limit


def is_operator(given: Any) -> bool:
    """SciPy's LinearOperator or anything like it, or a pair of functions v ↦ X v and u ↦ Xᵀu."""
    if isinstance(given, tuple):
        return len(given) == 2 and all(map(callable, given))
    return callable(getattr(given, "matvec", None)) and callable(getattr(given, "rmatvec", None))


class Operable(AffineRegressor):
    """Mixin: `fit` also takes an operator in the place of X, and then solves by LSQR, from products alone."""

    _by_lsqr: ClassVar[dict[str, Any]] = {}  # further attributes of such a fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows: an array, frame, sparse matrix, path to CSV or Parquet, Dask collection, or blocks of rows;
        or from products: a `scipy.sparse.linalg.LinearOperator`, or a pair of functions v ↦ X v and u ↦ Xᵀu."""
        if is_operator(X):
            return self._fit_products(X, y, sample_weight)
        found: Self = super().fit(X, y, sample_weight)
        return found

    def _fit_products(self, X: Any, y: Any, sample_weight: Any) -> Self:
        name = type(self).__name__
        check.check_params(self)
        if self.positive or self.solver not in ("auto", "lsqr"):
            raise BadInput(
                f"{name}: an operator goes with solver='lsqr' (or 'auto') and positive=False: other solvers need the entries of X"
            )
        if y is None:
            raise BadInput(f"{name} requires y to be passed, but the target y is None")
        column = check.as_column(y)
        target = check.real_target(column, len(column))
        weights = check.as_weights(sample_weight, len(target))
        w = np.ones(len(target)) if weights is None else weights
        products = Products(X, target, w, self.fit_intercept)
        self._forget_fit()
        facts = dict(n_features_in_=products.p, _flat=column.ndim == 1)
        most, damp = int(self.max_iter or STEPS), float(getattr(self, "alpha", 0.0)) ** 0.5
        options: dict[str, Any] = dict(damp=damp, tol=float(self.tol), most=most)
        found = [
            lsqr(products.forward, products.backward, products.root * (t - level), products.p, **options)
            for t, level in zip(target.T, products.level, strict=True)
        ]
        worst = max(one.certificate for one in found)
        if worst > self.tol:
            warn(
                f"{name}: least squares by products stopped after {most} steps with its gradient at {worst:.1e} of the start, above "
                f"tol={self.tol:g}: raise max_iter, or scale the columns",
                NotConverged,
                stacklevel=3,
            )
        vars(self).update(facts)
        coef = np.column_stack([one.x for one in found])
        fitted = self._fitted(np.concatenate([products.mean, products.level]), coef)
        vars(self).update(fitted, n_iter_=max(one.steps for one in found), **self._by_lsqr)
        return self


class Products:
    """X √s, its columns centred implicitly, as two functions that are checked where they are called."""

    def __init__(self, given: Any, y: Array, w: Array, fit_intercept: bool) -> None:
        n = len(y)
        self.root, self.n = np.sqrt(w), n
        if isinstance(given, tuple):
            self.multiply, self.transposed = given
            self.p = len(np.atleast_1d(self._called(self.transposed, w, "Xᵀu", None)))
        else:
            if len(given.shape) != 2 or given.shape[0] != n:
                raise BadInput(f"the operator has shape {given.shape}, but y has {n} rows")
            self.multiply, self.transposed, self.p = given.matvec, given.rmatvec, int(given.shape[1])
        self.mean, self.level = np.zeros(self.p), np.zeros(y.shape[1])
        if fit_intercept:
            self.mean = self._called(self.transposed, w, "Xᵀu", self.p) / w.sum()
            self.level = w @ y / w.sum()
        self._check_pair()

    def forward(self, v: Array) -> Array:
        """√s (X − 1 m) v."""
        found: Array = self.root * (self._called(self.multiply, v, "X v", self.n) - self.mean @ v)
        return found

    def backward(self, u: Array) -> Array:
        """(X − 1 m)ᵀ √s u."""
        weighed = self.root * u
        return np.asarray(self._called(self.transposed, weighed, "Xᵀu", self.p) - self.mean * weighed.sum())

    @staticmethod
    def _called(product: Callable[[Array], Any], v: Array, what: str, length: int | None) -> Array:
        """What a function of the user returns, looked at."""
        try:
            found = np.asarray(product(v.copy()))
        except Exception as reason:
            raise BadInput(f"the product {what} raised {type(reason).__name__}: {str(reason)[:200]}") from reason
        if found.dtype.kind not in "fiub":
            raise BadInput(f"the product {what} is {found.dtype}: it must be real numbers")
        if length is not None and found.size != length:
            raise BadInput(f"the product {what} has shape {found.shape}: it must have {length} numbers")
        found = found.reshape(-1).astype(np.float64)
        if not ops.all_finite(found):
            raise BadInput(f"the product {what} is not finite in place {int(np.flatnonzero(~np.isfinite(found))[0])}")
        return found

    def _check_pair(self) -> None:
        """⟨X v, u⟩ = ⟨v, Xᵀu⟩ for some v and u: else the second function is not the transpose of the first."""
        rng = np.random.default_rng(0)
        v, u = rng.normal(size=self.p), rng.normal(size=self.n)
        Xv, Xtu = self._called(self.multiply, v, "X v", self.n), self._called(self.transposed, u, "Xᵀu", self.p)
        size = np.linalg.norm(Xv) * np.linalg.norm(u) + np.linalg.norm(Xtu) * np.linalg.norm(v)
        if abs(Xv @ u - Xtu @ v) > APART * size:
            raise BadInput(
                f"the two products are not those of one matrix and its transpose: (X v)·u = {Xv @ u:.6g}, but v·(Xᵀu) = {Xtu @ v:.6g}"
            )
