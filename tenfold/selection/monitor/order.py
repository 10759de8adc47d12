"""What the rows themselves say of how a model should be judged: names that repeat, an order in time, drift from the first rows to the
last, and levels that a fold sees for the first time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.monitor.drift import drift
from tenfold.table.cells import class_texts
from tenfold.table.columns import Asked, Column, comma_of, look_at
from tenfold.table.names import TIMES, says
from tenfold.table.reading import Raw, pl
from tenfold.table.sketch import sketch
from tenfold.table.table import Table

Facts = dict[str, Any]
PART, LEAST_ROWS = 0.25, 30  # of the rows, the first and the last, and how many there are at least
MOST_ROWS = 20_000  # of each part
MOST_TOLD, WIDE = 8, 500  # columns that are told, and that are looked at
KEYS = ("id", "text", "date", "row number")


def ordered(raw: Raw, columns: Sequence[Facts], settings: Facts) -> Facts:
    """Columns whose values repeat as names do, columns of times in whose order the rows are, and columns that change along the table.

    columns: what run.json says of them. What the run was told of groups and time is not said again.
    """
    known = set(raw.frame.columns)
    kinds = {str(one.get("name")): one.get("kind") for one in columns if one.get("name") in known}
    told = {settings.get(role) for role in ("groups", "time_column", "target", "weights")}
    names = [name for name, kind in kinds.items() if name not in told and (kind in KEYS or says(name, TIMES))][:WIDE]
    flags = Table(replace(raw, frame=raw.frame.select(names))).flags if names else []
    wanted = [("groups", settings.get("groups")), ("time", settings.get("time_column"))]
    found = {what: [flag.columns[0] for flag in flags if flag.what == what and given is None][:MOST_TOLD] for what, given in wanted}
    return found | dict(drift=_drift(raw, kinds, settings))


def _drift(raw: Raw, kinds: dict[str, Any], settings: Facts) -> Facts | None:
    """The columns, the target among them, that are otherwise in the last rows than in the first."""
    size = min(int(PART * raw.frame.height), MOST_ROWS)
    used = [name for name, kind in kinds.items() if kind in ("number", "category", "date")][:WIDE]
    target = settings.get("target")
    names = [*used, *([target] if target in raw.frame.columns and target not in used else [])]
    if size < LEAST_ROWS or not names:
        return None
    last, comma = raw.frame[-size:], comma_of(raw)
    looked = [look_at(raw.frame[name], raw.typed, Asked(keep=[str(target)]), comma) for name in names]
    held: list[Column] = [column for column, _ in looked if column.used]
    try:
        before = sketch(pl.DataFrame([values[:size] for column, values in looked if column.used]), held)
        changed = [one for one in drift(before, last) if one.drifted] if held else []
    except (TenfoldError, pl.exceptions.PolarsError):  # a column that is of another kind at the end than at the head
        return None
    told = [dict(column=one.name, size=one.size, how=one.how, target=one.name == target) for one in changed]
    told.sort(key=lambda one: not one["target"])
    return dict(rows=size, of=len(held), changed=len(told), columns=told[:MOST_TOLD])


def first_seen(frame: pl.DataFrame, columns: Sequence[Facts], held: Unseen) -> list[Facts]:
    """Of each category, the share of held-out rows whose level no row of the other folds has, largest first.

    frame: the rows whose places `held` has. What was never seen in training is as good as missing.
    """
    found, fold = list[Facts](), held.fold
    for name in [str(one.get("name")) for one in columns if one.get("kind") == "category"][:WIDE]:
        if name not in frame.columns:
            continue
        texts = class_texts(frame[name].cast(pl.String).str.strip_chars())[held.rows]
        codes: Array = texts.rank("dense").fill_null(0).to_numpy().astype(np.int64)
        counts = np.bincount(codes)
        inside = np.bincount(codes * (int(fold.max()) + 1) + fold, minlength=len(counts) * (int(fold.max()) + 1))
        new = (codes > 0) & (counts[codes] == inside[codes * (int(fold.max()) + 1) + fold])
        if new.any():
            found.append(dict(column=name, share=float(new.mean()), rows=int(new.sum()), levels=len(np.unique(codes[new]))))
    return sorted(found, key=lambda one: -one["rows"])[:MOST_TOLD]
