"""Local effects, accumulated: differences of the response within bins of one column or two."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.evaluate.explain.response import Response


def bin_edges(values: Array, w: Array, bins: int) -> Array:
    """Bin edges at quantiles that occur among the values, each once."""
    kept = values[w > 0]
    inner = np.quantile(kept, np.arange(1, bins) / bins, weights=w[w > 0], method="inverted_cdf")
    edges = np.unique(np.concatenate([[kept.min()], inner, [kept.max()]]))
    if len(edges) < 2:
        raise BadInput("the column is constant: it has no effect to accumulate")
    return edges


def bin_of(values: Array, edges: Array) -> Array:
    """The bin of each value: (z₀, z₁], (z₁, z₂], ..., the first one with its left end."""
    return np.clip(np.searchsorted(edges, values, side="left") - 1, 0, len(edges) - 2)


def _moved(response: Response, columns: list[int], values: list[Array]) -> Array:
    """The response (n, outputs) with each row's own values in some columns."""
    rows = response.X.copy()
    for j, value in zip(columns, values, strict=True):
        rows[:, j] = value
    return response.of(rows)


def _sums(cells: Array, n_cells: int, w: Array, values: Array) -> Array:
    """Weighted sums (outputs, cells)."""
    return np.array([np.bincount(cells, w * column, minlength=n_cells) for column in values.T])


def one_way(response: Response, column: int, edges: Array, place: Array, w: Array) -> Array:
    """(outputs, edges)."""
    rise = _moved(response, [column], [edges[place + 1]]) - _moved(response, [column], [edges[place]])
    weight = np.bincount(place, w, minlength=len(edges) - 1)
    step = _sums(place, len(weight), w, rise) / np.where(weight > 0, weight, 1.0)
    total = np.concatenate([np.zeros((len(step), 1)), step.cumsum(axis=1)], axis=1)
    middle = (total[:, :-1] + total[:, 1:]) / 2
    return np.asarray(total - (middle @ weight)[:, None])


def two_way(response: Response, columns: list[int], edges: list[Array], place: list[Array], w: Array) -> Array:
    """(outputs, edges, edges): second differences, accumulated both ways, less the main effects they hold."""
    (a, b), (k, m) = edges, place
    corner = {
        (i, j): _moved(response, columns, [a[k + i], b[m + j]])
        for i in (0, 1)
        for j in (0, 1)
    }  # fmt: skip
    twist = corner[1, 1] - corner[0, 1] - corner[1, 0] + corner[0, 0]
    shape = (len(a) - 1, len(b) - 1)
    cells = k * shape[1] + m
    weight = np.bincount(cells, w, minlength=shape[0] * shape[1])
    step = _sums(cells, len(weight), w, twist) / np.where(weight > 0, weight, 1.0)
    step = step[:, _nearest_filled(weight.reshape(shape) > 0)].reshape(-1, *shape)
    total = np.zeros((len(step), len(a), len(b)))
    total[:, 1:, 1:] = step.cumsum(axis=1).cumsum(axis=2)
    share = weight.reshape(shape)
    for axis in (1, 2):
        total = total - _main_effect(total, share if axis == 1 else share.T, axis)
    centre = (total[:, :-1, :-1] + total[:, 1:, :-1] + total[:, :-1, 1:] + total[:, 1:, 1:]) / 4
    return np.asarray(total - (centre * share).sum(axis=(1, 2))[:, None, None])


def _main_effect(total: Array, share: Array, axis: int) -> Array:
    """What the accumulated differences hold of one column alone: the means over the rows of its bins, accumulated."""
    table = total if axis == 1 else total.transpose(0, 2, 1)
    rise = np.diff(table, axis=1)  # (outputs, bins, edges of the other)
    middle = (rise[:, :, :-1] + rise[:, :, 1:]) / 2
    here = share.sum(axis=1)
    step = (middle * share).sum(axis=2) / np.where(here > 0, here, 1.0)
    effect = np.concatenate([np.zeros((len(step), 1)), step.cumsum(axis=1)], axis=1)
    return effect[:, :, None] if axis == 1 else effect[:, None, :]


def _nearest_filled(filled: Array) -> Array:
    """For each cell, the number of the nearest cell that holds rows (in cells; itself if it does)."""
    from scipy.ndimage import distance_transform_edt

    index = distance_transform_edt(~filled, return_distances=False, return_indices=True)
    return np.asarray((index[0] * filled.shape[1] + index[1]).reshape(-1))
