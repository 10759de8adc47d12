"""Work that Ctrl-C and the end of a given time stop at once, and that leaves what is complete."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from tenfold.core.threads import cancellable


class Wall:
    """Within it, kernels are cancelled when the time is over; then, and on Ctrl-C where `finish_early`, the work ends without a word."""

    def __init__(self, finish_early: bool, left: float | None) -> None:
        """left: seconds, None for no end."""
        self.finish_early, self.left = finish_early, left
        self.over = threading.Event()
        self.interrupted = self.cut = False  # by Ctrl-C, by the clock

    def __enter__(self) -> None:
        self.context = cancellable()
        work = self.context.__enter__()
        self.timer: threading.Timer | None = None
        if self.left is not None:
            if self.left <= 0:
                self._end(work)
                return
            self.timer = threading.Timer(min(self.left, threading.TIMEOUT_MAX), self._end, (work,))
            self.timer.daemon = True
            self.timer.start()

    def _end(self, work: Any) -> None:
        self.over.set()
        work.cancel()

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
