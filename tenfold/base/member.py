"""The gate of learners that are made of another one: they take what it takes."""

from __future__ import annotations

from typing import Any

from tenfold.base.foreign import learner_of, objection_to
from tenfold.core.errors import BadParameter


class OfMember:
    """Mixin: takes the rows that its `_member` takes, and has its traits of categories."""

    _member: Any

    @property
    def missing(self) -> bool:
        return bool(self._member.missing)

    @property
    def categorical(self) -> bool:
        return bool(self._member.categorical)

    @property
    def categorical_features(self) -> Any:
        return self._member.categorical_features

    @property
    def given_categories(self) -> Any:
        return self._member.given_categories

    @property
    def unseen(self) -> str:
        return str(self._member.unseen)

    def _look(self, table: Any) -> dict[Any, Any]:
        found: dict[Any, Any] = self._member._look(table)
        return found

    @property
    def least_rows(self) -> int:
        return int(self._member.least_rows)


class OfEstimator(OfMember):
    """Mixin: its member is its parameter `estimator`, Tenfold's or anybody's, and it takes the rows and targets that this takes."""

    estimator: Any

    @property
    def _member(self) -> Any:
        reason = objection_to(self.estimator)
        if reason is not None:
            raise BadParameter(f"{type(self).__name__}(estimator): {reason}")
        return learner_of(self.estimator)

    @property
    def target(self) -> str:
        return str(self._member.target)

    @property
    def accepts(self) -> str:
        return str(self._member.accepts)

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    @property
    def multi_output(self) -> bool:
        return bool(self._member.multi_output)

    @property
    def least_classes(self) -> int:
        return int(self._member.least_classes)
