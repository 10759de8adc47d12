"""Tables in files, read the same way for every contender: NAME.csv.gz, last column `target`, empty cells missing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ENDING = ".csv.gz"
LEFT_OUT = {
    "sms_spam": "one column of text, which none of the contenders reads",
    "faithful": "a table for densities: its label was derived from the two measurements",
}
NUMBERED_CLASSES = frozenset({"digits"})  # more than two classes that are written as numbers


@dataclass(frozen=True)
class Table:
    """The columns, texts as categories; the target as codes of classes, or as numbers."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    n_classes: int  # 0 for numbers

    @property
    def cells(self) -> int:
        return self.X.size * max(self.n_classes, 1)


def read_table(path: Path) -> Table:
    """A target of texts, of two values, or of a table of NUMBERED_CLASSES is one of classes."""
    name = path.name.removesuffix(ENDING)
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    target = frame.pop("target")
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
    numbers = pd.api.types.is_numeric_dtype(target)
    if numbers and target.nunique() > 2 and name not in NUMBERED_CLASSES:
        return Table(name, frame, target.to_numpy(np.float64), 0)
    classes, codes = np.unique(target.to_numpy(dtype=object if not numbers else None), return_inverse=True)
    return Table(name, frame, codes, len(classes))


def tables_in(folder: Path, only: list[str] | None = None, left_out: Collection[str] = tuple(LEFT_OUT)) -> list[Table]:
    """All tables of a folder but some, or those named; the smallest first."""
    known = {path.name.removesuffix(ENDING): path for path in sorted(folder.glob("*" + ENDING))}
    if unknown := [name for name in only or [] if name not in known]:
        raise SystemExit(f"{folder} has no table {', '.join(unknown)}: it has {', '.join(known) or 'none'}")
    chosen = [name for name in known if name not in left_out] if only is None else only
    return sorted((read_table(known[name]) for name in chosen), key=lambda table: table.cells)


def folds(table: Table, n: int = 10, seed: int = 0) -> list[np.ndarray]:
    """The rows of each fold, shuffled, of each class its share."""
    rng = np.random.default_rng(seed)
    groups = [np.arange(len(table.y))]
    if table.n_classes:
        groups = [np.flatnonzero(table.y == k) for k in range(table.n_classes)]
    dealt = np.concatenate([rng.permutation(rows) for rows in groups])  # class after class, dealt out in turn
    return [np.sort(dealt[k::n]) for k in range(n)]
