"""AdaBoost: learners one after the other, each on rows weighted by how often those before it erred on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Classifier, Estimator, log_softmax, softmax
from tenfold.base.members import Composite, shares_of, unsuited
from tenfold.base.scored import rows_and_truth, table_of
from tenfold.base.sklearn_api import fresh
from tenfold.compose.samme import Boosting, WeakLearners, WeakStumps, WeakTrees, leanings, votes
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadType
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.monitor import Passes, keep_on_interrupt
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.gate.inputs import AsGiven
from tenfold.tree.settings import generator_of
from tenfold.tree.single.tree import as_learners
from tenfold.tree.structure.arrays import Trees


class AdaBoost(Composite):
    """Abstract: a sequence of members, of which the first few are a model too."""

    estimator_weights_: Array = learned("float(t)", "weights of the members")
    estimator_errors_: Array = learned("float(t)", "weighted error of each member")
    estimators_: list[Any] = learned(
        "[learner](t)",
        "the members, of classifiers fitted to numbers of classes; without `estimator` they are made from trees_",
        optional=True,
    )

    kind: ClassVar[str] = "keeps rows"
    path: ClassVar[str | None] = "n_estimators"
    _trees: Trees

    @property
    def accepts(self) -> str:
        return "rows" if self.estimator is None else str(self._member.accepts)

    @property
    def sparse(self) -> bool:
        return self.estimator is not None and bool(self._member.sparse)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if isinstance(source, AsGiven):
            there = slice(None) if source.rows is None else source.rows
            X, y = as_given(source.X[there]), np.asarray(source.y)[there]
            w = np.ones(len(y)) if source.w is None else source.w[there]
        else:
            X, y, w = yield Keep(sparse=self.sparse)
        return self._boosted(X, y, w, check.categorical_columns(source))

    def _ready(self, X: Any) -> Any:
        """Rows as members look at them."""
        return as_given(X) if self.accepts == "anything" else X

    def __len__(self) -> int:
        return len(self.estimator_weights_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def __getattr__(self, name: str) -> Any:
        if name == "estimators_" and "_trees" in vars(self):  # packed: made when they are asked for
            return self._unpacked()
        return super().__getattr__(name)

    def _unpacked(self) -> list[Any]:
        """The trees of all rounds as learners of their own, each with the number of its round as seed."""
        raise NotImplementedError

    def _boosted(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        raise NotImplementedError

    def _rounds(self, rounds: Iterator[float]) -> None:
        """Run them, one record each; Ctrl-C keeps those that are done."""
        passes, done = Passes(type(self).__name__, self.n_estimators), 0
        try:
            for loss in rounds:
                done += 1
                passes.done(SimpleNamespace(loss=loss))
        except KeyboardInterrupt:
            if not done:
                raise
            keep_on_interrupt(f"{done} of {self.n_estimators} rounds of {type(self).__name__} are done")

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """All numbers of rounds from one fit: fewer are the first ones."""
        if name != self.path:
            return super()._fit_path(source, name, values)
        whole: Any = fresh(self).set_params(n_estimators=max(values))
        check.check_params(whole)
        whole._fit(source)
        return [whole._first(int(value)) for value in values]

    def _first(self, n: int) -> Self:
        """A fitted learner of the first n members."""
        cut = ("estimator_weights_", "estimator_errors_", "estimators_", "_trees")
        state = self._fitted_state()
        return self._fitted_copy({key: value[:n] if key in cut else value for key, value in state.items()}, n_estimators=n)

    def _objection(self) -> str | None:
        if not self.estimator_weights_.sum() > 0 or ("_trees" in vars(self)) == ("estimators_" in vars(self)):
            return "there are no members, or they have no weight"
        return unsuited(vars(self).get("estimators_", []), self.role, len(vars(self).get("classes_", ())))

    @property
    def trees_(self) -> Trees:
        """The trees of all rounds, packed; only where no `estimator` was given."""
        check.check_fitted(self)
        return self._trees

    @property
    def feature_importances_(self) -> Array:
        """The share of each column in what the splits won, averaged with the weights of the members."""
        check.check_fitted(self)
        if "_trees" in vars(self):
            each = [self._trees[t].importances(self.n_features_in_) for t in range(len(self._trees))]
        else:
            each = [member.feature_importances_ for member in self.estimators_]
        return np.asarray(np.average(each, axis=0, weights=self.estimator_weights_))


def unpacked(model: AdaBoost, trees: Trees) -> list[Any]:
    """These trees as learners, each with the number of its round as seed."""
    members = as_learners(model, model._default)
    for t, member in enumerate(members):
        vars(member).update(_trees=trees[t], random_state=t)
    return members


def as_given(X: Any) -> Any:
    """Rows for members that are not Tenfold's: an array, CSR or CSC."""
    if ops.is_sparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    return np.asarray(X)


@estimator
class AdaBoostClassifier(Classifier, AdaBoost):
    """AdaBoostClassifier: a vote of weak classifiers, each trained on what those before it got wrong.

    Model       score of class k = Σₜ aₜ [hₜ(x) = k];  SAMME.R: Σₜ (K − 1)(log pₜₖ(x) − mean over classes)
    Objective   greedy descent of the exponential loss Σᵢ sᵢ exp(−yᵢ f(xᵢ)); for K classes its multi-class form
    Algorithm   weights of rows that a member errs on grow by e^a, a = learning_rate (log((1 − ε)/ε) + log(K − 1)) with ε its
                weighted error; it ends when ε is 0, or no better than guessing; for two classes the training error after T rounds
                is at most Π 2 √(εₜ(1 − εₜ)). Stumps (the default) are the best of all thresholds of columns sorted once,
                with whole numbers for weights, so that neither threads nor the order of rows matter
    Cost        O(n p log n) to sort, O(n p) a round for stumps; the rows are kept while it learns
    Fails when  labels are wrong (their rows get ever more weight): use a learning_rate below 1, or fewer rounds
    Reference   Freund & Schapire 1997; Zhu, Zou, Rosset & Hastie 2009

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(30.0)[:, None]
    >>> y = (X[:, 0] > 9) & (X[:, 0] < 20)
    >>> model = tenfold.AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    _trees: Trees = learned("Trees(t,K)", "the stumps, where no `estimator` was given", optional=True)

    estimator: Any = param(default=None, doc="the classifier that is boosted; None: stumps, trees of one split")
    _: KW_ONLY
    n_estimators: int = param(default=50, at_least=1, doc="most rounds")
    learning_rate: float = param(default=1.0, above=0, doc="factor of the weight of each member")
    random_state: int | RandomState | None = param(default=None, doc="seed of members that draw")
    algorithm: str = param(
        default="SAMME",
        one_of=("SAMME", "SAMME.R"),
        doc="members vote for a class, or tell the probabilities of all (real)",
    )

    exempt: ClassVar[dict[str, str]] = {}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB

        return [{"n_estimators": 6}, {"estimator": GaussianNB(), "n_estimators": 3, "algorithm": "SAMME.R", "learning_rate": 0.7}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 2}

    def _default(self) -> Any:
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=1)

    def _boosted(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        generator_of(self)  # refuses what is no seed, also where nothing is drawn
        total, K = float(w.sum()), len(self.classes_)
        if self.estimator is not None:
            weak: Any = WeakLearners(self, X, y, total, category)
        else:
            weak = WeakTrees(X, y, total, K, category) if category.any() else WeakStumps(X, y, w, K)
        boosting = Boosting(self, weak, y, w)
        self._rounds(boosting.rounds())
        fitted = dict(
            estimator_weights_=np.array(boosting.weights),
            estimator_errors_=np.array(boosting.errors),
            **weak.fitted(boosting),
        )
        return fitted

    def _unpacked(self) -> list[Any]:
        """As classifiers that vote: each leaf holds the class that it names."""
        value = self._trees.value
        return unpacked(self, replace(self._trees, value=np.eye(value.shape[1])[value.argmax(axis=1)]))

    def _stages(self, X: Any) -> Iterator[Array]:
        """Scores after each round."""
        X = self._ready(X)
        total = np.cumsum(self.estimator_weights_)
        if "_trees" in vars(self):
            for weight, sums in zip(total, self._trees.stages(X), strict=True):
                yield sums / weight
            return
        sums = np.zeros((X.shape[0], len(self.classes_)))
        for member, a, weight in zip(self.estimators_, self.estimator_weights_, total, strict=True):
            sums = sums + a * self._says(self._as_member(member), X)
            yield sums / weight

    def _says(self, member: Estimator, X: Array) -> Array:
        shares = shares_of(member, X, len(self.classes_))
        return votes(shares.argmax(axis=1), shares.shape[1]) if self.algorithm == "SAMME" else leanings(shares)

    def _decisions(self, X: Any) -> Array:
        if "_trees" in vars(self):
            return np.asarray(self._trees.sums(X) / self.estimator_weights_.sum())
        *_, last = self._stages(X)
        return last

    def _scores(self, X: Any) -> Array:
        return self._decisions(X) / max(len(self.classes_) - 1, 1)

    def _probabilities(self, X: Any) -> Array:
        return softmax(self._scores(X)) if self.accepts == "anything" else super()._probabilities(X)

    def _log_probabilities(self, X: Any) -> Array:
        return log_softmax(self._scores(X)) if self.accepts == "anything" else super()._log_probabilities(X)

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees) + offset, and its unit."""
        check.check_fitted(self)
        if "_trees" not in vars(self):
            raise BadType(
                f"AdaBoostClassifier(estimator={type(self.estimator).__name__}): only stumps can be explained"
            )
        both = 2.0 if len(self.classes_) == 2 else 1.0  # decision_function is what the second class leads by
        return [self._trees], both / float(self.estimator_weights_.sum()), 0.0, "score"

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return len(self.classes_)

    # --- after each round ---

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` after each round."""
        for scores in self._stages(table_of(self, X)):
            yield scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round."""
        for scores in self._stages(table_of(self, X)):
            yield self.classes_[scores.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` after each round."""
        for scores in self._stages(table_of(self, X)):
            yield softmax(scores / max(len(self.classes_) - 1, 1))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The share of rows that are classified right after each round."""
        X, y = rows_and_truth(self, X, y)
        for predicted in self.staged_predict(X):
            check.check_length("y", y.size, len(predicted))
            right = predicted == y.reshape(-1)
            yield float(np.average(right, weights=check.as_weights(sample_weight, len(right))))
