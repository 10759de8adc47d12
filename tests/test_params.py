"""Parameters that several learners share: one declaration, each learner's own order, default and words."""

from __future__ import annotations

import inspect

import pytest

from tenfold.core.params import KW_ONLY, domains, estimator, group, param


@group
class Limits:
    """Shared."""

    size: int = param(default=3, at_least=1, doc="how many")
    _: KW_ONLY
    depth: int | None = param(default=None, at_least=1, doc="how deep")
    seed: int | None = param(default=None, doc="seed")


@estimator
class Plain(Limits):
    """Takes them as they are."""


@estimator
class Changed(Limits):
    """Another default, one in between, one in front, one at the end."""

    _: KW_ONLY
    depth: int | None = param(default=7, at_least=2, doc="deeper")
    weight: float = param(default=0.5, at_least=0, doc="weight", before="seed")
    loss: str = param(default="log", one_of=("log",), doc="loss", before="depth")
    last: bool = param(default=False, doc="last")


def test_shared_parameters_keep_their_order_and_kind():
    assert str(inspect.signature(Plain)) == (
        "(size: 'int' = 3, *, depth: 'int | None' = None, seed: 'int | None' = None) -> None"
    )
    assert list(inspect.signature(Changed).parameters) == ["size", "loss", "depth", "weight", "seed", "last"]
    assert list(domains(Changed)) == list(inspect.signature(Changed).parameters)


def test_a_change_stays_with_the_learner_that_makes_it():
    assert (Plain().depth, Changed().depth) == (None, 7)
    assert domains(Plain)["depth"].objection(1) is None
    assert domains(Changed)["depth"].objection(1) == "must be >= 2"
    assert "how deep" in str(Plain.__doc__)
    assert "deeper" in str(Changed.__doc__)
    assert "how deep" not in str(Changed.__doc__)


def test_keyword_parameters_are_not_taken_by_position():
    assert Changed(5).size == 5
    with pytest.raises(TypeError):
        Changed(5, "log")


def test_a_place_before_nothing_is_an_error():
    with pytest.raises(ValueError, match="nowhere"):

        @estimator
        class Lost(Limits):
            """Stands before a parameter that is not there."""

            wrong: int = param(default=1, doc="wrong", before="nowhere")
