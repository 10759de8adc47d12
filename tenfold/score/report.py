"""All scores of a classifier from one pass, as a small table that also carries its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter
from tenfold.score.confusion import Confusion, Counted
from tenfold.score.inputs import Labels, truth_and_probabilities
from tenfold.score.means import Mean
from tenfold.score.probability import CalibrationBins, squared_distance, surprise
from tenfold.score.ranks import RankRows

AVERAGES = ("micro", "macro", "weighted")


@dataclass(frozen=True, eq=False)
class Report(Mapping[str, Any]):
    """Scores of each class and their averages; indexed by class name, "accuracy", "macro avg", ... it gives
    them as a dictionary.

    The last four are None unless probabilities were given. `averages` holds (precision, recall, F₁) under
    "micro", "macro", "weighted".
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
    balanced_accuracy: float
    confusion: Array
    complete: bool  # no label was left out, so that the micro average is the accuracy
    digits: int = 2
    log_loss: float | None = None
    brier: float | None = None
    calibration_error: float | None = None
    roc_auc: Array | None = None  # of each class against the others, NaN where the truth has no row of it

    @classmethod
    def of(cls, confusion: Confusion, labels: Any, names: Any, digits: int, zero_division: Any, **more: Any) -> Report:
        counted = confusion.by_class(labels, None)
        shown = counted.labels
        names = [str(label) for label in shown.tolist()] if names is None else [str(name) for name in names]
        if len(names) != len(shown):
            raise BadParameter(f"target_names has {len(names)} names for {len(shown)} classes: give one for each")
        quiet = 0 if isinstance(zero_division, str) and zero_division == "warn" else zero_division
        return cls(
            shown,
            names,
            counted.precision(zero_division),
            counted.recall(zero_division),
            counted.specificity(quiet),
            counted.fbeta(1.0, zero_division),
            counted.actual,
            {average: _averaged(confusion.by_class(labels, average), quiet) for average in AVERAGES},
            confusion.accuracy(),
            confusion.balanced_accuracy(),
            confusion.matrix(shown if np.isin(shown, confusion.truth).any() else None),
            set(shown.tolist()) >= set(confusion.labels.tolist()),
            digits,
            **more,
        )

    def as_dict(self) -> dict[str, Any]:
        """Precision, recall, F₁ and support of every class, then of the averages; the accuracy alone is a
        number.
        """
        heads = ("precision", "recall", "f1-score", "support")
        columns = zip(self.names, self.precision, self.recall, self.f1, self.support, strict=True)
        table: dict[str, Any] = {name: dict(zip(heads, map(float, row), strict=True)) for name, *row in columns}
        total = float(self.support.sum())
        for average, row in self.averages.items():
            if average == "micro" and self.complete:
                table["accuracy"] = self.averages["micro"][0]
            else:
                table[f"{average} avg"] = dict(zip(heads, (*row, total), strict=True))
        return table

    def __getitem__(self, name: str) -> Any:
        return self.as_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())

    def __str__(self) -> str:
        width = max(len(name) for name in [*self.names, "balanced accuracy"])
        auc = self.roc_auc is not None
        heads = ["precision", "recall", "F1", "support"] + ["AUC"] * auc
        lines = [" " * width + "".join(f"{head:>11}" for head in heads)]

        def line(name: str, row: Any, support: float, area: float | None = None) -> str:
            shares = "".join(f"{share:>11.{self.digits}f}" for share in row)
            return f"{name:>{width}}{shares}{support:>11,.10g}" + (
                f"{area:>11.{self.digits}f}" if area is not None else ""
            )

        areas = [None] * len(self.names) if self.roc_auc is None else self.roc_auc.tolist()
        rows = zip(self.names, self.precision, self.recall, self.f1, self.support, areas, strict=True)
        lines += [line(name, row, support, area) for name, *row, support, area in rows]
        total = self.support.sum()
        lines.append("")
        lines += [
            line(f"{name} mean", row, total)
            for name, row in self.averages.items()
            if name != "micro" or not self.complete
        ]
        lines.append("")
        single = {
            "accuracy": self.accuracy,
            "balanced accuracy": self.balanced_accuracy,
            "log loss": self.log_loss,
            "Brier score": self.brier,
            "calibration error": self.calibration_error,
        }
        lines += [f"{name:>{width}}{value:>11.{self.digits}f}" for name, value in single.items() if value is not None]
        return "\n".join(lines)

    __repr__ = __str__


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
) -> Report:
    """Precision, recall, specificity, F₁ and support of every class, their averages, accuracy, and the
    confusion, from one pass.

    y_pred: predicted labels; or probabilities, a column for each class, which add log loss, Brier score,
    calibration error and the AUC of each class. labels: which classes are shown, in which order; for
    probabilities, the classes of the columns. output_dict: no effect, as the report is indexed like
    scikit-learn's dictionary (`report["macro avg"]["recall"]`).

    >>> from tenfold.evaluate import classification_report
    >>> print(classification_report(["cat", "dog", "dog", "dog"], ["cat", "cat", "dog", "dog"]))
                       precision     recall         F1    support
                  cat       0.50       1.00       0.67          1
                  dog       1.00       0.67       0.80          3
    <BLANKLINE>
           macro mean       0.75       0.83       0.73          4
        weighted mean       0.88       0.75       0.77          4
    <BLANKLINE>
             accuracy       0.75
    balanced accuracy       0.83
    """
    if not isinstance(digits, (int, np.integer)) or digits < 0:
        raise BadParameter(f"digits={digits!r}: must be a whole number of at least 0")
    table = np.asarray(y_pred)
    if table.ndim < 2 or table.shape[1] == 1:
        confusion = Confusion.of(y_true, y_pred, sample_weight)
        return Report.of(confusion, labels, target_names, digits, zero_division)
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
