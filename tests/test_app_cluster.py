"""`tenfold cluster`: what it finds, says and saves, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app.commands import run
from tenfold.cluster.describe import telling, traits
from tenfold.cluster.stability import stability

PENGUINS = Path(tenfold.__file__).parent / "data" / "penguins.csv"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def shops(n: int = 60, seed: int = 0) -> pl.DataFrame:
    """Two kinds of shops: small ones in towns, large ones in cities that open late."""
    rng = np.random.default_rng(seed)
    large = np.arange(2 * n) >= n
    return pl.DataFrame(
        dict(
            shop=[f"shop {i:04d}" for i in range(2 * n)],
            sales=(np.where(large, 52_000, 8_000) + 2000 * rng.normal(size=2 * n)).round(),
            staff=np.where(large, 40, 5) + rng.integers(0, 4, 2 * n),
            place=np.where(large, "city", np.where(rng.random(2 * n) < 0.5, "town", "city")),
            parking=[None if big or rng.random() < 0.1 else int(rng.integers(1, 9)) for big in large],
            opened=[f"{2015 if big else 1990}-{1 + i % 12:02d}-15" for i, big in enumerate(large)],
            profit=np.where(large, "yes", "no"),
        )
    )


def test_groups_are_found_described_saved_and_applied(capsys: pytest.CaptureFixture[str]) -> None:
    shops().write_csv("shops.csv")
    assert run(["cluster", "shops.csv", "--without", "profit"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"\n{word}") for word in ("READ ", "COLUMNS ", "GROUPS   2 ", "STABLE?  stable", "SAVED ", "NEXT ")]
    assert places == sorted(places)
    assert "shop   different in every row, left out" in out and "profit" not in out
    assert "60 rows (50 %)   found again 100 %" in out and "adjusted Rand index 1.00" in out
    for words in ("staff higher: 41", "others 6", "sales higher: 5", "opened later: 2015-", "parking is missing: 100 %"):
        assert words in out, words
    assert {path.name for path in Path("shops-clusters.tenfold").iterdir()} == {"model.tenfold", "run.json", "sketch.json", "report.html"}
    page = Path("shops-clusters.tenfold", "report.html").read_text()
    assert page.count("mid halo") == 2  # the number of each group, to be read among the dots
    assert "<h1>The groups of shops.csv</h1>" in page and "parking is missing: 100 %" in page and page.count("<svg") == 4
    shops(seed=1).drop("profit").with_columns(sales=pl.lit(50_000.0)).write_csv("new.csv")
    assert run(["predict", "shops-clusters.tenfold", "new.csv", "--out", "answers.csv"]) == 0
    said = pl.read_csv("answers.csv")
    assert said.columns == ["cluster"] and said["cluster"].n_unique() == 2
    first, second = said["cluster"][:60], said["cluster"][60:]
    assert first.n_unique() == second.n_unique() == 1 and first[0] != second[0]
    assert run(["inspect", "shops-clusters.tenfold"]) == 0
    assert "GROUPS   2 of 60, 60 rows of shops.csv" in capsys.readouterr().out


def test_the_saved_model_is_a_pipeline_and_groups_are_numbered_by_size() -> None:
    pl.concat([shops(), shops(seed=3)[:60]]).write_csv("shops.csv")
    assert run(["cluster", "shops.csv", "--columns", "sales,staff", "--quiet"]) == 0
    model = tenfold.load(Path("shops-clusters.tenfold", "model.tenfold"))
    counts = np.bincount(model.predict("shops.csv"))
    assert counts.tolist() == [120, 60]
    record = json.loads(Path("shops-clusters.tenfold", "run.json").read_text())
    assert record["columns"] == ["sales", "staff"] and [group["rows"] for group in record["groups"]] == [120, 60]


def test_rows_without_groups_end_with_one_and_leave_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    pl.DataFrame(rng.normal(size=(150, 2)), schema=["a", "b"]).write_csv("noise.csv")
    assert run(["cluster", "noise.csv"]) == 1
    out = capsys.readouterr().out
    assert "GROUPS   none" in out and "Nothing is saved" in out and not list(Path().glob("*.tenfold"))
    assert run(["cluster", "noise.csv", "--clusters", "3", "--out", "three"]) == 0
    out = capsys.readouterr().out
    assert "GROUPS   3, as asked" in out and "the rows themselves show no groups" in out and "stable: other rows" not in out
    assert run(["cluster", "noise.csv", "--quiet"]) == 1
    assert capsys.readouterr().out.startswith("no groups: ")


def test_more_groups_than_different_rows(capsys: pytest.CaptureFixture[str]) -> None:
    pl.DataFrame(dict(a=np.repeat([1.0, 5.0, 9.0], 40))).write_csv("copies.csv")
    assert run(["cluster", "copies.csv", "--clusters", "5"]) == 0
    said = capsys.readouterr()
    assert "GROUPS   5, as asked; only 3 have rows" in said.out and "the rows themselves show 3 groups" in said.out and not said.err
    assert run(["cluster", "copies.csv"]) == 0 and "there are 3 different rows" in capsys.readouterr().out


def test_names_cannot_steer_the_page_or_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    frame = shops(30).rename({"sales": "<script>alert(1)</script>", "staff": "a\x1b[31mb"})
    frame = frame.with_columns(place=pl.when(pl.col("place") == "town").then(pl.lit("<b>&")).otherwise(pl.col("place")))
    frame.write_csv("odd <&>.csv")
    assert run(["cluster", "odd <&>.csv", "--out", "odd", "--without", "profit"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = Path("odd", "report.html").read_text()
    assert "<script>alert" not in page and "<b>&" not in page and "&lt;script&gt;alert(1)" in page and "\x1b" not in page


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", str(PENGUINS), "--without", "species", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["clusters"] == found["recommended"] == len(found["groups"]) == 2 and found["agreement"] > 0.9
    assert found["groups"][0]["traits"][0]["words"].startswith("flipper_length_mm") and found["rules"]["silhouette"] == 2
    assert "species" not in found["columns"]


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["--clusters", "1"], 2, "at least 2"),
        (["--clusters", "500"], 2, "there are 120 rows"),
        (["--columns", "slaes"], 2, "did you mean 'sales'"),
        (["--without", "nothing"], 2, "there is no column 'nothing'"),
        (["--columns", "shop"], 3, "no column of shops.csv is left"),
        (["--columns", "sales", "--without", "sales"], 2, "no column is left"),
        (["--seed", "-1"], 2, "at least 0"),
        (["--out", "nowhere/at/all"], 3, "make it first"),
        (["--out", "shops.csv"], 3, "was not made by tenfold cluster"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(given: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    shops().write_csv("shops.csv")
    assert run(["cluster", "shops.csv", *given]) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err.startswith("tenfold: ") and words in err


def test_the_groups_of_another_table_stay_unless_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    shops(n=30).write_csv("shops.csv")
    shops(n=30, seed=1).write_csv("others.csv")
    for file, more, code in (("shops.csv", [], 0), ("shops.csv", [], 0), ("others.csv", [], 3), ("others.csv", ["--replace"], 0)):
        assert run(["cluster", file, "--columns", "sales", "--out", "kept", "--quiet", *more]) == code
    assert "the groups of another table" in capsys.readouterr().err
    assert run(["explain", "kept", "others.csv"]) == 3
    assert "kept holds no model that predicts a column: give a folder that tenfold select or" in capsys.readouterr().err


def test_ctrl_c_after_the_save_names_the_folder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shops(n=30).write_csv("shops.csv")

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tenfold.app.cluster.terminal_width", stop)
    assert run(["cluster", "shops.csv", "--columns", "sales", "--out", "kept"]) == 130
    assert capsys.readouterr().err == "tenfold: stopped; the model is saved in kept/\n" and Path("kept", "model.tenfold").exists()


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", "-h"]) == 0
    out = capsys.readouterr().out
    assert "Example:  tenfold cluster customers.csv --without churned" in out and "--clusters" in out
    assert run(["--help"]) == 0
    assert "what sets them apart" in capsys.readouterr().out


def test_traits_are_differences_in_standard_deviations() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0, 10.0, 12.0])
    frame = pl.DataFrame(dict(x=x, flat=np.ones(6), huge=x * 1e307, level=["a"] * 5 + ["b"])).with_columns(
        gone=pl.Series([None, None, None, None, 1.0, 2.0])
    )
    groups = np.array([0, 0, 0, 0, 1, 1])
    found: Any = {one.column: one for one in traits(frame, {}, groups, 2)[1]}
    assert found["x"].effect == pytest.approx((11 - 2.5) / x.std()) and (found["x"].inside, found["x"].outside) == pytest.approx((11, 2.5))
    assert found["huge"].effect == pytest.approx(found["x"].effect) and np.isfinite(found["huge"].inside)
    assert found["gone"].missing and str(found["gone"]) == "gone is missing: 0 %, others 100 %"
    assert "flat" not in found and found["level"].level != "b"  # one row is no level
    assert [one.column for one in telling(traits(frame, {}, groups, 2)[0], 2)] == ["gone", "x"]


def test_stability_tells_groups_from_chance() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 2))
    labels = np.arange(200) % 2
    firm = stability(noise + 30 * labels[:, None], labels, 2, 0)
    assert firm.agreement == 1 and (firm.again == 1).all() and str(firm).startswith("stable")
    loose = stability(noise, np.digitize(noise[:, 0], [-0.7, 0, 0.7]), 4, 0)
    assert loose.agreement < 0.8 and str(loose).startswith(("not", "mostly"))
