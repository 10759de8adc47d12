"""The reader of plain delimited text, held to Python's own csv, float and datetime: it reads right, or refuses."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tenfold import _delimited
from tenfold.table.missing_words import WORDS_OF_STREAMS

EPOCH, NO_MOMENT = datetime(1970, 1, 1), -(2**63)
WORDS = [word for word in WORDS_OF_STREAMS if word]
WINDOW = 1 << 14  # what the kernel looks at in one go


def read(text: str, kinds: list[str], separator: str = ",", quote: str = '"', most: int = 1000) -> tuple[int, list[Any]] | None:
    found = _delimited.read(text.encode(), separator, quote, kinds, WORDS, most)
    if found is None:
        return None
    rows, columns = found
    return rows, [None if one is None else (one[0][:rows], *one[1:]) for one in columns]


def numbers(cells: list[str]) -> np.ndarray | None:
    found = read("\n".join(cells), ["number"])
    assert found is not None and (found[1][0] is None or found[0] == len(cells))
    return None if found[1][0] is None else found[1][0][0]


def spellings(rng: np.random.Generator, n: int) -> list[str]:
    """Numbers as people and programs write them."""
    sizes = rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n)
    written = []
    for i, x in enumerate(sizes.tolist()):
        forms = (
            repr(x), f"{x:.3f}", f"{x:.12g}", f"{x:e}", f"{x:+.4E}", str(int(x)) if abs(x) < 1e30 else "0", f"{x % 1:.17f}",
            f"{x % 1000:.2f}", f"{x % 1:.4f}".removeprefix("0"), f"{int(abs(x) % 1e9)}.",
            f"{x % 100:020.5f}", f"{int(rng.integers(0, 2**62))}",
        )  # fmt: skip
        written.append(forms[i % len(forms)])
    return written


def test_numbers_have_the_bits_of_python() -> None:
    cells = spellings(np.random.default_rng(0), 30_000)
    np.testing.assert_array_equal(numbers(cells), np.array([float(cell) for cell in cells]))
    edges = [
        "0", "-0", "+0", "0.0", "00012.50", "9007199254740992", "9007199254740993", "99999999.9999999", "999999999999999.9", ".5", "5.",
        "-.5", "1e22", "1e23", "1e-320", "5e-324", "1.7976931348623157e308", "123456789012345678901234567890", "0.1", "0.30000000000000004",
    ]  # fmt: skip
    found = numbers(edges)
    np.testing.assert_array_equal(found, [float(cell) for cell in edges])
    assert found is not None and np.signbit(found[1])


@pytest.mark.parametrize("cell", [
    "1,5", "1.2.3", "1e", "e5", "+-1", "--1", "1_000", "0x10", "1d5", "1.5f", "1 2", "12a45678", "1234567/", "1234567:",
    "12345678.1234567x", "inf", "-Infinity", "1e400", "nan1", "¼", "٣", "1\0", "true", "..5", "1..", "<0.01", "$5", "5%",
])  # fmt: skip
def test_what_is_no_number_fails_its_column_alone(cell: str) -> None:
    found = read(f"1;2.5\n7;{cell}\n", ["number", "number"], ";")
    assert found is not None and found[1][1] is None
    assert found[1][0][0].tolist() == [1, 7]


def test_gaps_are_empty_cells_and_words_that_say_so() -> None:
    cells = ["1", "", "NA", " 2 ", "n/a", '"3"', '""', "?", "\t4", "N/A", "-", "none", "NaN", " ", "5"]
    found = read("\n".join(f"{cell}|x" for cell in cells), ["number", ""], "|")
    assert found is not None
    values, gaps, _ = found[1][0]
    assert [x for x in values.tolist() if x == x] == [1, 2, 3, 4, 5] and gaps == 10


def table(rng: np.random.Generator, rows: int, long: int = 6) -> list[list[str]]:
    """Numbers, levels and moments, with quotes, separators, line breaks and gaps in texts."""
    texts = ["red", "", "blue, or so", "two\nlines", "grün", "a", "longer than eight", "longer than eight!", " blank ", "x" * long]
    drawn = rng.integers([[-9000], [0]], [[30000], [86400]], (2, rows)).tolist()
    moments = [EPOCH + timedelta(days=d, seconds=s) for d, s in zip(*drawn, strict=True)]
    written = spellings(rng, rows)
    return [
        [written[i] if rng.random() < 0.9 else "", str(rng.choice(texts)), str(moments[i])[: (10, 16, 19)[i % 3]], str(rng.choice(texts))]
        for i in range(rows)
    ]


@pytest.mark.parametrize("seed", range(30))
def test_tables_are_those_of_the_csv_module(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = table(rng, int(rng.integers(1, 400)), long=int(rng.choice([6, 200, WINDOW, 3 * WINDOW])) if seed % 3 == 0 else 6)
    separator, end = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice(["\n", "\r\n"]))
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL if seed % 4 == 0 else csv.QUOTE_MINIMAL).writerows(rows)
    text = file.getvalue()
    if seed % 5 == 0:
        text = text.removesuffix(end)
    found = read(text, ["number", "level", "%Y-%m-%d", "level"], separator)
    assert found is not None and found[0] == len(rows)
    expected = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert expected == rows
    values, codes, moments, others = found[1]
    np.testing.assert_array_equal(values[0], [float(row[0] or "nan") for row in rows])
    for (place, levels), j in (((codes[0], codes[2]), 1), ((others[0], others[2]), 3)):
        assert [["", *levels][code] for code in place] == [row[j] for row in rows]
    assert moments[0].tolist() == [(datetime.fromisoformat(row[2]) - EPOCH) // timedelta(microseconds=1) for row in rows]


@pytest.mark.parametrize("text", [
    "1,2\n3\n", "1,2\n3,4,5\n", "1,2\n\n3,4\n", "\n1,2\n", '1,a"b\n2,c\n', '1,"a"b\n2,c\n', '1,"a" \n2,c\n', '1,"a\n2,c\n',
    "1\r,2\n", "1,2\r3,4\n", "1,2\n3,4\n ", "1,2\n3,4\n\n", '1,"2""\n', "1,2\r\r\n",
])  # fmt: skip
def test_rows_that_are_not_plain_are_refused(text: str) -> None:
    assert read(text, ["number", "level"]) is None
    many = "7,x\n" * 20_000  # beyond what is looked at in one go
    assert read(many + text, ["number", "level"]) is None


def test_quotes_within_quotes_fail_levels_but_not_other_columns() -> None:
    found = read('1,"a ""b"", c"\n2,d\n', ["number", "level"])
    assert found is not None and found[1][1] is None and found[1][0][0].tolist() == [1, 2]
    found = read('1,"a ""b"",\n c"\n2,d\n', ["number", ""])
    assert found is not None and found[0] == 2


def test_one_column_may_have_empty_lines() -> None:
    found = read("1\n\n2\n", ["number"])
    assert found is not None and found[0] == 3 and found[1][0][1] == 1


def test_too_many_levels_are_no_levels() -> None:
    text = "\n".join(f"level {i},{i % 7}" for i in range(3000))
    found = read(text, ["level", "level"], most=2999)
    assert found is not None and found[1][0] is None and len(found[1][1][2]) == 7
    found = read(text, ["level", "level"], most=3000)
    assert found is not None and found[1][0][2] == [f"level {i}" for i in range(3000)]


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y/%m/%d"])
def test_dates_are_those_of_datetime(form: str) -> None:
    days = [datetime(1, 1, 1) + timedelta(days=d) for d in range(0, 3_600_000, 97)] + [datetime(2000, 2, 29), datetime(1900, 2, 28)]
    written = [day.strftime(form.replace("%Y", f"{day.year:04d}")) for day in days]
    found = read("\n".join([*written, "", "n/a"]), [form])
    assert found is not None
    values, gaps, clock = found[1][0]
    assert values[:-2].tolist() == [(day - EPOCH) // timedelta(microseconds=1) for day in days]
    assert gaps == 2 and values[-1] == NO_MOMENT and clock is False


@pytest.mark.parametrize("cell", [
    "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "2024-04-31", "2024-1-01", "0000-01-01", "2024-01-01 24:00",
    "2024/01/01", "2024-01-01 10:60", "2024-01-01 10:00:60", "2024-01-01X10:00",
    "2024-01-01 10:00Z", "2024-01-01 1:00", "20240101", "2024-01-0a", "soon",
])  # fmt: skip
def test_what_is_no_date_fails_its_column(cell: str) -> None:
    found = read(f"2024-01-01\n{cell}\n", ["%Y-%m-%d"])
    assert found is not None and found[1] == [None]


def test_arguments_are_checked() -> None:
    for wrong in (dict(separator=""), dict(separator=",,"), dict(quote=","), dict(separator="\n")):
        with pytest.raises(ValueError, match=r"separator|marks"):
            read("1\n", ["number"], **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="column"):
        read("1\n", [])
    with pytest.raises(ValueError, match="date"):
        read("1\n", ["%Y-%m-%H"])
    with pytest.raises(ValueError, match="date"):
        read("1\n", ["%Y"])
    found = read("", ["number"])
    assert found is not None and found[0] == 0
