"""tenfold predict: rows unlike the training table are told, large files go part by part, and nothing is half written."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app.commands import run
from tenfold.selection.model import predictions
from tenfold.selection.model.unlike import Unlike
from tenfold.table import large
from tenfold.table.columns import look_at_columns
from tenfold.table.sketch import sketch

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(tmp_path)
    table("t.csv", 200)
    assert run(["fit", "t.csv", "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
    capsys.readouterr()


def table(name: str, rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, rows)
    c = rng.choice(["red", "green"], rows)
    frame = pl.DataFrame({"x": x, "c": c, "y": np.where(x + (c == "red") > 0.9, "yes", "no")})
    frame.write_csv(name) if name.endswith(".csv") else frame.write_parquet(name)
    return frame


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LARGE", 100)
    monkeypatch.setattr(large, "PART_CELLS", 300)
    monkeypatch.setattr(large, "FIRST", 2000)
    monkeypatch.setattr(large, "PART", 2000)


def test_gzip_from_a_pipe_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(Path("t.csv").read_bytes()))))
    assert run(["predict", "t.tenfold", "-"]) == 3
    assert capsys.readouterr().err == "tenfold: standard input: gzip is not unpacked from a pipe: use zcat\n"


def test_a_cell_that_cannot_be_read_is_not_called_missing(capsys: Captured) -> None:
    texts = ["1,234.50", "abc", "", *["0.5"] * 17]
    table("new.csv", 20, 1).with_columns(x=pl.Series(texts)).write_csv("new.csv")
    for gaps, marks in ((0, "missing, which it never was"), (5, None)):  # of the training table
        frame = table("t.csv", 200)
        frame.with_columns(x=pl.Series([None] * gaps + frame["x"].to_list()[gaps:], dtype=pl.Float64)).write_csv("t.csv")
        assert run(["fit", "t.csv", "--target", "y", "--model", "GaussianNB", "--folds", "3", "--quiet"]) == 0
        capsys.readouterr()
        assert run(["predict", "t.tenfold", "new.csv", "--out", "a.csv", "--mark"]) == 0
        assert "'x' cells such as '1,234.50' cannot be read (rows 1, 2)" in capsys.readouterr().err
        said = "x cells such as '1,234.50' cannot be read"
        assert pl.read_csv("a.csv")["unlike the training table"].to_list()[:4] == [said, said, marks and f"x {marks}", None]


def test_rows_unlike_the_training_table_are_told(capsys: Captured) -> None:
    frame = table("new.csv", 20, 1).with_columns(x=pl.Series([5.0, -5.0, None, *[0.5] * 17]), c=pl.Series(["blue", *["red"] * 19]))
    frame.write_csv("new.csv")
    assert run(["predict", "t.tenfold", "new.csv", "--out", "a.csv"]) == 0
    said = capsys.readouterr()
    assert "20 predictions written to a.csv" in said.out
    assert "3 of 20 rows look unlike the training table:" in said.err
    parts = ["'x' below 0.002 (row 2)", "'x' above 0.998 (row 1)", "'x' missing, which it never was (row 3)", "'c' 'blue' is new (row 1)"]
    assert all(part in said.err for part in parts)
    assert run(["predict", "t.tenfold", "new.csv", "--out", "b.csv", "--mark"]) == 0
    marked = pl.read_csv("b.csv")
    words = ["x above 0.998; c 'blue' is new", "x below 0.002", "x missing, which it never was", None]
    assert marked["unlike the training table"].to_list()[:4] == words
    assert marked.drop("unlike the training table").equals(pl.read_csv("a.csv"))
    capsys.readouterr()
    assert run(["predict", "t.tenfold", "t.csv", "--out", "c.csv"]) == 0 and not capsys.readouterr().err
    for rows, said in ((frame[:1], "1 of 1 row looks unlike"), (frame[[0, 5]], "1 of 2 rows looks unlike")):
        rows.write_csv("new.csv")
        assert run(["predict", "t.tenfold", "new.csv"]) == 0 and said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "model", "after"),
    [
        ("90% from", "Ridge", ["90% from", "90% from_", "90% to"]),
        ("chance of no", "GaussianNB", ["chance of no", "90% set", "chance of no_", "chance of yes"]),
    ],
)
def test_a_target_may_be_called_as_what_stands_beside_it(target: str, model: str, after: list[str]) -> None:
    frame = table("t.csv", 60)
    y = frame["y"] if model == "GaussianNB" else 3 * frame["x"]
    frame.drop("y").with_columns(y.alias(target)).write_csv("t.csv")
    assert run(["fit", "t.csv", "--target", target, "--model", model, "--folds", "3", "--quiet", "--out", "o.tenfold"]) == 0
    assert run(["predict", "o.tenfold", "t.csv", "--out", "a.parquet"]) == 0
    found = pl.read_parquet("a.parquet")
    assert found.columns == after
    np.testing.assert_array_equal(found[target], tenfold.load("o.tenfold/model.tenfold").predict("t.csv"))


def test_names_of_many_columns_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time polars makes a list of all of them: for every column this is quadratic."""
    names, asked = [f"c{j}" for j in range(200)], list[int]()
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(30, len(names))), schema=names)
    columns, _ = look_at_columns(frame, True)
    looked, names_of = Unlike(sketch(frame, columns)), vars(pl.DataFrame)["columns"].fget

    def counted(one: pl.DataFrame) -> Any:
        asked.append(one.width)
        return names_of(one)

    monkeypatch.setattr(pl.DataFrame, "columns", property(counted))
    assert looked.look(frame) is not None and len(asked) < 50


def test_without_a_sketch_nothing_is_said(capsys: Captured) -> None:
    Path("t.tenfold/sketch.json").unlink()
    pl.DataFrame({"x": [99.0], "c": ["red"]}).write_csv("new.csv")
    assert run(["predict", "t.tenfold", "new.csv"]) == 0 and "unlike" not in capsys.readouterr().err
    assert run(["predict", "t.tenfold", "new.csv", "--mark"]) == 3 and "keeps no sketch" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["new.csv", "new.parquet"])
def test_rows_may_come_through_a_pipe(source: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    table(source, 20, 1)
    assert run(["predict", "t.tenfold", source]) == 0
    expected = capsys.readouterr().out
    with open(source, "rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert run(["predict", "t.tenfold", "-"]) == 0 and capsys.readouterr().out == expected
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(Path(source).read_bytes()))
    writer.start()
    assert run(["predict", "t.tenfold", "pipe"]) == 0 and capsys.readouterr().out == expected
    writer.join()
    wrong = ((b"", 3, "standard input is empty"), (b"x,c\n", 3, "standard input holds no rows"), (b"x\n1\n", 2, "'c' in standard input,"))
    for given, code, said in wrong:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert run(["predict", "t.tenfold", "-"]) == code and said in capsys.readouterr().err


@pytest.mark.parametrize("end", [".csv", ".tsv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("source", [".csv", ".parquet"])
def test_in_parts_it_is_the_same(end: str, source: str, in_parts: None, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    frame = table(f"new{source}", 1000, 2)
    seen = []
    original = predictions.predictions

    def spied(model: Any, part: Any) -> Any:
        seen.append(part.height)
        return original(model, part)

    monkeypatch.setattr(predictions, "predictions", spied)
    assert run(["predict", "t.tenfold", f"new{source}", "--out", f"parts{end}", "--mark"]) == 0
    assert sum(seen) == 1000 and (source == ".parquet" or len(seen) > 2)
    monkeypatch.setattr(large, "LARGE", 1 << 40)
    assert run(["predict", "t.tenfold", f"new{source}", "--out", f"whole{end}", "--mark"]) == 0
    read: Any = {
        ".csv": pl.read_csv,
        ".tsv": lambda path: pl.read_csv(path, separator="\t"),
        ".parquet": pl.read_parquet,
        ".jsonl": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    }[end]
    assert read(f"parts{end}").equals(read(f"whole{end}")) and read(f"parts{end}").height == frame.height


@pytest.mark.parametrize("command", [["predict"], ["estimate"], ["explain", "--row", "1"]])
@pytest.mark.parametrize("size", [100, 1 << 26])
def test_a_column_that_is_not_there_is_told_with_the_file(
    command: list[str], size: int, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(large, "LARGE", size)
    table("t.csv", 200).drop("x").write_csv("new.csv")
    assert run([command[0], "t.tenfold", "new.csv", *command[1:]]) == 2
    assert "there is no column 'x' in new.csv, which the model needs" in capsys.readouterr().err


@pytest.mark.parametrize("size", [100, 1 << 26])
def test_columns_may_be_called_by_numbers(size: int, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Wavelengths, say: without the target beside them the first line looks like a row, and the model knows better."""
    x = np.random.default_rng(0).normal(size=(60, 3))
    frame = pl.DataFrame(x, schema=["400.5", "410", "433.9"])
    frame.with_columns(y=pl.Series(x @ [1.0, 2.0, 3.0])).write_csv("t.csv")
    frame.write_csv("new.csv")
    assert run(["fit", "t.csv", "--target", "y", "--model", "Ridge", "--folds", "3", "--quiet", "--out", "o.tenfold"]) == 0
    monkeypatch.setattr(large, "LARGE", size)
    capsys.readouterr()
    assert run(["predict", "o.tenfold", "new.csv"]) == run(["watch", "o.tenfold", "new.csv", "--quiet"]) == 0
    assert run(["explain", "o.tenfold", "new.csv", "--row", "60"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("y,90% from,90% to\n") and said.out.count(",") == 2 * 61 and not said.err


def test_what_is_told_of_a_column_is_told_once(in_parts: None, capsys: Captured) -> None:
    frame = table("new.csv", 1000, 3).with_columns(x=0.5, c=pl.Series(["red", "green"] * 250 + ["blue"] * 500))
    frame.write_csv("new.csv")
    assert run(["predict", "t.tenfold", "new.csv", "--out", "a.csv"]) == 0
    error = capsys.readouterr().err
    assert error.count("new to the model") == 1 and "later ones are not told" in error
    assert "500 of 1,000 rows look unlike" in error and "rows 501, 502, 503 and 497 more" in error


def test_a_file_that_breaks_further_down_leaves_what_was_there(in_parts: None, capsys: Captured) -> None:
    table("new.csv", 1000, 4)
    with open("new.csv", "a") as file:
        file.write("0.5,red,yes,and,too,many,cells\n")
    Path("a.csv").write_text("before")
    assert run(["predict", "t.tenfold", "new.csv", "--out", "a.csv"]) == 3
    assert Path("a.csv").read_text() == "before" and sorted(one for one in os.listdir() if one.startswith(".")) == []
    capsys.readouterr()
    assert run(["predict", "t.tenfold", "new.csv"]) == 3 and capsys.readouterr().out == ""


def test_to_standard_output_and_to_a_pipe() -> None:
    table("new.csv", 5, 5)
    command = [sys.executable, "-m", "tenfold.app.cli", "predict", "t.tenfold", "new.csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("\n") == 6 and done.stdout.startswith("y,90% set,chance of no,chance of yes")
    piped = subprocess.run(f"{' '.join(command)} | head -1", shell=True, capture_output=True, text=True)
    assert piped.stdout == "y,90% set,chance of no,chance of yes\n" and not piped.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize(
    ("closed", "code", "out", "err"),
    [
        ("new.csv 2>&-", 0, 6, ""),  # rows unlike the training table are told on standard error, not among the predictions
        ("new.csv >&-", 3, 0, "tenfold: standard output: cannot be written (Bad file descriptor)\n"),
        ("- <&-", 3, 0, "tenfold: standard input: cannot be read (Bad file descriptor)\n"),
    ],
)
def test_streams_may_be_closed(closed: str, code: int, out: int, err: str) -> None:
    table("new.csv", 5, 5)
    frame = pl.read_csv("new.csv")
    frame.with_columns(pl.lit(1e9).alias(name) for name, kind in frame.schema.items() if kind.is_numeric()).write_csv("new.csv")
    command = f"{sys.executable} -m tenfold predict t.tenfold"
    done = subprocess.run(f"{command} {closed}", shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (code, out, err)
    if code == 0:
        told = subprocess.run(f"{command} new.csv", shell=True, capture_output=True, text=True)
        assert told.stdout == done.stdout and "unlike the training table" in told.stderr


class Labels:
    """A model that says the same of every row."""

    role, columns = "transformer", ()

    def coded(self, table: Any) -> Any:
        return table

    def frame(self, table: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({"label": ["猫", "犬"]})


def test_labels_reach_a_terminal_without_unicode_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, encoding="latin-1", errors="replace"))
    print("before")
    predictions.write_predictions(Labels(), pl.DataFrame({"x": [1, 2]}), None)  # type: ignore[arg-type]
    assert stream.getvalue().decode("utf-8") == "before\nlabel\n猫\n犬\n"
    monkeypatch.setattr(sys, "stdout", texts := io.StringIO())  # what has no bytes below
    predictions.write_predictions(Labels(), pl.DataFrame({"x": [1, 2]}), None)  # type: ignore[arg-type]
    assert texts.getvalue() == "label\n猫\n犬\n"


@pytest.mark.skipif(os.name != "posix", reason="needs limits on files")
@pytest.mark.parametrize("source", ["-", "new.csv"])
def test_a_full_temporary_folder_is_called_by_its_name(source: str, tmp_path: Path) -> None:
    table("new.csv", 5000, 5)
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)); from tenfold.app.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-B", "-c", limited, "predict", "t.tenfold", source],  # no bytecode that is cut off at the limit
        input=Path("new.csv").read_bytes(), capture_output=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 3 and not done.stdout
    assert done.stderr.decode().startswith(f"tenfold: the temporary folder {tmp_path}: cannot be written (File too large")


@pytest.mark.parametrize("source", ["-", "new.csv"])
def test_without_a_temporary_folder_nothing_else_is_blamed(source: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    table("new.csv", 5, 5)

    def nowhere(*given: Any, **more: Any) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "TemporaryFile", nowhere)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", nowhere)
    assert run(["predict", "t.tenfold", source]) == 3
    assert "the temporary folder" in (err := capsys.readouterr().err) and "name another folder in TMPDIR" in err and "output" not in err


def test_what_cannot_be_read_from_a_pipe_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Broken()))
    assert run(["predict", "t.tenfold", "-"]) == 3
    assert capsys.readouterr().err == "tenfold: standard input: cannot be read (Input/output error)\n"


def test_a_sketch_that_somebody_wrote_in_is_no_sketch(capsys: Captured) -> None:
    for text in ("[]", "{", json.dumps(dict(columns=3))):
        Path("t.tenfold/sketch.json").write_text(text)
        assert run(["predict", "t.tenfold", "t.csv", "--out", "a.csv"]) == 0
        assert run(["watch", "t.tenfold", "t.csv"]) == 3
    assert "keeps no sketch" in capsys.readouterr().err
