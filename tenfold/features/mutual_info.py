"""Mutual information of a column and a target: exact for discrete ones, by nearest neighbours for numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import gate_of
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import current_engine, each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.information import mutual_information
from tenfold.core.learning import Keep
from tenfold.core.random import legacy_generator
from tenfold.distributions.information import counted
from tenfold.distributions.samples import scaled, shared_by_labels, shared_by_numbers

NOISE = 1e-10  # of the size of a column: equal values of numbers that are measured are taken apart


class BadPlace(BadParameter, IndexError):
    """The place of a column that there is not."""


def mutual_info_classif(
    X: Any, y: Any, *, discrete_features: Any = "auto", n_neighbors: int = 3, copy: bool = True, random_state: Any = None,
    n_jobs: int | None = None,
) -> Array:  # fmt: skip
    """Mutual information I(x; y) of each column and classes, in nats; 0 where they are independent.

    Columns of numbers: Ross' estimate ψ(n) + ⟨ψ(k)⟩ − ⟨ψ(n_y)⟩ − ⟨ψ(m)⟩, where m counts the rows as near as the k-th neighbour of the same
    class. Discrete columns (a mask, places, True for all; "auto": those of sparse X): Σ p(x, y) log p(x, y) / p(x) p(y), exact. Numbers
    get a noise of 1e-10 of their size, drawn by `random_state`, that takes equal values apart. `copy` and `n_jobs` have no effect.

    >>> import numpy as np, tenfold
    >>> y = np.arange(400) % 2
    >>> tenfold.mutual_info_classif(np.column_stack([y, np.arange(400) % 3]), y, discrete_features=True).round(4).tolist()
    [0.6931, 0.0]
    """
    return _estimated("mutual_info_classif", "label", X, y, discrete_features, n_neighbors, random_state)


def mutual_info_regression(
    X: Any, y: Any, *, discrete_features: Any = "auto", n_neighbors: int = 3, copy: bool = True, random_state: Any = None,
    n_jobs: int | None = None,
) -> Array:  # fmt: skip
    """Mutual information I(x; y) of each column and a number, in nats; 0 where they are independent.

    Columns of numbers: the estimate of Kraskov, Stögbauer and Grassberger, ψ(n) + ψ(k) − ⟨ψ(n_x + 1)⟩ − ⟨ψ(n_y + 1)⟩, where n_x and n_y
    count the rows that are nearer in x, or in y, than the k-th neighbour in both. Discrete columns and noise as in `mutual_info_classif`.

    >>> import numpy as np, tenfold
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> found = tenfold.mutual_info_regression(x, x[:, 0] ** 2, random_state=0)
    >>> bool(found[0] > 2), bool(found[1] < 0.1)
    (True, True)
    """
    return _estimated("mutual_info_regression", "real", X, y, discrete_features, n_neighbors, random_state)


def _estimated(name: str, target: str, X: Any, y: Any, discrete_features: Any, k: int, random_state: Any) -> Array:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise BadParameter(f"{name}(n_neighbors={check.short(k)}): must be a whole number of at least 1")
    X, y = table_in_memory(name, target, X, y)
    discrete = discrete_columns(name, discrete_features, X)
    measured = np.flatnonzero(~discrete)
    if len(measured) and ops.is_sparse(X):
        raise BadInput(f"Sparse matrix `X` can't have continuous features: {name} takes numbers that are measured as an array; X.toarray()")
    rng = legacy_generator(random_state)
    Z = np.asfortranarray(X[:, measured], dtype=np.float64) if len(measured) else np.empty((len(y), 0))
    if len(measured):
        Z = scaled(Z)
        Z += NOISE * np.maximum(1, np.abs(Z).mean(axis=0)) * rng.standard_normal(Z.shape)
    if target == "real":
        y = scaled(y)
        y = y + NOISE * max(1, np.abs(y).mean()) * rng.standard_normal(len(y))
    place = dict(zip(measured.tolist(), range(len(measured)), strict=True))
    by_column = X.tocsc() if ops.is_sparse(X) else X
    columns = [Z[:, place[j]] if j in place else ops.dense(by_column[:, [j]])[:, 0] for j in range(X.shape[1])]
    estimate = partial(_of_column, y, target == "label", int(k))
    return np.array(each(estimate, list(zip(columns, discrete.tolist(), strict=True))))


def table_in_memory(name: str, target: str, X: Any, y: Any, **traits: Any) -> tuple[Any, Array]:
    """X and the target (codes of classes or numbers) of a table, file or stream, in memory."""
    source = check.check_fit(gate_of(name, target, least_rows=2, **traits), X, y)
    X, y, _ = Keep(sparse=True).answer(source, current_engine(source))
    return X, y if target == "label" else y[:, 0]


def discrete_columns(name: str, given: Any, X: Any) -> Array:
    """(p,) truth values: which columns hold discrete values, as the user says."""
    p = X.shape[1]
    if isinstance(given, str):
        if given != "auto":
            raise BadParameter(f"{name}(discrete_features={given!r}): Invalid string value for discrete_features")
        return np.full(p, ops.is_sparse(X))
    if isinstance(given, (bool, np.bool_)):
        return np.full(p, bool(given))
    which = np.asarray(given)
    if which.dtype == bool and which.shape == (p,):
        return which
    if which.ndim != 1 or which.dtype.kind not in "iu" or (len(which) and not (-p <= which.min() and which.max() < p)):
        raise BadPlace(f"{name}(discrete_features={check.short(given)}): must be {p} truth values, or places of columns")
    mask = np.zeros(p, dtype=bool)
    mask[which] = True
    return mask


def _of_column(y: Array, labels: bool, k: int, column: tuple[Array, bool]) -> float:
    x, discrete = column
    if discrete and labels:
        return mutual_information(counted(np.unique(x, return_inverse=True)[1], y))
    if discrete:
        return max(0.0, shared_by_labels(y[:, None], np.unique(x, return_inverse=True)[1], k))
    if labels:
        return max(0.0, shared_by_labels(x[:, None], y, k))
    if len(x) <= k:
        raise BadInput(f"mutual information by n_neighbors={k} needs more than {k} rows, and there are {len(x)}")
    return max(0.0, shared_by_numbers(x[:, None], y[:, None], k))
