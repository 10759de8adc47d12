"""Pipelines: transformers, then a last learner, as one learner."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np

from tenfold.base.available import Available
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import is_fitted_learner, own_of
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.base.sums import Sums, hashable
from tenfold.compose.fitting import fit_inside
from tenfold.compose.front import Front
from tenfold.compose.last_step import LastStep, Way
from tenfold.compose.named import ByName, names_of
from tenfold.compose.steps import gaps_of, is_through
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner, through
from tenfold.core.mapped import kept
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.gate.inputs import AsGiven

VERBS = {name for name, one in vars(LastStep).items() if isinstance(one, Available)}


@estimator
class Pipeline(LastStep):
    """Pipeline: transformers in a row, then a last learner, as one learner.

    Model       last(transformer_k(... transformer_1(x)))
    Objective   each step its own, given the steps before it
    Algorithm   the passes of the steps one after the other; rows are transformed block by block, no second table is made
    Cost        the sum of the steps; a transformer's work is done again in each pass of the steps behind it
                (where a step is not Tenfold's, each step is fitted and asked by its verbs, in memory: `compose.ordinary`)
    Fails when  a step but the last cannot transform (refused)
    Reference   Buitinck et al. 2013 (the interface)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    >>> model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression()).fit(X, y)
    >>> model.predict([[0.0, 1.0], [10.0, 11.0]])
    array([0, 1])
    """

    _by_verbs: bool = learned("bool", "whether the steps are asked by their public verbs", optional=True)

    steps: list[Any] = param(default=None, doc="list of (name, learner); 'passthrough' leaves a step out")
    _: KW_ONLY
    transform_input: Any = param(default=None, doc="names of metadata that pass through the transformers before a step receives them")
    memory: Any = param(
        default=None, doc="a folder or joblib.Memory for fitted transformers, where a step is not Tenfold's; else nothing is cached"
    )
    verbose: bool = param(default=False, doc="say how long each step took, where one is not Tenfold's; else use tenfold.progress()")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self._foreign():
            X, y, w = source.given() if isinstance(source, AsGiven) else (yield Keep(sparse=True))
            self._fit_steps("fit", X, y, {} if w is None else {"sample_weight": w})
            return {}
        changes, last = self._fast_way()
        mapped = yield from self._learn_front(source)
        yield from through(partial(_changed, changes), fit_inside(last, mapped))
        return {}

    def _learn_front(self, source: Source) -> Learner[Source]:
        """Fit the transformers; returns the rows as the last step sees them."""
        changes = self._changes()
        for i, (_, step) in enumerate(self._active()[:-1]):
            yield from through(partial(_changed, changes[:i]), fit_inside(step, source))
            found = source.facts.get("categories_")
            framed = step._container() != "default"
            width = len(step.get_feature_names_out())
            if not width:
                name = self._active()[i][0]
                raise BadInput(f"step {name!r} ({type(step).__name__}) keeps no column, and the steps behind it need some: relax it")
            source = source.map(changes[i], width)
            if framed:  # a step that makes frames tells the next one the names of its columns
                source.facts["feature_names_in_"] = np.asarray(step.get_feature_names_out(), dtype=object)
            if found is not None:
                left = step._categories_out()
                source.facts.pop("categories_") if left is None else source.facts.update(categories_=left)
                self._check_categories(i, left or [])
        return source

    def _check_categories(self, place: int, left: list[Any]) -> None:
        """Categories that a step leaves are for one that takes them."""
        behind, after = self._active()[place + 1]
        if not after.categorical and any(one is not None and one.dtype.kind != "b" for one in left):
            name = self._active()[place][1].get_feature_names_out()[next(j for j, one in enumerate(left) if one is not None)]
            raise BadInput(
                f"column {str(name)[:80]!r} holds text or categories, and step {behind!r} ({type(after).__name__}) takes numbers: "
                "code it first, with OneHotEncoder for example"
            )

    def _changes(self) -> tuple[Callable[[Any], Any], ...]:
        """What the steps before the last one make of rows."""
        return self._fast_way()[0]

    def _fast_way(self) -> Way:
        """Missing values are refused before a step that does not take them."""
        steps, changes = self._active(), list[Callable[[Any], Any]]()
        for (_, step), (behind, after), gaps in zip(steps, steps[1:], gaps_of(steps), strict=False):
            checked = gaps and not after.missing
            changes.append(partial(_without_gaps, step._transform, behind, after) if checked else step._transform)
        return tuple(changes), steps[-1][1]

    def _look(self, table: Any) -> dict[Any, Any]:
        if self._foreign():
            return {}
        found: dict[Any, Any] = self._active()[0][1]._look(table)
        return found

    @property
    def path(self) -> str | None:
        name, last = self._active()[-1]
        return None if last.path is None else f"{name}__{last.path}"

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Any]:
        """The transformers are fitted once; the last step serves all values of its path."""
        step, _, inner = name.partition("__")
        key, last = self._active()[-1]
        if step != key or not inner:
            return super()._fit_path(source, name, values)
        front = fresh(self)
        mapped = front._driven(front._learn_front, source)
        return [front._behind_front(one) for one in fresh(last)._fit_path(mapped, inner, values)]

    def _fit_values(self, source: Source, name: str, values: list[Any], start: Any = None) -> list[Any]:
        """For a parameter of the last step the transformers are fitted once, and rows in memory pass through them once."""
        step, _, inner = name.partition("__")
        key, last = self._active()[-1]
        if step != key or not inner or self._foreign():
            return super()._fit_values(source, name, values, start)
        front = fresh(self)
        mapped = kept(front._driven(front._learn_front, source))
        return [front._behind_front(one) for one in fresh(last)._fit_values(mapped, inner, values)]

    def _from_sums(self, source: Source) -> Sums | None:
        """Behind transformers that map column by column, a learner of one pass is solved from moments of the rows before them; behind
        such as do the same to every row whatever they were fitted to, from its own sums."""
        if self._foreign():
            return None
        steps = [step for _, step in self._active()[:-1]]
        front, last = Front.of(steps, source), fresh(self._last)
        if steps and isinstance(last, OnePass) and all(step.stateless for step in steps):
            return self._sums_behind(source)
        if front is None or not isinstance(last, OnePass) or type(last)._from_moments is OnePass._from_moments:
            return None
        vars(last).update(source.facts)
        return Sums(front.summarize, partial(self._solved, front, last), front.size, key=(Front, front.by_ends))

    def _sums_behind(self, source: Source) -> Sums | None:
        front, last = fresh(self), fresh(self._last)
        mapped = front._driven(front._learn_front, source)
        vars(last).update(mapped.facts)
        sums = last._from_sums(mapped)
        if sums is None:
            return None
        steps = tuple(
            (type(step), *(hashable(value) for value in step.get_params(deep=False).values()))
            for _, step in self._active()[:-1]
        )
        summarize = partial(_summarize_changed, front._changes(), sums.summarize)
        key = None if sums.key is None else (steps, sums.key)
        return Sums(summarize, partial(front._solved_behind, sums), 8 * (mapped.n_features + 1) ** 2, key)

    def _solved_behind(self, sums: Sums, total: Any, values: list[Any]) -> list[Any] | None:
        lasts = sums.solve(total, values)
        return None if lasts is None else [self._behind_front(one) for one in lasts]

    def _solved(self, front: Front, last: Any, total: Any, values: list[Any]) -> list[Any] | None:
        found = front.solve(total)
        if found is None:
            return None
        fitted, moments = found
        if dropped := front.dropped(total, moments):
            last = copy(last)
            vars(last)["n_features_in_"] = front.width - dropped
            vars(last).pop("feature_names_in_", None)
        lasts = last._solved(last._from_moments(moments), values)
        if lasts is None:
            return None
        names = [name for name, _ in self._active()]
        steps = dict(zip(names, fitted, strict=False))
        whole = [(name, steps.get(name, step)) for name, step in self.steps]
        return [self._fitted_copy({"steps": whole})._behind_front(one) for one in lasts]

    def _behind_front(self, last: Any) -> Any:
        """A pipeline that shares these fitted transformers, with another last step."""
        key, _ = self._active()[-1]
        return self._fitted_copy({"steps": [(name, last if name == key else step) for name, step in self.steps]})

    def _objection(self) -> str | None:
        """Each step takes as many columns as the one before it gives."""
        pairs = isinstance(self.steps, list) and all(isinstance(one, (tuple, list)) for one in self.steps)
        if not pairs or not all(len(one) == 2 and isinstance(one[0], str) for one in self.steps):
            return "the steps are not pairs of a name and a learner"
        self._look_at_steps()
        width, active = self.n_features_in_, [pair for pair in self.steps if not is_through(pair[1])]
        for place, (name, step) in enumerate(active):
            if vars(own_of(step)).get("n_features_in_") != width:
                return f"the step {name!r} does not take the {width} columns that come to it"
            if place < len(active) - 1:
                width = len(step.get_feature_names_out())
        return None

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns: those of X, or the given, through the names of every step."""
        names = input_features
        for name, step in self.steps:
            if is_through(step):
                continue
            if not hasattr(step, "get_feature_names_out"):
                raise AttributeError(
                    f"Estimator {name} does not provide get_feature_names_out. Did you mean to call pipeline[:-1].get_feature_names_out()?"
                )
            names = step.get_feature_names_out(names)
        return np.asarray(input_features if names is None else names, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Let `transform` return "pandas" or "polars" frames, or arrays ("default"), and every step too."""
        super().set_output(transform=transform)
        for _, step in self.steps:
            if hasattr(step, "set_output"):
                step.set_output(transform=transform)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        if "n_features_in_" in vars(self):
            return True
        steps = [step for _, step in self.steps if not is_through(step)]
        return not steps or is_fitted_learner(steps[-1])

    def __sklearn_tags__(self) -> Any:
        if not self.steps:
            from sklearn.utils import InputTags, Tags, TargetTags

            return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags())
        tags = super().__sklearn_tags__()
        if hasattr(self.steps[0][1], "__sklearn_tags__"):
            tags.input_tags.pairwise = self.steps[0][1].__sklearn_tags__().input_tags.pairwise
        return tags

    def __getattr__(self, name: str) -> Any:
        if name in ("classes_", "labels_") and name not in vars(self) and "steps" in vars(self):
            return getattr(self._last, name)
        if name in ("n_features_in_", "feature_names_in_") and vars(self).get("steps"):
            return getattr(self.steps[0][1], name)
        if name in VERBS:
            last = self._last_given()
            try:
                getattr(last, name)
            except AttributeError as cause:
                which = f"its last step, {type(last).__name__}, has none"
                raise AttributeError(f"This 'Pipeline' has no attribute {name!r}: {which}") from cause
            raise AttributeError(f"This 'Pipeline' has no attribute {name!r}: one of its steps has none")
        return super().__getattr__(name)

    # --- steps by name and place ---

    @property
    def named_steps(self) -> ByName:
        """The steps by name."""
        return ByName(self.steps)

    def __getitem__(self, place: int | str | slice) -> Any:
        if not isinstance(place, slice):
            return self.named_steps[place] if isinstance(place, str) else self.steps[place][1]
        if place.step not in (1, None):
            raise BadParameter("Pipeline slicing only supports a step of 1")
        rest = {name: value for name, value in self.get_params(deep=False).items() if name != "steps"}
        return type(self)(self.steps[place], **rest)

    def __len__(self) -> int:
        return len(self.steps)

    def _parts_inside(self) -> dict[str, Any]:
        pairs = self.steps if isinstance(self.steps, (list, tuple)) else []
        return {pair[0]: pair[1] for pair in pairs if isinstance(pair, tuple) and len(pair) == 2}

    def _replace_inside(self, name: str, learner: Estimator) -> None:
        self.steps = [(key, learner if key == name else step) for key, step in self.steps]


def _without_gaps(change: Callable[[Any], Any], behind: str, after: Any, X: Any) -> Any:
    Z = change(X)
    if not ops.all_usable(Z):
        column, kind = int(np.isnan(ops.dense(Z)).any(axis=0).argmax()), type(after).__name__
        raise BadInput(f"missing values come to {behind!r} ({kind}) in column {column}, which takes none: fill or drop them first")
    return Z


def _changed(changes: tuple[Callable[[Any], Any], ...], block: Block) -> Block:
    """A block as it comes out of some transformers."""
    X = block.X
    for change in changes:
        X = change(X)
    return block.with_X(X)


def _summarize_changed(changes: tuple[Callable[[Any], Any], ...], summarize: Callable[[Block], Any], block: Block) -> Any:
    return summarize(_changed(changes, block))


def make_pipeline(*steps: Any, memory: Any = None, transform_input: Any = None, verbose: bool = False) -> Pipeline:
    """A Pipeline whose steps are named after their classes, in lower case, numbered where a class comes twice."""
    pairs = list(zip(names_of(steps), steps, strict=True))
    return Pipeline(pairs, memory=memory, transform_input=transform_input, verbose=verbose)
