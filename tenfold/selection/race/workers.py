"""Processes that fit beside this one. Fits of small tables are short calls by the thousand: threads of one process wait for one
another's interpreter lock there, and two of them are no faster than one.

A worker is told the rows, families and judges of a race, then which family to fit without which folds, and answers with the `Unit`. What
it answers is what this process would have found, bit for bit. One that cannot be started, or dies, is not missed: its work is done here.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from multiprocessing.connection import Connection, Pipe
from typing import Self

from tenfold.core.threads import LISTEN_EVERY, stopping, threads
from tenfold.evaluate.validate.training_sets import Held
from tenfold.selection.race.fits import Fits, Unit

MOST = 8  # however many cores there are: each is an interpreter with its own copy of the rows
BEGIN = "import sys; sys.path[:] = sys.argv[2:]; from tenfold.selection.race.workers import serve; serve(int(sys.argv[1]))"
LOOK_EVERY = 0.5  # seconds: whether the process that a worker works for is still there
CANNOT_BE_SENT = (pickle.PicklingError, AttributeError, TypeError)  # a function of the user, for example


class Workers:
    """Up to so many processes, each started when it is first needed; all end with the `with` block."""

    def __init__(self, most: int) -> None:
        # A frozen application runs not what it is told but itself, its job and workers again. Embedded, there may be no Python to start.
        able = os.name == "posix" and sys.executable and not getattr(sys, "frozen", False)
        self.left, self.all, self.idle = (min(most, MOST) if able else 0), list[_Worker](), list[_Worker]()
        self.lock = threading.Lock()

    def unit(self, fits: Fits, number: int, held: Held) -> Unit:
        """A unit of a race, fitted in a worker where one is free, else here."""
        worker = self._take()
        if worker is None:
            return fits.unit(number, held)
        try:
            found = worker.unit(fits, number, held)
        except BaseException as failure:
            worker.end()
            if isinstance(failure, KeyboardInterrupt):  # what is done after the end of the time may have another one
                self.left += 1
            if not isinstance(failure, (OSError, EOFError, *CANNOT_BE_SENT)):
                raise
            if isinstance(failure, CANNOT_BE_SENT):
                self.left = 0
            return fits.unit(number, held)
        self.idle.append(worker)
        return fits.unit(number, held) if found is None else found

    def _take(self) -> _Worker | None:
        with self.lock:
            if self.idle:
                return self.idle.pop()
            if self.left == 0:
                return None
            self.left -= 1
            try:
                self.all.append(_Worker())
            except OSError:  # no memory or no more processes
                self.left = 0
                return None
            return self.all[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.left = 0
        self.idle.clear()
        for worker in self.all:
            worker.end()
        self.all.clear()


class _Worker:
    """One process, as seen from the one that it works for."""

    def __init__(self) -> None:
        self.line, theirs = Pipe()
        with theirs:
            path = [one or os.getcwd() for one in sys.path]
            command = [sys.executable, "-c", BEGIN, str(theirs.fileno()), *path]
            quiet = subprocess.DEVNULL
            try:
                self.process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, pass_fds=[theirs.fileno()])
            except OSError:
                self.line.close()
                raise
        self.known: tuple[object, object] | None = None  # the race that it was told of last, and the families of it

    def unit(self, fits: Fits, number: int, held: Held) -> Unit | None:
        """None where the fit has ended in an error that only this process can tell of."""
        if self.known is None or self.known[0] is not fits or self.known[1] is not fits.families:
            self.line.send((fits.rows, fits.families, fits.judges))
            self.known = fits, fits.families
        self.line.send((number, held))
        while not self.line.poll(LISTEN_EVERY):
            if stopping():
                raise KeyboardInterrupt
        found: Unit | None = self.line.recv()
        return found

    def end(self) -> None:
        """At once; it has nothing that is not done again."""
        self.line.close()
        self.process.kill()
        self.process.wait()


def serve(number: int) -> None:
    """What a worker does: fit what it is told to, on one thread, until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that it works for
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    warnings.simplefilter("ignore")  # what learners say is in the unit
    fits: Fits | None = None
    with Connection(number) as line, threads(1):
        while True:
            try:
                told = line.recv()
            except (EOFError, OSError):
                return
            if len(told) == 3:
                fits = Fits(*told)
                continue
            try:
                assert fits is not None
                found = fits.unit(*told)
            except Exception:  # done again where it can be told
                found = None
            line.send(found)


def _leave_with(parent: int) -> None:
    """In the middle of a fit, too, nobody waits for."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)
