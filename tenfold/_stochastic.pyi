import numpy
import numpy.typing

_Floats = numpy.typing.NDArray[numpy.float64]
_Singles = numpy.typing.NDArray[numpy.float32]
_Indices = numpy.typing.NDArray[numpy.int32] | numpy.typing.NDArray[numpy.int64]

class Rule:
    def __init__(
        self,
        *,
        loss: int,
        epsilon: float,
        l1: float,
        l2: float,
        rate: int,
        first_rate: float,
        power: float,
        slowness: float,
        onset: float,
        intercept: float,
        average_from: float,
        measure: bool,
    ) -> None: ...

def steps(
    X: _Floats | _Singles,
    y: _Floats,
    w: _Floats,
    v: _Floats,
    rest: _Floats,
    paid: _Floats,
    numbers: _Floats,
    positive: numpy.typing.NDArray[numpy.int64],
    factors: _Floats,
    rule: Rule,
    seed: int | None,
    threads: int,
) -> None: ...
def sparse_steps(
    data: _Floats | _Singles,
    indices: _Indices,
    indptr: _Indices,
    p: int,
    y: _Floats,
    w: _Floats,
    v: _Floats,
    rest: _Floats,
    paid: _Floats,
    numbers: _Floats,
    positive: numpy.typing.NDArray[numpy.int64],
    factors: _Floats,
    rule: Rule,
    seed: int | None,
    threads: int,
) -> None: ...
