"""Consensus of rows on any model: fits to few rows, what others think of them, fits to all who agree."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import SklearnApi, fresh
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import Local, engine
from tenfold.core.errors import BadInput, BadParameter, NotConverged, TenfoldError, TenfoldWarning, warn
from tenfold.core.learning import Keep, Learner, through
from tenfold.core.stats import Stats
from tenfold.gate.inputs import of_rows

FINALISTS = 8  # models that are compared on all rows
ROUNDS = 20  # of fits to the inliers of the fit before
COLUMN_FACTS = ("n_features_in_", "feature_names_in_")  # for a model that has no use for y


@dataclass(slots=True)
class Agreement(Stats):
    """For each model the weight of the rows within the threshold, their Σ s |r|, and how many they are."""

    weight: Array
    deviation: Array
    rows: Array

    def best(self) -> int:
        """Most agreement; among equals the closest."""
        return int(np.lexsort((self.deviation, -self.weight))[0])


class Rule(NamedTuple):
    """When a row agrees with a model."""

    threshold: float
    loss: Any = "absolute_error"  # or "squared_error", or a function of (y, predicted)

    def distance(self, model: Any, X: Any, y: Array | None) -> Array:
        """How far each row lies from the model."""
        X = ops.dense(X)
        if y is None:
            return self.far(np.zeros(X.shape[0]), model._distances(X))
        return self.far(y, model._predict(X) if isinstance(model, Estimator) else model.predict(X))

    def far(self, y: Array, guess: Array) -> Array:
        """The loss of each row, summed over its targets."""
        guess = np.asarray(guess, dtype=np.float64).reshape(y.shape)
        if callable(self.loss):
            values = np.asarray(self.loss(y, guess), dtype=np.float64)
            if values.shape != y.shape[:1]:
                raise BadParameter(f"RANSACRegressor(loss): must give one number a row, gave shape {values.shape}")
            return values
        loss = np.abs(y - guess) if self.loss == "absolute_error" else (y - guess) ** 2
        return loss if y.ndim == 1 else np.asarray(loss.sum(axis=1))

    def agrees(self, model: Any, found: list[Any], X: Any, y: Array | None) -> Array:
        """Rows that agree with the model and with none found before."""
        return (self.distance(model, X, y) <= self.threshold) & self.free(found, X, y)

    def free(self, found: list[Any], X: Any, y: Array | None) -> Array:
        """Rows that no model found so far explains."""
        free = np.ones(X.shape[0], dtype=bool)
        for model in found:
            free &= self.distance(model, X, y) > self.threshold
        return free


class Draws(NamedTuple):
    """How subsets are drawn, and when there are enough."""

    size: int
    most: int
    skips: float
    enough: float  # Σ s of inliers at which drawing stops
    needed: Callable[[float], float]  # draws for a share of inliers
    data_valid: Any = None
    model_valid: Any = None
    good: float = np.inf  # R² of inliers at which drawing stops
    skips_by_reason: Any = None  # (3,) counted here: no inliers, invalid data, invalid model


def target_of(block: Block) -> Array | None:
    """(n) or, of several targets, (n, q)."""
    if block.y is None:
        return None
    return np.asarray(block.y[:, 0] if block.y.shape[1] == 1 else block.y)


def copy_of(model: Any) -> Any:
    """A model like this one, not fitted."""
    return fresh(model) if isinstance(model, SklearnApi) else copy.deepcopy(model)


def check_model(model: Any) -> None:
    """Whether it can be fitted to rows and say how far others are."""
    points = isinstance(model, Estimator) and model.target == "none" and type(model)._distances is not Estimator._distances
    numbers = hasattr(model, "fit") and hasattr(model, "predict") and getattr(model, "target", "real") == "real"
    if isinstance(model, type) or not (points or numbers):
        raise BadParameter(
            f"RANSACRegressor(estimator={check.short(model)}): must be a regressor, a CurveFit or a CircleFit"
        )


def check_parts(ransac: Any) -> None:
    """The model and the functions that a RANSACRegressor was given."""
    if ransac.estimator is not None:
        check_model(ransac.estimator)
        if hasattr(ransac.estimator, "_domains"):
            check.check_params(ransac.estimator)
    for name in ("is_data_valid", "is_model_valid"):
        hook = getattr(ransac, name)
        if hook is not None and (not callable(hook) or isinstance(hook, type)):
            raise BadParameter(f"RANSACRegressor({name}={check.short(hook)}): must be a function")
    known = isinstance(ransac.loss, str) and ransac.loss in ("absolute_error", "squared_error")
    if not known and (not callable(ransac.loss) or isinstance(ransac.loss, type)):
        raise BadParameter(
            f"RANSACRegressor(loss={check.short(ransac.loss)}): must be 'absolute_error', 'squared_error' or a "
            "function of (y, predicted)"
        )


def own_size(model: Any, p: int) -> int | None:
    """Rows that determine the model, where it tells."""
    if hasattr(model, "start") and model.start is not None:
        return int(np.size(model.start))
    if getattr(model, "target", "") == "none" or hasattr(model, "fit_intercept"):
        return p + 1
    return None


def candidates(
    model: Any,
    X: Array,
    y: Array | None,
    w: Array,
    rule: Rule,
    draws: Draws,
    total: float,
    rng: np.random.Generator,
    given: dict[str, Any] | None = None,
) -> tuple[list[Any], int]:
    """The models of the best subsets of these rows, and how many subsets were drawn; `given`: what fits receive of these rows besides."""
    best: list[tuple[float, int, Any]] = []
    needed, drawn, skipped, trouble = float(draws.most), 0, 0, ""
    chance, weight = w / w.sum(), float(w.sum())
    counts = np.zeros(3, dtype=np.int64) if draws.skips_by_reason is None else draws.skips_by_reason
    while drawn < needed and skipped <= draws.skips:
        drawn += 1
        rows = rng.choice(len(X), draws.size, replace=False, p=chance)
        some = X[rows], None if y is None else y[rows]
        if draws.data_valid is not None and not draws.data_valid(*some):
            skipped, counts[1] = skipped + 1, counts[1] + 1
            continue
        try:
            one = _fit_few(copy_of(model), *some, **of_rows(given or {}, rows, len(X)))
        except TenfoldError as refusal:
            trouble, skipped, counts[2] = f" ({refusal})", skipped + 1, counts[2] + 1
            continue
        if draws.model_valid is not None and not draws.model_valid(one, *some):
            skipped, counts[2] = skipped + 1, counts[2] + 1
            continue
        near = rule.distance(one, X, y) <= rule.threshold
        inside = float(w[near].sum())
        counts[0] += not near.any()
        best = sorted([*best, (-inside, drawn, one)], key=lambda entry: entry[:2])[:FINALISTS]
        if -inside <= best[0][0]:
            needed = min(needed, draws.needed(inside / weight))
            if inside / weight * total >= draws.enough:
                break
            if draws.good < np.inf and y is not None and _fits(one, X[near], y[near], w[near]) >= draws.good:
                break
    if skipped > draws.skips and not best:
        raise BadInput(
            f"RANSAC skipped more iterations than `max_skips` without finding a valid consensus set: none of {drawn} subsets gave a model, "
            f"{counts[1]} were no valid data and {counts[2]} gave no valid one{trouble[:300]}"
        )
    if skipped > draws.skips:
        warn(
            "RANSAC found a valid consensus set but exited early due to skipping more iterations than `max_skips`. See estimator "
            "attributes for diagnostics.",
            NotConverged,
        )
    if not best:
        raise BadInput(
            f"RANSAC could not find a valid consensus set: none of {drawn} subsets gave a model{trouble[:300]}"
        )
    return [one for _, _, one in best], drawn


def _fits(model: Any, X: Array, y: Array, w: Array) -> float:
    """R² of these rows, averaged over several targets; a constant target that is met is 1."""
    if not len(y):
        return -np.inf
    guess = model._predict(X) if isinstance(model, Estimator) else model.predict(X)
    y, guess = y.reshape(len(y), -1), np.asarray(guess, dtype=np.float64).reshape(len(y), -1)
    rest, spread = w @ (y - guess) ** 2, w @ (y - np.average(y, axis=0, weights=w)) ** 2
    return float(np.mean(np.where(rest == 0, 1.0, 1 - rest / np.where(spread > 0, spread, np.inf))))


def _fit_few(model: Any, X: Array, y: Array | None, **given: Any) -> Any:
    with warnings.catch_warnings(), engine(Local()):
        warnings.simplefilter("ignore", TenfoldWarning)  # few rows: of course
        return model.fit(X, **given) if y is None else model.fit(X, y, **given)


def agreement(block: Block, models: list[Any], rule: Rule, found: list[Any]) -> Agreement:
    """`Agreement` of one block, among the rows that are not explained yet."""
    y = target_of(block)
    w = block.w * rule.free(found, block.X, y)
    far = np.column_stack([rule.distance(one, block.X, y) for one in models])
    near = (far <= rule.threshold) & (w > 0)[:, None]
    return Agreement(w @ near, w @ (near * far), near.sum(axis=0))


def settle(
    model: Any, start: Any, source: Source, rule: Rule, found: list[Any], size: int, given: dict[str, Any] | None = None
) -> Learner[tuple[Any, float]]:
    """A fit to the inliers, to the inliers of that, and so on while more rows agree."""
    at, best, most = start, start, 0.0
    for _ in range(ROUNDS):
        agreed = yield partial(agreement, models=[at], rule=rule, found=found)
        if agreed.weight[0] <= most or agreed.rows[0] < max(size, getattr(model, "least_rows", 1)):
            break
        most = float(agreed.weight[0])
        near = partial(inliers, model=at, rule=rule, found=found)
        one = copy_of(model)
        if given:
            at = best = yield from _handed(one, partial(Rule.agrees, rule, at, found), given)
        else:
            at = best = yield from (_learned(one, source, near) if isinstance(model, Estimator) else _gathered(one, near))
    return best, most


def inliers(block: Block, model: Any, rule: Rule, found: list[Any]) -> Block | None:
    """The rows of a block that agree with the model and with none found before."""
    y = target_of(block)
    near = rule.agrees(model, found, block.X, y)
    if not near.any():
        return None
    return replace(block, X=block.X[near], y=None if y is None else block.y[near], w=block.w[near])


class Inliers(Source):
    """The rows of a source that pass; how many those are is not known."""

    def __init__(self, inner: Source, near: Any) -> None:
        self.inner, self.near = inner, near
        self.n_features, self.target, self.n_parts = inner.n_features, inner.target, inner.n_parts
        self.rereadable, self.facts, self.home = inner.rereadable, inner.facts, inner.home

    def parts(self) -> Iterator[Any]:
        return self.inner.parts()

    def load(self, part: Any) -> Block:
        block = self.inner.load(part)
        return self.near(block) or replace(block, X=block.X[:0], y=block.y[:0], w=block.w[:0])

    def whole(self) -> Source:
        return self.inner.whole()


def _learned(model: Any, source: Source, near: Any) -> Learner[Any]:
    """The passes of the model's own fit, asked of the inliers alone."""
    some = Inliers(source, near)
    known = source.facts if model.target != "none" else {k: v for k, v in source.facts.items() if k in COLUMN_FACTS}
    vars(model).update(known)
    vars(model).update((yield from through(near, model._learn(some), drops=True)))
    model._finish(some)
    return model


def _gathered(model: Any, near: Any) -> Learner[Any]:
    """For a model that wants its rows in memory."""
    X, y, w = yield Keep(change=near)
    X, y = np.asarray(ops.dense(X), dtype=np.float64), y[:, 0] if y.shape[1] == 1 else y
    return model.fit(X, y) if (w == 1).all() else model.fit(X, y, sample_weight=w)


def _handed(model: Any, agrees: Callable[[Any, Any], Array], given: dict[str, Any]) -> Learner[Any]:
    """A fit to the rows that agree, by the model's own verb, with what it receives of them besides."""
    X, y, w = yield Keep()
    X, y = np.asarray(ops.dense(X), dtype=np.float64), y[:, 0] if y.shape[1] == 1 else y
    near = np.flatnonzero(agrees(X, y) & (w > 0))
    return model.fit(X[near], y[near], **of_rows(given, near, len(X)))
