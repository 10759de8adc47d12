"""Columns that may act in one direction only: the prediction never falls (+) or never rises (−) where they grow and all else stays.

Trees obey (`monotonic_cst`), whatever the data say; of two classes it is the probability of the positive one that does. A weighted mean of
models that obey does so too, and so do the floor of probabilities and thresholds. All other families are left out of the race.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput, BadParameter
from tenfold.selection.plan.entries import Entry
from tenfold.table.columns import Column, check_name
from tenfold.table.reading import pl
from tenfold.table.task import Task

SIGNS = {"+": 1, "-": -1, "−": -1, "1": 1, "+1": 1, "-1": -1}
TREES = ("boosting", "forest", "extra")  # kinds of families that obey
WRITTEN = re.compile(r"\s*(.+?)\s*:\s*([-+−]?1?)\s*(?:,|$)")
HOW = "give columns with + or -, such as age:+,price:-"


def checked_monotone(given: Any) -> dict[str, int] | None:
    """By column 1 or −1, from a dict, or from texts as "age:+,price:-"."""
    if given is None or (not given and not isinstance(given, str)):
        return None
    found = dict[str, Any](given) if isinstance(given, Mapping) else _parsed([given] if isinstance(given, str) else given)
    for name, sign in found.items():
        if not isinstance(name, str) or isinstance(sign, bool) or sign not in (1, -1):
            raise BadParameter(f"monotone={{{name!r}: {sign!r}}}: must be 1 or -1 for each column, such as {{'age': 1}}")
    return {name: int(sign) for name, sign in found.items()}


def _parsed(texts: Any) -> dict[str, int]:
    if not isinstance(texts, Iterable):
        raise BadParameter(f"monotone={texts!r}: {HOW}")
    found = dict[str, int]()
    for text in texts:
        parts, end = list(WRITTEN.finditer(str(text))), 0
        for part in parts:
            if part.start() != end or part[2] not in SIGNS:
                raise BadParameter(f"monotone={text!r}: {HOW}")
            if found.get(part[1], SIGNS[part[2]]) != SIGNS[part[2]]:
                raise BadParameter(f"monotone={text!r}: {part[1]!r} is given both + and -, choose one")
            found[part[1]], end = SIGNS[part[2]], part.end()
        if not parts or end != len(str(text)):
            raise BadParameter(f"monotone={text!r}: {HOW}")
    return found


def signs_of(
    asked: dict[str, int], columns: Sequence[Column], table: pl.DataFrame, task: Task, positive: int | None
) -> tuple[int, ...]:
    """1, −1 or 0 for each column of a table, as trees take it: of two classes for the second one. One sentence where it cannot be."""
    if task.n_classes > 2:
        raise BadInput(f"monotone columns are for numbers and two classes, and {task.target!r} has {task.n_classes} classes")
    known = {column.name: column for column in columns}
    for name in asked:
        check_name(name, list(known))
        column = known[name]
        if not column.used and column.kind != "text":
            raise BadInput(f"monotone column {name!r}: it is not used ({column.note}); keep it with --keep, or leave it out of --monotone")
        if column.kind != "number" or name not in table.columns or table[name].dtype == pl.String:
            raise BadInput(f"monotone column {name!r}: it is read as {column.kind}, and only numbers can act in one direction")
    turn = -1 if task.kind == "classes" and positive == 0 else 1
    return tuple(turn * asked.get(name, 0) for name in table.columns)


def obeying(entries: list[Entry], signs: Sequence[int]) -> list[Entry]:
    """The guess, and the families that obey, told to."""
    found = []
    for entry in entries:
        if entry.is_guess:
            found.append(entry)
        elif entry.kind in TREES:
            found.append(replace(entry, learner=fresh(entry.learner).set_params(monotonic_cst=list(signs))))
    if len(found) == 1:
        raise BadInput("monotone columns need trees, and those at least 50 rows: there are fewer")
    return found
