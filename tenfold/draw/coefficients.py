"""Coefficients along a penalty, as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.draw.look import GREY, ORANGE, new_axes, short, style

KNOTS = 60  # penalties drawn, where none are given


def draw_coefficients(
    model: Any, X: Any = None, y: Any = None, *, alphas: Any = None, most: int = 8, ax: Any = None
) -> Any:
    """Each coefficient along the penalty, weak to the left; the largest are named, the others grey.

    A fitted Lars or LassoLars shows its knots. Ridge, Lasso and ElasticNet are fitted to X and y at each of `alphas`,
    of which one dashed line marks the model's own; of RidgeCV and LassoCV the one they chose.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_coefficients
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> ax = draw_coefficients(tenfold.LassoLars(alpha=0.01).fit(X, 3 * X[:, 0] - X[:, 2]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['x0', 'x2']
    """
    names, own = getattr(model, "feature_names_in_", None), None
    if "coef_path_" in vars(model):
        penalties, paths = model.alphas_, model.coef_path_
    else:
        penalties, paths, own, names = _fitted_path(model, X, y, alphas)
    names = [f"x{j}" for j in range(len(paths))] if names is None else names
    ax = new_axes(ax)
    size = np.abs(paths).max(axis=1)
    order = np.argsort(-size, kind="stable")
    shown = [j for j in order[:most] if size[j] > 0]
    floor = penalties[penalties > 0].min() / 2 if (penalties > 0).any() else 1.0
    at = np.maximum(penalties, floor)
    for j in order[most:]:
        ax.plot(at, paths[j], color=GREY, linewidth=0.7, alpha=0.5, zorder=1)
    for k, j in enumerate(shown):
        ax.plot(at, paths[j], linewidth=1.6, label=short(str(names[j]), 24), zorder=3, **style(k))
    ax.axhline(0, color=GREY, linewidth=1.0, linestyle=":")
    if own is not None:
        ax.axvline(own, color=ORANGE, linewidth=1.2, linestyle=(0, (2, 2)), label=f"alpha = {own:.3g}")
    ax.set_xscale("log")
    hidden = int((size[order[most:]] > 0).sum())
    more = f"; {hidden} more in grey" if hidden else ""
    ax.set(xlabel="penalty (alpha)", ylabel="coefficient", title=short(type(model).__name__ + more))
    if shown or own is not None:
        ax.legend(fontsize=9, ncols=2 if len(shown) > 4 else 1)
    return ax


def _fitted_path(model: Any, X: Any, y: Any, alphas: Any) -> tuple[Array, Array, float | None, Any]:
    if X is None or y is None:
        raise BadInput(f"draw_coefficients: a {type(model).__name__} keeps no path: give X and y")
    learner, own = _of_one_penalty(model)
    source = check.check_fit(learner, X, y)
    if source.n_targets > 1:
        raise BadInput("draw_coefficients shows one target: give one column of y")
    if alphas is None:
        alphas = _range(X, y, learner)
    penalties = np.sort(np.asarray(alphas, dtype=np.float64).reshape(-1))
    fits = learner._fit_path(source, "alpha", [float(a) for a in penalties])
    paths = np.array([np.ravel(one.coef_) for one in fits]).T
    return penalties, paths, own, source.facts.get("feature_names_in_")


def _of_one_penalty(model: Any) -> tuple[Any, float | None]:
    """A learner of one penalty, and the penalty to mark."""
    if getattr(model, "path", None) == "alpha":
        return fresh(model), float(model.alpha) or None
    name = type(model).__name__
    chosen = model._at_choice() if isinstance(model, Estimator) and "alpha_" in vars(model) else None
    if chosen is not None:
        return chosen, float(model.alpha_)
    raise BadInput(f"draw_coefficients: {name} has no penalty alpha to draw along: use Ridge, Lasso or LassoLars")


def _range(X: Any, y: Any, learner: Any) -> Array:
    """Penalties from where all is small to where hardly anything changes."""
    rows = np.asarray(X, dtype=np.float64)
    apart = rows - rows.mean(axis=0)
    truth = np.asarray(y, dtype=np.float64).reshape(-1)
    if hasattr(learner, "selection") or hasattr(learner, "l1_ratio"):  # the lasso and its kin: the first to enter
        ratio = max(float(getattr(learner, "l1_ratio", 1.0)), 1e-3)
        top = float(np.abs(apart.T @ (truth - truth.mean())).max()) / len(truth) / ratio
        return np.geomspace(max(top, 1e-300), max(1e-3 * top, 1e-300), KNOTS)
    values = np.linalg.svd(apart, compute_uv=False) ** 2
    values = values[values > 1e-12 * values[0]]
    return np.geomspace(30 * values[0], 0.03 * values[-1], KNOTS)
