"""The gate of learners that are made of another one: they take what it takes."""

from __future__ import annotations

from typing import Any


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
