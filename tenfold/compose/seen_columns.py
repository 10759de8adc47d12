"""The columns of a table as one transformer inside sees them: chosen, checked, with categories as it wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.numbers import column_name
from tenfold.gate.categories import UNSEEN, Categories, marked_columns

Recode = tuple[str, Array]  # "numbers" to be looked up among categories, or "codes" with the new code of each


@dataclass(frozen=True)
class SeenColumns:
    """What a transformer sees of rows: a function of X."""

    step: str  # who sees them, for messages
    places: Array
    names: Array | None  # of the whole table
    missing: bool  # missing values may be there
    unseen: str  # what becomes of categories that fit has not seen
    recode: tuple[Recode | None, ...]  # of each column

    @classmethod
    def of(cls, name: str, member: Estimator, places: Array, facts: dict[str, Any], inner: Categories | None) -> SeenColumns:
        """For a member that knows the categories `inner` of its columns, in a table with these facts."""
        outer = facts.get("categories_") or [None] * facts["n_features_in_"]
        found = inner or [None] * len(places)
        recode = tuple(_recoded(outer[j], found[k]) for k, j in enumerate(places))
        step = f"{name!r} ({type(member).__name__})"
        return cls(step, places, facts.get("feature_names_in_"), member.missing, member.unseen, recode)

    def __call__(self, X: Any) -> Any:
        part = columns_of(X, self.places)
        if any(one is not None for one in self.recode):
            part = self._coded(part.copy() if part is X else part)
        if not self.missing and not ops.all_usable(part):
            column = int(np.isnan(ops.dense(part)).any(axis=0).argmax())
            raise BadInput(
                f"Input X contains NaN in {column_name(self.names, int(self.places[column]))}, and {self.step} takes no missing "
                "values: fill or drop them first"
            )
        return part

    def _coded(self, part: Array) -> Array:
        for k, one in enumerate(self.recode):
            if one is None:
                continue
            how, known = one
            values = part[:, k]
            blank = np.isnan(values)
            if how == "numbers":
                place = np.searchsorted(known, values)
                code = np.where(np.append(known, np.nan)[np.minimum(place, len(known))] == values, place, UNSEEN)
            else:
                code = np.append(known, UNSEEN)[np.where(blank, -1, values).astype(np.int64)]
            strange = ~blank & (code == UNSEEN)
            if self.unseen == "refuse" and strange.any():
                raise BadInput(
                    f"Found unknown categories in {column_name(self.names, int(self.places[k]))}, which were not there in fit: "
                    f"let handle_unknown of {self.step} say what becomes of them"
                )
            part[:, k] = np.where(blank | (strange & (self.unseen == "missing")), np.nan, code)
        return part


def _recoded(outer: Array | None, inner: Array | None) -> Recode | None:
    """How codes of the table become codes of a member; None where they are numbers to it."""
    if inner is None:
        return None
    if outer is None:
        return "numbers", inner
    place = {value: float(code) for code, value in enumerate(inner.tolist())}
    return "codes", np.array([place.get(value, UNSEEN) for value in outer.tolist()])


def columns_of(X: Any, places: Array) -> Any:
    """Some columns: X itself where they are all of them."""
    if len(places) == X.shape[1] and (places == np.arange(len(places))).all():
        return X
    return X[:, places] if ops.is_sparse(X) else np.ascontiguousarray(X[:, places])


def marked(name: str, member: Estimator, places: Array, facts: dict[str, Any]) -> tuple[Categories | None, list[int]]:
    """The categories of the columns of a member that the gate has found, and the columns of numbers that it takes for categories
    too: theirs are not known yet.
    """
    outer, names = facts.get("categories_"), facts.get("feature_names_in_")
    found: Categories = [None] * len(places) if outer is None else [outer[j] for j in places]
    if not member.categorical:
        for one, j in zip(found, places, strict=True):
            if one is not None and one.dtype.kind != "b":  # truth values are numbers, 0 and 1
                raise BadInput(
                    f"{column_name(names, int(j))} holds text or categories, and {name!r} ({type(member).__name__}) takes numbers: "
                    "code it first, with OneHotEncoder for example"
                )
        return None, []
    given = member.given_categories
    if given is not None and len(given) == len(places):
        return given, []
    wanted = marked_columns(member, None if names is None else names[places], len(places))
    if wanted is None:
        return found, []
    return found, [k for k, one in enumerate(found) if one is None and wanted[k]]
