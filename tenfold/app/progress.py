"""Progress, on standard error: a live line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any

from tenfold.core.monitor import Record, monitor

PLAIN_EVERY = 5.0  # seconds between lines where there is no terminal
FORECAST_COUNTS = 0.1  # what was forecast counts as much as so large a share of the training sets: the first ones tell little of the pace


class Progress:
    """Shows how many training sets are done."""

    def __init__(self) -> None:
        self.live: Any = None
        self.task: Any = None
        self.last = time.perf_counter()
        self.forecast: float | None = None  # seconds that a run is expected to take, known before the first training set
        self.limit: float | None = None  # and that it may take

    def show(self, done: int, of: int, seconds: float, **where: Any) -> None:
        """where: which fold of how many, and how many of the learners were dropped."""
        if sys.stderr.isatty():
            self._draw(done, of, _place(**where), self._clock(done, of, seconds))
        elif time.perf_counter() - self.last >= PLAIN_EVERY and done < of:
            self.last = time.perf_counter()
            line = f"RACE     {_place(**where)}{done} of {of} training sets   {self._clock(done, of, seconds)}"
            with contextlib.suppress(OSError):  # a reader who goes away does not end the run
                print(line, file=sys.stderr, flush=True)

    def _draw(self, done: int, of: int, place: str, clock: str) -> None:
        if self.live is None:
            from rich import progress
            from rich.console import Console

            width = min(30, shutil.get_terminal_size().columns // 5)
            columns = (
                progress.TextColumn("RACE    "),
                progress.BarColumn(width),
                progress.TextColumn("{task.fields[place]}"),
                progress.MofNCompleteColumn(),
                progress.TextColumn("training sets  "),
                progress.TextColumn("{task.fields[clock]}"),
            )
            console = Console(stderr=True)
            self.live = progress.Progress(*columns, console=console, refresh_per_second=5, transient=True)
            self.task = self.live.add_task("race", total=of, place=place, clock=clock)
            self.live.start()
        self.live.update(self.task, completed=done, total=of, place=place, clock=clock)

    def _clock(self, done: int, of: int, seconds: float) -> str:
        """What is gone, and what is left by the pace so far and what was forecast."""
        if not 0 < done < of:
            return f"{seconds:.0f} s gone"
        known = 0.0 if self.forecast is None else FORECAST_COUNTS * of
        whole = (seconds * of + known * (self.forecast or 0.0)) / (done + known)
        left = min(whole * (of - done) / of, math.inf if self.limit is None else self.limit - seconds)
        return f"{seconds:.0f} s gone, about {max(math.ceil(left), 1)} s left"

    def close(self) -> None:
        """Take the line away."""
        if self.live is not None:
            self.live.stop()
            self.live = None


def _place(fold: int | None = None, folds: int = 0, dropped: int = 0, families: int = 0) -> str:
    """Where a race is: "fold 3 of 5   7 of 28 dropped   "; nothing where two folds are left out at a time."""
    if fold is None:
        return ""
    return f"fold {fold} of {folds}   " + (f"{dropped} of {families} dropped   " if dropped else "")


@contextlib.contextmanager
def progress() -> Iterator[None]:
    """Within this context fits show their passes: a bar with rich, else plain lines on stderr."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars
    except ImportError:
        with monitor(lambda record: print(_line(record), file=sys.stderr)):
            yield
        return
    columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bars(*columns, console=Console(stderr=True)) as bar:
        tasks: dict[str, Any] = {}

        def show(record: Record) -> None:
            if record.learner not in tasks:
                tasks[record.learner] = bar.add_task(record.learner, total=None)
            bar.update(tasks[record.learner], description=_line(record), completed=record.n_pass, total=record.of)

        with monitor(show):
            yield


def _line(record: Record) -> str:
    loss = "" if record.loss is None else f"  loss {record.loss:.6g}"
    certificate = "" if record.certificate is None else f"  certificate {record.certificate:.2g}"
    of = "" if record.of is None else f" of {record.of}"
    return f"{record.learner}  pass {record.n_pass}{of}{loss}{certificate}"
