"""Several targets by learners of one: a copy for each of them."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Regressor, map_rows
from tenfold.base.foreign import as_ours, own_of
from tenfold.base.members import choices_of
from tenfold.base.routing import refuse_unrouted
from tenfold.base.shares import TargetsClassifier
from tenfold.base.sklearn_api import fresh, same
from tenfold.compose.fitting import side_by_side, viewed, with_target
from tenfold.compose.routes import Routes, facts_of, inner, learn_more, member_for, received
from tenfold.compose.single import OfOne
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadInput
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.gate.inputs import AsGiven, Given


@group
class OneForEach(Routes, OfOne):
    """Abstract: a copy of one learner for each target."""

    estimators_: list[Any] = learned("[learner](q)", "a fitted learner for each target")

    estimator: Any = param(doc="the learner to be copied for each target")
    _: KW_ONLY
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    hands_all: ClassVar[bool] = True

    def _calls(self) -> list[tuple[str, Any, Any]]:
        return [("estimator", self.estimator, [("fit", "fit"), ("partial_fit", "partial_fit")])]

    def _targets(self, target: Target) -> list[tuple[Target, dict[str, Any]]]:
        """Each target alone, and what the gate knows of it."""
        raise NotImplementedError

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        rows, each = received(source, "estimator"), dict(enumerate(self._targets(source.target)))
        views = {j: viewed(rows, partial(one_target, j), one, source.facts | facts) for j, (one, facts) in each.items()}
        only = None if isinstance(source, AsGiven) else one_target
        fitted = yield from side_by_side({j: member_for(self._member, rows) for j in each}, views, only)
        return {"estimators_": [own_of(one) for one in fitted.values()]}

    def _more(self, X: Any, y: Any, classes: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        """Let the members learn more rows, each by its own `partial_fit`."""
        rows, Y = Given(X), check.as_column(y)
        check.check_length("y", len(Y), rows.shape[0])
        refuse_unrouted(self, "partial_fit", params)
        given = (self._parts("partial_fit", params, sample_weight) or {"estimator": {}})["estimator"]
        facts = self._known_of(Y, classes)
        known = facts.get("classes_") if Y.ndim == 2 else [facts.get("classes_")]
        columns = list(Y.T) if Y.ndim == 2 else [Y]
        if "estimators_" in vars(self) and len(columns) != len(self.estimators_):
            raise BadInput(f"y has {len(columns)} targets, but {type(self).__name__} has learned {len(self.estimators_)}")
        members = deepcopy(self.estimators_) if "estimators_" in vars(self) else [fresh(self.estimator) for _ in columns]
        for j, one in enumerate(members):
            learn_more(one, rows, slice(None), columns[j], None if known is None else known[j], given)
        vars(self).update(facts_of(X), **facts, estimators_=members)
        return self

    def _known_of(self, Y: Array, classes: Any) -> dict[str, Any]:
        """What is known of the targets of a `partial_fit`."""
        return {"_flat": Y.ndim == 1}


def one_target(j: int, block: Block) -> Block:
    """The rows with one target alone: (n, 1) of numbers, (n,) of classes."""
    if block.y.ndim == 1:
        return block
    numbers = block.y.dtype.kind == "f"
    return with_target(block, np.ascontiguousarray(block.y[:, j : j + 1] if numbers else block.y[:, j]))


@estimator
class MultiOutputRegressor(Regressor, OneForEach):
    """MultiOutputRegressor: one learner for each of several targets.

    Model       ŷⱼ(x) = the prediction of member j
    Objective   that of the learner, once for each target
    Algorithm   all members side by side: one reading of the rows serves all of them
    Cost        q fits for q targets; as many readings of the rows as the longest of them needs
    Fails when  targets depend on one another, which members do not know of (then RegressorChain, or the learner itself
                where it takes several)
    Reference   Borchani et al. 2015

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> both = np.column_stack([2 * X[:, 0], 1 - X[:, 0]])
    >>> tenfold.MultiOutputRegressor(tenfold.HuberRegressor()).fit(X, both).predict([[3.0]]).round(6).tolist()
    [[6.0, -2.0]]
    """

    multi_output: ClassVar[bool] = True

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return [{"estimator": Ridge()}, {"estimator": DecisionTreeRegressor(max_depth=3)}]

    @available(inner("_member", "partial_fit"))
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Let the members learn more rows, each by its own `partial_fit`."""
        return self._more(X, y, None, sample_weight, params)

    def _targets(self, target: Target) -> list[tuple[Target, dict[str, Any]]]:
        return [(Target("real"), {"_flat": True})] * target.width

    def _predict(self, X: Any) -> Array:
        values = [one._predict(X) for one in self._as_ours(self.estimators_, {})]
        return np.asarray(values[0] if self._flat else np.column_stack(values))

    def _objection(self) -> str | None:
        if self._flat and len(self.estimators_) != 1:
            return "there are several members for one target"
        wrong = any(one.role != "regressor" or not vars(one).get("_flat") for one in self.estimators_)
        return "a member is no regressor of one target" if wrong or not self.estimators_ else None


def _says(verb: str) -> Any:
    """The condition that the members, or what they will be copies of, have a verb."""

    def has(model: Any) -> bool:
        for one in vars(model).get("estimators_") or [own_of(model._member)]:
            getattr(one, verb)
        return True

    return has


@estimator
class MultiOutputClassifier(TargetsClassifier, OneForEach):
    """MultiOutputClassifier: one classifier for each of several targets.

    Model       ĉⱼ(x) = the class that member j predicts; Pⱼ(c | x) = its probability
    Objective   that of the learner, once for each target
    Algorithm   all members side by side: one reading of the rows serves all of them
    Cost        q fits for q targets; as many readings of the rows as the longest of them needs
    Fails when  targets depend on one another, which members do not know of (then ClassifierChain, or a forest, which takes
                several)
    Reference   Borchani et al. 2015

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> both = np.column_stack([X[:, 0] > 5, X[:, 0] > 8])
    >>> model = tenfold.MultiOutputClassifier(tenfold.GaussianNB()).fit(X, both)
    >>> model.predict([[1.0], [7.0], [11.0]]).tolist(), [p.shape for p in model.predict_proba(X)]
    ([[False, False], [True, False], [True, True]], [(12, 2), (12, 2)])
    """

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return [{"estimator": GaussianNB()}, {"estimator": DecisionTreeClassifier(max_depth=3)}]

    @available(inner("_member", "partial_fit"))
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Let the members learn more rows, each by its own `partial_fit`. The first call names the `classes` of each target, in a list."""
        return self._more(X, y, classes, sample_weight, params)

    @property
    def least_classes(self) -> int:
        return int(self._member.least_classes)

    def _targets(self, target: Target) -> list[tuple[Target, dict[str, Any]]]:
        known = target.classes if isinstance(target.classes, list) else [target.classes]
        return [(Target("label", classes), {"classes_": classes}) for classes in known]

    def _known_of(self, Y: Array, classes: Any) -> dict[str, Any]:
        if "estimators_" in vars(self):
            return {"classes_": self.classes_}
        if classes is None:
            raise BadInput("classes must be passed on the first call to partial_fit. Give a list with the classes of each target")
        if Y.ndim == 2 and len(classes) != Y.shape[1]:
            raise BadInput(f"classes names those of {len(classes)} targets, and y has {Y.shape[1]}: give a list with those of each")
        return {"classes_": [np.unique(one) for one in classes] if Y.ndim == 2 else np.unique(classes)}

    def _asked(self) -> list[Any]:
        """The members as learners of ours."""
        if self.accepts == "rows":
            return self.estimators_
        known = zip(self.estimators_, self._classes_by_target(), strict=True)
        return [as_ours([one], True, {"classes_": classes})[0] for one, classes in known]

    def _class_shares(self, X: Any) -> Array:
        parts = []
        for one, width in zip(self._asked(), self._widths(), strict=True):  # one that has no probabilities votes
            votes = not hasattr(own_of(one), "predict_proba")
            parts.append(np.eye(width)[choices_of(one, X)] if votes else np.asarray(one._probabilities(X), dtype=np.float64))
        return np.hstack(parts)

    def _labels(self, X: Any) -> Array:
        parts = zip(self._asked(), self._classes_by_target(), strict=True)
        return np.column_stack([classes[choices_of(one, X)] for one, classes in parts])

    def predict(self, X: Any) -> Array:
        """The class of each row and target; of one target (rows,)."""
        labels = map_rows(self._labels, check.check_predict(self, X))
        return labels if isinstance(self.classes_, list) else labels[:, 0]

    @available(_says("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`; of several targets a list of these."""
        return super().predict_proba(X)

    @available(_says("predict_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return super().predict_log_proba(X)

    def _objection(self) -> str | None:
        known = self._classes_by_target()
        if len(known) != len(self.estimators_):
            return "there is not a member for each target"
        pairs = zip(self.estimators_, known, strict=True)
        wrong = any(one.role != "classifier" or not same(one.classes_, classes) for one, classes in pairs)
        return "a member is no classifier of the classes of its target" if wrong else None
