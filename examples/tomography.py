"""Tomography: a picture from its shadows, by least squares on products only.

A 256 x 256 picture is seen from 180 directions. Each detector cell measures a sum over the pixels on its
ray: y = A x, with a sparse matrix A of 65,700 rays and 65,536 pixels, far too large to be decomposed
(A'A would take 34 GB). `tenfold.LinearRegression` gets two functions in the place of A, one that casts the shadows of a picture
(A v) and one that smears shadows back over a picture (A'u), and solves by LSQR. Ten per cent of the rays are
kept from a first fit to choose when to stop: noise grows with the steps.

    python examples/tomography.py [picture.png]
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import tenfold

Array = np.ndarray[Any, Any]
SIZE, ANGLES, NOISE = 256, 180, 0.01
STEPS = (5, 10, 15, 20, 30)

# Ellipses of a head: grey value, half axes, centre, tilt in degrees; in units of half the picture.
ELLIPSES = [
    (1.00, 0.69, 0.92, 0.00, 0.000, 0),
    (-0.80, 0.66, 0.87, 0.00, -0.018, 0),
    (-0.20, 0.11, 0.31, 0.22, 0.000, -18),
    (-0.20, 0.16, 0.41, -0.22, 0.000, 18),
    (0.30, 0.21, 0.25, 0.00, 0.350, 0),
    (0.25, 0.05, 0.05, 0.00, 0.100, 0),
    (0.25, 0.05, 0.05, 0.00, -0.100, 0),
    (0.25, 0.05, 0.02, -0.08, -0.605, 0),
]


def head(size: int) -> Array:
    """The picture that is to be found."""
    grid = (np.arange(size) - (size - 1) / 2) / (size / 2)
    x, y = np.meshgrid(grid, -grid)
    picture = np.zeros((size, size))
    for value, a, b, x0, y0, tilt in ELLIPSES:
        c, s = np.cos(np.deg2rad(tilt)), np.sin(np.deg2rad(tilt))
        u, v = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
        picture[(u / a) ** 2 + (v / b) ** 2 <= 1] += value
    return picture


def projections(size: int, angles: int) -> tuple[sparse.csr_matrix, int]:
    """A: each pixel is shared between the two cells nearest to its shadow; and the cells of a direction."""
    cells = 2 * int(np.ceil(size / np.sqrt(2))) + 1
    grid = np.arange(size) - (size - 1) / 2
    x, y = (axis.ravel() for axis in np.meshgrid(grid, -grid))
    rows, columns, values = [], [], []
    pixel = np.arange(size * size)
    for k, angle in enumerate(np.arange(angles) * np.pi / angles):
        place = x * np.cos(angle) + y * np.sin(angle) + (cells - 1) / 2
        cell = np.floor(place).astype(np.int64)
        share = place - cell
        rows += [k * cells + cell, k * cells + cell + 1]
        columns += [pixel, pixel]
        values += [1 - share, share]
    shape = (angles * cells, size * size)
    return sparse.csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    ), cells


def fitted(A: sparse.csr_matrix, shadows: Array, steps: int, weight: Array | None = None) -> Array:
    """The picture after some steps of LSQR; stopping early is what keeps the noise out, so it is no cause for a warning."""
    products = (lambda picture: A @ picture, lambda rays: A.T @ rays)
    model = tenfold.LinearRegression(solver="lsqr", fit_intercept=False, max_iter=steps, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tenfold.NotConverged)
        return model.fit(products, shadows, weight).coef_


def main(picture: Path) -> None:
    began = time.perf_counter()
    rng = np.random.default_rng(0)
    truth = head(SIZE)
    A, cells = projections(SIZE, ANGLES)
    clean = A @ truth.ravel()
    shadows = clean + NOISE * np.abs(clean).max() * rng.normal(size=len(clean))
    kept = rng.uniform(size=len(shadows)) < 0.9
    print(f"{A.shape[0]:,} rays, {A.shape[1]:,} pixels, {A.nnz:,} entries")
    errors = {}
    for steps in STEPS:
        rest = (A @ fitted(A, shadows, steps, kept) - shadows)[~kept]
        errors[steps] = float(np.sqrt(np.mean(rest**2)))
        print(f"  {steps:3d} steps: error of the rays kept back {errors[steps]:.4f}")
    best = min(errors, key=errors.__getitem__)
    found = fitted(A, shadows, best).reshape(SIZE, SIZE)
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    print(f"{best} steps chosen")
    print(f"relative error of the picture {error:.3f}, {time.perf_counter() - began:.1f} s")
    draw(truth, shadows.reshape(ANGLES, cells), found, picture)
    print(f"written to {picture}")


def draw(truth: Array, shadows: Array, found: Array, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    images = (
        (truth, "the truth"),
        (shadows.T, "its shadows: direction across, detector down"),
        (found, "found"),
    )
    for ax, (image, title) in zip(figure.subplots(1, 3), images, strict=True):
        limits = {} if image is not truth and image is not found else {"vmin": 0, "vmax": 0.6}
        ax.imshow(image, cmap="gray", aspect="auto" if not limits else "equal", **limits)
        ax.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Tomography: a picture from its shadows, by least squares on products only."
    )
    parser.add_argument(
        "picture", nargs="?", type=Path, default=Path("tomography.png"), help="the file to draw to; tomography.png"
    )
    main(parser.parse_args().picture)
