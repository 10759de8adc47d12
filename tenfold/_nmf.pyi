import numpy
import numpy.typing

def kl_step(
    X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    H: numpy.typing.NDArray[numpy.float64],
    l1: float,
    l2: float,
    floor: float,
    summed: bool,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def kl_step_sparse(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    Ht: numpy.typing.NDArray[numpy.float64],
    l1: float,
    l2: float,
    floor: float,
    summed: bool,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def kl_log(
    X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    H: numpy.typing.NDArray[numpy.float64],
    floor: float,
    threads: int,
) -> float: ...
def kl_log_sparse(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    Ht: numpy.typing.NDArray[numpy.float64],
    floor: float,
    threads: int,
) -> float: ...
def descent(
    X: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    H: numpy.typing.NDArray[numpy.float64],
    l1: float,
    C: numpy.typing.NDArray[numpy.float64],
    order: numpy.typing.NDArray[numpy.int64],
    sweeps: int,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]: ...
def descent_sparse(
    begin: numpy.typing.NDArray[numpy.int64],
    columns: numpy.typing.NDArray[numpy.int32],
    values: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    Ht: numpy.typing.NDArray[numpy.float64],
    l1: float,
    C: numpy.typing.NDArray[numpy.float64],
    order: numpy.typing.NDArray[numpy.int64],
    sweeps: int,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]: ...
def columns_descent(
    H: numpy.typing.NDArray[numpy.float64],
    B: numpy.typing.NDArray[numpy.float64],
    C: numpy.typing.NDArray[numpy.float64],
    order: numpy.typing.NDArray[numpy.int64],
    sweeps: int,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], float]: ...
def nonnegative_rows(
    C: numpy.typing.NDArray[numpy.float64], B: numpy.typing.NDArray[numpy.float64], threads: int
) -> numpy.typing.NDArray[numpy.float64]: ...
def use_level(name: str) -> bool: ...
