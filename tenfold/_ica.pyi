import numpy
import numpy.typing

def ica_sums(
    X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    center: numpy.typing.NDArray[numpy.float64],
    axes: numpy.typing.NDArray[numpy.float64],
    contrast: int,
    a: float,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def use_level(name: str) -> bool: ...
