"""Time and memory of one call, and how busy the rest of the machine was meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
MEGABYTE = 1e6
SAMPLE_EVERY_S = 0.002
TELLING_S = 0.3  # the system counts CPU time in ticks of 10 ms: shares of shorter times tell nothing


class Meter:
    """Times the fit and the prediction of one run; on request also measures the memory of the fit."""

    def __init__(self, *, with_memory: bool) -> None:
        self.with_memory = with_memory
        self.fit_s: float | None = None
        self.predict_s: float | None = None
        self.memory_mb: float | None = None

    def fit(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if not self.with_memory:
            self.fit_s, result = timed(call, *args, **kwargs)
            return result
        release_free_heap()
        with peak_growth() as growth:
            self.fit_s, result = timed(call, *args, **kwargs)
        self.memory_mb = growth[0] / MEGABYTE
        return result

    def predict(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        self.predict_s, result = timed(call, *args, **kwargs)
        return result


def timed(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> tuple[float, R]:
    start = time.perf_counter()
    result = call(*args, **kwargs)
    return time.perf_counter() - start, result


@contextlib.contextmanager
def peak_growth() -> Iterator[list[int]]:
    """Fills the list it gives with the growth of the peak resident memory, in bytes.

    On Linux the kernel's own high-water mark is reset and read again, which costs the measured call
    nothing and misses nothing; elsewhere a thread samples.
    """
    growth: list[int] = []
    if reset_peak():
        before = status_bytes("VmRSS")
        yield growth
        growth.append(max(0, status_bytes("VmHWM") - before))
        return
    with sampled_peak() as samples:
        yield growth
    growth.append(max(0, max(samples) - samples[0]))


def reset_peak() -> bool:
    """Set this process's high-water mark to its present size; False where the system has no such switch."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def status_bytes(name: str) -> int:
    """A memory line of /proc/self/status: VmRSS (now) or VmHWM (the most since the last reset)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/self/status has no line {name}")


@contextlib.contextmanager
def sampled_peak() -> Iterator[list[int]]:
    import psutil

    process = psutil.Process()
    samples = [process.memory_info().rss]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLE_EVERY_S):
            samples.append(process.memory_info().rss)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()
        samples.append(process.memory_info().rss)


def release_free_heap() -> None:
    """Give freed memory back, so that a fit cannot hide its need in what an earlier call left over."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


class Neighbours:
    """While entered, watches how much of the machine other programs use: they slow down what is timed."""

    def __enter__(self) -> Self:
        self.wall_s, self.cpu_s = -time.perf_counter(), -_cpu_of_others_s()
        return self

    def __exit__(self, *exception: object) -> None:
        self.wall_s += time.perf_counter()
        self.cpu_s = max(0.0, self.cpu_s + _cpu_of_others_s())


def busy_share(wall_s: float, others_s: float) -> float:
    """The part of the machine that others used meanwhile; 0 for times too short to tell."""
    return others_s / (wall_s * (os.cpu_count() or 1)) if wall_s > TELLING_S else 0.0


def _cpu_of_others_s() -> float:
    """CPU seconds used so far by all processes but this one; 0 where the system does not tell."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, irq, softirq, steal = (int(x) for x in fields[:8])
    everyone = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return everyone - time.process_time()
