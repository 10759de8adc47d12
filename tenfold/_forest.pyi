from typing import Any

import numpy
import numpy.typing

class Forest:
    def __init__(
        self,
        codes: numpy.typing.NDArray[numpy.uint8 | numpy.uint16],
        n_bins: numpy.typing.NDArray[numpy.int64],
        edges: numpy.typing.NDArray[numpy.float64],
        start: numpy.typing.NDArray[numpy.int64],
        category_codes: numpy.typing.NDArray[numpy.int64],
        categorical: numpy.typing.NDArray[numpy.uint8],
        y: numpy.typing.NDArray[numpy.float64],
        classes: numpy.typing.NDArray[numpy.int64],
        factor: numpy.typing.NDArray[numpy.float64],
        key: numpy.typing.NDArray[numpy.uint64],
        first: numpy.typing.NDArray[numpy.int64],
        rate: float,
        criterion: str,
        balanced: bool = False,
    ) -> None: ...
    def tree(
        self,
        seed: int,
        random: bool,
        max_depth: int,
        min_split: int,
        min_leaf: int,
        min_weight_share: float,
        max_features: int,
        max_leaves: int,
        min_decrease: float,
        monotonic: numpy.typing.NDArray[numpy.int64],
    ) -> tuple[Any, ...]: ...

def drawn_times(
    key: numpy.typing.NDArray[numpy.uint64], first: numpy.typing.NDArray[numpy.int64], rate: float, seed: int
) -> numpy.typing.NDArray[numpy.int64]: ...
