"""Slips of whoever types a command, or has made a table: nothing is overwritten or lost, and a sentence tells what to do."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.app.progress import PLAIN_EVERY, Progress
from tenfold.core.errors import BadFile, BadInput
from tenfold.report.folder import report_run
from tenfold.selection.honest.estimate import enough_by_class, least_of, sets_of
from tenfold.table.copies import duplicate_groups
from tenfold.table.leaks import leak_suspects
from tenfold.table.task import find_task

Captured = pytest.CaptureFixture[str]
FIT = ["fit", "t.csv", "--target", "y", "--folds", "3", "--quiet", "--model", "Ridge"]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def numbers(n: int = 80) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    return pl.DataFrame(x, schema=list("abc")).with_columns(y=pl.Series(x[:, 0] + 0.3 * rng.normal(size=n)))


def labels(tiny: str = "", n: int = 300) -> pl.DataFrame:
    """Three classes that lie apart, and a row of another one for each letter."""
    y = np.array(list("abc"))[np.arange(n) % 3].tolist() + list(tiny)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(y), 2)) + np.array([[ord(one) % 7, ord(one) % 3] for one in y])
    return pl.DataFrame(x, schema=["u", "v"]).with_columns(y=pl.Series(y))


# --- what is typed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (["select", "t.csv", "--target", "y", "--rows", "5"], 2, "--rows 5: must be a whole number of at least 10"),
        (["select", "t.csv", "--target", "y", "--rows", "1e3"], 2, "tenfold: --rows 1e3: must be a whole number"),
        (["select", "t.csv", "--target", "y", "--seed", "1.5"], 2, "tenfold: --seed 1.5: must be a whole number"),
        (["select", "t.csv", "--target", "y", "--time", "-3"], 2, "tenfold: --time -3: must be a number of seconds above 0"),
        (["select", "t.csv", "--target", "y", "--time", "soon"], 2, "tenfold: --time soon: must be a number"),
        (["unusual", "t.csv", "--rate", "few"], 2, "tenfold: --rate few: must be a number"),
        (["explain", "t.tenfold", "--row", "abc"], 2, "tenfold: --row abc: must be a whole number"),
        (
            ["select", "t.csv", "--target", "y", "--honest", "nested", "--time-column", "a"], 2,
            "--honest nested: in the order of 'a' the choice is repeated by folds",
        ),
        (["select", "t.csv", "--target", "y", "--time-column", "y"], 2, "--time-column y: "),
        (["select", "t.csv", "--target", "y", "--positive", "yes"], 2, "or say --task classes"),
        (["select", "t.csv", "--target", "y", "--cost", "FP"], 2, "--cost FP: 'FP' has no number: write FP:1,FN:20"),
        (["select", "t.csv", "--target", "y", "--drop", "a,zz"], 2, "there is no column 'zz'"),
        (["select", "tt.csv", "--target", "y"], 3, "there is no file tt.csv: did you mean t.csv?"),
        (["select", "-", "--target", "y"], 3, "there is no file -"),
        (["select", "nothing.csv", "--target", "y", "--holdout", "t.csv"], 3, "there is no file nothing.csv"),
        (["select", "t.csv", "--target", "a,b", "--out", "none/runs"], 3, "there is no folder none to write runs into: make it first"),
        (["resume", "."], 3, "only a run that was stopped or killed can go on"),
    ],
)
def test_a_slip_is_told_in_the_words_of_who_types(typed: list[str], code: int, said: str, capsys: Captured) -> None:
    numbers().write_csv("t.csv")
    assert run(typed) == code
    told = capsys.readouterr().err
    assert said in " ".join(told.split()) and "fault" not in told
    assert sorted(os.listdir()) == ["t.csv"]


def test_several_columns_with_commas_between() -> None:
    numbers().write_csv("t.csv")
    assert run([*FIT, "--drop", "b,c"]) == 0
    model: Any = tenfold.load("t.tenfold/model.tenfold")
    assert [one.name for one in model.coder.as_columns()] == ["a"]


def test_a_pipe_is_no_table() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(BadFile, match="is a pipe or a device"):
            tenfold.read(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("end", ["csv", "csv.gz", "parquet", "jsonl", "xlsx", "db"])
def test_a_file_that_may_not_be_read_cannot_be_used(end: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Which is not a wrong use of the command."""
    name, opened = f"t.{end}", io.open

    def refuse(file: Any, *how: Any, **more: Any) -> Any:
        if str(file) == name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), file)
        return opened(file, *how, **more)

    Path(name).write_text("x")
    monkeypatch.setattr(os, "access", lambda path, mode, **more: str(path) != name)
    monkeypatch.setattr(io, "open", refuse)
    for typed, code in ((["select", name, "--target", "y", "--quiet"], 3), (["cluster", name], 3), (["check", name], 2)):
        assert run(typed) == code
        assert capsys.readouterr().err == f"tenfold: {name} cannot be read (Permission denied)\n"
    assert run(["inspect", name]) == 3


def test_who_reads_the_progress_may_go_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def isatty(self) -> bool:
            return False

        def write(self, text: str) -> int:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    progress = Progress()
    progress.last -= 2 * PLAIN_EVERY
    progress.show(3, 10, 6.0)


def test_quiet_tells_what_could_not_be_done(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    shrink(monkeypatch)
    numbers().write_csv("t.csv")
    numbers().select("c", "y").write_csv("apart.csv")
    assert run(["select", "t.csv", "--target", "y", "--effort", "quick", "--quiet", "--holdout", "apart.csv"]) == 0
    told = capsys.readouterr()
    assert told.out.count("\n") == 1 and "apart.csv was not judged" in told.err


# --- the page of a run ------------------------------------------------------------------------------------------------


def test_the_page_does_not_replace_the_table(capsys: Captured) -> None:
    numbers().write_csv("t.csv")
    assert run(FIT) == 0
    before = Path("t.csv").read_bytes()
    assert run(["report", "t.tenfold", "t.csv", "--out", "t.csv"]) == 2
    assert Path("t.csv").read_bytes() == before and "end it in .html" in capsys.readouterr().err


def test_another_table_of_as_many_rows_is_refused() -> None:
    """The same rows in another file are not."""
    halves = labels().with_columns(y=pl.Series([0.5, 1.0] * 150))
    for frame, model in ((numbers(), "Ridge"), (labels(), "LogisticRegression"), (halves, "LogisticRegression")):
        frame.write_csv("t.csv")
        assert run([*FIT[:-1], model, "--replace"]) == 0
        frame.write_parquet("same.parquet")
        report_run("t.tenfold", "same.parquet")
        frame.sort("y", descending=True).write_csv("sorted.csv")
        with pytest.raises(BadInput, match=r"sorted\.csv is not the table that the run was made from: 'y' is another in row"):
            report_run("t.tenfold", "sorted.csv")


def test_a_page_without_what_drives_the_model_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    shrink(monkeypatch)
    monkeypatch.setattr("tenfold.app.select_run.WIDE", 2)
    numbers().write_csv("t.csv")
    assert run(["select", "t.csv", "--target", "y", "--effort", "quick"]) == 0
    assert "tenfold report t.tenfold t.csv finds it out" in " ".join(capsys.readouterr().out.split())


# --- a label that is mistyped in one row ------------------------------------------------------------------------------


def test_it_does_not_clear_a_column_that_gives_the_others_away() -> None:
    y, x = [*labels()["y"].to_list(), "A"], np.random.default_rng(2).normal(size=301)
    given = [f"level {one.lower()}" for one in y]
    task = find_task(pl.Series("y", y), tiny=True)
    assert set(task.classes) == set("abcA")
    assert [name for name, _ in leak_suspects(pl.DataFrame(dict(x=x, given=given)), task)] == ["given"]
    measured = [float("abc".index(one.lower())) for one in y]
    assert [name for name, _ in leak_suspects(pl.DataFrame(dict(x=x, measured=measured)), task)] == ["measured"]


@pytest.mark.parametrize("twice", [300, 0])  # the only row of a class is there twice; a row of another class is written again as that one
def test_it_does_not_part_copies(twice: int) -> None:
    frame = pl.concat([labels("d"), labels("d")[:20].with_columns(y=labels()["y"][:20])])
    last = labels("d")[twice : twice + 1].with_columns(y=pl.Series(["d"]))
    frame = pl.concat([frame.filter(pl.col("y") != "d"), *([last, last] if twice else [last])])
    task = find_task(frame["y"], tiny=True)
    groups, note = duplicate_groups(frame.drop("y"), task, 5)
    assert groups is not None and "kept in the same fold" in note


def test_it_may_have_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)
    frame = labels("d").with_columns(w=pl.Series([1.0] * 300 + [0.0]))
    found = tenfold.select(frame, "y", weights="w", effort="quick")
    assert set(found.model.classes_) == set("abc")
    with pytest.raises(BadInput, match="all rows of the class 'a' have weight 0"):
        tenfold.select(frame.with_columns(w=(pl.col("y") != "a").cast(pl.Float64)), "y", weights="w", effort="quick")


def test_it_does_not_take_their_own_sets_from_the_others() -> None:
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.full(4, 0.7), 600)
    truth = (probabilities[:, :3].cumsum(axis=1) < rng.random((600, 1)) * probabilities[:, :3].sum(axis=1, keepdims=True)).sum(axis=1)
    truth[0] = 3
    assert enough_by_class(truth, 4)
    least, without = least_of(probabilities, truth), least_of(probabilities[1:], truth[1:])
    assert least is not None and without is not None
    np.testing.assert_array_equal(least[:3], without[:3])
    assert len(set(least.tolist())) == 4
    found = sets_of(probabilities, truth, np.arange(600) % 5, list("abcd"))
    assert found is not None and found["worst"]["label"] != "d"
