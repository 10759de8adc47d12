from typing import overload

import numpy
import numpy.typing

def sums(
    queries: numpy.typing.NDArray[numpy.float64],
    rows: numpy.typing.NDArray[numpy.float64],
    apart: int,
    power: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def improve(
    D: numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    medoids: numpy.typing.NDArray[numpy.int64],
    most: int,
) -> tuple[numpy.typing.NDArray[numpy.int64], float, int, bool]: ...
@overload
def improve(
    D: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    medoids: numpy.typing.NDArray[numpy.int64],
    most: int,
) -> tuple[numpy.typing.NDArray[numpy.int64], float, int, bool]: ...
def use_level(name: str) -> bool: ...
