"""The portfolio: what is tried for a table, the most promising first, and about how long each takes.

The order follows what was measured on 24 real tables of up to 2,000 training rows (`python -m bench.portfolio`): what adds most, by the
time it takes, to a small greedy ensemble of what stands before it. Where the tables do not tell, and they often do not, it is judgement;
so is that boosting stands earlier than they say, as no longer tables were measured.
It is fixed by the shape of a table alone, never by the clock; a plan is cut by `seconds`.
"""

from __future__ import annotations

import math

from tenfold.selection.plan.entries import Entry, Shape, bases, densities, machines, neighbors, simple
from tenfold.selection.plan.tree_entries import boosted, forests

CLASS_ORDER = (
    "class frequencies",
    "logistic regression",
    "boosted trees of 8 leaves",
    "random forest",
    "extra trees, half of the columns",
    "support vector machine of narrow kernels",
    "logistic regression of many kernels of ranks",
    "boosted trees of 31 leaves, slow, parts of rows and columns",
    "linear discriminant",
    "logistic regression of splines",
    "logistic regression of many kernels",
    "quadratic discriminant",
    "nearest neighbours",
    "mixture discriminant",
    "support vector machine",
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
    "sparse logistic regression",
)
NUMBER_ORDER = (
    "always the mean",
    "ridge regression",
    "boosted trees of 31 leaves, slow, parts of rows and columns",
    "ridge regression of many kernels",
    "boosted trees of 4 leaves",
    "kernel ridge regression",
    "ridge regression of many kernels of ranks",
    "extra trees, half of the columns",
    "Gaussian process",
    "ridge regression of products of components",
    "boosted trees of 31 leaves, logarithm of the mean",
    "boosted trees of 31 leaves, half of the columns",
    "ridge regression of products",
    "nearest neighbours",
    "ridge regression of many wide kernels",
    "random forest, a third of the columns",
    "boosted trees of 127 leaves",
    "ridge regression of kernels",
    "boosted trees of 16 leaves, parts of rows and columns",
    "ridge regression of splines",
    "linear regression",
    "extra trees, all columns",
    "boosted trees of 8 leaves",
    "lasso",
)
WIDE = 5  # rows for each column, below which models of few columns come right behind the first


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
    spread: float = 1.0,
) -> list[Entry]:
    """The guess, and what is tried for a table of this shape, in the order in which it is worth trying.

    `columns` of the table, `width` of them as a matrix of numbers; `lowest` of the targets, whether they are skewed, and their
    `spread`.
    """
    shape = Shape(role, rows, columns, classes, width or columns, categories, lowest, skewed, spread)
    by_numbers = (*simple(shape), *bases(shape), *machines(shape), *neighbors(shape), *densities(shape))
    found = {entry.title: entry for entry in (*by_numbers, *forests(shape), *boosted(shape))}
    order = CLASS_ORDER if classes else NUMBER_ORDER
    place: dict[str, float] = {title: number for number, title in enumerate(order)}
    if shape.width * WIDE > rows:
        place |= {entry.title: 1.5 for entry in found.values() if entry.kind == "sparse"}
    return sorted(found.values(), key=lambda entry: place.get(entry.title, len(order)))
