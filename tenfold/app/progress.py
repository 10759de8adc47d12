"""Progress, on standard error: a live line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

PLAIN_EVERY = 5.0  # seconds between lines where there is no terminal


class Progress:
    """Shows how many training sets are done."""

    def __init__(self) -> None:
        self.live: Any = None
        self.task: Any = None
        self.last = time.perf_counter()

    def show(self, done: int, of: int, seconds: float) -> None:
        if sys.stderr.isatty():
            self._draw(done, of)
        elif time.perf_counter() - self.last >= PLAIN_EVERY and done < of:
            self.last = time.perf_counter()
            line = f"RACE     {done} of {of} training sets   {seconds:.0f} s gone"
            print(line, file=sys.stderr, flush=True)

    def _draw(self, done: int, of: int) -> None:
        if self.live is None:
            from rich import progress
            from rich.console import Console

            width = min(40, shutil.get_terminal_size().columns // 3)
            columns = (
                progress.TextColumn("RACE    "),
                progress.BarColumn(width),
                progress.MofNCompleteColumn(),
                progress.TextColumn("training sets  "),
                progress.TimeElapsedColumn(),
                progress.TextColumn("gone, about"),
                progress.TimeRemainingColumn(),
                progress.TextColumn("left"),
            )
            console = Console(stderr=True)
            self.live = progress.Progress(*columns, console=console, refresh_per_second=5, transient=True)
            self.task = self.live.add_task("race", total=of)
            self.live.start()
        self.live.update(self.task, completed=done)

    def close(self) -> None:
        """Take the line away."""
        if self.live is not None:
            self.live.stop()
            self.live = None
