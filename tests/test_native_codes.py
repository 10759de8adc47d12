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
    assert codes.tolist() == expected and codes.dtype == np.int32
    assert len(different) == len(kept) and all(one is other for one, other in zip(different, kept, strict=True))
    assert _codes.holds_none(objects(values)) == any(one is None for one in values)


def test_columns_of_a_table_are_read_where_they_lie() -> None:
    table = np.array([["a", "x"], ["b", "y"], ["a", "x"]], dtype=object)
    for X in (table, np.asfortranarray(table), table[::-1]):
        for j in range(2):
            codes, different = _codes.numbered(X[:, j])
            assert [different[i] for i in codes] == X[:, j].tolist()
    assert _codes.numbered(np.empty(3, dtype=object))[1] == [None]


def test_all_columns_of_a_table_at_once_are_as_each_by_itself() -> None:
    n = max(map(len, COLUMNS.values()))
    columns = [objects((values * (n // len(values) + 1))[:n]) for values in COLUMNS.values() if values]
    table = np.column_stack(columns)
    for X in (table, np.asfortranarray(table), table[::-1, ::2]):
        codes, different = _codes.numbered_columns(X)
        assert codes.shape == X.shape[::-1] and codes.dtype == np.int32
        for j in range(X.shape[1]):
            alone, kept = _codes.numbered(X[:, j])
            assert np.array_equal(codes[j], alone) and all(one is other for one, other in zip(different[j], kept, strict=True))
    assert _codes.numbered_columns(table[:0])[1] == [[] for _ in columns]


class Sly(str):
    """A text whose comparison is Python code."""

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)


def test_a_text_of_another_type_is_equal_to_the_text() -> None:
    codes, different = _codes.numbered(objects(["a", "b", Sly("b"), "c", Sly("c"), "a"]))
    assert codes.tolist() == [0, 1, 1, 2, 2, 0] and different == ["a", "b", "c"]


@pytest.mark.parametrize("texts", [["a", "bb", "", "a", "ää", "bb"], [f"l {i * i % 1000}" for i in range(5000)], ["x" * 9, "x" * 8] * 3])
def test_rows_of_bytes_are_numbered_as_texts_are(texts: list[str]) -> None:
    values = np.array(texts)
    codes, firsts = _codes.numbered_bytes(values.view(np.uint8).reshape(len(values), -1))
    expected, kept = twin(texts)
    assert codes.tolist() == expected and values[firsts].tolist() == kept


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint16])
def test_columns_are_written_into_a_table(kind: type) -> None:
    table = np.zeros((2500, 4), dtype=kind)
    places = [rng.integers(-1, 3, 2500).astype(np.int32), rng.integers(0, 2, 2500)]
    numbers = [np.array([5.0, 7.0, 9.0, 11.0]), np.array([1.0, 2.0])]
    _codes.spread(list(zip(places, numbers, strict=True)), table, 1)
    assert np.array_equal(table, np.column_stack([np.zeros(2500), numbers[0][places[0]], numbers[1][places[1]], np.zeros(2500)]))


def test_what_cannot_be_written_is_refused() -> None:
    places, numbers, table = np.zeros(3, dtype=np.int32), np.ones(2), np.zeros((3, 2))
    _codes.spread([], table, 0)
    for columns, first, words in [
        ([(places, numbers)], 2, "room"), ([(places[:2], numbers)], 0, "room"), ([(places + 2, numbers)], 0, "places must be"),
        ([(places, numbers[:0])], 0, "numbers must"), ([(places.astype(np.int8), numbers)], 0, "int32 or int64"),
        ([(places, numbers), (places[:2], numbers)], 0, "one length"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            _codes.spread(columns, table, first)
    with pytest.raises(ValueError, match="table of float64"):
        _codes.spread([(places, numbers)], np.zeros((3, 2), dtype=np.int8), 0)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_codes_are_counted_with_their_missing_values(kind: type, weighted: bool) -> None:
    X = rng.integers(-1, 5, (500, 3)).astype(kind)
    X[rng.random(X.shape) < 0.1] = np.nan
    w = rng.random(500) if weighted else np.ones(500)
    expected = []
    for j, size in enumerate((5, -1, 6)):
        expected += [w[X[:, j] == code].sum() for code in range(size)] + ([w[np.isnan(X[:, j])].sum()] if size >= 0 else [])
    counts = _codes.tally(X, np.array([5, -1, 6]), w if weighted else None)
    assert np.allclose(counts, expected, rtol=1e-12)
    for sizes, weights, words in (([5, 5], None, "each column"), ([4, -1, 6], None, "below the sizes"), ([5, -1, 6], w[:3], "each row")):
        with pytest.raises(ValueError, match=words):
            _codes.tally(X, np.array(sizes), weights)


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
