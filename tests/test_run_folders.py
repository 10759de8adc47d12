"""The folder of a run: a finished model is never lost to a stopped run, another target or another file."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.core.errors import BadFile
from tenfold.selection.model.store import FILES, open_run

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shrink(monkeypatch, 5, (5,))


def table(name: str = "t.csv", seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=60)
    pl.DataFrame({"x": x, "w": rng.normal(size=60), "y": 2 * x + 0.1 * rng.normal(size=60)}).write_csv(name)
    return name


def select(file: str, target: str, *more: str) -> int:
    return run(["select", file, "--target", target, "--folds", "3", "--quiet", *more])


def record(folder: str) -> dict[str, object]:
    return dict(json.loads(Path(folder, "run.json").read_text()))


def test_a_stopped_run_leaves_a_finished_one(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    file = table()
    assert select(file, "y") == 0
    before = Path("t.tenfold/model.tenfold").read_bytes()
    stop_after(0)
    assert run(["select", file, "--target", "y", "--folds", "3"]) == 130
    assert "SAVED    nothing: t.tenfold/ keeps its finished model" in capsys.readouterr().out
    stop_after(3)
    for _ in range(2):  # a second stopped run replaces the first
        assert run(["select", file, "--target", "y", "--folds", "3"]) == 130
        out = capsys.readouterr().out
        assert "SAVED    t-stopped.tenfold/" in out and "t.tenfold/ keeps its finished model" in out
        assert "tenfold predict t-stopped.tenfold" in out
    assert Path("t.tenfold/model.tenfold").read_bytes() == before and record("t.tenfold")["interrupted"] is False
    assert sorted(os.listdir()) == ["t-stopped.tenfold", "t.csv", "t.tenfold", "t.tenfold.race"]
    assert select(file, "y", "--replace") == 130 and record("t.tenfold")["interrupted"] is True


def test_a_finished_run_replaces_a_stopped_one(stop_after: Callable[[int | None], None]) -> None:
    file = table()
    stop_after(0)
    assert select(file, "y") == 130 and record("t.tenfold")["interrupted"] is True
    stop_after(10_000)
    assert select(file, "y") == 0 and record("t.tenfold")["interrupted"] is False


def test_another_target_gets_another_folder(capsys: Captured) -> None:
    file = table()
    assert select(file, "y") == 0
    assert run(["select", file, "--target", "x", "--folds", "3"]) == 0
    out = capsys.readouterr().out
    assert "SAVED    t-x.tenfold/" in out
    assert "t.tenfold/ holds a model for 'y', so this run is saved in t-x.tenfold/" in out
    assert open_run(Path("t.tenfold")).target_ == "y" and open_run(Path("t-x.tenfold")).target_ == "x"
    assert select(file, "x") == 0 and sorted(os.listdir()) == ["t-x.tenfold", "t.csv", "t.tenfold"]


def test_a_named_folder_with_another_model_is_refused_before_any_work(capsys: Captured) -> None:
    file = table()
    assert select(file, "y", "--out", "run") == 0
    capsys.readouterr()
    assert select(file, "x", "--out", "run") == 3
    err = capsys.readouterr().err
    assert err == (
        "tenfold: run holds a model for 'y': choose another folder with --out, or replace it with --replace\n"
    )
    assert select(file, "y", "--out", "run") == 0  # the same again
    assert select(file, "x", "--out", "run", "--replace") == 0 and open_run(Path("run")).target_ == "x"


def test_another_file_of_the_same_name_is_refused(capsys: Captured) -> None:
    Path("a").mkdir()
    Path("b").mkdir()
    assert select(table("a/t.csv"), "y") == 0
    assert select(table("a/t.csv", seed=1), "y") == 0  # the same file with new rows
    assert select(table("b/t.csv"), "y") == 3
    assert "t.tenfold holds a model from another t.csv: choose another folder with --out" in capsys.readouterr().err


def test_in_python(stop_after: Callable[[int | None], None]) -> None:
    file = table()
    mine, other = (tenfold.select(file, target, folds=3) for target in ("y", "x"))
    mine.save("run")
    mine.save("run")
    with pytest.raises(BadFile, match="holds a model for 'y'"):
        other.save("run")
    stop_after(2)
    stopped = tenfold.select(file, "y", folds=3, finish_early=True)
    with pytest.raises(BadFile, match="holds a finished run, and this one was stopped"):
        stopped.save("run")
    stopped.save("run", replace=True)
    other.save("run", replace=True)
    assert open_run(Path("run")).target_ == "x"


def test_an_empty_folder_and_a_link_are_taken(capsys: Captured) -> None:
    file = table()
    Path("empty").mkdir()
    Path("disk").mkdir()
    Path("link").symlink_to("disk")
    for out in ("empty", "link"):
        for _ in range(2):
            assert select(file, "y", "--out", out) == 0
    assert Path("link").is_symlink() and {"model.tenfold", "run.json"} <= set(os.listdir("disk")) <= FILES
    Path("empty/notes.txt").write_text("mine")
    assert select(file, "y", "--out", "empty", "--replace") == 3
    assert "was not made by tenfold select or tenfold fit (it holds notes.txt)" in capsys.readouterr().err


# --- predictions, and how the command ends ---------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="a file system that takes no folder")
@pytest.mark.parametrize(
    ("typed", "option"),
    [
        (["select", "t.csv", "--target", "y"], "--out"),
        (["fit", "t.csv", "--target", "y", "--model", "Ridge"], "--out"),
        (["cluster", "t.csv"], "--out"),
        (["unusual", "t.csv"], "--save"),
        (["reduce", "t.csv"], "--save"),
    ],
)
def test_a_place_that_takes_no_folder_is_refused_before_any_work(typed: list[str], option: str, capsys: Captured) -> None:
    """Its rights allow it, and a race was run for nothing."""
    table("t.csv")
    assert run([*typed, option, "/proc/x"]) == 3
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("tenfold: the folder /proc cannot be written")
    assert said.err.endswith(f": choose another one with {option}\n")


def test_predictions_by_the_end_of_the_name(capsys: Captured) -> None:
    file = table()
    assert select(file, "y") == 0
    readers = {
        "csv": pl.read_csv,
        "tsv": lambda name: pl.read_csv(name, separator="\t"),
        "parquet": pl.read_parquet,
        "jsonl": pl.read_ndjson,
    }
    frames = []
    for end, read in readers.items():
        assert run(["predict", "t.tenfold", file, "--out", f"p.{end}"]) == 0
        frames.append(read(f"p.{end}"))
    assert all(frame.equals(frames[0]) for frame in frames) and frames[0].columns == ["y", "90% from", "90% to"]
    capsys.readouterr()
    for name in ("p.xlsx", "p"):
        assert run(["predict", "t.tenfold", file, "--out", name]) == 2
        err = capsys.readouterr().err
        assert err == f"tenfold: --out {name}: the name must end in .csv, .tsv, .parquet or .jsonl\n"
    assert run(["predict", "t.tenfold", file, "--out", "/dev/null"]) == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tenfold.app.cli", *arguments]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux")
def test_a_full_device_is_called_by_its_name() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(command("-h"), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "tenfold: standard output: cannot be written (No space left on device)\n"


INTERRUPTED = """
import os, signal, sys
from tenfold.app import cli
module, sys.argv[1] = sys.argv[1], "demo"
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
cli.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("module", ["typer", "numpy", "polars", "tenfold.selection.run"])
def test_an_interruption_while_libraries_load_is_one_line(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, module], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "tenfold: stopped; nothing was written\n")
