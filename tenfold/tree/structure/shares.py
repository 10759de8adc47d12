"""Classifiers whose probabilities are shares: of the classes in a leaf, or the mean over many trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Classifier
from tenfold.core.data import Array

SMALLEST = 1e-300  # share whose logarithm stands for that of zero


def log_shares(shares: Array) -> Array:
    """Logarithms that stay finite."""
    return np.asarray(np.log(np.maximum(shares, SMALLEST)))


class ShareClassifier(Classifier):
    """Mixin: probabilities are shares, which may be zero. There is no `decision_function`: log-odds of shares are +-690 where all agree,
    which calibration and other readers of scores cannot use.
    """

    has_decisions: ClassVar[bool] = False

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def _class_shares(self, X: Any) -> Array:
        """(rows, classes) float64: the shares of the classes for each row."""
        raise NotImplementedError

    def _probabilities(self, X: Any) -> Array:
        return self._class_shares(X).astype(X.dtype, copy=False)

    def _log_probabilities(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._probabilities(X)))

    def _scores(self, X: Any) -> Array:
        return log_shares(self._class_shares(X))
