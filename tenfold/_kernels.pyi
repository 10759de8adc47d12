from contextvars import ContextVar
from typing import TypeVar, overload

import numpy
import numpy.typing

Float = TypeVar("Float", numpy.float64, numpy.float32)

@overload
def all_finite(X: numpy.typing.NDArray[numpy.float64]) -> bool: ...
@overload
def all_finite(X: numpy.typing.NDArray[numpy.float32]) -> bool: ...
@overload
def hash_rows(X: numpy.typing.NDArray[numpy.float64], seed: int) -> numpy.typing.NDArray[numpy.uint64]: ...
@overload
def hash_rows(X: numpy.typing.NDArray[numpy.float32], seed: int) -> numpy.typing.NDArray[numpy.uint64]: ...
@overload
def moments(
    X: numpy.typing.NDArray[numpy.float64],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
) -> tuple[
    float, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
]: ...
@overload
def moments(
    X: numpy.typing.NDArray[numpy.float32],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
) -> tuple[
    float, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
]: ...
@overload
def moments_at(
    X: numpy.typing.NDArray[numpy.float64],
    rows: numpy.typing.NDArray[numpy.int64],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
) -> tuple[
    float, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
]: ...
@overload
def moments_at(
    X: numpy.typing.NDArray[numpy.float32],
    rows: numpy.typing.NDArray[numpy.int64],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
) -> tuple[
    float, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
]: ...
def take_rows(
    X: numpy.typing.NDArray[Float], rows: numpy.typing.NDArray[numpy.int64]
) -> numpy.typing.NDArray[Float]: ...
@overload
def group_moments(
    X: numpy.typing.NDArray[numpy.float64],
    g: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    k: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
@overload
def group_moments(
    X: numpy.typing.NDArray[numpy.float32],
    g: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    k: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
@overload
def group_spreads(
    X: numpy.typing.NDArray[numpy.float64],
    g: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    k: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
@overload
def group_spreads(
    X: numpy.typing.NDArray[numpy.float32],
    g: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    k: int,
) -> tuple[
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
    numpy.typing.NDArray[numpy.float64],
]: ...
@overload
def weighted_gram(
    X: numpy.typing.NDArray[numpy.float64], d: numpy.typing.NDArray[numpy.float64]
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def weighted_gram(
    X: numpy.typing.NDArray[numpy.float32], d: numpy.typing.NDArray[numpy.float64]
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def logistic_terms(
    X: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    beta: numpy.typing.NDArray[numpy.float64],
) -> tuple[float, numpy.typing.NDArray[numpy.float64]]: ...
@overload
def logistic_terms(
    X: numpy.typing.NDArray[numpy.float32],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    beta: numpy.typing.NDArray[numpy.float64],
) -> tuple[float, numpy.typing.NDArray[numpy.float64]]: ...
@overload
def logistic_curvature(
    X: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    beta: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def logistic_curvature(
    X: numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    beta: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def softmax_terms(
    X: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    B: numpy.typing.NDArray[numpy.float64],
) -> tuple[float, numpy.typing.NDArray[numpy.float64]]: ...
@overload
def softmax_terms(
    X: numpy.typing.NDArray[numpy.float32],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    B: numpy.typing.NDArray[numpy.float64],
) -> tuple[float, numpy.typing.NDArray[numpy.float64]]: ...
@overload
def nearest(
    X: numpy.typing.NDArray[numpy.float64], C: numpy.typing.NDArray[numpy.float64]
) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]: ...
@overload
def nearest(
    X: numpy.typing.NDArray[numpy.float32], C: numpy.typing.NDArray[numpy.float64]
) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]: ...
@overload
def assign_sums(
    X: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    C: numpy.typing.NDArray[numpy.float64],
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]: ...
@overload
def assign_sums(
    X: numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    C: numpy.typing.NDArray[numpy.float64],
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], float]: ...
@overload
def lloyd(
    X: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    C: numpy.typing.NDArray[numpy.float64],
    tol: float,
    most: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], float, float, int]: ...
@overload
def lloyd(
    X: numpy.typing.NDArray[numpy.float32],
    w: numpy.typing.NDArray[numpy.float64],
    C: numpy.typing.NDArray[numpy.float64],
    tol: float,
    most: int,
) -> tuple[numpy.typing.NDArray[numpy.float64], float, float, int]: ...
@overload
def linear_scores(
    X: numpy.typing.NDArray[numpy.float64],
    B: numpy.typing.NDArray[numpy.float64],
    b: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def linear_scores(
    X: numpy.typing.NDArray[numpy.float32],
    B: numpy.typing.NDArray[numpy.float64],
    b: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def spread_scores(
    X: numpy.typing.NDArray[numpy.float64],
    mean: numpy.typing.NDArray[numpy.float64],
    inverse: numpy.typing.NDArray[numpy.float64],
    constant: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def spread_scores(
    X: numpy.typing.NDArray[numpy.float32],
    mean: numpy.typing.NDArray[numpy.float64],
    inverse: numpy.typing.NDArray[numpy.float64],
    constant: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def rank_pairs(
    s: numpy.typing.NDArray[numpy.float64], y: numpy.typing.NDArray[numpy.int64], w: numpy.typing.NDArray[numpy.float64]
) -> tuple[float, float, float]: ...
@overload
def rank_pairs(
    s: numpy.typing.NDArray[numpy.float32], y: numpy.typing.NDArray[numpy.int64], w: numpy.typing.NDArray[numpy.float64]
) -> tuple[float, float, float]: ...
@overload
def quadratic_scores(
    X: numpy.typing.NDArray[numpy.float64],
    mean: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    constant: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def quadratic_scores(
    X: numpy.typing.NDArray[numpy.float32],
    mean: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
    constant: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
def merge_scatter(
    A: numpy.typing.NDArray[numpy.float64],
    B: numpy.typing.NDArray[numpy.float64],
    d: numpy.typing.NDArray[numpy.float64],
    into: bool,
) -> numpy.typing.NDArray[numpy.float64]: ...
def extended_gradient(
    X: numpy.typing.NDArray[numpy.float64],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    Bhi: numpy.typing.NDArray[numpy.float64],
    Blo: numpy.typing.NDArray[numpy.float64],
) -> tuple[
    numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]
]: ...
def extended_gram(
    X: numpy.typing.NDArray[numpy.float64],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    R: numpy.typing.NDArray[numpy.float64],
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
def use_level(name: str) -> str: ...

class Run:
    def __init__(self, outer: Run | None) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

_run: ContextVar[Run]

class Budget:
    def __init__(self, n: int) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def free(self) -> int: ...

class Lease:
    def __init__(self, budget: Budget) -> None: ...
    def take(self, most: int) -> int: ...
    def give_back(self) -> None: ...
