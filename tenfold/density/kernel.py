"""Kernel densities, by sums to a stated tolerance."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Density, Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.density.bandwidths import improved_sheather_jones, scott, search_bandwidth, silverman, spreads
from tenfold.density.kernel_shapes import KERNELS, KernelShape
from tenfold.density.kernel_sums import PAIRS, sums_of
from tenfold.near.measures import Measure, measure_of

RULES = ("scott", "silverman", "isj", "cv")
EXACT = 1e-10  # relative error of sums where none is asked for
SEARCHED = 1e-6  # and while a bandwidth is searched
ASKED_ROWS = 10_000  # left out in their turn at most, while a bandwidth is searched
NOT_OF_TREES = ("haversine", "cosine", "correlation", "mahalanobis")
BUILDING = threading.Lock()


@estimator
class KernelDensity(Density, Estimator):
    """KernelDensity: a kernel around every row, and their mean.

    Model       p(x) = Σᵢ wᵢ K(|x − xᵢ| / h) / (Σᵢ wᵢ · h^d ∫ K). Of the rows of the fit themselves (score_samples without X) with each
                left out in its turn
    Kernels     by r = |x − xᵢ| / h: gaussian e^(−r²/2), exponential e^(−r), and, 0 from r = 1 on, tophat (rectangular) 1, linear
                (triangular) 1 − r, epanechnikov 1 − r², biweight (1 − r²)², cosine cos(π r / 2)
    Objective   bandwidth="scott": n^(−1/(d+4)), "silverman": (n (d + 2) / 4)^(−1/(d+4)), both whatever the spread, as in scikit-learn;
                "isj": for each column the solution of the improved Sheather-Jones equation; "cv": the largest Σ w log p of the rows,
                each left out, among multiples of silverman's rule times the spread of each column (of at most 10,000 rows, evenly spaced)
    Algorithm   a k-d tree, the nearest nodes first; nodes are left out, or summed by Taylor series (Gaussian kernel, up to 6 columns) or
                closed forms, where the error is at most rtol · sum + atol in all; the rest in vectors. Where sums are too small for
                numbers, as of rows far away, they are taken relative to the nearest row: log densities of any size
    Cost        fit O(n d log n), rows are kept; a row asked for O(log n) in one column, a few hundred nodes in two, and in many columns
                all n rows, O(n d); "cv" 21 such sums for every row
    Fails when  there are many columns, where every row is far from all others; a compact kernel leaves log density −inf where no row is
                near; metrics that are no Euclidean distance: the integral is then not 1, and sums look at all rows
    Reference   Parzen 1962; Gray & Moore 2003 (trees); Yang, Duraiswami & Davis 2005 (series); Botev, Grotowski & Kroese 2010 (isj)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> model = tenfold.KernelDensity(bandwidth=0.5, kernel="rectangular").fit([[0.0], [0.2], [3.0]])
    >>> np.exp(model.score_samples([[0.1], [3.2], [9.0]])).round(3).tolist()
    [0.667, 0.333, 0.0]
    """

    bandwidth_: Any = learned("float|float(p)", "h; one for each column where that was given or found")
    bandwidths_tried_: Array = learned("float(t,p)", "of 'cv': those that were tried, in their order", optional=True)
    log_likelihoods_: Array = learned("float(t)", "of 'cv': the mean of log p with each, every row left out in its turn", optional=True)
    _rows: Array = learned("float(n,p)", "the rows", rows=True)
    _weights: Array = learned("float(n)>0", "their weights, where they are not one", optional=True)

    kind: ClassVar[str] = "keeps rows"
    sparse: ClassVar[bool] = True  # made dense
    score_is_total: ClassVar[bool] = True

    _: KW_ONLY
    bandwidth: Any = param(default=1.0, doc="h: a number, one for each column, 'scott', 'silverman', 'isj' or 'cv'")
    algorithm: str = param(
        default="auto", one_of=("auto", "kd_tree", "ball_tree"), doc="no effect: the tree suits the columns; all find the same"
    )
    kernel: str = param(default="gaussian", one_of=tuple(KERNELS), doc="K: see above")
    metric: str | Callable[..., Any] = param(default="euclidean", doc="a metric of NeighborIndex by name, or a function of two rows")
    atol: float = param(default=0, at_least=0, doc="absolute error of a density that is allowed")
    rtol: float = param(default=0, at_least=0, at_most=0.5, doc="relative error that is allowed; 0: 1e-10")
    breadth_first: bool = param(default=True, doc="no effect: the nearest nodes come first")
    leaf_size: int = param(default=40, at_least=1, doc="no effect: leaves of the tree have 16 rows")
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")

    __slots__ = ("_sums",)  # (rows, what sums them): it follows from the rows, and is no part of what is saved, copied or compared

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"bandwidth": "cv", "kernel": "exponential"}]

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        p = source.n_features
        given = self._given(p)
        X, _, w = yield Keep()
        rows, w = np.array(ops.dense(X), dtype=np.float64), np.array(w)
        rows, w = (rows, w) if (w > 0).all() else (rows[w > 0], w[w > 0])
        measure = self._measure(rows)
        fitted: dict[str, Any] = dict(_rows=rows)
        if (w != 1).any():
            fitted["_weights"] = w
        if isinstance(given, str):
            fitted |= self._found(given, rows, w, measure)
        else:
            fitted["bandwidth_"] = given
        self._sums = rows, sums_of(measure, rows, w, fitted["bandwidth_"], self._shape, self.rtol or EXACT)
        return fitted

    def _given(self, p: int) -> Any:
        """The bandwidth as a number or an array, or the name of a rule."""
        if isinstance(self.bandwidth, str) and self.bandwidth in RULES:
            return self.bandwidth
        try:
            h = np.asarray(self.bandwidth, dtype=np.float64)
        except (TypeError, ValueError):
            h = np.empty((0, 0))
        sound = h.ndim == 0 or h.shape == (p,)
        if not sound or isinstance(self.bandwidth, (bool, str)) or not ((h > 1e-100) & (h < 1e100)).all():
            raise BadParameter(
                f"KernelDensity(bandwidth={check.short(self.bandwidth)}): must be a number above 0, one for each of {p} columns, or one of "
                f"{', '.join(map(repr, RULES))}"
            )
        return h if h.ndim else float(h)

    def _found(self, rule: str, rows: Array, w: Array, measure: Measure) -> dict[str, Any]:
        """The bandwidth by a rule, and how it was found."""
        n, p = float(w.sum()), rows.shape[1]
        if rule in ("scott", "silverman"):
            return dict(bandwidth_=scott(n, p) if rule == "scott" else silverman(n, p))
        base = silverman(n, p) * spreads(rows, w)
        if rule == "isj":
            solved = [improved_sheather_jones(column, w) for column in rows.T]
            lost = [j for j, h in enumerate(solved) if h is None]
            if lost:
                warn(
                    f"KernelDensity(bandwidth='isj'): the equation has no solution for column {lost[0]} (few distinct values?): "
                    "silverman's rule is used for it. Give a number to be sure",
                    Degenerate,
                    stacklevel=2,
                )
            return dict(bandwidth_=_plain(np.array([b if h is None else h for h, b in zip(solved, base, strict=True)])))
        if n <= 1 or len(rows) < 2:
            raise BadInput("KernelDensity(bandwidth='cv'): needs at least two rows, of which one can be left out: give a number")
        asked = np.linspace(0, len(rows) - 1, min(len(rows), ASKED_ROWS)).astype(np.int64)

        def likelihood(t: float) -> float:
            h = t * base if measure.name == "euclidean" else float(t * base.mean())
            sums = sums_of(measure, rows, w, h, self._shape, SEARCHED)
            found = sums.left_out(rows, w, asked) - self._shape.log_integral(p) - float(np.log(np.broadcast_to(h, p)).sum())
            return float(np.average(found, weights=w[asked]))

        multiples, values = search_bandwidth(likelihood)
        if not np.isfinite(values).any():
            raise BadInput(
                f"KernelDensity(bandwidth='cv', kernel={self.kernel!r}): with every bandwidth some row has no other within reach of its "
                "kernel: take kernel='gaussian', or give a number"
            )
        tried = multiples[:, None] * (base if measure.name == "euclidean" else np.full(p, base.mean()))
        best = tried[int(np.argmax(values))]
        return dict(
            bandwidth_=_plain(best) if measure.name == "euclidean" else float(best[0]), bandwidths_tried_=tried, log_likelihoods_=values
        )

    @property
    def _shape(self) -> KernelShape:
        return KERNELS[self.kernel]

    def _measure(self, rows: Array) -> Measure:
        if self.algorithm == "kd_tree" and (not isinstance(self.metric, str) or self.metric in NOT_OF_TREES):
            raise BadParameter(
                f"KernelDensity(algorithm='kd_tree', metric={check.short(self.metric)}): invalid metric: there is no k-d tree for it, "
                "use algorithm='auto'"
            )
        measure = measure_of(self.metric, rows, 2.0, self.metric_params)
        if measure.name != "euclidean" and (np.ndim(self.bandwidth) or self.bandwidth == "isj"):
            raise BadParameter(
                f"KernelDensity(bandwidth={check.short(self.bandwidth)}, metric={check.short(self.metric)}): a bandwidth for each column "
                "is of Euclidean distances: give one number"
            )
        return measure

    def _publish(self, apart: Self) -> None:
        super()._publish(apart)
        self._sums = apart._sums

    def _objection(self) -> str | None:
        if self._rows.shape[1] != self.n_features_in_:
            return f"the rows have {self._rows.shape[1]} columns, not {self.n_features_in_}"
        h = np.asarray(self.bandwidth_)
        return None if ((h > 1e-100) & (h < 1e100)).all() else "a bandwidth is not a number above 0"

    # --- densities ---

    def _summed(self) -> Any:
        """What sums kernels over the rows; made anew where the model comes from a file or another process."""
        rows = self._rows
        with BUILDING:
            of, sums = getattr(self, "_sums", (None, None))
            if of is not rows:
                sums = sums_of(self._measure(rows), rows, self._row_weights(), self.bandwidth_, self._shape, self.rtol or EXACT)
                self._sums = rows, sums
        return sums

    def _row_weights(self) -> Array:
        found: Array = vars(self).get("_weights", np.ones(len(self._rows)))
        return found

    def _log_unit(self) -> float:
        """log h^d ∫ K."""
        p = self.n_features_in_
        return self._shape.log_integral(p) + float(np.log(np.broadcast_to(self.bandwidth_, p)).sum())

    def _log_density(self, X: Any) -> Array:
        whole, unit = float(self._row_weights().sum()), self._log_unit()
        with np.errstate(over="ignore", under="ignore"):
            absolute = float(min(self.atol * whole * np.exp(min(unit, 700.0)), 1e300))
        found = self._summed().log_sums(np.ascontiguousarray(ops.dense(X), dtype=np.float64), absolute)
        return np.asarray(found - np.log(whole) - unit)

    def score_samples(self, X: Any = None) -> Array:
        """The logarithm of the density at each row; without X at the rows of the fit, each of which is left out in its turn."""
        if X is not None:
            return super().score_samples(X)
        check.check_fitted(self)
        w = self._row_weights()
        if float(w.sum()) <= 1 or len(w) < 2:
            raise BadInput("score_samples(): there is one row, and none is left when it is left out: give X")
        return np.asarray(self._summed().left_out(self._rows, w, np.arange(len(w))) - self._log_unit())

    def _support(self) -> tuple[Array, Array]:
        if not self._shape.compact or self._measure(self._rows).name != "euclidean":
            return super()._support()
        return self._rows.min(axis=0) - self.bandwidth_, self._rows.max(axis=0) + self.bandwidth_

    def _kinks(self) -> list[Array]:
        h = np.broadcast_to(self.bandwidth_, self.n_features_in_)
        ends = [-1.0, 1.0] * self._shape.compact + [0.0] * self._shape.pointed
        return [np.unique(np.add.outer(np.array(ends) * one, column)) for one, column in zip(h, self._rows.T, strict=True)]

    def _cdf(self, X: Array) -> Array:
        w, h = self._row_weights(), float(np.ravel(self.bandwidth_)[0])
        rows, weights = self._rows[:, 0], w / w.sum()
        step = max(1, PAIRS // len(rows))

        def below(start: int) -> Array:
            u = (X[start : start + step].astype(np.float64) - rows) / h
            return np.asarray(self._shape.below(u.clip(-1, 1) if self._shape.compact else u) @ weights)

        return np.concatenate(each(below, list(range(0, len(X), step)))).clip(0, 1) if len(X) else np.empty(0)

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        heaps = np.cumsum(self._row_weights())
        chosen = np.searchsorted(heaps, rng.random(n) * heaps[-1], side="right").clip(0, len(heaps) - 1)
        direction = rng.standard_normal((n, self.n_features_in_))
        direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
        away = self._shape.radius(rng, n, self.n_features_in_)[:, None] * direction
        return np.asarray(self._rows[chosen] + away * self.bandwidth_)


def _plain(h: Array) -> Any:
    """The bandwidth of one column is a number."""
    return float(h[0]) if len(h) == 1 else h
