"""What is given to a learner made of learners beside X and y (weights, groups, anything), and which of them receives it.

Without metadata routing weights go to all learners inside, and all else is refused, or handed to all where scikit-learn does so. With it
(`base.routing`) each receives what it has asked for, by the ordinary route: in memory, each by its own `fit`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Self, TypeVar

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import learner_of, own_of, takes
from tenfold.base.routing import Pairs, refuse_unrouted, routed, router, routing_enabled
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Source
from tenfold.core.errors import BadParameter, BadType
from tenfold.gate.inputs import AsGiven, Given, of_rows

Rows = TypeVar("Rows", bound=Source)
Parts = dict[str, dict[str, Any]]  # what each learner inside receives, by name


class Routes(Estimator):
    """Abstract: hands on to the learners inside what is given beside X and y."""

    hands_all: ClassVar[bool] = False  # without routing: whether all receive what is given, else it is refused
    keeps_weights: ClassVar[bool] = False  # whether weights are its own and not handed on

    @property
    def accepts(self) -> str:
        return "anything" if "_by_verbs" in vars(self) else str(super().accepts)

    def _calls(self) -> list[tuple[str, Any, Pairs]]:
        """The learners inside by name, and what a verb of this one calls of each."""
        raise NotImplementedError

    def get_metadata_routing(self) -> Any:
        """Which learner inside receives what beside X and y (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        return router(self, self._calls())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """As `fit` of every learner; the learners inside receive `params`, as metadata routing says."""
        own = sample_weight if self.keeps_weights else None
        parts = self._parts("fit", params, None if self.keeps_weights else sample_weight)
        if parts is None:
            return super().fit(X, y, sample_weight)
        source = check.check_fit(self._opened(), X, y, own)
        if not isinstance(source, AsGiven):  # pragma: no cover (all that is opened is taken as it was given)
            raise BadType(f"{type(self).__name__}.fit takes {', '.join(params)} only with rows in memory")
        source.fit_params = dict(parts)
        return self._fit(source)

    def _parts(self, verb: str, params: dict[str, Any], sample_weight: Any = None) -> Parts | None:
        """What each learner inside receives; None where there is nothing but weights for all of them."""
        given = params if sample_weight is None else {"sample_weight": sample_weight, **params}
        if given and routing_enabled():
            return {name: part.get(verb, {}) for name, part in routed(self, verb, given).items()}
        if not params and (verb == "fit" or not given):
            return None
        if not self.hands_all:
            refuse_unrouted(self, verb, params)
        return {name: given for name, *_ in self._calls()}

    def _routed(self, verb: str, params: dict[str, Any]) -> dict[str, Parts]:
        """What each learner inside receives when this one is asked, by name and its own verb."""
        if not params:
            return {}
        if not routing_enabled():
            refuse_unrouted(self, verb, params)
        return {name: dict(part) for name, part in routed(self, verb, params).items()}

    def _opened(self) -> Self:
        """This learner as one that takes rows as they were given."""
        apart = self._apart()
        vars(apart)["_by_verbs"] = True
        return apart


def received(source: Rows, name: str) -> Rows:
    """The source of the learner of this name, with what it receives."""
    if not isinstance(source, AsGiven) or not source.fit_params:
        return source
    one = copy(source)
    one.fit_params = source.fit_params.get(name, {})
    return one


def member_for(learner: Any, source: Source, name: str = "") -> Any:
    """A fresh learner for this source: asked by its verbs where rows are as they were given."""
    return fresh(learner_of(own_of(learner), name, by_verbs=True) if isinstance(source, AsGiven) else learner)


def learn_more(member: Any, rows: Given, here: Any, y: Any, classes: Any, given: dict[str, Any]) -> None:
    """`partial_fit` of a learner to the rows `here`, with what is given of them, and all classes where it takes them."""
    some = of_rows(given, here, rows.shape[0])
    if classes is not None and takes(member.partial_fit, "classes", by_name=True):
        some["classes"] = classes
    member.partial_fit(rows[here], y, **some)


def facts_of(X: Any) -> dict[str, Any]:
    """What the gate would know of the columns of a table that is handed on as it is."""
    names = check.frame_names(X)
    return {"n_features_in_": Given(X).shape[1]} | ({} if names is None else {"feature_names_in_": names})


def inner(held: str, verb: str) -> Callable[[Any], bool]:
    """The condition that the learner inside, the attribute `held`, has this verb; it says why it has not."""

    def has(model: Any) -> bool:
        try:
            learner = own_of(getattr(model, held))
        except BadParameter as objection:
            raise AttributeError(str(objection)) from objection
        getattr(learner, verb)
        return True

    return has
