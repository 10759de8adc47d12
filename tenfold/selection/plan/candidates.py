"""Families of settings: a learner, and the values of one parameter that are tried, often all from one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tenfold.base.sklearn_api import fresh

FINALISTS, REFINED = 8, 3  # families that also run on pairs of folds, and variants of the leader


@dataclass(frozen=True)
class Family:
    """One learner and the values of the parameter that are tried."""

    title: str
    learner: Any
    rank: int  # 0 the guess, 1 the simplest kind of model, ...
    name: str | None = None
    values: tuple[float, ...] = ()
    shown: str = ""  # how the setting is called on the board
    leaves: int = 0  # of trees: how many it may have, in each round where it has rounds
    refines: str = ""  # the title of the family that it is a variant of
    named: bool = False  # asked for by its name: taken whatever the guess gets
    powers: tuple[float, ...] = (1.0,)  # of the probabilities of classes: what votes say is often too cautious, what densities say too bold

    @property
    def is_guess(self) -> bool:
        return self.rank == 0

    @property
    def raw(self) -> bool:
        """Whether it takes the columns as they are, with categories and missing values, and not the matrix of numbers."""
        return bool(self.learner.categorical)

    @property
    def count(self) -> int:
        """How many settings it has: every value with every power."""
        return max(1, len(self.values)) * len(self.powers)

    def learners(self) -> list[Any]:
        """One unfitted learner for each value."""
        if self.name is None:
            return [fresh(self.learner)]
        return [fresh(self.learner).set_params(**{self.name: value}) for value in self.values]

    def label(self, k: int) -> str:
        """The k-th setting in words."""
        value, power = divmod(k, len(self.powers))
        whole = self.title if self.name is None else f"{self.title}, {self.shown} {self.values[value]:.3g}"
        return whole if self.powers[power] == 1 else f"{whole}, power {self.powers[power]:g}"


@dataclass(frozen=True)
class Setting:
    """One entry of a race: the k-th setting of a family."""

    family: Family
    k: int

    @property
    def label(self) -> str:
        return self.family.label(self.k)

    @property
    def place(self) -> int:
        """The number of its value."""
        return self.k // len(self.family.powers)

    @property
    def power(self) -> float:
        return self.family.powers[self.k % len(self.family.powers)]

    @property
    def learner(self) -> Any:
        return self.family.learners()[self.place]

    @property
    def leaves(self) -> int:
        """The leaves that a model of this setting may have: no more are there to read, and to save."""
        rounds = self.family.values[self.place] if self.family.name == "max_iter" else 1
        return int(self.family.leaves * rounds)

    @property
    def simplicity(self) -> tuple[int, int]:
        """The less, the simpler: the kind of model first, then how large it may be."""
        return self.family.rank, self.leaves


def settings_of(families: list[Family]) -> list[Setting]:
    """All entries of the race, family by family."""
    return [Setting(family, k) for family in families for k in range(family.count)]
