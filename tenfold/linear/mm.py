"""Regression that neither gross errors of the target nor far-away rows can move."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source, Target
from tenfold.core.engine import Local
from tenfold.core.errors import Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, drive
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.robust import residuals, through_all
from tenfold.solve.biweight import Start, descend, robust_start, settle_scale, weighted_median
from tenfold.solve.irls import Frame, Solution
from tenfold.solve.sketch import Sample

SAMPLED = 4096  # distinct rows from which the start is found
EXACT = 1e-12  # residuals this small, relative to the spread of y, are rounding
NOTHING = 1e-100  # columns of smaller values count as zero: a coefficient of them may be beyond the largest number


@estimator
class MMRegressor(AffineRegressor, Estimator):
    """MMRegressor: rows far from the fit do not count at all, whether y or x is wrong.

    Model       y ≈ X w + b + σ e on more than half of the rows, anything on the others
    Objective   a minimum over w, b of  Σᵢ sᵢ ρ((yᵢ − xᵢ·w − b) / (tuning σ)),  ρ(u) = 1 − (1 − u²)³ for |u| ≤ 1,
                1 beyond, below a start that half of the rows agree on; σ is the scale of that start
    Algorithm   start: the fit of least biweight scale σ (Σ s ρ(r / 1.548 σ) = ½ (Σ s − p − 1)) from n_subsets random subsets
                of up to 4,096 rows chosen by a hash; then re-weighted least squares and Newton steps
    Cost        O(n_subsets p³) for the start; O(n p²) a pass, about fifteen passes, one up to 4,096 rows
    Fails when  half of the rows or more are wrong; rows are fewer than twice the parameters, as half of
                them then fit exactly (warns Degenerate); many columns and no subset is clean
    Reference   Yohai 1987; the start: Salibian-Barrera & Yohai 2006, Peña & Yohai 1999

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.append(np.arange(10.0), [100.0, 101.0, 102.0])[:, None]
    >>> y = np.append(2 * np.arange(10.0) + 1 + 0.1 * (-1) ** np.arange(10), [0.0, 0.0, 0.0])
    >>> model = tenfold.MMRegressor().fit(X, y)
    >>> model.coef_.round(1), model.weights(X, y)[-3:]
    (array([2.]), array([0., 0., 0.]))
    """

    scale_: float = learned("float", "the scale σ of the noise")
    n_iter_: int = learned("int", "steps")

    sparse: ClassVar[bool] = True

    _: KW_ONLY
    tuning: float = param(
        default=4.685,
        at_least=1.548,
        doc="scales beyond which a row does not count; 4.685: 95 % efficient for Gaussian noise",
    )
    n_subsets: int = param(default=500, at_least=1, at_most=100_000, doc="random subsets tried for the start")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    max_iter: int = param(default=200, at_least=1, doc="most steps after the start")
    tol: float = param(default=1e-08, at_least=0, doc="bound on the gradient per row, of scaled columns and residuals")
    random_state: int | RandomState | None = param(default=0, doc="seed of the sample and of the subsets")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_subsets": 2}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_subsets": 1}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        rng = generator_of(self)
        sample = yield partial(_sample, k=SAMPLED, seed=seed_of(rng))
        X, y, w = sample.rows[:, :-1], sample.rows[:, -1], sample.weight
        X[:, np.abs(X).max(axis=0) < NOTHING] = 0.0
        frame = _frame(X, y, w, self.fit_intercept)
        exact = through_all("MMRegressor", X, y, w, self.fit_intercept)
        if exact is not None:
            return self._attributes(*exact, 0.0, 1)
        start = self._start(frame, sample, rng)
        if start.scale <= EXACT:
            self._warn_if_some_do_not_fit(frame, start, sample)
            return self._attributes(*frame.coefficients(start.theta), 0.0, 1)
        search = self._search(frame, start)
        if float(w.sum()) == sample.total:  # all rows are in the sample
            inside = Arrays(X, y[:, None], w, Target("real"), {}, trusted=True, size=len(w))
            frame, found = drive(search, inside, Local(), "MMRegressor")
        else:
            frame, found = yield from search
        if not found.converged:
            warn(
                f"MMRegressor: max |gradient| / Σ s is {found.certificate:.2g} after {found.n_pass} steps, "
                f"above tol={self.tol:g}: raise max_iter",
                NotConverged,
                stacklevel=2,
            )
        return self._attributes(*frame.coefficients(found.theta), frame.y_size, found.n_pass)

    def _start(self, frame: Frame, sample: Sample, rng: np.random.Generator) -> Start:
        X, y, w = sample.rows[:, :-1], sample.rows[:, -1], sample.weight
        Z = (X - frame.mean) / frame.size
        if self.fit_intercept:
            Z = np.column_stack([Z, np.ones(len(Z))])
        rows = max(sample.total, len(w))  # weights may be small numbers that mean no copies
        start = robust_start(Z, (y - frame.y_mean) / frame.y_size, w, rows, self.n_subsets, rng)
        return start if self.fit_intercept else start._replace(theta=np.append(start.theta, 0.0))

    def _warn_if_some_do_not_fit(self, frame: Frame, start: Start, sample: Sample) -> None:
        X, y = sample.rows[:, :-1], sample.rows[:, -1]
        rest = (y - frame.y_mean) / frame.y_size - (X - frame.mean) / frame.size @ start.theta[:-1] - start.theta[-1]
        if np.abs(rest).max() > 1e3 * EXACT:
            warn(
                "MMRegressor: half of the rows fit exactly, and the scale is zero: the others do not count; "
                "give more rows if that is not meant",
                Degenerate,
                stacklevel=2,
            )

    def _search(self, frame: Frame, start: Start) -> Learner[tuple[Frame, Solution]]:
        """The scale of all rows at the start; then, in units of it, the minimum below the start."""
        scale = yield from settle_scale(start, frame)
        frame = frame._replace(y_size=frame.y_size * scale)
        found = yield from descend(
            start.theta / scale, frame, self.tuning, self.fit_intercept, tol=self.tol, max_iter=self.max_iter
        )
        return frame, found

    def _attributes(self, coef: Array, intercept: float, scale: float, n_iter: int) -> dict[str, Any]:
        why = "weights_ is absent, as rows are not kept: call weights(X, y)"
        return dict(
            coef_=coef,
            intercept_=intercept if self.fit_intercept else 0.0,
            scale_=scale,
            n_iter_=n_iter,
            absent_={"weights_": why},
        )

    def weights(self, X: Any, y: Any) -> Array:
        """What each row counts: 1 where it fits, less and less away from that, 0 beyond `tuning` scales."""
        size = np.abs(residuals(self, X, y))
        if self.scale_ == 0:
            return np.asarray((size <= 1e3 * EXACT * size.max(initial=0.0)).astype(np.float64))
        return (1 - np.minimum((size / (self.tuning * self.scale_)) ** 2, 1.0)) ** 2

    def outliers(self, X: Any, y: Any) -> Array:
        """Which rows do not count at all."""
        return np.asarray(self.weights(X, y) == 0)


def _sample(block: Block, k: int, seed: int) -> Sample:
    rows = np.column_stack([np.asarray(ops.dense(block.X), dtype=np.float64), block.y])
    return Sample.of(rows, block.w, k, seed)


def _frame(X: Array, y: Array, w: Array, fit_intercept: bool) -> Frame:
    """Centre and size of most of the values of each column: far-away rows do not count here either."""
    centre, size = np.zeros(X.shape[1] + 1), np.ones(X.shape[1] + 1)
    for j, values in enumerate([*X.T, y]):
        middle = weighted_median(values, w) if fit_intercept else 0.0
        apart = np.abs(values - middle)
        spread = weighted_median(apart, w) / 0.6745 or float(np.sqrt(w @ apart**2 / w.sum()))
        centre[j] = middle
        size[j] = spread if spread > max(1e-13 * abs(middle), 1e-100) else 1.0
    return Frame(centre[:-1], size[:-1], float(centre[-1]), float(size[-1]))
