"""Columns of texts in a race: scores of every training set, learned from its rows alone.

A text becomes the log odds of the second class, of several classes those of each but the first against the first, or a number near the
target. Three readings of its words make it, weighed against one another:

    linear        logistic regression, or ridge regression, of the weighed words (`prepare.tokens`)
    plain         naive Bayes of the words; for numbers the covariance of each word with the target
    length        log(1 + characters)

Which words are kept, how rare they are, and what they say is learned from training rows. Learners behind must not be shown scores of texts
that the readings have learned by heart: inside a training set each fold gets its scores from models without that fold. The model without
folds a and b serves training set a on fold b, and training set b on fold a, so that K folds take K(K + 1)/2 models.
Words are counted in all rows beforehand; a count is a fact about one row, and the words that are counted at all are those of enough
rows, never by the target. A word must be in LEAST_LEVEL_ROWS training rows to be kept in a training set, whatever the others hold.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import kept_warnings
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.prepare.tokens import cleaned, is_prose, learned_counts, lengths, weighed
from tenfold.selection.race.text_score import TextScore
from tenfold.solve.lsqr import lsqr
from tenfold.table.columns import LEAST_LEVEL_ROWS, Asked, Column
from tenfold.table.reading import pl

C, ALPHA = 10.0, 1.0  # penalties of the linear readings, of rows of length 1
PSEUDO = 0.1  # of a word for each class, as if it had been read
TOLERANCE, STEPS = 3e-3, 100
MOST_CELLS = 4_000_000  # different words of texts, in all, that a reading is learned from
SECONDS = 1.2e-6  # that a reading takes for each of them and each output
FOLDS = 5
HALVES = (-2, -1)  # parts of rows that are never left out: also these are scored by models of others


@dataclass(frozen=True)
class Counted:
    """The words of a column of texts, counted."""

    column: str
    words: Array
    counts: csr_array
    length: Array
    names: tuple[str, ...]  # of the columns that its scores make

    @classmethod
    def of(cls, column: pl.Series, labels: Any, taken: Collection[str]) -> Counted:
        """labels: of the classes, of which each but the first has a score. taken: names of other columns."""
        texts = cleaned(column)
        words, counts = learned_counts(texts)
        names = [f"{column.name}: {label}" for label in labels[1:]] if len(labels) > 2 else [column.name]
        names = [name if name == column.name or name not in taken else f"{name} (text)" for name in names]
        return cls(column.name, np.array(words, dtype=object), counts, lengths(texts), tuple(names))

    def seconds(self, outputs: int) -> float:
        """About how long it takes to learn once what the words say."""
        return 0.01 + SECONDS * min(int(self.counts.nnz), MOST_CELLS) * outputs

    @property
    def note(self) -> str:
        """In words, for the list of columns."""
        single = sum(" " not in word for word in self.words)
        return f"texts: {single:,} words and {len(self.words) - single:,} pairs of words say what they can about the target"

    @classmethod
    def again(cls, score: TextScore, column: pl.Series) -> Counted:
        """Of other rows, for scores of the same names."""
        return replace(cls.of(column, (), ()), names=tuple(map(str, score.names_)))

    def some(self, rows: Array) -> Counted:
        """The same of some of the rows."""
        return replace(self, counts=self.counts[rows], length=self.length[rows])


def counted_texts(columns: list[Column], frame: pl.DataFrame, asked: Asked, classes: Any = ()) -> list[Counted]:
    """The columns that hold sentences, of those that are neither numbers nor categories nor dates, unless something else was asked for.

    Where no word is in enough rows there is nothing to read. classes: of the target, nothing where it is a number.
    """
    named = {*asked.keep, *asked.category, *asked.drop}
    maybe = [frame[one.name] for one in columns if one.kind in ("text", "id") and one.name not in named]
    found = [Counted.of(one, classes, frame.columns) for one in maybe if one.dtype == pl.String and is_prose(one)]
    return [one for one in found if len(one.words)]


def texts_again(scores: list[TextScore], frame: pl.DataFrame, y: Array, role: str, weight: Array | None = None) -> Texts:
    """Columns of texts of other rows, to be scored in folds of their own; classes in y as they are called."""
    labels, codes = np.unique(y, return_inverse=True) if role == "classifier" else (np.empty(0), y)
    folds = min(FOLDS, len(y))
    fold = assign_folds(len(y), folds, np.random.default_rng(0), codes=codes if len(labels) else None)
    columns = [Counted.again(one, frame[one.column]) for one in scores]
    return Texts(columns, codes, len(labels), fold, weight)


def noted(columns: list[Column], texts: list[Counted]) -> list[Column]:
    """The columns, those of texts with what is made of them."""
    notes = {one.column: one.note for one in texts}
    return [replace(one, kind="text", note=notes[one.name], undo="drop") if one.name in notes else one for one in columns]


def with_texts(used: pl.DataFrame, texts: list[Counted], frame: pl.DataFrame) -> pl.DataFrame:
    """The columns that are used, and the texts."""
    return pl.DataFrame([*used.get_columns(), *(frame[one.column] for one in texts)])


def placed(used: pl.DataFrame, texts: list[Counted]) -> pl.DataFrame:
    """The columns that are used, and places for the scores of texts."""
    rows = texts[0].counts.shape[0] if texts else 0
    return pl.DataFrame([*used.get_columns(), *(pl.Series(name, np.zeros(rows)) for one in texts for name in one.names)])


@dataclass(frozen=True)
class Reading:
    """What the words of one training set say: the weights of the linear and the plain reading, (words, 2 × outputs)."""

    idf: Array
    weights: Array


class Texts:
    """The scores of all columns of texts, for one training set after another."""

    def __init__(self, columns: list[Counted], y: Array, classes: int, fold: Array, weight: Array | None = None) -> None:
        """y: codes of classes, or numbers (then `classes` is 0). fold: of each row, −1 for one that is never left out."""
        self.columns, self.y, self.classes, self.weight, self.fold = columns, y, classes, weight, fold
        never = np.flatnonzero(fold < 0)
        self.part = fold.copy()
        self.part[never[: len(never) // 2]] = HALVES[0]
        self.outputs = classes if classes > 2 else 1
        self._inputs: dict[tuple[int, frozenset[int]], tuple[Array, Array]] = {}  # rows that were not learned from, and their inputs

    @property
    def names(self) -> list[str]:
        """The columns that are made."""
        return [name for column in self.columns for name in column.names]

    @property
    def seconds(self) -> float:
        """About how long it takes to learn once what all of them say."""
        return sum(column.seconds(self.outputs) for column in self.columns)

    def some(self, rows: Array) -> Texts:
        """The same for some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Texts([one.some(rows) for one in self.columns], self.y[rows], self.classes, self.fold[rows], weight)

    def at(self, training: Array) -> Array:
        """(rows, columns made): of training rows by models of other training rows, of all others by models of the training rows."""
        return np.column_stack([self._scored(number, self._parts(training))[0] for number in range(len(self.columns))])

    def fitted(self) -> list[TextScore]:
        """The scores of new texts, learned from all rows."""
        found = []
        everything = self._parts(np.arange(len(self.y)))
        for number, column in enumerate(self.columns):
            _, mix, offset = self._scored(number, everything)
            reading = self._read(column, np.arange(len(self.y)))
            weights, length = reading.weights @ mix[:-1], mix[-1]
            found.append(TextScore.of(column.column, column.words, reading.idf, weights, length, offset, list(column.names)))
        return found

    def scored(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame of all rows, each with the score of its texts by models of other rows in the place of the texts."""
        scores = self.at(np.arange(len(self.y)))
        made = [pl.Series(name, scores[:, k]) for k, name in enumerate(self.names)]
        return pl.DataFrame([*frame.drop([one.column for one in self.columns]).get_columns(), *made])

    def _parts(self, training: Array) -> frozenset[int]:
        return frozenset(np.unique(self.part[training]).tolist())

    def _scored(self, number: int, parts: frozenset[int]) -> tuple[Array, Array, Array]:
        """The scores of all rows, and how inputs are mixed: (inputs, scores), (scores)."""
        inputs = np.zeros((len(self.y), 2 * self.outputs + 1))
        inside = np.isin(self.part, list(parts))
        rows, found = self._held_out_inputs(number, parts)
        inputs[rows] = found
        for part in sorted(parts) if len(parts) > 1 else ():
            rows, found = self._held_out_inputs(number, parts - {part})
            here = self.part[rows] == part
            inputs[rows[here]] = found[here]
        mix, offset = self._mixed(inputs, np.flatnonzero(inside))
        return inputs @ mix + offset, mix, offset

    def _held_out_inputs(self, number: int, parts: frozenset[int]) -> tuple[Array, Array]:
        """The rows of other parts, and what the readings of these parts make of them."""
        if (number, parts) not in self._inputs:
            column, inside = self.columns[number], np.isin(self.part, list(parts))
            reading, rows = self._read(column, np.flatnonzero(inside)), np.flatnonzero(~inside)
            scores = weighed(column.counts[rows], reading.idf) @ reading.weights
            self._inputs[number, parts] = rows, np.column_stack([scores, column.length[rows]])
        return self._inputs[number, parts]

    def _read(self, column: Counted, rows: Array) -> Reading:
        """Words that enough of these rows hold, and what they say about the targets of these rows; of very many at equal steps."""
        cells = int(np.diff(column.counts.indptr)[rows].sum())
        rows = rows[:: 1 + cells // MOST_CELLS]
        counts, y = column.counts[rows], self.y[rows]
        held = np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.where(held >= LEAST_LEVEL_ROWS, 1.0 + np.log((1.0 + len(rows)) / (1.0 + held)), 0.0)
        Z = weighed(counts, idf)
        w = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        if not idf.any():
            return Reading(idf, np.zeros((len(idf), 2 * self.outputs)))
        both = (_logistic(Z, y, w, self.classes), _bayes(Z, y, w, self.classes, idf > 0)) if self.classes else _lines(Z, y, w)
        return Reading(idf, np.column_stack(both))

    def _mixed(self, inputs: Array, rows: Array) -> tuple[Array, Array]:
        """The weights of the readings, and a constant, from rows that they had not seen.

        A reading that is wrong more often than right is left out rather than turned round: of texts that say nothing, what was learned
        from the other folds is wrong about a fold a little more often than not.
        """
        Z, y = inputs[rows], self.y[rows]
        centre, scale = Z.mean(axis=0), Z.std(axis=0)
        scale[scale < 1e-12 * np.maximum(np.abs(centre), 1e-300)] = 1.0
        w = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        Z = (Z - centre) / scale
        used = [np.arange(self.outputs), self.outputs + np.arange(self.outputs)]  # the inputs of each reading
        while True:
            coefficients, constant = self._line(Z, y, w, np.concatenate([*used, [2 * self.outputs]]))
            own = [float(np.trace(coefficients[:, one])) for one in used]
            if not own or min(own) >= 0.0:
                break
            used.pop(int(np.argmin(own)))
        mix = (coefficients / scale).T
        constant = constant - centre @ mix
        return (mix, constant) if self.outputs == 1 else (mix[:, 1:] - mix[:, :1], constant[1:] - constant[0])

    def _line(self, Z: Array, y: Array, w: Array, among: Array) -> tuple[Array, Array]:
        """Coefficients (outputs, inputs) of a linear model of some of the inputs, and its constants."""
        coefficients = np.zeros((self.outputs, Z.shape[1]))
        if self.classes:
            coefficients[:, among], constant = _logits(tenfold.LogisticRegression(), Z[:, among], y, w, self.classes)
            return coefficients, constant
        model = tenfold.Ridge().fit(Z[:, among], y, sample_weight=w)
        coefficients[:, among] = model.coef_
        return coefficients, np.array([model.intercept_])


def _logits(learner: Any, X: Any, y: Array, w: Array, classes: int) -> tuple[Array, Array]:
    """Coefficients (outputs, columns) and constants of a logistic regression; a class without rows is as rare as one of half a row."""
    outputs = classes if classes > 2 else 1
    there = np.unique(y[w > 0])
    coefficients, constants = np.zeros((outputs, X.shape[1])), np.full(outputs, -np.log(2.0 * len(y)) if outputs > 1 else 0.0)
    if len(there) < 2:
        return coefficients, constants
    with kept_warnings():  # few steps are enough, as the readings are weighed afterwards
        model = learner.fit(X, y, sample_weight=w)
    found, constant = model.coef_, model.intercept_
    if outputs == 1:
        return found, constant
    if len(there) == 2:  # one row for two classes: half of it for each
        found, constant = np.stack([-found[0] / 2, found[0] / 2]), np.array([-constant[0] / 2, constant[0] / 2])
    coefficients[there], constants[there] = found, constant
    return coefficients, constants


def _logistic(Z: csr_array, y: Array, w: Array, classes: int) -> Array:
    return _logits(tenfold.LogisticRegression(C=C, tol=TOLERANCE, max_iter=STEPS), Z, y, w, classes)[0].T


def _bayes(Z: csr_array, y: Array, w: Array, classes: int, known: Array) -> Array:
    """log P(word | class): of two classes the difference, of several less their mean."""
    sums = np.column_stack([Z.T @ np.where(y == k, w, 0.0) for k in range(classes)]) + PSEUDO
    log_shares = np.log(sums) - np.log(sums[known].sum(axis=0))
    log_shares = np.where(known[:, None], log_shares, 0.0)
    return log_shares[:, 1:] - log_shares[:, :1] if classes == 2 else log_shares - log_shares.mean(axis=1, keepdims=True)


def _lines(Z: csr_array, y: Array, w: Array) -> tuple[Array, Array]:
    """Ridge regression of the words, their means taken off, and the covariances of the words with the target."""
    share, root = w / w.sum(), np.sqrt(w)
    mean, off = Z.T @ share, y - share @ y
    forth = lambda v: root * (Z @ v - mean @ v)  # noqa: E731
    back = lambda u: Z.T @ (root * u) - mean * (root @ u)  # noqa: E731
    ridge = lsqr(forth, back, root * off, Z.shape[1], damp=float(np.sqrt(ALPHA)), tol=TOLERANCE, most=STEPS).x
    return ridge, Z.T @ (share * off) - mean * (share @ off)
