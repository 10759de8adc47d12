"""What drives a chosen model, as plain values: importances, effects, interactions, and the groups of rows where it fails.

The model is fitted anew to three quarters of the rows, and asked about the last quarter, which it has not seen. The work is bounded
by a plan that depends on the shape of the table alone, never by the clock: at most MOST_ROWS rows; of wide tables the columns that
most order the target by themselves, then those whose shuffling costs most on a few rows.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from tenfold.base.by_rows import map_rows
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import TenfoldError, kept_warnings
from tenfold.evaluate.explain.dependence import accumulated_effects
from tenfold.evaluate.explain.response import Response, altered, response_of
from tenfold.score.record import Score, judged_output
from tenfold.score.registry import SCORES
from tenfold.selection.choice.decision import judge_of
from tenfold.selection.explain.alone import order_of, single_strengths
from tenfold.selection.explain.along import along
from tenfold.selection.explain.inside import alone
from tenfold.selection.explain.sizes import by_sizes
from tenfold.selection.explain.slices import by_column, level_name, slices_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.table_model import TableModel
from tenfold.table.cells import as_texts, plain_numbers
from tenfold.table.columns import Asked, comma_of, look_at
from tenfold.table.reading import Raw, pl

Facts = dict[str, Any]

MOST_ROWS = 3000  # of training and held-out rows together
GROUPED_ROWS = 5000  # among which groups are looked for
HELD_OUT = 0.25
LEAST_ROWS = 20  # from which three quarters say anything about a quarter
SCREENED, SCREEN_ROWS = 400, 200  # columns that are shuffled once, and on how many rows
MOST_COLUMNS, REPEATS = 25, 5  # columns whose importance is measured, and shuffles of each
CELLS, LEAST_COLUMNS = 30_000_000, 10  # that pass a model in a screen, or in a measurement, unless so few columns take more
WIDE = 1000  # columns, from where pairs are not looked at
EFFECTS = 6  # columns whose effect is drawn
BINS, MOST_LEVELS, RUG = 20, 12, 60
TOGETHER, PAIR_POINTS = 5, 40  # columns whose pairs are looked at, and points of a pair
MOST_CLASSES = 5  # whose chances are drawn


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
    kinds = _kinds(model)
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
        facts |= _failures(held, judge, frame, model, kinds, [one["column"] for one in facts.get("effects", []) if "grid" in one])
        if by is not None:
            told = _by_group(by.name, by[held.rows], held, held.losses(judge), positive)
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
    shown, drawn = _shown_outputs(response, fitted, y), _of_positive(response, fitted, positive)
    effects = [one | _kind(one, kinds) for j in top[:EFFECTS] if (one := _effect(drawn, j, shown, rng)) is not None]
    return dict(
        importance=importance,
        importance_of=len(response.columns),
        metric=judge.name,
        baseline=measure.whole,
        held_out_rows=len(test),
        effects=effects,
        interactions=_interactions(response, top[:TOGETHER], rng),
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


def _of_positive(response: Response, model: Any, positive: str | None) -> Response:
    """The response, of two classes the chance of the positive one."""
    if model.role != "classifier" or len(response.outputs) != 1 or positive != str(model.classes_[0]):
        return response
    return replace(response, of=lambda rows: 1 - response.of(rows), outputs=[f"P({positive})"])


def _shown_outputs(response: Response, model: Any, y: Array) -> list[int]:
    """The outputs that are drawn: of many classes the most frequent."""
    if len(response.outputs) <= 1:
        return [0]
    counts = [int((y == label).sum()) for label in model.classes_]
    return sorted(np.argsort(-np.array(counts), kind="stable")[:MOST_CLASSES].tolist())


def _kinds(model: TableModel) -> dict[str, str]:
    """The columns whose numbers are not plain ones: days since 1970-01-01 of a date, and what the words of a text score."""
    scores = {str(name): "text" for text in model.texts or () for name in text.names_}
    return scores | {column.name: "date" for column in model.coder.as_columns() if column.kind == "date"}


def _kind(one: Facts, kinds: dict[str, str]) -> Facts:
    """The kind of the numbers along a column, where they are not plain ones."""
    return dict(kind=kinds[one["column"]]) if one["column"] in kinds else {}


def _effect(response: Response, j: int, outputs: list[int], rng: np.random.Generator) -> Facts | None:
    """How predictions change along a column: accumulated effects of a number, means with each level of a category."""
    column, levels = response.X[:, j], response.categories[j]
    here = column[~np.isnan(column)]
    facts: Facts = dict(column=response.columns[j], outputs=[response.outputs[k] for k in outputs])
    if levels is not None:
        codes, counts = np.unique(here, return_counts=True)
        most = codes[np.argsort(-counts, kind="stable")][:MOST_LEVELS]
        if len(most) < 2:
            return None
        w = np.full(len(response.X), 1 / len(response.X))
        means = altered(response, [j], most[:, None], w)
        share = np.array([(here == code).sum() for code in most])
        means = means - np.average(means, axis=0, weights=share)
        return facts | dict(
            levels=[level_name(levels, code) for code in most],
            rows=share.tolist(),
            effect=means[:, outputs].T.tolist(),
        )
    if len(np.unique(here)) < 2:
        return None
    found = accumulated_effects(response.of, response.X, j, bins=BINS)
    rug = np.sort(here if len(here) <= RUG else rng.choice(here, RUG, replace=False))
    return facts | dict(
        grid=found.grid_values[0].tolist(),
        effect=found.average[outputs].tolist(),
        rug=np.round(rug, 12).tolist(),
    )


def _interactions(response: Response, columns: list[int], rng: np.random.Generator) -> list[Facts]:
    """Friedman's H² of each pair: the share of what two columns do together that is not the sum of what each does alone."""
    if len(columns) < 2 or len(response.columns) > WIDE:
        return []
    some = rng.permutation(len(response.X))[:PAIR_POINTS]
    few = Response(response.of, response.X[some], response.columns, response.outputs, response.categories)
    w = np.full(len(some), 1 / len(some))

    def dependence(which: list[int]) -> Array:
        found = altered(few, which, few.X[:, which], w)
        return np.asarray(found - found.mean(axis=0))

    couples = list(combinations(columns, 2))
    found = each(dependence, [*([j] for j in columns), *map(list, couples)])
    alone, together = dict(zip(columns, found, strict=False)), found[len(columns) :]
    pairs = []
    for (i, j), both in zip(couples, together, strict=True):
        size = float((both**2).sum())
        share = float(((both - alone[i] - alone[j]) ** 2).sum()) / size if size > 0 else 0.0
        names = [response.columns[i], response.columns[j]]
        pairs.append(dict(columns=names, share=min(share, 1.0), size=float(np.sqrt((both**2).mean()))))
    return sorted(pairs, key=lambda pair: -pair["share"] * pair["size"])


def _failures(
    held: Unseen, judge: Score, frame: pl.DataFrame, model: TableModel, kinds: dict[str, str], drivers: list[str]
) -> Facts:
    """The groups of rows whose losses are larger, and residuals along the columns that matter."""
    if len(held) < LEAST_ROWS:
        return {}
    some = np.linspace(0, len(held) - 1, min(len(held), GROUPED_ROWS)).astype(int)
    losses, rows = held.losses(judge)[some], model._coded_rows(frame[held.rows[some]])
    columns = np.arange(rows.shape[1])
    categories = list(model.categories_)
    if len(columns) > SCREENED:
        columns = order_of(rows, categories, losses, False)[:SCREENED]
    names = [str(name) for name in model.feature_names_in_]
    beside = (None if one is None else one[some] for one in (held.weight, held.unit))
    found = slices_of(rows[:, columns], [names[j] for j in columns], [categories[j] for j in columns], losses, kinds, *beside)
    facts: Facts = dict(slices=found | dict(of=judge.loss_label or "loss"))
    if not held.classes:
        off = (held.truth - held.predicted)[some]
        along = [_along(name, rows[:, names.index(name)], off) for name in drivers]
        facts["residuals"] = [one | _kind(one, kinds) for one in along]
    return facts


def _along(name: str, x: Array, off: Array) -> Facts:
    """Quantiles of residuals along a column."""
    known = np.isfinite(x)
    found = along(x[known], off[known]) if known.any() else None
    return dict(column=name) | {key: [] if found is None else getattr(found, key).tolist() for key in ("x", "low", "middle", "high")}


def _by_group(name: str, column: pl.Series, held: Unseen, losses: Array, positive: str | None) -> Facts:
    """The groups of a column that was named, whether the model uses it or not: levels, or fifths of a number."""
    look, values = look_at(column, column.dtype != pl.String)
    if look.kind != "date":  # which nobody leaves out; what counts rows, or names them, has groups all the same
        look, values = look_at(column, column.dtype != pl.String, Asked(keep=[name]))
    if look.kind in ("number", "date") and values.drop_nulls().n_unique() > MOST_LEVELS:
        numbers = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
        return dict(column=name) | by_column(numbers, None, held, losses, positive, look.kind)
    texts = as_texts(values if values.dtype == pl.String else column)
    levels = np.array(texts.drop_nulls().unique().sort().to_list(), dtype=object)
    places = {level: float(code) for code, level in enumerate(levels)}
    codes = np.array([places.get(text, np.nan) for text in texts.to_list()])
    return dict(column=name) | by_column(codes, levels, held, losses, positive)
