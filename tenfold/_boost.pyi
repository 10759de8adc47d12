from typing import Any, overload

import numpy
import numpy.typing

Doubles = numpy.typing.NDArray[numpy.float64]
Floats = numpy.typing.NDArray[numpy.float32]
Integers = numpy.typing.NDArray[numpy.int64]
Small = numpy.typing.NDArray[numpy.int32]
Bytes = numpy.typing.NDArray[numpy.uint8]
Codes = numpy.typing.NDArray[numpy.uint8] | numpy.typing.NDArray[numpy.uint16]
RowNumbers = numpy.typing.NDArray[numpy.uint32]

def use_level(name: str) -> bool: ...
def bin_edges(sorted: Doubles, weight: Doubles, most: int) -> Doubles: ...
@overload
def code_rows(
    X: Doubles, edges: Doubles, start: Integers, halvings: Small, n_bins: Integers, width: int, wide: bool
) -> Codes: ...
@overload
def code_rows(
    X: Floats, edges: Doubles, start: Integers, halvings: Small, n_bins: Integers, width: int, wide: bool
) -> Codes: ...
def extent(loss: int, y: Doubles, raw: Doubles, w: Doubles, parameter: float) -> tuple[float, float]: ...
def fixed_gradients(
    loss: int,
    y: Doubles,
    raw: Doubles,
    w: Doubles,
    parameter: float,
    gradient: float,
    curvature: float,
    n_rows: int,
) -> Integers: ...
def loss_sums(
    loss: int,
    y: Doubles,
    raw: Doubles,
    w: Doubles,
    parameter: float,
    group: Small,
    n_groups: int,
    n_threads: int,
) -> Integers: ...
def exact_sums(values: Doubles, group: Small, n_groups: int) -> Integers: ...
def exact_values(words: Integers) -> Doubles: ...
def softmax(raw: Doubles, n_threads: int) -> Doubles: ...
def sum_rows(codes: Codes, n_bins: Integers, terms: Integers, rows: RowNumbers) -> Integers: ...
def part_and_sum(
    codes: Codes,
    n_bins: Integers,
    terms: Integers,
    rows: RowNumbers,
    begin: Integers,
    end: Integers,
    feature: Small,
    bin: Small,
    missing_left: Bytes,
    by_set: Bytes,
    sets: numpy.typing.NDArray[numpy.uint64],
    ask: Bytes,
) -> tuple[RowNumbers, Integers, Integers]: ...
def leaves_of(
    codes: Codes,
    n_bins: Integers,
    left: Small,
    right: Small,
    feature: Small,
    bin: Small,
    missing_left: Bytes,
    by_set: Bytes,
    sets: numpy.typing.NDArray[numpy.uint64],
) -> Small: ...

LOSSES: dict[str, int]

class TreeLimits:
    def __init__(
        self,
        *,
        l1: float,
        l2: float,
        least_curvature: float,
        least_gain: float,
        least_rows: int,
        split_rows: int,
        leaves: int,
        depth: int,
        columns: int,
        seed: int,
        rate: float,
        longest: float,
        whole: bool,
    ) -> None: ...

class Boosting:
    def __init__(
        self, codes: Codes, n_bins: Integers, categorical: Bytes, order: Integers, together: Bytes, n_threads: int
    ) -> None: ...
    def use_threads(self, n: int) -> None: ...
    def gradients(self, loss: int, y: Doubles, raw: Doubles, w: Doubles, parameter: float) -> None: ...
    def grow(self, rows: RowNumbers, limits: TreeLimits) -> tuple[Any, ...]: ...
    def renew(self, loss: int, y: Doubles, raw: Doubles, w: Doubles, parameter: float, rate: float) -> None: ...
    def values(self) -> Doubles: ...
    def weight(self, w: Doubles) -> Doubles: ...
    def update(self, raw: Doubles) -> None: ...

class DistributedTree:
    def __init__(
        self, n_bins: Integers, categorical: Bytes, order: Integers, together: Bytes, n_threads: int
    ) -> None: ...
    def begin(
        self, histogram: Integers, gradient: float, curvature: float, n_rows: int, limits: TreeLimits
    ) -> None: ...
    def asked(self) -> tuple[Any, ...]: ...
    def answer(self, histograms: Integers) -> None: ...
    def nodes(self) -> tuple[Any, ...]: ...
