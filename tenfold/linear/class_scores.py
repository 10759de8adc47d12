"""Class scores that are linear in the columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Classifier
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.linear.sparsified import Sparsified


class LinearScores(Sparsified, Classifier):
    """Mixin: scores wₖ·x + bₖ of the classes; of two classes that of the first is 0."""

    coef_: Array = learned("float(M,p)", "coefficients; one row for two classes", like_x=True)
    intercept_: Array = learned("float(M)", "constants", like_x=True)

    sparse: ClassVar[bool] = True
    lean: ClassVar[bool] = True

    def _scores(self, X: Any) -> Array:
        scores = linear_scores(X, self._coefficients(), self.intercept_)
        if X.dtype == np.float32:
            scores = scores.astype(np.float32)
        return scores if scores.shape[1] > 1 else np.hstack([np.zeros_like(scores), scores])


def linear_scores(X: Any, coef: Array, intercept: Any) -> Array:
    """X coefᵀ + intercept, of dense or sparse rows."""
    constants = np.full(len(coef), intercept, dtype=np.float64)
    scores: Array = ops.linear_scores(X, np.ascontiguousarray(coef, dtype=np.float64), constants)
    return scores
