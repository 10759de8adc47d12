"""Several targets of one table, one after another: none of them is used to predict another."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tenfold.core.errors import BadParameter
from tenfold.selection.settings import Settings
from tenfold.table.chunks import chunks, is_large
from tenfold.table.reading import read_table


def columns_in(table: Any) -> list[str]:
    """The names of the columns of a table; of a large file from its first part."""
    if isinstance(table, (str, os.PathLike)) and is_large(Path(table)):
        return next(iter(chunks(Path(table)))).columns
    return read_table(table, tell=lambda note: None).frame.columns


def are_names(target: Any, columns: Collection[str]) -> bool:
    """Whether a list names columns to predict, and does not hold the values of one."""
    return isinstance(target, (list, tuple)) and bool(target) and all(isinstance(one, str) and one in columns for one in target)


def settings_of(settings: Settings, target: str, targets: Sequence[str]) -> Settings:
    """The settings for one of several targets: the others are left out."""
    others = [one for one in targets if one != target]
    for name in settings.keep:
        if name in targets:
            raise BadParameter(f"keep={name!r}: this is a column to predict, which is not used to predict another")
    category = [one for one in settings.category if one not in others]
    return replace(settings, drop=list(dict.fromkeys([*settings.drop, *others])), category=category)
