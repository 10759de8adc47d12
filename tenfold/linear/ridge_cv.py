"""Ridge regression with the penalty chosen by leave-one-out or by folds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, block_rows
from tenfold.core.estimator import Estimator
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Stats, merge
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.linear.folds import splits_of
from tenfold.linear.lasso import gathered, keep
from tenfold.linear.lasso_cv import positive_numbers
from tenfold.solve.linalg import eigh


@dataclass(slots=True)
class Errors(Stats):
    """Σ w (leave-one-out error)² for each penalty and target."""

    squares: Array


@dataclass(frozen=True)
class Path:
    """All ridge solutions at once: with Sxx = V diag(e) Vᵀ, w(alpha) = V (Vᵀ Sxy / (e + alpha))."""

    mean: Array  # of X and y
    weight: float
    vectors: Array
    values: Array
    rotated: Array  # Vᵀ Sxy (p, q)
    alphas: Array
    fit_intercept: bool

    @classmethod
    def of(cls, stats: Moments, p: int, alphas: Array, fit_intercept: bool) -> Path:
        mean, Sxx, Sxy = centred(stats, p, fit_intercept)
        values, vectors = eigh(Sxx)
        real = values > values.max(initial=0.0) * p * np.finfo(float).eps  # the others are rounding
        values, vectors = values[real], vectors[:, real]
        used = mean if fit_intercept else np.zeros_like(mean)
        rotated = vectors.T @ Sxy
        return cls(used, float(stats.weight), vectors, values, rotated, alphas, fit_intercept)

    def coefficients(self, k: int) -> Array:
        """(p, q) for the k-th penalty."""
        found: Array = self.vectors @ (self.rotated / (self.values + self.alphas[k])[:, None])
        return found

    def rest(self, X: Any, y: Array) -> Generator[tuple[Array, Array], None, None]:
        """For each penalty what it leaves of y, and how much one copy of a row pulls its own prediction."""
        p = len(self.vectors)
        Z = (ops.dense(X) - self.mean[:p]) @ self.vectors
        Z2 = Z * Z
        left = y - self.mean[p:]
        for alpha in self.alphas:
            shrink = 1 / (self.values + alpha)
            own = Z2 @ shrink + (1 / self.weight if self.fit_intercept else 0.0)
            yield left - Z @ (self.rotated * shrink[:, None]), own


def leave_one_out(block: Block, path: Path) -> Errors:
    """The error of a row when one copy of it is left out is e / (1 − h): no fit is repeated."""
    found = []
    for rest, own in path.rest(block.X, block.y):
        without = rest / np.maximum(1 - own, 1e-12)[:, None]
        found.append(block.w @ (without * without))
    return Errors(np.array(found))


@estimator
class RidgeCV(AffineRegressor, Estimator):
    """RidgeCV: ridge regression with the penalty of least leave-one-out or cross-validated error.

    Model       y ≈ X w + b
    Objective   that of Ridge, at the alpha_ of least mean squared error when one row (one of s copies)
                is left out; with cv, at the alpha_ of largest R² averaged over folds
    Algorithm   one pass of moments and one eigendecomposition for all penalties; one more pass for the errors
                e / (1 − h). With cv the rows are kept, and each training set is decomposed
    Cost        O(n p² + p³ + a n p) time for a penalties, O(p²) memory, two passes
    Fails when  p² does not fit in memory; a row alone determines a coefficient (its error is 0 / 0)
    Reference   Hoerl & Kennard 1970; Golub, Heath & Wahba 1979

    Fitted      coef_ (p,) or (q, p), intercept_, alpha_, best_score_ (−mse; with cv, R²), n_iter_

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.01 * rng.normal(size=50)
    >>> tenfold.RidgeCV().fit(X, y).alpha_
    0.1
    """

    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    least_rows: ClassVar[int] = 2

    alphas: Any = param((0.1, 1.0, 10.0), doc="the penalties to choose from")
    _: KW_ONLY
    fit_intercept: bool = param(True, doc="fit b, or fix it at zero")
    scoring: None = param(None, one_of=(None,), doc="only None: squared error, or R² with cv")
    cv: Any = param(None, doc="None: leave one out; or a number of folds, a splitter, or pairs of row numbers")
    gcv_mode: str | None = param(None, doc="no effect: one decomposition serves every case")
    store_cv_results: bool = param(False, one_of=(False,), doc="only False: errors are summed, not kept")
    alpha_per_target: bool = param(False, one_of=(False,), doc="only False: one penalty for all targets")

    def _learn(self, source: Source) -> Generator[Any, Any, dict[str, Any]]:
        alphas = positive_numbers("RidgeCV(alphas=...)", self.alphas)
        p = source.n_features
        if self.cv is None:
            stats = yield summarize
            path = Path.of(stats, p, alphas, self.fit_intercept)
            errors = yield partial(leave_one_out, path=path)
            scores = -errors.squares.mean(axis=1) / path.weight
        else:
            X, y, w = gathered((yield keep))
            splits = splits_of(self, self.cv, X, y, getattr(source, "rows", None))
            scores = np.mean([self._fold(X, y, w, *split, alphas) for split in splits], axis=0)
            path = Path.of(summed(X, y, w), p, alphas, self.fit_intercept)
        best = int(scores.argmax())
        fitted = self._fitted(path.mean, path.coefficients(best))
        return dict(fitted, alpha_=float(alphas[best]), best_score_=float(scores[best]))

    def _fold(self, X: Array, y: Array, w: Array, train: Array, test: Array, alphas: Array) -> Array:
        """R² on the test rows, averaged over targets, for each penalty."""
        path = Path.of(summed(X[train], y[train], w[train]), X.shape[1], alphas, self.fit_intercept)
        weight = w[test] / w[test].sum()
        spread = weight @ (y[test] - weight @ y[test]) ** 2
        safe = np.where(spread > 0, spread, 1.0)
        found = []
        for rest, _ in path.rest(X[test], y[test]):
            squares = weight @ (rest * rest)
            found.append(np.mean(np.where(spread > 0, 1 - squares / safe, np.where(squares > 0, 0.0, 1.0))))
        return np.array(found)


def summarize(block: Block) -> Moments:
    return Moments.of(block.X, block.y, block.w)


def summed(X: Array, y: Array, w: Array) -> Moments:
    """The moments of rows in memory."""
    X, y, size = np.ascontiguousarray(X), np.ascontiguousarray(y), block_rows(X.shape[1])
    blocks = (Moments.of(X[i : i + size], y[i : i + size], w[i : i + size]) for i in range(0, len(X), size))
    total: Moments = merge(blocks)
    return total
