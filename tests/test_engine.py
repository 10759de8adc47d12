"""Engines: the fixed tree, errors, interrupts, the thread budget, forks."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engines import Shuffled
from hypothesis import given, settings
from hypothesis import strategies as st

import tenfold
from tenfold.core import threads
from tenfold.core.data import Arrays, Target, block_rows
from tenfold.core.engine import Local, Threads, current_engine
from tenfold.core.errors import BadInput
from tenfold.core.merge_tree import MergeTree
from tenfold.core.stats import Moments
from tenfold.core.threads import thread_budget
from tenfold.solve import linalg


class Text(str):
    """A statistic whose merge shows the tree: not associative, not commutative."""

    def __add__(self, other: str) -> Text:
        return Text(f"({self!s}{other})")


class Numbers:
    """A source whose blocks are numbers."""

    def __init__(self, n: int, reading: Any = None) -> None:
        self.n, self.n_parts, self.reading = n, None, reading

    def parts(self) -> Iterator[int]:
        for i in range(self.n):
            if self.reading is not None:
                self.reading(i)
            yield i

    def load(self, part: int) -> int:
        return part

    lazy = load


def table(n: int = 30_000, p: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p))
    return X, X @ rng.standard_normal(p) + rng.standard_normal(n)


def whole_tree(low: int, high: int) -> str:
    """What the tree must be, from its definition: parts of the largest power of eight below the length, left to right."""
    if high - low == 1:
        return str(low)
    part = 1
    while part * 8 < high - low:
        part *= 8
    parts = [whole_tree(start, min(start + part, high)) for start in range(low, high, part)]
    return functools.reduce("({}{})".format, parts)


# --- the tree -----------------------------------------------------------------------------------------------


@given(order=st.integers(1, 150).flatmap(lambda n: st.permutations(range(n))))
@settings(max_examples=150, deadline=None)
def test_the_tree_is_the_same_for_any_order_of_arrival(order: list[int]) -> None:
    tree = MergeTree()
    for i in order:
        tree.put(i, Text(i))
    assert tree.result() == whole_tree(0, len(order))


def test_the_tree_keeps_few_partial_results() -> None:
    tree = MergeTree()
    for i in range(1000):
        tree.put(i, Text(""))
        assert len(tree.alive()) <= 4


@pytest.mark.parametrize("on", [Local(), Threads(1), Threads(2), Threads(7), Shuffled(1), Shuffled(2)], ids=repr)
def test_every_engine_merges_along_the_tree(on: Any) -> None:
    assert on.run(lambda number: Text(number), Numbers(37)) == whole_tree(0, 37)


@pytest.mark.parametrize("on", [Local(), Threads(2), Threads(7), Shuffled()], ids=repr)
def test_engines_give_the_same_bits(on: Any) -> None:
    X, y = table()
    with tenfold.engine(Threads(1)):
        expected = tenfold.Ridge().fit(X, y)
    with tenfold.engine(on):
        found = tenfold.Ridge().fit(X, y)
    assert np.array_equal(found.coef_, expected.coef_)
    assert found.intercept_ == expected.intercept_


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_error_of_the_first_bad_block_is_raised_and_the_pool_stays_usable(n: int) -> None:
    def summarize(number: int) -> Text:
        time.sleep(0.002 if number == 11 else 0.0)  # the first bad block is the slowest
        if number in (11, 12, 13, 20):
            raise ValueError(f"block {number}")
        return Text(number)

    for _ in range(5):
        with pytest.raises(ValueError, match="block 11"):
            Threads(n).run(summarize, Numbers(30))
    assert Threads(n).run(lambda number: Text(number), Numbers(5)) == whole_tree(0, 5)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_an_error_while_reading_is_raised(n: int) -> None:
    def reading(i: int) -> None:
        if i == 17:
            raise OSError("the disk is gone")

    for _ in range(10):
        with pytest.raises(OSError, match="the disk is gone"):
            Threads(n).run(lambda number: Text(number), Numbers(30, reading))


def test_an_error_of_a_block_before_the_reading_error_comes_first() -> None:
    def reading(i: int) -> None:
        if i == 5:
            raise OSError("reading")

    def summarize(number: int) -> Text:
        if number == 4:
            time.sleep(0.01)
            raise ValueError("block 4")
        return Text(number)

    with pytest.raises(ValueError, match="block 4"):
        Threads(3).run(summarize, Numbers(9, reading))


def test_what_is_no_engine_is_refused() -> None:
    with pytest.raises(tenfold.BadParameter, match="must have a method run"), tenfold.engine(3):  # type: ignore[arg-type]
        pass


# --- interrupts ---------------------------------------------------------------------------------------------

INTERRUPTED = """
    import itertools, os, signal, threading, time
    import numpy as np, tenfold

    rng = np.random.default_rng(0)

    def stop():
        {when}
        global sent
        sent = time.perf_counter(), time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    {setup}
    threading.Thread(target=stop, daemon=True).start()
    try:
        {work}
        print("finished")
    except KeyboardInterrupt:
        late, busy = time.perf_counter() - sent[0], time.process_time() - sent[1]
        X = rng.standard_normal((20000, 8))
        y = X.sum(1)
        model = tenfold.Ridge(alpha=0.0).fit(X, y)
        sound = np.allclose(model.coef_, 1, rtol=1e-8, atol=0)
        in_time = busy < 1 * {threads} and late < 20  # a second of work for each thread, however busy the machine is
        print("sound" if sound else "broken", "in time" if in_time else f"late {{late}}, {{busy}} of work")
"""


def interrupted(setup: str, work: str, when: str = "time.sleep(1.0)", threads: int = 1) -> str:
    """A program whose work is interrupted, and which then says in what state it is."""
    setup = textwrap.indent(textwrap.dedent(setup).strip(), "    ").lstrip()
    return textwrap.dedent(INTERRUPTED.format(setup=setup, work=work, when=when, threads=threads))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("setup", "work"),
    [
        (
            "X = rng.standard_normal((60_000, 40))",
            "tenfold.KMeans(4000, n_init=1, max_iter=100, tol=0, random_state=0).fit(X)",
        ),
        (
            "blocks = (rng.standard_normal((500, 30)) for _ in itertools.count())",
            "tenfold.PCA(2).fit(blocks)",
        ),
    ],
    ids=["in a long kernel", "in an endless stream"],
)
def test_an_interrupt_stops_within_a_second_and_leaves_the_process_sound(setup: str, work: str, threads: int) -> None:
    code = interrupted(setup, work, threads=threads)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TENFOLD_THREADS": str(threads)},
    )
    assert done.stdout.strip() == "sound in time", done.stdout + done.stderr


ENDLESS = """
    import itertools
    from tenfold.core import engine, threads
    from tenfold.solve import linalg

    begun = threading.Event()

    def without_end(decompose):
        def again(*given):
            while True:
                begun.set()
                decompose(*given)
        return again

    np.linalg.eigh, linalg._dsyevr = without_end(np.linalg.eigh), without_end(linalg._dsyevr)
    A = rng.random((700, 700))
    A += A.T
"""


@pytest.mark.parametrize(
    "work",
    ["linalg.eigh(A)", "linalg.largest_eigh(A, 9)", "with tenfold.threads(2): engine.each(linalg.eigh, [A, A])"],
    ids=["all eigenvectors", "some of them", "in two threads"],
)
def test_an_interrupt_does_not_wait_for_a_decomposition_and_neither_does_the_end(work: str) -> None:
    """LAPACK works on a large matrix for ever here, so that whoever waits for it never comes back."""
    code = interrupted(ENDLESS, work, when="begun.wait()")
    code += "\nprint([one.is_alive() for one in threads._given_up])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    first, alive = done.stdout.splitlines()
    assert first.startswith("sound") and "True" in alive and "False" not in alive and done.returncode == 0, done.stdout + done.stderr


def test_large_matrices_are_decomposed_as_small_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    M = np.random.default_rng(5).normal(size=(90, 40))
    A = M.T @ M
    found = []
    for long in (threads.LONG, 8000):
        monkeypatch.setattr(threads, "LONG", long)
        L = linalg.cholesky(A)
        assert L is not None and linalg.cholesky(-A) is None
        vectors = [*linalg.eigh(A)[1].T, *linalg.eigh_graded(A)[1].T, *linalg.largest_eigh(A, 7)[1].T]
        sides = [np.outer(v, v) for v in vectors]  # a vector and its opposite are one direction
        values = [linalg.eigh(A)[0], linalg.eigh_graded(A)[0], linalg.largest_eigh(A, 7)[0]]
        found.append([L, linalg.invert_triangle(L), *values, *sides])
    for small, large in zip(*found, strict=True):
        np.testing.assert_allclose(large, small, rtol=1e-9, atol=1e-9 * np.abs(small).max())


def test_an_error_of_a_long_call_is_raised_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LONG", 0)
    with pytest.raises(np.linalg.LinAlgError):
        threads.patiently(np.linalg.cholesky, -np.eye(3))


def test_interrupt_in_a_block_of_python_code() -> None:
    def summarize(number: int) -> Text:
        if number == 3 and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        time.sleep(0.001)
        return Text(number)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        while True:  # the block falls to another thread now and then
            Threads(2).run(summarize, Numbers(20))
    assert Threads(2).run(lambda number: Text(number), Numbers(5)) == whole_tree(0, 5)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_member_that_was_stopped_does_not_learn_from_half_a_pass() -> None:
    """A kernel that stops leaves sums of nothing, which a classifier takes for classes that are separated: no word of that."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    ended = []

    def fit() -> None:  # as a thread of a bag does, while another one is interrupted
        try:
            with tenfold.engine(Local()):
                tenfold.LogisticRegression().fit(X, y)
        except KeyboardInterrupt:
            ended.append("stopped")

    with threads.cancellable() as run:
        run.cancel()
        fit()
    assert ended == ["stopped"]
    fit()
    assert ended == ["stopped"]


# --- the thread budget --------------------------------------------------------------------------------------


def test_threads_nest_and_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENFOLD_THREADS", raising=False)
    before = thread_budget()
    assert before == len(os.sched_getaffinity(0))
    with tenfold.threads(3):
        assert thread_budget() == 3
        with tenfold.threads(1):
            assert thread_budget() == 1
        with pytest.raises(RuntimeError), tenfold.threads(5):
            raise RuntimeError
        assert thread_budget() == 3
    assert thread_budget() == before


def test_the_environment_sets_the_budget_and_the_context_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENFOLD_THREADS", "5")
    assert thread_budget() == 5
    with tenfold.threads(2):
        assert thread_budget() == 2
    monkeypatch.setenv("TENFOLD_THREADS", "many")
    with pytest.raises(tenfold.BadParameter, match="TENFOLD_THREADS='many': must be a whole number"):
        thread_budget()


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_a_bad_number_of_threads_is_told(n: Any) -> None:
    with (
        pytest.raises(tenfold.BadParameter, match="must be a whole number of at least 1"),
        tenfold.threads(n),
    ):
        pass


def test_no_more_threads_than_the_budget_work() -> None:
    names: set[str] = set()

    def summarize(number: int) -> Text:
        names.add(threading.current_thread().name)
        time.sleep(0.001)
        return Text(number)

    with tenfold.threads(3):
        current_engine().run(summarize, Numbers(40))
    assert 1 < len(names) <= 3


def test_fits_in_several_threads_at_once() -> None:
    X, y = table()
    expected = tenfold.Ridge().fit(X, y).coef_
    found: list[np.ndarray] = []
    workers = [threading.Thread(target=lambda: found.append(tenfold.Ridge().fit(X, y).coef_)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert all(np.array_equal(one, expected) for one in found)


def test_a_fork_after_a_fit_can_fit_too() -> None:
    code = """
    import os, warnings
    import numpy as np, tenfold
    warnings.simplefilter("ignore", DeprecationWarning)  # a fork with threads: that is what is tried here
    X = np.random.default_rng(0).standard_normal((50000, 8))
    with tenfold.threads(3):
        first = tenfold.Ridge().fit(X, X.sum(1)).coef_
        child = os.fork()
        again = tenfold.Ridge().fit(X, X.sum(1)).coef_
    if child == 0:
        os._exit(0 if np.array_equal(first, again) else 1)
    print(os.waitpid(child, 0)[1], np.array_equal(first, again))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["0", "True"], done.stderr


# --- imports ------------------------------------------------------------------------------------------------


def test_nothing_is_imported_before_it_is_needed() -> None:
    heavy = [
        "polars",
        "pyarrow",
        "dask",
        "distributed",
        "pandas",
        "matplotlib",
        "scipy.stats",
        "narwhals",
        "sklearn",
    ]
    code = f"""
    import sys, numpy as np, tenfold
    tenfold.Ridge().fit(np.eye(4), np.arange(4.0)).predict(np.eye(4))
    print([name for name in {heavy} if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.parametrize("learner", [tenfold.Ridge(), tenfold.LinearRegression(), tenfold.PCA(2)], ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e120])
def test_rows_judged_by_their_sums_are_refused_by_name(learner: Any, bad: float) -> None:
    """Learners of moments look at nothing but the sums of a block; what is wrong is found all the same."""
    X = np.random.default_rng(0).normal(size=(3 * block_rows(40), 40))
    y = X[:, 0].copy()
    row = 2 * block_rows(40) + 17
    X[row, 5] = bad
    with pytest.raises(BadInput, match=rf"column 5, row {row}"):
        learner.fit(X, y)
    if learner.role == "regressor":
        with pytest.raises(BadInput, match=rf"column 5, row {row}"):
            tenfold.cross_validate(learner, X, y)


def test_unread_rows_give_the_bits_of_rows_that_were_read() -> None:
    X = np.random.default_rng(1).normal(size=(3 * block_rows(40) + 5, 40))
    y, w = X[:, :1] + 1.0, np.full(len(X), 1e-250)
    some = np.flatnonzero(np.arange(len(X)) % 3)
    for rows in (None, some):
        source = Arrays(X, y, w, Target("real"), {}, rows=rows)
        for part in source.parts():
            lazy, read = source.lazy(part), source.load(part)
            assert lazy.width == 40 and lazy.unread is not None
            found, expected = Moments.of_block(lazy), Moments.of_block(read)
            for field in ("weight", "center", "offset", "scatter"):
                np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
            np.testing.assert_array_equal(lazy.X, read.X)
            assert lazy.unread is None
        with pytest.raises(AttributeError):
            _ = source.lazy(0).Z


def test_blas_has_one_thread_in_a_fit_of_any_thread_and_its_own_count_after_it() -> None:
    """The thread that was the first to set a count (threadpoolctl remembers it) is not the only one that may."""
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().select(user_api="blas").lib_controllers

    def counts() -> list[int]:
        return [one.get_num_threads() for one in libraries]

    before, within = counts(), list[list[int]]()
    try:
        for one in libraries:
            one.set_num_threads(2)
        chosen = counts()  # a library may have been built for one

        def look() -> None:
            with threads.single_blas, threads.single_blas:
                within.append(counts())

        look()
        other = threading.Thread(target=look)
        other.start()
        other.join()
        assert within == [[1] * len(libraries)] * 2 and counts() == chosen
    finally:
        for one, count in zip(libraries, before, strict=True):
            one.set_num_threads(count)
