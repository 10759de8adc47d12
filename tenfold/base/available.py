"""Methods that exist only where a learner can offer them, and are bound methods there as any others."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


class Available:
    """A method of a learner that exists only where a condition of it holds; elsewhere `hasattr` is False.

    What it gives is a bound method, whose `__name__` and signature others may read.
    """

    def __init__(self, function: Callable[..., Any], condition: Callable[[Any], bool]) -> None:
        self.function, self.condition = function, condition
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __get__(self, learner: Any, kind: type | None = None) -> Any:
        if learner is None:
            return self.function
        if not self.condition(learner):
            raise AttributeError(f"this {type(learner).__name__} has no {self.__name__}")
        return MethodType(self.function, learner)

    def objection(self, learner: Any) -> AttributeError | None:
        """Why a learner does not offer it, where the condition says so by raising."""
        try:
            self.condition(learner)
        except AttributeError as reason:
            return reason
        return None


def available(condition: Callable[[Any], bool]) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a method that exists where `condition(self)` holds; one that does not may raise AttributeError with the reason."""

    def decorate(function: Callable[..., Any]) -> Any:
        return Available(function, condition)

    return decorate
