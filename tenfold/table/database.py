"""Tables and queries of databases as frames: SQLite with what Python brings, others where their drivers are installed."""

from __future__ import annotations

import re
import sqlite3
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from tenfold.core.errors import BadFile, BadParameter

SQLITE = (".sqlite", ".sqlite3", ".db", ".db3")
DUCKDB = (".duckdb", ".ddb")
TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
DUCKDB_TABLES = """SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_catalog = current_database() ORDER BY table_schema <> 'main', 1, 2"""
REMOTE = ("http", "https", "ftp", "s3", "gs", "gcs", "az", "abfs", "abfss", "hf", "file")  # addresses of files
ADDRESS = re.compile(r"[a-z][a-z0-9+]*://", re.IGNORECASE)


def is_database(path: Path) -> bool:
    return path.suffix.lower() in SQLITE + DUCKDB


def is_address(source: Any) -> bool:
    """Whether a text is the address of a database, such as postgresql://host/name."""
    return isinstance(source, str) and ADDRESS.match(source) is not None


def is_connection(source: Any) -> bool:
    """Whether an object is a connection: of sqlite3, DuckDB, ADBC, or an engine of SQLAlchemy."""
    home = type(source).__module__.partition(".")[0].lstrip("_")
    return home in ("sqlite3", "duckdb", "sqlalchemy", "adbc_driver_manager") or hasattr(source, "cursor")


def read_database(source: Any, table: str | None, query: str | None) -> tuple[pl.DataFrame, str]:
    """The rows of a table or query, and what was read."""
    if table is not None and query is not None:
        raise BadParameter("table and query were both given: give one of them")
    if isinstance(source, Path):
        return _read_file(source, table, query)
    if is_address(source):
        return _read_address(source, table, query)
    if isinstance(source, sqlite3.Connection):
        return _sqlite(source, "the database", table, query)
    if type(source).__module__.partition(".")[0].lstrip("_") == "duckdb":
        return _duckdb(source, "the database", table, query)
    return _asked(source, "the database", _query("a connection", table, query)), "database"


def _asked(connection: Any, name: str, query: str) -> pl.DataFrame:
    """The rows of a query. The classes of errors are those of the driver."""
    try:
        return pl.read_database(query, connection)
    except (TypeError, ImportError) as reason:
        raise BadFile(f"the connection ({type(connection).__name__}) cannot be read from: {_words(reason)}") from None
    except Exception as reason:
        raise _not_taken(query, name, reason) from None


def _not_taken(query: str, name: str, reason: Exception) -> BadParameter:
    return BadParameter(f"query={query[:200]!r}: {name} does not take it: {_words(reason)}")


def _read_file(path: Path, table: str | None, query: str | None) -> tuple[pl.DataFrame, str]:
    if path.suffix.lower() in DUCKDB:
        try:
            duckdb: Any = import_module("duckdb")
        except ImportError:
            raise BadFile(f"reading {path.name} needs DuckDB: pip install duckdb") from None
        try:
            connection = duckdb.connect(str(path), read_only=True)
        except duckdb.Error as reason:
            raise BadFile(f"{path} cannot be read as a DuckDB database: {_words(reason)}") from None
        with connection:
            return _duckdb(connection, path.name, table, query)
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            return _sqlite(connection, path.name, table, query)
        finally:
            connection.close()
    except sqlite3.DatabaseError as reason:
        raise BadFile(f"{path} cannot be read as a SQLite database: {_words(reason)}") from None


def _read_address(address: str, table: str | None, query: str | None) -> tuple[pl.DataFrame, str]:
    """By ADBC, else by SQLAlchemy. The address is in no message, as a password may be in it."""
    kind = address.partition(":")[0].lower()
    if kind in REMOTE:
        raise BadFile(f"{kind}:// is the address of a file elsewhere, which is not opened: download it, and give its path")
    asked, name = _query("a database", table, query), f"the {kind} database"
    try:
        return pl.read_database_uri(asked, address, engine="adbc"), kind
    except ImportError:
        pass
    except Exception as reason:
        raise _not_taken(asked, name, reason) from None
    driver = f"a driver: pip install adbc-driver-{kind.partition('+')[0]}, or sqlalchemy and what it needs for it"
    try:
        sqlalchemy: Any = import_module("sqlalchemy")
        engine = sqlalchemy.create_engine(address)
    except ImportError:
        raise BadFile(f"reading from {kind} needs {driver}") from None
    except Exception as reason:
        raise BadFile(f"{kind}:// is the address of no database that is known here ({_words(reason)}): it may need {driver}") from None
    try:
        with engine.connect() as connection:
            return _asked(connection, name, asked), kind
    except sqlalchemy.exc.SQLAlchemyError as reason:
        raise BadFile(f"{name} cannot be reached: {_words(reason)}") from None
    finally:
        engine.dispose()


def _sqlite(connection: sqlite3.Connection, name: str, table: str | None, query: str | None) -> tuple[pl.DataFrame, str]:
    asked = query
    if asked is None:
        table = _only([row[0] for row in connection.execute(TABLES)], name, table)
        asked = f"SELECT * FROM {_quoted(table)}"
    try:
        cursor = connection.execute(asked)
    except sqlite3.Error as reason:
        raise _not_taken(asked, name, reason) from None
    names = [column[0] for column in cursor.description or ()]
    cells = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    return pl.DataFrame([_series(one, list(values)) for one, values in zip(names, cells, strict=True)]), "SQLite"


def _series(name: str, values: list[Any]) -> pl.Series:
    """A column of SQLite, whose cells may be of any type each: of one type where they are, else texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    if kinds == {bytes}:
        return pl.Series(name, values, dtype=pl.Binary)
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def _duckdb(connection: Any, name: str, table: str | None, query: str | None) -> tuple[pl.DataFrame, str]:
    """A connection, or a relation, which is a query already."""
    asked = query
    try:
        if type(connection).__name__ == "DuckDBPyRelation":
            if query is not None or table is not None:
                raise BadParameter("a relation of DuckDB is read as it is: give table= or query= with a connection")
            return connection.pl(), "DuckDB"
        if query is None:
            found = {_dotted(*row): row for row in connection.sql(DUCKDB_TABLES).fetchall()}
            asked = "SELECT * FROM " + ".".join(map(_quoted, found[_only(list(found), name, table)]))
        rows = connection.sql(asked)
        if rows is None:
            raise BadParameter(f"query={str(asked)[:200]!r}: it gives no rows: write a SELECT")
        return rows.pl(), "DuckDB"
    except BadParameter:
        raise
    except Exception as reason:  # the classes of its errors are known only where it is installed
        if asked is None:
            raise BadFile(f"{name} cannot be read from: {_words(reason)}") from None
        raise _not_taken(asked, name, reason) from None


def _dotted(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _only(names: list[str], where: str, table: str | None) -> str:
    shown = ", ".join(names[:8]) or "no tables"
    if table is not None:
        if table not in names:
            raise BadParameter(f"table={table!r}: there is none in {where}, which has {shown}")
        return table
    if len(names) != 1:
        raise BadParameter(
            f"{where} has {shown}: give the name of one with table=, or a query=, to tenfold.read; commands take files of one table, "
            "such as CSV or Parquet"
        )
    return names[0]


def _query(what: str, table: str | None, query: str | None) -> str:
    if table is None and query is None:
        raise BadParameter(f"{what} was given without what to read: give table= or query=")
    return query if query is not None else f"SELECT * FROM {_quoted(str(table))}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _words(reason: Exception) -> str:
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0].rstrip(".")[:300]
