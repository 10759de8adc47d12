"""`tenfold compare`: models on the same rows, and whether they really differ."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.options import JsonResult, Metric, QuietFlag
from tenfold.app.words import AsItIs, clean, counted, figure, metric_name, short, terminal_width, wrapped
from tenfold.core.errors import BadParameter
from tenfold.score.registry import find_score, known_score
from tenfold.selection.choice.decision import judge_of
from tenfold.selection.model.store import plain
from tenfold.selection.monitor.labelled import USUAL
from tenfold.selection.monitor.paired import Contender, Difference, contender, difference, foreign


def compare_command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN RUN...", help="folders of runs on the same table; after the first also files of predictions"),
    ],
    metric: Metric = None,
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
) -> int:
    """Compare models on the rows that none of them had seen: by how much the first is better, with a range.

    Each run keeps its predictions for rows that were held out. The losses of the same rows are compared pair by pair, so that the luck
    of easy and hard rows does not count. A file of somebody else's predictions (a column "prediction", or "chance of LABEL" for each
    class; in the order of the table, or with a column "row" from 0) is fair only if they too were made without seeing the row.

    Example:  tenfold compare churn.tenfold churn-forest.tenfold theirs.csv
    """
    if len(runs) < 2:
        raise BadParameter("give at least two runs to compare, such as tenfold compare a.tenfold b.tenfold")
    first = contender(runs[0])
    others = [contender(one) if one.is_dir() else foreign(one, first) for one in runs[1:]]
    role = first.labelled.role
    judged = metric or (first.record.get("settings") or {}).get("metric") or USUAL[role][0]
    judge = find_score(judged, role, None if first.labelled.classes is None else len(first.labelled.classes), parameter="metric")
    judge = judge_of(judge.name, first.record.get("settings") or {}, first.labelled.classes) or judge
    found = [difference(first, other, judge) for other in others]
    if as_json:
        facts = [
            dict(asdict(one), first_name=first.name, second_name=other.name, verdict=one.verdict)
            for one, other in zip(found, others, strict=True)
        ]
        print(json.dumps(plain(facts), ensure_ascii=True))
        return 0
    width = terminal_width(sys.stdout)
    if quiet:
        lines = [_in_one_line(first, other, one) for other, one in zip(others, found, strict=True)]
    else:
        lines = _lines(first, others, found, width)
    print("\n".join(piece for line in lines for piece in wrapped(line, width)))
    return 0


def _lines(first: Contender, others: list[Contender], found: list[Difference], width: int) -> list[str]:
    name, metric = metric_name(found[0].metric), found[0].metric
    same = len({one.rows for one in found}) == 1
    rows = f"{counted(found[0].rows, 'row')} that no model had seen" if same else "the rows that each two have in common"
    lines = [f"COMPARED by {name} on {rows}", ""]
    names = [short(one.name, 30) for one in (first, *others)]
    wide = max(map(len, names))
    lines.append(AsItIs(f"  {names[0]:<{wide}}   {figure(found[0].first, metric):>9}   {_what(first, width - wide - 20)}"))
    for label, other, one in zip(names[1:], others, found, strict=True):
        lines.append(AsItIs(f"  {label:<{wide}}   {figure(one.second, metric):>9}   {_what(other, width - wide - 20)}"))
    lines.append("")
    for label, one in zip(names[1:], found, strict=True):
        lines.append(f"  Against {label}: {_sentence(one, names[0])}")
    if any(one.record.get("growth") for one in (first, *others)):
        lines += ["", "note: these are scores of models of folds; what a run estimates is for the model of all rows."]
    if any(not other.record for other in others):
        lines += ["", "note: predictions of a file are compared fairly only if they were made without seeing the row."]
    return lines


def _what(one: Contender, room: int) -> str:
    return short(one.label, max(20, min(room, 60)))


def _sentence(one: Difference, name: str) -> str:
    sign, word = (1, "better") if one.value >= 0 else (-1, "worse")
    low, high = sorted((sign * one.low, sign * one.high))
    ends = f"{_amount(low, one.metric).removesuffix(' points')} to {_amount(high, one.metric)}"
    extent = f"{word} by {_amount(sign * one.value, one.metric)}, 95% range {ends}"
    if one.verdict in ("better", "worse"):
        return f"{name} is {extent} ({_chance(one.p_value)})."
    if one.verdict == "as good":
        return f"{name} is as good for practical purposes ({extent})."
    return f"these rows cannot separate them ({name} is {extent})."


def _amount(value: float, metric: str) -> str:
    """A difference of scores: of shares in points."""
    score = known_score(metric)
    return f"{100 * value:.1f} points" if score is not None and score.percent else figure(value, metric)


def _chance(p: float) -> str:
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def _in_one_line(first: Contender, other: Contender, one: Difference) -> str:
    scores = f"{metric_name(one.metric)} {figure(one.first, one.metric)} and {figure(one.second, one.metric)}"
    return clean(f"{short(first.name, 30)} against {short(other.name, 30)}: {one.verdict}   {scores}")
