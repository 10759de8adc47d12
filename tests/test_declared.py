"""Fitted attributes are declared on the class: those that a fit leaves, no more and no less, each with its form and its words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import label, learners, public_classes
from laws import Table

import tenfold
from tenfold.base.estimator import FACTS, Estimator, is_fitted
from tenfold.core.learned import forms_of, learned, learned_by
from tenfold.core.params import domains, estimator
from tenfold.saved.forms import objection

INSIDE = {name: getattr(tenfold, name) for name in tenfold.INSIDE}


def fits(learner: Any) -> Iterator[Any]:
    """The learner fitted to targets that make attributes of different shapes: one and two columns, two and three classes."""
    table = Table.of(learner)
    targets = [table.y]
    if learner.target == "label":
        targets.append(np.where(table.y == "red", "red", "blue"))
    if learner.target == "real" and learner.multi_output:
        targets += [np.column_stack([table.y, -table.X[:, 0]]), np.asarray(table.y)[:, None]]
    for y in targets:
        yield learner.fit(table.X, y)


@pytest.mark.parametrize("learner", learners(), ids=label)
def test_what_a_fit_leaves_is_declared(learner: Any) -> None:
    declared = learned_by(learner)
    for model in fits(learner):
        left = {name: value for name, value in vars(model).items() if name in declared or is_fitted(name)}
        left = {name: value for name, value in left.items() if name not in domains(model)}
        assert objection(left, forms_of(model)) is None


@pytest.mark.parametrize(
    "cls", [*public_classes().values(), tenfold.Pipeline, *INSIDE.values()], ids=lambda cls: cls.__name__
)
def test_declarations_have_words_and_leave_nothing_behind(cls: Any) -> None:
    text = cls.__doc__ or ""
    for name, one in learned_by(cls).items():
        assert len(one.doc) > 3 and not one.doc.endswith("."), f"{name}: {one.doc!r}"
        assert isinstance(getattr(cls, name, property()), property), f"{name} is an attribute of the class"
        assert name.startswith("_") or f"\n    {name}" in text.partition("\n    Fitted")[2]
    assert {"n_features_in_", "_flat"} <= learned_by(cls).keys() and learned_by(Estimator).keys() >= set(FACTS)


def test_a_declaration_that_is_made_again_keeps_its_place() -> None:
    class Base(Estimator):
        """A mixin."""

        first_: float = learned("float", "of the base")
        second_: float = learned("float", "of the base", optional=True)

    @estimator
    class Own(Base):
        """Own: a learner."""

        third_: Any = learned("int(p)", "of its own", rows=("keep", True))
        first_: Any = learned("float(p)", "of its own")

    assert forms_of(Own).split()[-3:] == ["first_=float(p)", "second_?=float", "third_=int(p)"]
    assert forms_of(Base).split()[-2] == "first_=float"
    assert [learned_by(Own)["third_"].holds_rows(params) for params in ({}, {"keep": True}, {"keep": False})] == [
        0,
        1,
        0,
    ]
    assert not hasattr(Own, "first_") and "second_: float (optional)\n        of the base" in (Own.__doc__ or "")


@pytest.mark.parametrize(
    ("attributes", "forms", "sound"),
    [
        ({"_flat": True, "a": np.ones(3), "b": 1.0}, "n=int:p _flat=bool a=float(q,p) b=float(q)", True),
        ({"_flat": True, "a": np.ones((1, 3)), "b": 1.0}, "n=int:p _flat=bool a=float(q,p) b=float(q)", False),
        ({"_flat": False, "a": np.ones((2, 3)), "b": np.ones(2)}, "n=int:p _flat=bool a=float(q,p) b=float(q)", True),
        ({"_flat": False, "a": np.ones((2, 3)), "b": np.ones(3)}, "n=int:p _flat=bool a=float(q,p) b=float(q)", False),
        ({"c": np.array([0, 1]), "s": np.ones((1, 3))}, "n=int:p c=label(K) s=float(M,p)", True),
        ({"c": np.array([0, 1]), "s": np.ones((2, 3))}, "n=int:p c=label(K) s=float(M,p)", False),
        ({"c": np.array([0, 1, 2]), "s": np.ones((3, 3))}, "n=int:p c=label(K) s=float(M,p)", True),
        ({"c": np.array([0, 0, 2])}, "n=int:p c=label(K)", False),
        ({"w": np.zeros(2)}, "n=int:p w=float(*)>=0", True),
        ({"w": np.zeros(2)}, "n=int:p w=float(*)>0", False),
        ({"n": 2**20}, "n=int:p", True),
        ({"n": 2**20 + 1}, "n=int:p", False),
        ({"n": 2**20 + 1, "a": np.ones(2**20 + 1)}, "n=int:p a=float(p)", True),
    ],
)
def test_the_language_of_forms(attributes: dict[str, Any], forms: str, sound: bool) -> None:
    assert (objection({"n": 3, **attributes}, forms) is None) == sound
