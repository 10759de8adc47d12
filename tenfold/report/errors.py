"""Errors on held-out rows: of classes, of numbers, and along the table."""

from __future__ import annotations

import numpy as np

from tenfold.evaluate.validate.spread import by_unit, mean_of
from tenfold.report import charts, classes, numbers
from tenfold.report.blocks import Costs, Figure, Figures, Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, counted, floats, number
from tenfold.report.scale import places
from tenfold.report.svg import Plot
from tenfold.score.words import figure
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.show import shown

WORST = 20
TENTHS, LEAST_TENTH = 10, 10
START_COST = 1.0
LEAST_ROWS = 10
ROUNDING, LUCK = 1e-12, 2.0  # standard errors that chance explains
ALONG = "Residuals along the columns that matter most; the band holds 80% of the rows, and the line should stay near zero."
ROWS = "Rows are counted from 1, the first below the header: tenfold explain DIR FILE --row N says why one gets its prediction."


def errors(facts: Facts) -> Section | None:
    """What the model gets wrong."""
    held = facts.held
    if held is None or len(held) < LEAST_ROWS:
        return None
    blocks = _classes(facts, held) if held.classes else _numbers(facts, held)
    return Section("errors", "Errors", [*blocks, *_worst(facts, held)])


def _classes(facts: Facts, held: Unseen) -> list[object]:
    names, counts = classes.confusion(held)
    heads, rows = charts.confusion_rows(names, counts)
    right = float(np.mean(held.predicted == held.truth))
    blocks: list[object] = [
        Text(f"All of this is on {len(held):,} rows that the model had not seen. {100 * right:.1f}% of them get the right class."),
        Table(
            heads,
            rows,
            right=tuple(range(1, len(heads))),
            tight=(0,),
            caption="True classes in rows, predicted ones in columns; shares are of the true class.",
            narrow=True,
        ),
    ]
    positive = facts.settings.get("positive")
    drawn = classes.drawn_classes(held, positive)
    two = len(held.classes) == 2
    of = f"class {shown(held.classes[drawn[0]], 30)}" if two else "each class against the rest"
    figures = []
    roc = [one for k in drawn if (one := classes.roc(held, k, two)) is not None]
    precision = [one for k in drawn if (one := classes.precision_recall(held, k, two)) is not None]
    if roc:
        areas = _areas(roc)
        keys = [] if two else [shown(one.name, 24) for one in roc]
        band = " The band holds 95% of curves from rows drawn anew." if two else ""
        svg = charts.curves_chart(roc, "ROC curve", "false positive rate", "true positive rate", True)
        figures.append(Figure("ROC", svg, f"Of {of}, all rows together. Area: {areas}.{band}", keys))
        share = float(np.mean(held.truth == drawn[0])) if two else None
        areas = _areas(precision)
        svg = charts.curves_chart(precision, "precision against recall", "recall", "precision", False, share)
        figures.append(Figure("Precision and recall", svg, f"Of {of}. Average precision: {areas}.", keys))
    sure = classes.reliability(held, positive)
    what = f"class {shown(held.classes[drawn[0]], 30)}" if two else "the predicted class"
    told = number(as_dict(facts.record.get("chances")).get("off"))  # as in the transcript; of runs of earlier versions by these bins
    off = 100 * (sure.off if told is None else told)
    words = f"Predicted probability of {what} against how often it came true, with 95% ranges. Off by {off:.1f} points on average."
    figures.append(Figure("Calibration", charts.reliability_chart(sure), words))
    if two and roc:
        found = classes.gain(held, drawn[0])
        assert found is not None
        tenth = float(np.interp(0.1, found.x, found.y))
        svg = charts.curves_chart([found], "gain curve", "share of rows, those ranked first", "recall", True)
        figures.append(
            Figure(
                "Gain",
                svg,
                f"The tenth of rows that is ranked first holds {100 * tenth:.0f}% of {of}, {10 * tenth:.1f} times what chance finds.",
            ),
        )
    blocks.append(Figures(figures))
    if two and roc:
        blocks += _costs(held, drawn[0])
    return blocks


def _areas(curves: list[classes.Curve]) -> str:
    return f"{curves[0].area:.3f}" if len(curves) == 1 else ", ".join(f"{shown(one.name, 20)} {one.area:.3f}" for one in curves)


def _costs(held: Unseen, label: int) -> list[object]:
    found = classes.thresholds(held, label)
    name = shown(held.classes[label], 30)
    rows = []
    for miss in (1, 2, 5, 10, 20, 50):
        k = found.best(miss)
        said = found.hits[k] + found.false_alarms[k]
        rows.append(
            [
                counted(miss, "false positive"),
                f"{found.at[k]:.2f}",
                f"{found.hits[k]:,}",
                f"{found.misses[k]:,}",
                f"{found.false_alarms[k]:,}",
                f"{100 * said / len(held):.0f}%",
            ]
        )
    best = found.best(START_COST)
    svg = charts.threshold_chart(found, START_COST)
    return [
        Costs(
            f"Threshold for {name}",
            svg,
            found.at.tolist(),
            found.misses.tolist(),
            found.false_alarms.tolist(),
            len(held),
            float(found.at[best]),
            name,
        ),
        Table(
            ["a false negative costs", "best threshold", "true positives", "false negatives", "false positives", f"predicted {name}"],
            rows,
            right=tuple(range(1, 6)),
            tight=(0,),
            narrow=True,
            caption="The cheapest threshold on held-out rows. Costs move the threshold; the model and its probabilities stay as they are.",
        ),
    ]


def _numbers(facts: Facts, held: Unseen) -> list[object]:
    off = numbers.residuals(held)
    size = np.abs(off)
    half, most = (figure(float(one)) for one in np.quantile(size, [0.5, 0.9]))
    w = np.ones(len(held)) if held.weight is None else held.weight
    lean = by_unit(*mean_of(off, w), w, held.unit)
    on_average = f"on average the truth is {figure(abs(lean.value))} {'above' if lean.value > 0 else 'below'} the prediction"
    if abs(lean.value) <= max(LUCK * lean.error, ROUNDING * float(np.abs(held.truth).max())):
        on_average = "on average they are neither too high nor too low"
    blocks: list[object] = [
        Text(
            f"All of this is on {len(held):,} rows that the model had not seen. Half of the predictions are off by at most {half}, nine "
            f"of ten by at most {most}; {on_average}.",
        ),
    ]
    blocks.append(
        Figures(
            [
                Figure("Predicted and true", charts.predicted_chart(held, facts.target), "On the diagonal the prediction is right."),
                Figure(
                    "Residuals",
                    charts.residual_chart(held),
                    "Solid: the middle; dashed: 80% of the rows lie between. A bend is something the model misses, a fan means that "
                    "errors grow.",
                ),
                Figure(
                    "How far off",
                    charts.histogram_chart(off, "distribution of residuals", "truth − prediction", [(0.0, "")]),
                    "Truth less prediction.",
                ),
            ]
        )
    )
    along = [as_dict(one) for one in as_list(facts.more.get("residuals"))]
    figures = [Figure(shown(one.get("column"), 40), charts.along_chart(one, "truth − prediction")) for one in along if _can_be_drawn(one)]
    if figures:
        blocks += [
            Text(ALONG, picture=True),
            Figures(figures),
        ]
    return blocks


def _can_be_drawn(along: dict[str, object]) -> bool:
    lengths = {len(floats(along.get(key))) for key in ("x", "low", "middle", "high")}
    return len(lengths) == 1 and min(lengths) > 1


def _worst(facts: Facts, held: Unseen) -> list[object]:
    if facts.judge is None:
        return []
    losses = held.losses(facts.judge)
    order = np.argsort(-losses, kind="stable")[:WORST]
    if held.classes:
        rows = [
            [
                f"{held.rows[i] + 1:,}",
                shown(held.classes[held.truth[i]], 40),
                shown(held.classes[held.predicted[i]], 40),
                f"{100 * held.outputs[i, held.truth[i]]:.1f}%",
            ]
            for i in order
        ]
        table = Table(
            ["row", "true", "predicted", "probability of the true class"],
            rows,
            right=(0, 3),
            summary=f"The {len(rows)} rows it is most wrong about, by their number from 1",
            caption=ROWS,
        )
    else:
        rows = [
            [f"{held.rows[i] + 1:,}", figure(held.truth[i]), figure(held.predicted[i]), figure(held.truth[i] - held.predicted[i])]
            for i in order
        ]
        table = Table(
            ["row", "true", "predicted", "off by"],
            rows,
            right=(0, 1, 2, 3),
            summary=f"The {len(rows)} rows it is most wrong about, by their number from 1",
            caption=ROWS,
        )
    return [table]


def along_table(facts: Facts) -> list[Figure]:
    """The mean loss along the order of the rows: what changes there changes with time, or with the order of the file."""
    held = facts.held
    if held is None or facts.judge is None or len(held) < TENTHS * LEAST_TENTH:
        return []
    order = np.argsort(held.rows, kind="stable")
    losses = held.losses(facts.judge)
    w = np.ones(len(held)) if held.weight is None else held.weight
    tenths = [(losses[part], w[part], None if held.unit is None else held.unit[part]) for part in np.array_split(order, TENTHS)]
    spreads = [by_unit(*mean_of(lost, of), of, unit) for lost, of, unit in tenths]
    values, errors = np.array([one.value for one in spreads]), np.nan_to_num([2 * one.error for one in spreads])
    mean, low, high = ([facts.loss(float(one)) or 0.0 for one in ends] for ends in (values, values - errors, values + errors))
    plot = Plot(
        f"{facts.loss_name()} along the table",
        places(TENTHS),
        (min(0.0, *low), max(high)),
        x_title="tenths of the rows, in their order",
        y_title=facts.loss_name(),
        x_ticks=[(float(k), str(k)) for k in range(1, TENTHS + 1)],
    )
    plot.level(facts.loss(float(np.average(losses, weights=w))) or 0.0, "all rows")
    for k in range(TENTHS):
        plot.whisker(k + 1.0, low[k], high[k])
    plot.dots(np.arange(1, TENTHS + 1), mean, "c0", 4.0)
    return [
        Figure(
            "From the first rows to the last",
            plot.svg(),
            f"The {facts.loss_name()} of each tenth with two standard errors. A trend means that rows change along the table, perhaps "
            "with time.",
        ),
    ]
