"""Decisions: from probabilities to actions, when errors have different costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.inputs import truth_and_scores

REJECT = -1


def _probabilities(probabilities: Any) -> Array:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim == 1:
        p = np.column_stack([1 - p, p])
    if p.ndim != 2 or not len(p):
        raise BadInput(
            f"probabilities must be one row for each case and one column for each class, not of shape {p.shape}"
        )
    bad = ~np.isfinite(p).all(axis=1) | (p < -1e-12).any(axis=1) | (np.abs(p.sum(axis=1) - 1) > 1e-6)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise BadInput(f"the probabilities of row {row} are {p[row][:6]}: they must lie between 0 and 1 and sum to 1")
    return p


def minimum_risk(probabilities: Any, loss: Any, reject: float | None = None) -> Array:
    """The action of least expected loss:  argmin_a Σ_k loss[k, a] p_k;  ties go to the first.

    loss[k, a] is the cost of action a when the class is k: one row for each class, one column for each action. With `reject`, a case
    whose least expected loss is above that cost is left undecided (−1).

    >>> from tenfold.evaluate import minimum_risk
    >>> minimum_risk([[0.8, 0.2], [0.95, 0.05]], loss=[[0, 1], [10, 0]]).tolist()
    [1, 0]
    """
    p, L = _probabilities(probabilities), np.asarray(loss, dtype=np.float64)
    if L.ndim != 2 or L.shape[0] != p.shape[1] or not np.isfinite(L).all():
        raise BadInput(
            f"loss must be a finite matrix with one row for each of the {p.shape[1]} classes, not of shape {L.shape}"
        )
    risk = p @ L
    action = risk.argmin(axis=1)
    if reject is not None:
        action[risk.min(axis=1) > reject] = REJECT
    return np.asarray(action)


def threshold(false_positive: float, false_negative: float) -> float:
    """Predict "positive" from this probability on:  L_FP / (L_FP + L_FN),  where correct predictions cost nothing.

    >>> from tenfold.evaluate import threshold
    >>> threshold(false_positive=1, false_negative=4)
    0.2
    """
    if not (false_positive >= 0 and false_negative >= 0 and false_positive + false_negative > 0):
        raise BadParameter(f"costs {false_positive!r} and {false_negative!r}: must not be negative, nor both zero")
    return false_positive / (false_positive + false_negative)


def likelihood_ratio_test(
    log_ratio: Any, prior: float = 0.5, false_positive: float = 1.0, false_negative: float = 1.0
) -> Array:
    """Decide "positive" where  log p(x | +)/p(x | −) > log [L_FP (1 − π) / (L_FN π)],  π the prior of "positive"."""
    if not 0 < prior < 1:
        raise BadParameter(f"prior={prior!r}: must lie between 0 and 1")
    if not (false_positive > 0 and false_negative > 0):
        raise BadParameter(f"costs {false_positive!r} and {false_negative!r}: must be above zero")
    bound = np.log(false_positive) + np.log1p(-prior) - np.log(false_negative) - np.log(prior)
    return np.asarray(np.asarray(log_ratio, dtype=np.float64) > bound)


@dataclass(frozen=True)
class RiskCurve:
    """Expected cost of each threshold along the ROC, and the best: predict "positive" where the score is at least `best`."""

    thresholds: Array
    risk: Array

    @property
    def best(self) -> float:
        return float(self.thresholds[self.risk.argmin()])

    @property
    def least(self) -> float:
        return float(self.risk.min())


def risk_curve(
    truth: Any,
    scores: Any,
    false_positive: float,
    false_negative: float,
    prior: float | None = None,
    sample_weight: Any = None,
) -> RiskCurve:
    """R(t) = L_FP (1 − π) FPR(t) + L_FN π FNR(t)  for every threshold that changes a decision.

    prior: share of positives where the decisions will be taken; None: as in these rows. The least risk is that of the best threshold on
    these very rows: choose on some rows, and judge on others.

    >>> from tenfold.evaluate import risk_curve
    >>> risk_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], false_positive=1, false_negative=5).best
    0.35
    """
    given = truth_and_scores(truth, scores, sample_weight)
    if len(given.classes) != 2 or given.scores.shape[1] != 1:
        raise BadInput(f"give one score for each row, and rows of two classes: the truth holds {len(given.classes)}")
    s = given.scores[:, 0]
    order = np.argsort(-s, kind="stable")
    positive, s = (given.truth == 1)[order], s[order]
    w = np.ones(len(s)) if given.w is None else given.w[order]
    last = np.append(s[1:] != s[:-1], True)
    hit = np.append(0.0, np.cumsum(w * positive)[last])
    alarm = np.append(0.0, np.cumsum(w * ~positive)[last])
    pi = hit[-1] / (hit[-1] + alarm[-1]) if prior is None else prior
    risk = false_positive * (1 - pi) * alarm / alarm[-1] + false_negative * pi * (1 - hit / hit[-1])
    return RiskCurve(np.append(np.inf, s[last]), risk)
