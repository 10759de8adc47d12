"""Blocks of rows, one after the other: iterators, functions that return one, lists of blocks, Arrow streams.

A block is X, (X, y) or (X, y, w); with frames, y and the weights may also be names of columns. Here what is given is
distinguished and opened; `sources.blocks` reads the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from tenfold.core import ops
from tenfold.core.data import Source
from tenfold.core.errors import BadInput, BadType, ReadOnce
from tenfold.gate import check
from tenfold.sources.blocks import Blocks
from tenfold.sources.once import Once


def is_dask(X: Any) -> bool:
    """A Dask array, frame or series (recognised by its module, so that Dask is not imported)."""
    return type(X).__module__.startswith(("dask.array", "dask.dataframe", "dask_expr"))


def is_stream(X: Any) -> bool:
    """Whether X gives blocks of rows, and is not a table itself."""
    if isinstance(X, (list, tuple)):
        first = X[0] if len(X) else None
        return _is_table(first[0] if isinstance(first, tuple) and 1 <= len(first) <= 3 else first)
    if _is_lazy(X) or hasattr(X, "__next__"):
        return True
    if (
        isinstance(X, (str, bytes, dict, set, frozenset))
        or hasattr(X, "__array__")
        or check.is_frame(X)
        or ops.is_sparse(X)
    ):
        return False
    return callable(X) or hasattr(X, "__arrow_c_stream__") or (hasattr(X, "__iter__") and not hasattr(X, "__getitem__"))


def _is_table(X: Any) -> bool:
    """Something with rows and columns of its own, which no row of an ordinary list of rows is."""
    return len(getattr(X, "shape", ())) == 2


def _is_lazy(X: Any) -> bool:
    return type(X).__module__.startswith("polars") and hasattr(X, "collect_batches")


def open_stream(
    learner: Any,
    X: Any,
    y: Any = None,
    weight: Any = None,
    classes: Any = None,
    categories: Any = None,
    *,
    plain: bool = False,
) -> Source:
    """The gate for blocks. With `plain` (predict) only X is taken from them."""
    for what, given in (("y", y), ("sample_weight", weight)):
        if given is not None and not isinstance(given, str):
            raise BadType(
                f"with blocks of rows, {what} comes inside of them: give (X, y) or (X, y, w), or the name of a column"
            )
    again, first = opened(X)
    source = Blocks(learner, again, y, weight, classes, categories, plain)
    if not source.rereadable and not plain:
        if learner.kind == "many passes":
            raise ReadOnce(
                f"{type(learner).__name__} makes several passes and these blocks can be read only once: "
                "give a list of blocks, or a function that returns a new iterator"
            )
        if learner.target == "label" and classes is None:
            raise BadInput(
                f"{type(learner).__name__} must know the classes before it reads blocks that can be "
                "read only once: "
                "give a function that returns a new iterator, or use partial_fit(blocks, classes=[...])"
            )
    source.learn_facts(first)
    return source


def opened(X: Any) -> tuple[Callable[[], Iterator[Any]], Any]:
    """A function that opens the stream (again), and its first block."""
    again: Callable[[], Iterator[Any]]
    if _is_lazy(X):
        again = lambda: iter(X.collect_batches(lazy=True))  # noqa: E731
    elif hasattr(X, "__arrow_c_stream__"):
        from pyarrow import RecordBatchReader

        return _once(iter(RecordBatchReader.from_stream(X)))
    elif hasattr(X, "__next__"):
        return _once(X)
    else:
        again = lambda: _iterator(X() if callable(X) else X)  # noqa: E731
    blocks = again()
    if callable(X) and blocks is again():
        raise BadType("the function must return a new iterator each time it is called: open the data inside of it")
    return again, _first(blocks)


def _once(blocks: Iterator[Any]) -> tuple[Once, Any]:
    first = _first(blocks)
    return Once(chain([first], blocks)), first


def _first(blocks: Iterator[Any]) -> Any:
    for block in blocks:
        return block
    raise BadInput("there is no block to read: the iterator is empty (or was read before)")


def _iterator(blocks: Any) -> Iterator[Any]:
    if not isinstance(blocks, Iterable):
        raise BadType(f"the function must return an iterator of blocks, but returned {type(blocks).__name__}")
    return iter(blocks)
