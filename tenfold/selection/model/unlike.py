"""New rows that look unlike the training table, counted part by part: which rows, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.table.reading import pl
from tenfold.table.sketch import seen, unlike, unread

MOST_ROWS, MOST_KINDS = 3, 4  # that are named in a sentence
COLUMN = "unlike the training table"
Facts = dict[str, Any]


@dataclass
class Unlike:
    """What was found so far."""

    sketched: Facts  # of the training table; nothing where the run has none
    rows: int = 0  # looked at
    strange: int = 0  # of those, unlike
    kinds: dict[tuple[str, str], tuple[int, list[int]]] = field(default_factory=dict)  # column and how -> rows, the first of them

    def look(self, frame: pl.DataFrame) -> pl.Series | None:
        """Look at the next rows; what is unlike in each of them in words, null where nothing is. None without a sketch."""
        known = set(frame.columns)
        columns = [one for one in self.sketched.get("columns", []) if one["name"] in known]
        start, self.rows = self.rows, self.rows + frame.height
        if not columns:
            return None
        here = dict(self.sketched, columns=columns)
        rows = seen(here, frame)
        bad = unread(here, frame, rows)
        found = [(name, where, _unreadable(frame[name].filter(pl.Series(where)))) for name, where in bad.items()]
        found += [(f"{one['name']}", where, how) for one, where, how in unlike(here, rows, bad)]
        for name, where, how in found:
            at = np.flatnonzero(where)
            count, first = self.kinds.get((name, how), (0, []))
            self.kinds[name, how] = count + len(at), [*first, *(at[: MOST_ROWS - len(first)] + start + 1).tolist()]
        any_of = np.zeros(frame.height, dtype=bool)
        for _, where, _ in found:
            any_of |= where
        self.strange += int(any_of.sum())
        return _in_words(found, any_of)

    def sentence(self) -> str | None:
        """All of it in one sentence; None where no row is unlike."""
        if not self.strange:
            return None
        most = sorted(self.kinds.items(), key=lambda pair: -pair[1][0])
        told = [f"{name[:40]!r} {how} ({_rows(count, first)})" for (name, how), (count, first) in most[:MOST_KINDS]]
        more = f", and {len(most) - MOST_KINDS} more" if len(most) > MOST_KINDS else ""
        many = f"{'row' if self.rows == 1 else 'rows'} {'looks' if self.strange == 1 else 'look'}"
        return f"{self.strange:,} of {self.rows:,} {many} unlike the training table: {', '.join(told)}{more}; --mark says it row by row"


def _unreadable(cells: pl.Series) -> str:
    first = repr(str(cells[0]).strip()[:40])
    return f"{first} cannot be read" if cells.n_unique() == 1 else f"cells such as {first} cannot be read"


def _in_words(found: list[tuple[str, Array, str]], any_of: Array) -> pl.Series:
    texts: list[str | None] = [None] * len(any_of)
    for name, where, how in found:
        for i in np.flatnonzero(where):
            before = texts[i]
            texts[i] = f"{name} {how}" if before is None else f"{before}; {name} {how}"
    return pl.Series(COLUMN, texts, dtype=pl.String)


def _rows(count: int, first: list[int]) -> str:
    shown = ", ".join(f"{row:,}" for row in first)
    return f"row {shown}" if count == 1 else f"rows {shown}" + (f" and {count - len(first):,} more" if count > len(first) else "")
