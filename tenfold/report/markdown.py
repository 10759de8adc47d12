"""The same facts as the page, as a text for a repository or a model registry: the card of the model, sentences and tables, no pictures."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup

from tenfold.report.blocks import Code, Items, Pairs, Section, Table, Text
from tenfold.report.page import facts_for, sections_of
from tenfold.report.reproduce import CARD, card
from tenfold.report.verdict import headline
from tenfold.table.reading import pl

ACTIVE = re.compile(r"([\\`*_\[\]|#~!])")  # what means something in Markdown
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown_of(record: dict[str, Any], held_out: pl.DataFrame | None = None, explained: dict[str, Any] | None = None) -> str:
    """The whole text, from what a page is made from."""
    facts = facts_for(record, held_out, explained)
    first = headline(facts)
    lines = [f"# Predicting {escaped(facts.target)}", *([f"**{escaped(first[0])}** {escaped(first[1])}"] if first else [])]
    lines.append(fenced(card(facts)))
    for section in sections_of(facts):
        lines += _section(section)
    return "\n\n".join(lines) + "\n"


def _section(section: Section) -> list[str]:
    blocks = [text for block in section.blocks if (text := _block(block))]
    return [f"## {escaped(section.title)}", *blocks] if blocks else []


def _block(block: Any) -> str:
    """A block as Markdown; nothing of those that are pictures, and of the card, which stands at the head."""
    if isinstance(block, Text):
        return "" if block.picture else escaped(block.text)
    if isinstance(block, Items):
        return "\n".join(f"- {escaped(one)}" for one in block.items)
    if isinstance(block, Pairs):
        return "\n".join(f"- {escaped(name)}: {escaped(text)}" for name, text in block.pairs)
    if isinstance(block, Code):
        return "" if block.summary == CARD else fenced(block.text)
    return _table(block) if isinstance(block, Table) else ""


def _table(table: Table) -> str:
    kept = [k for k in range(len(table.heads)) if not any(isinstance(row[k], Markup) for row in table.rows)]
    if not kept or not table.rows:
        return ""
    ends = [" ---: " if k in table.right else " --- " for k in kept]
    rows = [[_cell(row[k]) for k in kept] for row in table.rows]
    lines = [[escaped(table.heads[k]) for k in kept], *rows]
    found = [f"| {' | '.join(one)} |" for one in lines]
    found.insert(1, f"|{'|'.join(ends)}|")
    said = [escaped(one) for one in (table.summary, table.caption)]
    return "\n\n".join(one for one in (said[0], "\n".join(found), said[1]) if one)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        small = f" ({escaped(value['small'])})" if value.get("small") else ""
        return f"{escaped(value.get('text', ''))}{small}"
    return escaped(value)


def escaped(text: Any) -> str:
    """Text that stays one, whatever is in it."""
    plain = " ".join(str(text).split())
    plain = "".join(ENTITIES.get(c, c) for c in plain)
    return ACTIVE.sub(r"\\\1", plain)


def fenced(text: str) -> str:
    """Lines as they are, between fences that are longer than any within."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
