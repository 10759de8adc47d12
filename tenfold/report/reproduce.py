"""How to get the same result again: command, versions, hashes, everything that was tried, and a card for the model."""

from __future__ import annotations

import base64
import csv
import io
from typing import Any

from tenfold.report.blocks import Code, Download, Pairs, Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, number
from tenfold.report.plain_words import sentences
from tenfold.report.typed import command
from tenfold.table.show import shown

CARD = "A card for the model"
MOST_LISTED = 50
LONGEST_COMMAND = 200_000  # characters; a longer one leaves no room for the page
MOST_WRITTEN = 5000  # settings in the file inside the page
AGAIN = "In the folder of the run run.json holds all of it: tenfold reproduce DIR does the same again, and stops where it was stopped."
FORMULA = "=+-@\t\r\0"  # a spreadsheet would run a cell that begins so


def reproduce(facts: Facts) -> Section:
    """The command, what it ran with, and what it tried."""
    pairs = [
        ("seed", str(facts.settings.get("seed", ""))),
        ("folds", str(facts.settings.get("folds") or "")),
        ("effort", "" if facts.is_fit else shown(facts.settings.get("effort") or "", 20)),
        (
            "versions",
            ", ".join(
                f"{name} {shown(facts.record[name], 20)}"
                for name in ("tenfold", "python", "numpy", "polars")
                if facts.record.get(name)
            ),
        ),
        ("SHA-256 of the data", shown(facts.data.get("sha256") or "", 70)),
        ("SHA-256 of the folds", shown(facts.record.get("folds_sha256") or "", 70)),
    ]
    total = number(as_dict(facts.record.get("seconds")).get("total"))
    if total is not None:
        pairs.append(("time", f"{total:.1f} s"))
    line = command(facts)
    blocks: list[object] = [Code(line) if len(line) <= LONGEST_COMMAND else Text(f"The command takes {len(line):,} characters. {AGAIN}")]
    if facts.record.get("interrupted") or facts.record.get("cut_by_time"):
        blocks.append(Text(f"The run was cut short, and the command alone would go on to the end. {AGAIN}"))
    blocks.append(Pairs([(name, text) for name, text in pairs if text]))
    tried = [as_dict(one) for one in as_list(facts.record.get("tried"))] or facts.board
    if tried and not facts.is_fit:
        rows = [
            [
                shown(_label(one), 80),
                facts.figure(one.get("score")),
                _figure(one.get("error")),
                shown(one.get("against") or "", 20),
                _figure(one.get("seconds")),
            ]
            for one in tried[:MOST_LISTED]
        ]
        rest = len(tried) - len(rows)
        means = [f"scores are means over folds{_of_first(facts)}"] if facts.record.get("tried") else []
        caption = "; ".join(means + ([f"{rest:,} more in the file"] if rest > 0 else []))
        blocks.append(
            Table(
                ["model", facts.metric_name(), "standard error", "against the best", "seconds"],
                rows,
                right=(1, 2, 4),
                summary=f"Everything tried: {len(tried):,}",
                caption=caption,
            ),
        )
        content = base64.b64encode(written(tried[:MOST_WRITTEN], facts.metric).encode("utf-8")).decode("ascii")
        blocks.append(Download("Everything tried, as CSV", "tried.csv", content))
    blocks.append(Code(card(facts), summary=CARD))
    return Section("reproduce", "Reproduce", blocks)


def _of_first(facts: Facts) -> str:
    """Which folds these are, where finalists ran on others too."""
    divisions = int(number(facts.record.get("divisions")) or 1)
    return f" of the first division of the rows; the board counts {divisions} of them for those that lead" if divisions > 1 else ""


def written(tried: list[dict[str, Any]], metric: str) -> str:
    """A line for each model that was tried; nothing that a spreadsheet would run."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\r\n")
    lines.writerow(["model", "family", metric, "standard_error", "against", "seconds"])
    for one in tried:
        values = [_label(one), one.get("family"), one.get("score"), one.get("error"), one.get("against"), one.get("seconds")]
        lines.writerow([_harmless(value) for value in values])
    return file.getvalue()


def _label(one: dict[str, Any]) -> str:
    return str(one.get("label") or one.get("model") or "")


def _harmless(value: Any) -> Any:
    if not isinstance(value, str):
        return value if number(value) is not None else ""
    text = shown(value, 200)
    return f"'{text}" if text[:1] in FORMULA and text else text


def _figure(value: Any) -> str:
    found = number(value)
    return "" if found is None else f"{found:.3g}"


def card(facts: Facts) -> str:
    """What a reader of the model alone should know."""
    estimate = facts.estimate
    low, high = number(estimate.get("low")), number(estimate.get("high"))
    span = f" (95% range {facts.figure(low)} to {facts.figure(high)})" if low is not None and high is not None else ""
    worth = "not known: the run was stopped"
    if estimate:
        worth = f"{facts.metric_name()} {facts.figure(estimate['value'])}{span} on new rows like the training rows"
    lines = [
        f"Model      {facts.chosen}",
        f"Predicts   {facts.target} ({'one of several classes' if facts.classes else 'a number'})",
        f"Made from  {facts.name}, {facts.rows:,} rows, by tenfold {shown(facts.record.get('tenfold', ''), 20)}",
        f"Worth      {worth}",
        f"Verdict    {' '.join(sentences(facts))}",
        "Use        for rows drawn in the same way as the training rows; not for another population, place or time",
        "Beware     associations are not causes: changing a column need not change the target",
    ]
    return "\n".join(lines)
