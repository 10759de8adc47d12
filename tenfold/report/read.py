"""The table as it was read, and its target."""

from __future__ import annotations

import numpy as np

from tenfold.report import charts, numbers
from tenfold.report.blocks import STRIP, Figure, Figures, Names, Pairs, Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, counted, number
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.report.typed import LONGEST_PASTED, pasted
from tenfold.table.show import shown

MOST_COLUMNS = 50
NAMES_BUDGET = 900_000  # bytes of the list of all names
MOST_CLASSES = 20
SKEWED = 2.0


def as_read(facts: Facts) -> Section | None:
    """Kind of each column, what was changed and how to undo it, gaps; of many columns the most important, and all names to search."""
    columns = [as_dict(one) for one in as_list(facts.record.get("columns"))]
    if not columns:
        return None
    missing = {str(name): number(count) or 0.0 for name, count in as_dict(facts.more.get("missing")).items()}
    falls = {str(one.get("column")): number(one.get("fall")) or 0.0 for one in map(as_dict, as_list(facts.more.get("importance")))}
    total = number(facts.more.get("rows")) or facts.rows or 1
    kinds: dict[str, int] = {}
    for one in columns:
        kinds[str(one.get("kind"))] = kinds.get(str(one.get("kind")), 0) + 1
    pairs = [
        ("file", facts.name),
        ("rows", f"{int(number(facts.data.get('rows')) or 0):,} read, {facts.rows:,} with a target"),
        ("columns", ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items(), key=lambda pair: -pair[1]))),
    ]
    order = sorted(
        range(len(columns)),
        key=lambda i: (-falls.get(str(columns[i].get("name")), -np.inf), not columns[i].get("note"), i),
    ) if len(columns) > MOST_COLUMNS else range(len(columns))
    axis = Axis(0.0, 1.0, 2, 64)
    rows = []
    for i in list(order)[:MOST_COLUMNS]:
        one = columns[i]
        name = str(one.get("name"))
        share = missing.get(name, 0.0) / total
        gap = strip(axis, min(share, 1.0), zero=0.0, cls="warn", label=f"{100 * share:.1f}% missing") if share > 0 else ""
        note = shown(one.get("note") or "", 200)
        undo = f"--{shown(one['undo'], 20)} {pasted(name)}" if one.get("undo") and len(name) <= LONGEST_PASTED else ""
        rows.append(
            [shown(name, 60), shown(one.get("kind", ""), 20), f"{int(missing[name]):,}" if missing.get(name) else "", gap, note, undo],
        )
    heads = ["column", "kind", "missing", "", "what was done", "to undo"]
    filled = [k for k in range(len(heads)) if k < 2 or any(row[k] for row in rows)]
    blocks: list[object] = [
        Pairs(pairs),
        Table(
            [heads[k] for k in filled],
            [[row[k] for k in filled] for row in rows],
            right=(2,) if 2 in filled else (),
            narrow=len(filled) < 5,
        ),
    ]
    if len(columns) > MOST_COLUMNS:
        blocks.append(_names(columns))
    return Section("table", "The table as read", blocks)


def _names(columns: list[dict[str, object]]) -> Names:
    """All names that fit."""
    names, used = [], 0
    for one in columns:
        name, kind = shown(one.get("name", ""), 60), shown(one.get("kind", ""), 20)
        used += 6 * len(name) + 40  # what a name may take, escaped
        if used > NAMES_BUDGET:
            break
        names.append((name, kind))
    return Names(
        f"All {len(columns):,} columns; above are the {MOST_COLUMNS} that matter most or need a word",
        names,
        len(columns) - len(names),
    )


def target(facts: Facts) -> Section | None:
    """How the target is spread."""
    held = facts.held
    if held is None or not len(held):
        return None
    few = [Text(f"In the {len(held):,} of {facts.rows:,} rows that were held out.", faint=True)] if len(held) < facts.rows else []
    if held.classes:
        counts = np.bincount(held.truth, minlength=len(held.classes))
        order = np.argsort(-counts, kind="stable")
        axis = Axis(0.0, float(counts.max()), 4, STRIP - 6)
        rows = [
            [
                shown(held.classes[k], 60),
                f"{counts[k]:,}",
                f"{100 * counts[k] / len(held):.1f}%",
                strip(axis, float(counts[k]), zero=0.0, cls="c0", label=f"{counts[k]:,} rows"),
            ]
            for k in order[:MOST_CLASSES]
        ]
        rare = counts.min() / max(len(held), 1)
        choose = ": the threshold is chosen under Errors" if len(held.classes) == 2 else ""
        said = [Text(f"The rarest class has {100 * rare:.1f}% of the rows. Nothing was resampled{choose}.")] if rare < 0.1 else []
        more = [
            Text(f"and {counted(len(order) - MOST_CLASSES, 'more class', 'more classes')}", faint=True),
        ] if len(order) > MOST_CLASSES else []
        return Section(
            "target",
            f"The target: {facts.target}",
            [Table(["class", "rows", "share", ""], rows, right=(1, 2), narrow=True), *more, *few, *said],
        )
    y = held.truth
    svg = charts.histogram_chart(y, f"distribution of {facts.target}", facts.target)
    lowest, middle, highest = (float(one) for one in (y.min(), np.median(y), y.max()))
    words = f"From {charts.level_of(lowest)} to {charts.level_of(highest)}, half of the rows below {charts.level_of(middle)}."
    lean = numbers.skew(y)
    figures = [Figure("Distribution", svg, words)]
    blocks: list[object] = [Figures(figures), *few]
    if lean > SKEWED and lowest > 0:
        figures.append(
            Figure(
                "Its logarithm",
                charts.histogram_chart(np.log10(y), f"logarithm of {facts.target}", f"log10 of {facts.target}"),
                "The same values on a scale of ratios.",
            ),
        )
        blocks.append(
            Text(
                "A few values are far larger than the others. If ratios matter more than differences, judge by the logarithm: predict "
                "its column in place of this one.",
            ),
        )
    return Section("target", f"The target: {facts.target}", blocks)
