"""Learners that are made of copies of one other: what it must be, and what the gate asks of it."""

from __future__ import annotations

from typing import Any, ClassVar

from tenfold.base.estimator import Estimator
from tenfold.base.members import Composite
from tenfold.core.errors import BadParameter


class OfOne(Composite):
    """Abstract: made of copies of one learner of the same role, and takes the rows that it takes."""

    held: ClassVar[str] = "estimator"  # the parameter that is the learner

    def _default(self) -> Any:
        return None

    @property
    def _member(self) -> Any:
        given = getattr(self, self.held)
        given = self._default() if given is None else given
        if not isinstance(given, Estimator) or given.role != self.role:
            raise BadParameter(
                f"{type(self).__name__}({self.held}={type(given).__name__}): must be a {self.role} of Tenfold; scikit-learn's "
                f"{type(self).__name__} takes others too"
            )
        return given

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    @property
    def kind(self) -> str:
        return str(self._member.kind)
