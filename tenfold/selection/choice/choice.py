"""The choice, from what the settings of a race say of rows they have not seen: the best model, and the simplest that is as good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tenfold.core.data import Array
from tenfold.selection.choice.ensemble import FROM_FAMILY, MOST_MEMBERS, greedy_weights, hedged_weights, is_hedged
from tenfold.selection.choice.held_out import HeldOut
from tenfold.selection.plan.candidates import Setting

AS_GOOD = 1.0  # standard errors behind the leader
PRACTICALLY_EQUAL = 0.002  # share of what the leader gains over the guess: less than this is no difference
NEVER_EQUAL = 0.05  # more than this share is a difference, however large the error
NEVER_EQUAL_LOSS = 0.2  # and so is more than this share of the leader's own loss, where a score is one or follows from one
LEVEL = 0.95
Z = float(ndtri(0.5 + LEVEL / 2))
BETTER = 0.25  # standard errors that an ensemble must be ahead of the best setting
LEAST_ROWS = 30  # to weigh an ensemble by
MOST_ROWS = 50_000  # that a choice looks at: more change it by less than what its rows are drawn by chance does


@dataclass(frozen=True)
class Mix:
    """What can be saved: a weighted mean of settings, often of one."""

    weights: dict[int, float]

    def outputs(self, held: HeldOut, rows: Array) -> Array:
        """What it says of rows that its settings have not seen."""
        return held.mixed(self.weights, rows)

    @property
    def single(self) -> int | None:
        """The setting, where it is one."""
        return next(iter(self.weights)) if len(self.weights) == 1 else None


@dataclass(frozen=True)
class Place:
    """One family on the board, with its best setting; or the ensemble."""

    mix: Mix
    score: float
    against: str  # "best", "as good", "perhaps worse", "worse", "baseline", "failed"

    @property
    def setting(self) -> int:
        """The setting; of an ensemble the heaviest."""
        return max(self.mix.weights, key=lambda c: self.mix.weights[c])


@dataclass(frozen=True)
class Choice:
    """The places of a board, best first; the best model, and the simplest that is as good as the best setting."""

    places: list[Place]
    leader: int  # the best single setting
    best: Mix
    simple: Mix

    def taken(self, prefer: str) -> Mix:
        """What is saved: the best, the simplest that is as good as the best setting, or, to be fast, that one."""
        return dict(best=self.best, simple=self.simple, fast=Mix({self.leader: 1.0}))[prefer]


def choose(settings: list[Setting], held: HeldOut, rows: Array) -> Choice:
    """From rows that no setting has seen: the greedy ensemble of the leading settings where it is ahead of the best of them, else that one;
    of classes in small tables hedged (`ensemble`). A learner that was asked for by its name is taken whatever the guess gets.

    The simplest is the simplest of the families that are as good as the leader, each at its best setting; simplicity is the kind of
    model, and among trees their number of leaves at most. A family is as good if it is behind the leader by at most one standard error
    of the paired difference (Breiman's rule), and by at most 5 % of what the leader gains over the guess and, but for shares of errors,
    20 % of what it still loses: a learner that fails badly on a few rows has a large error, and must not pass for as good because of it.
    """
    if len(rows) > MOST_ROWS and not held.judge.every_class:  # of very rare classes each row is needed
        rows = rows[np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.int64)]
    usefulness = held.utilities(rows)
    best: dict[str, int] = {}
    for c, setting in enumerate(settings):
        title = setting.family.title
        if title not in best or usefulness[c] > usefulness[best[title]]:
            best[title] = c
    order = sorted(best.values(), key=lambda c: (-usefulness[c], settings[c].simplicity))
    leader = next((c for c in order if settings[c].family.named), order[0])
    guess = next(c for c in order if settings[c].family.is_guess)
    top = _ensemble(settings, held, rows, usefulness, leader)
    usable = [c for c in order if np.isfinite(usefulness[c])]
    first = held.decided_outputs(leader, rows)
    gaps = {c: _gap(held, rows, first, c) for c in usable}
    limit = NEVER_EQUAL * gaps[guess][0]
    loses = held.judge.row_loss is not None or not held.judge.greater_is_better  # R² rises as a loss of rows falls
    if loses and not held.judge.by_class:  # an error is one row, however far off
        limit = min(limit, NEVER_EQUAL_LOSS * -float(usefulness[leader]))
    others = [c for c in usable if c not in (leader, guess)]
    as_good = [leader, *(c for c in others if _against(*gaps[c], gaps[guess][0], limit) == "as good")]
    simple = min(as_good, key=lambda c: settings[c].simplicity)
    places = []
    if top.single is None:
        first = held.decided(top.outputs(held, rows), rows)
        places.append(Place(top, held.score(first, rows), "best"))
        gaps = {c: _gap(held, rows, first, c) for c in usable}
    useful = leader != guess and gaps[guess][0] > Z * gaps[guess][1]
    for c in order:
        if c not in gaps:
            places.append(Place(Mix({c: 1.0}), np.nan, "failed"))
            continue
        against = _against(*gaps[c], gaps[guess][0], limit)
        if c == leader and top.single is not None:
            against = "best"
        elif settings[c].family.is_guess:
            against = "baseline"
        elif useful and usefulness[c] < usefulness[guess]:  # worse than guessing, which the leader beats
            against = "worse"
        places.append(Place(Mix({c: 1.0}), held.score(held.decided_outputs(c, rows), rows), against))
    return Choice(places, leader, top, Mix({simple: 1.0}))


def _ensemble(settings: list[Setting], held: HeldOut, rows: Array, usefulness: Array, leader: int) -> Mix:
    """The greedy ensemble of the leading settings, if it is ahead of the leader on these rows; hedged where that pays."""
    if settings[leader].family.is_guess or settings[leader].family.named or len(rows) < LEAST_ROWS:
        return Mix({leader: 1.0})
    taken: dict[str, set[int]] = {}  # of each family the values; each with the power that is best
    members: list[int] = []
    for c in np.argsort(-usefulness, kind="stable"):
        values = taken.setdefault(settings[c].family.title, set())
        known = settings[c].place in values or len(values) == FROM_FAMILY
        if np.isfinite(usefulness[c]) and not known and len(members) < MOST_MEMBERS:
            values.add(settings[c].place)
            members.append(int(c))
    mix = Mix(greedy_weights(held, members, rows))
    gap, error = held.behind(mix.outputs(held, rows), held.decided_outputs(leader, rows), rows)
    best = mix if gap > BETTER * error else Mix({leader: 1.0})
    return Mix(hedged_weights(held, members, rows, best.weights)) if is_hedged(held, members) else best


def _gap(held: HeldOut, rows: Array, first: Array, c: int) -> tuple[float, float]:
    """How far a setting is behind the first, and the error of that."""
    return held.behind(first, held.decided_outputs(c, rows), rows)


def _against(gap: float, error: float, gain: float, limit: float) -> str:
    """How a family stands against the first; beyond `limit` it is never as good."""
    if gap <= PRACTICALLY_EQUAL * gain or gap <= min(AS_GOOD * error, limit):
        return "as good"
    return "worse" if gap > Z * error else "perhaps worse"
