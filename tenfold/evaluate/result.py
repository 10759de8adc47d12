"""What a cross-validation returns: numbers with their uncertainty, a small table, a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.evaluate.metrics import Score

Array = np.ndarray[Any, Any]


def corrected_error(scores: Array, folds: int) -> float:
    """Standard error of a mean of fold scores, with the correction of Nadeau & Bengio (2003).

    Training sets overlap, so the scores are not independent:  sqrt((1/J + n_test/n_train) s²)  with J scores of variance s²
    and, for k folds, n_test/n_train = 1/(k − 1).
    """
    if scores.size < 2:
        return float("nan")
    return float(np.sqrt((1 / scores.size + 1 / (folds - 1)) * scores.var(ddof=1)))


@dataclass(frozen=True)
class CrossValidation:
    """Scores on held-out rows. `scores` has one row for each repeat and one column for each fold."""

    model: str
    score: Score
    scores: Array
    fold: Array = field(repr=False)  # (repeats, rows): the fold of each row
    predictions: Array = field(repr=False)  # of every row by a model that has not seen it
    probabilities: Array | None = field(repr=False)
    method: str  # "merged statistics" or "refitted"
    seconds: float

    @property
    def mean(self) -> float:
        """The mean score over folds and repeats."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, corrected for the overlap of training sets."""
        return corrected_error(self.scores, self.scores.shape[1])

    def __str__(self) -> str:
        repeats, folds = self.scores.shape
        times = f" x {repeats}" if repeats > 1 else ""
        lines = [
            f"{self.model}   {folds} folds{times}, {self.method}, {self.seconds:.3g} s",
            f"{self.score.name:>10}  {self.mean:.4f} ± {self.standard_error:.4f}   (held-out rows; ± one corrected standard error)",
        ]
        lines += [f"{'fold ' + str(k + 1):>10}  {self.scores[:, k].mean():.4f}" for k in range(folds)]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """Fold scores with their mean and error; returns the axes."""
        from tenfold.draw.validation import draw_folds

        return draw_folds(self, ax)


@dataclass(frozen=True)
class ValidationPath:
    """Cross-validated scores along a parameter: `scores` has one row for each value."""

    model: str
    name: str
    values: list[Any]
    score: Score
    scores: Array
    folds: int
    n_rows: int | None
    seconds: float

    @property
    def mean(self) -> Array:
        """Mean score of each value."""
        return self.scores.mean(axis=1)

    @property
    def standard_error(self) -> Array:
        """Corrected standard error of each mean."""
        return np.array([corrected_error(row, self.folds) for row in self.scores])

    @property
    def best_index(self) -> int:
        return int(np.argmax(self.score.sign * self.mean))

    @property
    def best(self) -> Any:
        """The value with the best mean score. That score flatters it: it was chosen for it."""
        return self.values[self.best_index]

    def __str__(self) -> str:
        order = (
            range(len(self.values)) if len(self.values) <= 12 else np.linspace(0, len(self.values) - 1, 12).astype(int)
        )
        rows = sorted({*order, self.best_index})
        lines = [
            f"{self.model}   {self.name} over {len(self.values)} values, {self.folds} folds, {self.seconds:.3g} s",
            f"{self.name:>14}  {self.score.name}",
        ]
        error = self.standard_error
        for i in rows:
            mark = "  best" if i == self.best_index else ""
            lines.append(f"{self.values[i]!s:>14.14}  {self.mean[i]:.4f} ± {error[i]:.4f}{mark}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """The validation curve with its error band; returns the axes."""
        from tenfold.draw.validation import draw_path

        return draw_path(self, ax)
