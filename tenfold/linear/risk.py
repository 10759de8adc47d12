"""Regularised empirical risk by descent with a line search: any loss, any penalty, the same objective as by stochastic steps."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Keyed, Spread, Terms
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.one_against_others import OneAgainstOthers
from tenfold.linear.warm import WarmStart
from tenfold.solve.descent import Descended, Risk, conjugate_gradients, gradient_descent, lbfgs
from tenfold.solve.held_out import plane
from tenfold.solve.losses import CORNERS, loss_terms
from tenfold.solve.online import LOSSES, Problems

SOLVERS = {"gradient": gradient_descent, "conjugate": conjugate_gradients, "lbfgs": lbfgs}
NARROWER = 0.1  # how much narrower the band of a rounded corner becomes each time
NUMBER_LOSSES = LOSSES[5:]


class Frame(NamedTuple):
    """Columns of mean zero and deviation one and a target of deviation one, in which steps are taken; rows stay as they are."""

    shift: Array
    scale: Array  # larger where a penalty says more than the column
    unit: float

    def outer(self, theta: Array) -> tuple[Array, Array]:
        """Coefficients and constants of the columns and the target as they are."""
        coef = self.unit * theta[:, :-1] / self.scale
        return coef, self.unit * theta[:, -1] - coef @ self.shift

    def inner(self, coef: Array, intercept: Array) -> Array:
        return np.column_stack([coef * self.scale, intercept + coef @ self.shift]) / self.unit


@group
class Descending(WarmStart, Estimator):
    """Abstract: the optimum of a regularised risk, by passes over all rows."""

    certificate_: float = learned("float", "largest violation of the conditions of an optimum, in columns of deviation one")
    objective_: float = learned("float", "the value of the objective, its corners rounded; of several classes the sum over them")
    n_iter_: int = learned("int", "passes over the rows")

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    penalty: str | None = param(default="l2", one_of=("l2", "l1", "elasticnet", None), doc="which penalty of the coefficients")
    alpha: float = param(default=0.0001, at_least=0, doc="strength of the penalty")
    l1_ratio: float = param(default=0.15, at_least=0, at_most=1, doc="share of L1 in the penalty 'elasticnet'")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    epsilon: float = param(
        default=0.1, at_least=0, doc="where 'huber' becomes linear; errors up to this cost nothing in the insensitive losses"
    )
    solver: str = param(
        default="auto", one_of=("auto", *SOLVERS), doc="auto: 'gradient', the plain one, with an L1 penalty, else 'lbfgs'"
    )
    tol: float = param(default=1e-6, above=0, doc="bound on certificate_; corners of a loss are rounded over ten times as much")
    max_iter: int = param(default=10_000, at_least=1, doc="most passes over the rows")
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before; it ends at the same place")

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        l1, l2 = self._prices()
        solver = ("gradient" if l1 > 0 else "lbfgs") if self.solver == "auto" else self.solver
        if l1 > 0 and solver != "gradient":
            raise BadParameter(f"{type(self).__name__}(solver={solver!r}): takes no L1 penalty, use 'gradient' or 'auto'")
        spread, unit = yield from self._look_first()
        size = unit * self._slope_size(unit)
        frame = self._frame(spread, unit, l2 * unit**2 / size)
        problems: Problems = yield from self._problems()
        theta = np.zeros((len(problems.positive), source.n_features + 1))
        if self._before:
            theta = frame.inner(np.atleast_2d(ops.dense(self._before["coef_"])), self._before["intercept_"])
        prices = [np.append(price / size * (unit / frame.scale) ** power, 0.0) for price, power in ((l2, 2), (l1, 1))]
        used = 1
        for band in self._bands(unit):
            cost = Cost(*self._loss(), band, size, bool(self.fit_intercept))
            terms = partial(risk_terms, frame=frame, problems=problems, cost=cost)
            last = yield from SOLVERS[solver](Risk(terms, *prices), theta, tol=float(self.tol), max_iter=max(self.max_iter - used, 1))
            theta, used = last.theta, used + last.n_pass
        self._warn(last)
        coef, intercept = frame.outer(theta)
        found = self._shaped(coef, intercept if self.fit_intercept else np.zeros_like(intercept))
        return dict(found, certificate_=last.certificate, objective_=size * last.value, n_iter_=used)

    def _look_first(self) -> Learner[tuple[Spread, float]]:
        """The spread of the columns, and the deviation of the target: 1 of classes, and of a constant."""
        found = yield _spreads
        if self.role == "classifier":
            return found["x"], 1.0
        unit = float(np.sqrt(found["y"].scatter[0, 0] / found["y"].weight[0]))
        return found["x"], unit if unit > 0 else 1.0

    def _slope_size(self, unit: float) -> float:
        """How large slopes of the loss are: what the certificate is measured by."""
        loss, epsilon = self._loss()
        if self.role == "classifier" or loss in CORNERS:
            return 1.0
        return min(unit, epsilon or unit) if loss == "huber" else unit

    def _frame(self, spread: Spread, unit: float, price: float) -> Frame:
        mean = spread.mean[0] if self.fit_intercept else np.zeros_like(spread.mean[0])
        size = np.sqrt(spread.scatter[0] / spread.weight[0] + (0.0 if self.fit_intercept else spread.mean[0] ** 2))
        varies = size > 1e-12 * np.abs(spread.mean[0])
        return Frame(mean, np.hypot(np.where(varies, size, 1.0), np.sqrt(price)), unit)

    def _bands(self, unit: float) -> list[float]:
        """Over which corners are rounded: narrower and narrower, so that each solution is near the next."""
        if self._loss()[0] not in CORNERS:
            return [0.0]
        count = max(int(np.ceil(np.log(10 * self.tol) / np.log(NARROWER))), 0)
        return [unit * NARROWER**k for k in range(count)] + [10 * unit * float(self.tol)]

    def _prices(self) -> tuple[float, float]:
        share = {"l1": 1.0, "l2": 0.0}.get(str(self.penalty), float(self.l1_ratio))
        alpha = float(self.alpha) if self.penalty is not None else 0.0
        return share * alpha, (1 - share) * alpha

    def _warn(self, last: Descended) -> None:
        if not last.converged:
            warn(
                f"{type(self).__name__}: the largest violation of an optimum is {last.certificate:.2g} after {last.n_pass} passes, above "
                f"tol={self.tol:g}: raise max_iter or tol, or give a larger alpha",
                NotConverged,
                stacklevel=2,
            )

    def _shaped(self, coef: Array, intercept: Array) -> dict[str, Any]:
        """`coef_` and `intercept_`."""
        return dict(coef_=coef, intercept_=intercept)

    def _problems(self) -> Learner[Problems]:
        yield from ()  # nothing to look at
        return Problems.of_numbers()

    def _loss(self) -> tuple[str, float]:
        return self.loss, float(self.epsilon)


@estimator
class RiskClassifier(OneAgainstOthers, Descending):
    """RiskClassifier: linear classes of least regularised risk, with any loss and any penalty, by descent with a line search.

    Model       class of x = argmaxₖ wₖ·x + bₖ, each class against the others; of two classes by the sign of w·x + b
    Objective   min over w, b of  Σᵢ sᵢ loss(yᵢ (xᵢ·w + b)) / Σᵢ sᵢ + alpha R(w): losses and penalties of SGDClassifier
    Algorithm   gradient descent with a line search (thresholded for L1), conjugate gradients or L-BFGS, in columns of deviation one;
                corners of hinge and perceptron are rounded, over a narrower and narrower band
    Cost        O(n p K) time a pass, tens to thousands of passes; O(p K) memory
    Fails when  the classes are separated and alpha is 0: the optimum lies at infinity. The least risk of the perceptron's loss is 0,
                at w = 0: only stochastic steps make use of it
    Reference   Vapnik 1992; Nocedal & Wright 2006; Beck & Teboulle 2009

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tenfold.RiskClassifier("hinge", alpha=0.01).fit(X, [0, 0, 1, 1]).coef_.round(2)
    array([[2.]])
    """

    loss: str = param(default="log_loss", one_of=LOSSES, before="penalty", doc="what a prediction costs")
    _: KW_ONLY
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12, "alpha": 0.1}]


@estimator
class RiskRegressor(AffineRegressor, Descending):
    """RiskRegressor: the plane of least regularised risk, with any loss and any penalty, by descent with a line search.

    Model       y ≈ X w + b
    Objective   min over w, b of  Σᵢ sᵢ loss(xᵢ·w + b − yᵢ) / Σᵢ sᵢ + alpha R(w): losses and penalties of SGDRegressor
    Algorithm   gradient descent with a line search (thresholded for L1), conjugate gradients or L-BFGS, in columns of deviation one;
                corners of losses are rounded, over a narrower and narrower band
    Cost        O(n p) time a pass, tens to thousands of passes; O(p) memory
    Fails when  columns are dependent and alpha is 0: one of many solutions
    Reference   Vapnik 1992; Nocedal & Wright 2006; Beck & Teboulle 2009

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(5.0)[:, None]
    >>> tenfold.RiskRegressor("absolute_error", alpha=0.0).fit(X, [1.0, 3.0, 5.0, 7.0, 90.0]).coef_.round(3)
    array([2.])
    """

    coef_: Array = learned("float(p)", "coefficients", like_x=True)
    intercept_: float = learned("float", "constant, 0 with fit_intercept=False", like_x=True)

    loss: str = param(default="squared_error", one_of=NUMBER_LOSSES, before="penalty", doc="what an error costs")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12, "alpha": 0.1}]

    def _shaped(self, coef: Array, intercept: Array) -> dict[str, Any]:
        return dict(coef_=coef[0], intercept_=float(intercept[0]))


def _spreads(block: Block) -> Keyed:
    found = Keyed(x=Spread.of(block.X, block.w))
    return found if block.y.ndim == 1 else Keyed(found, y=Spread.of(np.ascontiguousarray(block.y[:, :1]), block.w))


class Cost(NamedTuple):
    """What a row costs, over the size of that."""

    loss: str
    epsilon: float
    band: float
    size: float
    fit_intercept: bool


def risk_terms(block: Block, theta: Array, frame: Frame, problems: Problems, cost: Cost) -> Terms:
    """Σ w loss and its gradient in θ = [W b] of the frame, over all problems."""
    X, w = block.X, block.w / cost.size
    p = plane(X, *frame.outer(theta))
    if problems.positive[0] < 0:
        y, weight = block.y[:, :1], w[:, None]
    else:
        own = block.y[:, None] == problems.positive
        y, weight = np.where(own, 1.0, -1.0), w[:, None] * np.where(own, problems.factors[:, 1], problems.factors[:, 0])
    value, slope = loss_terms(cost.loss, y, p, cost.epsilon, cost.band)
    S = weight * slope
    total = S.sum(axis=0)
    gradient = (np.asarray(X.T @ S).T - np.outer(total, frame.shift)) / frame.scale
    last = total if cost.fit_intercept else np.zeros_like(total)
    return Terms(float((weight * value).sum()), frame.unit * np.column_stack([gradient, last]), float(block.w.sum()))
