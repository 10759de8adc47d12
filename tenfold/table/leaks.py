"""Columns that give the target away: alone, one of them predicts it almost perfectly.

Three looks at each column, all honest about rows that would predict themselves:

    order      how far the column orders the target: Spearman's |ρ|, or the least area under the ROC curve of one class against the rest
    levels     what a row's level says about its target, by the other rows with that level: codes, ids whose rows share their target;
               where nearly all values differ, whether the classes lie in one piece each
    gaps       whether a value is missing says it: filled in after the outcome

A column that measures the same thing at the same time may be as good; what is flagged is for a person to judge.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tenfold.core.data import Array
from tenfold.table.reading import pl
from tenfold.table.task import LEAST_CLASS_ROWS, Task

ALMOST_PERFECT = 0.998  # area under the ROC curve, or |ρ|
ALMOST_PURE = 0.99  # share of rows whose class the others of their level give, mean over the classes
ALMOST_EXPLAINED = 0.985  # share of the variance of the target's ranks that the others of a level explain
LEAK_ROWS = 20_000  # looked at
LEAST_ROWS = 20  # with a value
LEAST_CLASS = 10  # rows of other classes than the largest


def leak_suspects(frame: pl.DataFrame, task: Task) -> list[tuple[str, str]]:
    """Columns that alone predict the target almost perfectly, with the figure. Numbers and texts, null for missing."""
    rows = np.linspace(0, frame.height - 1, min(frame.height, LEAK_ROWS)).astype(int)
    sample, y = _without_copies(frame[rows], task.codes[rows])
    target = _Target(y, task.kind == "classes")
    found = []
    for column in sample.iter_columns():
        how = next(_looks(column, target), None)
        if how is not None:
            found.append((column.name, how))
    return found


def _without_copies(frame: pl.DataFrame, y: Array) -> tuple[pl.DataFrame, Array]:
    """Each row once: the copies of a row have one target, whatever its columns say."""
    columns = [column.alias(str(j)) for j, column in enumerate([*frame.iter_columns(), pl.Series(y)])]  # whatever they are called
    names = [column.name for column in columns]
    rows = pl.DataFrame(columns).with_row_index("row").unique(names, keep="first", maintain_order=True)["row"]
    return (frame, y) if len(rows) == len(y) else (frame[rows], y[rows.to_numpy()])


class _Target:
    """The target as codes and ranks."""

    def __init__(self, y: Array, classes: bool) -> None:
        self.y, self.classes = y, classes
        if classes:
            self.k = int(y.max()) + 1 if len(y) else 0

    def __getitem__(self, rows: Array) -> _Target:
        return _Target(self.y[rows], self.classes)


def _looks(column: pl.Series, target: _Target) -> Iterator[str]:
    """The figures of the looks that find a leak, in words."""
    text = column.dtype == pl.String
    numbers = None if text else column.to_numpy().astype(np.float64)
    there = column.is_not_null().to_numpy() if numbers is None else ~np.isnan(numbers)
    n = len(there)
    if target.classes and LEAST_CLASS <= there.sum() <= n - LEAST_CLASS:
        area = _least_area(there.astype(float), target)
        if area is not None and area >= ALMOST_PURE:  # there are two values only: it is the share of rows that are right
            yield f"whether it is missing: AUC {area:.3f}"
    if text and target.classes and LEAST_CLASS <= there.sum() < n:  # a gap may be what one of the classes has
        share = _pure(_codes(column), target)
        if share is not None and share >= ALMOST_PURE:
            yield f"{100 * share:.1f}% right by its levels, a gap among them"
    if there.sum() < LEAST_ROWS or there.mean() < 0.5:
        return
    rest = target[there]
    if numbers is not None:
        x = numbers[there]
        figure = _least_area(x, rest) if rest.classes else _rank_correlation(x, rest.y)
        if figure is not None and figure >= ALMOST_PERFECT:
            yield f"{'AUC' if rest.classes else 'rank correlation'} {figure:.3f}"
        codes = np.unique(x, return_inverse=True)[1]
    else:
        codes = _codes(column.drop_nulls())
    levels = len(np.unique(codes))
    if levels < 2:
        return
    if not text and levels > len(codes) / 2:  # measured: neighbours in order take the place of levels
        mixed = _mixed(codes, rest) if rest.classes else None
        if mixed is not None and mixed <= 1 - ALMOST_PURE:
            yield f"{100 * (1 - mixed):.1f}% in one piece for each class, in its order"
        return
    share = _pure(codes, rest) if rest.classes else _explained(codes, rest.y)
    least = ALMOST_PURE if rest.classes else ALMOST_EXPLAINED
    if share is not None and share >= least:
        yield f"{100 * share:.1f}% {'right by its levels' if rest.classes else 'of the ranks explained by its levels'}"


def _codes(texts: pl.Series) -> Array:
    """Texts as 0, 1, ...; a gap is one of them."""
    return texts.rank("dense").fill_null(0).to_numpy().astype(np.int64)


def _least_area(x: Array, target: _Target) -> float | None:
    """The least one-against-rest area under the ROC curve."""
    rank = _ranks(x)
    figures = []
    for code in np.unique(target.y):
        mine = target.y == code
        m, rest = int(mine.sum()), int((~mine).sum())
        if rest == 0:
            return None
        if m < LEAST_CLASS_ROWS:  # a slip of the pen does not clear a column
            continue
        area = (rank[mine].sum() - m * (m + 1) / 2) / (m * rest)
        figures.append(max(area, 1 - area))
    return float(min(figures)) if figures else None


def _rank_correlation(x: Array, y: Array) -> float | None:
    a, b = _ranks(x) - (len(x) + 1) / 2, _ranks(y) - (len(y) + 1) / 2
    spread = np.sqrt((a @ a) * (b @ b))
    return float(abs(a @ b) / spread) if spread > 0 else None


def _mixed(x: Array, target: _Target) -> float | None:
    """How far classes are mixed in the order of x: rows outside of the piece of their class, in parts of those not of the largest class.

    In order, k classes make at least k runs; a row in the wrong place makes two more.
    """
    y = target.y[np.argsort(x, kind="stable")]
    counts = np.bincount(y)
    rest = len(y) - int(counts.max())
    if rest < LEAST_CLASS:
        return None
    runs = 1 + int((np.diff(y) != 0).sum())
    return (runs - int((counts > 0).sum())) / 2 / rest


def _pure(codes: Array, target: _Target) -> float | None:
    """The share of rows whose class the other rows of their level give, the mean over classes; None where too few have others."""
    table = np.bincount(codes * target.k + target.y, minlength=(int(codes.max()) + 1) * target.k).reshape(-1, target.k)
    sizes = table.sum(axis=1)[codes]
    others = table[codes]
    others[np.arange(len(codes)), target.y] -= 1
    most = others.max(axis=1)
    right = (others[np.arange(len(codes)), target.y] == most) & ((others == most[:, None]).sum(axis=1) == 1)
    counted = sizes > 1
    if counted.sum() < max(LEAST_ROWS, len(codes) / 4):
        return None
    of_class = [right[counted & (target.y == code)] for code in range(target.k)]
    shares = [one.mean() for one in of_class if len(one) >= LEAST_CLASS_ROWS]  # a slip of the pen does not clear a column
    return float(np.mean(shares)) if len(shares) > 1 else None


def _explained(codes: Array, y: Array) -> float | None:
    """The share of the variance of the ranks of y that the means of the others of a level explain."""
    rank = _ranks(y)
    sizes = np.bincount(codes)[codes]
    counted = sizes > 1
    if counted.sum() < max(LEAST_ROWS, len(codes) / 4):
        return None
    sums = np.bincount(codes, weights=rank)[codes]
    left = rank[counted] - ((sums - rank) / np.maximum(sizes - 1, 1))[counted]
    around = rank[counted] - rank[counted].mean()
    total = float(around @ around)
    return 1 - float(left @ left) / total if total > 0 else None


def _ranks(values: Array) -> Array:
    """Ranks from 1, ties shared."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    shared: Array = (last - (count - 1) / 2)[place]
    return shared
