"""Any score of rows that come in blocks: each block is summed up, the sums are added, the score is computed
once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.errors import BadInput, BadParameter
from tenfold.score import statistics
from tenfold.score.absolute_errors import AbsoluteErrors, LargestError
from tenfold.score.classification import all_shares, beta_of
from tenfold.score.clustering import Contingency
from tenfold.score.confusion import Confusion
from tenfold.score.gains import gain_sums, normalized_gain_sums
from tenfold.score.inputs import truth_and_scores
from tenfold.score.label_sets import LabelSets, compared
from tenfold.score.means import Mean
from tenfold.score.precision_recall import average_precision_of, precision_recall_curve_of
from tenfold.score.probability import CalibrationBins, brier_sums, log_loss_sums
from tenfold.score.ranks import MOST_DISTINCT, Bounded, RankRows, RankSketch
from tenfold.score.registry import known_score
from tenfold.score.regression import ResidualSpread, ValueSums, poisson_sums
from tenfold.score.relative_errors import Shares, gamma_sums, log_sums
from tenfold.score.report import Report
from tenfold.score.roc import auc_of, roc_curve_of


@dataclass(frozen=True)
class Measured:
    """A score of many blocks; the exact one of all rows in memory is within `bound` of `value`."""

    metric: str
    value: Any
    bound: Any

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class Fold:
    """How a block is summed up, what the score of the sum is, and which parameters the first of these takes."""

    summarize: Callable[..., Any]
    score: Callable[..., Any]
    of_block: tuple[str, ...] = ()


def over(blocks: Iterable[Any], metric: str, /, *, exact: bool = False, **parameters: Any) -> Measured:
    """A score by name, of blocks (y_true, y_pred) or (y_true, y_pred, weights) that are read once and never
    held together.

    Sums give the value of all rows in memory up to rounding, and their bound is 0. Rankings and medians keep
    the distinct scores of all rows, and round them once there are more than 2¹⁸ (`most=`): then `bound` is
    how far the value may be off, always. exact=True keeps the rows of rankings instead. Silhouettes need all
    pairs of rows and always keep them. Parameters are those of the function of that name; give labels= where
    a block may lack a class.

    >>> from tenfold.evaluate import over
    >>> over([([0, 1], [0.2, 0.9]), ([1, 0], [0.8, 0.85])], "roc_auc")
    Measured(metric='roc_auc_score', value=0.75, bound=0.0)
    """
    name, fold, stands_for = _find(metric)
    parameters = stands_for | parameters
    if name in RANKINGS:
        if exact:
            fold = Fold(_rank_rows, fold.score, ("labels",))
    elif name == "median_absolute_error" and exact:
        parameters["most"] = 2**62
    given = {key: parameters.pop(key) for key in fold.of_block if key in parameters}
    total = None
    for block in blocks:
        if not isinstance(block, (tuple, list)) or len(block) not in (2, 3):
            raise BadInput("each block must be (y_true, y_pred) or (y_true, y_pred, weights)")
        if not len(block[0]) or (len(block) == 3 and block[2] is not None and not np.any(block[2])):
            continue  # no rows, or none that counts
        part = fold.summarize(*block, **given)
        total = part if total is None else total + part
    if total is None:
        raise BadInput("the blocks hold no row: give at least one")
    value = fold.score(total, **parameters)
    return Measured(name, *(value if isinstance(value, Bounded) else (value, 0.0)))


def _find(metric: Any) -> tuple[str, Fold, dict[str, Any]]:
    """The public function of a name or synonym, how it is summed up, and the parameters that the name stands for."""
    score = known_score(metric) if isinstance(metric, str) and metric not in FOLDS else None
    name = metric if score is None else score.function
    if not isinstance(name, str) or name not in FOLDS:
        raise BadParameter(f"metric={metric!r}: must be one of {', '.join(sorted(FOLDS))}")
    return name, FOLDS[name], {} if score is None else dict(score.options)


def _rank_rows(y_true: Any, y_score: Any, w: Any = None, *, labels: Any = None) -> RankRows:
    return RankRows.of(truth_and_scores(y_true, y_score, w, labels))


def _rank_sketch(
    y_true: Any, y_score: Any, w: Any = None, *, labels: Any = None, most: int = MOST_DISTINCT
) -> RankSketch:
    return RankSketch.of(truth_and_scores(y_true, y_score, w, labels), most)


def _by_class(name: str) -> Callable[..., Any]:
    def score(
        confusion: Confusion | LabelSets,
        labels: Any = None,
        pos_label: Any = 1,
        average: str | None = "binary",
        zero_division: Any = "warn",
    ) -> Any:
        return getattr(confusion.by_class(labels, average, pos_label), name)(zero_division)

    return score


def _accuracy(given: Confusion | LabelSets, normalize: bool = True) -> float:
    return given.accuracy(normalize)


def _hamming(given: Confusion | LabelSets) -> float:
    return given.hamming()


def _error(given: Confusion | LabelSets, normalize: bool = True) -> float:
    return given.error(normalize)


def _fbeta(
    confusion: Confusion | LabelSets,
    beta: float = 1.0,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    zero_division: Any = "warn",
) -> Any:
    return confusion.by_class(labels, average, pos_label).fbeta(beta, zero_division)


def _f_alpha(confusion: Confusion | LabelSets, alpha: float, **parameters: Any) -> Any:
    return _fbeta(confusion, beta_of(alpha), **parameters)


def _report(
    confusion: Confusion | LabelSets, labels: Any = None, target_names: Any = None, digits: int = 2, zero_division: Any = "warn"
) -> Report:
    return Report.of(confusion, labels, target_names, digits, zero_division)


FOLDS = {
    "accuracy_score": Fold(compared, _accuracy),
    "adjusted_mutual_info_score": Fold(Contingency.of, Contingency.adjusted_information),
    "adjusted_rand_score": Fold(Contingency.of, Contingency.adjusted_rand),
    "average_precision_score": Fold(_rank_sketch, average_precision_of, ("labels", "most")),
    "balanced_accuracy_score": Fold(Confusion.of, Confusion.balanced_accuracy),
    "brier_score_loss": Fold(brier_sums, Mean.value, ("labels", "pos_label")),
    "calibration_error": Fold(CalibrationBins.of, CalibrationBins.error, ("labels", "n_bins")),
    "calinski_harabasz_score": Fold(statistics.rows, statistics.calinski_harabasz),
    "classification_report": Fold(compared, _report),
    "cohen_kappa_score": Fold(Confusion.of, Confusion.kappa),
    "completeness_score": Fold(Contingency.of, Contingency.completeness),
    "confusion_matrix": Fold(Confusion.of, Confusion.matrix),
    "davies_bouldin_score": Fold(statistics.rows, statistics.davies_bouldin),
    "dcg_score": Fold(gain_sums, Mean.value, ("k", "log_base", "ignore_ties")),
    "explained_variance_score": Fold(ResidualSpread.of, ResidualSpread.explained),
    "f1_score": Fold(compared, _fbeta),
    "f_alpha_score": Fold(compared, _f_alpha),
    "fbeta_score": Fold(compared, _fbeta),
    "fowlkes_mallows_score": Fold(Contingency.of, Contingency.fowlkes_mallows),
    "hamming_loss": Fold(compared, _hamming),
    "homogeneity_score": Fold(Contingency.of, Contingency.homogeneity),
    "jaccard_score": Fold(compared, _by_class("jaccard")),
    "log_loss": Fold(log_loss_sums, Mean.value, ("labels",)),
    "matthews_corrcoef": Fold(Confusion.of, Confusion.matthews),
    "max_error": Fold(LargestError.of, LargestError.value),
    "mean_absolute_error": Fold(ValueSums.of, ValueSums.mae),
    "mean_absolute_percentage_error": Fold(Shares.of, Shares.value),
    "mean_gamma_deviance": Fold(gamma_sums, Mean.value),
    "mean_pinball_loss": Fold(ValueSums.of, ValueSums.pinball),
    "mean_poisson_deviance": Fold(poisson_sums, Mean.value),
    "mean_squared_error": Fold(ValueSums.of, ValueSums.mse),
    "mean_squared_log_error": Fold(log_sums, ValueSums.mse),
    "median_absolute_error": Fold(AbsoluteErrors.of, AbsoluteErrors.median, ("most",)),
    "mutual_info_score": Fold(Contingency.of, Contingency.mutual_information),
    "ndcg_score": Fold(normalized_gain_sums, Mean.value, ("k", "ignore_ties")),
    "normalized_mutual_info_score": Fold(Contingency.of, Contingency.normalized_information),
    "precision_recall_curve": Fold(_rank_sketch, precision_recall_curve_of, ("labels", "most")),
    "precision_recall_fscore_support": Fold(compared, all_shares),
    "precision_score": Fold(compared, _by_class("precision")),
    "r2_score": Fold(ValueSums.of, ValueSums.r2),
    "rand_score": Fold(Contingency.of, Contingency.rand),
    "recall_score": Fold(compared, _by_class("recall")),
    "roc_auc_score": Fold(_rank_sketch, auc_of, ("labels", "most")),
    "roc_curve": Fold(_rank_sketch, roc_curve_of, ("labels", "most")),
    "root_mean_squared_error": Fold(ValueSums.of, ValueSums.rmse),
    "root_mean_squared_log_error": Fold(log_sums, ValueSums.rmse),
    "silhouette_score": Fold(statistics.rows, statistics.silhouette),
    "specificity_score": Fold(compared, _by_class("specificity")),
    "v_measure_score": Fold(Contingency.of, Contingency.v_measure),
    "zero_one_loss": Fold(compared, _error),
}
RANKINGS = ("average_precision_score", "precision_recall_curve", "roc_auc_score", "roc_curve")
