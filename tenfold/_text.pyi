from typing import Any

import numpy
import numpy.typing

Bytes = numpy.typing.NDArray[numpy.uint8]
Int32s = numpy.typing.NDArray[numpy.int32]
Int64s = numpy.typing.NDArray[numpy.int64]

def count(
    documents: Any,
    unit: str,
    least: int,
    lower: bool,
    shortest: int,
    longest: int,
    left_out_letters: Bytes,
    left_out_ends: Int64s,
    threads: int,
) -> tuple[Bytes, Int64s, Int64s, Int32s, Int32s]: ...
def find(letters: Bytes, ends: Int64s, known_letters: Bytes, known_ends: Int64s) -> Int64s: ...
def join(letters: Bytes, ends: Int64s, other_letters: Bytes, other_ends: Int64s) -> tuple[Bytes, Int64s, Int64s, Int64s]: ...
def hash(letters: Bytes, ends: Int64s) -> Int32s: ...
