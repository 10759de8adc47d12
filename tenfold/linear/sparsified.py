"""Coefficients as a sparse matrix, where most of them are zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array

if TYPE_CHECKING:  # Python need not know what a mixin stands beside
    _Beside = Estimator
else:
    _Beside = object


class Sparsified(_Beside):
    """Mixin: `coef_` may be CSR. Predictions are the same, and files hold it dense."""

    def sparsify(self) -> Self:
        """Make `coef_` a CSR matrix, which takes less memory where more than half of the coefficients are zero."""
        from scipy.sparse import csr_array

        check.check_fitted(self)
        vars(self)["coef_"] = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Make `coef_` an array again."""
        check.check_fitted(self)
        vars(self)["coef_"] = self._coefficients()
        return self

    def _coefficients(self) -> Array:
        """`coef_` as an array, whatever it is kept as."""
        return np.asarray(ops.dense(self.coef_))
