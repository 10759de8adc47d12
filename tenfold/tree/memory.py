"""The memory that there is, and that boosting will take: told before it is taken."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from tenfold.core.errors import DataWarning, TooLarge
from tenfold.core.threads import thread_budget
from tenfold.tree.bins import Bins

POOL = 1 << 28  # bytes of histograms above which leaves that wait are summed again rather than kept
LITTLE = 1 << 26  # bytes that nobody asks for
SHORT_TABLE = 50_000  # rows
AT_LEAST = 3  # histograms that are there at once: of a node and of its children


def trees_at_once(n: int, outputs: int, threads: int) -> int:
    """Of several classes in a short table each tree has a thread; else each thread has rows of one tree."""
    return min(threads, outputs) if n < SHORT_TABLE else 1


def memory_of_fit(n: int, bins: Bins, outputs: int, threads: int) -> int:
    """Bytes: codes by row and by column, what is known of each row, and histograms."""
    teams = trees_at_once(n, outputs, threads)
    histogram = 16 * int((bins.n_bins + 1).sum())
    by_team = n * (bins.row_bytes + 30) + histogram * (AT_LEAST + threads // teams) + min(POOL, histogram * n)
    return n * (bins.row_bytes + 20 + 16 * outputs) + teams * by_team


def tell_memory(model: Any, n: int, bins: Bins, outputs: int) -> None:
    """Refuse a fit on n rows that needs more memory than the machine has; warn where there may be too little."""
    needed = memory_of_fit(n, bins, outputs, thread_budget())
    if needed < LITTLE:
        return
    free, whole = memory()
    if needed <= 0.7 * free:
        return
    said = (
        f"{type(model).__name__} on {len(bins.edges)} columns with up to {int(bins.n_bins.max()):,} bins will take about "
        f"{needed / 2**30:.1f} GiB"
    )
    remedy = "give fewer bins (max_bins), columns or rows"
    if needed > whole:
        raise TooLarge(f"{said}, more than the {whole / 2**30:.1f} GiB of this machine: {remedy}")
    warnings.warn(f"{said}, and {free / 2**30:.1f} GiB are free: {remedy}", DataWarning, stacklevel=2)


def memory() -> tuple[float, float]:
    """Bytes that are free, and those of the machine; infinite where that is not known."""
    if not hasattr(os, "sysconf"):
        return float("inf"), float("inf")
    page = os.sysconf("SC_PAGE_SIZE")
    free, whole = os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    table = Path("/proc/meminfo")  # knows of files that are in memory for convenience only
    if table.exists():
        told = dict(line.split(":", 1) for line in table.read_text().splitlines())
        free = max(free, int(told.get("MemAvailable", "0 kB").split()[0]) * 1024)
    return float(free), float(whole)
