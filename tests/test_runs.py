"""Runs: a fit that is stopped touches no other, nested fits share one budget of threads, and no exception in a thread is lost."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import tenfold
from tenfold._kernels import Budget, Lease
from tenfold.core import threads
from tenfold.core.engine import Local, Threads, current_engine, each, lent_threads
from tenfold.core.errors import silenced
from tenfold.core.threads import cancellable, current_budget, stopping, thread_budget
from tenfold.tree.single import exact

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 12))
Y = X @ rng.normal(size=12) + rng.normal(size=len(X))
LABEL = (Y > 0).astype(int)
BOTH = np.column_stack([Y, X[:, 0]])
SPARSE = scipy.sparse.csr_array(np.where(np.abs(X[:4000]) < 0.7, 0.0, X[:4000]))

FITS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: tenfold.Ridge().fit(X, Y).coef_,
    "logistic": lambda: tenfold.LogisticRegression().fit(X, LABEL).coef_,
    "k-means": lambda: tenfold.KMeans(30, n_init=1, max_iter=8, tol=0, random_state=0).fit(X).cluster_centers_,
    "naive Bayes": lambda: tenfold.GaussianNB().fit(X, LABEL).theta_,
    "boosting": lambda: (
        tenfold.HistGradientBoostingRegressor(max_iter=8, early_stopping=False).fit(X, Y).predict(X[:500])
    ),
    "exact tree": lambda: tenfold.DecisionTreeRegressor().fit(X, Y).predict(X[:500]),
    "forest": lambda: tenfold.RandomForestRegressor(4, random_state=0).fit(X, Y).predict(X[:500]),
    "several targets": lambda: tenfold.DecisionTreeRegressor(max_depth=6).fit(X, BOTH).predict(X[:500]),
    "several targets, absolute error": lambda: (
        tenfold.DecisionTreeRegressor(max_depth=3, criterion="absolute_error").fit(X[:2000], BOTH[:2000]).predict(X[:500])
    ),
    "forest of several targets": lambda: (
        tenfold.RandomForestRegressor(4, random_state=0).fit(X[:4000], BOTH[:4000]).predict(X[:500])
    ),
    "forest of several medians": lambda: (
        tenfold.RandomForestRegressor(2, max_depth=6, criterion="absolute_error", random_state=0)
        .fit(X[:2000], BOTH[:2000])
        .predict(X[:500])
    ),
    "sparse tree": lambda: tenfold.DecisionTreeRegressor().fit(SPARSE, Y[:4000]).predict(SPARSE[:500]),
    "sparse boosting": lambda: (
        tenfold.GradientBoostingRegressor(n_estimators=8).fit(SPARSE, Y[:4000]).predict(SPARSE[:500])
    ),
    "bagging": lambda: tenfold.BaggingRegressor(tenfold.Ridge(), 6, random_state=0).fit(X, Y).predict(X[:500]),
}


class Enough(BaseException):
    """As Ctrl-C, but not for pytest."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises Enough in the main thread after a while."""

    def stop(*_: object) -> None:
        raise Enough

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def beside(work: Callable[[], Any], disturb: Callable[[], None]) -> list[Any]:
    """What work() gives in another thread, again and again while this thread is disturbed."""
    found, over = list[Any](), threading.Event()

    def repeat() -> None:
        try:
            while not over.is_set() or not found:
                found.append(work())
        except BaseException as failure:
            found.append(failure)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        disturb()
    finally:
        over.set()
        thread.join()
    return found


# An interrupt that falls into a callback of Python's own is not raised but printed.
interrupting = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@interrupting
@pytest.mark.parametrize("name", FITS)
def test_a_fit_beside_one_that_is_interrupted_is_untouched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "LONG", 1000)  # exact trees listen to Ctrl-C
    monkeypatch.setenv("TENFOLD_THREADS", "3")
    fit, stopped = FITS[name], 0
    expected = fit()
    FITS["exact tree"]()  # an interrupt within an import is another matter

    def disturb() -> None:
        nonlocal stopped
        for i in range(25):
            try:
                with alarm(0.0005 * (1 + i % 9)):
                    FITS["exact tree" if i % 3 == 0 else name]()
            except (Enough, KeyboardInterrupt):
                stopped += 1

    found = beside(fit, disturb)
    assert stopped
    for one in found:
        np.testing.assert_array_equal(one, expected)
    np.testing.assert_array_equal(fit(), expected)


@interrupting
@pytest.mark.parametrize("name", FITS)
def test_a_fit_beside_a_thread_that_is_interrupted_is_untouched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENFOLD_THREADS", "3")
    fit, ended = FITS[name], list[str]()
    expected = fit()

    def victim() -> None:
        with contextlib.suppress(KeyboardInterrupt):
            while True:
                fit()
        ended.append("interrupted")

    def disturb() -> None:
        for i in range(8):
            thread = threading.Thread(target=victim)
            thread.start()
            time.sleep(0.002 * (1 + i % 4))
            while thread.is_alive():  # again, where an interrupt fell into a callback of Python's own
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt)
                )
                thread.join(1.0)

    for one in beside(fit, disturb):
        np.testing.assert_array_equal(one, expected)
    assert ended == ["interrupted"] * 8


def test_a_fit_beside_one_that_fails_is_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENFOLD_THREADS", "3")
    expected = FITS["logistic"]()

    def stop(record: Any) -> None:
        if record.n_pass == 2:
            raise KeyboardInterrupt

    def disturb() -> None:
        for _ in range(10):
            with pytest.raises(KeyboardInterrupt), tenfold.monitor(stop):
                FITS["logistic"]()

    for one in beside(FITS["logistic"], disturb):
        np.testing.assert_array_equal(one, expected)


@interrupting
def test_an_interrupt_leaves_all_threads_of_the_budget_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENFOLD_THREADS", "4")
    budget = current_budget()
    FITS["ridge"]()
    for i in range(200):
        with contextlib.suppress(Enough, KeyboardInterrupt), alarm(0.00005 * (1 + i % 40)):
            FITS["ridge"]()
    give_back = time.monotonic() + 60  # helpers that nobody waits for any more, after a second interrupt
    while budget.free < 3 and time.monotonic() < give_back:
        time.sleep(0.01)
    assert budget.free == 3


def test_an_interrupt_just_after_a_thread_is_taken_gives_it_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when the next collection of garbage comes by."""

    class Interrupted:
        def __init__(self, budget: Any) -> None:
            self.lease = Lease(budget)
            self.give_back = self.lease.give_back

        def take(self, most: int) -> int:
            assert self.lease.take(most) == 1
            raise Enough

    monkeypatch.setattr("tenfold.core.engine.Lease", Interrupted)
    on = Threads(3)
    gc.disable()
    try:
        with pytest.raises(Enough):
            each(float, list(range(200)), on=on)
        assert on.budget.free == 2
    finally:
        gc.enable()


def test_an_interrupt_raised_in_a_helper_is_not_lost() -> None:
    """Its block is not in the sums: they must not be used."""
    here = threading.current_thread()

    def summarize(i: int) -> int:
        if threading.current_thread() is not here:
            raise KeyboardInterrupt("in a helper")
        time.sleep(0.001)
        return i

    with pytest.raises(KeyboardInterrupt, match="in a helper"), tenfold.engine(Threads(3)):
        each(summarize, list(range(200)))


def test_a_run_is_cancelled_with_the_one_around_it() -> None:
    with pytest.raises(ValueError, match="outer"), cancellable() as outer:
        with cancellable() as inner:
            assert not stopping()
        with pytest.raises(ValueError, match="inner"), cancellable() as other:
            raise ValueError("inner")
        assert other.cancelled and not inner.cancelled and not outer.cancelled and not stopping()
        with cancellable() as last:
            outer.cancel()
            assert last.cancelled and stopping()
        raise ValueError("outer")
    assert not stopping()


# --- one budget ---------------------------------------------------------------------------------------------------------


def counted(nested: Callable[[Any], Any]) -> tuple[int, int]:
    """How many threads worked at once, and in all, in two floors of parallel work."""
    lock, now, most, who = threading.Lock(), [0], [0], set[int]()

    def leaf(item: Any) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            who.add(threading.get_ident())
        time.sleep(0.001)
        with lock:
            now[0] -= 1

    each(lambda item: nested(leaf), list(range(5)))
    return most[0], len(who)


def test_silence_of_two_threads_ends_with_the_last_of_them() -> None:
    """One that begins within that of another and outlasts it leaves no filter behind, as two `warnings.catch_warnings` would."""
    before, inside, left = list(warnings.filters), threading.Event(), threading.Event()

    def longer() -> None:
        with silenced:
            inside.set()
            left.wait(10)

    thread = threading.Thread(target=longer)
    with silenced:
        thread.start()
        assert inside.wait(10)
    warnings.warn("not heard", stacklevel=1)
    left.set()
    thread.join()
    assert list(warnings.filters) == before
    with pytest.warns(UserWarning, match="heard"):
        warnings.warn("heard", stacklevel=1)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_nested_work_shares_one_budget(n: int) -> None:
    def nested(leaf: Callable[[Any], None]) -> None:
        assert thread_budget() == n
        each(leaf, list(range(20)))

    with tenfold.threads(n):
        most, in_all = counted(nested)
    assert most == n and in_all >= n
    with tenfold.engine(Threads(n)):
        assert counted(lambda leaf: each(leaf, list(range(20))))[0] == n
    with tenfold.engine(Threads(8)), tenfold.threads(n):
        assert counted(nested)[0] == n


def test_the_engine_reaches_nested_work() -> None:
    seen = []
    with tenfold.engine(Local()):
        each(lambda i: seen.append(repr(current_engine())), [1, 2, 3])
    with tenfold.engine(Threads(2)):
        each(lambda i: (time.sleep(0.002), seen.append(repr(current_engine()))), [1, 2, 3, 4])
    assert seen == ["Local()"] * 3 + ["Threads(2)"] * 4


def test_a_monitor_hears_of_all_nested_fits_one_after_the_other() -> None:
    inside, records = threading.Lock(), list[Any]()

    def listen(record: Any) -> None:
        assert inside.acquire(blocking=False), "two records at a time"
        time.sleep(0.0005)
        records.append(record)
        inside.release()

    with tenfold.threads(4), tenfold.monitor(listen):
        each(lambda i: tenfold.Ridge().fit(X[:100], Y[:100]), list(range(20)))
    assert len(records) == 20


def test_threads_that_are_free_again_help_those_still_at_work() -> None:
    """One of two items ends at once: its thread helps with the other."""
    who = set[int]()

    def item(which: int) -> None:
        if which == 1:
            time.sleep(0.01)
            each(lambda i: (who.add(threading.get_ident()), time.sleep(0.002)), list(range(40)))

    with tenfold.threads(2):
        each(item, [0, 1])
    assert len(who) == 2


def test_native_calls_take_threads_of_the_budget() -> None:
    with tenfold.threads(4):
        with lent_threads() as n, lent_threads() as nested:
            assert (n, nested) == (4, 1)
        with lent_threads(3) as n, lent_threads() as nested:
            assert (n, nested) == (3, 2)
        with lent_threads() as n:
            assert n == 4
        with tenfold.engine(Local()), lent_threads() as n:
            assert n == 1
        with tenfold.engine(Threads(2)), lent_threads() as n:
            assert n == 2


@pytest.mark.parametrize(
    "learner",
    [
        tenfold.HistGradientBoostingRegressor(max_iter=20, early_stopping=False),
        tenfold.DecisionTreeRegressor(),
        tenfold.BaggingRegressor(tenfold.Ridge(), 8, random_state=0),
        tenfold.RandomForestRegressor(4, random_state=0),
        tenfold.KMeans(5, n_init=2, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_one_thread_is_one_thread_nested_fits_included(learner: Any) -> None:
    """By the processor time of all other threads of the process, those of native code among them."""

    def of_others() -> float:
        return time.process_time() - time.thread_time()

    with tenfold.threads(1):
        before = -1.0
        while of_others() > before:  # those of earlier tests come to rest
            before = of_others()
            time.sleep(0.02)
        tenfold.BaggingRegressor(learner, 2, random_state=0).fit(X, Y) if learner.role == "regressor" else learner.fit(
            X
        )
        assert of_others() - before < 0.001


def test_a_lease_takes_no_more_than_there_is_and_gives_back_what_it_took() -> None:
    budget = Budget(4)
    one, two = Lease(budget), Lease(budget)
    assert (one.take(2), two.take(5), one.take(9), one.take(1)) == (2, 1, 2, 2)
    one.give_back()
    one.give_back()
    assert (budget.free, two.take(2)) == (2, 2)
    del two
    assert budget.free == 3


def test_where_no_thread_can_start_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any, **__: Any) -> Any:
        raise RuntimeError("can't start new thread")

    expected = FITS["ridge"]()
    monkeypatch.setattr(threads, "_idle", [])
    monkeypatch.setattr(threading.Thread, "start", none)
    monkeypatch.setattr(exact, "LONG", 1)
    with tenfold.threads(4):
        np.testing.assert_array_equal(FITS["ridge"](), expected)
        tenfold.DecisionTreeRegressor().fit(X[:500], Y[:500])
        assert current_budget().free == 3
