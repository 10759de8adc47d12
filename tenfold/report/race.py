"""The race: its board, whether models really differ, what was chosen, and whether more rows would help."""

from __future__ import annotations

import numpy as np

from tenfold.report import charts, trust
from tenfold.report.blocks import STRIP, Figure, Figures, Pairs, Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, counted, listed, number
from tenfold.report.svg import Axis, strip
from tenfold.table.show import shown

MOST_PLACES = 50
MOST_COMPARED = 8
BEYOND = 0.25  # of the gap between the best and the guess that is drawn beyond both
EQUAL = 0.01  # of the gap between the guess and the best: less is no difference in practice


def race(facts: Facts) -> Section | None:
    """The board with ranges, running means, and scores against time."""
    board = [row for row in facts.board if number(row.get("score")) is not None]
    if not board:
        return None
    reach = [(number(row["score"]) or 0.0, 2 * (number(row.get("error")) or 0.0)) for row in board]
    low, high = scale_of(facts, [value for value, _ in reach])
    near = [(v, r) for v, r in reach if low <= v <= high]
    axis = Axis(max(low, min(v - r for v, r in near)), min(high, max(v + r for v, r in near)), 6, STRIP - 6)
    rows = []
    for place, (row, (value, error)) in enumerate(zip(board, reach, strict=True), 1):
        if place > MOST_PLACES:
            break
        against = shown(row.get("against", ""), 20)
        picture = strip(
            axis,
            value,
            value - error,
            value + error,
            cls="c0" if against in ("best", "as good") else "quiet",
            label=facts.figure(value),
        ) if low <= value <= high else "off the scale"
        fit = number(row.get("seconds"))
        rows.append([str(place), shown(row.get("model", ""), 60), facts.figure(value), picture, against, _seconds(fit)])
    better = "greater is better" if facts.greater else "less is better"
    heads = ["", "model", facts.metric_name(), f"{better}", "against the best", "a fit"]
    failed = [row for row in facts.board if number(row.get("score")) is None]
    blocks: list[object] = [
        Text(
            "For ranking only: the first place was chosen by these very scores, and flatters itself. The ranges are two standard errors, "
            "corrected for overlapping training sets.",
        ),
        Table(heads, rows, right=(0, 2, 5)),
    ]
    if failed:
        blocks.append(Text(f"Could not be fitted: {listed([row.get('model') for row in failed], 8)}.", faint=True))
    figures = []
    trace = trust.trace_of(facts.record)
    running = charts.race_chart(trace, facts.metric_name(), (low, high))
    if running is not None:
        gone = sum(dropped for _, _, dropped in trace)
        words = f" Grey: {counted(gone, 'family', 'families')} dropped on the way, at the dot." if gone else ""
        figures.append(Figure("The race", running, f"Mean score after each fold, one line for each family.{words}"))
    time = charts.time_chart(board, facts.metric_name(), (low, high))
    if time is not None:
        figures.append(
            Figure("Score and time", time, f"What a fit takes against how good it is; {better}. Numbers are places on the board."),
        )
    if figures:
        blocks.append(Figures(figures))
    return Section("race", "The race", blocks)


def scale_of(facts: Facts, scores: list[float]) -> tuple[float, float]:
    """From the best score to somewhat beyond the guess: one model that fails badly must not press all others into a corner."""
    best = max(scores) if facts.greater else min(scores)
    base = facts.guessed(facts.metric)
    worst = min(scores) if facts.greater else max(scores)
    end = worst if base is None or base == best else base + BEYOND * (base - best)
    low, high = sorted((best - BEYOND * (end - best), end))
    return (low, high) if high > low else (min(scores) - 1, max(scores) + 1)


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


def different(facts: Facts) -> Section | None:
    """Pairs of models: how likely one is better."""
    table = trust.fold_table(facts.record)
    if table is None or table[1].shape[1] < 3:
        return None
    names, scores = table
    order = np.argsort((-1 if facts.greater else 1) * scores.mean(axis=1), kind="stable")[:MOST_COMPARED]
    names, scores = [names[i] for i in order], scores[order]
    base = facts.guessed(facts.metric)
    gap = abs(float(scores[0].mean()) - base) if base is not None else abs(float(scores[0].mean()))
    better, same = trust.beats(scores, facts.greater, EQUAL * gap)
    heads, rows = charts.matrix_rows(names, better, same)
    text = (
        "How likely the model of a row is better than that of a column on tables like this one, "
        "and below it how likely the two are equal in practice."
    )
    return Section("different", "Are they really different?", [Text(text), Table(heads, rows)])


def chosen(facts: Facts) -> Section | None:
    """The saved model, its members, and the simpler one that is as good."""
    if not facts.record.get("chosen"):
        return None
    blocks: list[object] = [Pairs([("saved model", facts.chosen)])]
    tied = as_list(facts.record.get("tied"))
    if tied:
        blocks.append(Text(f"As good within the noise: {listed(tied, 6)}."))
    members = [as_dict(one) for one in as_list(facts.record.get("members"))]
    weights = [(shown(one.get("model", ""), 80), number(one.get("weight"))) for one in members]
    known = [(label, weight) for label, weight in weights if weight is not None]
    if len(known) > 1:
        axis = Axis(0.0, max(weight for _, weight in known), 4, STRIP - 6)
        rows = [
            [label, f"{100 * weight:.0f}%", strip(axis, weight, zero=0.0, cls="c0", label=f"{100 * weight:.0f}%")]
            for label, weight in known
        ]
        blocks += [
            Text("A weighted mean of several models, each of which sees something the others miss."),
            Table(["member", "weight", ""], rows, right=(1,), narrow=True),
        ]
    simple = as_dict(facts.record.get("simple"))
    if simple.get("model") and simple["model"] != facts.record.get("chosen"):
        one = as_dict(as_dict(simple.get("estimate")).get(facts.metric))
        value, low, high = (number(one.get(key)) for key in ("value", "low", "high"))
        span = f", 95% range {facts.figure(low)} to {facts.figure(high)}" if low is not None and high is not None else ""
        worth = f": {facts.metric_name()} {facts.figure(value)}{span}" if value is not None else ""
        blocks.append(Text(f"Simpler, and saved beside it: {shown(simple['model'], 80)}{worth}."))
    return Section("chosen", "The chosen model", blocks)


def learning(facts: Facts) -> Section | None:
    """The score against the number of rows."""
    curve = [as_dict(one) for one in as_list(facts.record.get("curve"))]
    curve = [one for one in curve if number(one.get("rows")) is not None and number(one.get("score")) is not None and one["rows"] > 0]
    if len(curve) < 2:
        return None
    curve = sorted(curve, key=lambda one: one["rows"])
    last, before = curve[-1], curve[-2]
    gain = (last["score"] - before["score"]) * (1 if facts.greater else -1)
    low, high = number(last.get("low")), number(last.get("high"))
    noise = (high - low) / 2 if low is not None and high is not None else 0.0
    ahead, error = number(last.get("gain")), number(last.get("error"))
    if ahead is not None and error is not None:  # on the same rows, which tells more than two ranges
        gain, noise = ahead, 1.96 * error
    span = f"From {before['rows']:,} to {last['rows']:,} rows the score"
    words = (
        f"{span} still gets better by more than its uncertainty: more rows would probably help."
        if gain > noise
        else f"{span} changes by less than its uncertainty: more rows would change little."
    )
    figure = Figure(
        "Score against rows",
        charts.learning_chart(curve, facts.metric_name()),
        "The band is the range at each number of rows.",
    )
    return Section("learning", "Would more rows help?", [Text(words), Figures([figure])])
