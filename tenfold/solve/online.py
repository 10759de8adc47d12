"""Stochastic gradient descent, a step for each row: regularised risks of any loss, for one target or one class against the others.

    min over w, b of  Σᵢ sᵢ loss(yᵢ, xᵢ·w + b) / n + l1 ‖w‖₁ + ½ l2 ‖w‖²

`epochs` is the solver, a generator; `Rule` says what a step is, `Steps` is how far they have come. Rows come in blocks, and in each
epoch in another order: the blocks where they can be read in any, and the rows within a block. The kernel is `tenfold._stochastic`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from tenfold import _stochastic
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput
from tenfold.core.learning import Learner, Scan
from tenfold.core.stats import Stats
from tenfold.solve.held_out import Split, targets

LOSSES = (
    "log_loss", "perceptron", "hinge", "squared_hinge", "modified_huber", "squared_error", "absolute_error", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
)  # fmt: skip
RATES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")
SPARSE_INTERCEPT = 0.01  # most columns of a sparse row are zero, but the constant never is: its steps are smaller
NUMBERS = np.dtype([(name, np.float64) for name in (
    "scale", "intercept", "steps", "due", "total", "intercept_total", "averaged", "rate", "loss", "loss_at_zero", "weight",
    "finished", "diverged",
)])  # fmt: skip
WORTH = 1 << 20  # products of a block from which threads share its problems
LEAST_RATE = 1e-6  # an adaptive rate is not divided any more
SLOWER = 5.0  # what it is divided by


class Rule(NamedTuple):
    """What a step is; the words are those of scikit-learn."""

    loss: str
    epsilon: float  # of huber and of the losses that are insensitive to small errors
    l1: float
    l2: float
    learning_rate: str
    eta0: float
    power_t: float
    alpha: float  # of the rate that is called optimal
    fit_intercept: bool
    average: int  # the step from which on weights are averaged, 0: never

    def native(self, sparse: bool, measure: bool) -> _stochastic.Rule:
        """For the kernel."""
        step = float(self.fit_intercept) * (SPARSE_INTERCEPT if sparse else 1.0)
        return _stochastic.Rule(
            loss=LOSSES.index(self.loss), epsilon=float(self.epsilon), l1=float(self.l1), l2=float(self.l2),
            rate=RATES.index(self.learning_rate), first_rate=float(self.eta0), power=float(self.power_t),
            slowness=float(self.alpha), onset=float(self.alpha) ** -0.75 if self.learning_rate == "optimal" else 0.0,
            intercept=step, average_from=float(self.average), measure=measure,
        )  # fmt: skip

    def penalty(self, weights: Array) -> Array:
        """l1 ‖w‖₁ + ½ l2 ‖w‖² of each row of weights."""
        return np.asarray(self.l1 * np.abs(weights).sum(axis=1) + 0.5 * self.l2 * np.einsum("kp,kp->k", weights, weights))


@dataclass
class Steps:
    """How far the steps of M problems have come: w = scale v, Σ of the averaged w = total v + rest. Steps write to it."""

    v: Array  # (M, p)
    rest: Array  # (M, p), or (M, 0) where nothing is averaged
    paid: Array  # (M, p) what the L1 penalty has taken, or (M, 0) without one
    numbers: Array  # (M,) of NUMBERS
    blocks: int = 0  # seen in this epoch

    @classmethod
    def start(cls, rule: Rule, coef: Array, intercept: float | Array, taken: int | Array = 0) -> Steps:
        """At these weights (M, p), which are copied, after so many steps."""
        v = np.array(coef, dtype=np.float64, order="C")
        numbers = np.zeros(len(v), dtype=NUMBERS)
        numbers["scale"], numbers["intercept"], numbers["rate"] = 1.0, intercept, rule.eta0
        numbers["steps"] = taken
        empty = (len(v), 0)
        return cls(v, np.zeros(v.shape if rule.average else empty), np.zeros(v.shape if rule.l1 > 0 else empty), numbers)

    @property
    def weights(self) -> Array:
        """After the last step, (M, p)."""
        return np.asarray(self.numbers["scale"][:, None] * self.v)

    @property
    def average(self) -> tuple[Array, Array]:
        """Weights (M, p) and intercepts (M,): the averages where some were averaged, else the last ones."""
        count = self.numbers["averaged"]
        if not count.any():
            return self.weights, self.numbers["intercept"].copy()
        divisor = np.maximum(count, 1.0)
        found = (self.numbers["total"] / divisor)[:, None] * self.v + self.rest / divisor[:, None]
        intercept = np.where(count > 0, self.numbers["intercept_total"] / divisor, self.numbers["intercept"])
        return np.where((count > 0)[:, None], found, self.weights), intercept

    def resume_average(self, coef: Array, intercept: Array, count: Array) -> None:
        """Go on with the averages of so many weights."""
        self.rest[:], self.numbers["averaged"] = coef * count[:, None], count
        self.numbers["intercept_total"] = intercept * count

    @property
    def loss(self) -> float:
        """The mean loss of the rows of this epoch on their way, of all problems: for whoever watches."""
        return float(self.numbers["loss"].sum() / max(self.numbers["weight"].max(initial=0.0), 1e-300))


class Problems(NamedTuple):
    """One problem of numbers, or one for each class against the others."""

    positive: Array  # (M,) int64: the class that is y = 1; −1: y are numbers
    factors: Array  # (M, 2) of the rows of the other classes, and of this one

    @classmethod
    def of_numbers(cls) -> Problems:
        return cls(np.array([-1]), np.ones((1, 2)))

    @classmethod
    def of_classes(cls, K: int, factors: Array | None) -> Problems:
        """With a factor for each class, as in scikit-learn: of three and more classes that of the positive one alone."""
        factors = np.ones(K) if factors is None else factors
        if K == 2:
            return cls(np.array([1]), factors[None].copy())
        return cls(np.arange(K), np.column_stack([np.ones(K), factors]))


class Stop(NamedTuple):
    """When epochs end: after `most`, or when for `patience` of them nothing was won by more than tol."""

    most: int
    tol: float | None
    patience: int


Score = Callable[..., Stats]  # of a block, given `weights` and `intercepts`: its `mean()` is one for each problem


def take_steps(
    steps: Steps, block: Block, rule: Rule, problems: Problems, seed: int | None = None, split: Split | None = None, measure: bool = True
) -> Steps:
    """A step for each row of a block, in an order drawn from the seed and the number of the block; `steps` is written to."""
    if split is not None:
        block = block.take(np.flatnonzero(~split.held(block)))
    order = None if seed is None else (seed + 0x9E3779B97F4A7C15 * steps.blocks) & (2**64 - 1)
    steps.blocks += 1
    X, y = block.X, targets(block)
    numbers = steps.numbers.view(np.float64).reshape(len(steps.v), -1)
    given = y, block.w, steps.v, steps.rest, steps.paid, numbers, *problems
    with lent_threads(len(steps.v) if X.shape[0] * X.shape[1] * len(steps.v) > WORTH else 1) as threads:
        if ops.is_sparse(X):
            parts = X.data, X.indices, X.indptr, X.shape[1]
            _stochastic.sparse_steps(*parts, *given, rule.native(True, measure), order, threads)
        else:
            _stochastic.steps(X, *given, rule.native(False, measure), order, threads)
    return steps


def epochs(
    rule: Rule, steps: Steps, problems: Problems, stop: Stop, seed: int | None, split: Split | None = None, score: Score | None = None,
    cost: Score | None = None,
) -> Learner[tuple[Steps, Array, Array]]:
    """Steps over all rows, again and again. Returns where they end, how many epochs each problem took, and whether it has settled.

    A problem ends when the mean loss of an epoch with the penalty after it (with `score`: minus the mean score of the rows that are
    held out) was not below the best one by more than tol, for so many epochs in a row. An adaptive rate is then divided first.
    With a `cost` the weights after the epoch of least cost are where the steps end, as in a pocket.
    """
    M = len(steps.v)
    best, waited, taken = np.full(M, np.inf), np.zeros(M, dtype=np.int64), np.zeros(M, dtype=np.int64)
    numbers, least, pocket = steps.numbers, np.inf, (steps.weights, steps.numbers["intercept"].copy())
    for epoch in range(stop.most):
        order = None if seed is None else (seed * 0x2545F4914F6CDD1D + epoch) & (2**63 - 1)
        numbers["loss"] = numbers["loss_at_zero"] = numbers["weight"] = 0.0
        steps.blocks = 0
        one = partial(take_steps, rule=rule, problems=problems, seed=order, split=split)
        steps = yield Scan(one, steps, shuffle=order, rows_too=False)
        numbers = steps.numbers  # those of a cluster come back as others
        check_course(steps, epoch + 1)
        taken[numbers["finished"] == 0] += 1
        if cost is not None:
            shown = steps.weights, numbers["intercept"].copy()
            now = float((yield partial(cost, weights=shown[0], intercepts=shown[1])).mean())
            least, pocket = (now, shown) if now < least else (least, pocket)
        if stop.tol is None:
            continue
        if score is None:
            now = numbers["loss"] / np.maximum(numbers["weight"], 1e-300) + rule.penalty(steps.weights)
        else:
            found = yield partial(score, weights=steps.weights, intercepts=numbers["intercept"].copy())
            now = -found.mean()
        waited = np.where(now > best - stop.tol, waited + 1, 0)
        best = np.minimum(best, now)
        over = waited >= stop.patience
        if rule.learning_rate == "adaptive":
            slower = over & (numbers["rate"] > LEAST_RATE)
            numbers["rate"][slower] /= SLOWER
            waited[slower] = 0
            over &= ~slower
        numbers["finished"] = np.maximum(numbers["finished"], over)
        if numbers["finished"].all():
            break
    settled = numbers["finished"] > 0
    numbers["finished"] = 0.0
    if cost is not None:
        steps.v[:], numbers["intercept"] = pocket
        numbers["scale"] = 1.0
    return steps, taken, settled


def check_course(steps: Steps, epoch: int) -> None:
    """Steps that go astray are told of, and leave no model."""
    numbers = steps.numbers
    finite = all(np.isfinite(one).all() for one in (steps.v, numbers["intercept"], numbers["loss"]))
    if numbers["diverged"].any() or not finite:
        raise BadInput(
            f"Floating-point under-/overflow occurred at epoch #{epoch}. Scaling input data with StandardScaler or MinMaxScaler might "
            "help: the steps are too large for these columns and go further and further; a smaller eta0 helps too"
        )
