"""Run by tests/test_native_memory.py: fits with many threads where the address space has hardly any room for their stacks.

Each fit must give the same bits on fewer threads, or raise MemoryError; it prints how many did the one and the other.
"""

from __future__ import annotations

import faulthandler
import resource
import threading

import numpy as np

import tenfold

rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 6))
Y = X @ np.arange(1.0, 7.0) + rng.normal(size=len(X))
FITS = [
    lambda: tenfold.Ridge().fit(X, Y).coef_,
    lambda: tenfold.DecisionTreeRegressor(max_depth=9).fit(X, Y).predict(X),
    lambda: tenfold.HistGradientBoostingRegressor(max_iter=2, early_stopping=False).fit(X, Y).predict(X),
    lambda: tenfold.AdaBoostClassifier(n_estimators=2).fit(X, Y > 0).predict(X),
]
MIB = 1 << 20


def size() -> int:
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[0]) * resource.getpagesize()


def main() -> None:
    faulthandler.enable()
    threading.stack_size(64 * MIB)  # of threads of Python; those of native code have the limit of the process
    with tenfold.threads(1):
        expected = [fit() for fit in FITS]
    done = refused = 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    for room in (2, 8, 20, 40, 80, 160):
        for fit, bits in zip(FITS, expected, strict=True):
            resource.setrlimit(resource.RLIMIT_AS, (size() + room * MIB, hard))
            try:
                with tenfold.threads(12):
                    found = fit()
                assert np.array_equal(found, bits)
                done += 1
            except MemoryError:
                refused += 1
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    print(done, refused)


if __name__ == "__main__":
    main()
