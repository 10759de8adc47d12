"""Processes that fit beside the one that chooses: the same bits, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.score.registry import SCORES
from tenfold.selection import search
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race import workers
from tenfold.selection.race.fits import Fits
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows
from tenfold.selection.race.workers import Workers

pytestmark = pytest.mark.skipif(os.name != "posix", reason="workers are told through a descriptor that they inherit")


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5, 20))


def small_race(crew: Workers | None, **changed: Any) -> Race:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[::9, 1] = np.nan
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(np.int64)
    rows = Rows(X, y, make_folds(y, 4, 0, "classifier", None), pl.DataFrame(X).fill_nan(None))
    judge = replace(SCORES["log_loss"], **changed)
    return Race(rows, portfolio("classifier", 120, 5, 2), [judge], pairs=True, workers=crew)


def run_with(crew: Workers, **changed: Any) -> Race:
    with tenfold.threads(3), crew:
        found = small_race(crew, **changed)
        found.run()
    return found


@pytest.fixture(scope="module")
def alone() -> Race:
    """The race without workers."""
    with pytest.MonkeyPatch.context() as patch, tenfold.threads(1):
        shrink(patch, 5, (5, 20))
        found = small_race(None)
        found.run()
    return found


def assert_same(found: Race, alone: Race) -> None:
    assert found.done == alone.done and found.dropped == alone.dropped
    assert found.failures == alone.failures and found.warned == alone.warned
    np.testing.assert_array_equal(found.outputs, alone.outputs)
    np.testing.assert_array_equal(found.inner, alone.inner)
    assert [sets.merged for sets in found.fits.sets] == [sets.merged for sets in alone.fits.sets]


@pytest.fixture
def by_workers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that have fitted units, one for each unit."""
    pids, work = list[int](), workers._Worker.unit

    def unit(self: workers._Worker, *asked: Any) -> Any:
        found = work(self, *asked)
        pids.extend([] if found is None else [self.process.pid])
        return found

    monkeypatch.setattr(workers._Worker, "unit", unit)
    return pids


def test_the_same_bits_and_nobody_is_left(alone: Race, by_workers: list[int]) -> None:
    crew = Workers(2)
    assert_same(run_with(crew), alone)
    assert len(by_workers) > 10 and os.getpid() not in by_workers
    assert crew.all == [] and not any(_alive(pid) for pid in set(by_workers))


def test_a_worker_that_dies_is_not_missed(alone: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    work, killed = workers._Worker.unit, []

    def unit(self: workers._Worker, fits: Fits, number: int, held: Any) -> Any:
        if not killed and held == (1,):
            killed.append(self.process.pid)
            self.process.kill()
        return work(self, fits, number, held)

    monkeypatch.setattr(workers._Worker, "unit", unit)
    assert_same(run_with(Workers(2)), alone)
    assert killed


def test_one_that_cannot_be_started_is_not_missed(alone: Race, monkeypatch: pytest.MonkeyPatch, by_workers: list[int]) -> None:
    monkeypatch.setattr(sys, "executable", "/there/is/no/such/file")
    assert_same(run_with(Workers(2)), alone)
    monkeypatch.setattr(sys, "executable", "/bin/false")  # starts, and is gone
    assert_same(run_with(Workers(2)), alone)
    assert by_workers == []


@pytest.mark.parametrize(("name", "value"), [("frozen", True), ("executable", None), ("executable", "")])
def test_where_there_is_no_python_to_start_none_is(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, name, value, raising=False)
    assert Workers(2)._take() is None


def test_what_cannot_be_sent_is_fitted_here(alone: Race, by_workers: list[int]) -> None:
    loss = SCORES["log_loss"].row_loss
    assert loss is not None
    assert_same(run_with(Workers(2), row_loss=lambda *given: loss(*given)), alone)
    assert by_workers == []


def test_an_error_of_a_fit_is_told_by_the_process_that_was_asked(by_workers: list[int]) -> None:
    """Such as nobody foresaw: here a family that is none."""
    with tenfold.threads(2), Workers(1) as crew:
        found = small_race(crew)
        with pytest.raises(IndexError):
            crew.unit(found.fits, 10_000, (0,))
        assert crew.unit(found.fits, 1, (0,)).results and by_workers  # and the worker goes on


def test_a_run_that_is_stopped_ends_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    work, pids = workers._Worker.unit, []

    def unit(self: workers._Worker, *asked: Any) -> Any:
        pids.append(self.process.pid)
        if len(pids) > 5:
            raise KeyboardInterrupt
        return work(self, *asked)

    monkeypatch.setattr(workers._Worker, "unit", unit)
    with pytest.raises(KeyboardInterrupt):
        run_with(Workers(2))
    assert not any(_alive(pid) for pid in set(pids))


def test_a_worker_goes_when_the_process_that_it_works_for_is_killed(tmp_path: Path) -> None:
    code = """if True:
        import time
        from tenfold.selection.race.workers import _Worker
        one = _Worker()
        print(one.process.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while _alive(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _alive(worker)


def test_select_uses_them_where_there_is_enough_to_do(monkeypatch: pytest.MonkeyPatch, by_workers: list[int]) -> None:
    rng = np.random.default_rng(1)
    table = pl.DataFrame(rng.normal(size=(90, 3)), schema=["a", "b", "c"]).with_columns(y=pl.col("a") + pl.col("b") ** 2)
    found = []
    for seconds in (1e9, 0.0):
        monkeypatch.setattr(search, "WORTH_A_PROCESS", seconds)
        with tenfold.threads(2):
            found.append(tenfold.select(table, "y", effort="quick"))
        assert bool(by_workers) == (seconds == 0)
    assert str(found[0].estimate) == str(found[1].estimate)
    np.testing.assert_array_equal(found[0].predict(table), found[1].predict(table))
    by_workers.clear()
    with tenfold.threads(1):
        tenfold.select(table, "y", effort="quick")
    assert by_workers == []


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
