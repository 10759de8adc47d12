from typing import Any, overload

import numpy
import numpy.typing

class Presorted:
    @overload
    def __init__(self, X: numpy.typing.NDArray[numpy.float64], n_threads: int) -> None: ...
    @overload
    def __init__(self, X: numpy.typing.NDArray[numpy.float32], n_threads: int) -> None: ...
    def grow(
        self,
        X: numpy.typing.NDArray[numpy.float64 | numpy.float32],
        y: numpy.typing.NDArray[numpy.float64 | numpy.int64],
        w: numpy.typing.NDArray[numpy.float64],
        classes: int,
        criterion: str,
        last: bool,
        random: bool,
        max_depth: int,
        min_split: int,
        min_leaf: int,
        min_weight_leaf: float,
        max_features: int,
        max_leaves: int,
        min_gain: float,
        monotonic: numpy.typing.NDArray[numpy.int64],
        categorical: numpy.typing.NDArray[numpy.uint8],
        seed: int,
        n_threads: int,
    ) -> tuple[Any, ...]: ...
    def grow_several(
        self,
        X: numpy.typing.NDArray[numpy.float64 | numpy.float32],
        Y: numpy.typing.NDArray[numpy.float64],
        w: numpy.typing.NDArray[numpy.float64],
        classes: numpy.typing.NDArray[numpy.int64],
        criterion: str,
        last: bool,
        random: bool,
        max_depth: int,
        min_split: int,
        min_leaf: int,
        min_weight_leaf: float,
        max_features: int,
        max_leaves: int,
        min_gain: float,
        monotonic: numpy.typing.NDArray[numpy.int64],
        categorical: numpy.typing.NDArray[numpy.uint8],
        seed: int,
        n_threads: int,
    ) -> tuple[Any, ...]: ...
