"""What errors cost: as it is written, as a matrix of true classes and decisions, and as a score.

    FP:1,FN:20          two classes: a false alarm costs 1, a positive row that is missed 20; the positive class is named, or the rarer
    a>b:5,b>a:1         a row of class a that is taken for b costs 5
    costs.csv           a line for each true class, a column for each decision, the names of both at their heads

What is not named costs 1 where it is an error and nothing where it is right. A decision that is right may have a cost below 0: a gain.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.means import Mean
from tenfold.score.record import CLASSES, PROBABILITIES, RowLoss, Score
from tenfold.table.cells import as_numbers, as_texts
from tenfold.table.columns import comma_of
from tenfold.table.reading import pl, read_table

COST = "cost"  # the name of the score
TABLES = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")
LARGEST = 1e12
FORMS = "write FP:1,FN:20, or a>b:5,b>a:1 for each error, or name a file with a matrix of costs"
Named = list[list[Any]]  # what was given: [true class, decision, cost] of each, or ["", "FP", cost] and ["", "FN", cost]


def checked_cost(cost: Any) -> Named | None:
    """What was given as plain values that do not depend on a file; refused where it cannot be read.

    cost: a text, a path, {"FP": 1, "FN": 20}, {("a", "b"): 5} by true class and decision, or what this function has given.
    """
    if cost is None:
        return None
    if isinstance(cost, Mapping):
        pairs = [(key, value) for key, value in cost.items()]
    elif isinstance(cost, (list, tuple)) and cost and all(isinstance(one, (list, tuple)) and len(one) == 3 for one in cost):
        pairs = [(one[1] if one[0] == "" else (one[0], one[1]), one[2]) for one in cost]
    elif isinstance(cost, os.PathLike) or (isinstance(cost, str) and _is_file(cost)):
        return _from_file(Path(cost))
    elif isinstance(cost, str):
        parts = [part.strip() for part in cost.split(",") if part.strip()]
        pairs = [(name.strip(), value) for name, _, value in (part.rpartition(":") for part in parts)]
        if absent := [part for part in parts if ":" not in part]:
            raise BadParameter(f"cost={cost!r}: {absent[0]!r} has no number: {FORMS}")
    else:
        raise BadParameter(f"cost={cost!r}: {FORMS}")
    named = [[*_error(name, cost), _number(name, value)] for name, value in pairs]
    if not named or len({truth == "" for truth, _, _ in named}) > 1:
        raise BadParameter(f"cost={cost!r}: {FORMS}")
    twice = [one for one in named if sum(one[:2] == other[:2] for other in named) > 1]
    if twice:
        raise BadParameter(f"cost={cost!r}: {_written(twice[0])} is there twice: give it once")
    return named


def _is_file(text: str) -> bool:
    return Path(text).suffix.lower() in TABLES or (":" not in text and Path(text).is_file())


def _error(name: Any, cost: Any) -> list[str]:
    """An error as [true class, decision]; false positives and negatives have no true class yet."""
    if isinstance(name, tuple) and len(name) == 2:
        return [str(one) for one in name]
    if isinstance(name, str) and name.upper() in ("FP", "FN"):
        return ["", name.upper()]
    truth, mark, decision = str(name).partition(">")
    if not mark or not truth.strip() or not decision.strip() or ">" in decision:
        raise BadParameter(f"cost={cost!r}: {str(name)!r} is no error: {FORMS}")
    return [truth.strip(), decision.strip()]


def _number(name: Any, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(value, bool) or not abs(found) <= LARGEST:
        raise BadParameter(f"the cost of {name!r} is {value!r}: give a number, of at most {LARGEST:g}")
    return found


def _written(one: list[Any]) -> str:
    return f"{one[0]}>{one[1]}" if one[0] else str(one[1])


def written_cost(named: Any) -> str:
    """What was given as a text again."""
    known = [one for one in named if isinstance(one, (list, tuple)) and len(one) == 3]
    return ",".join(f"{_written(list(one))}:{one[2]:g}" if isinstance(one[2], (int, float)) else _written(list(one)) for one in known)


def _from_file(path: Path) -> Named:
    """A matrix with true classes in the first column, and a column for each decision."""
    raw = read_table(path, tell=lambda note: None)
    frame = raw.frame
    if frame.height and frame.columns == [f"column_{k + 1}" for k in range(frame.width)]:  # classes that are numbers, taken for data
        names = [as_texts(column)[0] or f"column_{k + 1}" for k, column in enumerate(frame.iter_columns())]
        frame = frame[1:].rename(dict(zip(frame.columns, names, strict=True))) if len(set(names)) == len(names) else frame
    if frame.width < 3 or not frame.height:
        raise BadInput(f"{raw.name} holds no matrix of costs: give a line for each true class and a column for each decision")
    truths, named, comma = as_texts(frame[:, 0]).fill_null("").to_list(), [], comma_of(raw)
    for name in frame.columns[1:]:
        column = frame[name]
        read = as_numbers(as_texts(column), comma) if column.dtype == pl.String else None
        values = column.cast(pl.Float64, strict=False) if read is None else read.values
        for truth, value in zip(truths, values.to_list(), strict=True):
            if value is None or not math.isfinite(value):
                raise BadInput(f"{raw.name} has no cost of deciding for {name!r} where {truth!r} is true: give a number")
            named.append([truth, str(name), _number(f"{truth}>{name}", value)])
    repeated = next((one for k, one in enumerate(truths) if one in truths[:k]), None)
    if repeated is not None:
        raise BadInput(f"{raw.name} has two lines for the class {repeated!r}: give one for each true class")
    return named


def positive_class(codes: Array, classes: Sequence[Any], named: str | None) -> int:
    """The number of the positive one of two classes: the one that is named, else the rarer; of equal ones the second."""
    labels = [str(one) for one in classes]
    if named is not None:
        if len(labels) != 2:
            raise BadParameter(f"positive={named!r} is for two classes, and there are {len(labels)}: leave it out")
        return _place(named, labels, "positive")
    counts = np.bincount(codes, minlength=len(labels))
    return 0 if len(labels) == 2 and counts[0] < counts[1] else len(labels) - 1


def cost_matrix(named: Named, classes: Sequence[Any], positive: int) -> Array:
    """(true classes, decisions): the cost of each; refused where there is nothing to decide."""
    labels = [str(one) for one in classes]
    costs = 1.0 - np.eye(len(labels))
    for truth, decision, value in named:
        if truth:
            costs[_place(truth, labels, "cost"), _place(decision, labels, "cost")] = value
        elif len(labels) != 2:
            raise BadParameter(
                f"cost={decision}:{value:g} is for two classes, and there are {len(labels)}: "
                f"write {labels[0]}>{labels[1]}:5, or name a file"
            )
        elif decision == "FP":
            costs[1 - positive, positive] = value
        else:
            costs[positive, 1 - positive] = value
    for a, label in enumerate(labels):
        if (costs[:, a, None] <= costs).all():
            truth = labels[1 - a] if len(labels) == 2 else labels[int(a == 0)]
            raise BadParameter(f"deciding for {label!r} never costs more than anything else: give a cost above 0 to {truth}>{label}")
    return costs


def _place(name: str, labels: list[str], parameter: str) -> int:
    for text in (name, name.removesuffix(".0")):
        if text in labels:
            return labels.index(text)
    known = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
    raise BadParameter(f"{parameter}: {name!r} is no class of the target, whose classes are {known}")


def cheapest(shares: Array, costs: Array) -> Array:
    """The decision of least expected cost, argmin_a Σ_k p_k C[k, a]; of equal ones the first."""
    return np.asarray((shares @ costs).argmin(axis=1))


def cost_score(costs: Array, likely: bool = False) -> Score:
    """The mean cost of the decisions of least expected cost, or of those for the most likely class, from class scores."""
    row_loss = partial(_row_costs, costs, likely)
    least, most = min(float(costs.min()), 0.0), float(costs.max())
    return Score(
        COST, CLASSES, False, PROBABILITIES, partial(_sums, row_loss), Mean.value, low=least, high=most, label="mean cost",
        row_loss=row_loss, loss_label="cost", mean_of_rows=True,
    )  # fmt: skip


def _row_costs(costs: Array, likely: bool, codes: Array, scores: Array) -> Array:
    return np.asarray(costs[codes, scores.argmax(axis=1) if likely else cheapest(softmax(scores), costs)])


def _sums(row_loss: RowLoss, codes: Array, scores: Array, w: Array | None) -> Mean:
    return Mean.of(row_loss(codes, scores), w)
