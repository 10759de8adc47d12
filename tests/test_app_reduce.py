"""`tenfold reduce`: what it finds, says and saves, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA

import tenfold
from tenfold.app.commands import run
from tenfold.app.reduce_methods import METHODS
from tenfold.app.reduce_number import spectrum_of
from tenfold.app.reduce_words import Axis, Tie, correlations, ties_of, warnings_of
from tenfold.draw.labels import apart

PENGUINS = Path(tenfold.__file__).parent / "data" / "penguins.csv"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def houses(n: int = 300, seed: int = 0) -> pl.DataFrame:
    """Two things that houses differ in: how large they are, and how far from the middle of the town."""
    rng = np.random.default_rng(seed)
    large, far = rng.normal(size=(2, n))
    return pl.DataFrame(
        dict(
            house=[f"H{i:04d}" for i in range(n)],
            area=(120 + 40 * large + 8 * rng.normal(size=n)).round(1),
            rooms=(5 + 1.5 * large + 0.4 * rng.normal(size=n)).round(2),
            heating=[None if rng.random() < 0.05 else round(90 + 30 * one + 9 * rng.normal(), 1) for one in large],
            distance=(9 + 3 * far + 0.8 * rng.normal(size=n)).round(2),
            noise=(50 - 9 * far + 2 * rng.normal(size=n)).round(1),
            garden=np.where(far + 0.4 * rng.normal(size=n) > 0, "yes", "no"),
            district=np.where(far < -0.6, "middle", np.where(far < 0.6, "ring", "edge")),
        )
    )


def test_axes_are_found_told_saved_and_new_rows_scored(capsys: pytest.CaptureFixture[str]) -> None:
    houses().write_csv("houses.csv")
    assert run(["reduce", "houses.csv", "--color", "district", "--out", "scores.csv"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"\n{word}") for word in ("READ ", "COLUMNS  6 used", "AXES     2 with ", "WRITTEN  scores.csv", "SAVED ", "NEXT ")]
    assert places == sorted(places)
    assert "house   different in every row, left out" in out and "district   colours the pictures, and is left out of the axes" in out
    assert "cells without a value" in out and "2 explain more than chance makes" in out
    assert "area (+0.9" in out and "go up together" in out and "goes the other way" in out and "(H0" in out
    folder = Path("houses-axes.tenfold")
    files = {"model.tenfold", "run.json", "sketch.json", "report.html", "scores.parquet"}
    assert {path.name for path in folder.iterdir()} == files
    page = (folder / "report.html").read_text()
    assert "<h1>The axes of houses.csv</h1>" in page and "coloured by district" in page and page.count("<svg") == 3
    scores = pl.read_csv("scores.csv")
    assert scores.columns == ["row", "house", "axis 1", "axis 2"] and scores["row"].to_list() == list(range(1, 301))
    np.testing.assert_array_equal(scores["axis 1"].to_numpy(), pl.read_parquet(folder / "scores.parquet")["axis 1"].to_numpy())

    houses(50, seed=1).write_csv("new.csv")
    assert run(["predict", str(folder), "new.csv", "--out", "predicted.parquet"]) == 0
    assert run(["reduce", str(folder), "--new", "new.csv", "--out", "new_scores.parquet"]) == 0
    out = capsys.readouterr().out
    assert "NEW      50 rows of new.csv   the axes explain 9" in out
    predicted, again = pl.read_parquet("predicted.parquet"), pl.read_parquet("new_scores.parquet")
    assert predicted.columns == ["axis 1", "axis 2"] and again["house"][0] == "H0000"
    np.testing.assert_array_equal(predicted.to_numpy(), again.select("axis 1", "axis 2").to_numpy())
    assert run(["inspect", str(folder)]) == 0
    assert "AXES     2 of 300 rows of houses.csv" in capsys.readouterr().out
    assert run(["reduce", "houses.csv", "--new", "new.csv", "--out", "other.csv", "--quiet"]) == 0
    assert pl.read_csv("other.csv").height == 50


def test_shares_and_scores_are_those_of_another_pca(capsys: pytest.CaptureFixture[str]) -> None:
    frame = houses().select("area", "rooms", "distance", "noise")
    frame.write_csv("numbers.csv")
    assert run(["reduce", "numbers.csv", "--components", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    Z = frame.to_numpy()
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    theirs = PCA(2).fit(Z)
    np.testing.assert_allclose([one["share"] for one in found["axes"]], theirs.explained_variance_ratio_, rtol=1e-9, atol=0)
    np.testing.assert_allclose(found["together"], theirs.explained_variance_ratio_.sum(), rtol=1e-9, atol=0)
    ours = pl.read_parquet("numbers-axes.tenfold/scores.parquet").select("axis 1", "axis 2").to_numpy()
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs.transform(Z)), rtol=1e-7, atol=1e-9)
    assert all(one["low"] < one["share"] < one["high"] for one in found["axes"]) and found["axes"][0]["again"] > 0.7


def test_how_many_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    houses().write_csv("houses.csv")
    for asked, axes in (("3", 3), ("parallel", 2)):
        assert run(["reduce", "houses.csv", "--components", asked, "--without", "district", "--quiet"]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{axes} axes with ") and out.count("\n") == 1 and "2 explain more than chance" in out
    for share in (0.5, 0.9, 0.99):
        assert run(["reduce", "houses.csv", "--components", str(share), "--without", "district", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        before = sum(found["shares"][: found["components"] - 1])
        assert before < share <= found["together"] and f"as many as explain {100 * share:g} %" in found["why"]


def test_columns_with_nothing_in_common_end_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    levels = np.array(list("abcdef"))[rng.integers(0, 6, 200)]  # whose columns of 0 and 1 exclude one another
    pl.DataFrame(dict(level=levels, x=rng.normal(size=200), y=rng.exponential(size=200))).write_csv("noise.csv")
    assert run(["reduce", "noise.csv"]) == 1
    out = capsys.readouterr().out
    assert "AXES     none: no axis explains more than chance" in out and "Nothing is saved" in out and not list(Path().glob("*.tenfold"))
    assert run(["reduce", "noise.csv", "--components", "2"]) == 0
    assert "as asked; no axis explains more than chance" in capsys.readouterr().out


def test_columns_that_are_there_twice_and_rows_of_a_large_axis_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    frame = houses()
    frame.select("area", (pl.col("area") * 10.764).alias("area_feet"), "rooms", "distance").write_csv("twice.csv")
    assert run(["reduce", "twice.csv"]) == 0
    assert "area and area_feet say the same" in capsys.readouterr().out


def test_gaps_dates_and_one_axis_on_penguins(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reduce", str(PENGUINS), "--color", "species", "--save", "here"]) == 0
    out = capsys.readouterr().out
    assert "19 cells without a value" in out and "flipper_length_mm (+0.96), body_mass_g (+0.91)" in out
    page = Path("here", "report.html").read_text()
    assert "axis 2, not taken" in page and "Gentoo" in page
    record = json.loads(Path("here", "run.json").read_text())
    assert record["components"] == 1 and record["missing"] == 19 and record["color"] == "species"
    assert run(["reduce", str(PENGUINS), "--color", "body_mass_g", "--columns", "body_mass_g,flipper_length_mm", "--save", "both"]) == 0
    assert "left out of the axes" not in capsys.readouterr().out  # who names it among the columns wants it among them
    assert 'class="key q0"' in Path("both", "report.html").read_text()


def test_names_cannot_steer_the_page_the_terminal_or_a_spreadsheet(capsys: pytest.CaptureFixture[str]) -> None:
    frame = houses().rename({"area": "<script>alert(1)</script>", "rooms": "a\x1b[31mb"})
    frame = frame.with_columns(house=pl.lit("=cmd()") + pl.col("house"), district=pl.lit("<b>&") + pl.col("district"))
    frame.write_csv("odd <&>.csv")
    assert run(["reduce", "odd <&>.csv", "--save", "odd", "--color", "district", "--out", "scores.csv"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = Path("odd", "report.html").read_text()
    assert "<script>alert" not in page and "<b>&" not in page and "&lt;script&gt;" in page and "\x1b" not in page
    assert "\n1,'=cmd()H0000," in Path("scores.csv").read_text()


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["houses.csv", "--components", "0"], 2, "at least 1"),
        (["houses.csv", "--components", "many"], 2, "a share between 0 and 1"),
        (["houses.csv", "--components", "1.5"], 2, "a share between 0 and 1"),
        (["houses.csv", "--components", "nan"], 2, "a share between 0 and 1"),
        (["houses.csv", "--components", "500"], 2, "have at most "),
        (["houses.csv", "--method", "magic"], 2, "--method magic: must be one of pca"),
        (["houses.csv", "--seed", "-1"], 2, "at least 0"),
        (["houses.csv", "--rows", "0"], 2, "at least 1"),
        (["houses.csv", "--color", "distrit"], 2, "did you mean 'district'"),
        (["houses.csv", "--columns", "aera"], 2, "did you mean 'area'"),
        (["houses.csv", "--columns", "area"], 3, "axes are made of at least two"),
        (["houses.csv", "--columns", "house"], 3, "no column of houses.csv is left"),
        (["houses.csv", "--out", "all.docx"], 2, "must end in"),
        (["houses.csv", "--out", "houses.csv"], 2, "is the table itself"),
        (["houses.csv", "--save", "nowhere/at/all"], 3, "make it first"),
        (["houses.csv", "--save", "houses.csv"], 3, "was not made by tenfold reduce"),
        (["few.csv"], 3, "at least 5 are needed"),
        (["empty"], 2, "--new FILE"),
        (["empty", "--new", "houses.csv"], 3, "was not made by tenfold reduce"),
        (["nothing.csv"], 3, "nothing.csv"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(given: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    houses(60).write_csv("houses.csv")
    houses(3).write_csv("few.csv")
    Path("empty").mkdir()
    assert run(["reduce", *given]) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err.startswith("tenfold: ") and words in err


def test_a_folder_of_another_table_stays_and_other_commands_refuse_it(capsys: pytest.CaptureFixture[str]) -> None:
    houses(60).write_csv("houses.csv")
    houses(60, seed=1).write_csv("others.csv")
    for file, more, code in (("houses.csv", [], 0), ("houses.csv", [], 0), ("others.csv", [], 3), ("others.csv", ["--replace"], 0)):
        assert run(["reduce", file, "--save", "kept", "--quiet", *more]) == code
    assert "holds the axes of another table" in capsys.readouterr().err
    for command in ("explain", "estimate", "watch"):
        assert run([command, "kept", "others.csv"]) == 3
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and "kept holds no model that predicts a column: give a folder that tenfold select or" in err
    with_others = pl.read_csv("others.csv")
    with_others.rename({with_others.columns[-1]: "zz"}).write_csv("new.csv")
    for command in (["reduce", "kept", "--new", "new.csv"], ["predict", "kept", "new.csv"]):
        assert run(command) == 2
        assert "in new.csv, which is needed: " in capsys.readouterr().err
    Path("kept", "model.tenfold").unlink()
    assert run(["predict", "kept", "others.csv"]) == 3
    assert "holds no model.tenfold: run tenfold reduce again" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        "--components 2", "--method pca", "--color district", "--columns area", "--without area", "--save here", "--rows 9", "--seed 0",
        "--replace",
    ],
)  # fmt: skip
def test_options_that_a_folder_cannot_heed_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    houses(60).write_csv("houses.csv")
    Path("kept").mkdir()  # refused before it is looked at
    assert run(["reduce", "kept", "--new", "houses.csv", *option.split()]) == 2
    assert f"{option.split()[0]} does nothing with a folder that is made already: leave it out, or run tenfold reduce on the table" in (
        capsys.readouterr().err
    )


def test_ctrl_c_after_the_save_names_the_folder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    houses(60).write_csv("houses.csv")

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tenfold.app.reduce.new_scores", stop)
    assert run(["reduce", "houses.csv", "--new", "houses.csv", "--quiet"]) == 130
    assert capsys.readouterr().err == "tenfold: stopped; the model is saved in houses-axes.tenfold/\n"


def test_ctrl_c_leaves_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    houses(60).write_csv("houses.csv")
    assert run(["reduce", "houses.csv", "--quiet"]) == 0
    before = Path("houses-axes.tenfold", "run.json").read_bytes()

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tenfold.app.reduce_run.axes_page", stop)
    assert run(["reduce", "houses.csv", "--seed", "1"]) == 130
    assert "stopped; nothing was written" in capsys.readouterr().err
    assert Path("houses-axes.tenfold", "run.json").read_bytes() == before and len(list(Path().iterdir())) == 2


@pytest.mark.parametrize("method", [name for name, way in METHODS.items() if way.map])
def test_maps(method: str, capsys: pytest.CaptureFixture[str]) -> None:
    houses(120).write_csv("houses.csv")
    assert run(["reduce", "houses.csv", "--method", method, "--color", "district"]) == 0
    out = capsys.readouterr().out
    assert "MAP      2 axes" in out and "read off it by the nearest rows: " in out and "AXES" not in out
    record = json.loads(Path("houses-axes.tenfold", "run.json").read_text())
    assert 0.2 < record["map"]["kept"] <= 1 and record["map"]["columns"]["area"] > 0.6
    assert "<h1>The map of houses.csv</h1>" in Path("houses-axes.tenfold", "report.html").read_text()
    code = run(["predict", "houses-axes.tenfold", "houses.csv", "--out", "scores.csv"])
    assert code == (0 if METHODS[method].new else 3)
    if code:
        assert "no place for new ones" in capsys.readouterr().err
        assert run(["reduce", "houses.csv", "--method", method, "--new", "houses.csv"]) == 2
    assert run(["reduce", "houses.csv", "--method", method, "--components", "0.9"]) == 2
    assert "for a map" in capsys.readouterr().err


# --- the parts ---


def test_chance_keeps_the_levels_of_a_column_together() -> None:
    rng = np.random.default_rng(0)
    levels = np.eye(4)[rng.integers(0, 4, 400)]
    Z = np.column_stack([levels, rng.normal(size=(400, 2))])
    assert spectrum_of(Z, [[0, 1, 2, 3], [4], [5]], 0).beyond == 0
    found = spectrum_of(Z + 2 * rng.normal(size=(400, 1)), [[0, 1, 2, 3], [4], [5]], 0)
    assert found.beyond == 1 and found.again is not None and found.again[0] > 0.9
    theirs = PCA().fit(Z).explained_variance_ratio_
    np.testing.assert_allclose(spectrum_of(Z, [[j] for j in range(6)], 0).shares, theirs, rtol=1e-9, atol=1e-12)


def test_ranges_hold_the_truth() -> None:
    """The share of the first axis of a known covariance, in nineteen tables of twenty."""
    covariance = np.diag([3.0, 1.0, 1.0, 0.5])
    held = 0
    for seed in range(40):
        Z = np.random.default_rng(seed).normal(size=(200, 4)) @ np.sqrt(covariance)
        found = spectrum_of(Z, [[j] for j in range(4)], seed)
        assert found.low is not None and found.high is not None
        held += bool(found.low[0] <= 3 / 5.5 <= found.high[0])
    assert held >= 34


def test_wide_rows_and_constant_columns() -> None:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 500)) + rng.normal(size=(30, 1)) * np.linspace(-1, 1, 500)
    found = spectrum_of(Z, [[j] for j in range(500)], 0)
    assert found.beyond == 1 and found.low is None and len(found.shares) == 30
    assert spectrum_of(np.zeros((20, 3)), [[0], [1], [2]], 0).beyond == 0


def test_axes_in_words() -> None:
    ties = [Tie("a", "a", 0.9), Tie("b", "b", -0.8), Tie("c", "c = x", 0.7), Tie("d", "d", 0.1)]
    axis = Axis(1, 0.4, None, None, None, ties, [], [])
    assert axis.words == "a (+0.90) and c = x (+0.70) go up together; b (−0.80) goes the other way"
    alone = Axis(2, 0.2, None, None, 0.5, [Tie("a", "a", 0.97), Tie("b", "b", 0.1)], [], [])
    assert alone.words == "a (+0.97) almost alone: no other column goes with it" and alone.firm == "other rows would give another axis"
    many = Axis(3, 0.2, None, None, 0.95, [Tie(f"t{i}", f"t{i}", -0.9) for i in range(9)], [], [])
    assert many.words.endswith("t5 (−0.90) and 3 more go down together") and many.firm is None


def test_correlations_warnings_and_huge_numbers() -> None:
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(size=(50, 2)), np.ones(50)])
    r = correlations(Z, Z[:, :1])
    np.testing.assert_allclose(r[:2, 0], np.corrcoef(Z[:, :2].T)[0], rtol=1e-12, atol=0)
    assert r[2, 0] == 0
    assert ties_of(np.array([0.1, -0.5, 0.2]), ["a", "b=x", "b=y"], {"a": [0], "b": [1, 2]})[0] == Tie("b", "b = x", -0.5)
    wide = np.column_stack([Z[:, 0], Z[:, 1], *(2 * rng.normal(size=(5, 50)))])
    assert "date makes" in warnings_of(wide, ["a", "b", *"vwxyz"], {"a": [0], "b": [1], "date": [2, 3, 4, 5, 6]})[0]


def test_labels_do_not_cover_one_another() -> None:
    rng = np.random.default_rng(0)
    x, y, width = rng.normal(size=12), rng.normal(size=12), np.full(12, 1.5)
    found = apart(x, y, width, 0.3)
    near = np.abs(np.subtract.outer(x, x)) < 1.5
    gaps = np.abs(np.subtract.outer(found, found))[near & ~np.eye(12, dtype=bool)]
    assert gaps.min() >= 0.3 - 1e-9 and np.array_equal(apart(np.arange(3.0) * 9, y[:3], np.ones(3), 0.3), y[:3])


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reduce", "-h"]) == 0
    out = capsys.readouterr().out
    assert "Example:  tenfold reduce houses.csv --color district" in out and "--method" in out and "principal components" in out
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert "axes along which rows differ" in out and max(map(len, out.splitlines())) <= 80
