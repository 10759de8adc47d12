"""Support vector machines by the share of support vectors, ν, in place of a cost or the width of a tube."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, Degenerate, warn
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.kernel_machines.pair_machine import PairMachine, Two
from tenfold.kernel_machines.smo import Problem, Solution, level
from tenfold.kernel_machines.svr import TubeMachine, tube


@estimator
class NuSVC(PairMachine):
    """NuSVC: SVC with a share nu of support vectors, at least, and of rows within the margin, at most, in place of a cost.

    Model       f(x) = Σᵢ cᵢ k(x, xᵢ) + b for each pair of classes, in units of the margin; pairs vote
    Objective   min over f, r of  ½ ‖f‖² − nu r + (1/n) Σᵢ sᵢ max(0, r − tᵢ f(xᵢ)),  tᵢ = ±1, n = Σ s; then f / r
    Algorithm   as SVC; pairs of variables are of one class, as the sum over each class is fixed
    Certificate the gap m − M of each class before the division by r (`kkt_gap_`) is at most `tol`
    Cost        O(v n p) time for a few times the number of support vectors v, O(n p) memory
    Fails when  nu is above twice the share of the smaller of two classes (refused); columns have very different sizes
    Reference   Schölkopf, Smola, Williamson & Bartlett 2000; Chang & Lin 2001

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    >>> model = tenfold.NuSVC(nu=0.2, kernel="linear").fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[1.5], [4.0]]), model.support_
    (array([0, 1]), array([2, 3]))
    >>> model.decision_function([[2.0], [5.0]]).round(3)
    array([-1.,  1.])
    """

    _: KW_ONLY
    nu: float = param(
        default=0.5, above=0, at_most=1, doc="bound on the share of rows within the margin and of support vectors", before="kernel"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-11, "gamma": 0.1, "nu": 0.4}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"nu": 0.3, "gamma": 10.0, "max_iter": 100_000}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        return (yield from self._along(source, [float(self.nu)]))[0]

    def _check_classes(self, y: Array, w: Array, K: int) -> None:
        super()._check_classes(y, w, K)
        mass = np.sort(np.bincount(y, w, K))
        most = 2 * mass[0] / (mass[0] + mass[-1])
        if self.class_weight is None and self.nu > most * (1 + 1e-12):
            raise BadInput(
                f"NuSVC(nu={self.nu:g}): specified nu is infeasible: the smallest class has {mass[0]:g} rows and the largest {mass[-1]:g}, "
                f"so that at most {most:.4g} goes: lower nu"
            )

    def _two(self, signs: Array, weights: Array, setting: float, before: Any) -> Problem:
        first = signs > 0
        total = setting * float(weights.sum()) / 2
        least = min(float(weights[first].sum()), float(weights[~first].sum()))
        if total > least * (1 + 1e-9):
            raise BadInput(
                f"NuSVC(nu={setting:g}): specified nu is infeasible: of two classes the smaller has {least:g} of {weights.sum():g}, with "
                f"weights, so that at most {2 * least / weights.sum():.4g} goes: lower nu"
            )
        low, high, group = np.where(first, 0.0, -weights), np.where(first, weights, 0.0), (~first).astype(np.int64)
        problem = Problem.of(np.zeros(len(signs)), low, high, group=group)
        problem.start = np.where(first, filled(weights * first, total), -filled(weights * ~first, total))
        return problem

    def _outcome(self, problem: Problem, solution: Solution) -> Two:
        above, below = -level(solution, problem, 0), -level(solution, problem, 1)
        r = (above - below) / 2
        if not r > 1e-12 * max(abs(above), abs(below), 1e-300):
            early = "" if solution.converged else f" after max_iter={self.max_iter} steps, which are not enough"
            raise BadInput(f"NuSVC: the classes overlap so much that the margin is 0{early}: raise nu or gamma, or use SVC")
        if r < solution.gap:
            warn(
                f"NuSVC: the margin is {r:.2g}, less than the gap of {solution.gap:.2g} that is left: nu={self.nu:g} is too small for "
                "classes that overlap so much, or tol too large",
                Degenerate,
                stacklevel=2,
            )
        return Two(solution.b / r, -(above + below) / (2 * r), solution)


@estimator
class NuSVR(TubeMachine):
    """NuSVR: SVR that finds the width of its tube: a share nu of rows is outside of it, or on its border.

    Model       f(x) = Σᵢ cᵢ k(x, xᵢ) + b, with cᵢ = 0 for all rows inside the tube
    Objective   min over f, epsilon of  ½ ‖f‖² + C (nu n epsilon + Σᵢ sᵢ max(0, |yᵢ − f(xᵢ)| − epsilon)),  n = Σ s
    Algorithm   as SVR; pairs of variables are of one side of the tube, as the sum over each side is fixed
    Certificate the gap m − M of each side (`kkt_gap_`) is at most `tol`
    Cost        O(v n p) time for a few times the number of support vectors v, O(n p) memory
    Fails when  columns have very different sizes (scale them first); C is very large: many steps
    Reference   Schölkopf, Smola, Williamson & Bartlett 2000; Chang & Lin 2002

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 6, 61)[:, None]
    >>> model = tenfold.NuSVR(C=100.0, nu=0.9).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.0], [4.0]]).round(2)
    array([ 0.84, -0.76])
    >>> bool(model.kkt_gap_ <= model.tol)
    True
    """

    _: KW_ONLY
    nu: float = param(default=0.5, above=0, at_most=1, doc="share of rows outside the tube or on its border", before="kernel")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-11, "gamma": 0.1, "nu": 0.4, "C": 10.0}]

    def _problem(self, y: Array, w: Array, C: float) -> Problem:
        box = min(C, 1e100) * w
        problem, n = tube(y, box, 0.0), len(y)
        problem.group = np.repeat([0, 1], n)
        start = filled(box, float(self.nu) * float(box.sum()) / 2)
        problem.start = np.concatenate([start, -start])
        return problem

    def _constant(self, solution: Solution, problem: Problem) -> float:
        return (level(solution, problem, 0) + level(solution, problem, 1)) / 2


def filled(most: Array, total: float) -> Array:
    """`total` over the first variables, each with as much as it takes."""
    before = np.concatenate([[0.0], np.cumsum(most)[:-1]])
    return np.clip(total - before, 0.0, most)
