"""Rows drawn from tables that are longer than a choice among models needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput, BadParameter
from tenfold.table import large, sample
from tenfold.table.reading import read_table
from tenfold.table.sample import read_sample


def long_table(n: int = 4000) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x, name = rng.normal(size=n).round(6), rng.choice(["a", "b", "c"], n)
    day = pl.Series(np.arange(n) // 7 + 18_000).cast(pl.Date)
    return pl.DataFrame(dict(x=x, name=name, day=day, y=(x + (name == "a") + rng.normal(size=n)).round(6)))


def test_a_short_table_is_taken_as_it_is() -> None:
    table = long_table(100)
    raw = read_sample(table, None, 0)
    assert raw.frame.equals(table) and raw.drawn is None and raw.height is None
    assert read_sample(table, 100, 0).drawn is None


def test_rows_are_drawn_in_their_order_with_their_numbers() -> None:
    table = long_table()
    raw = read_sample(table, 400, 3)
    assert raw.drawn is not None and raw.height == 4000
    assert 330 < raw.frame.height == len(raw.drawn) < 470
    assert (np.diff(raw.drawn) > 0).all() and raw.frame.equals(table[raw.drawn])
    assert raw.where(0) == f"row {raw.drawn[0] + 1:,}"
    again, other = read_sample(table, 400, 3), read_sample(table, 400, 4)
    assert again.frame.equals(raw.frame) and not other.frame.equals(raw.frame)
    halves = np.bincount(raw.drawn // 1000)
    assert halves.min() > 70  # from everywhere


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_a_large_file_gives_the_same_rows_without_being_read_whole(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, path = long_table(), tmp_path / f"long.{end}"
    getattr(table, f"write_{end}")(path)
    monkeypatch.setattr(large, "LARGE", 1000)
    monkeypatch.setattr(large, "FIRST", 20_000)
    monkeypatch.setattr(large, "PART", 20_000)
    monkeypatch.setattr(large, "PART_CELLS", 2000)
    monkeypatch.setattr(sample, "MOST_CELLS", 1600)

    def whole(*_: object, **__: object) -> None:
        raise AssertionError("the file was read whole")

    monkeypatch.setattr(sample, "read_table", whole)
    raw = read_sample(path, None, 5)
    assert raw.drawn is not None and raw.height == 4000 and 330 < len(raw.drawn) < 470
    assert raw.frame.columns == table.columns
    drawn = table[raw.drawn]
    assert raw.frame["day"].cast(pl.Date).equals(drawn["day"]) and raw.frame["name"].equals(drawn["name"])
    np.testing.assert_array_equal(raw.frame["x"], drawn["x"])
    monkeypatch.setattr(sample, "read_table", read_table)
    assert read_sample(path, 4100, 5).height is None  # short enough to be read whole


def test_a_run_on_drawn_rows_speaks_of_the_rows_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (3,))
    table = long_table(1000)
    run = tenfold.select(table, "y", effort="quick", folds=3, rows=300)
    drawn = run.record["data"]["rows_drawn"]
    assert run.record["data"]["rows"] == 1000 and 240 < drawn < 360 and run.held_out is not None
    rows = run.held_out["row"].to_numpy()
    assert len(rows) == drawn and rows.max() > 700
    np.testing.assert_array_equal(run.held_out["truth"], table["y"].to_numpy()[rows])
    values = tenfold.select(table.drop("y"), table["y"].to_numpy(), effort="quick", folds=3, rows=300)
    assert values.estimate == run.estimate
    whole = tenfold.select(table, "y", effort="quick", folds=3)
    assert whole.record["data"]["rows_drawn"] is None


def test_messages_name_the_row_of_the_table() -> None:
    table = long_table(1000).with_columns(w=pl.Series([1.0] * 600 + [-1.0] + [1.0] * 399))
    seed = next(s for s in range(100) if 600 in set(read_sample(table, 300, s).drawn.tolist()))  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="the weight of row 601 in 'w' is -1"):
        tenfold.select(table, "y", rows=300, seed=seed, weights="w")
    with pytest.raises(BadInput, match="the target has 7 values, but the table has 1000 rows"):
        tenfold.select(table, [1.0] * 7, rows=300)
    with pytest.raises(BadParameter, match="rows=0: must be a whole number of at least 10"):
        tenfold.select(table, "y", rows=0)
