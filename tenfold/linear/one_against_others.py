"""Classes by planes, each class against the others: scores, and probabilities where the loss has some."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from tenfold.base.available import available
from tenfold.base.estimator import Classifier
from tenfold.core.data import Array, Block
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.stats import Counts
from tenfold.linear.sparsified import Sparsified
from tenfold.solve.class_weights import class_factors
from tenfold.solve.held_out import plane
from tenfold.solve.online import Problems

LEAST = 1e-300  # of a lead, beside its logarithm: decides between classes whose probabilities are all 1 in float64
SURE = 1e-12  # modified Huber says probabilities 0 and 1: their logarithms are those of this


class OneAgainstOthers(Sparsified, Classifier):
    """Mixin: class k leads by wₖ·x + bₖ over the others; of two classes there is one plane."""

    coef_: Array = learned("float(M,p)", "coefficients; one row for two classes", like_x=True)
    intercept_: Array = learned("float(M)", "constants", like_x=True)

    lean: ClassVar[bool] = True

    def _width(self) -> int:
        return len(self.classes_) if len(self.classes_) > 2 else 1

    def _problems(self) -> Learner[Problems]:
        weight = np.ones(len(self.classes_))
        if self.class_weight == "balanced":
            weight = (yield partial(_weights, k=len(weight))).weight
        return Problems.of_classes(len(weight), class_factors(self, weight, zero=True))

    @property
    def has_probabilities(self) -> bool:  # type: ignore[override]
        return self._loss()[0] in ("log_loss", "modified_huber")

    def _has_probabilities(self) -> bool:
        if not self.has_probabilities:
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

    def _scores(self, X: Any) -> Array:
        loss = self._loss()[0]
        leads = self._leads(X)
        if loss == "modified_huber":
            share = np.clip(leads.astype(np.float64), -1.0, 1.0) / 2 + 0.5
            share = share if leads.shape[1] > 1 else np.hstack([1 - share, share])
            scores: Array = np.log(np.maximum(share, SURE))
            return scores + SURE * self._decisions(X)
        if leads.shape[1] == 1:
            return self._decisions(X)
        if loss == "log_loss":
            wide = leads.astype(np.float64)
            return np.asarray(LEAST * wide - np.logaddexp(0.0, -wide))
        return leads

    def _probabilities(self, X: Any) -> Array:
        loss = self._loss()[0]
        leads = self._leads(X)
        wide = leads.astype(np.float64)
        share = expit(wide) if loss == "log_loss" else np.clip(wide, -1.0, 1.0) / 2 + 0.5
        if share.shape[1] == 1:
            share = np.hstack([expit(-wide) if loss == "log_loss" else 1 - share, share])
        else:
            total = share.sum(axis=1, keepdims=True)
            share = np.where(total > 0, share, 1.0) / np.where(total > 0, total, share.shape[1])
        return share.astype(leads.dtype, copy=False)

    def _log_probabilities(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._probabilities(X)))


def _weights(block: Block, k: int) -> Counts:
    return Counts.of(block.y, block.w, k)
