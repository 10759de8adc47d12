"""What drives a chosen model, as plain values: importances; with `effects` along columns, and `failures` of groups of rows.

The model is fitted anew to three quarters of the rows, and asked about the last quarter, which it has not seen. The work is bounded
by a plan that depends on the shape of the table alone, never by the clock: at most MOST_ROWS rows; of wide tables the columns that
most order the target by themselves, then those whose shuffling costs most on a few rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.by_rows import map_rows
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import TenfoldError, kept_warnings
from tenfold.evaluate.explain.response import Response, response_of
from tenfold.score.record import Score, judged_output
from tenfold.score.registry import SCORES
from tenfold.selection.choice.decision import judge_of
from tenfold.selection.explain.alone import order_of, single_strengths
from tenfold.selection.explain.effects import effect_of, interactions, kinds_of, of_positive, shown_outputs, with_kind
from tenfold.selection.explain.failures import by_group, failures
from tenfold.selection.explain.inside import alone
from tenfold.selection.explain.sizes import by_sizes
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.table_model import TableModel
from tenfold.table.cells import plain_numbers
from tenfold.table.columns import Asked, comma_of, look_at
from tenfold.table.reading import Raw, pl

Facts = dict[str, Any]

MOST_ROWS = 3000  # of training and held-out rows together
HELD_OUT = 0.25
LEAST_ROWS = 20  # from which three quarters say anything about a quarter
SCREENED, SCREEN_ROWS = 400, 200  # columns that are shuffled once, and on how many rows
MOST_COLUMNS, REPEATS = 25, 5  # columns whose importance is measured, and shuffles of each
CELLS, LEAST_COLUMNS = 30_000_000, 10  # that pass a model in a screen, or in a measurement, unless so few columns take more
EFFECTS = 6  # columns whose effect is drawn
TOGETHER = 5  # columns whose pairs are looked at


def explained(
    model: TableModel,
    frame: pl.DataFrame,
    y: Array,
    held_out: pl.DataFrame | None = None,
    metric: str = "",
    seed: int = 0,
    by: pl.Series | None = None,
    rows: Array | None = None,
    positive: str | None = None,
) -> Facts:
    """Facts about a model of a table, from its training rows and their targets.

    held_out: predictions for rows that had not been seen; the groups where they fail are looked for. rows: the numbers of the rows of
    `frame` that its `row` gives, ascending; 0, 1, ... if not given.
    metric: the score that importances are falls of; positive: which of two classes it, and effects, are of. by: a column of the
    table, the model's or not, by whose groups the errors are told.
    The facts are numbers and texts in dicts and lists, for run.json and the report.
    """
    classes = [str(one) for one in model.classes_] if model.role == "classifier" else None
    usual = "rmse" if classes is None else "log_loss"
    judge = judge_of(metric or usual, dict(positive=positive), classes) or SCORES[usual]
    kinds = kinds_of(model)
    model, frame = model.apart_from_texts(frame, np.asarray(y))
    rng = np.random.default_rng(seed)
    some = np.sort(rng.permutation(len(y))[:MOST_ROWS])
    used, y_some = frame.select(model.feature_names_in_.tolist())[some], np.asarray(y)[some]
    numbers = np.arange(frame.height) if rows is None else np.asarray(rows)
    held = None if held_out is None else Unseen.of(held_out).among(numbers)
    unit, weight = (None, None) if held is None else (held.units(len(y)), held.weights(len(y)))
    coded = model._coded_rows(used)
    names = [str(name) for name in model.feature_names_in_]
    categories = list(model.categories_)
    strengths = single_strengths(coded, categories, y_some, model.role == "classifier", SCREENED)
    facts: Facts = dict(
        rows=len(y),
        columns=dict(names=names, strengths=strengths),
        strength_is="AUC" if model.role == "classifier" else "R²",
    )
    with kept_warnings():  # the board has said them
        if len(y_some) >= LEAST_ROWS:
            try:
                beside = (None if one is None else one[some] for one in (unit, weight))
                facts |= _drivers(model, used, y_some, judge, rng, kinds, positive, *beside)
            except TenfoldError as reason:  # three quarters of the rows may lack a class, or be too few for a learner
                facts["why_not"] = str(reason).splitlines()[0]
    if held is not None:
        facts |= failures(held, judge, frame, model, kinds, [one["column"] for one in facts.get("effects", []) if "grid" in one])
        if by is not None:
            told = by_group(by.name, by[held.rows], held, held.losses(judge), positive)
            facts["fair"] = told | dict(of=judge.loss_label or "loss", used=by.name in names)
    return facts


def gaps_of(raw: Raw, rows: Array, asked: Asked) -> dict[str, int]:
    """The gaps of each column in these rows, as a run reads them: words that stand for a missing value, and cells that are none of a kind.

    asked: what was said of columns; those that were to be left out are looked at all the same.
    """
    frame, comma = raw.frame[rows], comma_of(raw)
    plain, named = plain_numbers(frame, comma), Asked(asked.keep, (), asked.category)
    looks = (look_at(one, raw.typed, named, comma, None, plain.get(one.name)) for one in frame.iter_columns())
    return {column.name: values.null_count() for column, values in looks}


def _drivers(
    model: TableModel,
    frame: pl.DataFrame,
    y: Array,
    judge: Score,
    rng: np.random.Generator,
    kinds: dict[str, str],
    positive: str | None = None,
    unit: Array | None = None,
    weight: Array | None = None,
) -> Facts:
    order = rng.permutation(len(y))
    cut = round((1 - HELD_OUT) * len(y))
    if unit is not None:  # rows that belong together are not on both sides: a model would know them by heart
        _, first, place = np.unique(unit[order], return_index=True, return_inverse=True)
        order = order[np.argsort(first[place], kind="stable")]
        ends = np.flatnonzero(np.diff(unit[order])) + 1
        cut = int(ends[np.argmin(np.abs(ends - cut))]) if len(ends) else cut
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    fitted = model.again(frame[train], y[train], None if weight is None else weight[train])
    response = response_of(fitted, frame[test])
    measure = _Measure(fitted, response.X, y[test], judge, None if weight is None else weight[test])
    columns = _screened(measure, response, y[test], rng)
    drops = measure.drops(columns, REPEATS, rng)
    mean, error = drops.mean(axis=1), drops.std(axis=1, ddof=1)
    ranked = np.argsort(-mean, kind="stable")
    importance = [
        dict(
            column=response.columns[columns[i]],
            fall=float(mean[i]),
            low=float(mean[i] - 2 * error[i]),
            high=float(mean[i] + 2 * error[i]),
        )
        for i in ranked
    ]
    top = [int(columns[i]) for i in ranked if mean[i] > 0]
    shown, drawn = shown_outputs(response, fitted, y), of_positive(response, fitted, positive)
    effects = [with_kind(one, kinds) for j in top[:EFFECTS] if (one := effect_of(drawn, j, shown, rng)) is not None]
    return dict(
        importance=importance,
        importance_of=len(response.columns),
        metric=judge.name,
        baseline=measure.whole,
        held_out_rows=len(test),
        effects=effects,
        interactions=interactions(response, top[:TOGETHER], rng),
        sizes=by_sizes(alone(model), frame, y, order[:cut], test, judge, unit, weight),
    )


class _Measure:
    """The score of a fitted model on held-out rows, and how it falls when columns are shuffled."""

    def __init__(self, model: Any, X: Array, y: Array, judge: Score, weight: Array | None = None) -> None:
        self.model, self.X, self.judge = model, X, judge
        self.w = np.ones(len(y)) if weight is None else weight
        self.classes = np.asarray(model.classes_) if model.role == "classifier" else None
        self.known = np.ones(len(y), bool) if self.classes is None else np.isin(y, self.classes)
        self.y = y[:, None].astype(np.float64) if self.classes is None else self._codes(y)
        self.whole = self._score(X, np.arange(len(X)))

    def _codes(self, y: Array) -> Array:
        assert self.classes is not None
        return np.array([int(np.flatnonzero(self.classes == one)[0]) if good else 0 for one, good in zip(y, self.known, strict=True)])

    def _score(self, table: Array, rows: Array) -> float:
        where = self.known[rows]
        output = judged_output(self.judge, map_rows(self.model._outputs, table[where]), self.classes)
        return self.judge.of(self.y[rows][where], output, self.w[rows][where], self.classes)

    def drops(self, columns: Array, repeats: int, rng: np.random.Generator, most: int | None = None) -> Array:
        """(columns, repeats): how much worse the score gets; on the first `most` rows."""
        rows = np.arange(len(self.X))[:most]
        whole = self.whole if most is None else self._score(self.X[rows], rows)
        shuffled = [(j, [rng.permutation(self.X[rows, j]) for _ in range(repeats)]) for j in columns]

        def falls(one: tuple[int, list[Array]]) -> list[float]:
            (j, values), table = one, self.X[rows].copy()
            found = []
            for value in values:
                table[:, j] = value
                found.append(self.judge.sign * (whole - self._score(table, rows)))
            return found

        return np.array(each(falls, shuffled)).reshape(len(columns), repeats)


def _screened(measure: _Measure, response: Response, y: Array, rng: np.random.Generator) -> Array:
    """The columns whose importance is measured."""
    columns = np.arange(len(response.columns))
    rows, width = response.X.shape
    screened = int(np.clip(CELLS // (min(rows, SCREEN_ROWS) * width), MOST_COLUMNS, SCREENED))
    measured = int(np.clip(CELLS // (REPEATS * rows * width), LEAST_COLUMNS, MOST_COLUMNS))
    if width > screened:
        columns = order_of(response.X, response.categories, y, measure.classes is not None)[:screened]
    if len(columns) > measured:
        falls = measure.drops(columns, 1, rng, SCREEN_ROWS)[:, 0]
        columns = columns[np.argsort(-falls, kind="stable")[:measured]]
    return np.sort(columns)
