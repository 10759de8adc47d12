"""Errors and warnings. Every message is one sentence that names the place and the remedy.

TenfoldError (ValueError)
├── BadParameter        Ridge(alpha=-1): must be >= 0
├── BadInput            what was given to fit or predict cannot be used
├── NotFitted           predict before fit (also scikit-learn's NotFittedError where that is loaded)
├── ReadOnce            a second pass was asked of rows that can be read only once
├── CannotForget        rows cannot be un-learned exactly
├── TooLarge            a fit that needs more memory than there is (also a MemoryError)
└── BadFile             a saved model or a table that cannot be read

TenfoldWarning (UserWarning)
├── NotConverged        the certificate is still above `tol`
├── Degenerate          rank deficiency, separable classes, constant columns, empty clusters
└── DataWarning         the data were taken, but something about them should be known
"""

from __future__ import annotations

import sys


class TenfoldError(ValueError):
    """Base of all errors of Tenfold."""


class BadParameter(TenfoldError):
    """A parameter outside its domain."""


class BadInput(TenfoldError):
    """Rows, columns, labels or weights that cannot be used."""


class BadType(BadInput, TypeError):
    """Input of a kind that is not taken at all."""


class NotFitted(TenfoldError, AttributeError):
    """A fitted attribute or a prediction was asked of a learner that was not fitted."""


class ReadOnce(TenfoldError):
    """A second pass over rows that can be read only once."""


class CannotForget(TenfoldError):
    """Rows that cannot be un-learned exactly."""


class TooLarge(TenfoldError, MemoryError):
    """A fit that needs more memory than there is."""


class BadFile(TenfoldError):
    """A file that is damaged, of another kind, or of a newer version."""


class TenfoldWarning(UserWarning):
    """Base of all warnings of Tenfold."""


class NotConverged(TenfoldWarning):
    """The certificate is still above `tol` when the passes are used up."""


class Degenerate(TenfoldWarning):
    """The solution is not unique or lies at infinity; the message names the one that was returned."""


class DataWarning(TenfoldWarning):
    """The data were taken, but something about them should be known."""


def not_fitted(name: str) -> NotFitted:
    """The error for a learner without a fit; it is also scikit-learn's own where scikit-learn is loaded."""
    text = f"This {name} is not fitted yet: call fit before using it."
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return NotFitted(text)
    as_ours = {"__reduce__": lambda error: (NotFitted, error.args)}  # a class made here cannot be pickled by name
    both: type[NotFitted] = type("NotFitted", (NotFitted, theirs.NotFittedError), as_ours)
    return both(text)


def too_large(name: str, n: int | None, p: int, reason: MemoryError) -> TooLarge:
    """The error for a fit that ran out of memory."""
    table = f"{p} columns" if n is None else f"{n} rows x {p} columns"
    details = f" ({reason})" if str(reason) else ""
    return TooLarge(
        f"{name} on {table} needs more memory than there is{details}: give fewer columns or rows, or a smaller model"
    )
