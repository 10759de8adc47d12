"""The learner that gradient boosting begins with (`init`): the trees add what it leaves over."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.members import copy_of, fit_member
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput
from tenfold.core.learning import Keep, Learner
from tenfold.tree.boosting.losses import loss_of
from tenfold.tree.boosting.training import Training
from tenfold.tree.settings import refuse

SMALLEST = float(np.finfo(np.float32).eps)  # of a share that is turned into a raw sum, and of what it lacks to 1


def given_learner(model: Estimator) -> Any:
    """The learner that `init` holds, or None where it is a constant."""
    given = model.init
    if given is None or isinstance(given, str):
        return None
    verbs = ("fit", "predict_proba" if model.role == "classifier" else "predict")
    fits = not isinstance(given, type) and all(hasattr(given, verb) for verb in verbs)
    if not fits or (isinstance(given, Estimator) and given.role not in (model.role, "")):
        asked = " and ".join(map(repr, verbs))
        raise refuse(
            model,
            "init",
            f"The 'init' parameter of {type(model).__name__} must be a str among {{'zero'}}, None or an object implementing {asked}.",
        )
    return given


def begin(
    model: Estimator, source: Source, table: Training, category: Array, seed: int, fitted: Any
) -> Learner[Any]:
    """Fit `init` to the training rows (or take the one `fitted` before), and add its predictions to the raw sums of all rows."""
    X, _, _ = yield Keep()
    if fitted is None:
        train, y, w = table.gathered()
        fitted = _fitted(model, X[train], y, w, category, seed)
    table.add(raw_of(model, fitted, X).T)
    return fitted


def _fitted(model: Estimator, X: Array, y: Array, w: Array | None, category: Array, seed: int) -> Any:
    given = given_learner(model)
    target = y.astype(np.int64) if model.target == "label" else y
    if isinstance(given, Estimator):
        if category.any() and not given.categorical:
            raise refuse(model, "init", "does not take columns of categories: use a tree, or encode them before")
        return fit_member(copy_of(given, seed), X, target, w, category)
    member = deepcopy(given)
    if w is None:
        return member.fit(X, target)
    if "sample_weight" not in inspect.signature(member.fit).parameters:
        raise refuse(model, "init", f"The initial estimator {type(given).__name__} does not support sample weights")
    return member.fit(X, target, sample_weight=w)


def raw_of(model: Estimator, member: Any, X: Array) -> Array:
    """(rows, outputs): the predictions of a fitted learner, as sums that trees may be added to."""
    if model.target == "real":
        raw = np.asarray(member.predict(X), dtype=np.float64).reshape(X.shape[0], 1)
    else:
        probabilities = np.zeros((X.shape[0], len(model.classes_)))
        probabilities[:, np.asarray(member.classes_, dtype=np.int64)] = member.predict_proba(X)
        logs = np.log(np.clip(probabilities, SMALLEST, 1 - SMALLEST))
        if probabilities.shape[1] > 2:
            raw = logs - logs.mean(axis=1, keepdims=True)
        else:
            logit = logs[:, 1:] - np.log1p(-np.clip(probabilities[:, 1:], SMALLEST, 1 - SMALLEST))
            raw = logit / 2 if loss_of(model).link == "half logit" else logit
    if not np.isfinite(raw).all():
        raise BadInput(f"{type(model).__name__}(init={type(member).__name__}): it predicts numbers that are not finite")
    return raw
