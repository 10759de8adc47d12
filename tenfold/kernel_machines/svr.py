"""Support vector machines for numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Regressor
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.kernel_machines.smo import Problem, Solution, level
from tenfold.kernel_machines.vectors import VectorMachine


@group
class TubeMachine(Regressor, VectorMachine):
    """Abstract: a function with a tube around it."""

    n_iter_: int = learned("int", "steps of two variables")

    path: ClassVar[str | None] = "C"
    flattens: ClassVar[bool] = True

    _: KW_ONLY
    C: float = param(default=1.0, above=0, at_most=float("inf"), doc="what rows outside the tube cost")

    def _problem(self, y: Array, w: Array, C: float) -> Problem:
        raise NotImplementedError

    def _constant(self, solution: Solution, problem: Problem) -> float:
        """b."""
        raise NotImplementedError

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        return (yield from self._along(source, [float(self.C)]))[0]

    def _along(self, source: Source, costs: list[float]) -> Learner[list[dict[str, Any]]]:
        """The fits for some values of C, each from the one before."""
        X, y, w = yield Keep(sparse=True)
        y, rows = np.asarray(y, dtype=np.float64).reshape(-1), np.flatnonzero(w > 0)
        some = X if len(rows) == len(w) else X[rows][:, rows] if self.accepts == "pairs" else X[rows]
        kernels, gamma = self._kernels(some, w[rows])
        found, before = [], None
        for C in costs:
            problem = self._problem(y[rows], w[rows], C)
            if before is not None and np.isfinite(C):
                problem.start = np.clip(before[0] * (C / before[1]), problem.low, problem.high)
            solution = self._solved(problem, kernels)
            before = solution.b, C
            self._warn([solution])
            fitted = carried(self, X, rows, problem.on_rows(solution.b, kernels.n), solution)
            intercept = np.array([self._constant(solution, problem)])
            found.append(fitted | dict(intercept_=intercept, _gamma=gamma, _n_fit=X.shape[0]))
        return found

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if name != "C" or not values:
            return super()._fit_path(source, name, values)
        template, order = fresh(self), np.argsort(np.asarray(values, dtype=np.float64), kind="stable")
        fits = template._driven(lambda one: template._along(one, [float(values[i]) for i in order]), source)
        models = {int(i): template._fitted_copy(fit | {"_flat": template._flat}, C=values[i]) for i, fit in zip(order, fits, strict=True)}
        return [models[i] for i in range(len(values))]

    def _predict(self, X: Any) -> Array:
        return np.asarray(self._sums(X)[:, 0].astype(X.dtype, copy=False))

    def _objection(self) -> str | None:
        return super()._objection() or one_function(self)


@estimator
class SVR(TubeMachine):
    """SVR: a function of a kernel with a tube of half width epsilon around it, outside of which rows cost their distance.

    Model       f(x) = Σᵢ cᵢ k(x, xᵢ) + b, with cᵢ = 0 for all rows inside the tube
    Objective   min over f of  ½ ‖f‖² + C Σᵢ sᵢ max(0, |yᵢ − f(xᵢ)| − epsilon)
    Algorithm   the dual by working sets of up to 1,024 variables, pairs of the largest second-order decrease inside; the gradient by sums
                of kernels that are never stored, in single precision where that is enough, and in double at the end
    Certificate the gap m − M of the conditions of a minimum (`kkt_gap_`) is at most `tol`
    Cost        O(v n p) time for a few times the number of support vectors v, O(n p) memory
    Fails when  columns have very different sizes (scale them first); C is very large: many steps
    Reference   Drucker et al. 1997; Fan, Chen & Lin 2005; working sets: Wen et al. 2018

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 6, 61)[:, None]
    >>> model = tenfold.SVR(C=100.0, epsilon=1e-4).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.0], [4.0]]).round(2)
    array([ 0.84, -0.76])
    >>> bool(model.kkt_gap_ <= model.tol)
    True
    """

    _: KW_ONLY
    epsilon: float = param(default=0.1, at_least=0, doc="half the width of the tube")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-11, "gamma": 0.1}, {"tol": 1e-11, "kernel": "poly", "degree": 2, "gamma": 0.1, "coef0": 1.0, "C": 0.1}]

    def _problem(self, y: Array, w: Array, C: float) -> Problem:
        return tube(y, C * w, float(self.epsilon))

    def _constant(self, solution: Solution, problem: Problem) -> float:
        return level(solution, problem)


def tube(y: Array, C: Array, epsilon: float) -> Problem:
    """Two variables for each row: above the tube from 0 to C, and below it from −C to 0."""
    n = len(y)
    zero = np.zeros(n)
    return Problem.of(
        np.concatenate([epsilon - y, -epsilon - y]), np.concatenate([zero, -C]), np.concatenate([C, zero]),
        rows=np.concatenate([np.arange(n), np.arange(n)]),
    )  # fmt: skip


def carried(model: VectorMachine, X: Any, rows: Array, weights: Array, solution: Solution) -> dict[str, Any]:
    """The fitted attributes of one function of the support vectors."""
    mine = np.flatnonzero(weights)
    support = rows[mine]
    return model._vectors_of(X, support) | dict(
        support_=support.astype(np.int64), dual_coef_=weights[mine][None], n_support_=np.array([len(mine)]), kkt_gap_=float(solution.gap),
        n_iter_=int(solution.steps), fit_status_=0 if solution.converged else 1,
    )  # fmt: skip


def one_function(model: VectorMachine) -> str | None:
    """Of files: whether there is one output of all support vectors."""
    one = len(model.dual_coef_) == len(model.intercept_) == len(model.n_support_) == 1
    return None if one and model.n_support_[0] == len(model.support_) else "there is not one function of the support vectors"
