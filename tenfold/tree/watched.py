"""The parameter `scoring` of boosting: a score of tenfold.evaluate by its name, or a function of the user; larger is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tenfold.score
from tenfold.base.sklearn_api import Protocol
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.tree.settings import refuse

Score = Callable[[Array, Array, Array | None], float]  # of targets (n,), raw sums (outputs, n), weights (n,) or None


@dataclass(frozen=True)
class Named:
    """A public score, and what it asks for."""

    function: str  # of tenfold.evaluate
    given: str  # "classes", "shares", "second" (the share of the second class) or "values"
    sign: float = 1.0
    options: dict[str, Any] = field(default_factory=dict)


def _averages(name: str, function: str) -> dict[str, Named]:
    """A score of one class against the other, and its means over classes."""
    means = {f"{name}_{how}": dict(average=how, zero_division=0) for how in ("macro", "micro", "weighted")}
    return {
        name: Named(function, "classes", options=dict(zero_division=0)),
        **{one: Named(function, "classes", options=options) for one, options in means.items()},
    }


def _areas(which: str) -> dict[str, Named]:
    """Areas under the curves of one class against the rest, or of pairs of classes; for two classes both are roc_auc."""
    options = {"": dict(multi_class=which), "_weighted": dict(multi_class=which, average="weighted")}
    return {f"roc_auc_{which}{end}": Named("roc_auc_score", "shares", options=one) for end, one in options.items()}


NAMED = {
    "classifier": {
        "accuracy": Named("accuracy_score", "classes"),
        "balanced_accuracy": Named("balanced_accuracy_score", "classes"),
        **_averages("f1", "f1_score"),
        **_averages("precision", "precision_score"),
        **_averages("recall", "recall_score"),
        "roc_auc": Named("roc_auc_score", "second"),
        **_areas("ovr"),
        **_areas("ovo"),
        "average_precision": Named("average_precision_score", "second"),
        "neg_log_loss": Named("log_loss", "shares", -1.0),
        "neg_brier_score": Named("brier_score_loss", "shares", -1.0),
        "log_loss": Named("log_loss", "shares", -1.0),
        "brier": Named("brier_score_loss", "shares", -1.0),
    },
    "regressor": {
        "r2": Named("r2_score", "values"),
        "neg_mean_squared_error": Named("mean_squared_error", "values", -1.0),
        "neg_root_mean_squared_error": Named("root_mean_squared_error", "values", -1.0),
        "neg_mean_absolute_error": Named("mean_absolute_error", "values", -1.0),
        "neg_median_absolute_error": Named("median_absolute_error", "values", -1.0),
        "neg_mean_poisson_deviance": Named("mean_poisson_deviance", "values", -1.0),
        "mse": Named("mean_squared_error", "values", -1.0),
        "rmse": Named("root_mean_squared_error", "values", -1.0),
        "mae": Named("mean_absolute_error", "values", -1.0),
    },
}
ONE_OF_TWO = ("f1", "precision", "recall", "roc_auc", "average_precision")


class Told(Protocol):
    """A model that is given its raw sums as X: for scorers that ask a model to predict."""

    multi_output = sparse = missing = categorical = False

    def __init__(self, model: Any) -> None:
        self.model, self.role, self.target = model, model.role, model.target
        if self.target == "label":
            self.classes_ = model.classes_

    def predict(self, X: Array) -> Array:
        if self.target == "real":
            return np.asarray(self.model._read(X, np.float64))
        return np.asarray(self.classes_[self.model._class_scores(X).argmax(axis=1)])

    def decision_function(self, X: Array) -> Array:
        return X[:, 0] if X.shape[1] == 1 else X

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(self.model._shares(X, np.float64))


def score_of(model: Any) -> Score:
    """What the parameter `scoring` of a boosted learner asks for, where it is not the loss."""
    scoring, several = model.scoring, model.target == "label" and len(model.classes_) > 2
    if scoring is None:
        scoring = "accuracy" if model.role == "classifier" else "r2"
    if callable(scoring):
        return _by_function(model, scoring)
    names = NAMED[model.role]
    if not isinstance(scoring, str) or scoring not in names:
        known = ", ".join(["loss", *names])
        raise refuse(model, "scoring", f"must be one of {known}, a function scorer(model, X, y), or None")
    if several and scoring in ONE_OF_TWO:
        raise refuse(model, "scoring", "is for two classes; several have a mean, such as f1_macro or roc_auc_ovr")
    if not several and scoring.startswith("roc_auc_"):
        scoring = "roc_auc"
    return _by_name(model, names[scoring])


def _by_name(model: Any, named: Named) -> Score:
    function, told = getattr(tenfold.score, named.function), Told(model)
    options = dict(named.options)
    if model.target == "label" and named.given == "shares":
        options["labels"] = np.arange(len(model.classes_))

    def score(y: Array, raw: Array, w: Array | None) -> float:
        if named.given == "classes":
            output = model._class_scores(raw.T).argmax(axis=1)
        elif named.given == "values":
            output = told.predict(raw.T)
        else:
            shares = told.predict_proba(raw.T)
            output = shares[:, 1] if named.given == "second" else shares
        truth = y.astype(np.int64) if model.target == "label" else y
        return named.sign * float(function(truth, output, sample_weight=w, **options))

    return score


def _by_function(model: Any, scorer: Any) -> Score:
    told = Told(model)

    def score(y: Array, raw: Array, w: Array | None) -> float:
        truth = model.classes_[y.astype(np.int64)] if model.target == "label" else y
        weights = {} if w is None else dict(sample_weight=w)
        try:
            return float(scorer(told, raw.T, truth, **weights))
        except Exception as reason:
            said = f"{type(reason).__name__}: {str(reason)[:200]}"
            raise BadParameter(
                f"{type(model).__name__}(scoring=...): scorer(model, X, y) must return a number, but raised {said}"
            ) from reason

    return score
