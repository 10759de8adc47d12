"""Stacking: a learner of what other learners say of rows they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Estimator, Regressor, map_rows
from tenfold.base.foreign import float_of
from tenfold.base.members import choices_of
from tenfold.compose.routes import inner
from tenfold.compose.stack import Stacking
from tenfold.core.data import Array
from tenfold.core.params import KW_ONLY, estimator, param

METHODS = ("predict_proba", "decision_function", "predict")


@estimator
class StackingClassifier(Classifier, Stacking):
    """StackingClassifier: a classifier of what other classifiers say.

    Model       P(c | x) = last(P₁(· | x), ..., P_T(· | x), and x where it passes through)
    Objective   that of each learner; for the last one, its own on rows of probabilities that models of the other folds give
    Algorithm   the same folds for all learners (merged statistics where a learner is one-pass: nothing is fitted again), the
                last one fitted to the probabilities of the rows held out, then all learners fitted to all rows side by side
    Cost        a cross-validation of each learner, and one fit; the rows are kept while it is fitted
    Fails when  rows are few: what models of fewer rows say is not what those of all rows say; a class has fewer than two
                distinct rows (refused)
    Reference   Wolpert 1992; Ting & Witten 1999 (probabilities)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> pair = [("nb", tenfold.GaussianNB()), ("tree", tenfold.DecisionTreeClassifier(max_depth=3))]
    >>> model = tenfold.StackingClassifier(pair).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.transform(X).shape, bool(model.score(X, X[:, 0] * X[:, 1] > 0) > 0.9)
    ((200, 2), True)
    """

    _: KW_ONLY
    stack_method: str = param(
        default="auto", one_of=("auto", *METHODS), doc="how learners are asked; auto: as the first of these they have", before="n_jobs"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.discriminant import LinearDiscriminantAnalysis
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return [
            {"estimators": [("nb", GaussianNB()), ("lda", LinearDiscriminantAnalysis())], "final_estimator": GaussianNB()},
            {
                "estimators": [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=1))],
                "final_estimator": GaussianNB(),
                "passthrough": True,
            },
        ]

    def _default(self) -> Any:
        from tenfold.linear.logistic import LogisticRegression

        return LogisticRegression()

    def _refusal(self, learner: Any) -> str | None:
        if self.stack_method != "auto" and learner.role == "classifier" and not hasattr(learner, self.stack_method):
            return f"does not implement the method {self.stack_method}, which stack_method asks for"
        return super()._refusal(learner)

    def _method(self, learner: Any) -> str:
        return next(one for one in METHODS if hasattr(learner, one)) if self.stack_method == "auto" else self.stack_method

    def _member_outputs(self, learner: Estimator, X: Any) -> Array:
        method = self._method(learner)
        if method == "predict":
            return choices_of(learner, X)[:, None].astype(np.float64)
        if method == "predict_proba":
            shares = np.asarray(learner._probabilities(X))
            return shares if shares.shape[1] > 2 else shares[:, 1:]
        scores = np.asarray(learner._decisions(X))
        return scores if scores.shape[1] > 2 else scores[:, 1:] - scores[:, :1]

    def _width(self, learner: Estimator) -> int:
        K = len(self.classes_)
        return 1 if K == 2 or self._method(learner) == "predict" else K

    def _scores(self, X: Any) -> Array:
        return np.asarray(self._last()._scores(self._transform(X)))

    def _choice(self, X: Any) -> Array | None:
        chosen: Array | None = self._last()._choice(self._transform(X))
        return chosen

    def predict(self, X: Any, **params: Any) -> Any:
        """What the last learner predicts; it receives `params`."""
        if params:
            return self._last_says(X, params)
        return np.asarray(self.classes_[map_rows(self._codes, check.check_predict(self, X))])

    def _codes(self, X: Any) -> Array:
        return choices_of(self._last(), self._transform(X))

    def _decisions(self, X: Any) -> Array:
        return np.asarray(self._last()._decisions(self._transform(X)))

    def _probabilities(self, X: Any) -> Array:
        return np.asarray(self._last()._probabilities(self._transform(X)))

    def _log_probabilities(self, X: Any) -> Array:
        return np.asarray(self._last()._log_probabilities(self._transform(X)))

    @available(inner("_final", "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class by the last learner."""
        return map_rows(self._probabilities, check.check_predict(self, X))

    @available(inner("_final", "predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return map_rows(self._log_probabilities, check.check_predict(self, X))

    @available(inner("_final", "decision_function"))
    def decision_function(self, X: Any) -> Array:
        """The scores of the last learner; for two classes, how much the second one leads."""
        decided: Array = super().decision_function(X)
        return decided


@estimator
class StackingRegressor(Regressor, Stacking):
    """StackingRegressor: a regressor of what other regressors predict.

    Model       ŷ(x) = last(ŷ₁(x), ..., ŷ_T(x), and x where it passes through)
    Objective   that of each learner; for the last one, its own on rows of predictions that models of the other folds give
    Algorithm   the same folds for all learners (merged statistics where a learner is one-pass: nothing is fitted again), the
                last one fitted to the predictions of the rows held out, then all learners fitted to all rows side by side
    Cost        a cross-validation of each learner, and one fit; the rows are kept while it is fitted
    Fails when  rows are few: what models of fewer rows predict is not what those of all rows predict
    Reference   Wolpert 1992; Breiman 1996 (stacked regressions)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> pair = [("line", tenfold.LinearRegression()), ("tree", tenfold.DecisionTreeRegressor(max_depth=3))]
    >>> model = tenfold.StackingRegressor(pair).fit(X, X[:, 0] + (X[:, 1] > 0))
    >>> model.transform(X).shape, bool(model.score(X, X[:, 0] + (X[:, 1] > 0)) > 0.9)
    ((200, 2), True)
    """

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.least_squares import LinearRegression
        from tenfold.linear.ridge import Ridge
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return [
            {"estimators": [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2))], "final_estimator": Ridge()},
            {"estimators": [("line", LinearRegression()), ("off", "drop")], "final_estimator": Ridge(), "passthrough": True},
        ]

    def _default(self) -> Any:
        from tenfold.linear.ridge_cv import RidgeCV

        return RidgeCV()

    def _member_outputs(self, learner: Estimator, X: Any) -> Array:
        said = np.asarray(learner._predict(X))
        return said.reshape(len(said), -1)

    def predict(self, X: Any, **params: Any) -> Any:
        """What the last learner predicts; it receives `params`, such as return_std=True."""
        return self._last_says(X, params) if params else super().predict(X)

    def _predict(self, X: Any) -> Array:
        return np.asarray(self._last()._predict(self._transform(X)), dtype=float_of(X))
