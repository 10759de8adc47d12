"""Memory for large arrays that go back to the system when nobody holds them. What threads free in a heap often stays there."""

from __future__ import annotations

import mmap

import numpy as np

from tenfold.core.data import Array

OWN = 1 << 17  # bytes from which on an array has pages of its own


def pages(count: int, dtype: type = np.uint8) -> Array:
    """(count,), all zero: no view of another array."""
    n_bytes = count * np.dtype(dtype).itemsize
    if n_bytes < OWN:
        return np.zeros(count, dtype=dtype)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    try:
        found = mmap.mmap(-1, n_bytes, **private)
    except OSError:  # the system's word for it
        raise MemoryError(f"Unable to allocate {n_bytes / (1 << 20):,.1f} MiB") from None
    return np.frombuffer(found, dtype=dtype)
