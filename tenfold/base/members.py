"""What learners made of other learners have in common: the one they copy, what it takes, and how a copy is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.by_rows import first_largest
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import ByVerbs, checked_learner, own_of
from tenfold.base.member import OfMember
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array


class Composite(OfMember, Estimator):
    """Abstract: made of fitted copies of `estimator`, and takes the rows that it takes."""

    def _default(self) -> Any:
        """The learner that stands for `estimator=None`."""
        raise NotImplementedError

    @property
    def _member(self) -> Any:
        given = self._default() if self.estimator is None else self.estimator
        return checked_learner(given, self.role, f"{type(self).__name__}(estimator):")

    @property
    def least_classes(self) -> int:
        return int(self._member.least_classes)

    @property
    def estimator_(self) -> Any:
        """The learner that the members are copies of."""
        check.check_fitted(self)
        return own_of(self._member)

    def _copy(self, seed: int) -> Any:
        """A fresh member with a seed of its own where it draws."""
        return copy_of(self._member, seed)

    def _as_member(self, fitted: Any) -> Any:
        """A fitted member, ours or anybody's, as one of ours that has been fitted to numbers of classes."""
        member = checked_learner(fitted, self.role, f"{type(self).__name__}(estimator):")
        if isinstance(member, ByVerbs) and self.role == "classifier":
            vars(member)["classes_"] = np.arange(len(self.classes_))
        return member

    def __sklearn_tags__(self) -> Any:
        tags, member = super().__sklearn_tags__(), self._member
        if isinstance(member, ByVerbs) and hasattr(member.learner, "__sklearn_tags__"):  # what it takes, only it knows
            told = member.learner.__sklearn_tags__().input_tags
            tags.input_tags = replace(tags.input_tags, sparse=told.sparse, allow_nan=told.allow_nan)
        return tags


def copy_of(learner: Estimator, seed: int = 0) -> Estimator:
    """A fresh learner with this seed where it draws, itself or a learner inside."""
    member = fresh(learner)
    seeds = {name: seed for name, value in member.get_params().items() if name.split("__")[-1] == "random_state" and value is None}
    return member.set_params(**seeds) if seeds else member


def fit_member(member: Any, X: Any, y: Array, w: Array | None, category: Array, given: dict[str, Any] | None = None) -> Any:
    """Fit to rows whose columns `category` hold codes of categories: the codes that have weight are the member's categories. Anybody's
    member receives what is `given` beside."""
    if isinstance(member, ByVerbs):
        member._fit_own(X, y, w, **(given or {}))
        return member
    if not category.any():
        return member.fit(X, y, w)
    if w is not None:
        there = w > 0
        X, y, w = X[there], y[there], w[there]
    known = [
        np.unique(X[np.isfinite(X[:, j]), j]).astype(np.float64) if one else None for j, one in enumerate(category)
    ]
    return member._fit(check.check_fit(member, X, y, w, None, known))


def takes_numbers(member: Any) -> bool:
    """Whether a fitted learner has no columns of categories, which its gate would code."""
    return all(one is None for one in vars(member).get("categories_") or ())


def shares_of(member: Any, X: Array, n_classes: int) -> Array:
    """(rows, classes): the probabilities of a member that was fitted to numbers of classes, of which it may have met only some."""
    if isinstance(member, ByVerbs):
        if not hasattr(member.learner, "predict_proba"):  # it votes
            return np.eye(n_classes)[member._choice(X)]
        return member._probabilities(X)
    if member.role == "classifier" and not hasattr(member, "predict_proba"):  # it votes
        probabilities = np.zeros((X.shape[0], n_classes))
        probabilities[np.arange(X.shape[0]), member.predict(X)] = 1.0
        return probabilities
    direct = takes_numbers(member) and hasattr(member, "_probabilities")
    known = member._probabilities(X) if direct else member.predict_proba(X)
    if len(member.classes_) == n_classes:
        return np.asarray(known, dtype=np.float64)
    probabilities = np.zeros((X.shape[0], n_classes))
    probabilities[:, member.classes_] = known
    return probabilities


def unsuited(members: list[Any], role: str, n_classes: int = 0) -> str | None:
    """Why these learners cannot be members of one with so many classes, or None if they can: for learners from a file."""
    for t, member in enumerate(members):
        if member.role != role:
            return f"member {t} is no {role}"
        if role == "classifier":
            codes = member.classes_
            if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_classes:
                return f"member {t} knows other classes than 0 to {n_classes - 1}"
    return None


def values_of(member: Estimator, X: Array) -> Array:
    """(rows, targets): the predictions of a member."""
    predicted = member._predict(X) if takes_numbers(member) else member.predict(X)
    return np.asarray(predicted, dtype=np.float64).reshape(X.shape[0], -1)


def choices_of(member: Estimator, X: Array) -> Array:
    """(rows): the number of the class that a fitted classifier predicts for clean rows."""
    choice = member._choice(X)
    return np.asarray(first_largest(member._scores(X)) if choice is None else choice).astype(np.int64)
