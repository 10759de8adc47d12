"""Gaussian mixtures: their ellipses and whose the rows are, and expectation-maximisation step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, kept_warnings
from tenfold.density.factors import spread_roots
from tenfold.density.mixtures import Mixture
from tenfold.draw.look import BLACK, BLUE, COLOURS, GREY, amount, new_axes, style, titled
from tenfold.draw.steps import panels_of, worth_showing
from tenfold.gate.check import frame_names

MOST_POINTS = 4000
ROUND = np.linspace(0, 2 * np.pi, 97)
DEVIATIONS = (1.0, 2.0)
PLACES = 400  # of a curve
STEPS = 200  # that are recorded


def draw_mixture(model: Any, X: Any, ax: Any = None, *, columns: Sequence[int] | None = None) -> Any:
    """A fitted Gaussian mixture and rows: each component as ellipses of one and two standard deviations about its mean (a cross), each row
    in the colours of the components, blended by its probabilities of coming from them. Of one column: the curve of each component times
    its share, their sum, and a histogram of the rows.

    columns: the two columns to show (or the one), of a model of more: ellipses are those of the marginal distribution.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_mixture
    >>> X = np.concatenate([np.random.default_rng(0).normal(m, 1, (50, 2)) for m in (0, 5)])
    >>> ax = draw_mixture(tenfold.GaussianMixture(2, random_state=0).fit(X), X)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['50.0 %', '50.0 %']
    """
    chosen = _columns(model, columns, "draw_mixture")
    rows, names = np.asarray(X, dtype=np.float64), frame_names(X)
    ax = new_axes(ax, (6.4, 4.0 if len(chosen) == 1 else 5.0))
    if len(chosen) == 1:
        _draw_curves(ax, model, rows[:, chosen[0]], chosen[0])
        ax.set_ylabel("density")
    else:
        _draw_plane(ax, model, X, rows, chosen)
        ax.set_ylabel(_name(names, chosen[1]))
        ax.legend(loc="best", frameon=False, fontsize=9, title="share", title_fontsize=9)
    ax.set_xlabel(_name(names, chosen[0]))
    ax.set_title(titled(model), fontsize=10)
    return ax


def draw_em_steps(model: Any, X: Any, *, panels: int = 5, columns: Sequence[int] | None = None) -> Any:
    """Expectation-maximisation step by step, from one start of the model's `init_params` and `random_state`: the mixture before the
    steps that raise the bound most, the last one included, and the bound itself, which never falls. The steps are those of `fit`, with
    `warm_start` and one step at a time; at most 200 of them.

    Returns the axes of the panels, that of the bound last."""
    if not isinstance(panels, (int, np.integer)) or isinstance(panels, bool) or panels < 2:
        raise BadParameter(f"draw_em_steps(panels={panels!r}): must be a whole number of at least 2")
    if not isinstance(model, Mixture):
        raise BadInput(f"draw_em_steps: {type(model).__name__} is no mixture of Gaussians: give a GaussianMixture")
    steps = _recorded(model, X)
    chosen, names = _columns(steps[0][0], columns, "draw_em_steps"), frame_names(X)
    rows, bounds = np.asarray(X, dtype=np.float64), [bound for _, bound in steps]
    shown = worth_showing([-bound for bound in bounds], int(panels))
    figure, axes = panels_of(len(shown) + 1, apart=1)
    for ax, number in zip(axes, shown, strict=False):
        if len(chosen) == 1:
            _draw_curves(ax, steps[number][0], rows[:, chosen[0]], chosen[0])
            if ax.get_legend() is not None:
                ax.get_legend().remove()
        else:
            _draw_plane(ax, steps[number][0], X, rows, chosen)
        ax.set_title(f"step {number}: bound {amount(bounds[number])}", fontsize=10)
        ax.tick_params(labelsize=8, colors=GREY)
    last = axes[-1]
    last.plot(range(len(bounds)), bounds, color=BLUE, linewidth=1.5)
    last.plot(shown, [bounds[number] for number in shown], "o", color=BLUE, markersize=5)
    last.set_title("the bound never falls", fontsize=10)
    last.set_xlabel("step", fontsize=9)
    last.ticklabel_format(useOffset=False)
    last.xaxis.get_major_locator().set_params(integer=True)
    last.tick_params(labelsize=8, colors=GREY)
    figure.supxlabel(_name(names, chosen[0]), fontsize=10)
    figure.supylabel("density" if len(chosen) == 1 else _name(names, chosen[1]), fontsize=10)
    return axes


def _recorded(model: Mixture, X: Any) -> list[tuple[Any, float]]:
    """The model after each step, from the start on, with the bound of it."""
    one, steps, last = fresh(model).set_params(n_init=1, max_iter=0, warm_start=True), list[tuple[Any, float]](), -np.inf
    with kept_warnings():
        one.fit(X)
        for _ in range(min(STEPS, model.max_iter) + 1):
            before = one._fitted_copy(one._fitted_state())
            one.set_params(max_iter=1).fit(X)  # the bound that it tells is that before its step
            steps.append((before, one.lower_bound_))
            if abs(one.lower_bound_ - last) < model.tol:
                break
            last = one.lower_bound_
    return steps


def _columns(model: Any, columns: Sequence[int] | None, what: str) -> list[int]:
    if not isinstance(model, Mixture):
        raise BadInput(f"{what}: {type(model).__name__} is no mixture of Gaussians: give a fitted GaussianMixture")
    p = model.means_.shape[1]
    chosen = list(range(p)) if columns is None else [int(one) for one in columns]
    if len(chosen) not in (1, 2) or not all(0 <= one < p for one in chosen):
        raise BadParameter(f"{what} shows one or two columns, and the model has {p}: name them, as columns=[0, 1]")
    return chosen


def _name(names: Any, column: int) -> str:
    return f"x{column}" if names is None else str(names[column])


def _covariances(model: Any) -> Array:
    """(k, p, p), however covariance_type holds them."""
    k, p = model.means_.shape
    found = spread_roots(model.covariances_, model.covariance_type, k, p)
    return found[:, :, None] * np.eye(p) if found.ndim == 2 else found


def _colours(model: Any, X: Any) -> Array:
    """Of each row: those of the components, by its probabilities."""
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(COLOURS[k % len(COLOURS)]) for k in range(len(model.weights_))])
    return np.asarray(np.clip(np.asarray(model.predict_proba(X)) @ palette, 0, 1))


def _draw_plane(ax: Any, model: Any, X: Any, rows: Array, chosen: list[int]) -> None:
    places = rows[:, chosen]
    there = np.flatnonzero(np.isfinite(places).all(axis=1))
    there = there[:: max(1, -(-len(there) // MOST_POINTS))]
    ax.scatter(*places[there].T, s=12, c=_colours(model, X)[there], alpha=0.7, linewidths=0)
    circle = np.array([np.cos(ROUND), np.sin(ROUND)])
    for k, (mean, C) in enumerate(zip(model.means_[:, chosen], _covariances(model)[:, chosen][:, :, chosen], strict=True)):
        values, vectors = np.linalg.eigh(C)
        for deviations in DEVIATIONS:
            label = f"{100 * model.weights_[k]:.1f} %" if deviations == 1 else None
            outline = mean[:, None] + deviations * vectors @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)
            ax.plot(*outline, linewidth=1.6 / deviations, label=label, alpha=0.25 + 0.75 * min(1.0, 20 * model.weights_[k]), **style(k))
        ax.plot(*mean, "x", color=BLACK, markersize=6)


def _draw_curves(ax: Any, model: Any, values: Array, column: int) -> None:
    values = values[np.isfinite(values)]
    deviations = np.sqrt(_covariances(model)[:, column, column])
    ax.hist(values, bins="auto", density=True, color="#DDDDDD")
    ends = [*(model.means_[:, column] - 3 * deviations), *values], [*(model.means_[:, column] + 3 * deviations), *values]
    places = np.linspace(min(ends[0]), max(ends[1]), PLACES)
    away = (places[:, None] - model.means_[:, column]) / deviations
    every = model.weights_ * np.exp(-0.5 * away**2) / (deviations * np.sqrt(2 * np.pi))
    ax.plot(places, every.sum(axis=1), color=BLACK, linewidth=2.6, label="sum")
    for k, curve in enumerate(every.T):
        ax.plot(places, curve, linewidth=1.4, label=f"{100 * model.weights_[k]:.1f} %", **style(k))
    ax.legend(loc="best", frameon=False, fontsize=9)
