"""Scores of sets of labels: each row may have several, given as a table of zeros and ones with a column for each label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.stats import Stats
from tenfold.score.confusion import AVERAGES, Confusion, Counted, check_unused
from tenfold.score.inputs import Sets, check_choice, truth_and_labels


@dataclass(slots=True)
class LabelSets(Stats):
    """True and predicted labels of rows, by blocks: ratios of single rows need the rows."""

    blocks: list[Sets]

    def __add__(self, other: Self) -> Self:
        widths = {block.truth.shape[1] for block in [*self.blocks, *other.blocks]}
        if len(widths) > 1:
            raise BadInput(f"blocks have {' and '.join(map(str, sorted(widths)))} labels: give as many columns in each")
        return type(self)([*self.blocks, *other.blocks])

    def whole(self) -> Sets:
        if len(self.blocks) == 1:
            return self.blocks[0]
        w = None
        if any(block.w is not None for block in self.blocks):
            w = np.concatenate([np.ones(len(one.truth)) if one.w is None else one.w for one in self.blocks])
        truth, other = (np.concatenate([block[i] for block in self.blocks]) for i in (0, 1))
        return Sets(truth, other, w)

    @property
    def labels(self) -> Array:
        return np.arange(self.blocks[0].truth.shape[1])

    def accuracy(self, normalize: bool = True) -> float:
        """The weight of the rows whose whole set is right, or its share."""
        truth, predicted, w = self.whole()
        right = (truth == predicted).all(axis=1)
        total = float(right.sum() if w is None else right @ w)
        return total / float(len(truth) if w is None else w.sum()) if normalize else total

    def error(self, normalize: bool = True) -> float:
        truth, _, w = self.whole()
        whole = 1.0 if normalize else float(len(truth) if w is None else w.sum())
        return whole - self.accuracy(normalize)

    def hamming(self) -> float:
        """The share of cells that are wrong."""
        truth, predicted, w = self.whole()
        return float(np.average((truth != predicted).mean(axis=1), weights=w))

    def by_class(self, labels: Any, average: str | None, pos_label: Any = 1) -> Counted:
        """Right, predicted and true weight of each chosen label; of each row for the average over samples."""
        check_choice("average", average, AVERAGES)
        if average == "binary":
            raise BadParameter(
                "Target is multilabel-indicator but average='binary'. Please choose another average setting, one of "
                "[None, 'micro', 'macro', 'weighted', 'samples']."
            )
        check_unused(pos_label, average)
        truth, predicted, w = self.whole()
        chosen = self.labels if labels is None else np.asarray(labels)
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self.labels)):
            raise BadParameter(
                f"All labels must be in [0, n labels) for multilabel targets: n labels is {len(self.labels)} and "
                f"labels={chosen.tolist()}"
            )
        tables = [truth[:, chosen] & predicted[:, chosen], predicted[:, chosen], truth[:, chosen]]
        if average == "samples":
            right, guessed, actual = (table.sum(axis=1) for table in tables)
            return Counted(chosen, average, right, guessed, actual, np.full(len(truth), len(chosen)), w)
        counts = [table.sum(axis=0) if w is None else w @ table for table in tables]
        counts.append(np.full(len(chosen), len(truth) if w is None else w.sum()))
        if average == "micro":
            counts = [count.sum(keepdims=True) for count in counts]
        return Counted(chosen, average, *counts)


def compared(y_true: Any, y_pred: Any, sample_weight: Any = None) -> Confusion | LabelSets:
    """The statistic of predicted labels, or of predicted sets of labels."""
    given = truth_and_labels(y_true, y_pred, sample_weight)
    return LabelSets([given]) if isinstance(given, Sets) else Confusion.of_labels(given)


def over_labels(given: Sets, average: str | None, score: Callable[[Array, Array, Array | None], float]) -> Any:
    """A score of two classes, score(truth, scores, weights), of each label; or of each row, or of all cells together.

    average: "macro" the mean over labels, "weighted" by their true rows, None one for each label, "micro" all cells as one
    column, "samples" the mean over rows.
    """
    check_choice("average", average, ("micro", "macro", "weighted", "samples", None))
    truth, scores, w = given
    codes, scores = truth.astype(np.int64, order="C"), np.ascontiguousarray(scores)
    if average == "micro":
        return score(codes.reshape(-1), scores.reshape(-1), None if w is None else np.repeat(w, scores.shape[1]))
    if average == "samples":
        return float(np.average([score(*row, None) for row in zip(codes, scores, strict=True)], weights=w))
    share = None
    if average == "weighted":
        share = codes.sum(axis=0).astype(np.float64) if w is None else w @ codes
        if not share.any():
            return 0.0
    values = np.array([score(np.ascontiguousarray(a), np.ascontiguousarray(s), w) for a, s in zip(codes.T, scores.T, strict=True)])
    if average is None:
        return values
    if share is not None:
        values[share == 0] = 0.0  # a label without rows has no weight, whatever its score
    return float(np.average(values, weights=share))
