"""The steps of a pipeline: whether they suit one another, and what they take together."""

from __future__ import annotations

from operator import is_
from typing import Any, NamedTuple

from tenfold.base.estimator import Estimator
from tenfold.base.foreign import is_own, learner_of, objection_to
from tenfold.compose.named import check_names, kind_of
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, BadType


class Seen(NamedTuple):
    """What is known of some steps: pairs that are tuples, and so do not change."""

    given: tuple[tuple[str, Any], ...]
    active: list[tuple[str, Any]]  # those that do something
    own: bool  # whether there are some, and all of them are Tenfold's
    suited: bool = False  # whether they were found to fit together

    def foreign(self) -> bool:
        """Whether they have to be asked by their verbs: one is not ours, or there is none."""
        if self.own:
            for _, step in self.active:  # a plain loop: small fits and predictions of one row ask often
                if step.by_verbs or step.accepts == "anything":
                    return True
        return not self.own


class Steps(Estimator):
    """Abstract: transformers in a row, then a last learner. What the gate asks is what the first and the last step say."""

    steps: Any
    memory: Any
    verbose: Any
    transform_input: Any

    @property
    def kind(self) -> str:
        return kind_of([step.kind for _, step in self._active()])

    @property
    def role(self) -> str:
        active = self._active() if self.steps else []
        return str(active[-1][1].role) if active else "transformer"

    @property
    def target(self) -> str:
        wanted = [step.target for _, step in self._active() if step.target != "none"]
        return wanted[-1] if wanted else "none"

    @property
    def missing(self) -> bool:
        """Missing values pass if every step takes them, up to one that fills them."""
        for _, step in self._active():
            if not step.missing or step.fills:
                return bool(step.missing)
        return True

    @property
    def categorical(self) -> bool:
        """Categories pass if every step takes them, up to one that codes them as numbers."""
        return all(step.categorical for step in self._up_to_codes())

    @property
    def codes(self) -> bool:
        """Whether a step codes categories as numbers."""
        return any(step.codes for _, step in self._active())

    @property
    def fills(self) -> bool:
        """Whether a step leaves no missing values."""
        return any(step.fills for _, step in self._active())

    def _categories_out(self) -> list[Array | None] | None:
        """The categories of the new columns, None where they are all numbers."""
        left: list[Array | None] | None = self._last._categories_out()
        return left

    def _up_to_codes(self) -> list[Any]:
        """The steps that meet categories: up to the one that codes them, or all."""
        steps = [step for _, step in self._active()]
        coding = [i for i, step in enumerate(steps) if step.codes]
        return steps[: coding[0] + 1] if coding else steps

    def _category_settings(self, name: str) -> list[Any]:
        """What the steps that meet categories say of them, for the gate."""
        return [getattr(step, name) for step in self._up_to_codes()]

    @property
    def categorical_features(self) -> Any:
        """The columns of categories as the first step says that does not leave it to their types."""
        said = self._category_settings("categorical_features")
        return next((one for one in said if not (isinstance(one, str) and one == "from_dtype")), "from_dtype")

    @property
    def unseen(self) -> str:
        """What the gate makes of categories that fit has not seen."""
        return next((one for one in self._category_settings("unseen") if one != "missing"), "missing")

    @property
    def given_categories(self) -> Any:
        """The categories that a step was given."""
        return next((one for one in self._category_settings("given_categories") if one is not None), None)

    @property
    def sparse(self) -> bool:
        return bool(self._active()[0][1].sparse)

    @property
    def multi_output(self) -> bool:
        return bool(self._last.multi_output)

    @property
    def own_score(self) -> bool:
        return bool(self._last.own_score)

    @property
    def target_range(self) -> tuple[float, float]:
        found: tuple[float, float] = self._last.target_range
        return found

    @property
    def least_rows(self) -> int:
        return max(int(step.least_rows) for _, step in self._active())

    def _known(self) -> Seen | None:
        """What was found out about these very steps; None where they are others."""
        known: Seen | None = vars(self).get("_seen_steps")
        steps = self.steps
        same = known is not None and type(steps) is list and len(steps) == len(known.given) and all(map(is_, steps, known.given))
        return known if same else None

    def _seen(self) -> Seen:
        """The steps sorted; the same steps are sorted once."""
        known = self._known()
        if known is not None:
            return known
        active = [pair for pair in self.steps if not is_through(pair[1])]
        return self._remembered(Seen(tuple(self.steps), active, bool(active) and all(is_own(step) for _, step in active)))

    def _remembered(self, seen: Seen) -> Seen:
        if all(type(pair) is tuple for pair in seen.given):
            vars(self)["_seen_steps"] = seen
        return seen

    def _look_at_steps(self) -> Seen:
        """Refuse steps that do not fit together; the same steps are looked at once."""
        known = self._known()
        if known is not None and known.suited:
            return known
        if not isinstance(self.steps, (list, tuple)):
            raise BadParameter("Pipeline(steps): must be a list of (name, learner) pairs")
        if not self.steps:
            raise BadParameter("The pipeline is empty. Please add steps.")
        for pair in self.steps:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
                raise BadType(f"Pipeline(steps): {pair!r} is not a pair of a name and a learner")
        check_names("Pipeline(steps)", [name for name, _ in self.steps], list(self._domains))
        for place, (name, step) in enumerate(self.steps):
            last = place == len(self.steps) - 1
            if is_through(step) or (isinstance(step, Estimator) and (last or hasattr(step, "transform"))):
                continue
            if isinstance(step, type):
                kind = step.__name__
                raise BadType(
                    f"Expected an estimator instance ({kind}()), got estimator class instead ({kind}). Step {name!r} is a class"
                )
            if not last and (objection_to(step) is not None or not hasattr(step, "transform")):
                raise BadType(
                    "All intermediate steps should be transformers and implement fit and transform or be the string 'passthrough': "
                    f"step {name!r}, {step!r} (type {type(step).__name__}), cannot transform"
                )
            if objection_to(step) is not None:
                raise BadType(
                    "Last step of Pipeline should implement fit or be the string 'passthrough'. "
                    f"Step {name!r}, {step!r} (type {type(step).__name__}), doesn't: it has no fit"
                )
        return self._remembered(self._seen()._replace(suited=True))

    def _active(self) -> list[tuple[str, Any]]:
        """The steps that do something, after a look at whether they fit together; where they are asked by their verbs, as `ByVerbs`."""
        seen = self._look_at_steps()
        if not seen.foreign():
            return seen.active
        active = [(name, learner_of(step, name, by_verbs=True)) for name, step in seen.active]
        known = vars(self).get("classes_")
        if known is not None and active:
            vars(active[-1][1])["classes_"] = known
        return active

    def _foreign(self) -> bool:
        """Whether the steps have to be asked by their verbs."""
        return self._seen().foreign()

    @property
    def accepts(self) -> str:
        return "anything" if self._foreign() else "rows"

    @property
    def _last(self) -> Any:
        return self._active()[-1][1]

    def _columns_used(self) -> Array | None:
        active = self._seen().active
        return active[0][1]._columns_used() if active and isinstance(active[0][1], Estimator) else None

    @property
    def passes_gaps(self) -> bool:
        return gaps_of(self._active())[-1]


def gaps_of(steps: list[tuple[str, Any]]) -> list[bool]:
    """Whether missing values may leave each step, though the first ones take them as filled."""
    found, open_ = [], False
    for _, step in steps:
        open_ = step.passes_gaps or (open_ and step.missing and not step.fills)
        found.append(open_)
    return found


def is_through(step: Any) -> bool:
    """Whether rows pass this step as they are."""
    return step is None or (isinstance(step, str) and step == "passthrough")
