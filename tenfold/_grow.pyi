from typing import Any, overload

import numpy
import numpy.typing

Doubles = numpy.typing.NDArray[numpy.float64]
Numbers = numpy.typing.NDArray[numpy.float64 | numpy.float32]
Integers = numpy.typing.NDArray[numpy.int64]

class TreeLimits:
    def __init__(
        self,
        *,
        criterion: str,
        random: bool,
        max_depth: int,
        min_split: int,
        min_leaf: int,
        min_weight_leaf: float,
        max_features: int,
        max_leaves: int,
        min_gain: float,
        monotonic: Integers,
        categorical: numpy.typing.NDArray[numpy.uint8],
        seed: int,
    ) -> None: ...

class Presorted:
    @overload
    def __init__(self, X: Doubles, n_threads: int) -> None: ...
    @overload
    def __init__(self, X: numpy.typing.NDArray[numpy.float32], n_threads: int) -> None: ...
    def grow(
        self,
        X: Numbers,
        y: numpy.typing.NDArray[numpy.float64 | numpy.int64],
        w: Doubles,
        classes: int,
        limits: TreeLimits,
        last: bool,
        n_threads: int,
    ) -> tuple[Any, ...]: ...
    def grow_several(
        self, X: Numbers, Y: Doubles, w: Doubles, classes: Integers, limits: TreeLimits, last: bool, n_threads: int
    ) -> tuple[Any, ...]: ...
