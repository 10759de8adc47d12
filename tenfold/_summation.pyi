import numpy
import numpy.typing

class KernelSums:
    def __init__(
        self,
        rows: numpy.typing.NDArray[numpy.float64],
        weights: numpy.typing.NDArray[numpy.float64],
        kernel: int,
        relative: float,
        threads: int = 1,
    ) -> None: ...
    def log_sums(
        self,
        points: numpy.typing.NDArray[numpy.float64],
        own: numpy.typing.NDArray[numpy.int64],
        taken: numpy.typing.NDArray[numpy.float64],
        absolute: float = 0.0,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def order(self, points: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.int64]: ...

def use_level(name: str) -> bool: ...
