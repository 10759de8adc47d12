"""Information gain and gain ratio of columns against classes; numbers are cut into bins first."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import gate_of
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadParameter
from tenfold.core.information import entropy, mutual_information
from tenfold.core.learning import Keep
from tenfold.distributions.information import counted
from tenfold.features.mutual_info import discrete_columns
from tenfold.solve.class_cuts import class_cuts

BIT = float(np.log(2.0))


def information_gain(
    X: Any, y: Any, *, discrete_features: Any = "auto", bins: str = "mdl", n_bins: int = 10, sample_weight: Any = None
) -> Array:
    """Information gain of each column about the classes, H(y) − H(y | x), in bits.

    Text, categories and truth values are discrete, and so are the columns that `discrete_features` says (a mask, places, True for all;
    "auto": those of sparse X). Numbers are cut into bins first: bins="mdl" where the cut pays for its own description (Fayyad & Irani
    1993; a column with no such cut gains 0), "quantile" into n_bins of equal weight. Missing values are a level of their own.

    >>> import tenfold
    >>> tenfold.information_gain([[0, 1], [0, 0], [1, 1], [1, 0]], ["a", "a", "b", "b"], discrete_features=True).tolist()
    [1.0, 0.0]
    """
    return np.array([gain for gain, _ in _gains("information_gain", X, y, discrete_features, bins, n_bins, sample_weight)])


def gain_ratio(
    X: Any, y: Any, *, discrete_features: Any = "auto", bins: str = "mdl", n_bins: int = 10, sample_weight: Any = None
) -> Array:
    """Gain ratio of each column (Quinlan 1993): its information gain divided by its own entropy, [H(y) − H(y | x)] / H(x).

    So that a column of many levels is not preferred for their number alone; 0 for a column of one level. Arguments as in
    `information_gain`.

    >>> import tenfold
    >>> tenfold.gain_ratio([[0, 1], [1, 0], [2, 1], [3, 0]], ["a", "a", "b", "b"], discrete_features=True).tolist()
    [0.5, 0.0]
    """
    found = _gains("gain_ratio", X, y, discrete_features, bins, n_bins, sample_weight)
    return np.array([gain / own if own > 0 else 0.0 for gain, own in found])


def _gains(name: str, X: Any, y: Any, discrete: Any, bins: str, n_bins: int, sample_weight: Any) -> list[tuple[float, float]]:
    """The gain of each column and its entropy, both in bits."""
    if bins not in ("mdl", "quantile"):
        raise BadParameter(f"{name}(bins={check.short(bins)}): must be 'mdl' or 'quantile'")
    if not isinstance(n_bins, (int, np.integer)) or n_bins < 2:
        raise BadParameter(f"{name}(n_bins={check.short(n_bins)}): must be a whole number of at least 2")
    learner = gate_of(name, "label", missing=True, categorical=True, least_classes=1)
    source = check.check_fit(learner, X, y, sample_weight)
    X, y, w = Keep(sparse=True).answer(source, current_engine(source))
    levels = discrete_columns(name, discrete, X) | check.categorical_columns(source)
    X = X.tocsc() if ops.is_sparse(X) else X
    found = []
    for j, level in enumerate(levels):
        x = ops.dense(X[:, [j]])[:, 0].astype(np.float64)
        codes = np.unique(x, return_inverse=True)[1] if level else np.searchsorted(_cuts(x, y, w, bins, n_bins), x, side="right")
        codes[np.isnan(x)] = codes.max() + 1
        codes = np.unique(codes, return_inverse=True)[1]
        table = counted(codes, y, w)
        found.append((mutual_information(table) / BIT, float(entropy(table.sum(axis=1))) / BIT))
    return found


def _cuts(x: Array, y: Array, w: Array, bins: str, n_bins: int) -> Array:
    """Where a column of numbers is cut: a value that is a cut belongs to the bin above it."""
    order = np.argsort(x, kind="stable")[: int((~np.isnan(x)).sum())]
    values, y, w = x[order], y[order], w[order]
    if not len(values) or values[0] == values[-1]:
        return np.empty(0)
    if bins == "mdl":
        return class_cuts(values, y, w, int(y.max()) + 1)
    share = np.cumsum(w) / w.sum()
    place = np.searchsorted(share, np.arange(1, n_bins) / n_bins * (1 - 1e-12))
    above = np.searchsorted(values, values[place], side="right")
    return np.unique(values[above[above < len(values)]])
