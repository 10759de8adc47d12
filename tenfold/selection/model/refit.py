"""What was chosen, fitted to all rows: a setting, or the members of an ensemble."""

from __future__ import annotations

from typing import Any

import tenfold
from tenfold.base import check
from tenfold.core.data import Source
from tenfold.prepare.coder import TableCoder
from tenfold.selection.choice.choice import Mix
from tenfold.selection.model.blend import BlendClassifier, BlendRegressor, Indicators, side_by_side
from tenfold.selection.plan.candidates import Setting
from tenfold.selection.race.prepared import front
from tenfold.selection.race.race import Race
from tenfold.table.task import Task


def refit(race: Race, task: Task, coder: TableCoder, mix: Mix) -> Any:
    """A setting, or the members of an ensemble, on all rows."""
    race.fill(())
    if mix.single is not None and race.settings[mix.single].power == 1:
        setting = race.settings[mix.single]
        if setting.family.raw:
            return setting.learner.fit(race.frame, task.y, **({} if race.weight is None else dict(sample_weight=race.weight)))
        whole = _behind_front(setting.learner)
        return _fitted(whole, setting, check.in_memory(whole, race.X, task.y, race.weight))
    kind: Any = BlendClassifier if task.kind == "classes" else BlendRegressor
    source = check.in_memory(kind([], []), race.frame, task.y, race.weight)
    chosen = [race.settings[c] for c in mix.weights]
    # Where the matrix is the columns themselves, nothing stands before the front: each coder that is saved has a line for every column.
    as_they_are = not coder.category_.any() and coder.names_out() == list(coder.feature_names_in_)

    def fitted(setting: Setting) -> Any:
        before = [] if as_they_are else [("columns", Indicators(coder))]  # of its own: members are fitted at the same time
        return _fitted(setting.learner if setting.family.raw else _behind_front(setting.learner, before), setting, source)

    members = side_by_side(fitted, chosen, source)
    powers = [setting.power for setting in chosen]
    return kind.of(members, list(mix.weights.values()), **({} if set(powers) == {1.0} else dict(powers=powers)))


def _fitted(member: Any, setting: Setting, source: Source) -> Any:
    """A member with the value of its setting; behind transformers rows pass through them once, as in the race."""
    name = setting.family.name
    if name is None or not isinstance(setting.family.learner, tenfold.Pipeline):
        return member._fit(source)
    return member._fit_values(source, name, [setting.family.values[setting.place]])[0]


def _behind_front(learner: Any, before: list[Any] = []) -> Any:  # noqa: B006
    """A learner of numbers behind the transformers of the front."""
    steps = learner.steps if isinstance(learner, tenfold.Pipeline) else [("model", learner)]
    return tenfold.Pipeline([*before, *front(), *steps])
