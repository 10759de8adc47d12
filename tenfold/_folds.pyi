import numpy
import numpy.typing

def deal(
    n: int, folds: int, codes: numpy.typing.NDArray[numpy.int64], classes: int, seed: int
) -> numpy.typing.NDArray[numpy.int64]: ...
def by_code(codes: numpy.typing.NDArray[numpy.int64], count: int) -> numpy.typing.NDArray[numpy.int64]: ...
