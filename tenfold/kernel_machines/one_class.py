"""Support vector machines for one class: where most rows are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.estimator import Detector
from tenfold.core.data import Array, Source
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.kernel_machines.nu import filled
from tenfold.kernel_machines.smo import Problem, level
from tenfold.kernel_machines.svr import carried, one_function
from tenfold.kernel_machines.vectors import VectorMachine


@estimator
class OneClassSVM(Detector, VectorMachine):
    """OneClassSVM: the region of a kernel's space that holds all but a share nu of the rows.

    Model       inside where f(x) = Σᵢ cᵢ k(x, xᵢ) is at least offset_
    Objective   min over f, r of  ½ ‖f‖² − nu n r + Σᵢ sᵢ max(0, r − f(xᵢ)),  n = Σ s
    Algorithm   the dual, Σ c = nu n and 0 ≤ cᵢ ≤ sᵢ, by working sets, as SVC
    Certificate the gap m − M of the conditions of a minimum (`kkt_gap_`) is at most `tol`
    Cost        O(v n p) time for a few times the number of support vectors v ≥ nu n, O(n p) memory
    Fails when  columns have very different sizes (scale them first)
    Reference   Schölkopf, Platt, Shawe-Taylor, Smola & Williamson 2001

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = tenfold.OneClassSVM(nu=0.1).fit(rows)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    [1, -1]
    >>> bool(0.05 < (model.predict(rows) == -1).mean() < 0.15)
    True
    """

    n_iter_: int = learned("int", "steps of two variables")
    offset_: float = learned("float", "f where outliers begin: −b")

    _: KW_ONLY
    nu: float = param(default=0.5, above=0, at_most=1, doc="share of rows outside, at most, and of support vectors, at least")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-11, "gamma": 0.1, "nu": 0.3}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"gamma": 0.1, "nu": 0.3, "max_iter": 100_000}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep(sparse=True)
        rows = np.flatnonzero(w > 0)
        some = X if len(rows) == len(w) else X[rows][:, rows] if self.accepts == "pairs" else X[rows]
        kernels, gamma = self._kernels(some, w[rows])
        zero, most = np.zeros(len(rows)), np.asarray(w[rows], dtype=np.float64)
        problem = Problem.of(zero, zero, most)
        problem.start = filled(most, float(self.nu) * float(most.sum()))
        solution = self._solved(problem, kernels)
        self._warn([solution])
        constant = level(solution, problem)
        fitted = carried(self, X, rows, solution.b, solution)
        return fitted | dict(intercept_=np.array([constant]), offset_=-constant, _gamma=gamma, _n_fit=X.shape[0])

    def _normality(self, X: Any) -> Array:
        return np.asarray(self._sums(X)[:, 0] - self.intercept_[0])

    def _objection(self) -> str | None:
        return super()._objection() or one_function(self)
