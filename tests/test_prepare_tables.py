"""Prepare: a table as it is becomes what a learner takes, by plain arithmetic, and nothing is learned from held-out rows."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Generator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tenfold
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, NotFitted
from tenfold.evaluate import KFold, StratifiedKFold
from tenfold.prepare import table_rows
from tenfold.prepare.table_sums import TableSums
from tenfold.table import chunks, large
from tenfold.table.lines import Layout

N = 60
TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
needs_tables = pytest.mark.skipif(not TABLES.exists(), reason="shared tables are not here")


def frame(n: int = N, seed: int = 0) -> pl.DataFrame:
    """Numbers with gaps, numbers as texts with commas, dates, two categories, an id, a constant, sentences."""
    rng = np.random.default_rng(seed)
    start = date(2020, 1, 1)
    size = rng.normal(5, 2, n)
    return pl.DataFrame(
        {
            "size": [None if i % 10 == 3 else float(value) for i, value in enumerate(size)],
            "price": [f"{value:.2f}".replace(".", ",") for value in rng.uniform(0, 9, n)],
            "day": [(start + timedelta(days=int(k))).strftime("%d.%m.%Y") for k in rng.integers(13, 700, n)],
            "colour": rng.choice(["red", "blue", "green"], n, p=[0.2, 0.5, 0.3]),
            "shop": [None if i % 12 == 0 else "north" if i % 3 else "south" for i in range(n)],
            "key": [f"k{seed}-{i * 7919 % 1000}" for i in range(n)],
            "always": ["x"] * n,
            "remark": [f"the {'broken' if i % 2 else 'whole'} one came on day {i} of {seed}" for i in range(n)],
        }
    )


def target(table: pl.DataFrame) -> Any:
    return (table["colour"] == "red").to_numpy().astype(int) + np.arange(table.height) % 2


def test_each_kind_is_coded_by_its_rule() -> None:
    table = frame()
    prepare = tenfold.Prepare().fit(table)
    Z = pl.DataFrame(prepare.transform(table), schema=prepare.get_feature_names_out().tolist())
    size = table["size"].to_numpy().astype(float)
    expected = np.nan_to_num((size - np.nanmean(size)) / np.nanstd(size))
    np.testing.assert_allclose(Z["size"].to_numpy(), expected, rtol=1e-12, atol=1e-12)
    price = np.array([float(text.replace(",", ".")) for text in table["price"]])
    np.testing.assert_allclose(Z["price"].to_numpy(), (price - price.mean()) / price.std(), rtol=1e-9, atol=1e-12)
    days = table["day"].str.to_date("%d.%m.%Y").to_physical().to_numpy().astype(float)
    np.testing.assert_allclose(Z["day"].to_numpy(), (days - days.mean()) / days.std(), rtol=1e-9, atol=1e-9)
    red = (table["colour"] == "red").to_numpy().astype(float)
    np.testing.assert_allclose(Z["colour=red"].to_numpy(), (red - red.mean()) / red.std(), rtol=1e-12)
    missing = np.isnan(size).astype(float)
    np.testing.assert_allclose(Z["size is missing"].to_numpy(), (missing - missing.mean()) / missing.std(), rtol=1e-12)
    broken = table["remark"].str.contains("broken").to_numpy().astype(float)
    np.testing.assert_allclose(Z["remark has 'broken'"].to_numpy(), (broken - broken.mean()) / broken.std(), rtol=1e-12)
    assert "colour=blue" not in Z.columns  # the most frequent level is what is left
    assert not any(name.startswith(("key", "always")) for name in Z.columns)
    assert prepare.kinds_.tolist() == ["number", "number", "date", "category", "category", "id", "constant", "text"]


@pytest.mark.parametrize("purpose", ["linear", "neighbors", "trees"])
def test_what_was_done_is_told_and_undone(purpose: str) -> None:
    table = frame()
    prepare = tenfold.Prepare(purpose).fit(table)
    words = dict(line.split(None, 1) for line in prepare.describe().splitlines())
    assert set(words) == set(table.columns)
    assert "different in every row" in words["key"] and ("'red'" in words["colour"] or purpose == "trees")
    back = prepare.inverse_transform(prepare.transform(table))
    np.testing.assert_allclose(back["size"].to_numpy(), table["size"].to_numpy().astype(float), rtol=1e-12)
    assert back["colour"].to_list() == table["colour"].to_list()
    assert back["shop"].to_list() == table["shop"].to_list()
    if purpose != "trees":
        assert back["day"].to_list() == table["day"].to_list()


def test_two_levels_lie_one_apart_among_neighbours() -> None:
    table = pl.DataFrame({"level": ["a", "b", "c", "c"] * 5, "x": np.arange(20.0) ** 2})
    Z = tenfold.Prepare("neighbors", kinds={"level": "nominal"}).fit(table).transform(table)[:3, :-1]
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.testing.assert_allclose(distances, 1 - np.eye(3), atol=1e-12)


def test_every_container_gives_the_same_rows(tmp_path: Path) -> None:
    table = frame().drop("day")
    whole = tenfold.Prepare().fit_transform(table)
    np.testing.assert_array_equal(tenfold.Prepare().fit_transform(table.to_pandas()), whole)
    np.testing.assert_array_equal(tenfold.Prepare().fit_transform(table.to_arrow()), whole)
    table.write_csv(tmp_path / "t.csv", separator=";")
    np.testing.assert_allclose(tenfold.Prepare().fit_transform(tmp_path / "t.csv"), whole, rtol=1e-12, atol=1e-12)
    rows = [list(row) for row in table.rows()]
    np.testing.assert_allclose(tenfold.Prepare().fit_transform(rows), whole, rtol=1e-12, atol=1e-12)
    made = tenfold.Prepare().set_output(transform="pandas").fit_transform(table.to_pandas())
    assert isinstance(made, pd.DataFrame) and "size is missing" in made.columns


def test_arrays_of_numbers_are_tables_too() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:7, 1] = np.nan
    prepare = tenfold.Prepare().fit(X)
    assert prepare.get_feature_names_out().tolist() == ["x0", "x1", "x1 is missing", "x2"]
    np.testing.assert_allclose(prepare.transform(X)[:, 3], (X[:, 2] - X[:, 2].mean()) / X[:, 2].std(), rtol=1e-12)


def test_weights_count_rows() -> None:
    table = frame()
    w = np.arange(N) % 3
    copies = table[np.repeat(np.arange(N), w)]
    once = tenfold.Prepare(least_rows=1).fit(table, sample_weight=w)
    twice = tenfold.Prepare(least_rows=1).fit(copies)
    numbers = [name in ("size", "price", "day") for name in once.get_feature_names_out()]
    names = twice.get_feature_names_out().tolist()
    places = [names.index(name) for name in once.get_feature_names_out()[numbers]]
    np.testing.assert_allclose(once.mean_[numbers], twice.mean_[places], rtol=1e-9)
    np.testing.assert_allclose(once.scale_[numbers], twice.scale_[places], rtol=1e-9)


def test_new_rows_are_read_by_the_names_of_the_fit() -> None:
    table = frame()
    prepare = tenfold.Prepare().fit(table)
    np.testing.assert_array_equal(prepare.transform(table[:, ::-1]), prepare.transform(table))
    with pytest.warns(DataWarning, match="'SIZE' as 'size'"):
        np.testing.assert_array_equal(prepare.transform(table.rename({"size": "SIZE"})), prepare.transform(table))
    with pytest.raises(BadParameter, match=r"no column 'size' in the new rows.*did you mean 'sizes'"):
        prepare.transform(table.rename({"size": "sizes"}))
    with pytest.warns(DataWarning, match="'colour': 60 cells such as 'mauve' are new"):
        prepare.transform(table.with_columns(colour=pl.lit("mauve")))
    with pytest.raises(BadInput, match="no row can be read in the column 'price'"):
        prepare.transform(table.with_columns(price=pl.lit("cheap")))


def test_what_cannot_be_prepared_is_refused() -> None:
    with pytest.raises(BadInput, match=r"no column of the table can be used: 'key' \(id\)"):
        tenfold.Prepare().fit(frame().select("key", "always"))
    with pytest.raises(BadParameter, match=r"no column 'colur'.*did you mean 'colour'"):
        tenfold.Prepare(kinds={"colur": "nominal"}).fit(frame())
    with pytest.raises(BadParameter, match="must be one of"):
        tenfold.Prepare(kinds={"colour": "colourful"}).fit(frame())
    with pytest.raises(BadType, match="shape"):
        tenfold.Prepare().fit(np.zeros(5))
    from scipy import sparse

    with pytest.raises(BadType, match="sparse matrix holds numbers only"):
        tenfold.Prepare().fit(sparse.eye(5, format="csr"))


def test_kinds_are_the_users() -> None:
    table = pl.DataFrame({"zip": [10115, 20095, 80331, 50667] * 10, "x": np.arange(40.0) ** 1.5})
    assert tenfold.Prepare().fit(table).kinds_.tolist() == ["number", "number"]
    asked = tenfold.Prepare(kinds={"zip": "nominal", "x": "drop"}).fit(table)
    assert asked.get_feature_names_out().tolist() == ["zip=20095", "zip=50667", "zip=80331"]


def test_importances_speak_of_the_users_columns() -> None:
    table = frame().drop("remark", "day")
    y = (table["colour"] == "red").to_numpy().astype(int)
    model = tenfold.make_pipeline(tenfold.Prepare("trees"), tenfold.RandomForestClassifier(20, random_state=0)).fit(table, y)
    found = model[0].sum_by_column(model[-1].feature_importances_)
    assert next(iter(found)) == "colour" and set(found) == {"size", "price", "colour", "shop"}
    linear = tenfold.make_pipeline(tenfold.Prepare(), tenfold.LogisticRegression()).fit(table, y)
    assert next(iter(linear[0].sum_by_column(np.abs(linear[-1].coef_)))) == "colour"
    with pytest.raises(BadInput, match="a number for each of the"):
        linear[0].sum_by_column([1.0])


def test_nothing_is_learned_from_held_out_rows() -> None:
    table, y = frame(), target(frame())
    folds = KFold(4)
    model = tenfold.make_pipeline(tenfold.Prepare(), tenfold.LogisticRegression(max_iter=500))
    found = tenfold.cross_validate(model, table, y, cv=folds, return_estimator=True)
    for fitted, (train, test) in zip(found["estimator"], folds.split(table), strict=True):
        alone = tenfold.Prepare().fit(table[train])
        np.testing.assert_array_equal(fitted[0].mean_, alone.mean_)
        np.testing.assert_array_equal(fitted[0].scale_, alone.scale_)
        assert len(test)


def test_by_name_of_the_target(tmp_path: Path) -> None:
    table = frame().drop("remark").with_columns(y=pl.Series(target(frame())))
    model = tenfold.make_pipeline(tenfold.Prepare(), tenfold.LogisticRegression())
    apart = model.fit(table.drop("y"), table["y"].to_numpy()).predict(table)
    np.testing.assert_array_equal(model.fit(table, "y").predict(table), apart)
    assert len(tenfold.cross_validate(model, table, "y", cv=3)["test_score"]) == 3
    tenfold.save(model, tmp_path / "m.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "m.tenfold").predict(table), apart)


def test_files_and_tables_by_name(tmp_path: Path) -> None:
    table = frame().drop("remark").with_columns(y=pl.Series(target(frame())))
    table.write_csv(tmp_path / "t.csv", separator=";")
    model = tenfold.make_pipeline(tenfold.Prepare(), tenfold.LogisticRegression())
    known = model.fit(table, "y").predict_proba(table)
    for source in (tmp_path / "t.csv", tenfold.read(tmp_path / "t.csv")):
        np.testing.assert_allclose(model.fit(source, "y").predict_proba(table), known, rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(str(tmp_path / "t.csv")), known, rtol=1e-6)
        assert len(tenfold.cross_validate(model, source, "y", cv=3)["test_score"]) == 3
    asked = tenfold.Prepare().fit(tenfold.read(tmp_path / "t.csv", kinds={"y": "nominal"}))
    assert "y=2" in asked.get_feature_names_out()
    with pytest.raises(BadParameter, match="no column 'z' to be the target"):
        model.fit(tmp_path / "t.csv", "z")


def test_large_files_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pl.concat([frame(seed=seed) for seed in range(20)])
    whole = tenfold.Prepare().fit(table)
    table.write_csv(tmp_path / "t.csv", separator=";")
    table.write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(large, "LARGE", 0)
    monkeypatch.setattr(large, "PART", 7000)
    monkeypatch.setattr(large, "PART_CELLS", 700)
    monkeypatch.setattr(large, "FIRST", 7000)
    monkeypatch.setattr(table_rows, "HEAD_CELLS", 4000)
    for name in ("t.csv", "t.parquet"):
        assert sum(one.height for one in chunks.chunks(tmp_path / name)) == table.height
        found = tenfold.Prepare().fit(tmp_path / name)
        assert found.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
        np.testing.assert_allclose(found.mean_, whole.mean_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.scale_, whole.scale_, rtol=1e-9)
        blocks = list(found.blocks(tmp_path / name))
        assert len(blocks) > 5
        np.testing.assert_allclose(np.concatenate(blocks), found.transform(table), rtol=1e-9, atol=1e-12)
    model = tenfold.make_pipeline(tenfold.Prepare(), tenfold.Ridge())
    y = table["size"].fill_null(5.0)
    table.with_columns(y=y).write_csv(tmp_path / "y.csv", separator=";")
    monkeypatch.setattr(large, "LARGE", 1 << 40)
    small = model.fit(tmp_path / "y.csv", "y").predict(table)
    monkeypatch.setattr(large, "LARGE", 0)
    np.testing.assert_allclose(model.fit(tmp_path / "y.csv", "y").predict(table), small, rtol=1e-6)


def test_dates_have_cycles_where_they_cover_them(tmp_path: Path) -> None:
    """Sines and cosines are those of DateParts; one that is missing is in the middle of them."""
    n = 400
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 86_400 * 1000, n)
    when = pl.Series((np.datetime64("2021-01-01T00:00:00") + seconds).astype("datetime64[us]")).set(pl.Series(np.arange(n) % 40 == 0), None)
    few = [date(2024, 3, 1 + i % 9) for i in range(n)]
    months = [date(2020 + i // 12 % 3, 1 + i % 12, 1) for i in range(n)]
    table = pl.DataFrame({"when": when, "few": few, "month": months, "x": rng.normal(size=n), "when_hour_sin": rng.normal(size=n)})
    waves = [f"when_{cycle}_{wave}" for cycle in ("dayofyear", "dayofweek", "hour") for wave in ("sin", "cos")]
    parts = tenfold.DateParts(parts=[], cycles=["dayofyear", "dayofweek", "hour"]).fit_transform(table.select("when"))
    for purpose, factor in (("linear", np.sqrt(2.0)), ("neighbors", 0.5)):
        prepare = tenfold.Prepare(purpose).fit(table)
        names = prepare.get_feature_names_out().tolist()
        assert names[-8:] == [*waves[:4], "when_hour_sin_", waves[5], "month_dayofyear_sin", "month_dayofyear_cos"]
        Z = prepare.transform(table)
        np.testing.assert_allclose(Z[:, -8:-2], factor * np.nan_to_num(parts), rtol=1e-6, atol=1e-9)
        assert prepare.inverse_transform(Z)["when"][1] == table["when"].dt.strftime("%Y-%m-%d %H:%M:%S")[1]
        counted = prepare.sum_by_column(np.ones(Z.shape[1]))
        assert counted["when"] == 8 and counted["few"] == 1 and counted["month"] == 3
        assert "sine and cosine of its place in the year and the week and the day" in prepare.describe()
        tenfold.save(prepare, tmp_path / "p.tenfold")
        np.testing.assert_array_equal(tenfold.load(tmp_path / "p.tenfold").transform(table), Z)
    made = tenfold.Prepare("trees").fit_transform(table)
    assert made["when_month"].to_list() == when.dt.month().to_list() and made["when_hour"].to_list() == when.dt.hour().to_list()
    assert made["when_dayofweek"].to_list() == (when.dt.weekday() - 1).to_list() and "few_month" not in made.columns


def test_seasons_are_learned_from_dates() -> None:
    day = [date(2019, 1, 1) + timedelta(days=i) for i in range(1461)]
    y = np.array([10 * np.cos(2 * np.pi * i / 365.25) + 3 * (one.weekday() in (0, 6)) for i, one in enumerate(day)])
    table = pl.DataFrame({"day": day, "noise": np.random.default_rng(0).normal(size=1461)})
    model = tenfold.make_pipeline(tenfold.Prepare(), tenfold.Ridge())
    assert tenfold.cross_validate(model, table, y, cv=KFold(4), scoring="r2")["test_score"].min() > 0.95


ODD_FILES = {  # how each of the rows (number, x, z, colour) is written, and the header
    "plain": (lambda i, x, z, c: f"{x},{z},{c}", "x,z,colour"),
    "quoted line breaks": (lambda i, x, z, c: f'{x},"{z}","{c}, and\n""more"""', "x,z,colour"),
    "empty at first": (lambda i, x, z, c: f"{x if i > 2500 else ''},{z},{c}", "x,z,colour"),
    "constant at first": (lambda i, x, z, c: f"{x},{z if i > 2500 else 7},{c if i > 2500 else 'red'}", "x,z,colour"),
    "a name is absent": (lambda i, x, z, c: f"{x},{z},{c}", "x,,colour"),
    "no header": (lambda i, x, z, c: f"{x},{z},{c}", ""),
    "empty lines": (lambda i, x, z, c: f"{x},{z},{c}" + "\n" * (i % 500 == 7), "x,z,colour\n"),
    "a short first row": (lambda i, x, z, c: f"{x},{z},{c}" if i else "1.5,3", "x,z,colour"),
    "words for gaps": (lambda i, x, z, c: f"{'n/a' if i % 700 == 600 else x},{z},{c}", "x,z,colour"),
    "not a number": (lambda i, x, z, c: f"{'NaN' if i == 2900 else x},{z},{c}", "x,z,colour"),
    "windows": (lambda i, x, z, c: f"{x},{z},{c}\r", "x,z,colour\r"),
    "blanks and quotes": (lambda i, x, z, c: f'"{x}", {z} ,"{c}"', "x,z,colour"),
    "a date with hours": (lambda i, x, z, c: f"{x},2024-0{1 + i % 9}-1{i % 10} 0{i % 8}:30,{c}", "x,z,colour"),
    "dates of several lengths": (lambda i, x, z, c: f"{x},2024-0{1 + i % 9}-1{i % 10}{'T07:30:15' * (i > 2000)},{c}", "x,z,colour"),
    "commas": (lambda i, x, z, c: f"{x};{z};{c}".replace(".", ","), "x;z;colour"),
    "an odd cell now and then": (lambda i, x, z, c: f"{'see below' if i % 1500 == 1400 else x},{z},{c}", "x,z,colour"),
    "western": (lambda i, x, z, c: f"{x},{z},{'grün' if i > 2800 else c}", "x,z,colour"),
}


@pytest.mark.parametrize("name", ODD_FILES)
@pytest.mark.filterwarnings("ignore::tenfold.core.errors.DataWarning")
def test_a_file_read_in_parts_is_what_it_is_as_a_whole(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cells = zip(rng.normal(size=3000).round(3), rng.integers(0, 50, 3000), rng.choice(["red", "blue", "green"], 3000), strict=True)
    write, header = ODD_FILES[name]
    lines = [header] * bool(header) + [write(i, *row) for i, row in enumerate(cells)]
    (tmp_path / "t.csv").write_bytes(("\n".join(lines) + "\n").encode("latin-1" if name == "western" else "utf-8"))
    whole = tenfold.Prepare().fit(tmp_path / "t.csv")
    expected = whole.transform(tmp_path / "t.csv")
    monkeypatch.setattr(large, "LARGE", 0)
    monkeypatch.setattr(large, "PART", 5000)
    monkeypatch.setattr(large, "FIRST", 7000)
    monkeypatch.setattr(table_rows, "HEAD_CELLS", 1000)
    parts = tenfold.Prepare().fit(tmp_path / "t.csv")
    assert parts.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    np.testing.assert_allclose(np.concatenate(list(parts.blocks(tmp_path / "t.csv"))), expected, rtol=1e-9, atol=1e-12)
    frame = large.typed_frame(tmp_path / "t.csv", Layout()) if header and name != "commas" else None
    assert frame is None or frame.height == 3000


def test_cells_far_below_that_are_something_else_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    days = ["2024-05-01", "2024-05-02", "2024-07-09"] * 1000
    table = pl.DataFrame({"x": rng.normal(size=3000).round(3), "z": rng.integers(0, 9, 3000), "day": days})
    cells = table.with_columns(pl.all().cast(pl.String)).rows()
    cells[2001] = ("<0.01", cells[2001][1], cells[2001][2])
    cells[2500] = ("n/a", "9.5", "soon")
    lines = [",".join(table.columns), *(",".join(row) for row in cells)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    clean = table.with_columns(
        x=pl.when(pl.int_range(3000).is_in([2001, 2500])).then(None).otherwise("x"),
        z=pl.when(pl.int_range(3000) == 2500).then(9.5).otherwise("z"),
        day=pl.when(pl.int_range(3000) == 2500).then(None).otherwise("day"),
    )
    monkeypatch.setattr(large, "LARGE", 0)
    monkeypatch.setattr(large, "PART", 4000)
    monkeypatch.setattr(large, "FIRST", 8000)
    monkeypatch.setattr(table_rows, "HEAD_CELLS", 1400)
    with pytest.warns(DataWarning) as told:
        found = tenfold.Prepare().fit(tmp_path / "t.csv")
    assert sorted(str(one.message) for one in told) == [
        "column 'day' of 't.csv' holds dates in the first 412 rows: 1 cell such as 'soon' read as missing",
        "column 'x' of 't.csv' holds numbers in the first 412 rows: 1 cell such as '<0.01' read as missing",
    ]
    expected = tenfold.Prepare().fit(clean)
    np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(found.scale_, expected.scale_, rtol=1e-9)
    with pytest.warns(DataWarning):
        blocks = np.concatenate(list(found.blocks(tmp_path / "t.csv")))
    np.testing.assert_allclose(blocks, expected.transform(clean), rtol=1e-9, atol=1e-12)


@needs_tables
@pytest.mark.parametrize("name", ["titanic", "credit_g", "soybean", "sms_spam", "auto_mpg", "ames", "wage", "penguins"])
def test_real_tables_are_fitted_better_than_by_the_baseline(name: str) -> None:
    table = pl.read_csv(TABLES / f"{name}.csv.gz", infer_schema_length=None)
    y = table["target"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # levels may be new in a fold
        if y.dtype == pl.String or name == "titanic":
            labels = y.cast(pl.String).to_numpy().astype(str)
            model: Any = tenfold.make_pipeline(tenfold.Prepare(), tenfold.LogisticRegression(max_iter=200))
            cv = StratifiedKFold(2, shuffle=True, random_state=0)
            scores = tenfold.cross_validate(model, table.drop("target"), labels, cv=cv, scoring="neg_log_loss")["test_score"]
            share = np.unique(labels, return_counts=True)[1] / len(labels)
            assert scores.min() > 0.9 * float(share @ np.log(share))
        else:
            model = tenfold.make_pipeline(tenfold.Prepare(), tenfold.Ridge())
            cv = KFold(2, shuffle=True, random_state=0)
            assert tenfold.cross_validate(model, table.drop("target"), y.to_numpy(), cv=cv, scoring="r2")["test_score"].min() > 0.2


def test_a_table_of_one_column_of_sentences_is_words_for_trees_too() -> None:
    table = frame().select("remark")
    made = tenfold.Prepare("trees").fit(table).transform(table)
    assert made.height == N
    assert made["remark has 'broken'"].to_list() == table["remark"].str.contains("broken").cast(pl.Float64).to_list()


@pytest.mark.parametrize("odd", ["3", '"7,5"'])
def test_numbers_beyond_floats_are_told_wherever_they_stand(odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a piece that is not plain: one with an empty line, and one where another column holds no number."""
    cells = [f"{i % 37}.5,{i % 11}" for i in range(3000)]
    cells[2000] = f"1e400,{odd}\n\n2.5,7"
    (tmp_path / "t.csv").write_text("\n".join(["x,z", *cells]) + "\n")
    for name, size in (("LARGE", 0), ("PART", 4000), ("FIRST", 6000)):
        monkeypatch.setattr(large, name, size)
    monkeypatch.setattr(table_rows, "HEAD_CELLS", 1000)
    with pytest.warns(DataWarning) as told:
        prepare = tenfold.Prepare().fit(tmp_path / "t.csv")
    assert any(re.search(r"column 'x' of 't.csv' .* 1 cell such as '1e400' read as missing", str(one.message)) for one in told)
    with pytest.warns(DataWarning):
        assert sum(len(block) for block in prepare.blocks(tmp_path / "t.csv")) == 3001


def in_many_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of which many parts are read, some ahead."""
    pl.concat([frame(seed=seed) for seed in range(40)]).write_csv(folder / "t.csv")
    for name, size in (("LARGE", 0), ("PART", 7000), ("FIRST", 7000)):
        monkeypatch.setattr(large, name, size)
    monkeypatch.setattr(table_rows, "HEAD_CELLS", 1000)
    return folder / "t.csv"


def left_behind(file: Path, others: list[threading.Thread]) -> list[str]:
    """Threads that read ahead, apart from those that were there before, and files that are open or lie about."""
    threads = [one.name for one in threading.enumerate() if one.name.startswith("ThreadPoolExecutor") and one not in others]
    here = Path("/proc/self/fd")
    still_open = [str(one) for one in here.iterdir() if one.is_symlink() and os.path.realpath(one) == str(file)] if here.exists() else []
    return threads + still_open + [one.name for one in file.parent.iterdir() if one != file]


def test_blocks_that_nobody_wants_any_more_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, others = in_many_parts(tmp_path, monkeypatch), threading.enumerate()
    prepare = tenfold.Prepare().fit(file)
    whole = list(prepare.blocks(file))
    assert len(whole) > 5 and not left_behind(file, others)
    for taken in (1, 3):
        blocks = prepare.blocks(file)
        for number in range(taken):
            assert np.array_equal(next(blocks), whole[number])
        assert isinstance(blocks, Generator)
        blocks.close()
        assert not left_behind(file, others)
    assert all(np.array_equal(one, other) for one, other in zip(prepare.blocks(file), whole, strict=True))


def until_main_waits() -> None:
    """Called beside the main thread: until that one waits for a part. An interrupt inside polars may be told as another error."""
    main = threading.main_thread()
    while threading.current_thread() is not main:
        frame = sys._current_frames()[main.ident or 0]
        if frame.f_code.co_name == "wait" and frame.f_back and frame.f_back.f_code.co_name == "result":
            break
        time.sleep(0.001)


@pytest.mark.parametrize("where", ["while it is counted", "while it is parsed"])
def test_a_fit_that_is_interrupted_leaves_nothing_behind(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while its traceback is kept, as interactive Python does; the next fit is as if nothing had been."""
    file, others = in_many_parts(tmp_path, monkeypatch), threading.enumerate()
    expected = tenfold.Prepare().fit(file)
    model, seen = tenfold.Prepare(), list[int]()
    owner: Any = TableSums if where == "while it is counted" else large.Parts
    name = "add" if owner is TableSums else "_parsed"
    plain = getattr(owner, name)

    def interrupted(*args: Any) -> Any:
        seen.append(1)
        if len(seen) == 5:
            until_main_waits()
            signal.raise_signal(signal.SIGINT)  # Python's own handler raises in the main thread
        return plain(*args)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            model.fit(file)
    assert kept.tb is not None and not left_behind(file, others)
    with pytest.raises(NotFitted):
        model.get_feature_names_out()
    model.fit(file)
    assert np.array_equal(model.mean_, expected.mean_) and np.array_equal(model.scale_, expected.scale_)
    assert not left_behind(file, others)


def test_what_columns_hold_is_looked_for_again_where_a_file_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = in_many_parts(tmp_path, monkeypatch)
    first = tenfold.Prepare().fit(file)
    pl.concat([frame(seed=seed) for seed in range(41)]).with_columns(size=pl.lit("broad")).write_csv(file)
    second = tenfold.Prepare().fit(file)
    assert "size" in first.get_feature_names_out() and second.kinds_[0] == "constant"
