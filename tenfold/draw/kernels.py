"""The kernels of rows with one another as a picture, and how many directions they span."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.errors import BadInput
from tenfold.draw.look import AMOUNTS, BLUE, GREY, RED, SIGNED, amount, new_axes, short
from tenfold.kernels.combined import values
from tenfold.kernels.named import PARAMETERS, named_kernel

MOST_ROWS = 1000  # shown; of more, so many are drawn
ROUNDING = 1e-12  # of the largest eigenvalue, below which one is nothing but rounding
TRACE = 0.9  # share of the sum of the eigenvalues that is told
SEVERAL = 20  # different values of y up to which they are classes


def draw_kernel(kernel: Any, X: Any = None, y: Any = None, axes: Any = None) -> Any:
    """The matrix of a kernel of all pairs of rows, like rows side by side, and beside it the eigenvalues, from the largest on.

    kernel: a value of tenfold.kernels, a name ('rbf', 'linear', ...), or the matrix itself, without X. y: classes, which come one after
    the other, or numbers, by which the rows are ordered; within a class, and without y, rows are ordered by a clustering of the kernel's
    distances. Eigenvalues below zero, which no kernel has, are red. Returns both axes.

    >>> import numpy as np
    >>> from tenfold.draw import draw_kernel
    >>> from tenfold.kernels import RBF
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (20, 2)), rng.normal(4, 1, (20, 2))])
    >>> matrix, eigenvalues = draw_kernel(RBF(1.0), X, ["a"] * 20 + ["b"] * 20)
    >>> [text.get_text() for text in matrix.get_xticklabels()]
    ['a', 'b']
    """
    K = _matrix(kernel, X)
    n, labels = len(K), None if y is None else np.asarray(y)
    if labels is not None and labels.shape != (n,):
        raise BadInput(f"draw_kernel: y has the shape {labels.shape}, and there are {n} rows: give one value for each")
    if n > MOST_ROWS:
        some = np.sort(np.random.default_rng(0).permutation(n)[:MOST_ROWS])
        K, labels = K[np.ix_(some, some)], None if labels is None else labels[some]
    order, marks = _order(K, labels)
    if axes is None:
        first = new_axes(None, (10.4, 4.4))
        figure = first.figure
        first.remove()
        axes = figure.subplots(1, 2, width_ratios=(1.15, 1.0))
    left, right = axes[0], new_axes(axes[1])
    _draw_matrix(left, K[np.ix_(order, order)], marks)
    left.set_title(_titled(kernel) + ("" if n == len(K) else f", {len(K):,} of {n:,} rows"), fontsize=10)
    _draw_eigenvalues(right, K)
    return axes


def _matrix(kernel: Any, X: Any) -> Any:
    if X is None:
        K = np.asarray(kernel, dtype=np.float64) if not isinstance(kernel, str) and not callable(kernel) else np.empty(0)
        if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
            raise BadInput("draw_kernel: give a kernel and the rows X, or a square matrix of the kernels of all pairs of rows")
        K = (K + K.T) / 2
    else:
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
            raise BadInput(f"draw_kernel: X must be rows of finite numbers, and has the shape {rows.shape}: fill what is missing")
        if isinstance(kernel, str):
            if kernel not in PARAMETERS:
                raise BadInput(f"draw_kernel(kernel={kernel!r}): is none of {', '.join(PARAMETERS)}")
            K = named_kernel(kernel, rows, rows)
        elif callable(getattr(kernel, "clone_with_theta", None)):
            K = values(kernel, rows, rows)
        else:
            raise BadInput(f"draw_kernel: {type(kernel).__name__} is no kernel of tenfold.kernels, no name of one and no matrix")
    K = np.asarray(ops.dense(K), dtype=np.float64)
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise BadInput(f"draw_kernel: the kernel of rows {i} and {j} is {K[i, j]}: scale the columns first, or take another kernel")
    return K


def _order(K: Any, labels: Any) -> tuple[Any, list[tuple[str, int, int]]]:
    """The rows as they are shown, and each class with its first place and the one behind its last."""
    if labels is not None and labels.dtype.kind in "iuf" and len(np.unique(labels)) > SEVERAL:
        return np.argsort(labels, kind="stable"), []
    rank = np.empty(len(K), dtype=int)
    rank[_leaves(K)] = np.arange(len(K))
    if labels is None:
        return np.argsort(rank), []
    names, codes = np.unique(labels, return_inverse=True)
    edges = np.concatenate([[0], np.cumsum(np.bincount(codes))]).tolist()
    return np.lexsort((rank, codes)), [(str(name), edges[k], edges[k + 1]) for k, name in enumerate(names)]


def _leaves(K: Any) -> Any:
    """Rows as the leaves of a tree of mean distances, where ‖φ(x) − φ(y)‖² = k(x, x) + k(y, y) − 2 k(x, y)."""
    if len(K) < 3:
        return np.arange(len(K))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    size = np.diagonal(K)
    apart = np.sqrt(np.maximum(size[:, None] + size - 2 * K, 0.0))
    np.fill_diagonal(apart, 0.0)
    return leaves_list(linkage(squareform(apart, checks=False), "average"))


def _draw_matrix(ax: Any, K: Any, marks: list[tuple[str, int, int]]) -> None:
    low, high = float(K.min()), float(K.max())
    if low < 0:
        reach = max(-low, high)
        shown = ax.imshow(K, cmap=SIGNED, vmin=-reach, vmax=reach, interpolation="nearest")
    else:
        shown = ax.imshow(K, cmap=AMOUNTS, vmin=low, vmax=high if high > low else low + 1.0, interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, label="k(x, y)", shrink=0.85)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    if not marks:
        ax.set(xticks=[], yticks=[], xlabel="rows", ylabel="rows")
        return
    for _, _, end in marks[:-1]:
        for line in (ax.axhline, ax.axvline):
            line(end - 0.5, color="white", linewidth=1.0)
    middle, names = [(start + end - 1) / 2 for _, start, end in marks], [name for name, _, _ in marks]
    ax.set_xticks(middle, names)
    ax.set_yticks(middle, names)
    ax.tick_params(length=0)


def _draw_eigenvalues(ax: Any, K: Any) -> None:
    found = np.linalg.eigvalsh(K)[::-1]
    largest = float(np.abs(found).max())
    size = np.abs(found) / largest if largest else np.abs(found)
    place, below = np.arange(1, len(found) + 1), found < -ROUNDING * len(found) * largest
    sound = ~below & (size > ROUNDING)
    ax.plot(place[sound], size[sound], ".", color=BLUE, markersize=5, label="eigenvalues")
    if below.any():
        ax.plot(place[below], size[below], "x", color=RED, markersize=5, label=f"{below.sum():,} below zero: no kernel")
    trace = np.cumsum(np.maximum(found, 0.0))
    title = "eigenvalues"
    if trace[-1] > 0:
        needed = int(np.searchsorted(trace, TRACE * trace[-1])) + 1
        ax.axvline(needed, color=GREY, linewidth=1.0, linestyle=(0, (2, 1.5)))
        title = f"{amount(100 * TRACE)} % of the sum of the eigenvalues in {needed:,} of {len(found):,}"
    ax.set(yscale="log", xlabel="number of the eigenvalue", ylabel="share of the largest")
    ax.set_ylim(max(float(size[size > 0].min(initial=1.0)), ROUNDING) / 3, 3)
    ax.set_title(title, fontsize=10)
    ax.legend(fontsize=9)


def _titled(kernel: Any) -> str:
    known = isinstance(kernel, str) or callable(getattr(kernel, "clone_with_theta", None))
    return short(str(kernel)) if known else "kernels of the rows"
