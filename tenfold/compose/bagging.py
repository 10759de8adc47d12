"""Bagging: the mean of learners of any kind, each fitted to rows drawn from the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.available import available
from tenfold.base.estimator import Estimator, Regressor
from tenfold.base.foreign import own_of
from tenfold.base.members import shares_of, values_of
from tenfold.base.shares import ShareClassifier, log_shares
from tenfold.compose.bag import Bag
from tenfold.compose.bagging_draws import Distinct
from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.core.params import estimator
from tenfold.score.record import Score
from tenfold.tree.settings import chosen_oob_score


@estimator
class BaggingClassifier(ShareClassifier, Bag):
    """BaggingClassifier: the mean of the class probabilities of learners fitted to drawn rows.

    Model       P(class k | x) = (1/T) Σₜ Pₜ(class k | x)
    Objective   that of the members, each on rows drawn with replacement (or without) and perhaps some of the columns
    Algorithm   equal rows are taken together and sorted by a hash of their content; member t draws how often it sees each
                with the seed (random_state, t), so that neither order nor blocks of rows matter; weights are chances,
                in any unit; threads run over members. Members that are not Tenfold's are fitted to rows by their places
    Cost        n_estimators fits; the rows are kept while they run
    Fails when  members are stable (linear models): the mean is then no better than one of them
    Reference   Breiman 1996

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(40.0)[:, None]
    >>> model = tenfold.BaggingClassifier(tenfold.GaussianNB(), random_state=0).fit(X, X[:, 0] > 20)
    >>> model.predict([[3.0], [33.0]])
    array([False,  True])
    >>> bool(model.oob_score_ > 0.9)
    True
    """

    oob_decision_function_: Array = learned(
        "real(n,K)", "probabilities of the training rows from members that have not seen them", optional=True
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB

        return [
            {"n_estimators": 3, "random_state": 0},
            {"estimator": GaussianNB(), "n_estimators": 2, "max_samples": 0.7, "bootstrap": False, "random_state": 0},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 1, "random_state": 0}

    def _default(self) -> Any:
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return DecisionTreeClassifier()

    def _target(self, y: Array) -> Array:
        return y

    def _enough(self, y: Array) -> bool:
        return len(y) >= self.least_rows and len(np.unique(y)) >= self.least_classes

    @property
    def has_decisions(self) -> bool:  # type: ignore[override]
        return hasattr(self._member, "decision_function")

    def predict(self, X: Any, **params: Any) -> Array:
        """The class of the largest mean probability; members receive `params`, as metadata routing says."""
        return np.asarray(self.classes_[self._mean_routed("predict", X, params).argmax(axis=1)]) if params else super().predict(X)

    def predict_proba(self, X: Any, **params: Any) -> Array:
        """The mean probability of each class, in the order of `classes_`."""
        return self._mean_routed("predict_proba", X, params) if params else super().predict_proba(X)

    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """The logarithm of `predict_proba`."""
        if not params:
            return np.asarray(super().predict_log_proba(X))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._mean_routed("predict_log_proba", X, params, self._say_by_logs)))

    def _say_by_logs(self, member: Any, X: Any) -> Array:
        logs = hasattr(own_of(member), "predict_log_proba")
        return np.exp(member._ask("predict_log_proba", X)) if logs else self._say(member, X)

    @available(lambda model: model.has_decisions)
    def decision_function(self, X: Any, **params: Any) -> Array:
        """The mean of the members' scores; for two classes, how much the second one leads."""
        if not params:
            return super().decision_function(X)  # type: ignore[no-any-return]
        scores = self._mean_routed("decision_function", X, params, lambda member, rows: member._decisions(rows))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _decisions(self, X: Any) -> Array:
        """The mean of what members decide by, where they have such scores."""
        return self._mean(X, lambda member, rows: np.asarray(member._decisions(rows), dtype=np.float64))

    def _say(self, member: Estimator, X: Any) -> Array:
        return shares_of(member, X, len(self.classes_))

    def _out_of_bag(self, rows: Distinct, mean: Array, seen: Array) -> dict[str, Any]:
        said = mean[~seen].argmax(axis=1)
        score = float(np.average(said == rows.y[~seen], weights=rows.weight[~seen]))
        chosen = chosen_oob_score(self)
        if chosen is not None:
            here, w = _judged(chosen, rows, seen)
            score = chosen.of(rows.y[here], log_shares(mean[here]), w, self.classes_)
        return dict(oob_score_=score, oob_decision_function_=mean[rows.number])

    def _class_shares(self, X: Any) -> Array:
        return self._mean(X)


@estimator
class BaggingRegressor(Regressor, Bag):
    """BaggingRegressor: the mean of the predictions of learners fitted to drawn rows.

    Model       ŷ(x) = (1/T) Σₜ ŷₜ(x)
    Objective   that of the members, each on rows drawn with replacement (or without) and perhaps some of the columns
    Algorithm   as BaggingClassifier: draws depend on the content of the rows and on random_state alone
    Cost        n_estimators fits; the rows are kept while they run
    Fails when  members are stable (linear models): the mean is then no better than one of them
    Reference   Breiman 1996

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(40.0)[:, None]
    >>> model = tenfold.BaggingRegressor(tenfold.Ridge(), random_state=0).fit(X, 2 * X[:, 0])
    >>> model.predict([[3.0]]).round(1)
    array([6.])
    """

    oob_prediction_: Array = learned(
        "real(n)|real(n,*)", "predictions of the training rows from members that have not seen them", optional=True
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [
            {"n_estimators": 3, "random_state": 0},
            {"estimator": Ridge(), "n_estimators": 2, "max_features": 0.5, "random_state": 0},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 1, "random_state": 0}

    def _default(self) -> Any:
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return DecisionTreeRegressor()

    @property
    def multi_output(self) -> bool:
        return bool(self._member.multi_output)

    @property
    def exempt(self) -> dict[str, str]:  # type: ignore[override]
        several = {"several_targets": "rows are drawn by a hash of their content, which reads all targets"}
        return Bag.exempt | (several if self.multi_output else {})

    def _target(self, y: Array) -> Array:
        return y[:, 0] if self._flat else y

    def _enough(self, y: Array) -> bool:
        return len(y) >= self.least_rows

    def _say(self, member: Estimator, X: Any) -> Array:
        return values_of(member, X)

    def _out_of_bag(self, rows: Distinct, mean: Array, seen: Array) -> dict[str, Any]:
        w, truth = rows.weight[~seen], rows.y[~seen]
        rest = w @ (truth - mean[~seen]) ** 2
        spread = w @ (truth - np.average(truth, axis=0, weights=w)) ** 2
        score = float(np.mean(1 - rest / np.where(spread > 0, spread, np.inf)))
        chosen = chosen_oob_score(self)
        if chosen is not None:
            here, weights = _judged(chosen, rows, seen)
            score = chosen.of(rows.y[here], mean[here], weights)
        return dict(oob_score_=score, oob_prediction_=self._target(mean[rows.number]))

    def predict(self, X: Any, **params: Any) -> Array:
        """The mean of the members' predictions; they receive `params`, as metadata routing says."""
        return self._target(self._mean_routed("predict", X, params)) if params else super().predict(X)

    def _predict(self, X: Any) -> Array:
        mean = self._target(self._mean(X))
        return mean if self.accepts == "anything" else mean.astype(X.dtype, copy=False)


def _judged(score: Score, rows: Distinct, seen: Array) -> tuple[Array, Array | None]:
    """The rows that some member has not seen, with their weights; a function of the user sees each copy of a row."""
    if score.merges:
        return np.flatnonzero(~seen), rows.weight[~seen]
    return rows.number[~seen[rows.number]], None
