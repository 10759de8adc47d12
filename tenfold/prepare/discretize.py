"""Columns of numbers as bins."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, as_floats
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner, Scan
from tenfold.core.numbers import check_finite, column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.core.stats import Rows
from tenfold.prepare.cuts import cluster_cuts, weighted_quantiles
from tenfold.solve.class_cuts import class_cuts

METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
    "median_unbiased", "normal_unbiased",
)  # fmt: skip
OF_WEIGHTS = ("inverted_cdf", "averaged_inverted_cdf")  # quantiles that weighted values have
NARROW = 1e-8  # bins of no more width are none
FEW_CUTS = 24  # a column is compared with so few cuts one by one as quickly as it is searched


@estimator
class KBinsDiscretizer(Transformer, Estimator):
    """KBinsDiscretizer: each column of numbers cut into bins.

    Model       z = b where e_b ≤ x < e_(b+1);  values beyond the ends are in the first and the last bin
    Objective   bins of equal width ("uniform"), of equal weight ("quantile"), around the centres of k-means in one
                dimension ("kmeans"), or as many as pay for their description in telling the classes of y apart ("entropy")
    Algorithm   one pass keeps the rows, or draws `subsample` of them with replacement; columns are sorted; Lloyd's steps
                by binary search; entropy: recursive cuts, each accepted by the MDL criterion
    Cost        O(m p log m) time and O(m p) memory for m rows, or `subsample` of them
    Fails when  a column is constant: it is one bin, with a warning; bins of width below 1e-8 are left out
    Reference   Dougherty, Kohavi & Sahami 1995; entropy: Fayyad & Irani 1993

    Example
    -------
    >>> import tenfold
    >>> bins = tenfold.KBinsDiscretizer(n_bins=2, encode="ordinal", strategy="uniform").fit([[0.0], [1.0], [8.0]])
    >>> bins.transform([[3.0], [5.0], [99.0]]).tolist()
    [[0.0], [1.0], [1.0]]
    >>> bins.inverse_transform([[1.0]]).tolist()
    [[6.0]]
    """

    edges_: list[Array] = learned("[real(*)](p)", "the edges of the bins of each column")
    n_bins_: Array = learned("int(p)", "how many bins each column has")

    n_bins: Any = param(default=5, at_least=2, doc="bins of a column, or of each; entropy finds their number itself")
    _: KW_ONLY
    encode: str = param(
        default="onehot",
        one_of=("onehot", "onehot-dense", "ordinal"),
        doc="a column 0/1 for each bin, as CSR or dense (steps of a pipeline get dense rows); or the number of the bin",
    )
    strategy: str = param(default="quantile", one_of=("uniform", "quantile", "kmeans", "entropy"), doc="where to cut; entropy needs y")
    quantile_method: str = param(
        default="averaged_inverted_cdf", one_of=METHODS, doc="how quantiles lie between values, as in numpy.quantile"
    )
    dtype: Any = param(default=None, doc="float32 or float64: the type of what transform returns; None: that of X")
    subsample: int | None = param(default=200_000, at_least=1, doc="most rows that are looked at, drawn with replacement; None: all")
    random_state: Any = param(default=None, doc="seed of the draw")

    kind: ClassVar[str] = "keeps rows"
    double: ClassVar[bool] = True

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_bins": 3, "encode": "ordinal"},
            {"n_bins": 4, "encode": "ordinal", "strategy": "uniform"},
            {"n_bins": 3, "encode": "ordinal", "strategy": "kmeans"},
            {"encode": "ordinal", "strategy": "entropy"},
        ]

    @property
    def target(self) -> str:
        """Entropy is that of classes."""
        return "label" if isinstance(self.strategy, str) and self.strategy == "entropy" else "none"

    @property
    def bin_edges_(self) -> Array:
        """The edges of the bins of each column: an array of arrays."""
        check.check_fitted(self)
        edges = np.empty(len(self.edges_), dtype=object)
        edges[:] = self.edges_
        return edges

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        wanted = self._wanted_bins(source.n_features)
        self._out_type()
        X, y, w = yield from self._sample(source)
        same = bool((w == w[0]).all())
        if not same and self.strategy == "quantile" and self.quantile_method not in OF_WEIGHTS:
            raise BadParameter(
                "When fitting with strategy='quantile' and sample weights, quantile_method should either be set to "
                f"'averaged_inverted_cdf' or 'inverted_cdf', got quantile_method='{self.quantile_method}' instead."
            )
        edges = [self._cut(np.ascontiguousarray(X[:, j]), y, w, same, int(k), j) for j, k in enumerate(wanted)]
        return dict(edges_=edges, n_bins_=np.array([len(one) - 1 for one in edges]))

    def _sample(self, source: Source) -> Learner[Any]:
        """X, y and w: all rows, or as many as `subsample` allows, drawn by their weights, each then of weight one."""
        n, most = source.n_rows, self.subsample
        if most is None or (n is not None and n <= most):
            return (yield Keep())
        w = (yield _weights_of).whole()
        n = len(w)
        if n <= most:
            return (yield Keep())
        draw = legacy_generator(self.random_state)
        rows = draw.randint(0, n, size=most) if (w == w[0]).all() else draw.choice(n, size=most, p=w / w.sum())
        taken: Taken = yield Scan(partial(_take, np.sort(rows)), Taken())
        return np.concatenate(taken.X), np.concatenate(taken.y) if taken.y else np.empty(0), np.ones(most)

    def _wanted_bins(self, p: int) -> Array:
        if isinstance(self.n_bins, (int, np.integer)):
            return np.full(p, int(self.n_bins))
        try:
            given = np.asarray(self.n_bins)
            if given.ndim != 1 or len(given) != p:
                raise BadParameter("n_bins must be a scalar or array of shape (n_features,).")
            bad = np.flatnonzero((given < 2) | (given != np.floor(given)))
        except TypeError:
            raise BadParameter(
                f"KBinsDiscretizer(n_bins={check.short(self.n_bins)}): must be a whole number, or one for each column"
            ) from None
        if len(bad):
            raise BadParameter(
                f"KBinsDiscretizer received an invalid number of bins at indices {', '.join(map(str, bad))}. Number of bins must be at "
                f"least 2, and must be an int: n_bins={check.short(self.n_bins)}"
            )
        return given.astype(np.int64)

    @np.errstate(over="ignore", invalid="ignore")  # ends of float32 columns may lie further apart than float32 reaches
    def _cut(self, column: Array, y: Array, w: Array, same: bool, k: int, j: int) -> Array:
        """The edges of one column."""
        low, high = float(column.min()), float(column.max())
        if low == high:
            where = column_name(vars(self).get("feature_names_in_"), j)
            warn(f"Feature {j} is constant and will be replaced with 0. ({where}: it is one bin)", DataWarning, stacklevel=4)
            return np.array([-np.inf, np.inf])
        if self.strategy == "uniform":
            return np.linspace(low, high, k + 1)
        levels = np.linspace(0, 100, k + 1) / 100
        if self.strategy == "quantile" and same:
            method: Any = self.quantile_method
            edges = np.asarray(np.quantile(column, levels, method=method), dtype=np.float64)
        else:
            order = np.argsort(column, kind="stable")
            values, w = column[order], w[order]
            if self.strategy == "entropy":
                return np.concatenate([[low], class_cuts(values, y[order], w, len(self.classes_)), [high]])
            if self.strategy == "quantile":
                edges = weighted_quantiles(values, w, levels, self.quantile_method == "averaged_inverted_cdf")
            else:
                edges = np.concatenate([[low], cluster_cuts(values, w, k), [high]])
        wide = np.append(True, np.diff(edges) > NARROW)
        if not wide.all():
            warn(
                f"Bins whose width are too small (i.e., <= 1e-8) in feature {j} are removed. Consider decreasing the number of bins.",
                DataWarning,
                stacklevel=4,
            )
        return np.asarray(edges[wide])

    # --- transform ---

    def _out_type(self) -> Any:
        """The type that `transform` returns; None for that of X."""
        if self.dtype is None:
            return None
        try:
            kind = np.dtype(self.dtype)
        except TypeError:
            kind = np.dtype(object)
        if kind not in (np.float32, np.float64):
            raise BadParameter(f"KBinsDiscretizer(dtype={check.short(self.dtype)}): must be None, float32 or float64")
        return kind

    def _saved_params(self) -> dict[str, Any]:
        kind = self._out_type()
        return super()._saved_params() | {"dtype": None if kind is None else kind.name}

    def _codes(self, X: Array) -> Array:
        """The number of the bin of each value, (rows, columns)."""
        inner = [edges[1:-1] for edges in self.edges_]
        most = max(map(len, inner), default=0)
        if most > FEW_CUTS:
            out = np.empty(X.shape, dtype=np.int64)
            for j, cuts in enumerate(inner):
                out[:, j] = np.searchsorted(cuts, X[:, j], side="right")
            return out
        table = np.full((most, len(inner)), np.inf)  # cut number b of every column
        for j, cuts in enumerate(inner):
            table[: len(cuts), j] = cuts
        codes = np.zeros(X.shape, dtype=np.int8)
        above = np.empty(X.shape, dtype=bool)
        for cuts in table:
            codes += np.greater_equal(X, cuts, out=above).view(np.int8)
        return codes

    def _transform(self, X: Array) -> Array:
        codes = self._codes(X)
        if self.encode == "ordinal":
            return codes.astype(X.dtype)
        first = np.cumsum([0, *self.n_bins_.tolist()])
        out = np.zeros((len(X), first[-1]), dtype=X.dtype)
        np.put_along_axis(out, codes + first[:-1], 1, axis=1)
        return out

    def _sparse(self, X: Array) -> Any:
        from scipy.sparse import csr_matrix

        first, (n, p) = np.cumsum([0, *self.n_bins_.tolist()]), X.shape
        kind = np.int32 if max(n * p, first[-1]) < 2**31 else np.int64
        columns = np.add(self._codes(X), first[:-1].astype(kind), dtype=kind).ravel()
        starts = np.arange(0, n * p + 1, p, dtype=kind)
        return csr_matrix((np.ones(n * p, dtype=X.dtype), columns, starts), shape=(n, int(first[-1])))

    def transform(self, X: Any) -> Any:
        """The bins of the values: numbers, or a column 0/1 for each bin (a CSR matrix with encode="onehot")."""
        return self._dressed(map_rows(self._undressed, check.check_predict(self, X)), X)

    def _sparse_row(self) -> tuple[float, int] | None:
        return (len(self.n_bins_), int(self.n_bins_.sum())) if self.encode == "onehot" else None

    def _undressed(self, X: Any) -> Any:
        rows = self._sparse(X) if self.encode == "onehot" else self._transform(X)
        kind = self._out_type()
        return rows if kind is None else rows.astype(kind, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """The middle of the bin of each value."""
        check.check_fitted(self)
        Z, _ = check.as_table(self, X.toarray() if ops.is_sparse(X) else X)
        Z = as_floats(Z)
        check_finite(Z, slice(0, None), None, missing=False, double=True)
        first = np.cumsum([0, *self.n_bins_.tolist()])
        width = len(self.n_bins_) if self.encode == "ordinal" else int(first[-1])
        if Z.shape[1] != width:
            raise BadInput(f"Incorrect number of features. Expecting {width}, received {Z.shape[1]}: give what transform returns")
        out = np.empty((len(Z), len(self.n_bins_)), dtype=Z.dtype)
        for j, edges in enumerate(self.edges_):
            middle = (edges[1:] + edges[:-1]) / 2 if np.isfinite(edges).all() else np.full(1, np.nan)
            code = Z[:, j].astype(np.int64) if self.encode == "ordinal" else Z[:, first[j] : first[j + 1]].argmax(axis=1)
            if len(code) and not (-len(middle) <= code.min() and code.max() < len(middle)):
                raise BadInput(f"{column_name(vars(self).get('feature_names_in_'), j)} has {len(middle)} bins, and there is a {code.max()}")
            out[:, j] = middle[code]
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns: those of X, or column_bin."""
        names = super().get_feature_names_out(input_features)
        if self.encode == "ordinal":
            return names
        return np.array([f"{name}_{float(b)}" for name, k in zip(names, self.n_bins_, strict=True) for b in range(k)], dtype=object)

    def _objection(self) -> str | None:
        """Edges rise, and there is one more of them than bins."""
        for j, edges in enumerate(self.edges_):
            if len(edges) != self.n_bins_[j] + 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
                return f"the edges of column {j} are not those of {self.n_bins_[j]} bins"
        return None


@dataclass
class Taken:
    """Rows that were drawn, of the blocks so far."""

    seen: int = 0
    X: list[Array] = field(default_factory=list)
    y: list[Array] = field(default_factory=list)


def _weights_of(block: Block) -> Rows:
    return Rows.of(block.w)


def _take(rows: Array, taken: Taken, block: Block) -> Taken:
    """Of the next block those rows of the table (numbers in order, some more than once) that are its own."""
    stop = taken.seen + len(block)
    own = rows[np.searchsorted(rows, taken.seen) : np.searchsorted(rows, stop)] - taken.seen
    y = [] if block.y is None else [block.y[own]]
    return Taken(stop, [*taken.X, ops.dense(block.X)[own]], [*taken.y, *y])
