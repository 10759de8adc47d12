"""The draws of clusterers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.core.random import generator


def draws(model: Any) -> np.random.Generator:
    """The generator of a clusterer's `random_state`."""
    try:
        return generator(model.random_state)
    except (TypeError, ValueError):
        words = f"{type(model).__name__}(random_state={model.random_state!r}): must be a whole number >= 0, a generator, or None"
        raise BadParameter(words) from None
