"""Would more rows help: one model fitted to more and more rows, judged on the same rows that it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.by_rows import map_rows
from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.evaluate.validate.ranges import score_range
from tenfold.evaluate.validate.spread import by_unit, mean_of
from tenfold.score.record import Score, judged_output
from tenfold.selection.model.table_model import TableModel
from tenfold.table.reading import pl
from tenfold.table.task import LEAST_CLASS_ROWS

SHARES = (1 / 8, 1 / 4, 1 / 2, 3 / 4)  # of all rows
LEAST_ROWS = 15
Facts = dict[str, Any]


def by_sizes(
    model: TableModel, frame: pl.DataFrame, y: Array, train: Array, test: Array, judge: Score, unit: Array | None = None,
    weight: Array | None = None,
) -> list[Facts]:  # fmt: skip
    """The score at each size with its range, each size holding the one before; a size that lacks a class is passed over. Rows of classes
    that have too few of them to be in any are left out.

    train: rows in any order that says nothing. The last point tells what it is ahead of the one before: the mean difference on the same
    rows, and its standard error. unit: a number for each row, the same for rows that belong together. weight: of each row, where they do
    not count alike.
    """
    points, losses, classes = list[Facts](), list[Array](), np.unique(y)
    if model.role == "classifier":
        labels, counts = np.unique(y, return_counts=True)
        classes = labels[counts >= LEAST_CLASS_ROWS]
        train, test = (rows[np.isin(y[rows], classes)] for rows in (train, test))
    beside = [None if one is None else one[test] for one in (weight, unit)]
    for share in SHARES:
        size = min(round(share * len(y)), len(train))
        if size < LEAST_ROWS or (points and size <= points[-1]["rows"]):
            continue
        some = np.sort(train[:size])
        try:
            fitted = model.again(frame[some], y[some], None if weight is None else weight[some])
            if model.role == "classifier" and not np.array_equal(fitted.classes_, classes):
                continue
            point, lost = _judged(fitted, frame[test], y[test], judge, *beside)
        except TenfoldError:  # too few rows for a learner
            continue
        points.append(point | dict(rows=size))
        losses.append(lost)
    if len(points) > 1 and judge.row_loss is not None:
        points[-1] |= _ahead(judge, losses[-2], losses[-1], points[-1]["score"], *beside)
    return points


def _judged(
    fitted: Any, rows: pl.DataFrame, y: Array, judge: Score, weight: Array | None, unit: Array | None
) -> tuple[Facts, Array]:
    """The score of unseen rows with its range, and the loss of each."""
    labels = np.asarray(fitted.classes_) if fitted.role == "classifier" else None
    output = judged_output(judge, map_rows(fitted._outputs, fitted._coded_rows(rows)).astype(np.float64), labels)
    truth = np.asarray(y, dtype=np.float64)[:, None] if labels is None else np.searchsorted(labels, y)
    found = score_range(judge, truth, output, weight, unit, classes=labels)
    lost = np.zeros(len(y)) if judge.row_loss is None else np.asarray(judge.row_loss(truth, output), dtype=np.float64).reshape(-1)
    return dict(score=float(found.estimate), low=float(found.low), high=float(found.high)), lost


def _ahead(judge: Score, before: Array, after: Array, score: float, weight: Array | None, unit_of: Array | None) -> Facts:
    """What the last rows bring, in the unit of the score: rows lose squares where it is a root or a share of them."""
    unit, w = 1.0, np.ones(len(after)) if weight is None else weight
    if judge.name == "rmse" and score > 0:
        unit = 2 * score
    elif judge.name == "r2" and score < 1:
        unit = float(np.average(after, weights=w)) / (1 - score)
    gap = by_unit(*mean_of((before - after) / unit, w), w, unit_of)
    return dict(gain=gap.value, error=gap.error)
