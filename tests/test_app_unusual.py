"""`tenfold unusual`: what it finds, says and saves, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app.commands import run
from tenfold.app.unusual_density import exchanged

PENGUINS = Path(tenfold.__file__).parent / "data" / "penguins.csv"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def parcels(n: int = 300, seed: int = 0) -> pl.DataFrame:
    """Parcels: weight goes with volume, and the price with both and with the service; some gaps."""
    rng = np.random.default_rng(seed)
    volume = rng.normal(5, 1, n)
    express = rng.random(n) < 0.3
    weight = 1.5 * volume + rng.normal(0, 0.3, n)
    return pl.DataFrame(
        dict(
            parcel=[f"P{i:05d}" for i in range(n)],
            volume=volume.round(3),
            weight=weight.round(3),
            service=np.where(express, "express", "plain"),
            price=(4 + weight + 10 * express + rng.normal(0, 0.3, n)).round(2),
            insured=[None if rng.random() < 0.1 else round(float(one), 2) for one in rng.normal(50, 5, n)],
            sent=[f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(n)],
        )
    )


def spoiled(frame: pl.DataFrame) -> pl.DataFrame:
    """With a weight, a price and a date that do not go with the rest."""
    weight, price, sent = frame["weight"].to_list(), frame["price"].to_list(), frame["sent"].to_list()
    weight[10], price[20], sent[30] = 40.0, 0.5, "1954-05-05"
    return frame.with_columns(weight=pl.Series(weight), price=pl.Series(price), sent=pl.Series(sent))


def test_rows_are_found_explained_saved_and_new_ones_judged(capsys: pytest.CaptureFixture[str]) -> None:
    spoiled(parcels()).write_csv("parcels.csv")
    assert run(["unusual", "parcels.csv", "--out", "all.csv"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"\n{word}") for word in ("READ ", "COLUMNS  6 used", "SCORE ", "UNUSUAL ", "WRITTEN  all.csv", "SAVED ", "NEXT ")]
    assert places == sorted(places)
    assert "of 300 rows at a rate of 0.01; about 3 would be flagged in a table without anything unusual" in out
    assert "parcel   different in every row, left out" in out
    for words in ("row 11 (P00010)", "weight 40 where ", "price 0.5 where ", "sent 1954-05-05 where 2024-", "expected given the others"):
        assert words in out, words
    table = pl.read_csv("all.csv")
    assert table.columns == ["row", "p_value", "unusual", "why"] and table["row"].to_list() == list(range(1, 301))
    assert set(table.sort("p_value")["row"][:3]) == {11, 21, 31} and 3 <= table["unusual"].sum() <= 9
    assert str(table["why"][10]).startswith("because weight 40")
    folder = Path("parcels-unusual.tenfold")
    assert {path.name for path in folder.iterdir()} == {"model.tenfold", "run.json", "sketch.json", "report.html"}
    page = (folder / "report.html").read_text()
    assert "<h1>The unusual rows of parcels.csv</h1>" in page and "weight 40 where" in page and page.count("<svg") == 2

    spoiled(parcels(200, seed=1)).write_csv("new.csv")
    assert run(["unusual", str(folder), "--new", "new.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["number"] for one in found["most_unusual"][:3]} == {11, 21, 31} and found["rows"] == 200 and found["folder"] is None
    assert found["most_unusual"][0]["reasons"][0]["column"] in ("weight", "price", "sent") and found["unusual"] <= 9
    assert run(["predict", str(folder), "new.csv", "--out", "p.parquet"]) == 0
    p = pl.read_parquet("p.parquet")
    assert p.columns == ["p_value"] and p["p_value"].arg_sort()[:3].sort().to_list() == [10, 20, 30]
    assert run(["inspect", str(folder)]) == 0
    assert "rows of parcels.csv at the rate 0.01" in capsys.readouterr().out
    model = tenfold.load(folder / "model.tenfold")
    assert model.predict("new.csv")[[10, 20, 30]].tolist() == [-1, -1, -1]


def test_famous_penguins(capsys: pytest.CaptureFixture[str]) -> None:
    """A female Chinstrap with a bill of 58 mm."""
    assert run(["unusual", str(PENGUINS), "--json", "--save", "here"]) == 0
    found = json.loads(capsys.readouterr().out)
    odd = {one["number"]: [reason["column"] for reason in one["reasons"]] for one in found["most_unusual"]}
    assert odd[294][0] == "bill_length_mm" and found["tried"][found["score"]] > 0.6
    assert found["expected"] == pytest.approx(3.44) and found["unusual"] <= 14  # eleven have no sex


def test_levels_that_only_unusual_rows_have_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """The second fit is without them, and must not take them for gaps."""
    frame = parcels(200)
    service = frame["service"].to_list()
    service[:3], service[50:52] = ["drone"] * 3, ["ship"] * 2
    heavy = pl.when(pl.Series(service) == "drone").then(30.0).otherwise(pl.col("weight"))
    frame.with_columns(service=pl.Series(service), weight=heavy).write_csv("p.csv")
    assert run(["unusual", "p.csv", "--quiet"]) == 0
    assert not capsys.readouterr().err


def test_new_rows_are_judged_by_another_table_and_one_line_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    parcels().write_csv("parcels.csv")
    parcels(100, seed=2).write_csv("new.csv")
    assert run(["unusual", "parcels.csv", "--new", "new.csv", "--quiet", "--rate", "0.05", "--columns", "volume,weight"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1 and " of 100 rows at a rate of 0.05; about 5 would be flagged" in out
    assert json.loads(Path("parcels-unusual.tenfold", "run.json").read_text())["columns"] == ["volume", "weight"]


def test_names_cannot_steer_the_page_or_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    frame = spoiled(parcels()).rename({"weight": "<script>alert(1)</script>", "price": "a\x1b[31mb"})
    frame.write_csv("odd <&>.csv")
    assert run(["unusual", "odd <&>.csv", "--save", "odd"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = Path("odd", "report.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page and "\x1b" not in page


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["parcels.csv", "--rate", "0"], 2, "above 0 and at most 0.5"),
        (["parcels.csv", "--rate", "0.7"], 2, "above 0 and at most 0.5"),
        (["parcels.csv", "--top", "0"], 2, "at least 1"),
        (["parcels.csv", "--seed", "-1"], 2, "at least 0"),
        (["parcels.csv", "--columns", "wieght"], 2, "did you mean 'weight'"),
        (["parcels.csv", "--columns", "parcel"], 3, "no column of parcels.csv is left"),
        (["parcels.csv", "--columns", "weight", "--without", "weight"], 2, "no column is left"),
        (["parcels.csv", "--out", "all.docx"], 2, "must end in"),
        (["parcels.csv", "--out", "parcels.csv"], 2, "is the table itself"),
        (["parcels.csv", "--save", "nowhere/at/all"], 3, "make it first"),
        (["parcels.csv", "--save", "parcels.csv"], 3, "was not made by tenfold unusual"),
        (["few.csv"], 3, "at least 60 are needed"),
        (["same.csv"], 3, "left to judge rows by"),
        (["empty"], 2, "--new FILE"),
        (["empty", "--new", "parcels.csv"], 3, "was not made by tenfold unusual"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(given: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    parcels(100).write_csv("parcels.csv")
    parcels(20).write_csv("few.csv")
    pl.DataFrame(dict(a=np.ones(100))).write_csv("same.csv")
    Path("empty").mkdir()
    assert run(["unusual", *given]) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err.startswith("tenfold: ") and words in err


def test_a_folder_of_another_table_stays_and_other_commands_refuse_it(capsys: pytest.CaptureFixture[str]) -> None:
    parcels(100).write_csv("parcels.csv")
    parcels(100, seed=1).write_csv("others.csv")
    for file, more, code in (("parcels.csv", [], 0), ("parcels.csv", [], 0), ("others.csv", [], 3), ("others.csv", ["--replace"], 0)):
        assert run(["unusual", file, "--columns", "volume,weight", "--save", "kept", "--quiet", *more]) == code
    assert "was made from another table" in capsys.readouterr().err
    for command in ("explain", "estimate", "watch"):
        assert run([command, "kept", "others.csv"]) == 3
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and "kept holds no model that predicts a column: give a folder that tenfold select or" in err
    pl.read_csv("others.csv").rename({"volume": "VOLUME", "weight": "mass"}).write_csv("new.csv")
    for command in (["unusual", "kept", "--new", "new.csv"], ["predict", "kept", "new.csv"]):
        assert run(command) == 2
        assert "there is no column 'weight' in new.csv, which is needed: the columns are " in capsys.readouterr().err
    Path("kept", "run.json").write_text('{"made_by": "tenfold unusual", "choices": 3}')
    assert run(["unusual", "kept", "--new", "others.csv"]) == 3
    assert "is not as tenfold unusual wrote it" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", ["--rate 0.01", "--columns weight", "--without weight", "--rows 50", "--save here", "--replace", "--seed 0"]
)
def test_options_that_a_folder_cannot_heed_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    parcels(100).write_csv("parcels.csv")
    Path("kept").mkdir()  # refused before it is looked at
    assert run(["unusual", "kept", "--new", "parcels.csv", "--top", "3", *option.split()]) == 2
    assert capsys.readouterr().err == (
        f"tenfold: {option.split()[0]} does nothing with a folder that is made already: leave it out, or run tenfold unusual on the "
        "table again with it\n"
    )


def test_the_seed_of_a_folder_is_told_and_ctrl_c_after_the_save_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parcels(100).write_csv("parcels.csv")
    given = ["--columns", "volume,weight", "--seed", "7", "--save", "kept"]
    assert run(["unusual", "parcels.csv", *given, "--quiet"]) == 0
    assert run(["unusual", "kept", "--new", "parcels.csv"]) == 0
    assert "seed 7\n" in capsys.readouterr().out

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tenfold.app.unusual.judge_file", stop)
    assert run(["unusual", "parcels.csv", *given, "--new", "parcels.csv"]) == 130
    assert capsys.readouterr().err == "tenfold: stopped; the model is saved in kept/\n"
    assert run(["unusual", "kept", "--new", "parcels.csv"]) == 130
    assert capsys.readouterr().err == "tenfold: stopped; nothing was written\n"


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parcels(100).write_csv("parcels.csv")
    Path("readonly").mkdir()
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "readonly")
    for command, option in (("unusual", "--save"), ("reduce", "--save"), ("cluster", "--out")):
        monkeypatch.setattr(f"tenfold.app.{command}_run.read_sample", None)
        assert run([command, "parcels.csv", option, "readonly/kept"]) == 3
        assert capsys.readouterr().err == f"tenfold: the folder readonly cannot be written: choose another one with {option}\n"


def test_exchanged_cells_are_those_of_other_rows() -> None:
    rows = np.arange(30.0).reshape(10, 3)
    found = exchanged(rows, [np.array([0]), np.array([1, 2])], np.random.default_rng(0))
    assert (found[:, 1] + 1 == found[:, 2]).all() and set(found[:, 0]) <= set(rows[:, 0])
    assert ((found != rows).any(axis=1)).sum() >= 7


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["unusual", "-h"]) == 0
    out = capsys.readouterr().out
    assert "Example:  tenfold unusual customers.csv --out p_values.csv" in out and "--rate" in out
    assert run(["--help"]) == 0
    assert "unlike the others" in capsys.readouterr().out
