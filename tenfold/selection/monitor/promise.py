"""Whether a saved model keeps its promise: its score on new labelled rows against the estimate it was saved with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from tenfold.selection.monitor.labelled import LabelledRows, judges_for

Z = 1.959963984540054
SURE = 0.05
KEPT, WORSE, BETTER = "as promised", "worse than promised", "better than promised"
Facts = dict[str, Any]


@dataclass(frozen=True)
class Kept:
    """One score: on new rows, as promised, and what is to be made of the difference."""

    metric: str
    found: Facts
    promised: Facts | None  # None: the run has no estimate of this score
    p_value: float | None  # of a score at least this much worse, if the promise holds

    @property
    def verdict(self) -> str | None:
        """In words, at 95 %."""
        if self.p_value is None:
            return None
        return WORSE if self.p_value < SURE else BETTER if self.p_value > 1 - SURE else KEPT


def kept(labelled: LabelledRows, record: Facts) -> list[Kept]:
    """The scores of new rows against what a run has promised; the first is what it was judged by.

    Both the promise and the score of the new rows have a range, and the two are independent: the error of their difference is that of
    the sides that face one another, in quadrature (Zou & Donner 2008), which takes skewed ranges as they are.
    """
    estimates = record.get("estimate") or {}
    settings = record.get("settings") or {}
    judged = settings.get("metric")
    found = []
    for judge in judges_for(labelled, judged, settings):
        here = labelled.scored(judge)
        promised = estimates.get(judge.name)
        if isinstance(promised, dict) and all(type(promised.get(key)) in (int, float) for key in ("value", "low", "high")):
            found.append(Kept(judge.name, here, promised, p_value(here, promised, judge.sign)))
        else:
            found.append(Kept(judge.name, here, None, None))
    return found


def p_value(found: Facts, promised: Facts, sign: float) -> float:
    """How probable a score at least this bad is where the promise holds: near 0 for worse, near 1 for better."""
    gap = found["value"] - promised["value"]
    facing = (("value", "low"), ("high", "value")) if gap > 0 else (("high", "value"), ("value", "low"))
    sides = [one[a] - one[b] for one, (a, b) in zip((found, promised), facing, strict=True)]
    error = float(np.hypot(*sides)) / Z
    if error == 0:
        return 0.5 if gap == 0 else float(sign * gap > 0)
    return float(ndtr(sign * gap / error))


def in_words(p: float) -> str:
    """How often luck alone does this."""
    if p >= 0.1:
        return f"luck alone does in {round(100 * p)} of 100 files"
    if p >= 0.01:
        return f"luck alone does in about 1 of {round(1 / p)} files"
    return "luck alone does in fewer than 1 of 100 files" if p > 0.001 else "luck alone does in fewer than 1 of 1,000 files"
