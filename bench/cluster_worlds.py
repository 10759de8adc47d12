"""Worlds with a known number of groups: tables drawn from them, to see how often a rule finds the number.

`FITTED` are those by which the recommendation of `tenfold.choose_clusters` was chosen, `REPORTED` others, of other shapes, sizes, distances
and seeds, on which it is reported. Both lists were fixed before any rule was tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, int], Array]  # rows of a group around zero: (generator, rows, columns)


@dataclass(frozen=True)
class World:
    """`groups` groups of a shape, whose centres are at least `apart` standard deviations of a column from one another."""

    name: str
    groups: int
    columns: int
    rows: int
    apart: float
    shape: Draw
    sizes: str = "equal"  # or "unequal": the largest group has four times the rows of the smallest
    noise: float = 0.0  # share of rows spread evenly over the box of all

    def table(self, seed: int) -> Array:
        rng = np.random.default_rng([seed, self.groups, self.columns, self.rows])
        share = np.geomspace(1, 4, self.groups) if self.sizes == "unequal" and self.groups > 1 else np.ones(self.groups)
        counts = np.maximum(np.round(self.rows * (1 - self.noise) * share / share.sum()), 5).astype(int)
        centres = spread_out(rng, self.groups, self.columns) * self.apart
        parts = [centre + self.shape(rng, int(count), self.columns) for centre, count in zip(centres, counts, strict=True)]
        X = np.concatenate(parts)
        if self.noise:
            X = np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (round(self.noise * self.rows), self.columns))])
        return np.asarray(X[rng.permutation(len(X))])


def spread_out(rng: np.random.Generator, groups: int, columns: int) -> Array:
    """Centres drawn at random, the nearest two of which are 1 apart."""
    best = rng.normal(size=(groups, columns))
    if groups == 1:
        return best
    tries = [rng.normal(size=(groups, columns)) for _ in range(20)]
    sizes = [min(np.linalg.norm(a - b) for i, a in enumerate(one) for b in one[:i]) for one in tries]
    return np.asarray(tries[int(np.argmax(sizes))] / max(sizes))


def gaussian(rng: np.random.Generator, n: int, d: int) -> Array:
    return rng.normal(size=(n, d))


def stretched(rng: np.random.Generator, n: int, d: int) -> Array:
    """Columns that go together: each group is a cigar of its own direction, as wide as a round one on average."""
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    spread = np.geomspace(1, 1 / 3, d)
    return np.asarray(rng.normal(size=(n, d)) * spread / np.sqrt((spread**2).mean()) @ axes)


def wide_and_narrow(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.asarray(rng.normal(size=(n, d)) * rng.uniform(0.4, 1.0))


def heavy(rng: np.random.Generator, n: int, d: int) -> Array:
    """Student's t of three degrees of freedom, one scale for a row."""
    return np.asarray(rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3) / np.sqrt(3))


def heavy_columns(rng: np.random.Generator, n: int, d: int) -> Array:
    """Student's t of four degrees of freedom in each column."""
    return np.asarray(rng.standard_t(4, size=(n, d)) / np.sqrt(2))


def box(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.asarray(rng.uniform(-1, 1, size=(n, d)) * np.sqrt(3))


def ball(rng: np.random.Generator, n: int, d: int) -> Array:
    way = rng.normal(size=(n, d))
    return np.asarray(way / np.linalg.norm(way, axis=1, keepdims=True) * rng.uniform(size=(n, 1)) ** (1 / d) * np.sqrt(d + 2))


def skewed(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.asarray(rng.gamma(2.0, size=(n, d)) / np.sqrt(2))


def exponential(rng: np.random.Generator, n: int, d: int) -> Array:
    return np.asarray(rng.exponential(size=(n, d)))


def _worlds(shapes: list[tuple[str, Draw]], aparts: tuple[float, ...], rows: tuple[int, ...], alone: list[tuple[str, Draw]]) -> list[World]:
    """Groups of every shape, number, distance and width; and as many tables without groups in the end as of each number."""
    made = [
        World(f"{name}, {apart:g} apart", k, d, rows[(i + j) % len(rows)], apart, shape)
        for i, (apart, (name, shape)) in enumerate(product(aparts, shapes))
        for j, (k, d) in enumerate(product((2, 3, 5, 8), (2, 10)))
    ]
    for apart in aparts:
        made += [
            World(f"unequal sizes, {apart:g} apart", k, d, max(rows), apart, gaussian, "unequal") for k, d in product((2, 3, 5, 8), (2, 10))
        ]
        made += [
            World(f"with noise, {apart:g} apart", k, d, max(rows), apart, gaussian, noise=0.08) for k, d in product((2, 3, 5), (2, 10))
        ]
    made += [World(name, 1, d, n, 1.0, shape) for (name, shape), d, n in product(alone, (2, 10), rows)]
    return made


FITTED = _worlds(
    [("round", gaussian), ("stretched", stretched), ("heavy tails", heavy)],
    (4.5, 7.0), (200, 600),
    [("Gaussian", gaussian), ("stretched", stretched), ("box", box), ("heavy tails", heavy), ("skewed", skewed)],
)  # fmt: skip
REPORTED = _worlds(
    [("round", gaussian), ("wide and narrow", wide_and_narrow), ("heavy columns", heavy_columns)],
    (4.0, 5.0, 8.0), (150, 400, 1000),
    [
        ("Gaussian", gaussian), ("stretched", stretched), ("ball", ball), ("box", box), ("heavy columns", heavy_columns),
        ("exponential", exponential),
    ],
)  # fmt: skip
