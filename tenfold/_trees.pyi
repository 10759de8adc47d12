from typing import Any

import numpy
import numpy.typing

class PackedTrees:
    width: int

    def __init__(
        self,
        first: numpy.typing.NDArray[numpy.int64],
        nodes: numpy.typing.NDArray[numpy.uint8],
        subset: numpy.typing.NDArray[numpy.int64],
        bits: numpy.typing.NDArray[numpy.uint64],
        value: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def sums(
        self, X: numpy.typing.NDArray[Any], start: int, stop: int, onto: numpy.typing.NDArray[numpy.float64]
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def leaves(self, X: numpy.typing.NDArray[Any], start: int, stop: int) -> numpy.typing.NDArray[numpy.int64]: ...
    def attributions(
        self,
        X: numpy.typing.NDArray[Any],
        background: numpy.typing.NDArray[Any],
        covers: numpy.typing.NDArray[numpy.float64],
    ) -> numpy.typing.NDArray[numpy.float64]: ...

def use_level(name: str) -> bool: ...
