"""Classical scaling: places whose products are those of distances about their mean."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import DataWarning, warn
from tenfold.core.learned import learned
from tenfold.manifold.embedding import Embedding, upright
from tenfold.solve.leading import eigenpairs, product
from tenfold.solve.linalg import rounding
from tenfold.solve.tiles import in_rows


class Scaled(Embedding):
    """Abstract: has places by classical scaling of some distances, in which new rows find theirs by distances alone."""

    eigenvalues_: Array = learned("float(k)>=0", "sums of squares of the axes, by falling size")
    _center: Array = learned("float(n)", "mean of the products of each row of the fit with the others")
    _row_weights: Array = learned("float(n)>0", "the weights of the rows, where they are not one", optional=True)

    least_rows: ClassVar[int] = 2

    def _scaled(self, D: Array, w: Array) -> dict[str, Any]:
        """What classical scaling of distances leaves; D is not changed."""
        fitted = scaled(D, w, self.n_components, type(self).__name__)
        return fitted | ({"_row_weights": np.array(w)} if (w != 1).any() else {})

    def _placed(self, D: Array) -> Array:
        """Places of new rows by their distances (rows, n) to those of the fit."""
        z, values = self.embedding_.astype(np.float64, copy=False), self.eigenvalues_
        z = z * vars(self).get("_row_weights", np.ones(1))[:, None]
        along = np.divide(z, values, out=np.zeros_like(z), where=values > 0)
        return np.asarray(
            (-0.5 * D * D - self._center) @ along
        )  # what is the same for all rows is multiplied by zero: Σᵢ wᵢ zᵢ = 0


def scaled(D: Array, w: Array, k: int, name: str) -> dict[str, Any]:
    """The k leading axes of distances, which are not changed, by the eigenvectors of their products about the mean."""
    K = np.empty_like(D)

    def halved(rows: slice) -> None:
        np.multiply(D[rows], D[rows], out=K[rows])
        K[rows] *= -0.5

    in_rows(len(D), halved)
    share, root = w / w.sum(), np.sqrt(w)
    center = product(K, share[:, None])[:, 0]
    beside = center - float(center @ share)

    def about_the_mean(rows: slice) -> None:
        K[rows] -= center + beside[rows, None]
        K[rows] *= root[rows, None] * root

    in_rows(len(K), about_the_mean)
    values, vectors = eigenpairs(K, min(k, len(K)))
    zero = values <= rounding(len(K)) * max(float(values.max(initial=0.0)), 0.0)
    values, vectors = np.where(zero, 0.0, values), upright(vectors / root[:, None])
    short = k - len(values)
    if zero.any() or short > 0:
        warn(
            f"{name}(n_components={k}): the distances have {int((~zero).sum())} dimensions, and the other axes are zero: decrease "
            "n_components",
            DataWarning,
            stacklevel=3,
        )
    values, vectors = np.append(values, np.zeros(max(short, 0))), np.pad(vectors, ((0, 0), (0, max(short, 0))))
    return dict(embedding_=vectors * np.sqrt(values), eigenvalues_=values, _center=center)
