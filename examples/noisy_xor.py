"""Noisy XOR: two classes that no line separates. The best line errs on a quarter of the rows, and a linear machine, which counts
distances and not errors, on more; a quadratic kernel and a Gaussian one come near to the least error that there can be.

    python examples/noisy_xor.py [picture.png] [--rows 400] [--flips 0.01]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import tenfold
from tenfold.draw import draw_margins

MACHINES: dict[str, Any] = {
    "linear": tenfold.SVC(kernel="linear", C=1.0),
    "quadratic": tenfold.SVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0, C=1.0),
    "Gaussian": tenfold.SVC(kernel="rbf", gamma=1.0, C=1.0),
}
SPREAD = 0.4  # of the clouds around (±1, ±1)


def noisy_xor(n: int, flips: float, seed: int) -> tuple[Any, Any]:
    """Four clouds around the corners of a square; the class is whether the signs of a corner differ, and some labels are flipped."""
    rng = np.random.default_rng(seed)
    corner = rng.choice([-1.0, 1.0], size=(n, 2))
    different = corner[:, 0] != corner[:, 1]
    return corner + SPREAD * rng.normal(size=(n, 2)), (different ^ (rng.random(n) < flips)).astype(int)


def least_error(X: Any, y: Any) -> float:
    """The error of the best rule there is: the clouds are alike and stand on a square, so that signs decide."""
    return float(np.mean((X[:, 0] * X[:, 1] < 0) != (y == 1)))


def best_line(X: Any, y: Any) -> float:
    """The least error of a line, over 90 directions and all places along them."""
    least = 1.0
    for angle in np.linspace(0, np.pi, 90, endpoint=False):
        truth = y[np.argsort(X @ [np.cos(angle), np.sin(angle)])]
        wrong = np.concatenate([[0], np.cumsum(truth)]) + np.concatenate([np.cumsum((truth == 0)[::-1])[::-1], [0]])
        least = min(least, wrong.min() / len(y), 1 - wrong.max() / len(y))
    return least


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Fit the machines, and draw where a picture is asked for; returns the errors on new rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", help="a file for the picture")
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--flips", type=float, default=0.01)
    given = parser.parse_args(arguments)
    X, y = noisy_xor(given.rows, given.flips, seed=0)
    new, truth = noisy_xor(4000, given.flips, seed=1)
    found = {"best rule": least_error(new, truth), "best line": best_line(new, truth)}
    print(f"{'best rule':<10} error {found['best rule']:.3f}\n{'best line':<10} error {found['best line']:.3f}")
    models = {name: machine.fit(X, y) for name, machine in MACHINES.items()}
    for name, model in models.items():
        found[name] = 1 - model.score(new, truth)
        print(f"{name:<10} error {found[name]:.3f}   {model.n_support_.sum()} of {len(X)} rows are support vectors")
    if given.picture:
        _draw(models, X, y, given.picture)
    return found


def _draw(models: dict[str, Any], X: Any, y: Any, path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(models), figsize=(5.5 * len(models), 5), layout="constrained")
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        draw_margins(model, X, y, ax=ax).set_title(name)
    figure.savefig(path, dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main()
