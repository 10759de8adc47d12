"""Why a saved model says what it says: of a row, along a column, and what it would say of an altered row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.explain.attribution import attributions
from tenfold.evaluate.explain.dependence import accumulated_effects, partial_dependence
from tenfold.evaluate.explain.response import Response, response_of
from tenfold.evaluate.explain.sampled import SampledAttributions, sampled_attributions
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.race.text_score import TextScore
from tenfold.table.cells import label_of
from tenfold.table.columns import check_name
from tenfold.table.reading import Raw, pl
from tenfold.table.sketch import written

ORDERS, BACKGROUND = 200, 500
MOST_ROWS, BINS, MOST_LEVELS = 2000, 10, 15
MOST_WORDS = 12
MOST_CELLS, CELLS_AT_ONCE, FEWEST_ROWS = 500_000_000, 4_000_000, 20


@dataclass(frozen=True)
class Answer:
    """What a model says of one row: the number, or the probability of each class."""

    said: str  # the number or the class
    value: float  # the number, or the probability of `what`
    what: str  # "prediction", or a class
    chances: dict[str, float]


@dataclass(frozen=True)
class Reasons:
    """Why one row gets its answer: what each column has added to the mean answer of the rows beside it."""

    answer: Answer
    base: float
    columns: list[tuple[str, Any, float, float]]  # name, cell, what it adds, standard error; the largest first
    rest: float
    beside: int  # rows that it is compared with
    words: dict[str, list[tuple[str, float]]]  # by column of texts: words, and what its score would lose without each

    def __str__(self) -> str:
        said, what, value = self.answer.said, self.answer.what, self.answer.value
        chance = f", chance of {what} {value:.4g}" if self.answer.chances else ""
        lines = [f"{said}{chance}; {self.beside} rows get {self.base:.4g} on average, and from there"]
        cells = [f"{name} = {'missing' if cell is None else cell}" for name, cell, _, _ in self.columns]
        wide = max(map(len, cells), default=0)
        lines += [f"  {cell:<{wide}}  {value:+.4g}" for cell, (_, _, value, _) in zip(cells, self.columns, strict=True)]
        return "\n".join([*lines, f"  all other columns together {self.rest:+.4g}"] if self.rest else lines)


@dataclass(frozen=True)
class Effect:
    """How the answers change along a column, less their mean; of categories the mean answer if all rows had that level."""

    column: str
    what: str
    points: list[tuple[str, float]]
    rows: int

    def __str__(self) -> str:
        wide = max((len(point) for point, _ in self.points), default=0)
        what = "the prediction" if self.what == "prediction" else f"the chance of {self.what}"
        lines = [f"  {point:>{wide}}  {size:+.4g}" for point, size in self.points]
        return "\n".join([f"{self.column}: how {what} changes along it", *lines])


def answer_of(model: TableModel, row: pl.DataFrame, what: Any = None) -> Answer:
    """The answer for one row; what: the class whose probability is wanted, if not that of the answer."""
    coded = model.coded(row)
    said = model.predictions(coded)[0]
    if model.role != "classifier":
        return Answer(f"{float(said):.6g}", float(said), "prediction", {})
    labels = [str(one) for one in model.classes_]
    chances = dict(zip(labels, (float(one) for one in model.probabilities(coded)[0]), strict=True))
    what = str(said) if what is None else _class(model, what)
    return Answer(str(said), chances[what], what, chances)


def reasons(model: TableModel, raw: Raw, row: int, what: Any = None, seed: int = 0) -> Reasons:
    """What each column adds to the answer for a row, against rows of the same table."""
    if raw.frame.height < 2:
        raise BadInput(f"{raw.name} has one row: a row is explained by what is different from others, give a file with more of them")
    answer = answer_of(model, raw.frame[row : row + 1], what)
    rng = np.random.default_rng(seed)
    others = np.sort(rng.permutation(raw.frame.height)[:BACKGROUND])
    found, beside = _contributions(model, raw.frame[row : row + 1], raw.frame[others], seed)
    k, sign = _output(model, found.outputs, answer.what)
    values, errors = sign * found.values[:, k], found.errors[:, k]
    base = float(found.base[k]) if sign > 0 else 1 - float(found.base[k])
    together: dict[str, list[int]] = {}
    for j in found.apart:
        together.setdefault(model.origins[j], []).append(j)
    sums = {name: (float(values[some].sum()), float(np.sqrt((errors[some] ** 2).sum()))) for name, some in together.items()}
    listed = [(name, raw.frame[name][row], *one) for name, one in sorted(sums.items(), key=lambda pair: -abs(pair[1][0]))]
    return Reasons(answer, base, listed, float(sign * found.rest[k]), beside, _words(model, raw.frame[row], answer.what))


def _words(model: TableModel, row: pl.DataFrame, what: str) -> dict[str, list[tuple[str, float]]]:
    """Of each text in a row, the words that its score would be changed most without, with what each adds to it."""
    found = {}
    for text in model.texts or ():
        effects = [(word, float(change @ _towards(model, what))) for word, change in text.word_effects(str(row[text.column][0] or ""))]
        found[str(text.column)] = sorted(effects, key=lambda pair: -abs(pair[1]))[:MOST_WORDS]
    return found


def _towards(model: TableModel, what: str) -> Array:
    """What the scores of a text, log odds of classes against the first, are multiplied by to speak for a class: against the other one of
    two, else against the mean of all."""
    labels = [str(one) for one in model.classes_] if model.role == "classifier" else []
    if len(labels) <= 2:
        return np.array([-1.0 if labels and what == labels[0] else 1.0])
    return np.array([float(label == what) for label in labels[1:]]) - 1 / len(labels)


def _contributions(model: TableModel, row: pl.DataFrame, beside: pl.DataFrame, seed: int) -> tuple[SampledAttributions, int]:
    """Exactly where the model is made of trees whose answers are sums in the unit of the prediction, else by sampling: the same values;
    and the number of rows that are beside. In sampling each of these has as many orders as the others: the base is their mean answer."""
    explained = model._explained()
    if explained is None or explained[3] not in ("prediction", "probability"):
        few = beside[np.sort(np.random.default_rng(seed).permutation(beside.height)[: ORDERS // 2])]
        orders = 2 * few.height * math.ceil(ORDERS / 2 / few.height)
        return sampled_attributions(model, row, few, orders=orders, random_state=seed), few.height
    found = attributions(model, row, beside)
    values, base = found.values[0].reshape(len(found.columns), -1), found.base.reshape(-1)
    if model.role == "classifier":  # what is said are not the probabilities p of the trees, but (1 − K f) p + f (`floored`)
        part = 1 - len(model.classes_) * model._floor
        values, base = part * values, part * base + model._floor
    nothing, every = np.zeros(values.shape), list(range(len(found.columns)))
    return SampledAttributions(found.columns, response_of(model, row).outputs, base, values, nothing, nothing[0], every), beside.height


def effect(model: TableModel, raw: Raw, column: str, what: Any = None, seed: int = 0) -> Effect:
    """How a column acts: accumulated local effects of a number, mean answers of a category."""
    if column == model.target_ and column not in model.columns:
        raise BadParameter(f"column={column!r}: this is the column that is predicted, name one that it is predicted from")
    check_name(column, model.columns, " that the model uses")
    for text in model.texts or ():
        if text.column == column:
            return _spoken(model, text, what)
    rows = np.sort(np.random.default_rng(seed).permutation(raw.frame.height)[:MOST_ROWS])
    frame = raw.frame[rows]
    response = response_of(model, frame)
    wanted = _class(model, what) if what is not None else _usual_class(model, response)
    k, sign = _output(model, response.outputs, wanted)
    j = response.column(column)
    if response.categories[j] is None:
        found = accumulated_effects(model, frame, column, bins=BINS)
        kind = dict(kind="date" if "%" in model.coder.form_of(list(model.coder.feature_names_in_).index(column)) else "number")
        points = [(written(kind, float(v)), sign * float(e)) for v, e in zip(found.grid_values[0], found.average[k], strict=True)]
    else:
        found = partial_dependence(model, frame, column, grid_resolution=MOST_LEVELS)
        mean = found.average[k] - response.of(response.X)[:, k].mean()
        points = [(str(v), sign * float(e)) for v, e in zip(found.grid_values[0], mean, strict=True)]
    return Effect(column, wanted, points, frame.height)


def _spoken(model: TableModel, text: TextScore, what: Any) -> Effect:
    """The words that say most, each with its weight in a text of its own."""
    labels = [str(one) for one in model.classes_] if model.role == "classifier" else ["prediction"]
    wanted = _class(model, what) if what is not None else labels[min(1, len(labels) - 1)]
    points = [(repr(word), size) for word, size in text.loudest(MOST_WORDS, _towards(model, wanted))]
    return Effect(text.column, wanted, sorted(points, key=lambda pair: -pair[1]), 0)


def movers(model: TableModel, raw: Raw, seed: int = 0) -> list[tuple[str, float]]:
    """By how much answers change on average when the cells of a column are shuffled among the rows; the largest first."""
    rng = np.random.default_rng(seed)
    parts = [[j for j, name in enumerate(model.origins) if name == column] for column in model.columns]
    width = len(parts)
    most = int(np.clip(MOST_CELLS // width**2, FEWEST_ROWS, MOST_ROWS))  # every column is asked about all cells of the rows
    response = response_of(model, raw.frame[np.sort(rng.permutation(raw.frame.height)[:most])])
    X, before = response.X, response.of(response.X)
    n, at_once = len(X), max(1, CELLS_AT_ONCE // X.size)
    moved = np.zeros(width)
    for start in range(0, width, at_once):
        columns = range(start, min(start + at_once, width))
        rows = np.tile(X, (len(columns), 1))
        for k, j in enumerate(columns):
            rows[k * n : (k + 1) * n, parts[j]] = X[rng.permutation(n)[:, None], parts[j]]
        change = np.abs(response.of(rows).reshape(len(columns), n, -1) - before)
        moved[columns] = change.mean(axis=1).max(axis=1)
    order = np.argsort(-moved, kind="stable")
    return [(model.columns[j], float(moved[j])) for j in order]


def altered(model: TableModel, raw: Raw, row: int, given: dict[str, str]) -> pl.DataFrame:
    """One row with other cells."""
    one = raw.frame[row : row + 1]
    for name, text in given.items():
        check_name(name, raw.frame.columns)
        if name not in model.columns:
            raise BadParameter(f"--set {name}={text}: the model does not use this column, so that nothing changes")
        one = one.with_columns(pl.Series(name, [text or None], dtype=pl.String))  # read as cells of a CSV file are
    return one


def row_of(raw: Raw, number: int) -> int:
    """A row counted from 1, as an index."""
    if not 1 <= number <= raw.frame.height:
        raise BadParameter(f"row={number}: {raw.name} has rows 1 to {raw.frame.height:,}")
    return number - 1


def _class(model: TableModel, what: Any) -> str:
    """A class as the model calls it: 1 and 1.0 are '1'."""
    if model.role != "classifier":
        raise BadParameter(f"there is no class {what!r}: this model predicts numbers")
    labels = [str(one) for one in model.classes_]
    found = label_of(what, labels)
    if found not in labels:
        raise BadParameter(f"there is no class {what!r}: the classes are {', '.join(labels[:12])}")
    return found


def _usual_class(model: TableModel, response: Response) -> str:
    """Of two classes the second, of several the one that is most probable on average."""
    if model.role != "classifier":
        return "prediction"
    labels = [str(one) for one in model.classes_]
    return labels[1] if len(labels) == 2 else labels[int(response.of(response.X).mean(axis=0).argmax())]


def _output(model: TableModel, outputs: list[str], what: str) -> tuple[int, float]:
    """Which output is meant, and −1 where it is the other of two classes."""
    if model.role != "classifier":
        return 0, 1.0
    labels = [str(one) for one in model.classes_]
    if len(outputs) == 1:
        return 0, 1.0 if what == labels[1] else -1.0
    return labels.index(what), 1.0
