"""Support vector machines with a plane for classes."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, lockstep, through
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts
from tenfold.linear.class_scores import LinearScores
from tenfold.linear.margin_l1 import l1_plane
from tenfold.linear.margin_rows import CURVED, Setting, in_memory, is_stored, on_rows, products_plane, rows_plane
from tenfold.linear.margins import Cost, Plane, plane
from tenfold.solve.class_weights import class_factors
from tenfold.solve.row_space import in_row_space, is_wide


@estimator
class LinearSVC(LinearScores, Estimator):
    """LinearSVC: the plane between two classes with the widest margin, as far as C pays for it; of more classes one for each.

    Model       the class of the largest wₖ·x + bₖ; of two classes the second one where w·x + b > 0
    Objective   for each class k, tₖ = 1 for its rows and −1 for all others: min over w, b of
                ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ sᵢ max(0, 1 − tₖᵢ (w·xᵢ + b))², or its first power (loss="hinge");
                with penalty="l1" ‖w‖₁ + |b| / intercept_scaling instead of the squares. As in LIBLINEAR the intercept is penalised too
    Algorithm   by shape, told in `solver_`. Up to 1,024 columns "newton": steps with the curvature of the rows within the margin, one
                reading serves all classes; "hinge" then goes on with the rows near the margin alone, exactly. More columns: "newton-cg",
                products only (sparse rows are kept); "hinge": "dual descent", a row at a time, rows kept. L1: "proximal newton" on
                the columns that matter. Few rows, and up to 1,024 of them that would take too many steps: in the space that they span
    Cost        K fits of O(n p²) a pass, about a dozen passes, O(p²) memory; by products O(stored values) a pass, some fifty passes
    Fails when  columns of very different sizes: the penalty is not the same for all (scale them first)
    Reference   Cortes & Vapnik 1995; Keerthi & DeCoste 2005; Hsieh et al. 2008; L1: Lee, Sun & Saunders 2014

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0]])
    >>> model = tenfold.LinearSVC(C=100.0, loss="hinge", tol=1e-9).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[2.6, 2.1]]).tolist(), model.decision_function([[1.0, 1.0], [3.0, 3.0]]).round(3).tolist()
    (['yes'], [-1.0, 1.0])
    """

    intercept_: Any = learned("float(M)|float", "constants; 0 with fit_intercept=False", like_x=True)
    dual_gap_: Array = learned("float(M)", "bounds on how far each objective is above its minimum, relative to it")
    n_iter_: int = learned("int", "passes over the rows of the class that took most")
    solver_: str = learned("str", "the algorithm that was used")

    has_probabilities: ClassVar[bool] = False

    penalty: str = param(default="l2", one_of=("l1", "l2"), doc="squares of coefficients, or their sizes, which sets some to zero")
    loss: str = param(default="squared_hinge", one_of=("hinge", "squared_hinge"), doc="what rows within the margin cost, or its square")
    _: KW_ONLY
    dual: bool | str = param(default="auto", one_of=("auto", True, False), doc="no effect: both problems have the same optimum")
    tol: float = param(default=1e-4, at_least=0, doc="bound on the duality gap over the objective")
    C: float = param(default=1.0, above=0, doc="what rows within the margin cost")
    multi_class: str = param(default="ovr", one_of=("ovr", "crammer_singer"), doc="'ovr': each class against the rest")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    intercept_scaling: float = param(default=1.0, above=0, doc="the larger, the less is the intercept penalised")
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="factor of C for rows of each class; 'balanced': Σ s / (K Σ s of the class)"
    )
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")
    max_iter: int = param(default=1000, at_least=1, doc="most steps of a solver")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12}, {"tol": 1e-12, "loss": "hinge", "C": 0.1}, {"tol": 1e-12, "penalty": "l1", "C": 0.3}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._refuse()
        K, factors = len(self.classes_), None
        if self.class_weight is not None:
            counts = yield partial(_weights, k=K)
            factors = class_factors(self, counts.weight)
        if self.penalty == "l2" and is_wide(source) and not (source.n_features > CURVED and is_stored(source)):
            space, fitted = yield from in_row_space(self, source, centre=False, n_classes=K, factors=factors)
            return fitted | dict(coef_=fitted["coef_"] @ space.V.T)
        return (yield from self._passes(source, K, factors))

    def _refuse(self) -> None:
        if self.penalty == "l1" and self.loss == "hinge":
            raise BadParameter(
                f"LinearSVC: Unsupported set of arguments: penalty='l1', loss='hinge', dual={self.dual}: an L1 penalty goes with "
                "loss='squared_hinge'"
            )
        if self.multi_class == "crammer_singer":
            raise BadParameter(
                "LinearSVC(multi_class='crammer_singer'): all classes in one problem are not solved here: use 'ovr', each class against "
                "the rest, or LogisticRegression, whose classes share one problem"
            )

    def _passes(self, source: Source, n_classes: int, factors: Array | None) -> Learner[dict[str, Any]]:
        """All classes side by side."""
        p, squared = source.n_features, self.loss == "squared_hinge"
        cost = Cost(0.0, min(max(float(self.C), 1e-100), 1e100), squared, sided=True)
        scaling = float(self.intercept_scaling) if self.fit_intercept else 0.0
        setting = Setting(cost, scaling, float(self.tol), self.max_iter)
        changes = {k: partial(_against, k=k, factors=factors) for k in ([1] if n_classes == 2 else range(n_classes))}
        name, solver = self._solver(source, setting)
        rows = (yield from in_memory(source, squared)) if p > CURVED else None
        if rows is None:
            found = yield from lockstep({k: through(change, solver()) for k, change in changes.items()})
        else:
            X, y, w = rows
            found = {}
            for k, change in changes.items():
                block = change(Block(X, y, w))
                l1 = self.penalty == "l1"
                found[k] = on_rows(solver(), block) if l1 else rows_plane(X, block.y[:, 0], block.w, setting)
        return self._attributes(list(found.values()), name)

    def _solver(self, source: Source, setting: Setting) -> tuple[str, Any]:
        """By shape and loss: its name, and the learner of the plane of one class."""
        p = source.n_features
        if self.penalty == "l1":
            return "proximal newton", partial(l1_plane, p, setting)
        if p > CURVED:
            return "newton-cg" if setting.cost.squared else "dual descent", partial(products_plane, p, setting)
        common: dict[str, Any] = dict(fit_intercept=self.fit_intercept, tol=setting.tol, max_iter=self.max_iter)
        return "newton", partial(plane, source, setting.cost, intercept_scaling=float(self.intercept_scaling), **common)

    def _attributes(self, planes: list[Plane], name: str) -> dict[str, Any]:
        worst = max(planes, key=lambda one: one.gap)
        if not all(one.closed for one in planes):
            warn(
                f"LinearSVC: the duality gap is {worst.gap:.2g} of the "
                f"objective after {worst.n_pass} passes, above tol={self.tol:g}: scale the columns, lower C, or raise max_iter",
                NotConverged,
                stacklevel=2,
            )
        intercept = np.array([one.intercept for one in planes])
        return dict(
            coef_=np.array([one.coef for one in planes]),
            intercept_=intercept if self.fit_intercept else 0.0,
            dual_gap_=np.array([one.gap for one in planes]),
            n_iter_=max(one.n_pass for one in planes),
            solver_=name,
        )


def _weights(block: Block, k: int) -> Counts:
    return Counts.of(block.y, block.w, k)


def _against(block: Block, k: int, factors: Array | None) -> Block:
    """The rows with target 1 for class k and −1 for all others. As in scikit-learn the factor of a class is that of its rows in its own
    problem; the rest of three classes and more has none."""
    mine = block.y == k
    w = block.w
    if factors is not None:
        w = w * (factors[block.y] if len(factors) == 2 else np.where(mine, factors[k], 1.0))
    return Block(None if block.unread else block.X, np.where(mine, 1.0, -1.0)[:, None], w, block.key, block.unread)
