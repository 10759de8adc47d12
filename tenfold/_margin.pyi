import numpy
import numpy.typing

def squares(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.float64],
    cost: numpy.typing.NDArray[numpy.float64],
    epsilon: float,
    sided: bool,
    theta: numpy.typing.NDArray[numpy.float64],
    intercept: bool,
    threads: int,
) -> numpy.typing.NDArray[numpy.float64]: ...
def product(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.float64],
    cost: numpy.typing.NDArray[numpy.float64],
    epsilon: float,
    sided: bool,
    theta: numpy.typing.NDArray[numpy.float64],
    v: numpy.typing.NDArray[numpy.float64],
    intercept: bool,
    threads: int,
) -> numpy.typing.NDArray[numpy.float64]: ...
def descend(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.float64],
    cost: numpy.typing.NDArray[numpy.float64],
    epsilon: float,
    sided: bool,
    p: int,
    bias: float,
    tol: float,
    most: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], float, int]: ...
