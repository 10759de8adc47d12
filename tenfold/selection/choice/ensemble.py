"""Greedy ensembles: a weighted mean of settings that is better on held-out rows than any of them.

    w ← w + e_m,  m = argmin_m loss(mean of the members taken so far and m)        (with replacement; the best of all steps is taken)

The mean of probabilities depends, as far as the log loss goes, on the probability of the true class alone, and a mean of values on the
values: a step costs members × rows, no fit and no class. Whoever is nearly as good and errs elsewhere comes in; whoever is copied does not.

On few rows such weights are luck: whoever was sure of a class, and happened to be right, gets them all, and one row that comes later costs
more than all those before it. So probabilities of classes are **hedged** there: half of the weight goes to the mean of the weights from
BAGS samples of the rows, each drawn with replacement and weighed among a random half of the settings (Caruana, Munson & Niculescu-Mizil
2006). From some 1,000 rows on it changes nothing but the time that predictions take.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenfold.core.data import Array
from tenfold.selection.choice.held_out import HeldOut

STEPS = 30
MOST_MEMBERS, FROM_FAMILY = 25, 3  # settings that may become members: so many at most, and so many of one family
LEAST_WEIGHT = 0.02  # lighter members are left out: they cost a fit
BAGS, BAG_STEPS = 20, 20  # samples of the rows, and steps for each
HEDGE, HEDGED_ROWS = 0.5, 1_000  # of the weight, and up to how many rows of a table


def greedy_weights(held: HeldOut, members: Sequence[int], rows: Array) -> dict[int, float]:
    """Weights of settings, which sum to one; those that are not named have none."""
    return _named(members, _shares(held, held.parts(members, rows), rows, STEPS))


def is_hedged(held: HeldOut, members: Sequence[int]) -> bool:
    """Whether weights are, by what the whole table is like, so that the rounds of the estimate do as the choice does."""
    return held.classes is not None and len(held.y) // held.divisions <= HEDGED_ROWS and len(members) > 1


def hedged_weights(held: HeldOut, members: Sequence[int], rows: Array, taken: dict[int, float]) -> dict[int, float]:
    """Weights that were taken, and those from samples of the rows, each with half of the whole."""
    parts = held.parts(members, rows)
    unit = np.unique(rows if held.units is None else held.units[rows], return_inverse=True)[1].reshape(-1)  # of rows that belong together
    units, half = int(unit.max()) + 1, -(-len(members) // 2)
    rng, total = np.random.default_rng(units), np.zeros(len(members))
    for _ in range(BAGS):
        some = np.sort(rng.permutation(len(members))[:half])
        times = np.bincount(rng.integers(0, units, units), minlength=units)
        drawn = np.repeat(np.arange(len(rows)), times[unit])
        total[some] += _shares(held, parts[some][:, drawn], rows[drawn], BAG_STEPS)
    bagged = _named(members, total / BAGS)
    return {c: (1 - HEDGE) * taken.get(c, 0.0) + HEDGE * bagged.get(c, 0.0) for c in dict.fromkeys((*taken, *bagged))}


def _shares(held: HeldOut, parts: Array, rows: Array, steps: int) -> Array:
    """How often each member is taken, of the best of so many steps."""
    total, counts = np.zeros(len(rows)), np.zeros(len(parts), dtype=np.int64)
    best, found = np.inf, counts
    for step in range(1, steps + 1):
        losses = held.part_losses((total + parts) / step, rows)
        m = int(np.argmin(losses))
        total, counts = total + parts[m], counts + (np.arange(len(parts)) == m)
        if losses[m] < best * (1 - 1e-6 * np.sign(best)):
            best, found = float(losses[m]), counts
    return np.asarray(found / found.sum())


def _named(members: Sequence[int], shares: Array) -> dict[int, float]:
    """The weights of the members that are not too light."""
    shares = np.where(shares < LEAST_WEIGHT, 0.0, shares)
    shares /= shares.sum()
    return {c: float(w) for c, w in zip(members, shares, strict=True) if w > 0}

