"""Scores as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenfold.score.record import Score


def metric_name(metric: str) -> str:
    """What a score is called in tables."""
    score = _known(metric)
    return metric if score is None else score.label


def percent(share: float | None) -> str:
    """A share in per cent, with digits where it is small."""
    if share is None or not math.isfinite(share):
        return "-"
    return f"{100 * share:.2g}%" if 0 < share < 0.01 else f"{100 * share:.1f}%"


def figure(value: float | None, metric: str = "") -> str:
    """A score with four digits that matter; accuracy in per cent."""
    if value is None or not math.isfinite(value):
        return "-"
    score = _known(metric)
    if score is not None and score.percent:
        return f"{100 * value:.1f}%"
    size = abs(value)
    if size < 5e-5 and score is not None and score.high == 1:  # a share of a whole: what is far below 1 is nothing
        return "0.0000"
    if size != 0 and (size < 1e-4 or size >= 1e9):
        return f"{value:.3g}"
    decimals = 4 if size < 10 else max(0, 3 - math.floor(math.log10(size)))
    return f"{value:,.{decimals}f}"


def _known(metric: str) -> Score | None:
    from tenfold.score.registry import known_score  # brings SciPy: not before there is a score to show

    return known_score(metric)
