"""The settings of a run, each in one place: its name, its default, and what can be checked before the table is read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np

from tenfold.core.errors import BadFile, BadParameter
from tenfold.score.registry import known_score, score_names
from tenfold.selection.choice.costs import checked_cost
from tenfold.selection.plan.monotone import checked_monotone
from tenfold.table.task import LEAST_ROWS, task_name

EFFORTS = ("quick", "normal", "thorough")
PREFERENCES = ("best", "simple", "fast")
HONEST = ("auto", "nested", "folds")
LEAST_FOLDS, MOST_FOLDS = 3, 50
OF_ONE = (  # settings that also say something where one learner is named: all but what and how much is tried, and how it is chosen
    "seed", "folds", "metric", "task", "drop", "keep", "category", "groups", "weights", "rows", "time_column", "cost", "positive",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What can be asked of a run, with one sentence where it cannot be done."""

    task: str | None = None
    metric: str | None = None
    folds: int | None = None
    seed: int = 0
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    category: Sequence[str] = ()
    groups: str | None = None
    weights: str | None = None
    time_column: str | None = None
    cost: Any = None
    positive: str | None = None
    rows: int | None = None
    effort: str = "normal"
    time: float | None = None
    prefer: str = "best"
    honest: str = "auto"
    monotone: Any = None

    def __post_init__(self) -> None:
        self._put(task=task_name(self.task))
        if not _is_whole(self.seed) or self.seed < 0:
            raise BadParameter(f"seed={self.seed!r}: must be a whole number of at least 0")
        if self.folds is not None and not (_is_whole(self.folds) and LEAST_FOLDS <= self.folds <= MOST_FOLDS):
            raise BadParameter(f"folds={self.folds!r}: must be {LEAST_FOLDS} to {MOST_FOLDS}{self._why_folds()}")
        self._put(seed=int(self.seed), folds=None if self.folds is None else int(self.folds))
        self._put(**{name: _names(name, getattr(self, name)) for name in ("drop", "keep", "category")})
        for name, known in (("effort", EFFORTS), ("prefer", PREFERENCES), ("honest", HONEST)):
            if getattr(self, name) not in known:
                raise BadParameter(f"{name}={getattr(self, name)!r}: must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}")
        if self.time is not None:
            real = isinstance(self.time, (int, float, np.number)) and not isinstance(self.time, bool)
            if not real or not 0 < self.time < float("inf"):
                raise BadParameter(f"time={f'{self.time:g}' if real else repr(self.time)}: must be a number of seconds above 0")
            self._put(time=float(self.time))
        self._put(monotone=checked_monotone(self.monotone))
        self._check_judging()
        if self.rows is not None and not (_is_whole(self.rows) and self.rows >= LEAST_ROWS):
            raise BadParameter(f"rows={self.rows!r}: must be a whole number of at least {LEAST_ROWS}")
        for name, column in self.roles.items():
            if not isinstance(column, str):
                raise BadParameter(f"{name}={column!r}: must be the name of a column")
        if self.groups is not None and self.time_column is not None:
            raise BadParameter(f"groups={self.groups!r}: folds are made by groups or by time ({self.time_column!r}), give one of them")
        if self.honest == "nested" and self.time_column is not None:
            order = f"in the order of {self.time_column!r} the choice is repeated by folds, each from what came before it"
            raise BadParameter(f"honest={self.honest!r}: {order}; leave it out, or leave out the order")

    def _check_judging(self) -> None:
        """The score, and what errors cost."""
        score = known_score(self.metric) if isinstance(self.metric, str) else None
        if isinstance(self.metric, str) and score is None:
            names = [*score_names("classifier"), *score_names("regressor")]
            near = difflib.get_close_matches(self.metric.lower(), names, n=1)
            meant = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(names)}"
            raise BadParameter(f"metric={self.metric!r} is not known: {meant}")
        self._put(cost=checked_cost(self.cost), positive=None if self.positive is None else str(self.positive))
        if self.cost is not None and score is not None and score.by_class:
            raise BadParameter(
                f"cost and metric={self.metric!r}: both say which class is decided for; give one of them, or costs with a metric of "
                "probabilities such as log_loss or auc"
            )

    def _why_folds(self) -> str:
        """Why there are at least and at most so many folds, for a message."""
        K: Any = self.folds
        many = _is_whole(K) and K > MOST_FOLDS
        return ": every two of them may be left out together" + (f", and {K} would make {K * (K + 1) // 2:,} training sets" if many else "")

    def _put(self, **values: Any) -> None:
        """Set what was asked for in the form in which it is kept."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def roles(self) -> dict[str, str]:
        """The columns that say something of rows, by the name of the setting."""
        known = dict(weights=self.weights, groups=self.groups, time_column=self.time_column)
        return {name: column for name, column in known.items() if column is not None}

    def facts(self) -> dict[str, Any]:
        """As plain values, for a file: of a score that is a function its name."""
        facts, score = asdict(self), self.metric
        if callable(score):
            facts["metric"] = str(getattr(score, "name", "") or getattr(score, "__name__", "score"))
        return facts

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Self:
        """From what a file says."""
        strange = [name for name in facts if name not in {field.name for field in fields(cls)}]
        if strange:
            raise BadFile(f"the run has a setting {strange[0]!r} that this version does not know: start again with tenfold select")
        return cls(**facts)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def _names(option: str, names: Any) -> list[str]:
    given = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else None  # a text is a sequence too, of letters
    if given is None or not all(isinstance(one, str) for one in given):
        example = f", such as [{names!r}]" if isinstance(names, str) else ""
        raise BadParameter(f"{option}={names!r}: must be a list of names of columns{example}")
    return given


def other_preference(prefer: str) -> str:
    """The other one of what can be preferred: its estimate is told as well."""
    return "best" if prefer == "simple" else "simple"
