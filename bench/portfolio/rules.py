"""Rules that make one model of many, from their held-out outputs alone: weights of the columns, and how these are averaged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar, nnls

from bench.portfolio.stored import FLOOR, Measured

Rule = Callable[[Measured], np.ndarray]  # weights of the columns, which add up to one


def held_out_errors(table: Measured) -> np.ndarray:
    return np.asarray(table.error(table.held_out, table.y))


def kind_of(setting: str) -> str:
    return setting.split("_")[0]


def best_columns(table: Measured, most: int, by_kind: int = 3, by_setting: int = 1) -> list[int]:
    """The best columns, few of a kind and of a setting."""
    found: list[int] = []
    kinds: dict[str, int] = {}
    settings: dict[str, int] = {}
    for c in np.argsort(held_out_errors(table), kind="stable"):
        setting = table.columns[c].setting
        kind = kind_of(setting)
        if kinds.get(kind, 0) < by_kind and settings.get(setting, 0) < by_setting:
            found.append(int(c))
            kinds[kind] = kinds.get(kind, 0) + 1
            settings[setting] = settings.get(setting, 0) + 1
        if len(found) == most:
            break
    return found


def on(table: Measured, some: list[int], weights: np.ndarray | None = None) -> np.ndarray:
    found = np.zeros(len(table.columns))
    np.add.at(found, some, 1.0 if weights is None else weights)
    return found / found.sum()


def single(table: Measured) -> np.ndarray:
    return on(table, [int(np.argmin(held_out_errors(table)))])


def cheapest(table: Measured) -> np.ndarray:
    """The least seconds of those that are not worse than the best by more than a standard error of the difference."""
    losses = table.row_losses(table.held_out, table.y)
    best = losses[np.argmin(losses.mean(axis=1))]
    apart = losses - best
    as_good = apart.mean(axis=1) <= apart.std(axis=1) / np.sqrt(len(best))
    seconds = np.array([column.seconds for column in table.columns])
    return on(table, [int(np.argmin(np.where(as_good, seconds, np.inf)))])


def mean_of(k: int, by_kind: int = 3) -> Rule:
    return lambda table: on(table, best_columns(table, k, by_kind))


def greedy(steps: int, start: int = 1, pool: int = 30, by_kind: int = 3, logits: bool = False) -> Rule:
    """Caruana: from the mean of the best few, again and again the column that lowers the error of the mean most, with replacement."""

    def rule(table: Measured) -> np.ndarray:
        some = best_columns(table, pool, by_kind=pool)
        P = table.held_out[some].astype(np.float64)
        P = np.log(P) if logits and table.classes else P
        counts = np.zeros(len(some))
        chosen_of: dict[str, set[int]] = {}
        for c in range(min(start, len(some))):
            counts[c] += 1
            chosen_of.setdefault(kind_of(table.columns[some[c]].setting), set()).add(c)
        total = (P * counts[:, None, None]).sum(axis=0)
        best, least = counts.copy(), np.inf
        for _ in range(steps):
            mean = (total + P) / (counts.sum() + 1)
            if logits and table.classes:
                mean = _softmax(mean)
            errors = table.row_losses(mean, table.y).mean(axis=1)
            for c in range(len(some)):
                kind = chosen_of.get(kind_of(table.columns[some[c]].setting), set())
                if len(kind) >= by_kind and c not in kind:
                    errors[c] = np.inf
            c = int(np.argmin(errors))
            counts[c] += 1
            total = total + P[c]
            chosen_of.setdefault(kind_of(table.columns[some[c]].setting), set()).add(c)
            if errors[c] < least:
                best, least = counts.copy(), errors[c]
        return on(table, some, best)

    return rule


def convex(pool: int = 15, by_kind: int = 3) -> Rule:
    """The weights of least held-out error: of probabilities by expectation and maximisation, of numbers by least squares."""

    def rule(table: Measured) -> np.ndarray:
        some = best_columns(table, pool, by_kind)
        P = table.held_out[some].astype(np.float64)
        if not table.classes:
            heavy = 1e3 * np.abs(table.y).max()  # weights that add up to one
            A = np.vstack([P[:, :, 0].T - table.y.mean(), np.full(len(some), heavy)])
            weights, _ = nnls(A, np.append(table.y - table.y.mean(), heavy))
            return on(table, some, weights)
        own = np.take_along_axis(P, table.y.astype(int)[None, :, None], axis=2)[:, :, 0]
        weights = np.full(len(some), 1 / len(some))
        for _ in range(200):
            weights = weights * (own / np.maximum(weights @ own, FLOOR)).mean(axis=1)
            weights /= weights.sum()
        return on(table, some, weights)

    return rule


def _softmax(scores: np.ndarray) -> np.ndarray:
    found = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def combined(table: Measured, weights: np.ndarray, outputs: np.ndarray, logits: bool = False) -> np.ndarray:
    """The weighted mean of outputs; of classes also of their logarithms."""
    used = np.flatnonzero(weights)
    P = outputs[used].astype(np.float64)
    if logits and table.classes:
        return _softmax(np.tensordot(weights[used], np.log(P), axes=1))
    return np.asarray(np.tensordot(weights[used], P, axes=1))


def temperature(table: Measured, held_out: np.ndarray, spread: float = 0.25) -> float:
    """The power of probabilities that lowers the log loss of held-out rows most, drawn towards 1 where rows are few; 1 for numbers."""
    if not table.classes:
        return 1.0
    scores = np.log(np.maximum(held_out, FLOOR))

    def risk(t: float) -> float:
        return float(table.row_losses(_softmax(np.exp(t) * scores), table.y).sum() + 0.5 * (t / spread) ** 2)

    return float(np.exp(minimize_scalar(risk, bounds=(-1.5, 1.5), method="bounded").x))


def warmed(table: Measured, outputs: np.ndarray, t: float) -> np.ndarray:
    return outputs if not table.classes else _softmax(t * np.log(np.maximum(outputs, FLOOR)))
