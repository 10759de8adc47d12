"""Parts of dates, against pandas' calendar."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tenfold
from tenfold.prepare.dates import PARTS, PERIODS

rng = np.random.default_rng(0)
MOMENTS = np.array(rng.integers(-5_000_000_000, 5_000_000_000, 500), dtype="datetime64[s]")
SERIES = pd.Series(MOMENTS)


def test_parts_are_those_of_pandas() -> None:
    made = tenfold.DateParts(parts=PARTS, cycles=[]).fit_transform(MOMENTS[:, None])
    at = SERIES.dt
    expected = [
        at.year, at.quarter, at.month, at.isocalendar().week, at.day, at.day_of_year, at.day_of_week, at.hour, at.minute, at.second,
        at.day_of_week >= 5, (SERIES - pd.Timestamp("1970-01-01")).dt.total_seconds() / 86400,
    ]  # fmt: skip
    for j, one in enumerate(expected):
        np.testing.assert_allclose(made[:, j], one.to_numpy(dtype=np.float64), rtol=1e-12, err_msg=PARTS[j])


def test_cycles_close() -> None:
    made = tenfold.DateParts(parts=[], cycles=list(PERIODS)).fit_transform([["2023-12-31T23:59:59"], ["2024-01-01T00:00:00"]])
    np.testing.assert_allclose(np.hypot(made[:, ::2], made[:, 1::2]), 1.0, rtol=1e-12)
    whole = [list(PERIODS).index(name) for name in ("month", "hour", "quarter", "minute")]
    for k in whole:
        if list(PERIODS)[k] != "quarter":
            np.testing.assert_allclose(made[0, 2 * k : 2 * k + 2], made[1, 2 * k : 2 * k + 2], atol=0.11)


FORMS: dict[str, Any] = {
    "datetime64": np.array([["2024-02-29T06:30:00"], ["NaT"]], dtype="datetime64[ns]"),
    "pandas": pd.DataFrame({"when": pd.to_datetime(["2024-02-29 06:30", None])}),
    "polars": pl.DataFrame({"when": ["2024-02-29T06:30:00", None]}).with_columns(pl.col("when").str.to_datetime()),
    "texts": [["2024-02-29T06:30:00"], [""]],
    "objects": np.array([[pd.Timestamp("2024-02-29 06:30")], [None]], dtype=object),
    "zone": np.array([["2024-02-29T06:30:00Z"], [None]], dtype=object),
    "seconds": np.array([[1709188200.0], [np.nan]]),
}


@pytest.mark.parametrize("form", FORMS)
def test_dates_of_any_form(form: str) -> None:
    parts = tenfold.DateParts(parts=["year", "month", "day", "dayofweek", "hour", "minute"], cycles=["hour"])
    made = parts.fit_transform(FORMS[form])
    np.testing.assert_array_equal(made[0, :6], [2024, 2, 29, 3, 6, 30])
    np.testing.assert_allclose(made[0, 6:], [np.sin(2 * np.pi * 6.5 / 24), np.cos(2 * np.pi * 6.5 / 24)], rtol=1e-9)
    assert np.isnan(made[1]).all()
    name = "when" if form in ("pandas", "polars") else "x0"
    assert parts.get_feature_names_out().tolist()[:2] + parts.get_feature_names_out().tolist()[-1:] == [
        f"{name}_year", f"{name}_month", f"{name}_hour_cos",
    ]  # fmt: skip


def test_inside_a_pipeline_and_beside_numbers() -> None:
    frame = pd.DataFrame({"when": SERIES, "x": rng.normal(size=500)})
    y = (SERIES.dt.day_of_week >= 5).to_numpy() * 3.0 + frame["x"]
    front = tenfold.make_column_transformer((tenfold.DateParts(["weekend"], cycles=[]), ["when"]), remainder="passthrough")
    model = tenfold.make_pipeline(front, tenfold.LinearRegression())
    assert tenfold.cross_val_score(model, frame, y, cv=3).min() > 0.999


def test_what_is_refused() -> None:
    with pytest.raises(tenfold.BadInput, match=r"column 0, row 1: '31/12/24' is no date"):
        tenfold.DateParts().fit([["2024-12-31"], ["31/12/24"]])
    with pytest.raises(tenfold.BadParameter, match="must be of year"):
        tenfold.DateParts(["century"]).fit([["2024-12-31"]])
    with pytest.raises(tenfold.BadParameter, match="name a part"):
        tenfold.DateParts([], cycles=[]).fit([["2024-12-31"]])


def test_infinity_is_told_by_the_name_of_its_column() -> None:
    frame = pd.DataFrame({"born": [0.0, 1.0], "died": [2.0, np.inf]})
    with pytest.raises(tenfold.BadInput, match=r"inf.* in column 'died', row 1: replace or drop"):
        tenfold.DateParts().fit(frame)
