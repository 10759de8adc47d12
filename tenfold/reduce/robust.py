"""Robust principal components: a table as low rank plus sparse."""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.threads import stopping
from tenfold.reduce.back import brought_back
from tenfold.reduce.probabilistic import double
from tenfold.reduce.root import oriented
from tenfold.solve.low_rank import low_rank_plus_sparse

STEPS, SETTLED = 2000, 1e-10  # of projections, and the share of a row that the last may move
COPIES = 8  # tables of the size of X that the search holds


@estimator
class RobustPCA(Transformer, Estimator):
    """RobustPCA: the plane of the rows, and the cells that do not belong to it, however wrong they are.

    Model       X = L + S,  L of low rank, S zero but in few cells;  missing cells of X tell nothing
    Objective   min ‖L‖∗ + λ Σ |S|  subject to  L + S = X;  ‖L‖∗ is the sum of singular values
    Algorithm   augmented Lagrangians: soft thresholds on the singular values, of which only those above are sought, and on cells, until
                the relative duality gap is at most tol. New rows: min over z of Σ |x − z V|, by alternating directions
    Cost        O(n p k) a step, O(n p) memory: the rows are kept
    Fails when  errors fill whole rows or columns, or the rank is above a tenth of the shorter side: L is then not what it was (the gap
                still tells the optimum); rows with noise in all cells: its small part joins L. Rows are not centred
    Reference   Candès, Li, Ma & Wright 2011; Lin, Chen & Ma 2010

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 50))
    >>> wrong = rng.random(clean.shape) < 0.05
    >>> model = tenfold.RobustPCA().fit(np.where(wrong, 100.0, clean))
    >>> model.n_components_, bool(np.abs(model.low_rank_ - clean).max() < 1e-6), bool(np.array_equal(np.abs(model.sparse_) > 1e-6, wrong))
    (3, True, True)
    """

    kind: ClassVar[str] = "keeps rows"

    components_: Array = learned("float(k,p)", "right singular vectors of L, by falling singular value", like_x=True)
    singular_values_: Array = learned("float(k)", "singular values of L", like_x=True)
    n_components_: int = learned("int", "number of components")
    low_rank_: Array = learned("float(n,p)", "L, of the rows with weight above zero", like_x=True)
    sparse_: Array = learned("float(n,p)", "S; zero where X has no value", like_x=True)
    dual_gap_: float = learned("float", "relative duality gap: what is missing to the optimum at most")
    n_iter_: int = learned("int", "number of steps")

    missing: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "single_precision": "the least sum of absolute values lies at a corner, and another one may be as near up to rounding"
    }

    n_components: int | None = param(default=None, at_least=1, doc="components kept for transform; None: the rank of L")
    _: KW_ONLY
    penalty: float | None = param(default=None, above=0, at_most=1e10, doc="λ; None: 1 / √max(n, p)")
    tol: float = param(default=1e-5, above=0, doc="bound on the relative duality gap")
    max_iter: int = param(default=1000, at_least=1, doc="most steps")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_components": 2, "penalty": 0.3, "tol": 1e-8, "max_iter": 20_000}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 2, "penalty": 0.3, "tol": 1e-3, "max_iter": 300}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep()
        X = X.astype(np.float64, copy=False)
        check_memory(f"low rank and sparse parts of {len(X):,} rows of {X.shape[1]:,} columns", 8.0 * COPIES * X.size)
        gaps = np.isnan(X)
        if gaps.all():
            raise BadInput("RobustPCA: X has no value: give rows with some")
        root = np.sqrt(w)[:, None]  # a row of weight 2 stands for two
        price = (self.penalty or 1 / sqrt(max(float(w.sum()), X.shape[1]))) * root
        price = np.where(gaps, 0.0, price) if gaps.any() else price
        found = low_rank_plus_sparse(np.where(gaps, 0.0, X) * root, price, self.tol, self.max_iter)
        if not found.gap <= self.tol:
            message = f"RobustPCA: after {found.n_iter} steps the duality gap is {found.gap:.1e}, above tol: raise max_iter or tol"
            warn(message, NotConverged, stacklevel=2)
        k = len(found.s) if self.n_components is None else min(self.n_components, len(found.s))
        if self.n_components is not None and k < self.n_components:
            warn(f"RobustPCA: n_components={self.n_components}, but the low rank part has rank {k}", Degenerate, stacklevel=2)
        low = (found.U * found.s) @ found.V.T / root
        return dict(
            components_=oriented(np.ascontiguousarray(found.V[:, :k].T)),
            singular_values_=found.s[:k],
            n_components_=k,
            low_rank_=low,
            sparse_=np.where(gaps, 0.0, found.S / root),
            dual_gap_=max(found.gap, 0.0),
            n_iter_=found.n_iter,
        )

    def _transform(self, X: Any) -> Array:
        X = ops.dense(X)
        return np.asarray(nearest(double(X), double(self.components_)).astype(X.dtype, copy=False))

    def inverse_transform(self, X: Any) -> Array:
        """Rows of components back in the original columns: what their low rank part is."""
        return brought_back(self, X, lambda: self.n_components_, lambda Z: Z @ double(self.components_))

    def _names_out(self) -> list[str]:
        return [f"robustpca{i}" for i in range(self.n_components_)]

    def _objection(self) -> str | None:
        if self.n_components_ != len(self.components_):
            return "n_components_ is not the number of components"
        return None if self.low_rank_.shape == self.sparse_.shape else "low_rank_ and sparse_ are of different shape"


def nearest(X: Array, axes: Array) -> Array:
    """z (n, k) with the least Σ |x − z V| over the cells that are there: r = x − z V by soft thresholds, z by projection, in turn."""
    gaps = np.isnan(X)
    X = np.where(gaps, 0.0, X)
    largest = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    X, Z = X / unit, np.zeros((len(X), len(axes)))
    threshold = np.where(gaps, 0.0, np.abs(X).sum(axis=1, keepdims=True) / np.maximum((~gaps).sum(axis=1, keepdims=True), 1) / 2)
    r, u, moving = np.zeros_like(X), np.zeros_like(X), np.arange(len(X))
    for _ in range(STEPS):
        if stopping():
            raise KeyboardInterrupt
        here, t = X[moving], threshold[moving]
        z = (here - r + u) @ axes.T
        rest = here - z @ axes + u
        after = np.sign(rest) * np.maximum(np.abs(rest) - t, 0.0)
        u = rest - after
        change = np.maximum(np.abs(z - Z[moving]).max(axis=1, initial=0.0), np.abs(after - r).max(axis=1, initial=0.0))
        Z[moving], r, left = z, after, change > SETTLED
        if not left.all():
            r, u, moving = r[left], u[left], moving[left]
        if not len(moving):
            break
    return Z * unit
