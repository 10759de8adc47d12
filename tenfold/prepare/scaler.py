"""What scalers of columns have in common: rows that may be written over, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold import _columns
from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.columns import ColumnSums
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block, as_floats, block_rows
from tenfold.core.engine import Threads, each
from tenfold.core.errors import BadInput
from tenfold.core.numbers import check_finite
from tenfold.core.stats import Counts, Stats

PIECE = 1 << 22  # bytes that are written before a thread looks for other work
TOGETHER = 16  # rows that are reduced side by side
Writer = Callable[[Array, Array], None]  # of rows, and of memory for what becomes of them
TINY = float(np.finfo(float).tiny)  # a number below it has no reciprocal
DOUBLE = np.dtype(np.float64)
MANY_ROWS = 16  # so many are given to a kernel


class Scaler(Transformer, OnePass):
    """Abstract: columns changed one by one and back, missing values passed on. With `copy=False` X is written over."""

    missing = True
    double: ClassVar[bool] = True
    invertible: ClassVar[bool] = True

    writes: ClassVar[bool] = False  # whether it has `_write` and `_write_back`

    def transform(self, X: Any) -> Any:
        """The rows in their new form; copy=False writes them over X where it is an array of floats."""
        if not self.writes:
            return over(X, super().transform(X), self._copies())
        rows = check.check_predict(self, X)
        rows = written(self._write, rows) if is_long(rows) else map_rows(self._transform, rows)
        return over(X, self._dressed(rows, X), self._copies())

    def _write(self, X: Array, out: Array) -> None:
        """`_transform` of dense rows into memory that is there."""
        raise NotImplementedError

    def _write_back(self, Z: Array, out: Array) -> None:
        """`_inverse` of dense rows into memory that is there."""
        raise NotImplementedError

    def inverse_transform(self, X: Any) -> Any:
        """Transformed rows as they were; copy=False writes them over X where it is an array of floats."""
        return over(X, brought_back(self, X, write=self._write_back if self.writes else None), self._copies())

    def _copies(self) -> bool:
        return bool(getattr(self, "copy", True))


class Extreme(Scaler):
    """Abstract: a scaler by the least and the largest value of each column."""

    by_column: ClassVar[bool] = True
    by_ends: ClassVar[bool] = True

    scale_: Any

    def _from_columns(self, columns: ColumnSums) -> Extremes | None:
        if columns.low is None or columns.high is None:
            return None
        total = columns.present.weight[:1] + columns.missing.weight[:1]
        return Extremes(total, columns.low, columns.high)

    def _column_map(self) -> tuple[Array | None, Any, Any]:
        return None, 0.0, self.scale_

    def _summarize(self, block: Block) -> Extremes:
        return Extremes.of(block)

    @available(lambda self: False)
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Absent: what the extremes are without some rows is not known from the extremes."""


class Stateless(Transformer, OnePass):
    """Abstract: what it does to rows depends on its parameters alone, so that `transform` needs no fit."""

    stateless: ClassVar[bool] = True
    sparse = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _summarize(self, block: Block) -> Counts:
        return Counts.of_rows(block)

    def _solve(self, stats: Counts) -> dict[str, Any]:
        return {}

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """The rows in their new form; copy=False writes them over X where it is an array of floats."""
        fitted = self if "n_features_in_" in vars(self) else self._fitted_copy({}).fit(X)
        rows = check.check_predict(fitted, X)
        rows = written(fitted._write, rows) if is_long(rows) else map_rows(fitted._transform, rows)
        return over(X, fitted._dressed(rows, X), self._copies() if copy is None else copy)

    def _write(self, X: Array, out: Array) -> None:
        """`_transform` of dense rows into memory that is there."""
        raise NotImplementedError

    def _copies(self) -> bool:
        return bool(getattr(self, "copy", True))


@dataclass(slots=True)
class Extremes(Stats):
    """The weight of the rows, and the least and the largest value of each column: inf and −inf of one without values."""

    weight: Array  # (1,)
    low: Array
    high: Array

    @classmethod
    def of(cls, block: Block) -> Extremes:
        X, weight = block.X, np.array([block.w.sum()])
        if ops.is_sparse(X):
            ends = [np.ravel(getattr(X, name)(axis=0).toarray()).astype(np.float64) for name in ("min", "max")]
            if np.isnan(ends[0]).any():
                X = ops.dense(X)
            else:
                return cls(weight, *ends)
        low, high = (_reduced(function, X).astype(np.float64) for function in (np.minimum, np.maximum))
        if np.isnan(low).any():
            low, high = (_reduced(function, X).astype(np.float64) for function in (np.fmin, np.fmax))  # they pass over NaN
            empty = np.isnan(low)
            low, high = np.where(empty, np.inf, low), np.where(empty, -np.inf, high)
        return cls(weight, low, high)

    def __add__(self, other: Extremes) -> Extremes:
        return Extremes(self.weight + other.weight, np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def ends(self) -> tuple[Array, Array]:
        """The least and the largest values, NaN of a column without any."""
        empty = self.low > self.high
        return np.where(empty, np.nan, self.low), np.where(empty, np.nan, self.high)

    def seen(self) -> Any:
        """The number of rows; a weight where weights are not whole numbers."""
        weight = self.weight[0]
        return int(weight) if weight == np.floor(weight) else float(weight)


def _reduced(function: Any, X: Array) -> Array:
    """function.reduce(X) over the rows. Many rows side by side are one long row: twice as quick for short rows."""
    whole = len(X) // TOGETHER * TOGETHER
    if whole == 0 or not X.flags.c_contiguous:
        return np.asarray(function.reduce(X, axis=0))
    long = function.reduce(X[:whole].reshape(-1, TOGETHER * X.shape[1]), axis=0)
    return np.asarray(function.reduce(np.concatenate([long.reshape(TOGETHER, -1), X[whole:]]), axis=0))


def brought_back(learner: Any, X: Any, width: int | None = None, write: Writer | None = None) -> Any:
    """`_inverse` of rows that have passed the gate: as many columns as `transform` gives, missing values where it takes them;
    `write`: the same into memory that is there."""
    check.check_fitted(learner)
    Z, _ = check.as_table(learner, X)
    check.check_width(learner, Z.shape[1], learner.n_features_in_ if width is None else width)
    Z = as_floats(Z)
    if not ops.all_usable(Z):
        check_finite(Z, slice(0, None), vars(learner).get("feature_names_in_"), missing=learner.missing, double=learner.double)
    rows = written(write, Z) if write is not None and is_long(Z) else map_rows(learner._inverse, Z)
    return learner._in_format(rows, X)


def over(X: Any, rows: Any, copy: bool) -> Any:
    """Rows in half precision where X is; written over X where no copy is wanted and X can hold them."""
    if copy and (type(X) is not np.ndarray or X.dtype.char != "e"):  # the usual case
        return rows
    if ops.is_sparse(X) and ops.is_sparse(rows) and not copy:
        if X.format == rows.format and X.dtype == rows.dtype and len(X.data) == len(rows.data):
            X.data[...] = rows.data
            return X
        return rows
    if type(X) is not np.ndarray or type(rows) is not np.ndarray or X.dtype.kind != "f":
        return rows
    if copy or not X.flags.writeable or X.dtype.itemsize < rows.dtype.itemsize:
        return rows.astype(X.dtype, copy=False) if X.dtype == np.float16 else rows
    X[...] = rows
    return X


def is_long(X: Any) -> bool:
    """Whether X is a table of float64 of more than a block."""
    return type(X) is np.ndarray and X.dtype == DOUBLE and len(X) > block_rows(X.shape[1])


def written(write: Writer, X: Array) -> Array:
    """write(X, out) on all threads."""
    out, step = np.empty(X.shape), max(1, PIECE // (8 * X.shape[1]))
    each(lambda start: write(X[start : start + step], out[start : start + step]), list(range(0, len(X), step)), on=Threads())
    return out


def shifted_and_divided(X: Array, shift: Any, scale: Any, out: Array) -> None:
    """(x − shift) / scale, column by column."""
    if len(X) >= MANY_ROWS and are_plain(X, out):  # the same bits
        _columns.standardize(X, for_columns(X, shift), for_columns(X, scale), out)
        return
    np.subtract(X, shift, out=out)
    out /= scale


def shifted_and_multiplied(X: Array, shift: Any, scale: Any, plus: Any, out: Array) -> None:
    """(x − shift) scale + plus, column by column."""
    if are_plain(X, out):
        _columns.spread_out(X, for_columns(X, shift), for_columns(X, scale), for_columns(X, plus), out)
        return
    np.subtract(X, shift, out=out)
    out *= scale
    out += plus


def for_columns(X: Array, values: Any) -> Array:
    """Values, or one for all, as an array with one for each column."""
    if type(values) is np.ndarray and values.shape == X.shape[1:] and are_plain(values):  # the usual case
        return values
    return np.ascontiguousarray(np.broadcast_to(values, X.shape[1:]), dtype=np.float64)


def are_plain(*tables: Array) -> bool:
    """Whether tables are rows of float64, one behind the other, as kernels take them."""
    return all(one.dtype == DOUBLE and one.flags.c_contiguous and one.flags.aligned for one in tables)


def refuse_at(learner: Any, bad: Array, X: Array, what: str, remedy: str) -> None:
    """Name the first value of a block that a transform has no value for."""
    if bad.any():
        from tenfold.core.numbers import column_name

        row, column = (int(i) for i in np.argwhere(bad)[0])
        where = column_name(vars(learner).get("feature_names_in_"), column)
        raise BadInput(f"{type(learner).__name__}: {X[row, column]:g} in {where} of X {what}: {remedy}")
