"""A regression as a picture: the rows, the fit, and how far to trust it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.core.errors import BadInput, BadParameter
from tenfold.draw.look import BLUE, GREY, RED, new_axes, titled

PLACES = 200  # where the curve is drawn
MANY = 5_000  # rows above which dots are small and faint


class Bands(NamedTuple):
    """Along the curve: the prediction, the half-width of its own uncertainty and of a new row's; None: not known."""

    value: Any
    confidence: Any
    prediction: Any


def draw_fit(model: Any, X: Any, y: Any, *, column: int = 0, level: float = 0.95, ax: Any = None) -> Any:
    """Rows and fitted curve along a column, with a band for the curve (dark) and one for new rows (light).

    The bands are those of LinearRegression (and its relatives with `inference`), CurveFit and BayesianRidge; generalised linear
    models without a penalty have the one for the curve; other regressors are drawn without. With several columns the others are held at
    their means, and the dots are what the rows leave when the effect of the other columns is taken away.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_fit
    >>> x = np.arange(8.0)[:, None]
    >>> y = 2 * x[:, 0] + np.cos(3 * x[:, 0])
    >>> ax = draw_fit(tenfold.LinearRegression().fit(x, y), x, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['rows', 'fit', '95 % of the fit', '95 % of new rows']
    """
    if not 0 < level < 1:
        raise BadParameter(f"draw_fit(level={level!r}): must be above 0 and below 1, as 0.95")
    like_X = like(X)
    rows = np.asarray(X, dtype=np.float64)
    flat = rows.ndim == 1
    table = rows[:, None] if flat else rows
    if table.ndim != 2 or not 0 <= column < table.shape[1]:
        raise BadInput(f"draw_fit(column={column!r}): X has shape {rows.shape}")
    truth = check.real_target(check.as_column(y), len(table))[:, 0]
    x = table[:, column]
    grid = np.tile(table.mean(axis=0), (PLACES, 1))
    grid[:, column] = np.linspace(x.min(), x.max(), PLACES)
    bands = _bands(model, like_X(grid[:, 0] if flat else grid), level)
    if np.ndim(bands.value) != 1:
        raise BadInput("draw_fit shows one target: fit the targets one by one")
    dots = truth
    if table.shape[1] > 1:
        held = np.tile(table.mean(axis=0), (len(table), 1))
        held[:, column] = x
        dots = truth - model.predict(X) + model.predict(like_X(held))
    ax = new_axes(ax)
    faint = len(x) > MANY
    ax.scatter(x, dots, s=4 if faint else 16, color=GREY, alpha=0.25 if faint else 0.7, linewidth=0, label="rows")
    at, what = grid[:, column], f"{100 * level:g} % of"
    ax.plot(at, bands.value, color=RED, linewidth=1.8, label="fit", zorder=4)
    for reach, alpha, name in ((bands.confidence, 0.35, "the fit"), (bands.prediction, 0.14, "new rows")):
        if reach is not None:
            ax.fill_between(
                at, bands.value - reach, bands.value + reach, color=BLUE, alpha=alpha, linewidth=0,
                label=f"{what} {name}",
            )  # fmt: skip
    names = getattr(model, "feature_names_in_", None)
    name = f"column {column}" if names is None else str(names[column])
    label = "y" if table.shape[1] == 1 else "y, other columns at their means"
    ax.set(xlabel="x" if table.shape[1] == 1 and names is None else name, ylabel=label, title=titled(model))
    ax.legend(fontsize=9)
    return ax


def like(X: Any) -> Callable[[Any], Any]:
    """A function from an array to a table of the kind of X, with its column names: a model that knows them asks for them."""
    import narwhals as nw

    given = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(given, nw.DataFrame):
        return lambda values: values
    kind, names = given.implementation, given.columns
    return lambda values: nw.from_numpy(values, names, backend=kind).to_native()


def _bands(model: Any, X: Any, level: float) -> Bands:
    if hasattr(model, "band"):
        value = model.predict(X)
        return Bands(value, *(model.band(X, level, kind)[1] - value for kind in ("confidence", "prediction")))
    if hasattr(model, "sigma_") and hasattr(model, "alpha_"):
        from scipy.special import ndtri

        value, deviation = model.predict(X, return_std=True)
        reach = float(ndtri((1 + level) / 2))
        own = np.sqrt(np.maximum(deviation**2 - 1 / model.alpha_, 0.0))
        return Bands(value, reach * own, reach * deviation)
    value = model.predict(X)
    if hasattr(model, "standard_errors"):  # of a generalised linear model: those of its means, where no penalty biases them
        from scipy.special import ndtri

        known = "covariance_" in vars(model)
        return Bands(value, float(ndtri((1 + level) / 2)) * model.standard_errors(X) if known else None, None)
    if not hasattr(model, "inference") or value.ndim != 1:
        return Bands(value, None, None)
    from scipy.special import stdtrit

    found = model.inference()
    variance = found.sigma2[0] * found.leverage(X, None)
    reach = float(stdtrit(found.student, (1 + level) / 2))
    return Bands(value, reach * np.sqrt(variance), reach * np.sqrt(variance + found.sigma2[0]))
