"""Which rows of a regression stand out: quantiles of residuals, leverage, robust weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.draw.look import BLUE, GREY, ORANGE, RED, new_axes, titled
from tenfold.score.inputs import truth_and_values

NAMED = 5  # rows that are named in a picture


def draw_qq(y_true: Any, y_pred: Any, *, level: float = 0.95, ax: Any = None) -> Any:
    """Ordered residuals against the quantiles of a normal distribution with the same quartiles.

    Normal residuals lie along the line; the band is where each of them lies with the given probability, if they are.
    Ends that leave it upwards on the right and downwards on the left are heavy tails.

    >>> from tenfold.draw import draw_qq
    >>> ax = draw_qq([1.0, 2.0, 3.0, 5.0], [1.5, 2.0, 2.5, 5.5])
    >>> ax.get_xlabel()
    'normal quantile'
    """
    from scipy.special import betaincinv, ndtri

    truth, value, _ = truth_and_values(y_true, y_pred, None)
    rest = np.sort((truth - value).reshape(-1))
    n = len(rest)
    low, middle, high = np.quantile(rest, [0.25, 0.5, 0.75])
    rest = (rest - middle) / ((high - low) / 1.349 or rest.std() or 1.0)
    rank = np.arange(1, n + 1)
    at = ndtri((rank - 0.375) / (n + 0.25))
    low, high = (ndtri(betaincinv(rank, n + 1 - rank, q)) for q in ((1 - level) / 2, (1 + level) / 2))
    ax = new_axes(ax, (4.8, 4.4))
    ax.fill_between(at, low, high, color=GREY, alpha=0.2, linewidth=0, label=f"{100 * level:g} % of each, if normal")
    ends = np.array([at[0], at[-1]])
    ax.plot(ends, ends, color=GREY, linewidth=1.2, linestyle=":")
    outside = (rest < low) | (rest > high)
    ax.scatter(at[~outside], rest[~outside], s=14, color=BLUE, alpha=0.75, linewidth=0, label="residuals")
    if outside.any():
        share = f"outside: {outside.mean():.1%}"
        ax.scatter(at[outside], rest[outside], s=18, color=RED, alpha=0.85, linewidth=0, marker="D", label=share)
    ax.set(xlabel="normal quantile", ylabel="residual, standardised", title=f"{n} residuals")
    ax.legend(fontsize=9, loc="upper left")
    return ax


def draw_leverage(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Residuals against leverage, with contours of Cook's distance; the rows that move the fit most are named.

    Far right and far from zero is where single rows decide: beyond the contour of 1 leaving a row out moves all
    predictions by about their own uncertainty.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_leverage
    >>> X = np.append(np.arange(9.0), 30.0)[:, None]
    >>> y = np.append(np.arange(9.0), 0.0)
    >>> ax = draw_leverage(tenfold.LinearRegression().fit(X, y), X, y)
    >>> ax.texts[0].get_text()
    '9'
    """
    if not hasattr(model, "cooks_distance"):
        raise BadInput(f"draw_leverage: a {type(model).__name__} has no leverage: use LinearRegression")
    found, h, cook = model.inference(), model.leverage(X), model.cooks_distance(X, y)
    truth = check.real_target(check.as_column(y), len(h))[:, 0]
    spread = np.sqrt(found.sigma2[0] * np.maximum(1 - h, 1e-12))
    rest = (truth - model.predict(X)) / np.where(spread > 0, spread, 1.0)
    ax = new_axes(ax)
    bad = cook >= 0.5
    for which, colour, marker, label in ((~bad, BLUE, "o", "rows"), (bad, RED, "D", "Cook's distance ≥ 0.5")):
        if which.any():
            ax.scatter(h[which], rest[which], s=18, color=colour, marker=marker, alpha=0.75, linewidth=0, label=label)
    right = min(1.08 * float(h.max()), 0.999)
    top = 1.15 * max(float(np.abs(rest).max()), 1.0)
    along = np.linspace(1e-3 * right, right, 200)
    for level, dash in ((0.5, (0, (6, 2))), (1.0, "-")):
        edge = np.sqrt(level * len(found.names) * (1 - along) / along)
        for side in (-1, 1):
            name = f"Cook's distance {level:g}" if side > 0 else None
            ax.plot(along, side * edge, color=ORANGE, linewidth=1.2, linestyle=dash, label=name)
    ax.axhline(0, color=GREY, linewidth=1.0, linestyle=":")
    _name_rows(ax, h, rest, np.argsort(-cook, kind="stable")[:NAMED], cook >= 4 / len(h))
    ax.set(
        xlabel="leverage", ylabel="residual, standardised", xlim=(0, right), ylim=(-top, top),
        title=f"mean leverage {len(found.names) / found.n:.3g}; largest Cook's distance {cook.max():.3g}",
    )  # fmt: skip
    ax.legend(fontsize=9, loc="best")
    return ax


def draw_weights(model: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """What each row counts in a robust fit, against its residual; the rows that count least are named.

    For HuberRegressor and MMRegressor (their `weights`), CurveFit with a robust loss, and RANSACRegressor (1 for
    inliers, 0 for others).

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_weights
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + 0.1 * (-1) ** np.arange(10)
    >>> y[3] = 100.0
    >>> ax = draw_weights(tenfold.HuberRegressor().fit(X, y), X, y)
    >>> ax.texts[0].get_text()
    '3'
    """
    weight = _weights(model, X, y)
    truth = check.real_target(check.as_column(y), len(weight))[:, 0]
    rest = truth - model.predict(X)
    scale = getattr(model, "scale_", None)
    rest, unit = (rest / scale, "in scales") if scale else (rest, "in units of y")
    ax = new_axes(ax)
    low = weight < 0.5
    for which, colour, marker, label in ((~low, BLUE, "o", "count half or more"), (low, RED, "D", "count less")):
        if which.any():
            label = f"{label}: {which.mean():.1%}"
            ax.scatter(
                rest[which], weight[which], s=18, color=colour, marker=marker, alpha=0.6, linewidth=0, label=label
            )
    least = np.lexsort((-np.abs(rest), weight))[:NAMED]
    _name_rows(ax, rest, weight, least, low)
    if np.abs(rest).max() > 50 * max(float(np.median(np.abs(rest))), 1e-300):
        ax.set_xscale("symlog", linthresh=max(4 * float(np.median(np.abs(rest))), 1e-300))
    ax.set(xlabel=f"residual, {unit}", ylabel="weight of the row", ylim=(-0.05, 1.08), title=titled(model))
    ax.legend(fontsize=9, loc="center right")
    return ax


def _weights(model: Any, X: Any, y: Any) -> Array:
    if hasattr(model, "weights"):
        return np.asarray(model.weights(X, y))
    if hasattr(model, "inliers"):
        return np.asarray(model.inliers(X, y), dtype=np.float64)
    if hasattr(model, "robust_weights_"):
        weights = np.asarray(model.robust_weights_)
        if len(weights) != len(y):
            raise BadInput(f"draw_weights: the fit had {len(weights)} rows, and {len(y)} are given: give the same rows")
        return weights
    raise BadInput(f"draw_weights: a {type(model).__name__} weighs no rows: use a robust regression, as MMRegressor")


def _name_rows(ax: Any, x: Array, y: Array, rows: Array, worth: Array) -> None:
    """The numbers of some rows beside their dots; those of dots that coincide together."""
    across, up = (max(float(np.ptp(values)), 1e-300) for values in (x, y))
    places: dict[tuple[int, int], list[int]] = {}
    for row in rows[worth[rows]]:
        places.setdefault((round(50 * x[row] / across), round(50 * y[row] / up)), []).append(int(row))
    for together in places.values():
        at = (x[together[0]], y[together[0]])
        text = ", ".join(map(str, together))
        ax.annotate(text, at, xytext=(4, 4), textcoords="offset points", fontsize=8, annotation_clip=True)
