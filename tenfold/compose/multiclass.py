"""Many classes by learners of two: each class against the rest, or each pair of classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import map_rows
from tenfold.base.foreign import float_of
from tenfold.base.members import choices_of
from tenfold.compose.fitting import with_target
from tenfold.compose.routes import inner
from tenfold.compose.two_classes import Key, TwoClassMembers
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param

LEAST = 1e-300  # of a lead, beside its logarithm: decides between classes whose probabilities are all 1 in float64


@estimator
class OneVsRestClassifier(TwoClassMembers):
    """OneVsRestClassifier: one learner for each class, which tells it from all others.

    Model       the class of the largest lead; P(k | x) = pₖ / Σ pⱼ, where pₖ is what the member of class k says. Of an indicator
                matrix (a column for each label, of which a row may have several) every label with pₖ > 1/2, and pₖ as it is
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

    _always: Array = learned("int(K)", "of labels: 1 for one of all rows, 0 for one of none, −1 for all others", optional=True)
    _indicator: str = learned("str", "of labels: the kind of matrix that they came in, dense or sparse", optional=True)

    multi_output: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1  # a label may be that of all rows
    _subset: ClassVar[str] = "classes"

    _: KW_ONLY
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.linear.logistic import LogisticRegression

        return [{"estimator": GaussianNB()}, {"estimator": LogisticRegression(tol=1e-12)}]

    @property
    def multilabel_(self) -> bool:
        """Whether rows have several labels: it was fitted to an indicator matrix."""
        check.check_fitted(self)
        return "_always" in vars(self)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """As `fit` of every learner; y may be an indicator matrix, dense or sparse: a column of 0 and 1 for each label."""
        for name in ("_always", "_indicator"):
            vars(self).pop(name, None)
        if (y.ndim if hasattr(y, "ndim") else np.asarray(y).ndim) == 2:
            Y = y.toarray() if ops.is_sparse(y) else np.asarray(y)
            if Y.shape[1] > 1:
                check_indicator(Y)
                vars(self)["_indicator"] = "sparse" if ops.is_sparse(y) else "dense"
            y = Y
        return super().fit(X, y, sample_weight, **params)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        columns = source.target.classes
        if not isinstance(columns, list):
            if len(columns) == 1:
                raise BadInput(
                    f"OneVsRestClassifier needs samples of at least 2 classes in y, but there is only one class: {columns.tolist()[0]!r}"
                )
            return (yield from super()._learn(source))
        check_indicator(np.concatenate(columns))
        always = np.array([-1 if len(one) == 2 else int(one[0]) for one in columns])
        for label, known in enumerate(always):
            if known >= 0:
                warn(f"Label {'' if known else 'not '}{label} is present in all training examples.", DataWarning)
        vars(self).update(_always=always, classes_=np.arange(len(columns)))
        found = yield from super()._learn(source)
        return found | dict(_always=always, classes_=self.classes_, _indicator=vars(self).get("_indicator", "dense"))

    def _keys(self) -> list[Key]:
        if "_always" in vars(self):
            return [(int(k),) for k in np.flatnonzero(self._always < 0)]
        K = len(self.classes_)
        return [(k,) for k in range(K)] if K > 2 else [(1,)]

    @staticmethod
    def _only(key: Key, block: Block) -> Block:
        one = block.y[:, key[0]] if block.y.ndim == 2 else block.y == key[0]
        return with_target(block, one.astype(np.int64))

    def _classes_of(self, key: Key) -> Iterator[tuple[int, int]]:
        return ((label, int(label == key[0])) for label in range(len(self.classes_)))

    def _scores(self, X: Any) -> Array:
        """log pₖ, whose largest is that of the largest lead; softmax gives pₖ / Σ pⱼ. Of regressors what they predict."""
        if self._member.role == "regressor":
            said = self._leads(X)
            return said if said.shape[1] > 1 else np.column_stack([np.full(len(said), 0.5), said])
        leads = []
        for one in self._asked():
            scores = np.asarray(one._scores(X), dtype=np.float64)
            leads.append(scores[:, 1] - scores[:, 0])
        if len(leads) == 1:
            return -np.logaddexp(0.0, np.column_stack([leads[0], -leads[0]]))
        lead = np.column_stack(leads)
        return np.asarray(LEAST * lead - np.logaddexp(0.0, -lead))

    def _by_label(self, said: Array, sure: tuple[float, float]) -> Array:
        """(rows, labels): what is said of the labels that vary; `sure` stands for those that no row had, and all."""
        whole = np.empty((len(said), len(self._always)))
        whole[:, self._always < 0] = said
        for known in (0, 1):
            whole[:, self._always == known] = sure[known]
        return whole

    def _labels(self, X: Any) -> Array:
        """(rows, labels): 1 for labels that a row has."""
        said = self._leads(X) > self._zero if self._keys() else np.empty((X.shape[0], 0))
        return self._by_label(said, (0, 1)).astype(np.int64)

    def predict(self, X: Any) -> Any:
        """The class of each row; of labels an indicator matrix (rows, labels), sparse where that of the fit was so."""
        if not self.multilabel_:
            return super().predict(X)
        labels = map_rows(self._labels, check.check_predict(self, X))
        if self._indicator == "dense":
            return labels
        from scipy.sparse import csr_matrix

        return csr_matrix(labels)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right; of labels all of them."""
        if not self.multilabel_:
            return super().score(X, y, sample_weight)
        truth = y.toarray() if ops.is_sparse(y) else np.asarray(y)
        said = map_rows(self._labels, check.check_predict(self, X))
        if truth.shape != said.shape:
            raise BadInput(f"y has the shape {truth.shape}, and {said.shape} is predicted: give an indicator matrix of the same labels")
        return float(np.average((said == truth).all(axis=1), weights=check.as_weights(sample_weight, len(said))))

    @available(inner("_member", "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`; of labels that of each, which do not sum to 1."""
        return np.asarray(super().predict_proba(X))

    def _probabilities(self, X: Any) -> Array:
        if "_always" not in vars(self):
            return super()._probabilities(X)
        said = [np.asarray(one._probabilities(X))[:, 1] for one in self._asked()]
        shares = self._by_label(np.column_stack(said) if said else np.empty((X.shape[0], 0)), (0.0, 1.0))
        return shares.astype(float_of(X), copy=False)

    @available(inner("_member", "predict_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return np.asarray(super().predict_log_proba(X))

    def _log_probabilities(self, X: Any) -> Array:
        if "_always" not in vars(self):
            return super()._log_probabilities(X)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._probabilities(X)))

    @available(inner("_member", "decision_function"))
    def decision_function(self, X: Any) -> Array:
        """How much each class leads over the rest; for two classes, how much the second one leads; of labels how much each leads."""
        if self.multilabel_:
            return map_rows(self._label_leads, check.check_predict(self, X))
        return np.asarray(super().decision_function(X))

    def _label_leads(self, X: Any) -> Array:
        return self._by_label(self._leads(X) if self._keys() else np.empty((X.shape[0], 0)), (-1.0, 1.0))

    def _decisions(self, X: Any) -> Array:
        leads = self._leads(X)
        return leads if leads.shape[1] > 1 else np.column_stack([np.zeros(len(leads)), leads])


def check_indicator(Y: Array) -> None:
    """Labels are columns of 0 and 1."""
    if Y.dtype.kind not in "biuf" or not np.isin(Y, (0, 1)).all():
        raise BadInput(
            "Multioutput target data is not supported with label binarization: y of several columns must be an indicator matrix of 0 "
            "and 1; for several targets use MultiOutputClassifier"
        )


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
            second = leads[:, m] > 0.5 if members[m].role == "regressor" else choices_of(members[m], X) == 1
            votes[rows, np.where(second, j, i)] += 1
        scores = votes + sums / (3 * (np.abs(sums) + 1))
        if K == 2:  # the second one has a vote, or less than nothing; a probability is below half a vote
            scores[:, 0] = self._zero
        return np.asarray(scores)

    @available(lambda model: False)
    def predict_proba(self, X: Any) -> Array:
        """Votes are no probabilities: there are none."""
        raise NotImplementedError

    @available(lambda model: False)
    def predict_log_proba(self, X: Any) -> Array:
        """Votes are no probabilities: there are none."""
        raise NotImplementedError
