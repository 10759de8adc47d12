"""Nasty files: 30 kinds, each with ten variants, and what a careful person would read in them.

A kind is a function of a variant (0, ..., 9) that gives the bytes of a file and the answer: a dictionary of columns, or a `Refused` with
what the sentence must say. Cells of the answer are compared as numbers or texts; None is a missing value.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Answer = dict[str, list[Any]]


@dataclass(frozen=True)
class Refused:
    """The file is to be refused, in a sentence that holds this."""

    says: str


@dataclass(frozen=True)
class Nasty:
    """A file: its name, its bytes, the right answer, and a word of a warning that must come."""

    name: str
    data: bytes
    answer: Answer | Refused
    told: str = ""


KINDS: dict[str, Callable[[int], Nasty]] = {}


def kind(function: Callable[[int], Nasty]) -> Callable[[int], Nasty]:
    KINDS[function.__name__] = function
    return function


def table(v: int, rows: int = 30, width: int = 3) -> Answer:
    """Columns of numbers, texts and numbers, in turn."""
    rng = np.random.default_rng(v)
    made: Answer = {}
    for j in range(width):
        if j % 3 == 1:
            made[f"t{j}"] = [("red", "green", "blue")[i] for i in rng.integers(0, 3, rows)]
        else:
            made[f"x{j}"] = [round(float(x), 2) for x in rng.normal(50, 20, rows)]
    return made


def text(answer: Answer, mark: str = ",", end: str = "\n", comma: bool = False) -> str:
    """A table as CSV."""
    def cell(value: Any) -> str:
        shown = "" if value is None else str(value)
        return shown.replace(".", ",") if comma and isinstance(value, float) else shown

    lines = [mark.join(answer), *(mark.join(map(cell, row)) for row in zip(*answer.values(), strict=True))]
    return end.join(lines) + end


def csv(content: str | bytes, answer: Answer | Refused, told: str = "", name: str = "t.csv") -> Nasty:
    return Nasty(name, content.encode() if isinstance(content, str) else content, answer, told)


@kind
def marked_encodings(v: int) -> Nasty:
    """A byte order mark, in UTF-8, UTF-16 of both orders, UTF-32."""
    made = table(v) | {"größe": [1.5 + i for i in range(30)]}
    codec = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")[v % 5]
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(codec, b"")
    return csv(mark + text(made, ",;"[v // 5]).encode(codec), made)


@kind
def windows_encoding(v: int) -> Nasty:
    made = {"straße": ["Köln", "Mün", "Fürth"] * 10, "x": [i + 0.5 for i in range(30)]}
    return csv(text(made, ",;\t|,"[v % 5]).encode("cp1252"), made)


@kind
def quoted_newlines(v: int) -> Nasty:
    made = {"x": [i + 0.25 for i in range(30)], "t": [f"a{i % 3}\nb" if i % (v + 2) == 0 else f"a{i % 3}" for i in range(30)]}
    lines = ["x,t", *(f'{x},"{t}"' for x, t in zip(made["x"], made["t"], strict=True))]
    return csv("\n".join(lines) + "\n", made)


@kind
def bare_carriage_returns(v: int) -> Nasty:
    made = table(v)
    return csv(text(made, ",;"[v % 2], "\r"), made)


@kind
def windows_line_ends(v: int) -> Nasty:
    made = table(v)
    content = text(made, ",;\t|"[v % 4], "\r\n")
    return csv(content if v % 2 else content.removesuffix("\r\n"), made)


@kind
def nul_bytes(v: int) -> Nasty:
    """Refused, with the line."""
    lines = text(table(v)).encode().split(b"\n")
    lines[3 + v] = lines[3 + v][:2] + b"\0" + lines[3 + v][2:]
    return csv(b"\n".join(lines), Refused(f"line {4 + v}: "))


@kind
def too_many_cells(v: int) -> Nasty:
    lines = text(table(v)).splitlines()
    lines[5 + v] += ",7" * (1 + v % 3)
    return csv("\n".join(lines), Refused(f"line {6 + v}: 3 fields expected as in the header, {4 + v % 3} found"))


@kind
def too_few_cells(v: int) -> Nasty:
    """What is not there is missing, and it is told with the line."""
    made = table(v)
    lines = text(made).splitlines()
    row = 5 + v
    lines[row + 1] = ",".join(lines[row + 1].split(",")[: 1 + v % 2])
    made["x2"][row] = None
    if v % 2 == 0:
        made["t1"][row] = None
    return csv("\n".join(lines) + "\n", made, f"line {row + 2}: {1 + v % 2} field")


@kind
def ten_thousand_columns(v: int) -> Nasty:
    width = 10_000 if v == 0 else 200 * v
    made = {f"c{j}": [float(j + i) + 0.5 for i in range(3)] for j in range(width)}
    return csv(text(made), made)


@kind
def one_column(v: int) -> Nasty:
    if v % 2:
        made: Answer = {"word": [f"item {i % 5}" for i in range(30)]}
    else:
        made = {"x": [round(i * 1.25, 2) for i in range(1, 31)]}
    return csv(text(made, end="\r\n" if v % 3 else "\n"), made)


@kind
def a_cell_of_a_megabyte(v: int) -> Nasty:
    made = {"x": [0.5, 1.5, 2.5, 3.5], "t": ["a", "b" * (1 << 20 if v == 0 else 10_000 * v), "a", "b"]}
    return csv(text(made), made)


@kind
def one_endless_line(v: int) -> Nasty:
    """Refused; the limit is lowered by the test."""
    return csv(b"a,b," + b"x" * (3 << 20) + bytes([65 + v]), Refused("line 1: "))


@kind
def repeated_and_empty_names(v: int) -> Nasty:
    made = table(v)
    content = text(made)
    if v % 2:
        header = "x0,t1,x0\n"
        answer = {"x0": made["x0"], "t1": made["t1"], "x0_duplicated_0": made["x2"]}
        return csv(header + content.partition("\n")[2], answer, "more than once")
    return csv("x0,,x2\n" + content.partition("\n")[2], {"x0": made["x0"], "column_2": made["t1"], "x2": made["x2"]})


@kind
def endless_names(v: int) -> Nasty:
    made = {("n" * (10_240 + v)): [i + 0.5 for i in range(20)], "b": [("u", "v")[i % 2] for i in range(20)]}
    return csv(text(made), made)


@kind
def names_that_cannot_be_seen(v: int) -> Nasty:
    name = ("\u202eevil", "a\u200bb", "\u200b", "שלום", "عمر", "a\u2060", "\u2066x\u2069", "e\u0301", "🙂", "\u00a0x")[v]
    made = {name: [i + 0.5 for i in range(20)], "b": [("u", "v")[i % 2] for i in range(20)]}
    return csv(text(made), made)


@kind
def decimal_commas(v: int) -> Nasty:
    made = table(v)
    if v % 2:
        made = {"x0": made["x0"], "x2": made["x2"]}
    content = text(made, ";\t"[v // 5], comma=True)
    return csv(content, made)


@kind
def thousands_and_currencies(v: int) -> Nasty:
    rng = np.random.default_rng(v)
    values = [round(float(x), 2) for x in rng.uniform(1000, 2e6, 30)]
    form = ("{:,.2f}", "${:,.2f}", "{:,.2f} €", "£{:,.2f}", "{:,.2f}%")[v % 5]
    cells = [form.format(x) for x in values]
    if v >= 5:  # as written between the Rhine and the Oder
        cells = [c.translate(str.maketrans(",.", ".,")) for c in cells]
        return csv("p;t\n" + "".join(f"{c};a{i % 2}\n" for i, c in enumerate(cells)), {"p": values, "t": [f"a{i % 2}" for i in range(30)]})
    return csv("p,t\n" + "".join(f'"{c}",a{i % 2}\n' for i, c in enumerate(cells)), {"p": values, "t": [f"a{i % 2}" for i in range(30)]})


STYLES = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%y", "%Y/%m/%d", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%y")


@kind
def dates(v: int) -> Nasty:
    """Ten styles (two more in the tests of a table)."""
    import datetime

    days = [datetime.date(2023, 1, 1) + datetime.timedelta(days=17 * i) for i in range(30)]
    x = [i + 0.5 for i in range(30)]
    content = "day,x\n" + "".join(f"{day.strftime(STYLES[v])},{one}\n" for day, one in zip(days, x, strict=True))
    return csv(content, {"day": [day.isoformat() for day in days], "x": x})


@kind
def other_types_far_below(v: int) -> Nasty:
    """A text after very many numbers: one cell is odd, told with its line; the column stays one of numbers."""
    rows = 100_000 if v == 0 else 1000 * v
    values: list[Any] = [i / 8 for i in range(rows)]
    cells = [str(x) for x in values]
    cells[-2], values[-2] = "see remark", None
    content = "x,t\n" + "".join(f"{c},a{i % 2}\n" for i, c in enumerate(cells))
    return csv(content, {"x": values, "t": [f"a{i % 2}" for i in range(rows)]}, f"line {rows}")


@kind
def extreme_numbers(v: int) -> Nasty:
    """1e400 is no float, and told; -0 is a number; so are the largest and the least."""
    made = table(v)
    cells = [str(x) for x in made["x0"]]
    odd = ("1e400", "-1e999", "inf", "1E+500", "-inf")[v % 5]
    cells[3], made["x0"][3] = odd, None
    cells[4], made["x0"][4] = "-0", 0.0
    cells[5], made["x0"][5] = "1.7976931348623157e308", 1.7976931348623157e308
    cells[6], made["x0"][6] = "5e-324", 5e-324
    return csv("x0,t1\n" + "".join(f"{c},{t}\n" for c, t in zip(cells, made["t1"], strict=True)), {"x0": made["x0"], "t1": made["t1"]})


@kind
def words_for_missing(v: int) -> Nasty:
    word = ("NA", "N/A", "?", "null", "-", "unknown", "#N/A", "n.a.", "None", ".")[v]
    made = table(v)
    cells = [str(x) for x in made["x0"]]
    for row in (2, 9, 10):
        cells[row], made["x0"][row] = word, None
    return csv("x0,t1\n" + "".join(f"{c},{t}\n" for c, t in zip(cells, made["t1"], strict=True)), {"x0": made["x0"], "t1": made["t1"]})


@kind
def missing_words_as_texts(v: int) -> Nasty:
    """In a column of texts what no class is called is missing; none and - may be classes."""
    word = ("nan", "NA", "NaN", "?", "null", "none", "-", "None", "unknown", "missing")[v]
    texts: list[Any] = [("yes", "no", word)[i % 3] for i in range(30)]
    content = text({"x": [i + 0.5 for i in range(30)], "t": texts})
    return csv(content, {"x": [i + 0.5 for i in range(30)], "t": [None if one == word and v < 5 else one for one in texts]})


@kind
def bombs(v: int) -> Nasty:
    """A small file that unpacks to very much: refused; the limits are lowered by the test."""
    line = b"1,2,3\n" * (1 << 20)
    if v % 2:
        into = io.BytesIO()
        with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", b"a,b,c\n" + line)
        return csv(into.getvalue(), Refused("unpacks to more than"), name="t.csv.zip")
    return csv(gzip.compress(b"a,b,c\n" + line, 6), Refused("unpacks to more than"), name="t.csv.gz")


@kind
def damaged_archives(v: int) -> Nasty:
    packed = gzip.compress(text(table(v, 400)).encode())
    cut = packed[: len(packed) - 20 * (v + 1)] if v % 2 else packed[:12] + b"\xff" * (v + 3) + packed[15 + v :]
    return csv(cut, Refused("cannot be unpacked"), name="t.csv.gz")


@kind
def preambles(v: int) -> Nasty:
    made = table(v)
    above = (
        "# made by a machine\n", "Report of May\n\n", "Title,,\nprinted on Monday,,\n", "sep=;\n", "% one\n% two\n",
        "Station: Bonn\nHeight: 60\n\n", "\n\n", "Exported by somebody; all rights reserved\n\n", "# a, b and c\n\n", "// remark\n",
    )[v]  # fmt: skip
    return csv(above + text(made, ";" if v == 3 else ","), made, "" if v in (3, 6) else "above the header")


@kind
def footers(v: int) -> Nasty:
    made = table(v)
    below = (
        "\nSource: the office\n", "Total,,1234.5\n", "(30 rows)\n", "\n\n", "* provisional figures only\n",
        "\nGenerated on Monday\n", "Note: see below\n", "Sum,,99\n", "# end\n", "\nCopyright: nobody\n",
    )[v]  # fmt: skip
    return csv(text(made) + below, made, "" if v == 3 else "below the rows")


@kind
def repeated_headers(v: int) -> Nasty:
    made = table(v)
    lines = text(made).splitlines()
    for at in range(8, 28, 10 - v):
        lines.insert(at, lines[0])
    return csv("\n".join(lines) + "\n", made, "the header stands again")


@kind
def formulas(v: int) -> Nasty:
    """A cell that a spreadsheet has not computed is odd; nothing is run."""
    made = table(v)
    cells = [str(x) for x in made["x0"]]
    cells[7], made["x0"][7] = ("=SUM(A1:A3)", "=1+1", "@SUM(A1)", '=HYPERLINK("x")', "=cmd|' /C calc'!A0")[v % 5], None
    quoted = [f'"{c.replace(chr(34), chr(34) * 2)}"' for c in cells]
    content = "x0,t1\n" + "".join(f"{c},{t}\n" for c, t in zip(quoted, made["t1"], strict=True))
    return csv(content, {"x0": made["x0"], "t1": made["t1"]}, "line 9")


@kind
def open_quotes(v: int) -> Nasty:
    """A quote that is never closed, or text after one: refused with the line. One inside of a cell is a character."""
    made = {"x": [i + 0.5 for i in range(30)], "t": [f"size {i % 3}" for i in range(30)]}
    lines = text(made).splitlines()
    row = 4 + v
    if v % 3 == 0:
        lines[row] = f'{row - 0.5},"open'
        return csv("\n".join(lines) + "\n", Refused(f"line {row + 1}: a quote is opened and never closed"))
    if v % 3 == 1:
        lines[row] = f'{row - 0.5},"a"b'
        return csv("\n".join(lines) + "\n", Refused(f"line {row + 1}: text after the quote"))
    lines[row], made["t"][row - 1] = f'{row - 0.5},5" disk', '5" disk'
    return csv("\n".join(lines) + "\n", made)


@kind
def no_header(v: int) -> Nasty:
    """Numbers in the first line: it is kept as a row, and told."""
    made = table(v, width=4)
    content = text(made).partition("\n")[2]
    if v % 2:
        numbers = {name: cells for name, cells in made.items() if name[0] == "x"}
        content, made = text(numbers).partition("\n")[2], numbers
    return csv(content, {f"column_{j + 1}": cells for j, cells in enumerate(made.values())}, "kept as a row")
