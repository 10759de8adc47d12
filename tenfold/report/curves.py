"""The pictures of a score along something that was turned: the number of rows, or a setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from tenfold.report.facts import number
from tenfold.report.svg import Plot
from tenfold.table.show import shown

WIDEST = 0.25  # of a score: half of what is drawn at least above and below a curve, where its range is as wide
SPREAD = 10  # a setting whose largest value is so many times the smallest is drawn by its logarithm


def learning_chart(series: Sequence[list[dict[str, Any]]], metric: str) -> Markup:
    """Scores against the number of training rows, with a band for each line."""
    lines = []
    for curve in series:
        ends = [[one["score"] if (found := number(one.get(end))) is None else found for one in curve] for end in ("low", "high")]
        lines.append([np.array(one, dtype=np.float64) for one in ([at["rows"] for at in curve], [at["score"] for at in curve], *ends)])
    rows, score, low, high = (np.concatenate([line[k] for line in lines]) for k in range(4))
    room = 2 * max(float(np.ptp(score)), WIDEST * float(np.abs(score).max()))  # a range that is very wide leaves no room for the line
    bottom, top = max(float(low.min()), float(score.min()) - room), min(float(high.max()), float(score.max()) + room)
    plot = Plot(
        "learning curve",
        (float(rows.min()), float(rows.max())),
        (bottom, top),
        x_title="training rows",
        y_title=metric,
        log_x=True,
        pad=0.04,
    )
    for x, _, under, over in lines:
        plot.band(x, np.clip(under, bottom, top), np.clip(over, bottom, top))
    for k, (x, middle, _, _) in enumerate(lines):
        plot.line(x, middle, f"c{k}")
        plot.dots(x, middle, f"c{k}", 3.5)
    return plot.svg()


def validation_chart(curve: Sequence[tuple[float, float, float]], taken: Sequence[float], name: str, metric: str, greater: bool) -> Markup:
    """The score along a setting, with one standard error, the line of one standard error from the best, and what was taken."""
    x, score, error = (np.array([one[k] for one in curve], dtype=np.float64) for k in range(3))
    best = int(np.argmax(score) if greater else np.argmin(score))
    reach = float(score[best] + (-1 if greater else 1) * error[best])
    plot = Plot(
        f"score along {shown(name, 40)}",
        (float(x.min()), float(x.max())),
        (float(min((score - error).min(), reach)), float(max((score + error).max(), reach))),
        x_title=shown(name, 40),
        y_title=metric,
        log_x=bool(x.min() > 0 and x.max() > SPREAD * x.min()),
        pad=0.04,
    )
    plot.band(x, score - error, score + error)
    plot.level(reach)
    plot.line(x, score, "c0")
    plot.dots(x, score, "c0", 3.0)
    for one in taken:
        plot.upright(one, "", "best")
    return plot.svg()
