"""Decisions: by which rule a class is predicted, what that costs, and how many rows of a rare class are found at which threshold."""

from __future__ import annotations

from typing import Any

from tenfold.report.blocks import Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, counted, number
from tenfold.score.words import figure, metric_name, percent
from tenfold.table.show import shown

MOST_WEIGHTS = 12


def decisions(facts: Facts) -> Section | None:
    """What `selection.honest.decisions` told of held-out rows; nothing where the most likely class is all there is to say."""
    told = as_dict(facts.record.get("decisions"))
    found = [as_dict(one) for one in as_list(told.get("found"))]
    if not told or not facts.classes:
        return None
    blocks: list[object] = [Text(" ".join([*_rule(told, found), *_rare(told, found), *map(_found, found)]))]
    cost = as_dict(told.get("cost"))
    if cost:
        rows = [
            ["least expected cost, as saved", *_ranged(as_dict(cost.get("decided")))],
            ["the most likely class", *_ranged(as_dict(cost.get("likely")))],
            [f"always {shown(cost.get('one', ''), 40)}", figure(number(cost.get("always"))), ""],
        ]
        blocks.append(Table(["decision", "mean cost of a row", "95% range"], rows, right=(1,), narrow=True))
    weights = _weights(told)
    if weights:
        caption = "The probability of each class is multiplied by its weight, and the largest is predicted."
        blocks.append(Table(["class", "weight"], weights, right=(1,), narrow=True, caption=caption))
    lines = [as_dict(one) for one in as_list(told.get("thresholds"))]
    if lines and found:
        heads = ["threshold", "recall", "95% range", "precision", "95% range", "predicted"]
        name = shown(found[0].get("label", ""), 40)
        caption = f"Where {name} is predicted from other thresholds on, on {counted(int(number(told.get('rows')) or 0), 'held-out row')}."
        blocks.append(Table(heads, [_line(one) for one in lines], right=(0, 1, 3, 5), narrow=True, caption=caption))
    if told.get("by") == "likely":
        blocks.append(
            Text("Nothing was resampled, so probabilities are what they say; --cost, or a score of decisions, moves the threshold."),
        )
    return Section("decisions", "Decisions", blocks)


def _percent(value: Any) -> str:
    return percent(number(value))


def _rule(told: dict[str, Any], found: list[dict[str, Any]]) -> list[str]:
    by, at = told.get("by"), number(told.get("threshold"))
    if by == "likely":
        return ["The most likely class is predicted."]
    best = f"by which {shown(metric_name(str(told.get('metric'))), 40)} was best on held-out rows"
    if at is not None and found:
        why = "where its expected cost is the least" if by == "given" else f"the threshold {best}"
        return [f"{shown(found[0].get('label', ''), 40)} is predicted from a probability of {_percent(at)} on, {why}."]
    weighed = f"The class is predicted by probabilities times weights, {best}"
    what = "The class of least expected cost is predicted" if by == "given" else weighed
    return [f"{what}: another one than the most likely in {_percent(told.get('other_than_likely'))} of the rows."]


def _rare(told: dict[str, Any], found: list[dict[str, Any]]) -> list[str]:
    rare = [one for one in found if one.get("rare") is True]
    most = as_dict(told.get("most_frequent"))
    if not rare or not most:
        return []
    names = ", ".join(f"{shown(one.get('label', ''), 40)} has {_percent(one.get('share'))} of the rows" for one in rare)
    return [
        f"{names}: always predicting {shown(most.get('label', ''), 40)} is right for {_percent(most.get('share'))} and finds none of them; "
        f"the decisions here are right for {_percent(told.get('accuracy'))}."
    ]


def _found(one: dict[str, Any]) -> str:
    name, recall, precision = shown(one.get("label", ""), 40), as_dict(one.get("recall")), as_dict(one.get("precision"))
    rows, hits = (int(number(one.get(key)) or 0) for key in ("rows", "found"))
    text = f"{hits:,} of {rows:,} {name} are found ({_percent(recall.get('value'))})"
    right = _percent(precision.get("value"))
    return f"{text}, and it is right in {right} of the rows it is predicted for." if precision else f"{text}; {name} is never predicted."


def _ranged(one: dict[str, Any]) -> list[str]:
    value, low, high = (number(one.get(key)) for key in ("value", "low", "high"))
    return [figure(value), "" if low is None or high is None else f"{figure(low)} to {figure(high)}"]


def _weights(told: dict[str, Any]) -> list[list[str]]:
    """Weights of several classes, heaviest first; the least is 1."""
    classes, costs = as_list(told.get("classes")), [as_list(row) for row in as_list(told.get("costs"))]
    if told.get("by") != "chosen" or len(classes) < 3 or len(costs) != len(classes):
        return []
    weights = [max((number(one) or 0.0 for one in row), default=0.0) for row in costs]
    least = min(weights)
    if not least > 0:
        return []
    order = sorted(zip(classes, weights, strict=True), key=lambda pair: -pair[1])[:MOST_WEIGHTS]
    return [[shown(label, 40), f"{weight / least:.3g}"] for label, weight in order]


def _line(one: dict[str, Any]) -> list[str]:
    cells = [f"{100 * (number(one.get('at')) or 0.0):g}%"]
    for key in ("recall", "precision"):
        share = as_dict(one.get(key))
        cells += [_percent(share.get("value")), f"{_percent(share.get('low'))} to {_percent(share.get('high'))}" if share else ""]
    return [*cells, _percent(one.get("flagged"))]
