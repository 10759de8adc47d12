import numpy
import numpy.typing

def local_sums(
    points: numpy.typing.NDArray[numpy.float64],
    columns: numpy.typing.NDArray[numpy.float64],
    targets: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    inverse: numpy.typing.NDArray[numpy.float64],
    kernel: int,
    lines: bool,
    skip: numpy.typing.NDArray[numpy.int64],
) -> numpy.typing.NDArray[numpy.float64]: ...
def use_level(name: str) -> bool: ...
