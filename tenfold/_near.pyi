import numpy
import numpy.typing

class AllRows:
    def __init__(self, rows: numpy.typing.NDArray[numpy.float64], apart: int) -> None: ...
    def nearest(
        self,
        rows: numpy.typing.NDArray[numpy.float64],
        queries: numpy.typing.NDArray[numpy.float64],
        k: int,
        skip: numpy.typing.NDArray[numpy.int64],
        power: float,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]: ...
    def within(
        self,
        rows: numpy.typing.NDArray[numpy.float64],
        queries: numpy.typing.NDArray[numpy.float64],
        radius: float,
        skip: numpy.typing.NDArray[numpy.int64],
        power: float,
    ) -> tuple[
        numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]
    ]: ...

class Tree:
    def __init__(self, rows: numpy.typing.NDArray[numpy.float64], apart: int) -> None: ...
    def nearest(
        self,
        queries: numpy.typing.NDArray[numpy.float64],
        k: int,
        skip: numpy.typing.NDArray[numpy.int64],
        power: float,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]: ...
    def within(
        self,
        queries: numpy.typing.NDArray[numpy.float64],
        radius: float,
        skip: numpy.typing.NDArray[numpy.int64],
        power: float,
    ) -> tuple[
        numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]
    ]: ...

def use_level(name: str) -> bool: ...
