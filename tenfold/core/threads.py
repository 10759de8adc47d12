"""Threads: how many there are, who works in them, BLAS on one of them, and work that can be given up.

One budget serves all that runs in a context: `tenfold.threads(n)`. Whoever wants helpers takes free threads from it and gives
them back, so that a fit within a fit uses what the outer one leaves, and never more than n threads work.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from tenfold._kernels import Budget, Run, _run
from tenfold.core.errors import BadParameter

Result = TypeVar("Result")


# --- how many ---------------------------------------------------------------------------------------------------------

_chosen: ContextVar[Budget | None] = ContextVar("tenfold_threads", default=None)
_shared: dict[int, Budget] = {}  # where nobody chose: by number of threads


def chosen_budget() -> Budget | None:
    """The budget of the innermost `with tenfold.threads(n)`, if there is one."""
    return _chosen.get()


def current_budget() -> Budget:
    """The budget in force: `tenfold.threads(n)`, else TENFOLD_THREADS, else the cores this process may run on."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    n = _default_threads()
    return _shared.get(n) or _shared.setdefault(n, Budget(n))


def thread_budget() -> int:
    """Threads that Tenfold may use here at most."""
    return current_budget().n


def _default_threads() -> int:
    text = os.environ.get("TENFOLD_THREADS", "")
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise BadParameter(f"TENFOLD_THREADS={text!r}: must be a whole number of at least 1")
    return int(text)


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Within this context Tenfold uses at most n threads, nested fits included. Results do not depend on it."""
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise BadParameter(f"threads({n!r}): must be a whole number of at least 1")
    token = _chosen.set(Budget(n))
    try:
        with (
            single_blas if n == 1 else contextlib.nullcontext()
        ):  # else BLAS has its own threads where no fit is under way
            yield
    finally:
        _chosen.reset(token)


# --- who works ----------------------------------------------------------------------------------------------------------

_idle: list[SimpleQueue[Callable[[], None]]] = []  # one for each thread that waits for work


def _after_fork() -> None:  # threads do not survive it
    _idle.clear()
    _shared.clear()


os.register_at_fork(after_in_child=_after_fork)


def start(task: Callable[[], None]) -> bool:
    """Have a thread do this, in a copy of the caller's context; False where the system has no more threads."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        try:
            threading.Thread(target=_serve, args=(inbox,), name="tenfold", daemon=True).start()
        except (RuntimeError, MemoryError):
            return False
    context = copy_context()
    inbox.put(lambda: context.run(task))
    return True


def _serve(inbox: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        inbox.get()()  # a task keeps what it raises to itself
        _idle.append(inbox)


# --- BLAS ---------------------------------------------------------------------------------------------------------------


class _SingleBlas(contextlib.ContextDecorator):
    """BLAS on one thread: the threads of a pass do not compete, small calls do not stall, and bits do not depend on the count.

    The count is a setting of the process, so the first to enter sets it and the last to leave restores it.
    """

    def __init__(self) -> None:
        self.lock, self.depth = threading.Lock(), 0
        self.libraries: list[_Library] | None = None
        self.before: list[tuple[_Library, int]] = []  # those that had more than one thread, and how many

    def __enter__(self) -> None:
        with self.lock:
            if self.depth == 0:
                if self.libraries is None:
                    self.libraries = _libraries()
                self.before = [(library, count) for library in self.libraries if (count := library.get()) > 1]
                for library, _ in self.before:
                    library.set(1)
            self.depth += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                for library, count in self.before:
                    library.set(count)


class _Library(NamedTuple):
    """How many threads a BLAS uses, asked and told."""

    get: Callable[[], int]
    set: Callable[[int], object]


def _libraries() -> list[_Library]:
    """Every BLAS of this process. OpenBLAS is called itself: threadpoolctl would look for its functions by name each time, and would
    obey only the first thread that has ever set a count."""
    from threadpoolctl import ThreadpoolController

    found = []
    for one in ThreadpoolController().select(user_api="blas").lib_controllers:
        library = _Library(one.get_num_threads, one.set_num_threads)
        names = [name for name in one.check_symbols if hasattr(one.dynlib, name)]
        if one.internal_api == "openblas" and one.threading_layer != "openmp" and names:
            library = _Library(getattr(one.dynlib, names[0]), getattr(one.dynlib, names[0].replace("_get_", "_set_")))
        found.append(library)
    return found


single_blas = _SingleBlas()


# --- work that can be given up ---------------------------------------------------------------------------------------

LONG = 2e8  # size of a matrix times its shorter side, from which a decomposition may take a tenth of a second
LISTEN_EVERY = 0.05  # seconds
_given_up: list[threading.Thread] = []


@contextlib.contextmanager
def cancellable() -> Iterator[Run]:
    """What is done within, in this thread and in those that work for it, is one run: when it fails, or is cancelled (`cancel`), its
    kernels raise KeyboardInterrupt. It is part of the run around it, and has nothing to do with any other.
    """
    run = Run(_run.get(None))
    token = _run.set(run)
    try:
        yield run
    except BaseException:
        run.cancel()
        raise
    finally:
        _run.reset(token)


def stopping() -> bool:
    """Whether the run that this work belongs to was cancelled."""
    run = _run.get(None)
    return run is not None and run.cancelled


def while_listening(long: bool, work: Callable[[], Result]) -> Result:
    """work(), in a thread of its own where it is long: so that Ctrl-C is heard, and stops it."""
    if not long or threading.current_thread() is not threading.main_thread():
        return work()
    done: list[Result] = []
    failed: list[BaseException] = []
    working = threading.Lock()  # held until the end
    working.acquire()

    def task() -> None:
        try:
            done.append(work())
        except BaseException as failure:
            failed.append(failure)
        working.release()

    with cancellable() as run:
        if not start(task):
            return work()
        try:
            while not working.acquire(timeout=LISTEN_EVERY):  # a signal that another thread receives does not wake this one
                pass
            working.release()
        except BaseException:
            run.cancel()
            if not (done or failed):  # else it may be this thread that holds the lock
                with working:
                    pass
            raise
    if failed:
        raise failed[0]
    return done[0]


def is_long(A: Any) -> bool:
    """Whether decomposing a matrix takes so long that somebody may want to stop it."""
    return bool(A.size * min(A.shape[-2:]) >= LONG)


def patiently(function: Callable[..., Result], A: Any, *rest: Any, **options: Any) -> Result:
    """function(A, ...), which must let other threads run. A large matrix goes to a thread of its own: LAPACK cannot be stopped, but
    the caller of Ctrl-C need not wait for it. A call that is given up ends unheard.
    """
    if not is_long(A):
        return function(A, *rest, **options)
    working, found = threading.Lock(), list[Any]()
    working.acquire()  # until the end

    def work() -> None:
        try:
            found.extend((function(A, *rest, **options), None))
        except BaseException as error:
            found.extend((None, error))
        working.release()

    worker = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
    started = True
    try:
        try:
            worker.start()  # an interrupt may find it here already
        except RuntimeError:  # there is no room for a thread
            started = False
        while started and not working.acquire(timeout=LISTEN_EVERY):
            if stopping():
                raise KeyboardInterrupt
    except BaseException:
        if not _given_up:
            atexit.register(_leave)
        _given_up.append(worker)
        raise
    if not started:
        return function(A, *rest, **options)
    result, error = found
    if error is not None:
        raise error
    returned: Result = result
    return returned


def _leave() -> None:
    """At exit BLAS gives its memory back. Where a call that was given up still works in it, leave without that."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit") and any(worker.is_alive() for worker in _given_up):
        libc.on_exit(libc._exit, None)
    else:
        for worker in _given_up:
            if worker.is_alive():
                worker.join()
