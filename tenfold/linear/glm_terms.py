"""Sums of generalised linear models over one block of rows. The target is y, or [y offset] where scores have an offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.stats import Spread, Stats, Terms
from tenfold.linear.families import Family
from tenfold.linear.far import glance
from tenfold.linear.links import Link
from tenfold.solve.irls import Piece


class Setting(NamedTuple):
    """How the rows enter the loss."""

    family: Family
    link: Link
    shift: Array | None  # subtracted from the columns
    fit_intercept: bool
    weight: float  # Σ w: the loss is a mean, whatever the unit of the weights


@dataclass(slots=True)
class Targets(Stats):
    """What is looked at first: sums and range of the target and of the offset, and the size of the columns."""

    weight: float
    total: float  # Σ w y
    moved: float  # Σ w o
    least: float  # of y
    most: float
    peak: float  # the largest offset
    raised: float  # Σ w exp(o − peak)
    finite: bool  # all offsets are
    spread: Spread | None

    @classmethod
    def of(cls, block: Block) -> Targets:
        y, o, w = block.y[:, 0], offset_of(block), block.w
        known = np.isfinite(o)
        peak = float(o[known].max(initial=-np.inf))
        raised = float(w[known] @ np.exp(o[known] - peak)) if known.any() else 0.0
        weight = float(w.sum())
        total = float(w @ (y / weight)) * weight
        middle = float(w[known] @ o[known])
        return cls(weight, total, middle, float(y.min()), float(y.max()), peak, raised, bool(known.all()), glance(block))

    def __add__(self, other: Targets) -> Targets:
        peak = max(self.peak, other.peak)
        parts = [one.raised * np.exp(one.peak - peak) for one in (self, other) if one.raised > 0]
        spread = None if self.spread is None or other.spread is None else self.spread + other.spread
        return Targets(
            self.weight + other.weight,
            self.total + other.total,
            self.moved + other.moved,
            min(self.least, other.least),
            max(self.most, other.most),
            peak,
            float(sum(parts)),
            self.finite and other.finite,
            spread,
        )

    @property
    def mean(self) -> float:
        return self.total / self.weight

    @property
    def log_raised(self) -> float:
        """log(Σ w exp(o) / Σ w)."""
        return float(np.log(self.raised / self.weight) + self.peak)


@dataclass(slots=True)
class Ends(Stats):
    """At the solution: what the fit says of itself."""

    deviance: float
    null: float  # the deviance of a constant score
    pearson: float  # Σ w (y − μ)² / V(μ)
    saturated: float  # Σ w of what of the log-likelihood depends on y alone
    size: Array | None  # Σ w |slope| |z|: what the gradient is a difference of
    information: Array | None  # Σ w μ'² / V zᵀz, z = [x 1]
    squares: Array | None  # Σ w z²


def offset_of(block: Block) -> Array:
    """The offset of each row."""
    return block.y[:, 1] if block.y.shape[1] > 1 else np.zeros(len(block))


def entering(block: Block, shift: Array | None) -> Any:
    """X of a block as it enters the scores."""
    if shift is not None:
        return block.X - shift
    return block.X if ops.is_sparse(block.X) or block.X.dtype == np.float64 else block.X.astype(np.float64)


def scores(X: Any, block: Block, beta: Array) -> Array:
    """η = x·w + b + offset."""
    eta = X @ beta[:-1]
    eta += beta[-1]
    if block.y.shape[1] > 1:
        eta += block.y[:, 1]
    return np.asarray(eta)


def terms(block: Block, theta: Array, curvature: str | None, setting: Setting) -> Terms:
    """Mean loss, gradient and, if asked, curvature at θ = [w b], of shape (1, p + 1)."""
    X, w = entering(block, setting.shift), block.w / setting.weight
    found, loss, gradient = _first(X, w, block, theta[0], setting)
    second = None
    if curvature == "blocks":
        second = _products(X, w * found.bend, setting)[None]
    elif curvature == "diagonal":
        d = w * found.bend
        second = np.append(_squared(X).T @ d, d.sum())[None]
    return Terms(loss, gradient[None], float(w.sum()), second)


def on_columns(block: Block, theta: Array, columns: Array, setting: Setting) -> Terms:
    """Mean loss and gradient at θ, and the curvature (1, c + 1, 1, c + 1) of the constant and these columns."""
    X, w = entering(block, setting.shift), block.w / setting.weight
    found, loss, gradient = _first(X, w, block, theta[0], setting)
    some = X[:, columns] if ops.is_sparse(X) else np.ascontiguousarray(X[:, columns])
    second = _products(some, w * found.bend, setting)
    return Terms(loss, gradient[None], float(w.sum()), second[None, :, None])


def working(block: Block, mean: float, setting: Setting) -> Piece:
    """Normal equations of the first step of reweighted least squares, from means half-way between y and their mean."""
    family, link = setting.family, setting.link
    X, w, y = entering(block, setting.shift), block.w / setting.weight, block.y[:, 0]
    mu = 0.5 * (y + mean)
    with np.errstate(all="ignore"):
        eta = link.score(mu)
        h = w * family.expected(eta, link)
        z = eta - offset_of(block)
        gradient = np.append(X.T @ (h * z), h @ z)
    if not setting.fit_intercept:
        gradient[-1] = 0.0
    return Piece(0.0, gradient, _products(X, h, setting), float(w.sum()))


def ends(block: Block, theta: Array, null: float, informed: bool, sized: bool, setting: Setting) -> Ends:
    """What is said of the solution, with its information and the size of its gradient if asked; `null` is the score of the constant
    model without its offset."""
    family, link = setting.family, setting.link
    X, w, y = entering(block, setting.shift), block.w / setting.weight, block.y[:, 0]
    eta = scores(X, block, theta[0])
    with np.errstate(all="ignore"):
        mu, alone = link.mean(eta), link.mean(offset_of(block) + null)
        saturated = family.saturated(y)
        size = None
        if sized:
            pull = w * np.abs(family.rows(y, eta, link).slope)
            size = np.append(abs(X).T @ pull, pull.sum())
        information = _products(X, w * family.expected(eta, link), setting) * setting.weight if informed else None
        squares = np.append(_squared(X).T @ w if ops.is_sparse(X) else np.einsum("ij,ij,i->j", X, X, w), w.sum()) if informed else None
        return Ends(
            float(block.w @ family.deviance(y, mu)),
            float(block.w @ family.deviance(y, alone)),
            float(block.w @ ((y - mu) ** 2 / family.variance(mu))),
            0.0 if saturated is None else float(block.w @ saturated),
            size,
            information,
            squares,
        )


def _first(X: Any, w: Array, block: Block, beta: Array, setting: Setting) -> tuple[Any, float, Array]:
    found = setting.family.rows(block.y[:, 0], scores(X, block, beta), setting.link)
    with np.errstate(all="ignore"):
        pull = w * found.slope
        gradient = np.append(X.T @ pull, pull.sum() if setting.fit_intercept else 0.0)
        return found, float(w @ found.loss), gradient


def _squared(X: Any) -> Any:
    return X.multiply(X) if ops.is_sparse(X) else X * X


def _products(X: Any, d: Array, setting: Setting) -> Array:
    """Σ d [x 1]ᵀ[x 1]."""
    if ops.is_sparse(X):
        q = X.shape[1] + 1
        second, side = np.empty((q, q)), X.T @ d
        second[:-1, :-1] = (X.T @ X.multiply(d[:, None]).tocsr()).toarray()
        second[-1, :-1] = second[:-1, -1] = side
        second[-1, -1] = d.sum()
    else:
        second = ops.weighted_gram(X, d)
    if not setting.fit_intercept:
        second[-1] = second[:, -1] = 0.0
    return np.asarray(second)
