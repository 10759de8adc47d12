"""Learners that are given others as a list of names and learners: what that list must be, and what the gate asks of it."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import as_ours, learner_of, objection_to, takes_anything
from tenfold.base.sklearn_api import same
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter


class Named(Estimator):
    """Abstract: made of copies of named learners. It takes the rows that all of them take."""

    listed: ClassVar[str] = "estimators"  # the parameter that is the list

    def _pairs(self) -> list[tuple[str, Any]]:
        """The names and learners of the list, looked at; the same list is looked at once."""
        given, seen = getattr(self, self.listed), vars(self).get("_looked_at_pairs")
        if seen is not None and isinstance(given, (list, tuple)) and len(given) == len(seen[0]) and all(map(is_, given, seen[0])):
            return list(seen[1])
        here = f"{type(self).__name__}({self.listed})"
        if not isinstance(given, (list, tuple)) or not given:
            raise BadParameter(
                f"Invalid {self.listed!r} attribute, {self.listed!r} should be a non-empty list of (string, estimator) tuples: "
                f"{here} must be a list of (name, learner) pairs"
            )
        for one in given:
            if not isinstance(one, (tuple, list)) or len(one) < 2 or not isinstance(one[0], str):
                raise BadParameter(
                    f"Invalid {self.listed!r} attribute, {self.listed!r} should be a non-empty list of (string, estimator) tuples: "
                    f"{here}: {one!r} is not a pair of a name and a learner"
                )
        names = [one[0] for one in given]
        check_names(here, names, list(self._domains))
        self._check_listed(given)
        pairs = [(one[0], one[1]) for one in given]
        if all(type(one) is tuple for one in given):
            vars(self)["_looked_at_pairs"] = tuple(given), pairs
        return pairs

    def _check_listed(self, given: Any) -> None:
        """Refuse a list of names and learners for what else its entries are."""

    def _refusal(self, learner: Any) -> str | None:
        """Why a learner cannot be one of the list, or None if it can."""
        return None if learner.role == self.role else f"The estimator {learner} should be a {self.role}, and is a {learner.role}"

    def _looked_at(self, name: str, learner: Any) -> Any:
        reason = None if isinstance(learner, Estimator) else objection_to(learner)
        if reason is None:
            reason = self._refusal(learner_of(learner, name))
        if reason is not None:
            raise BadParameter(f"{type(self).__name__}: {name!r} ({type(learner).__name__}) {reason}")
        return learner

    def _learners(self) -> list[tuple[str, Any]]:
        """Those that take part, as learners of ours; where one is not, all are asked by their verbs."""
        taking = [(name, self._looked_at(name, one)) for name, one in self._pairs() if not is_out(one)]
        if not taking:
            here = f"{type(self).__name__}({self.listed})"
            raise BadParameter(f"{here}: All estimators are dropped. At least one is required to be an estimator.")
        if not takes_anything([one for _, one in taking]):
            return taking
        return [(name, learner_of(one, name, by_verbs=True)) for name, one in taking]

    @property
    def accepts(self) -> str:
        return "anything" if takes_anything([one for _, one in self._pairs() if not is_out(one)]) else "rows"

    def _asked(self) -> list[Any]:
        """The fitted learners as ours."""
        if self.accepts == "rows":
            fitted: list[Any] = self.estimators_
            return fitted
        return as_ours(self.estimators_, True, {key: vars(self)[key] for key in ("classes_",) if key in vars(self)})

    def _columns_used(self) -> Array | None:
        return of_all([one._columns_used() for one in self.estimators_])

    @property
    def named_estimators_(self) -> ByName:
        """The fitted learners by name, "drop" for those left out."""
        check.check_fitted(self)
        fitted = iter(self.estimators_)
        return ByName({name: "drop" if is_out(one) else next(fitted) for name, one in self._pairs()})

    @property
    def named_estimators(self) -> ByName:
        """The learners of the list by name."""
        return ByName(self._pairs())

    def _objection(self) -> str | None:
        if len(self.estimators_) != len(self._learners()):
            return "there is not a fitted learner for each one of the list"
        return unlike(self, self.estimators_)

    def _look(self, table: Any) -> dict[Any, Any]:
        return {key: found for _, one in self._learners() for key, found in one._look(table).items()}

    # --- what the gate asks: what one of them does not take, all do not ---

    def _all_take(self, what: str) -> bool:
        return all(getattr(one, what) for _, one in self._learners())

    @property
    def missing(self) -> bool:
        return self._all_take("missing")

    @property
    def categorical(self) -> bool:
        return self._all_take("categorical")

    @property
    def sparse(self) -> bool:
        return self._all_take("sparse")

    @property
    def least_rows(self) -> int:
        return max(int(one.least_rows) for _, one in self._learners())

    @property
    def kind(self) -> str:
        kinds = [one.kind for _, one in self._learners()]
        return "one pass" if set(kinds) == {"one pass"} else kind_of(kinds)

    def _of_categories(self, name: str, least: Any, other: Callable[[Any], bool]) -> Any:
        """What the first learner says of categories that does not leave it open."""
        said = [getattr(one, name) for _, one in self._learners()]
        return next((one for one in said if other(one)), least)

    @property
    def categorical_features(self) -> Any:
        return self._of_categories("categorical_features", "from_dtype", lambda one: not is_word(one, "from_dtype"))

    @property
    def given_categories(self) -> Any:
        return self._of_categories("given_categories", None, lambda one: one is not None)

    @property
    def unseen(self) -> str:
        return str(self._of_categories("unseen", "missing", lambda one: one != "missing"))

    # --- parameters of the learners inside ---

    def _parts_inside(self) -> dict[str, Any]:
        given = getattr(self, self.listed)
        pairs = given if isinstance(given, (list, tuple)) else []
        named = {one[0]: one[1] for one in pairs if isinstance(one, (tuple, list)) and len(one) > 1}
        return {**super()._parts_inside(), **named}

    def _replace_inside(self, name: str, learner: Estimator) -> None:
        given = getattr(self, self.listed)
        setattr(self, self.listed, [(key, learner if key == name else one, *rest) for key, one, *rest in given])


def of_all(used: list[Array | None]) -> Array | None:
    """The columns that learners side by side find by name, None where one does not."""
    found = [one for one in used if one is not None]
    return np.unique(np.concatenate(found)) if found and len(found) == len(used) else None


def check_names(here: str, names: list[str], parameters: list[str]) -> None:
    """Names differ, can be told from parameters, and leave room for `name__parameter`."""
    if len(set(names)) < len(names):
        raise BadParameter(f"{here}: Names provided are not unique: {names!r}")
    own = sorted(set(names) & set(parameters))
    if own:
        raise BadParameter(f"{here}: Estimator names conflict with constructor arguments: {own!r}")
    marked = [name for name in names if "__" in name]
    if marked:
        raise BadParameter(f"{here}: Estimator names must not contain __: got {marked!r}")


class ByName(dict[str, Any]):
    """Learners by name, which may also be written as attributes."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"there is no {name!r}, only {', '.join(map(repr, self))}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def unlike(outer: Any, members: list[Any]) -> str | None:
    """Why these learners, from a file, cannot stand for one of the same role and classes; None if they can."""
    for place, one in enumerate(members):
        if one.role != outer.role:
            return f"learner {place} is no {outer.role}"
        if outer.role == "classifier" and not same(one.classes_, outer.classes_):
            return f"learner {place} knows other classes"
    return None


def is_out(learner: Estimator) -> bool:
    return learner is None or (isinstance(learner, str) and learner == "drop")


def is_word(value: Any, word: str) -> bool:
    return isinstance(value, str) and value == word


def kind_of(kinds: list[str]) -> str:
    """The kind of a learner made of learners of these kinds."""
    return next((kind for kind in ("sequential", "keeps rows") if kind in kinds), "many passes")


def names_of(learners: tuple[Any, ...]) -> list[str]:
    """Names after the classes, in lower case, numbered where a class comes twice."""
    kinds = [one if isinstance(one, str) else type(one).__name__.lower() for one in learners]
    return [kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: i + 1].count(kind)}" for i, kind in enumerate(kinds)]
