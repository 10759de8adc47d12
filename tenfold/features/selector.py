"""What all selectors of columns do with rows once they know which columns to keep."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, DataWarning, warn


class Selector(Transformer):
    """Mixin: keeps some columns as they are and drops the others."""

    invertible: ClassVar[bool] = True

    def _mask(self) -> Array:
        """(p,) truth values: which columns are kept."""
        raise NotImplementedError

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        return None, 0.0, 1.0

    def _columns_kept(self) -> Array | None:
        return np.flatnonzero(self._mask())

    def get_support(self, indices: bool = False) -> Array:
        """Which columns are kept: truth values, or with `indices` their places."""
        check.check_fitted(self)
        mask = self._mask()
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that are kept."""
        names: Array = super().get_feature_names_out(input_features)
        return names[self.get_support()]

    def _categories_out(self) -> list[Array | None] | None:
        known = vars(self).get("categories_")
        return None if known is None else [known[j] for j in self.get_support(indices=True)]

    def _transform(self, X: Any) -> Any:
        mask = self._mask()
        if not mask.any():
            warn(
                "No features were selected: either the data is too noisy or the selection test too strict. Relax "
                f"{type(self).__name__}, or leave it out",
                DataWarning,
            )
        if mask.all():
            return X
        places = np.flatnonzero(mask)
        return X[:, places] if ops.is_sparse(X) else np.take(X, places, axis=1)  # in rows, as kernels take them

    def transform(self, X: Any) -> Any:
        """The rows with the columns that are kept, each as it is; `set_output` chooses the container."""
        if type(X) is np.ndarray and X.dtype.kind in "iub":  # whole numbers stay what they are
            check.check_predict(self, X)
            return self._dressed(self._transform(X), X)
        made = self._container()
        if made != "default" and type(X).__module__.partition(".")[0] == made and check.is_frame(X):
            check.check_predict(self, X)
            chosen = self.get_support(indices=True)
            return X.iloc[:, chosen] if made == "pandas" else X[:, chosen.tolist()]
        return super().transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Rows of the columns that are kept as rows of all columns: those that were dropped are zero."""
        check.check_fitted(self)
        if not ops.is_sparse(X):
            X = np.asarray(X)
            X = X[None, :] if X.ndim == 1 else X
        kept = int(self._mask().sum())
        if X.ndim != 2 or X.shape[1] != kept:
            raise BadInput(
                f"X has a different shape than during fitting: {X.shape} where {kept} columns were kept by {type(self).__name__}"
            )
        return self._inverse(X)

    def _inverse(self, Z: Any) -> Any:
        mask = self._mask()
        if ops.is_sparse(Z):
            columns, indptr = Z.tocsc(), np.zeros(len(mask) + 1, dtype=np.int64)
            indptr[1:][mask] = np.diff(columns.indptr)
            return type(columns)((columns.data, columns.indices, np.cumsum(indptr)), shape=(Z.shape[0], len(mask)))
        X = np.zeros((len(Z), len(mask)), dtype=Z.dtype)
        X[:, mask] = Z
        return X
