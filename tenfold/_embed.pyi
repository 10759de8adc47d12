import numpy
import numpy.typing

def guttman(
    D: numpy.typing.NDArray[numpy.float64],
    places: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], float, float]: ...
def pair_distances(
    places: numpy.typing.NDArray[numpy.float64],
    first: numpy.typing.NDArray[numpy.int32],
    second: numpy.typing.NDArray[numpy.int32],
    threads: int,
) -> numpy.typing.NDArray[numpy.float64]: ...
def table_of_pairs(
    values: numpy.typing.NDArray[numpy.float64],
    first: numpy.typing.NDArray[numpy.int32],
    second: numpy.typing.NDArray[numpy.int32],
    n: int,
) -> numpy.typing.NDArray[numpy.float64]: ...
def affinities(
    away: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    perplexity: float,
    threads: int,
) -> numpy.typing.NDArray[numpy.float64]: ...
def descended(
    places: numpy.typing.NDArray[numpy.float64],
    moves: numpy.typing.NDArray[numpy.float64],
    gains: numpy.typing.NDArray[numpy.float64],
    start: numpy.typing.NDArray[numpy.int64],
    to: numpy.typing.NDArray[numpy.int32],
    p: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    freedom: int,
    angle: float,
    how: tuple[float, float, float],
    steps: int,
    threads: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    float,
    float,
    float,
]: ...
def forces(
    places: numpy.typing.NDArray[numpy.float64],
    start: numpy.typing.NDArray[numpy.int64],
    to: numpy.typing.NDArray[numpy.int32],
    p: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    freedom: int,
    angle: float,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]: ...
def placed(
    starts: numpy.typing.NDArray[numpy.float64],
    places: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    near: numpy.typing.NDArray[numpy.int64],
    shares: numpy.typing.NDArray[numpy.float64],
    strength: float,
    freedom: int,
    most_steps: int,
    rest: float,
    threads: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def use_level(name: str) -> bool: ...
