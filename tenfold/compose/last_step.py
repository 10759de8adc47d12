"""What a pipeline does with rows: the verbs of its last step, on rows that have passed through the steps before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import map_rows
from tenfold.core.data import Arrays, Target

if TYPE_CHECKING:
    from tenfold.base.estimator import Estimator as _Beside
else:
    _Beside = object


def _last_has(verb: str) -> Callable[[Any], bool]:
    return lambda pipeline: hasattr(pipeline._last, verb)


class LastStep(_Beside):
    """Mixin: predicts and transforms as `_last` does, which decides what can be asked at all."""

    _last: Any

    def _through(self, X: Any) -> Any:
        """The rows as they leave the transformers."""
        raise NotImplementedError

    @available(_last_has("predict"))
    def predict(self, X: Any) -> Any:
        """What the last step predicts for each row."""
        return self._by_rows("predict", X)

    @available(_last_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`."""
        return self._by_rows("predict_proba", X)

    @available(_last_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return self._by_rows("predict_log_proba", X)

    @available(_last_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Scores of the classes; for two classes, how much the second one leads."""
        return self._by_rows("decision_function", X)

    @available(_last_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """The log density of each row."""
        return self._by_rows("score_samples", X)

    @available(_last_has("transform"))
    def transform(self, X: Any) -> Any:
        """The rows as they leave the last step; `set_output` chooses the container."""
        return self._dressed(self._by_rows("transform", X), X)

    @available(_last_has("fit_transform"))
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then transform the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    @available(_last_has("fit_predict"))
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return what the last step says of the same rows."""
        return type(self._last).fit_predict(self, X, y, sample_weight)

    @available(_last_has("score"))
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The score of the last step: R² or the share of rows predicted right, for example."""
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        last = self._last
        if last.role in ("regressor", "classifier"):
            found: float = type(last).score(self, X, y, **more)  # in terms of `predict`
        else:
            found = last.score(self._for_last(check.check_predict(self, X)), y, **more)
        return found

    def _by_rows(self, verb: str, X: Any) -> Any:
        function = getattr(self._last, verb)
        return map_rows(lambda block: function(self._for_last(block)), check.check_predict(self, X))

    def _for_last(self, X: Any) -> Any:
        """The rows as the last step takes them: as a source where it knows categories, which are codes by now."""
        Z = self._through(X)
        if "categories_" not in vars(self._last):
            return Z
        return Arrays(Z, None, None, Target("none"), {}, missing=True, trusted=True)

    # --- on clean rows, for learners around this one ---

    def _transform(self, X: Any) -> Any:
        return self._last._transform(self._through(X))

    def _predict(self, X: Any) -> Any:
        return self._last._predict(self._through(X))

    def _outputs(self, X: Any) -> Any:
        return self._last._outputs(self._through(X))

    def _scores(self, X: Any) -> Any:
        return self._last._scores(self._through(X))

    def _choice(self, X: Any) -> Any:
        return self._last._choice(self._through(X))

    def _decisions(self, X: Any) -> Any:
        return self._last._decisions(self._through(X))

    def _probabilities(self, X: Any) -> Any:
        return self._last._probabilities(self._through(X))

    def _log_probabilities(self, X: Any) -> Any:
        return self._last._log_probabilities(self._through(X))

    def _assign(self, X: Any) -> Any:
        return self._last._assign(self._through(X))
