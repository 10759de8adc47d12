"""Transformers as functions of one table: fitted to it, and applied to it. In a pipeline the transformers themselves belong."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.errors import BadInput, BadParameter
from tenfold.prepare.minmax import MaxAbsScaler, MinMaxScaler
from tenfold.prepare.power import PowerTransformer
from tenfold.prepare.quantile import QuantileTransformer
from tenfold.prepare.robust import RobustScaler
from tenfold.prepare.rows import Binarizer, Normalizer, row_norms
from tenfold.prepare.scale import StandardScaler


def scale(X: Any, *, axis: int = 0, with_mean: bool = True, with_std: bool = True, copy: bool = True) -> Any:
    """Columns (axis=0) or rows (axis=1) of mean 0 and variance 1: `StandardScaler`."""
    return _applied(StandardScaler(with_mean=with_mean, with_std=with_std, copy=copy), X, axis)


def minmax_scale(X: Any, feature_range: tuple[float, float] = (0, 1), *, axis: int = 0, copy: bool = True) -> Any:
    """Columns (axis=0) or rows (axis=1) brought into a range: `MinMaxScaler`."""
    return _applied(MinMaxScaler(feature_range, copy=copy), X, axis)


def maxabs_scale(X: Any, *, axis: int = 0, copy: bool = True) -> Any:
    """Columns (axis=0) or rows (axis=1) divided by their largest size: `MaxAbsScaler`."""
    return _applied(MaxAbsScaler(copy=copy), X, axis)


def robust_scale(
    X: Any,
    *,
    axis: int = 0,
    with_centering: bool = True,
    with_scaling: bool = True,
    quantile_range: tuple[float, float] = (25.0, 75.0),
    copy: bool = True,
    unit_variance: bool = False,
) -> Any:
    """Columns (axis=0) or rows (axis=1) by median and quantiles: `RobustScaler`."""
    scaler = RobustScaler(
        with_centering=with_centering,
        with_scaling=with_scaling,
        quantile_range=quantile_range,
        copy=copy,
        unit_variance=unit_variance,
    )
    return _applied(scaler, X, axis)


def quantile_transform(
    X: Any,
    *,
    axis: int = 0,
    n_quantiles: int = 1000,
    output_distribution: str = "uniform",
    ignore_implicit_zeros: bool = False,
    subsample: int | None = 100_000,
    random_state: Any = None,
    copy: bool = True,
) -> Any:
    """Columns (axis=0) or rows (axis=1) spread evenly or normally: `QuantileTransformer`."""
    transformer = QuantileTransformer(
        n_quantiles=n_quantiles,
        output_distribution=output_distribution,
        ignore_implicit_zeros=ignore_implicit_zeros,
        subsample=subsample,
        random_state=random_state,
        copy=copy,
    )
    return _applied(transformer, X, axis)


def power_transform(X: Any, method: str = "yeo-johnson", *, standardize: bool = True, copy: bool = True) -> Any:
    """Columns raised to the power that makes them most like normal ones: `PowerTransformer`."""
    return PowerTransformer(method, standardize=standardize, copy=copy).fit_transform(X)


def normalize(X: Any, norm: str = "l2", *, axis: int = 1, copy: bool = True, return_norm: bool = False) -> Any:
    """Rows (axis=1) or columns (axis=0) divided by their length; `return_norm`: with the lengths. `Normalizer`."""
    _check_axis(axis)
    table: Any = X if ops.is_sparse(X) or isinstance(X, np.ndarray) else np.asarray(X)
    turned = (table.T.tocsr() if ops.is_sparse(table) else table.T) if axis == 0 else table
    if return_norm and ops.is_sparse(X) and norm in ("l1", "l2"):
        raise NotImplementedError(f"return_norm=True is not implemented for sparse matrices with norm {norm!r}: use X.toarray()")
    rows = Normalizer(norm, copy=copy).fit(turned).transform(turned)
    rows = rows.T.tocsr() if axis == 0 and ops.is_sparse(rows) else rows.T if axis == 0 else rows
    return (rows, row_norms(turned.astype(np.float64), norm)) if return_norm else rows


def binarize(X: Any, *, threshold: float = 0.0, copy: bool = True) -> Any:
    """1 where a value is above the threshold, 0 elsewhere: `Binarizer`."""
    return Binarizer(threshold=threshold, copy=copy).fit(X).transform(X)


def add_dummy_feature(X: Any, value: float = 1.0) -> Any:
    """X with one more column, the first, that holds a constant."""
    if ops.is_sparse(X):
        from scipy import sparse

        ones = np.full((X.shape[0], 1), value)
        return sparse.hstack([type(X)(ones), X], format=X.format)
    table = np.asarray(X)
    if table.ndim != 2:
        raise BadInput(f"Expected 2D array, got {table.ndim}D array instead: add_dummy_feature takes a table")
    return np.hstack([np.full((len(table), 1), value), table])


def _applied(transformer: Any, X: Any, axis: int) -> Any:
    """The table, or its transpose, fitted and transformed; one array of numbers is a column."""
    _check_axis(axis)
    table: Any = X if ops.is_sparse(X) or isinstance(X, np.ndarray) or hasattr(X, "columns") else np.asarray(X)
    if not hasattr(table, "columns") and table.ndim == 1:
        return _applied(transformer, table.reshape(-1, 1), 0).ravel()
    if axis == 0:
        return transformer.fit_transform(table)
    turned = table.T.tocsr() if ops.is_sparse(table) else np.asarray(table).T
    rows: Any = transformer.fit_transform(turned)
    return rows.T.tocsr() if ops.is_sparse(rows) else rows.T


def _check_axis(axis: int) -> None:
    if axis not in (0, 1):
        raise BadParameter(f"axis={axis!r}: must be 0 for columns or 1 for rows")
