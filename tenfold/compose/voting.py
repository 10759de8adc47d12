"""Voting: different learners of the same rows, whose predictions are averaged or counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Regressor, map_rows
from tenfold.base.foreign import float_of, own_of
from tenfold.base.members import choices_of
from tenfold.base.shares import ShareClassifier
from tenfold.compose.fitting import side_by_side
from tenfold.compose.named import Named, is_out
from tenfold.compose.routes import Routes, member_for, received
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param

ESTIMATORS = "list of (name, learner); 'drop' leaves one out"


@group
class Voting(Routes, Named):
    """Abstract: fits copies of its learners to the same rows, side by side."""

    estimators_: list[Any] = learned("[learner](t)", "the fitted learners that take part, in the order of the list")

    estimators: list[Any] = param(doc=ESTIMATORS)
    _: KW_ONLY
    weights: Any = param(default=None, doc="weight of each learner of the list; None: all count the same")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    verbose: bool = param(default=False, doc="no effect: use tenfold.progress()")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # numbers of classes are whole numbers
        return tags

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._weights()  # looked at before the work
        members = {name: member_for(one, source, name) for name, one in self._learners()}
        fitted = yield from side_by_side(members, {name: received(source, name) for name in members}, named=True)
        return {"estimators_": [own_of(one) for one in fitted.values()]}

    def _weights(self) -> Array:
        """The weights of those that take part, which sum to one."""
        pairs, taking = self._pairs(), {name for name, _ in self._learners()}
        if self.weights is None:
            return np.full(len(taking), 1 / len(taking))
        here = f"{type(self).__name__}(weights={check.short(self.weights)})"
        w = np.asarray(self.weights)
        if w.shape != (len(pairs),) or w.dtype.kind not in "fiub":
            raise BadParameter(
                f"Number of `estimators` and weights must be equal: {here}: must be {len(pairs)} numbers, one for each learner of the list"
            )
        if not np.isfinite(w).all() or (w < 0).any():
            raise BadParameter(f"{here}: must be finite, and none of them negative")
        w = np.array([one for one, (name, _) in zip(w, pairs, strict=True) if name in taking], dtype=np.float64)
        if not w.sum() > 0:
            raise BadParameter(f"{here}: at least one that takes part must be above zero")
        return np.asarray(w / w.sum())

    def _objection(self) -> str | None:
        return None if len(self._weights()) == len(self.estimators_) else "there is not a weight for each member"

    def _calls(self) -> list[tuple[str, Any, Any]]:
        return [(name, one, [("fit", "fit")]) for name, one in self._pairs() if not is_out(one)]

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, then what each learner says of the same rows."""
        return self.fit(X, y, sample_weight, **params).transform(X)


def _soft(voting: Any) -> bool:
    if voting.voting != "soft":
        raise AttributeError(f"predict_proba is not available when voting={voting.voting!r}")
    return True


@estimator
class VotingClassifier(ShareClassifier, Voting):
    """VotingClassifier: the class that most of several learners predict, or that is the most probable on average.

    Model       hard: the class of most votes, Σₘ wₘ [ŷₘ(x) = c];  soft: of the largest mean, Σₘ wₘ Pₘ(c | x) / Σ w
    Objective   that of each learner
    Algorithm   all learners are fitted side by side: one reading of the rows serves those that learn by passes
    Cost        the sum of the learners; as many readings of the rows as the longest of them needs
    Fails when  learners err on the same rows (nothing is gained); soft: one of them is far too sure (calibrate it first)
    Reference   Hansen & Salamon 1990; Kuncheva 2004

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> pair = [("nb", tenfold.GaussianNB()), ("lr", tenfold.LogisticRegression())]
    >>> model = tenfold.VotingClassifier(pair, voting="soft").fit(X, X[:, 0] > 5)
    >>> model.predict([[1.0], [9.0]])
    array([False,  True])
    """

    _: KW_ONLY
    voting: str = param(
        default="hard", one_of=("hard", "soft"), doc="count predicted classes, or average probabilities", before="weights"
    )
    flatten_transform: bool = param(
        default=True, doc="soft: let transform return (n, learners * classes), else (learners, n, classes)", before="verbose"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.discriminant import LinearDiscriminantAnalysis
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.linear.logistic import LogisticRegression
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return [
            {"estimators": [("nb", GaussianNB()), ("lr", LogisticRegression(tol=1e-12))], "voting": "soft"},
            {
                "estimators": [("nb", GaussianNB()), ("tree", DecisionTreeClassifier()), ("lda", LinearDiscriminantAnalysis())],
                "weights": [1, 2, 1.5],
            },
        ]

    def _refusal(self, learner: Any) -> str | None:
        if self.voting == "soft" and learner.role == "classifier" and not hasattr(learner, "predict_proba"):
            return "has no predict_proba, which voting='soft' needs"
        return super()._refusal(learner)

    def _votes(self, X: Any) -> Array:
        """(learners, rows, classes): probabilities, or 1 for the class that is predicted."""
        K = len(self.classes_)
        if self.voting == "soft":
            return np.stack([np.asarray(one._probabilities(X), dtype=np.float64) for one in self._asked()])
        return np.stack([np.eye(K)[choices_of(one, X)] for one in self._asked()])

    def _class_shares(self, X: Any) -> Array:
        return np.asarray(np.tensordot(self._weights(), self._votes(X), axes=1))

    @available(_soft)
    def predict_proba(self, X: Any) -> Array:
        """The mean probability of each class, in the order of `classes_`."""
        return map_rows(self._probabilities, check.check_predict(self, X))

    @available(_soft)
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return map_rows(self._log_probabilities, check.check_predict(self, X))

    def transform(self, X: Any) -> Any:
        """What each learner says of each row: its probabilities, or the number of the class that it predicts."""
        rows = map_rows(self._transform, check.check_predict(self, X))
        if self.voting == "soft" and not self.flatten_transform:
            return np.moveaxis(rows.reshape(len(rows), len(self.estimators_), -1), 1, 0)
        return self._dressed(rows, X)

    def _transform(self, X: Any) -> Array:
        votes = self._votes(X)
        if self.voting == "hard":
            return np.asarray(votes.argmax(axis=2).T)
        return np.concatenate(list(votes), axis=1).astype(float_of(X), copy=False)

    def _names_out(self) -> list[str]:
        names = [name for name, one in self._pairs() if not is_out(one)]
        if self.voting == "soft" and not self.flatten_transform:
            raise BadParameter(
                "get_feature_names_out is not supported when `voting='soft'` and `flatten_transform=False`: columns in three dimensions "
                "have no names"
            )
        if self.voting == "hard":
            return [f"votingclassifier_{name}" for name in names]
        return [f"votingclassifier_{name}{k}" for name in names for k in range(len(self.classes_))]


@estimator
class VotingRegressor(Regressor, Voting):
    """VotingRegressor: the mean of the predictions of several learners.

    Model       ŷ(x) = Σₘ wₘ ŷₘ(x) / Σ w
    Objective   that of each learner
    Algorithm   all learners are fitted side by side: one reading of the rows serves those that learn by passes
    Cost        the sum of the learners; as many readings of the rows as the longest of them needs
    Fails when  one of the learners is far worse than the others (give weights, or StackingRegressor)
    Reference   Perrone & Cooper 1993

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> pair = [("line", tenfold.LinearRegression()), ("tree", tenfold.DecisionTreeRegressor())]
    >>> tenfold.VotingRegressor(pair, weights=[3, 1]).fit(X, 2 * X[:, 0]).predict([[3.0], [20.0]]).round(3).tolist()
    [6.0, 35.5]
    """

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.least_squares import LinearRegression
        from tenfold.linear.ridge import Ridge
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return [
            {"estimators": [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3))]},
            {"estimators": [("ridge", Ridge()), ("off", "drop"), ("line", LinearRegression())], "weights": [2, 5, 1]},
        ]

    def _predict(self, X: Any) -> Array:
        values = np.stack([one._predict(X) for one in self._asked()])
        return np.tensordot(self._weights(), values, axes=1).astype(float_of(X), copy=False)

    def transform(self, X: Any) -> Any:
        """(rows, learners): what each learner predicts."""
        return self._dressed(map_rows(self._transform, check.check_predict(self, X)), X)

    def _transform(self, X: Any) -> Array:
        return np.stack([one._predict(X) for one in self._asked()], axis=1)

    def _names_out(self) -> list[str]:
        return [f"votingregressor_{name}" for name, one in self._pairs() if not is_out(one)]
