"""Tables of databases and sheets of Excel files, read as a user reads them; each needs its driver, and says so where it is absent."""

from __future__ import annotations

import sqlite3
import sys
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tenfold
from tenfold.core.errors import BadFile, BadInput, BadParameter, DataWarning

ROWS = [(None if i % 7 == 0 else i * 1.5, "red" if i % 3 else "blue", date(2024, 1, 1) + timedelta(days=i)) for i in range(40)]
NAMES = ("size", "colour", "day")


def check(table: Any, columns: tuple[str, ...] = NAMES) -> None:
    assert tuple(table) == columns and table.height == 40
    assert table["size"].to_list() == [row[0] for row in ROWS]
    assert table["colour"].to_list() == [row[1] for row in ROWS]


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE one (size DOUBLE, colour VARCHAR, day DATE)")
        connection.executemany("INSERT INTO one VALUES (?, ?, ?)", ROWS)
    return tmp_path / "a.duckdb"


def test_duckdb(duck: Path) -> None:
    import duckdb

    check(tenfold.read(duck))
    assert tenfold.read(duck).kinds == {"size": "ratio", "colour": "nominal", "day": "date"}
    assert tenfold.read(duck, query="SELECT size FROM one WHERE colour = 'red'").shape == (26, 1)
    for asked, said in (
        (dict(table="two"), "table='two': there is none in a.duckdb, which has one"),
        (dict(query="SELEC"), "query='SELEC': a.duckdb does not take it: Parser Error"),
        (dict(query="SELECT nope FROM one"), "'SELECT nope FROM one': a.duckdb does not take it"),
        (dict(query="SELECT 1", table="one"), "both given"),
    ):
        with pytest.raises(BadParameter, match=said):
            tenfold.read(duck, **asked)
    with pytest.raises(BadInput, match="holds no rows"):
        tenfold.read(duck, query="SELECT * FROM one WHERE size < 0")
    with duckdb.connect(str(duck)) as connection:
        connection.execute('CREATE SCHEMA s; CREATE TABLE s.three AS SELECT * FROM one; CREATE TABLE "a ""b" AS SELECT * FROM one')
        for name in ("one", "s.three", 'a "b'):
            check(tenfold.read(connection, table=name))
        check(tenfold.read(connection.sql("SELECT * FROM one")))
        with pytest.raises(BadParameter, match=r"the database has a \"b, one, s.three: give the name of one with table="):
            tenfold.read(connection)
    with pytest.raises(BadFile, match="the database cannot be read from: Connection Error"):
        tenfold.read(connection)
    duck.write_bytes(b"no database" * 100)
    with pytest.raises(BadFile, match=r"a\.duckdb cannot be read as a DuckDB database"):
        tenfold.read(duck)


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        connection.execute("CREATE TABLE one (size REAL, colour TEXT)")
        connection.executemany("INSERT INTO one VALUES (?, ?)", [row[:2] for row in ROWS])
    connection.close()
    return tmp_path / "a.sqlite"


def test_sqlalchemy(sqlite: Path) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    engine = sqlalchemy.create_engine(f"sqlite:///{sqlite}")
    check(tenfold.read(engine, table="one"), NAMES[:2])
    with engine.connect() as connection:
        check(tenfold.read(connection, query="SELECT * FROM one"), NAMES[:2])
    with pytest.raises(BadParameter, match=r"'SELECT \* FROM \"two\"': the database does not take it: .*no such table: two"):
        tenfold.read(engine, table="two")
    engine.dispose()


def test_adbc(sqlite: Path) -> None:
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi", reason="the ADBC driver of SQLite is not installed")
    with driver.connect(str(sqlite)) as connection:
        check(tenfold.read(connection, table="one"), NAMES[:2])
        with pytest.raises(BadParameter, match=r"does not take it: .*syntax error"):
            tenfold.read(connection, query="SELEC")
        with pytest.raises(BadParameter, match="without what to read: give table= or query="):
            tenfold.read(connection)
    check(tenfold.read(f"sqlite:///{sqlite}", table="one"), NAMES[:2])
    with pytest.raises(BadParameter, match=r"the sqlite database does not take it: .*no such table: two"):
        tenfold.read(f"sqlite:///{sqlite}", table="two")


def test_an_address_without_its_driver(monkeypatch: pytest.MonkeyPatch, sqlite: Path) -> None:
    def absent(*given: Any, **named: Any) -> Any:
        raise ImportError("no driver")

    monkeypatch.setattr(pl, "read_database_uri", absent)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(BadFile, match=r"reading from mysql needs a driver: pip install adbc-driver-mysql, or sqlalchemy") as caught:
        tenfold.read("mysql://me:secret@host/base", table="one")
    assert "secret" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    (sqlite.parent / "b.duckdb").write_bytes(b"")
    with pytest.raises(BadFile, match=r"reading b\.duckdb needs DuckDB: pip install duckdb"):
        tenfold.read(sqlite.parent / "b.duckdb")
    for address in ("https://host/a.csv", "s3://bucket/a.parquet"):
        with pytest.raises(BadFile, match="is the address of a file elsewhere, which is not opened: download it"):
            tenfold.read(address)


def workbook(path: Path, above: int = 0, more: bool = False) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl, which writes the files, is not installed")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "first"
    for line in range(above):
        sheet.append(["Sales of the year"] if line == 0 else [])
    sheet.append(list(NAMES))
    for size, colour, day in ROWS:
        sheet.append([size, colour, datetime(day.year, day.month, day.day)])
    if more:
        other = book.create_sheet("second")
        for row in (["p", "q"], [1, 2], [3, 4]):
            other.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("engine", ["fastexcel", "openpyxl"])
def test_excel(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(engine, reason=f"{engine} is not installed")
    if engine == "openpyxl":
        monkeypatch.setitem(sys.modules, "fastexcel", None)
    table = tenfold.read(workbook(tmp_path / "a.xlsx"))
    check(table)
    assert table.kinds == {"size": "ratio", "colour": "nominal", "day": "date"}
    two = workbook(tmp_path / "two.xlsx", more=True)
    with pytest.warns(DataWarning, match="has 2 sheets, the first of them, 'first', is read: in Python table='second' reads another"):
        check(tenfold.read(two))
    assert tenfold.read(two, table="second").shape == (2, 2)
    with pytest.raises(BadParameter, match=r"table='third': there is no such sheet in two\.xlsx, which has first, second"):
        tenfold.read(two, table="third")
    (tmp_path / "bad.xlsx").write_bytes(b"no workbook")
    with pytest.raises(BadFile, match=r"bad\.xlsx cannot be read as an Excel file"):
        tenfold.read(tmp_path / "bad.xlsx")


def test_lines_above_the_header_of_a_sheet(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="fastexcel is not installed")
    with pytest.warns(DataWarning, match="2 lines above the header left out"):
        check(tenfold.read(workbook(tmp_path / "a.xlsx", above=2)))


def test_excel_without_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("fastexcel", "openpyxl"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(BadFile, match=r"reading a\.xlsx needs fastexcel or openpyxl: pip install fastexcel"):
        tenfold.read(tmp_path / "a.xlsx")
