"""Every learner x every law x every engine, discovered."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import label, learners, public_classes
from engines import Shuffled
from laws import LAWS, Place, Table

import tenfold

PLACES = [
    Place(tenfold.Local()),
    Place(tenfold.Local(), rows=1),
    Place(tenfold.Threads(1), rows=3),
    Place(tenfold.Threads(2), rows=3),
    Place(tenfold.Threads(7), rows=3),
    Place(Shuffled(), rows=3),
]


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("learner", learners(), ids=label)
def test_law(learner: Any, law: str, place: Place) -> None:
    if law in getattr(learner, "exempt", {}):
        return
    LAWS[law](learner, Table.of(learner), place)


@pytest.mark.parametrize("name", public_classes())
def test_exemptions_name_a_law_and_a_reason(name: str) -> None:
    for law, reason in getattr(public_classes()[name], "exempt", {}).items():
        assert law in LAWS and len(reason.split()) > 3
