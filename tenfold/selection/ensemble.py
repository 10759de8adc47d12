"""Greedy ensembles: a weighted mean of settings that is better on held-out rows than any of them, and one temperature for its chances.

    w ← w + e_m,  m = argmin_m loss(mean of the members taken so far and m)        (with replacement; the best of all steps is taken)

The mean of probabilities depends, as far as the log loss goes, on the probability of the true class alone, and a mean of values on the
values: a step costs members × rows, no fit and no class. Whoever is nearly as good and errs elsewhere comes in; whoever is copied does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenfold.core.data import Array
from tenfold.selection.held_out import SMALLEST, HeldOut

STEPS = 30
MOST_MEMBERS, FROM_FAMILY = 25, 3  # settings that may become members: so many at most, and so many of one family
LEAST_WEIGHT = 0.02  # lighter members are left out: they cost a fit
SPREAD_OF_TEMPERATURE = 0.25  # of its logarithm, before any row is seen


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


def temperature_of(held: HeldOut, weights: dict[int, float], rows: Array) -> float:
    """T of p^(1/T) with the least log loss, drawn towards 1 where rows are few: golden section in log T."""
    if held.classes is None:
        return 1.0
    scores = np.log(np.maximum(held.shares(weights, rows), SMALLEST))
    at = np.arange(len(rows)), held.y[rows]

    def risk(log_t: float) -> float:
        z = scores * np.exp(-log_t)
        top = z.max(axis=1)
        surprise = np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - z[at]
        return float(surprise.sum() + 0.5 * (log_t / SPREAD_OF_TEMPERATURE) ** 2)

    low, high, ratio = np.log(0.2), np.log(5.0), (np.sqrt(5) - 1) / 2  # the risk has one minimum: golden section
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = risk(a), risk(b)
    for _ in range(24):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = risk(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = risk(b)
    return float(np.exp((low + high) / 2))
