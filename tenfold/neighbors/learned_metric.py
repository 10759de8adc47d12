"""Metric learning: a linear map, found by descent on a risk of pairs of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.random import legacy_generator
from tenfold.neighbors.metric_start import INITS, start_of
from tenfold.solve.descent import Point, lbfgs

PAIRS = 1 << 21  # of rows at a time
TRIALS = 30  # passes of one iteration at most


class PairRisk(ABC):
    """A risk of the squared distances Dᵢⱼ = |eᵢ − eⱼ|² of rows e = A x, for `solve.descent`, which asks for the violation once in an
    iteration.

    With W = ∂ risk / ∂ D the gradient is 2 Σ Wᵢⱼ (eᵢ − eⱼ)(xᵢ − xⱼ)ᵀ: products of blocks of W with e. No table of all pairs is made.
    """

    l1 = l2 = 0.0
    sign = 1.0  # of what is told: minus one of what is largest at the solution

    def __init__(self, X: Array, y: Array, w: Array) -> None:
        self.X, self.y, self.w = X - np.average(X, axis=0, weights=w), y, w
        self.n_iter, self.before = -1, np.inf
        self.tol, self.max_iter = 0.0, 1
        self.callback: Callable[..., Any] | None = None

    @abstractmethod
    def of_block(self, part: slice, D: Array) -> tuple[float, Array]:
        """What the rows of a block add to the risk, and W, from (rows of the block, all rows) squared distances."""

    def value(self, A: Array) -> tuple[float, Array]:
        """The risk at A, and its gradient."""
        E = self.X @ A.T
        norm2 = (E * E).sum(axis=1)
        total, moved = 0.0, np.zeros_like(E)
        step = max(1, PAIRS // len(E))
        for first in range(0, len(E), step):
            part = slice(first, min(first + step, len(E)))
            D = norm2[part, None] + norm2 - 2 * (E[part] @ E.T)
            value, W = self.of_block(part, np.maximum(D, 0, out=D))
            total += value
            moved -= W.T @ E[part]
            moved += W.sum(axis=0)[:, None] * E
            moved[part] += W.sum(axis=1)[:, None] * E[part] - W @ E
        return total, 2 * moved.T @ self.X

    def at(self, theta: Array) -> Learner[Point]:
        """A generator, as risks over blocks are."""
        return Point(theta, *self.value(theta))
        yield

    def violation(self, at: Point) -> float:
        """The largest slope, or none where an iteration has won too little, or there have been enough."""
        self.n_iter += 1
        won, scale = self.before - at.value, max(abs(at.value), abs(self.before), 1.0)
        self.before = at.value
        if self.n_iter == 0:
            return float(np.abs(at.gradient).max(initial=0.0))
        if self.callback is not None:
            self.callback(at.theta.ravel(), self.n_iter)
        enough = self.n_iter >= self.max_iter or won <= self.tol * scale
        return 0.0 if enough else float(np.abs(at.gradient).max(initial=0.0))


@group
class LearnedMetric(Transformer, Estimator):
    """Abstract: learns A, so that rows are compared as A x."""

    components_: Array = learned("float(k,p)", "the matrix A", like_x=True)
    n_iter_: int = learned("int", "number of iterations")
    objective_: float = learned("float", "what the objective has reached")

    n_components: int | None = param(default=None, at_least=1, doc="columns of the transformed rows; None: as many as X has")
    _: KW_ONLY
    init: str | Array = param(
        default="auto",
        one_of=INITS,
        doc="where to begin: Fisher's directions (lda), those of largest variance (pca), the columns as they are (identity), drawn by "
        "chance (random), or a matrix; auto: lda where there are classes enough, else pca or identity",
    )
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before")
    max_iter: int = param(default=50, at_least=1, doc="most iterations")
    tol: float = param(default=1e-5, at_least=0, doc="ends where an iteration wins less than this share, or slopes are less")
    callback: Callable[..., Any] | None = param(default=None, doc="called as callback(flat A, iteration) after each iteration")
    random_state: Any = param(default=None, doc="seed of the beginning by chance")

    target: ClassVar[str] = "label"
    kind: ClassVar[str] = "keeps rows"  # while it fits
    exempt: ClassVar[dict[str, str]] = {"column_order": "where all columns are kept, new ones stand in the order of those they begin with"}
    least_rows: ClassVar[int] = 2
    least_classes: ClassVar[int] = 1

    def _risk(self, X: Array, y: Array, w: Array) -> PairRisk:
        raise NotImplementedError

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self.callback is not None and not callable(self.callback):
            raise BadParameter(f"{type(self).__name__}(callback={self.callback!r}): must be a function of A and the iteration, or None")
        X, y, w = yield Keep()
        some = w > 0
        X, y, w = X[some].astype(np.float64), np.asarray(y)[some].reshape(-1), np.asarray(w[some], np.float64)
        start = self._before.get("components_")
        if start is None:
            start = start_of(self.init, self.n_components, X, y, w, legacy_generator(self.random_state))
        risk: Any = self._risk(X, y, w)  # descent asks of it what it asks of a risk over blocks
        risk.tol, risk.max_iter, risk.callback = self.tol, self.max_iter, self.callback
        found = yield from lbfgs(risk, np.asarray(start, np.float64), tol=self.tol, max_iter=TRIALS * self.max_iter)
        return dict(components_=found.theta, n_iter_=risk.n_iter, objective_=risk.sign * found.value)

    def _warm(self, source: Source) -> dict[str, Any]:
        before = vars(self).get("components_")
        if not self.warm_start or before is None:
            return {}
        if before.shape[1] != source.n_features:
            raise BadInput(
                f"The new inputs dimensionality ({source.n_features}) does not match the input dimensionality of the previously learned "
                f"transformation ({before.shape[1]})."
            )
        return {"components_": before}

    def _transform(self, X: Array) -> Array:
        return np.asarray(X @ self.components_.T.astype(X.dtype))

    def _names_out(self) -> list[str]:
        return [f"{type(self).__name__.lower()}{i}" for i in range(len(self.components_))]

    def _objection(self) -> str | None:
        columns = self.components_.shape[1]
        return None if columns == self.n_features_in_ else f"the matrix has {columns} columns, not {self.n_features_in_}"
