"""Randomness: one seed in, independent streams out, nothing that depends on blocks or threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from a seed, a generator, a legacy `RandomState`, or None for fresh entropy."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)


def generator_of(learner: Any) -> np.random.Generator:
    """The generator of a learner's parameter `random_state`."""
    try:
        return generator(learner.random_state)
    except (TypeError, ValueError):
        raise BadParameter(
            f"{type(learner).__name__}(random_state={learner.random_state!r}): must be a whole number >= 0, a generator, "
            "or None"
        ) from None


def seed_of(rng: np.random.Generator) -> int:
    """A 63-bit seed for the hashes that key a choice by the content of a row."""
    return int(rng.integers(0, 2**63 - 1))


def legacy_generator(random_state: Any) -> np.random.RandomState:
    """NumPy's generator of old: with the same seed, draws are those of scikit-learn. None is NumPy's global one, which
    `np.random.seed` sets; a new generator gives the seed.
    """
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(0, 2**32)))
    try:
        return np.random.RandomState(random_state)
    except (TypeError, ValueError):
        raise BadParameter(f"random_state={random_state!r}: must be a whole number >= 0, a generator, or None") from None
