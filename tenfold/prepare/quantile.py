"""Columns spread evenly, or like normal numbers, by their quantiles."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.prepare.ordered import Column, Ordered, Ranks
from tenfold.prepare.rank import interpolate
from tenfold.solve.sketch import Sample

EDGE = 1e-7  # shares nearer to 0 or 1 than this are the ends: a normal number beyond is 5.2 at most


@estimator
class QuantileTransformer(Ordered):
    """QuantileTransformer: each column spread evenly between 0 and 1, or like standard normal numbers.

    Model       u = F(x), with F the distribution function of the column, linear between its quantiles; z = u, or
                z = Φ⁻¹(u), within ±5.2
    Objective   quantiles by linear interpolation over the values that are not missing; a row of weight k counts k times
    Algorithm   n_quantiles quantiles of `subsample` rows drawn at random, those that scikit-learn draws with the same seed, or of all
                of them where subsample=None or X is sparse; of streams from a sketch of all rows (KLL); ranks are within
                `rank_error_` (99 %)
    Cost        O(n p + m p log m) time for m rows looked at, one pass; of streams O(p) memory
    Fails when  rows lie beyond those of the fit: they get the ends; sparse X holds negative values (refused, unless
                ignore_implicit_zeros=True): zeros that are not stored stay zeros; missing values stay missing
    Reference   Bartlett 1947; Beasley, Erickson & Allison 2009

    Example
    -------
    >>> import tenfold
    >>> model = tenfold.QuantileTransformer(n_quantiles=5).fit([[1.0], [2.0], [4.0], [8.0], [100.0]])
    >>> model.transform([[4.0], [6.0], [1000.0]]).tolist()
    [[0.5], [0.625], [1.0]]
    """

    n_quantiles_: int = learned("int:k", "number of quantiles: no more than there are rows")
    quantiles_: Array = learned("real(k,p)", "quantiles of each column")
    references_: Array = learned("float(k)", "the shares they belong to")
    rank_error_: float = learned("float", "bound on the error of ranks, as a share of the rows, at 99 %; 0: exact")
    stats_: Any = learned("Ranks(p)|Sample(p)", "a sketch, for partial_fit and merge (Sample: in files of 0.4)", optional=True)

    sparse = True
    exempt: ClassVar[dict[str, str]] = {"sparse": "zeros that are not stored stay zeros, as in scikit-learn; stored ones become shares"}

    _: KW_ONLY
    n_quantiles: int = param(default=1000, at_least=1, doc="number of quantiles")
    output_distribution: str = param(default="uniform", one_of=("uniform", "normal"), doc="how z is spread")
    ignore_implicit_zeros: bool = param(default=False, doc="of sparse X, look at the values that are stored alone")
    subsample: int | None = param(
        default=10_000, at_least=1, doc="rows of a larger dense table in memory that are looked at, drawn at random; None: all"
    )
    random_state: object = param(default=None, doc="seed of the rows drawn; None: NumPy's own generator")
    copy: bool = param(default=True, doc="False lets transform write over X")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_quantiles": 20}, {"n_quantiles": 15, "subsample": None, "output_distribution": "normal"}]

    def _check(self) -> None:
        if self.subsample is not None and self.n_quantiles > self.subsample:
            raise BadParameter(
                f"QuantileTransformer(subsample={self.subsample}, n_quantiles={self.n_quantiles}): The number of quantiles cannot be "
                f"greater than the number of samples used. Got {self.n_quantiles} quantiles and {self.subsample} samples."
            )

    def _dense(self, X: Any) -> Array:
        """Zeros that are not stored are missing where they are to be ignored."""
        if not ops.is_sparse(X) or not self.ignore_implicit_zeros:
            return super()._dense(X)
        dense, stored = np.full(X.shape, np.nan, dtype=X.dtype), X.tocoo()
        dense[stored.row, stored.col] = stored.data
        return dense

    def _summarize(self, block: Block) -> Any:
        if ops.is_sparse(block.X):
            self._check_sign(block.X)
        elif self.ignore_implicit_zeros:
            warn("'ignore_implicit_zeros' takes effect only with sparse matrix. This parameter has no effect.", DataWarning, stacklevel=2)
        return super()._summarize(block)

    def _check_sign(self, X: Any) -> None:
        if not self.ignore_implicit_zeros and len(X.data) and np.nanmin(X.data) < 0:
            raise BadInput(
                "QuantileTransformer only accepts non-negative sparse matrices: zeros that are not stored stay zeros; use X.toarray(), or "
                "set ignore_implicit_zeros=True"
            )

    def _drawn(self, X: Any) -> Array | None:
        if self.subsample is None or X.shape[0] <= self.subsample or ops.is_sparse(X):  # what is stored may be rare
            return None
        rows = np.arange(len(X))
        legacy_generator(self.random_state).shuffle(rows)
        return np.sort(rows[: self.subsample])

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self._is_exact(source):
            vars(self)["_shares"] = self._spread(float(source.n_rows or 0))
        try:
            return (yield from super()._learn(source))
        finally:
            vars(self).pop("_shares", None)

    def _solve(self, stats: Any) -> dict[str, Any]:
        vars(self)["_shares"] = self._spread(stats.sketch.n)
        try:
            return super()._solve(stats)
        finally:
            vars(self).pop("_shares", None)

    def _spread(self, total: float) -> Array:
        """Shares 0, ..., 1, as many as there are quantiles."""
        k = max(1, min(int(self.n_quantiles), int(total)))
        if k < self.n_quantiles:
            warn(
                f"n_quantiles ({self.n_quantiles}) is greater than the total number of samples ({int(total)}). n_quantiles is set to "
                "n_samples.",
                DataWarning,
                stacklevel=3,
            )
        return np.linspace(0, 1, k)

    def _fit_column(self, column: Column) -> Array:
        return column.quantiles(vars(self)["_shares"])

    def _assemble(self, found: list[Array]) -> dict[str, Any]:
        return self._tabled(found, vars(self)["_shares"])

    def _tabled(self, found: list[Array], shares: Array) -> dict[str, Any]:
        table = np.array(found).T
        if self.ignore_implicit_zeros:
            table = np.where(np.isnan(table), 0.0, table)  # a column of which nothing is stored
        return dict(
            n_quantiles_=len(shares), quantiles_=np.ascontiguousarray(np.maximum.accumulate(table, axis=0)), references_=shares
        )

    def _objection(self) -> str | None:
        held = vars(self).get("stats_")
        if isinstance(held, Sample):  # of a file of 0.4: its rows go on as a sketch
            vars(self)["stats_"] = Ranks.of(held.rows, held.weight)
        rise = not (np.diff(self.quantiles_, axis=0) < 0).any() and bool((np.diff(self.references_) > 0).all())
        return None if rise else "the quantiles do not rise"

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            self._check_sign(X)
        return self._mapped(X, self._column)

    def _inverse(self, Z: Any) -> Any:
        return self._mapped(Z, self._column_back)

    def _mapped(self, X: Any, column: Any) -> Any:
        """Each column through a function; of sparse rows the values that are stored."""
        if not ops.is_sparse(X):
            Z = np.empty_like(X)
            for j in range(X.shape[1]):
                Z[:, j] = column(np.array(X[:, j], dtype=np.float64), j)
            return Z
        columns = X.tocsc()
        data = columns.data.astype(np.float64)
        for j in range(X.shape[1]):
            at = slice(columns.indptr[j], columns.indptr[j + 1])
            data[at] = column(data[at], j)
        columns = type(columns)((data.astype(X.dtype), columns.indices, columns.indptr), shape=X.shape)
        return columns.tocsr()

    def _column(self, x: Array, j: int) -> Array:
        points, shares, normal = self.quantiles_[:, j], self.references_, self.output_distribution == "normal"
        if np.isnan(points[0]):
            return np.full(len(x), np.nan)
        low, high = (x - EDGE < points[0], x + EDGE > points[-1]) if normal else (x == points[0], x == points[-1])
        z = interpolate(x, points, shares)
        if (points[1:] == points[:-1]).any():  # the middle of the shares of a value that is several quantiles
            z = (z - interpolate(-x, -points[::-1], -shares[::-1])) / 2
        z[high], z[low] = 1.0, 0.0
        return normal_numbers(z) if normal else z

    def _column_back(self, z: Array, j: int) -> Array:
        points, normal = self.quantiles_[:, j], self.output_distribution == "normal"
        if normal:
            from scipy.special import ndtr

            z = ndtr(z)
        low, high = (z - EDGE < 0, z + EDGE > 1) if normal else (z == 0, z == 1)
        x = interpolate(z, self.references_, points)
        x[high], x[low] = points[-1], points[0]
        return x


def normal_numbers(u: Array) -> Array:
    """Φ⁻¹(u), within Φ⁻¹(1e-7) and Φ⁻¹(1 − 1e-7)."""
    from scipy.special import ndtri

    edge = EDGE - np.spacing(1)
    return np.asarray(np.clip(ndtri(u), ndtri(edge), ndtri(1 - edge)))
