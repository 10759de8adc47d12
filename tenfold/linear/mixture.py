"""A mixture of linear regressions by expectation-maximisation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor, map_rows, softmax
from tenfold.base.scored import rows_and_truth
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.core.stats import Spread, Stats
from tenfold.linear.lines import Lines, Shared, fitted_lines
from tenfold.solve.em import Ascent, ascend
from tenfold.solve.sketch import Sample

SAMPLE_ROWS, SAMPLE_BYTES = 4096, 1 << 24  # to draw starts from
LONG = 100  # columns
SHORT = 10  # steps of a start on the sample, before the best goes on


@estimator
class MixtureOfRegressions(Regressor, Estimator):
    """MixtureOfRegressions: rows come from one of several linear regressions, and nobody knows from which.

    Model       p(y | x) = Σₖ πₖ N(y; fₖ(x), σₖ²) with fₖ(x) = x·bₖ + aₖ; a prediction is Σₖ πₖ fₖ(x)
    Objective   max Σ w log p(y | x) / Σ w      (a local maximum: it depends on the start), no σₖ² below least_variance · variance of y
    Algorithm   expectation-maximisation: rₖ = πₖ N(y; fₖ(x), σₖ²) / p(y | x); then weighted least squares of each component from the
                moments of [x y], one pass a step. n_init starts, each k regressions through a few drawn rows, take a few steps on a
                sample; the best goes on with all rows. At its end the gradient is zero: Σ w rₖ (y − fₖ(x)) x = 0
    Cost        O(n k p²) time a pass, O(k p²) memory; the starts n_init · 10 passes over a sample of at most 4,096 rows
    Fails when  a component collapses onto a few rows that it passes through (held back by least_variance, and told: Degenerate;
                it cannot with equal_variance), or regressions lie within one another's noise
    Reference   DeSarbo & Cron 1988; Biernacki, Celeux & Govaert 2003 (short runs); Grün & Leisch 2007 (flexmix)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.arange(40.0)
    >>> y = np.where(x % 2, 3 * x, 20 - x) + np.sin(7 * x)
    >>> model = tenfold.MixtureOfRegressions(random_state=0).fit(x[:, None], y)
    >>> np.sort(model.coef_[:, 0]).round(1).tolist()
    [-1.0, 3.0]
    """

    weights_: Array = learned("float(k)", "share of each component")
    coef_: Array = learned("float(k,p)", "their coefficients")
    intercept_: Array = learned("float(k)", "their intercepts")
    variances_: Array = learned("float(k)", "their variances about the line")
    converged_: bool = learned("bool", "whether the last step changed the log-likelihood by less than tol")
    n_iter_: int = learned("int", "steps taken, those of the starts aside")
    lower_bound_: float = learned("float", "mean log-likelihood, before the last step")
    lower_bounds_: Array = learned("float(i)", "the same before each step: it never falls")

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "starts are drawn by a hash of the row, which reads the columns in their order",
    }

    n_components: int = param(default=2, at_least=1, doc="number of regressions")
    _: KW_ONLY
    fit_intercept: bool = param(default=True, doc="whether regressions have an intercept")
    equal_variance: bool = param(default=False, doc="whether all have one variance: then none can collapse")
    least_variance: float = param(default=1e-6, above=0, at_most=1, doc="share of the variance of y below which no variance falls")
    tol: float = param(default=1e-6, at_least=0, doc="least change of the mean log-likelihood that is worth another step")
    max_iter: int = param(default=1000, at_least=1, doc="most steps")
    n_init: int = param(default=10, at_least=1, at_most=10_000, doc="starts on a sample, of which the best goes on")
    random_state: int | RandomState | None = param(default=None, doc="seed of the starts")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"random_state": 0, "n_init": 2, "tol": 1e-3, "equal_variance": True}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 1}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k, p = self.n_components, source.n_features
        rng = generator_of(self)
        survey = yield partial(_survey, rows=max(min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * p)), 4 * k), seed=seed_of(rng))
        rows, needed = len(survey.sample.rows), k * (p + int(self.fit_intercept))
        if rows < k or (p > LONG and rows < min(needed, survey.sample.k)):  # each would pass through its rows, at p³ a step
            raise BadInput(
                f"MixtureOfRegressions: {k} regressions of {p:,} columns need at least {needed:,} different rows, and there are {rows:,}: "
                "ask for fewer components, or drop columns"
            )
        weight, variance = float(survey.target.weight[0]), float(survey.target.scatter[0, 0] / survey.target.weight[0])
        least = self.least_variance * (variance if variance > 0 else 1.0)
        best = yield from ascend(
            [self._start(survey.sample, least, rng)],
            _expect,
            lambda found, _: self._maximised(found, least),
            lambda found, _: found.log_likelihood / weight,
            self.tol,
            self.max_iter,
        )
        return self._fitted(best, least)

    def _maximised(self, found: Shared, least: float) -> Lines:
        return fitted_lines(found.moments, self.fit_intercept, least, self.equal_variance)

    def _start(self, sample: Sample, least: float, rng: np.random.Generator) -> Lines:
        """The best of n_init short runs on a sample, each from regressions through a few rows; one that collapses, whatever its likelihood,
        only where all do."""
        k, n, p = self.n_components, len(sample.rows), sample.rows.shape[1] - 1
        block = Block(np.ascontiguousarray(sample.rows[:, :p]), np.ascontiguousarray(sample.rows[:, p:]), sample.weight)
        few, chance = max(min(p + 1, n // k), 1), sample.weight / sample.weight.sum()
        best: tuple[bool, float, Lines] | None = None
        for _ in range(self.n_init if k > 1 else 1):
            drawn = rng.choice(n, k * few, replace=False, p=chance).reshape(k, few)
            lines = self._through(block, drawn, least)
            for _ in range(SHORT):
                found = lines.expect(block)
                lines = self._maximised(found, least)
            ended = bool((lines.variances > least).all()), found.log_likelihood, lines
            best = ended if best is None or ended[:2] > best[:2] else best
        assert best is not None
        return best[2]

    def _through(self, block: Block, drawn: Array, least: float) -> Lines:
        """Regressions through drawn rows, of equal shares, with the spread of all rows about the nearest of them."""
        X, y, k = block.X, block.y[:, 0], len(drawn)
        ones = np.ones((len(X), int(self.fit_intercept)))
        found = [np.linalg.lstsq(np.column_stack([X, ones])[rows], y[rows], rcond=None)[0] for rows in drawn]
        coef = np.array([one[: X.shape[1]] for one in found])
        intercept = np.array([one[X.shape[1] :].sum() for one in found])
        lines = Lines(np.full(k, 1.0 / k), coef, intercept, np.ones(k))
        spread = float(np.average(((y[:, None] - lines.values(X)) ** 2).min(axis=1), weights=block.w))
        return Lines(lines.shares, coef, intercept, np.full(k, max(spread, least)))

    def _fitted(self, best: Ascent, least: float) -> dict[str, Any]:
        if not best.converged:
            warn(f"MixtureOfRegressions(max_iter={self.max_iter}): not at its end: raise max_iter or tol", NotConverged, stacklevel=2)
        lines: Lines = best.model
        narrow = np.flatnonzero(lines.variances <= least)
        if len(narrow) and self.n_components > 1 and not self.equal_variance:
            warn(
                f"MixtureOfRegressions: component {narrow[0]} ({lines.shares[narrow[0]]:.1%} of the rows) has collapsed: it passes through "
                "its rows, and its variance is that of least_variance alone. Ask for fewer components, drop columns, or set "
                "equal_variance=True",
                Degenerate,
                stacklevel=2,
            )
        return dict(
            weights_=lines.shares,
            coef_=lines.coef,
            intercept_=lines.intercept,
            variances_=lines.variances,
            converged_=best.converged,
            n_iter_=len(best.bounds),
            lower_bound_=best.bound,
            lower_bounds_=np.array(best.bounds),
        )

    def _objection(self) -> str | None:
        k = len(self.weights_)
        if len(self.coef_) != k or len(self.intercept_) != k or len(self.variances_) != k:
            return "components of different numbers"
        return None if (self.variances_ > 0).all() else "variances_ are not above zero"

    @property
    def _lines(self) -> Lines:
        return Lines(*(np.asarray(one, dtype=np.float64) for one in (self.weights_, self.coef_, self.intercept_, self.variances_)))

    def _predict(self, X: Any) -> Array:
        return np.asarray(self._lines.values(X) @ self._lines.shares).astype(X.dtype, copy=False)

    def predict_components(self, X: Any) -> Array:
        """(rows, k): the prediction of each regression."""
        return map_rows(self._lines.values, check.check_predict(self, X))

    def responsibilities(self, X: Any, y: Any) -> Array:
        """(rows, k): the probability that each regression made the row, given its target."""
        return softmax(self._joint(X, y), np.dtype(np.float64))

    def log_likelihood(self, X: Any, y: Any) -> float:
        """Σ log p(y | x)."""
        joint = self._joint(X, y)
        top = joint.max(axis=1)
        return float((top + np.log(np.exp(joint - top[:, None]).sum(axis=1))).sum())

    @property
    def n_parameters_(self) -> int:
        """Free numbers: of shares, coefficients, intercepts and variances."""
        k, p = self.coef_.shape
        return int(k - 1 + k * (p + int(self.fit_intercept)) + (1 if self.equal_variance else k))

    def bic(self, X: Any, y: Any) -> float:
        """−2 Σ log p(y | x) + n_parameters_ · log n: the lower, the better."""
        return float(-2 * self.log_likelihood(X, y) + self.n_parameters_ * np.log(len(check.as_column(y))))

    def _joint(self, X: Any, y: Any) -> Array:
        X, y = rows_and_truth(self, X, y)
        values = self.predict_components(X)
        return self._lines.log_joint(values, check.real_target(y, len(values))[:, 0])


@dataclass(slots=True)
class Survey(Stats):
    """Rows [x y] to start from, and the spread of the target."""

    sample: Sample
    target: Spread


def _survey(block: Block, rows: int, seed: int) -> Survey:
    Z = np.column_stack([np.asarray(ops.dense(block.X), dtype=np.float64), block.y])
    return Survey(Sample.of(Z, block.w, rows, seed), Spread.of(np.ascontiguousarray(block.y), block.w))


def _expect(block: Block, lines: Lines) -> Shared:
    return lines.expect(block)
