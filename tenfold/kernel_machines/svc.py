"""Support vector machines for classes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.kernel_machines.pair_machine import PairMachine, Two
from tenfold.kernel_machines.smo import Problem, Solution, level


@estimator
class SVC(PairMachine):
    """SVC: the widest margin between two classes in the space of a kernel, as far as C pays for it; of more classes one for each pair.

    Model       f(x) = Σᵢ cᵢ k(x, xᵢ) + b for each pair of classes, cᵢ = 0 for rows beyond their margin; pairs vote
    Objective   min over f of  ½ ‖f‖² + C Σᵢ sᵢ max(0, 1 − tᵢ f(xᵢ)),  tᵢ = ±1
    Algorithm   the dual by working sets of up to 1,024 variables, pairs of the largest second-order decrease inside; the gradient by sums
                of kernels that are never stored, in single precision where that is enough, and in double at the end. Values of C from
                small to large, each from the one before. With `probability` a sigmoid of decisions on rows that were left out
    Certificate the gap m − M of the conditions of a minimum (`kkt_gap_`) is at most `tol`
    Cost        O(v n p) time for a few times the number of support vectors v, O(n p) memory
    Fails when  columns have very different sizes (scale them first); C is very large and classes overlap: many steps
    Reference   Cortes & Vapnik 1995; Fan, Chen & Lin 2005; working sets: Wen et al. 2018

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> model = tenfold.SVC(C=100.0, gamma=1.0).fit(X, ["same", "same", "other", "other"])
    >>> model.predict([[0.9, 0.9], [0.1, 0.8]]).tolist(), model.n_support_.tolist()
    (['same', 'other'], [2, 2])
    >>> bool(model.kkt_gap_.max() <= model.tol)
    True
    """

    path: ClassVar[str | None] = "C"

    _: KW_ONLY
    C: float = param(default=1.0, above=0, at_most=float("inf"), doc="what rows within the margin cost", before="kernel")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        quadratic = {"tol": 1e-11, "kernel": "poly", "degree": 2, "gamma": 0.1, "coef0": 1.0, "C": 0.1, "probability": True}
        return [{"tol": 1e-11, "gamma": 0.1}, quadratic]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        return (yield from self._along(source, [float(self.C)]))[0]

    def _two(self, signs: Array, weights: Array, setting: float, before: Any) -> Problem:
        box = setting * weights
        problem = Problem.of(-signs, np.where(signs > 0, 0.0, -box), np.where(signs > 0, box, 0.0))
        if before is not None and np.isfinite(setting):
            one, C = before
            problem.start = np.clip(one.b * (setting / C), problem.low, problem.high)
        return problem

    def _outcome(self, problem: Problem, solution: Solution) -> Two:
        return Two(solution.b, level(solution, problem), solution)

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if name != "C" or not values:
            return super()._fit_path(source, name, values)
        template, order = fresh(self), np.argsort(np.asarray(values, dtype=np.float64), kind="stable")
        fits = template._driven(lambda one: template._along(one, [float(values[i]) for i in order]), source)
        models = {int(i): template._fitted_copy(fit, C=values[i]) for i, fit in zip(order, fits, strict=True)}
        return [models[i] for i in range(len(values))]
