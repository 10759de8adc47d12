"""Every score that has a name, once; and the one function that finds a score by name, or takes a user's function."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import tenfold.score as package
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.score import counts
from tenfold.score import statistics as of
from tenfold.score.absolute_errors import LargestError
from tenfold.score.clustering import Contingency
from tenfold.score.confusion import Confusion
from tenfold.score.functions import METRIC, SCORER, function_score
from tenfold.score.means import Mean
from tenfold.score.probability import row_surprise
from tenfold.score.record import (
    CLASS_SCORES,
    CLASSES,
    CLUSTERING,
    LABELS,
    MANY_CLASSES,
    PROBABILITIES,
    REGRESSION,
    TWO_CLASSES,
    VALUES,
    Score,
)
from tenfold.score.regression import ResidualSpread, ValueSums
from tenfold.score.relative_errors import Shares
from tenfold.score.scorer import Scorer

AVERAGES = ("macro", "micro", "weighted")
DECIDED = ("binary", "macro", "weighted")
DEFAULTS = {"classifier": "accuracy", "regressor": "r2"}


def _classes(name: str, greater_is_better: bool, output: str, sums: Any, finish: Any, **more: Any) -> Score:
    """A score of any number of classes, between 0 and 1 unless given otherwise."""
    return Score(name, CLASSES, greater_is_better, output, sums, finish, **{"high": 1.0, **more})


def _shares(name: str, label: str, decided: tuple[str, ...] = ()) -> list[Score]:
    """Precision, recall or F₁ of the second of two classes, and its averages over any number of classes.

    decided: the averages by which a threshold may be chosen. Precision and recall alone are best where one class is hardly ever said, or
    always; averaged over rows (micro), the most likely class is the best decision.
    """
    function = f"{name}_score"

    def by(average: str) -> Any:
        return partial(counts.averaged, share=name, average=average) if average in decided else None

    one = Score(
        name, (TWO_CLASSES,), True, LABELS, of.confusion, partial(of.by_class, share=name, average="binary"),
        function=function, options=dict(zero_division=0), high=1.0, label=label, title=f"{label} of the second class",
        of_counts=by("binary"),
    )  # fmt: skip
    means = [
        _classes(
            f"{name}_{average}", True, LABELS, of.confusion, partial(of.by_class, share=name, average=average),
            function=function, options=dict(average=average, zero_division=0), label=f"{label} ({average})", of_counts=by(average),
        )
        for average in AVERAGES
    ]  # fmt: skip
    return [one, *means]


def _area(name: str, label: str, multi_class: str, average: str = "macro", **more: Any) -> Score:
    """The area under the ROC curve; two classes have one, whatever `multi_class` is."""
    return _classes(
        name, True, CLASS_SCORES, of.rank_rows, partial(of.area, multi_class=multi_class, average=average),
        sketch=of.rank_sketch, function="roc_auc_score", options=dict(multi_class=multi_class, average=average),
        label=label, every_class=True, **more,
    )  # fmt: skip


def _error(name: str, sums: Any, finish: Any, **more: Any) -> Score:
    """An error of predicted numbers."""
    return Score(name, (REGRESSION,), False, VALUES, sums, finish, **more)


def _explained(name: str, sums: Any, finish: Any, **more: Any) -> Score:
    """A share of the spread of the target: 1 at best, and as low as the predictions are bad."""
    return Score(name, (REGRESSION,), True, VALUES, sums, finish, low=-np.inf, high=1.0, **more)


def _grouping(name: str, finish: Any, **more: Any) -> Score:
    """A score of two groupings of the same rows."""
    return Score(name, (CLUSTERING,), True, LABELS, of.contingency, finish, function=f"{name}_score", **more)


def _same(mse: Array, variance: float) -> Array:
    return mse


def _root(mse: Array, variance: float) -> Array:
    return np.asarray(np.sqrt(mse))


def _share(mse: Array, variance: float) -> Array:
    return 1 - mse / (variance or 1.0)


ZERO_ONE: dict[str, Any] = dict(row_loss=of.zero_one, loss_label="share of errors")
SQUARED: dict[str, Any] = dict(row_loss=of.squared, loss_label="squared error")

SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        _classes("accuracy", True, LABELS, of.hits, Mean.value, function="accuracy_score", synonyms=("acc",), percent=True,
                 mean_of_rows=True, **ZERO_ONE),
        _classes("log_loss", False, PROBABILITIES, of.surprises, Mean.value, function="log_loss", synonyms=("logloss", "cross_entropy"),
                 high=np.inf, row_loss=row_surprise, loss_label="log loss", mean_of_rows=True),
        _classes("brier", False, PROBABILITIES, of.distances, Mean.value, function="brier_score_loss",
                 synonyms=("brier_score",), high=2.0, label="Brier score", row_loss=of.squared_probability,
                 loss_label="Brier score", mean_of_rows=True),
        _classes("balanced_accuracy", True, LABELS, of.confusion, Confusion.balanced_accuracy,
                 function="balanced_accuracy_score", of_counts=counts.balanced),
        *_shares("f1", "F1", DECIDED),
        *_shares("jaccard", "Jaccard index", DECIDED),
        _classes("matthews_corrcoef", True, LABELS, of.confusion, Confusion.matthews, function="matthews_corrcoef",
                 synonyms=("mcc",), low=-1.0, label="Matthews correlation", of_counts=counts.matthews),
        _area("roc_auc", "AUC", "ovr", synonyms=("auc", "roc", "roc_auc_ovr")),
        _area("roc_auc_ovr_weighted", "AUC (one against the rest, weighted)", "ovr", "weighted"),
        _area("roc_auc_ovo", "AUC (one against one)", "ovo"),
        _area("roc_auc_ovo_weighted", "AUC (one against one, weighted)", "ovo", "weighted"),
        _classes("average_precision", True, CLASS_SCORES, of.rank_rows, of.precision_area, sketch=of.rank_sketch,
                 function="average_precision_score", every_class=True),
        *_shares("precision", "precision"),
        *_shares("recall", "recall"),
        _classes("error", False, LABELS, of.errors, Mean.value, function="zero_one_loss", synonyms=("error_rate",),
                 label="share of errors", mean_of_rows=True, **ZERO_ONE),
        _explained("r2", of.sums, ValueSums.explained, function="r2_score", synonyms=("r²", "r_squared", "rsquared"),
                   label="R²", of_squares=_share, **SQUARED),
        _error("mse", of.sums, ValueSums.mse, function="mean_squared_error", label="mse", title="mean squared error",
               of_squares=_same, mean_of_rows=True, **SQUARED),
        _error("rmse", of.sums, ValueSums.rmse, function="root_mean_squared_error", label="rmse",
               title="root mean squared error", of_squares=_root, **SQUARED),
        _error("mae", of.sums, ValueSums.mae, function="mean_absolute_error", label="mae", title="mean absolute error",
               row_loss=of.absolute, loss_label="absolute error", mean_of_rows=True),
        _error("median_absolute_error", of.absolute_errors, of.median, sketch=of.absolute_sketch,
               function="median_absolute_error"),
        _error("max_error", of.largest_error, LargestError.value, function="max_error", label="largest error"),
        _explained("explained_variance", of.residual_spread, ResidualSpread.explained,
                   function="explained_variance_score"),
        _error("mean_poisson_deviance", of.deviances, Mean.value, function="mean_poisson_deviance",
               label="Poisson deviance"),
        _error("mape", of.shares, Shares.value, function="mean_absolute_percentage_error", label="mape",
               title="mean absolute error as a share of the truth"),
        _error("msle", of.log_sums, ValueSums.mse, function="mean_squared_log_error", label="squared log error"),
        _error("rmsle", of.log_sums, ValueSums.rmse, function="root_mean_squared_log_error", label="root of the squared log error"),
        _error("mean_gamma_deviance", of.gamma_deviances, Mean.value, function="mean_gamma_deviance", label="gamma deviance"),
        _grouping("rand", Contingency.rand, high=1.0, label="Rand index"),
        _grouping("homogeneity", Contingency.homogeneity, high=1.0),
        _grouping("completeness", Contingency.completeness, high=1.0),
        _grouping("v_measure", Contingency.v_measure, high=1.0, label="V-measure"),
        _grouping("fowlkes_mallows", Contingency.fowlkes_mallows, high=1.0, label="Fowlkes-Mallows index"),
        _grouping("adjusted_rand", Contingency.adjusted_rand, low=-0.5, high=1.0, label="adjusted Rand index"),
        _grouping("mutual_info", Contingency.mutual_information, label="mutual information"),
        _grouping("normalized_mutual_info", Contingency.normalized_information, high=1.0,
                  label="normalized mutual information"),
        _grouping("adjusted_mutual_info", Contingency.adjusted_information, low=-1.0, high=1.0, label="adjusted mutual information"),
        Score("calinski_harabasz", (CLUSTERING,), True, LABELS, of.rows, of.calinski_harabasz, function="calinski_harabasz_score",
              merges=False, label="Calinski-Harabasz index"),
        Score("davies_bouldin", (CLUSTERING,), False, LABELS, of.rows, of.davies_bouldin, function="davies_bouldin_score",
              merges=False, label="Davies-Bouldin index"),
        Score("silhouette", (CLUSTERING,), True, LABELS, of.rows, of.silhouette, function="silhouette_score", low=-1.0,
              high=1.0, merges=False),
    )
}  # fmt: skip


def _all_names(score: Score) -> list[str]:
    """Its name, its synonyms, the name of its function where that has no more parameters, and scikit-learn's negated ones."""
    plain = {"average", "multi_class"}.isdisjoint(score.options) or score.name == "roc_auc"
    own = [score.name, *score.synonyms, *([score.function] if plain and score.function else [])]
    return own if score.greater_is_better else own + [f"neg_{name}" for name in own]


BY_NAME = {name: score for score in reversed(SCORES.values()) for name in _all_names(score)}


def score_names(role: str, n_classes: int | None = None) -> list[str]:
    """The names of the scores of learners of a role, synonyms left out."""
    many = n_classes is not None and n_classes > 2
    return [one.name for one in SCORES.values() if one.role == role and (not many or MANY_CLASSES in one.tasks)]


def known_score(name: str) -> Score | None:
    """The score of a name or synonym, of any task; None where there is none. Upper case, hyphens and spaces do not matter."""
    return BY_NAME.get(name.strip().lower().replace("-", "_").replace(" ", "_"))


def is_public(function: Any) -> bool:
    """Whether a function is the one of its name, here or in scikit-learn: then it is known which way is better."""
    name = str(getattr(function, "__name__", ""))
    theirs = str(getattr(function, "__module__", "")).startswith("sklearn.metrics.")
    return name in BY_NAME and (theirs or getattr(package, name, None) is function)


def find_score(
    score: Any,
    role: str,
    n_classes: int | None = None,
    *,
    parameter: str = "score",
    owner: str = "",
    also: tuple[str, ...] = (),
) -> Score:
    """The score of a name or synonym; None is accuracy for classifiers and R² for regressors.

    A function is one of (truth, prediction) or (model, X, y), distinguished by how many arguments it needs. A public
    function, or scikit-learn's of the same name, is the score of its name.

    `parameter` of `owner` is what the user gave it as; `also` are other words that it may be.
    """
    if score is None:
        return SCORES[DEFAULTS[role]]
    if isinstance(score, Score):
        return score
    where = f"{owner}({parameter}={{}})" if owner else f"{parameter}={{}}"
    if isinstance(score, Scorer) and score.name:
        score = score.name
    if callable(score):
        name = str(getattr(score, "__name__", "score"))
        if not is_public(score):
            return function_score(score, role, where.format(name))
        score = name
    found = known_score(score) if isinstance(score, str) else None
    if found is None or found.role != role:
        names = ", ".join([*also, *score_names(role, n_classes)])
        raise BadParameter(
            f"{where.format(repr(score)[:60])}: a {role} can be judged by {names}, "
            f"or a function of {METRIC} or {SCORER}"
        )
    if n_classes is not None and n_classes > 2 and MANY_CLASSES not in found.tasks:
        raise BadParameter(f"{where.format(repr(score))}: {found.two_only(n_classes)}")
    return found
