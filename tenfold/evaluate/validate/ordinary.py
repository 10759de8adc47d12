"""The ordinary route: a learner is copied, fitted to the training rows of a split and asked for its test rows, split after split.

For learners that are not Tenfold's, for scorers that look at the model or at X themselves, and for fits that are given more than
weights. A fit or a score that fails has the score `error_score`, and is told of in one warning.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Number
from traceback import format_exc
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.foreign import role_of
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, FitFailed, warn
from tenfold.gate.inputs import Given
from tenfold.score.scorer import Scorers

SCORE = "score"  # the name of a score that has none


@dataclass(frozen=True)
class Job:
    """What all splits have in common."""

    X: Any
    y: Any
    scorer: Any  # of (model, X, y): a number, or a dict of numbers by name
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    error_score: Any = np.nan
    with_train: bool = False

    def __post_init__(self) -> None:
        if self.error_score != "raise" and not isinstance(self.error_score, Number):
            raise BadParameter(
                "error_score must be the string 'raise' or a numeric value. (Hint: if using 'raise', please make sure that it "
                "has been spelled correctly.)"
            )


@dataclass
class Outcome:
    """One model on one split."""

    model: Any
    fit_time: float
    score_time: float
    test: Any
    train: Any
    failure: str | None  # the traceback of a fit that failed


def fit_and_score(model: Any, job: Job, train: Array, test: Array, setting: Mapping[str, Any] | None = None) -> Outcome:
    """Fit a copy of a learner, with some parameters set, to the training rows, and score it on the test rows."""
    one = fresh(model)
    if setting:
        one = one.set_params(**{name: fresh(value) for name, value in setting.items()})
    X, y = rows_of(job.X, train, one), rows_of(job.y, train)
    began, failure = time.perf_counter(), None
    try:
        if y is None:
            one.fit(X, **params_of(job.fit_params, job.X, train))
        else:
            one.fit(X, y, **params_of(job.fit_params, job.X, train))
    except Exception:
        if job.error_score == "raise":
            raise
        failure = format_exc()
    if failure is not None:
        return Outcome(one, time.perf_counter() - began, 0.0, None, None, failure)
    return score_job(job, one, train, test, time.perf_counter() - began, (X, y))


def score_job(job: Job, one: Any, train: Array, test: Array, fit_time: float, seen: tuple[Any, Any] | None = None) -> Outcome:
    """Score a fitted learner on the test rows of a split, and on those it has seen where that is wanted."""
    began = time.perf_counter()
    held = rows_of(job.X, test, one, train), rows_of(job.y, test)
    scores = _scored(job, one, *held, params_of(job.score_params, job.X, test))
    score_time, known = time.perf_counter() - began, None
    if job.with_train:
        seen = (rows_of(job.X, train, one), rows_of(job.y, train)) if seen is None else seen
        known = _scored(job, one, *seen, params_of(job.score_params, job.X, train))
    return Outcome(one, fit_time, score_time, scores, known, None)


def _scored(job: Job, model: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """A number, or a dict of numbers by name; `error_score` where the scorer fails."""
    given = (X,) if y is None else (X, y)
    try:
        said = job.scorer(model, *given, **params)
    except Exception:
        if isinstance(job.scorer, Scorers) or job.error_score == "raise":
            raise
        _warn_of_scorer(job.error_score, format_exc())
        return job.error_score
    if not isinstance(said, dict):
        return _number(said, job.scorer)
    failed = {name: text for name, text in said.items() if isinstance(text, str)}
    for text in failed.values():
        _warn_of_scorer(job.error_score, text)
    return {name: job.error_score if name in failed else _number(one, job.scorer) for name, one in said.items()}


def _warn_of_scorer(error_score: Any, text: str) -> None:
    warn(
        f"Scoring failed. The score on this train-test partition for these parameters will be set to {error_score}. Details: \n{text}",
        DataWarning,
    )


def _number(said: Any, scorer: Any) -> Any:
    if hasattr(said, "item"):
        with suppress(ValueError):
            said = said.item()
    if not isinstance(said, Number):
        raise BadInput(f"scoring must return a number, got {said!s} ({type(said)}) instead. (scorer={scorer})")
    return said


def rows_of(table: Any, rows: Array, model: Any = None, against: Array | None = None) -> Any:
    """Some rows in the container they came in; of a learner of pairs, their columns too (those of the training rows)."""
    if table is None:
        return None
    if model is not None and _of_pairs(model):
        if not (hasattr(table, "shape") or ops.is_sparse(table)):
            raise BadInput("Precomputed kernels or affinity matrices have to be passed as arrays or sparse matrices.")
        if table.shape[0] != table.shape[1]:
            raise BadInput("X should be a square kernel matrix")
        return table[np.ix_(rows, rows if against is None else against)]
    if not hasattr(table, "shape") and not hasattr(table, "__getitem__"):
        table = np.asarray(table)
    return Given(table)[np.asarray(rows)]


def _of_pairs(model: Any) -> bool:
    """Whether a learner takes a square table of kernels or distances."""
    if isinstance(model, Estimator):
        return bool(model.accepts == "pairs")
    try:
        return bool(model.__sklearn_tags__().input_tags.pairwise)
    except (AttributeError, ImportError):
        return False


def params_of(params: Mapping[str, Any] | None, X: Any, rows: Array) -> dict[str, Any]:
    """What a fit or score is given besides: of what has an entry for each row, those of these rows."""
    n = Given(X).shape[0] if hasattr(X, "shape") or hasattr(X, "__len__") else len(np.asarray(X))
    return {name: rows_of(value, rows) if _by_row(value, n) else value for name, value in (params or {}).items()}


def _by_row(value: Any, n: int) -> bool:
    if isinstance(value, (str, bytes, dict)) or callable(value):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(value, "__len__") and len(value) == n


# --- all splits ---------------------------------------------------------------------------------------------------------------------


def columns_of(found: Sequence[Any], error_score: Any) -> dict[str, Array]:
    """Scores of several fits as an array by name; fits that failed have `error_score` for every name."""
    named = next((one for one in found if isinstance(one, dict)), None)
    names = [SCORE] if named is None else list(named)
    filled = [one if isinstance(one, dict) else dict.fromkeys(names, error_score if one is None else one) for one in found]
    return {name: np.array([one.get(name, error_score) for one in filled], dtype=np.float64) for name in names}


def warn_of_failures(outcomes: Iterable[Outcome], error_score: Any) -> None:
    """One warning for all fits that have failed; an error where none has succeeded."""
    outcomes = list(outcomes)
    failures = [one.failure for one in outcomes if one.failure is not None]
    if not failures:
        return
    line, n = "-" * 80 + "\n", len(outcomes)
    details = "\n".join(f"{line}{count} fits failed with the following error:\n{text}" for text, count in Counter(failures).items())
    debug = "can try to debug"
    if len(failures) == n:
        raise BadInput(
            f"\nAll the {n} fits failed.\nIt is very likely that your model is misconfigured.\nYou {debug} the error by setting "
            f"error_score='raise'.\n\nBelow are more details about the failures:\n{details}"
        )
    warn(
        f"\n{len(failures)} fits failed out of a total of {n}.\nThe score on these train-test partitions for these parameters will be "
        f"set to {error_score}.\nIf these failures are not expected, you {debug} them by setting error_score='raise'.\n\nBelow are "
        f"more details about the failures:\n{details}",
        FitFailed,
    )


def is_classifier(model: Any) -> bool:
    """Whether anybody's learner chooses classes, so that folds are to have all of them; as its tags say, not as its verbs."""
    said = hasattr(model, "__sklearn_tags__") or hasattr(model, "_estimator_type") or isinstance(model, Estimator)
    return said and role_of(model) == "classifier"
