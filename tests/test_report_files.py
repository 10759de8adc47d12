"""What stands beside the page: the same facts as Markdown, and as a PDF; and the groups of a column that was named."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from reports import explained_of, held_out_of, record_of
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.core.errors import BadFile, BadParameter
from tenfold.report import printed
from tenfold.report.facts import Facts
from tenfold.report.fairness import fairness
from tenfold.report.markdown import escaped, fenced, markdown_of
from tenfold.report.page import page_of, sections_of
from tenfold.selection.model.store import FILES

NASTY = "<script>alert(1)</script> | **b** [x](http://evil.example) `c` ![i](y)\n# h"


def test_markdown_holds_the_facts_of_the_page() -> None:
    for kinds in (2, 0, 4):
        text = markdown_of(record_of(kinds > 0), held_out_of(kinds), explained_of(kinds > 0))
        assert text.startswith("# Predicting left\n") and "<svg" not in text and "\n\n\n" not in text
        heads = re.findall("^## (.*)$", text, re.MULTILINE)
        page = page_of(record_of(kinds > 0), held_out_of(kinds), explained_of(kinds > 0))
        titles = re.findall('<section id="[a-z]+"><h2>(.*?)</h2>', page)
        assert [one for one in titles if one in heads] == heads and {"Verdict", "The race", "The chosen model", "Reproduce"} <= set(heads)
        assert "upright line" not in text and "upright line" in page  # no pictures, and nothing of how they are to be read
        assert "| forest |" in text and "tenfold select churn.csv --target left" in text and text.count("\nPredicts   ") == 1
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):  # every line of a table has as many cells
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_markdown_of_any_names_stays_text() -> None:
    plain = markdown_of(record_of(True), held_out_of(2), explained_of(True))
    text = markdown_of(record_of(True, NASTY), held_out_of(2, NASTY), explained_of(True, NASTY))
    outside = re.sub(r"^(`{3,})$.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "<script" not in outside and not re.search(r"(?<!\\)\[x", outside) and not re.search(r"(?<!\\)!\[", outside)
    assert len(re.findall("^## ", text, re.MULTILINE)) == len(re.findall("^## ", plain, re.MULTILINE))
    assert escaped("a|b<c>\n*d*") == "a\\|b&lt;c&gt; \\*d\\*"
    assert fenced("x ```` y") == "`````\nx ```` y\n`````"


@pytest.mark.skipif(not any(map(shutil.which, printed.BROWSERS)), reason="no Chromium or Chrome here")
def test_the_page_is_printed(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(page_of(record_of(True), held_out_of(2), explained_of(True)), encoding="utf-8")
    out = printed.print_page(page, tmp_path / "report.pdf")
    assert out.read_bytes().startswith(b"%PDF") and out.stat().st_size > 20_000


def test_without_a_browser_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadParameter, match="neither Chromium nor Chrome is on the PATH"):
        printed.browser()
    for ending in ("exit 3", "exit 0"):
        (tmp_path / "chromium").write_text(f"#!/bin/sh\n>&2 echo broken\n{ending}\n")
        (tmp_path / "chromium").chmod(0o755)
        with pytest.raises(BadFile, match=r"chromium did not print the page \(broken\)"):
            printed.print_page(tmp_path / "a.html", tmp_path / "a.pdf")
    assert not (tmp_path / "a.pdf").exists()


def test_groups_that_are_told() -> None:
    more = explained_of(True)
    section = fairness(Facts(record_of(True), None, more))
    assert section is not None
    words = str(section.blocks)
    assert "The log loss of f differs" in words and "2 groups of fewer than 15 rows, 9 rows together" in words
    assert "1 smaller group" in words
    assert "The model uses sex" in words and "agrees with what came true" in words
    more["fair"]["groups"][1] |= dict(gap=dict(value=0.2, low=0.1, high=0.3))
    assert "Overrated: m." in str(fairness(Facts(record_of(True), None, more)).blocks)  # type: ignore[union-attr]
    numbers = fairness(Facts(record_of(False), None, explained_of(False)))
    assert numbers is not None and [type(one).__name__ for one in (*section.blocks, *numbers.blocks)].count("Table") == 3 + 2
    assert "fairness" not in [one.id for one in sections_of(Facts(record_of(True), None, more | dict(fair=None)))]
    more["fair"]["groups"] = []  # all of them are small
    few = fairness(Facts(record_of(True), None, more))
    assert few is not None and few.id == "fairness" and "2 groups of fewer than 15 rows" in str(few.blocks)


def test_commands_write_what_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shrink(monkeypatch, 5, (5,))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, sex = rng.normal(size=(150, 2)), rng.choice(["f", "m"], 150)
    table = pl.DataFrame(dict(a=x[:, 0], b=x[:, 1], sex=sex, y=np.where(x[:, 0] + 0.3 * rng.normal(size=150) > 0, "yes", "no")))
    table.write_csv("t.csv")
    select = ["select", "t.csv", "--target", "y", "--quiet", "--effort", "quick", "--folds", "3", "--drop", "sex"]
    assert run(select) == 0
    page = Path("t.tenfold/report.html")
    assert "Fairness" not in page.read_text(encoding="utf-8")
    assert run(["report", "t.tenfold", "t.csv", "--by", "sex", "--markdown"]) == 0
    assert "The model does not use sex" in page.read_text(encoding="utf-8") and "Fairness: by sex" in page.with_suffix(".md").read_text()
    assert run(["report", "t.tenfold"]) == 0 and "Fairness" in page.read_text(encoding="utf-8")  # kept
    capsys.readouterr()
    for words, said in (
        (["--by", "sex"], "name it too"),
        (["t.csv", "--by", "sexx"], "did you mean 'sex'"),
        (["t.csv", "--by", "y"], "the column that is predicted"),
        (["--markdown", "--out", "x.md"], "end it in .html"),
    ):
        assert run(["report", "t.tenfold", *words]) != 0 and said in capsys.readouterr().err
    assert {"report.md", "report.pdf"} <= FILES and run(select) == 0  # a folder with them is still ours
    found = tenfold.select(table, "y", effort="quick", folds=3)
    assert "The model uses sex" in found.report(tmp_path / "a.html", table, by="sex").read_text(encoding="utf-8")
    with pytest.raises(BadParameter, match="give it too"):
        found.report(tmp_path / "b.html", by="sex")
