"""Roles: what a fitted learner does with rows. Mixins that stand beside an Estimator and add its public verbs.

Regressor     _predict(X)
Classifier    _scores(X): unnormalised log posteriors, one column for each class
Clusterer     _assign(X): the number of the cluster
RowClusterer  labels_ among its fitted attributes: it groups the rows of the fit and knows no others
Transformer   _transform(X), _names_out(), and _inverse(X) where it exists
Density       _log_density(X); _draw(n, rng) where rows can be drawn from it (`has_samples`), and then, for one column, _cdf(X);
              it stands in base/density.py
Detector      _normality(X): the higher, the more usual; offset_ is where outliers end
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.by_rows import first_largest, log_softmax, map_rows, softmax
from tenfold.base.columns import ColumnSums
from tenfold.base.scored import rows_and_truth
from tenfold.core.data import Array, Source
from tenfold.core.learned import learned
from tenfold.core.threads import single_blas

if TYPE_CHECKING:  # Python need not know what a mixin stands beside
    from tenfold.base.estimator import Estimator as _Beside
else:
    _Beside = object


class Regressor(_Beside):
    """Mixin: predicts numbers."""

    role: ClassVar[str] = "regressor"
    target: ClassVar[str] = "real"
    _flat: bool = learned("bool", "whether the target is one column")

    def _predict(self, X: Any) -> Array:
        raise NotImplementedError

    def _outputs(self, X: Any) -> Array:
        """(rows, targets): what scores are computed from."""
        values = self._predict(X)
        return values if values.ndim == 2 else values[:, None]

    def predict(self, X: Any) -> Array:
        """The predicted target of each row."""
        return map_rows(self._predict, check.check_predict(self, X), lean=self.lean)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²: 1 − Σ w (y − ŷ)² / Σ w (y − ȳ)², averaged over several targets; 1 is perfect, 0 is the mean."""
        X, y = rows_and_truth(self, X, y)
        predicted = np.asarray(self.predict(X))
        predicted = predicted.reshape(len(predicted), -1)
        truth = check.real_target(y, len(predicted))
        w = check.as_weights(sample_weight, len(truth))
        return self._quality(truth, predicted, np.ones(len(truth)) if w is None else w)

    @single_blas
    def _quality(self, truth: Array, predicted: Array, w: Array) -> float:
        """`score` of predictions (n, targets)."""
        rest = w @ (truth - predicted) ** 2
        spread = w @ (truth - np.average(truth, axis=0, weights=w)) ** 2
        flat = spread == 0  # a constant target: perfect or not, nothing in between
        return float(np.mean(np.where(flat, np.where(rest == 0, 1.0, 0.0), 1 - rest / np.where(flat, 1.0, spread))))


class Classifier(_Beside):
    """Mixin: predicts labels, with probabilities where `_scores` are log posteriors."""

    role: ClassVar[str] = "classifier"
    target: ClassVar[str] = "label"
    classes_: Array = learned("label(K)", "the classes, in rising order")
    has_decisions: ClassVar[bool] = True  # False: it tells probabilities alone, whose log-odds may be far too large to be read as scores
    has_probabilities: ClassVar[bool] = True  # False: it tells scores alone, which are no logarithms of probabilities

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError

    def _choice(self, X: Any) -> Array | None:
        """The number of the predicted class of each row, where that is not the one of the largest score; else None."""
        return None

    def _outputs(self, X: Any) -> Array:
        """(rows, classes), what scores are computed from; with the number of the class in one more column where there is a `_choice`."""
        scores, choice = self._scores(X), self._choice(X)
        return scores if choice is None else np.column_stack([scores, choice])

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        return map_rows(lambda X: self.classes_[first_largest(self._scores(X))], check.check_predict(self, X), lean=self.lean)

    @available(lambda model: model.has_decisions)
    def decision_function(self, X: Any) -> Array:
        """Scores of the classes; for two classes, how much the second one leads."""
        scores = map_rows(self._decisions, check.check_predict(self, X), lean=self.lean)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _decisions(self, X: Any) -> Array:
        """The outputs of `decision_function`: the scores, where no other unit is in use."""
        return self._scores(X)

    @available(lambda model: model.has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`."""
        return map_rows(self._probabilities, check.check_predict(self, X), lean=self.lean)

    @available(lambda model: model.has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`, without the loss of small probabilities."""
        return map_rows(self._log_probabilities, check.check_predict(self, X), lean=self.lean)

    def _probabilities(self, X: Any) -> Array:
        return softmax(self._scores(X), X.dtype)

    def _log_probabilities(self, X: Any) -> Array:
        return log_softmax(self._scores(X), X.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right; of several targets all of them."""
        X, y = rows_and_truth(self, X, y)
        predicted = np.asarray(self.predict(X))
        check.check_length("y", y.size, predicted.size)
        right = (predicted == y.reshape(predicted.shape)).reshape(len(predicted), -1).all(axis=1)
        return float(np.average(right, weights=check.as_weights(sample_weight, len(right))))


class Clusterer(_Beside):
    """Mixin: finds groups of rows."""

    role: ClassVar[str] = "clusterer"

    def _assign(self, X: Any) -> Array:
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The number of the cluster of each row."""
        return map_rows(self._assign, check.check_predict(self, X))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return `labels_`."""
        labels: Array = self.fit(X, y, sample_weight).labels_
        return labels

    def _finish(self, source: Source) -> None:
        """`labels_`: one last pass, if the rows can be read again."""
        if not source.rereadable:
            vars(self)["absent_"] = {
                "labels_": "labels_ is absent: the rows could be read only once; call predict on them"
            }
            return
        vars(self)["labels_"] = map_rows(self._assign, source.whole())


class RowClusterer(_Beside):
    """Mixin: finds groups among the rows of the fit, `labels_`, and has no rule for new ones: there is no `predict`."""

    role: ClassVar[str] = "clusterer"

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return `labels_`."""
        labels: Array = self.fit(X, y, sample_weight).labels_
        return labels


class Transformer(_Beside):
    """Mixin: turns rows into other rows."""

    role: ClassVar[str] = "transformer"

    def _from_columns(self, columns: ColumnSums) -> Any:
        """The statistics of a transformer `by_column`; None where these sums do not tell them."""
        raise NotImplementedError

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        """What missing values are replaced by first (None: they stay missing), shift and scale, of a fitted transformer `by_column`."""
        raise NotImplementedError

    def _columns_kept(self) -> Array | None:
        """Places of the columns that a fitted transformer `by_column` keeps; None: of all."""
        return None

    def _transform(self, X: Any) -> Array:
        raise NotImplementedError

    def _inverse(self, Z: Any) -> Any:
        """Transformed rows as they were, of a transformer that is `invertible`."""
        raise NotImplementedError

    def _names_out(self) -> list[str] | None:
        """Names of the new columns; None keeps the old ones."""
        return None

    def transform(self, X: Any) -> Any:
        """The rows in their new form; `set_output` chooses the container."""
        return self._dressed(map_rows(self._transform, check.check_predict(self, X), lean=self.lean), X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then transform the same rows."""
        return self.fit(X, y, sample_weight).transform(X)


class Detector(_Beside):
    """Mixin: separates outliers (−1) from inliers (1)."""

    role: ClassVar[str] = "outlier_detector"
    offset_: float

    def _normality(self, X: Any) -> Array:
        raise NotImplementedError

    def score_samples(self, X: Any) -> Array:
        """How usual each row is: the lower, the more of an outlier."""
        return map_rows(self._normality, check.check_predict(self, X))

    def decision_function(self, X: Any) -> Array:
        """`score_samples` − `offset_`: below zero for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """−1 for outliers, 1 for inliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and predict which of the same rows are outliers."""
        return self.fit(X, y, sample_weight).predict(X)
