"""Run by tests/test_native_memory.py with failing_new preloaded: fits learners while allocation 1, 2, 3, ... of C++ fails.

    python out_of_memory.py FAMILIES          prints for each fit of families like `trees,forests` how many failed, in how many of them
                                              the fit went on without, and how many of the failures were in threads other than the main one
    python out_of_memory.py FAMILIES --all    each of them, also where fits have thousands
    python out_of_memory.py FAMILIES --threads  only of the fits in threads
    python out_of_memory.py FAMILIES --beside  fails in one thread of Python, while the same fits are made in another
    python out_of_memory.py entry-points      prints the native entry points that no fit calls

Each failure must be a MemoryError, or be borne; the process must be sound after it, give the same bits, and lose no memory.
"""

from __future__ import annotations

import contextvars
import ctypes
import faulthandler
import gc
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))

FEW = 200  # allocations of which each fails; of more, those at the beginning, and some
SOUND_AFTER = 5  # failures after which the bits of a whole fit are looked at: what a failure spoils stays so (with --all: after each)
LIBRARY = ctypes.CDLL(None)
ALL, HELPERS, OWN = 0, 1, 2  # the threads whose allocations fail


def attempt(fit: Callable[[], Any]) -> Any:
    """What it gives; None where there was no memory."""
    try:
        return fit()
    except MemoryError:
        return None


def lost(fit: Callable[[], Any], k: int, whose: int) -> int:
    """How many more blocks are alive after a fit whose k-th allocation fails."""
    gc.collect()
    before = LIBRARY.blocks_alive()
    LIBRARY.fail_at(k, whose)
    attempt(fit)
    LIBRARY.fail_at(0, ALL)
    gc.collect()
    return int(LIBRARY.blocks_alive() - before)


def survive(fit: Callable[[], Any], whose: int, all_of_them: bool) -> tuple[int, int]:
    """How many allocations failed, and in how many of them the fit went on without."""
    expected = fit()
    failures = borne = missed = 0
    k = 1
    while missed < 3:  # threads do not allocate as much in every run
        gc.collect()
        before = LIBRARY.blocks_alive()
        LIBRARY.fail_at(k, whose)
        found = attempt(fit)
        failed = LIBRARY.fail_at(0, ALL)
        missed = 0 if failed else missed + 1
        failures += failed
        borne += failed and found is not None
        assert found is None or np.array_equal(found, expected, equal_nan=True), f"other bits at failure {k}"
        del found
        gc.collect()
        # What is kept for the next time is kept once; what is lost is lost each time.
        if LIBRARY.blocks_alive() > before:
            # A thread of an earlier run may still be on its way out: what is lost is lost every time.
            assert any(lost(fit, k, whose) <= 0 for _ in range(20)), f"memory is lost at failure {k}"
        if all_of_them or missed or failures % SOUND_AFTER == 0:
            assert np.array_equal(fit(), expected, equal_nan=True), f"other bits after failure {k}, or one of the few before"
        k += 1 if all_of_them or k < FEW else k // 40
    return failures, borne


def beside(fit: Callable[[], Any]) -> tuple[int, int]:
    """How many fits failed in this thread, and how many were made meanwhile in another, all with the same bits."""
    expected, over, found = fit(), threading.Event(), list[Any]()

    def repeat() -> None:
        try:
            while not over.is_set():
                found.append(np.array_equal(fit(), expected, equal_nan=True))
        except BaseException as failure:
            found.append(failure)

    context = contextvars.copy_context()
    other = threading.Thread(target=lambda: context.run(repeat))
    other.start()
    failures, k = 0, 1
    try:
        while k < FEW:
            LIBRARY.fail_at(k, OWN)
            mine = attempt(fit)
            if not LIBRARY.fail_at(0, ALL):
                break
            failures += 1
            assert mine is None or np.array_equal(mine, expected, equal_nan=True), f"other bits at failure {k}"
            k += 1 + k // 4
    finally:
        over.set()
        other.join()
    assert all(one is True for one in found), f"a fit beside a failed one: {found}"
    return failures, len(found)


def main(families: str, *options: str) -> None:
    from entry_points import entry_points, watched

    faulthandler.enable()
    warnings.simplefilter("ignore", UserWarning)  # fits of few steps say that they have not converged
    seen = watched() if families == "entry-points" else set()
    from fits import FITS, blocks_for_threads

    import tenfold

    with tenfold.threads(3):
        if families == "entry-points":
            for each, fits in FITS.items():
                for name, fit in fits.items():
                    with blocks_for_threads(each, name):
                        fit()
            print(*sorted(entry_points() - seen), sep="\n")
            return
        LIBRARY.fail_at.argtypes = [ctypes.c_long, ctypes.c_int]
        LIBRARY.blocks_alive.restype = ctypes.c_long
        for family in families.split(","):
            for fit in FITS[family].values():
                fit()  # what is imported at the first use
            gc.freeze()
            for name, fit in FITS[family].items():
                if "--threads" in options and "in threads" not in name:
                    continue
                print(family, name, sep=", ", end=": ", flush=True)
                with blocks_for_threads(family, name):
                    if "--beside" in options:
                        print(*beside(fit), flush=True)
                        continue
                    failures, borne = survive(fit, ALL, "--all" in options)
                    of_helpers, _ = survive(fit, HELPERS, "--all" in options) if "in threads" in name else (0, 0)
                print(failures, borne, of_helpers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
