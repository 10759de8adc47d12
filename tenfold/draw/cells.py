"""Density trees and copulas as pictures: the cells, ranks and rows that were drawn; and rows that are images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.errors import BadInput
from tenfold.draw.look import AMOUNTS, BLACK, BLUE, RED, new_axes, titled

MOST_POINTS = 2000  # of a cloud
GAP = 1  # pixels between images


def draw_cells(model: Any, X: Any = None, ax: Any = None) -> Any:
    """The cells of a fitted DensityTree of one or two columns, the darker the denser; the rows X on top.

    Of one column: the density as steps.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> ax = tenfold.draw.draw_cells(tenfold.DensityTree().fit(X), X)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    from tenfold.base import check

    check.check_fitted(model)
    if not hasattr(model, "boxes") or model.n_features_in_ > 2:
        raise BadInput(
            f"draw_cells: is for a DensityTree of one or two columns, not for a {type(model).__name__} of {model.n_features_in_}: "
            "fit a DensityTree on two"
        )
    ax = new_axes(ax, (6.4, 4.8))
    names = [str(name) for name in vars(model).get("feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]
    low, high = model.boxes()
    density = np.exp(model.log_density_[model.feature_ < 0])
    rows = None if X is None else np.asarray(X, dtype=np.float64)
    shown = None if rows is None else rows[np.random.default_rng(0).permutation(len(rows))[:MOST_POINTS]]
    if model.n_features_in_ == 1:
        order = np.argsort(low[:, 0])
        ax.stairs(density[order], np.append(low[order, 0], high[order[-1], 0]), color=BLUE, fill=True, alpha=0.35)
        ax.stairs(density[order], np.append(low[order, 0], high[order[-1], 0]), color=BLUE)
        if shown is not None:
            ax.plot(shown[:, 0], np.zeros(len(shown)), "|", color=BLACK, markersize=6, markeredgewidth=0.5)
        ax.set(xlabel=names[0], ylabel="density")
    else:
        from matplotlib.colors import LogNorm

        boxes = [Rectangle(tuple(a), *(b - a)) for a, b in zip(low, high, strict=True)]
        drawn = PatchCollection(boxes, cmap=AMOUNTS, norm=LogNorm(), edgecolor="white", linewidth=0.4)
        drawn.set_array(density)
        ax.add_collection(drawn)
        ax.figure.colorbar(drawn, ax=ax, label="density")
        if shown is not None:
            ax.scatter(shown[:, 0], shown[:, 1], s=4, color=RED, alpha=0.5, linewidths=0)
        ax.set(xlabel=names[0], ylabel=names[1], xlim=(model.lower_[0], model.upper_[0]), ylim=(model.lower_[1], model.upper_[1]))
        ax.grid(False)
    ax.set_title(f"{titled(model)}: {len(density):,} cells", fontsize=10)
    return ax


def draw_copula(model: Any, X: Any, columns: tuple[int, int] = (0, 1), axes: Any = None, *, random_state: Any = 0) -> Any:
    """Two columns of the rows X, their ranks by the densities of a fitted CopulaDensity, and as many rows drawn from it.

    axes: three axes to draw on; without them, new ones beside one another.

    >>> import numpy as np, tenfold
    >>> X = np.exp(np.random.default_rng(0).normal(size=(200, 2)))
    >>> axes = tenfold.draw.draw_copula(tenfold.CopulaDensity("gaussian").fit(X), X)
    >>> [ax.get_title() for ax in axes]
    ['rows', 'ranks', 'drawn from it']
    """
    from tenfold.base import check

    check.check_fitted(model)
    if not hasattr(model, "marginals_") or model.n_features_in_ < 2:
        raise BadInput("draw_copula: is for a CopulaDensity of at least two columns")
    if axes is None:
        first = new_axes(None, (11.4, 3.8))
        figure = first.figure
        first.remove()
        axes = figure.subplots(1, 3)
    rows = np.asarray(X, dtype=np.float64)
    rows = rows[np.random.default_rng(0).permutation(len(rows))[:MOST_POINTS]]
    names = [str(name) for name in vars(model).get("feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]
    i, j = columns
    ranks = np.column_stack([model.marginals_[k].cdf(rows[:, [k]]) for k in columns])
    drawn = model.sample(len(rows), random_state=random_state)[:, [i, j]]
    panels = ((rows[:, [i, j]], "rows", BLUE), (ranks, "ranks", BLUE), (drawn, "drawn from it", RED))
    for ax, (places, title, colour) in zip(axes, panels, strict=True):
        new_axes(ax)
        ax.scatter(places[:, 0], places[:, 1], s=6, color=colour, alpha=0.5, linewidths=0)
        ax.set(xlabel=names[i], ylabel=names[j], title=title)
    axes[1].set(xlabel=f"F({names[i]})", ylabel=f"F({names[j]})", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes[2].set(xlim=axes[0].get_xlim(), ylim=axes[0].get_ylim())
    return axes


def draw_images(X: Any, shape: tuple[int, int], columns: int = 10, ax: Any = None) -> Any:
    """Rows as images of so many pixels (height, width), side by side, `columns` in each line of the sheet; dark is large.

    >>> import numpy as np, tenfold
    >>> ax = tenfold.draw.draw_images(np.eye(4), (2, 2), columns=2)
    >>> ax.images[0].get_array().shape
    (5, 5)
    """
    rows = np.asarray(X, dtype=np.float64)
    height, width = shape
    if rows.ndim != 2 or rows.shape[1] != height * width or not len(rows):
        raise BadInput(f"draw_images(shape={shape}): rows must have {height * width} columns, and have the shape {rows.shape}")
    lines = -(-len(rows) // columns)
    sheet = np.full((lines * (height + GAP) - GAP, min(columns, len(rows)) * (width + GAP) - GAP), np.nan)
    for k, row in enumerate(rows):
        top, left = k // columns * (height + GAP), k % columns * (width + GAP)
        sheet[top : top + height, left : left + width] = row.reshape(height, width)
    ax = new_axes(ax, (6.4, 6.4 * sheet.shape[0] / sheet.shape[1]))
    ax.imshow(sheet, cmap="Greys", aspect="equal")
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    return ax
