"""Densities of one column: histograms by each rule side by side, and any density over the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.density.histogram import Histogram
from tenfold.draw.look import BLUE, GREY, new_axes, style, titled
from tenfold.gate.check import frame_names

POINTS = 1001
MOST_TICKS = 2000  # of a rug: more are a band


def draw_histogram(X: Any, bins: Sequence[Any] = ("scott", "fd", "shimazaki", "cv"), sample_weight: Any = None) -> Any:
    """A column by histograms with bins of each of these rules, numbers or edges, panel by panel, over the values themselves.

    Returns the axes of the panels.

    >>> import numpy as np
    >>> from tenfold.draw import draw_histogram
    >>> panels = draw_histogram(np.arange(100.0) ** 2, bins=["scott", 7])
    >>> [ax.get_title() for ax in panels]
    ['scott: 5 bins', '7 bins']
    """
    column, name = _column(X)
    models = [Histogram(one).fit(column, None, sample_weight) for one in bins]
    panels, top = _row_of_panels(len(models)), max((float(_heights(one).max()) for one in models), default=0.0)
    for ax, rule, model in zip(panels, bins, models, strict=True):
        count = len(model.edges_[0]) - 1
        ax.stairs(_heights(model), model.edges_[0], fill=True, color=BLUE, alpha=0.55)
        ax.stairs(_heights(model), model.edges_[0], color=BLUE, linewidth=0.8)
        _rug(ax, column[:, 0])
        ax.set(title=f"{f'{rule}: ' if isinstance(rule, str) else ''}{count} bin{'s' * (count != 1)}", xlabel=name, ylim=(0, 1.06 * top))
    panels[0].set_ylabel("density")
    return panels


def draw_density(models: Any, X: Any, ax: Any = None) -> Any:
    """Densities of one column that were fitted, one or several (a list, or a dict by names), as curves over the rows of X.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_density
    >>> X = np.concatenate([np.arange(20.0), np.arange(50.0, 80.0)])[:, None]
    >>> ax = draw_density({"one": tenfold.GaussianMixture(1).fit(X), "two": tenfold.GaussianMixture(2, random_state=0).fit(X)}, X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['one', 'two']
    """
    column, name = _column(X)
    listed = models if isinstance(models, list) else [models]
    named = dict(models) if isinstance(models, Mapping) else {titled(one): one for one in listed}
    for label, model in named.items():
        check.check_fitted(model)
        if model.role != "density_estimator" or model.n_features_in_ != 1:
            raise BadInput(f"draw_density: {label} is no density of one column: fit one on a single column")
    ax = new_axes(ax)
    x, top = _places(column[:, 0], named.values()), 0.0
    for k, (label, model) in enumerate(named.items()):
        y = np.exp(model.score_samples(x[:, None]))
        finite = y[np.isfinite(y)]
        top = max(top, float(finite.max(initial=0.0)))
        ax.plot(x, y, label=label, **style(k))
    _rug(ax, column[:, 0])
    ax.set(xlabel=name, ylabel="density", ylim=(0, 1.06 * top if top > 0 else None))
    if len(named) > 1:
        ax.legend(frameon=False)
    else:
        ax.set_title(next(iter(named)))
    return ax


def draw_class_posteriors(model: Any, X: Any, y: Any, column: int = 0) -> Any:
    """What a fitted classifier says along one column: above, the histogram of the rows of each class, as large as its share of the rows;
    below, the posteriors P(k | x). All other columns are missing, for which the classifier must be one that takes missing values, as
    HistogramNB and MixedNB, or have one column.

    Returns both axes.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_class_posteriors
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) > 20
    >>> above, below = draw_class_posteriors(tenfold.GaussianNB().fit(X, y), X, y)
    >>> [text.get_text() for text in above.get_legend().get_texts()]
    ['False', 'True']
    """
    check.check_fitted(model)
    p, names = model.n_features_in_, frame_names(X)
    if model.role != "classifier" or (p > 1 and not model.missing):
        raise BadInput(
            f"draw_class_posteriors: {titled(model)} is no classifier that can leave out all columns but one: fit it on one column, use "
            "one that takes missing values, or draw_dependence"
        )
    table = X.to_numpy() if names is not None else np.asarray(X)
    if table.ndim != 2 or table.shape[1] != p or not isinstance(column, int) or not 0 <= column < p:
        raise BadInput(f"draw_class_posteriors: X must have the {p} columns of the fit, and column={column!r} be the number of one of them")
    values, labels = _numbers(table[:, column], column), np.asarray(y)
    values, labels = values[~np.isnan(values)], labels[~np.isnan(values)]
    x = np.linspace(values.min(), values.max(), POINTS)
    found = model.predict_proba(_alone(model, x, column))
    figure = new_axes(None, (6.4, 5.6)).figure
    figure.clear()
    above = new_axes(figure.add_subplot(2, 1, 1))
    below = new_axes(figure.add_subplot(2, 1, 2, sharex=above))
    edges = Histogram("scott").fit(values[:, None]).edges_[0]
    for k, label in enumerate(model.classes_.tolist()):
        own = np.histogram(values[labels == label], edges)[0] / (len(values) * np.diff(edges))
        above.stairs(own, edges, label=str(label), linewidth=1.8, **style(k))
        below.plot(x, found[:, k], **style(k))
    above.set(ylabel="share × density", ylim=(0, None))
    above.legend(frameon=False)
    below.set(xlabel=f"column {column}" if names is None else str(names[column]), ylabel="posterior", ylim=(0, 1.02))
    return above, below


def _numbers(values: Array, column: int) -> Array:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if np.isnan(found).all():
        raise BadInput(f"draw_class_posteriors: column {column} holds no numbers: give a column of numbers")
    return found


def _alone(model: Any, x: Array, column: int) -> Any:
    """Rows of which nothing but this column is known, as the model was fitted on them."""
    names = vars(model).get("feature_names_in_")
    if names is None:
        rows = np.full((len(x), model.n_features_in_), np.nan)
        rows[:, column] = x
        return rows
    import polars as pl

    return pl.DataFrame({str(name): x if j == column else np.full(len(x), np.nan) for j, name in enumerate(names)})


def _column(X: Any) -> tuple[Array, str]:
    """(rows, 1), and what it is called; a flat array is a column."""
    names = frame_names(X)
    values = np.asarray(X.to_numpy() if names is not None else X, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.shape[1] != 1:
        raise BadInput(f"X has the shape {values.shape}: a picture of a density is of one column, give one of them")
    return values, "x" if names is None else str(names[0])


def _heights(model: Histogram) -> Array:
    edges = model.edges_[0]
    return np.asarray(np.exp(model.score_samples((edges[:-1] + np.diff(edges) / 2)[:, None])))


def _places(values: Array, models: Any) -> Array:
    """Where curves are drawn: evenly, and on both sides of every step."""
    low, high = float(values.min()), float(values.max())
    margin = 0.1 * (high - low) or 1.0
    steps = np.concatenate([np.empty(0), *(one._kinks()[0] for one in models)])
    steps = steps[(steps >= low - margin) & (steps <= high + margin)]
    beside = [np.nextafter(steps, -np.inf), steps, np.nextafter(steps, np.inf)]
    return np.unique(np.concatenate([np.linspace(low - margin, high + margin, POINTS), *beside]))


def _rug(ax: Any, values: Array) -> None:
    """A short line for each value, at the foot."""
    if len(values) > MOST_TICKS:
        values = np.quantile(values, np.linspace(0, 1, MOST_TICKS))
    ax.plot(values, np.zeros(len(values)), "|", color=GREY, markersize=7, markeredgewidth=0.6, alpha=0.7, clip_on=False, zorder=3)


def _row_of_panels(count: int) -> list[Any]:
    if count < 1:
        raise BadInput("draw_histogram(bins=[]): give at least one rule or number")
    figure = new_axes(None, (max(4.0, 3.2 * count), 3.2)).figure
    figure.clear()
    first = new_axes(figure.add_subplot(1, count, 1))
    return [first, *(new_axes(figure.add_subplot(1, count, k + 1, sharex=first, sharey=first)) for k in range(1, count))]
