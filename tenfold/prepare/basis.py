"""New columns from old ones: powers and products, and any function of the rows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, as_floats
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts

MOST_COLUMNS = 1 << 22  # more would be a slip: a row of them is 32 MiB
HIGHEST = 1 << 16  # degrees below this


@estimator
class PolynomialFeatures(Transformer, OnePass):
    """PolynomialFeatures: powers of the columns and their products.

    Model       the constant 1, and all products x₁^a₁ ⋯ x_p^a_p with lowest ≤ a₁ + ... + a_p ≤ highest degree
    Objective   none: nothing is learned but the number of columns
    Algorithm   each product is one of a degree less times one column, a run of them at a time
    Cost        O(n m) time for m = C(p + d, d) new columns; one pass over X when fitted, to check it
    Fails when  m does not fit in memory (refused before it is tried); powers overflow (refused, with the row)
    Reference   Draper & Smith 1998, ch. 12

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[2.0, 3.0]])
    >>> basis = tenfold.PolynomialFeatures(2).fit(X)
    >>> basis.transform(X).tolist()
    [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    >>> basis.get_feature_names_out().tolist()
    ['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    powers_: Array = learned("int(m,p)>=0", "the power of each column in each product")
    n_output_features_: int = learned("int:m", "number of products")
    stats_: Any = learned("Counts(1)", "weight of the rows", optional=True)

    stateless: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "products are ordered by columns, so other columns first give another order"
    }

    degree: int | tuple[Any, ...] = param(default=2, at_least=0, doc="the highest degree, or a pair (lowest, highest)")
    _: KW_ONLY
    interaction_only: bool = param(default=False, doc="products of different columns only, no powers")
    include_bias: bool = param(default=True, doc="the constant column 1 as well")
    order: str = param(default="C", one_of=("C", "F"), doc="no effect: rows are made one after the other")

    def _summarize(self, block: Block) -> Counts:
        return Counts.of_rows(block)

    def _solve(self, stats: Counts) -> dict[str, Any]:
        p, count = self.n_features_in_, self._count()
        if count > MOST_COLUMNS:
            raise BadParameter(
                f"PolynomialFeatures(degree={self.degree}) of {p} columns makes {count:.3g} columns, more "
                f"than {MOST_COLUMNS:,}: take a lower degree, or interaction_only=True"
            )
        if count == 0:
            raise BadParameter(
                f"PolynomialFeatures(degree={self.degree}, include_bias={self.include_bias}) makes no "
                "columns: take a higher degree or include_bias=True"
            )
        powers = np.zeros((count, p), dtype=np.int64)
        for row, columns in zip(powers, self._products(), strict=True):
            np.add.at(row, list(columns), 1)
        return dict(n_output_features_=count, powers_=powers)

    def _count(self) -> int:
        """The number of products."""
        p, (least, most) = self.n_features_in_, self._degrees()
        if self.interaction_only:
            return sum(math.comb(p, d) for d in range(max(1, least), min(most, p) + 1)) + self._bias()
        return math.comb(p + most, most) - math.comb(p + max(1, least) - 1, max(1, least) - 1) + self._bias()

    def _objection(self) -> str | None:
        return None if self._count() == self.n_output_features_ else "there are not as many products as the degree makes"

    def _bias(self) -> bool:
        return bool(self.include_bias)

    def _degrees(self) -> tuple[int, int]:
        """(least, most), checked."""
        given = self.degree if isinstance(self.degree, (tuple, list)) else (0, self.degree)
        whole = len(given) == 2 and all(isinstance(d, (int, np.integer)) and not isinstance(d, bool) for d in given)
        if not whole or not 0 <= given[0] <= given[1] < HIGHEST:
            raise BadParameter(
                f"PolynomialFeatures(degree={check.short(self.degree)}): must be a whole number from 0 to "
                f"{HIGHEST - 1:,}, or a pair of them, the lower first"
            )
        return int(given[0]), int(given[1])

    def _products(self) -> Iterator[tuple[int, ...]]:
        """The columns of each product, in the order of the new columns."""
        least, most = self._degrees()
        choose = itertools.combinations if self.interaction_only else itertools.combinations_with_replacement
        if self._bias():
            yield ()
        for d in range(max(1, least), min(most, self.n_features_in_) + 1 if self.interaction_only else most + 1):
            yield from choose(range(self.n_features_in_), d)

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            return self._transform_sparse(X)
        least, most = self._degrees()
        n, p = X.shape
        out = np.empty((self.n_output_features_, n), dtype=X.dtype)  # columns as rows: runs are contiguous
        columns = np.ascontiguousarray(X.T)
        at = 0
        if self._bias():
            out[0], at = 1, 1
        before, first = (
            columns,
            np.arange(p),
        )  # products of a degree, and where those that begin with column j begin
        with np.errstate(over="ignore", under="ignore"):
            for d in range(1, most + 1):
                if d > 1:
                    before, first = self._next_degree(before, first, columns, out[at:] if d >= least else None)
                elif least <= 1:
                    out[at : at + p] = columns
                if d >= least:
                    at += len(before)
                if len(before) == 0:
                    break
        if not np.isfinite(out).all():
            row = int(np.flatnonzero(~np.isfinite(out).all(axis=0))[0])
            raise BadInput(f"powers of degree {most} overflow for row {row} of X: rescale the columns first")
        return np.ascontiguousarray(out.T)

    def _next_degree(self, before: Array, first: Array, columns: Array, out: Array | None) -> tuple[Array, Array]:
        """Products of one degree more: column j times those of the degree before that begin at j or later."""
        begin = np.append(first[1:], len(before)) if self.interaction_only else first
        sizes = len(before) - begin
        ends = np.cumsum(sizes)
        new = np.empty((ends[-1], columns.shape[1]), columns.dtype) if out is None else out[: ends[-1]]
        for j, column in enumerate(columns):
            np.multiply(before[begin[j] :], column, out=new[ends[j] - sizes[j] : ends[j]])
        return new, ends - sizes

    def _transform_sparse(self, X: Any) -> Any:
        """As above, with columns of a sparse matrix: a product is stored only where all its factors are."""
        from scipy import sparse

        least, most = self._degrees()
        columns = X.tocsc()
        parts = [sparse.csc_matrix(np.ones((X.shape[0], 1), dtype=X.dtype))] if self._bias() else []
        before, first = columns, np.arange(X.shape[1])
        for d in range(1, most + 1):
            if d > 1:
                begin = np.append(first[1:], before.shape[1]) if self.interaction_only else first
                runs = [before[:, b:].multiply(columns[:, [j]]).tocsc() for j, b in enumerate(begin)]
                before = sparse.hstack(runs, format="csc", dtype=X.dtype)
                first = np.cumsum([0] + [run.shape[1] for run in runs])[:-1]
            if before.shape[1] == 0:
                break
            if d >= least:
                parts.append(before)
        return sparse.hstack(parts, format="csr", dtype=X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        old = super().get_feature_names_out(input_features)
        names = []
        for row in self.powers_:
            factors = [f"{old[j]}^{row[j]}" if row[j] > 1 else str(old[j]) for j in np.flatnonzero(row)]
            names.append(" ".join(factors) or "1")
        return np.array(names, dtype=object)


@estimator
class FunctionTransformer(Transformer, OnePass):
    """FunctionTransformer: any function of the rows as a transformer.

    Model       z = f(x), row by row; without a function the rows as they are
    Objective   none: nothing is learned but the number of columns
    Algorithm   the function is called on blocks of rows: what it makes of a row must not depend on others
    Cost        that of the function; one pass over X when fitted, to check it
    Fails when  the function raises, returns another number of rows, text, or values that are not finite
                (refused, with the row); a function cannot be saved, only the unchanged rows can
    Reference   Box & Cox 1964, on transformations before least squares

    Example
    -------
    >>> import numpy as np, tenfold
    >>> logs = tenfold.FunctionTransformer(np.log1p, np.expm1)
    >>> rows = logs.fit_transform([[0.0], [np.e - 1]])
    >>> rows.tolist(), logs.inverse_transform(rows).round(6).tolist()
    ([[0.0], [1.0]], [[0.0], [1.718282]])
    """

    n_output_features_: int = learned("int:m", "number of new columns")
    stats_: Any = learned("Counts(2)", "weight of the rows", optional=True)

    stateless: ClassVar[bool] = True
    invertible: ClassVar[bool] = True

    func: object = param(default=None, doc="f(X): as many rows as X; None leaves the rows as they are")
    inverse_func: object = param(default=None, doc="the inverse of func, for inverse_transform")
    _: KW_ONLY
    validate: bool = param(default=False, doc="no effect: rows are always checked")
    accept_sparse: bool = param(default=False, doc="give sparse rows to the function as they are")
    check_inverse: bool = param(default=True, doc="no effect: the inverse is believed")
    feature_names_out: object = param(
        default=None, doc="'one-to-one', or a function of self and the old names; None: names if the width stays"
    )
    kw_args: dict[Any, Any] | None = param(default=None, doc="more arguments of func, by name")
    inv_kw_args: dict[Any, Any] | None = param(default=None, doc="more arguments of inverse_func, by name")

    @property
    def sparse(self) -> bool:
        """Whether the function takes them is for the user to decide."""
        return bool(self.accept_sparse) or self.func is None

    def _summarize(self, block: Block) -> Counts:
        width = self._applied(block.X, self.func, self.kw_args, "func").shape[1]
        return Counts(np.array([block.w.sum(), block.w.sum() * width]))

    def _solve(self, stats: Counts) -> dict[str, Any]:
        for name in ("func", "inverse_func"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise BadParameter(
                    f"FunctionTransformer({name}={check.short(getattr(self, name))}): must be a function or None"
                )
        names = self.feature_names_out
        if not (names is None or callable(names) or (isinstance(names, str) and names == "one-to-one")):
            raise BadParameter(
                f"FunctionTransformer(feature_names_out={check.short(names)}): must be 'one-to-one', a function or None"
            )
        return dict(n_output_features_=round(stats.weight[1] / stats.weight[0]))

    def _transform(self, X: Any) -> Any:
        return self._applied(X, self.func, self.kw_args, "func")

    def inverse_transform(self, X: Any) -> Any:
        """Rows back as they were, by inverse_func."""
        check.check_fitted(self)
        Z, _ = check.as_table(self, X)
        return map_rows(self._inverse, as_floats(Z))

    def _inverse(self, Z: Any) -> Any:
        return self._applied(Z, self.inverse_func, self.inv_kw_args, "inverse_func")

    def _applied(self, X: Any, function: Any, more: dict[str, Any] | None, name: str) -> Any:
        """function(X), checked: a table of finite numbers with the rows of X."""
        if function is None or not callable(function):
            return X  # what cannot be called is refused by `_solve`
        if not ops.is_sparse(X):
            X = X.view()
            X.flags.writeable = False  # a function that changes its argument would change the user's table
        try:
            with np.errstate(all="ignore"):
                out = function(X, **(more or {}))
        except Exception as wrong:
            raise BadInput(f"{name} raised {type(wrong).__name__}: {check.short(str(wrong))}") from wrong
        if not ops.is_sparse(out):
            out = np.asarray(out)
        if out.ndim != 2 or out.shape[0] != X.shape[0] or out.shape[1] == 0:
            raise BadInput(f"{name} gave shape {out.shape} for rows of shape {X.shape}: it must give as many rows")
        if out.dtype.kind not in "fiub":
            raise BadInput(f"{name} gave {out.dtype} and not numbers: code them as numbers")
        if out.dtype not in (np.float32, np.float64):
            out = out.astype(X.dtype)
        values = out.data if ops.is_sparse(out) else out
        if not np.isfinite(values).all():
            row = "" if ops.is_sparse(out) else f" for row {int(np.argwhere(~np.isfinite(out))[0][0])}"
            raise BadInput(f"{name} gave values that are not finite{row}: drop such rows, or change it")
        return out

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        old = super().get_feature_names_out(input_features)
        if callable(self.feature_names_out):
            return np.asarray(self.feature_names_out(self, old), dtype=object)
        m = self.n_output_features_
        return old if m == len(old) else np.array([f"function{k}" for k in range(m)], dtype=object)
