"""Monotone columns of `select`: the saved model obeys, whatever the data say; families that cannot are left out, and it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.selection.plan.monotone import checked_monotone

Array = np.ndarray[Any, Any]
ROWS, STEPS = 1000, 15


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, trees=20, rounds=(20, 50))


def table(n: int = 300) -> pl.DataFrame:
    """y rises with a and falls with b, but for a dent and noise that a free model follows."""
    rng = np.random.default_rng(0)
    a, b, c = rng.uniform(-2, 2, size=(3, n))
    y = a - b + 2.5 * np.exp(-8 * (a + 0.5) ** 2) + np.sin(3 * c) + 0.5 * rng.normal(size=n)
    kind = np.array(["red", "blue"])[rng.integers(0, 2, n)]
    holes = np.where(rng.random(n) < 0.1, np.nan, a)
    return pl.DataFrame(dict(a=holes, b=b, c=c, kind=kind, y=y), nan_to_null=True)


def along(model: Any, column: str, say: Any) -> Array:
    """(rows, steps): what is said of random rows while one column grows."""
    rng = np.random.default_rng(1)
    steps = np.linspace(-3, 3, STEPS)
    rows = pl.DataFrame({name: rng.uniform(-2.5, 2.5, ROWS) for name in "abc"}).with_columns(
        kind=pl.Series(np.array(["red", "blue"])[rng.integers(0, 2, ROWS)])
    )
    return np.column_stack([say(rows.with_columns(pl.lit(step).alias(column))) for step in steps])


@pytest.mark.parametrize("prefer", ["best", "fast", "simple"])
def test_a_number(prefer: str) -> None:
    told: dict[str, Any] = {}

    def listen(event: str, **facts: Any) -> None:
        told[event] = facts

    run = tenfold.select(table(), "y", monotone={"a": 1, "b": -1}, effort="quick", folds=3, prefer=prefer, listen=listen)
    assert told["monotone"]["columns"] == {"a": 1, "b": -1}
    assert all("tree" in title or "forest" in title for title in told["monotone"]["families"])
    assert run.signal and (np.diff(along(run.model, "a", run.predict)) >= -1e-12).all()
    assert (np.diff(along(run.model, "b", run.predict)) <= 1e-12).all()
    free = tenfold.select(table(), "y", effort="quick", folds=3, prefer=prefer)
    assert (np.diff(along(free.model, "a", free.predict)) < -0.01).any()  # the dent is there to be followed


@pytest.mark.parametrize("positive", ["high", "low"])
def test_of_two_classes_the_probability_of_the_positive_one(positive: str, tmp_path: Path) -> None:
    rows = table().with_columns(y=pl.when(pl.col("y") > 0.3).then(pl.lit("high")).otherwise(pl.lit("low")))
    run = tenfold.select(rows, "y", monotone={"a": 1 if positive == "high" else -1}, positive=positive, effort="quick", folds=3)
    run.save(tmp_path / "m.tenfold")
    model: Any = tenfold.load(tmp_path / "m.tenfold" / "model.tenfold")
    assert run.signal and list(model.classes_) == ["high", "low"]
    steps = np.diff(along(model, "a", lambda new: model.predict_proba(new)[:, 0]))
    assert (steps >= -1e-12).all() and steps.max() > 0.01
    high = along(model, "a", lambda new: model.predict(new) == "high").astype(int)
    assert (np.diff(high) >= 0).all()


def test_as_a_learner_and_at_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = table().drop("y", "kind"), table()["y"].to_numpy()
    model = tenfold.Select(monotone={"b": -1}, effort="quick", folds=3).fit(X, y)
    assert (np.diff(along(model, "b", lambda new: model.predict(new.drop("kind")))) <= 1e-12).all()
    monkeypatch.chdir(tmp_path)
    table().write_csv("t.csv")
    assert run(["select", "t.csv", "--target", "y", "--monotone", "a:+,b:-", "--effort", "quick", "--folds", "3"]) == 0
    assert "MONOTONE a up, b down: predictions go one way only" in capsys.readouterr().out
    assert run(["reproduce", "t.tenfold", "--quiet"]) == 0


def test_what_can_be_written() -> None:
    assert checked_monotone("age:+, a price, in EUR:-") == {"age": 1, "a price, in EUR": -1}
    assert checked_monotone(["a:b:+", "c:-1"]) == {"a:b": 1, "c": -1}
    assert checked_monotone(None) is None and checked_monotone({}) is None
    for wrong in ("age", "age:", "age:2", "", {"age": 2}, {"age": True}, "age:+,price"):
        with pytest.raises(tenfold.BadParameter, match=r"monotone="):
            checked_monotone(wrong)
    for twice in ("x:+,x:-", ["x:+", "a:+,x:-1"]):  # the last one was taken
        with pytest.raises(tenfold.BadParameter, match=r"'x' is given both \+ and -, choose one"):
            checked_monotone(twice)
    assert checked_monotone("x:+,x:1") == {"x": 1}


@pytest.mark.parametrize(
    "monotone, target, message",
    [
        ({"nowhere": 1}, "y", "there is no column 'nowhere'"),
        ({"kind": 1}, "y", "monotone column 'kind': it is read as category, and only numbers can act in one direction"),
        ({"same": 1}, "y", r"monotone column 'same': it is not used \("),
        ({"a": 1}, "three", "monotone columns are for numbers and two classes, and 'three' has 3 classes"),
    ],
)
def test_what_cannot_be(monotone: dict[str, int], target: str, message: str) -> None:
    rows = table().with_columns(same=pl.lit(1.0), three=pl.Series(np.array(["x", "y", "z"])[np.arange(300) % 3]))
    with pytest.raises(ValueError, match=message):
        tenfold.select(rows, target, monotone=monotone, effort="quick", folds=3)


def test_too_few_rows_for_trees() -> None:
    with pytest.raises(tenfold.BadInput, match="monotone columns need trees, and those at least 50 rows"):
        tenfold.select(table(40), "y", monotone={"a": 1}, effort="quick", folds=3)
