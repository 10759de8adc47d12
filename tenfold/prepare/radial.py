"""Radial basis functions: how near a row is to each of some centres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.core.threads import single_blas
from tenfold.solve.lloyd import Clusters, plus_plus, random_rows
from tenfold.solve.sketch import Sample

SAMPLED = 4096  # distinct rows from which centres are found
ROUNDS = 20  # of k-means: centres need not be the best
KERNELS = ("gaussian", "multiquadric", "inverse_multiquadric", "thin_plate")
WIDE, AT_ONCE = 48, 48  # columns from which distances come from products, and rows of each
IN_CACHE = 16_384  # distances that are worked on at a time
FARTHEST = 1e200  # squared distances beyond are all the same


@estimator
class RadialBasisFeatures(Transformer, Estimator):
    """RadialBasisFeatures: one column for each centre, a function of the distance to it.

    Model       zₖ = φ(‖(x − cₖ) / h‖),  φ(d) = exp(−d²/2), √(1 + d²), 1 / √(1 + d²) or d² log d
    Objective   none: centres where the rows are; h the spread of a column times the median distance from a centre
                to the next one, so that neighbours overlap
    Algorithm   one pass for up to 4,096 rows chosen by a hash; k-means from k-means++ seeds on these
    Cost        one pass, O(4096 k p) for the centres; O(n k p) to transform; memory of the rows chosen
    Fails when  there are many columns: every row is then far from all centres; fewer distinct rows than centres
                (fewer columns come out, with a warning)
    Reference   Broomhead & Lowe 1988; Moody & Darken 1989

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> model = tenfold.make_pipeline(tenfold.RadialBasisFeatures(8), tenfold.Ridge(1e-6)).fit(x, np.sin(x[:, 0]))
    >>> round(model.score(x, np.sin(x[:, 0])), 3)
    1.0
    """

    centers_: Array = learned("float(k,p)", "the centres", rows=("centers", "sample"))
    bandwidth_: Array = learned("float(p)", "bandwidth of each column")

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "rows are chosen by a hash, which reads the columns in their order",
    }

    n_centers: int = param(default=8, at_least=1, at_most=4096, doc="number of centres, and of columns that come out")
    _: KW_ONLY
    centers: object = param(
        default="kmeans", doc="'kmeans', 'sample' (rows of the table), or the centres, one in each row"
    )
    bandwidth: object = param(default=None, doc="h: a number, or one for each column; None: from the centres")
    kernel: str = param(default="gaussian", one_of=KERNELS, doc="φ: how the function changes with distance")
    random_state: int | RandomState | None = param(default=0, doc="seed of the rows chosen and of the centres")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        p = source.n_features
        centers, given = self._given_centers(p), self._given_bandwidth(p)
        rng = generator_of(self)
        sample = yield partial(_sample, k=SAMPLED, seed=seed_of(rng))
        mean = sample.weight @ sample.rows / sample.weight.sum()
        spread = np.sqrt(sample.weight @ (sample.rows - mean) ** 2 / sample.weight.sum())
        spread = np.where(spread > np.maximum(1e-13 * np.abs(mean), 1e-100), spread, 1.0)
        if centers is None:
            centers = mean + spread * self._found(replace(sample, rows=(sample.rows - mean) / spread), rng)
        if given is None:
            given = spread * _gap((centers - mean) / spread)
        return dict(centers_=np.ascontiguousarray(centers), bandwidth_=given)

    def _found(self, sample: Sample, rng: np.random.Generator) -> Array:
        k = min(self.n_centers, len(sample.rows))
        if k < self.n_centers:
            warn(
                f"RadialBasisFeatures(n_centers={self.n_centers}): only {k} distinct rows, so {k} centres",
                Degenerate,
                stacklevel=2,
            )
        if self.centers == "sample":
            return random_rows(sample.rows, sample.weight, k, rng)
        centers = plus_plus(sample.rows, sample.weight, k, rng)
        for _ in range(ROUNDS):
            groups = Clusters.of(sample.rows, sample.weight, centers)
            filled = groups.weight[:, None] > 0
            moved = np.where(filled, groups.sum / np.where(filled, groups.weight[:, None], 1.0), centers)
            if np.array_equal(moved, centers):
                break
            centers = moved
        return centers

    def _given_centers(self, p: int) -> Array | None:
        if isinstance(self.centers, str) and self.centers in ("kmeans", "sample"):
            return None
        centers = _numbers(self.centers)
        if centers.ndim != 2 or centers.shape[1] != p or not len(centers) or not (np.abs(centers) < 1e100).all():
            raise BadParameter(
                f"RadialBasisFeatures(centers={check.short(self.centers)}): must be 'kmeans', 'sample' or a table "
                f"of finite numbers with {p} columns"
            )
        return centers

    def _given_bandwidth(self, p: int) -> Array | None:
        if self.bandwidth is None:
            return None
        h = _numbers(self.bandwidth)
        sound = h.ndim <= 1 and h.size in (1, p) and bool(((h > 1e-100) & (h < 1e100)).all())
        if not sound or isinstance(self.bandwidth, (bool, str)):
            raise BadParameter(
                f"RadialBasisFeatures(bandwidth={check.short(self.bandwidth)}): must be a number above 0, or one "
                f"for each of {p} columns"
            )
        return np.broadcast_to(h.reshape(-1), p).copy()

    def _transform(self, X: Any) -> Array:
        squares = self._by_columns if len(self.bandwidth_) < WIDE else self._by_products
        Z = np.empty((X.shape[0], len(self.centers_)), dtype=X.dtype)
        for rows, d2 in squares(X):
            Z[rows] = _shape(np.minimum(d2, FARTHEST), self.kernel)
        return Z

    def _by_columns(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Squared distances of some rows at a time, which stay in the cache from column to column: exact, also far from the origin."""
        n, k = X.shape[0], len(self.centers_)
        rows, places = max(1, IN_CACHE // k), np.ascontiguousarray(self.centers_.T)
        d, term = np.empty((rows, k)), np.empty((rows, k))
        for start in range(0, n, rows):
            part = X[start : start + rows]
            some, of_column = d[: len(part)], term[: len(part)]
            some[:] = 0.0
            with np.errstate(over="ignore"):
                for j, h in enumerate(self.bandwidth_):
                    np.subtract(part[:, [j]].astype(np.float64), places[j], out=of_column)
                    of_column /= h
                    np.square(of_column, out=of_column)
                    some += of_column
            yield slice(start, start + rows), some

    def _by_products(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """|a − c|² = |a|² + |c|² − 2 a·c, around the middle of the centres: many columns in one product, to 1e-16 of |a|² + |c|².

        Every product is of as many rows, the last one filled up, so that a row has the same bits wherever it stands."""
        middle = self.centers_.mean(axis=0)
        C = np.ascontiguousarray(((self.centers_ - middle) / self.bandwidth_).T)
        own = np.square(C).sum(axis=0)
        A = np.zeros((AT_ONCE, len(middle)))
        for start in range(0, X.shape[0], AT_ONCE):
            part = X[start : start + AT_ONCE]
            with single_blas, np.errstate(over="ignore", invalid="ignore"):
                np.divide(np.subtract(part, middle, dtype=np.float64), self.bandwidth_, out=A[: len(part)])
                d2 = np.square(A).sum(axis=1)[:, None] + own - 2 * (A @ C)
            d2[np.isnan(d2)] = np.inf  # beyond all numbers
            yield slice(start, start + AT_ONCE), np.maximum(d2[: len(part)], 0.0)

    def _names_out(self) -> list[str]:
        return [f"radial{k}" for k in range(len(self.centers_))]


def _sample(block: Block, k: int, seed: int) -> Sample:
    return Sample.of(np.asarray(ops.dense(block.X), dtype=np.float64), block.w, k, seed)


def _numbers(values: Any) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty((0, 0))


def _gap(Z: Array) -> float:
    """The median distance from a centre to the next one; 1 where there is but one place."""
    if len(Z) < 2:
        return 1.0
    d = np.sqrt(((Z[:, None] - Z) ** 2).sum(axis=2))
    np.fill_diagonal(d, np.inf)
    middle = float(np.median(d.min(axis=1)))
    return middle if middle > 1e-12 else 1.0


def _shape(d2: Array, kernel: str) -> Array:
    if kernel == "gaussian":
        return np.exp(-0.5 * d2)
    if kernel == "thin_plate":
        return 0.5 * d2 * np.log(np.where(d2 > 0, d2, 1.0))
    root = np.sqrt(1 + d2)
    return np.asarray(root if kernel == "multiquadric" else 1 / root)
