"""The memory that there is, and a word before more of it is taken."""

from __future__ import annotations

import os
from pathlib import Path

from tenfold.core.errors import DataWarning, TooLarge, warn

LITTLE = 1 << 26  # bytes that nobody asks for


def check_memory(what: str, needed: float, remedy: str = "give fewer rows or columns") -> None:
    """Warns before most of the free memory is taken, and refuses where the machine has too little."""
    if needed < LITTLE:
        return
    free, whole = memory()
    if needed <= 0.7 * free:
        return
    takes = f"{what} will take about {needed / 2**30:.1f} GiB"
    if needed > whole:
        raise TooLarge(f"{takes}, more than the {whole / 2**30:.1f} GiB of this machine: {remedy}")
    warn(f"{takes}, and {free / 2**30:.1f} GiB are free: {remedy}", DataWarning, stacklevel=2)


def memory() -> tuple[float, float]:
    """Bytes that are free, and those of the machine; infinite where that is not known."""
    if not hasattr(os, "sysconf"):
        return float("inf"), float("inf")
    page = os.sysconf("SC_PAGE_SIZE")
    free, whole = os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    table = Path("/proc/meminfo")  # knows of files that are in memory for convenience only
    if table.exists():
        lines = dict(line.split(":", 1) for line in table.read_text().splitlines())
        free = max(free, int(lines.get("MemAvailable", "0 kB").split()[0]) * 1024)
    return float(free), float(whole)
