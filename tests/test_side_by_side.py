"""Families of a race that are fitted at the same time."""

from __future__ import annotations

import threading
import time
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import NotConverged, kept_warnings, warn
from tenfold.core.threads import start
from tenfold.score.registry import SCORES
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race import race
from tenfold.selection.race.fits import Fits
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5, 20))


def small_race(pairs: bool = True) -> Race:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[::9, 1] = np.nan
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(np.int64)
    division = make_folds(y, 4, 0, "classifier", None)
    rows = Rows(X, y, division, pl.DataFrame(X).fill_nan(None))
    return Race(rows, portfolio("classifier", 120, 5, 2), [SCORES["log_loss"]], pairs=pairs)


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, their order, and what was warned of are the same for any number of threads, and with one family at a time."""
    races = []
    for threads, cells in ((1, race.SIDE_BY_SIDE), (3, race.SIDE_BY_SIDE), (3, 0)):
        monkeypatch.setattr(race, "SIDE_BY_SIDE", cells)
        with tenfold.threads(threads):
            found = small_race()
            ticks: list[int] = []
            found.run(lambda done, of, ticks=ticks: ticks.append(done))
            races.append(found)
            assert ticks == list(range(1, len(found.done) + 1))
    first = races[0]
    for other in races[1:]:
        assert other.done == first.done and other.dropped == first.dropped
        assert other.failures == first.failures and other.warned == first.warned
        np.testing.assert_array_equal(other.outputs, first.outputs)
        np.testing.assert_array_equal(other.inner, first.inner)


def test_units_run_at_the_same_time_and_ticks_come_from_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two units wait for each other: one after the other they would wait in vain."""
    meeting, work, met = threading.Barrier(2, timeout=20), Fits.unit, []

    def unit(self: Fits, number: int, held: Any) -> Any:
        if held == (0,) and number in (1, 2):
            meeting.wait()
            met.append(number)
        return work(self, number, held)

    monkeypatch.setattr(Fits, "unit", unit)
    caller = threading.current_thread()
    with tenfold.threads(2):
        small_race(pairs=False).run(lambda done, of: met.append(threading.current_thread() is caller))
    assert {one for one in met if type(one) is int} == {1, 2} and all(one for one in met)


@pytest.mark.parametrize("most", [1, 5])
def test_a_race_that_is_stopped_has_the_first_units(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit after `most` is slow, and the run is stopped while it works; those behind it that were ready do not count."""
    work, told = Fits.unit, []

    def unit(self: Fits, number: int, held: Any) -> Any:
        told.append((number, held))
        if len(told) == most + 1:
            assert stopped.wait(20)
        elif len(told) > most + 3:
            stopped.set()
            raise KeyboardInterrupt
        return work(self, number, held)

    whole = small_race()
    whole.run(most=most)
    assert len(whole.done) == most
    monkeypatch.setattr(Fits, "unit", unit)
    stopped = threading.Event()
    cut = small_race()
    with tenfold.threads(2), pytest.raises(KeyboardInterrupt):
        cut.run()
    assert most <= len(cut.done) and cut.done[:most] == whole.done
    again = small_race()
    monkeypatch.setattr(Fits, "unit", work)
    again.run(most=len(cut.done))
    np.testing.assert_array_equal(again.outputs, cut.outputs)
    assert again.done == cut.done
    cut.run()  # goes on where it was stopped
    rest = small_race()
    rest.run()
    assert cut.done == rest.done
    np.testing.assert_array_equal(cut.inner, rest.inner)


def test_warnings_that_are_kept() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with kept_warnings() as kept:
            warn("not yet", NotConverged)
            over = threading.Event()
            start(lambda: (warn("in a thread", NotConverged), over.set()))  # type: ignore[func-returns-value, arg-type, return-value]
            assert over.wait(10)
            with kept_warnings() as inner:
                warn("inside", NotConverged)
        assert [str(one) for one in kept] == ["not yet", "in a thread"] and [str(one) for one in inner] == ["inside"]
        assert isinstance(kept[0], NotConverged)
        with pytest.raises(NotConverged, match="again"):
            warn("again", NotConverged)


def test_two_races_at_once_with_ctrl_c_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is stopped does not disturb another."""
    whole = small_race(pairs=False)
    whole.run()
    found, stopped = small_race(pairs=False), small_race(pairs=False)
    work = Fits.unit

    def unit(self: Fits, number: int, held: Any) -> Any:
        if self is stopped.fits and held == (1,):
            raise KeyboardInterrupt
        time.sleep(0.002)
        return work(self, number, held)

    monkeypatch.setattr(Fits, "unit", unit)
    other = threading.Thread(target=found.run)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    other.join()
    np.testing.assert_array_equal(found.outputs, whole.outputs)
