"""Learners that are made of copies of one other: what it must be, and what the gate asks of it."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold.base.foreign import as_ours, checked_learner, own_of
from tenfold.base.members import Composite


class OfOne(Composite):
    """Abstract: made of copies of one learner of the same role, and takes the rows that it takes."""

    held: ClassVar[str] = "estimator"  # the parameter that is the learner

    def _default(self) -> Any:
        return None

    @property
    def _member(self) -> Any:
        given = getattr(self, self.held)
        given = self._default() if given is None else given
        return checked_learner(given, self.role, f"{type(self).__name__}({self.held}):")

    @property
    def accepts(self) -> str:
        return str(self._member.accepts)

    def _as_ours(self, members: list[Any], facts: dict[str, Any]) -> list[Any]:
        """Fitted members as learners of ours."""
        return members if self.accepts == "rows" else as_ours(members, True, facts)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), own_of(self._member)
        if hasattr(own, "__sklearn_tags__"):
            tags.input_tags.pairwise = own.__sklearn_tags__().input_tags.pairwise
        return tags

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    @property
    def kind(self) -> str:
        return str(self._member.kind)
