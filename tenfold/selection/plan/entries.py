"""Entries of the portfolio that learn from numbers: models that a person can read, and linear models of functions of the columns.

An entry has about the seconds that one fit takes, by a model of the cost that is within a factor of two for most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import tenfold
from tenfold.core.mapped import MOST_KEPT
from tenfold.evaluate.validate.training_sets import sums_fit
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.folds import FEW_FOLDS
from tenfold.selection.plan.guess import FrequencyGuess, MeanGuess

# Penalties are in units of the number of rows, so that the same grid serves tables of any length.
RIDGE_PER_ROW = tuple(np.logspace(-7, 2, 28).tolist())  # alpha / rows, for columns of variance 1
LOGISTIC_ROWS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5)  # C × rows
LASSO_SHARES = tuple(np.logspace(-0.3, -2.5, 14).tolist())  # alpha / standard deviation of the target: from 1 on no column is taken
SPARSE_ROWS = (10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 2000.0)  # C × rows where the sum of sizes is penalised
SPARSE = 15  # columns from which only some may matter
SHRINKAGE = (0.0, 0.01, 0.1, 0.5)  # of covariances of classes, towards their diagonals
BASIS_SHRINKAGE = (0.001, 0.01, 0.1)  # of one covariance of many columns
LEAST_BASIS_ROWS = 80
SPLINED, MULTIPLIED, NEAR = 60, 20, 300  # columns of the matrix up to which splines, products and kernels are tried
COMPONENTS = 12  # of wider matrices, whose products are tried
LEAST_TRAINED = 0.6  # of the rows, in a training set of nested folds
MOST_PARAMETERS = 8000  # classes × columns of a logistic regression behind a basis
PASSES, FEW_WEIGHTS = 30, 300  # over the rows for each C; columns up to which curvatures are summed up
# name, share of the rows that are centres, at most how many, the width of a kernel by the root of the number of columns, and whether
# these are made normal by their ranks before
KERNELS: list[tuple[str, float, int, float, bool]] = [
    ("kernels", 0.5, 300, 1.0, False),
    ("many kernels", 0.8, 1000, 1.0, False),
    ("many wide kernels", 0.8, 1000, 2.0, False),
    ("many kernels of ranks", 0.8, 1000, 1.0, True),
]
MACHINE_PENALTIES = tuple(np.logspace(-3, 2, 16).tolist())  # alpha of kernels that are 1 for a row with itself
MOST_MACHINE_ROWS = 3_000  # whose kernels with one another are decomposed
MACHINE_LEVEL = 1e4  # of a constant beside such a kernel: the mean of the targets is hardly held back
MOST_PROCESS_ROWS, ROWS_A_WIDTH = 1_500, 5  # of a process, whose columns have a width each
MARGIN_WIDTHS = {"support vector machine": 1.0, "support vector machine of narrow kernels": 3.0}  # gamma × columns
MARGIN_COSTS = (1.0, 10.0, 100.0)  # C; of long tables the one in the middle
PAIRED = (1.0, 1.5, 2.0)  # powers of what pairs of classes say together
ANY_WIDTH = (1e-3, 1e30)  # a column that does not matter is as wide as can be
PARTS = (2, 4)  # Gaussians of each class
BOLD = (1.0, 0.5)  # powers of what densities say of classes, which count what columns have in common more than once
PART_ROWS = 8  # of each class on average, for each of the fewest
CURVED = 100  # columns of the matrix up to which classes have several covariances
NEIGHBORS = (1, 2, 3, 5, 8, 12, 20, 32, 50, 80)
HEAVY, VERY_HEAVY = 3e8, 3e10  # rows × columns² × classes², from where fewer values of C are tried


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
    spread: float = 1.0  # standard deviation of the targets
    reading: float = 0.0  # seconds that it takes to learn once what texts say
    signs: tuple[int, ...] = ()  # of columns that may act in one direction only: 1, −1, or 0 for all others

    @property
    def outputs(self) -> int:
        return self.classes if self.classes > 2 else 1


def simple(shape: Shape) -> list[Entry]:
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
            *([_lasso(shape, pass_)] if p >= SPARSE else []),
        ]
    return [
        Entry("class frequencies", FrequencyGuess(), 0),
        Entry("nearest centroid", tenfold.NearestCentroid(), 1, kind="centroid", seconds=pass_),
        Entry("naive Bayes", tenfold.GaussianNB(), 2, powers=BOLD, kind="naive Bayes", seconds=pass_),
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
            powers=BOLD,
            kind="quadratic",
            seconds=4 * pass_,
        ),
        *([_sparse_logistic(shape)] if p >= SPARSE else []),
    ]


def _lasso(shape: Shape, pass_: float) -> Entry:
    alphas = tuple(share * shape.spread for share in LASSO_SHARES)
    return Entry("lasso", tenfold.Lasso(tol=1e-3, max_iter=10_000), 2, "alpha", alphas, "penalty", kind="sparse", seconds=3 * pass_)


def _sparse_logistic(shape: Shape) -> Entry:
    """The logistic regression whose penalty leaves columns out."""
    C = tuple(c / shape.rows for c in SPARSE_ROWS)
    taken = min(shape.width, shape.rows // 4) * shape.outputs  # columns whose curvature is summed up in each step
    seconds = 3e-3 + len(C) * shape.rows * (PASSES * 1e-9 * shape.width * shape.outputs + 3e-10 * taken**2)
    learner = tenfold.LogisticRegression(l1_ratio=1.0)
    return Entry("sparse logistic regression", learner, 4, "C", C, "C", kind="sparse", seconds=seconds)


def _penalties(shape: Shape, width: int) -> tuple[float, ...]:
    """C of a logistic regression: fewer where each takes long."""
    work = shape.rows * width**2 * shape.outputs**2
    C = LOGISTIC_ROWS if work < HEAVY else LOGISTIC_ROWS[1::2] if work < VERY_HEAVY else LOGISTIC_ROWS[3:4]
    return tuple(c / shape.rows for c in C)


def bases(shape: Shape) -> list[Entry]:
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
            count = _centres(n, share, most)
            near = tenfold.RadialBasisFeatures(count, centers="sample", bandwidth=h * math.sqrt(p))
            ranks = tenfold.QuantileTransformer(n_quantiles=min(1000, n // 3), subsample=None, output_distribution="normal")
            before = [("ranks", ranks), ("scale ranks", scale())] if by_rank else []
            found.append((name, count, [*before, ("kernels", near), ("scale again", scale())]))
    entries = []
    for name, width, steps in found:
        made = n * width * (2.4e-8 + 1.8e-9 * p) if "kernels" in name else n * width * 4e-9
        made += 3 * _pass_seconds(n, p) if "components" in name else 0.0
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


def _centres(rows: int, share: float, most: int) -> int:
    """How many rows kernels are around."""
    return min(most, int(share * rows * LEAST_TRAINED))


def machines(shape: Shape) -> list[Entry]:
    """Kernels around all of the rows, rougher than those around some of them; every penalty from one decomposition. Of few rows also
    the process whose widths, one for each column, have most evidence: columns that do not matter become wide. For several classes the
    widest margin between each two of them, where they are too many for a logistic regression of as many kernels."""
    n, p = shape.rows, shape.width
    if any(shape.classes * _centres(n, share, most) > MOST_PARAMETERS for _, share, most, *_ in KERNELS) and p <= NEAR:
        return _support_vectors(shape)
    if shape.classes or not LEAST_BASIS_ROWS <= n <= MOST_MACHINE_ROWS or p > NEAR:
        return []
    kernel = tenfold.kernels.Matern(math.sqrt(p), nu=1.5) + tenfold.kernels.ConstantKernel(MACHINE_LEVEL)
    seconds = 3e-3 + n**3 * 2e-10 + n * n * (4e-8 + 1e-9 * p)
    learner = tenfold.KernelRidge(kernel=kernel)
    ridge = Entry("kernel ridge regression", learner, 4, "alpha", MACHINE_PENALTIES, "penalty", kind="kernels", seconds=seconds)
    if n > MOST_PROCESS_ROWS or n < ROWS_A_WIDTH * p:
        return [ridge]
    widths = tenfold.kernels.Matern([math.sqrt(p)] * p, length_scale_bounds=ANY_WIDTH, nu=1.5)
    smooth = tenfold.kernels.ConstantKernel() * widths
    process = tenfold.GaussianProcessRegressor(smooth + tenfold.kernels.WhiteKernel(0.1, (1e-10, 1e5)), normalize_y=True)
    seconds = 0.1 + n**3 * 4e-9 + n * n * p * 1e-7
    return [ridge, Entry("Gaussian process", process, 5, kind="kernels", seconds=seconds)]


def _support_vectors(shape: Shape) -> list[Entry]:
    """Two widths. What pairs of classes say together is too cautious: their probabilities are also raised to powers."""
    n, p, pairs = shape.rows, shape.width, shape.classes * (shape.classes - 1) // 2
    each = 2.5e-3 * pairs + n * n * (p + 20) * 5e-10
    C = MARGIN_COSTS if n <= MOST_MACHINE_ROWS else MARGIN_COSTS[1:2]
    found = []
    for name, times in MARGIN_WIDTHS.items():
        learner = tenfold.SVC(gamma=times / p, probability=True)
        found.append(Entry(name, learner, 5, "C", C, "C", powers=PAIRED, kind="kernels", seconds=len(C) * each))
    return found


def neighbors(shape: Shape) -> list[Entry]:
    """The targets of the nearest rows, weighted by a kernel as wide as the next one is far; every number of them from one search."""
    n, p = shape.rows, shape.width
    ks = tuple(k for k in NEIGHBORS if k <= n * LEAST_TRAINED / 2)
    if n < LEAST_BASIS_ROWS or p > NEAR:
        return []
    seconds = 5e-3 + n * n * (p + 20) * 1.5e-11 + n * len(ks) * 2e-8 * max(shape.classes, 1)
    learner = tenfold.KNeighborsClassifier if shape.classes else tenfold.KNeighborsRegressor
    path = ("n_neighbors", ks, "k")
    return [Entry("nearest neighbours", learner(weights="epanechnikov"), 4, *path, kind="neighbours", seconds=seconds)]


def densities(shape: Shape) -> list[Entry]:
    """Bayes' rule over the density of each class: some Gaussians, held back by a part of the unit of the columns."""
    n, p, K = shape.rows, shape.width, shape.classes
    parts = tuple(k for k in PARTS if k * PART_ROWS * K <= n * LEAST_TRAINED)
    if not K or not parts or p > CURVED:
        return []
    mixture = tenfold.GaussianMixture(reg_covar=0.2, tol=1e-2, max_iter=60, random_state=0)
    path = ("density__n_components", parts, "parts")
    seconds = 2e-3 * K * len(parts) + sum(parts) * (4e-4 + n * p * p * 2e-9)
    return [Entry("mixture discriminant", tenfold.BayesClassifier(mixture), 5, *path, powers=BOLD, kind="quadratic", seconds=seconds)]


# --- about how long a fit takes, in seconds on one core; from measurements ---


def _pass_seconds(rows: int, width: int) -> float:
    """Moments of the columns, and a factorisation; of columns whose moments would take too much memory, products of rows."""
    least = width if sums_fit(8 * width**2, FEW_FOLDS) else min(rows, width)
    return 1e-3 + rows * width * least * 8e-11 + least**3 * 2e-10


def _logistic_seconds(shape: Shape, width: int, made: float = 0.0) -> float:
    """All values of C; `made`: what it takes to make the columns, again in each pass where they are not kept."""
    values = len(_penalties(shape, width))
    passes = PASSES * values * (1e-9 * shape.rows * width * shape.outputs + (made if 8 * shape.rows * width > MOST_KEPT else 0.0))
    return 3e-3 + passes + values * shape.rows * min(width, FEW_WEIGHTS) ** 2 * shape.outputs * 4e-10
