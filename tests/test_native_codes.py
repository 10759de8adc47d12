"""Columns of objects by the numbers of their different values: the kernel against a dict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenfold import _codes

NAN = float("nan")


def twin(values: list[Any]) -> tuple[list[int], list[Any]]:
    different = list(dict.fromkeys(values))
    place = dict(zip(different, range(len(different)), strict=True))
    return [place[one] for one in values], different


def objects(values: list[Any]) -> np.ndarray:
    return np.fromiter(values, object, len(values))


def fresh(text: str) -> str:
    """A text that is no other object."""
    return "".join(list(text))


class Odd:
    """Equal to others of its number; comparing it is Python code."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return hash(self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Odd) and other.number == self.number


rng = np.random.default_rng(0)
COLUMNS: dict[str, list[Any]] = {
    "nothing": [],
    "one": ["a"],
    "few texts": [["a", "bb", "ä", ""][i] for i in rng.integers(0, 4, 5000)],
    "texts that are objects of their own": [fresh(f"level {i}") for i in rng.integers(0, 50, 5000)],
    "more objects than addresses are remembered": [fresh(f"{i}") for i in range(20_000)] + [f"{i}" for i in range(20_000)],
    "missing": ["a", None, NAN, "a", None, NAN, float("nan")],
    "numbers that are equal": [1, 1.0, True, "1", np.float64(1), 2**80, float(2**80)],
    "types of somebody": ["a", Odd(1), "a", Odd(2), Odd(1), "b", "a", None],
    "tuples": [(1, 2), (1, 2), (2,)],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_are_those_of_a_dict(name: str) -> None:
    values = COLUMNS[name]
    codes, different = _codes.numbered(objects(values))
    expected, kept = twin(values)
    assert codes.tolist() == expected and codes.dtype == np.int64
    assert len(different) == len(kept) and all(one is other for one, other in zip(different, kept, strict=True))
    assert _codes.holds_none(objects(values)) == any(one is None for one in values)


def test_columns_of_a_table_are_read_where_they_lie() -> None:
    table = np.array([["a", "x"], ["b", "y"], ["a", "x"]], dtype=object)
    for X in (table, np.asfortranarray(table), table[::-1]):
        for j in range(2):
            codes, different = _codes.numbered(X[:, j])
            assert [different[i] for i in codes] == X[:, j].tolist()
    assert _codes.numbered(np.empty(3, dtype=object))[1] == [None]


def test_what_makes_no_sense_is_refused() -> None:
    for bad in (np.ones(3), np.array([["a"]], dtype=object), np.array(["a"])):
        with pytest.raises(TypeError, match="array of objects with one axis"):
            _codes.numbered(bad)
    with pytest.raises(TypeError):
        _codes.numbered(["a"])
    with pytest.raises(TypeError, match="unhashable"):
        _codes.numbered(objects([["a"], "b"]))


class Wrong:
    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")


def test_errors_of_comparisons_come_through() -> None:
    with pytest.raises(RuntimeError, match="not comparable"):
        _codes.numbered(objects([Wrong(), Wrong()]))
