"""tenfold explain, and attributions by sampling: held to exact Shapley values, and to sums that must come out."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app.commands import run
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate import attributions, sampled_attributions
from tenfold.selection.explain.reasons import effect, reasons
from tenfold.selection.model.store import open_run
from tenfold.table.reading import read_table

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def by_definition(f: Callable[[Any], Any], x: Any, background: Any) -> Any:
    """Shapley's sum over all sets of columns, with the mean over the background for those that are not in the set."""
    p = len(x)

    def worth(known: tuple[int, ...]) -> float:
        rows = background.copy()
        rows[:, list(known)] = x[list(known)]
        return float(np.mean(f(rows)))

    found = np.zeros(p)
    for j in range(p):
        others = [k for k in range(p) if k != j]
        for size in range(p):
            weight = math.factorial(size) * math.factorial(p - size - 1) / math.factorial(p)
            found[j] += sum(weight * (worth((*s, j)) - worth(s)) for s in itertools.combinations(others, size))
    return found


def test_sampling_comes_to_the_values_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))

    def f(rows: Any) -> Any:
        return rows[:, 0] * rows[:, 1] + np.sin(2 * rows[:, 2]) + (rows[:, 3] > 0)

    found = sampled_attributions(f, X[:1], X, orders=4000)
    exact = by_definition(f, X[0], X)
    assert np.abs(found.values[:, 0] - exact).max() < 0.05
    assert (np.abs(found.values[:, 0] - exact) <= 4 * found.errors[:, 0] + 1e-9).all()
    assert found.prediction == pytest.approx(f(X[:1]), rel=1e-9)


def test_exact_where_columns_act_one_by_one() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 5))
    y = X @ np.arange(5.0) + 1
    model = tenfold.LinearRegression().fit(X, y)
    found = sampled_attributions(model, X[:1], X, orders=60)  # each row of the background once
    assert np.allclose(found.values[:, 0], attributions(model, X[:1], X).values[0], rtol=1e-7, atol=1e-9)


def test_near_the_exact_values_of_a_forest() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 4))
    model = tenfold.RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    exact = attributions(model, X[:1], X)
    found = sampled_attributions(model, X[:1], X, orders=2000)
    assert (np.abs(found.values[:, 0] - exact.values[0]) <= 5 * found.errors[:, 0] + 1e-9).all()


def test_many_columns_are_taken_together_and_still_add_up() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3000))
    found = sampled_attributions(lambda rows: 5 * rows[:, 7] + 0.01 * rows.sum(axis=1), X[:1], X, orders=10, most=6)
    assert 7 in found.apart and len(found.apart) == 6
    assert found.prediction == pytest.approx(5 * X[0, 7] + 0.01 * X[0].sum(), rel=1e-9)


def test_what_cannot_be_attributed() -> None:
    X = np.ones((4, 2))
    with pytest.raises(BadParameter, match="orders=1"):
        sampled_attributions(lambda rows: rows[:, 0], X[:1], X, orders=1)
    with pytest.raises(BadInput, match="of one row"):
        sampled_attributions(lambda rows: rows[:, 0], X, X)
    with pytest.raises(BadInput, match="the same columns"):
        sampled_attributions(lambda rows: rows[:, 0], X[:1], X[:, :1])


def table(name: str = "t.csv", numbers: bool = False) -> str:
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 200))
    c = rng.choice(["red", "green"], 200)
    y = 3 * x + 2 * (c == "red") + 0.1 * rng.normal(size=200)
    target = y if numbers else np.where(y > 1, "yes", "no")
    pl.DataFrame({"x": x, "z": z, "c": c, "y": target}).write_csv(name)
    return name


@pytest.mark.parametrize(("numbers", "model"), [(False, "GaussianNB"), (False, "RandomForest"), (True, "Ridge"), (True, "RandomForest")])
def test_reasons_add_up_to_the_answer(numbers: bool, model: str, capsys: Captured) -> None:
    file = table(numbers=numbers)
    few = ["--set", "n_estimators=10", "--set", "random_state=0"] if model == "RandomForest" else []
    assert run(["fit", file, "--target", "y", "--model", model, *few, "--folds", "3", "--quiet"]) == 0
    capsys.readouterr()
    saved, raw = open_run(Path("t.tenfold")), read_table(file)
    found = reasons(saved, raw, 4)
    answer = saved.predict(raw.frame)[4] if numbers else saved.predict_proba(raw.frame)[4].max()
    assert found.base + sum(value for _, _, value, _ in found.columns) + found.rest == pytest.approx(answer, rel=1e-6)
    assert {name for name, _, _, _ in found.columns[:2]} == {"x", "c"}
    assert run(["explain", "t.tenfold", file, "--row", "5", "--set", "x=-3", "--set", "c="]) == 0
    out = capsys.readouterr().out
    assert "ROW      5 of t.csv" in out and "WHY " in out and "WHAT IF  x = -3, c = missing: prediction" in out


@pytest.mark.parametrize("rows", [7, 60, 100, 150])
def test_the_answer_of_the_rows_beside_is_their_mean_answer(rows: int, capsys: Captured) -> None:
    """Of few rows each is begun from as often as the others; of more than a hundred so many are drawn."""
    file = table(numbers=True)
    assert run(["fit", file, "--target", "y", "--model", "Ridge", "--folds", "3", "--quiet"]) == 0
    pl.read_csv(file)[:rows].write_csv("few.csv")
    saved, raw = open_run(Path("t.tenfold")), read_table("few.csv")
    found = reasons(saved, raw, 0)
    assert found.beside == min(rows, 100)
    if rows <= 100:
        assert found.base == pytest.approx(saved.predict(raw.frame).mean(), rel=1e-9)
    capsys.readouterr()
    assert run(["explain", "t.tenfold", "few.csv", "--row", "1"]) == 0
    assert ("WHY      the " if rows <= 100 else "WHY      100 rows of the file, drawn by chance, get ") in capsys.readouterr().out


def test_cells_of_any_type_are_altered(capsys: Captured) -> None:
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 2, 9), eager=True)
    frame = pl.DataFrame({"x": np.linspace(0, 1, 40), "d": days, "b": [True, False] * 20, "y": [True, True, False, False] * 10})
    frame.write_parquet("t.parquet")
    assert run(["fit", "t.parquet", "--target", "y", "--model", "LogisticRegression", "--folds", "3", "--quiet"]) == 0
    others = ["--set", "d=2024-03-01", "--set", "b=false", "--set", "x=0.123456789012"]
    assert run(["explain", "t.tenfold", "t.parquet", "--row", "3", *others]) == 0
    said = capsys.readouterr()
    assert "WHAT IF  d = 2024-03-01, b = false, x = 0.123456789012: prediction" in said.out and not said.err
    assert "x = 0.0512821" in said.out  # six digits of a long number
    assert run(["estimate", "t.tenfold", "t.parquet", "--quiet"]) == 0
    assert run(["explain", "t.tenfold", "t.parquet", "--column", "d"]) == 0
    assert "  2024-01-01  " in capsys.readouterr().out
    frame[:1].write_parquet("one.parquet")
    assert run(["explain", "t.tenfold", "one.parquet", "--row", "1"]) == 3 and "one.parquet has one row" in capsys.readouterr().err
    frame.rename({"x": "x=1"}).write_parquet("t.parquet")
    assert run(["fit", "t.parquet", "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    assert run(["explain", "t.tenfold", "--row", "3", "--set", "x=1=0.5", "--set", "d="]) == 0
    assert "WHAT IF  x=1 = 0.5, d = missing: prediction" in capsys.readouterr().out


def test_what_no_training_row_held_is_told_of_an_altered_row(capsys: Captured) -> None:
    file = table()
    assert run(["fit", file, "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    asked = ["explain", "t.tenfold", file, "--row", "3", "--set", "x=500"]
    assert run(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("WHAT IF"))
    assert lines[place + 1].startswith("         unlike the training table: x above ") and "unlike" not in "".join(lines[:place])
    assert run([*asked, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["unlike"] is None and facts["what_if"]["unlike"].startswith("x above ")


def test_a_class_is_named_as_numbers_are_written(capsys: Captured) -> None:
    """predict says 1, and explain knew '1' alone."""
    frame = pl.read_csv(table())
    frame.with_columns(y=(frame["y"] == "yes").cast(pl.Int64)).write_csv("t.csv")
    assert run(["fit", "t.csv", "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    first, *others = (effect(open_run(Path("t.tenfold")), read_table("t.csv"), "x", one).points for one in ("1", 1, 1.0))
    assert all(one == first for one in others)
    assert run(["explain", "t.tenfold", "--row", "3", "--class", "1.0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["reasons"]["answer"]["what"] == "1"
    assert run(["explain", "t.tenfold", "--row", "3", "--class", "2"]) == 2 and "the classes are 0, 1" in capsys.readouterr().err


def test_what_is_wrong_with_a_cell_is_told_once(capsys: Captured) -> None:
    file = table()
    assert run(["fit", file, "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    pl.read_csv(file).with_columns(x=pl.Series(["many", *["0.5"] * 199])).write_csv("new.csv")
    capsys.readouterr()
    assert run(["explain", "t.tenfold", "new.csv", "--row", "2", "--set", "x=much"]) == 0
    wrong = "tenfold: column 'x': 1 cell such as {!r} is not a number, and counts as missing"
    assert capsys.readouterr().err.splitlines() == [wrong.format("many"), wrong.format("much")]


def test_a_column_and_all_columns(capsys: Captured) -> None:
    file = table(numbers=True)
    assert run(["fit", file, "--target", "y", "--model", "LinearRegression", "--folds", "3", "--quiet"]) == 0
    capsys.readouterr()
    assert run(["explain", "t.tenfold", file, "--column", "x", "--json"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    slope = (points[-1][1] - points[0][1]) / (float(points[-1][0]) - float(points[0][0]))
    assert slope == pytest.approx(3, abs=0.1)
    assert run(["explain", "t.tenfold", file, "--column", "c", "--json"]) == 0
    levels = dict(json.loads(capsys.readouterr().out)["points"])
    assert levels["red"] - levels["green"] == pytest.approx(2, abs=0.1)
    assert run(["explain", "t.tenfold", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[0] == "x" and lines[3].split()[0] == "c"


def test_without_a_file_it_is_the_table_of_the_run(capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = table()
    assert run(["fit", file, "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    capsys.readouterr()
    for asked in (["--row", "7"], ["--column", "x", "--class", "no"], []):
        assert run(["explain", "t.tenfold", file, *asked]) == 0
        named = capsys.readouterr()
        assert run(["explain", "t.tenfold", *asked]) == 0 and capsys.readouterr() == named and not named.err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run(["explain", "../t.tenfold", "--row", "7"]) == 0  # beside the folder
    capsys.readouterr()
    with open("../t.csv", "a") as text:
        text.write("0.5,0.1,red,yes\n")
    assert run(["explain", "../t.tenfold", "--row", "7"]) == 0
    assert capsys.readouterr().err == "tenfold: t.csv has changed since the run was made: its rows may be others\n"
    Path("../t.csv").unlink()
    assert run(["explain", "../t.tenfold", "--row", "7"]) == 3
    assert "there is no t.csv here, which the run was made from: name it, as in tenfold explain ../t.tenfold path/to/t.csv" in (
        capsys.readouterr().err
    )
    Path("../t.tenfold/run.json").unlink()
    assert run(["explain", "../t.tenfold"]) == 3
    assert "../t.tenfold does not say which table it was made from: name it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--row", "0"], "rows 1 to 200"),
        (["--row", "201"], "rows 1 to 200"),
        (["--column", "xx"], "there is no column 'xx'"),
        (["--column", "y"], "tenfold: --column y: this is the column that is predicted, name one that it is predicted from"),
        (["--row", "1", "--column", "x"], "not both"),
        (["--set", "x=1"], "name it with --row"),
        (["--row", "1", "--set", "x"], "give COLUMN=VALUE"),
        (["--row", "1", "--set", "y=1"], "does not use this column"),
        (["--row", "1", "--class", "maybe"], "there is no class 'maybe': the classes are no, yes"),
        (["--class", "yes"], "--class says what is explained of a row or along a column"),
    ],
)
def test_explain_refuses_in_one_sentence(arguments: list[str], says: str, capsys: Captured) -> None:
    file = table()
    assert run(["fit", file, "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    assert run(["explain", "t.tenfold", file, *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
