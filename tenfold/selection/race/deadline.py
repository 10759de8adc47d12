"""Work that Ctrl-C and the end of a given time stop at once, and that leaves what is complete."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from typing import Any, Self

from tenfold.core.threads import cancellable


class Deadline:
    """Within it, kernels are cancelled when the time is over; then, and on Ctrl-C where `finish_early`, the work ends without a word."""

    def __init__(self, finish_early: bool, left: float | None) -> None:
        """left: seconds, None for no end."""
        self.finish_early = finish_early
        self.end = None if left is None else time.perf_counter() + left
        self.over = threading.Event()
        self.timer: threading.Timer | None = None
        self.interrupted = self.cut = False  # by Ctrl-C, by the clock

    @property
    def left(self) -> float:
        """Seconds to its end."""
        return math.inf if self.end is None else self.end - time.perf_counter()

    def keep(self, seconds: float) -> None:
        """Let it end so many seconds earlier, which are kept for what comes after."""
        if self.end is not None:
            self.end -= seconds
            self._set_timer()

    def within(self, seconds: float) -> None:
        """Let it end in so many seconds at the latest."""
        if self.left > seconds:
            self.keep(self.left - seconds)

    def __enter__(self) -> Self:
        self.context = cancellable()
        self.work = self.context.__enter__()
        self._set_timer()
        return self

    def _set_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.left <= 0:
            self._over()
        elif self.end is not None:
            self.timer = threading.Timer(min(self.left, threading.TIMEOUT_MAX), self._over)
            self.timer.daemon = True
            self.timer.start()

    def _over(self) -> None:
        self.over.set()
        self.work.cancel()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if self.timer is not None:
            self.timer.cancel()
        with contextlib.suppress(KeyboardInterrupt):
            self.context.__exit__(kind, error, trace)
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            return False
        self.cut = self.over.is_set()
        self.interrupted = self.finish_early and not self.cut
        return self.cut or self.interrupted
