"""Seeded tables for the workloads. Every maker gives C-contiguous float64 `X`, and `Xt`, `yt` to test on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .plan import Data

FEWEST_ROWS = 500


def shrunk(n: int, shrink: int) -> int:
    return max(min(n, FEWEST_ROWS), n // shrink)


def save(data: Data, folder: Path) -> None:
    for name, array in data.items():
        np.save(folder / f"{name}.npy", array)


def load(folder: Path) -> Data:
    return {file.stem: np.load(file) for file in sorted(folder.glob("*.npy"))}


def hold_out(X: np.ndarray, y: np.ndarray, n_test: int) -> Data:
    return {"X": X[n_test:].copy(), "y": y[n_test:].copy(), "Xt": X[:n_test].copy(), "yt": y[:n_test].copy()}


def correlated(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Gaussian columns that share five weak factors."""
    X = rng.standard_normal((n, p))
    X += 0.4 * (rng.standard_normal((n, 5)) @ rng.standard_normal((5, p)))
    return X


def regression(n: int, p: int, seed: int) -> Data:
    """A linear signal with Gaussian noise, signal-to-noise ratio 2."""
    rng = np.random.default_rng(seed)
    n_test = n // 10
    X = correlated(rng, n + n_test, p)
    signal = X @ rng.standard_normal(p)
    noise = rng.standard_normal(n + n_test) * signal.std() / 2**0.5
    return hold_out(X, 1.0 + signal + noise, n_test)


def two_classes(n: int, p: int, seed: int) -> Data:
    """Labels drawn from a logistic model whose scores have standard deviation 2."""
    rng = np.random.default_rng(seed)
    n_test = n // 10
    X = correlated(rng, n + n_test, p)
    signal = X @ rng.standard_normal(p)
    chance = 1 / (1 + np.exp(0.3 - 2 * signal / signal.std()))
    return hold_out(X, (rng.random(n + n_test) < chance).astype(np.int64), n_test)


def softmax_classes(n: int, p: int, k: int, seed: int) -> Data:
    """Labels drawn from a softmax of random linear scores with standard deviation 2."""
    rng = np.random.default_rng(seed)
    n_test = n // 10
    X = correlated(rng, n + n_test, p)
    scores = X @ rng.standard_normal((p, k))
    scores *= 2 / scores.std()
    scores += rng.gumbel(size=scores.shape)  # the arg max of scores + Gumbel noise is a softmax draw
    return hold_out(X, scores.argmax(1), n_test)


def gaussian_classes(n: int, p: int, k: int, seed: int, apart: float = 0.3) -> Data:
    """Overlapping Gaussian classes, each with a full covariance of its own."""
    rng = np.random.default_rng(seed)
    n_test = n // 10
    y = rng.integers(0, k, n + n_test)
    X = rng.standard_normal((n + n_test, p))
    for c in range(k):
        rows = np.flatnonzero(y == c)
        shape = np.eye(p) + 0.3 / p**0.5 * rng.standard_normal((p, p))
        X[rows] = X[rows] @ shape + apart * rng.standard_normal(p)
    return hold_out(X, y, n_test)


def blobs(n: int, p: int, n_blobs: int, n_clusters: int, seed: int) -> Data:
    """Gaussian blobs in at most 20 latent dimensions, and starting centres drawn from the rows."""
    rng = np.random.default_rng(seed)
    n_test = n // 10
    latent = min(p, 20)
    owner = rng.integers(0, n_blobs, n + n_test)
    X = rng.standard_normal((n + n_test, latent)) + 1.5 * rng.standard_normal((n_blobs, latent))[owner]
    if latent < p:
        X = X @ (rng.standard_normal((latent, p)) / latent**0.5) + 0.1 * rng.standard_normal((n + n_test, p))
    train = np.ascontiguousarray(X[n_test:])
    start = train[rng.choice(n, min(n_clusters, n // 4), replace=False)]
    return {"X": train, "Xt": X[:n_test].copy(), "start": start}


def factors(n: int, p: int, seed: int) -> Data:
    """Thirty factors of decaying strength under unit noise, with a mean."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    strength = np.linspace(3, 0.5, 30) / 4
    X += (rng.standard_normal((n, 30)) * strength) @ rng.standard_normal((30, p))
    X += rng.standard_normal(p)
    return {"X": X, "Xt": X[: max(1, n // 10)].copy()}


def friedman(n: int, p: int, seed: int, labels: bool) -> Data:
    """Uniform columns under Friedman's surface and an interaction; noise of deviation 2, or labels drawn by its height."""
    rng = np.random.default_rng(seed)
    n_test = n // 5
    X = rng.random((n + n_test, p))
    height = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    height += 6 * (X[:, 5] > 0.5) * (X[:, 6] - 0.5)
    if not labels:
        return hold_out(X, height + 2 * rng.standard_normal(len(X)), n_test)
    chance = 1 / (1 + np.exp(-(height - height.mean()) / 2.5))
    return hold_out(X, (rng.random(len(X)) < chance).astype(np.int64), n_test)
