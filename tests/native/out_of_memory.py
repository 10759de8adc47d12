"""Run by tests/test_native_memory.py with failing_new preloaded: fits learners while allocation 1, 2, 3, ... of C++ fails.

    python out_of_memory.py FAMILY          prints for each fit how many failed, in how many of them the fit went on without, and
                                            how many of the failures were in threads other than the main one
    python out_of_memory.py FAMILY --all    each of them, also where fits have thousands
    python out_of_memory.py entry-points    prints the native entry points that no fit calls

Each failure must be a MemoryError, or be borne; the process must be sound after it, give the same bits, and lose no memory.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))

FEW = 400  # allocations of which each fails; of more, those at the beginning, and some
LIBRARY = ctypes.CDLL(None)


def attempt(fit: Callable[[], Any]) -> Any:
    """What it gives; None where there was no memory."""
    try:
        return fit()
    except MemoryError:
        return None


def lost(fit: Callable[[], Any], k: int, helpers: bool) -> int:
    """How many more blocks are alive after a fit whose k-th allocation fails."""
    gc.collect()
    before = LIBRARY.blocks_alive()
    LIBRARY.fail_at(k, helpers)
    attempt(fit)
    LIBRARY.fail_at(0, 0)
    gc.collect()
    return int(LIBRARY.blocks_alive() - before)


def survive(fit: Callable[[], Any], helpers: bool, all_of_them: bool) -> tuple[int, int]:
    """How many allocations failed, and in how many of them the fit went on without."""
    expected = fit()
    failures = borne = missed = 0
    k = 1
    while missed < 3:  # threads do not allocate as much in every run
        gc.collect()
        before = LIBRARY.blocks_alive()
        LIBRARY.fail_at(k, helpers)
        found = attempt(fit)
        failed = LIBRARY.fail_at(0, 0)
        missed = 0 if failed else missed + 1
        failures += failed
        borne += failed and found is not None
        assert found is None or np.array_equal(found, expected, equal_nan=True), f"other bits at failure {k}"
        del found
        gc.collect()
        # What is kept for the next time is kept once; what is lost is lost each time.
        if LIBRARY.blocks_alive() > before:
            assert min(lost(fit, k, helpers) for _ in range(4)) <= 0, f"memory is lost at failure {k}"
        assert np.array_equal(fit(), expected, equal_nan=True), f"other bits after failure {k}"
        k += 1 if all_of_them or k < FEW else k // 40
    return failures, borne


def main(family: str, *options: str) -> None:
    from entry_points import entry_points, watched

    faulthandler.enable()
    seen = watched() if family == "entry-points" else set()
    from fits import FITS

    import tenfold

    with tenfold.threads(3):
        if family == "entry-points":
            for fits in FITS.values():
                for fit in fits.values():
                    fit()
            print(*sorted(entry_points() - seen), sep="\n")
            return
        LIBRARY.fail_at.argtypes = [ctypes.c_long, ctypes.c_int]
        LIBRARY.blocks_alive.restype = ctypes.c_long
        for fit in FITS[family].values():
            fit()  # what is imported at the first use
        gc.freeze()
        for name, fit in FITS[family].items():
            print(name, end=": ", flush=True)
            failures, borne = survive(fit, False, "--all" in options)
            of_helpers, _ = survive(fit, True, "--all" in options) if "in threads" in name else (0, 0)
            print(failures, borne, of_helpers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
