"""Errors of `BayesClassifier` by density, where the best possible error is known: python -m bench.bayes [--rows N] [--tables T]

Rows are drawn from densities that are known, so that Bayes' rule over these gives the least error there is.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import tenfold
from tenfold import BayesClassifier
from tenfold.core.errors import TenfoldWarning

NEW = 10_000  # rows that errors are measured on
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class World:
    """Two classes, equally frequent: rows of each, and its log density."""

    name: str
    draw: tuple[Callable[[int, np.random.Generator], Array], ...]
    log_density: tuple[Callable[[Array], Array], ...]

    def table(self, n: int, seed: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(seed)
        return np.concatenate([one(n, rng) for one in self.draw]), np.repeat([0, 1], n)

    def best(self, X: Array) -> Array:
        return np.asarray(np.argmax([one(X) for one in self.log_density], axis=0))


def gaussians(name: str, *classes: list[tuple[float, Any, Any]]) -> World:
    """Classes that are mixtures of Gaussians: share, mean and covariance of each part."""

    def draw(parts: Any) -> Callable[[int, np.random.Generator], Array]:
        def rows(n: int, rng: np.random.Generator) -> Array:
            counts = rng.multinomial(n, [share for share, *_ in parts])
            return np.concatenate([rng.multivariate_normal(m, C, k) for (_, m, C), k in zip(parts, counts, strict=True)])

        return rows

    def log_density(parts: Any) -> Callable[[Array], Array]:
        return lambda X: np.log(sum(share * stats.multivariate_normal(m, C).pdf(X) for share, m, C in parts))

    return World(name, tuple(map(draw, classes)), tuple(map(log_density, classes)))


def skewed(name: str, p: int, shapes: tuple[float, float], correlation: float = 0.0) -> World:
    """Gamma columns, joined by a Gaussian copula."""
    C = np.full((p, p), correlation) + (1 - correlation) * np.eye(p)

    def draw(shape: float) -> Callable[[int, np.random.Generator], Array]:
        return lambda n, rng: stats.gamma(shape).ppf(stats.norm.cdf(rng.multivariate_normal(np.zeros(p), C, n)))

    def log_density(shape: float) -> Callable[[Array], Array]:
        def at(X: Array) -> Array:
            Z = stats.norm.ppf(np.clip(stats.gamma(shape).cdf(X), 1e-15, 1 - 1e-15))
            copula = stats.multivariate_normal(np.zeros(p), C).logpdf(Z) - stats.norm.logpdf(Z).sum(axis=1)
            return np.asarray(copula + stats.gamma(shape).logpdf(X).sum(axis=1))

        return at

    return World(name, tuple(map(draw, shapes)), tuple(map(log_density, shapes)))


def ring(name: str, radius: float, width: float) -> World:
    """A disc of rows within a ring of rows."""

    def around(n: int, rng: np.random.Generator) -> Array:
        angle, r = rng.uniform(0, 2 * np.pi, n), stats.truncnorm(-radius / width, np.inf, radius, width).rvs(n, random_state=rng)
        return np.column_stack([r * np.cos(angle), r * np.sin(angle)])

    def around_density(X: Array) -> Array:
        r = np.hypot(*X.T)
        return np.asarray(stats.truncnorm(-radius / width, np.inf, radius, width).logpdf(r) - np.log(2 * np.pi * r))

    disc = stats.multivariate_normal(np.zeros(2), np.eye(2))
    return World(name, (lambda n, rng: rng.normal(size=(n, 2)), around), (disc.logpdf, around_density))


I2, TILT = np.eye(2), np.array([[1.0, 0.8], [0.8, 1.0]])
PLACES = [(a, b) for a in (-3, 0, 3) for b in (-3, 0, 3)]
BOARD = [[(1 / len(PLACES[k::2]), at, 0.6 * I2) for at in PLACES[k::2]] for k in range(2)]
WORLDS = (
    gaussians("Gaussians", [(1.0, (0, 0), TILT)], [(1.0, (1, 1), [[1.0, -0.5], [-0.5, 2.0]])]),
    gaussians("fields of a board", *BOARD),
    ring("disc in a ring", 3.0, 0.7),
    skewed("5 skewed columns", 5, (1.5, 2.2)),
    skewed("5 skewed columns, dependent", 5, (1.5, 2.2), 0.6),
)
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "Gaussian": lambda: BayesClassifier(tenfold.GaussianDensity()),
    "Gaussian, diagonal": lambda: BayesClassifier(tenfold.GaussianDensity("diag")),
    "mixture of 4": lambda: BayesClassifier(tenfold.GaussianMixture(4, random_state=0)),
    "kernels": lambda: BayesClassifier(tenfold.KernelDensity(bandwidth="scott")),
    "kernels, bandwidth by cross-validation": lambda: BayesClassifier(tenfold.KernelDensity(bandwidth="cv")),
    "histogram": lambda: BayesClassifier(tenfold.Histogram()),
    "density tree": lambda: BayesClassifier(tenfold.DensityTree()),
    "density forest": lambda: BayesClassifier(tenfold.DensityForest(random_state=0)),
    "Gaussian copula": lambda: BayesClassifier(tenfold.CopulaDensity(copula="gaussian")),
    "copula of density trees": lambda: BayesClassifier(tenfold.CopulaDensity()),
    "neighbours": lambda: BayesClassifier(tenfold.NeighborDensity("cv")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500, help="of each class, to learn from")
    parser.add_argument("--tables", type=int, default=3)
    given = parser.parse_args()
    errors: dict[str, dict[str, list[float]]] = {name: {} for name in (*CLASSIFIERS, "best possible")}
    seconds = dict.fromkeys(errors, 0.0)
    for world in WORLDS:
        for seed in range(given.tables):
            X, y = world.table(given.rows, seed)
            new, truth = world.table(NEW, 1000 + seed)
            errors["best possible"].setdefault(world.name, []).append(float(np.mean(world.best(new) != truth)))
            for name, make in CLASSIFIERS.items():
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", TenfoldWarning)
                    said = make().fit(X, y).predict(new)
                seconds[name] += time.process_time() - began
                errors[name].setdefault(world.name, []).append(float(np.mean(said != truth)))
    print(f"| density | {' | '.join(world.name for world in WORLDS)} | seconds |\n|---|{'---|' * (len(WORLDS) + 1)}")
    for name, found in errors.items():
        shown = " | ".join(f"{100 * np.mean(one):.1f}" for one in found.values())
        print(f"| {name} | {shown} | {seconds[name] / len(WORLDS) / given.tables:.3f} |")


if __name__ == "__main__":
    main()
