"""Many classes by learners of two: each class against the rest, or each pair of classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Estimator, log_softmax
from tenfold.base.foreign import own_of
from tenfold.base.members import choices_of
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh, same
from tenfold.compose.fitting import side_by_side, viewed, with_target
from tenfold.compose.single import OfOne
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Keyed, merge
from tenfold.gate.inputs import AsGiven

TWO = np.array([0, 1])  # the classes of a member: the second one is the one that it stands for
Key = tuple[int, ...]


@group
class TwoClassMembers(Classifier, OfOne):
    """Abstract: made of copies of a classifier that each tell two groups of classes apart.

    A learner of one pass is summarised once, class by class, as the first and as the second of two classes; the statistics of
    each member are merges of those.
    """

    estimators_: list[Any] = learned("[learner](t)", "fitted learners of the classes 0 and 1")

    estimator: Any = param(doc="the classifier to be copied: two classes are all that it has to know")
    _: KW_ONLY
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    least_classes: ClassVar[int] = 2

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

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        keys, member = self._keys(), self._member
        facts = {**source.facts, "classes_": TWO}
        if isinstance(member, OnePass):
            template = fresh(member)
            vars(template).update(facts)
            stats = yield from self._statistics(template, keys)
            if not source.rereadable or all(template._exact(one) for one in stats.values()):
                fits = (dict(stats_=one, **template._solve(one)) for one in stats.values())
                return {"estimators_": [template._fitted_copy(fit) for fit in fits]}
        views = {key: viewed(source, partial(self._only, key), Target("label", TWO), facts) for key in keys}
        fitted = yield from side_by_side({key: fresh(member) for key in keys}, views, None if isinstance(source, AsGiven) else self._only)
        return {"estimators_": [own_of(one) for one in fitted.values()]}

    def _statistics(self, template: Estimator, keys: list[Key]) -> Learner[dict[Key, Any]]:
        """The statistics of each member, from those of the classes."""
        wanted = sorted({part for key in keys for part in self._classes_of(key)})
        by_class = yield partial(_summarize_by_class, template._summarize, tuple(wanted))
        return {key: merge(by_class[part] for part in self._classes_of(key)) for key in keys}

    def _leads(self, X: Any) -> Array:
        """(rows, members): how much the second class leads in each member; its probability where a member knows no decisions."""
        leads = []
        for one in self._asked():
            if hasattr(one, "decision_function"):
                scores = np.asarray(one._decisions(X), dtype=np.float64)
                leads.append(scores[:, 1] - scores[:, 0])
            else:
                leads.append(np.asarray(one._probabilities(X), dtype=np.float64)[:, 1])
        return np.column_stack(leads)

    def _asked(self) -> list[Any]:
        """The members as learners of ours."""
        return self._as_ours(self.estimators_, {"classes_": TWO})

    def _objection(self) -> str | None:
        if len(self.estimators_) != len(self._keys()):
            return "there is another number of members than the classes need"
        if any(one.role != "classifier" or not same(one.classes_, TWO) for one in self.estimators_):
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


@estimator
class OneVsRestClassifier(TwoClassMembers):
    """OneVsRestClassifier: one learner for each class, which tells it from all others.

    Model       the class of the largest lead; P(k | x) = pₖ / Σ pⱼ, where pₖ is what the member of class k says
    Objective   that of the learner, once for each class against the rest; with two classes, once
    Algorithm   all members side by side: one reading of the rows serves all of them; learners of one pass are summarised
                once, class by class, and the statistics of "the rest" are merged
    Cost        K fits; of one-pass learners the pass is made once, whatever K
    Fails when  classes lie between others, so that no member can tell them from the rest (then OneVsOneClassifier)
    Reference   Rifkin & Klautau 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 4, axis=0) + np.arange(12)[:, None] / 20
    >>> model = tenfold.OneVsRestClassifier(tenfold.LogisticRegression()).fit(X, np.repeat(["a", "b", "c"], 4))
    >>> model.predict([[8.0, 1.0], [0.0, 8.0]]).tolist(), len(model.estimators_)
    (['b', 'c'], 3)
    """

    _: KW_ONLY
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.linear.logistic import LogisticRegression

        return [{"estimator": GaussianNB()}, {"estimator": LogisticRegression(tol=1e-12)}]

    def _keys(self) -> list[Key]:
        K = len(self.classes_)
        return [(k,) for k in range(K)] if K > 2 else [(1,)]

    @staticmethod
    def _only(key: Key, block: Block) -> Block:
        return with_target(block, (block.y == key[0]).astype(np.int64))

    def _classes_of(self, key: Key) -> Iterator[tuple[int, int]]:
        return ((label, int(label == key[0])) for label in range(len(self.classes_)))

    def _scores(self, X: Any) -> Array:
        """log pₖ, whose largest is that of the largest lead; softmax gives pₖ / Σ pⱼ."""
        said = [log_softmax(np.asarray(one._scores(X), dtype=np.float64)) for one in self._asked()]
        return said[0] if len(said) == 1 else np.column_stack([one[:, 1] for one in said])

    @available(lambda model: hasattr(model._member, "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`."""
        return super().predict_proba(X)

    @available(lambda model: hasattr(model._member, "predict_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return super().predict_log_proba(X)

    @available(lambda model: hasattr(model._member, "decision_function"))
    def decision_function(self, X: Any) -> Array:
        """How much each class leads over the rest; for two classes, how much the second one leads."""
        return np.asarray(super().decision_function(X))

    def _decisions(self, X: Any) -> Array:
        leads = self._leads(X)
        return leads if leads.shape[1] > 1 else np.column_stack([np.zeros(len(leads)), leads])


@estimator
class OneVsOneClassifier(TwoClassMembers):
    """OneVsOneClassifier: one learner for each pair of classes; most votes win.

    Model       the class of most votes Σₘ [member m votes for c]; of as many, the one with the larger leads
    Objective   that of the learner, once for each pair of classes, on their rows alone
    Algorithm   all members side by side: one reading of the rows serves all of them; learners of one pass are summarised
                once, class by class, and the statistics of each pair are merged
    Cost        K (K − 1) / 2 fits, each on the rows of two classes; of one-pass learners the pass is made once, whatever K
    Fails when  classes are very many, or have few rows each
    Reference   Knerr, Personnaz & Dreyfus 1990; Hastie & Tibshirani 1998

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> model = tenfold.OneVsOneClassifier(tenfold.GaussianNB()).fit(X, np.repeat(["a", "b", "c"], 4))
    >>> model.predict([[1.0], [6.0], [11.0]]).tolist()
    ['a', 'b', 'c']
    """

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return [{"estimator": GaussianNB()}, {"estimator": DecisionTreeClassifier(max_depth=2)}]

    def _keys(self) -> list[Key]:
        return list(combinations(range(len(self.classes_)), 2))

    @staticmethod
    def _only(key: Key, block: Block) -> Block | None:
        first, second = key
        rows = np.flatnonzero((block.y == first) | (block.y == second))
        if not len(rows):
            return None
        part = block.take(rows)
        return with_target(part, (part.y == second).astype(np.int64))

    def _classes_of(self, key: Key) -> Iterator[tuple[int, int]]:
        return iter([(key[0], 0), (key[1], 1)])

    def _scores(self, X: Any) -> Array:
        """Votes, and leads squeezed below half a vote, so that they decide between classes with as many votes."""
        K, leads, members = len(self.classes_), self._leads(X), self._asked()
        votes, sums = np.zeros((len(leads), K)), np.zeros((len(leads), K))
        rows = np.arange(len(leads))
        for m, (i, j) in enumerate(self._keys()):
            sums[:, i] -= leads[:, m]
            sums[:, j] += leads[:, m]
            votes[rows, np.where(choices_of(members[m], X) == 1, j, i)] += 1
        scores = votes + sums / (3 * (np.abs(sums) + 1))
        if K == 2:  # the second one has a vote, or less than nothing; a probability is below half a vote
            scores[:, 0] = 0.0 if hasattr(members[0], "decision_function") else 0.5
        return np.asarray(scores)

    @available(lambda model: False)
    def predict_proba(self, X: Any) -> Array:
        """Votes are no probabilities: there are none."""
        raise NotImplementedError

    @available(lambda model: False)
    def predict_log_proba(self, X: Any) -> Array:
        """Votes are no probabilities: there are none."""
        raise NotImplementedError
