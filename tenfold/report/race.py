"""The race: its board, and whether models really differ."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from tenfold.report import charts, trust
from tenfold.report.blocks import STRIP, Figure, Figures, Section, Table, Text
from tenfold.report.facts import LONGEST_MODEL, Facts, counted, listed, number
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.selection.board import DROPPED, PASSED_OVER
from tenfold.table.show import shown

MOST_PLACES = 50
REFINED = "Passed over: variants of a family that does not lead in the end. A choice takes only those of the one that does."
MOST_COMPARED = 8
BEYOND = 0.25  # of the gap between the best and the guess that is drawn beyond both
EQUAL = 0.01  # of the gap between the guess and the best: less is no difference in practice


def race(facts: Facts) -> Section | None:
    """The board with ranges, running means, and scores against time."""
    board = [row for row in facts.board if number(row.get("score")) is not None]
    if not board or facts.is_fit:
        return None
    reach = [(number(row["score"]) or 0.0, 2 * (number(row.get("error")) or 0.0)) for row in board]
    low, high = scale_of(facts, reach)
    near = [(v, r) for v, r in reach if low <= v <= high]
    axis = Axis(max(low, min(v - r for v, r in near)), min(high, max(v + r for v, r in near)), 6, STRIP - 6)
    rows, places = [], places_of(board)
    for place, row, (value, error) in list(zip(places, board, reach, strict=True))[:MOST_PLACES]:
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
        after = int(number(row.get("folds")) or 0) if against == DROPPED else 0
        said = f"{against} after {counted(after, 'fold')}" if after else against
        rows.append([place, shown(row.get("model", ""), LONGEST_MODEL), facts.figure(value), picture, said, _seconds(fit)])
    better = "greater is better" if facts.greater else "less is better"
    heads = ["", "model", facts.metric_name(), f"{better}", "against the best", "a fit"]
    failed = [row for row in facts.board if number(row.get("score")) is None]
    blocks: list[object] = [
        Text(
            "For ranking only: the first place was chosen by these very scores, and flatters itself. The ranges are two standard errors, "
            "corrected for overlapping training sets.",
        ),
        Table(heads, rows, right=(0, 2, 5), tight=(4,)),
        *([Text(REFINED, faint=True)] if any(row.get("against") == PASSED_OVER for row in board) else []),
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
    time = charts.time_chart(list(zip(places, board, strict=True)), facts.metric_name(), (low, high))
    if time is not None:
        figures.append(
            Figure("Score and time", time, f"What a fit takes against how good it is; {better}. Numbers are places on the board."),
        )
    if figures:
        blocks.append(Figures(figures))
    return Section("race", "The race", blocks)


def places_of(board: list[dict[str, Any]]) -> list[str]:
    """The place of each row; the guess has none, nor what was dropped: its score is that of other folds."""
    running = [int(row.get("rank") != 0 and row.get("against") not in ("baseline", DROPPED, PASSED_OVER)) for row in board]
    return [str(place) if runs else "" for runs, place in zip(running, accumulate(running), strict=True)]


def scale_of(facts: Facts, reach: list[tuple[float, float]]) -> tuple[float, float]:
    """From the best score to somewhat beyond the guess, as far as ranges reach at least: one model that fails badly must not press all
    others into a corner."""
    sign, scores = -1 if facts.greater else 1, [value for value, _ in reach]
    best, room = min(reach, key=lambda one: sign * one[0])
    base = facts.guessed(facts.metric)
    worst = sign * max(sign * one for one in scores)
    end = worst if base is None or base == best else base + sign * max(BEYOND * abs(base - best), room)
    low, high = sorted((best - sign * max(BEYOND * abs(end - best), room), end))
    return (low, high) if high > low else (min(scores) - 1, max(scores) + 1)


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


def different(facts: Facts) -> Section | None:
    """Pairs of models: how likely one is better."""
    table = trust.fold_table(facts.record)
    if table is None or table[1].shape[1] < 3 or facts.is_fit:
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
    return Section("different", "Are they really different?", [Text(text), Table(heads, rows, right=tuple(range(1, len(heads))))])
