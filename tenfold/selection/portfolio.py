"""The portfolio: what is tried for a table, the most promising first, and about how long each takes.

The order follows what was measured on 24 real tables of up to 2,000 training rows (`python -m bench.portfolio`): what adds most, by the
time it takes, to a small greedy ensemble of what stands before it. Where the tables do not tell, and they often do not, it is judgement;
so is that boosting stands earlier than they say, as no longer tables were measured. Costs: within a factor of two for most entries.
It is fixed by the shape of a table alone, never by the clock; a plan is cut by `seconds`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import tenfold
from tenfold.core.mapped import MOST_KEPT
from tenfold.selection.candidates import Family
from tenfold.selection.guess import FrequencyGuess, MeanGuess

# Penalties are in units of the number of rows, so that the same grid serves tables of any length.
RIDGE_PER_ROW = tuple(np.logspace(-7, 2, 28).tolist())  # alpha / rows, for columns of variance 1
LOGISTIC_ROWS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)  # C × rows
SHRINKAGE = (0.0, 0.01, 0.1, 0.5)  # of covariances of classes, towards their diagonals
BASIS_SHRINKAGE = (0.001, 0.01, 0.1)  # of one covariance of many columns
ROUNDS = (25, 50, 100, 200, 400, 800, 1600)  # of boosting, all from one fit
RATE_ROUNDS = 40.0  # rate × rounds, beyond which nothing is gained
MOST_LEAVES = 200_000  # of all trees of one fit of boosting
FOREST_TREES = 300
LEAST_TREE_ROWS, LEAST_BASIS_ROWS = 50, 80
SPLINED, MULTIPLIED, NEAR = 60, 20, 300  # columns of the matrix up to which splines, products and kernels are tried
COMPONENTS = 12  # of wider matrices, whose products are tried
LEAST_TRAINED = 0.6  # of the rows, in a training set of nested folds
MOST_PARAMETERS = 8000  # classes × columns of a logistic regression behind a basis


PASSES, FEW_WEIGHTS = 30, 300  # over the rows for each C; columns up to which curvatures are summed up


@dataclass(frozen=True)
class Entry(Family):
    """A family with its kind, of which an ensemble takes few, and the seconds that one fit takes on one core."""

    kind: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Shape:
    """What is known of a table before anything is fitted."""

    role: str  # "classifier" or "regressor"
    rows: int
    columns: int
    classes: int = 0
    width: int = 0  # of the matrix of numbers, with its indicators
    categories: int = 0  # columns of categories
    lowest: float = -math.inf  # of the target
    skewed: bool = False  # targets have a long tail above
    reading: float = 0.0  # seconds that it takes to learn once what texts say
    signs: tuple[int, ...] = ()  # of columns that may act in one direction only: 1, −1, or 0 for all others

    @property
    def outputs(self) -> int:
        return self.classes if self.classes > 2 else 1

# name, share of the rows that are centres, at most how many, the width of a kernel by the root of the number of columns, and whether
# these are made normal by their ranks before
KERNELS: list[tuple[str, float, int, float, bool]] = [
    ("kernels", 0.5, 300, 1.0, False),
    ("many kernels", 0.8, 1000, 1.0, False),
    ("many wide kernels", 0.8, 1000, 2.0, False),
    ("many kernels of ranks", 0.8, 1000, 1.0, True),
]
HEAVY, VERY_HEAVY = 3e8, 3e10  # rows × columns² × classes², from where fewer values of C are tried

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
CLASS_ORDER = (
    "class frequencies",
    "logistic regression",
    "boosted trees of 8 leaves",
    "random forest",
    "logistic regression of many kernels of ranks",
    "boosted trees of 31 leaves, slow, parts of rows and columns",
    "linear discriminant",
    "extra trees, half of the columns",
    "logistic regression of splines",
    "logistic regression of many kernels",
    "quadratic discriminant",
    "boosted trees of 31 leaves, half of the columns",
    "discriminant of many kernels",
    "logistic regression of products",
    "boosted trees of 16 leaves, parts of rows and columns",
    "logistic regression of products of components",
    "logistic regression of many wide kernels",
    "boosted trees of 127 leaves",
    "boosted trees of 4 leaves",
    "logistic regression of kernels",
    "random forest of larger leaves",
    "naive Bayes",
    "extra trees",
    "nearest centroid",
)
NUMBER_ORDER = (
    "always the mean",
    "ridge regression",
    "boosted trees of 31 leaves, slow, parts of rows and columns",
    "ridge regression of many kernels",
    "boosted trees of 4 leaves",
    "ridge regression of many kernels of ranks",
    "extra trees, half of the columns",
    "ridge regression of products of components",
    "boosted trees of 31 leaves, logarithm of the mean",
    "boosted trees of 31 leaves, half of the columns",
    "ridge regression of products",
    "ridge regression of many wide kernels",
    "random forest, a third of the columns",
    "boosted trees of 127 leaves",
    "ridge regression of kernels",
    "boosted trees of 16 leaves, parts of rows and columns",
    "ridge regression of splines",
    "linear regression",
    "extra trees, all columns",
    "boosted trees of 8 leaves",
)


def portfolio(
    role: str,
    rows: int,
    columns: int,
    classes: int = 0,
    *,
    width: int | None = None,
    categories: int = 0,
    lowest: float = -math.inf,
    skewed: bool = False,
) -> list[Entry]:
    """The guess, and what is tried for a table of this shape, in the order in which it is worth trying.

    `columns` of the table, `width` of them as a matrix of numbers; `lowest` of the targets, and whether they are skewed.
    """
    shape = Shape(role, rows, columns, classes, width or columns, categories, lowest, skewed)
    found = {entry.title: entry for entry in (*_simple(shape), *_bases(shape), *_forests(shape), *_boosted(shape))}
    order = CLASS_ORDER if classes else NUMBER_ORDER
    place = {title: number for number, title in enumerate(order)}
    return sorted(found.values(), key=lambda entry: place.get(entry.title, len(order)))


# --- the entries, kind by kind ---


def _simple(shape: Shape) -> list[Entry]:
    """The guess, and models that a person can read."""
    n, p, K = shape.rows, shape.width, shape.classes
    pass_ = _pass_seconds(n, p)
    if not K:
        alphas = tuple(n * a for a in RIDGE_PER_ROW)
        plain = Entry("linear regression", tenfold.LinearRegression(), 1, kind="linear", seconds=pass_)
        return [
            Entry("always the mean", MeanGuess(), 0),
            *([plain] if p <= n // 2 else []),
            Entry("ridge regression", tenfold.Ridge(), 2, "alpha", alphas, "penalty", kind="linear", seconds=pass_),
        ]
    return [
        Entry("class frequencies", FrequencyGuess(), 0),
        Entry("nearest centroid", tenfold.NearestCentroid(), 1, kind="centroid", seconds=pass_),
        Entry("naive Bayes", tenfold.GaussianNB(), 2, kind="naive Bayes", seconds=pass_),
        Entry("linear discriminant", tenfold.LinearDiscriminantAnalysis(), 3, kind="linear", seconds=pass_),
        Entry(
            "logistic regression",
            tenfold.LogisticRegression(),
            4,
            "C",
            _penalties(shape, p),
            "C",
            kind="linear",
            seconds=_logistic_seconds(shape, p),
        ),
        Entry(
            "quadratic discriminant",
            tenfold.QuadraticDiscriminantAnalysis(),
            5,
            "reg_param",
            SHRINKAGE if 2 * p * K <= n else SHRINKAGE[1:],
            "shrinkage",
            kind="quadratic",
            seconds=4 * pass_,
        ),
    ]


def _penalties(shape: Shape, width: int) -> tuple[float, ...]:
    """C of a logistic regression: fewer where each takes long."""
    work = shape.rows * width**2 * shape.outputs**2
    C = LOGISTIC_ROWS if work < HEAVY else LOGISTIC_ROWS[1::2] if work < VERY_HEAVY else LOGISTIC_ROWS[3:4]
    return tuple(c / shape.rows for c in C)


def _bases(shape: Shape) -> list[Entry]:
    """Linear models of functions of the columns: splines of each, products of two, kernels around some of the rows."""
    n, p, K = shape.rows, shape.width, shape.classes
    if n < LEAST_BASIS_ROWS:
        return []
    scale = tenfold.StandardScaler
    products = tenfold.PolynomialFeatures(2, include_bias=False)
    found: list[tuple[str, int, list[tuple[str, Any]]]] = []
    if p <= SPLINED:
        splines = tenfold.SplineTransformer(5, knots="quantile", extrapolation="linear", include_bias=False)
        found.append(("splines", 7 * p, [("splines", splines), ("scale again", scale())]))
    if 2 <= p <= MULTIPLIED:
        found.append(("products", p * (p + 3) // 2, [("products", products), ("scale again", scale())]))
    elif p > MULTIPLIED and n > 5 * COMPONENTS:
        parts = [("components", tenfold.PCA(COMPONENTS, whiten=True)), ("products", products), ("scale again", scale())]
        found.append(("products of components", COMPONENTS * (COMPONENTS + 3) // 2, parts))
    if p <= NEAR:
        for name, share, most, h, by_rank in KERNELS:
            count = min(most, int(share * n * LEAST_TRAINED))
            near = tenfold.RadialBasisFeatures(count, centers="sample", bandwidth=h * math.sqrt(p))
            ranks = tenfold.QuantileTransformer(n_quantiles=min(1000, n // 3), subsample=None, output_distribution="normal")
            before = [("ranks", ranks), ("scale ranks", scale())] if by_rank else []
            found.append((name, count, [*before, ("kernels", near), ("scale again", scale())]))
    entries = []
    for name, width, steps in found:
        made = n * width * (4e-8 + 3e-9 * p) if "kernels" in name else n * width * 4e-9
        seconds = made + _pass_seconds(n, width)
        if not K:
            alphas = tuple(n * a for a in RIDGE_PER_ROW)
            learner = tenfold.Pipeline([*steps, ("model", tenfold.Ridge())])
            entries.append(
                Entry(f"ridge regression of {name}", learner, 3, "model__alpha", alphas, "penalty", kind="basis", seconds=seconds)
            )
            continue
        if K * width <= MOST_PARAMETERS:
            learner = tenfold.Pipeline([*steps, ("model", tenfold.LogisticRegression())])
            C = _penalties(shape, width)
            entries.append(
                Entry(
                    f"logistic regression of {name}",
                    learner,
                    5,
                    "model__C",
                    C,
                    "C",
                    kind="basis",
                    seconds=made + _logistic_seconds(shape, width, made),
                )
            )
        if K == 2 or name != "many kernels":  # of two classes it adds nothing to the logistic regression
            continue
        learner = tenfold.Pipeline([*steps, ("model", tenfold.LinearDiscriminantAnalysis(solver="lsqr"))])
        title, path = f"discriminant of {name}", ("model__shrinkage", BASIS_SHRINKAGE, "shrinkage")
        entries.append(Entry(title, learner, 5, *path, kind="basis", seconds=3 * seconds))
    return entries


def _forests(shape: Shape) -> list[Entry]:
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
        found.append(Entry(title, learner, 6, leaves=FOREST_TREES * (shape.rows // leaf), kind=kind, seconds=seconds))
    return found


def _boosted(shape: Shape) -> list[Entry]:
    """Sums of small trees, each fitted to what those before it leave over."""
    if shape.rows < LEAST_TREE_ROWS:
        return []
    more = COUNTED if not shape.classes and shape.skewed and shape.lowest >= 0 else []
    return [_boost(shape, *one) for one in (*BOOSTED, *more)]


def _boost(shape: Shape, title: str, leaves: int, rate: float, options: dict[str, Any]) -> Entry:
    make = tenfold.HistGradientBoostingClassifier if shape.classes else tenfold.HistGradientBoostingRegressor
    learner = make(early_stopping=False, max_leaf_nodes=leaves, learning_rate=rate, random_state=0, **options)
    most = min(MOST_LEAVES / leaves / shape.outputs, RATE_ROUNDS / rate, max(shape.rows * 4, ROUNDS[0]))
    rounds = tuple(n for n in ROUNDS if n == ROUNDS[0] or n <= most)
    in_tree = min(leaves, max(shape.rows // int(learner.min_samples_leaf), 1))
    looked_at = shape.columns * (0.4 + 0.6 * float(learner.max_features))
    each_row = (3e-8 if learner.subsample == 1 else 9e-8) + 4e-10 * looked_at * math.log2(max(in_tree, 2))
    each_tree = 1e-5 + shape.rows * each_row + in_tree * (2e-6 + 3e-7 * shape.columns)
    seconds = rounds[-1] * shape.outputs * each_tree
    return Entry(title, learner, 6, "max_iter", rounds, "rounds", leaves=shape.outputs * in_tree, kind="boosting", seconds=seconds)


# --- about how long a fit takes, in seconds on one core; from measurements ---


def _pass_seconds(rows: int, width: int) -> float:
    """Moments of the columns, and a factorisation."""
    return 1e-3 + rows * width**2 * 1.2e-10 + width**3 * 2e-10


def _logistic_seconds(shape: Shape, width: int, made: float = 0.0) -> float:
    """All values of C; `made`: what it takes to make the columns, again in each pass where they are not kept."""
    values = len(_penalties(shape, width))
    passes = PASSES * values * (1e-9 * shape.rows * width * shape.outputs + (made if 8 * shape.rows * width > MOST_KEPT else 0.0))
    return 3e-3 + passes + values * shape.rows * min(width, FEW_WEIGHTS) ** 2 * shape.outputs * 4e-10
