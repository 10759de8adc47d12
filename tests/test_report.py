"""The page of a run: nothing active but our own, whatever names are; bounded size and time; sections come and go with their facts."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from reports import explained_of, held_out_of, record_of
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.core.errors import BadFile, BadInput, BadParameter
from tenfold.report import classes as classes_of_page
from tenfold.report import trust
from tenfold.report.folder import report_run
from tenfold.report.page import LARGEST, page_of, write_report
from tenfold.selection.model.store import EXPLAINED, FILES

OPENINGS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "</table><iframe src=//evil.example></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "<object data=//evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example>",
    "<form action=//evil.example><input name=x></form>",
    "<math><mtext><script>alert(1)</script></mtext></math>",
    "<!--<script>-->alert(1)",
    "<![CDATA[<script>alert(1)]]>",
    "<style>@import '//evil.example'</style>",
    "<video poster=//evil.example autoplay>",
    "<details open ontoggle=alert(1)>",
    "{{ 7 * 7 }}{% for x in [1] %}x{% endfor %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<use href='data:image/svg+xml,<svg onload=alert(1)>'>",
    "<foreignObject><body onload=alert(1)></foreignObject>",
    "\u202e<b>\u0000\x1b[31m",
)
WRAPS = (("", ""), ('" ', ' x="'), ("' ", " x='"), ("> ", ""), ("--> ", ""), ("]]> ", ""), ("x\n", "\t"), ('" onmouseover="alert(1)" ', ""))
PAYLOADS = [before + opening + after for opening in OPENINGS for before, after in WRAPS]
OURS = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "footer", "script"),
    *("h1", "h2", "h3", "p", "b", "span", "a", "small", "div", "pre", "ul", "li", "dl", "dt", "dd", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "label", "output", "input"),
    *("svg", "line", "text", "path", "circle", "rect"),
}
FETCHING = frozenset(("src", "srcset", "style", "action", "formaction", "poster", "data", "xlink:href", "background", "ping"))
SECTIONS = [
    *("verdict", "trust", "warnings", "drivers", "errors", "uncertainty", "failing", "fairness"),
    *("race", "different", "chosen", "learning", "target", "table", "reproduce"),
]


class Nodes(HTMLParser):
    """Every element with its attributes, the texts of scripts and styles, and the ids of sections."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = dict(script=[], style=[])
        self.open = ""
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open in self.inside:
            self.inside[self.open].append(data)

    @property
    def sections(self) -> list[str]:
        return [str(attributes["id"]) for tag, attributes in self.tags if tag == "section"]


def active(nodes: Nodes) -> list[str]:
    """What a browser would run or fetch, beyond the page's own."""
    found = [tag for tag, _ in nodes.tags if tag not in OURS]
    for tag, attributes in nodes.tags:
        for name, value in attributes.items():
            text = (value or "").strip().lower()
            local = tag == "a" and name == "href" and (text.startswith("#") or text.startswith("data:text/csv;base64,"))
            if name.startswith("on") or name in FETCHING or (name == "href" and not local):
                found.append(f"{tag} {name}={value}")
    return found


def page_with(text: str, classes: int = 2) -> str:
    held = held_out_of(classes, text, n=60)
    return page_of(record_of(classes > 0, text), held, explained_of(classes > 0, text))


@cache
def plain(classes: int) -> Nodes:
    return Nodes(page_with("", classes))


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of pages holds for any number of draws (at least 20 are shown); their values are held in test_report_numbers.py."""
    monkeypatch.setattr(trust, "SHUFFLES", 20)
    monkeypatch.setattr(classes_of_page, "REPLICATES", 20)


@pytest.mark.parametrize("part", range(8))
def test_names_stay_texts(part: int) -> None:
    """200 payloads in names of columns, levels, classes, models, target and file: the elements of the page are those of plain names."""
    assert len(PAYLOADS) == 200
    for k, payload in enumerate(PAYLOADS[part::8]):
        for classes in (2, 0) if k % 5 == 0 else (2,):
            page, expected = page_with(payload, classes), plain(classes)
            nodes = Nodes(page)
            assert not active(nodes), payload
            assert [tag for tag, _ in nodes.tags] == [tag for tag, _ in expected.tags], payload
            assert nodes.inside == expected.inside
            assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", page)


def test_policy_allows_the_pages_own_script_and_style_alone() -> None:
    for nodes in map(plain, (2, 0)):
        policy = next(str(a["content"]) for tag, a in nodes.tags if a.get("http-equiv") == "Content-Security-Policy")
        digests = {kind: hashlib.sha256("".join(texts).encode()).digest() for kind, texts in nodes.inside.items()}
        style, script = (f"'sha256-{base64.b64encode(digests[kind]).decode()}'" for kind in ("style", "script"))
        assert policy == f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
        assert [tag for tag, _ in nodes.tags].count("script") == 1
        assert "url(" not in nodes.inside["style"][0] and "@import" not in nodes.inside["style"][0]
        assert "innerHTML" not in nodes.inside["script"][0] and "eval" not in nodes.inside["script"][0]


def test_pictures_in_tables_are_as_wide_as_they_are() -> None:
    """Not as wide as long texts, which would push what stands beside them off a phone."""
    page = page_with("")
    assert 'class="words">learns nothing' not in page and re.search('<td><svg class="strip"', page)
    assert not re.search('<td class="words"><svg', page)


def test_shaded_cells_can_be_read() -> None:
    """Small texts on every shade, in light and in dark: a contrast of at least 4.5, as WCAG asks for."""
    css = plain(2).inside["style"][0]
    faded = float(re.search(r"td\.heat small \{[^}]*opacity: ([.\d]+)", css)[1])  # type: ignore[index]
    shades = [float(one) for one in re.findall(r"td\.h\d \{ background: rgb\(var\(--rgb\) / calc\(([.\d]+) \* var\(--deep\)\)\)", css)]

    def light(colour: np.ndarray) -> float:
        x = colour / 255
        return float(np.where(x <= 0.03928, x / 12.92, ((x + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])

    roots = re.findall(r":root \{([^}]*)\}", css)
    assert len(shades) == 9 and len(roots) == 3
    for root in roots:
        given = dict(re.findall(r"--(\w+): ([^;]*)", root))
        ink, back = (np.array([int((one * 2 if len(one) == 3 else one)[k : k + 2], 16) for k in (0, 2, 4)], dtype=np.float64)
                     for one in (given["ink"][1:], given["back"][1:]))  # fmt: skip
        for shade in shades:
            a = shade * float(given["deep"])
            under = a * np.array(given["rgb"].split(), dtype=np.float64) + (1 - a) * back
            low, high = sorted((light(under), light(faded * ink + (1 - faded) * under)))
            assert (high + 0.05) / (low + 0.05) >= 4.5


def test_all_sections_are_there_in_order() -> None:
    for nodes in map(plain, (2, 0)):
        assert nodes.sections == SECTIONS
    several = Nodes(page_of(record_of(True), held_out_of(4), explained_of(True)))
    assert several.sections == SECTIONS and not active(several)


@pytest.mark.parametrize(
    ("gone", "section"),
    [
        ("estimate", "trust"), ("board", "race"), ("trace", "different"), ("chosen", "chosen"), ("columns", "table"),
    ],
)  # fmt: skip
def test_a_section_without_facts_is_left_out(gone: str, section: str) -> None:
    for classes in (2, 0):
        record = record_of(bool(classes))
        del record[gone]
        found = Nodes(page_of(record, held_out_of(classes), explained_of(bool(classes)))).sections
        assert section not in found and set(SECTIONS) - set(found) <= {section, "different"}


def test_sections_of_held_out_rows_and_of_the_model_come_and_go() -> None:
    for classes in (True, False):
        without = Nodes(page_of(record_of(classes))).sections
        assert set(SECTIONS) - set(without) == {"drivers", "errors", "uncertainty", "failing", "fairness", "target"}
        few = {"warnings", "drivers", "fairness"}
        assert set(SECTIONS) - set(Nodes(page_of(record_of(classes), held_out_of(2 * classes))).sections) <= few


ODD = (None, "text", -1.5, [], {"a": None}, [None], [{}], [[1, 2], [3]])


def test_whatever_a_record_holds_a_page_is_written() -> None:
    """Records grow and shrink from version to version, and people write in them: no value of any key breaks the page."""
    assert Nodes(page_of({})).sections == ["verdict", "reproduce"]
    whole, more = record_of(True), explained_of(False)
    for key in whole:
        for value in ODD:
            assert "</html>" in page_of(dict(whole, **{key: value}), None, more), (key, value)
    for key in more:
        for value in ODD:
            assert "</html>" in page_of(dict(settings=whole["settings"]), None, dict(more, **{key: value})), (key, value)


@pytest.mark.parametrize("odd", [None, [], [1.0], "x", [None, None, None]])
@pytest.mark.parametrize("part", ["column", "x", "low", "middle", "high"])
def test_residuals_along_a_column_that_cannot_be_drawn_are_left_out(part: str, odd: object) -> None:
    along = dict(column="age", x=[1.0, 2.0, 3.0], low=[-1.0, -1.0, -1.0], middle=[0.0, 0.0, 0.0], high=[1.0, 1.0, 1.0])
    assert "residuals along age" in page_of(record_of(False), held_out_of(0), dict(residuals=[along]))
    page = page_of(record_of(False), held_out_of(0), dict(residuals=[along | {part: odd}]))
    assert "</html>" in page and "residuals along age" not in page


def test_ten_thousand_columns_are_bounded() -> None:
    for text in ("", "<&'\"" * 20):
        began = time.process_time()
        page = page_of(record_of(True, text, 10_000), held_out_of(2), explained_of(True, text, 10_000))
        assert time.process_time() - began < 10
        assert len(page.encode()) < LARGEST
        nodes = Nodes(page)
        assert [tag for tag, _ in nodes.tags].count("input") == 2  # the slider, and the box to search names
        rows = page[page.index('id="table"') : page.index("<details", page.index('id="table"'))].count("<tr>")
        assert rows == 51


def test_marks_are_bounded_and_rows_are_many() -> None:
    for classes in (0, 2, 12):
        page = page_of(record_of(classes > 0), held_out_of(classes, n=20_000))
        for svg in re.findall("<svg.*?</svg>", page, re.DOTALL):
            assert len(re.findall("<(circle|rect|line|path)", svg)) <= 2100
        assert len(page.encode()) < 1_000_000


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_few_rows(n: int) -> None:
    for classes in (0, 2, 3):
        assert "</html>" in page_of(record_of(classes > 0), held_out_of(classes, n=n))


@pytest.mark.parametrize("factor", [1e-300, 1e150, 0.0])
def test_odd_numbers(factor: float) -> None:
    held = held_out_of(0)
    page = page_of(record_of(False), held.with_columns(held["truth"] * factor, held["prediction"] * factor))
    assert not re.search(r'"-?(nan|inf)|[ ,]nan|>nan', page)


def test_verdicts() -> None:
    record = record_of(True)
    assert "No usable signal" in page_of(dict(record, signal=False))
    assert "was stopped" in page_of(dict(record, signal=None, interrupted=True, estimate={}))
    assert "partly predictable" in page_of(record)


def test_the_file_is_written_whole(tmp_path: Path) -> None:
    path = write_report(tmp_path / "a.html", record_of(True), held_out_of(2))
    assert path.read_text(encoding="utf-8").endswith("</html>")
    with pytest.raises(Exception, match="nowhere"):
        write_report(tmp_path / "nowhere" / "a.html", record_of(True))
    with pytest.raises(BadFile, match="holds no run"):
        report_run(tmp_path)
    with pytest.raises(BadInput, match="no column 'truth'"):
        page_of(record_of(True), held_out_of(2).drop("truth"))
    assert {EXPLAINED, "report.html"} <= FILES


def test_a_run_writes_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand from memory, and by the command, which keeps what it found out about the model for the next page."""
    shrink(monkeypatch, 5, (5,))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    table = pl.DataFrame(dict(a=x[:, 0], b=x[:, 1], y=np.where(x[:, 0] + 0.3 * rng.normal(size=120) > 0, "yes", "no")))
    table = table.with_columns(y=pl.when(pl.int_range(120) == 3).then(None).otherwise(pl.col("y")))  # a row without a target
    found = tenfold.select(table, "y", effort="quick", folds=3)
    page = found.report(tmp_path / "a.html", table).read_text(encoding="utf-8")
    assert {"drivers", "failing", "errors"} <= set(Nodes(page).sections) and "Most of it comes from a" in page
    assert "drivers" not in Nodes(found.report(tmp_path / "b.html").read_text(encoding="utf-8")).sections
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadParameter, match=r"mine.csv': this is where the page goes, not the table: end it in .html"):
        found.report(tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"
    with pytest.raises(BadInput, match="has 119 rows, but the run was made from 120"):
        found.report(tmp_path / "c.html", table[1:])
    monkeypatch.chdir(tmp_path)
    table.write_csv("t.csv")
    select = ["select", "t.csv", "--target", "y", "--quiet", "--effort", "quick", "--folds", "3"]
    assert run(select) == 0
    first = Path("t.tenfold/report.html").read_text(encoding="utf-8")
    assert "drivers" in Nodes(first).sections and Path("t.tenfold", EXPLAINED).exists()
    assert run(["report", "t.tenfold"]) == 0 and Path("t.tenfold/report.html").read_text(encoding="utf-8") == first
    assert run(["report", "t.tenfold", "t.csv", "--out", "other.html"]) == 0 and Path("other.html").exists()
    assert run(["report", "nowhere.tenfold"]) == 3
    assert run(select) == 0  # a folder with a report is still ours
