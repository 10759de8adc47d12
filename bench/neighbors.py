"""Learners that ask the nearest rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, OwnCost, Quality, Workload

MOST = 200  # neighbours that are tried, one after the other
CLASSES = 26
KEY = "mean accuracy"


def _letters(shrink: int) -> Data:
    """Rows as those of the table `letter`: 16 columns of whole numbers from 0 to 15, 26 classes."""
    found = make.blobs(make.shrunk(20_000, shrink), 16, n_blobs=52, n_clusters=2, seed=3)
    rng = np.random.default_rng(3)
    X = np.clip(np.round(7.5 + found["X"] * 2 / found["X"].std()), 0, 15)
    centres = X[rng.choice(len(X), CLASSES, replace=False)]
    codes = np.stack([((X - one) ** 2).sum(axis=1) for one in centres]).argmin(axis=0)
    return {"X": X, "y": np.where(rng.random(len(X)) < 0.1, rng.integers(0, CLASSES, len(X)), codes)}


def _by_path(data: Data, meter: Meter) -> Quality:
    import tenfold

    def errors() -> Any:
        folds, values = tenfold.evaluate.LeaveOneOut(), range(1, MOST + 1)
        return tenfold.validation_path(tenfold.KNeighborsClassifier(), data["X"], data["y"], "n_neighbors", values, folds=folds).scores

    return {KEY: float(np.mean(meter.fit(errors)))}


def _one_query(data: Data, meter: Meter) -> Quality:
    """What the path is measured by: the search alone."""
    import tenfold

    rows = meter.fit(lambda: tenfold.NeighborIndex(data["X"]).nearest(None, MOST)[1])
    return {KEY: _accuracy(rows, data["y"])}


def _by_hand(data: Data, meter: Meter) -> Quality:
    """One query by scikit-learn, and the votes of each k by hand: it has nothing of the kind."""
    from sklearn.neighbors import NearestNeighbors

    def errors() -> float:
        rows = NearestNeighbors(n_neighbors=MOST, n_jobs=2).fit(data["X"]).kneighbors(return_distance=False)
        return _accuracy(rows, data["y"])

    return {KEY: meter.fit(errors)}


def _accuracy(rows: Any, y: Any) -> float:
    """The mean over all k of the share of rows whose neighbours vote for their class."""
    votes, right = np.zeros((len(rows), CLASSES)), 0.0
    for j in range(MOST):
        votes[np.arange(len(rows)), y[rows[:, j]]] += 1
        right += float(np.mean(votes.argmax(axis=1) == y))
    return right / MOST


WORKLOADS = (
    Workload(
        name="knn_loo_path",
        about=f"leave-one-out accuracies of k = 1, ..., {MOST} neighbours, 20,000 rows of 16 columns, {CLASSES} classes",
        make=_letters,
        contenders=(
            Contender("tenfold validation_path", "tenfold", _by_path, "tenfold"),
            Contender("tenfold one query", "tenfold", _one_query, "reference"),
            Contender("sklearn query, votes by hand", "sklearn", _by_hand),
        ),
        judgement=Judgement(KEY, higher=True, tolerance=2e-3),  # rows at equal distance come in another order there
        own_cost=OwnCost("tenfold one query", at_most=3.0),
    ),
)
