"""What a model is worth where new rows repeat known ones as often as the rows of its table repeat each other.

Copies of a row are kept in one fold, so the estimate is for rows that are no copies. Whether new rows will be some nobody can tell from
the table: entered twice by mistake they will not, and where the same thing is measured again and again they will. So where many rows have
copies both figures are told. One row of each set of copies is held out, and the model is fitted once more to all others: of each held-out
row it has seen a copy. With the losses l of rows by models that know no copy of them, of which the model of all rows loses the share g, and
l' of the held-out ones, which stand for their copies too, the mean loss of the model of all rows changes to the share

    (Σ g l of rows without copies + Σ l' of rows with copies) / Σ g l
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import kept_warnings
from tenfold.selection.choice.choice import Z
from tenfold.selection.dataset import Dataset
from tenfold.selection.honest.growth import falls_with_rows, scaled
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.outcome import Outcome
from tenfold.selection.race.fits import ERRORS
from tenfold.table.copies import MANY

METHOD = "for rows that repeat known ones as often as these"


def copied(found: Outcome, model: TableModel, dataset: Dataset, seed: int) -> dict[str, Any] | None:
    """The estimate for new rows that are copies as often as those of the table, by the score that was asked for; None where there are few
    copies, or too little is known. model: what was chosen, fitted to all rows. seed: by which one of each set of copies is drawn."""
    copies, judge, race = found.race.division.units, found.judge, found.race
    if copies is None or dataset.groups is not None or race.ordered:  # none belong together, or other rows than copies do
        return None
    if found.audit is None or len(found.audit.rows) < dataset.used.height or found.is_guess or not falls_with_rows(judge):
        return None
    sizes = np.bincount(copies)
    if len(copies) - len(sizes) <= MANY * len(copies):
        return None
    audit, outputs = found.audit, found.audit.outputs[found.prefer]
    if outputs.shape[1] != (dataset.task.n_classes if model.role == "classifier" else 1):  # a rule decides: it has a column of its own
        return None
    repeated, order = sizes[copies] > 1, np.random.default_rng(seed).permutation(len(copies))
    held = np.sort(order[np.unique(copies[order], return_index=True)[1][sizes > 1]])
    refitted = _refitted_outputs(model, dataset, held)
    if refitted is None:
        return None
    by, known = audit.growth(judge, found.prefer), np.empty(len(copies))
    known[audit.rows] = audit.held.row_losses(outputs, audit.rows) * (1.0 if by is None else by.share)
    of_set = np.zeros(len(sizes))
    of_set[copies[held]] = audit.held.row_losses(refitted, held)
    with_copies, every = np.where(repeated, of_set[copies], known), np.arange(len(copies))
    before, after = float(audit.held.mean(known, every)), float(audit.held.mean(with_copies, every))
    if min(before, after) <= 0:
        return None
    share = after / before
    error = audit.held.error(with_copies - share * known, every) / after  # of the logarithm of the share
    estimate = scaled(found.estimates[judge.name], judge, share, Z * error, METHOD)
    if METHOD not in estimate.method:  # its range has no end
        return None
    return asdict(estimate) | dict(rows=int(repeated.sum()), of=len(copies), share=share)


def _refitted_outputs(model: TableModel, dataset: Dataset, held: Array) -> Array | None:
    """What a model that is fitted to the other rows says of these; None where it cannot be, or knows fewer classes."""
    rest, y, weight = np.setdiff1d(np.arange(len(dataset.task.y)), held), dataset.task.y, dataset.weight
    if model.role == "classifier" and dataset.task.n_classes > len(np.unique(dataset.task.codes[rest])):
        return None
    with kept_warnings():  # the board has said them
        try:
            fitted = model.again(dataset.used[rest], y[rest], None if weight is None else weight[rest])
        except ERRORS:
            return None
    if model.role != "classifier":
        return np.asarray(fitted.predict(dataset.used[held]), dtype=np.float64)[:, None]
    return np.asarray(np.log(fitted.predict_proba(dataset.used[held])))
