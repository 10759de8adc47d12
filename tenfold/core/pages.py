"""Memory for large arrays that go back to the system when nobody holds them. What threads free in a heap often stays there."""

from __future__ import annotations

import mmap

import numpy as np

from tenfold.core.data import Array

OWN = 1 << 17  # bytes from which on an array has pages of its own


def pages(n_bytes: int) -> Array:
    """(n_bytes,) uint8, all zero."""
    if n_bytes < OWN:
        return np.zeros(n_bytes, dtype=np.uint8)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    return np.frombuffer(mmap.mmap(-1, n_bytes, **private), dtype=np.uint8)
