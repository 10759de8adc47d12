"""How a race stands: who leads by some of its folds, and which families a choice may take by what it looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tenfold.core.data import Array
from tenfold.evaluate.validate.training_sets import Held
from tenfold.score.record import Score
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.plan.candidates import FINALISTS, REFINED, Family


class Standing:
    """What follows from the scores of a race so far."""

    families: list[Family]
    first: int  # of the first lap: so many families; those behind them are variants
    places: list[list[int]]  # the numbers of the settings of each family
    judges: list[Score]
    scores: dict[str, Array]  # by judge: (settings, folds)
    dropped: dict[int, int]  # family -> the fold after which it left the race
    done: list[tuple[int, Held]]  # units, in the order they were done
    K: int

    # --- who leads ---

    def finalists(self, without: int | None = None) -> set[int]:
        """The guess, and the families that lead by the folds but this one."""
        order = self.order(without)
        first, second = [f for f in order if f < self.first], [f for f in order if f >= self.first]
        return {f for f, family in enumerate(self.families) if family.is_guess} | {*first[:FINALISTS], *second[:REFINED]}

    def order(self, without: int | None = None) -> list[int]:
        """The families but the guess, best first by the folds but this one; variants where that which they refine leads."""
        folds = [k for k in self.complete_folds if k != without]
        gained = self._gained(folds)
        known = self._known_to(folds) if len(self.families) > self.first else gained
        return sorted((f for f in gained if f in known and not self.families[f].is_guess), key=lambda f: -gained[f])

    def leaders(self) -> list[int]:
        """The families of the first lap that lead by all folds, and by all but one: those that are worth refining."""
        folds = self.complete_folds
        found = [self._leader([k for k in folds if k != without]) for without in (None, *folds)]
        return list(dict.fromkeys(one for one in found if one is not None))

    def _leader(self, folds: list[int]) -> int | None:
        gained = self._gained(folds)
        return max((f for f in gained if f < self.first and not self.families[f].is_guess), key=lambda f: gained[f], default=None)

    def _known_to(self, folds: list[int]) -> set[int]:
        """The families that a choice by these folds may take: of the second lap the variants of the leader."""
        leader = self._leader(folds)
        title = None if leader is None else self.families[leader].title
        return {number for number, family in enumerate(self.families) if number < self.first or family.refines == title}

    def open_to(self, held: HeldOut, folds: list[int]) -> HeldOut:
        """What a choice by these folds looks at: it knows nothing of variants that are not those of its leader."""
        if len(self.families) == self.first:
            return held
        known = self._known_to(folds)
        hidden = [c for number, where in enumerate(self.places) if number not in known for c in where]
        outputs = held.outputs.copy()
        outputs[hidden] = np.nan
        return replace(held, outputs=outputs)

    def _gained(self, folds: list[int]) -> dict[int, float]:
        """By family that is still in the race, the best mean score of its settings, greater is better; nothing of those that failed."""
        judge, found = self.judges[0], dict[int, float]()
        for number, where in enumerate(self.places if folds else ()):
            with np.errstate(all="ignore"):
                means = (judge.sign * self.scores[judge.name][where][:, folds]).mean(axis=1)
            mean = np.fmax.reduce(means, initial=-np.inf)  # a setting that failed has none
            if number not in self.dropped and np.isfinite(mean):
                found[number] = float(mean)
        return found

    def _leading(self, number: int, folds: list[int]) -> int:
        """The best setting of a family by these folds."""
        where = self.places[number]
        mean = (self.judges[0].sign * self.scores[self.judges[0].name][where][:, folds]).mean(axis=1)
        return where[int(np.nanargmax(mean))]

    # --- what is done ---

    @property
    def named(self) -> bool:
        """Whether a learner was asked for by its name, and nothing is chosen."""
        return any(family.named for family in self.families)

    @property
    def complete_folds(self) -> list[int]:
        """Folds that all families of the first lap have run that had not been dropped before; of a first fold that was cut short, who ran
        it counts."""
        ran = {held[0]: set[int]() for _, held in self.done if len(held) == 1}
        for number, held in self.done:
            if len(held) == 1:
                ran[held[0]].add(number)
        full = [k for k in sorted(ran) if all(f in ran[k] or self.dropped.get(f, self.K) < k for f in range(self.first))]
        return full or sorted(ran)[:1]

    def place(self) -> dict[str, int | None]:
        """How far it is: the fold that was predicted last, where one is left out at a time, and how many families have left."""
        held = self.done[-1][1] if self.done else (0,)
        fold = held[0] + 1 if len(held) == 1 else None
        return dict(fold=fold, folds=self.K, dropped=len(self.dropped), families=len(self.families) - 1)

    @property
    def idle(self) -> set[int]:
        """The settings of families that have not run at all, as the race was cut short before."""
        ran = {number for number, _ in self.done}
        return {c for number, where in enumerate(self.places) if number not in ran for c in where}

    @property
    def begun(self) -> bool:
        """Whether any family but the guess has run."""
        return any(not self.families[number].is_guess for number, _ in self.done)

    @property
    def gone(self) -> dict[int, int]:
        """The families that cannot be chosen, and the last fold that they ran: those dropped, and of the second lap those that were cut
        short or refine another family than the one that leads now."""
        folds = self.complete_folds
        ran: dict[int, list[int]] = {number: [] for number in range(self.first, len(self.families))}
        for number, held in self.done:
            if number in ran and len(held) == 1:
                ran[number].append(held[0])
        known = self._known_to(folds) if ran else set[int]()
        cut = {number: max(own, default=0) for number, own in ran.items() if number not in known or not set(folds) <= set(own)}
        return cut | self.dropped
