"""Logistic regression of sparse rows in memory, by products with them alone: Newton's method with conjugate gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold import _sparse
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import lent_threads
from tenfold.core.learning import Keep, Learner
from tenfold.linear.logistic_terms import Setting
from tenfold.linear.margin_rows import csr_of, csr_parts, on_rows
from tenfold.solve.newton import FINE, Loss, Solution
from tenfold.solve.truncated import Product, Slopes, truncated_newton

# A curvature costs O(n q²), and a product O(stored values), of which a fit takes some forty where it would take some five curvatures.
# Products are with scattered values: slower by so much for each of them.
SLOWER = 600


def by_products(source: Source, q: int) -> bool:
    """Whether it is known before reading that products with the rows, which are sparse, cost less than a curvature of q parameters."""
    X: Any = getattr(source, "X", None)
    return bool(ops.is_sparse(X) and X.format in ("csr", "csc") and X.shape[0] * q * q > SLOWER * X.nnz)


def products_solution(loss: Loss, setting: Setting, start: Array, tol: float, max_iter: int) -> Learner[Solution]:
    """From a start (K, q) to the minimum of Σ w loss(θ) + ½ Σ l2 θ²."""
    X, y, w = yield Keep(sparse=True)
    if setting.class_weight is not None:
        w = w * setting.class_weight[y]
    rows, block = Products(csr_of(X), y, w, start.shape, setting.fit_intercept), Block(X, y, w)
    weight = float(w.sum())
    algorithm = truncated_newton(
        rows.slopes, rows.product, np.ascontiguousarray(loss.l2.T).ravel(), tol=tol, max_iter=max_iter,
        start=np.ascontiguousarray(start.T).ravel(), certificate=partial(_steepest, weight=weight), fine=FINE * weight,
    )  # fmt: skip
    found = on_rows(algorithm, block)
    theta = np.ascontiguousarray(found.theta.reshape(start.T.shape).T)
    if len(theta) > 1:  # a part common to all classes changes no probability
        theta -= theta.mean(axis=0)
    return Solution(theta, found.loss, weight, found.gap, found.closed, found.closed, found.n_step, False)


def _steepest(gradient: Array, price: Array, value: float, weight: float) -> float:
    return float(np.abs(gradient).max()) / weight


class Products:
    """Sums over sparse rows at a point θ (q, K), flat. What rows bend there is kept for the products that follow."""

    def __init__(self, X: Any, y: Array, w: Array, shape: tuple[int, ...], fit_intercept: bool) -> None:
        self.given = (*csr_parts(X), np.ascontiguousarray(y, dtype=np.int64), np.ascontiguousarray(w, dtype=np.float64))
        self.shape, self.fit_intercept = (shape[1], shape[0]), fit_intercept
        # A shift common to the intercepts of all classes changes no probability and has no curvature: it is given some.
        self.common = float(w.sum()) / shape[0] ** 2 if fit_intercept and shape[0] > 1 else 0.0
        self.bent = np.empty((0, shape[0]))

    def slopes(self, _: Block, theta: Array) -> Slopes:
        """Loss, minus its gradient, and the diagonal of the curvature."""
        with lent_threads() as n:
            sums, self.bent = _sparse.logistic_slopes(*self.given, theta.reshape(self.shape), n)
        gradient, diagonal = np.split(sums[:-1], 2)
        self._held(gradient)
        bias = diagonal.reshape(self.shape)[-1]
        bias += self.common if self.fit_intercept else 1.0 - bias
        return Slopes(float(sums[-1]), -gradient, diagonal)

    def product(self, _: Block, theta: Array, v: Array) -> Product:
        """The curvature at θ, the last point that was visited, times v."""
        with lent_threads() as n:
            found = _sparse.logistic_product(*self.given, self.bent, v.reshape(self.shape), n)
        found[-1] += self.common * v.reshape(self.shape)[-1].sum()
        return Product(self._held(found.ravel()))

    def _held(self, sums: Array) -> Array:
        """An intercept that is not fitted stays where it is."""
        if not self.fit_intercept:
            sums.reshape(self.shape)[-1] = 0.0
        return sums
