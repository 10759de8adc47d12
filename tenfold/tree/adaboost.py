"""AdaBoost: learners one after the other, each on rows weighted by how often those before it erred on them."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.core import check
from tenfold.core.data import Array, Source
from tenfold.core.engine import Summarize
from tenfold.core.errors import DataWarning, Degenerate
from tenfold.core.estimator import Classifier, log_softmax, softmax
from tenfold.core.monitor import Passes
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.protocol import fresh
from tenfold.core.random import seed_of
from tenfold.tree.manyway import Kept
from tenfold.tree.members import Composite, shares_of
from tenfold.tree.packed import Trees
from tenfold.tree.stumps import Stumps, normalised, packed, whole_weights

SMALLEST_SHARE = float(np.finfo(float).eps)  # of a class in a leaf, where its logarithm is taken


class Boosted(Composite):
    """Abstract: a sequence of members, of which the first few are a model too."""

    kind: ClassVar[str] = "keeps rows"
    path: ClassVar[str | None] = "n_estimators"
    _trees: Trees

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        kept = yield Kept.of
        X, y, w = kept.arrays()
        return self._boosted(X, y, w, check.categorical_columns(self, source))

    def _boosted(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        raise NotImplementedError

    def _rounds(self, rounds: Iterator[float]) -> None:
        """Run them, one record each; Ctrl-C keeps those that are done."""
        passes, done = Passes(type(self).__name__), 0
        try:
            for loss in rounds:
                done += 1
                passes.done(SimpleNamespace(loss=loss))
        except KeyboardInterrupt:
            if not done:
                raise
            warnings.warn(
                f"{type(self).__name__} was interrupted: {done} of {self.n_estimators} rounds are done and kept",
                DataWarning,
                stacklevel=2,
            )

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
        other: Any = fresh(self).set_params(n_estimators=n)
        cut = ("estimator_weights_", "estimator_errors_", "estimators_", "_trees")
        fitted = {key: value for key, value in vars(self).items() if key not in self._domains}
        vars(other).update({key: value[:n] if key in cut else value for key, value in fitted.items()})
        return other  # type: ignore[no-any-return]

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


@estimator
class AdaBoostClassifier(Classifier, Boosted):
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

    Fitted      estimator_weights_ (T,), estimator_errors_ (T,), trees_ (the stumps) or estimators_ (list of members, fitted to
                numbers of classes), feature_importances_ (p,), classes_, categories_, n_features_in_, absent_

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(30.0)[:, None]
    >>> y = (X[:, 0] > 9) & (X[:, 0] < 20)
    >>> model = tenfold.AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    estimator: Any = param(None, doc="the classifier that is boosted; None: stumps, trees of one question")
    _: KW_ONLY
    n_estimators: int = param(50, at_least=1, doc="most rounds")
    learning_rate: float = param(1.0, above=0, doc="factor of the weight of each member")
    random_state: int | RandomState | None = param(None, doc="seed of members that draw")
    algorithm: str = param(
        "SAMME", one_of=("SAMME", "SAMME.R"), doc="members vote for a class, or tell the probabilities of all (real)"
    )

    exempt: ClassVar[dict[str, str]] = {}

    def _default(self) -> Any:
        from tenfold.tree.decision import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=1)

    def _boosted(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        stumps = self.estimator is None and not category.any()
        weak: Any = _Stumps(X, y, w, len(self.classes_)) if stumps else _Members(self, X, y, float(w.sum()), category)
        boosting = _Boosting(self, weak, y, w)
        self._rounds(boosting.rounds())
        fitted = dict(
            estimator_weights_=np.array(boosting.weights),
            estimator_errors_=np.array(boosting.errors),
            **weak.fitted(boosting),
        )
        if stumps:
            fitted["absent_"] = {"estimators_": "estimators_ is absent: the stumps of all rounds are packed in trees_"}
        return fitted

    def _stages(self, X: Array) -> Iterator[Array]:
        """Scores after each round."""
        total = np.cumsum(self.estimator_weights_)
        if "_trees" in vars(self):
            for weight, sums in zip(total, self._trees.stages(X), strict=True):
                yield sums / weight
            return
        sums = np.zeros((len(X), len(self.classes_)))
        for member, a, weight in zip(self.estimators_, self.estimator_weights_, total, strict=True):
            sums = sums + a * self._says(member, X)
            yield sums / weight

    def _says(self, member: Any, X: Array) -> Array:
        shares = shares_of(member, X, len(self.classes_))
        return votes(shares.argmax(axis=1), shares.shape[1]) if self.algorithm == "SAMME" else leanings(shares)

    def _scores(self, X: Any) -> Array:
        if "_trees" in vars(self):
            return np.asarray(self._trees.sums(X) / self.estimator_weights_.sum())
        *_, last = self._stages(X)
        return last

    def _probabilities(self, X: Any) -> Array:
        return softmax(self._scores(X) / max(len(self.classes_) - 1, 1), X.dtype)

    def _log_probabilities(self, X: Any) -> Array:
        return log_softmax(self._scores(X) / max(len(self.classes_) - 1, 1), X.dtype)

    # --- after each round ---

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """`decision_function` after each round."""
        for scores in self._stages(check.check_predict(self, X)):
            yield scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round."""
        for scores in self._stages(check.check_predict(self, X)):
            yield self.classes_[scores.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """`predict_proba` after each round."""
        for scores in self._stages(check.check_predict(self, X)):
            yield softmax(scores / max(len(self.classes_) - 1, 1))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The share of rows that are classified right after each round."""
        for predicted in self.staged_predict(X):
            right = predicted == np.asarray(y).reshape(-1)
            yield float(np.average(right, weights=check.as_weights(sample_weight, len(right))))


def votes(labels: Array, n_classes: int) -> Array:
    """1 for the class that was named, −1/(K − 1) for the others."""
    said = np.full((len(labels), n_classes), -1.0 / max(n_classes - 1, 1))
    said[np.arange(len(labels)), labels] = 1.0
    return said


def leanings(shares: Array) -> Array:
    """(K − 1)(log p − mean of log p over the classes)."""
    logs = np.log(np.maximum(shares, SMALLEST_SHARE))
    return np.asarray((shares.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True)))


class _Boosting:
    """The rounds: weights of rows, and of members."""

    def __init__(self, model: AdaBoostClassifier, weak: Any, y: Array, w: Array) -> None:
        self.weak, self.y, self.w = weak, y, normalised(w)
        self.n_rounds, self.rate, self.real = (
            model.n_estimators,
            float(model.learning_rate),
            model.algorithm == "SAMME.R",
        )
        self.n_classes = len(model.classes_)
        self.weights: list[float] = []
        self.errors: list[float] = []

    def rounds(self) -> Iterator[float]:
        """Yields the weighted error of each member."""
        for t in range(self.n_rounds):
            whole = whole_weights(self.w)
            shares, side = self.weak.fit(whole, t)  # the shares of side[i] are those of row i
            wrong = shares.argmax(axis=1).take(side) != self.y
            error = float(whole.sum(where=wrong) / whole.sum())
            hopeless = not self.real and error >= (1 - 1 / self.n_classes) * (1 - 1e-12) and error > 0
            if hopeless and t > 0:
                return
            if hopeless:
                warnings.warn(
                    "AdaBoostClassifier: its first member is no better than guessing, and stays the only one: "
                    "use an estimator that fits these rows better",
                    Degenerate,
                    stacklevel=2,
                )
            weight = 1.0
            if not self.real and error > 0 and not hopeless:
                weight = self.rate * (np.log((1 - error) / error) + np.log(max(self.n_classes - 1, 1)))
            self.weak.keep()
            self.weights.append(weight)
            self.errors.append(error)
            yield error
            if error <= 0 or hopeless:
                return
            self.w = normalised(self.w * self._factors(shares, side, wrong, weight))

    def _factors(self, shares: Array, side: Array, wrong: Array, weight: float) -> Array:
        """By which the weights of rows change; the largest is 1."""
        if not self.real:
            return np.where(wrong, 1.0, np.exp(-weight))
        # (K − 1)/K Σₖ yₖ log pₖ, with yₖ = 1 for the class of the row and −1/(K − 1) for the others.
        lean = leanings(shares)[side, self.y] / max(self.n_classes - 1, 1)
        return np.asarray(np.exp(-self.rate * (lean - lean.min())))


class _Stumps:
    """Stumps as members."""

    def __init__(self, X: Array, y: Array, w: Array, n_classes: int) -> None:
        self.table = Stumps(X, y, w, n_classes)
        self.kept: list[Any] = []

    def fit(self, weight: Array, t: int) -> tuple[Array, Array]:
        self.last, side = self.table.best(weight)
        return self.last.shares, side

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self, boosting: _Boosting) -> dict[str, Any]:
        K = boosting.n_classes
        says = [leanings(one.shares) if boosting.real else votes(one.shares.argmax(axis=1), K) for one in self.kept]
        return dict(_trees=packed(self.kept, [a * said for a, said in zip(boosting.weights, says, strict=True)]))


class _Members:
    """Copies of a classifier as members."""

    def __init__(self, model: AdaBoostClassifier, X: Array, y: Array, total: float, category: Array) -> None:
        self.model, self.X, self.y, self.total, self.category = model, X, y, total, category
        self.rng, self.kept = model._generator(), list[Any]()

    def fit(self, weight: Array, t: int) -> tuple[Array, Array]:
        self.last = self.model._copy(seed_of(self.rng) % 2**31, self.category)
        self.last.fit(self.X, self.y, weight * (self.total / weight.sum()))
        return shares_of(self.last, self.X, len(self.model.classes_)), np.arange(len(weight))

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self, boosting: _Boosting) -> dict[str, Any]:
        return dict(estimators_=self.kept)
