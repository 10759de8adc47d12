"""Groups of rows by Ward's tree: where mixtures of Gaussians start, as R's mclust does."""

from __future__ import annotations

import numpy as np

from tenfold import _linkage
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.solve.cut import cut

WARD, EUCLIDEAN = 4, 0  # as the kernels number linkages and distances
NEGLIGIBLE = 1e-10  # a singular value below this share of the largest is rounding


def ward_groups(rows: Array, weight: Array, k: int) -> Array:
    """The group of each row, 0, ..., k − 1: merged from single rows by the least growth of Σ w (x − mean of the group)²."""
    with lent_threads() as threads:
        tree = _linkage.tree_of_rows(np.ascontiguousarray(rows), WARD, weight, EUCLIDEAN, 2.0, True, threads)
    return cut(tree[:, :2].astype(np.int64), len(rows), k)


def halfway_white(Z: Array, weight: Array) -> Array:
    """Centred rows along their principal axes, each in the root of its standard deviation: between distances that one long axis rules and
    those in which noise counts as much as what is large (Scrucca & Raftery 2015)."""
    root = np.sqrt(weight)
    _, values, axes = np.linalg.svd((Z - weight @ Z / weight.sum()) * root[:, None], full_matrices=False)
    large = values > NEGLIGIBLE * max(float(values[0]), np.finfo(float).tiny)
    return np.asarray(Z @ (axes[large].T / np.sqrt(values[large]))) if large.any() else Z
