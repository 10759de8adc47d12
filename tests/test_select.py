"""tenfold.select: reading, coding, the race, the choice, and whether the estimate is honest."""

from __future__ import annotations

import gzip
import json
import warnings
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadFile, BadInput, BadParameter, DataWarning
from tenfold.prepare.coder import TableCoder
from tenfold.selection import run
from tenfold.selection.coded import coder_for, levels_for
from tenfold.selection.model import store
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.race.race import Race
from tenfold.table.cells import as_numbers
from tenfold.table.columns import Asked, look_at_columns
from tenfold.table.copies import duplicate_groups
from tenfold.table.leaks import leak_suspects
from tenfold.table.reading import read_table
from tenfold.table.task import find_task
from tenfold.table.written_numbers import COMMAS, DOTS, writes_commas

PENGUINS = Path(tenfold.__file__).parent / "data" / "penguins.csv"


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race, with fewer trees."""
    shrink(monkeypatch, 10, (5, 20))


def kinds(frame: pl.DataFrame, typed: bool = False, **asked: list[str]) -> dict[str, str]:
    return {column.name: column.kind for column in look_at_columns(frame, typed, Asked(**asked))[0]}


def two_classes(n: int, seed: int, strength: float = 1.0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = rng.random(n) < 1 / (1 + np.exp(-strength * (X[:, 0] - X[:, 1] + 0.5 * X[:, 2])))
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(6)}), np.where(y, "yes", "no")


# --- reading and columns -------------------------------------------------------------------------------


def test_the_same_table_from_every_kind_of_file(tmp_path: Path) -> None:
    text = PENGUINS.read_text()
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "c.csv").write_text(text.replace(",", ";"))
    pl.read_csv(tmp_path / "a.csv").write_parquet(tmp_path / "d.parquet")
    matrices = []
    for name in ("a.csv", "b.csv.gz", "c.csv", "d.parquet"):
        raw = read_table(tmp_path / name)
        used = look_at_columns(raw.frame.drop("species"), raw.typed)[1]
        matrices.append(TableCoder().fit(used).transform(used))
    frame = pl.read_csv(tmp_path / "a.csv").to_pandas()
    used = look_at_columns(read_table(frame).frame.drop("species"), True)[1]
    matrices.append(TableCoder().fit(used).transform(used))
    for other in matrices[1:]:
        np.testing.assert_array_equal(matrices[0], other)


def test_columns_are_told_apart() -> None:
    n = 40
    frame = pl.DataFrame(
        {
            "number": [f" {i / 7} " for i in range(n)],
            "blanks": ["" if i % 4 == 0 else str(i * 3 % 17) for i in range(n)],
            "words": ["NA" if i % 9 == 0 else str(i % 7 + 0.5) for i in range(n)],
            "huge": ["1e400" if i == 3 else str(i * i) for i in range(n)],
            "category": ["NA" if i % 3 else "b" for i in range(n)],
            "id": [f"row-{i}" for i in range(n)],
            "counter": [str(i + 1) for i in range(n)],
            "constant": ["7"] * n,
            "empty": [" "] * n,
            "date": [f"2024-01-{i % 5 + 1:02}" for i in range(n)],
            "text": [f"a text {i if i < 30 else 0}" for i in range(n)],
            "sometimes": ["1" if i % 5 else "" for i in range(n)],
        }
    )
    found = kinds(frame)
    assert found == {
        "number": "number",
        "blanks": "number",
        "words": "number",
        "huge": "number",
        "category": "category",
        "id": "id",
        "counter": "row number",
        "constant": "constant",
        "empty": "empty",
        "date": "date",
        "text": "text",
        "sometimes": "category",
    }
    kept = kinds(frame, keep=["counter", "date", "text"], drop=["number"])
    assert (kept["counter"], kept["date"], kept["text"], kept["number"]) == (
        "number",
        "date",
        "category",
        "dropped",
    )
    with pytest.raises(BadParameter, match="did you mean 'category'"):
        Asked(drop=["categry"]).check(frame.columns)


def test_types_of_a_frame_are_respected() -> None:
    frame = pl.DataFrame(
        {
            "code": ["1", "2"] * 20,
            "price": ["1.5", "2.25"] * 20,
            "flag": [True, False] * 20,
            "whole": list(range(3, 83, 2)),
            "list": [[1]] * 40,
        }
    )
    assert kinds(frame, typed=True) == {
        "code": "category",
        "price": "number",
        "flag": "category",
        "whole": "number",
        "list": "nested",
    }
    assert kinds(frame.select("code"), typed=False) == {"code": "number"}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 10, "classes"),
        (["0", "1"] * 10, "classes"),
        (["1.5", "2.5"] * 10, "classes"),
        (["1", "2", "3", "4"] * 5, "classes"),
        ([str(i) for i in range(20)], "number"),
        ([str(i / 3) for i in range(20)], "number"),
        (["true", "false"] * 10, "classes"),
    ],
)
def test_task_from_the_target(values: list[str], kind: str) -> None:
    task = find_task(pl.Series("y", values))
    assert task.kind == kind
    assert len(task.y) == 20


def test_task_drops_rows_and_tells() -> None:
    task = find_task(pl.Series("y", ["a", "b", None, " ", "a"] * 6 + ["rare"]))
    assert len(task.y) == 18 and set(task.y) == {"a", "b"}
    assert any("12 rows without a value" in note for note in task.notes) and any(
        "'rare'" in note for note in task.notes
    )
    assert task.notes[-1] == "class 'b' has only 6 rows: what is said of it rests on few rows"
    several = find_task(pl.Series("y", ["a"] * 9 + ["b"] * 3 + ["c"] * 30 + ["d"] * 10))
    assert several.notes == ["2 classes have fewer than 10 rows ('a' 9, 'b' 3): what is said of them rests on few rows"]
    few = find_task(pl.Series("y", [1, 2, 3] * 10))
    assert not few.notes and "--task number" in str(few.why)
    assert find_task(pl.Series("y", [1, 2, 3] * 10), asked="number").kind == "number"
    with pytest.raises(BadInput, match="cannot be read as a number: it holds 'a'"):
        find_task(pl.Series("y", ["a", "b"] * 10), asked="number")


# --- coder ---------------------------------------------------------------------------------------------


def test_coder_by_hand() -> None:
    frame = pl.DataFrame({"x": [1.0, None, 3.0] + [4.0] * 9, "c": ["a"] * 6 + ["b"] * 5 + ["rare"]})
    coder = TableCoder().fit(frame)
    assert coder.names_out() == ["x", "c=b", "c=(other)"]  # two blanks only: no column of their own
    new = pl.DataFrame({"c": ["a", "b", "rare", "unseen", None], "x": [1.0, 2.0, None, 4.0, 5.0], "more": [0] * 5})
    np.testing.assert_array_equal(coder.transform(new), [[1, 0, 0], [2, 1, 0], [np.nan, 0, 1], [4, 0, 1], [5, 0, 1]])
    with pytest.raises(BadInput, match="no column 'x'"):
        coder.transform(new.drop("x"))


def test_coder_blanks_and_many_levels() -> None:
    n = 400
    frame = pl.DataFrame(
        {
            "x": [None if i % 4 == 0 else float(i) for i in range(n)],
            "same": [None if i % 4 == 0 else 1.0 + i for i in range(n)],
            "c": [None if i < 30 else "a" if i < 200 else "b" for i in range(n)],
            "many": [f"v{i % 80}" for i in range(n)],
        }
    )
    coder = TableCoder().fit(frame)
    names = coder.names_out()
    assert names[:3] == ["x", "x is missing", "same"]  # blanks in the same rows are told once
    assert "c=(missing)" in names and "c=b" not in names and "c=a" in names
    assert sum(name.startswith("many=") for name in names) == 50 and "many=(other)" in names
    X = coder.transform(frame)
    np.testing.assert_array_equal(X[:, 1], np.arange(n) % 4 == 0)


def test_levels_are_fewer_where_the_table_is_long() -> None:
    narrow = pl.DataFrame({"c": ["a"] * 1000})
    wide = pl.DataFrame({f"c{j}": ["a"] * 100_000 for j in range(60)})
    assert levels_for(narrow) == 50 and levels_for(wide) == 16


def test_columns_of_extreme_size_are_brought_near_one() -> None:
    frame = pl.DataFrame(
        {
            "huge": np.linspace(-1e300, 1e300, 30),
            "tiny": np.linspace(0, 1e-300, 30),
            "usual": np.linspace(0, 1e6, 30),
        }
    )
    X = TableCoder().fit(frame).transform(frame)
    assert np.abs(X).max(axis=0)[:2] == pytest.approx([1, 1], rel=0.5)
    np.testing.assert_array_equal(X[:, 2], frame["usual"].to_numpy())


def test_dates_are_days(tmp_path: Path) -> None:
    written = [f"{i % 28 + 1}.{i % 12 + 1}.{2000 + i % 20}" + (" 18:00:00" if i % 2 else "") for i in range(60)]
    frame = pl.DataFrame({"when": [*written[:-1], None], "day": pl.Series(range(60)).cast(pl.Int32).cast(pl.Date)})
    columns, used = look_at_columns(frame, typed=True)
    assert [(c.kind, c.form, c.note) for c in columns] == [("date", "%d.%m.%Y", None), ("date", "%Y-%m-%d", None)]
    assert used["when"][0] == (date(2000, 1, 1) - date(1970, 1, 1)).days
    assert used["when"][1] == (date(2001, 2, 2) - date(1970, 1, 1)).days + 0.75
    assert used["day"].to_list() == list(range(60))
    coder = coder_for(columns, used)
    np.testing.assert_array_equal(coder.transform(used), coder.transform(frame))
    new = pl.DataFrame({"when": ["1.2.2030", "2030", "never"], "day": ["1970-01-02", "31.12.1999", None]})
    want = [[(date(2030, 2, 1) - date(1970, 1, 1)).days, 1], [np.nan, np.nan], [np.nan, np.nan]]
    places = [coder.names_out().index(name) for name in ("when", "day")]  # beside them are columns of their cycles
    np.testing.assert_array_equal(coder.transform(new)[:, places], want)
    mixed = pl.DataFrame({"when": ["2020-01-01", "1.2.2020"] * 20})
    assert look_at_columns(mixed, typed=False)[0][0].note == "dates of mixed form, left out"
    assert look_at_columns(mixed, typed=False, asked=Asked(keep=["when"]))[0][0].kind == "category"
    each = pl.DataFrame({"when": [str(date(2020, 1, 1 + i)) for i in range(30)]})
    assert look_at_columns(each, typed=False, asked=Asked(keep=["when"]))[0][0].kind == "date"  # to be kept, and not to be texts
    rng = np.random.default_rng(0)
    days = rng.permutation(200)
    table = pl.DataFrame({"d": [str(date.fromordinal(730_000 + int(i))) for i in days]})
    found = tenfold.select(table, days + rng.normal(size=200), folds=3)
    found.save(tmp_path / "run")
    assert found.others["r2"].value > 0.99
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # dates are no cells that should be numbers
        np.testing.assert_array_equal(store.open_run(tmp_path / "run").predict(table), found.predict(table))


# --- checks before the race ----------------------------------------------------------------------------


def test_copies_stay_in_one_fold_unless_columns_are_coarse() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X = np.vstack([X, X[:20]])
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(3)})
    task = find_task(pl.Series("y", rng.normal(size=100)))
    groups, told = duplicate_groups(frame, task, 10)
    assert groups is not None and told == "20 duplicate rows kept in the same fold: the estimate is for rows that are no copies"
    fold = make_folds(task.codes, 10, 0, "regressor", groups).fold
    np.testing.assert_array_equal(fold[:20], fold[80:])
    few = find_task(pl.Series("y", rng.normal(size=81)))
    assert duplicate_groups(frame[:81], few, 10)[1] == "1 duplicate row kept in the same fold"
    coarse = pl.DataFrame({"a": rng.integers(0, 3, 100), "b": rng.integers(0, 3, 100)})
    groups, told = duplicate_groups(coarse, task, 10)
    assert groups is None and "coarse" in told


def test_every_class_is_left_when_two_folds_are_out() -> None:
    y = np.repeat([0, 1, 2], [40, 17, 3])
    for seed in range(20):
        fold = make_folds(y, 5, seed, "classifier", None).fold
        for i in range(5):
            for o in range(5):
                assert set(y[(fold != i) & (fold != o)]) == {0, 1, 2}


def test_leaks_are_seen_and_honest_columns_are_not() -> None:
    frame, y = two_classes(400, 0, strength=3.0)
    task = find_task(pl.Series("y", y))
    assert leak_suspects(frame, task) == []
    planted = frame.with_columns(
        number=pl.Series((y == "yes") + np.random.default_rng(1).normal(size=400) * 0.05),
        category=pl.Series(np.where(y == "yes", "after", "before")),
    )
    assert [name for name, _ in leak_suspects(planted, task)] == ["number", "category"]
    real = find_task(pl.Series("y", frame["x0"].to_numpy() * 3 + 1))
    assert [name for name, _ in leak_suspects(frame, real)] == ["x0"]


# --- runs ----------------------------------------------------------------------------------------------


def test_penguins_end_to_end(tmp_path: Path) -> None:
    found = tenfold.select(PENGUINS, "species", folds=3)
    titles = {row["family"] for row in found.leaderboard}
    assert titles >= {"boosted trees of 4 leaves", "extra trees"}
    assert found.signal and found.estimate.value < 0.15 and found.others["accuracy"].value > 0.95
    assert found.estimate.low <= found.estimate.value <= found.estimate.high
    assert {row["family"] for row in found.leaderboard} >= {
        "class frequencies",
        "logistic regression",
        "linear discriminant",
    }
    assert found.chosen in repr(found) and "95% range" in repr(found)
    found.save(tmp_path / "p.tenfold")
    again = store.open_run(tmp_path / "p.tenfold")
    np.testing.assert_array_equal(again.predict(PENGUINS), found.predict(PENGUINS))
    np.testing.assert_array_equal(again.predict_proba(PENGUINS), found.predict_proba(PENGUINS))
    assert (found.predict(PENGUINS) == pl.read_csv(PENGUINS)["species"].to_numpy()).mean() > 0.97
    record = json.loads((tmp_path / "p.tenfold" / "run.json").read_text())
    assert record["data"]["rows"] == 344 and record["settings"]["folds"] == 3 and len(record["folds_sha256"]) == 64
    inside = tenfold.inspect(tmp_path / "p.tenfold" / "model.tenfold")
    kept = any(word in one["model"] for one in found.record["members"] for word in ("kernels", "neighbours"))  # around training rows
    assert inside.kind == "TableModel" and inside.holds_training_rows == kept and not inside.resumable


def test_regression_and_weak_types() -> None:
    data = load_diabetes(as_frame=True, scaled=False)
    found = tenfold.select(data.frame, "target", folds=5)
    assert found.signal and 50 < found.estimate.value < 60 and 0.4 < found.others["r2"].value < 0.6
    flowers = load_iris(as_frame=True)
    by_name = tenfold.select(flowers.frame, "target", folds=3)
    by_values = tenfold.select(flowers.data, flowers.target, folds=3)
    assert by_name.estimate == by_values.estimate
    assert set(by_name.predict(flowers.data)) == {0, 1, 2}
    assert tenfold.select(flowers.frame, "target", folds=3, metric="accuracy").estimate.metric == "accuracy"
    assert tenfold.select(flowers.frame, "target", folds=3, task="number").estimate.metric == "rmse"


def test_same_seed_same_result() -> None:
    frame, y = two_classes(70, 5)
    first, second, other = (tenfold.select(frame, y, folds=4, seed=seed) for seed in (3, 3, 4))
    assert first.leaderboard[0]["score"] == second.leaderboard[0]["score"] and first.estimate == second.estimate
    assert first.record["folds_sha256"] == second.record["folds_sha256"] != other.record["folds_sha256"]


def test_rare_levels_and_rows_do_not_reach_the_file(tmp_path: Path) -> None:
    frame, y = two_classes(100, 1)
    names = ["common"] * 60 + ["usual"] * 36 + ["Ada Lovelace"] * 4
    frame = frame.with_columns(
        person=pl.Series(names), exact=pl.Series(np.random.default_rng(0).permutation(100) + 0.123456789)
    )
    tenfold.select(frame, y, folds=3).save(tmp_path / "run")
    for file in (tmp_path / "run").iterdir():
        content = file.read_bytes()
        for code in ("utf-8", "utf-32-le"):
            assert "Lovelace".encode(code) not in content
        assert np.float64(17.123456789).tobytes() not in content


def test_folders_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    frame, y = two_classes(40, 1)
    found = tenfold.select(frame, y, folds=3)
    found.save(tmp_path / "mine")
    found.save(tmp_path / "mine")  # ours: written anew
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    for folder in (tmp_path / "mine", tmp_path):
        with pytest.raises(BadFile, match="was not made by tenfold select"):
            found.save(folder)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    with pytest.raises(BadFile, match="no folder"):
        found.save(tmp_path / "absent" / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine"]


def test_a_failed_write_leaves_the_old_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = two_classes(40, 1)
    found = tenfold.select(frame, y, folds=3)
    found.save(tmp_path / "run")
    before = (tmp_path / "run" / "run.json").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write_text", full)
    with pytest.raises(BadFile, match="No space left"):
        found.save(tmp_path / "run")
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_new_rows_with_unknown_cells(tmp_path: Path) -> None:
    found = tenfold.select(PENGUINS, "species", folds=3)  # an ensemble: trees are among its members
    (tmp_path / "new.csv").write_text(
        "sex,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,year,note\n"
        "male,Atlantis,39.1,18.7,181,heavy,2007,x\n,,,,,,,\n"
    )
    with pytest.warns(DataWarning) as told:
        share = found.predict_proba(tmp_path / "new.csv")
    assert sorted(str(one.message) for one in told) == [
        "column 'body_mass_g': 1 cell such as 'heavy' is not a number, and counts as missing",
        "column 'island': 1 cell such as 'Atlantis' is new to the model, and counts as missing",
    ]
    np.testing.assert_allclose(share.sum(axis=1), 1.0, rtol=1e-12)
    with warnings.catch_warnings(), pytest.raises(BadParameter, match="no column 'bill_length_mm' in table, which"):
        found.predict(pl.DataFrame({"island": ["Dream"]}))


def test_numbers_as_people_write_them() -> None:
    def read(*cells: str | None, comma: bool = False) -> Any:
        found = as_numbers(pl.Series("x", cells), comma)
        return None if found is None else (found.values.to_list(), found.form)

    assert read("1,234", "-56", "7,654,321.5") == ([1234.0, -56.0, 7654321.5], COMMAS)
    assert read("$1,200", "€ 3.50", None, "n/a", "5") == ([1200.0, 3.5, None, None, 5.0], COMMAS)
    assert read("10%", "2.5 %") == ([10.0, 2.5], COMMAS) and read("10%", "0.1") is None
    assert read("1 234", "5'678") == ([1234.0, 5678.0], COMMAS)
    assert read("1.234,5", "-0,5", "12", comma=True) == ([1234.5, -0.5, 12.0], DOTS)
    assert read("87.454", "9.639", "950", comma=True) == ([87454.0, 9639.0, 950.0], DOTS)
    assert read("0.126", "9.639", comma=True) == ([0.126, 9.639], "")  # a point before decimals, whatever others do
    for cells in (
        ("1,23", "4,5"),
        ("1,234", "56,78"),
        ("12,34,567", "1"),
        ("1.2.3", "1"),
        ("$", "%"),
        ("5 kg", "7 kg"),
    ):
        assert read(*cells) is None, cells
    semicolons = {"a": ["0,5", "1,25"], "b": ["x", "y"]}
    assert writes_commas(pl.DataFrame(semicolons)) and not writes_commas(
        pl.DataFrame({"a": ["1,234", "5,678"], "b": ["1", "2"]})
    )


def test_a_european_file(tmp_path: Path) -> None:
    """The same table with points and with commas gives the same model; new rows are read as the training rows were."""
    rng = np.random.default_rng(0)
    x, price = rng.normal(size=80), rng.integers(500, 99_999, 80)
    rows = list(zip(x, price, 3 * x + price / 30_000 + rng.normal(size=80) / 9, strict=True))
    (tmp_path / "point.csv").write_text("x,price,y\n" + "".join(f"{a:.3f},{b},{c:.3f}\n" for a, b, c in rows))
    lines = [f"{a:.3f};{b:_};{c:.3f}\n".replace(".", ",").replace("_", ".") for a, b, c in rows]
    (tmp_path / "comma.csv").write_text("x;price;y\n" + "".join(lines))
    (tmp_path / "one.csv").write_text("x;price\n1;20.000\n")  # of itself it could be 20
    heard: list[Any] = []
    models = [tenfold.select(tmp_path / f"{name}.csv", "y", folds=3) for name in ("point", "comma")]
    assert models[0].chosen == models[1].chosen and models[0].estimate == models[1].estimate
    new = pl.DataFrame({"x": [1.0], "price": [20_000.0]})
    np.testing.assert_array_equal(models[1].predict(tmp_path / "one.csv"), models[0].predict(new))
    tenfold.select(tmp_path / "comma.csv", "y", folds=3, listen=lambda event, **facts: heard.append((event, facts)))
    facts = dict(heard)
    assert facts["task"]["notes"][0].startswith("'y': numbers such as ")
    assert all("numbers such as" in column["note"] for column in facts["columns"]["columns"])
    models[1].save(tmp_path / "run")
    np.testing.assert_array_equal(
        store.open_run(tmp_path / "run").predict(tmp_path / "one.csv"), models[0].predict(new)
    )
    (tmp_path / "odd.csv").write_text("x;price\n1.5;20.000\n")
    with pytest.warns(
        DataWarning, match=r"'x': 1 cell such as '1.5' is not a number as in training, and counts as missing"
    ):
        models[1].predict(tmp_path / "odd.csv")


def test_new_rows_with_unknown_dates_and_levels() -> None:
    """Trees take an unseen level for a blank; a date that cannot be read is told as well."""
    rng = np.random.default_rng(0)
    kind, day = rng.choice(["a", "b", "c"], 200), rng.integers(0, 300, 200)
    dates = [(date(2020, 1, 1) + timedelta(int(d))).isoformat() for d in day]
    frame = pl.DataFrame({"kind": kind, "day": dates, "y": (kind == "b") * (day > 150) + rng.normal(size=200) / 9})
    coder = coder_for(*look_at_columns(frame.drop("y"), False))
    model = TableModel.of(coder, tenfold.DecisionTreeRegressor().fit(coder.frame(frame), frame["y"].to_numpy()), "y")
    new = pl.DataFrame({"kind": ["b", "z", "z"], "day": ["2020-02-01", "soon", None]})
    with pytest.warns(DataWarning) as told:
        model.predict(new)
    assert sorted(str(one.message) for one in told) == [
        "column 'day': 1 cell such as 'soon' is not a date as in training, and counts as missing",
        "column 'kind': 2 cells such as 'z' are new to the model, and count as missing",
    ]


@pytest.mark.parametrize("stop", [0, 3, 12, 100])
def test_interruption_keeps_what_is_complete(stop: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Stopped before the first unit there is only the guess; within the first fold those that ran it count; later, complete folds."""
    work = Race._record

    def heard(self: Race, number: int, held: Any, unit: Any) -> None:
        if len(self.done) == stop:
            raise KeyboardInterrupt
        work(self, number, held, unit)

    monkeypatch.setattr(Race, "_record", heard)
    frame, y = two_classes(100, 2, strength=2.0)
    with pytest.raises(KeyboardInterrupt):
        tenfold.select(frame, y, folds=10)
    found = tenfold.select(frame, y, folds=10, finish_early=True)
    assert found.interrupted and len(found.predict(frame)) == 100
    assert (found.estimate is None) == (stop == 0) and (found.leaderboard == []) == (stop == 0)
    if stop:
        folds = len(set(found.held_out["fold"].to_list()))
        assert found.held_out.height == pytest.approx(10 * folds, abs=folds) and (folds == 1) == (stop < 100)
        assert "one fold" in found.estimate.method if folds == 1 else f"of {folds} folds" in found.estimate.method
    found.save(tmp_path / "stopped")


def test_interruption_inside_a_fit_ends_the_race() -> None:
    """Boosting keeps the trees it has, but a race must neither go on nor compare such a model with whole ones."""
    heard = []

    def stop(record: Any) -> None:
        if record.learner.startswith("HistGradientBoosting") and record.n_pass == 2:
            heard.append(record)
            raise KeyboardInterrupt

    frame, y = two_classes(100, 2, strength=2.0)
    with tenfold.threads(1), tenfold.monitor(stop):
        found = tenfold.select(frame, y, folds=3, finish_early=True)
    assert found.interrupted and len(heard) == 1


def test_select_is_the_function_whatever_was_imported() -> None:
    import importlib

    importlib.import_module("tenfold.selection.run")
    assert tenfold.select is run.select and callable(tenfold.select)
