"""The settings of a run, as far as they can be checked before the table is read."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter
from tenfold.score.registry import known_score, score_names
from tenfold.table.task import task_name

MOST_FOLDS = 50  # every pair of folds may be left out once
EFFORTS = ("quick", "normal", "thorough")
PREFERENCES = ("best", "simple", "fast")


def checked_settings(
    task: str | None = None,
    metric: str | None = None,
    folds: int | None = None,
    seed: int = 0,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    category: Sequence[str] = (),
    effort: str = "normal",
    time: float | None = None,
    prefer: str = "best",
    groups: str | None = None,
) -> dict[str, Any]:
    """What was asked for, with one sentence where it cannot be done."""
    if not _is_whole(seed) or seed < 0:
        raise BadParameter(f"seed={seed!r}: must be a whole number of at least 0")
    if folds is not None and not (_is_whole(folds) and 3 <= folds <= MOST_FOLDS):
        many = _is_whole(folds) and folds > MOST_FOLDS
        sets = f", and {folds} folds would make {folds * (folds + 1) // 2:,} training sets" if many else ""
        raise BadParameter(f"folds={folds!r}: must be 3 to {MOST_FOLDS}: every pair of folds is left out once{sets}")
    for name, value, known in (("effort", effort, EFFORTS), ("prefer", prefer, PREFERENCES)):
        if value not in known:
            raise BadParameter(f"{name}={value!r}: must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}")
    if time is not None and not (isinstance(time, (int, float)) and not isinstance(time, bool) and 0 < time < float("inf")):
        raise BadParameter(f"time={time!r}: must be a number of seconds above 0")
    if isinstance(metric, str) and known_score(metric) is None:
        names = [*score_names("classifier"), *score_names("regressor")]
        near = difflib.get_close_matches(metric.lower(), names, n=1)
        meant = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}"
        raise BadParameter(f"metric={metric!r} is not known: {meant}")
    columns = {name: _names(name, value) for name, value in dict(drop=drop, keep=keep, category=category).items()}
    plan = dict(effort=effort, time=None if time is None else float(time), prefer=prefer, groups=groups)
    return dict(task=task_name(task), metric=metric, folds=folds, seed=int(seed), **columns, **plan)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _names(option: str, names: Any) -> list[str]:
    if isinstance(names, str):  # a text is a sequence too, of letters
        raise BadParameter(f"{option}={names!r}: must be a list of names of columns, such as [{names!r}]")
    return list(names)
