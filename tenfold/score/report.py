"""All scores of a classifier from one pass, as a small table that also carries its numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.score.confusion import Confusion, Counted
from tenfold.score.inputs import Labels
from tenfold.score.label_sets import LabelSets, compared
from tenfold.score.means import Mean
from tenfold.score.probability import CalibrationBins, squared_distance, surprise
from tenfold.score.probability_inputs import truth_and_probabilities
from tenfold.score.ranks import RankRows

AVERAGES = ("micro", "macro", "weighted")
HEADS = ("precision", "recall", "f1-score", "support")


class Report(str):
    """Scores of each class and their averages, as a text that also carries its numbers.

    Indexed by a class name, "accuracy", "macro avg", ... it gives them as a dictionary, as `as_dict()` gives all. `averages`
    holds (precision, recall, F₁) under "micro", "macro", "weighted", and "samples" where rows have sets of labels; those have
    neither confusion nor balanced accuracy. The last four are None unless probabilities were given.
    """

    labels: Array
    names: list[str]
    precision: Array
    recall: Array
    specificity: Array
    f1: Array
    support: Array
    averages: dict[str, tuple[float, float, float]]
    accuracy: float
    balanced_accuracy: float | None
    confusion: Array | None
    complete: bool  # no label was left out, so that the micro average is the accuracy
    digits: int
    log_loss: float | None
    brier: float | None
    calibration_error: float | None
    roc_auc: Array | None  # of each class against the others, NaN where the truth has no row of it

    def __new__(cls, **numbers: Any) -> Self:
        blank = dict.fromkeys(("log_loss", "brier", "calibration_error", "roc_auc"))
        report = super().__new__(cls, _text(**{**blank, **numbers}))
        report.__dict__.update({**blank, **numbers})
        return report

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), dict(self.__dict__)

    @classmethod
    def of(
        cls, given: Confusion | LabelSets, labels: Any, names: Any, digits: int, zero_division: Any, **more: Any
    ) -> Report:
        counted = given.by_class(labels, None)
        quiet = 0 if isinstance(zero_division, str) and zero_division == "warn" else zero_division
        shown, of_classes = counted.labels, isinstance(given, Confusion)
        averages = AVERAGES if of_classes else (*AVERAGES, "samples")
        numbers: dict[str, Any] = dict(
            labels=shown,
            names=_names(names, shown, labels is not None),
            precision=counted.precision(zero_division),
            recall=counted.recall(zero_division),
            specificity=counted.specificity(quiet),
            f1=counted.fbeta(1.0, zero_division),
            support=counted.actual,
            averages={average: _averaged(given.by_class(labels, average), quiet) for average in averages},
            accuracy=given.accuracy(),
            balanced_accuracy=None,
            confusion=None,
            complete=False,
            digits=digits,
        )
        if isinstance(given, Confusion):
            numbers["balanced_accuracy"] = given.balanced_accuracy()
            numbers["confusion"] = given.matrix(shown if np.isin(shown, given.truth).any() else None)
            numbers["complete"] = set(shown.tolist()) >= set(given.labels.tolist())
        return cls(**numbers, **more)

    def as_dict(self) -> dict[str, Any]:
        """Precision, recall, F₁ and support of every class, then of the averages; the accuracy alone is a
        number.
        """
        columns = zip(self.names, self.precision, self.recall, self.f1, self.support, strict=False)
        table: dict[str, Any] = {name: dict(zip(HEADS, map(float, row), strict=True)) for name, *row in columns}
        total = float(self.support.sum())
        for average, row in self.averages.items():
            if average == "micro" and self.complete:
                table["accuracy"] = self.averages["micro"][0]
            else:
                table[f"{average} avg"] = dict(zip(HEADS, (*row, total), strict=True))
        return table

    def keys(self) -> Any:
        """The names of the rows, so that dict(report) is `as_dict()`."""
        return self.as_dict().keys()

    def __getitem__(self, at: Any) -> Any:
        return self.as_dict()[at] if isinstance(at, str) else super().__getitem__(at)

    __repr__ = str.__str__


def _names(names: Any, shown: Array, chosen: bool) -> list[str]:
    if names is None:
        return [str(label) for label in shown.tolist()]
    if len(names) != len(shown):
        if not chosen:
            raise BadParameter(
                f"Number of classes, {len(shown)}, does not match size of target_names, {len(names)}. "
                "Try specifying the labels parameter"
            )
        warn(f"labels size, {len(shown)}, does not match size of target_names, {len(names)}", DataWarning, stacklevel=4)
    return [str(name) for name in names]


def _text(
    names: list[str], precision: Array, recall: Array, f1: Array, support: Array, averages: Any, complete: bool, digits: int,
    balanced_accuracy: float | None, log_loss: float | None, brier: float | None, calibration_error: float | None,
    roc_auc: Array | None, **_: Any,
) -> str:  # fmt: skip
    """Lines of classes, of averages, and of what probabilities add."""
    width = max(len(name) for name in [*names, "weighted avg"])
    more = roc_auc is not None
    lines = [f"{'':>{width}} " + "".join(f" {head:>9}" for head in [*HEADS, *["AUC"] * more]), ""]

    def line(name: str, row: Any, rows: Any, area: float | None = None) -> str:
        shares = "".join(f" {share:>9.{digits}f}" if share is not None else " " * 10 for share in row)
        count = f"{rows:>9}" if isinstance(rows, int) else f"{rows:>9.7g}"
        return f"{name:>{width}} {shares} {count}" + (f" {area:>9.{digits}f}" if area is not None else "")

    areas = [None] * len(names) if roc_auc is None else roc_auc.tolist()
    for name, *row, rows, area in zip(names, precision, recall, f1, support.tolist(), areas, strict=False):
        lines.append(line(name, row, rows, area))
    lines.append("")
    total = support.sum().item()
    for average, row in averages.items():
        if average == "micro" and complete:
            lines.append(line("accuracy", (None, None, row[2]), total))
        else:
            lines.append(line(f"{average} avg", row, total))
    if more:
        single = {"balanced accuracy": balanced_accuracy, "log loss": log_loss, "Brier score": brier,
                  "calibration error": calibration_error}  # fmt: skip
        lines += ["", *(f"{name:>17} {value:.{digits}f}" for name, value in single.items() if value is not None)]
    return "\n".join(lines) + "\n"


def _averaged(counted: Counted, zero_division: Any) -> tuple[float, float, float]:
    return counted.precision(zero_division), counted.recall(zero_division), counted.fbeta(1.0, zero_division)


def classification_report(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    target_names: Any = None,
    sample_weight: Any = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: Any = "warn",
) -> Report | dict[str, Any]:
    """Precision, recall, specificity, F₁ and support of every class, their averages, accuracy, and the
    confusion, from one pass.

    y_pred: predicted labels; or probabilities, a column for each class, which add log loss, Brier score,
    calibration error and the AUC of each class. labels: which classes are shown, in which order; for
    probabilities, the classes of the columns. Where y_true is a table of zeros and ones, each row has a set of labels.
    output_dict: a dictionary instead of the text; the text is also indexed like it (`report["macro avg"]["recall"]`).

    >>> from tenfold.evaluate import classification_report
    >>> print(classification_report(["cat", "dog", "dog", "dog"], ["cat", "cat", "dog", "dog"]))
                  precision    recall  f1-score   support
    <BLANKLINE>
             cat       0.50      1.00      0.67         1
             dog       1.00      0.67      0.80         3
    <BLANKLINE>
        accuracy                           0.75         4
       macro avg       0.75      0.83      0.73         4
    weighted avg       0.88      0.75      0.77         4
    <BLANKLINE>
    """
    if not isinstance(digits, (int, np.integer)) or digits < 0:
        raise BadParameter(f"digits={digits!r}: must be a whole number of at least 0")
    wide = not ops.is_sparse(y_pred) and np.ndim(y_pred) == 2 and np.shape(y_pred)[1] > 1
    if wide and not ops.is_sparse(y_true) and (np.ndim(y_true) == 1 or np.shape(y_true)[1] == 1):
        report = _of_probabilities(y_true, y_pred, labels, target_names, sample_weight, digits, zero_division)
    else:
        report = Report.of(compared(y_true, y_pred, sample_weight), labels, target_names, digits, zero_division)
    return report.as_dict() if output_dict else report


def _of_probabilities(
    y_true: Any, y_pred: Any, labels: Any, target_names: Any, sample_weight: Any, digits: int, zero_division: Any
) -> Report:
    given = truth_and_probabilities(y_true, y_pred, sample_weight, labels)
    every = np.arange(len(given.classes))
    chosen = Labels(given.classes, given.truth, given.classes, given.scores.argmax(axis=1), given.w)
    least = np.finfo(given.scores.dtype).eps
    p = np.clip(given.scores[np.arange(len(given.truth)), given.truth], least, 1 - least)
    ranks, weights = RankRows.of(given), np.bincount(given.truth, minlength=len(every))
    return Report.of(
        Confusion.of_labels(chosen),
        given.classes,
        target_names,
        digits,
        zero_division,
        log_loss=Mean.of(surprise(np.log(p), np.log(least)), given.w).value(),
        brier=Mean.of(squared_distance(given.truth, given.scores), given.w).value() * (0.5 if len(every) == 2 else 1.0),
        calibration_error=CalibrationBins.of_scores(given, 10).error(),
        roc_auc=np.array(each(lambda a: _area(ranks, a, weights), every.tolist())),
    )


def _area(ranks: RankRows, a: int, weights: Array) -> float:
    return ranks.auc(a, a).value if 0 < weights[a] < weights.sum() else float("nan")
