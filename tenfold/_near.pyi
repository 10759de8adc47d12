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
    def __init__(self, rows: numpy.typing.NDArray[numpy.float64], apart: int, threads: int = 1) -> None: ...
    def order(self, queries: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.int64]: ...
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
    def count(
        self,
        queries: numpy.typing.NDArray[numpy.float64],
        radius: numpy.typing.NDArray[numpy.float64],
        skip: numpy.typing.NDArray[numpy.int64],
        power: float,
    ) -> numpy.typing.NDArray[numpy.int64]: ...

class Graph:
    def __init__(
        self, rows: numpy.typing.NDArray[numpy.float64], order: numpy.typing.NDArray[numpy.int64], threads: int
    ) -> None: ...
    def nearest(
        self,
        rows: numpy.typing.NDArray[numpy.float64],
        queries: numpy.typing.NDArray[numpy.float64],
        k: int,
        skip: numpy.typing.NDArray[numpy.int64],
        width: int,
        limit: int,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]: ...

def codes_nearest(
    rows: numpy.typing.NDArray[numpy.float64],
    codes: numpy.typing.NDArray[numpy.uint64],
    queries: numpy.typing.NDArray[numpy.float64],
    query_codes: numpy.typing.NDArray[numpy.uint64],
    k: int,
    skip: numpy.typing.NDArray[numpy.int64],
    width: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]: ...
def use_level(name: str) -> bool: ...
