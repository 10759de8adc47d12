"""Tables as people have them: what was learned is read in the same way again, nothing is lost, and what cannot be done is told."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.app.explain import _of_column
from tenfold.app.select_run import report_into
from tenfold.selection.explain.reasons import Effect
from tenfold.selection.explain.slices import by_column
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.store import open_run, record_of
from tenfold.table import large

Captured = pytest.CaptureFixture[str]
FIT = ["fit", "t.csv", "--target", "y", "--folds", "3", "--quiet"]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- read again as it was read first ----------------------------------------------------------------------------------


def test_a_large_file_is_read_as_the_model_knows_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Days that could be months, codes with zeros in front, a category that looks like a number, commas before decimals."""
    n, random = 400, rng()
    day, month = random.integers(1, 29, n), random.integers(1, 13, n)
    code, size = random.choice(["02139", "10115", "75001"], n), random.normal(size=n)
    wide = ["5+" if i % 9 == 0 else str(i % 4 + 1) for i in range(n)]
    y = month + 3.0 * (code == "02139") + size + 0.1 * random.normal(size=n)
    columns = dict(when=[f"{d:02}/{m:02}/2024" for d, m in zip(day, month, strict=True)], code=code, wide=wide)
    columns |= dict(size=[f"{one:.3f}".replace(".", ",") for one in size], y=[f"{one:.4f}".replace(".", ",") for one in y])
    whole = pl.DataFrame(columns)
    whole.write_csv("t.csv", separator=";")
    assert run([*FIT, "--model", "Ridge", "--category", "code"]) == 0
    model = open_run(Path("t.tenfold"))
    early = whole.filter(pl.Series(day <= 12))  # all of them could be written month first
    early.write_csv("new.csv", separator=";")
    small = model.predict("new.csv")
    monkeypatch.setattr(large, "LARGE", 1)
    assert run(["predict", "t.tenfold", "new.csv", "--out", "said.csv"]) == 0
    np.testing.assert_allclose(pl.read_csv("said.csv")["y"].to_numpy(), small, rtol=1e-12)


def test_a_target_with_commas_is_judged_as_it_was_learned(capsys: Captured) -> None:
    random = rng()
    x = random.normal(size=200)
    y = 12 + x + 0.1 * random.normal(size=200)
    texts = {name: [f"{one:.{k}f}".replace(".", ",") for one in values] for name, values, k in (("x", x, 2), ("y", y, 3))}
    pl.DataFrame(texts).write_csv("t.csv", separator=";")
    assert run([*FIT, "--model", "Ridge"]) == 0
    assert run(["estimate", "t.tenfold", "t.csv", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert facts["scores"][0]["value"] < 0.2


def test_words_for_a_missing_class_are_missing_in_new_rows_too(capsys: Captured) -> None:
    x = rng().normal(size=120)
    y = [str(int(one > 0)) for one in x]
    pl.DataFrame(dict(x=x, y=["unknown", *y[1:]])).write_csv("t.csv")
    assert run([*FIT, "--model", "GaussianNB"]) == 0
    assert run(["estimate", "t.tenfold", "t.csv"]) == 0
    assert "1 row without a value of 'y' left out" in capsys.readouterr().out


def test_dates_that_are_whole_numbers_do_not_drift(capsys: Captured) -> None:
    random = rng()
    days = 20240000 + 100 * random.integers(1, 13, 300) + random.integers(1, 29, 300)
    pl.DataFrame(dict(date=days, x=random.normal(size=300), y=random.normal(size=300))).write_parquet("t.parquet")
    assert run(["fit", "t.parquet", "--target", "y", "--model", "Ridge", "--folds", "3", "--quiet"]) == 0
    assert run(["watch", "t.tenfold", "t.parquet"]) == 0
    capsys.readouterr()
    assert run(["predict", "t.tenfold", "t.parquet", "--out", "said.csv"]) == 0
    assert "unlike" not in capsys.readouterr().err


@pytest.mark.parametrize("labels", [(0.5, 1.0), (10**17 + 1, 10**17 + 3)])
def test_classes_that_are_no_small_whole_numbers(labels: tuple[Any, Any], capsys: Captured) -> None:
    x = rng().normal(size=150)
    y = np.where(x + 0.4 * rng(2).normal(size=150) > 0, *labels).tolist()
    pl.DataFrame(dict(x=x, c=rng(1).choice(["a", "b"], 150), y=y)).write_csv("t.csv")
    assert run([*FIT, "--model", "GaussianNB"]) == 0
    assert run([*FIT, "--model", "LogisticRegression", "--out", "b.tenfold"]) == 0
    found = record_of(Path("t.tenfold"))["estimate"]["accuracy"]["value"]
    assert found > 0.8 and len(Unseen.of(pl.read_parquet("t.tenfold/held_out.parquet"))) == 150
    assert run(["compare", "t.tenfold", "b.tenfold"]) == 0
    pl.read_csv("t.csv").filter(pl.col("x") < 0).write_csv("new.csv")  # of one class alone
    assert run(["estimate", "t.tenfold", "new.csv"]) in (0, 1)
    assert Path("t.tenfold/report.html").exists() and "fault" not in capsys.readouterr().err


@pytest.mark.parametrize("first", ["typed.parquet", "true.csv", "TRUE.csv"])
def test_truth_values_are_known_in_every_spelling(first: str, capsys: Captured) -> None:
    """As files with types have them, as Python writes them, and as spreadsheets do."""
    x, b = rng().normal(size=120), rng(1).random(120) < 0.5
    table = pl.DataFrame(dict(x=x, b=b, y=x + 3 * b > 1.5))
    table.write_parquet("typed.parquet")
    for name, words in (("true.csv", ["False", "True"]), ("TRUE.csv", ["FALSE", "TRUE"])):
        table.with_columns(pl.col(one).cast(pl.String).replace(["false", "true"], words) for one in ("b", "y")).write_csv(name)
    assert run(["fit", first, *FIT[2:], "--model", "GaussianNB", "--out", "t.tenfold"]) == 0
    capsys.readouterr()
    said = set[str]()
    for other in ("typed.parquet", "true.csv", "TRUE.csv"):
        assert run(["predict", "t.tenfold", other]) == run(["watch", "t.tenfold", other, "--quiet"]) == 0
        assert run(["estimate", "t.tenfold", other, "--quiet"]) == 0
        found = capsys.readouterr()
        said.add(found.out)
        assert not found.err and open_run(Path("t.tenfold")).score(other) > 0.9
    assert len(said) == 1
    table.select(row=np.arange(120), prediction="y").write_parquet("theirs.parquet")
    assert run(["compare", "t.tenfold", "theirs.parquet", "--metric", "accuracy", "--quiet"]) == 0
    assert "and 100.0%" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["1.234,5", "d/m/Y"])
def test_another_way_of_writing_is_not_read_as_something_else(kind: str, capsys: Captured) -> None:
    """Of 04/19 and 04/05 with the month first, only the second can be read with the day first, and is another day."""
    days, x = [f"{i % 28 + 1:02}/{i % 12 + 1:02}/2024" for i in range(60)], rng().normal(size=60) + 4
    cells = days if kind == "d/m/Y" else [f"{one:.2f}".replace(".", ",") for one in x]
    there = dict(z=rng(1).normal(size=60), y=rng(2).normal(size=60))
    pl.DataFrame(dict(x=cells, **there)).write_csv("t.csv", separator=";", decimal_comma=kind != "d/m/Y")
    assert run([*FIT, "--model", "Ridge"]) == 0
    others = [f"{one[3:5]}/{one[:2]}/2024" for one in days] if kind == "d/m/Y" else [f"{one:.{2 + i % 2}f}" for i, one in enumerate(x)]
    pl.DataFrame(dict(x=others, z="0")).write_csv("new.csv", separator=";")
    assert run(["predict", "t.tenfold", "new.csv", "--out", "p.csv"]) == 3 and not Path("p.csv").exists()
    assert f"column 'x' is not written as in training ({'' if kind == 'd/m/Y' else 'like '}{kind}): " in capsys.readouterr().err
    pl.DataFrame(dict(x=[others[0], *cells[1:]], z="0")).write_csv("new.csv", separator=";")  # one cell is an odd one
    assert run(["predict", "t.tenfold", "new.csv", "--out", "p.csv"]) == 0


# --- rows that belong together, and rows that count more ---------------------------------------------------------------


def test_groups_are_the_same_with_spaces_around_them() -> None:
    who = np.repeat(np.arange(30), 10)
    x, y = rng().normal(size=(30, 2))[who], rng(1).normal(size=30)[who]
    names = [f"P{k} " if i % 2 else f"P{k}" for i, k in enumerate(who)]
    table = pl.DataFrame(dict(a=x[:, 0] + 1e-3 * rng().normal(size=300), b=x[:, 1], who=names, y=y))
    table.write_csv("t.csv")
    assert run([*FIT, "--model", "KNeighbors", "--groups", "who"]) == 0
    assert record_of(Path("t.tenfold"))["estimate"]["rmse"]["value"] > 0.8  # a neighbour of the same group would give y itself


@pytest.mark.parametrize("comma", [False, True])
def test_weights_count_where_a_promise_is_looked_at(comma: bool, capsys: Captured) -> None:
    """Rows of a large weight are easy: without weights the model seems to be far worse than promised."""
    random = rng()
    x, hard = random.normal(size=600), np.arange(600) % 2 == 1
    y = x + np.where(hard, 2.0, 0.1) * random.normal(size=600)
    table = pl.DataFrame(dict(x=x, w=np.where(hard, 0.01, 1.0), y=y))
    for name, rows in (("t.csv", table[:300]), ("new.csv", table[300:])):
        rows.write_csv(name, separator=";", decimal_comma=comma)
    assert run([*FIT, "--model", "Ridge", "--weights", "w"]) == 0
    assert run(["estimate", "t.tenfold", "new.csv"]) == 0
    said = capsys.readouterr().out
    assert "as promised" in said.lower() and "alike" not in said
    table[300:].drop("w").write_csv("new.csv", separator=";", decimal_comma=comma)
    run(["estimate", "t.tenfold", "new.csv"])
    assert "they count alike" in capsys.readouterr().out


def test_weights_on_new_rows_are_read_as_in_the_table(capsys: Captured) -> None:
    """Of 0 they are left out, and commas before decimals are read where the table writes them."""
    x, w = rng().normal(size=200), rng(1).integers(1, 9, 200) / 4
    table = pl.DataFrame(dict(x=x, w=w, y=x + rng(2).normal(size=200)))
    none, scores = pl.when(pl.int_range(pl.len()) < 3).then(0.0).otherwise("w").alias("w"), []
    for form in (dict[str, Any](), dict[str, Any](separator=";", decimal_comma=True)):
        table[:100].write_csv("t.csv", **form)
        assert run([*FIT, "--model", "Ridge", "--weights", "w"]) == 0
        for rows, notes in ((table[103:], []), (table[100:].with_columns(none), ["3 rows of weight 0 left out"])):
            rows.write_csv("new.csv", **form)
            capsys.readouterr()
            assert run(["estimate", "t.tenfold", "new.csv", "--json"]) == 0
            found = json.loads(capsys.readouterr().out)
            assert found["notes"] == notes
            scores.append(found["scores"])
    assert all(one == scores[0] for one in scores)


@pytest.mark.parametrize("option", ["--keep", "--category"])
def test_a_column_of_groups_is_not_used_to_predict(option: str, capsys: Captured) -> None:
    pl.DataFrame(dict(x=rng().normal(size=60), g=np.arange(60) % 6, y=rng(1).normal(size=60))).write_csv("t.csv")
    assert run([*FIT, "--model", "Ridge", "--groups", "g", option, "g"]) == 2
    assert "this is the column of groups, which is not used to predict" in capsys.readouterr().err


def test_one_other_row_is_no_sign_of_unfairness() -> None:
    truth = rng().normal(size=200)
    frame = pl.DataFrame(dict(row=np.arange(200), fold=np.arange(200) % 5, truth=truth, prediction=np.zeros(200)))
    held = Unseen.of(frame)
    column = np.zeros(200)
    column[7] = 1.0
    told = by_column(column, np.array(["a", "b"]), held, truth**2)
    assert [one["differs"] for one in told["groups"]] == [False]


# --- nothing is lost ---------------------------------------------------------------------------------------------------


def test_a_run_without_a_result_leaves_the_finished_model(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    shrink(monkeypatch)
    x = rng().normal(size=150)
    pl.DataFrame(dict(x=x, y=x + 0.1 * rng(1).normal(size=150))).write_csv("t.csv")
    assert run(["select", "t.csv", "--target", "y", "--quiet"]) == 0
    before = Path("t.tenfold/model.tenfold").read_bytes()
    capsys.readouterr()
    assert run(["select", "t.csv", "--target", "y", "--time", "0.0001", "--replace"]) == 5
    assert "keeps its finished model" in capsys.readouterr().out
    assert Path("t.tenfold/model.tenfold").read_bytes() == before


def test_a_command_that_never_began_leaves_a_stopped_run(capsys: Captured) -> None:
    pl.DataFrame(dict(x=rng().normal(size=60), y=rng(1).normal(size=60))).write_csv("t.csv")
    Path("t.tenfold.race").write_bytes(b"eight hours of work")
    assert run(["select", "t.csv", "--target", "z"]) == 2
    assert run(["select", "t.csv", "--target", "y", "--positive", "yes"]) == 2
    assert run([*FIT, "--model", "GaussianNB"]) == 2
    assert Path("t.tenfold.race").read_bytes() == b"eight hours of work"


def test_whatever_becomes_of_the_report_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("tenfold.app.select_run.report_run", broken)
    record = dict(settings={}, data=dict(columns=2, rows=10), interrupted=False)
    assert report_into(Path("t.tenfold"), Path("t.csv"), record, 0.0) == ["no report was written: by zero"]


def test_what_drives_a_model_is_left_out_where_it_takes_longer_than_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    tables: list[Path | None] = []

    def endless(folder: Path, table: Path | None = None) -> None:
        tables.append(table)
        while table is not None:  # until a kernel is told that the time is over
            tenfold.Ridge().fit(rng().normal(size=(500, 20)), rng().normal(size=500))

    monkeypatch.setattr("tenfold.app.select_run.report_run", endless)
    record = dict(settings=dict(time=1.0), data=dict(columns=2, rows=10), interrupted=False)
    notes = report_into(Path("t.tenfold"), Path("t.csv"), record, time.perf_counter())
    assert tables == [Path("t.csv"), None] and "does not tell what drives the model" in notes[0]


# --- told in a sentence ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "more", "says"),
    [
        ([None] * 30, ["--task", "number"], "holds no"),
        (list(range(30)), ["--task", "number", "--category", "y"], "is named with --category"),
        (["inf"] * 30, ["--task", "number"], "'y'"),
    ],
)
def test_targets_that_are_no_numbers(y: list[Any], more: list[str], says: str, capsys: Captured) -> None:
    pl.DataFrame(dict(x=rng().normal(size=30), y=y), strict=False).write_csv("t.csv")
    assert run(["select", "t.csv", "--target", "y", *more]) in (2, 3)
    error = capsys.readouterr().err
    assert says in error and "fault" not in error and error.count("\n") == 1


def test_a_folder_without_a_name(capsys: Captured) -> None:
    Path("inside").mkdir()
    pl.DataFrame(dict(x=rng().normal(size=30), y=rng(1).normal(size=30))).write_csv("t.csv")
    assert run(["select", "t.csv", "--target", "y", "--out", "."]) == 3
    assert "--out" in capsys.readouterr().err


def test_one_new_row_is_compared_column_by_column(capsys: Captured) -> None:
    pl.DataFrame(dict(x=rng().normal(size=60), z=rng(2).normal(size=60), y=rng(1).normal(size=60))).write_csv("t.csv")
    assert run([*FIT, "--model", "Ridge"]) == 0
    pl.read_csv("t.csv")[:1].write_csv("new.csv")
    assert run(["watch", "t.tenfold", "new.csv", "--against", "t.csv"]) in (0, 1)
    assert "takes two different rows on either side" in capsys.readouterr().out


def test_quiet_tells_what_rows_kept_apart_say(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    shrink(monkeypatch)
    x = rng().normal(size=300)
    table = pl.DataFrame(dict(x=x, y=x + 0.1 * rng(1).normal(size=300)))
    table[:200].write_csv("t.csv")
    table[200:].write_csv("apart.csv")
    assert run(["select", "t.csv", "--target", "y", "--quiet", "--holdout", "apart.csv"]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1 and "apart.csv: rmse 0." in line and "promised" in line


def test_texts_that_say_nothing_are_told_as_such(capsys: Captured) -> None:
    random = rng()
    words = ["alpha", "beta", "gamma", "delta", "green", "house", "river", "stone"]
    remarks = [" ".join(random.choice(words, 6)) for _ in range(120)]
    x = random.normal(size=120)
    pl.DataFrame(dict(x=x, remark=remarks, y=np.where(x > 0, "a", "b"))).write_csv("t.csv")
    assert run([*FIT, "--model", "LogisticRegression"]) == 0
    assert open_run(Path("t.tenfold")).texts
    assert run(["explain", "t.tenfold", "t.csv", "--column", "remark"]) == 0
    assert "COLUMN   remark" in capsys.readouterr().out
    nothing = Effect("remark", "b", [], 0)
    assert _of_column(nothing, True)[-1] == "  No word of it says anything about the chance of b."


def test_costs_of_classes_that_are_numbers() -> None:
    random = rng()
    x = random.normal(size=150)
    pl.DataFrame(dict(x=x, y=np.select([x < -0.5, x < 0.5], [1, 2], 5))).write_csv("t.csv")
    Path("costs.csv").write_text(",1,2,5\n1,0,1,9\n2,1,0,1\n5,9,1,0\n")
    assert run([*FIT, "--model", "GaussianNB", "--cost", "costs.csv"]) == 0
    assert open_run(Path("t.tenfold")).costs == [[0, 1, 9], [1, 0, 1], [9, 1, 0]]
