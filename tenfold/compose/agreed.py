"""What a consensus has found: the models, and which rows agree with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor, map_rows
from tenfold.base.routing import refuse_unrouted, routed, router, routing_enabled
from tenfold.compose.consensus import Rule
from tenfold.core.data import Array, Arrays, Source
from tenfold.linear.least_squares import LinearRegression


class Agreed(Regressor, Estimator):
    """Abstract: models, of which the first is the one that most rows agree on."""

    models_: Array
    residual_threshold_: float
    loss: Any
    estimator: Any

    @property
    def estimators_(self) -> list[Any]:
        """The models found, fitted, the one that most rows agree on first."""
        check.check_fitted(self)
        if "_estimators" in vars(self):
            return list(vars(self)["_estimators"])
        names = ["n_features_in_", "feature_names_in_", "_flat"]
        facts = {name: vars(self)[name] for name in names if name in vars(self)}
        found = [LinearRegression() for _ in self.models_]
        for one, numbers in zip(found, self.models_, strict=True):
            vars(one).update(facts, coef_=numbers[:-1].copy(), intercept_=numbers[-1])
        return found

    @property
    def estimator_(self) -> Any:
        """The model that most rows agree on."""
        return self.estimators_[0]

    def _skipped(self, place: int) -> int:
        counts = vars(self).get("_skips", vars(self).get("_counted"))
        if counts is None:
            raise AttributeError  # the base tells why
        return int(counts[place])

    @property
    def n_skips_no_inliers_(self) -> int:
        """Subsets whose model no row agrees with; known also of a fit that fails."""
        return self._skipped(0)

    @property
    def n_skips_invalid_data_(self) -> int:
        """Subsets that is_data_valid has refused."""
        return self._skipped(1)

    @property
    def n_skips_invalid_model_(self) -> int:
        """Subsets whose model is_model_valid has refused, or that could not be fitted."""
        return self._skipped(2)

    @property
    def inlier_mask_(self) -> Array:
        """Which rows of the table it was fitted on agree with the model."""
        check.check_fitted(self)
        if "_mask" not in vars(self):
            raise AttributeError  # the base tells why
        mask: Array = vars(self)["_mask"]
        return mask

    def inliers(self, X: Any, y: Any = None) -> Array:
        """Which of these rows agree with the model."""
        rule = Rule(self.residual_threshold_, self.loss)
        if "_flat" not in vars(self):
            points = check.check_predict(self, X)
            return map_rows(lambda X: rule.distance(self.estimator_, X, None), points) <= rule.threshold
        guess = self.predict(X)
        return rule.far(check.real_target(check.as_column(y), len(guess)).reshape(np.shape(guess)), guess) <= rule.threshold

    def get_metadata_routing(self) -> Any:
        """What `estimator` receives beside X and y (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        given = LinearRegression() if self.estimator is None else self.estimator
        calls = [("fit", "fit"), ("fit", "score"), ("score", "score"), ("predict", "predict")]
        return router(self, [("estimator", given, calls)])

    def _routed(self, verb: str, params: dict[str, Any], sample_weight: Any = None) -> dict[str, Any] | None:
        """What the verb of `estimator` receives, by scikit-learn's metadata routing; None without it, or without anything given."""
        refuse_unrouted(self, verb, params)
        given = params if sample_weight is None else {"sample_weight": sample_weight, **params}
        if not given or self.estimator is None or not routing_enabled():
            return None
        return dict(routed(self, verb, given)["estimator"][verb])

    def predict(self, X: Any, **params: Any) -> Array:
        """What the model predicts for each row; `estimator` receives `params`, as metadata routing says."""
        routed_params = self._routed("predict", params)
        return super().predict(X) if routed_params is None else self.estimator_.predict(X, **routed_params)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """R² of the predictions; `estimator` receives weights and `params`, as metadata routing says."""
        routed_params = self._routed("score", params, sample_weight)
        return super().score(X, y, sample_weight) if routed_params is None else self.estimator_.score(X, y, **routed_params)

    def _finish(self, source: Source) -> None:
        vars(self)["_skips"] = vars(self).pop("_counted")
        why = "inlier_mask_ is absent, as rows are not kept: call inliers(X, y), which uses residual_threshold_"
        vars(self)["absent_"] = {"inlier_mask_": why}
        if not isinstance(source, Arrays):
            return
        rule, whole = Rule(self.residual_threshold_, self.loss), source.whole()
        if source.y is None:
            far = map_rows(lambda X: rule.distance(self.estimator_, X, None), whole)
        else:
            guess = map_rows(self._predict, whole)
            far = rule.far(source.y.reshape(guess.shape), guess)
        vars(self)["_mask"] = far <= rule.threshold
