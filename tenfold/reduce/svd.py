"""Leading singular vectors of rows as they are, not centred."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.core.stats import Spread, Stats
from tenfold.core.threads import patiently
from tenfold.reduce.back import brought_back
from tenfold.reduce.probabilistic import double
from tenfold.reduce.products import leading_axes, narrow, product_of, spread_of
from tenfold.reduce.root import EPS, completed, oriented
from tenfold.solve.columns import check_magnitude
from tenfold.solve.least_squares import Triangle
from tenfold.solve.linalg import eigh

NARROWER = 2  # times as many passes of narrow blocks: half the products, and more digits
SMALL, NEARLY = 512, 4  # columns, or times as many as vectors of a block, up to which one pass of all products is cheaper
PASSES, SETTLED, ROUGHLY = 200, 1e-12, 1e-7
GRAM = 1e-6  # of the largest eigenvalue: below, products have lost digits that the rows still have


@estimator
class TruncatedSVD(Transformer, Estimator):
    """TruncatedSVD: the leading singular vectors of the rows, which are not centred and may stay sparse.

    Model       x ≈ Σₖ zₖ vₖ,  z = V x,  V orthonormal rows
    Objective   min over V of Σ w ‖x − Vᵀ V x‖²
    Algorithm   up to 512 columns one pass of products of columns and their eigenvectors; else block Krylov spaces, a pass for each block,
                until they settle ("arpack") or for n_iter more passes ("randomized"). Where products have lost digits of the last singular
                values, one more pass finds them from the triangle of the projected rows. The largest entry of each component is positive
    Cost        O(nnz (k + 10)) a pass, O(p k) memory
    Fails when  a column of large mean takes the first component (PCA centres); n_components exceeds the rank (warns Degenerate)
    Reference   Eckart & Young 1936; Deerwester et al. 1990 (texts); Musco & Musco 2015

    Example
    -------
    >>> import scipy.sparse, tenfold
    >>> X = scipy.sparse.random(1000, 200, density=0.02, random_state=0, format="csr")
    >>> model = tenfold.TruncatedSVD(n_components=3).fit(X)
    >>> model.transform(X).shape, model.singular_values_.round(3).tolist()
    ((1000, 3), [5.381, 3.9, 3.88])
    """

    components_: Array = learned("float(k,p)", "right singular vectors, by falling singular value", like_x=True)
    explained_variance_: Array = learned("float(k)", "variance of each transformed column", like_x=True)
    explained_variance_ratio_: Array = learned("float(k)", "its share of the variance of all columns", like_x=True)
    singular_values_: Array = learned("float(k)", "singular values of the rows", like_x=True)

    sparse: ClassVar[bool] = True
    lean: ClassVar[bool] = True
    lean_fit: ClassVar[bool] = True

    n_components: int = param(default=2, at_least=1, doc="number of singular vectors")
    _: KW_ONLY
    algorithm: str = param(
        default="randomized", one_of=("arpack", "randomized"), doc='"arpack": all digits; "randomized": as many as n_iter passes give'
    )
    n_iter: int = param(default=5, at_least=0, doc='most passes of "randomized" beyond the first')
    n_oversamples: int = param(default=10, at_least=1, doc="vectors of a block beyond n_components")
    power_iteration_normalizer: str = param(
        default="auto", one_of=("auto", "QR", "LU", "none"), doc="no effect: blocks are orthonormal"
    )
    random_state: Any = param(default=None, doc="seed of the first block; None: always the same")
    tol: float = param(default=0.0, at_least=0, doc='bound on the residuals of "arpack"; 0: 1e-12')

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_components": 2}, {"n_components": 2, "algorithm": "arpack"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 1}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        p, k = source.n_features, int(self.n_components)
        if k > p:
            raise BadInput(f"TruncatedSVD: n_components({k}) must be <= n_features({p}): lower it")
        first = yield partial(_first, Q=np.eye(p) if self._small(p) else None)
        weight, mean, squares = float(first.spread.weight[0]), first.spread.mean[0], first.spread.scatter[0]
        check_magnitude(mean, squares + weight * mean**2, vars(self).get("feature_names_in_"))
        if first.products is None:
            values, axes = yield from self._by_products(source, p, k)
        else:
            values, vectors = eigh((first.products + first.products.T) / 2)
            values, axes = np.maximum(values[::-1][:k], 0.0), vectors[:, ::-1].T[:k]
        singular = np.sqrt(values)
        if values[-1] < GRAM * values[0] and source.rereadable:
            triangle = yield partial(_projected, axes=axes)
            _, singular, turns = patiently(np.linalg.svd, triangle.R, full_matrices=False)
            singular, axes = np.pad(singular, (0, k - len(singular))), np.concatenate([turns @ axes, axes[len(turns) :]])
        values, axes = completed(singular**2, axes, (4 * p * EPS) ** 2)
        rank = int((values > 0).sum())
        if rank < k:
            warn(f"TruncatedSVD: n_components={k}, but the rows have rank {rank}: other components are arbitrary", Degenerate, stacklevel=2)
        axes = oriented(axes)
        explained = np.maximum(values / weight - (axes @ mean) ** 2, 0.0)
        total = float(squares.sum()) / weight
        return dict(
            components_=axes,
            explained_variance_=explained,
            explained_variance_ratio_=explained / (total or 1.0),
            singular_values_=np.sqrt(values),
        )

    def _small(self, p: int) -> bool:
        return p <= max(SMALL, NEARLY * (self.n_components + self.n_oversamples))

    def _by_products(self, source: Source, p: int, k: int) -> Learner[tuple[Array, Array]]:
        rough = self.algorithm == "randomized"
        seed = 0 if self.random_state is None else seed_of(generator_of(self))
        block = narrow(source, k + self.n_oversamples)
        passes, tol = (1 + self.n_iter, ROUGHLY) if rough else (PASSES, self.tol or SETTLED)
        passes *= 1 if block is None or not rough else NARROWER
        values, axes, settled = yield from leading_axes(p, k, None, seed, tol, beside=self.n_oversamples, block=block, most=passes)
        if not settled and not rough:
            message = f"TruncatedSVD: the vectors have not settled to {tol:g} in {passes} passes: raise tol, or lower n_components"
            warn(message, NotConverged, stacklevel=2)
        return values, axes

    # --- rows ---

    def _transform(self, X: Any) -> Array:
        axes = np.ascontiguousarray(double(self.components_))
        return np.asarray(ops.linear_scores(X, axes, np.zeros(len(axes))).astype(X.dtype, copy=False))

    def _names_out(self) -> list[str]:
        return [f"truncatedsvd{i}" for i in range(len(self.components_))]

    def inverse_transform(self, X: Any) -> Array:
        """Rows of components back in the original columns, as a dense array."""
        return brought_back(self, X, lambda: len(self.components_), lambda Z: Z @ double(self.components_))


@dataclass(slots=True)
class First(Stats):
    """What the first pass finds: spreads of the columns and, of few columns, their products."""

    spread: Spread
    products: Array | None


def _first(block: Block, Q: Array | None) -> First:
    return First(spread_of(block), None if Q is None else product_of(block, Q, None).value)


def _projected(block: Block, axes: Array) -> Triangle:
    """The triangle of √w V x."""
    return Triangle.of(np.asarray(block.X @ axes.T, dtype=np.float64), block.w)
