"""Runs that take what is fitted soonest, for want of time, of memory or of space."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

from tenfold.app import select_run
from tenfold.app.commands import run
from tenfold.saved import writing
from tenfold.selection import search
from tenfold.selection.choice.choice import Mix
from tenfold.selection.job import Job
from tenfold.selection.outcome import Outcome
from tenfold.selection.race import checkpoint
from tenfold.selection.race.prepared import Prepared
from tenfold.selection.result import Result
from tenfold.selection.run import run_of
from tenfold.selection.settings import Settings

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shrink(monkeypatch)


def board(n: int = 700) -> pl.DataFrame:
    """A board of 6 x 6 fields of two classes, too long for a nested choice with effort quick."""
    X = np.random.default_rng(0).uniform(0, 6, size=(n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, "black", "white")
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


def stopped_before_it_is_fitted(table: Any, hurry: float, monkeypatch: pytest.MonkeyPatch) -> Result:
    def stop(event: str, **facts: Any) -> None:
        if event == "board" and not stops:
            stops.append(event)
            raise KeyboardInterrupt

    stops: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(search, "HURRY", hurry)
        return Job(stop, True, Settings(effort="quick")).run(table, "y")


def test_a_run_that_took_what_is_fitted_soonest_is_reproduced_with_what_more_rows_bring(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Models of fewer rows are those of what was asked for, not of what was taken in the end."""
    board().write_csv("t.csv")
    found = run_of(stopped_before_it_is_fitted("t.csv", 0.0, monkeypatch))
    assert found.interrupted and found.record["prefer"] != "best" and found.record["fewer"] > 0
    found.save("t.tenfold")
    assert run(["reproduce", "t.tenfold"]) == 0, capsys.readouterr().out


def test_for_want_of_time_a_signal_does_not_become_none(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = Job(lambda event, **facts: None, False, Settings(effort="quick")).run(board(300), "y").outcome
    guess, work = Mix({outcome.race.guess: 1.0}), Outcome.preferring
    assert outcome.signal and not outcome.is_guess and outcome.hurried(0.0).prefer != "best"

    def none(self: Outcome, prefer: str) -> Outcome:
        return replace(work(self, prefer), signal=False, taken=guess)

    monkeypatch.setattr(Outcome, "preferring", none)
    assert outcome.hurried(0.0) is outcome
    nothing = outcome.preferring("best")
    assert nothing.hurried(0.0).is_guess


def test_a_learner_whose_rows_do_not_fit_into_memory_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    work, calls = Prepared.tested, list[int]()

    def tested(self: Prepared, k: int) -> Any:
        calls.append(k)
        if len(calls) == 20:
            raise MemoryError("no room for the rows of a fold")
        return work(self, k)

    monkeypatch.setattr(Prepared, "tested", tested)
    found = Job(lambda event, **facts: None, False, Settings(effort="quick")).run(board(200), "y")
    assert len(calls) > 20 and list(found.record["failures"].values()) == ["no room for the rows of a fold"]


def test_a_disk_that_is_full_is_told_whatever_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError) as told:
        writing.write_parquet("/dev/full", board(5000))
    assert told.value.errno == errno.ENOSPC
    writing.write_parquet("t.parquet", board())
    assert pl.read_parquet("t.parquet").equals(board())


def killed(folder: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The race of a run that was killed before anything was saved."""

    def killed(*given: Any) -> None:
        raise SystemExit(9)

    board(200).write_csv("t.csv")
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "EVERY", 0.0)
        patch.setattr(select_run, "_save", killed)
        with pytest.raises(SystemExit):
            run(["select", "t.csv", "--target", "y", "--quiet", "--effort", "quick", "--out", folder])
    return Path(f"{folder}.race")


def test_another_model_is_not_replaced_by_a_race_that_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    assert killed("own.tenfold", monkeypatch).exists()
    board(150).rename({"a": "c"}).write_csv("other.csv")
    assert run(["fit", "other.csv", "--target", "y", "--model", "LogisticRegression", "--quiet"]) == 0
    Path("other.tenfold").rename("own.tenfold")
    before = Path("own.tenfold", "model.tenfold").read_bytes()
    capsys.readouterr()
    assert run(["resume", "own.tenfold"]) == 3 and "holds a model from other.csv" in capsys.readouterr().err
    assert Path("own.tenfold", "model.tenfold").read_bytes() == before


def test_a_race_of_another_version_does_not_go_on(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    path = killed("t.tenfold", monkeypatch)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    facts = json.loads(arrays.pop("facts").tobytes()) | dict(tenfold="0.1.0")
    np.savez("old.npz", facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)
    Path("old.npz").replace(path)
    assert run(["resume", "t.tenfold"]) == 3 and "was begun by tenfold 0.1.0" in capsys.readouterr().err
