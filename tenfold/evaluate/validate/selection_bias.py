"""The winner of a comparison, judged fairly: its score was chosen, so it flatters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator


@dataclass(frozen=True)
class Winner:
    """`naive` is the winner's mean loss on the rows that chose it; `estimate` what to expect, with its range."""

    index: int
    naive: float
    estimate: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return (
            f"setting {self.index}: {self.estimate:.4g}, {100 * self.level:g}% range {self.low:.4g} to {self.high:.4g} "
            f"(the rows that chose it give {self.naive:.4g})"
        )

    __repr__ = __str__


def bootstrap_bias_correction(
    losses: Any, level: float = 0.95, replicates: int = 1000, random_state: Any = 0
) -> Winner:
    """BBC: the loss to expect of the setting that wins on out-of-fold losses (Tsamardinos et al. 2018).

    `losses` has a row for each case and a column for each setting: the loss of the out-of-fold prediction. The choice is replayed on
    rows drawn with replacement, and the winner of each replay is judged on the rows that were not drawn; no model is fitted again.
    All in-bag means are one matrix product: counts (B × n) times losses (n × C).

    >>> import numpy as np
    >>> from tenfold.evaluate import bootstrap_bias_correction
    >>> noise = np.random.default_rng(0).integers(0, 2, size=(100, 50)).astype(float)
    >>> winner = bootstrap_bias_correction(noise)
    >>> bool(winner.naive < 0.42 < winner.estimate)
    True
    """
    L = np.asarray(losses, dtype=np.float64)
    if L.ndim != 2 or len(L) < 2 or not L.shape[1] or not np.isfinite(L).all():
        raise BadInput(
            f"losses of shape {L.shape}: give a finite table with a row for each case (at least 2) and a column for each setting"
        )
    if not 0 < level < 1:
        raise BadParameter(f"level={level!r}: must lie between 0 and 1, 0.95 for example")
    n, rng = len(L), generator(random_state)
    judged = []
    for size in _chunks(replicates, max(1, 2**22 // n)):
        drawn = rng.integers(0, n, size=(size, n))
        drawn += n * np.arange(size)[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=size * n).reshape(size, n).astype(np.float64)
        left = (counts == 0).astype(np.float64)
        chosen = (counts @ L).argmin(axis=1)
        some = left.sum(axis=1) > 0
        judged.append(((left @ L)[np.arange(size), chosen] / np.maximum(left.sum(axis=1), 1))[some])
    values = np.concatenate(judged)
    mean = L.mean(axis=0)
    best = int(mean.argmin())
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Winner(best, float(mean[best]), float(values.mean()), float(low), float(high), level)


def _chunks(total: int, size: int) -> list[int]:
    return [min(size, total - start) for start in range(0, total, size)]
