"""Errors and warnings. Every message is one sentence that names the place and the remedy.

TenfoldError (ValueError)
├── BadParameter        Ridge(alpha=-1): must be >= 0
├── BadInput            what was given to fit or predict cannot be used
├── NotFitted           predict before fit
├── ReadOnce            a second pass was asked of rows that can be read only once
├── CannotForget        rows cannot be un-learned exactly
├── NotRouted           metadata for a learner inside another one, while routing is off (also a RuntimeError)
├── TooLarge            a fit that needs more memory than there is (also a MemoryError)
└── BadFile             a saved model or a table that cannot be read

TenfoldWarning (UserWarning)
├── NotConverged        the certificate is still above `tol`
├── Degenerate          rank deficiency, separable classes, constant columns, empty clusters
│   ├── UndefinedScore  a score has no value for these rows: 0/0, one class only
│   └── EmptyClusters   fewer clusters have rows than were asked for
└── DataWarning         the data were taken, but something about them should be known
    ├── DataConverted   they were taken in another shape than they came in
    └── FitFailed       some of many fits have failed, and the rest goes on without them

Where scikit-learn is loaded, what `theirs` names is raised as scikit-learn's class too, so that existing filters and
handlers see it.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any, ClassVar


class TenfoldError(ValueError):
    """Base of all errors of Tenfold."""


class BadParameter(TenfoldError):
    """A parameter outside its domain."""


class BadParameterType(BadParameter, TypeError):
    """A parameter, or one of several numbers in it, of a type that is not taken."""


class BadInput(TenfoldError):
    """Rows, columns, labels or weights that cannot be used."""


class BadType(BadInput, TypeError):
    """Input of a kind that is not taken at all."""


class NotFitted(TenfoldError, AttributeError):
    """A fitted attribute or a prediction was asked of a learner that was not fitted."""

    theirs: ClassVar[str] = "NotFittedError"


class ReadOnce(TenfoldError):
    """A second pass over rows that can be read only once."""


class CannotForget(TenfoldError):
    """Rows that cannot be un-learned exactly."""


class NotRouted(TenfoldError, RuntimeError):
    """Metadata for a learner inside another one, where scikit-learn's routing of metadata is off."""


class BadRequest(TenfoldError, RuntimeError):
    """What is asked for in one call excludes one another."""


class TooLarge(TenfoldError, MemoryError):
    """A fit that needs more memory than there is."""


class BadFile(TenfoldError):
    """A file that is damaged, of another kind, or of a newer version."""


class TenfoldWarning(UserWarning):
    """Base of all warnings of Tenfold."""

    theirs: ClassVar[str] = ""


class NotConverged(TenfoldWarning):
    """The certificate is still above `tol` when the passes are used up."""

    theirs: ClassVar[str] = "ConvergenceWarning"


class Degenerate(TenfoldWarning):
    """The solution is not unique or lies at infinity; the message names the one that was returned."""


class DataWarning(TenfoldWarning):
    """The data were taken, but something about them should be known."""


class DataConverted(DataWarning):
    """The data were taken in another shape than they came in."""

    theirs: ClassVar[str] = "DataConversionWarning"


class FitFailed(DataWarning):
    """Some of many fits have failed; their scores are set to a value of the user's choice."""

    theirs: ClassVar[str] = "FitFailedWarning"


class UndefinedScore(Degenerate):
    """A score that has no value for these rows."""

    theirs: ClassVar[str] = "UndefinedMetricWarning"


class EmptyClusters(Degenerate):
    """Fewer clusters have rows than were asked for."""

    theirs: ClassVar[str] = "ConvergenceWarning"


def warn(message: str, category: type[TenfoldWarning], stacklevel: int = 2) -> None:
    """`warnings.warn`, with a category that is scikit-learn's too; within `kept_warnings` nothing is said."""
    kept = _kept.get()
    if kept is None:
        warnings.warn(message, _also_theirs(category), stacklevel=stacklevel + 1)
    else:
        kept.append(category(message))


@contextlib.contextmanager
def kept_warnings() -> Iterator[list[TenfoldWarning]]:
    """What is warned of within, in this thread and in those that work for it, goes into a list. `warnings.catch_warnings` is one for the
    whole process: two threads that enter and leave it in turn lose warnings of others."""
    kept = list[TenfoldWarning]()
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


_kept: ContextVar[list[TenfoldWarning] | None] = ContextVar("tenfold_warnings", default=None)


class _Silenced:
    """No warning of anybody's is heard within, as of NumPy in a race that tries what may overflow.

    Filters are those of the process, so the first to enter sets them and the last to leave restores them: of two threads that enter and
    leave `warnings.catch_warnings` in turn, the second would restore what the first has set, for good.
    """

    def __init__(self) -> None:
        self.lock, self.depth = threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if self.depth == 0:
                self.filters = warnings.catch_warnings()
                self.filters.__enter__()
                warnings.simplefilter("ignore")
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self.filters.__exit__(None, None, None)


silenced = _Silenced()


def not_fitted(name: str) -> NotFitted:
    """The error for a learner without a fit."""
    error: NotFitted = _also_theirs(NotFitted)(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )
    return error


def _also_theirs(ours: Any) -> Any:
    theirs = sys.modules.get("sklearn.exceptions")
    return _both(ours, getattr(theirs, ours.theirs)) if theirs is not None and ours.theirs else ours


@cache
def _both(ours: Any, theirs: Any) -> Any:
    # By the name and place that others look for; a class made here cannot be pickled by name.
    named = {"__module__": theirs.__module__, "__reduce__": lambda raised: (ours, raised.args)}
    return type(theirs.__name__, (ours, theirs), named)


def too_large(name: str, n: int | None, p: int, reason: MemoryError) -> TooLarge:
    """The error for a fit that ran out of memory."""
    table = f"{p} columns" if n is None else f"{n} rows x {p} columns"
    details = f" ({reason})" if str(reason) else ""
    return TooLarge(
        f"{name} on {table} needs more memory than there is{details}: give fewer columns or rows, or a smaller model"
    )
