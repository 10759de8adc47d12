"""How rows are split: the keywords that functions which cross-validate have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from tenfold.core.errors import BadParameter
from tenfold.evaluate.split.folds import check_repeats

KINDS = ("k-fold", "reversed", "corrected")


@dataclass(frozen=True)
class Splitting:
    """How rows are split: what functions that cross-validate have in common, declared once (see `takes_splitting`)."""

    folds: Any = 10  # a number, a splitter, or pairs (train, test) of row numbers
    repeats: int = 1
    stratify: Any = "auto"
    groups: Any = None
    random_state: Any = 0
    kind: str = "k-fold"

    def check(self) -> None:
        """What does not depend on the rows."""
        check_repeats(self.repeats)
        if self.stratify not in ("auto", True, False):
            raise BadParameter(f"stratify={self.stratify!r}: must be 'auto', True or False")
        if isinstance(self.groups, str) and self.groups != "duplicates":
            raise BadParameter(f"groups={self.groups!r}: must be one entry for each row, or 'duplicates'")
        if self.kind not in KINDS:
            raise BadParameter(f"kind={self.kind!r}: must be one of {', '.join(KINDS)}")


def takes_splitting(*but: str) -> Callable[[Callable[..., Any]], Any]:
    """A function with a parameter `splitting` gets the fields of Splitting as keywords in its place, `but` for some."""
    offered = [field for field in fields(Splitting) if field.name not in but]

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def with_keywords(*args: Any, **given: Any) -> Any:
            chosen = {field.name: given.pop(field.name) for field in offered if field.name in given}
            return function(*args, splitting=Splitting(**chosen), **given)

        own = signature(function)
        keywords = [Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type) for f in offered]
        before = [one for one in own.parameters.values() if one.kind is not Parameter.KEYWORD_ONLY]
        after = [
            one for one in own.parameters.values() if one.kind is Parameter.KEYWORD_ONLY and one.name != "splitting"
        ]
        with_keywords.__signature__ = own.replace(parameters=[*before, *keywords, *after])  # type: ignore[attr-defined]
        return with_keywords

    return decorate
