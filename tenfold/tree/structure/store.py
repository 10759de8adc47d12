"""Trees in growing number: what a forest keeps of them while more grow."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.tree.structure.arrays import DESCRIBED, NO_NUMBERS, NODE, NUMERIC, Trees, lay, shifted

# Kept in half the memory where that loses nothing but digits: these numbers describe nodes, no row walks by them.
NARROW = {"impurity": np.float32, "gain": np.float32, "weighted_n_node_samples": np.float32, "n_node_samples": np.int32}
LEAST, MOST = 1e-25, 1e35  # the largest number of an array in single precision


class TreeStore:
    """One buffer for each array of the nodes. They are extended in place, so that no tree is ever in memory twice.

    Buffers move when they are extended: nobody may hold on to one before `whole`, which is the last call.
    """

    def __init__(self, expected: int) -> None:
        self.expected = expected  # number of trees
        self.first = [0]
        self.bits: list[Array] = []
        self.words = 0
        self.buffers: dict[str, Array] = {}

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def bytes_by_tree(self) -> float:
        """The memory of a tree, on average."""
        width = sum(buffer.nbytes / max(len(buffer), 1) for buffer in self.buffers.values())
        return width * self.first[-1] / max(len(self), 1)

    def add(self, trees: Trees) -> None:
        """Append copies of these trees."""
        start = self.first[-1]
        stop = start + len(trees.feature)
        if not self.buffers:
            self._begin(trees)
        self._make_room(stop, len(trees))
        if len(trees.bits) and "subset" not in self.buffers:
            self.buffers["subset"] = np.full(len(self.buffers["nodes"]), NUMERIC, dtype=np.int64)
        lay(trees, self.buffers["nodes"][start:stop])
        for name in DESCRIBED:
            array = getattr(trees, name)
            if not _fits(array, self.buffers[name]):
                narrow = self.buffers[name]
                self.buffers[name] = np.empty(narrow.shape, array.dtype)
                self.buffers[name][:start] = narrow[:start]
            self.buffers[name][start:stop] = array
        if "subset" in self.buffers:
            self.buffers["subset"][start:stop] = shifted(trees.subset, self.words)
        self.bits.append(trees.bits)
        self.words += len(trees.bits)
        self.first += (trees.first[1:] + start).tolist()

    def drop(self, count: int) -> None:
        """Forget all trees but the first `count`, which is the length that the store had before some call of `add`."""
        del self.first[count + 1 :]

    def whole(self) -> Trees:
        """All trees. The buffers are theirs from now on."""
        self._resize(self.first[-1])
        buffers, self.buffers = self.buffers, {}
        bits = np.concatenate(self.bits)
        return Trees.of_nodes(
            np.array(self.first, dtype=np.int64), buffers.pop("nodes"), buffers.pop("subset", NO_NUMBERS), bits=bits,
            **buffers,
        )  # fmt: skip

    def _begin(self, trees: Trees) -> None:
        self.buffers["nodes"] = np.empty(0, NODE)
        for name in DESCRIBED:
            like = getattr(trees, name)
            self.buffers[name] = np.empty((0, *like.shape[1:]), NARROW.get(name, like.dtype))

    def _make_room(self, stop: int, coming: int) -> None:
        """Room for this many nodes; where there is too little, for as many as all trees will hardly exceed."""
        if stop > len(self.buffers["nodes"]):
            grown = len(self) + coming
            self._resize(stop + stop * max(self.expected - grown, 0) // grown * 17 // 16)

    def _resize(self, size: int) -> None:
        for name, buffer in self.buffers.items():
            if len(buffer):
                buffer.resize((size, *buffer.shape[1:]), refcheck=False)
            else:  # memory that is not yet needed is not touched
                self.buffers[name] = np.empty((size, *buffer.shape[1:]), buffer.dtype)


def _fits(array: Array, buffer: Array) -> bool:
    """Whether numbers of this size may be kept in a buffer of this precision."""
    if buffer.dtype != np.float32 or not len(array):
        return True
    most = float(np.abs(array).max())
    return most == 0 or LEAST < most < MOST
