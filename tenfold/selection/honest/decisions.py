"""What is decided from probabilities in a run: costs, thresholds, the positive class; and what is told of them on held-out rows.

A class is rare where it has less than a tenth of the rows, and less than half of an even share. Then being right is no measure: always
saying the other classes is right nearly always, and finds none of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.evaluate.validate.intervals import wilson
from tenfold.evaluate.validate.ranges import loss_range
from tenfold.score.record import Score, split_choice
from tenfold.score.registry import SCORES
from tenfold.selection.choice.costs import Named, cost_matrix, cost_score, positive_class
from tenfold.selection.choice.decision import of_class, threshold_of
from tenfold.selection.honest.audit import Audit
from tenfold.table.task import LEAST_CLASS_ROWS, Task

RARE, EVEN = 0.1, 0.5  # a share of the rows, and of an even share
THRESHOLDS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
MOST_CLASSES = 5  # rare ones of several classes that are told of
Facts = dict[str, Any]


@dataclass(frozen=True)
class Decisions:
    """What was asked for: costs, and which of two classes is the positive one."""

    costs: Array | None
    positive: int  # 1, the second, where there is no positive one: of numbers, and of several classes
    rare: Array  # codes of the rare classes, the rarest first

    @classmethod
    def of(cls, task: Task, cost: Named | None = None, positive: str | None = None) -> Decisions:
        if task.kind == "number":
            asked = [f"{name}={value!r}" for name, value in (("cost", cost), ("positive", positive)) if value is not None]
            if asked:
                raise BadParameter(
                    f"{asked[0].partition('=')[0]} is for classes, and {task.target!r} is a number: leave it out, or say task='classes'"
                )
            return cls(None, 1, np.empty(0, dtype=np.int64))
        labels = [str(one) for one in task.classes]
        code = positive_class(task.codes, labels, positive)
        counts = np.bincount(task.codes)
        order = np.argsort(counts, kind="stable")
        order = order[counts[order] >= LEAST_CLASS_ROWS]  # of a row or two there is nothing to tell
        rare = order[counts[order] < min(RARE, EVEN / len(labels)) * len(task.y)][:MOST_CLASSES]
        return cls(None if cost is None else cost_matrix(cost, labels, code), code if len(labels) == 2 else 1, rare)

    def judge(self, score: Score) -> Score:
        """A score of one of two classes as that of the positive one."""
        return of_class(score, self.positive)

    def beside(self, scores: list[Score]) -> list[Score]:
        """The scores that are told beside the judge: the cost first where there are costs, and where a class is rare how it is ranked."""
        names = [one.name for one in scores]
        ranked = [SCORES["average_precision"]] if len(self.rare) and "roc_auc" in names else []
        return [*([] if self.costs is None else [cost_score(self.costs)]), *scores, *(self.judge(one) for one in ranked)]

    def facts(self, task: Task, found: Audit, outputs: Array, rule: Array | None) -> Facts | None:
        """What the decisions of held-out rows come to; None where there is nothing to say but the most likely class.

        outputs: class scores, with the decisions of the rounds where there is a rule; rule: what is saved. Costs and shares of right
        decisions are means by the weights of rows, where there are some; what is counted are rows.
        """
        if task.kind == "number" or (rule is None and not len(self.rare)):
            return None
        labels, truth, w = [str(one) for one in task.classes], found.held.y[found.rows], found.held.weights(found.rows)
        scores, codes = split_choice(outputs, len(labels))
        likely = scores.argmax(axis=1)
        said = likely if codes is None else codes
        facts: Facts = dict(
            by="likely" if rule is None else "given" if self.costs is not None else "chosen",
            metric=found.held.judge.name,
            classes=labels,
            rows=len(truth),
            costs=None if rule is None else rule.tolist(),
            accuracy=float(np.average(said == truth, weights=w)),
            most_frequent=_most_frequent(truth, labels, w),
            other_than_likely=float(np.mean(said != likely)),
            cost=None if self.costs is None else self._cost(found, outputs, labels),
        )
        classes = [self.positive] if len(labels) == 2 else self.rare.tolist()
        unit = None if found.held.units is None else found.held.units[found.rows]
        facts["found"] = [_found(truth == k, said == k, labels[k], k in self.rare, unit) for k in classes]
        if len(labels) == 2:
            k = self.positive
            facts["threshold"] = 0.5 if rule is None else threshold_of(rule, k)
            facts["thresholds"] = _thresholds(truth == k, 1 / (1 + np.exp(scores[:, 1 - k] - scores[:, k])), unit)
        return facts

    def _cost(self, found: Audit, outputs: Array, labels: list[str]) -> Facts:
        """The mean cost of a row, as it is estimated: of the decisions, of the most likely class, and of always deciding for the class that
        is cheapest so."""
        assert self.costs is not None
        always = np.average(self.costs[found.held.y[found.rows]], axis=0, weights=found.held.weights(found.rows))
        one = int(np.argmin(always))
        decided, plain = (asdict(found.estimate(cost_score(self.costs, likely), outputs)) for likely in (False, True))
        return dict(decided=decided, likely=plain, always=float(always[one]), one=labels[one])


def _most_frequent(truth: Array, labels: list[str], w: Array) -> Facts:
    counts = np.bincount(truth, w, minlength=len(labels))
    return dict(label=labels[int(counts.argmax())], share=float(counts.max() / counts.sum()))


def _found(true: Array, said: Array, label: str, rare: bool, unit: Array | None) -> Facts:
    """How many rows of a class are found, and how often it is right when it is said, with 95 % ranges. unit: a number for each row, the
    same for rows that belong together."""
    hits, rows, flagged = int((true & said).sum()), int(true.sum()), int(said.sum())
    return dict(
        label=label,
        rare=rare,
        share=float(true.mean()),
        rows=rows,
        found=hits,
        said=flagged,
        recall=_share(said[true], None if unit is None else unit[true]),
        precision=_share(true[said], None if unit is None else unit[said]),
        flagged=flagged / len(true),
    )


def _share(part: Array, unit: Array | None) -> Facts | None:
    """How many of some rows are true, with the range by rows, or by those that belong together."""
    if not len(part):
        return None
    found = wilson(int(part.sum()), len(part)) if unit is None else loss_range(part, units=unit, widen=1.0)
    return dict(value=float(part.mean()), low=found.low, high=found.high)


def _thresholds(true: Array, chance: Array, unit: Array | None) -> list[Facts]:
    """The same at round thresholds; those at which all is said or nothing more is found are left out."""
    found: list[Facts] = []
    for at in THRESHOLDS:
        said = chance >= at
        if found and (found[-1]["found"] == true.sum() or said.mean() > 0.9):
            break
        one = _found(true, said, "", False, unit)
        found.append(dict(at=at, **{name: one[name] for name in ("found", "said", "recall", "precision", "flagged")}))
    return found
