from typing import overload

import numpy
import numpy.typing

class SortedColumns:
    def __init__(self, X: numpy.typing.NDArray[numpy.float64], n_threads: int) -> None: ...
    def grow(
        self,
        W: numpy.typing.NDArray[numpy.float64],
        seeds: numpy.typing.NDArray[numpy.uint64],
        low: numpy.typing.NDArray[numpy.float64],
        high: numpy.typing.NDArray[numpy.float64],
        *,
        likelihood: bool,
        max_depth: int,
        min_leaf: float,
        log_max_density: float,
        min_gain: float,
        gap: float,
        max_features: int,
        n_threads: int,
    ) -> list[
        tuple[
            numpy.typing.NDArray[numpy.int32],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.int32],
            numpy.typing.NDArray[numpy.float64],
            numpy.typing.NDArray[numpy.float64],
        ]
    ]: ...

def sums(
    children: numpy.typing.NDArray[numpy.int32], values: numpy.typing.NDArray[numpy.float64]
) -> numpy.typing.NDArray[numpy.float64]: ...
def left(
    children: numpy.typing.NDArray[numpy.int32], cut: numpy.typing.NDArray[numpy.uint8]
) -> numpy.typing.NDArray[numpy.uint8]: ...
def links(
    children: numpy.typing.NDArray[numpy.int32],
    worth: numpy.typing.NDArray[numpy.float64],
    held: numpy.typing.NDArray[numpy.float64],
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.uint8]]: ...
@overload
def leaves(
    X: numpy.typing.NDArray[numpy.float32],
    feature: numpy.typing.NDArray[numpy.int32],
    threshold: numpy.typing.NDArray[numpy.float64],
    children: numpy.typing.NDArray[numpy.int32],
) -> numpy.typing.NDArray[numpy.int32]: ...
@overload
def leaves(
    X: numpy.typing.NDArray[numpy.float64],
    feature: numpy.typing.NDArray[numpy.int32],
    threshold: numpy.typing.NDArray[numpy.float64],
    children: numpy.typing.NDArray[numpy.int32],
) -> numpy.typing.NDArray[numpy.int32]: ...
