"""Which settings share work.

A search fits every setting on every split. Much of that is the same work:

    path          settings that differ only in the learner's `path`: one fit gives them all
    sums          settings whose fits follow from the same sums over rows (`_from_sums` with the same key): these are summed once
    front         settings that differ only in the last step of a pipeline: its transformers are fitted once
    start         settings of a learner with a `_solution` that differ only in numbers: each starts where the one before it ended
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.base.sums import Sums, hashable
from tenfold.compose.pipeline import Pipeline
from tenfold.compose.search.parameters import Setting
from tenfold.core.data import Source
from tenfold.core.errors import TenfoldError
from tenfold.evaluate.validate.held_out import prepared

Where = list[int]  # places in a list of settings


class Family(NamedTuple):
    """Settings that differ only in the path: the learner of all of them, and the value of each (none where there is no path)."""

    where: Where
    learner: Any
    values: list[Any]


def alike(settings: Sequence[Setting], of: Callable[[Setting], Setting]) -> list[Where]:
    """The places of settings of which `of` leaves the same parameters and values, in order of appearance."""
    found: dict[Any, Where] = {}
    for i, setting in enumerate(settings):
        key = tuple((name, hashable(value)) for name, value in sorted(of(setting).items()))
        found.setdefault(key, []).append(i)
    return list(found.values())


def with_setting(learner: Estimator, setting: Setting) -> Any:
    """A fresh learner with these parameters; learners among them are fresh too."""
    return fresh(learner).set_params(**{name: fresh(value) for name, value in setting.items()})


def families(learner: Estimator, settings: Sequence[Setting]) -> Iterator[Family]:
    """Settings with all that differ in the path alone together."""
    path = learner.path
    for where in alike(settings, lambda setting: {name: value for name, value in setting.items() if name != path}):
        first = with_setting(learner, settings[where[0]])
        if path is not None and path in settings[where[0]] and first.path == path:  # another last step may have another path
            yield Family(where, first, [settings[i][path] for i in where])
        else:
            yield from (Family([i], with_setting(learner, settings[i]), []) for i in where)


class Summed(NamedTuple):
    """Families whose fits follow from the same sums."""

    families: list[Family]
    sums: list[Sums]  # of each family: what is summed is the same


def by_sums(learner: Estimator, settings: Sequence[Setting], source: Source) -> tuple[list[Summed], Where]:
    """Families that are solved from sums over rows of this source; and the places of the settings that have to be fitted."""
    found: dict[Any, Summed] = {}
    rest: Where = []
    for family in families(learner, settings):
        try:
            sums = prepared(family.learner, source)._from_sums(source)
        except TenfoldError:  # transformers that cannot be fitted: so it will be on every split, and is told there
            sums = None
        if sums is None:
            rest += family.where
            continue
        same = found.setdefault(object() if sums.key is None else sums.key, Summed([], []))
        same.families.append(family)
        same.sums.append(sums)
    return list(found.values()), sorted(rest)


def by_start(learner: Estimator, settings: Sequence[Setting]) -> list[Where]:
    """Settings of which each may start at the solution of the one before; else each alone, but for the path."""
    if type(learner)._solution is Estimator._solution:
        return [family.where for family in families(learner, settings)]
    return alike(settings, lambda setting: {k: v for k, v in setting.items() if not _is_number(v)})


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Ahead(NamedTuple):
    """Settings with the same transformers ahead of the last step: the pipeline so far, and the settings of its last step."""

    where: Where
    pipeline: Pipeline
    settings: list[Setting]


def by_front(pipeline: Pipeline, settings: Sequence[Setting]) -> Iterator[Ahead]:
    """Settings that differ only behind the transformers."""
    prefix = f"{pipeline.steps[-1][0]}__"
    for where in alike(settings, lambda setting: {k: v for k, v in setting.items() if not k.startswith(prefix)}):
        front = {k: v for k, v in settings[where[0]].items() if not k.startswith(prefix)}
        inner = [{k[len(prefix) :]: v for k, v in settings[i].items() if k.startswith(prefix)} for i in where]
        yield Ahead(where, with_setting(pipeline, front), inner)


def by_fits(learner: Estimator, settings: Sequence[Setting]) -> list[Where]:
    """Settings that have to be fitted, with those together that share a front or a start."""
    if isinstance(learner, Pipeline):
        return [ahead.where for ahead in by_front(learner, settings)]
    return by_start(learner, settings)
