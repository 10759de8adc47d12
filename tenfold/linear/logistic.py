"""Logistic regression of two and of many classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import Threads
from tenfold.core.errors import Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, drive
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts, Spread, Stats
from tenfold.linear.class_scores import LinearScores
from tenfold.linear.far import far_shift, glance, shifted
from tenfold.linear.logistic_products import by_products, products_solution
from tenfold.linear.logistic_terms import Setting, many_classes, on_columns, two_classes
from tenfold.linear.separation import explain
from tenfold.linear.warm import WarmStart
from tenfold.solve.class_weights import class_factors
from tenfold.solve.newton import FINE, Loss, Metric, Solution, minimise
from tenfold.solve.proximal import Penalised, minimise_l1
from tenfold.solve.sample import SAMPLE_SHARE, Some, is_large

if TYPE_CHECKING:
    from tenfold.linear.logistic_inference import LogisticInference

# A sample whose loss is below so much for each parameter is separated, or nearly so: its solution is far out, and
# hardly bent there. It would take hundreds of passes to come back.
OVERFIT = 2.0
LARGEST = 1 << 20  # values of a curvature
SMALL = 64  # parameters up to which Newton's method is as cheap as any
SEPARATED = 1e-7  # mean loss below which every row is taken to be classified right
METHODS = {  # by the curvature that steps go on with
    "full": "lbfgs in the metric of the curvature",
    "blocks": "lbfgs in the metric of the curvature of each class",
    "diagonal": "lbfgs in the metric of the diagonal of the curvature",
}


@dataclass(slots=True)
class Survey(Stats):
    """What is looked at first: the weight of the classes and the size of the columns."""

    counts: Counts
    spread: Spread | None


@estimator
class LogisticRegression(WarmStart, LinearScores, Estimator):
    """LogisticRegression: class probabilities from linear scores, with an L2 penalty, an L1 penalty or both.

    Model       P(class k | x) ∝ exp(wₖ·x + bₖ);  for two classes P(second | x) = 1 / (1 + exp(−w·x − b))
    Objective   min over w, b of  C Σᵢ sᵢ log(1 / P(yᵢ | xᵢ)) + ½ (1 − ρ) ‖w‖² + ρ ‖w‖₁,  ρ = l1_ratio
                (b free; s: row times class weight)
    Algorithm   L-BFGS in the metric of the curvature of each class, which is renewed when that pays (with few
                parameters: Newton); a large table starts at the solution for one block in eight. Sparse rows in memory of more
                columns than a curvature is worth: "newton-cg", Newton steps by conjugate gradients, products with the rows only.
                With ρ > 0: Newton steps on the columns that matter, each an elastic net. `solver_` records the choice.
                With C=inf one more pass for standard errors and odds ratios: `inference()`, `summary()`
    Cost        O(n p K) time a pass, O(n p² K) for a curvature; O(p² K) memory, O(p K) above a million values;
                of sparse rows by products O(stored values K) a product, some forty of them;
                with ρ > 0 p is there the number of columns chosen, and O(p² K²)
    Fails when  the classes can be separated and C is infinite: the optimum lies at infinity (stops on the way
                there and warns Degenerate); columns are dependent and C is infinite (one of many solutions)
    Reference   Cox 1958; Nocedal & Wright 2006, algorithms 3.1, 7.1 and 7.4; with ρ > 0: Lee, Sun & Saunders 2014

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = tenfold.LogisticRegression().fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[2.5]])
    array(['yes'], dtype='<U3')
    """

    n_iter_: Array = learned("int(*)", "steps, each a pass over the rows")
    solver_: str = learned("str", "the method that was used", optional=True)
    covariance_: Array = learned(
        "float(*,*)", "with C=inf: of the coefficients of each class less those of the first, each intercept first", optional=True
    )
    log_likelihood_: float = learned("float", "with C=inf: Σ s log P(y | x)", optional=True)
    null_log_likelihood_: float = learned("float", "with C=inf: the same of the intercepts alone", optional=True)
    n_rows_: float = learned("float", "with C=inf: Σ s", optional=True)

    penalty: str | None = param(
        default="deprecated",
        one_of=("deprecated", "l1", "l2", "elasticnet", None),
        doc="'l1' or 'l2' for l1_ratio=1 or 0, None for C=inf; as in scikit-learn, set l1_ratio and C instead",
    )
    _: KW_ONLY
    C: float = param(default=1.0, at_least=1e-100, at_most=np.inf, doc="inverse of the penalty strength; inf for none")
    l1_ratio: float | None = param(
        default=0.0, at_least=0, at_most=1, doc="share of the L1 penalty, which sets coefficients to zero; None is 0"
    )
    dual: bool = param(default=False, doc="no effect: both problems have the same optimum")
    tol: float = param(default=1e-4, above=0, doc="bound on max |gradient| / Σ s")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    intercept_scaling: float = param(default=1, doc="no effect: the intercept is never penalised")
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)"
    )
    random_state: int | RandomState | None = param(default=None, doc="no effect: nothing is drawn")
    solver: str = param(default="lbfgs", doc="no effect: the method is chosen by the shape of the table")
    max_iter: int = param(default=100, at_least=0, doc="most steps, each a pass over all rows, or several products with them")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before; it ends at the same place")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12}, {"C": 0.1, "tol": 1e-12, "fit_intercept": False}, {"C": 0.5, "l1_ratio": 0.5}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {}

    def _solution(self) -> Array:
        """Coefficients and intercepts, (1 or K, p + 1)."""
        return _theta(self._coefficients(), self.intercept_)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        before = self._before
        return self._learn_from(source, _theta(before["coef_"], before["intercept_"]) if before else None)

    def _learn_from(self, source: Source, start: Array | None) -> Learner[dict[str, Any]]:
        K, q = len(self.classes_), source.n_features + 1
        rows = 1 if K == 2 else K
        survey = yield survey_of(K)
        setting = setting_of(self, survey)
        shift = setting.shift
        if start is not None and not self.fit_intercept:
            start[:, -1] = 0.0
        theta = np.zeros((rows, q)) if start is None else shifted(start, shift, 1)
        problem = problem_of(setting, rows, q, self._C(), self._ratio())
        products = isinstance(problem, Loss) and problem.l2.any() and shift is None and by_products(source, q)
        if isinstance(problem, Loss) and products:
            found = yield from products_solution(problem, setting, theta, self.tol, self.max_iter)
        else:
            metric = None
            if isinstance(problem, Loss) and start is None and is_large(source, rows * q):
                theta, metric = self._start(problem, Some(source), survey.counts.weight)
            found = yield from minimised(problem, theta, self.tol, self.max_iter, metric)
        more = (yield from self._likelihood(problem, found, survey, setting)) if isinstance(problem, Loss) else {}
        yield from self._warn(found, setting)
        theta = shifted(found.theta, shift, -1)
        return dict(
            coef_=np.ascontiguousarray(theta[:, :-1]),
            intercept_=np.ascontiguousarray(theta[:, -1]),
            n_iter_=np.array([min(found.n_pass, self.max_iter)], dtype=np.int32),
            solver_="newton-cg" if products else method_of(problem),
            **more,
        )

    def _likelihood(self, loss: Loss, found: Solution, survey: Survey, setting: Setting) -> Learner[dict[str, Any]]:
        """Without a penalty: the likelihood, and the covariance of the coefficients, from the curvature at the optimum (one more pass)."""
        if np.isfinite(self._C()) or setting.class_weight is not None:
            return {}
        why, covariance, counts = "", None, survey.counts.weight
        m, q = max(len(found.theta) - 1, 1), found.theta.shape[1]
        if not found.settled or found.singular or found.loss <= SEPARATED * found.weight:
            why = "the optimum is not unique, lies at infinity or was not reached"
        elif (m * q) ** 2 > LARGEST:
            why = f"{m * q:,} parameters are too many for their covariance to be kept"
        else:
            from tenfold.linear.wald import covariance_of  # imports the special functions, which other fits do not need

            terms = yield partial(loss.terms, theta=found.theta, curvature="blocks" if m == 1 and len(found.theta) == 1 else "full")
            curvature = terms.curvature[:, :, None] if terms.curvature.ndim == 3 else terms.curvature[1:, :, 1:]
            covariance = covariance_of(curvature.reshape(m, q, m, q), setting.shift, self.fit_intercept)
            why = "" if covariance is not None else "the curvature at the optimum is singular"
        present = counts[counts > 0]
        null = float(present @ np.log(present / present.sum())) if self.fit_intercept else -float(counts.sum() * np.log(len(counts)))
        known = dict(log_likelihood_=-float(found.loss), null_log_likelihood_=null, n_rows_=float(counts.sum()))
        if covariance is None:
            return dict(known, absent_={"covariance_": f"LogisticRegression: there are no standard errors: {why}"})
        return dict(known, covariance_=covariance)

    def _start(self, loss: Loss, sample: Some, weight: Array) -> tuple[Array, Metric | None]:
        """The solution for the sample to within a tenth of its sampling error, and the curvature there."""
        nowhere, on = np.zeros_like(loss.l2), Threads()
        shares = on.run(survey_of(len(weight)), sample).counts.weight / weight
        if shares.max() > 3 * shares.min():  # rows sorted by class
            return nowhere, None
        share = float(np.average(shares, weights=weight))
        rows = sample.inner.n_rows
        assert rows is not None  # the table is in memory
        settled = 0.01 * nowhere.size * SAMPLE_SHARE / rows
        part = loss._replace(l2=loss.l2 * share)
        rough = minimise(part, nowhere, tol=np.inf, max_iter=self.max_iter, fine=settled, floor=floor_of(part))
        found = drive(_named(rough), sample, on, "LogisticRegression on a sample")["found"]
        if found.loss < OVERFIT * nowhere.size:
            return nowhere, None
        terms = on.run(partial(loss.terms, theta=found.theta, curvature=loss.first), sample)
        return found.theta, Metric(terms.curvature / share, loss.l2)

    def _ratio(self) -> float:
        """The share of the L1 penalty."""
        return {"l1": 1.0, "l2": 0.0}.get(str(self.penalty), float(self.l1_ratio or 0.0))

    def _C(self) -> float:
        if self.penalty is None:
            return np.inf
        return max(float(min(self.C, 10**300) if isinstance(self.C, int) else self.C), 1e-300)

    def _warn(self, found: Solution, setting: Setting) -> Learner[None]:
        """Warn where the result is not what was asked for; why an optimum lies at infinity takes one more pass."""
        free = np.isinf(self._C())
        if found.loss <= SEPARATED * found.weight:
            effect = (
                "the optimum lies at infinity: returned coefficients on the way there, lower C for others"
                if free
                else f"only the penalty (C={self.C:g}) keeps the coefficients finite: lower C for probabilities that are less extreme"
            )
            warn(
                f"LogisticRegression: the classes are separated perfectly, and {effect}",
                Degenerate,
                stacklevel=2,
            )
        elif not found.converged:
            warn(
                f"LogisticRegression: {'lbfgs' if self._ratio() == 0 else 'the solver'} failed to converge: The max_iter was "
                "reached which means the coef_ did not converge. "
                f"max |gradient| / Σ s is {found.certificate:.2g} after {min(found.n_pass, self.max_iter)} steps, above "
                f"tol={self.tol:g}. Increase the number of iterations (max_iter) or scale the columns",
                NotConverged,
                stacklevel=2,
            )
        elif free and (found.singular or not found.settled):
            why = yield from explain(found.theta, setting, self.classes_, vars(self).get("feature_names_in_"))
            warn(f"LogisticRegression(C=inf): {why}", Degenerate, stacklevel=2)

    def inference(self) -> LogisticInference:
        """With C=inf: standard errors, z, p, intervals, odds ratios, likelihood-ratio test, AIC, BIC; also after a stream."""
        from tenfold.linear.logistic_inference import infer  # imports the special functions, which a fit does not need

        check.check_fitted(self)
        return infer(self)

    def summary(self, level: float = 0.95) -> str:
        """`inference()` as a table to read, with confidence intervals of the given level."""
        return self.inference().table(level)


def _theta(coef: Array, intercept: Array) -> Array:
    return np.column_stack([ops.dense(coef), intercept]).astype(np.float64)


def survey_of(k: int) -> Callable[[Block], Survey]:
    """`Survey` of a block with k classes."""
    return partial(_survey, k=k)


def _survey(block: Block, k: int) -> Survey:
    return Survey(Counts.of(block.y, block.w, k), glance(block))


def setting_of(model: Estimator, survey: Survey) -> Setting:
    """How rows like these enter the loss, as the parameters of a model say."""
    factors = class_factors(model, survey.counts.weight, zero=True)
    return Setting(factors, far_shift(survey.spread, model.fit_intercept), model.fit_intercept)


def curvatures_of(rows: int, q: int) -> tuple[str, str, float]:
    """Which curvature to begin with, which to go on with, and how many passes the latter costs, roughly."""
    if rows == 1:
        return ("blocks", "blocks", q / 16) if q * q <= LARGEST else ("diagonal", "diagonal", 20.0)
    if rows * q <= SMALL:
        return "full", "full", 1.0
    if rows * rows * q * q <= LARGEST:
        return "blocks", "full", q * rows / 16
    return ("blocks", "blocks", q / 8) if rows * q * q <= LARGEST else ("diagonal", "diagonal", 20.0)


def problem_of(setting: Setting, rows: int, q: int, C: float, ratio: float) -> Loss | Penalised:
    """What is minimised over θ (rows, q)."""
    if ratio > 0 and np.isfinite(C):
        return Penalised(partial(on_columns, setting=setting), ratio / C, (1 - ratio) / C)
    l2 = np.full((rows, q), 1 / C)
    l2[:, -1] = 0.0
    return Loss(partial(two_classes if rows == 1 else many_classes, setting=setting), l2, *curvatures_of(rows, q))


def minimised(
    problem: Loss | Penalised, theta: Array, tol: float, max_iter: int, metric: Metric | None = None, fine: float = FINE
) -> Learner[Solution]:
    """From θ to the minimum."""
    if isinstance(problem, Penalised):
        return minimise_l1(problem, theta, tol=tol, max_iter=max_iter)
    return minimise(problem, theta, tol=tol, max_iter=max_iter, metric=metric, fine=fine, floor=floor_of(problem))


def floor_of(loss: Loss) -> float:
    """Without a penalty the loss of separable classes has no minimum: stop when it is as good as zero."""
    return 0.0 if loss.l2.any() else SEPARATED


def method_of(problem: Loss | Penalised) -> str:
    """What a problem is solved by, in words."""
    if isinstance(problem, Penalised):
        return "newton on the columns that matter"
    return "newton" if problem.cost <= 1 else METHODS[problem.renewed]


def _named(algorithm: Learner[Solution]) -> Learner[dict[str, Any]]:
    return dict(found=(yield from algorithm))
