"""Pictures of a search: scores along one parameter, or over two as a map."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.draw.look import AMOUNTS, BLUE, GREY, ORANGE, RED, amount, new_axes, short
from tenfold.evaluate.validate.result import corrected_error

FEW_TICKS = 6  # values of a parameter that are each named on the axis
MOST_TEXTS = 144  # cells of a map that have their score written in


def draw_search(search: Any, ax: Any = None, parameters: Any = None) -> Any:
    """Mean scores of the settings along the parameter that varies, or as a map over two.

    `parameters` names one or two of them; without it, those that matter most are taken. Where others vary too, each point shows the
    best setting that has its values. The best setting is marked, and along one parameter the score to expect on new rows.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 1.0, 10.0]}).fit(X, y)
    >>> search.plot().get_xlabel()
    'alpha'
    """
    settings, scores, best = search._compared()
    names = _taken(settings, scores.mean(axis=1), parameters)
    if len(names) == 1:
        return _curve(search, new_axes(ax), settings, scores, best, names[0])
    return _map(search, ax, settings, scores, best, names)


def _taken(settings: list[Any], mean: Array, parameters: Any) -> list[str]:
    """The one or two parameters that are drawn."""
    every = list(dict.fromkeys(name for setting in settings for name in setting))
    if parameters is not None:
        names = [parameters] if isinstance(parameters, str) else list(parameters)
        unknown = [name for name in names if name not in every]
        if unknown or not 1 <= len(names) <= 2:
            raise BadParameter(f"plot(parameters={parameters!r}): must be one or two of {', '.join(every)}")
        return names
    if not every:
        raise BadParameter("plot: no parameter varies, so there is nothing to draw")
    effects = {name: np.ptp([mean[i] for i in _best_of_each(settings, mean, [name]).values()]) for name in every}
    varied = [name for name in every if len(_values(settings, name)) > 1] or every[:1]
    return sorted(sorted(varied, key=lambda name: -effects[name])[:2], key=lambda name: -len(_values(settings, name)))


def _values(settings: list[Any], name: str) -> list[Any]:
    """The different values of a parameter: numbers in order, others as they come."""
    found = list({_key(one[name]): one[name] for one in settings if name in one}.values())
    return sorted(found) if _numbers(found) else found


def _key(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def _numbers(values: list[Any]) -> bool:
    return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in values)


def _best_of_each(settings: list[Any], mean: Array, names: list[str]) -> dict[Any, int]:
    """For each combination of values the setting with the best mean."""
    found: dict[Any, int] = {}
    for i, setting in enumerate(settings):
        key = tuple(_key(setting.get(name)) for name in names)
        if np.isfinite(mean[i]) and (key not in found or mean[i] > mean[found[key]]):
            found[key] = i
    return found


def _title(search: Any, drawn: list[str], settings: list[Any]) -> str:
    others = {name for one in settings for name in one} - set(drawn)
    more = any(len(_values(settings, name)) > 1 for name in others)
    return short(f"{type(search.estimator).__name__}: settings searched" + (", best over other parameters" if more else ""))


def _score_label(search: Any) -> str:
    judge = search._judge()
    return f"{'' if judge.greater_is_better else '− '}{judge.title} on held-out rows"


def _curve(search: Any, ax: Any, settings: list[Any], scores: Array, best: int, name: str) -> Any:
    mean = scores.mean(axis=1)
    at = _best_of_each(settings, mean, [name])
    values = [value for value in _values(settings, name) if (_key(value),) in at]
    rows = [at[(_key(value),)] for value in values]
    error = np.array([corrected_error(scores[i], scores.shape[1]) for i in rows])
    numeric = _numbers(values)
    place = np.array(values, dtype=float) if numeric else np.arange(len(values), dtype=float)
    band = "± one corrected standard error"
    if numeric and len(values) > 1:
        ax.fill_between(place, mean[rows] - error, mean[rows] + error, color=BLUE, alpha=0.15, lw=0, label=band)
        ax.plot(place, mean[rows], "o-", ms=4, color=BLUE, label="mean of the folds")
        if place.min() > 0 and place.max() / place.min() > 50:
            ax.set_xscale("log")
        elif len(values) <= FEW_TICKS:
            ax.set_xticks(place, [amount(value) for value in values])
    else:
        ax.errorbar(place, mean[rows], yerr=error, fmt="o", color=BLUE, capsize=3, label=f"mean of the folds {band}")
        ax.set_xticks(place, [short(str(value), 16) for value in values])
    chosen = settings[best].get(name)
    if _key(chosen) in [_key(value) for value in values]:
        spot = place[[_key(value) for value in values].index(_key(chosen))]
        shown = amount(chosen) if _numbers([chosen]) else str(chosen)
        ax.axvline(spot, color=ORANGE, ls="--", label=f"best: {name} = {shown}, {amount(mean[best])}")
    if "best_score_corrected_" in vars(search):
        low, high = search.best_score_range_
        ax.axhspan(low, high, color=RED, alpha=0.08, lw=0)
        ax.axhline(search.best_score_corrected_, color=RED, lw=1, label=f"for new rows: {amount(search.best_score_corrected_)} "
                   f"({amount(low)} to {amount(high)})")  # fmt: skip
    ax.set(xlabel=name, ylabel=_score_label(search), title=_title(search, [name], settings))
    ax.tick_params(colors=GREY, labelcolor="black")
    ax.legend()
    return ax


def _map(search: Any, ax: Any, settings: list[Any], scores: Array, best: int, names: list[str]) -> Any:
    mean = scores.mean(axis=1)
    at = _best_of_each(settings, mean, names)
    across, down = (_values(settings, name) for name in names)
    table = np.full((len(down), len(across)), np.nan)
    for i, low in enumerate(down):
        for j, high in enumerate(across):
            row = at.get((_key(high), _key(low)))
            table[i, j] = np.nan if row is None else mean[row]
    ax = new_axes(ax, (min(max(2.4 + 0.7 * len(across), 6.4), 14.0), min(max(1.8 + 0.45 * len(down), 3.6), 10.0)))
    ax.grid(False)
    drawn = ax.imshow(table, cmap=AMOUNTS, aspect="auto", origin="lower")
    for axis, values in ((ax.set_xticks, across), (ax.set_yticks, down)):
        axis(range(len(values)), [amount(v) if _numbers([v]) else short(str(v), 16) for v in values])
    if len(across) > 8:
        ax.tick_params(axis="x", rotation=45)
    middle = (np.nanmin(table) + np.nanmax(table)) / 2
    if table.size <= MOST_TEXTS:
        for i, j in np.argwhere(np.isfinite(table)):
            colour = "white" if table[i, j] < middle else "black"
            ax.text(j, i, amount(table[i, j]), ha="center", va="center", color=colour, fontsize=8)
    chosen = tuple(_key(settings[best].get(name)) for name in names)
    if chosen in at:
        ax.add_patch(_frame([_key(v) for v in across].index(chosen[0]), [_key(v) for v in down].index(chosen[1])))
    ax.figure.colorbar(drawn, ax=ax, label=_score_label(search))
    ax.set(xlabel=names[0], ylabel=names[1], title=_title(search, names, settings))
    return ax


def _frame(column: int, row: int) -> Any:
    """A frame around the best cell."""
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=RED, lw=2.5)
