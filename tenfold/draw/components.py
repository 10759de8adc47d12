"""Components as pictures: what each explains, rows and columns together, components that are images, and signals apart again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.draw.arrows import column_arrows
from tenfold.draw.cells import draw_images
from tenfold.draw.embedding import scattered
from tenfold.draw.look import BLUE, COLOURS, GREY, RED, new_axes, short, titled

MOST_BARS = 40
MOST_SIGNALS = 12
APART = 1.15  # between signals, of their range


def draw_scree(model: Any, ax: Any = None, *, chance: Any = None) -> Any:
    """The share of the variance that each component of a fitted PCA explains, as bars, and the sum of all up to it, as a line.

    chance: shares that columns which have nothing to do with one another would reach, as a dashed line.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 2, 1, 1]
    >>> ax = tenfold.draw.draw_scree(tenfold.PCA().fit(X))
    >>> ax.get_xlabel(), len(ax.patches)
    ('component', 4)
    """
    check.check_fitted(model)
    if not hasattr(model, "explained_variance_ratio_"):
        raise BadInput(f"draw_scree: {type(model).__name__} has no explained_variance_ratio_: give a fitted PCA")
    share = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
    if not len(share):
        raise BadInput("draw_scree: the model has no component: fit it with n_components of at least 1")
    number = np.arange(1, len(share) + 1)[:MOST_BARS]
    ax = new_axes(ax)
    ax.bar(number, 100 * share[: len(number)], color=BLUE, alpha=0.75, label="each")
    ax.plot(number, 100 * np.cumsum(share)[: len(number)], color=RED, marker="o", markersize=3, label="all up to it")
    if chance is not None:
        known = 100 * np.asarray(chance, dtype=np.float64)[: len(number)]
        ax.plot(number[: len(known)], known, color=GREY, linestyle=(0, (4, 2)), label="by chance")
    ax.xaxis.get_major_locator().set_params(integer=True)
    more = f", the first {len(number)} of {len(share)}" if len(share) > len(number) else ""
    ax.set(xlabel="component", ylabel="% of the variance", ylim=(0, None), title=f"{titled(model)}{more}")
    ax.title.set_fontsize(10)
    ax.legend(fontsize=8)
    return ax


def draw_biplot(
    model: Any, X: Any, y: Any = None, axes: tuple[int, int] = (0, 1), ax: Any = None, *, names: Any = None, most: int = 10, name: str = ""
) -> Any:
    """Rows by their scores on two components of a fitted model, coloured by y, and the columns that go with these components most, as
    arrows: their correlations with the scores.

    names: of the columns; without them those of the fit. most: so many arrows at most.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) * [4, 2, 1]
    >>> ax = tenfold.draw.draw_biplot(tenfold.PCA(2).fit(X), X)
    >>> ax.get_xlabel()
    'component 1: 85 % of the variance'
    """
    check.check_fitted(model)
    scores = np.asarray(model.transform(X), dtype=np.float64)
    i, j = axes
    if scores.ndim != 2 or not (0 <= i < scores.shape[1] and 0 <= j < scores.shape[1]):
        raise BadInput(f"draw_biplot(axes={axes!r}): the model has {scores.shape[-1]} components: give two numbers below that")
    if names is None:
        names = vars(model).get("feature_names_in_", getattr(X, "columns", None))
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    names = [f"x{a}" for a in range(rows.shape[1])] if names is None else [str(one) for one in names]
    if len(names) != rows.shape[1]:
        raise BadInput(f"draw_biplot: {len(names)} names for {rows.shape[1]} columns: give one for each")
    place = scores[:, [i, j]] - scores[:, [i, j]].mean(axis=0)
    ax = new_axes(ax, (6.4, 5.6))
    scattered(ax, place, y, name, ax)
    share = getattr(model, "explained_variance_ratio_", None)
    for axis, a in (("x", i), ("y", j)):
        part = "" if share is None else f": {100 * share[a]:.0f} % of the variance"
        getattr(ax, f"set_{axis}label")(f"component {a + 1}{part}")
    ax.set_title(titled(model), fontsize=10)
    column_arrows(ax, place, _correlations(rows, place), names, most)
    return ax


def _correlations(rows: Array, place: Array) -> Array:
    """(columns, 2); 0 of constant columns and of those with gaps."""
    centred = rows - rows.mean(axis=0)
    size = np.sqrt((centred * centred).sum(axis=0))[:, None] * np.sqrt((place * place).sum(axis=0))
    return np.asarray(np.nan_to_num(np.divide(centred.T @ place, size, out=np.zeros_like(size), where=size > 0)))


def draw_components(model: Any, shape: tuple[int, int], most: int = 20, columns: int = 5, ax: Any = None) -> Any:
    """The components of a fitted model as images of so many pixels (height, width): eigenfaces of a PCA, parts of an NMF.

    Each is scaled by its own largest entry. Where entries are below zero, brown is above and violet below zero.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 12))
    >>> ax = tenfold.draw.draw_components(tenfold.PCA(4).fit(X), (3, 4), columns=2)
    >>> ax.images[0].get_array().shape
    (7, 9)
    """
    from tenfold.draw.look import SIGNED

    check.check_fitted(model)
    found = getattr(model, "components_", None)
    if found is None or np.ndim(found) != 2 or not len(found):
        raise BadInput(f"draw_components: {type(model).__name__} has no components_ to draw: give a fitted PCA, FastICA or NMF")
    parts = np.asarray(found, dtype=np.float64)[:most]
    largest = np.abs(parts).max(axis=1, keepdims=True)
    ax = draw_images(np.divide(parts, largest, out=np.zeros_like(parts), where=largest > 0), shape, columns, ax)
    if (parts < 0).any():
        ax.images[0].set_cmap(SIGNED)
        ax.images[0].set_clim(-1, 1)
    ax.set_title(titled(model), fontsize=10)
    return ax


def draw_sources(signals: Mapping[str, Any], rate: float | None = None, axes: Any = None) -> Any:
    """Signals over time, a panel for each group: signals["mixed"] and signals["recovered"] of a cocktail party, each (times, signals).

    Each signal is drawn in its own range, below the one before. rate: times in a second; without it times are counted.

    >>> import numpy as np
    >>> from tenfold.draw import draw_sources
    >>> t = np.linspace(0, 9, 200)
    >>> S = np.column_stack([np.sin(t), np.sign(np.sin(3 * t))])
    >>> [ax.get_title() for ax in draw_sources({"sources": S, "mixed": S @ [[1, 2], [2, 1]]})]
    ['sources', 'mixed']
    """
    if not signals:
        raise BadInput("draw_sources: give at least one group of signals, such as {'mixed': X}")
    tables = {str(name): _signals(name, values) for name, values in signals.items()}
    if axes is None:
        first = new_axes(None, (7.2, 1.0 + 1.6 * len(tables)))
        figure = first.figure
        first.remove()
        axes = figure.subplots(len(tables), 1, sharex=True)
    panels = [new_axes(ax) for ax in np.ravel(axes)]
    if len(panels) != len(tables):
        raise BadInput(f"draw_sources: {len(panels)} axes for {len(tables)} groups of signals: give one for each")
    for ax, (name, values) in zip(panels, tables.items(), strict=True):
        time = np.arange(len(values)) / (rate or 1.0)
        middle, reach = (values.max(axis=0) + values.min(axis=0)) / 2, np.ptp(values, axis=0) / 2
        for j, column in enumerate((values - middle).T):
            ax.plot(time, column / (reach[j] or 1.0) / 2 - APART * j, color=COLOURS[j % len(COLOURS)], linewidth=0.9)
        ax.set(yticks=-APART * np.arange(values.shape[1]), yticklabels=[str(j + 1) for j in range(values.shape[1])])
        ax.set_title(short(name), fontsize=10)
    panels[-1].set_xlabel("time" if rate is None else "seconds")
    return panels


def _signals(name: Any, values: Any) -> Array:
    table = np.asarray(values, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.size or table.shape[1] > MOST_SIGNALS or not np.isfinite(table).all():
        raise BadInput(
            f"draw_sources: {name!r} has the shape {np.shape(values)}: give finite numbers (times, signals), at most {MOST_SIGNALS} signals"
        )
    return table
