"""Scores by name, for cross-validation: functions of (codes of the truth, scores of the classes) or (truth,
values), and weights.

Each is made of the statistics of the public scores; there is no second way to compute one. The rows were
checked before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tenfold import _evaluate
from tenfold.base import check
from tenfold.base.estimator import log_softmax, softmax
from tenfold.core.errors import BadParameter
from tenfold.score.confusion import Confusion
from tenfold.score.inputs import Array, Labels, Scores, Values
from tenfold.score.means import Mean
from tenfold.score.probability import row_surprise, squared_distance
from tenfold.score.ranking import auc_of
from tenfold.score.ranks import RankRows, RankSketch
from tenfold.score.regression import ValueSums


@dataclass(frozen=True)
class Score:
    """A named score of (truth, output, weights): outputs are class scores (log posteriors) or predicted
    values.

    `sums` makes a statistic of rows and `finish` the score of it. For rows that are never together in memory, statistics of
    blocks are added; `sketch` makes another one there, where the exact one keeps the rows.
    """

    name: str
    role: str  # "classifier" or "regressor"
    greater_is_better: bool
    sums: Callable[[Array, Array, Array], Any]
    finish: Callable[[Any], float]
    sketch: Callable[[Array, Array, Array], Any] | None = None
    by_class: bool = False  # judges the chosen class, whatever its score is
    merges: bool = True  # whether statistics of blocks can be added

    def of(self, truth: Array, output: Array, w: Array) -> float:
        """The score of rows in memory."""
        return self.finish(self.sums(truth, output, w))

    def of_block(self, truth: Array, output: Array, w: Array) -> Any:
        """A statistic of a block of rows, to be added to those of the others."""
        return (self.sketch or self.sums)(truth, output, w)

    @property
    def sign(self) -> float:
        """+1 where more is better: sign × score is always to be made large."""
        return 1.0 if self.greater_is_better else -1.0


def largest(scores: Array) -> Array:
    """The number of the largest score of each row."""
    native = scores.dtype == np.float64 and scores.flags.c_contiguous
    return cast(Array, _evaluate.largest_columns(scores)) if native else scores.argmax(axis=1)


def split_choice(output: Array, n_classes: int) -> tuple[Array, Array | None]:
    """Class scores, and the number of the chosen class where one more column tells it."""
    if output.shape[1] == n_classes:
        return output, None
    return output[:, :n_classes], output[:, n_classes].astype(np.int64)


def judged_output(judge: Score, output: Array, classes: Array | None) -> Array:
    """Outputs as the score wants them: class scores; ones for the chosen class, where that is told in a column more and the
    score asks for it; or values.
    """
    if classes is None:
        return output
    scores, codes = split_choice(output, len(classes))
    if codes is not None and judge.by_class:
        return (codes[:, None] == np.arange(len(classes))).astype(np.float64)
    return scores


def _hits(codes: Array, scores: Array, w: Array) -> Mean:
    return Mean.of(largest(scores) == codes, w)


def _confusion(codes: Array, scores: Array, w: Array) -> Confusion:
    return Confusion.of_labels(Labels(*check.encode(codes), *check.encode(largest(scores)), w))


def _f1_macro(confusion: Confusion) -> float:
    return float(confusion.by_class(None, "macro").fbeta(1.0, 0))


def _surprises(codes: Array, scores: Array, w: Array) -> Mean:
    return Mean.of(row_surprise(codes, scores), w)


def _distances(codes: Array, scores: Array, w: Array) -> Mean:
    return Mean.of(squared_distance(codes, softmax(scores)), w)


def _ranked(codes: Array, scores: Array, w: Array) -> Scores:
    k = scores.shape[1]
    ranked = scores[:, 1:] - scores[:, :1] if k == 2 else log_softmax(scores)  # log odds do not saturate
    return Scores(np.arange(k), codes, ranked, w)


def _rank_rows(codes: Array, scores: Array, w: Array) -> RankRows:
    return RankRows.of(_ranked(codes, scores, w))


def _rank_sketch(codes: Array, scores: Array, w: Array) -> RankSketch:
    return RankSketch.of(_ranked(codes, scores, w))


def _area(ranks: Any) -> float:
    """Under the ROC curve; of each class against the others, averaged, where there are more than two."""
    return float(auc_of(ranks, multi_class="ovr").value)


def _sums(truth: Array, value: Array, w: Array) -> ValueSums:
    return ValueSums.of_values(Values(truth, value, w))


def _root(sums: ValueSums) -> float:
    return float(sums.mse() ** 0.5)


SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "classifier", True, _hits, Mean.value, by_class=True),
        Score("log_loss", "classifier", False, _surprises, Mean.value),
        Score("brier", "classifier", False, _distances, Mean.value),
        Score("balanced_accuracy", "classifier", True, _confusion, Confusion.balanced_accuracy, by_class=True),
        Score("f1_macro", "classifier", True, _confusion, _f1_macro, by_class=True),
        Score("roc_auc", "classifier", True, _rank_rows, _area, sketch=_rank_sketch),
        Score("r2", "regressor", True, _sums, ValueSums.explained),
        Score("mse", "regressor", False, _sums, ValueSums.mse),
        Score("rmse", "regressor", False, _sums, _root),
        Score("mae", "regressor", False, _sums, ValueSums.mae),
    )
}


def find_score(score: Any, role: str) -> Score:
    """The score by name; None is accuracy for classifiers and R² for regressors; a function (truth,
    prediction) is taken as it is.
    """
    if score is None:
        return SCORES["accuracy" if role == "classifier" else "r2"]
    if isinstance(score, Score):
        return score
    fitting = [name for name, known in SCORES.items() if known.role == role]
    if isinstance(score, str):
        if score not in fitting:
            raise BadParameter(
                f"score={score!r}: a {role} can be judged by {', '.join(fitting)}, or a function of (truth, prediction)"
            )
        return SCORES[score]
    if callable(score):
        name, given = getattr(score, "__name__", "score"), _as_given if role == "classifier" else _as_values
        return Score(name, role, True, given, lambda pair: float(score(*pair)), by_class=True, merges=False)
    raise BadParameter(f"score={score!r}: must be one of {', '.join(fitting)}, or a function of (truth, prediction)")


def _as_given(codes: Array, scores: Array, w: Array) -> tuple[Array, Array]:
    """A user's function sees codes of the true and predicted classes."""
    return codes, scores.argmax(axis=1)


def _as_values(truth: Array, value: Array, w: Array) -> tuple[Array, Array]:
    """Or true and predicted values."""
    return truth.squeeze(), value.squeeze()
