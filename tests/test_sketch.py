"""The sketch of a table: its cuts and counts are true, no cell of a single row is in it, and new rows are held against it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenfold.selection.monitor.drift import drift
from tenfold.table.columns import look_at_columns
from tenfold.table.sketch import between, is_sketch, seen, sketch, unlike, written


def sketched(frame: pl.DataFrame, typed: bool = True) -> dict[str, Any]:
    columns, used = look_at_columns(frame, typed)
    found = json.loads(json.dumps(sketch(used, columns)))  # as it comes back from a file
    assert is_sketch(found)
    return dict(found)


def column(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in found["columns"] if one["name"] == name)


@pytest.mark.parametrize("values", ["normal", "skewed", "ties", "huge", "tiny", "few"])
def test_counts_between_cuts_are_those_of_the_rows(values: str) -> None:
    rng = np.random.default_rng(0)
    x = {
        "normal": rng.normal(size=1000),
        "skewed": np.exp(6 * rng.normal(size=500)),
        "ties": rng.integers(0, 4, 300).astype(float),
        "huge": 1e200 * rng.normal(size=200),
        "tiny": 1e-200 * rng.normal(size=200),
        "few": rng.normal(size=12),
    }[values]
    one = column(sketched(pl.DataFrame({"x": x})), "x")
    cuts = np.array(one["cuts"])
    assert (np.diff(cuts) > 0).all() and len(one["counts"]) == len(cuts) + 1 and len(cuts) <= 63
    assert np.array_equal(np.bincount(np.searchsorted(cuts, x, side="left"), minlength=len(cuts) + 1), one["counts"])
    assert min(one["counts"]) >= 5 and one["low"] <= x.min() and x.max() <= one["high"]
    width = x.max() - x.min()
    assert x.min() - one["low"] <= 0.02 * width and one["high"] - x.max() <= 0.02 * width


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e9))
def test_a_cut_lies_between_its_values(low: float, gap: float) -> None:
    if low + gap > low:
        assert low <= between(low, low + gap) < low + gap


def test_cuts_are_short() -> None:
    assert between(1.23456, 1.98765) == 1.3 and between(1.0, 2.0) == 1.0 and between(0.0123456, 0.0123999) == 0.01235
    assert between(123456.7, 987654.3) == 200000.0


ODD: list[Any] = [None, True, -1, 3, 10**400, 0.5, float("nan"), float("inf"), "", "x", [], {}, [None], [3, 1, 2], {"a": -1}, "gone"]


def test_a_field_that_is_edited_is_no_sketch_or_does_no_harm() -> None:
    days = [f"{1 + i % 28}.3.2024" for i in range(40)]
    frame = pl.DataFrame({"x": [0.5 * i * i for i in range(40)], "d": days, "c": ["a", "b", "b", None] * 10})
    sound = sketched(frame, typed=False)
    assert [one["kind"] for one in sound["columns"]] == ["number", "date", "category"]
    refused = 0
    for i, one in enumerate(sound["columns"]):
        for field in one:
            for odd in ODD:
                edited = json.loads(json.dumps(sound))
                edited["columns"][i][field] = odd
                if odd == "gone":
                    del edited["columns"][i][field]
                if is_sketch(edited) and edited["columns"][i]["name"] in frame.columns:
                    drift(edited, frame)
                refused += not is_sketch(edited)
    assert refused > 250 and not any(is_sketch(one) for one in (None, [], {}, dict(columns=3), dict(columns=[3])))
    assert not is_sketch(dict(columns=sound["columns"][:1] * 2))


def test_rare_levels_are_not_named() -> None:
    frame = pl.DataFrame({"c": ["a"] * 20 + ["b"] * 9 + ["secret"] * 4 + [None] * 3})
    one = column(sketched(frame), "c")
    assert one["levels"] == {"a": 20, "b": 9} and one["rare"] == 4 and one["rare_levels"] == 1 and one["missing"] == 3
    assert "secret" not in json.dumps(one)


def test_rows_unlike_the_table() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "x": rng.uniform(0, 10, 60),
            "c": ["a", "b", "c"] * 20,
            "d": [f"2024-01-{1 + i % 28:02d}" for i in range(60)],
            "rare": ["u"] * 50 + [f"v{i}" for i in range(10)],
        }
    )
    found = sketched(frame, typed=False)
    new = pl.DataFrame(
        {
            "x": ["5", "-3", "11.5", "", "7"],
            "c": ["a", "b", "zzz", "c", "NA"],
            "d": ["2024-01-05"] * 4 + ["2025-06-01"],
            "rare": ["u", "v9", "new", "u", "u"],
        }
    )
    told = [(one["name"], np.flatnonzero(rows).tolist(), how) for one, rows, how in unlike(found, seen(found, new))]
    assert told == [
        ("x", [1], "below 0.27"),
        ("x", [2], "above 9.81"),
        ("x", [3], "missing, which it never was"),
        ("c", [2], "'zzz' is new"),
        ("c", [4], "missing, which it never was"),
        ("d", [4], "above 2024-01-28"),
    ]
    assert not unlike(found, seen(found, frame))
    assert written(column(found, "d"), 1e30).startswith("day")


def test_levels_that_are_numbers_are_found_however_they_are_written() -> None:
    found = sketched(pl.DataFrame({"c": ["1", "2", "x"] * 10}))
    assert not unlike(found, seen(found, pl.DataFrame({"c": [1.0, 2.0]})))
    assert not unlike(found, seen(found, pl.DataFrame({"c": [1, 2]})))
    assert unlike(found, seen(found, pl.DataFrame({"c": [1, 3]})))


def test_two_thousand_columns_stay_small() -> None:
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(100, 2000)))
    assert len(json.dumps(sketched(frame))) < 2_000_000
