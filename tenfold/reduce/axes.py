"""What principal axes do with rows: projection, the way back, and what is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.reduce.back import brought_back
from tenfold.reduce.gaps import fill
from tenfold.reduce.probabilistic import Probabilistic, double

NEAR = 100.0  # deviations that the mean may lie from zero, up to which rows are projected first and centred then


class Axes(Probabilistic):
    """Mixin: rows along fitted axes, and back."""

    if TYPE_CHECKING:
        n_components_: int
        whiten: bool

    def _transform(self, X: Any) -> Array:
        axes, mean, X = self._axes(), double(self.mean_), ops.dense(X)
        if self.missing and np.isnan(X).any():  # missing cells are taken to be where the others say
            return np.asarray((fill(double(X), self._plane())[0] @ axes.T).astype(X.dtype, copy=False))
        far = np.abs(self.components_) @ np.abs(self.mean_)
        if (far <= NEAR * np.sqrt(self.explained_variance_)).all():
            rows = ops.linear_scores(X, np.ascontiguousarray(axes), -(axes @ mean))
        else:  # what is left after the mean is taken away would have lost digits
            rows = (X - mean) @ axes.T
        return np.asarray(rows.astype(X.dtype, copy=False))

    def _axes(self) -> Array:
        """The rows that transform multiplies with."""
        if not self.whiten:
            return double(self.components_)
        return double(self.components_) / np.maximum(np.sqrt(double(self.explained_variance_)), np.finfo(float).eps)[:, None]

    def _names_out(self) -> list[str]:
        return [f"pca{i}" for i in range(self.n_components_)]

    def inverse_transform(self, X: Any) -> Array:
        """Rows of components back in the original columns."""
        return brought_back(self, X, lambda: self.n_components_, self._back)

    def _back(self, Z: Array) -> Array:
        axes = double(self.components_)
        axes = axes * np.sqrt(self.explained_variance_)[:, None] if self.whiten else axes
        return np.asarray(Z @ axes + self.mean_)

    def reconstruction_error(self, X: Any) -> Array:
        """‖x − x̂‖² of each row, x̂ its projection on the axes: `inverse_transform(transform(X))`; over the cells that are not missing."""
        return map_rows(self._squares_left, check.check_predict(self, X))

    def _squares_left(self, X: Any) -> Array:
        X = ops.dense(X)
        gaps = np.isnan(X) if self.missing else np.zeros(X.shape, dtype=bool)
        apart = fill(double(X), self._plane())[0] if gaps.any() else X - double(self.mean_)
        apart = apart - (apart @ double(self.components_).T) @ double(self.components_)
        apart[gaps] = 0.0
        return np.asarray(np.einsum("ij,ij->i", apart, apart))
