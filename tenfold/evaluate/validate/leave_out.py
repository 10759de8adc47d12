"""Leave-one-out without refitting: what each row would be predicted by a fit on all the others.

Learners whose leave-one-out has a closed form declare it (`Estimator._left_out`): one fit and one more pass do for all rows. A row whose
removal would cost digits is refitted, so that every output equals that of refitting.
"""

from __future__ import annotations

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.engine import Threads, each
from tenfold.core.stats import Rows
from tenfold.core.threads import single_blas


def leave_one_out_outputs(full: Estimator, source: Arrays) -> Array | None:
    """Class scores or values of every row by the model of all other rows, as `_outputs` gives them; None where no closed form is known.

    `full` is fitted on all rows of the source.
    """
    along = full._left_out_along([full], source)
    if along is not None:
        return next(iter(along))
    form = full._left_out(source)
    if form is None:
        return None
    with single_blas:
        out: Array = Threads().run(lambda block: Rows.of(form(block)), source).whole()
        lost = np.unique(np.flatnonzero(np.isnan(out)) // out.shape[1])
        if len(lost):
            out[lost] = np.concatenate(each(lambda row: _refitted(full, source, row), lost.tolist()))
    return out


def leave_one_out_coefficients(full: Estimator, source: Arrays) -> Array | None:
    """The coefficients (n, p + 1) of a linear regression without each row, the intercept last; None for other learners."""
    form = full._left_out_coefficients(source)
    if form is None:
        return None
    with single_blas:
        out: Array = Threads().run(lambda block: Rows.of(form(block)), source).whole()
        for row in np.flatnonzero(np.isnan(out).any(axis=1)).tolist():
            model = fresh(full)._fit(source.select(others(len(out), row)))
            out[row] = np.append(np.ravel(model.coef_), model.intercept_)
    return out


def others(n: int, row: int) -> Array:
    """All rows but one."""
    return np.delete(np.arange(n), row)


def _refitted(full: Estimator, source: Arrays, row: int) -> Array:
    """The output of one row, honestly."""
    n = source.n_rows or 0
    model = fresh(full)._fit(source.select(others(n, row)))
    outputs: Array = model._outputs(source.select(np.array([row])).load(0).X)
    return outputs
