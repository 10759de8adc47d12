"""Learners that are not Tenfold's, inside those that are: anybody's object with `fit` and `predict` or `transform`.

A learner made of learners takes each of them by `learner_of`:

    one = learner_of(given)            ours as it is, anybody else's as `ByVerbs(given)`: a learner of ours that asks `given` by its verbs
    own_of(one)                        the user's object again, for public attributes (`estimators_`, `best_estimator_`, ...)

`ByVerbs` has all that composition and evaluation ask of a learner: a role, `_learn(source)`, `_predict`, `_scores`, `_choice`,
`_probabilities`, `_transform`, `fresh` copies, parameters by name. Fitted attributes and verbs are those of the object inside.

Two ways to hand it rows. A composite that has made numbers of its rows (bagging, boosting) wraps its members and goes on as ever: they are
fitted to arrays. A composite that is to hand on what the user gave (frames, texts, lists) says `accepts = "anything"` where one of its
members does (`takes_anything(members)`); the gate then leaves X alone, blocks hold rows of the user's own container, all of them at once,
and the members of ours are wrapped too (`learner_of(given, by_verbs=True)`), as they have to pass their own gate.

Everything runs in memory, in the calling thread, and is fitted again for every fold.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import estimator, param
from tenfold.gate.inputs import AsGiven, Given

SMALLEST = np.finfo(np.float64).eps  # stands for a probability of zero, whose logarithm is no number: where `log_loss` clips too


VERBS = ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


def learner_of(given: Any, name: str = "", *, by_verbs: bool = False) -> Any:
    """A learner of ours as it is, unless `by_verbs`; anybody else's as one of ours. `name` is what messages call it."""
    if is_own(given) and (not by_verbs or isinstance(given, ByVerbs)):
        return given
    return ByVerbs(given, name)


def is_own(given: Any) -> bool:
    """Whether it is a learner of Tenfold's; a class made from one of those with verbs of its own is the user's."""
    kind: Any = type(given)
    return _is_own(kind)


@lru_cache(maxsize=4096)  # small fits and predictions of one row ask often
def _is_own(kind: Any) -> bool:
    verbs = (getattr(kind, verb, None) for verb in VERBS)
    return issubclass(kind, Estimator) and all(verb is None or verb.__module__.startswith("tenfold.") for verb in verbs)


def own_of(learner: Any) -> Any:
    """The user's own object."""
    return learner.learner if isinstance(learner, ByVerbs) else learner


def as_ours(fitted: Iterable[Any], anything: bool, facts: dict[str, Any] | None = None) -> list[Any]:
    """Fitted learners of any kind as ours, to be asked; all by their verbs where rows are as the user gave them (`anything`). They know
    the facts of the gate: of all classes, a learner inside may have met only some."""
    made = []
    for one in fitted:
        learner = learner_of(one, by_verbs=anything)
        if learner is not one:
            vars(learner).update(facts or {}, n_features_in_=getattr(one, "n_features_in_", 1))
        made.append(learner)
    return made


def float_of(X: Any) -> Any:
    """The type of what is said of rows: that of an array of floats, else float64."""
    dtype = getattr(X, "dtype", None)
    return dtype if dtype in (np.float32, np.float64) else np.float64


def takes_anything(learners: Iterable[Any]) -> bool:
    """Whether one of these wants rows as the user gave them, or has to be asked by its verbs."""
    return any(not is_own(one) or one.accepts == "anything" or one.by_verbs for one in learners)


def objection_to(given: Any, *verbs: str) -> str | None:
    """Why an object cannot be a learner that is asked by one of these verbs; None if it can."""
    if isinstance(given, type):
        return f"is the class {given.__name__}, and an instance is needed: {given.__name__}(...)"
    if not callable(getattr(given, "fit", None)):
        return f"is a {type(given).__name__}, which has no fit: give a learner"
    if verbs and not any(hasattr(given, verb) for verb in verbs):
        return f"is a {type(given).__name__}, which has no {' and no '.join(verbs)}"
    return None


def role_of(given: Any) -> str:
    """What anybody's learner does with rows: as its tags say, else as its verbs tell."""
    said = role_given(given)
    if said is not None:
        return said
    if hasattr(given, "transform"):
        return "transformer"
    return "classifier" if hasattr(given, "predict_proba") or hasattr(given, "decision_function") else "regressor"


def role_given(given: Any) -> str | None:
    """The role that a learner tells of itself."""
    if isinstance(given, Estimator):
        return given.role
    try:
        said = given.__sklearn_tags__().estimator_type
    except AttributeError:  # none at all, or only those of a mixin
        said = getattr(given, "_estimator_type", None)
    return None if said is None else str(said)


def is_fitted_learner(given: Any) -> bool:
    """Whether anybody's learner was fitted: as it says itself, else whether it has attributes that end in an underscore."""
    if hasattr(given, "__sklearn_is_fitted__"):
        return bool(given.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("__") for name in vars(given))


def takes(function: Any, name: str, *, by_name: bool = False) -> bool:
    """Whether a function has an argument of this name, or takes any, unless it must be named."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return name in parameters or (not by_name and any(one.kind is one.VAR_KEYWORD for one in parameters.values()))


@estimator
class ByVerbs(Estimator):
    """Anybody's learner as one of ours, known by its public verbs alone."""

    learner: Any = param(doc="an object with fit, and predict or transform")
    name: str = param(default="", doc="what messages call it")
    as_role: str = param(default="", doc="what it is asked to be, where it does not tell; empty: as its verbs tell")

    kind: ClassVar[str] = "keeps rows"
    accepts: ClassVar[str] = "anything"
    sparse: ClassVar[bool] = True
    missing: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1

    @property
    def role(self) -> str:
        return self.as_role or role_of(self.learner)

    @property
    def target(self) -> str:
        return {"classifier": "label", "regressor": "real"}.get(self.role, "none")

    def __str__(self) -> str:
        kind = type(self.learner).__name__
        return f"{self.name!r} ({kind})" if self.name else kind

    def __repr__(self) -> str:
        return repr(self.learner)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the learner inside."""
        params: dict[str, Any] = self.learner.get_params(deep) if hasattr(self.learner, "get_params") else {}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the learner inside."""
        if params:
            self.learner.set_params(**params)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that the learner inside makes."""
        return np.asarray(self.learner.get_feature_names_out(input_features), dtype=object)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "learner" not in vars(self):
            raise AttributeError(name)
        return getattr(vars(self)["learner"], name)

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self)

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        more: dict[str, Any] = {}
        if isinstance(source, AsGiven):
            (X, y, w), more = source.given(), source.params()
        else:
            X, y, w = yield Keep(sparse=True)
            w = None if getattr(source, "w", None) is None and (w == 1).all() else w
            if source.target.classes is not None:
                y = source.target.classes[y]
            elif source.target.kind == "none":
                y = None
            elif source.target.flat:
                y = y[:, 0]
        self._fit_own(X, y, w, **more)
        return {}

    def _fit_own(self, X: Any, y: Any, w: Any = None, **more: Any) -> None:
        """The fit of the learner inside, with weights where it takes them."""
        if w is not None:
            if not takes(self.learner.fit, "sample_weight"):
                kind = type(self.learner).__name__
                raise BadType(f"Underlying estimator {kind} does not support sample weights. The fit of {self} has no sample_weight")
            more["sample_weight"] = w
        self.learner.fit(X, y, **more)

    # --- what it says of rows ---

    def _ask(self, verb: str, X: Any) -> Array:
        """What the learner inside says of each row."""
        said, n = np.asarray(getattr(self.learner, verb)(X, **vars(self).get("_verb_params", {}).get(verb, {}))), Given(X).shape[0]
        if said.ndim == 0 or len(said) != n:
            raise BadInput(f"{self}: {verb} has returned {said.shape[0] if said.ndim else 'one'} of {n} rows: it must return one for each")
        return said

    def _predict(self, X: Any) -> Array:
        return self._ask("predict", X)

    def _assign(self, X: Any) -> Array:
        return self._ask("predict", X)

    def _outputs(self, X: Any) -> Array:
        if self.role == "classifier":
            choice = self._choice(X)
            return np.column_stack([self._scores(X), choice])
        values = self._predict(X)
        return values if values.ndim == 2 else values[:, None]

    def _choice(self, X: Any) -> Array:
        """The number of the class that it predicts."""
        said = self._ask("predict", X)
        place = np.searchsorted(self._known(), said)
        return np.asarray(np.minimum(place, len(self._known()) - 1))

    def _scores(self, X: Any) -> Array:
        """Log probabilities where it has some, else its decisions, else which class it predicts."""
        if hasattr(self.learner, "predict_proba"):
            return self._log_probabilities(X)
        return self._decisions(X)

    def _probabilities(self, X: Any) -> Array:
        return self._by_class(np.asarray(self._ask("predict_proba", X), dtype=np.float64), 0.0)

    def _log_probabilities(self, X: Any) -> Array:
        return np.asarray(np.log(np.maximum(self._probabilities(X), SMALLEST)))

    def _decisions(self, X: Any) -> Array:
        if not hasattr(self.learner, "decision_function"):
            if hasattr(self.learner, "predict_proba"):
                return self._log_probabilities(X)
            return np.log(np.maximum(np.eye(len(self._known()))[self._choice(X)], SMALLEST))
        said = np.asarray(self._ask("decision_function", X), dtype=np.float64)
        said = said if said.ndim == 2 and said.shape[1] > 1 else np.column_stack([np.zeros(len(said)), said])
        return self._by_class(said, -np.inf)

    def _log_density(self, X: Any) -> Array:
        return self._ask("score_samples", X)

    def _transform(self, X: Any) -> Any:
        made, n = self.learner.transform(X), Given(X).shape[0]
        if Given(made).shape[0] != n:
            raise BadInput(f"{self} has made {Given(made).shape[0]} rows of {n}: a transformer must not change their number")
        return made

    def _inverse(self, Z: Any) -> Any:
        return self.learner.inverse_transform(Z)

    @property
    def invertible(self) -> bool:
        return hasattr(self.learner, "inverse_transform")

    def _known(self) -> Array:
        """All classes: those of the gate, of which the learner inside may have met only some."""
        known = vars(self).get("classes_")
        return np.asarray(self.learner.classes_ if known is None else known)

    def _by_class(self, said: Array, absent: float) -> Array:
        """(rows, classes): columns for classes that the learner inside has not met hold `absent`."""
        known, own = self._known(), np.asarray(getattr(self.learner, "classes_", self._known()))
        if len(own) == len(known):
            return said
        if said.shape[1] != len(own):
            raise BadInput(f"{self} says {said.shape[1]} columns of {len(own)} classes: it must say one for each of its classes_")
        whole = np.full((len(said), len(known)), absent)
        whole[:, np.searchsorted(known, own)] = said
        return whole


def checked_learner(given: Any, role: str, here: str) -> Any:
    """A learner of this role, ours or anybody's, as one of ours; `here` begins the refusal of all else."""
    if isinstance(given, Estimator) and given.role == role:
        return learner_of(given, by_verbs=given.accepts == "anything")
    reason = objection_to(given, "predict")
    if reason is None and role_given(given) is None:
        return ByVerbs(given, as_role=role)
    if reason is None and role_of(given) != role:
        reason = f"is a {type(given).__name__}, a {role_of(given)}, and a {role} is needed"
    if reason is not None:
        raise BadParameter(f"{here} {reason}")
    return learner_of(given)
