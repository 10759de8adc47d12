"""Who used the cores while a run was going on: the run and its children, or somebody else.

    others = busy time of the cores (/proc/stat, time taken by the host included) - processor time of the run

The processes of a run are found by a mark in their environment, which children inherit, also those that leave their group or lose their
parent; they are looked at five times a second, and what waited-for children took in all is known exactly in the end: the larger of both
counts.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from pathlib import Path

MARK = "BENCH_RIVALS_RUN"
TICKS = os.sysconf("SC_CLK_TCK")
LOOK = 0.2  # seconds: what a process does between the last look and its end is not seen
BUSY = 0.05  # share of the cores that others may take


def busy_seconds(cores: list[int]) -> float:
    """Seconds that these cores have worked since the start of the machine: all but idle and waiting for a disk."""
    total, wanted = 0, {f"cpu{core}" for core in cores}
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name in wanted:
            user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
            total += user + nice + system + irq + softirq + steal
    return total / TICKS


def taken_by_others(cores: list[int], seconds: float = 2.0) -> float:
    """The share of the cores that is taken now, by anybody but us."""
    before, began = busy_seconds(cores), time.perf_counter()
    time.sleep(seconds)
    return (busy_seconds(cores) - before) / ((time.perf_counter() - began) * len(cores))


class Watch:
    """Around a run: `others` is the share of the cores that other processes took."""

    def __init__(self, cores: list[int], mark: str) -> None:
        self.cores, self.mark = cores, f"{MARK}={mark}".encode()
        self.seen: dict[int, float] = {}  # processor seconds of each process of the run
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self.began, self.before = time.perf_counter(), busy_seconds(self.cores)
        self.children, self.self_before = _used(resource.RUSAGE_CHILDREN), _used(resource.RUSAGE_SELF)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        self.seconds = time.perf_counter() - self.began
        waited = _used(resource.RUSAGE_CHILDREN) - self.children
        own = max(waited, sum(self.seen.values())) + _used(resource.RUSAGE_SELF) - self.self_before
        busy = busy_seconds(self.cores) - self.before
        self.others = max(0.0, busy - own) / (self.seconds * len(self.cores))

    def _look(self) -> None:
        while not self.over.wait(LOOK):
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    self._count(int(entry.name))

    def _count(self, pid: int) -> None:
        try:
            if pid not in self.seen and self.mark not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                return
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # gone, or not ours to look at
            return
        self.seen[pid] = (int(fields[11]) + int(fields[12])) / TICKS


def _used(who: int) -> float:
    found = resource.getrusage(who)
    return found.ru_utime + found.ru_stime
