import numpy
import numpy.typing

def logistic_slopes(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    theta: numpy.typing.NDArray[numpy.float64],
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def logistic_product(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    kept: numpy.typing.NDArray[numpy.float64],
    v: numpy.typing.NDArray[numpy.float64],
    threads: int,
) -> numpy.typing.NDArray[numpy.float64]: ...
