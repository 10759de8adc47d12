"""Every learner x every law x every engine, discovered."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from certificates import CERTIFICATES, OBJECTIVES
from conftest import first, label, learners, of_each, public_classes
from engines import Shuffled
from laws import LAWS, VERBS, Place, Table, applies, assert_close, made

import tenfold


class Remembered(Place):
    """The fits to the table that all laws have in common, and their answers, are made once for each learner."""

    known: ClassVar[dict[str, Any]] = {}
    model: ClassVar[Any] = None

    def fitted(self, model: Any, table: Table) -> Any:
        return self._once(model, f"fitted {self}", lambda: super(Remembered, self).fitted(model, table))

    def answers(self, model: Any, table: Table) -> dict[str, Any]:
        found: dict[str, Any] = self._once(model, f"answers {self}", lambda: super(Remembered, self).answers(model, table))
        return found

    def _once(self, model: Any, what: str, make: Callable[[], Any]) -> Any:
        if Remembered.model is not model:
            Remembered.model = model
            self.known.clear()
        if what not in self.known:
            self.known[what] = make()
        return self.known[what]


PLACES = [
    Remembered(tenfold.Local()),
    Remembered(tenfold.Threads(2), rows=7),
    Remembered(tenfold.Threads(7), rows=7),
    Remembered(Shuffled(), rows=7),
]
MEMORY, STREAM = PLACES[0], Remembered(tenfold.Threads(2), rows=20)
# `same_bits` compares the engines, and `blocking` blocks of sizes of its own, down to one row: on one engine, as the engines agree.
# The other laws need a table in memory and one stream of several blocks, of few blocks because they make most of the fits.
ONCE = (
    "path", "sparse", "refuses_sparse", "missing", "refuses_missing", "categories", "refuses_categories", "several_targets",
    "refuses_several_targets", "cross_validation",
)  # fmt: skip
WHERE = {"same_bits": PLACES, "blocking": [MEMORY], "bounded_memory": [STREAM]} | {law: [MEMORY] for law in ONCE}


def exemptions(learner: Any) -> dict[str, str]:
    steps = [step for _, step in getattr(learner, "steps", [])]
    return {law: reason for one in (learner, *steps) for law, reason in one.exempt.items()}


@pytest.mark.parametrize("learner", learners(), ids=label)
def test_laws(learner: Any) -> None:
    """Each law that applies to the learner, in each place that makes a difference to the law."""
    laws = [law for law in LAWS if applies(law, learner) and law not in exemptions(learner)]
    of_each(laws, lambda law: of_each(WHERE.get(law, [MEMORY, STREAM]), lambda place: LAWS[law](learner, Table.of(learner), place)))


@pytest.mark.parametrize("learner", [one for one in learners() if hasattr(type(one), "predict")], ids=label)
def test_as_the_last_step_of_a_pipeline(learner: Any) -> None:
    """There a learner says what it says alone."""
    table, behind = Table.of(learner), tenfold.make_pipeline(tenfold.SimpleImputer(), made(learner))
    alone, behind = (one.fit(table.X, table.y) for one in (made(learner), behind))
    for verb in VERBS:
        assert hasattr(alone, verb) == hasattr(behind, verb)
        if hasattr(alone, verb):
            assert_close(getattr(behind, verb)(table.new), getattr(alone, verb)(table.new), rtol=1e-10, what=verb)


@pytest.mark.parametrize("name", public_classes())
def test_exemptions_name_a_law_and_a_reason(name: str) -> None:
    """And the law does fail: an exemption that is no longer needed goes."""
    learner = first(public_classes()[name])
    for law, reason in learner.exempt.items():
        assert len(reason.split()) > 3
        # `Failed`: nothing was refused. Refused itself may be only what the law is about, as QuantileTransformer says of sparse rows.
        with pytest.raises((AssertionError, pytest.fail.Exception, tenfold.BadInput)) as broken:
            LAWS[law](learner, Table.of(learner), MEMORY)
        assert not isinstance(broken.value, tenfold.BadInput) or law in str(broken.value), broken.value


@pytest.mark.parametrize("learner", [one for one in learners() if type(one).__name__ in CERTIFICATES], ids=label)
def test_certificate(learner: Any) -> None:
    """What the docstring says of the solution holds, weights included."""
    table = Table.of(learner)
    fitted = STREAM.fit(made(learner), table, weighted=True)
    gaps = CERTIFICATES[type(learner).__name__](fitted, table.X, table.y, table.w)
    np.testing.assert_allclose(gaps, 0, atol=1e-9, rtol=0)


@pytest.mark.parametrize("learner", [one for one in learners() if type(one).__name__ in OBJECTIVES], ids=label)
def test_objective_never_increases(learner: Any) -> None:
    table = Table.of(learner, n=90)
    objective, seen = OBJECTIVES[type(learner).__name__], []
    for passes in range(1, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tenfold.NotConverged)
            fitted = made(learner).set_params(max_iter=passes).fit(table.X, table.y)
        seen.append(objective(fitted, table.X, table.y, np.ones(len(table.X))))
    assert (np.diff(seen) <= 1e-10 * np.abs(seen[:-1])).all(), seen
    assert seen[-1] < seen[0], "more passes must help"
