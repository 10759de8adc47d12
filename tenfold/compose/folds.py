"""Folds for learners that are fitted to what models say of rows they have not seen."""

from __future__ import annotations

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.split.folds import check_class_sizes, refuse_several_labels
from tenfold.evaluate.split.plan import SplitPlan, folds_plan, plan, target_of
from tenfold.evaluate.split.splitters import KFold, StratifiedKFold
from tenfold.evaluate.split.splitting import Splitting
from tenfold.gate.inputs import AsGiven

DEFAULT_FOLDS = 5


def splits_of(learner: Estimator, rows: Arrays, *, whole: bool) -> SplitPlan:
    """The splits that the parameter `cv` of a learner asks for: None is folds by what the rows hold, all else means what it means to
    scikit-learn. With `whole` every row must be tested once."""
    cv, here = learner.cv, f"{type(learner).__name__}(cv={check.short(learner.cv)})"
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if (number and cv < 2) or isinstance(cv, (bool, float)):
        raise BadParameter(f"{here}: must be at least 2, or None for {DEFAULT_FOLDS}")
    if cv is None:
        return folds_plan(folds_by_content(rows, DEFAULT_FOLDS))
    try:
        found = plan(learner, rows, Splitting(cv=int(cv) if number else cv))
    except (BadInput, BadParameter) as failure:
        raise BadParameter(f"{here}: {failure}") from None
    if len(found) > 1 or (whole and found[0].kind != "folds"):
        raise BadParameter(f"{type(learner).__name__}(cv=...): test sets must make up all rows once; give a number of folds")
    return found[0]


def folds_by_content(rows: Arrays, folds: int) -> Array:
    """Folds that depend on what the rows hold, not on their order: within each class rows are sorted by a hash, equal rows
    are one, and every `folds`-th is of the same fold. Rows as the user gave them may hold anything: they are taken in their order.
    """
    if isinstance(rows, AsGiven):
        kind, fold = (KFold if rows.target.classes is None else StratifiedKFold), np.empty(rows.n_rows, dtype=np.int64)
        for k, (_, test) in enumerate(kind(folds).split(fold, target_of(rows))):
            fold[test] = k
        return fold
    hashes = np.concatenate(
        [ops.hash_rows(rows.load(part).X, 0) for part in rows.parts()]
    )  # what may not be there is told
    labels = rows.target.classes is not None
    refuse_several_labels(rows.target.classes)
    codes = target_of(rows) if labels else np.zeros(len(hashes), dtype=np.int64)
    order = np.lexsort((hashes, codes))
    new = np.append(True, (np.diff(codes[order]) != 0) | (np.diff(hashes[order]) != 0))
    if labels:
        check_class_sizes(codes[order][new], rows.facts["classes_"])
    elif new.sum() < 2:
        raise BadInput("all rows are equal: there are none to hold out")
    place = np.cumsum(new) - 1  # number of the distinct row
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = place % folds  # goes on from class to class, so that folds are even in size
    return np.unique(fold, return_inverse=True)[1].reshape(-1)
