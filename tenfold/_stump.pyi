import numpy
import numpy.typing

class Stumps:
    def __init__(
        self,
        X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
        code: numpy.typing.NDArray[numpy.int64],
        classes: int,
        n_threads: int,
    ) -> None: ...
    def best(
        self, weight: numpy.typing.NDArray[numpy.int64], n_threads: int
    ) -> tuple[int, int, int, bool, numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.float64]]: ...
