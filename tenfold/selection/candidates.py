"""The learners of a race, with their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.selection.guess import FrequencyGuess, MeanGuess
from tenfold.table.columns import LEAST_LEVEL_ROWS

# Penalties are in units of the number of rows, so that the same grid serves tables of any length.
LOGISTIC_ROWS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)  # C × rows
RIDGE_PER_ROW = tuple(np.logspace(-6, 2, 30).tolist())  # alpha / rows, for columns of variance 1
ROUNDS = (25, 50, 100, 200, 400)  # of boosting, all from one fit
MOST_TREES, MOST_TREE_ROWS = 1000, 10_000_000  # in one fit of boosting, and rows × trees: what is tried ends there
LEAF_ROWS = 20  # of boosting
LEAST_TREE_ROWS = 50
FOREST_TREES = 200
SMALL_LEAVES, LEAVES = 8, 31
QUADRATIC_SHRINKAGE = (0.0, 0.01, 0.1, 0.5)
HEAVY, VERY_HEAVY = 3e8, 3e10  # rows × columns² × classes², from where fewer values of C are tried


@dataclass(frozen=True)
class Family:
    """One learner and the values of the parameter that are tried."""

    title: str
    learner: Any
    rank: int  # 0 the guess, 1 the simplest kind of model, ...
    name: str | None = None
    values: tuple[float, ...] = ()
    shown: str = ""  # how the setting is called on the board
    leaves: int = 0  # of trees: how many it may have, in each round where it has rounds

    @property
    def is_guess(self) -> bool:
        return self.rank == 0

    @property
    def raw(self) -> bool:
        """Whether it takes the columns as they are, with categories and missing values, and not the matrix of numbers."""
        return bool(self.learner.categorical)

    def settings(self) -> list[Any]:
        """One unfitted learner for each setting."""
        if self.name is None:
            return [fresh(self.learner)]
        return [fresh(self.learner).set_params(**{self.name: value}) for value in self.values]

    def label(self, k: int) -> str:
        """The k-th setting in words."""
        return self.title if self.name is None else f"{self.title}, {self.shown} {self.values[k]:.3g}"


@dataclass(frozen=True)
class Setting:
    """One entry of a race: the k-th setting of a family."""

    family: Family
    k: int

    @property
    def label(self) -> str:
        return self.family.label(self.k)

    @property
    def learner(self) -> Any:
        return self.family.settings()[self.k]

    @property
    def leaves(self) -> int:
        """The leaves that a model of this setting may have: no more are there to read, and to save."""
        rounds = self.family.values[self.k] if self.family.name == "max_iter" else 1
        return int(self.family.leaves * rounds)

    @property
    def simplicity(self) -> tuple[int, int]:
        """The less, the simpler: the kind of model first, then how large it may be."""
        return self.family.rank, self.leaves


def families_for(role: str, rows: int, columns: int, classes: int) -> list[Family]:
    """What is tried for a table of this shape: fixed by the shape alone, never by the clock."""
    if role == "regressor":
        return [
            Family("always the mean", MeanGuess(), 0),
            Family("linear regression", tenfold.LinearRegression(), 1),
            Family(
                "ridge regression",
                tenfold.Ridge(),
                2,
                "alpha",
                tuple(rows * a for a in RIDGE_PER_ROW),
                "penalty",
            ),
            *_trees("Regressor", rows, 1),
        ]
    work = rows * columns**2 * (1 if classes == 2 else classes**2)
    C = LOGISTIC_ROWS if work < HEAVY else LOGISTIC_ROWS[1::2] if work < VERY_HEAVY else LOGISTIC_ROWS[3:4]
    return [
        Family("class frequencies", FrequencyGuess(), 0),
        Family("nearest centroid", tenfold.NearestCentroid(), 1),
        Family("naive Bayes", tenfold.GaussianNB(), 2),
        Family("linear discriminant", tenfold.LinearDiscriminantAnalysis(), 3),
        Family("logistic regression", tenfold.LogisticRegression(), 4, "C", tuple(c / rows for c in C), "C"),
        Family(
            "quadratic discriminant",
            tenfold.QuadraticDiscriminantAnalysis(),
            5,
            "reg_param",
            QUADRATIC_SHRINKAGE,
            "shrinkage",
        ),
        *_trees("Classifier", rows, 1 if classes == 2 else classes),
    ]


def _trees(role: str, rows: int, trees: int) -> list[Family]:
    """A forest, and boosting with small and with larger trees, `trees` of them in a round; few rows take few rounds.

    Leaves of the forest have at least 5 rows, so that no single row can be read off one, and more in long tables.
    """
    if rows < LEAST_TREE_ROWS:
        return []
    labels = role == "Classifier"
    forest = (tenfold.RandomForestClassifier if labels else tenfold.RandomForestRegressor)(
        FOREST_TREES,
        min_samples_leaf=max(LEAST_LEVEL_ROWS, rows // 1000),
        max_features="sqrt" if labels else 1 / 3,
        random_state=0,
    )
    kind = tenfold.HistGradientBoostingClassifier if labels else tenfold.HistGradientBoostingRegressor
    most = min(MOST_TREES // trees, MOST_TREE_ROWS // rows // trees, rows // 2)
    rounds = tuple(n for n in ROUNDS if n <= max(most, ROUNDS[0]))
    small, larger = (
        kind(early_stopping=False, max_leaf_nodes=leaves, random_state=0) for leaves in (SMALL_LEAVES, LEAVES)
    )
    in_forest = FOREST_TREES * (rows // int(forest.min_samples_leaf))
    in_round, in_larger = (trees * min(leaves, int(rows // LEAF_ROWS)) for leaves in (SMALL_LEAVES, LEAVES))
    return [
        Family("random forest", forest, 6, leaves=in_forest),
        Family("boosted small trees", small, 6, "max_iter", rounds, "rounds", leaves=in_round),
        Family("boosted trees", larger, 6, "max_iter", rounds[:4], "rounds", leaves=in_larger),
    ]


def settings_of(families: list[Family]) -> list[Setting]:
    """All entries of the race, family by family."""
    return [Setting(family, k) for family in families for k in range(max(1, len(family.values)))]
