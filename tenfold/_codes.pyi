from typing import Any

import numpy
import numpy.typing

def numbered(values: numpy.typing.NDArray[numpy.object_]) -> tuple[numpy.typing.NDArray[numpy.int64], list[Any]]: ...
def holds_none(values: numpy.typing.NDArray[numpy.object_]) -> bool: ...
