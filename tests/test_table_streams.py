"""Files given to fit are read by the words, numbers and layout of a table; plain ones as fast as polars reads them."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.core.errors import BadFile, BadInput, DataWarning

N = 3000


def written(path: Path, cells: list[str], mark: str = ",", above: str = "") -> Path:
    rng = np.random.default_rng(0)
    y = 3 * numbers() + rng.normal(size=N)
    rows = (f"{c}{mark}{i % 7}{mark}{t:.3f}\n" for i, (c, t) in enumerate(zip(cells, y, strict=True)))
    path.write_text(f"{above}x{mark}z{mark}y\n" + "".join(rows))
    return path


def numbers() -> np.ndarray:
    return np.round(np.random.default_rng(1).normal(5000, 900, N), 2)


def plain() -> list[str]:
    return [f"{x:.2f}" for x in numbers()]


def coefficients(path: Path) -> list[float]:
    return list(tenfold.Ridge().fit(path, "y").coef_)


def test_numbers_in_every_form_give_the_same_bits(tmp_path: Path) -> None:
    expected = coefficients(written(tmp_path / "plain.csv", plain()))
    swapped = str.maketrans(",.", ".,")
    for name, cells in (
        ("comma.csv", [c.replace(".", ",") for c in plain()]),
        ("dots.csv", [f"{x:,.2f}".translate(swapped) for x in numbers()]),
        ("thousands.csv", [f"{x:,.2f}" for x in numbers()]),
        ("dollars.csv", [f"${x:,.2f}" for x in numbers()]),
        ("spaces.csv", [f" {c} " for c in plain()]),
    ):
        assert coefficients(written(tmp_path / name, cells, ";")) == expected, name


def test_words_for_missing_values_far_below(tmp_path: Path) -> None:
    """What polars does not read is found in the middle of a stream, which goes on from there."""
    cells, empty = plain(), plain()
    for row, word in ((1500, "?"), (2700, "n/a"), (2800, "unknown"), (2801, "NA")):
        cells[row], empty[row] = word, ""
    files = [written(tmp_path / "words.csv", cells), written(tmp_path / "empty.csv", empty)]
    found = [tenfold.HistGradientBoostingRegressor(max_iter=5).fit(file, "y").predict(file) for file in files]
    np.testing.assert_array_equal(found[0], found[1])
    filled = [tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.Ridge()).fit(file, "y")[-1].coef_ for file in files]
    np.testing.assert_array_equal(filled[0], filled[1])
    with pytest.raises(BadInput, match=r"contains NaN in column 'x', row 1500 of 'words\.csv'"):
        tenfold.Ridge().fit(files[0], "y")


def test_other_texts_are_refused_with_their_row(tmp_path: Path) -> None:
    for form, word in (("{:.2f}", "abc"), ("{:,.2f}", "<0.01"), ("{:,.2f}", "1.2.3")):
        cells = [form.format(x) for x in numbers()]
        cells[2000], cells[2001] = "n/a", word
        with pytest.raises(BadInput, match=rf"holds text \(row 2001: '{word}'\)"):
            tenfold.Ridge().fit(written(tmp_path / "t.csv", cells, ";"), "y")


def test_lines_above_the_header_and_encodings(tmp_path: Path) -> None:
    expected = coefficients(written(tmp_path / "plain.csv", plain()))
    with pytest.warns(DataWarning, match="2 lines above the header left out"):
        assert coefficients(written(tmp_path / "above.csv", plain(), above="# made by a machine\n\n")) == expected
    (tmp_path / "wide.csv").write_text((tmp_path / "plain.csv").read_text(), encoding="utf-16")
    with pytest.raises(BadFile, match="is text in UTF-16: save it in UTF-8"):
        tenfold.Ridge().fit(tmp_path / "wide.csv", "y")


def test_dates_are_refused_with_what_makes_numbers_of_them(tmp_path: Path) -> None:
    days = pl.Series([date(2024, 1, 1) + timedelta(days=i) for i in range(50)])
    table = pl.DataFrame({"x": np.arange(50.0), "day": days, "y": np.arange(50.0)})
    table.write_csv(tmp_path / "iso.csv")
    table.with_columns(day=days.dt.strftime("%d.%m.%Y")).write_csv(tmp_path / "german.csv")
    table.write_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "iso.csv", tmp_path / "german.csv", tmp_path / "t.parquet", table, table.to_pandas()):
        with pytest.raises(BadInput, match=r"column 'day'.*code it as numbers first, with Prepare or DateParts for example"):
            tenfold.Ridge().fit(source, "y")
        tenfold.make_pipeline(tenfold.Prepare(), tenfold.Ridge()).fit(source, "y")
