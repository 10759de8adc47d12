import numpy
import numpy.typing

class RowGroups:
    def __init__(self, n: int) -> None: ...
    def add(
        self,
        first: int,
        start: numpy.typing.NDArray[numpy.int64],
        rows: numpy.typing.NDArray[numpy.int64],
        dense: numpy.typing.NDArray[numpy.uint8],
        known: int,
    ) -> None: ...
    def labels(self, dense: numpy.typing.NDArray[numpy.uint8]) -> numpy.typing.NDArray[numpy.int64]: ...

def dense_groups(
    rows: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    radius: float,
    least: float,
    apart: int,
    power: float,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64]]: ...
def mean_shift(
    rows: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    points: numpy.typing.NDArray[numpy.float64],
    radius: float,
    scale: float,
    rest: float,
    most_steps: int,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]: ...
def reach_tree(
    rows: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    least: float,
    scale: float,
    apart: int,
    power: float,
    by_groups: bool,
    threads: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.int64],
    numpy.typing.NDArray[numpy.int64],
    numpy.typing.NDArray[numpy.float64],
]: ...
def condense(
    first: numpy.typing.NDArray[numpy.int64],
    second: numpy.typing.NDArray[numpy.int64],
    height: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    core: numpy.typing.NDArray[numpy.float64],
    least: float,
) -> tuple[
    numpy.typing.NDArray[numpy.int64],
    numpy.typing.NDArray[numpy.int64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
def use_level(name: str) -> bool: ...
