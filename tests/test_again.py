"""Runs of `tenfold select` that are stopped, killed, resumed and reproduced."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app import select_run
from tenfold.app.commands import run
from tenfold.saved import writing
from tenfold.selection import job, search
from tenfold.selection.plan import refine
from tenfold.selection.race import checkpoint
from tenfold.selection.race import race as race_module
from tenfold.selection.race.fits import Fits
from tenfold.selection.race.race import Race

Captured = pytest.CaptureFixture[str]


ARGUMENTS = ["select", "t.csv", "--target", "y", "--folds", "4", "--quiet"]


def arranged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in a folder of its own, for short runs that keep their state after each unit."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    shrink(monkeypatch, 5, (5,))
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    pl.DataFrame({"x": x, "z": rng.normal(size=120), "y": x + 0.3 * rng.normal(size=120)}).write_csv("t.csv")


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arranged(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the run that nobody stopped."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as monkeypatch:
        arranged(folder, monkeypatch)
        assert run(ARGUMENTS) == 0
    assert not (folder / "t.tenfold.race").exists()
    return folder / "t.tenfold"


def model(folder: str | Path) -> bytes:
    return Path(folder, "model.tenfold").read_bytes()


@pytest.mark.parametrize("units", [1, 17, 60])
def test_a_stopped_run_goes_on_and_ends_as_if_nothing_had_happened(
    units: int, whole: Path, stop_after: Callable[[int | None], None], capsys: Captured
) -> None:
    stop_after(units)
    assert run(ARGUMENTS) == 130 and Path("t.tenfold.race").exists()
    stop_after(None)
    assert run(["resume", "t.tenfold", "--quiet"]) == 0
    assert model("t.tenfold") == model(whole) and not Path("t.tenfold.race").exists()
    records = [json.loads(Path(one, "run.json").read_text()) for one in ("t.tenfold", whole)]
    for name in ("estimate", "chosen", "units", "trace", "search"):
        assert records[0][name] == records[1][name], name
    capsys.readouterr()
    assert run(["resume", "t.tenfold"]) == 3 and "only a run that was stopped" in capsys.readouterr().err


def test_what_was_refitted_before_a_stop_is_not_called_merged_after_it(
    stop_after: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Fits._solved
    monkeypatch.setattr(Fits, "_solved", lambda self, family, held: None if held == (0,) else work(self, family, held))
    stop_after(40)  # the first fold has been heard
    assert run(ARGUMENTS) == 130
    stop_after(None)
    assert run(["resume", "t.tenfold", "--quiet"]) == 0
    assert json.loads(Path("t.tenfold", "run.json").read_text())["merged"] == []


def test_a_race_whose_facts_were_edited_is_refused_in_a_sentence(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    stop_after(9)
    assert run(ARGUMENTS) == 130
    path = Path("t.tenfold.race")
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    facts = json.loads(arrays.pop("facts").tobytes())
    wrong: list[dict[str, Any]] = [
        {name: value}
        for name in ("done", "refitted", "dropped", "families", "failures", "warned", "fold", "settings", "target", "file")
        for value in (5, None, [5], [[0]], [["a", [0]]], [[-1, [0]]], [[0, [99]]], [[0, [0, 1, 2]]], [[999, [0]]])
    ]
    capsys.readouterr()
    for one in wrong:
        text = json.dumps(facts | one).encode()
        np.savez(path.with_suffix(".npz"), facts=np.frombuffer(text, dtype=np.uint8), **arrays)
        path.with_suffix(".npz").replace(path)
        assert run(["resume", "t.tenfold", "--quiet"]) == 3, one
        assert "start again with tenfold select" in capsys.readouterr().err, one
    text = json.dumps(facts | dict(settings=facts["settings"] | dict(drop=[0]))).encode()
    np.savez(path.with_suffix(".npz"), facts=np.frombuffer(text, dtype=np.uint8), **arrays)
    path.with_suffix(".npz").replace(path)
    assert run(["resume", "t.tenfold", "--quiet"]) == 2 and "--drop [0]: must be a list" in capsys.readouterr().err


def test_a_race_of_another_table_is_refused(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    stop_after(3)
    assert run(ARGUMENTS) == 130
    stop_after(None)
    text = Path("t.csv").read_text()
    Path("t.csv").write_text(text.replace(text.splitlines()[1], "0.5,0.5,0.5"))
    assert run(["resume", "t.tenfold"]) == 3
    assert "t.csv has changed since the run was stopped" in capsys.readouterr().err
    Path("t.csv").write_text(text)
    for content in (b"", b"PK\x03\x04nonsense", Path("t.tenfold.race").read_bytes()[:-200]):
        Path("t.tenfold.race").write_bytes(content)
        assert run(["resume", "t.tenfold"]) == 3
        assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_of_somebody_else_is_refused_before_a_race_goes_on(
    stop_after: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    stop_after(9)
    assert run(ARGUMENTS) == 130
    shutil.rmtree("t.tenfold")
    Path("t.tenfold").mkdir()
    Path("t.tenfold", "notes.txt").write_text("mine")
    monkeypatch.setattr(Race, "run", lambda *given, **more: pytest.fail("the race went on"))
    assert run(["resume", "t.tenfold"]) == 3 and "it holds notes.txt" in capsys.readouterr().err


def test_a_run_that_cannot_be_saved_is_not_lost(whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def full(*names: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(writing.os, "replace", lambda temporary, target: full() if "model" in target else os.rename(temporary, target))
        assert run(ARGUMENTS) == 3
    told = capsys.readouterr().err
    assert told.startswith("tenfold: t.tenfold: cannot be written (No space left on device): free some space")
    assert not Path("t.tenfold").exists() and "then tenfold resume t.tenfold goes on" in told
    assert run(["resume", "t.tenfold", "--quiet"]) == 0 and model("t.tenfold") == model(whole)


def test_a_run_is_reproduced_to_the_bit(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    assert run(ARGUMENTS) == 0
    assert run(["reproduce", "t.tenfold"]) == 0
    assert "bit for bit" in capsys.readouterr().out
    stop_after(20)
    assert run([*ARGUMENTS, "--out", "cut.tenfold"]) == 130
    stop_after(None)
    assert run(["reproduce", "cut.tenfold"]) == 0  # ends after the same unit of work
    with open("t.csv", "a") as file:
        file.write("0,0,0\n")
    capsys.readouterr()
    assert run(["reproduce", "t.tenfold"]) == 1
    assert capsys.readouterr().out.startswith("DIFFERS  the table has changed")
    Path("t.csv").rename("elsewhere.csv")
    assert run(["reproduce", "t.tenfold"]) == 3
    assert "tenfold reproduce t.tenfold path/to/t.csv" in capsys.readouterr().err
    assert run(["reproduce", "t.tenfold", "elsewhere.csv"]) == 1


def test_a_run_that_is_stopped_after_its_race_saves_what_is_fitted_soonest(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, calls = job.refit, list[str]()

    def stopped(*some: Any) -> Any:
        calls.append("refit")
        if len(calls) == 1:
            raise KeyboardInterrupt
        return work(*some)

    monkeypatch.setattr(search, "HURRY", 0.0)
    monkeypatch.setattr(job, "refit", stopped)
    assert run(ARGUMENTS) == 130
    record = json.loads(Path("t.tenfold", "run.json").read_text())
    assert record["interrupted"] and record["estimate"]["rmse"]["low"] < record["estimate"]["rmse"]["high"]
    assert record["prefer"] != "best" and len(record["members"]) == 1 and not Path("t.tenfold", "simple.tenfold").exists()
    assert len(tenfold.load("t.tenfold/model.tenfold").predict(pl.read_csv("t.csv"))) == 120
    assert run(["reproduce", "t.tenfold"]) == 0  # what was taken instead is taken again
    assert run(["resume", "t.tenfold", "--quiet"]) == 0
    assert model("t.tenfold") == model(whole) and not Path("t.tenfold.race").exists()


@pytest.mark.parametrize(
    ("where", "says"),
    [("decide", "nothing was saved: tenfold resume t.tenfold goes on"), ("read_sample", "nothing was written")],
)
def test_whoever_stops_twice_or_at_once_is_told_what_there_is(
    where: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def stopped(*some: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(job, where, stopped)
    assert run(ARGUMENTS) == 130
    assert capsys.readouterr().err == f"tenfold: stopped; {says}\n" and not Path("t.tenfold").exists()


def test_a_signal_after_saving_does_not_say_that_nothing_was(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def stopped(*some: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(select_run, "next_commands", stopped)
    assert run(ARGUMENTS) == 130
    assert capsys.readouterr().err.endswith("tenfold: stopped; the model is saved in t.tenfold/\n") and model("t.tenfold")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_command_with_a_sentence_from_its_first_import_on(number: signal.Signals) -> None:
    send = f"os.kill(os.getpid(), {int(number)})"
    finder = f"type('', (), dict(find_spec=lambda *_: {send}))"
    early = f"import os, sys; import tenfold.app.cli as cli; sys.meta_path.insert(0, {finder}); cli.main()"
    late = f"import os; import tenfold.app.commands as commands, tenfold.app.cli as cli; commands.guarded = lambda _: {send}; cli.main()"
    for script in (early, late):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (130, "tenfold: stopped; nothing was written\n")


def test_a_finished_race_that_goes_on_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who helps an ensemble depends on who is in the race: decided again among those that are left, others would be dropped."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=400)
    seen: list[Race] = []
    work = Race.run

    def kept(self: Race, *some: Any, **more: Any) -> None:
        seen.append(self)
        work(self, *some, **more)

    monkeypatch.setattr(Race, "run", kept)

    def helps(held: Any, members: list[int], rows: Any) -> dict[int, float]:
        """A forest that has no chance otherwise, as long as others are there to err elsewhere."""
        alone = len(members) < len(seen[0].families) - 1 and len(rows) < 250
        return {} if alone else dict.fromkeys(seen[0].places[-1], 1.0)

    monkeypatch.setattr(race_module, "greedy_weights", helps)
    monkeypatch.setattr(race_module, "LEAST_RACING", 2)
    monkeypatch.setattr(refine, "LEAST_ROWS", 1000)  # one lap
    tenfold.select(pl.DataFrame({f"x{j}": X[:, j] for j in range(4)}), y, folds=5, effort="quick")
    race = seen[0]
    assert all(one is race for one in seen)
    before, done = dict(race.dropped), len(race.done)
    assert before and len(race.families) - 1 not in before
    work(race)
    assert race.dropped == before and len(race.done) == done


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_run_goes_on(whole: Path) -> None:
    script = (
        "import os, signal, sys; import pytest; from small_portfolio import shrink; shrink(pytest.MonkeyPatch(), 5, (5,))\n"
        "from tenfold.selection.race import checkpoint, race; checkpoint.EVERY = 0\n"
        "work, units = race.Race._record, iter(range(9))\n"
        "race.Race._record = lambda *a: work(*a) if next(units, None) is not None else os.kill(os.getpid(), signal.SIGKILL)\n"
        "from tenfold.app.commands import run; sys.exit(run())"
    )
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path(__file__).parent), *sys.path]))
    killed = subprocess.run([sys.executable, "-c", script, *ARGUMENTS], env=env, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Path("t.tenfold.race").exists() and not Path("t.tenfold").exists()
    assert run(["resume", "t.tenfold", "--quiet"]) == 0
    assert model("t.tenfold") == model(whole) and not Path("t.tenfold.race").exists()
