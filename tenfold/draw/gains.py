"""What the columns won in the splits of trees, as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.check import check_fitted
from tenfold.core.errors import BadType
from tenfold.draw.look import BLUE, GREY, new_axes, short


def draw_gains(model: Any, ax: Any = None, most: int = 20) -> Any:
    """A bar for each column: its share in what all splits won (`feature_importances_`), the largest first.

    With several trees a thin line reaches over the middle half of them. Gains are those of the training rows, and columns with
    many values win a little by chance: permutation_importance measures what a column is worth for new rows.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_gains
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> ax = draw_gains(tenfold.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 1]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x1', 'x0', 'x2']
    """
    check_fitted(model)
    if "_trees" not in vars(model):
        raise BadType(f"{type(model).__name__} is not made of trees alone: give a tree, a forest or boosted trees")
    gains, trees = np.asarray(model.feature_importances_), vars(model)["_trees"]
    order = np.argsort(-gains, kind="stable")[:most]
    ax = new_axes(ax, (6.4, max(1.6, 0.28 * len(order) + 1.1)))
    place = np.arange(len(order))
    ax.barh(place, gains[order], color=BLUE, height=0.6)
    if len(trees) > 1:
        each = np.array([trees[t].importances(len(gains)) for t in range(len(trees))])
        low, high = np.quantile(each[:, order], [0.25, 0.75], axis=0)
        ax.hlines(place, low, high, color=GREY, linewidth=1.4)
    names = vars(model).get("feature_names_in_")
    labels = [f"x{j}" if names is None else short(str(names[j]), 24) for j in order]
    ax.set_yticks(place, labels)
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("share of what all splits won" + ("; line: the middle half of the trees" if len(trees) > 1 else ""))
    hidden = len(gains) - len(order)
    if hidden:
        ax.set_title(f"{hidden} more columns not shown", fontsize=11)
    return ax
