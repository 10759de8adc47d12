"""The smallest eigenpairs of a sparse matrix whose null space holds a known vector."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import eye_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.memory import check_memory
from tenfold.core.threads import patiently, stopping
from tenfold.manifold.embedding import upright

FEW = 300  # rows up to which the whole decomposition is sooner there
SHIFT = 1e-14  # of the largest entry of the diagonal: what makes M positive definite


def smallest(M: Any, beside: Array, k: int, dense: bool = False) -> tuple[Array, Array]:
    """The k smallest eigenvalues of M ⪰ 0, rising, and their vectors, all orthogonal to `beside`, for which M beside = 0.

    Few rows by the whole decomposition, many by Lanczos steps with the inverse, from a sparse factor.
    """
    n = M.shape[0]
    known = beside / np.sqrt(beside @ beside)
    top = float(M.diagonal().max())
    if not top > 0:
        raise BadInput("all neighbourhoods are flat: the rows leave open how they are embedded, give rows that differ")
    if dense or n <= FEW or k > n // 10:
        check_memory(f"a table of {n:,} x {n:,} numbers", 24.0 * n * n, "use eigen_solver='arpack', or give fewer rows")
        table = M.toarray() + (2 * top * n) * np.outer(known, known)
        values, vectors = patiently(np.linalg.eigh, table)
        return values[:k], upright(vectors[:, :k])
    factor = patiently(_factor, M + SHIFT * top * eye_array(n, format="csc"))

    def inverse(x: Array) -> Array:
        if stopping():
            raise KeyboardInterrupt
        x = x.ravel()
        found = factor.solve(x - known * (known @ x))
        return np.asarray(found - known * (known @ found))

    start = np.random.default_rng(0).uniform(-1, 1, n)
    try:
        values, vectors = eigsh(
            LinearOperator((n, n), matvec=inverse, dtype=np.float64), k, which="LA", v0=inverse(start)
        )
    except ArpackError as problem:
        raise BadInput(
            f"Error in determining null-space with ARPACK: {problem}. The rows leave open how they are embedded: increase n_neighbors, or "
            "use eigen_solver='dense'"
        ) from None
    vectors = vectors[:, np.argsort(-values, kind="stable")]
    values = np.einsum("ij,ij->j", vectors, M @ vectors)
    return np.maximum(values, 0.0), upright(vectors)


def _factor(A: Any) -> Any:
    """Of a positive definite matrix: no rows are exchanged, and few entries are filled in."""
    return splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
