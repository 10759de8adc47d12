from typing import Any

import numpy
import numpy.typing

def standardize(
    X: numpy.typing.NDArray[numpy.float64],
    shift: numpy.typing.NDArray[numpy.float64],
    scale: numpy.typing.NDArray[numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def spread_out(
    X: numpy.typing.NDArray[numpy.float64],
    shift: numpy.typing.NDArray[numpy.float64],
    scale: numpy.typing.NDArray[numpy.float64],
    plus: numpy.typing.NDArray[numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def fill(
    X: numpy.typing.NDArray[numpy.float64],
    values: numpy.typing.NDArray[numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> None: ...
def unit_rows(
    X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
    norm: str,
    out: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
) -> None: ...
def within(X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32], largest: float) -> bool: ...
def sums_away(x: numpy.typing.NDArray[numpy.float64], center: float) -> tuple[float, float]: ...
def waves(
    days: numpy.typing.NDArray[numpy.float64], at: numpy.typing.NDArray[numpy.float64], first: float, turn: float
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def counted(
    codes: numpy.typing.NDArray[numpy.uint32], n: int
) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]: ...
def code_rows(
    columns: list[tuple[Any, ...]],
    mean: numpy.typing.NDArray[numpy.float64],
    scale: numpy.typing.NDArray[numpy.float64],
    low: numpy.typing.NDArray[numpy.float64],
    high: numpy.typing.NDArray[numpy.float64],
    out: numpy.typing.NDArray[numpy.float64],
) -> tuple[int, int] | None: ...
def use_level(name: str) -> bool: ...
