"""Greedy ensembles: a weighted mean of settings that is better on held-out rows than any of them.

    w ← w + e_m,  m = argmin_m loss(mean of the members taken so far and m)        (with replacement; the best of all steps is taken)

The mean of probabilities depends, as far as the log loss goes, on the probability of the true class alone, and a mean of values on the
values: a step costs members × rows, no fit and no class. Whoever is nearly as good and errs elsewhere comes in; whoever is copied does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenfold.core.data import Array
from tenfold.selection.held_out import HeldOut

STEPS = 30
MOST_MEMBERS, FROM_FAMILY = 25, 3  # settings that may become members: so many at most, and so many of one family
LEAST_WEIGHT = 0.02  # lighter members are left out: they cost a fit


def greedy_weights(held: HeldOut, members: Sequence[int], rows: Array, steps: int = STEPS) -> dict[int, float]:
    """Weights of settings, which sum to one; those that are not named have none."""
    parts = held.parts(members, rows)
    total, counts = np.zeros(len(rows)), np.zeros(len(members), dtype=np.int64)
    best, found = np.inf, counts
    for step in range(1, steps + 1):
        losses = held.part_losses((total + parts) / step, rows)
        m = int(np.argmin(losses))
        total, counts = total + parts[m], counts + (np.arange(len(members)) == m)
        if losses[m] < best * (1 - 1e-6 * np.sign(best)):
            best, found = float(losses[m]), counts
    shares = found / found.sum()
    shares = np.where(shares < LEAST_WEIGHT, 0.0, shares)
    shares /= shares.sum()
    return {c: float(w) for c, w in zip(members, shares, strict=True) if w > 0}

