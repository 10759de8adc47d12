"""What drives the model, and the groups of rows where it fails."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.report import charts
from tenfold.report.blocks import STRIP, Figure, Figures, Section, Table, Text
from tenfold.report.errors import along_table
from tenfold.report.facts import Facts, as_dict, as_list, counted, floats, listed, number
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.score.words import figure, metric_name, percent
from tenfold.table.show import shown

MOST_ROWS = 25
TOGETHER = 0.05  # share of a joint effect from where an interaction is worth a word


def drivers(facts: Facts) -> Section | None:
    """Importance with ranges, effects of the first columns, pairs that act together."""
    found = [as_dict(one) for one in as_list(facts.more.get("importance"))]
    found = [one for one in found if number(one.get("fall")) is not None]
    if not any(one["fall"] for one in found):  # the guess looks at no column
        return None
    metric = str(facts.more.get("metric", facts.metric))
    ends = [number(one.get(key)) for one in found for key in ("low", "high", "fall")]
    axis = Axis(min(0.0, *(one for one in ends if one is not None)), max(one for one in ends if one is not None), 4, STRIP - 6)
    rows = []
    for one in found[:MOST_ROWS]:
        fall, low, high = (number(one.get(key)) for key in ("fall", "low", "high"))
        matters = low is not None and low > 0
        picture = strip(
            axis,
            fall,
            low,
            high,
            zero=0.0,
            cls="c0 soft" if matters else "quiet",
            label=f"{figure(fall)}, {figure(low)} to {figure(high)}",
        )
        rows.append([shown(one["column"], 60), figure(fall), picture, "" if matters else "not beyond chance"])
    of, total = len(found), int(number(facts.more.get("importance_of")) or len(found))
    few = "" if of >= total else f" Of {total:,} columns the {of} that looked most promising were measured."
    held_rows = int(number(facts.more.get("held_out_rows")) or 0)
    blocks: list[object] = [
        Text(
            f"How much worse {metric_name(metric)} gets on {held_rows:,} unseen rows when a column is shuffled, with the spread of the "
            f"shuffles.{few} A column that says the same as another one can look unimportant: the model has the other.",
        ),
        Table(
            ["column", "loses", "", ""],
            rows,
            right=(1,),
            tight=(3,),
            narrow=True,
            caption="" if of <= MOST_ROWS else f"and {of - MOST_ROWS} more that lose less",
        ),
    ]
    blocks += _effects(facts) + _pairs(facts) + _examples(facts)
    return Section("drivers", "What drives it", blocks)


def _effects(facts: Facts) -> list[object]:
    effects = [as_dict(one) for one in as_list(facts.more.get("effects"))]
    effects = [one for one in effects if _can_be_drawn(one)]
    if not effects:
        return []
    values = np.concatenate([np.ravel(np.array(one["effect"], dtype=np.float64)) for one in effects])
    scale = (float(min(values.min(), 0)), float(max(values.max(), 0)))
    outputs = [shown(name, 30) for name in as_list(effects[0].get("outputs"))]
    unit = f"change of {outputs[0]}" if len(outputs) == 1 else "change of the chance"
    figures = []
    for one in effects:
        levels = as_list(one.get("levels"))
        words = f"From left to right: {listed(levels, 12)}." if levels and not charts.level_marks(levels) else ""
        figures.append(Figure(shown(one["column"], 40), charts.effect_chart(one, unit, scale), words, outputs if len(outputs) > 1 else ()))
    text = (
        "How predictions change along each column, all else as it is in the rows, on one scale. "
        "Strokes at the foot are values of rows: where there are few, the line says little."
    )
    return [Text(text, picture=True), Figures(figures)]


def _can_be_drawn(effect: dict[str, Any]) -> bool:
    """Whether it has a line of numbers as long as its grid or its levels for each output."""
    along = as_list(effect.get("levels")) or floats(effect.get("grid"))
    lines = as_list(effect.get("effect"))
    return "column" in effect and bool(lines) and len(along) > 1 and all(len(floats(line)) == len(along) for line in lines)


def _pairs(facts: Facts) -> list[object]:
    pairs = [as_dict(one) for one in as_list(facts.more.get("interactions"))]
    pairs = [one for one in pairs if (number(one.get("share")) or 0) >= TOGETHER and len(as_list(one.get("columns"))) == 2][:5]
    pairs.sort(key=lambda one: -one["share"])
    if not pairs:
        return []
    rows = [[shown(one["columns"][0], 40), shown(one["columns"][1], 40), f"{100 * one['share']:.0f}%"] for one in pairs]
    return [
        Table(
            ["column", "acts with", "share"],
            rows,
            right=(2,),
            narrow=True,
            caption="Of what the two do together, the share that is more than the sum of what each does alone (Friedman's H²).",
        ),
    ]


def _examples(facts: Facts) -> list[object]:
    """Three rows and what drove them, without their cells."""
    found = [as_dict(one) for one in as_list(facts.more.get("examples"))]
    found = [one for one in found if number(one.get("value")) is not None and number(one.get("row")) is not None]
    if not found:
        return []

    def added(value: float | None) -> str:
        if value is None:
            return ""
        return f"{100 * value:+.1f} points".replace("-", "−") if facts.classes else f"{'+' if value >= 0 else '−'}{figure(abs(value))}"

    rows = []
    for one in found:
        what, value, base = shown(one.get("what", ""), 24), number(one["value"]), number(one.get("base"))
        said = f"chance of {what} {percent(value)}" if facts.classes else figure(value)
        why = [
            f"{shown(column.get('column', ''), 30)} {added(number(column.get('adds')))}"
            for column in map(as_dict, as_list(one.get("columns")))
        ]
        rest = number(one.get("rest")) or 0.0
        why += [f"all others {added(rest)}"] if abs(rest) >= (0.0005 if facts.classes else 0.001 * abs(value or 0.0)) else []
        mean = percent(base) if facts.classes else figure(base)
        rows.append([f"{int(one['row']):,}", shown(one.get("which", ""), 20), said, mean, ", ".join(why)])
    words = (
        "Three rows, by the size of their held-out prediction: what the saved model says of them, and what each column adds to the mean of "
        "other rows (Shapley values). Their cells are not shown; rows are counted from 1, as tenfold explain DIR FILE --row N takes them."
    )
    return [Text(words), Table(["row", "", "prediction", "from a mean of", "by"], rows, right=(0,), tight=(1, 2))]


def failing(facts: Facts) -> Section | None:
    """Groups whose loss is larger than chance allows, and the loss along the table."""
    found = as_dict(facts.more.get("slices"))
    figures = along_table(facts)
    new = [as_dict(one) for one in as_list(facts.more.get("first_seen"))]
    if not found and not figures and not new:
        return None
    blocks: list[object] = []
    worse = [as_dict(one) for one in as_list(found.get("worse"))]
    groups, mean = int(number(found.get("groups")) or 0), facts.loss(number(found.get("mean")))
    name = facts.loss_name(found.get("of"))
    if worse and mean is not None:
        losses = [facts.loss(number(one.get("loss"))) or 0.0 for one in worse]
        axis = Axis(0.0, max(*losses, mean), 4, STRIP - 6)
        rows = [
            [
                shown(one["column"], 50),
                shown(one["group"], 50),
                f"{int(one['rows']):,}",
                figure(loss),
                strip(axis, loss, zero=0.0, rule=mean, cls="warn", label=figure(loss)),
                f"{loss / mean:.1f} ×" if mean > 0 else "",
            ]
            for one, loss in zip(worse, losses, strict=True)
        ]
        total = int(number(found.get("found")) or len(worse))
        blocks.append(
            Text(
                f"{counted(total, 'group')} of {groups:,} looked at "
                f"{'has a larger loss than' if total == 1 else 'have larger losses than'} the other rows, beyond what chance explains "
                f"after so many looks (false discovery rate 5%). The {name} of all rows is {figure(mean)}.{facts.by_weight}",
            ),
        )
        blocks.append(Table(["column", "group", "rows", name, "", "of that of all"], rows, right=(2, 3, 5)))
        blocks.append(Text(f"The upright line is the {name} of all rows.", faint=True, picture=True))
    elif found:
        blocks.append(
            Text(
                f"None of {groups:,} groups looked at, by the level of a category or the fifth of a number, has a larger loss than chance "
                f"explains. Groups of fewer than {int(number(found.get('least')) or 0)} rows are too small to say.",
            ),
        )
    if new:
        counts = [int(number(one.get("rows")) or 0) for one in new]
        names = [shown(one.get("column", ""), 60) for one in new]
        cells = [[name, f"{k:,}", percent(number(one.get("share")))] for name, k, one in zip(names, counts, new, strict=True)]
        words = "Levels that no row of the other folds had: what new rows hold of that kind counts as unknown, as it did here."
        blocks += [Text(words), Table(["column", "rows with such a level", "share"], cells, right=(1, 2), narrow=True)]
    if figures:
        blocks.append(Figures(figures))
    return Section("failing", "Where it fails", blocks)
