"""What is known of a score: its name, what it judges, which way is better, how it is computed and how it merges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.stats import merge
from tenfold.core.threads import single_blas

REGRESSION, TWO_CLASSES, MANY_CLASSES, CLUSTERING = "regression", "two classes", "many classes", "clustering"
CLASSES = (TWO_CLASSES, MANY_CLASSES)
VALUES, LABELS, PROBABILITIES, CLASS_SCORES = "values", "labels", "probabilities", "class scores"
ALL_OUTPUTS = "all outputs"  # of a function of the user: class scores, and the chosen class where that is another
ROLES = {REGRESSION: "regressor", TWO_CLASSES: "classifier", MANY_CLASSES: "classifier", CLUSTERING: "clusterer"}

Part = tuple[Array, Array, Array | None]  # truth, output and weights of some rows
RowLoss = Callable[[Array, Array], Array]  # truth and output of some rows -> (n,)


@dataclass(frozen=True)
class Score:
    """A score of (truth, output, weights).

    The truth of classes is their codes 0, ..., k − 1, and the output (n, k) are class scores: log posteriors up to a
    constant in each row, from which labels and probabilities follow. Numbers are (n, q) both. Weights may be None: ones.

    Sign. `of` is the score itself: an error is positive, and less is better where `greater_is_better` is False. A name
    of scikit-learn's with "neg_" is the same score. Only where the parameter is scikit-learn's `scoring` (boosting,
    RidgeCV), the number that is reported is `sign` × score (`utility`), so that greater is always better.

    Merging. `sums` makes a statistic of rows, statistics of blocks are added, `finish` gives the score of the sum.
    `sketch` makes the statistic of a block where the exact one would keep the rows: of bounded size, and near. `merges`
    is False for what needs all rows at once.

    One class. A learner refuses training rows of one class itself. Where a fold of test rows lacks a class, a score
    with `every_class` raises BadInput (there is no pair to rank, or no row to recall); all others have a value.
    """

    name: str
    tasks: tuple[str, ...]  # REGRESSION, TWO_CLASSES, MANY_CLASSES, CLUSTERING
    greater_is_better: bool
    output: str  # what it needs: VALUES, LABELS, PROBABILITIES, CLASS_SCORES or ALL_OUTPUTS
    sums: Callable[..., Any]
    finish: Callable[[Any], float]
    sketch: Callable[..., Any] | None = None
    function: str = ""  # the public function of tenfold.score that has the same value
    options: Mapping[str, Any] = field(default_factory=dict)  # and its parameters
    synonyms: tuple[str, ...] = ()
    low: float = 0.0
    high: float = np.inf
    label: str = ""  # in tables; the name in words unless given
    title: str = ""  # in pictures; the label unless given
    percent: bool = False  # shown in per cent
    row_loss: RowLoss | None = None  # less is better
    loss_label: str = ""
    mean_of_rows: bool = (
        False  # the score is the mean of the losses of rows, or 1 less that mean where greater is better
    )
    of_squares: Callable[[Array, float], Array] | None = (
        None  # from the mean squared error and the variance of the truth
    )
    every_class: bool = False
    merges: bool = True
    of_counts: Callable[[Array, Array, Array], Array] | None = (
        None  # `score.counts`, where another decision than for the most likely class may score more
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name.replace("_", " "))
        object.__setattr__(self, "title", self.title or self.label)

    @property
    def role(self) -> str:
        """The role of the learners that it judges."""
        return ROLES[self.tasks[0]]

    @property
    def supervised(self) -> bool:
        """Whether it compares with a known truth."""
        return self.merges or CLUSTERING not in self.tasks

    @property
    def by_class(self) -> bool:
        """Whether it judges the chosen class, whatever its probability is."""
        return self.output == LABELS

    @property
    def sign(self) -> float:
        """+1 where greater is better: sign × score is always to be made large."""
        return 1.0 if self.greater_is_better else -1.0

    @single_blas
    def of(self, truth: Array, output: Array, w: Array | None, classes: Array | None = None) -> float:
        """The score of rows in memory; `classes` are the labels that a function of the user sees instead of codes."""
        self.check_width(output)
        return float(self.finish(self.sums(truth, output, w)))

    def utility(self, truth: Array, output: Array, w: Array | None, classes: Array | None = None) -> float:
        """sign × score: greater is better, as scikit-learn reports `scoring`."""
        return self.sign * self.of(truth, output, w, classes)

    def of_block(self, truth: Array, output: Array, w: Array | None) -> Any:
        """A statistic of a block of rows, to be added to those of the others."""
        self.check_width(output)
        return (self.sketch or self.sums)(truth, output, w)

    @single_blas
    def pooled(self, parts: Iterable[Part], classes: Array | None = None) -> float:
        """One score of the rows of all parts together, such as the test rows of all folds.

        A mean over folds is biased where the score is not a mean over rows: the root of a mean is larger than the mean
        of roots, R² of a small fold has a noisy denominator, and an AUC by folds ranks few pairs.
        """
        return float(self.finish(merge(self.sums(*part) for part in parts)))

    def averaged(self, parts: Iterable[Part], classes: Array | None = None) -> float:
        """The mean of the scores of the parts: each fold counts the same."""
        return float(np.mean([self.of(*part, classes) for part in parts]))

    def of_rows(self, truth: Array, output: Array) -> Array | None:
        """A value for each row whose mean over rows is the score; None where it is no mean over rows."""
        if not self.mean_of_rows or self.row_loss is None:
            return None
        loss = self.row_loss(truth, output)
        return 1.0 - loss if self.greater_is_better else loss

    def check_width(self, output: Array) -> None:
        """Refuse a score of two classes where there are more."""
        if MANY_CLASSES not in self.tasks and TWO_CLASSES in self.tasks and output.shape[1] > 2:
            raise BadParameter(f"{self.name} is {self.two_only(output.shape[1])}")

    def two_only(self, n_classes: int) -> str:
        """Why a score of two classes is none of more, and what to use."""
        means = ", ".join(f"{self.name}_{average}" for average in ("macro", "micro", "weighted"))
        return f"a score of two classes and there are {n_classes}: use one of {means}"


def split_choice(output: Array, n_classes: int) -> tuple[Array, Array | None]:
    """Class scores, and the number of the chosen class where one more column holds it."""
    if output.shape[1] == n_classes:
        return output, None
    return output[:, :n_classes], output[:, n_classes].astype(np.int64)


def judged_output(judge: Score, output: Array, classes: Array | None) -> Array:
    """Outputs as the score wants them: class scores; ones for the chosen class, where one more column holds it and the
    score asks for it; or values.
    """
    if classes is None or judge.output == ALL_OUTPUTS:
        return output
    scores, codes = split_choice(output, len(classes))
    if codes is not None and judge.by_class:
        return np.asarray(codes[:, None] == np.arange(len(classes)), dtype=np.float64)
    return scores
