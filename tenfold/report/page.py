"""The page: sections through the template, one file that loads nothing, and its policy."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.report.blocks import Section
from tenfold.report.chosen import chosen, learning
from tenfold.report.decisions import decisions
from tenfold.report.drivers import drivers, failing
from tenfold.report.errors import errors
from tenfold.report.facts import Facts, as_dict, counted
from tenfold.report.fairness import fairness
from tenfold.report.race import different, race
from tenfold.report.read import as_read, target
from tenfold.report.reproduce import reproduce
from tenfold.report.uncertainty import uncertainty
from tenfold.report.verdict import headline, trusted, verdict
from tenfold.report.warned import warned
from tenfold.saved.writing import cannot_write, replacing
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.reading import pl

LARGEST = 3_000_000  # bytes
SECTIONS = (
    verdict,
    trusted,
    warned,
    drivers,
    decisions,
    errors,
    uncertainty,
    failing,
    fairness,
    race,
    different,
    chosen,
    learning,
    target,
    as_read,
    reproduce,
)


def page_of(record: dict[str, Any], held_out: pl.DataFrame | None = None, explained: dict[str, Any] | None = None) -> str:
    """The whole page, from the record of a run, its held-out predictions and what `explained` says of the model."""
    facts = facts_for(record, held_out, explained)
    return _written(facts, sections_of(facts))


def facts_for(record: dict[str, Any], held_out: pl.DataFrame | None = None, explained: dict[str, Any] | None = None) -> Facts:
    """What a report is written from."""
    more = as_dict(record.get("explained")) if explained is None else explained
    return Facts(record, None if held_out is None else Unseen.of(held_out), more)


def sections_of(facts: Facts) -> list[Section]:
    """The sections in their order; those whose facts are absent are left out."""
    with np.errstate(all="ignore"):  # squares of huge numbers: what is not finite is not drawn
        return [section for make in SECTIONS if (section := make(facts)) is not None]


def _written(facts: Facts, sections: list[Section]) -> str:
    return rendered(
        title=f"{facts.target} · {facts.name}",
        name=facts.name,
        heading=f"Predicting {facts.target}",
        rows=counted(facts.rows, "row"),
        model=facts.chosen,
        version=facts.record.get("tenfold", ""),
        headline=headline(facts),
        sections=sections,
    )


def rendered(**fields: Any) -> str:
    """The template with its style and script inside, and a policy that allows nothing else."""
    style, script = _text("report.css"), _text("report.js")
    return str(
        _template().render(
            **fields,
            style=style,
            script=script,
            policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'",
        )
    )


def write_report(path: Any, record: dict[str, Any], held_out: pl.DataFrame | None = None, explained: dict[str, Any] | None = None) -> Path:
    """Write the page to a file, whole or not at all."""
    page = page_of(record, held_out, explained)
    size = len(page.encode("utf-8"))
    if size > LARGEST:
        raise BadInput(f"the report would take {size:,} bytes, more than {LARGEST:,}: leave out columns with --drop")
    return write_text(path, page)


def write_text(path: Any, text: str) -> Path:
    """Write a text to a file, whole or not at all."""
    try:
        with replacing(os.fspath(path)) as file:
            file.write(text.encode("utf-8"))
    except OSError as reason:
        raise cannot_write(str(path), reason) from None
    return Path(path)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


@cache
def _text(name: str) -> str:
    return (resources.files("tenfold") / "report" / "templates" / name).read_text(encoding="utf-8").strip()


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    return Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    ).from_string(_text("report.html.jinja"))
