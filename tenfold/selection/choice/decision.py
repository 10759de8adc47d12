"""The rule by which a class is decided for, from probabilities: the one of least expected cost, argmin_a Σ_k p_k C[k, a].

Costs are given (`costs.py`), or follow from the score that judges:

    log loss, Brier, AUC, accuracy, ...        no rule: the most likely class
    F₁, Jaccard, balanced accuracy, Matthews   weights w of the classes that make the score of held-out rows best: argmax_k w_k p_k,
                                               which are costs C[k, a] = w_k [a ≠ k]; of two classes a threshold t, w = (t, 1 − t)

What is counted for that are not the classes of rows alone: few rows of a class would choose a threshold by luck. A row counts as
λ of its class and 1 − λ of what its probabilities say, λ = r/(r + 100), r the rows of the rarest class; with rows enough their classes
decide, however far off the probabilities are. In simulated worlds that is better at 60 to 4,000 rows than classes alone (F1 macro of
60 rows 0.589, by classes alone 0.544, by the most likely class 0.567; of 4,000 rows 0.595, 0.593 and 0.567), and no worse than
probabilities alone where these are off.

Weights are chosen from the rows that the model is chosen from, inside every round of the estimate, so that the estimate counts what the
choosing costs. Rows are not drawn again, nor weighted in fits: probabilities stay what they are, and can be decided by anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.by_rows import log_softmax, softmax
from tenfold.core.data import Array
from tenfold.score.record import TWO_CLASSES, Score, judged_output
from tenfold.score.registry import known_score
from tenfold.selection.choice.costs import cheapest

MOST_ROWS, MOST_ROWS_MANY = 50_000, 5_000  # that weights are chosen from, of two and of several classes
SHRINK = 100.0  # rows of the rarest class with which classes count as much as probabilities
STEPS, PASSES = 32, 2  # weights of a class that are tried, and times that each class has its turn, of several classes


def weight_costs(weights: Array) -> Array:
    """Weights of classes as costs: C[k, a] = w_k where a is not k."""
    return np.asarray(weights[:, None] * (1.0 - np.eye(len(weights))))


def threshold_of(costs: Array, positive: int = 1) -> float:
    """Of two classes: the probability of the positive one from which it is decided for."""
    wrongly, missed = (costs[k] @ np.where(np.arange(2) == positive, 1.0, -1.0) for k in (1 - positive, positive))
    return float(wrongly / (wrongly - missed))


def rule_for(judge: Score, truth: Array, output: Array, fold: Array, w: Array | None = None) -> Array | None:
    """The costs that make a score of these rows best; None where it is best by the most likely class.

    fold: of each row. What says the same of all rows of a fold has learned nothing from the columns, and gets one decision for all rows.
    """
    if judge.of_counts is None:
        return None
    if all(np.ptp(output[fold == k], axis=0).max() == 0 for k in np.unique(fold)):
        output = np.tile(output.mean(axis=0), (len(output), 1))
    return weight_costs(best_weights(judge, truth, output, w))


def decided(output: Array, costs: Array | None) -> Array:
    """Class scores with one more column, the number of the class that is decided for; as they are without a rule, or with that column."""
    if costs is None or output.shape[1] > len(costs):
        return output
    return np.column_stack([output, cheapest(softmax(output.astype(np.float64, copy=False)), costs)])


def at_best(judge: Score, truth: Array, output: Array, w: Array | None = None) -> Array:
    """Outputs as a score takes them, at the weights that are best by it for these very rows where it has any."""
    if judge.of_counts is None:
        return output
    classes = np.arange(output.shape[1])
    return judged_output(judge, decided(output, weight_costs(best_weights(judge, truth, output, w))), classes)


def best_weights(judge: Score, truth: Array, scores: Array, w: Array | None = None) -> Array:
    """Weights of the classes, which sum to one, that make a score of these rows, partly as their probabilities say, as great as can be.

    Two classes: the best of all thresholds that make a difference. Several: classes have their turn, one after the other, each with the
    best of some quantiles of the weights at which rows change; from even weights or from those of balanced accuracy, one over frequency.
    """
    k = scores.shape[1]
    most = MOST_ROWS if k == 2 else MOST_ROWS_MANY
    if len(truth) > most:
        some = np.linspace(0, len(truth) - 1, most).astype(np.int64)
        truth, scores, w = truth[some], scores[some], None if w is None else w[some]
    count = np.ones(len(truth)) if w is None else w
    logs, true = log_softmax(scores.astype(np.float64, copy=False)), np.bincount(truth, count, k)
    if (true > 0).sum() < 2:
        return np.full(k, 1 / k)
    seen = np.bincount(truth, minlength=k)
    trust = SHRINK / (SHRINK + seen[seen > 0].min())
    shares = count[:, None] * ((1 - trust) * np.eye(k)[truth] + trust * np.exp(logs))
    true = shares.sum(axis=0)
    climb = partial(_climbed, judge, shares, logs, count, true)
    if k == 2:
        return _normalised(climb(np.zeros(2), 1, None)[0])
    rare = -np.log(np.maximum(true, 1.0) / true.sum())
    value, start = max(((_value(judge, shares, logs + one, count, true), -j) for j, one in enumerate((np.zeros(k), rare))))
    found = rare if start else np.zeros(k)
    for _ in range(PASSES):
        before = value
        for one in np.argsort(true, kind="stable"):
            found, value = climb(found, int(one), STEPS)
        if not value > before + 1e-9:
            break
    return _normalised(found)


def _climbed(
    judge: Score, shares: Array, logs: Array, w: Array, true: Array, weights: Array, one: int, steps: int | None
) -> tuple[Array, float]:
    """Log weights with the best of one class, the others as they are; and the score that it has."""
    k = logs.shape[1]
    rest = logs + weights
    rest[:, one] = -np.inf
    other = rest.argmax(axis=1)
    at = rest[np.arange(len(logs)), other] - logs[:, one]  # the log weight from which a row is decided for the class
    ends = np.sort(at)
    if steps is not None and len(ends) > steps:
        ends = ends[np.linspace(0, len(ends) - 1, steps).astype(np.int64)]
    ends = ends[np.append(True, ends[1:] > ends[:-1])]
    place = np.searchsorted(ends, at)  # rows of place j change between ends j − 1 and j
    size = len(ends) + 1

    def moved(amount: Array) -> Array:
        """(places, classes): what has been taken from the other classes by each place."""
        return np.cumsum(np.bincount((place + 1) * k + other, amount, size * k).reshape(size, k), axis=0)

    gone, right_gone = moved(w), moved(shares[np.arange(len(logs)), other])
    said, right = gone[-1] - gone, right_gone[-1] - right_gone
    said[:, one], right[:, one] = gone.sum(axis=1), np.cumsum(np.bincount(place + 1, shares[:, one], size))
    assert judge.of_counts is not None
    values = judge.sign * judge.of_counts(right, said, true)
    inside = np.concatenate([[ends[0] - 1.0], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1.0]])
    best = np.flatnonzero(values >= values.max() - 1e-12)
    chosen = int(best[np.argmin(np.abs(inside[best]))])
    return np.where(np.arange(k) == one, inside[chosen], weights), float(values[chosen])


def _value(judge: Score, shares: Array, logs: Array, w: Array, true: Array) -> float:
    k, said = logs.shape[1], logs.argmax(axis=1)
    assert judge.of_counts is not None
    return judge.sign * float(judge.of_counts(np.bincount(said, shares[np.arange(len(said)), said], k), np.bincount(said, w, k), true))


def _normalised(logs: Array) -> Array:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


# --- scores of one of two classes -----------------------------------------------------------------------------------------


def of_class(judge: Score, positive: int) -> Score:
    """A score of the second of two classes as that of the positive one; other scores as they are."""
    if positive == 1 or not (judge.tasks == (TWO_CLASSES,) or judge.name == "average_precision"):
        return judge
    counted = None if judge.of_counts is None else partial(_turned_counts, judge.of_counts)
    return replace(judge, sums=partial(_turned, judge.sums), sketch=None, of_counts=counted)


def _turned(sums: Any, codes: Array, scores: Array, w: Array | None) -> Any:
    return sums(1 - codes, np.ascontiguousarray(scores[:, ::-1]), w)


def _turned_counts(counts: Any, right: Array, said: Array, true: Array) -> Array:
    return np.asarray(counts(right[..., ::-1], said[..., ::-1], true[::-1]))


def judge_of(metric: str, settings: Mapping[str, Any], classes: Sequence[str] | None) -> Score | None:
    """The score of a name as a run has it by its settings, where one of two classes is positive; None where it is not known."""
    found = known_score(metric)
    if found is None or classes is None or len(classes) != 2 or settings.get("positive") not in classes:
        return found
    return of_class(found, list(classes).index(settings["positive"]))
