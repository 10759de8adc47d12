"""Clusters as pictures: how many, how well told apart, and where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.arrows import column_arrows
from tenfold.draw.look import BLACK, BLUE, COLOURS, ORANGE, RED, new_axes, short

MOST_POINTS = 3000  # of a cloud
MOST_ARROWS = 8
MARKERS = "osD^vP*X"


def draw_cluster_choice(choice: Any, axes: Any = None) -> Any:
    """What `tenfold.choose_clusters` has found: scatter within clusters, gap, silhouette and prediction strength against their number.

    axes: three axes to draw on; without them, new ones beside one another. The recommended number is marked.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * np.repeat([[0], [1]], 30, axis=0)
    >>> axes = tenfold.choose_clusters(X, most=4).plot()
    >>> [ax.get_title() for ax in axes]
    ['elbow', 'gap', 'told apart, and found again']
    """
    axes = _beside(axes, 3)
    one = choice.evidence
    for ax, title in zip(axes, ("elbow", "gap", "told apart, and found again"), strict=True):
        ax.axvline(choice.clusters, color=ORANGE, linestyle="--", linewidth=1.2, label=f"recommended: {choice.clusters}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="clusters", title=title)
    elbow, gap, apart = axes
    if one is None:
        gap.set_title(short(choice.why))
        return axes
    k = np.arange(1, one.most + 1)
    elbow.plot(k, one.within, color=BLUE, marker="o", markersize=4, label="these rows")
    elbow.plot(k, one.held_out, color=RED, linestyle=(0, (6, 2)), marker="s", markersize=4, label="held-out rows")
    elbow.set(ylabel="scatter within / total", ylim=(0, None))
    gap.errorbar(k, one.gap, one.gap_error, color=BLUE, marker="o", markersize=4, capsize=2, label="± one standard error")
    gap.set_ylabel("log W of rows spread evenly, less log W")
    low, high = one.strength - one.strength_error, np.minimum(one.strength + one.strength_error, 1)
    apart.plot(k, one.silhouette, color=BLUE, marker="o", markersize=4, label="mean silhouette")
    apart.fill_between(k, low, high, color=RED, alpha=0.15, linewidth=0)
    apart.plot(k, one.strength, color=RED, linestyle=(0, (6, 2)), marker="s", markersize=4, label="prediction strength")
    apart.set_ylim(min(0.0, float(np.nanmin(one.silhouette))), 1.05)
    for ax in axes:
        ax.legend(fontsize=8)
    return axes


def _beside(axes: Any, count: int) -> list[Any]:
    """Axes beside one another, given or new."""
    if axes is None:
        first = new_axes(None, (4.0 * count, 3.8))
        figure = first.figure
        first.remove()
        axes = figure.subplots(1, count)
    return [new_axes(ax) for ax in axes]


def draw_silhouette(X: Any, labels: Any, ax: Any = None, *, metric: Any = "euclidean") -> Any:
    """The silhouette of every row, cluster by cluster, the largest first; a dashed line at the mean of all.

    Rows left of zero are nearer to another cluster than to their own.

    >>> from tenfold.draw import draw_silhouette
    >>> draw_silhouette([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).get_xlabel()
    'silhouette'
    """
    from tenfold.score.silhouette import silhouette_samples

    value, labels = silhouette_samples(X, labels, metric=metric), np.asarray(labels)
    names, code = np.unique(labels, return_inverse=True)
    ax = new_axes(ax, (6.4, 4.6))
    start, gap = 0.0, max(1.0, 0.02 * len(value))
    for k, name in enumerate(names):
        mine = np.sort(value[code == k])[::-1]
        rows = start + np.arange(len(mine) + 1)
        ax.fill_betweenx(rows, 0, np.append(mine, mine[-1]), step="post", color=COLOURS[k % len(COLOURS)], alpha=0.8, linewidth=0)
        text = f"{name}: {len(mine):,} rows, mean {mine.mean():.2f}"
        plate = dict(facecolor="white", alpha=0.7, linewidth=0)
        ax.text(0.02, start + len(mine) / 2, text, va="center", fontsize=8, color=BLACK, bbox=plate)
        start += len(mine) + gap
    ax.axvline(float(value.mean()), color=BLACK, linestyle="--", linewidth=1.2, label=f"mean of all rows: {value.mean():.2f}")
    ax.set(xlabel="silhouette", ylabel="rows, by cluster", yticks=[], ylim=(start, -gap), title="how well clusters are told apart")
    ax.legend(fontsize=8, loc="lower right")
    return ax


def draw_clusters(X: Any, labels: Any, ax: Any = None, *, names: Any = None) -> Any:
    """Rows on their first two principal axes, coloured by cluster, with the directions of the columns that matter most there.

    names: of the columns; without them the names of a frame, or x0, x1, ...

    >>> from tenfold.draw import draw_clusters
    >>> ax = draw_clusters([[0.0, 0.0], [1.0, 0.1], [10.0, 0.2], [11.0, 0.1]], [0, 0, 1, 1])
    >>> ax.get_xlabel()
    'first principal axis: 100 % of the variance'
    """
    if names is None:
        names = getattr(X, "columns", None)
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(labels)
    names = [str(name) for name in (names if names is not None else [f"x{j}" for j in range(rows.shape[1])])]
    centred = rows - rows.mean(axis=0)
    _, size, axes = np.linalg.svd(centred, full_matrices=False)
    axes = np.vstack([axes, np.zeros((2, rows.shape[1]))])[:2]  # one column has one axis
    share = np.append(size**2 / max(float((size**2).sum()), np.finfo(np.float64).tiny), [0.0, 0.0])
    place = centred @ axes.T
    ax = new_axes(ax, (6.4, 5.2))
    shown = np.random.default_rng(0).permutation(len(rows))[:MOST_POINTS]
    for k, name in enumerate(np.unique(labels)):
        mine = shown[labels[shown] == name]
        style = dict(color=COLOURS[k % len(COLOURS)], marker=MARKERS[k % len(MARKERS)], s=14, alpha=0.6, linewidths=0)
        ax.scatter(place[mine, 0], place[mine, 1], label=f"{name}: {int((labels == name).sum()):,} rows", **style)
    for axis, word, part in (("x", "first", share[0]), ("y", "second", share[1])):
        getattr(ax, f"set_{axis}label")(f"{word} principal axis: {100 * part:.0f} % of the variance")
    ax.set_title("clusters on the first two principal axes")
    ax.legend(fontsize=8)
    column_arrows(ax, place, axes.T * size[:1].repeat(2) / np.sqrt(len(rows)), names, MOST_ARROWS)
    return ax
