"""Pairs of classes: what machines for two classes say of many, and with which probability."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from tenfold.core.data import Array


def pairs_of(K: int) -> list[tuple[int, int]]:
    """(first, second) of all pairs of classes, in order."""
    return list(combinations(range(K), 2))


def pair_weights(dual: Array, n_support: Array) -> Array:
    """(pairs, vectors) from (K − 1, vectors): against a later class j a vector counts dual[j − 1], else dual[j]."""
    K, ends = len(n_support), np.concatenate([[0], np.cumsum(n_support)])
    found = np.zeros((K * (K - 1) // 2, dual.shape[1]))
    for row, (i, j) in enumerate(pairs_of(K)):
        found[row, ends[i] : ends[i + 1]] = dual[j - 1, ends[i] : ends[i + 1]]
        found[row, ends[j] : ends[j + 1]] = dual[i, ends[j] : ends[j + 1]]
    return found


def votes_of(decisions: Array, K: int) -> tuple[Array, Array]:
    """(rows, classes): how many pairs each class wins, and how clearly: the sum of its decisions, squeezed below a third of a vote."""
    votes, sums = np.zeros((len(decisions), K)), np.zeros((len(decisions), K))
    for column, (i, j) in zip(decisions.T, pairs_of(K), strict=True):
        sums[:, i] += column
        sums[:, j] -= column
        votes[:, i] += column > 0
        votes[:, j] += column <= 0
    return votes, sums / (3 * (np.abs(sums) + 1))


def folds_by_content(hashes: Array, codes: Array, many: int) -> Array:
    """The fold of each row: classes are spread evenly, and rows that are alike stay together, whatever their order."""
    fold = np.zeros(len(codes), np.int64)
    for k in np.unique(codes):
        mine = np.flatnonzero(codes == k)
        fold[mine] = np.unique(hashes[mine], return_inverse=True)[1] % many
    return fold


def balanced(b: Array) -> Array:
    """Variables that sum to zero again, after some rows are gone: those of the heavier sign become smaller."""
    up, down = float(b[b > 0].sum()), -float(b[b < 0].sum())
    if not (up and down):
        return np.zeros_like(b)
    return np.where(b > 0, b * min(1.0, down / up), b * min(1.0, up / down))


def sigmoid_of(decisions: Array, first: Array, w: Array) -> tuple[float, float]:
    """A and B with P(first class) = 1 / (1 + exp(A d + B)): Platt's maximum likelihood with cautious targets, by Newton's steps (Lin,
    Lin & Weng 2007)."""
    pos, neg = float(w[first].sum()), float(w[~first].sum())
    target = np.where(first, (pos + 1) / (pos + 2), 1 / (neg + 2))
    A, B = 0.0, float(np.log((neg + 1) / (pos + 1)))

    def loss(A: float, B: float) -> float:
        z = A * decisions + B
        return float(w @ (target * z + np.logaddexp(0, -z)))

    now = loss(A, B)
    for _ in range(100):
        z = A * decisions + B
        p = _logistic(-z)
        slope, curve = w * (target - p), w * p * (1 - p)
        g = np.array([slope @ decisions, slope.sum()])
        if np.abs(g).max() < 1e-14 * max(1.0, w.sum()):
            break
        cross = curve @ decisions
        H = np.array([[curve @ decisions**2, cross], [cross, curve.sum()]]) + 1e-12 * np.eye(2)
        step = -np.linalg.solve(H, g)
        size = 1.0
        while size > 1e-10:
            there = loss(A + size * step[0], B + size * step[1])
            if there < now + 1e-4 * size * float(g @ step):
                break
            size /= 2
        else:
            break
        A, B, now = A + size * step[0], B + size * step[1], there
    return float(A), float(B)


def _logistic(z: Any) -> Array:
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1, e) / (1 + e))


def coupled_probabilities(decisions: Array, A: Array, B: Array, K: int) -> Array:
    """(rows, classes): probabilities that agree best with those of all pairs, min Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)² (Wu, Lin & Weng 2004)."""
    of_first = np.clip(_logistic(-(decisions * A + B)), 1e-7, 1 - 1e-7)
    if K == 2:
        return np.column_stack([of_first[:, 0], 1 - of_first[:, 0]])
    n = len(decisions)
    r = np.zeros((n, K, K))
    for column, (i, j) in zip(of_first.T, pairs_of(K), strict=True):
        r[:, i, j], r[:, j, i] = column, 1 - column
    system = np.zeros((n, K + 1, K + 1))
    system[:, :K, :K] = -np.swapaxes(r, 1, 2) * r
    system[:, range(K), range(K)] = (np.swapaxes(r, 1, 2) ** 2).sum(axis=2)
    system[:, :K, K] = system[:, K, :K] = 1
    right = np.zeros((n, K + 1, 1))
    right[:, K] = 1
    found = np.maximum(np.linalg.solve(system, right)[:, :K, 0], 1e-15)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
