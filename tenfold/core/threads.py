"""Threads: how many there are, BLAS on one of them, and long calls that Ctrl-C need not wait for."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from tenfold.core import ops
from tenfold.core.errors import BadParameter

Result = TypeVar("Result")

_threads: ContextVar[int | None] = ContextVar("tenfold_threads", default=None)
_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)  # threads do not survive a fork


def thread_budget() -> int:
    """Threads that Tenfold may use: `tenfold.threads(n)`, else TENFOLD_THREADS, else the cores this process may run on."""
    chosen = _threads.get()
    if chosen is not None:
        return chosen
    text = os.environ.get("TENFOLD_THREADS", "")
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise BadParameter(f"TENFOLD_THREADS={text!r}: must be a whole number of at least 1")
    return int(text)


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Within this context Tenfold uses at most n threads. Results do not depend on it."""
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise BadParameter(f"threads({n!r}): must be a whole number of at least 1")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


def pool(n: int) -> ThreadPoolExecutor:
    """Threads that wait for work."""
    if n not in _pools:
        _pools[n] = ThreadPoolExecutor(n, thread_name_prefix="tenfold")
    return _pools[n]


class _SingleBlas(contextlib.ContextDecorator):
    """BLAS on one thread: the threads of a pass do not compete, small calls do not stall, and bits do not depend on the count.

    The count is a setting of the process, so the first to enter sets it and the last to leave restores it.
    """

    def __init__(self) -> None:
        self.lock, self.depth = threading.Lock(), 0
        self.libraries: list[Any] | None = None
        self.before: list[int] = []

    def __enter__(self) -> None:
        with self.lock:
            if self.depth == 0:
                if self.libraries is None:
                    self.libraries = self._find()
                self.before = [library.get_num_threads() for library in self.libraries]
                self._set([1] * len(self.before))
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self._set(self.before)

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self.libraries or [], counts, strict=True):
            if count > 1 or library.get_num_threads() > 1:
                library.set_num_threads(count)

    @staticmethod
    def _find() -> list[Any]:
        from threadpoolctl import ThreadpoolController

        return list(ThreadpoolController().select(user_api="blas").lib_controllers)


single_blas = _SingleBlas()


# --- long calls -------------------------------------------------------------------------------------------------------

LONG = 2e8  # size of a matrix times its shorter side, from which a decomposition may take a tenth of a second
LISTEN_EVERY = 0.05  # seconds
_stopping = threading.Event()
_given_up: list[threading.Thread] = []


def interrupt(stop: bool) -> None:
    """Ask kernels and long calls in all threads to stop; or allow them again."""
    ops.interrupt(stop)
    (_stopping.set if stop else _stopping.clear)()


def stopping() -> bool:
    """Whether work in all threads is being stopped: what a kernel returns now is not finished."""
    return _stopping.is_set()


def is_long(A: Any) -> bool:
    """Whether decomposing a matrix takes so long that somebody may want to stop it."""
    return bool(A.size * min(A.shape[-2:]) >= LONG)


def patiently(function: Callable[..., Result], A: Any, *rest: Any, **options: Any) -> Result:
    """function(A, ...), which must let other threads run. A large matrix goes to a thread of its own: LAPACK cannot be stopped, but
    the caller of Ctrl-C need not wait for it. A call that is given up ends unheard.
    """
    if not is_long(A):
        return function(A, *rest, **options)
    done, found = threading.Event(), list[Any]()

    def work() -> None:
        try:
            found.extend((function(A, *rest, **options), None))
        except BaseException as error:
            found.extend((None, error))
        done.set()

    worker = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    try:
        worker.start()
        while not done.wait(LISTEN_EVERY):
            if _stopping.is_set():
                raise KeyboardInterrupt
    except BaseException:
        if not _given_up:
            atexit.register(_leave)
        _given_up.append(worker)
        raise
    result, error = found
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _leave() -> None:
    """At exit BLAS gives its memory back. Where a call that was given up still works in it, leave without that."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit") and any(worker.is_alive() for worker in _given_up):
        libc.on_exit(libc._exit, None)
    else:
        for worker in _given_up:
            worker.join()
