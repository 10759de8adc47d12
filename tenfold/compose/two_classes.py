"""What learners of many classes by learners of two have in common: who learns from which rows, and how they are asked."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Estimator
from tenfold.base.foreign import ByVerbs, as_ours, learner_of, objection_to, own_of, role_given
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh, same
from tenfold.compose.fitting import side_by_side, viewed, with_target
from tenfold.compose.routes import Routes, facts_of, inner, learn_more, member_for, received
from tenfold.compose.single import OfOne
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.stats import Keyed, merge
from tenfold.gate.inputs import AsGiven, Given

TWO = np.array([0, 1])  # the classes of a member: the second one is the one that it stands for
Key = tuple[int, ...]
ASKED = ("decision_function", "predict_proba", "predict")  # a member has one of these


@group
class TwoClassMembers(Routes, Classifier, OfOne):
    """Abstract: made of copies of a classifier that each tell two groups of classes apart.

    A learner of one pass is summarised once, class by class, as the first and as the second of two classes; the statistics of
    each member are merges of those. A regressor is fitted to 0 and 1, and says the second one above 0.5.
    """

    estimators_: list[Any] = learned("[learner](t)", "fitted learners of the classes 0 and 1")

    estimator: Any = param(doc="the classifier to be copied: two classes are all that it has to know")
    _: KW_ONLY
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    least_classes: ClassVar[int] = 2
    _subset: ClassVar[str] = "it"  # what must be a subset of the classes, in scikit-learn's words

    @property
    def _member(self) -> Any:
        given = self.estimator
        reason = objection_to(given, *ASKED)
        if reason is None and role_given(given) not in ("classifier", "regressor", None):
            reason = f"is a {type(given).__name__}, a {role_given(given)}, and a classifier is needed"
        if reason is not None:
            raise BadParameter(f"{type(self).__name__}(estimator): {reason}")
        if role_given(given) == "regressor" or role_given(given) is None:
            return ByVerbs(given, as_role=role_given(given) or "classifier")
        return learner_of(given, by_verbs=isinstance(given, Estimator) and given.accepts == "anything")

    def _keys(self) -> list[Key]:
        """What the members tell apart, in the order of `estimators_`."""
        raise NotImplementedError

    @staticmethod
    def _only(key: Key, block: Block) -> Block | None:
        """The rows of a block that the member of this key learns from, with the numbers of its two classes."""
        raise NotImplementedError

    def _classes_of(self, key: Key) -> Iterator[tuple[int, int]]:
        """The classes that a member learns from, each with its number there."""
        raise NotImplementedError

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    def _calls(self) -> list[tuple[str, Any, Any]]:
        return [("estimator", self.estimator, [("fit", "fit"), ("partial_fit", "partial_fit")])]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        keys, member = self._keys(), self._member
        facts = {**source.facts, "classes_": TWO}
        if isinstance(member, OnePass) and source.target.width == 1 and not isinstance(source, AsGiven):
            template = fresh(member)
            vars(template).update(facts)
            stats = yield from self._statistics(template, keys)
            if not source.rereadable or all(template._exact(one) for one in stats.values()):
                fits = (dict(stats_=one, **template._solve(one)) for one in stats.values())
                return {"estimators_": [template._fitted_copy(fit) for fit in fits]}
        rows = received(source, "estimator")
        views = {key: viewed(rows, partial(self._only, key), Target("label", TWO), facts) for key in keys}
        members = {key: member_for(member, rows) for key in keys}
        fitted = yield from side_by_side(members, views, None if isinstance(source, AsGiven) else self._only)
        return {"estimators_": [own_of(one) for one in fitted.values()]}

    def _statistics(self, template: Estimator, keys: list[Key]) -> Learner[dict[Key, Any]]:
        """The statistics of each member, from those of the classes."""
        wanted = sorted({part for key in keys for part in self._classes_of(key)})
        by_class = yield partial(_summarize_by_class, template._summarize, tuple(wanted))
        return {key: merge(by_class[part] for part in self._classes_of(key)) for key in keys}

    @available(inner("_member", "partial_fit"))
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Let the members learn more rows, each by its own `partial_fit`. The first call names all `classes`."""
        given = (self._parts("partial_fit", params, sample_weight) or {"estimator": {}})["estimator"]
        first = "estimators_" not in vars(self)
        if first and classes is None:
            raise BadInput("classes must be passed on the first call to partial_fit: all labels that will ever come")
        known = np.unique(np.asarray(classes)) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(classes), known):
            raise BadInput(f"classes={check.short(classes)} is not the same as on last call to partial_fit")
        rows = Given(X)
        labels = check.flat_labels(check.as_column(y), rows.shape[0])
        if len(unknown := np.setdiff1d(labels, known)):
            raise BadInput(f"Mini-batch contains {np.unique(labels)} while {self._subset} must be subset of {known}: not {unknown}")
        codes = check.encode(labels, known)[1]
        facts, apart = {"classes_": known, **facts_of(X)}, self._apart()
        vars(apart).update(facts)
        members = [fresh(self.estimator) for _ in apart._keys()] if first else deepcopy(self.estimators_)
        for key, one in zip(apart._keys(), members, strict=True):
            part = self._only(key, Block(np.arange(len(codes))[:, None], codes, np.ones(len(codes))))
            if part is not None:
                learn_more(one, rows, part.X[:, 0], part.y, TWO, given)
        vars(self).update(facts, estimators_=members)
        return self

    def _leads(self, X: Any) -> Array:
        """(rows, members): how much the second class leads in each member; its probability where a member knows no decisions."""
        leads = []
        for one in self._asked():
            if one.role == "regressor":
                leads.append(np.asarray(one._predict(X), dtype=np.float64).reshape(-1))
            elif hasattr(one, "decision_function"):
                scores = np.asarray(one._decisions(X), dtype=np.float64)
                leads.append(scores[:, 1] - scores[:, 0])
            else:
                leads.append(np.asarray(one._probabilities(X), dtype=np.float64)[:, 1])
        return np.column_stack(leads)

    @property
    def _zero(self) -> float:
        """Where neither class leads, in the unit of `_leads`."""
        return 0.0 if self._member.role == "classifier" and hasattr(self._member, "decision_function") else 0.5

    def _asked(self) -> list[Any]:
        """The members as learners of ours."""
        if self._member.role == "regressor":
            return [ByVerbs(one, as_role="regressor") for one in self.estimators_]
        return self.estimators_ if self.accepts == "rows" else as_ours(self.estimators_, True, {"classes_": TWO})

    def _objection(self) -> str | None:
        if len(self.estimators_) != len(self._keys()):
            return "there is another number of members than the classes need"
        if self._member.role == "classifier" and any(
            one.role != "classifier" or not same(one.classes_, TWO) for one in self.estimators_
        ):
            return "a member is no classifier of the classes 0 and 1"
        return None


def _summarize_by_class(summarize: Any, wanted: tuple[tuple[int, int], ...], block: Block) -> Keyed:
    """The statistics of the rows of each class, as the first or the second of two classes."""
    found = {}
    for label in sorted({label for label, _ in wanted}):
        rows = np.flatnonzero(block.y == label)
        if len(rows):
            part = block.take(rows)
            for which in (which for one, which in wanted if one == label):
                found[label, which] = summarize(with_target(part, np.full(len(rows), which)))
    return Keyed(found)
