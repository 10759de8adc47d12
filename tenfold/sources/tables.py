"""Tables in files: CSV (also gzipped) and Parquet, one or many, read in bounded memory.

    tenfold.Ridge().fit("part*.parquet", "price")

Here files and the names of columns are looked at; `sources.files` reads the rows.
"""

from __future__ import annotations

import glob
import os
from typing import Any

from tenfold.core.data import Source
from tenfold.core.errors import BadFile, BadInput, BadType
from tenfold.gate import check
from tenfold.sources.files import Files
from tenfold.sources.formats import Table
from tenfold.table.lines import refuse_repeated


def is_path(X: Any) -> bool:
    """A path, a pattern, or a list of those."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(one, (str, os.PathLike)) for one in X)
    return isinstance(X, (str, os.PathLike))


def open_files(
    learner: Any,
    X: Any,
    y: Any = None,
    weight: Any = None,
    classes: Any = None,
    categories: Any = None,
    *,
    plain: bool = False,
) -> Source:
    """The gate for files. With `plain` (predict) only the columns that the learner was fitted on are read."""
    tables = [Table(path) for path in find_files(X)]
    columns = list(tables[0].types)
    targets = [] if plain else _target_names(learner, y)
    weight = _weight_name(weight)
    if weight in targets:
        raise BadInput(f"column {weight!r} cannot be target and weight at once: name two columns")
    for name in [*targets, *([] if weight is None else [weight])]:
        if name not in columns:
            raise BadInput(f"there is no column {name!r} in {tables[0]}: the columns are {check.listed(columns)}")
    fitted = getattr(learner, "feature_names_in_", None) if plain else None
    names = [name for name in columns if name not in targets and name != weight] if fitted is None else list(fitted)
    if not names:
        raise BadInput(
            f"{tables[0]} has no column left to learn from: it needs at least one besides {check.listed(columns)}"
        )
    for table in tables:
        refuse_repeated(table.path, table.repeated, targets)
        refuse_repeated(table.path, table.repeated, [] if weight is None else [weight], "weight")
        table.expect([*names, *targets, *([] if weight is None else [weight])], exactly=not plain)
    coder = check.known_coder(learner) if plain else check.coder_of(learner, categories)
    source = Files(learner, tables, names, [] if learner.target == "none" else targets, weight, coder)
    if plain:
        check.check_width(learner, len(names), learner.n_features_in_)
        if fitted is None:
            check.check_names(learner, check.column_names(names))
    elif learner.target == "label":
        source.find_classes(learner, classes)
    source.facts = check.facts_of(len(names), check.column_names(names), source.target, source.find_categories())
    return source


def find_files(X: Any) -> list[str]:
    """All files meant, patterns replaced by what they match, in order of name."""
    found: list[str] = []
    for one in X if isinstance(X, (list, tuple)) else [X]:
        path = os.fspath(one)
        matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not matches:
            what = "no file matches" if glob.has_magic(path) else "there is no file"
            raise BadFile(f"{what} {path!r}: check the name, and the folder it is taken from ({os.getcwd()!r})")
        found += matches
    return found


def _target_names(learner: Any, y: Any) -> list[str]:
    if y is None:
        if learner.target != "none":
            raise BadInput(
                f"{type(learner).__name__} requires y to be passed, but the target y is None: give "
                "the name of the column"
            )
        return []
    if isinstance(y, str):
        return [y]
    if isinstance(y, (list, tuple)) and y and all(isinstance(name, str) for name in y):
        if len(y) > 1 and not (learner.multi_output and learner.target == "real"):
            raise BadInput(f"{type(learner).__name__} predicts one column of a file: give one name, not {check.listed(list(y))}")
        return list(y)
    raise BadType(f"with a file, y is the name of a column of it, not {type(y).__name__}: give the name")


def _weight_name(sample_weight: Any) -> str | None:
    if sample_weight is None or isinstance(sample_weight, str):
        return sample_weight
    raise BadType(
        f"with a file, sample_weight is the name of a column of it, not {type(sample_weight).__name__}: give the name"
    )
