"""Classes by steps of one row at a time: each against the others."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from tenfold.base.available import available
from tenfold.base.estimator import Classifier
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.stats import Counts
from tenfold.linear.online import Online
from tenfold.linear.sparsified import Sparsified
from tenfold.solve.class_weights import class_factors
from tenfold.solve.held_out import plane
from tenfold.solve.online import Problems


@group
class OnlineClassifier(Sparsified, Classifier, Online):
    """Abstract: one against the others of each class, each by steps of its own."""

    coef_: Array = learned("float(M,p)", "coefficients; one row for two classes", like_x=True)
    intercept_: Array = learned("float(M)", "constants", like_x=True)

    _: KW_ONLY
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)", before="warm_start"
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)", before="random_state")

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """One step for each of these rows. The first call names all `classes`."""
        if self.class_weight == "balanced":
            raise BadParameter(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough sample of the full "
                "training set target to properly estimate the class frequency distributions. Pass the resulting weights as the "
                "class_weight parameter."
            )
        return self._partial_fit(X, y, sample_weight, classes)

    def _width(self) -> int:
        return len(self.classes_) if len(self.classes_) > 2 else 1

    def _problems(self) -> Learner[Problems]:
        weight = np.ones(len(self.classes_))
        if self.class_weight == "balanced":
            weight = (yield partial(_weights, k=len(weight))).weight
        return Problems.of_classes(len(weight), class_factors(self, weight, zero=True))

    def _has_probabilities(self) -> bool:
        if self._loss()[0] not in ("log_loss", "modified_huber"):
            raise AttributeError(f"probability estimates are not available for loss={self._loss()[0]!r}")
        return True

    @available(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`: of several, those of each against the others, normalised."""
        return np.asarray(super().predict_proba(X))

    @available(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return np.asarray(super().predict_log_proba(X))

    def _leads(self, X: Any) -> Array:
        """(rows, M): how much a class leads over the others."""
        leads = plane(X, self._coefficients(), self.intercept_)
        return leads.astype(np.float32) if X.dtype == np.float32 else leads

    def _decisions(self, X: Any) -> Array:
        leads = self._leads(X)
        return leads if leads.shape[1] > 1 else np.hstack([np.zeros_like(leads), leads])

    _scores = _decisions


def _weights(block: Block, k: int) -> Counts:
    return Counts.of(block.y, block.w, k)
