import numpy
import numpy.typing

_Floats = numpy.typing.NDArray[numpy.float64]
_Either = numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32]

def kernel_sums(
    rows: _Either,
    halves: _Either,
    columns: _Either,
    column_halves: _Either,
    weights: _Floats,
    form: int,
    constant: float,
    degree: int,
    threads: int,
) -> _Floats: ...
def kernel_block(
    rows: _Either,
    halves: _Either,
    columns: _Either,
    column_halves: _Either,
    form: int,
    constant: float,
    degree: int,
    same: bool,
    threads: int,
) -> _Either: ...
def solve_working_set(
    K: _Either,
    gradient: _Floats,
    b: _Floats,
    low: _Floats,
    high: _Floats,
    group: numpy.typing.NDArray[numpy.int64],
    tol: float,
    most: int,
) -> tuple[_Floats, _Floats, int]: ...
def use_level(name: str) -> bool: ...
