"""Ridge regression with the penalty chosen by leave-one-out or by folds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source, block_rows
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, Rows, Stats, merge
from tenfold.linear.affine import AffineRegressor, centred
from tenfold.linear.folds import splits_of
from tenfold.linear.lasso import as_float64
from tenfold.linear.penalties import positive_numbers
from tenfold.linear.ridge import Ridge
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.solve.few_rows import FewRows, are_few, principal, rows_or_moments
from tenfold.solve.linalg import eigh_shifted


@dataclass(slots=True)
class Errors(Stats):
    """Σ w (error of a row by the fit to all others)² for each penalty and target."""

    squares: Array


@dataclass(frozen=True)
class Path:
    """All ridge solutions at once: with Sxx + least I = V diag(e) Vᵀ, w(alpha) = V (Vᵀ Sxy / (e + alpha − least))."""

    mean: Array  # of X and y
    weight: float
    vectors: Array
    values: Array  # e
    rotated: Array  # Vᵀ Sxy (p, q)
    alphas: Array
    least: float  # of the penalties
    fit_intercept: bool

    @classmethod
    def of(cls, stats: FewRows | Moments, p: int, alphas: Array, fit_intercept: bool) -> Path:
        least = float(alphas.min())
        if isinstance(stats, FewRows):
            mean, Z, t = stats.centred(fit_intercept)
            values, vectors = principal(Z)
            values, rotated = values + least, (Z @ vectors).T @ t
        else:
            mean, Sxx, Sxy = centred(stats, p, fit_intercept)
            values, vectors = eigh_shifted(Sxx, least)
            real = values > (0.0 if least else values.max(initial=0.0) * p * np.finfo(float).eps)  # the others are rounding
            values, vectors = np.maximum(values[real], least), vectors[:, real]
            rotated = vectors.T @ Sxy
        used = mean if fit_intercept else np.zeros_like(mean)
        return cls(used, float(stats.weight), vectors, values, rotated, alphas, least, fit_intercept)

    def shrinkage(self, alpha: float) -> Array:
        """1 / (e + alpha − least)."""
        return np.asarray(1 / (self.values + (alpha - self.least)))

    def coefficients(self, k: int) -> Array:
        """(p, q) for the k-th penalty."""
        found: Array = self.vectors @ (self.rotated * self.shrinkage(self.alphas[k])[:, None])
        return found

    def rest(self, X: Any, y: Array) -> Generator[tuple[Array, Array], None, None]:
        """For each penalty what it leaves of y, and how much a row of weight 1 pulls its own prediction."""
        p = len(self.vectors)
        Z = (ops.dense(X) - self.mean[:p]) @ self.vectors
        Z2 = Z * Z
        left = y - self.mean[p:]
        for alpha in self.alphas:
            shrink = self.shrinkage(alpha)
            own = Z2 @ shrink + (1 / self.weight if self.fit_intercept else 0.0)
            yield left - Z @ (self.rotated * shrink[:, None]), own


    def missed(self, block: Block) -> Generator[Array, None, None]:
        """For each penalty the error e / (1 − h) of a row by the fit to all others, (n, q): a row of weight s pulls itself s times as
        much as one of weight 1, and is left out whole."""
        for rest, own in self.rest(block.X, block.y):
            yield rest / np.maximum(1 - block.w * own, 1e-12)[:, None]


def leave_one_out(block: Block, path: Path) -> Errors:
    return Errors(np.array([block.w @ (missed * missed) for missed in path.missed(block)]))


def left_out(block: Block, path: Path) -> Rows:
    """What is predicted of each row by the fit to all others, (n, q, alphas), with its target and weight."""
    found = [block.y - missed for missed in path.missed(block)]
    return Rows.of((np.stack(found, axis=-1), block.y, block.w))


@estimator
class RidgeCV(AffineRegressor, Estimator):
    """RidgeCV: ridge regression with the penalty of least leave-one-out or cross-validated error.

    Model       y ≈ X w + b
    Objective   that of Ridge, at the alpha_ of least Σᵢ sᵢ (error of row i by the fit to all other rows)² / Σ s;
                with cv, at the alpha_ of largest R² averaged over folds; or of another score (`scoring`)
    Algorithm   one pass of moments and one eigendecomposition for all penalties; one more pass for the errors
                e / (1 − h). With cv the rows are kept, and each training set is decomposed
    Cost        O(n p² + p³ + a n p) time for a penalties, O(p²) memory, two passes (O(a n) memory with scoring or
                store_cv_results)
    Fails when  neither p² nor the rows fit in memory; a row alone determines a coefficient (its error is 0 / 0)
    Reference   Hoerl & Kennard 1970; Golub, Heath & Wahba 1979

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.01 * rng.normal(size=50)
    >>> tenfold.RidgeCV().fit(X, y).alpha_
    0.1
    """

    n_iter_: int = learned("int", "always 1")
    alpha_: Any = learned("float|float(q)", "the penalty chosen; one for each target with alpha_per_target")
    best_score_: Any = learned(
        "float|float(q)", "minus the mean squared error, or the score asked for, of the penalty chosen"
    )
    cv_results_: Array = learned(
        "float(n,q,a)|float(n,1,a)",
        "s times the squared error (with scoring: the prediction) of each row left out, where they are stored",
        optional=True,
    )

    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    flattens: ClassVar[bool] = True
    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {
        "several_targets": "one penalty is chosen for all targets, unless alpha_per_target=True",
        "weight_is_copies": "a row is left out whole, with all its weight; of copies one is left out, and the others tell",
    }

    alphas: Any = param(default=(0.1, 1.0, 10.0), doc="the penalties to choose from")
    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    scoring: Any = param(
        default=None,
        doc="None: squared error, or R² with cv; a name as r2 or neg_mean_absolute_error; or a function as scorer(model, X, y)",
    )
    cv: Any = param(default=None, doc="None: leave one out; or a number of folds, a splitter, or pairs of row numbers")
    gcv_mode: str | None = param(default=None, doc="no effect: one decomposition serves every case")
    store_cv_results: bool = param(default=False, doc="keep what leaving out gave, of every row, in cv_results_")
    alpha_per_target: bool = param(default=False, doc="a penalty for each target instead of one for all")

    def _at_choice(self) -> Ridge:
        return Ridge(self.alpha_, fit_intercept=self.fit_intercept)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        alphas = positive_numbers("RidgeCV", "alphas", self.alphas, zero=self.cv is not None)
        p = source.n_features
        score = find_score(self.scoring, "regressor", parameter="scoring", owner="RidgeCV")
        more: dict[str, Any] = {}
        if self.cv is None:
            stats = yield rows_or_moments
            path = Path.of(stats, p, alphas, self.fit_intercept)
            if self.scoring is None and not self.store_cv_results:
                errors = yield partial(leave_one_out, path=path)
                scores = -errors.squares / path.weight
            else:
                predicted, y, w = (
                    np.concatenate(part) for part in zip(*(yield partial(left_out, path=path)).parts, strict=True)
                )
                scores = self._scores(predicted, y, w, score)
                more = self._stored(predicted, y, w, source) if self.store_cv_results else {}
            scores = scores if self.alpha_per_target else scores.mean(axis=1, keepdims=True)
        else:
            self._refuse()
            X, y, w = as_float64((yield Keep()))
            splits = splits_of(self, self.cv, X, y, getattr(source, "rows", None))
            scores = np.mean([self._fold(X, y, w, *split, alphas, score) for split in splits], axis=0)[:, None]
            path = Path.of(summed(X, y, w), p, alphas, self.fit_intercept)
        best = scores.argmax(axis=0)
        chosen, reached = alphas[best], scores.max(axis=0)
        if not self.alpha_per_target or self._flat:
            more.update(alpha_=float(chosen[0]), best_score_=float(reached[0]))
        else:
            more.update(alpha_=chosen, best_score_=reached)
        coef = path.coefficients(int(best[0]))
        if len(best) > 1:
            coef = np.column_stack([path.coefficients(int(k))[:, j] for j, k in enumerate(best)])
        return dict(self._fitted(path.mean, coef), **more)

    def _refuse(self) -> None:
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise BadParameter(
                    f"RidgeCV: cv!=None and {name}=True are incompatible: it goes with cv=None, where single rows are left out"
                )

    def _scores(self, predicted: Array, y: Array, w: Array, score: Score) -> Array:
        """For each penalty, of each target (of all together where they share a penalty)."""
        if self.scoring is None:
            return np.asarray(-np.einsum("n,nqa->aq", w, (y[..., None] - predicted) ** 2) / w.sum())
        parts = [slice(j, j + 1) for j in range(y.shape[1])] if self.alpha_per_target else [slice(None)]
        count = predicted.shape[2]
        return np.array([[score.utility(y[:, at], predicted[:, at, k], w) for at in parts] for k in range(count)])

    def _stored(self, predicted: Array, y: Array, w: Array, source: Source) -> dict[str, Any]:
        kept = predicted if self.scoring is not None else w[:, None, None] * (y[..., None] - predicted) ** 2
        rows = getattr(source, "rows", None)
        if isinstance(source, Arrays) and rows is not None:  # rows of weight zero have no part in the choice, but a place
            found = np.full((source.X.shape[0], *kept.shape[1:]), 0.0 if self.scoring is None else np.nan)
            found[rows] = kept
            kept = found
        return dict(cv_results_=kept[:, 0] if self._flat and not source.target.column else kept)

    def _fold(self, X: Array, y: Array, w: Array, train: Array, test: Array, alphas: Array, score: Score) -> Array:
        """The score on the test rows for each penalty."""
        path = Path.of(summed(X[train], y[train], w[train]), X.shape[1], alphas, self.fit_intercept)
        return np.array([score.utility(y[test], y[test] - rest, w[test]) for rest, _ in path.rest(X[test], y[test])])


def summed(X: Array, y: Array, w: Array) -> FewRows | Moments:
    """The moments of rows in memory, or the rows where they are few."""
    if are_few(*X.shape):
        return FewRows(X, y, w)
    X, y, size = np.ascontiguousarray(X), np.ascontiguousarray(y), block_rows(X.shape[1])
    blocks = (Moments.of(X[i : i + size], y[i : i + size], w[i : i + size]) for i in range(0, len(X), size))
    total: Moments = merge(blocks)
    return total
