"""Random sample consensus: a line that many rows agree on, whatever the others say."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.estimator import Estimator
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator, seed_of
from tenfold.core.sketch import Sample
from tenfold.core.stats import Keyed, Moments, Stats
from tenfold.linear.affine import AffineRegressor
from tenfold.solve.linalg import solve_spd

SAMPLED = 4096  # distinct rows from which subsets are drawn, and on which they compete first
FINALISTS = 8  # models that are compared on all rows
ROUNDS = 20  # of least squares with the inliers of the fit before


def n_draws(success: float, inlier_share: float, size: int) -> float:
    """Subsets of `size` rows to draw, so that with probability `success` one of them holds inliers only."""
    clean = inlier_share**size
    if clean <= 0 or success >= 1:
        return np.inf
    return 1.0 if clean >= 1 else max(float(np.ceil(np.log1p(-success) / np.log1p(-clean))), 1.0)


@dataclass(slots=True)
class Agreement(Stats):
    """For each model the weight of the rows within the threshold, and their Σ s |r|."""

    weight: Array
    deviation: Array

    def best(self) -> int:
        """Most agreement; among equals the closest."""
        return int(np.lexsort((self.deviation, -self.weight))[0])


@estimator
class RANSACRegressor(AffineRegressor, Estimator):
    """RANSACRegressor: least squares of the rows that agree with a model fitted to few of them.

    Model       y ≈ X w + b on an unknown part of the rows (the inliers), anything on the others
    Objective   the most weight with |y − x·w − b| ≤ residual_threshold, over models through random subsets;
                then least squares of those rows, again with its own inliers while they grow
    Algorithm   subsets drawn from up to 4,096 rows chosen by a hash, as many as stop_probability asks for,
                given the inliers so far; the best 8 compete on all rows; n_models > 1 removes inliers
                and repeats
    Cost        O(trials p³ + n p²) time, some passes, memory of the rows drawn from
    Fails when  no subset of max_trials is clean (see n_draws), or the threshold is not that of the noise
    Reference   Fischler & Bolles 1981

    Fitted      coef_ (p,), intercept_, residual_threshold_, inlier_share_ (by weight), n_trials_,
                models_ (n_models, p + 1): w and b of each model found, absent_ (why there is no inlier_mask_)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(20.0)[:, None]
    >>> y = np.where(np.arange(20) % 3 == 0, -50.0, 2 * X[:, 0] + 1)
    >>> model = tenfold.RANSACRegressor(residual_threshold=0.1, random_state=0).fit(X, y)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([2.]), 1.0)
    """

    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "subsets are drawn by a hash of the row, which reads the columns in their order",
    }

    estimator: None = param(None, one_of=(None,), doc="None: least squares is the only model")
    _: KW_ONLY
    min_samples: int | float | None = param(
        None, above=0, doc="rows in a subset, or their share; None: p + 1, as many as parameters"
    )
    residual_threshold: float | None = param(
        None,
        at_least=0,
        doc="largest residual of an inlier; None: median |y − median y| of the rows drawn from",
    )
    is_data_valid: None = param(None, one_of=(None,), doc="None: every subset is valid")
    is_model_valid: None = param(None, one_of=(None,), doc="None: every model is valid")
    max_trials: int = param(100, at_least=1, at_most=100_000, doc="most subsets for each model")
    max_skips: float = param(np.inf, at_least=0, at_most=np.inf, doc="no effect: no subset is skipped")
    stop_n_inliers: float = param(np.inf, at_least=0, at_most=np.inf, doc="stop at this weight of inliers")
    stop_score: float = param(np.inf, at_most=np.inf, doc="no effect: models compete by their inliers")
    stop_probability: float = param(
        0.99, at_least=0, at_most=1, doc="probability with which one subset should be free of outliers"
    )
    loss: str = param("absolute_error", one_of=("absolute_error",), doc="what the threshold bounds")
    random_state: int | RandomState | None = param(None, doc="seed of the sample and of the draws from it")
    n_models: int = param(1, at_least=1, doc="models to look for, one after the other")

    def _learn(self, source: Source) -> Generator[Any, Any, dict[str, Any]]:
        try:
            rng = generator(self.random_state)
        except (TypeError, ValueError):
            raise BadParameter(
                f"RANSACRegressor(random_state={self.random_state!r}): must be a whole number >= 0, "
                "a generator, or None"
            ) from None
        sample = yield partial(_sample, k=SAMPLED, seed=seed_of(rng))
        Z, y, w = sample.rows[:, :-1], sample.rows[:, -1], sample.weight
        size = self._subset_size(source.n_features + 1, len(Z), sample.total)
        threshold = self._threshold(y, w)
        found: list[Array] = []
        trials, share = 0, 0.0
        for _ in range(self.n_models):
            free = _unexplained(Z, y, found, threshold)
            if free.sum() < size:
                break
            models, more = self._candidates(Z[free], y[free], w[free], size, threshold, sample.total, rng)
            trials += more
            agreed = yield partial(_agreement, models=models, threshold=threshold, found=found)
            if agreed.weight.max() <= 0:
                break
            model, weight = yield from _settle(models[agreed.best()], threshold, found)
            share = share or weight / sample.total
            found = [*found, model]
        if not found:
            raise BadInput(
                f"RANSAC could not find a valid consensus set: no row lies within residual_threshold="
                f"{threshold:g} of a model in {trials} trials: raise residual_threshold or max_trials"
            )
        first = found[0]
        why = "inlier_mask_ is absent, as rows are not kept: compare |y − predict(X)| with residual_threshold_"
        return dict(
            coef_=first[:-1].copy(),
            intercept_=float(first[-1]),
            residual_threshold_=threshold,
            inlier_share_=share,
            n_trials_=trials,
            models_=np.array(found),
            absent_={"inlier_mask_": why},
        )

    def _subset_size(self, parameters: int, distinct: int, total: float) -> int:
        given = self.min_samples
        size = min(parameters, distinct) if given is None else int(np.ceil(given * total)) if given < 1 else given
        if size != int(size):
            raise BadParameter(f"RANSACRegressor(min_samples={given!r}): must be a whole number or a share below 1")
        if distinct < size:
            raise BadInput(
                f"n_samples={distinct} distinct rows should be >= min_samples={int(size)}: give more rows, "
                "or set min_samples"
            )
        return int(size)

    def _threshold(self, y: Array, w: Array) -> float:
        if self.residual_threshold is not None:
            return float(self.residual_threshold)
        return _median(np.abs(y - _median(y, w)), w)

    def _candidates(
        self,
        Z: Array,
        y: Array,
        w: Array,
        size: int,
        threshold: float,
        total: float,
        rng: np.random.Generator,
    ) -> tuple[Array, int]:
        """The models of the best subsets on the sampled rows, and how many subsets were drawn."""
        models, scores, needed, drawn = [], [], float(self.max_trials), 0
        A = np.column_stack([Z, np.ones(len(Z))])
        chance = w / w.sum()
        while drawn < needed:
            subset = rng.choice(len(A), size, replace=False, p=chance)
            model = np.linalg.lstsq(A[subset], y[subset], rcond=None)[0]
            near = np.abs(y - A @ model) <= threshold
            inside = float(w[near].sum())
            models.append(model)
            scores.append(inside)
            drawn += 1
            if inside >= max(scores):
                needed = min(needed, n_draws(self.stop_probability, inside / float(w.sum()), size))
                if inside / float(w.sum()) * total >= self.stop_n_inliers:
                    break
        best = np.argsort(-np.array(scores), kind="stable")[:FINALISTS]
        return np.array(models)[best], drawn


def _settle(model: Array, threshold: float, found: list[Array]) -> Generator[Any, Any, tuple[Array, float]]:
    """Least squares of the inliers, of the inliers of that, and so on while more rows agree."""
    best, most = model, 0.0
    for _ in range(ROUNDS):
        stats = yield partial(_inliers, model=model, threshold=threshold, found=found)
        if not stats or stats["inliers"].weight <= most:
            break
        best, most = _least_squares(stats["inliers"]), float(stats["inliers"].weight)
        model = best
    return best, most


def _sample(block: Block, k: int, seed: int) -> Sample:
    return Sample.of(np.column_stack([np.asarray(block.X, dtype=np.float64), block.y]), block.w, k, seed)


def _median(values: Array, w: Array) -> float:
    """The mean of the lower and the upper weighted median."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(w[order])
    low = np.searchsorted(total, total[-1] / 2, side="left")
    high = np.searchsorted(total, total[-1] / 2, side="right")
    return float(values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2


def _unexplained(Z: Array, y: Array, found: list[Array], threshold: float) -> Array:
    """Rows that no model found so far explains."""
    free = np.ones(len(y), dtype=bool)
    for model in found:
        free &= np.abs(y - Z @ model[:-1] - model[-1]) > threshold
    return free


def _agreement(block: Block, models: Array, threshold: float, found: list[Array]) -> Agreement:
    y = block.y[:, 0]
    coef, intercept = np.ascontiguousarray(models[:, :-1]), np.ascontiguousarray(models[:, -1])
    far = np.abs(ops.linear_scores(block.X, coef, intercept) - y[:, None])
    w = block.w * _unexplained(block.X, y, found, threshold)
    near = (far <= threshold) * w[:, None]
    return Agreement(near.sum(axis=0), (near * far).sum(axis=0))


def _inliers(block: Block, model: Array, threshold: float, found: list[Array]) -> Keyed:
    y = block.y[:, 0]
    near = np.abs(y - block.X @ model[:-1] - model[-1]) <= threshold
    near &= _unexplained(block.X, y, found, threshold)
    if not near.any():
        return Keyed()
    return Keyed(inliers=Moments.of(block.X[near], block.y[near], block.w[near]))


def _least_squares(stats: Moments) -> Array:
    p = len(stats.center) - 1
    S, mean = stats.scatter, stats.mean
    w = solve_spd(S[:p, :p], S[:p, p:], "RANSACRegressor")[:, 0]
    return np.append(w, mean[p] - mean[:p] @ w)
