"""Least-squares classification: ridge regression on targets 1 and −1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments, merge
from tenfold.linear.class_scores import LinearScores
from tenfold.linear.leave_one_out import Leverage
from tenfold.linear.ridge import Ridge
from tenfold.solve.class_weights import class_factors
from tenfold.solve.few_rows import FewRows, are_few, rows_or_moments


@estimator
class RidgeClassifier(LinearScores, OnePass):
    """RidgeClassifier: classes by least squares with an L2 penalty, on targets 1 for a class and −1 for all others.

    Model       the class of the largest wₖ·x + bₖ; of two classes the second one where w·x + b > 0
    Objective   min over w, b of  Σᵢ sᵢ (tₖᵢ − wₖ·xᵢ − bₖ)² + alpha ‖wₖ‖²  for each class, tₖᵢ = 1 for its rows and −1 for others
    Algorithm   one pass of centred moments of (X, t), all classes at once; Cholesky of Sxx + alpha I, as Ridge. With
                class_weight="balanced" the moments are kept class by class
    Cost        O(n p²) time, O(p²) memory ("balanced": O(K p²)), one pass; few rows: O(n² p) and O(n p)
    Fails when  a class lies between others: its score is never the largest (masking; then LinearDiscriminantAnalysis or
                LogisticRegression); rows far on the right side of the plane, which cost as much as rows on the wrong one, turn it
    Reference   Hastie, Tibshirani & Friedman 2009, §4.2; two classes of equal size: Fisher 1936

    Example
    -------
    Of three classes in a row the one in the middle is never predicted, though a plane tells each pair apart:

    >>> import numpy as np, tenfold
    >>> X, y = np.repeat([[-4.0], [0.0], [4.0]], 20, axis=0) + np.tile([[-0.5], [0.5]], (30, 1)), np.repeat(["a", "b", "c"], 20)
    >>> [float((model.fit(X, y).predict(X) == y).mean()) for model in (tenfold.RidgeClassifier(), tenfold.LogisticRegression())]
    [0.6666666666666666, 1.0]

    Rows far away on the right side move the border into the other class, where a margin does not look at them:

    >>> X, y = np.array([[-1.0], [-2.0], [1.0], [2.0], [40.0], [50.0]]), [0, 0, 1, 1, 1, 1]
    >>> [model.fit(X, y).predict([[1.0], [2.0]]).tolist() for model in (tenfold.RidgeClassifier(), tenfold.LinearSVC())]
    [[0, 1], [1, 1]]
    """

    intercept_: Any = learned("float(M)|float", "constants; 0 with fit_intercept=False", like_x=True)
    n_iter_: int = learned("int", "always 1")
    solver_: str = learned("str", 'the solver that was named, "cholesky" for "auto"')
    stats_: Any = learned(
        "Moments(p+M)|Moments(K,p)|FewRows(p+M)", "the moments: for partial_fit, merge and forget", optional=True
    )

    has_probabilities: ClassVar[bool] = False
    summary_reads: ClassVar[tuple[str, ...] | None] = ("class_weight", "positive")
    path: ClassVar[str | None] = "alpha"

    alpha: float = param(default=1.0, at_least=0, doc="penalty strength")
    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    copy_X: bool = param(default=True, doc="no effect: X is never changed")
    max_iter: int | None = param(default=None, at_least=1, doc="no effect: the solution is direct")
    tol: float = param(default=1e-4, at_least=0, doc="no effect: the solution is direct")
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)"
    )
    solver: str = param(
        default="auto",
        one_of=("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"),
        doc="no effect: one direct method serves every case",
    )
    positive: bool = param(default=False, doc="require w >= 0")
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"alpha": 0.1, "class_weight": "balanced"}, {"fit_intercept": False, "positive": True}]

    def _summarize(self, block: Block) -> FewRows | Moments:
        K, balanced = len(self.classes_), self.class_weight == "balanced"
        if balanced and not are_few(len(block), block.width):
            return Moments.by_group(block.X, block.y, block.w, K)
        block = signed(block, K, None if balanced else class_factors(self, np.ones(K)))
        return Moments.of_block(block) if self.positive else rows_or_moments(block)

    def _solve(self, stats: FewRows | Moments) -> dict[str, Any]:
        return self._fitted_attributes(self._ridge()._solve(self._of_targets(stats)))

    def _solve_path(self, stats: FewRows | Moments, values: list[float]) -> list[dict[str, Any]]:
        return [self._fitted_attributes(fit) for fit in self._ridge()._solve_path(self._of_targets(stats), values)]

    def _ridge(self) -> Ridge:
        """The regression of the targets."""
        ridge = Ridge(self.alpha, fit_intercept=self.fit_intercept, positive=self.positive)
        vars(ridge).update(n_features_in_=self.n_features_in_, _flat=False)
        return ridge

    def _fitted_attributes(self, fit: dict[str, Any]) -> dict[str, Any]:
        return fit | dict(solver_="cholesky" if self.solver == "auto" else str(self.solver))

    def _of_targets(self, stats: FewRows | Moments) -> FewRows | Moments:
        """The moments of (X, t), each class with its weight."""
        if self.class_weight != "balanced":
            return stats
        K = len(self.classes_)
        if isinstance(stats, FewRows):
            code = (stats.y[:, 0] > 0).astype(np.int64) if K == 2 else stats.y.argmax(axis=1)
            factors = class_factors(self, np.bincount(code, stats.w, K))
            assert factors is not None
            return FewRows(stats.X, stats.y, stats.w * factors[code])
        factors = class_factors(self, stats.weight)
        assert factors is not None
        targets = signs(np.arange(K), K)
        whole: Moments = merge(
            _beside(float(stats.weight[k] * factors[k]), stats.mean[k], stats.scatter[k] * factors[k], targets[k]) for k in range(K)
        )
        return whole

    def _left_out(self, source: Source) -> Callable[[Any], Array] | None:
        """The scores of each row by the fit to all others; weights by the sizes of classes change with a row."""
        if "stats_" not in vars(self) or self.positive or self.class_weight == "balanced":
            return None
        ridge, K = self._ridge(), len(self.classes_)
        vars(ridge).update(stats_=self.stats_, coef_=self.coef_, intercept_=self.intercept_)
        leverage = Leverage(ridge, source)
        return partial(_scores_left, leverage, K, class_factors(self, np.ones(K))) if np.isfinite(leverage.condition) else None


def _scores_left(leverage: Leverage, K: int, factors: Array | None, block: Block) -> Array:
    scores = leverage.outputs(signed(block, K, factors))
    return scores if K > 2 else np.hstack([np.where(np.isnan(scores), np.nan, 0.0), scores])


def _beside(weight: float, mean: Array, scatter: Array, target: Array) -> Moments:
    """The moments of (X, t) of rows that have one target t."""
    p, q = len(mean), len(target)
    whole = np.zeros((p + q, p + q))
    whole[:p, :p] = scatter
    return Moments(weight, np.concatenate([mean, target]), np.zeros(p + q), whole)


def signs(codes: Array, K: int) -> Array:
    """(n, K): 1 for the class of a row, −1 for all others; of two classes (n, 1), 1 for the second."""
    own = (codes[:, None] == (np.arange(K) if K > 2 else [1])).astype(np.float64)
    return np.asarray(2 * own - 1)


def signed(block: Block, K: int, factors: Array | None) -> Block:
    """The rows with these targets, weighted by class."""
    w = block.w if factors is None else block.w * factors[block.y]
    return Block(None if block.unread else block.X, signs(block.y, K), w, block.key, block.unread)
