"""Chains: several targets by learners of one, each of which also sees the targets before it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Regressor, map_rows
from tenfold.base.foreign import ByVerbs, as_ours, own_of
from tenfold.base.members import choices_of
from tenfold.base.shares import TargetsClassifier
from tenfold.compose.links import Chain, as_numbers
from tenfold.compose.routes import inner
from tenfold.core.data import Array, Target
from tenfold.core.errors import BadParameter
from tenfold.core.params import KW_ONLY, estimator, param

ASKED = ("predict", "predict_proba", "predict_log_proba", "decision_function")


@estimator
class RegressorChain(Regressor, Chain):
    """RegressorChain: one regressor for each of several targets, which also sees those before it.

    Model       ŷⱼ(x) = fⱼ(x, ŷ₁(x), ..., ŷⱼ₋₁(x)), in the order of the chain
    Objective   that of the learner, once for each target; its columns are x and the targets before, or (cv) what models of
                other rows predict of them
    Algorithm   without cv all members side by side: one reading of the rows serves all of them
    Cost        q fits for q targets; with cv a cross-validation of each besides
    Fails when  the first members predict badly: those after them were fitted to the targets themselves (then cv)
    Reference   Spyromitros-Xioufis et al. 2016

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> both = np.column_stack([X[:, 0] ** 2, 3 * X[:, 0] ** 2 + X[:, 0]])
    >>> chain = tenfold.RegressorChain(tenfold.LinearRegression()).fit(X, both)
    >>> [one.n_features_in_ for one in chain.estimators_], chain.estimators_[1].coef_.round(6).tolist()
    ([1, 2], [1.0, 3.0])
    """

    multi_output: ClassVar[bool] = True
    hands_all: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"several_targets": "a member also sees the targets before its own"}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return [{"estimator": DecisionTreeRegressor(max_depth=3), "order": "random", "random_state": 0}, {"estimator": Ridge()}]

    def _known(self, target: Target) -> list[Array | None]:
        return [None] * target.width

    def _ask(self, member: Any, X: Any, classes: Array | None = None) -> Array:
        return np.asarray(member._predict(X)).reshape(X.shape[0])

    def _predict(self, X: Any) -> Array:
        values = self._through(X, self._ask)
        return values[:, 0] if self._flat else values


@estimator
class ClassifierChain(TargetsClassifier, Chain):
    """ClassifierChain: one classifier for each of several targets, which also sees those before it.

    Model       ĉⱼ(x) = fⱼ(x, s₁(x), ..., sⱼ₋₁(x)), in the order of the chain; s is what `chain_method` of a member says
    Objective   that of the learner, once for each target; its columns are x and the targets before, or (cv) what models of
                other rows say of them
    Algorithm   without cv all members side by side: one reading of the rows serves all of them
    Cost        q fits for q targets; with cv a cross-validation of each besides
    Fails when  the first members predict badly: those after them were fitted to the targets themselves (then cv)
    Reference   Read et al. 2009

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> both = np.column_stack([X[:, 0] > 0, (X[:, 0] > 0) & (X[:, 1] > 0)]).astype(int)
    >>> chain = tenfold.ClassifierChain(tenfold.LogisticRegression()).fit(X, both)
    >>> chain.predict([[1.0, 2.0], [-1.0, 1.0]]).tolist()
    [[1, 1], [0, 0]]
    """

    _: KW_ONLY
    chain_method: Any = param(
        default="predict", doc="how members are asked for those after them: a verb, or a list of which the first that they have is taken"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return [{"estimator": GaussianNB()}, {"estimator": DecisionTreeClassifier(max_depth=3), "chain_method": "predict_proba"}]

    @property
    def least_classes(self) -> int:
        return int(self._member.least_classes)

    @property
    def _method(self) -> str:
        wanted = self.chain_method if isinstance(self.chain_method, (list, tuple)) else [self.chain_method]
        member = own_of(self._member)
        has = [one for one in wanted if isinstance(one, str) and one in ASKED and hasattr(member, one)]
        if not has:
            raise BadParameter(
                f"ClassifierChain(chain_method={check.short(self.chain_method)}): {type(member).__name__} has none of these; "
                f"must be one of {', '.join(ASKED)}, or a list of them"
            )
        return has[0]

    @property
    def chain_method_(self) -> str:
        """The verb that members are asked by for those after them."""
        check.check_fitted(self)
        return self._method

    def _known(self, target: Target) -> list[Array | None]:
        if not self._method:  # looked at before the work
            raise AssertionError
        return list(target.classes) if isinstance(target.classes, list) else [target.classes]

    def _classes_by_target(self) -> list[Array]:
        return TargetsClassifier._classes_by_target(self)

    def _ask(self, member: Any, X: Any, classes: Array | None) -> Array:
        return as_numbers(choices_of(member, X), classes) if self._method == "predict" else _verb_outputs(self._method, member, X)

    def _labels(self, X: Any) -> Array:
        return self._through(X, lambda member, Z, classes: classes[choices_of(member, Z)])  # type: ignore[index]

    def predict(self, X: Any) -> Array:
        """The class of each row and target; of one target (rows,)."""
        labels = map_rows(self._labels, check.check_predict(self, X))
        return labels if isinstance(self.classes_, list) else labels[:, 0]

    def _class_shares(self, X: Any) -> Array:
        """Of one target the probabilities of its classes, of several those of all of them side by side."""
        parts: dict[int, Array] = {}
        order = iter(self.order_.tolist())

        def keep(member: Any, Z: Any, classes: Array | None) -> Array:
            parts[next(order)] = np.asarray(member._probabilities(Z), dtype=np.float64)
            return np.zeros(Z.shape[0])

        self._through(X, keep)
        return np.hstack([parts[j] for j in sorted(parts)])

    def _of_each(self, verb: str, X: Any) -> Array:
        return map_rows(lambda X: self._through(X, lambda member, Z, _: _verb_outputs(verb, member, Z)), check.check_predict(self, X))

    @available(inner("_member", "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """(rows, targets): the probability of the second class of each target; of one target that of each class."""
        return self._of_each("predict_proba", X) if isinstance(self.classes_, list) else Classifier.predict_proba(self, X)

    @available(inner("_member", "predict_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return self._of_each("predict_log_proba", X) if isinstance(self.classes_, list) else Classifier.predict_log_proba(self, X)

    @available(inner("_member", "decision_function"))
    def decision_function(self, X: Any) -> Array:
        """(rows, targets): how much the second class of each target leads; of one target as the member says."""
        if isinstance(self.classes_, list):
            return self._of_each("decision_function", X)
        only = as_ours(self.estimators_, False, {"classes_": self.classes_})[0]
        scores = map_rows(only._decisions, check.check_predict(self, X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _verb_outputs(verb: str, member: Any, X: Any) -> Array:
    """What a classifier says of the second class."""
    if verb == "decision_function":
        scores = np.asarray(member._decisions(X), dtype=np.float64)
        return np.asarray(scores[:, 1] - scores[:, 0])
    if isinstance(member, ByVerbs) and verb == "predict_log_proba":
        return np.asarray(member._ask(verb, X), dtype=np.float64)[:, 1]
    said = member._probabilities(X) if verb == "predict_proba" else member._log_probabilities(X)
    return np.asarray(said, dtype=np.float64)[:, 1]
