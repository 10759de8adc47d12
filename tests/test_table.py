"""`tenfold.read`: what it takes, what a Table says and hands out."""

from __future__ import annotations

import gzip
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tenfold
from tenfold.core.errors import BadFile, BadInput, BadParameter, BadType, DataWarning
from tenfold.table import dates

ROWS = 60


def frame(n: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "key": [f"k{i:04}" for i in range(n)],
            "height": np.round(rng.normal(170, 10, n), 1),
            "visits": rng.poisson(3, n),
            "grade": [["low", "medium", "high"][i] for i in rng.integers(0, 3, n)],
            "town": [["Bonn", "Köln", "Trier"][i] for i in rng.integers(0, 3, n)],
            "day": [f"2024-03-{i % 28 + 1:02}" for i in range(n)],
        }
    )


KINDS = dict(key="id", height="ratio", visits="count", grade="ordinal", town="nominal", day="date")


def written(folder: Path, kind: str) -> Path:
    """The frame as a file of a kind."""
    table, path = frame(), folder / f"t.{kind}"
    if kind in ("csv", "tsv"):
        table.write_csv(path, separator="," if kind == "csv" else "\t")
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(table.write_csv().encode()))
    elif kind == "csv.zst":
        with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd") as out:
            out.write(table.write_csv().encode())
    elif kind == "csv.zip":
        with zipfile.ZipFile(path, "w") as out:
            out.writestr("t.csv", table.write_csv())
    elif kind == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE t ({', '.join(table.columns)})")
            connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * table.width)})", table.rows())
        connection.close()
    else:
        {"parquet": table.write_parquet, "feather": table.write_ipc, "jsonl": table.write_ndjson}[kind](path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "csv.zst", "csv.zip", "sqlite", "parquet", "feather", "jsonl"])
def test_kinds_of_files(kind: str, tmp_path: Path) -> None:
    table = tenfold.read(written(tmp_path, kind))
    assert table.kinds == KINDS and table.shape == (ROWS, 6)
    assert table["height"].to_list() == frame()["height"].to_list() and table["town"].to_list() == frame()["town"].to_list()
    assert table.column("grade").order == ("low", "medium", "high")


def test_frames() -> None:
    for source in (frame(), frame().to_pandas(), frame().to_arrow(), frame().to_dict(as_series=False)):
        assert tenfold.read(source).kinds == KINDS
    assert tenfold.read(pd.DataFrame({1: [1.5, 2.5, 3.5], "a": ["x", "y", "x"]})).frame.columns == ["1", "a"]
    with pytest.raises(BadType, match="is not a table"):
        tenfold.read(object())


def test_databases(tmp_path: Path) -> None:
    path = written(tmp_path, "sqlite")
    with sqlite3.connect(path) as connection:
        table = tenfold.read(connection, query="SELECT height, visits FROM t WHERE visits > 2")
        assert table.width == 2 and (table["visits"] > 2).all()
        connection.execute("CREATE TABLE other (a)")
        connection.executemany("INSERT INTO other VALUES (?)", [(1,), ("x",), (None,)])
    connection.close()
    with pytest.raises(BadParameter, match="has other, t: give the name of one with table="):
        tenfold.read(path)
    assert tenfold.read(path, table="other")["a"].to_list() == ["1", "x", None]  # cells of any type each: texts
    with pytest.raises(BadParameter, match=r"there is none in t\.sqlite, which has other, t"):
        tenfold.read(path, table="gone")
    with pytest.raises(BadParameter, match="no such table: nowhere"):
        tenfold.read(path, query="SELECT * FROM nowhere")
    with pytest.raises(BadParameter, match="give one of them"):
        tenfold.read(path, table="t", query="SELECT 1")
    with pytest.raises(BadInput, match="is no database"):
        tenfold.read(written(tmp_path, "csv"), table="t")
    (tmp_path / "no.sqlite").write_text("a,b\n1,2\n")
    with pytest.raises(BadFile, match="cannot be read as a SQLite database"):
        tenfold.read(tmp_path / "no.sqlite")
    with pytest.raises(BadParameter, match="give table= or query="):
        tenfold.read("postgresql://nowhere/x")


def test_kinds_can_be_given() -> None:
    table = tenfold.read(pl.DataFrame({"zip": [53111, 53113, 53115] * 20, "x": np.arange(60) / 7}), kinds={"zip": "nominal"})
    assert table.kinds == {"zip": "nominal", "x": "ratio"} and table.values["zip"].dtype == pl.String
    assert table.with_kinds(zip="interval").kinds["zip"] == "interval"
    assert table.with_kinds({"x": "id"}).values.columns == ["zip"]
    with pytest.raises(BadParameter, match=r"kinds\['zip'\]='category': must be one of nominal, "):
        table.with_kinds(zip="category")
    with pytest.raises(BadParameter, match="there is no column 'zap': did you mean 'zip'"):
        table.with_kinds(zap="nominal")
    with pytest.raises(BadParameter, match=r"kinds\['a'\]='ratio': 'x' in row 1 is not a number"):
        _ = tenfold.read(pl.DataFrame({"a": ["x", "y"] * 20}), kinds={"a": "ratio"}).kinds
    with pytest.raises(BadParameter, match=r"kinds\['a'\]='date': its cells are not dates"):
        _ = tenfold.read(pl.DataFrame({"a": ["x", "y"] * 20}), kinds={"a": "date"}).kinds


def test_numbers_as_texts_and_odd_cells(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    cells = [f"{x:.2f}".replace(".", ",") for x in rng.gamma(2, 10, 120)]
    cells[4], cells[7], cells[20], cells[30], cells[33] = "<0,01", "abc", "", "n/a", "unknown"
    (tmp_path / "t.csv").write_text("lead;other\n" + "".join(f"{c};{i % 3}\n" for i, c in enumerate(cells)))
    column = tenfold.read(tmp_path / "t.csv").column("lead")
    assert (column.kind, column.missing, column.n_odd) == ("ratio", 5, 2)
    assert [(cell.place, cell.text, cell.kind) for cell in column.odd] == [("line 6", "<0,01", "censored"), ("line 9", "abc", "odd")]
    flags = [flag.text for flag in tenfold.read(tmp_path / "t.csv").flags if flag.what == "odd cells"]
    bound, odd = "1 cell known up to a bound ('<0,01' in line 6)", "1 cell of other text ('abc' in line 9)"
    assert flags == [f"'lead': {bound} and {odd} read as missing"]


def test_sentinels_are_noticed_and_can_be_missing() -> None:
    x = np.random.default_rng(2).normal(20, 3, 200)
    x[[3, 50, 51]] = -999
    table = tenfold.read(pl.DataFrame({"x": x}))
    assert table.kinds == {"x": "ratio"} and [flag.what for flag in table.flags] == ["sentinel"]
    again = tenfold.read(pl.DataFrame({"x": x}), missing=[-999])
    assert again.column("x").missing == 3 and again.flags == [] and again["x"].null_count() == 3
    texts = tenfold.read(pl.DataFrame({"x": ["a", "b", "not asked"] * 20}), missing=["Not asked"])
    assert texts.column("x").missing == 20


def test_keys_and_groups() -> None:
    rng = np.random.default_rng(3)
    n = 120
    rows = pl.DataFrame(
        {
            "number": np.arange(1000, 1000 + n),
            "passengerId": rng.permutation(n) * 3,
            "customer_id": rng.integers(100, 140, n),
            "year": np.arange(1900, 1900 + n),
            "rank": rng.permutation(n) + 1,
            "income": rng.integers(1000, 90000, n),
        }
    )
    table = tenfold.read(rows)
    assert table.kinds == dict(number="id", passengerId="id", customer_id="id", year="interval", rank="count", income="ratio")
    assert [(flag.what, flag.warning) for flag in table.flags] == [("id", False), ("id", False), ("groups", False), ("time", False)]


def test_copies_and_constants() -> None:
    rng = np.random.default_rng(4)
    empty = pl.Series([None] * 50, dtype=pl.Float64)
    base = pl.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50), "c": [1.0] * 50, "d": empty})
    table = tenfold.read(pl.concat([base, base[:3]]).with_columns(pl.col("a").alias("again")))
    told = {flag.what: flag.text for flag in table.flags}
    assert told["constant"] == "'c': the same in every row" and told["empty"] == "'d': holds no values"
    assert [flag.text for flag in table.flags if flag.what == "copies"] == [
        "'again' is a copy of 'a'",
        "3 rows equal to others (the first in row 51): copies in training and test flatter a score",
    ]


def test_a_table_hands_itself_out() -> None:
    table = tenfold.read(frame(), target="grade")
    assert len(table) == ROWS and list(table) == frame().columns and "town" in table and "gone" not in table
    assert table.select(["town", "height"]).kinds == {"town": "nominal", "height": "ratio"}
    assert table[["town", "grade"]].target == "grade" and table.drop("grade").target is None and table[:2].width == 2
    assert table.to_pandas().shape == (ROWS, 6) and table.to_arrow().num_rows == ROWS
    assert pa.table(table).num_columns == 6 and pl.DataFrame(table).equals(table.frame)
    assert table.with_target("town").target == "town" and tenfold.read(table, target="town").target == "town"
    assert table.values.columns == ["height", "visits", "grade", "town", "day"]
    with pytest.raises(BadParameter, match="there is no column 'towm': did you mean 'town'"):
        table["towm"]


def test_words_of_a_table() -> None:
    table = tenfold.read(frame(), target="grade")
    lines = table.describe().splitlines()
    assert lines[0] == "table   60 rows x 6 columns   in memory" and len(lines) == 1 + 6 + len(table.flags)
    assert "grade   ordinal" in lines[4] and "(target)" in lines[4] and "low, medium, high" in lines[4]
    nasty = tenfold.read(pl.DataFrame({"<script>alert(1)</script>\u202e": ["<b>x</b>", "y", "z"] * 20}))
    assert "<script>" not in nasty._repr_html_() and "<b>" not in nasty._repr_html_() and "\u202e" not in repr(nasty)


@pytest.mark.parametrize("text", ['[{"a": 1, "b": 2}]', '{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n'])
def test_json_is_not_taken_for_cells(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(BadFile, match=r"t\.json is JSON, which is read as JSON lines only"):
        tenfold.read(tmp_path / "t.json")


def test_what_surrounds_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "Report of the station\nprinted by somebody\n\nday,rain,wind\n2024-01-01,1.5,3\n2024-01-02,2.5,4\n"
        "\nday,rain,wind\n2024-01-03,0.5,5\n\nSource: the station\n"
    )
    with pytest.warns(DataWarning) as warned:
        table = tenfold.read(tmp_path / "t.csv")
    assert [str(one.message) for one in warned] == [
        "'t.csv': 3 lines above the header left out",
        "'t.csv', line 8: the header stands again (1 line), left out",
        "'t.csv', line 11: left out what stands below the rows ('Source: the station')",
    ]
    assert table.frame["rain"].to_list() == [1.5, 2.5, 0.5] and [flag.what for flag in table.flags][:3] == ["file"] * 3
    assert table.raw.where(2) == "line 9"


def test_a_row_of_which_only_its_name_is_known_is_no_remark(tmp_path: Path) -> None:
    hours = "".join(f"2024-01-01 {hour:02}:00,{hour},{hour % 5}\n" for hour in range(6))
    (tmp_path / "t.csv").write_text(f"hour,rain,wind\n{hours}2024-01-01 06:00,,\n")
    assert tenfold.read(tmp_path / "t.csv").height == 7
    with open(tmp_path / "t.csv", "a") as file:
        file.write("printed on 2024-01-01 at 07:00,,\n")
    with pytest.warns(DataWarning, match="line 9: left out what stands below the rows"):
        assert tenfold.read(tmp_path / "t.csv").height == 7
    (tmp_path / "t.csv").write_text("who,rain,wind\nAnn C Doe,1,2\nBob B Doe,3,5\nCy A Doe,,\n")
    assert tenfold.read(tmp_path / "t.csv").height == 3


def test_what_a_search_for_faults_has_found(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n|x\n50%|2.5\nTotal|1,5\n50%|50%\nTotal|2.5\n50%|50%\n")  # a form in which nothing is unusual
    assert tenfold.read(tmp_path / "t.csv").shape == (5, 2)
    (tmp_path / "t.csv").write_text("a,b,c\nTotal,1,2\nTotal,3,4\nTotal,5,6\nTotal,7,8\n")  # a level, not a line of sums
    assert tenfold.read(tmp_path / "t.csv").height == 4
    (tmp_path / "t.csv").write_text("&lt;b&gt;,x\na,1\nb,2\n")  # semicolons in the header that part nothing
    assert tenfold.read(tmp_path / "t.csv").frame.columns == ["&lt;b&gt;", "x"]
    (tmp_path / "t.csv").write_text('"a ""b""",x\n1,2\n3,5\n')
    assert tenfold.read(tmp_path / "t.csv").frame.columns == ['a "b"', "x"]
    for names, twice in ((["b", "a", "a"], "a"), (["1", "b", 1], "1")):
        with pytest.raises(BadInput, match=f"two columns of the frame have one name, '{twice}': rename all but one"):
            tenfold.read(pd.DataFrame([[1, 2, 3], [3, 4, 5]], columns=names))
    long = [str(2**63 + i) for i in range(30)]  # as floats they would all be one number
    (tmp_path / "long.csv").write_text("nr,x\n" + "".join(f"{one},{i + 0.5}\n" for i, one in enumerate(long)))
    for table in (tenfold.read(tmp_path / "long.csv"), tenfold.read(pl.DataFrame({"nr": pl.Series(long).cast(pl.UInt64), "x": range(30)}))):
        assert table.kinds["nr"] == "id" and table["nr"].cast(pl.String).to_list() == long
    with pytest.raises(BadParameter, match="target=0: must be the name of a column, such as 'x'"):
        tenfold.read(tmp_path / "t.csv", target=0)  # type: ignore[arg-type]


def test_dates_in_many_forms() -> None:
    for cells, kind in (
        (["12 May 2024", "3 March 2023"], pl.Date),
        (["May 12, 2024", "Mar 3, 2023"], pl.Date),
        (["12-May-24", "03-Mar-23"], pl.Date),
        (["12.05.2024 10:30", "03.03.2023 00:00"], pl.Datetime),
        (["2024-05-12T10:30:00+02:00", "2023-03-03T00:00:00Z"], pl.Datetime),
        (["05/12/2024 10:30 PM", "03/03/2023 12:00 AM"], pl.Datetime),
    ):
        column = tenfold.read(pl.DataFrame({"x": cells * 10}), target=None)
        assert column.kinds == {"x": "date"} and isinstance(column.frame["x"].dtype, kind), cells
        assert str(column.frame["x"][1]).startswith("2023-03-03"), cells
    at = tenfold.read(pl.DataFrame({"x": ["2024-05-12T10:30:00+02:00", "2023-03-03T00:00:00Z"] * 10})).frame["x"]
    assert str(at[0]) == "2024-05-12 08:30:00"
    evening = tenfold.read(pl.DataFrame({"x": ["05/13/2024 10:30 PM", "03/03/2023 12:05 AM"] * 10})).frame["x"]
    assert str(evening[0]) == "2024-05-13 22:30:00" and str(evening[1]) == "2023-03-03 00:05:00"
    compact = tenfold.read(pl.DataFrame({"date": [20240512, 20230303] * 10, "y": [1.5, 2.5] * 10}))
    assert compact.kinds["date"] == "date" and str(compact.frame["date"][1]) == "2023-03-03"


def test_a_large_file_is_read_as_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser reads plain numbers itself; what else turns up far below is found, and the table is the same."""
    rng = np.random.default_rng(5)
    n = 12_000
    rows = {
        "x": [f"{x:.3f}" for x in rng.normal(5, 1, n)],
        "late": [f"{x:.3f}" for x in rng.normal(5, 1, n)],
        "n": [str(one) for one in rng.poisson(4, n)],
        "gaps": ["" if i % 9 == 0 else str(i % 50 + 0.5) for i in range(n)],
        "town": [("Bonn", "Köln", "NA")[i] for i in rng.integers(0, 3, n)],
    }
    rows["late"][11_000], rows["late"][11_001] = "<0.1", "n/a"
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    small = tenfold.read(tmp_path / "t.csv")
    monkeypatch.setattr("tenfold.table.delimited.LARGE", 1)
    monkeypatch.setattr("tenfold.table.delimited.LARGEST_LOOKED_AT", 1)
    large = tenfold.read(tmp_path / "t.csv")
    assert large.raw.frame["x"].dtype == pl.Float64 and large.raw.frame["late"].dtype == pl.String
    assert large.frame.equals(small.frame) and large.frame.schema == small.frame.schema
    assert large.describe() == small.describe() and large.column("late").odd[0].place == "line 11,002"
    cells = (tmp_path / "t.csv").read_text()
    for spoiled in (cells + "Total,,,,\n", cells.replace("Köln", "K\0"), cells + "1,2,3,4,5,6\n"):
        (tmp_path / "s.csv").write_text(spoiled)
        if "Total" in spoiled:
            with pytest.warns(DataWarning, match="below the rows"):
                assert tenfold.read(tmp_path / "s.csv").height == n
        else:
            with pytest.raises(BadFile, match=r"line \d+"):
                tenfold.read(tmp_path / "s.csv")
    (tmp_path / "w.csv").write_bytes(cells.encode("cp1252"))
    assert "Windows-1252" in tenfold.read(tmp_path / "w.csv").raw.about


def test_dates_of_a_plain_form_are_read_alike_by_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    for form in dates.FORMS:
        for clock in ("", " %H:%M", "T%H:%M:%S", " %H:%M:%S", " %I:%M %p"):
            moments = np.datetime64("1903-01-01T00:00:00") + rng.integers(0, 86_400 * 365 * 150, 60)
            texts = pl.Series(moments.astype("datetime64[us]")).dt.strftime(form + clock).set(pl.Series(rng.random(60) < 0.1), None)
            for odd in (None, "soon", "2024-13-01", "2024-01-02 24:00:00", "-024-01-02") if clock in ("", " %H:%M:%S") else (None, "soon"):
                cells = texts if odd is None else texts.extend(pl.Series([odd]))
                plain = dates.days(cells, form)
                with monkeypatch.context() as patch:
                    patch.setattr(dates, "plain_days", lambda *given: None)
                    assert plain.equals(dates.days(cells, form)), (form, clock, odd)
