"""Cells of a table that are not what their column holds: missing values in words, remarks, headers that are not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput, BadParameter, DataWarning
from tenfold.table.cells import as_texts
from tenfold.table.columns import Asked, Column, look_at_columns
from tenfold.table.missing_words import MISSING, MISSING_IN_NUMBERS
from tenfold.table.reading import cut_after_word, first_line, read_table
from tenfold.table.surroundings import looks_like_header
from tenfold.table.task import find_task

N = 120


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 10, (5, 20))


def looked(cells: list[str | None], **asked: list[str]) -> Column:
    return look_at_columns(pl.DataFrame({"x": cells}), False, Asked(**asked))[0][0]


def written(n: int = N, seed: int = 0) -> list[str | None]:
    return [f"{value:.3f}" for value in np.random.default_rng(seed).normal(size=n)]


def linear(folder: Path, odd: dict[int, str], n: int = N) -> Path:
    """A table whose x explains y, with other texts in some cells of x."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 3 * x + 0.1 * rng.normal(size=n)
    cells = [odd.get(i, f"{value:.6f}") for i, value in enumerate(x)]
    file = folder / "t.csv"
    file.write_text(
        "x,z,y\n" + "".join(f"{c},{i % 7},{v:.6f}\n" for i, (c, v) in enumerate(zip(cells, y, strict=True)))
    )
    return file


@pytest.mark.parametrize("word", ["#N/A", "#DIV/0!", "unknown", "<0.01", "inf", "-Infinity", "1e400", "see remark"])
def test_a_few_odd_cells_leave_a_column_of_numbers(word: str) -> None:
    cells = written()
    cells[16] = cells[40] = word
    column = looked(cells)
    assert (column.kind, column.undo) == ("number", "drop")
    assert column.note == f"2 cells such as {word!r} in row 17 read as missing"
    assert looked(cells, keep=["x"]).kind == "number"


def test_more_than_a_few_odd_cells_are_texts() -> None:
    numbers = written()
    assert looked(numbers[:100] + ["remark"] * 20).kind == "text"
    assert looked(numbers[:70] + ["n/a"] * 50).kind == "number" and looked(numbers[:50] + ["n/a"] * 70).kind != "number"
    assert looked(numbers[:70] + ["< 0.5"] * 50).kind == "number"  # below the limit of detection


def test_whole_numbers_beside_texts_may_be_codes() -> None:
    """1, 2, 3 and "other" are four categories; 1, 2, 3 and "NA" are numbers."""
    codes: list[str | None] = [str(i % 3) for i in range(N)]
    assert looked([*codes[:-6], *["other"] * 6]).kind == "category"
    assert looked([*codes[:-6], *[">2"] * 6]).kind == "category"
    assert looked([*codes[:-6], *["NA"] * 6]) == Column(
        "x", "number", "6 cells such as 'NA' in row 115 read as missing", "category"
    )
    assert looked([*codes[:-6], *["NA"] * 6], category=["x"]).kind == "category"


def test_marks_between_thousands_are_not_odd() -> None:
    """A form that reads every cell is taken before one that leaves a few of them out."""
    column, used = look_at_columns(pl.DataFrame({"x": [*map(str, range(100, 195)), *["1,234"] * 5]}), False)
    assert column[0].form == "1,234.5" and used["x"].null_count() == 0


def test_dates_with_a_few_odd_cells() -> None:
    days = [f"2024-01-{i % 28 + 1:02}" for i in range(N)]
    column = looked(["n/a", "soon", *days[2:]])
    assert (column.kind, column.form, column.undo) == ("date", "%Y-%m-%d", "category")
    assert column.note == "2 cells such as 'n/a' in row 1 read as missing"


def test_rows_are_numbered_as_in_the_file() -> None:
    cells = written()
    cells[16] = "#N/A"
    rows = np.arange(5, N)
    note = look_at_columns(pl.DataFrame({"x": cells[5:]}), False, rows=rows)[0][0].note
    assert note == "1 cell such as '#N/A' in row 17 read as missing"


def test_the_words_are_one_set() -> None:
    assert set(MISSING) < set(MISSING_IN_NUMBERS)
    assert all(word == word.lower().strip() for word in MISSING_IN_NUMBERS)


def test_the_model_reads_odd_cells_of_new_rows_as_missing(tmp_path: Path) -> None:
    found = tenfold.select(linear(tmp_path, {3: "#N/A", 9: "<0.01"}), "y", folds=3)
    assert found.estimate is not None and found.estimate.value < 1.0  # without x the error is 3
    (tmp_path / "new.csv").write_text("x,z\n1.0,1\n#DIV/0!,1\n?,1\n")
    new = found.predict(tmp_path / "new.csv")
    assert new[1] == new[2] and abs(new[0] - 3) < 1.0


def test_a_column_that_is_there_or_not(tmp_path: Path) -> None:
    """A number that is always the same where it is not missing: the saved model knows it in texts, in numbers and in floats."""
    rng = np.random.default_rng(0)
    there = rng.random(200) < 0.5
    lines = [f"{'1' if t else ''},{rng.normal():.3f},{3 * t + rng.normal():.3f}\n" for t in there]
    (tmp_path / "t.csv").write_text("s,x,y\n" + "".join(lines))
    found = tenfold.select(tmp_path / "t.csv", "y", folds=3)
    for rows in (
        pl.DataFrame({"s": ["1", None], "x": ["0", "0"]}),
        pl.DataFrame({"s": [1, None], "x": [0, 0]}),
        pl.DataFrame({"s": [1.0, None], "x": [0, 0]}),
    ):
        present, absent = found.predict(rows)
        assert abs(present - 3) < 1 and abs(absent) < 1


def test_numbers_that_are_categories_are_known_in_every_spelling(tmp_path: Path) -> None:
    """A level 5 is 5 in a column of whole numbers, of floats and of texts, whichever the model was fitted to."""
    rng = np.random.default_rng(0)
    z, x = rng.integers(1, 5, 120), rng.normal(size=120)
    y = np.array([0.0, 3.0, -2.0, 5.0, -4.0])[z] + 0.1 * rng.normal(size=120)
    whole = pl.DataFrame({"z": z, "x": x})
    spellings = [
        whole,
        *(whole.with_columns(pl.col("z").cast(pl.Float64).cast(kind)) for kind in (pl.Float64, pl.String)),
    ]
    for table in spellings:
        model = tenfold.select(table, y, folds=3, category=["z"])
        for other in spellings:
            np.testing.assert_allclose(model.predict(other), model.predict(table), rtol=1e-12)


def test_whole_floats_are_written_as_whole_numbers() -> None:
    assert as_texts(pl.Series([3.0, 2.5, None, float("nan"), float("inf"), 1e300])).to_list() == [
        "3", "2.5", None, None, None, "1e+300",
    ]  # fmt: skip


# --- the target ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NA", "?", "#N/A", "null"])
def test_a_missing_class_is_no_class(word: str) -> None:
    cells = ["yes", "no", "yes", word] * 10
    task = find_task(pl.Series("y", cells))
    assert set(task.y) == {"no", "yes"} and len(task.y) == 30
    assert f"10 rows without a value of 'y' left out (such as {word!r} in row 4, read as missing" in task.notes[0]
    assert "--category y" in task.notes[0]
    assert set(find_task(pl.Series("y", cells), as_written=True).y) == {"no", "yes", word}


@pytest.mark.parametrize(
    "cells", [["2020-01-02", "2020-01-03", "2021-05-06"], ["3 May 2021", "4 June 2022"], ["01/02/2020 10:00", "05/03/2020 11:30"]]
)
def test_dates_are_no_classes_unless_they_are_called_so(cells: list[str]) -> None:
    target = pl.Series("y", cells * 10)
    with pytest.raises(BadInput, match=r"'y' holds dates such as .*: give a number, such as days since one of them, or --category y"):
        find_task(target)
    assert set(find_task(target, as_written=True).y) == set(find_task(target, asked="classification").y) == set(cells)


def test_too_few_rows_are_left_where_classes_are_left_out() -> None:
    cells = ["a", "b", "c"] * 3 + [f"level {one}" for one in range(200)]
    with pytest.raises(BadInput, match="'y' has 203 classes in 209 rows, and only 9 rows have one that occurs 3 times: at least 10"):
        find_task(pl.Series("y", cells))


def test_words_that_may_be_classes_are() -> None:
    assert set(find_task(pl.Series("y", ["+", "-", "none"] * 10)).y) == {"+", "-", "none"}
    assert set(find_task(pl.Series("y", ["NA", "?"] * 10)).y) == {"NA", "?"}  # nothing else is left


def test_odd_cells_in_a_target_of_numbers() -> None:
    cells = written()
    cells[7] = "#DIV/0!"
    task = find_task(pl.Series("y", cells))
    assert task.kind == "number" and len(task.y) == N - 1
    assert task.notes == ["1 row without a value of 'y' left out (such as '#DIV/0!' in row 8, read as missing)"]


@pytest.mark.parametrize(
    ("asked", "kind"), [("regression", "number"), ("Classification", "classes"), ("classes", "classes")]
)
def test_tasks_by_the_names_that_others_use(asked: str, kind: str) -> None:
    assert find_task(pl.Series("y", [1, 2, 3] * 10), asked=asked).kind == kind
    with pytest.raises(BadParameter, match="task='ranking': must be 'classes' or 'number'"):
        find_task(pl.Series("y", [1, 2, 3] * 10), asked="ranking")


# --- what the user asks for ----------------------------------------------------------------------------


def test_a_column_asked_for_in_two_ways() -> None:
    with pytest.raises(BadParameter, match="keep='x': this column is also to be dropped"):
        Asked(keep=["x"], drop=["x"]).check(["x", "y"], "y")
    with pytest.raises(BadParameter, match="drop='y': this is the column to predict"):
        Asked(drop=["y"]).check(["x", "y"], "y")
    with pytest.raises(BadParameter, match="drop='x': must be a list"):
        tenfold.select(pl.DataFrame({"x": [1.0], "y": [1.0]}), "y", drop="x")


def test_keep_is_suggested_only_where_it_works() -> None:
    names: list[str | None] = [f"k{i}" for i in range(N)]
    assert looked(names).undo is None and looked(names, keep=["x"]).kind == "text"
    often: list[str | None] = [*names[: N - 10], *["k0"] * 10]
    assert looked(often).undo == "keep" and looked(often, keep=["x"]).kind == "category"


# --- new rows that cannot be read ------------------------------------------------------------------------


def test_numbers_that_cannot_be_read_in_any_row_are_refused(tmp_path: Path) -> None:
    found = tenfold.select(linear(tmp_path, {}), "y", folds=3)
    (tmp_path / "new.csv").write_text("x;z\n" + "0,5;1\n1,5;2\n")
    with pytest.raises(BadInput, match=r"no row can be read in the column 'x': '0,5' in 'x' is not a number"):
        found.predict(tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("x,z\nheavy,many\n")
    with pytest.raises(BadInput, match=r"in the columns 'x', 'z': 'heavy' in 'x'"):
        found.predict(tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("x,z\n0.5,many\n")  # one cell of one row
    with pytest.warns(DataWarning, match="'many' is not a number, and counts as missing"):
        found.predict(tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("x,z\n?,\nNA,\n")  # missing, and said to be
    assert len(found.predict(tmp_path / "new.csv")) == 2


# --- a file without a header -------------------------------------------------------------------------


def headed(*lines: str) -> bool | None:
    rows = [line.split(",") for line in lines]
    names = [f"{name}_duplicated_{i}" if name in rows[0][:i] else name for i, name in enumerate(rows[0])]
    return looks_like_header(pl.DataFrame(dict(zip(names, map(list, zip(*rows[1:], strict=True)), strict=True))))


def test_headers_are_told_from_data() -> None:
    assert headed("a,b", "1,2", "3,4") is True
    assert headed("5.1,3.5,setosa", "4.9,3.0,setosa", "6.1,2.9,virginica") is False
    assert headed("6,148,72,35,6", "1,85,66,29,0", "8,183,64,0,1") is False
    assert headed("1,1,1", "2,3,4", "5,6,7") is False
    assert headed("country,2001,2002,2003", "Chad,1,2,3", "Mali,4,5,6") is True  # years
    assert headed("0,1,2,3", "5,6,7,8", "1,2,3,4") is True  # the numbers of the columns
    assert headed("b,a", "x,y", "x,z") is True  # texts all over
    assert headed("ann,5.1,7", "bob,4.9,8", "cyd,6.1,9") is None  # nobody can tell
    assert headed(",5.1,3.5", "7,4.9,3.0", "2,6.1,2.9") is False  # begins with a missing value


def test_the_first_row_of_a_file_without_header_is_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{a:.2f},{b:.2f},{'u' if a > 0 else 'v'}" for a, b in rng.normal(size=(40, 2))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    with pytest.warns(DataWarning, match=r"looks like data, .* column_1 to column_3") as warned:
        raw = read_table(tmp_path / "t.csv")
    assert raw.frame.height == 40 and raw.frame.columns == ["column_1", "column_2", "column_3"]
    assert raw.about == "comma, no header row" and len(warned) == 1


def test_long_messages_end_after_a_word() -> None:
    assert cut_after_word("one two three", 13) == "one two three"
    assert cut_after_word("one two three", 12) == "one two…" and cut_after_word("x" * 50, 10) == "x" * 9 + "…"
    long = "LogisticRegression: " + "a word " * 200
    kept = first_line(ValueError(long))
    assert len(kept) <= 1000 and kept.endswith(("word…", "a…"))
