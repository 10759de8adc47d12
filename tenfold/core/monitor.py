"""Long work: one record per pass over the data goes to whoever listens.

with tenfold.progress():                 a bar (with rich installed), or plain lines on stderr
    model.fit(X, y)
with tenfold.monitor(print):             a callback of your own gets the same records
    model.fit(X, y)
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Record:
    """One finished pass: loss and certificate are None for a learner that has none."""

    learner: str
    n_pass: int
    loss: float | None
    certificate: float | None
    seconds: float
    of: int | None = None  # how many passes there will be at most, where that is known


Listener = Callable[[Record], None]
_listener: ContextVar[Listener | None] = ContextVar("tenfold_monitor", default=None)
_note: ContextVar[dict[str, float]] = ContextVar("tenfold_note")
_kept: ContextVar[str | None] = ContextVar("tenfold_kept", default=None)


class Passes:
    """Counts the passes of one fit and reports them."""

    def __init__(self, learner: str, of: int | None = None) -> None:
        self.listener = _listener.get()
        self.learner, self.count, self.of = learner, 0, of
        self.began = time.perf_counter() if self.listener else 0.0
        if self.listener is not None:
            _note.set({})  # what the fit before has noted is not about this one

    def done(self, stats: Any) -> None:
        self.count += 1
        if self.listener is None:
            return
        now = time.perf_counter()
        loss = getattr(stats, "loss", getattr(stats, "inertia", None))
        certificate = _note.get({}).get("certificate")
        self.listener(Record(self.learner, self.count, loss, certificate, now - self.began, self.of))
        self.began = now


def note(certificate: float) -> None:
    """A solver reports its current certificate; it travels with the record of the next pass."""
    if _listener.get() is not None:
        _note.set({"certificate": certificate})


def keep_on_interrupt(what: str) -> None:
    """A learner stopped by Ctrl-C that has something to show ends its fit with that, and leaves the rest to `pass_on_interrupt`."""
    _kept.set(f"stopped: {what} and can be used")


def pass_on_interrupt() -> None:
    """Once the model is whole: whoever fits many of them must not go on to the next one."""
    kept = _kept.get()
    if kept is not None:
        _kept.set(None)
        raise KeyboardInterrupt(kept)


@contextlib.contextmanager
def monitor(listener: Listener) -> Iterator[None]:
    """Within this context `listener` receives one `Record` per pass, of nested fits too, one after the other."""
    lock = threading.RLock()

    def one_at_a_time(record: Record) -> None:  # fits in several threads have passes at the same time
        with lock:
            listener(record)

    token, clear = _listener.set(one_at_a_time), _note.set({})
    try:
        yield
    finally:
        _listener.reset(token)
        _note.reset(clear)
