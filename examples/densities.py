"""Bayes' rule over several densities: three kinds of iris by two columns, each density with its regions and its held-out accuracy.

    python examples/densities.py [picture.png] [--columns 0 1]
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

import tenfold
from tenfold import BayesClassifier
from tenfold.draw import draw_regions

DENSITIES: dict[str, Any] = {
    "Gaussian": tenfold.GaussianDensity(),
    "Gaussian, diagonal": tenfold.GaussianDensity("diag"),
    "two Gaussians": tenfold.GaussianMixture(2, random_state=0),
    "kernels": tenfold.KernelDensity(bandwidth="cv"),
    "copula": tenfold.CopulaDensity(),
    "density tree": tenfold.DensityTree(),
}


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Cross-validate, and draw where a picture is asked for; returns the accuracies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", help="a file for the picture")
    parser.add_argument("--columns", type=int, nargs=2, default=(0, 1))
    given = parser.parse_args(arguments)
    iris = load_iris()
    X, y = iris.data[:, list(given.columns)], iris.target_names[iris.target]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows where trees and copulas have no density
        for name, density in DENSITIES.items():
            held = tenfold.cross_validate(BayesClassifier(density), X, y, folds=10, random_state=0)
            found[name] = held.mean
            print(f"{name:<20} {held.mean:.3f}   ({held.method})")
        if given.picture:
            _draw(X, y, given.picture)
    return found


def _draw(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 9))
    for ax, (name, density) in zip(axes.flat, DENSITIES.items(), strict=True):
        draw_regions(BayesClassifier(density).fit(X, y), X, y, ax, densities=True).set_title(name)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
