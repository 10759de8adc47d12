"""Why some rows get their prediction: three of them, with what each column adds, and no cell of any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.selection.explain.reasons import reasons
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.table_model import TableModel
from tenfold.table.reading import Raw

BESIDE = 100  # rows that each is compared with
MOST_COLUMNS = 5
WIDE = 30  # columns of a model, from where sampling takes more than a few seconds
Facts = dict[str, Any]


def examples(model: TableModel, raw: Raw, held: Unseen, positive: str | None = None, seed: int = 0) -> list[Facts]:
    """The rows of the largest, the middle and the smallest held-out prediction: what the saved model says of them, and why.

    Of two classes by the chance of the positive one, of several by the chance of the class that is said. held: with numbers of rows of
    the table.
    """
    if len(held) < 3 or len(model.columns) > WIDE:
        return []
    two = len(held.classes) == 2
    label = held.classes.index(positive) if positive in held.classes else len(held.classes) - 1
    value = held.outputs[:, label] if two else held.outputs.max(axis=1) if held.classes else held.predicted
    order = np.argsort(-value, kind="stable")
    others = np.sort(np.random.default_rng(seed).permutation(raw.frame.height)[:BESIDE])
    found = []
    for which, place in (("largest", order[0]), ("middle", order[len(order) // 2]), ("smallest", order[-1])):
        try:
            found.append(dict(which=which) | _facts(model, raw, int(held.rows[place]), others, held.classes[label] if two else None, seed))
        except TenfoldError:  # a row that the model does not take
            continue
    return found


def _facts(model: TableModel, raw: Raw, row: int, others: Array, what: str | None, seed: int) -> Facts:
    few = replace(raw, frame=raw.frame[[row, *others.tolist()]], drawn=None, lines=None)
    why = reasons(model, few, 0, what, seed)
    columns = [dict(column=name, adds=adds, error=error) for name, _, adds, error in why.columns[:MOST_COLUMNS]]
    rest = sum(adds for _, _, adds, _ in why.columns[MOST_COLUMNS:]) + why.rest
    answer = why.answer
    return dict(row=row + 1, said=answer.said, value=answer.value, what=answer.what, base=why.base, columns=columns, rest=rest)
