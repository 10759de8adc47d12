"""What learners made of other learners have in common: the one they copy, what it takes, and how a copy is asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.estimator import Estimator
from tenfold.core.params import domains
from tenfold.core.protocol import fresh


class Composite(Estimator):
    """Abstract: made of fitted copies of `estimator`, and takes the rows that it takes."""

    def _default(self) -> Any:
        """The learner that stands for `estimator=None`."""
        raise NotImplementedError

    @property
    def _member(self) -> Any:
        given = self._default() if self.estimator is None else self.estimator
        if not isinstance(given, Estimator) or getattr(given, "role", "") != self.role:
            raise BadParameter(
                f"{type(self).__name__}(estimator={type(given).__name__}): must be a {self.role} of Tenfold, or None"
            )
        return given

    @property
    def missing(self) -> bool:  # type: ignore[override]
        return bool(self._member.missing)

    @property
    def categorical(self) -> bool:  # type: ignore[override]
        """If the member takes them, and can be told which columns hold their codes."""
        member = self._member
        return bool(member.categorical) and "categorical_features" in domains(member)

    @property
    def categorical_features(self) -> Any:
        """What the member says of its columns, for the gate."""
        return getattr(self._member, "categorical_features", "from_dtype")

    @property
    def least_rows(self) -> int:  # type: ignore[override]
        return int(self._member.least_rows)

    @property
    def least_classes(self) -> int:  # type: ignore[override]
        return int(self._member.least_classes)

    def _copy(self, seed: int, category: Array) -> Any:
        """A fresh member with a seed of its own where it draws, that knows which columns hold codes of categories."""
        return copy_of(self._member, category, seed)


def copy_of(learner: Any, category: Array, seed: int = 0) -> Any:
    """A fresh learner with this seed where it draws, that knows which columns hold codes of categories."""
    member = fresh(learner)
    if "random_state" in domains(member) and member.random_state is None:
        member.random_state = seed
    if category.any():
        member.set_params(categorical_features=np.flatnonzero(category).tolist())
    return member


def takes_numbers(member: Any) -> bool:
    """Whether a fitted learner has no columns of categories, which its gate would code."""
    return all(one is None for one in vars(member).get("categories_") or ())


def shares_of(member: Any, X: Array, n_classes: int) -> Array:
    """(rows, classes): the probabilities of a member that was fitted to numbers of classes, of which it may have met only some."""
    direct = takes_numbers(member) and hasattr(member, "_probabilities")
    shares = member._probabilities(X) if direct else member.predict_proba(X)
    if len(member.classes_) == n_classes:
        return np.asarray(shares, dtype=np.float64)
    said = np.zeros((len(X), n_classes))
    said[:, member.classes_] = shares
    return said


def values_of(member: Any, X: Array) -> Array:
    """(rows, targets): the predictions of a member."""
    said = member._predict(X) if takes_numbers(member) else member.predict(X)
    return np.asarray(said, dtype=np.float64).reshape(len(X), -1)
