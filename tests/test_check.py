"""`tenfold check`: exit codes, what it prints, and the page."""

from __future__ import annotations

import errno
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app.check_page import page_of
from tenfold.app.commands import run

PENGUINS = Path(tenfold.__file__).parent / "data" / "penguins.csv"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def clean_file(n: int = 50) -> None:
    rng = np.random.default_rng(0)
    pl.DataFrame({"x": rng.normal(10, 1, n), "t": [("a", "b", "c")[i] for i in rng.integers(0, 3, n)]}).write_csv("t.csv")


def test_clean_warned_unreadable(capsys: pytest.CaptureFixture[str]) -> None:
    clean_file()
    assert run(["check", "t.csv"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "t.csv   50 rows x 2 columns   comma, header row" and out[-1] == "no warnings"
    assert re.fullmatch(r"  x  ratio .* numbers from 7\.\d+ to 11\.\d+", out[1])
    Path("w.csv").write_text(Path("t.csv").read_text() + "abc,a\n")
    assert run(["check", "w.csv"]) == 1
    out = capsys.readouterr().out
    assert "! 'x': 1 cell of other text ('abc' in line 52) read as missing" in out and out.endswith("1 warning\n")
    Path("u.csv").write_text("a,b\n1,2\n3,4,5\n")
    for file in ("u.csv", "gone.csv"):
        assert run(["check", file]) == 2
        captured = capsys.readouterr()
        assert captured.out == "" and captured.err.startswith("tenfold: ") and captured.err.count("\n") == 1
    assert run(["check", "t.csv", "--target", "gone"]) == 2 and "there is no column 'gone'" in capsys.readouterr().err
    assert run(["check", "--help"]) == 0 and "2 where the file cannot be read" in " ".join(capsys.readouterr().out.split())


def test_target_kinds_json_and_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(PENGUINS), "--target", "species", "--json", "--kind", "year=nominal"]) in (0, 1)
    facts = json.loads(capsys.readouterr().out)
    assert facts["target"] == "species" and facts["rows"] == 344
    assert {one["name"]: one["kind"] for one in facts["columns"]}["year"] == "nominal"
    clean_file()
    assert run(["check", "t.csv", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 1 and said.endswith("no warnings\n")
    assert run(["check", "t.csv", "--kind", "x"]) == 2 and "give COLUMN=KIND" in capsys.readouterr().err
    assert run(["check", "t.csv", "--kind", "x=foo"]) == 2
    assert capsys.readouterr().err.startswith("tenfold: --kind x=foo: must be one of nominal, ")


class _Tags(HTMLParser):
    """The tags of a page, and what they load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.bad: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.bad += [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        if tag not in ("meta", "br", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag


def no_space(number: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(PENGUINS), "--html", "p.html"]) in (0, 1)
    assert "page written to p.html" in capsys.readouterr().out
    page = Path("p.html").read_text(encoding="utf-8")
    seen = _Tags()
    seen.feed(page)
    assert not seen.bad and not seen.open and seen.tags.count("svg") >= 5 and "script" not in seen.tags and "http://" not in page
    assert run(["check", str(PENGUINS), "--html", "no/where.html"]) == 2 and "cannot be written" in capsys.readouterr().err
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        assert run(["check", str(PENGUINS), "--html", "p.html"]) == 2
    err = capsys.readouterr().err
    assert err == "tenfold: --html p.html: cannot be written (No space left on device): free some space or choose another folder; " + (
        "what was there is untouched\n"
    )
    assert Path("p.html").read_text(encoding="utf-8") == page and len(list(Path().iterdir())) == 1
    clean_file()
    before = Path("t.csv").read_bytes()
    assert run(["check", "t.csv", "--html", "t.csv"]) == 2 and Path("t.csv").read_bytes() == before


@pytest.mark.parametrize(
    "payload", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table><h1>", "&lt;b&gt;", "javascript:x"]
)
def test_texts_of_a_table_stay_texts(payload: str) -> None:
    cells = [payload, "b", "c"] * 20
    frame = pl.DataFrame({payload: cells, "x": [*["1.5", "2.5", "3.5"] * 19, "1", "2", payload]})
    frame.write_csv("t.csv")
    seen = _Tags()
    seen.feed(page_of(tenfold.read("t.csv", target=payload)))
    assert not seen.bad and not seen.open and not {"script", "img"} & set(seen.tags) and seen.tags.count("h1") == 1


def test_a_wide_page_is_small() -> None:
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"x{j}": rng.normal(size=30) for j in range(1500)})
    assert len(page_of(tenfold.read(wide))) < 3_000_000
