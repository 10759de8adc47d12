"""Where a model fails: groups of rows whose losses are larger, residuals along columns, and errors by a column that is named."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.score.record import Score
from tenfold.selection.explain.alone import order_of
from tenfold.selection.explain.along import along
from tenfold.selection.explain.effects import with_kind
from tenfold.selection.explain.slices import by_column, slices_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.table_model import TableModel
from tenfold.table.cells import as_texts
from tenfold.table.columns import Asked, look_at
from tenfold.table.reading import pl

Facts = dict[str, Any]

LEAST_ROWS, MOST_ROWS = 20, 5000  # among which groups are looked for
MOST_COLUMNS = 400  # whose groups are looked at: those that most order the losses
MOST_VALUES = 12  # of a number that is named, before its fifths are its groups


def failures(
    held: Unseen, judge: Score, frame: pl.DataFrame, model: TableModel, kinds: dict[str, str], drivers: list[str]
) -> Facts:
    """The groups of rows whose losses are larger, and residuals along the columns that matter."""
    if len(held) < LEAST_ROWS:
        return {}
    some = np.linspace(0, len(held) - 1, min(len(held), MOST_ROWS)).astype(int)
    losses, rows = held.losses(judge)[some], model._coded_rows(frame[held.rows[some]])
    columns = np.arange(rows.shape[1])
    categories = list(model.categories_)
    if len(columns) > MOST_COLUMNS:
        columns = order_of(rows, categories, losses, False)[:MOST_COLUMNS]
    names = [str(name) for name in model.feature_names_in_]
    beside = (None if one is None else one[some] for one in (held.weight, held.unit))
    found = slices_of(rows[:, columns], [names[j] for j in columns], [categories[j] for j in columns], losses, kinds, *beside)
    facts: Facts = dict(slices=found | dict(of=judge.loss_label or "loss"))
    if not held.classes:
        off = (held.truth - held.predicted)[some]
        facts["residuals"] = [with_kind(_along(name, rows[:, names.index(name)], off), kinds) for name in drivers]
    return facts


def _along(name: str, x: Array, off: Array) -> Facts:
    """Quantiles of residuals along a column."""
    known = np.isfinite(x)
    found = along(x[known], off[known]) if known.any() else None
    return dict(column=name) | {key: [] if found is None else getattr(found, key).tolist() for key in ("x", "low", "middle", "high")}


def by_group(name: str, column: pl.Series, held: Unseen, losses: Array, positive: str | None) -> Facts:
    """The groups of a column that was named, whether the model uses it or not: levels, or fifths of a number."""
    look, values = look_at(column, column.dtype != pl.String)
    if look.kind != "date":  # which nobody leaves out; what counts rows, or names them, has groups all the same
        look, values = look_at(column, column.dtype != pl.String, Asked(keep=[name]))
    if look.kind in ("number", "date") and values.drop_nulls().n_unique() > MOST_VALUES:
        numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
        return dict(column=name) | by_column(numbers, None, held, losses, positive, look.kind)
    texts = as_texts(values if values.dtype == pl.String else column)
    levels = np.array(texts.drop_nulls().unique().sort().to_list(), dtype=object)
    places = {level: float(code) for code, level in enumerate(levels)}
    codes = np.array([places.get(text, np.nan) for text in texts.to_list()])
    return dict(column=name) | by_column(codes, levels, held, losses, positive)
