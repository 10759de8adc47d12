"""Entries of the portfolio that are trees: forests, extra trees, and boosting with its rounds."""

from __future__ import annotations

import math
from typing import Any

import tenfold
from tenfold.selection.plan.entries import Entry, Shape

ROUNDS = (25, 50, 100, 200, 400, 800, 1600)  # of boosting, all from one fit
RATE_ROUNDS = 40.0  # rate × rounds, beyond which nothing is gained
MOST_LEAVES = 200_000  # of all trees of one fit of boosting
ENOUGH, FASTEST = 20.0, 0.2  # rate × rounds that it takes at least to learn a table; where rounds are few, rates are raised up to this one
# Of wide and short tables the work is to look at the bins, more of them than rows: a quarter of them finds trees as good.
BINS, FEW_BINS, WIDE, SHORT = 255, 63, 300, 5_000
SEVERAL = 0.65  # of the time of a tree, where there is one for each class in a round, or votes are those of classes
CACHED_BINS = 1 << 17  # of all columns; more are fetched from memory in each node
FOREST_TREES = 300
SHARPER = (1.0, 1.5, 2.0, 3.0)  # powers of the shares of votes: trees that see other rows and columns agree less than they could
LEAST_TREE_ROWS = 50

# title, kind, share of the columns drawn for a node, rows of a leaf
FORESTS: list[tuple[str, str, Any, int]] = [
    ("random forest", "forest", "sqrt", 1),
    ("random forest of larger leaves", "forest", "sqrt", 5),
    ("random forest, a third of the columns", "forest", 1 / 3, 1),
    ("extra trees", "extra", "sqrt", 1),
    ("extra trees, half of the columns", "extra", 0.5, 1),
    ("extra trees, all columns", "extra", 1.0, 1),
]
# title, leaves, rate, and what differs from the default
BOOSTED: list[tuple[str, int, float, dict[str, Any]]] = [
    ("boosted trees of 4 leaves", 4, 0.1, {}),
    ("boosted trees of 8 leaves", 8, 0.1, {}),
    ("boosted trees of 31 leaves", 31, 0.1, {}),
    ("boosted trees of 31 leaves, half of the columns", 31, 0.05, {"max_features": 0.5}),
    ("boosted trees of 16 leaves, parts of rows and columns", 16, 0.05, {"max_features": 1 / 3, "min_samples_leaf": 5, "subsample": 0.7}),
    ("boosted trees of 31 leaves, slow, parts of rows and columns", 31, 0.03, {"max_features": 0.5, "subsample": 0.7}),
    ("boosted trees of 127 leaves", 127, 0.05, {}),
]
# the same for targets that are skewed and not below zero, as counts and prices are: the mean is the exponential of the sum
COUNTED: list[tuple[str, int, float, dict[str, Any]]] = [
    ("boosted trees of 31 leaves, logarithm of the mean", 31, 0.05, {"loss": "poisson", "max_features": 0.5}),
]


def forests(shape: Shape) -> list[Entry]:
    """Fully grown trees, of rows drawn for each (random forest) or with thresholds drawn (extra trees)."""
    if shape.rows < LEAST_TREE_ROWS:
        return []
    makers: dict[str, Any] = dict(forest=tenfold.RandomForestRegressor, extra=tenfold.ExtraTreesRegressor)
    if shape.classes:
        makers = dict(forest=tenfold.RandomForestClassifier, extra=tenfold.ExtraTreesClassifier)
    found = []
    for title, kind, share, leaf in FORESTS:
        learner = makers[kind](FOREST_TREES, max_features=share, min_samples_leaf=leaf, random_state=0)
        drawn = math.sqrt(shape.columns) if share == "sqrt" else float(share) * shape.columns
        deep = math.log2(max(shape.rows / leaf, 2))
        seconds = FOREST_TREES * (6e-5 + shape.rows * deep * (2.5e-8 + drawn * (4.5e-9 if kind == "forest" else 7.7e-9)))
        seconds *= SEVERAL if shape.classes else 1.0
        powers = SHARPER if shape.classes else (1.0,)
        found.append(Entry(title, learner, 6, leaves=FOREST_TREES * (shape.rows // leaf), powers=powers, kind=kind, seconds=seconds))
    return found


def boosted(shape: Shape) -> list[Entry]:
    """Sums of small trees, each fitted to what those before it leave over."""
    if shape.rows < LEAST_TREE_ROWS:
        return []
    more = COUNTED if not shape.classes and shape.skewed and shape.lowest >= 0 else []
    return [
        boost(shape, title, leaves, max(rate, min(FASTEST, ENOUGH / _most_rounds(shape, leaves))), options)
        for title, leaves, rate, options in (*BOOSTED, *more)
    ]


def _most_rounds(shape: Shape, leaves: int) -> float:
    """Rounds whose trees have no more leaves together than there may be."""
    return MOST_LEAVES / leaves / shape.outputs


def boost(shape: Shape, title: str, leaves: int, rate: float, options: dict[str, Any]) -> Entry:
    """Boosting with trees of so many leaves, and its rounds."""
    make = tenfold.HistGradientBoostingClassifier if shape.classes else tenfold.HistGradientBoostingRegressor
    bins = FEW_BINS if shape.columns > WIDE and shape.rows <= SHORT else BINS
    learner = make(early_stopping=False, max_leaf_nodes=leaves, learning_rate=rate, max_bins=bins, random_state=0, **options)
    most = min(_most_rounds(shape, leaves), RATE_ROUNDS / rate, max(shape.rows * 4, ROUNDS[0]))
    rounds = tuple(n for n in ROUNDS if n == ROUNDS[0] or n <= most)
    in_tree = min(leaves, max(shape.rows // int(learner.min_samples_leaf), 1))
    looked_at = shape.columns * (0.4 + 0.6 * float(learner.max_features))
    each_row = (3e-8 if learner.subsample == 1 else 9e-8) + 4e-10 * looked_at * math.log2(max(in_tree, 2))
    all_bins = shape.columns * bins
    each_tree = 1e-5 + shape.rows * each_row + in_tree * (2e-6 + all_bins * (1.2e-9 if all_bins <= CACHED_BINS else 5e-9))
    seconds = rounds[-1] * shape.outputs * each_tree * (SEVERAL if shape.outputs > 1 else 1.0)
    return Entry(title, learner, 6, "max_iter", rounds, "rounds", leaves=shape.outputs * in_tree, kind="boosting", seconds=seconds)
