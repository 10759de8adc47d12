"""Locally linear embedding, and its relatives."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.manifold.embedding import Embedding, as_rows
from tenfold.manifold.local import alignment, barycentric
from tenfold.manifold.null_space import smallest

METHODS = ("standard", "hessian", "modified", "ltsa")


@estimator
class LocallyLinearEmbedding(Embedding):
    """LocallyLinearEmbedding: each row keeps its place among its neighbours.

    Model       xᵢ ≈ Σⱼ Wᵢⱼ xⱼ over the neighbours j of i, Σⱼ Wᵢⱼ = 1; places yᵢ ≈ Σⱼ Wᵢⱼ yⱼ with the same W
    Objective   min Σᵢ wᵢ ‖yᵢ − Σⱼ Wᵢⱼ yⱼ‖² with Σ wᵢ yᵢ = 0, Σ wᵢ yᵢ yᵢᵀ = I
    Algorithm   W by a small system for each row, ridge reg times its trace; then the smallest eigenvectors of M = (I − W)ᵀ(I − W) beside
                the constant one, by Lanczos steps with a sparse factor of M. "hessian", "modified" and "ltsa" have an M of their own: the
                second derivatives along the tangent spaces, several weight vectors a row, what no tangent plane explains. The largest
                entry of each axis is positive. New rows: Σⱼ Wⱼ yⱼ over their nearest rows of the fit
    Cost        O(n k³) for W; the factor takes about O(n^1.5) where the rows lie on a surface; keeps all rows
    Fails when  neighbours do not connect the rows (warns): the axes then separate the components, and show nothing within them
    Reference   Roweis & Saul 2000; hessian: Donoho & Grimes 2003; modified: Zhang & Wang 2007; ltsa: Zhang & Zha 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> t = np.linspace(0, 3 * np.pi, 60)
    >>> spiral = np.column_stack([t * np.cos(t), t * np.sin(t)])
    >>> unrolled = tenfold.LocallyLinearEmbedding(n_neighbors=4, n_components=1).fit_transform(spiral)[:, 0]
    >>> bool((np.diff(unrolled) > 0).all() or (np.diff(unrolled) < 0).all())  # in the order of the spiral
    True
    """

    reconstruction_error_: float = learned("float", "the objective: Σ of the eigenvalues")
    _fit_X: Array = learned("float(n,p)", "the rows of the fit", rows=True)

    exempt: ClassVar[dict[str, str]] = {
        "weight_is_copies": "the nearest neighbour of a copy is the row itself, which leaves fewer others"
    }

    _: KW_ONLY
    n_neighbors: int = param(default=5, at_least=1, doc="neighbours of a row")
    n_components: int = param(default=2, at_least=1, doc="dimensions of the embedding")
    reg: float = param(default=1e-3, at_least=0, doc="ridge of the weights, times the spread of the neighbours")
    eigen_solver: str = param(
        default="auto",
        one_of=("auto", "arpack", "dense"),
        doc="Lanczos steps, the whole decomposition, or what suits the number of rows",
    )
    tol: float = param(default=1e-6, at_least=0, doc="no effect: eigenvectors are found to working precision")
    max_iter: int = param(default=100, at_least=1, doc="no effect: it goes on until they are")
    method: str = param(default="standard", one_of=METHODS, doc="which M, see above")
    hessian_tol: float = param(
        default=1e-4, at_least=0, doc="no effect: second derivatives are orthogonal to what is linear"
    )
    modified_tol: float = param(
        default=1e-12, at_least=0, doc="length below which a mirror of method 'modified' is none"
    )
    neighbors_algorithm: str = param(
        default="auto", one_of=("auto", "brute", "kd_tree", "ball_tree"), doc="no effect: all find the same"
    )
    random_state: int | RandomState | None = param(
        default=None, doc="no effect: the result does not depend on the draw"
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_neighbors": 8},
            {"n_neighbors": 9, "method": "modified"},
            {"n_neighbors": 20, "method": "ltsa", "n_components": 1},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_neighbors": 4, "n_components": 1}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep()
        rows = as_rows(X)
        self._check_sizes(*rows.shape)
        near = self._index(rows).nearest(None, self.n_neighbors)[1]
        M = alignment(rows, near, w, self.method, self.n_components, self.reg, self.modified_tol)
        self._warn_of_pieces(near, M)
        root = np.sqrt(w)
        if (root != 1).any():
            M = M.multiply(1 / root[:, None]).multiply(1 / root).tocsc()
        values, vectors = smallest(M, root, self.n_components, self.eigen_solver == "dense")
        return dict(embedding_=vectors / root[:, None], reconstruction_error_=float(values.sum()), _fit_X=rows)

    def _check_sizes(self, n: int, p: int) -> None:
        d, k = self.n_components, self.n_neighbors
        name = f"LocallyLinearEmbedding(n_components={d}, n_neighbors={k}, method={self.method!r})"
        if d > p:
            raise BadInput(
                f"{name}: output dimension must be less than or equal to input dimension, and X has {p} columns"
            )
        self._check_neighbors(k, n)
        if d >= n:
            raise BadInput(f"{name}: {n} rows have at most {n - 1} dimensions: decrease n_components")
        if self.method == "hessian" and k <= d * (d + 3) // 2:
            raise BadInput(
                f"{name}: for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2], "
                f"here {d * (d + 3) // 2}"
            )
        if self.method == "modified" and k < d:
            raise BadInput(f"{name}: modified LLE requires n_neighbors >= n_components")
        if self.method == "ltsa" and k <= d:
            raise BadInput(
                f"{name}: a plane goes through all neighbours: n_neighbors must be greater than n_components"
            )

    def _warn_of_pieces(self, near: Array, M: Any) -> None:
        """The dimension of the null space of M is the number of pieces that lead nowhere else."""
        pieces = _closed_pieces(near) if self.method == "standard" else int(connected_components(M, directed=False)[0])
        if pieces > 1:
            warn(
                f"LocallyLinearEmbedding(n_neighbors={self.n_neighbors}): the rows fall into {pieces} pieces that no neighbours connect, "
                "and the axes tell these apart rather than the rows within them: increase n_neighbors, or embed each piece alone",
                DataWarning,
                stacklevel=2,
            )

    def _transform(self, X: Any) -> Array:
        rows = ops.dense(X).astype(np.float64, copy=False)
        near = self._index(self._fit_X).nearest(rows, self.n_neighbors)[1]
        weights = barycentric(rows, self._fit_X, near, self.reg)
        places = np.einsum("ij,ijk->ik", weights, self.embedding_[near].astype(np.float64, copy=False))
        return np.asarray(places.astype(X.dtype, copy=False))

    def _objection(self) -> str | None:
        n = len(self._fit_X)
        return None if n > self.n_neighbors else f"{n} rows have no {self.n_neighbors} neighbours"


def _closed_pieces(near: Array) -> int:
    """How many sets of rows have all their neighbours among themselves, and no smaller such set in them."""
    n, k = near.shape
    graph = csr_array((np.ones(n * k, dtype=np.int8), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    pieces, label = connected_components(graph, directed=True, connection="strong")
    leaves = np.zeros(pieces, dtype=bool)
    leaves[label[np.flatnonzero((label[near] != label[:, None]).any(axis=1))]] = True
    return int(pieces - leaves.sum())
