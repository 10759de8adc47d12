import numpy
import numpy.typing

def gram_path(
    G: numpy.typing.NDArray[numpy.float64],
    q: numpy.typing.NDArray[numpy.float64],
    yy: float,
    l1: numpy.typing.NDArray[numpy.float64],
    l2: numpy.typing.NDArray[numpy.float64],
    start: numpy.typing.NDArray[numpy.float64],
    positive: bool,
    tol: float,
    most: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
