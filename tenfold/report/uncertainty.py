"""How far the range of a single prediction can be relied on: as it is saved with the model, kept on rows that had no part in it."""

from __future__ import annotations

import numpy as np

from tenfold.report import charts, trust
from tenfold.report.blocks import STRIP, Figure, Figures, Section, Table, Text
from tenfold.report.facts import Facts, as_list, counted, floats
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.score.words import figure, percent
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.show import shown

SETS = {1: "one class", 2: "could be either of two"}
MOST_SIZES = 12


def uncertainty(facts: Facts) -> Section | None:
    """How often ranges, or sets of classes, hold the truth, and how wide they are."""
    held = facts.held
    if held is None:
        return None
    ends, half = saved_levels(facts)
    found = trust.coverage(held, ends, facts.weights)
    if found is None:
        return None
    blocks = _sets(held, found) if held.classes else _ranges(facts, held, found, ends, half)
    return Section("uncertainty", "Uncertainty of single predictions", blocks)


def saved_levels(facts: Facts) -> tuple[list[float], list[float]]:
    """The levels of predictions that have a width of their own in the saved model: their upper ends, and half widths."""
    levels = [floats(one) for one in as_list(facts.record.get("reaches"))]
    return (levels[0], levels[1]) if len(levels) == 2 and 1 < len(levels[0]) == len(levels[1]) else ([], [])


def _ranges(facts: Facts, held: Unseen, found: trust.Coverage, ends: list[float], half: list[float]) -> list[object]:
    assert found.half is not None
    how = "wider or narrower by level of the prediction" if half else "of the same width for every prediction"
    words = (
        f"The model gives a 90% range around each prediction, {how}. Made from the errors of the other folds alone, such ranges held the "
        f"truth of {percent(found.kept)} of the rows, and no row took part in its own."
    )
    saved = np.array(half)[np.searchsorted(ends[:-1], held.predicted)] if half else found.half
    known = saved[np.isfinite(saved)]
    if len(known):
        low, middle, high = (figure(float(one)) for one in np.quantile(known, [0.1, 0.5, 0.9], method="inverted_cdf"))
        words += f" They reach {middle} to either side in the middle" + (f", {low} to {high} for four of five rows." if half else ".")
    blocks: list[object] = [Text(words + facts.by_weight)]
    figures = []
    if found.groups:
        figures.append(
            Figure(
                "Coverage",
                charts.coverage_chart(found.groups, "level of the prediction, from low to high"),
                "The share of rows whose truth lay within their range, from the smallest predictions to the largest, with 95% ranges.",
            ),
        )
    if half and len(known):
        svg = charts.histogram_chart(2 * known, "widths of 90% ranges", "width of the range")
        figures.append(Figure("How wide", svg, "From end to end as saved, over these rows."))
    blocks += [Figures(figures)] if figures else []
    if found.groups:
        widths = half if len(half) == len(found.groups) else []
        rows = [
            [shown(name, 60), *([f"± {figure(widths[k])}"] if widths else []), f"{count:,}", percent(share)]
            for k, (name, count, share) in enumerate(found.groups)
        ]
        heads = ["rows", *(["90% range, as saved"] if widths else []), "how many", "held"]
        blocks.append(Table(heads, rows, right=tuple(range(1, len(heads))), narrow=True))
    return blocks


def _sets(held: Unseen, found: trust.Coverage) -> list[object]:
    assert found.least is not None
    same = float(np.ptp(found.least)) == 0
    from_where = f"of at least {percent(float(found.least[0]))}" if same else "that is large enough for it"
    words = (
        f"Beside the probability of each class, a 90% set holds the most likely one and every other with a probability {from_where}. "
        f"Made from the other folds alone, such sets held the truth of {percent(found.kept)} of the rows, and no row took part in its own."
    )
    blocks: list[object] = [Text(words)]
    if found.groups:
        svg = charts.coverage_chart(found.groups, "class", named=True)
        words = "The share of the rows of each class whose set holds it, with 95% ranges."
        blocks.append(Figures([Figure("Coverage", svg, words)]))
        least = dict(zip(held.classes, found.least.tolist(), strict=True))
        rows = [[shown(name, 60), f"{count:,}", percent(share), percent(least[name])] for name, count, share in found.groups]
        heads = ["class", "rows", "held by 90% sets", "in a set from a probability of"]
        rest = len(held.classes) - len(rows)
        left = f"{counted(rest, 'smaller class', 'smaller classes')} not shown" if rest else ""
        blocks.append(Table(heads, rows, right=(1, 2, 3), narrow=True, caption=left))
    if found.sizes:
        axis = Axis(0.0, 1.0, 4, STRIP - 6)
        rows = [
            [SETS.get(size, f"could be any of {size}"), percent(share), strip(axis, share, zero=0.0, cls="c0", label=percent(share))]
            for size, share in found.sizes[:MOST_SIZES]
        ]
        blocks.append(Table(["90% set", "rows", ""], rows, right=(1,), narrow=True))
    return blocks
