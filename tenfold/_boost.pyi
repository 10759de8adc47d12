from typing import Any, overload

import numpy
import numpy.typing

Doubles = numpy.typing.NDArray[numpy.float64]
Floats = numpy.typing.NDArray[numpy.float32]
Integers = numpy.typing.NDArray[numpy.int64]
Halvings = numpy.typing.NDArray[numpy.int32]
Bytes = numpy.typing.NDArray[numpy.uint8]

def use_level(name: str) -> bool: ...
def bin_edges(sorted: Doubles, weight: Doubles, most: int) -> Doubles: ...
@overload
def code_rows(X: Doubles, edges: Doubles, halvings: Halvings, n_bins: Integers, width: int) -> Bytes: ...
@overload
def code_rows(X: Floats, edges: Doubles, halvings: Halvings, n_bins: Integers, width: int) -> Bytes: ...

class Boosting:
    def __init__(
        self, codes: Bytes, n_bins: Integers, categorical: Bytes, order: Integers, together: Bytes, n_threads: int
    ) -> None: ...
    def gradients(self, loss: int, y: Doubles, raw: Doubles, w: Doubles, parameter: float) -> None: ...
    def grow(
        self,
        rows: numpy.typing.NDArray[numpy.uint32],
        l1: float,
        l2: float,
        least_curvature: float,
        least_gain: float,
        least_rows: int,
        split_rows: int,
        leaves: int,
        depth: int,
        columns: int,
        seed: int,
        rate: float,
        longest: float,
        whole: bool,
    ) -> tuple[Any, ...]: ...
    def renew(self, loss: int, y: Doubles, raw: Doubles, w: Doubles, parameter: float, rate: float) -> None: ...
    def values(self) -> Doubles: ...
    def weight(self, w: Doubles) -> Doubles: ...
    def update(self, raw: Doubles) -> None: ...
    def loss(self, loss: int, y: Doubles, raw: Doubles, w: Doubles, parameter: float) -> float: ...
    def softmax(self, raw: Doubles) -> Doubles: ...
