"""What a pipeline does with rows: the verbs of its last step, on rows that have passed through the steps before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Estimator, Regressor, map_rows
from tenfold.base.routing import routing_enabled
from tenfold.base.scored import rows_and_truth
from tenfold.compose.ordinary import Ordinary
from tenfold.compose.steps import is_through
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Target

Way = tuple[tuple[Callable[[Any], Any], ...], Any]


def _last_has(verb: str) -> Callable[[Any], bool]:
    return lambda pipeline: hasattr(pipeline._last_given(), verb)


def _transforms(verb: str) -> Callable[[Any], bool]:
    return lambda pipeline: is_through(pipeline._last_given()) or hasattr(pipeline._last_given(), verb)


def _goes_back(pipeline: Any) -> bool:
    return all(is_through(step) or hasattr(step, "inverse_transform") for _, step in pipeline.steps)


class LastStep(Ordinary):
    """Abstract: predicts and transforms as its last step does, which decides what can be asked at all.

    The verbs go the fast way, block by block, or the ordinary one (`compose.ordinary`); `params` are what the last step takes beside X.
    """

    def _fast_way(self) -> Way:
        """What rows pass through, and the last step, where all are Tenfold's."""
        raise NotImplementedError

    def _way(self) -> Way:
        """What rows pass through, and the last step."""
        if not self._ordinary:
            return self._fast_way()
        *front, (_, last) = self._active()
        return tuple(step._transform for _, step in front), last

    def _through(self, X: Any) -> Any:
        """The rows as they leave the transformers."""
        return _passed(self._way()[0], X)

    def _ask_last(self, verb: str, X: Any) -> Any:
        """What the last step says of clean rows."""
        changes, last = self._way()
        return getattr(last, verb)(_passed(changes, X))

    def _last_given(self) -> Any:
        """The last step as the user gave it; 'passthrough' where there is none."""
        last = self.steps[-1][1] if self.steps else None
        return "passthrough" if last is None else last

    @property
    def _ordinary(self) -> bool:
        """Whether steps are asked by their verbs: one is not ours, or they were fitted so, or one by one before they came here."""
        known = vars(self)
        return bool(known.get("_by_verbs")) or self._foreign() or ("n_features_in_" not in known and self.__sklearn_is_fitted__())

    @available(_last_has("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """What the last step predicts for each row."""
        return self._by_rows("predict", X, params)

    @available(_last_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """The probability of each class, in the order of `classes_`."""
        return self._by_rows("predict_proba", X, params)

    @available(_last_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return self._by_rows("predict_log_proba", X, params)

    @available(_last_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Scores of the classes; for two classes, how much the second one leads."""
        return self._by_rows("decision_function", X, params)

    @available(_last_has("score_samples"))
    def score_samples(self, X: Any, **params: Any) -> Any:
        """The log density of each row."""
        return self._by_rows("score_samples", X, params)

    @available(_transforms("transform"))
    def transform(self, X: Any, **params: Any) -> Any:
        """The rows as they leave the last step; `set_output` chooses the container."""
        if params or self._ordinary:
            return self._ask_steps("transform", X, params)
        return self._dressed(map_rows(self._undressed, check.check_predict(self, X)), X)

    def _undressed(self, X: Any) -> Any:
        changes, last = self._fast_way()
        return last._undressed(_passed(changes, X))

    def _container(self) -> str:
        """As `set_output` of the pipeline said, else that of its last step."""
        last = self._last_given()
        return super()._container() if "_output" in vars(self) or not isinstance(last, Estimator) else last._container()

    def _sparse_row(self) -> tuple[float, int] | None:
        return None if is_through(self._last_given()) else self._fast_way()[1]._sparse_row()

    @available(_goes_back)
    def inverse_transform(self, X: Any, **params: Any) -> Any:
        """Transformed rows as they were, through the inverses of all steps, the last one first."""
        return self._back_through_steps(X, params)

    @available(_transforms("transform"))
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, then transform the same rows."""
        if self._goes_by_verbs(sample_weight, params):
            return self._fit_steps("fit_transform", X, y, _weighted(sample_weight, params))
        return self.fit(X, y, sample_weight).transform(X)

    @available(_last_has("fit_predict"))
    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, and return what the last step says of the same rows."""
        if self._goes_by_verbs(sample_weight, params):
            return self._fit_steps("fit_predict", X, y, _weighted(sample_weight, params))
        return type(self._last).fit_predict(self, X, y, sample_weight)

    @available(_last_has("score"))
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """The score of the last step: R² or the share of rows predicted right, for example."""
        more = _weighted(sample_weight, {})
        last: Any = None if params or self._ordinary else self._last
        if last is None:
            found: float = self._ask_steps("score", X, more | params, y)
        elif type(last).score in (Regressor.score, Classifier.score):
            found = type(last).score(self, X, y, **more)  # in terms of `predict`
        elif last.role in ("regressor", "classifier"):  # a search, which scores as it has chosen
            X, y = rows_and_truth(self, X, y)
            changes, last = self._fast_way()
            Z = map_rows(lambda block: ops.dense(_passed(changes, block)), check.check_predict(self, X))
            found = last.score(_for_last((), last, Z), y, **more)
        else:
            found = last.score(_for_last(*self._fast_way(), check.check_predict(self, X)), y, **more)
        return found

    def _quality(self, truth: Array, predicted: Array, w: Array) -> float:
        found: float = self._last._quality(truth, predicted, w)
        return found

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the steps, each to what the ones before it make of the rows; `step__name` is an argument for the fit of one step."""
        if self._goes_by_verbs(sample_weight, params):
            fitted: Self = self._fit_steps("fit", X, y, _weighted(sample_weight, params))
            return fitted
        vars(self).pop("_by_verbs", None)
        return super().fit(X, y, sample_weight)

    def _goes_by_verbs(self, sample_weight: Any, params: dict[str, Any]) -> bool:
        """Whether a fit takes the ordinary route."""
        self._look_at_steps()
        given = bool(params) or self.transform_input is not None
        return given or self._foreign() or (sample_weight is not None and routing_enabled())

    def _by_rows(self, verb: str, X: Any, params: dict[str, Any]) -> Any:
        if params or self._ordinary:
            return self._ask_steps(verb, X, params)
        (changes, last), widths = self._fast_way(), list[int]()
        function = getattr(last, verb)

        def asked(block: Any) -> Any:
            said = function(_for_last(changes, last, block))
            if not isinstance(said, list):
                return said
            widths[:] = [part.shape[1] for part in said]  # probabilities of several targets: side by side, to be joined
            return np.hstack(said)

        found = map_rows(asked, check.check_predict(self, X))
        return np.split(found, np.cumsum(widths)[:-1], axis=1) if widths else found

    # --- on clean rows, for learners around this one ---

    def _transform(self, X: Any) -> Any:
        return self._ask_last("_transform", X)

    def _predict(self, X: Any) -> Any:
        return self._ask_last("_predict", X)

    def _outputs(self, X: Any) -> Any:
        return self._ask_last("_outputs", X)

    def _scores(self, X: Any) -> Any:
        return self._ask_last("_scores", X)

    def _choice(self, X: Any) -> Any:
        return self._ask_last("_choice", X)

    def _decisions(self, X: Any) -> Any:
        return self._ask_last("_decisions", X)

    def _probabilities(self, X: Any) -> Any:
        return self._ask_last("_probabilities", X)

    def _log_probabilities(self, X: Any) -> Any:
        return self._ask_last("_log_probabilities", X)

    def _assign(self, X: Any) -> Any:
        return self._ask_last("_assign", X)


_kept: ContextVar[list[Any] | None] = ContextVar("tenfold_passed", default=None)


@contextmanager
def passed_once() -> Iterator[None]:
    """Within this context the same rows pass once through transformers that pipelines one after the other share, as those of a path do."""
    token = _kept.set([None])
    try:
        yield
    finally:
        _kept.reset(token)


def _passed(changes: tuple[Callable[[Any], Any], ...], X: Any) -> Any:
    kept = _kept.get()
    last = kept[0] if kept else None
    if last is not None and last[0] is X and last[1] == changes:
        return last[2]
    Z = X
    for change in changes:
        Z = change(Z)
    if kept:
        kept[0] = (X, changes, Z)  # at once: other threads of the context may look
    return Z


def _for_last(changes: tuple[Callable[[Any], Any], ...], last: Any, X: Any) -> Any:
    """The rows as the last step takes them: as a source where it knows categories, which are codes by now, or names of columns."""
    Z, known = _passed(changes, X), vars(last)
    if "categories_" not in known and "feature_names_in_" not in known:
        return Z
    return Arrays(Z, None, None, Target("none"), {}, missing=True, trusted=True)


def _weighted(sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
    return params if sample_weight is None else {"sample_weight": sample_weight, **params}
