"""Blocks of rows as a source: each passes the checks of a table in memory, and errors name the block.

Blocks are taken as they are, only cut where they are longer than `block_rows`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, Target, as_floats, block_rows
from tenfold.core.errors import BadInput, TenfoldError
from tenfold.core.numbers import check_finite
from tenfold.gate import check
from tenfold.sources.once import Once


class Blocks(Source):
    """Rows of blocks that somebody else makes."""

    def __init__(
        self,
        learner: Any,
        again: Callable[[], Iterator[Any]],
        y: str | None,
        weight: str | None,
        classes: Any,
        categories: Any,
        plain: bool,
    ) -> None:
        self.learner, self.again, self.y, self.weight, self.plain = learner, again, y, weight, plain
        self.classes, self.categories = classes, vars(learner).get("categories_") if plain else categories
        self.rereadable = not isinstance(again, Once)
        self.target, self.facts = Target("none"), {}

    def learn_facts(self, first: Any, number: int = 0) -> None:
        """The facts of the first block: width, names, shape of the target. Classes and categories need a pass of their own."""
        learner = self.learner
        with in_block(number):
            X, y, _ = self._split(first)
            if self.plain:
                check.check_names(learner, check.frame_names(X))
            coder = self.coder()
            table, names = check.as_table(learner, X, coder)
            if self.plain:
                check.check_width(learner, table.shape[1], learner.n_features_in_)
        self.n_features = table.shape[1]
        if not self.plain:
            self._survey_all(coder is not None and any(one is not None for one in coder.found), names)
            if coder is not None and self.categories is None:
                self.categories = coder.found
            with in_block(number):
                self.target, _ = check.as_target(learner, y, table.shape[0], self.classes)
        self.facts = check.facts_of(self.n_features, names, self.target, self.categories)

    def coder(self) -> check.Coder | None:
        """Codes categories that are known, or else finds those of one block."""
        return check.coder_of(self.learner, self.categories) if self.categories is not None or not self.plain else None

    def _survey_all(self, categories: bool, names: Array | None) -> None:
        """One pass over all blocks for the classes and the categories, where they are wanted and not known."""
        classes = self.learner.target == "label" and self.classes is None
        categories = categories and self.categories is None
        if not classes and not categories:
            return
        if not self.rereadable:
            raise BadInput(
                f"{type(self.learner).__name__} must know the categories of all blocks before it learns, but these can be "
                "read only once: give a list of blocks, or a function that returns a new iterator"
            )
        labels = list[Array]()
        found = check.union(self._surveys(categories, labels), names)
        self.classes = union_of_labels(labels) if classes else self.classes
        self.categories = found if categories else self.categories

    def _surveys(self, categories: bool, labels: list[Array]) -> Iterator[Any]:
        """The categories of each block; its labels are put into the list."""
        for number, item in enumerate(self.again()):
            _, seen, found = self.survey(number, item, categories)
            if seen is not None:
                labels.append(seen)
            if found is not None:
                yield found

    def survey(self, number: int, item: Any, categories: bool = True) -> tuple[int, Array | None, Any]:
        """Rows with weight of one block, and their distinct labels and categories where those are wanted and not known."""
        with in_block(number):
            X, y, w = self._split(item)
            n = X.shape[0] if hasattr(X, "shape") else len(X)
            rows = np.arange(n) if w is None or np.shape(w) != (n,) else np.flatnonzero(w)
            wanted = self.learner.target == "label" and self.classes is None and len(rows) > 0
            labels = self.labels_of(y, w) if wanted else None
            coder = self.coder()
            if coder is None or not categories or not len(rows):
                return len(rows), labels, None
            coder.without_unseen(check.as_table(self.learner, X, coder)[0], rows)
            return len(rows), labels, coder.found

    def whole(self) -> Blocks:
        """All rows, those of weight zero too."""
        rest = Blocks(self.learner, self.again, self.y, None, None, None, plain=True)
        rest.n_features, rest.facts, rest.categories = self.n_features, self.facts, self.categories
        return rest

    def _split(self, item: Any) -> tuple[Any, Any, Any]:
        """X, y and w of one item, columns taken out by name."""
        given = item if isinstance(item, tuple) else (item,)
        if not 1 <= len(given) <= 3:
            raise BadInput(f"a block is X, (X, y) or (X, y, w), but this one has {len(given)} parts")
        X, y, w = (*given, None, None)[:3]
        if type(X).__module__.startswith("pyarrow") and hasattr(X, "schema") and not hasattr(X, "to_batches"):
            from pyarrow import Table

            X = Table.from_batches([X])
        if self.plain:
            return _fitted_columns(self.learner, X), None, None
        if self.weight is not None:
            if w is not None:
                raise BadInput(
                    f"the block brings weights, and sample_weight={self.weight!r} names a column: give one of them"
                )
            X, w = check.split_target(X, self.weight)
        if self.y is not None:
            if y is not None:
                raise BadInput(f"the block brings a target, and y={self.y!r} names a column: give one of them")
            X, y = check.split_target(X, self.y)
        return X, y, w

    def labels_of(self, y: Any, w: Any) -> Array:
        """The distinct labels of a block in rows with weight."""
        if y is None:
            raise BadInput(
                f"{type(self.learner).__name__} requires y to be passed, but the target y is None: give (X, y)"
            )
        y = check.flat_labels(check.as_column(y), len(y))
        y = y if w is None or np.shape(w) != y.shape else y[np.asarray(w) != 0]
        return check.encode(y)[0]

    def parts(self) -> Iterator[tuple[Any, Array | None, Array | None, int, Array]]:
        """Pieces (X, y, w, number of the block, its rows), checked but for what `load` does."""
        size, n_rows = block_rows(self.n_features), 0
        for number, item in enumerate(self.again()):
            with in_block(number):
                X, y, w, rows = self._checked(item)
            for start in range(0, len(rows), size):
                cut: Any = slice(start, start + size) if len(rows) == X.shape[0] else rows[start : start + size]
                yield (
                    X[cut],
                    None if y is None else y[cut],
                    None if w is None else w[cut],
                    number,
                    rows[start : start + size],
                )
            n_rows += len(rows)
        least = 1 if self.plain else max(1, self.learner.least_rows)
        if n_rows < least:
            raise BadInput(
                f"Found {n_rows} sample(s) of weight above zero in all blocks, while a minimum of {least} is required"
            )

    def _checked(self, item: Any) -> tuple[Any, Array | None, Array | None, Array]:
        """One block past the gate, with the numbers of its rows that have weight."""
        X, y, w = self._split(item)
        X, names = check.as_table(self.learner, X, self.coder())
        n, p = X.shape
        if p != self.n_features:
            raise BadInput(
                f"this block has {p} columns, but the first one has {self.n_features}: all blocks need the same columns"
            )
        first = self.facts.get("feature_names_in_")
        if names is not None and first is not None and not np.array_equal(names, first):
            other = next(i for i in range(p) if names[i] != first[i])
            raise BadInput(
                f"column {other} is {names[other]!r} here and {first[other]!r} in the first block: "
                "all blocks need the same columns"
            )
        if self.plain or self.target.kind == "none":
            y = None
        else:
            target, y = check.as_target(self.learner, y, n, self.classes)
            if target.width != self.target.width:
                raise BadInput(f"y has {target.width} columns here and {self.target.width} in the first block")
        if w is not None and np.shape(w) == (n,) and not np.any(w):
            return X, y, None, np.arange(0)
        w = check.as_weights(w, n)
        return X, y, w, np.arange(n) if w is None or w.all() else np.flatnonzero(w)

    def load(self, part: Any) -> Block:
        X, y, w, number, rows = part
        X = as_floats(X)
        if not ops.all_usable(X):
            with in_block(number):
                check_finite(X, rows, self.facts.get("feature_names_in_"), self.learner.missing)
        return Block(X, y, np.ones(len(rows)) if w is None else w)


def union_of_labels(blocks: list[Array]) -> Array:
    """All labels that occur, sorted."""
    seen = [values for values in blocks if len(values)]
    if not seen:
        raise BadInput("sample_weight is zero in every row: at least one weight must be above zero")
    if len({values.dtype.kind in "iufb" for values in seen}) > 1:
        raise BadInput(
            "y holds labels of mixed type, numbers in one block and text in another: make them all text or all numbers"
        )
    return np.unique(np.concatenate(seen))


def _fitted_columns(learner: Any, X: Any) -> Any:
    """Of a frame with more columns (the target, say) those the learner was fitted on."""
    fitted = getattr(learner, "feature_names_in_", None)
    if fitted is None or not check.is_frame(X):
        return X
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    return frame.select(list(fitted)).to_native() if set(fitted) <= set(frame.columns) else X


@contextlib.contextmanager
def in_block(number: int) -> Iterator[None]:
    """Errors name the block."""
    try:
        yield
    except TenfoldError as error:
        raise type(error)(f"block {number}: {error}") from None
