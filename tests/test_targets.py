"""Several targets of one table: one after another, none used to predict another, each kept when another fails or is stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.selection.race.race import Race
from tenfold.table.columns import typed_names

QUICK = ["--effort", "quick", "--folds", "3"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shrink(monkeypatch, trees=5, rounds=(20,))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 60))
    price = x + 0.3 * rng.normal(size=60)
    sold = np.where(z + 0.4 * rng.normal(size=60) > 0, "yes", "no")
    made = pl.DataFrame(dict(x=x, z=z, price=price, sold=sold, flat=np.ones(60)))
    made.write_csv("t.csv")
    return made


def test_names_with_commas() -> None:
    columns = ["a", "b", "a,b", "c"]
    assert typed_names(["a,b"], columns) == ["a,b"]  # there is such a column
    assert typed_names(["a, c"], columns) == ["a", "c"]
    assert typed_names(["a", "b", "a"], columns) == ["a", "b"]


def test_in_python(table: pl.DataFrame) -> None:
    told: list[Any] = []
    runs: Any = tenfold.select(table, ["price", "sold"], effort="quick", folds=3, category=["sold"],
                               listen=lambda event, **facts: told.append((event, facts)))  # fmt: skip
    assert list(runs) == ["price", "sold"] and "price" in str(runs) and "sold" in str(runs)
    assert [facts["target"] for event, facts in told if event == "target"] == ["price", "sold"]
    for name, other in (("price", "sold"), ("sold", "price")):
        assert other not in runs[name].model.feature_names_in_
        alone = tenfold.select(table.drop(other), name, effort="quick", folds=3)
        np.testing.assert_array_equal(runs[name].predict(table), alone.predict(table))
    values = table["sold"].to_list()
    assert tenfold.select(table.drop("sold"), values, effort="quick", folds=3).model.role == "classifier"  # values, not names


def test_a_folder_for_each_and_a_table_at_the_end(table: pl.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "t.csv", "--target", "price,sold", "--target", "flat", *QUICK, "--out", "runs"]) == 3
    shown = capsys.readouterr()
    assert sorted(one.name for one in Path("runs").iterdir()) == ["price.tenfold", "sold.tenfold"]
    assert "TARGET   price   1 of 3; not used to predict it: sold, flat" in shown.out
    notes = {one["name"]: one["note"] for one in json.loads(Path("runs/price.tenfold/run.json").read_text())["columns"]}
    assert notes["sold"] == notes["flat"] == "another target, not used to predict" and "as asked" not in shown.out
    last = shown.out.split("TARGETS\n")[1].splitlines()
    assert [line.split()[0] for line in last] == ["price", "sold", "flat"] and "runs/sold.tenfold/" in last[1]
    assert "there is nothing to predict" in last[2] and "tenfold: flat:" in shown.err
    assert run(["reproduce", "runs/price.tenfold", "t.csv", "--quiet"]) == 0
    assert run(["select", "t.csv", "--target", "price", "--target", "sold", *QUICK, "--out", "runs/price.tenfold"]) == 3
    assert "holds a run: name a folder for the runs of all targets" in capsys.readouterr().err


def test_beside_the_table(table: pl.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "t.csv", "--target", "price", "--target", "sold", *QUICK, "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rows = events[-1]["rows"]
    assert events[-1]["event"] == "results" and [row["folder"] for row in rows] == ["t-price.tenfold", "t-sold.tenfold"]
    assert rows[0]["metric"] == "rmse" and rows[0]["low"] < rows[0]["value"] < rows[0]["high"]


def test_stopped_in_the_second(table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    whole, begun = Race.run, list[int]()

    def stop(race: Race, *given: Any, **more: Any) -> None:
        begun.append(1)
        if len(begun) == 2:
            raise KeyboardInterrupt
        whole(race, *given, **more)

    monkeypatch.setattr(Race, "run", stop)
    assert run(["select", "t.csv", "--target", "price", "--target", "sold", "--target", "flat", *QUICK]) == 130
    out = capsys.readouterr().out
    assert "flat" in out.split("TARGETS\n")[1] and "not begun" in out and Path("t-price.tenfold/model.tenfold").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        (["--keep", "sold"], "--keep sold: this is a column to predict"),
        (["--target", "nowhere"], "there is no column 'nowhere'"),
    ],
)
def test_wrong_use(table: pl.DataFrame, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "t.csv", "--target", "price", "--target", "sold", *QUICK, *options]) in (2, 3)
    assert message in capsys.readouterr().err


def test_a_target_that_fails_leaves_the_runs_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pl.DataFrame({"x": x, "a": x + rng.normal(size=60), "same": [1.5] * 60})
    with pytest.warns(tenfold.DataWarning, match="'same' has no run: the target column 'same' is 1.5 in every row"):
        found: Any = tenfold.select(frame, ["a", "same"], effort="quick", folds=3)
    assert list(found) == ["a"] and list(found.failures) == ["same"]
    with pytest.raises(tenfold.BadInput, match="in every row"):
        tenfold.select(frame.with_columns(pl.lit(2.5).alias("too")), ["same", "too"], folds=3)
