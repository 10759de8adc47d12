"""Classifiers whose probabilities are shares: of the classes in a leaf, among neighbours, or the mean over many models."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Classifier, map_rows
from tenfold.core.data import Array
from tenfold.core.learned import learned

SMALLEST = float(np.finfo(np.float64).eps)  # share whose logarithm stands for that of zero: where `log_loss` clips too


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
        shares = self._class_shares(X)
        return shares.astype(X.dtype, copy=False) if self.accepts == "rows" else shares

    def _log_probabilities(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._probabilities(X)))

    def _scores(self, X: Any) -> Array:
        return log_shares(self._class_shares(X))


class TargetsClassifier(ShareClassifier):
    """Mixin: shares of the classes of one target, or of several (y of shape (n, q)).

    Of several targets `classes_` and `n_classes_` are lists with an entry for each, `predict` returns (rows, q) and `predict_proba` a
    list of q arrays; the shares of their classes, `_class_shares`, stand side by side.
    """

    multi_output: ClassVar[bool] = True
    classes_: Any = learned("label(K)|[label(*)](q)", "the classes, in rising order; of several targets a list")

    def _classes_by_target(self) -> list[Array]:
        """The classes of each target."""
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def _widths(self) -> list[int]:
        """How many classes each target has."""
        return [len(classes) for classes in self._classes_by_target()]

    def _by_target(self, columns: Array) -> list[Array]:
        """The columns of each target, of columns for all classes of all targets."""
        return np.split(columns, np.cumsum(self._widths())[:-1], axis=1)

    @property
    def n_classes_(self) -> Any:
        """The number of classes; of several targets a list."""
        widths = self._widths()
        return widths if isinstance(self.classes_, list) else widths[0]

    @property
    def n_outputs_(self) -> int:
        """The number of target columns."""
        return len(self._classes_by_target())

    def _labels(self, X: Any) -> Array:
        """(rows, targets): the most frequent class."""
        parts = zip(self._classes_by_target(), self._by_target(self._class_shares(X)), strict=True)
        return np.column_stack([classes[shares.argmax(axis=1)] for classes, shares in parts])

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of several targets (rows, targets)."""
        if not isinstance(self.classes_, list):
            return super().predict(X)
        return map_rows(self._labels, check.check_predict(self, X))

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`; of several targets a list of these."""
        found = super().predict_proba(X)
        return self._by_target(found) if isinstance(self.classes_, list) else found

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        found = super().predict_log_proba(X)
        return self._by_target(found) if isinstance(self.classes_, list) else found
