"""What an ensemble is when it is saved: fitted members and their weights.

Members take the columns of the table, one number for each cell: a category is the number of its level. Trees take them as they are;
before the others stands `Indicators`, which makes the coder's matrix of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Estimator, Regressor, Transformer
from tenfold.base.shares import ShareClassifier
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.engine import each
from tenfold.core.learning import Learner
from tenfold.core.params import estimator, group, param
from tenfold.core.threads import single_blas
from tenfold.prepare.coder import OTHER, TableCoder
from tenfold.prepare.indicators import kept_levels, levels_of, unfolded

WHOLE = 1e-9  # by how much the sum of weights may differ from one
FEW_ROWS = 2_000  # up to which members are fitted at once: of more rows each has work for all threads


@estimator
class Indicators(Transformer, Estimator):
    """Indicators: rows with numbers of levels as the matrix of a fitted coder.

    Model       a number stays itself, with a column 0/1 for "is missing" if the coder has one; a level becomes its column 0/1
    Objective   none
    Algorithm   looks the levels up
    Cost        one pass
    Fails when  there is no coder (refused)
    Reference   none
    """

    kind: ClassVar[str] = "one pass"
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True
    codes: ClassVar[bool] = True
    stateless: ClassVar[bool] = True

    coder: Any = param(default=None, doc="a fitted TableCoder")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        yield from ()
        return {}

    def _objection(self) -> str | None:
        if not isinstance(self.coder, TableCoder):
            return "there is no coder"
        return None if self.coder.n_features_in_ == self.n_features_in_ else "the coder takes another number of columns"

    def _transform(self, X: Any) -> Array:
        coder: Any = self.coder
        rows = np.array(X, dtype=np.float64)
        for i, (kept, known) in enumerate(zip(kept_levels(coder), levels_of(coder), strict=True)):
            if kept is None or known is None:
                continue
            places = {str(level): place for place, level in enumerate([coder.reference_[i], *coder.levels_[i]])}
            other = len(known) - 1 if coder.pooled_[i] else 0
            at = np.array([other if level == OTHER else places[str(level)] for level in kept] + [places.get("", other)])
            column = rows[:, i]
            blank = np.isnan(column)
            rows[:, i] = at[np.where(blank, len(kept), np.where(blank, 0, column)).astype(np.int64)]
        return unfolded(coder, rows)

    def _names_out(self) -> list[str]:
        return list(self.coder.names_out())


@group
class Blend(Estimator):
    """Abstract: a weighted mean of learners that take the same columns."""

    kind: ClassVar[str] = "many passes"
    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True

    members: list[Any] = param(default=None, doc="fitted learners of the same columns")
    weights: list[Any] = param(default=None, doc="weight of each member; they sum to one")

    def _fit(self, source: Source, start: Any = None) -> Self:
        """Fit the members anew; their weights stay."""
        members = side_by_side(lambda member: fresh(member)._fit(source), self.members, source)
        self._forget_fit()
        self.members = members
        vars(self).update(source.facts, n_features_in_=source.n_features)
        self._finish(source)
        return self

    @classmethod
    def of(cls, members: list[Any], weights: list[float], **more: Any) -> Self:
        """The ensemble of fitted members, which know the columns."""
        blend, first = cls(members, weights, **more), vars(members[0])
        known = ("n_features_in_", "feature_names_in_", "categories_", "classes_", "_flat")
        vars(blend).update({name: first[name] for name in known if name in first})
        return blend

    def _objection(self) -> str | None:
        members, weights = self.members, self.weights
        if not members or len(members) != len(weights or ()):
            return "there is not one weight for each member"
        if not all(isinstance(one, Estimator) and one.role == self.role for one in members):
            return f"a member is no {self.role}"
        if any(one.n_features_in_ != self.n_features_in_ for one in members):
            return "the members take other columns"
        w = np.asarray(weights, dtype=np.float64)
        return None if np.isfinite(w).all() and (w >= 0).all() and abs(w.sum() - 1) < WHOLE else "the weights do not sum to one"


def side_by_side(fit: Callable[[Any], Any], members: list[Any], source: Source) -> list[Any]:
    """Each member fitted to the rows; of few rows several at once, with the same bits."""
    if source.n_rows is None or source.n_rows > FEW_ROWS:
        return [fit(member) for member in members]
    with single_blas:
        return each(fit, members)


@estimator
class BlendClassifier(ShareClassifier, Blend):
    """BlendClassifier: the weighted mean of the probabilities of its members, each raised to its power.

    Model       p(c | x) = Σₘ wₘ pₘ(c | x)^aₘ / Σ_k pₘ(k | x)^aₘ
    Objective   that of each member; the weights were chosen on rows that the members had not seen
    Algorithm   `tenfold.select`; `fit` fits the members anew
    Cost        the sum of the members
    Fails when  never
    Reference   Caruana et al. 2004
    """

    powers: list[Any] | None = param(default=None, doc="power of the probabilities of each member, above 0; None: all are 1")

    def _objection(self) -> str | None:
        wrong = super()._objection()
        if wrong is not None:
            return wrong
        if self.powers is not None:
            a = np.asarray(self.powers, dtype=np.float64)
            if a.shape != (len(self.members),) or not (np.isfinite(a) & (a > 0)).all():
                return "there is not one power above 0 for each member"
        same = all(np.array_equal(one.classes_, self.classes_) for one in self.members)
        return None if same else "the members know other classes"

    def _class_shares(self, X: Any) -> Array:
        raised = zip(self.members, self.weights, self.powers or [1.0] * len(self.members), strict=True)
        shares = np.asarray(sum(w * _raised(np.asarray(one._probabilities(X), dtype=np.float64), a) for one, w, a in raised))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _raised(shares: Array, power: float) -> Array:
    """Probabilities to a power, which sum to one again."""
    if power == 1:
        return shares
    found = (shares / shares.max(axis=1, keepdims=True)) ** power
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@estimator
class BlendRegressor(Regressor, Blend):
    """BlendRegressor: the weighted mean of the predictions of its members.

    Model       y ≈ Σₘ wₘ fₘ(x)
    Objective   that of each member; the weights were chosen on rows that the members had not seen
    Algorithm   `tenfold.select`; `fit` fits the members anew
    Cost        the sum of the members
    Fails when  never
    Reference   Caruana et al. 2004
    """

    def _predict(self, X: Any) -> Array:
        pairs = zip(self.members, self.weights, strict=True)
        return np.asarray(sum(w * np.ravel(np.asarray(one._predict(X), dtype=np.float64)) for one, w in pairs))
