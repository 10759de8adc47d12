"""Worlds with a known law: tables drawn from it, and as many new rows as one likes to know the truth of a model.

A world draws a law (coefficients, levels, noise) from a seed, and rows from the law. `REPORTED` are those of the benchmark;
`FITTED` are others, by which the constants of `tenfold.evaluate.validate.ranges.widening` were chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = tuple[Any, Any]  # X, y
Law = Callable[[np.random.Generator, int], Rows]  # rows from a generator
REGRESSION, TWO, FOUR, RARE, APART = "regression", "two classes", "four classes", "5 % positives", "few errors"
NEW_ROWS = 50_000


@dataclass(frozen=True)
class World:
    """A law of laws."""

    name: str
    kind: str
    draw_law: Callable[[np.random.Generator], Law]
    signal: bool = True


@dataclass(frozen=True)
class Drawn:
    """A table, and new rows of the same law."""

    world: World
    X: Any
    y: Any
    new_X: Any
    new_y: Any
    new_w: Any = None  # weights, where tables that have too few rows of a class were not taken


def table(world: World, rows: int, seed: int, new_rows: int = NEW_ROWS) -> Drawn:
    """The table of a seed: law, rows and new rows.

    Rows are drawn again where a class has fewer than 2, as no learner takes such a table. Then a rare class is more frequent in
    tables than in the law: new rows get weights by which it is as frequent as in the tables that are taken.
    """
    rng = np.random.default_rng([seed, rows, *world.name.encode()])
    law = world.draw_law(rng)
    X, y = law(rng, rows)
    while world.kind != REGRESSION and (np.bincount(y, minlength=4 if world.kind == FOUR else 2) < 2).any():
        X, y = law(rng, rows)
    new_X, new_y = law(rng, new_rows)
    if world.kind != RARE:
        return Drawn(world, X, y, new_X, new_y)
    p = new_y.mean()
    none, one = (1 - p) ** rows, rows * p * (1 - p) ** (rows - 1)
    taken = (p - one / rows) / (1 - none - one)  # E(share of the class | at least 2 rows)
    return Drawn(world, X, y, new_X, new_y, np.where(new_y == 1, taken / p, (1 - taken) / (1 - p)))


# --- numbers ----------------------------------------------------------------------------------------------------------


def _numbers(mean: Callable[[Any], Any], p: int, noise: Callable[[np.random.Generator, Any], Any]) -> Law:
    def law(rng: np.random.Generator, n: int) -> Rows:
        X = rng.normal(size=(n, p))
        return X, mean(X) + noise(rng, X)

    return law


def _even(rng: np.random.Generator, X: Any) -> Any:
    return rng.normal(size=len(X))


def _linear(rng: np.random.Generator) -> Law:
    b = rng.normal(size=8) / 2
    return _numbers(lambda X: X @ b, 8, _even)


def _interactions(rng: np.random.Generator) -> Law:
    a, b = rng.normal(size=2)
    return _numbers(lambda X: X[:, 0] * X[:, 1] * (1 + abs(a)) + np.abs(X[:, 2]) + b * X[:, 3], 6, _even)


def _sparse(rng: np.random.Generator) -> Law:
    b = np.where(np.arange(30) < 3, rng.choice([-1.0, 1.0], 30), 0.0)
    return _numbers(lambda X: X @ b, 30, _even)


def _uneven(rng: np.random.Generator) -> Law:
    b = rng.normal(size=6) / 2
    return _numbers(lambda X: X @ b, 6, lambda rng, X: rng.normal(size=len(X)) * np.exp(0.7 * X[:, 0]))


def _heavy(rng: np.random.Generator) -> Law:
    b = rng.normal(size=6) / 2
    return _numbers(lambda X: X @ b, 6, lambda rng, X: rng.standard_t(4, size=len(X)))


def _categories(rng: np.random.Generator) -> Law:
    """Three columns of 3 to 6 levels as indicators, and two numbers."""
    sizes = rng.integers(3, 7, size=3)
    effects, b = [rng.normal(size=k) for k in sizes], rng.normal(size=2)

    def law(rng: np.random.Generator, n: int) -> Rows:
        codes = [rng.integers(0, k, n) for k in sizes]
        Z = rng.normal(size=(n, 2))
        y = sum(e[c] for e, c in zip(effects, codes, strict=True)) + Z @ b + rng.normal(size=n)
        return np.column_stack([Z, *(np.eye(k)[c] for k, c in zip(sizes, codes, strict=True))]), y

    return law


def _noise(rng: np.random.Generator) -> Law:
    return _numbers(lambda X: np.zeros(len(X)), 10, _even)


# --- classes ----------------------------------------------------------------------------------------------------------


def _classes(scores: Callable[[Any], Any], p: int) -> Law:
    """P(class k) ~ exp(score k)."""

    def law(rng: np.random.Generator, n: int) -> Rows:
        X = rng.normal(size=(n, p))
        s = scores(X)
        return X, (s + rng.gumbel(size=s.shape)).argmax(axis=1)

    return law


def _two(rng: np.random.Generator) -> Law:
    b = rng.normal(size=6) / 1.5
    return _classes(lambda X: np.column_stack([np.zeros(len(X)), X @ b]), 6)


def _two_bent(rng: np.random.Generator) -> Law:
    a = 1 + rng.random()
    return _classes(lambda X: np.column_stack([np.zeros(len(X)), a * X[:, 0] * X[:, 1] + X[:, 2]]), 5)


def _four(rng: np.random.Generator) -> Law:
    B = rng.normal(size=(6, 4)) / 1.5
    return _classes(lambda X: X @ B, 6)


def _rare(rng: np.random.Generator) -> Law:
    """5 % of the second class, told by 3 of 5 columns: the intercept that gives 5 % is found by bisection."""
    b = np.append(rng.normal(size=3), [0.0, 0.0])
    known, low, high = rng.normal(size=(20_000, 5)) @ b, -20.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if np.mean(1 / (1 + np.exp(-known - middle))) < 0.05 else (low, middle)
    return _classes(lambda X: np.column_stack([np.zeros(len(X)), X @ b + low]), 5)


def _apart(rng: np.random.Generator) -> Law:
    """Two clouds that overlap in 0.3 to 4 % of the rows."""
    b = rng.normal(size=4)
    between = rng.uniform(3.5, 5.5) * b / np.sqrt(b @ b)

    def law(rng: np.random.Generator, n: int) -> Rows:
        y = rng.integers(0, 2, n)
        return rng.normal(size=(n, 4)) + (y - 0.5)[:, None] * between, y

    return law


def _coin(rng: np.random.Generator) -> Law:
    return _classes(lambda X: np.zeros((len(X), 2)), 8)


def _four_coins(rng: np.random.Generator) -> Law:
    return _classes(lambda X: np.zeros((len(X), 4)), 5)


REPORTED = [
    World("linear", REGRESSION, _linear),
    World("interactions", REGRESSION, _interactions),
    World("sparse", REGRESSION, _sparse),
    World("uneven noise", REGRESSION, _uneven),
    World("heavy tails", REGRESSION, _heavy),
    World("categories", REGRESSION, _categories),
    World("noise", REGRESSION, _noise, signal=False),
    World("two classes", TWO, _two),
    World("two classes, bent", TWO, _two_bent),
    World("coin", TWO, _coin, signal=False),
    World("four classes", FOUR, _four),
    World("four coins", FOUR, _four_coins, signal=False),
    World("rare", RARE, _rare),
    World("nearly apart", APART, _apart),
]


# --- other worlds, to choose constants by -----------------------------------------------------------------------------


def _any_numbers(rng: np.random.Generator) -> Law:
    """Of 2 to 20 columns: a line, sines and a step, with noise of any tails above 4 degrees, even or growing with a column."""
    p, share = int(rng.integers(2, 21)), rng.random()
    b, c = rng.normal(size=p) / np.sqrt(p), rng.normal(size=p) / np.sqrt(p)
    degrees, growth = rng.uniform(4.5, 30), rng.choice([0.0, 0.5])

    def noise(rng: np.random.Generator, X: Any) -> Any:
        return rng.standard_t(degrees, size=len(X)) * np.exp(growth * np.abs(X[:, 0]))

    return _numbers(lambda X: 2 * (share * (X @ b) + (1 - share) * np.sin(2 * X @ c) + (X[:, 0] > 0.5)), p, noise)


def _any_classes(k: int, base: Any) -> Callable[[np.random.Generator], Law]:
    def draw(rng: np.random.Generator) -> Law:
        p = int(rng.integers(2, 13))
        B, C = (rng.normal(size=(p, k)) / np.sqrt(p) * rng.uniform(0, 2) for _ in range(2))
        return _classes(lambda X: X @ B + np.sin(2 * X @ C) + base, p)

    return draw


FITTED = [
    World("any numbers", REGRESSION, _any_numbers),
    World("any two classes", TWO, _any_classes(2, np.zeros(2))),
    World("any four classes", FOUR, _any_classes(4, np.array([0.0, 0.3, 0.6, 0.9]))),
    World("any rare class", RARE, _any_classes(2, np.array([3.3, 0.0]))),
]
