"""The steps of a pipeline: whether they suit one another, and what they take together."""

from __future__ import annotations

from typing import Any

from tenfold.base.estimator import Estimator
from tenfold.compose.named import kind_of
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter


class Steps(Estimator):
    """Abstract: transformers in a row, then a last learner. What the gate asks is what the first and the last step say."""

    steps: Any

    @property
    def kind(self) -> str:
        return kind_of([step.kind for _, step in self._active()])

    @property
    def role(self) -> str:
        return self._last.role

    @property
    def target(self) -> str:
        wanted = [step.target for _, step in self._active() if step.target != "none"]
        return wanted[-1] if wanted else "none"

    @property
    def missing(self) -> bool:
        """Missing values pass if every step takes them, up to one that fills them."""
        for _, step in self._active():
            if not step.missing or step.fills:
                return step.missing
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
        return self._last._categories_out()

    def _up_to_codes(self) -> list[Any]:
        """The steps that meet categories: up to the one that codes them, or all."""
        steps = [step for _, step in self._active()]
        coding = [i for i, step in enumerate(steps) if step.codes]
        return steps[: coding[0] + 1] if coding else steps

    def _said_of_categories(self, name: str) -> list[Any]:
        """What the steps that meet categories say of them, for the gate."""
        return [getattr(step, name) for step in self._up_to_codes()]

    @property
    def categorical_features(self) -> Any:
        """The columns of categories as the first step says that does not leave it to their types."""
        said = self._said_of_categories("categorical_features")
        return next((one for one in said if not (isinstance(one, str) and one == "from_dtype")), "from_dtype")

    @property
    def unseen(self) -> str:
        """What the gate makes of categories that fit has not seen."""
        return next((one for one in self._said_of_categories("unseen") if one != "missing"), "missing")

    @property
    def given_categories(self) -> Any:
        """The categories that a step was given."""
        return next((one for one in self._said_of_categories("given_categories") if one is not None), None)

    @property
    def sparse(self) -> bool:
        return self._active()[0][1].sparse

    @property
    def multi_output(self) -> bool:
        return self._last.multi_output

    @property
    def least_rows(self) -> int:
        return max(step.least_rows for _, step in self._active())

    def _active(self) -> list[tuple[str, Estimator]]:
        """The steps that do something, after a look at whether they fit together."""
        if not isinstance(self.steps, (list, tuple)) or not self.steps:
            raise BadParameter("Pipeline(steps): must be a list of (name, learner) pairs")
        names = [name for name, _ in self.steps]
        if len(set(names)) < len(names) or any("__" in name for name in names):
            raise BadParameter(f"Pipeline(steps): names must differ and be without '__', not {names}")
        active: list[tuple[str, Estimator]] = [(name, step) for name, step in self.steps if step is not None and step != "passthrough"]
        for place, (name, step) in enumerate(active):
            if not isinstance(step, Estimator):
                raise BadParameter(
                    f"Pipeline step {name!r} is a {type(step).__name__}: steps must be learners of Tenfold; "
                    "scikit-learn's Pipeline takes both kinds"
                )
            if place < len(active) - 1 and not hasattr(step, "transform"):
                raise BadParameter(
                    f"Pipeline step {name!r} ({type(step).__name__}) cannot transform: only the last step may be without"
                )
        if not active:
            raise BadParameter("Pipeline(steps): at least one step must be a learner")
        return active

    @property
    def _last(self) -> Estimator:
        return self._active()[-1][1]

    def _gaps(self) -> list[bool]:
        """Whether missing values may leave each step, though the first ones take them as filled."""
        found, open_ = [], False
        for _, step in self._active():
            open_ = step.passes_gaps or (open_ and step.missing and not step.fills)
            found.append(open_)
        return found

    @property
    def passes_gaps(self) -> bool:
        return self._gaps()[-1]
