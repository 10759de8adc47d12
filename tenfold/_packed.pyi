import numpy
import numpy.typing

def packed_moments(
    X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
    rows: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    into: numpy.typing.NDArray[numpy.float64],
) -> tuple[float, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def room(p: int) -> int: ...
def merge_packed(
    A: numpy.typing.NDArray[numpy.float64],
    B: numpy.typing.NDArray[numpy.float64],
    d: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def use_level(name: str) -> bool: ...
