"""Fairness: errors and calibration by the groups of a column that was named."""

from __future__ import annotations

from typing import Any

from tenfold.report.blocks import STRIP, Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, counted, listed, number
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.score.words import figure, percent
from tenfold.table.show import shown


def fairness(facts: Facts) -> Section | None:
    """The loss of each group, how far what is predicted of it is from what came true, and of two classes what is decided."""
    found = as_dict(facts.more.get("fair"))
    groups = [as_dict(one) for one in as_list(found.get("groups"))]
    name, two, loss = shown(found.get("column", ""), 60), found.get("class"), facts.loss_name(found.get("of"))
    if not groups:
        left = _left(found)
        return Section("fairness", f"Fairness: by {name}", left) if left else None
    blocks: list[object] = [Text(" ".join([*_used(found, name), *_losses(groups, loss), *_rated(groups)]) + facts.by_weight)]
    mean = facts.loss(number(found.get("mean")))
    ranges = [(facts.loss(value), facts.loss(low), facts.loss(high)) for value, low, high in (_range(one.get("loss")) for one in groups)]
    ends = [one for some in (*ranges, (mean,)) for one in some if one is not None]
    axis = Axis(min(ends, default=0.0), max(ends, default=1.0), 6, STRIP - 6, pad=0.04)
    rows: list[list[Any]] = []
    for one, (value, low, high) in zip(groups, ranges, strict=True):
        mark = strip(axis, value, low, high, rule=mean, cls="warn" if one.get("differs") is True else "c0", label=figure(value))
        span = "" if low is None else f"{figure(low)} to {figure(high)}"
        rows.append([shown(one.get("group", ""), 40), f"{int(number(one.get('rows')) or 0):,}", figure(value), mark, span])
    heads = [name, "rows", loss, "", "95% range"]
    caption = f"The {loss} of all rows is {figure(mean)}."
    blocks.append(Table(heads, rows, right=(1, 2), tight=(0, 4), narrow=True, caption=caption))
    blocks.append(Text(f"The upright line is the {loss} of all rows.", faint=True, picture=True))
    what = "mean prediction" if not facts.classes else f"mean probability of {shown(two, 24) if two else 'the predicted class'}"
    heads = [name, what, "came true" if facts.classes else "mean truth", "off by", "95% range"]
    show = percent if facts.classes else figure
    cells = []
    for one in groups:
        off, under, over = _range(one.get("gap"))
        span = "" if under is None else f"{_signed(under, facts.classes)} to {_signed(over, facts.classes)}"
        line = [shown(one.get("group", ""), 40), show(number(one.get("said"))), show(number(one.get("true")))]
        cells.append([*line, _signed(off, facts.classes), span])
    caption = "Off by: what is predicted less what came true; above zero a group is overrated."
    blocks.append(Table(heads, cells, right=(1, 2, 3), tight=(0, 4), narrow=True, caption=caption))
    if two:
        shares = ("flagged", "found", "alarms")
        cells = [[shown(one.get("group", ""), 40), *(percent(number(one.get(key))) for key in shares)] for one in groups]
        heads = [name, f"predicted {shown(two, 24)}", "true positive rate", "false positive rate"]
        blocks.append(Table(heads, cells, right=(1, 2, 3), tight=(0,), narrow=True))
    blocks += _left(found)
    return Section("fairness", f"Fairness: by {name}", blocks)


def _range(value: Any) -> tuple[float | None, float | None, float | None]:
    one = as_dict(value)
    if not one:
        return number(value), None, None
    found, low, high = (number(one.get(key)) for key in ("value", "low", "high"))
    return (found, low, high) if low is not None and high is not None else (found, None, None)


def _signed(value: float | None, points: bool) -> str:
    if value is None:
        return ""
    return f"{'+' if value >= 0 else '−'}{f'{100 * abs(value):.1f}' if points else figure(abs(value))}{' points' if points else ''}"


def _used(found: dict[str, Any], name: str) -> list[str]:
    if not isinstance(found.get("used"), bool):
        return []
    return [f"The model uses {name}." if found["used"] else f"The model does not use {name}, though other columns may stand for it."]


def _losses(groups: list[dict[str, Any]], loss: str) -> list[str]:
    other = [one.get("group") for one in groups if one.get("differs") is True]
    if not other:
        return [f"No group's {loss} differs from that of the other rows beyond what chance explains (false discovery rate 5%)."]
    verb = "differs" if len(other) == 1 else "differ"
    return [f"The {loss} of {listed(other, 6)} {verb} from that of the other rows beyond what chance explains (false discovery rate 5%)."]


def _rated(groups: list[dict[str, Any]]) -> list[str]:
    """Groups whose range of what is predicted less what came true does not hold nothing."""
    ends = [(one.get("group"), *_range(one.get("gap"))[1:]) for one in groups]
    over = [name for name, low, _ in ends if low is not None and low > 0]
    under = [name for name, _, high in ends if high is not None and high < 0]
    said = [f"{word}: {listed(names, 6)}." for word, names in (("Overrated", over), ("Underrated", under)) if names]
    return said or ["What is predicted of each group agrees with what came true, within its range."]


def _left(found: dict[str, Any]) -> list[object]:
    small, more = as_dict(found.get("small")), int(number(found.get("more")) or 0)
    count = int(number(small.get("groups")) or 0)
    said = []
    if count:
        rows, least = (int(number(small.get(key)) or 0) for key in ("rows", "least"))
        said.append(f"{counted(count, 'group')} of fewer than {least} rows, {counted(rows, 'row')} together, too small to say.")
    if more:
        said.append(f"{counted(more, 'smaller group')} not shown.")
    return [Text(" ".join(said), faint=True)] if said else []
