"""The parameter `scoring` of boosting, where it is not the loss: a score by name or a function; greater is better."""

from __future__ import annotations

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.score.record import Score
from tenfold.score.registry import find_score


def score_of(model: Estimator) -> Score:
    """The score that `scoring` asks for; refuses what is none of these classes."""
    n_classes = len(model.classes_) if model.target == "label" else None
    owner = type(model).__name__
    return find_score(model.scoring, model.role, n_classes, parameter="scoring", owner=owner, also=("loss",))


def utility(model: Estimator, y: Array, raw: Array, w: Array | None) -> float:
    """Of targets (n,), raw sums (outputs, n) and weights (n,) or None."""
    if model.target == "label":
        return score_of(model).utility(
            y.astype(np.int64), model._sharpness() * model._class_scores(raw.T), w, model.classes_
        )
    return score_of(model).utility(y[:, None], model._read(raw.T, np.float64)[:, None], w)
