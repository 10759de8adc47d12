"""Logistic regression of two and of many classes."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import Summarize
from tenfold.core.errors import BadParameter
from tenfold.core.estimator import Classifier, Estimator
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts, Terms
from tenfold.solve.linalg import solve_spd
from tenfold.solve.newton import Problem, newton


@estimator
class LogisticRegression(Classifier, Estimator):
    """LogisticRegression: class probabilities from linear scores, with an L2 penalty.

    Model       P(class k | x) ∝ exp(wₖ·x + bₖ);  for two classes P(second | x) = 1 / (1 + exp(−w·x − b))
    Objective   min over w, b of  C Σᵢ sᵢ log(1 / P(yᵢ | xᵢ)) + ½ ‖w‖²      (b is free; s: sample times class weight)
    Algorithm   Newton, one pass over the rows for each trial point
    Cost        O(n p K) time a pass, with curvature O(n p² K²)
    Fails when  the classes can be separated and C is infinite: the optimum lies at infinity (warns Degenerate)
    Reference   Cox 1958; Nocedal & Wright 2006, algorithms 3.2 and 7.4

    Fitted      coef_ (1, p) or (K, p), intercept_, n_iter_ (passes), classes_, n_features_in_

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = tenfold.LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[2.5]])
    array(['yes'], dtype='<U3')
    """

    sparse: ClassVar[bool] = True

    penalty: str | None = param("deprecated", one_of=("deprecated", "l2", None), doc="'l2', or None for C=inf; 'deprecated' means l2")
    _: KW_ONLY
    C: float = param(1.0, above=0, doc="inverse of the penalty strength; inf for none")
    l1_ratio: float | None = param(0.0, at_least=0, at_most=0, doc="must be 0: the L1 penalty is not offered yet")
    dual: bool = param(False, one_of=(False,), doc="must be False: the primal problem is solved")
    tol: float = param(1e-4, above=0, doc="bound on max |gradient| / Σ s")
    fit_intercept: bool = param(True, doc="fit b, or fix it at zero")
    intercept_scaling: float = param(1, doc="no effect: the intercept is never penalised")
    class_weight: dict | str | None = param(None, doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)")
    random_state: int | None = param(None, doc="no effect: nothing is drawn")
    solver: str = param("lbfgs", doc="no effect: the method is chosen by the shape of the table")
    max_iter: int = param(100, at_least=1, doc="most passes over the rows")
    verbose: int = param(0, doc="no effect: use tenfold.progress()")
    warm_start: bool = param(False, doc="start at the last fit")
    n_jobs: int | None = param(None, doc="no effect: use tenfold.threads(n)")

    def _learn(self, source: Source, start: Array | None = None) -> Generator[Summarize, Any, dict[str, Any]]:
        K, p = len(self.classes_), source.n_features
        class_weight = yield from self._class_weights(K)
        l2 = np.full((K, p + 1), 0.0 if self.penalty is None else 1 / self.C)
        l2[:, p] = 0.0
        if K == 2:
            l2 = l2[0]
        terms = partial(two_classes if K == 2 else many_classes, fit_intercept=self.fit_intercept, class_weight=class_weight)
        problem = Problem(terms, l2, partial(_step, l2=l2))
        theta = np.zeros_like(l2) if start is None else start
        theta, _, _, n_pass = yield from newton(problem, theta, self.tol, self.max_iter)
        theta = np.atleast_2d(theta)
        return dict(coef_=np.ascontiguousarray(theta[:, :p]), intercept_=theta[:, p].copy(), n_iter_=np.array([n_pass], dtype=np.int32))

    def _class_weights(self, K: int) -> Generator[Summarize, Any, Array | None]:
        """One factor for each class, or None; "balanced" takes a pass that counts."""
        given = self.class_weight
        if given is None:
            return None
        if isinstance(given, dict):
            return np.array([float(given.get(label, 1.0)) for label in self.classes_.tolist()])
        if given != "balanced":
            raise BadParameter(f"LogisticRegression(class_weight={given!r}): must be 'balanced', a dict of class weights, or None")
        counts = yield partial(_count, k=K)
        return counts.weight.sum() / (K * counts.weight)

    def _scores(self, X: Any) -> Array:
        if ops.is_sparse(X):
            scores = X @ self.coef_.T + self.intercept_
        else:
            scores = ops.linear_scores(X, self.coef_, self.intercept_)
        if X.dtype == np.float32:
            scores = scores.astype(np.float32)
        return scores if scores.shape[1] > 1 else np.hstack([np.zeros_like(scores), scores])


def _count(block: Block, k: int) -> Counts:
    return Counts.of(block.y, block.w, k)


def two_classes(block: Block, theta: Array, fit_intercept: bool, class_weight: Array | None) -> Terms:
    """Loss, gradient and curvature at θ = (w, b)."""
    X, w = ops.dense(block.X), block.w if class_weight is None else block.w * class_weight[block.y]
    loss, gradient = ops.logistic_terms(X, block.y, w, theta)
    curvature = ops.logistic_curvature(X, w, theta)
    if not fit_intercept:
        gradient[-1] = 0.0
        curvature[-1] = curvature[:, -1] = 0.0
    return Terms(loss, gradient, float(w.sum()), curvature)


def many_classes(block: Block, theta: Array, fit_intercept: bool, class_weight: Array | None) -> Terms:
    """Loss, gradient and curvature at θ, one row (wₖ, bₖ) for each class."""
    X, w = ops.dense(block.X), block.w if class_weight is None else block.w * class_weight[block.y]
    loss, gradient = ops.softmax_terms(X, block.y, w, theta)
    scores = ops.linear_scores(X, np.ascontiguousarray(theta[:, :-1]), np.ascontiguousarray(theta[:, -1]))
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    K, q = theta.shape
    curvature = np.empty((K, q, K, q))
    for k in range(K):
        for j in range(k):
            curvature[k, :, j] = curvature[j, :, k] = -ops.weighted_gram(X, w * P[:, k] * P[:, j])
        curvature[k, :, k] = ops.weighted_gram(X, w * P[:, k] * (1 - P[:, k]))
    if not fit_intercept:
        gradient[:, -1] = 0.0
        curvature[:, -1] = curvature[:, :, :, -1] = 0.0
    return Terms(loss, gradient, float(w.sum()), curvature)


def _step(curvature: Array, gradient: Array, l2: Array) -> Array:
    """(H + diag(l2))⁻¹ g. With many classes the shift common to all has no curvature of its own: it is given some, and removed."""
    size = gradient.size
    H = curvature.reshape(size, size).copy()
    H[np.diag_indices(size)] += l2.ravel()
    if gradient.ndim == 2:
        K, q = gradient.shape
        shift = np.diagonal(H).reshape(K, q).mean(axis=0) / K
        blocks = H.reshape(K, q, K, q)
        blocks[:, range(q), :, range(q)] += shift[:, None, None]
    dead = np.diagonal(H) == 0
    H[dead, dead] = 1.0
    step = solve_spd(H, gradient.ravel(), "LogisticRegression").reshape(gradient.shape)
    return step - step.mean(axis=0) if gradient.ndim == 2 else step
