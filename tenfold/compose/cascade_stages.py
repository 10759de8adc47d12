"""The training of a cascade: stages one after the other, with thresholds that rows held out have set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.members import copy_of, fit_member, shares_of
from tenfold.compose.adaboost import AdaBoostClassifier
from tenfold.core.data import Array
from tenfold.core.errors import Degenerate, warn
from tenfold.core.monitor import keep_on_interrupt

MOST = 2**40  # rows that are counted one by one


@dataclass(slots=True)
class Part:
    """Some rows: those that stages learn from, or those that set their thresholds."""

    X: Array
    sought: Array  # (n) 1 for the positive class, else 0
    w: Array

    def only(self, rows: Array) -> Part:
        return Part(self.X[rows], self.sought[rows], self.w[rows])


def both(part: Part) -> bool:
    return bool(part.sought.any() and not part.sought.all())


class Stages:
    """The training of a cascade."""

    def __init__(self, model: Any, category: Array) -> None:
        self.model, self.category = model, category

    def fit(self, learn: Part, held: Part, same: bool) -> dict[str, Any]:
        chosen = self.model._chosen()
        m, size = _counted(held.w[held.sought == 1])
        budget = self._budget(m, same)
        chosen = chosen[-max(1, min(len(chosen), budget)) :]  # each threshold spends one row at least
        spend = [budget // len(chosen) + (t < budget % len(chosen)) for t in range(len(chosen))]
        stages, thresholds, passing, spent = list[Any](), list[float](), list[float](), 0
        others = held.w[held.sought == 0].sum()
        missed, cost, costs = 0.0, 0.0, list[float]()
        for learner, count in zip(chosen, spend, strict=True):
            if not both(learn) or not held.sought.any():
                break
            try:
                stage = self._fitted(learner, learn)
            except KeyboardInterrupt:
                if not stages:
                    raise
                keep_on_interrupt(f"{len(stages)} of {len(chosen)} stages of CascadeClassifier are fitted")
                break
            scores = shares_of(stage, held.X, 2)[:, 1]
            threshold = _threshold(scores[held.sought == 1], size * held.w[held.sought == 1], count)
            stages.append(stage)
            thresholds.append(threshold)
            costs.append(_cost_of(stage))
            cost += float(held.w.sum()) * costs[-1]
            missed += float(held.w[(held.sought == 1) & (scores < threshold)].sum())
            spent += count
            held = held.only(scores >= threshold)
            passing.append(float(held.w[held.sought == 0].sum() / others) if others > 0 else 0.0)
            learn = learn.only(shares_of(stage, learn.X, 2)[:, 1] >= threshold)
        total = missed + float(held.w[held.sought == 1].sum())
        return dict(
            estimators_=stages,
            thresholds_=np.array(thresholds),
            miss_bound_=_upper(spent, m, self.model.confidence),
            held_out_miss_=missed / total,
            pass_rate_=np.array(passing),
            stage_costs_=np.array(costs),
            cost_=float(cost / (total + others)),
        )

    def _fitted(self, learner: Estimator, learn: Part) -> Any:
        """Both sides count the same, whatever their number."""
        sides = np.bincount(learn.sought, learn.w, 2)
        w = learn.w * (sides.sum() / 2 / sides)[learn.sought]
        return fit_member(copy_of(learner), learn.X, learn.sought, w, self.category)

    def _budget(self, m: int, same: bool) -> int:
        """How many of m positive rows held out the thresholds may spend in all."""
        low, high = 0, m + 1  # the limit grows with what is spent
        while high - low > 1:
            middle = (low + high) // 2
            within = _upper(middle, m, self.model.confidence) <= self.model.max_miss
            low, high = (middle, high) if within else (low, middle)
        if low > 0 and not same:
            return low
        needed = int(np.ceil(np.log(1 - self.model.confidence) / np.log1p(-self.model.max_miss)))
        warn(
            f"CascadeClassifier: {0 if same else m} positive rows are held out, too few to show a miss rate of "
            f"{self.model.max_miss:g} with confidence {self.model.confidence:g}: give {needed} or more, or allow more misses",
            Degenerate,
            stacklevel=2,
        )
        return 1


def _counted(w: Array) -> tuple[int, float]:
    """How many rows these weights stand for, and the factor that makes the weights add up to it."""
    if (w == np.round(w)).all():
        return int(min(w.sum(), MOST)), 1.0
    effective = max(1, int(w.sum() ** 2 / (w @ w)))
    return effective, effective / float(w.sum())


def _upper(spent: Any, m: int, confidence: float) -> Any:
    """The limit that a miss rate with the distribution Beta(spent, m − spent + 1) does not exceed, with this confidence."""
    from scipy.special import betaincinv

    return betaincinv(spent, m - spent + 1, confidence)


def _threshold(scores: Array, w: Array, count: int) -> float:
    """The count-th smallest score, rows counted by their weights: those below it are lost, that one is not."""
    order = np.argsort(scores, kind="stable")
    place = int(np.searchsorted(np.cumsum(w[order]), count * (1 - 1e-9)))
    return float(scores[order[min(place, len(order) - 1)]])


def _cost_of(stage: Any) -> float:
    """Stumps have one split each; of other learners nothing is known, so they count 1."""
    return float(len(stage.estimator_weights_)) if isinstance(stage, AdaBoostClassifier) else 1.0
