"""Powers of the columns and their products."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
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
    order: str = param(default="C", one_of=("C", "F"), doc="order of dense rows in memory: by rows, or by columns ('F')")

    def _summarize(self, block: Block) -> Counts:
        return Counts.of_rows(block)

    def _solve(self, stats: Counts) -> dict[str, Any]:
        p, count = self.n_features_in_, self._num_combinations(*self._asked())
        if count > MOST_COLUMNS:
            raise BadParameter(
                f"PolynomialFeatures(degree={self.degree}) of {p} columns makes {count:.3g} columns, more "
                f"than {MOST_COLUMNS:,}: take a lower degree, or interaction_only=True"
            )
        if count == 0:
            both = "degree" if not isinstance(self.degree, (tuple, list)) else "both min_degree and max_degree"
            zero = f"Setting {both} to zero and include_bias to False would result in an empty output array. "
            raise BadParameter(
                ("" if self._degrees()[1] else zero)
                + f"PolynomialFeatures(degree={self.degree}, include_bias={self.include_bias}) makes no "
                "columns: take a higher degree or include_bias=True"
            )
        powers = np.zeros((count, p), dtype=np.int64)
        for row, columns in zip(powers, self._combinations(*self._asked()), strict=True):
            np.add.at(row, list(columns), 1)
        return dict(n_output_features_=count, powers_=powers)

    def _asked(self) -> tuple[int, int, int, bool, bool]:
        """Columns, lowest and highest degree, products of different columns only, the constant too."""
        return self.n_features_in_, *self._degrees(), bool(self.interaction_only), bool(self.include_bias)

    @staticmethod
    def _num_combinations(
        n_features: int, min_degree: int, max_degree: int, interaction_only: bool, include_bias: bool
    ) -> int:
        """The number of products: C(p, d) of different columns for each degree d, or C(p + d, d) of all up to d."""
        p, least = n_features, max(1, min_degree)
        if interaction_only:
            return sum(math.comb(p, d) for d in range(least, min(max_degree, p) + 1)) + include_bias
        return math.comb(p + max_degree, max_degree) - math.comb(p + least - 1, least - 1) + include_bias

    @staticmethod
    def _combinations(
        n_features: int, min_degree: int, max_degree: int, interaction_only: bool, include_bias: bool
    ) -> Iterator[tuple[int, ...]]:
        """The columns of each product, in the order of the new columns."""
        choose = itertools.combinations if interaction_only else itertools.combinations_with_replacement
        if include_bias:
            yield ()
        for d in range(max(1, min_degree), min(max_degree, n_features) + 1 if interaction_only else max_degree + 1):
            yield from choose(range(n_features), d)

    def _objection(self) -> str | None:
        right = self._num_combinations(*self._asked()) == self.n_output_features_
        return None if right else "there are not as many products as the degree makes"

    def _bias(self) -> bool:
        return bool(self.include_bias)

    def _degrees(self) -> tuple[int, int]:
        """(least, most), checked."""
        given = self.degree if isinstance(self.degree, (tuple, list)) else (0, self.degree)
        here = f"PolynomialFeatures(degree={check.short(self.degree)})"
        if len(given) != 2:
            raise BadParameter(f"{here}: degree must be a non-negative int or tuple (min_degree, max_degree), the lower first")
        whole = all(isinstance(d, (int, np.integer)) and not isinstance(d, bool) for d in given)
        if not whole or not 0 <= given[0] <= given[1] < HIGHEST:
            raise BadParameter(
                f"{here}: degree=(min_degree, max_degree) must be non-negative integers that fulfil min_degree <= max_degree, a whole "
                f"number from 0 to {HIGHEST - 1:,}, or a pair of them, the lower first"
            )
        return int(given[0]), int(given[1])

    def transform(self, X: Any) -> Any:
        """The products; CSC for CSC."""
        return ordered(super().transform(X), self.order)

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


def ordered(rows: Any, order: str) -> Any:
    """An array in the order in memory that was asked for; anything else as it is."""
    return np.asfortranarray(rows) if order == "F" and type(rows) is np.ndarray else rows
