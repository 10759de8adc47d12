"""What learning and validation curves return: scores with their uncertainty, a small table, a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.evaluate.validate.result import ValidationPath, corrected_error
from tenfold.score.record import Score


@dataclass(frozen=True)
class Curve:
    """Abstract: scores (points, folds x repeats) on the rows that were learned and on held-out rows."""

    model: str
    score: Score
    train_scores: Array
    test_scores: Array
    folds: int
    method: str  # "merged statistics" or "refitted"
    seconds: float

    @property
    def train_mean(self) -> Array:
        return np.asarray(self.train_scores.mean(axis=1))

    @property
    def test_mean(self) -> Array:
        return np.asarray(self.test_scores.mean(axis=1))

    @property
    def train_error(self) -> Array:
        """Standard errors of `train_mean`, corrected for the overlap of training sets (Nadeau & Bengio 2003)."""
        return np.array([corrected_error(row, self.folds) for row in self.train_scores])

    @property
    def test_error(self) -> Array:
        """Standard errors of `test_mean`, corrected likewise."""
        return np.array([corrected_error(row, self.folds) for row in self.test_scores])

    def _utilities(self) -> Iterator[Array]:
        """Scores on training and held-out rows, greater is better."""
        yield self.score.sign * self.train_scores
        yield self.score.sign * self.test_scores

    def _table(self, head: str, values: list[Any]) -> str:
        lines = [
            f"{self.model}   {self.folds} folds, {self.method}, {self.seconds:.3g} s",
            f"{head:>14}  {self.score.name} on held-out rows, on training rows",
        ]
        error, train = self.test_error, self.train_mean
        for i, value in enumerate(values):
            lines.append(f"{value!s:>14.14}  {self.test_mean[i]:.4f} ± {error[i]:.4f}   {train[i]:.4f}")
        return "\n".join(lines)


@dataclass(frozen=True)
class LearningCurve(Curve):
    """Scores for growing training sets; `sizes` are the mean numbers of training rows.

    Unpacks as scikit-learn's: numbers of training rows, training scores, test scores, greater is better.
    """

    sizes: Array
    times: tuple[Array, ...] = ()  # seconds for fits and for scores (points, splits), where asked for

    def __iter__(self) -> Iterator[Array]:
        yield np.round(self.sizes).astype(int)
        yield from self._utilities()
        yield from self.times

    def __len__(self) -> int:
        return 3 + len(self.times)

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]

    def __str__(self) -> str:
        return self._table("training rows", [round(size) for size in self.sizes])

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """Both curves with bands of one corrected standard error; returns the axes."""
        from tenfold.draw.curves import draw_learning_curve

        return draw_learning_curve(self, ax)


@dataclass(frozen=True)
class ValidationCurve(Curve):
    """Scores along the values of a parameter. Unpacks as scikit-learn's: training scores, test scores, greater is better."""

    name: str
    values: list[Any]

    def __iter__(self) -> Iterator[Array]:
        return self._utilities()

    def __len__(self) -> int:
        return 2

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]

    @property
    def held_out(self) -> ValidationPath:
        """The held-out scores alone, as `validation_path` gives them."""
        n = None  # the number of rows is not kept
        return ValidationPath(
            self.model, self.name, self.values, self.score, self.test_scores, self.folds, n, self.seconds
        )

    @property
    def best_index(self) -> int:
        return self.held_out.best_index

    @property
    def best(self) -> Any:
        """The value with the best held-out mean. That score flatters it: it was chosen for it."""
        return self.held_out.best

    @property
    def one_standard_error(self) -> Any:
        """The simplest value within one standard error of the best; see `ValidationPath.one_standard_error`."""
        return self.held_out.one_standard_error

    def simplest(self, simpler: str) -> Any:
        """The same where it must be given whether "larger" or "smaller" values make simpler models."""
        return self.held_out.simplest(simpler)

    @property
    def limit(self) -> float:
        """The mean score that is one standard error worse than the best: s/√J of its J fold scores."""
        scores = self.test_scores[self.best_index]
        error = scores.std(ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        return float(scores.mean() - self.score.sign * error)

    def __str__(self) -> str:
        return self._table(self.name, self.values) + f"\nbest {self.name} {self.best}"

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """Both curves with bands of one corrected standard error, the best value marked; returns the axes."""
        from tenfold.draw.curves import draw_validation_curve

        return draw_validation_curve(self, ax)
