"""What learners by steps of one row at a time have in common: their settings, fits over epochs, and learning part by part."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter, NotConverged, ReadOnce, warn
from tenfold.core.learned import in_single, learned
from tenfold.core.learning import Learner, Scan
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.random import generator_of, seed_of
from tenfold.linear.warm import WarmStart
from tenfold.solve.held_out import Split, held_score, mistakes, split_counts
from tenfold.solve.online import Problems, Rule, Steps, Stop, check_course, epochs, take_steps

BLOCK_VALUES = 1 << 18  # of a block of sparse rows in memory
ASTRAY = 1e3  # times the loss of doing nothing
UNSEEN = 1e24  # a mean loss from which on slopes are cut off, at 1e12


@group
class Online(WarmStart, Estimator):
    """Abstract: weights by stochastic gradient descent, from a table in epochs or part by part."""

    steps_: Array = learned("int(M)", "steps taken, one for each row of each epoch, for each problem")
    n_iter_: int = learned("int", "epochs; of several classes the most that one of them took")
    last_coef_: Array = learned("float(M,p)", "coefficients after the last step, where `coef_` are averages", optional=True)
    last_intercept_: Array = learned("float(M)", "constants after the last step, where `intercept_` are averages", optional=True)
    penalty_paid_: Array = learned("float(M,p)", "what the L1 penalty has taken from each coefficient", optional=True)
    penalty_due_: Array = learned("float(M)", "what the L1 penalty may have taken from each", optional=True)

    kind: ClassVar[str] = "sequential"
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "row_order": "a step is taken for each row in turn, and the last ones count most",
        "weight_is_copies": "one step of double size is not two steps",
        "sparse": "as in scikit-learn the constant moves a hundredth as fast for sparse rows, most of whose columns are zero",
    }

    _: KW_ONLY
    penalty: str | None = param(default="l2", one_of=("l2", "l1", "elasticnet", None), doc="which penalty of the coefficients")
    alpha: float = param(default=0.0001, at_least=0, doc="strength of the penalty, and in the 'optimal' rate")
    l1_ratio: float | None = param(default=0.15, at_least=0, at_most=1, doc="share of L1 in the penalty 'elasticnet'")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    max_iter: int = param(default=1000, at_least=1, doc="most epochs of fit; partial_fit makes one")
    tol: float | None = param(
        default=1e-3, at_least=0, doc="fit ends when n_iter_no_change epochs have won no more than this; None: after max_iter"
    )
    shuffle: bool = param(default=True, doc="rows in another order in each epoch: blocks, and the rows within a block")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: int | RandomState | None = param(default=None, doc="seed of the order of rows and of the rows held out")
    early_stopping: bool = param(
        default=False, doc="hold out validation_fraction of the rows, and end when their score does not rise by tol"
    )
    validation_fraction: float = param(default=0.1, above=0, at_most=1, doc="share of the rows that early_stopping holds out")
    n_iter_no_change: int = param(default=5, at_least=1, doc="how many epochs may win nothing before fit ends")
    warm_start: bool = param(default=False, doc="begin at the solution of the fit before")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"max_iter": 1, "tol": None, "shuffle": False}]

    @property
    def t_(self) -> float:
        """The number of the next step."""
        return 1.0 + float(self.steps_.max())

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> Self:
        """Learn from rows, over and over until nothing is won; begin at `coef_init` and `intercept_init` where they are given."""
        source = check.check_fit(self, X, y, sample_weight)
        self._check_settings()
        if coef_init is None and intercept_init is None:
            return self._fit(source)
        return self._fit(source, self._given_start(source, coef_init, intercept_init))

    def _fit(self, source: Source, start: Any = None) -> Self:
        if isinstance(source, Arrays) and ops.is_sparse(source.X) and source.keys is None:  # its rows are shorter than it is wide
            source = source.longer(BLOCK_VALUES * max(source.X.shape[0], 1) // max(source.X.nnz, 1))
        return super()._fit(source, start)

    def _given_start(self, source: Source, coef_init: Any, intercept_init: Any) -> tuple[Array, Array]:
        K = 1 if source.target.classes is None else len(source.target.classes)
        M, p = K if K > 2 else 1, source.n_features
        coef = np.zeros((M, p)) if coef_init is None else np.asarray(coef_init, dtype=np.float64)
        intercept = np.zeros(M) if intercept_init is None else np.asarray(intercept_init, dtype=np.float64)
        if coef.shape != (M, p) and not (M == 1 and coef.size == p):
            raise BadInput(f"Provided coef_init does not match dataset: its shape is {coef.shape}, and {(M, p)} is wanted")
        if intercept.shape != (M,) and not (M == 1 and intercept.size == 1):
            raise BadInput(f"Provided intercept_init does not match dataset: its shape is {intercept.shape}, and {(M,)} is wanted")
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise BadInput("coef_init and intercept_init must be finite numbers")
        return coef.reshape(M, p), intercept.reshape(M)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        before = self._before
        if before:
            return self._learn_from(source, (np.atleast_2d(ops.dense(before["coef_"])), before["intercept_"]))
        return self._learn_from(source, (np.zeros((self._width(), source.n_features)), 0.0))

    def _learn_from(self, source: Source, start: Any) -> Learner[dict[str, Any]]:
        if not source.rereadable and self.max_iter > 1:
            raise ReadOnce(
                f"{type(self).__name__}(max_iter={self.max_iter}) makes several passes and these blocks can be read only once: give a "
                "list of blocks or a function that returns a new iterator, or learn them with partial_fit"
            )
        self._check_settings()
        rng, rule = generator_of(self), self._rule()
        seed = seed_of(rng) if self.shuffle else None
        split = Split(float(self.validation_fraction), seed_of(rng)) if self.early_stopping else None
        if split is not None:
            yield from self._check_split(split)
        problems = yield from self._problems()
        score = None if split is None else partial(held_score, split=split, positive=problems.positive)
        cost = partial(mistakes, split=split, positive=problems.positive) if self._pockets() else None
        stop = Stop(int(self.max_iter), self.tol, int(self.n_iter_no_change))
        steps = Steps.start(rule, *start)
        steps, taken, settled = yield from epochs(rule, steps, problems, stop, seed, split, score, cost)
        numbers = steps.numbers
        mean, zero = (numbers[name] / np.maximum(numbers["weight"], 1e-300) for name in ("loss", "loss_at_zero"))
        if ((mean > ASTRAY * zero) & (zero > 0) | (mean > UNSEEN)).any():
            warn(
                f"{type(self).__name__}: the steps are too large and have gone astray, or the target is out of their reach: the mean loss "
                f"of the last epoch is {mean.max():.1g}, that of coefficients zero {zero.max():.1g}. Scale the columns (StandardScaler) "
                "and the target, or lower eta0",
                NotConverged,
                stacklevel=2,
            )
        elif self.tol is not None and not settled.all():
            warn(
                f"{type(self).__name__}: Maximum number of iteration reached before convergence. Consider increasing max_iter to improve "
                f"the fit: after {self.max_iter} epochs the last one has won more than tol={self.tol:g}",
                NotConverged,
                stacklevel=2,
            )
        return dict(n_iter_=int(taken.max()), **self._attributes(steps, rule))

    def _check_split(self, split: Split) -> Learner[None]:
        rows = (yield partial(split_counts, split=split)).weight
        if not rows.all():
            raise BadInput(
                f"{type(self).__name__}: Splitting {int(rows.sum())} samples into a train set and a validation set with "
                f"validation_fraction={self.validation_fraction:g} led to an empty set ({int(rows[0])} and {int(rows[1])} samples): "
                "change validation_fraction, give more rows, or set early_stopping=False"
            )

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        check.check_params(self)
        self._check_settings(part=True)
        begun = "steps_" in vars(self)
        source = check.check_more(self, X, y, sample_weight, classes, begun)
        apart = self if begun else self._apart()
        vars(apart).update(source.facts)
        rule = apart._rule()
        steps = apart._resumed(rule) if begun else Steps.start(rule, np.zeros((apart._width(), source.n_features)), 0.0)
        seed = seed_of(generator_of(self)) if self.shuffle else None
        steps = apart._driven(lambda source: apart._one_pass(rule, steps, seed), source)
        check_course(steps, 1)
        fitted = dict(n_iter_=1, **apart._attributes(steps, rule))
        fitted |= in_single(type(self), fitted) if source.single else {}
        vars(self).update(source.facts if not begun else {}, **fitted)
        return self

    def _one_pass(self, rule: Rule, steps: Steps, seed: int | None) -> Learner[Steps]:
        problems = yield from self._problems()
        found: Steps = yield Scan(partial(take_steps, rule=rule, problems=problems, seed=seed, measure=False), steps)
        return found

    def _resumed(self, rule: Rule) -> Steps:
        """The steps of the fit so far, to go on with."""
        mine = vars(self)
        averaged, shown = "last_coef_" in mine, np.atleast_2d(ops.dense(self.coef_))
        coef, intercept = (self.last_coef_, self.last_intercept_) if averaged else (shown, self.intercept_)
        steps = Steps.start(rule, coef, intercept, self.steps_)
        if rule.average and averaged:
            count = np.maximum(self.steps_ - rule.average + 1, 0).astype(np.float64)
            steps.resume_average(shown, self.intercept_, count)
        if rule.l1 > 0 and "penalty_paid_" in mine:
            steps.paid[:], steps.numbers["due"] = self.penalty_paid_, self.penalty_due_
        return steps

    def _attributes(self, steps: Steps, rule: Rule) -> dict[str, Any]:
        coef, intercept = steps.average if rule.average else (steps.weights, steps.numbers["intercept"].copy())
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            check_course(steps, 1)
        found = dict(coef_=self._shaped(coef), intercept_=intercept, steps_=steps.numbers["steps"].astype(np.int64))
        if rule.average:
            found |= dict(last_coef_=steps.weights, last_intercept_=steps.numbers["intercept"].copy())
        if rule.l1 > 0:
            found |= dict(penalty_paid_=steps.paid, penalty_due_=steps.numbers["due"].copy())
        return found

    # --- what the learners say ---

    def _width(self) -> int:
        """How many problems there are."""
        return 1

    def _shaped(self, coef: Array) -> Array:
        """`coef_`, from one row for each problem."""
        return coef

    def _problems(self) -> Learner[Problems]:
        """One of numbers, or one for each class against the others; it may look at the rows."""
        raise NotImplementedError

    def _loss(self) -> tuple[str, float]:
        """The loss, and its epsilon."""
        raise NotImplementedError

    def _rate(self) -> tuple[str, float, float]:
        """How the rate falls, where it begins, and the power of its fall."""
        raise NotImplementedError

    def _averages(self) -> int:
        """The step from which on weights are averaged; 0: never."""
        return 0

    def _pockets(self) -> bool:
        """Whether the weights with the fewest wrong rows are kept."""
        return False

    def _rule(self) -> Rule:
        loss, epsilon = self._loss()
        share = {"l1": 1.0, "l2": 0.0}.get(str(self.penalty), float(self.l1_ratio or 0.0))
        alpha = float(self.alpha)
        price = alpha if self.penalty is not None else 0.0
        return Rule(
            loss, float(epsilon), share * price, (1 - share) * price, *self._rate(), alpha, bool(self.fit_intercept), self._averages()
        )

    def _check_settings(self, part: bool = False) -> None:
        """What no parameter is to blame for alone."""
        name, rule = type(self).__name__, self._rate()[0]
        if part and self.early_stopping:
            raise BadParameter(f"{name}: early_stopping should be False with partial_fit, which makes one pass")
        if rule == "optimal" and self.alpha == 0:
            raise BadParameter(f"{name}: alpha must be > 0 since learning_rate is 'optimal', whose steps are 1 / (alpha t)")
        needed = "hinge" if self.role == "classifier" else "epsilon_insensitive"
        if rule in ("pa1", "pa2") and self._loss()[0] != needed:
            raise BadParameter(f"{name}: Learning rate {rule!r} only works with loss {needed!r}")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise BadParameter(f"{name}: l1_ratio must be set when penalty is 'elasticnet'")
        if not 0 < self.validation_fraction < 1:
            raise BadParameter(f"{name}(validation_fraction={self.validation_fraction!r}): must be < 1")
