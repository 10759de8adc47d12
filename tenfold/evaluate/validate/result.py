"""What a cross-validation returns: numbers with their uncertainty, a small table, a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.evaluate.validate.intervals import Interval
from tenfold.evaluate.validate.outputs import Tally, Unkept
from tenfold.evaluate.validate.ranges import LEVEL
from tenfold.score.record import Score

SHOWN = 25  # folds that are printed one by one
# Which values of a parameter make the simpler model.
SIMPLER = {
    **dict.fromkeys(("alpha", "shrinkage", "reg_param", "var_smoothing", "shrink_threshold", "n_neighbors"), "larger"),
    **dict.fromkeys(("C", "n_components", "max_depth", "degree"), "smaller"),
}


def corrected_error(scores: Array, folds: int, ratio: float | None = None) -> float:
    """Standard error of a mean of fold scores, with the correction of Nadeau & Bengio (2003).

    Training sets overlap, so the scores are not independent:  sqrt((1/J + n_test/n_train) s²)  with J scores
    of variance s² and, for k folds, n_test/n_train = 1/(k − 1); other splits have their own `ratio`.
    """
    if scores.size < 2:
        return float("nan")
    ratio = 1 / (folds - 1) if ratio is None else ratio
    return float(np.sqrt((1 / scores.size + ratio) * scores.var(ddof=1)))


def in_words(estimate: Interval) -> str:
    """An estimate as results print it."""
    known = np.isfinite(estimate.high - estimate.low)
    spread = f"{100 * estimate.level:g}% range {estimate.low:.4f} to {estimate.high:.4f}   " if known else ""
    return f"{estimate.estimate:.4f}   {spread}({estimate.method})"


@dataclass(frozen=True, eq=False)
class CrossValidation(dict[str, Any]):
    """Scores on held-out rows. `scores` has one row for each repeat and one column for each fold.

    As a dict it holds what scikit-learn's holds: "test_score" (greater is better: errors are negative there), or "test_NAME" of
    several scores, "fit_time" and "score_time", one entry for each split; "train_score", "estimator" and "indices" where asked for.

    `fold` is the fold of each row, one line for each repeat; where test sets do not make up all rows, the
    numbers of the test rows of each split instead (filled up with −1). `predictions` are of the rows `rows`
    by models that have not seen them, the mean of them where there are several; rows is None where every row
    was held out. Of rows that were read block by block, neither folds nor predictions are kept.
    """

    model: str
    score: Score
    scores: Array
    fold: Array = field(repr=False)
    held_out: Tally | Unkept = field(repr=False)
    method: str  # "merged statistics", "closed form", "refitted" or "fitted in lockstep"
    seconds: float
    kind: str = "k-fold"  # or "reversed", "corrected"
    ratio: float | None = None  # test rows for each training row
    training: float = float("nan")  # kind "corrected": the score of the fit to all rows on all rows
    rows: Array | None = field(default=None, repr=False)
    table: dict[str, Any] | None = field(default=None, repr=False)  # what it holds as a dict

    def __post_init__(self) -> None:
        utility = self.score.sign * self.scores.reshape(-1)
        seconds = np.full(len(utility), self.seconds / len(utility))
        self.update(dict(fit_time=seconds, score_time=np.zeros_like(seconds), test_score=utility) if self.table is None else self.table)

    @cached_property
    def predictions(self) -> Array:
        """Of every held-out row by models that have not seen it."""
        return self.held_out.predictions()

    @cached_property
    def probabilities(self) -> Array | None:
        """Of the classes, likewise; None for a regressor."""
        return self.held_out.probabilities()

    @property
    def mean(self) -> float:
        """The mean score over folds and repeats."""
        return float(self.scores.mean())

    @cached_property
    def pooled(self) -> float:
        """The score of all held-out rows together. RMSE, R² and AUC of small folds are biased: then this is the better estimate.

        Of kind "corrected" too it is the score on held-out rows.
        """
        return self.held_out.pooled(self.score)

    @cached_property
    def estimate(self) -> Interval:
        """The score of all held-out rows together, with the 95 % range of what the model fitted to all rows scores on new
        ones (`validate.ranges`). Where the outputs of rows are not kept: the mean of the folds, with its corrected t range.
        """
        if isinstance(self.held_out, Tally):
            return self.held_out.estimate(self.score)
        reach = float(stdtrit(max(self.scores.size - 1, 1), 0.5 + LEVEL / 2)) * self.standard_error
        return Interval(self.mean, self.mean - reach, self.mean + reach, LEVEL, "mean of folds, corrected t")

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, corrected for the overlap of training sets."""
        return corrected_error(self.scores, self.scores.shape[1], self.ratio)

    @property
    def optimism(self) -> float:
        """Of kind "corrected": by how much the score on the training rows flatters."""
        return self.mean - self.training

    def __str__(self) -> str:
        repeats, folds = self.scores.shape
        times = f" x {repeats}" if repeats > 1 else ""
        kind = "" if self.kind == "k-fold" else f"{self.kind}, "
        error = self.standard_error
        spread = "" if np.isnan(error) else f" ± {error:.4f}"
        count = int(self.fold[0].max()) + 1 if folds == 1 and self.fold[0].size else folds
        lines = [
            f"{self.model}   {count} folds{times}, {kind}{self.method}, {self.seconds:.3g} s",
            f"{self.score.name:>10}  {in_words(self.estimate)}",
        ]
        if spread:
            lines.append(f"{'mean':>10}  {self.mean:.4f}{spread}   (of the folds; ± one corrected standard error)")
        if 1 < folds <= SHOWN:
            lines += [f"{'fold ' + str(k + 1):>10}  {self.scores[:, k].mean():.4f}" for k in range(folds)]
        for name in [key for key in self if key.startswith("test_")][1:]:  # of several scores those after the first
            lines.append(f"{name.removeprefix('test_'):>10}  {np.mean(self[name]):.4f}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """Fold scores with their mean and error; returns the axes."""
        from tenfold.draw.validation import draw_folds

        return draw_folds(self, ax)


class FoldScores(np.ndarray):
    """The scores of the splits, greater is better, as an array; `result` is the whole cross-validation."""

    result: CrossValidation | None

    def __array_finalize__(self, made_of: Any) -> None:
        self.result = None

    def __array_wrap__(self, array: Array, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array)[()]  # what is computed of the scores is a plain number or array

    @classmethod
    def of(cls, result: CrossValidation) -> FoldScores:
        """The only score of a cross-validation."""
        made = np.array(result["test_score"]).view(cls)
        made.result = result
        return made

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, corrected for the overlap of training sets."""
        return float("nan") if self.result is None else self.result.standard_error


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
    ratio: float | None = None

    @property
    def mean(self) -> Array:
        """Mean score of each value."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """Corrected standard error of each mean."""
        return np.array([corrected_error(row, self.folds, self.ratio) for row in self.scores])

    @property
    def best_index(self) -> int:
        return int(np.argmax(self.score.sign * self.mean))

    @property
    def best(self) -> Any:
        """The value with the best mean score. That score flatters it: it was chosen for it."""
        return self.values[self.best_index]

    @property
    def one_standard_error(self) -> Any:
        """The simplest value whose mean score is within one standard error of the best (Breiman et al. 1984).

        The standard error is that of the best mean, s/√J of its J fold scores. For penalties and the like
        (alpha, shrinkage, ...) larger is simpler, for C and numbers of components smaller; for other
        parameters use `simplest`.
        """
        name = self.name.rpartition("__")[2]
        if name not in SIMPLER:
            raise BadParameter(
                f"which values of {self.name} are simpler is not known: use simplest('larger') or ('smaller')"
            )
        return self.simplest(SIMPLER[name])

    def simplest(self, simpler: str) -> Any:
        """As `one_standard_error`, where "larger" or "smaller" values make the simpler model."""
        if simpler not in ("larger", "smaller"):
            raise BadParameter(f"simplest({simpler!r}): must be 'larger' or 'smaller'")
        good, best = self.score.sign * self.mean, self.best_index
        n_scores = self.scores.shape[1]
        error = self.scores[best].std(ddof=1) / np.sqrt(n_scores) if n_scores > 1 else 0.0
        close = [value for value, score in zip(self.values, good, strict=True) if score >= good[best] - error]
        return max(close) if simpler == "larger" else min(close)

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
