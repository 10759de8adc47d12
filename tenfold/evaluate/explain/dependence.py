"""Dependence: how the predictions change with one column or two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tenfold.base.check import as_weights
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.explain.local_effects import bin_edges, bin_of, one_way, two_way
from tenfold.evaluate.explain.response import Response, altered, response_of


@dataclass(frozen=True)
class Dependence:
    """A response along a grid of one or two columns.

    grid_values  of each column; of a column of categories their names
    average      (outputs, points) or (outputs, points, points)
    individual   the same for each row, (outputs, n, points, ...), where asked for: the curves of the rows (ICE)
    """

    kind: str  # "partial" or "accumulated"
    columns: list[str]
    outputs: list[str]
    grid_values: list[Array]
    average: Array
    individual: Array | None = field(repr=False)
    spread: list[Array] = field(repr=False)  # deciles of the columns, to see where rows are; of categories none

    def keys(self) -> list[str]:
        """What can be read by its name, as from scikit-learn's result."""
        return ["grid_values", "average", *(["individual"] if self.individual is not None else [])]

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(f"{name!r}: there are {', '.join(self.keys())}")
        return getattr(self, name)

    def plot(self, ax: Any = None, output: int = -1) -> Any:
        """The curve, or the map of two columns; returns the axes."""
        from tenfold.draw.dependence import draw_dependence

        return draw_dependence(self, ax, output)


def partial_dependence(
    model: Any,
    X: Any,
    features: Any,
    *,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Any = None,
    response_method: str = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: dict[Any, Any] | None = None,
    individual: bool = False,
    method: str = "brute",
    kind: str = "average",
) -> Dependence:
    """The mean prediction if all rows had one value in some columns (Friedman 2001):  PD(v) = Σ w f(v, rest) / Σ w.

    features: one column or a pair, by number or name. The grid holds the distinct values of a column, or
    `grid_resolution` values between its percentiles; of categories the most frequent ones. Rows whose value is missing
    count as the others do. individual=True (or kind "individual" or "both") keeps the curve of every row (Goldstein et al.
    2015). model: fitted, of Tenfold or of another library, or a function of rows. Where columns are correlated it is asked about rows that
    cannot be: use `accumulated_effects`.

    feature_names are those of the columns of an array; categorical_features, by number, name or mask, have all their values in the
    grid; custom_values are grids by column. response_method: "predict_proba", or "decision_function" for scores.

    method="recursion" asks the trees themselves (trees, forests, boosting): splits on other columns send a point both ways, by the
    weights of the training rows at the nodes. It is quicker, X serves the grid alone, and boosted classifiers answer in log-odds.

    >>> import numpy as np
    >>> from tenfold.evaluate import partial_dependence
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = partial_dependence(lambda rows: 3 * rows[:, 0], X, 0)
    >>> slopes = np.diff(found.average[0]) / np.diff(found.grid_values[0])
    >>> bool(np.allclose(slopes, 3, rtol=1e-9))
    True
    """
    if kind not in ("average", "individual", "both"):
        raise BadParameter(f"kind={kind!r}: must be 'average', 'individual' or 'both'")
    individual = individual or kind != "average"
    response, columns, w = _begin(model, X, features, sample_weight, response_method, feature_names)
    own = {response.column(name): _own_grid(name, values) for name, values in (custom_values or {}).items()}
    listed = _chosen(response, categorical_features)
    grids = [own[j] if j in own else _grid(response, j, percentiles, grid_resolution, j in listed) for j in columns]
    points = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, len(columns))
    shape = tuple(len(grid) for grid in grids)
    if method not in ("brute", "auto"):
        unit, mean = _by_trees(model, columns, points, method, sample_weight is not None or individual)
        if mean.shape[1] == 2 and len(response.outputs) == 1:  # shares of two classes: that of the second
            mean = mean[:, 1:]
        if mean.shape[1] != len(response.outputs) or unit not in ("probability", "prediction"):
            response = replace(response, outputs=[unit] if mean.shape[1] == 1 else [f"{unit} {k}" for k in range(mean.shape[1])])
        return _dressed("partial", response, columns, grids, mean.T.reshape(-1, *shape), None)
    if individual:
        every = altered(response, columns, points)  # (points, n, outputs)
        mean = np.tensordot(every, w, axes=([1], [0]))
        rows = every.transpose(2, 1, 0).reshape(every.shape[2], every.shape[1], *shape)
    else:
        mean, rows = altered(response, columns, points, w), None
    return _dressed("partial", response, columns, grids, mean.T.reshape(-1, *shape), rows)


def _by_trees(model: Any, columns: list[int], points: Array, method: str, more: bool) -> tuple[str, Array]:
    """What the trees of a model say where only these columns are known, (points, outputs), and its unit."""
    if method != "recursion":
        raise BadParameter(f"method={method!r}: must be 'brute' or 'recursion'")
    explained = model._explained() if isinstance(model, Estimator) else None
    if explained is None:
        raise BadParameter(f"method='recursion' is for trees, forests and boosted trees, not {type(model).__name__}: use 'brute'")
    if more:
        raise BadParameter(
            "method='recursion' knows no rows. The 'recursion' method can only be applied when sample_weight is None, and only applies "
            "when 'kind' is set to 'average': use 'brute'"
        )
    parts, scale, offset, unit = explained
    return unit, offset + scale * np.hstack([trees.dependence(np.array(columns), points) for trees in parts])


def accumulated_effects(model: Any, X: Any, features: Any, *, sample_weight: Any = None, bins: int = 20) -> Dependence:
    """Accumulated local effects (Apley & Zhu 2020): like partial dependence, but asked only about rows that can be.

    One column, with bin edges z at its quantiles:  ALE(zₖ) = Σ over bins up to k of the mean over the rows in the bin
    of  f(zₖ, rest) − f(zₖ₋₁, rest),  less its mean over all rows. Two columns: the same with differences in both
    directions, less the effects of each alone, so that only what they do together is left. A cell without rows takes
    the effect of the nearest one. Rows whose value is missing are left out.

    >>> import numpy as np
    >>> from tenfold.evaluate import accumulated_effects
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> found = accumulated_effects(lambda rows: 3 * rows[:, 0] + rows[:, 1] ** 2, X, 0)
    >>> bool(np.allclose(np.diff(found.average[0]), 3 * np.diff(found.grid_values[0]), rtol=1e-9))
    True
    """
    if not isinstance(bins, (int, np.integer)) or bins < 1:
        raise BadParameter(f"bins={bins!r}: must be a whole number of at least 1")
    response, columns, w = _known(*_begin(model, X, features, sample_weight))
    edges = [bin_edges(response.X[:, j], w, int(bins)) for j in columns]
    place = [bin_of(response.X[:, j], edge) for j, edge in zip(columns, edges, strict=True)]
    effect = (
        one_way(response, columns[0], edges[0], place[0], w)
        if len(columns) == 1
        else two_way(response, columns, edges, place, w)
    )
    return _dressed("accumulated", response, columns, edges, effect, None)


def _own_grid(name: Any, values: Any) -> Array:
    grid = np.asarray(values, dtype=np.float64)
    if grid.ndim != 1 or not len(grid):
        raise BadParameter(f"custom_values[{name!r}]: The custom grid for some features is not a one-dimensional array, but {grid.shape}")
    return grid


def _chosen(response: Response, given: Any) -> set[int]:
    """The columns that are named, numbered or marked."""
    chosen = [] if given is None else [given] if isinstance(given, (str, int)) else list(given)
    if chosen and all(isinstance(one, (bool, np.bool_)) for one in chosen):
        if len(chosen) != len(response.columns):
            raise BadParameter(f"categorical_features: the mask has {len(chosen)} entries, and X has {len(response.columns)} columns")
        return set(np.flatnonzero(chosen).tolist())
    return {response.column(one) for one in chosen}


def _begin(
    model: Estimator, X: Any, features: Any, sample_weight: Any, method: str = "auto", feature_names: Any = None
) -> tuple[Response, list[int], Array]:
    response = response_of(model, X, method)
    if feature_names is not None:
        given = [str(name) for name in feature_names]
        if len(given) != len(response.columns) or len(set(given)) < len(given):
            raise BadParameter(f"feature_names: must be {len(response.columns)} names, one for each column, that differ")
        response = replace(response, columns=given)
    names = [features] if isinstance(features, (str, int, np.integer)) else list(features)
    columns = [response.column(name) for name in names]
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise BadInput(f"features={features!r}: give one column, or two that differ")
    bad = np.argwhere(np.isinf(response.X[:, columns]))
    if len(bad):
        row, which = (int(i) for i in bad[0])
        raise BadInput(f"column {response.columns[columns[which]]!r} is infinite in row {row}: replace or drop it")
    for j in columns:
        if np.isnan(response.X[:, j]).all():
            raise BadInput(f"column {response.columns[j]!r} is missing in every row: give rows where it is known")
    w = as_weights(sample_weight, len(response.X))
    return response, columns, np.full(len(response.X), 1 / len(response.X)) if w is None else w / w.sum()


def _known(response: Response, columns: list[int], w: Array) -> tuple[Response, list[int], Array]:
    """The rows whose values in these columns are known."""
    here = ~np.isnan(response.X[:, columns]).any(axis=1) & (w > 0)
    if not here.any():
        raise BadInput("no row has a value in both columns: nothing is left to accumulate")
    return (
        (response, columns, w)
        if here.all()
        else (replace(response, X=response.X[here]), columns, w[here] / w[here].sum())
    )


def _dressed(
    kind: str, response: Response, columns: list[int], grids: list[Array], average: Array, rows: Array | None
) -> Dependence:
    names = [response.columns[j] for j in columns]
    deciles = [
        np.nanquantile(response.X[:, j], np.arange(1, 10) / 10) if response.categories[j] is None else np.empty(0)
        for j in columns
    ]
    named = [_named(response.categories[j], grid) for j, grid in zip(columns, grids, strict=True)]
    return Dependence(kind, names, response.outputs, named, average, rows, deciles)


def _named(categories: Array | None, grid: Array) -> Array:
    """The grid as it is read: names of categories instead of their codes."""
    return grid if categories is None else np.asarray(categories)[grid.astype(np.int64)]


def _grid(response: Response, column: int, percentiles: tuple[float, float], resolution: int, listed: bool) -> Array:
    if not isinstance(resolution, (int, np.integer)) or resolution < 2:
        raise BadParameter(f"grid_resolution={resolution!r}: must be a whole number of at least 2")
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise BadParameter(f"percentiles={percentiles!r}: must be two numbers from 0 to 1, in ascending order")
    values, categories = response.X[:, column], response.categories[column]
    values = values[~np.isnan(values)]
    distinct, counts = np.unique(values, return_counts=True)
    if categories is not None:
        frequent = np.argsort(-counts, kind="stable")[: int(resolution)]
        return np.sort(distinct[frequent])
    if listed or len(distinct) < resolution:
        return distinct
    ends = [_quantile(values, share) for share in (low, high)]
    if ends[0] == ends[1]:
        raise BadInput(
            f"the percentiles {low:g} and {high:g} of the column are both {ends[0]:g}: take them farther apart"
        )
    return np.linspace(ends[0], ends[1], int(resolution))


def _quantile(values: Array, share: float) -> float:
    """Cunnane's quantile, as scikit-learn's grids have it: the value at place (n + 0.2) share + 0.4, counted from 1."""
    ordered, n = np.sort(values), len(values)
    place = (n + 0.2) * share + 0.4
    k = int(np.clip(np.floor(place), 1, n - 1))
    part = float(np.clip(place - k, 0.0, 1.0))
    return float((1 - part) * ordered[k - 1] + part * ordered[k])
