"""Which density tells usual rows of a table from unusual ones: judged by rows of which one cell was exchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, kept_warnings
from tenfold.score.roc import roc_auc_score

SIZES = (1, 2, 3, 5, 8)  # of mixtures
WIDEST = 40  # columns of a mixture with full covariances
ROWS_A_NUMBER = 3  # at least, for each free number of a mixture
MOST_JUDGED = 6_000  # rows
MOST_NEAR = 20_000  # rows that nearest neighbours are asked among
NEIGHBOURS = 10
FLOOR = 1e-2  # variance that is added: columns of categories depend on one another
CLOSE = 0.01  # areas that differ by less are the same: the simpler density is taken


@dataclass(frozen=True)
class Judged:
    """A density, and the area under its curve: how often a held-out row looks more usual than one with an exchanged cell."""

    name: str
    density: Any
    area: float


def choose_density(Z: Array, groups: list[Array], seed: int, tell: Callable[[str], None]) -> list[Judged]:
    """All that were tried, the chosen one first; groups: the columns of Z that one column of the table became.

    Two thirds of the rows are fitted. Mixtures of several sizes are judged by the log density of the others, the best of them and nearest
    neighbours by how well they tell these from rows of which the cells of one column were exchanged with those of another row.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(Z))[:MOST_JUDGED]
    train, test = Z[order[len(order) // 3 :]], Z[order[: len(order) // 3]]
    spoiled = exchanged(test, groups, rng)
    tell("Gaussian mixtures")
    found = [Judged(*_best_mixture(train, test, len(Z), seed), area=0.0)]
    if len(Z) <= MOST_NEAR:
        k = min(NEIGHBOURS, len(train) - 1)
        found.append(Judged("distance to the nearest rows", tenfold.NeighborDensity(k), 0.0))
    judged = list[Judged]()
    for one in found:
        tell(one.name)
        with kept_warnings():
            fitted = one.density.fit(train)
            scores = np.concatenate([fitted.score_samples(test), fitted.score_samples(spoiled)])
        area = roc_auc_score(np.arange(len(scores)) < len(test), np.nan_to_num(scores))
        judged.append(Judged(one.name, one.density, float(area)))
    best = max(one.area for one in judged)
    taken = next(one for one in judged if one.area >= best - CLOSE)
    return [taken, *(one for one in judged if one is not taken)]


def exchanged(rows: Array, groups: list[Array], rng: np.random.Generator) -> Array:
    """Rows of which the cells of one column are those of another row."""
    spoiled, others = rows.copy(), rng.permutation(len(rows))
    which = rng.integers(len(groups), size=len(rows))
    for j, columns in enumerate(groups):
        mine = np.flatnonzero(which == j)
        spoiled[np.ix_(mine, columns)] = rows[np.ix_(others[mine], columns)]
    return spoiled


def _best_mixture(train: Array, test: Array, rows: int, seed: int) -> tuple[str, Any]:
    """By the log density of held-out rows."""
    kind = "full" if train.shape[1] <= WIDEST else "diag"
    found = list[tuple[float, int, Any]]()
    for k in SIZES:
        model = tenfold.GaussianMixture(k, covariance_type=kind, reg_covar=FLOOR, max_iter=200, random_state=seed)
        try:
            with kept_warnings():
                model.fit(train)
        except BadInput:
            break
        if k > 1 and ROWS_A_NUMBER * model.n_parameters_ > len(train):
            break
        found.append((float(model.score(test)), -k, model))
    if not found:
        raise BadInput(f"{rows} rows are too few for a density of {train.shape[1]} columns: choose fewer with --columns")
    k = -max(found, key=lambda one: one[:2])[1]
    density = tenfold.GaussianMixture(k, covariance_type=kind, reg_covar=FLOOR, max_iter=200, random_state=seed)
    return ("Gaussian" if k == 1 else f"mixture of {k} Gaussians"), density
