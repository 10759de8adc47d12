"""Expectation-maximisation, once for all models with hidden parts: as a generator, several starts side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tenfold.core.data import Block
from tenfold.core.learning import Learner
from tenfold.core.stats import Stats

ROUNDING = 1e-9  # of a log-likelihood: what it may fall by without a reason


@dataclass(slots=True)
class Side(Stats):
    """One expectation step of each run: one read of a block serves all of them."""

    runs: list[Any]

    def __add__(self, other: Side) -> Side:
        return Side([a + b for a, b in zip(self.runs, other.runs, strict=True)])


@dataclass(slots=True)
class Ascent:
    """Parameters on their way up."""

    model: Any
    bounds: list[float] = field(default_factory=list)  # mean log-likelihood (or its bound) before each maximisation
    converged: bool = False
    fell: bool = False  # a step lowered the bound by more than rounding: what the maximisation step maximises is not quite the bound
    done: bool = False

    @property
    def bound(self) -> float:
        return self.bounds[-1]


def ascend(
    starts: Sequence[Any],
    expect: Callable[[Block, Any], Any],
    maximise: Callable[[Any, Any], Any],
    bound: Callable[[Any, Any], float],
    tol: float,
    max_iter: int,
    before: float = -np.inf,
    moved: Callable[[Any, Any], float] | None = None,
) -> Learner[Ascent]:
    """EM from every start, side by side; the ascent that ends highest.

        E   found = Σ over blocks of expect(block, model)
        M   model ← maximise(found, model)

    bound(found, model) is the mean log-likelihood, or the lower bound of the evidence, of the model that the expectations were taken
    with; `before` is that of a step that came before the starts. An ascent ends when it changes by less than `tol`, which Dempster,
    Laird and Rubin 1977 promise to happen: no step lowers it; or, with moved(model, next), when a step moves by at most `tol`.
    """
    runs = [Ascent(start) for start in starts]
    for _ in range(max_iter):
        active = [run for run in runs if not run.done]
        if not active:
            break
        found = yield partial(_expect_all, expect=expect, models=[run.model for run in active])
        for run, one in zip(active, found.runs, strict=True):
            last, now = run.bounds[-1] if run.bounds else before, bound(one, run.model)
            run.bounds.append(now)
            model, run.model = run.model, maximise(one, run.model)
            run.converged = run.done = bool(abs(now - last) < tol if moved is None else moved(model, run.model) <= tol)
            run.fell |= bool(now < last - ROUNDING * (1.0 + abs(last)))
    if not max_iter:  # the starts themselves, each with its bound
        found = yield partial(_expect_all, expect=expect, models=list(starts))
        for run, one in zip(runs, found.runs, strict=True):
            run.bounds.append(bound(one, run.model))
    return max(runs, key=lambda run: run.bound)


def _expect_all(block: Block, expect: Callable[[Block, Any], Any], models: list[Any]) -> Side:
    return Side([expect(block, model) for model in models])
