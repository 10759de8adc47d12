"""Scores that users write as functions: of (truth, prediction), or of (model, X, y) as scikit-learn's scorers are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from tenfold.base.estimator import softmax
from tenfold.base.sklearn_api import SklearnApi
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.score.record import ALL_OUTPUTS, CLASSES, REGRESSION, Part, Score, split_choice
from tenfold.score.scorer import Scorer
from tenfold.score.statistics import largest

METRIC, SCORER = "(truth, prediction)", "(model, X, y)"
LOOKS_AT_X = "a function of (model, X, y) may let the model predict X, but not look at X itself, which is not kept"


@dataclass(frozen=True)
class FunctionScore(Score):
    """A function of the user; greater is better. It needs all rows that it judges, and sees labels, not codes."""

    call: Callable[..., Any] = float
    form: str = METRIC
    weighted: bool = False  # whether it takes sample_weight=
    where: str = ""  # the parameter that it was given as, for messages

    def of(self, truth: Array, output: Array, w: Array | None, classes: Array | None = None) -> float:
        model = Classes(output, classes) if self.role == "classifier" else Values(output)
        truth = model.targets(truth)
        weights = dict(sample_weight=w) if self.weighted and w is not None and not (w == 1).all() else {}
        given = (model, HeldOut(len(truth)), truth) if self.form == SCORER else (truth, model.predict())
        try:
            return float(self.call(*given, **weights))
        except BadParameter:
            raise
        except Exception as reason:
            raised = f"{type(reason).__name__}: {str(reason)[:200]}"
            raise BadParameter(
                f"{self.where}: a function of {self.form} must return a number, but raised {raised}"
            ) from reason

    def pooled(self, parts: Iterable[Part], classes: Array | None = None) -> float:
        truth, output, w = zip(*parts, strict=True)
        weights = None if any(one is None for one in w) else np.concatenate(w)
        return self.of(np.concatenate(truth), np.concatenate(output), weights, classes)


class HeldOut:
    """Stands for the rows that are judged: a scorer may let the model predict them, but not look at them."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, at: Any) -> NoReturn:
        raise BadParameter(LOOKS_AT_X)

    def __iter__(self) -> NoReturn:
        raise BadParameter(LOOKS_AT_X)

    def __array__(self, *given: Any, **more: Any) -> NoReturn:
        raise BadParameter(LOOKS_AT_X)


class Values(SklearnApi):
    """A model whose predictions are known: for scorers that ask a model to predict the rows they are given."""

    role: ClassVar[str] = "regressor"
    target: ClassVar[str] = "real"
    multi_output: ClassVar[bool] = True
    sparse = missing = categorical = False

    def __init__(self, output: Array) -> None:
        self.output = output

    def targets(self, truth: Array) -> Array:
        """The truth as users know it."""
        return truth[:, 0] if truth.ndim == 2 and truth.shape[1] == 1 else truth

    def predict(self, X: Any = None) -> Array:
        return self.targets(self.output)


class Classes(Values):
    """The same of class scores."""

    role: ClassVar[str] = "classifier"
    target: ClassVar[str] = "label"
    multi_output: ClassVar[bool] = False

    def __init__(self, output: Array, classes: Array | None) -> None:
        self.classes_ = np.arange(output.shape[1]) if classes is None else classes
        scores, self.chosen = split_choice(output, len(self.classes_))
        super().__init__(scores)

    def targets(self, truth: Array) -> Array:
        return np.asarray(self.classes_[truth.astype(np.int64)])

    def predict(self, X: Any = None) -> Array:
        return self.targets(largest(self.output) if self.chosen is None else self.chosen)

    def predict_proba(self, X: Any) -> Array:
        return softmax(self.output)

    def decision_function(self, X: Any) -> Array:
        return np.asarray(self.output[:, 1] - self.output[:, 0] if self.output.shape[1] == 2 else self.output)


def function_score(function: Callable[..., Any], role: str, where: str) -> FunctionScore:
    """The record of a user's function; the number of arguments it needs decides which of the two forms it has."""
    form, weighted = _form(function)
    if form is None:
        raise BadParameter(
            f"{where}: a function must take exactly {METRIC} or {SCORER}; write lambda truth, prediction: ... around it"
        )
    name = getattr(function, "__name__", "score")
    tasks = CLASSES if role == "classifier" else (REGRESSION,)
    return FunctionScore(
        name, tasks, True, ALL_OUTPUTS, _nothing, float, merges=False, low=-np.inf, label=name, title=name.replace("_", " "),
        call=function, form=form, weighted=weighted, where=where,
    )  # fmt: skip


def form_of(function: Any) -> str | None:
    """METRIC or SCORER; None where that cannot be seen."""
    return _form(function)[0] if callable(function) else None


def _form(function: Callable[..., Any]) -> tuple[str | None, bool]:
    """Which form a function has, None where that cannot be seen; and whether it takes weights."""
    if isinstance(function, Scorer):
        return SCORER, function.weighted
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None, False
    places = [one for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = sum(one.default is one.empty for one in places)
    unclear = any(one.kind is one.VAR_POSITIONAL for one in given)
    weighted = any(one.name == "sample_weight" for one in given)
    return None if unclear else {2: METRIC, 3: SCORER}.get(needed), weighted


def _nothing(truth: Array, output: Array, w: Array | None) -> NoReturn:
    raise BadParameter("a function of the user needs all rows in memory")
