"""The memory that there is, and that boosting will take: checked before it is taken."""

from __future__ import annotations

from tenfold.base.estimator import Estimator
from tenfold.core.memory import check_memory
from tenfold.core.threads import thread_budget
from tenfold.tree.bins import Bins

POOL = 1 << 28  # bytes of histograms above which leaves that wait are summed again rather than kept
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


def check_memory_of_fit(model: Estimator, n: int, bins: Bins, outputs: int) -> None:
    """Refuse a fit on n rows that needs more memory than the machine has; warn where there may be too little."""
    what = f"{type(model).__name__} on {len(bins.edges)} columns with up to {int(bins.n_bins.max()):,} bins"
    needed = memory_of_fit(n, bins, outputs, thread_budget())
    check_memory(what, needed, "give fewer bins (max_bins), columns or rows")
