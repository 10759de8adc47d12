"""Gaussian processes as pictures: functions they hold for likely, and how likely their kernels are."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.draw.fit import like
from tenfold.draw.look import AMOUNTS, BLACK, BLUE, GREY, RED, amount, new_axes, short, titled
from tenfold.kernels.combined import values

PLACES = 240
ROOM = 0.15  # beside the rows, as a share of their range
PRIOR = (0.0, 5.0)  # where a prior is drawn, if nothing else is said
HALF, MOST = 0.6744897501960817, 1.959963984540054  # standard deviations within which half, and 95 %, of a Gaussian lies
NO_NOISE = 1e-3  # of the standard deviation of the function: noise below is not drawn
CELLS = 34  # of the evidence, in each direction
BELOW = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)  # the largest evidence, where lines are drawn


def draw_process(
    model: Any, X: Any = None, y: Any = None, ax: Any = None, *, samples: int = 4, prior: bool = False,
    between: tuple[float, float] | None = None, random_state: Any = 0,
) -> Any:  # fmt: skip
    """A Gaussian process over one column: its mean, bands that hold half and 95 % of the functions (dark) and, where there is noise, of
    new rows (light), some functions drawn from it, and the rows.

    Before the fit, and with prior=True, what the kernel says without any row. between: where it is drawn; else around the rows.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_process
    >>> from tenfold.kernels import RBF, WhiteKernel
    >>> x = np.linspace(0, 3, 31)[:, None]
    >>> y = np.sin(x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 31)
    >>> ax = draw_process(tenfold.GaussianProcessRegressor(RBF() + WhiteKernel(0.1)).fit(x, y), x, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['95 % of new rows', '50 % of new rows', '95 % of functions', '50 % of functions', 'drawn functions', 'mean', 'rows']
    """
    fitted = hasattr(model, "kernel_")
    if not hasattr(model, "sample_y"):
        raise BadInput(f"draw_process shows a Gaussian process of numbers, and {type(model).__name__} is none: use draw_fit")
    if samples < 0:
        raise BadParameter(f"draw_process(samples={samples!r}): must be at least 0")
    rows = None if X is None else np.asarray(X, dtype=np.float64)
    if rows is not None and (rows.ndim != 2 or rows.shape[1] != 1 or not len(rows) or not np.isfinite(rows).all()):
        raise BadInput(f"draw_process shows one column of numbers, and X has the shape {rows.shape}: fit the process to one column")
    if fitted and model.n_features_in_ != 1:
        raise BadInput(f"draw_process shows one column, and the process was fitted to {model.n_features_in_}: use draw_dependence")
    shown = model if fitted and not prior else fresh(model)
    x = _places(rows if rows is not None else model.X_train_ if fitted else None, between)
    mean, covariance = shown.predict(like(X)(x) if rows is not None else x, return_cov=True)
    if np.ndim(mean) != 1:
        raise BadInput("draw_process shows one target: fit the targets one by one")
    own, told = _noise(shown, x)
    covariance = covariance - np.diag(own)
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    ax = new_axes(ax)
    at, broad = x[:, 0], np.sqrt(deviation**2 + own + told)
    if np.max(own + told) > (NO_NOISE * max(float(deviation.max()), 1e-300)) ** 2:
        ax.fill_between(at, mean - MOST * broad, mean + MOST * broad, color=GREY, alpha=0.16, linewidth=0, label="95 % of new rows")
        ax.plot(at, mean - HALF * broad, color=GREY, linewidth=0.9, linestyle=(0, (2, 1.5)), label="50 % of new rows")
        ax.plot(at, mean + HALF * broad, color=GREY, linewidth=0.9, linestyle=(0, (2, 1.5)))
    for reach, alpha, share in ((MOST, 0.18, 95), (HALF, 0.3, 50)):
        band = mean - reach * deviation, mean + reach * deviation
        ax.fill_between(at, *band, color=BLUE, alpha=alpha, linewidth=0, label=f"{share} % of functions")
    for k, one in enumerate(_functions(mean, covariance, samples, random_state)):
        ax.plot(at, one, color=BLUE, linewidth=0.8, alpha=0.8, label="drawn functions" if k == 0 else None)
    ax.plot(at, mean, color=RED, linewidth=1.8, label="mean", zorder=4)
    if rows is not None and y is not None and shown is model:
        truth = np.asarray(y, dtype=np.float64).ravel()
        if len(truth) != len(rows):
            raise BadInput(f"draw_process shows one target: y has {len(truth)} values, and X {len(rows)} rows")
        ax.scatter(rows[:, 0], truth, s=14, color=BLACK, linewidth=0, label="rows", zorder=5)
    name = str(getattr(model, "feature_names_in_", ("x",))[0])
    kernel = getattr(shown, "kernel_", None) or getattr(shown, "kernel", None)
    title = ("" if shown is model and fitted else "prior: ") + (str(kernel) if kernel is not None else titled(model))
    ax.set(xlabel=name, ylabel="y", xlim=(at[0], at[-1]))
    ax.set_title(short(title, 80), fontsize=10)
    ax.legend(fontsize=8)
    return ax


def _places(rows: Any, between: tuple[float, float] | None) -> Any:
    if between is not None:
        low, high = (float(one) for one in between)
        if not low < high:
            raise BadParameter(f"draw_process(between={between!r}): the first must be below the second")
    elif rows is None:
        low, high = PRIOR
    else:
        low, high = float(np.min(rows)), float(np.max(rows))
        room = ROOM * (high - low) if high > low else 1.0
        low, high = low - room, high + room
    return np.linspace(low, high, PLACES)[:, None]


def _noise(model: Any, x: Any) -> tuple[Any, Any]:
    """At each place the variance of the noise that is part of the kernel, and of that which new rows have besides."""
    fitted = hasattr(model, "kernel_")
    kernel = model.kernel_ if fitted else model.kernel
    scale = float(np.ravel(getattr(model, "_y_train_std", 1.0))[0]) ** 2 if fitted else 1.0
    beyond = float(model.alpha) if np.ndim(model.alpha) == 0 else 0.0
    if kernel is None:
        return np.zeros(len(x)), np.full(len(x), beyond * scale)
    shared = np.diagonal(values(kernel, x, x.copy()))
    return np.maximum(kernel.diag(x) - shared, 0.0) * scale, np.full(len(x), beyond * scale)


def _functions(mean: Any, covariance: Any, samples: int, random_state: Any) -> Any:
    if not samples:
        return []
    size, vectors = np.linalg.eigh(covariance)
    drawn = generator(random_state).normal(size=(samples, len(mean)))
    return mean + (drawn * np.sqrt(np.maximum(size, 0.0))) @ vectors.T


def draw_evidence(
    model: Any, parameters: tuple[int | str, int | str] = (0, 1), ax: Any = None, *, reach: float = 30.0, restarts: int = 4,
    random_state: Any = 0,
) -> Any:  # fmt: skip
    """The evidence of the rows of a fitted Gaussian process over two parameters of its kernel, the others held where they are: lines
    of equal log evidence below the largest, where the fit ended, and where searches of these two end that start elsewhere.

    parameters: two of `model.kernel_.theta`, by number or by name (`k1__length_scale`); each from `reach` times smaller to `reach` times
    larger. It takes some 1,000 evaluations of the evidence: give a process of a few hundred rows.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_evidence
    >>> from tenfold.kernels import RBF, WhiteKernel
    >>> x = np.linspace(0, 3, 15)[:, None]
    >>> y = np.sin(2 * x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 15)
    >>> ax = draw_evidence(tenfold.GaussianProcessRegressor(RBF() + WhiteKernel(0.1)).fit(x, y))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('k1__length_scale', 'k2__noise_level')
    """
    if not hasattr(model, "log_marginal_likelihood") or not hasattr(model, "kernel_"):
        raise BadInput(f"draw_evidence shows a fitted Gaussian process, and {type(model).__name__} is none: fit one first")
    if not reach > 1 or restarts < 0:
        raise BadParameter(f"draw_evidence(reach={reach!r}, restarts={restarts!r}): must be above 1, and at least 0")
    theta, names = np.array(model.kernel_.theta, dtype=np.float64), theta_names(model.kernel_)
    i, j = (_place(one, names) for one in parameters)
    if i == j:
        raise BadParameter(f"draw_evidence(parameters={parameters!r}): give two different ones")
    bounds = np.asarray(model.kernel_.bounds, dtype=np.float64)[[i, j]]
    low, high = np.maximum(theta[[i, j]] - np.log(reach), bounds[:, 0]), np.minimum(theta[[i, j]] + np.log(reach), bounds[:, 1])
    first, second = (np.linspace(a, b, CELLS) for a, b in zip(low, high, strict=True))

    def moved(pair: Any) -> Any:
        other = theta.copy()
        other[[i, j]] = pair
        return other

    def objective(pair: Any) -> Any:
        value, gradient = model.log_marginal_likelihood(moved(pair), eval_gradient=True)
        return (-value, -gradient[[i, j]]) if np.isfinite(value) else (1e100, np.zeros(2))

    found = np.array([[model.log_marginal_likelihood(moved((a, b))) for a in first] for b in second])
    best = float(model.log_marginal_likelihood_value_)
    ends = _searches(objective, low, high, restarts, random_state)
    top = max([best, float(np.max(found)), *(value for _, _, value in ends)])
    ax = new_axes(ax, (6.4, 4.8))
    ax.grid(False)
    lines = sorted(top - one for one in BELOW)
    depth = np.where(np.isfinite(found), found, top - 2 * BELOW[-1])
    ax.contourf(np.exp(first), np.exp(second), np.maximum(depth, lines[0]), levels=[*lines, top], cmap=AMOUNTS, zorder=0, extend="min")
    kept = [one for one in lines if depth.min() < one < depth.max()]
    if kept:
        drawn = ax.contour(np.exp(first), np.exp(second), depth, levels=kept, colors="white", linewidths=0.8, linestyles="solid", zorder=1)
        ax.clabel(drawn, fmt=lambda level: f"−{amount(top - level)}", fontsize=7)
    for k, (start, end, value) in enumerate(ends):
        way = np.exp(np.array([start, end]))
        ax.plot(*way.T, color="white", linewidth=1.0, linestyle=(0, (2, 1.5)), zorder=2)
        ax.plot(*way[0], "o", color="white", markersize=4, zorder=3, label="a search from elsewhere" if k == 0 else None)
        ax.plot(*way[1], "o", markerfacecolor="none", markeredgecolor="white", markersize=9, zorder=3)
        if value < best - 0.5:
            ax.annotate(f"{amount(value)}", way[1], color="white", fontsize=8, xytext=(6, 4), textcoords="offset points", zorder=4)
    ax.plot(*np.exp(theta[[i, j]]), "*", color=RED, markersize=14, markeredgecolor="white", zorder=5, label=f"the fit: {amount(best)}")
    ax.set(xscale="log", yscale="log", xlabel=names[i], ylabel=names[j], xlim=np.exp(first[[0, -1]]), ylim=np.exp(second[[0, -1]]))
    ax.set_title("log evidence below the largest", fontsize=10)
    ax.legend(fontsize=8, facecolor="#555555", labelcolor="white")
    return ax


def theta_names(kernel: Any) -> list[str]:
    """A name for each number of theta: of a parameter with one for each column, name[0], name[1], ..."""
    found = []
    for one in kernel.hyperparameters:
        if not one.fixed:
            found += [one.name] if one.n_elements == 1 else [f"{one.name}[{k}]" for k in range(one.n_elements)]
    return found


def _place(one: int | str, names: list[str]) -> int:
    if isinstance(one, str) and one in names:
        return names.index(one)
    if isinstance(one, int) and 0 <= one < len(names):
        return one
    raise BadParameter(f"draw_evidence(parameters={one!r}): the kernel has {', '.join(names) or 'nothing to learn'}; give two of them")


def _searches(objective: Any, low: Any, high: Any, restarts: int, random_state: Any) -> list[tuple[Any, Any, float]]:
    """Where searches inside the picture start and end, and the log evidence there."""
    from scipy.optimize import minimize

    found, rng = [], generator(random_state)
    for _ in range(restarts):
        start = rng.uniform(low, high)
        end = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=np.column_stack([low, high]))
        found.append((start, end.x, -float(end.fun)))
    return found
