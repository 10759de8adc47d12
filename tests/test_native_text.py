"""Texts as counts of terms: the kernel against Python's own regular expressions, lower case, sorting and counting."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tenfold import _text

NO_LETTERS, NO_ENDS = np.empty(0, np.uint8), np.empty(0, np.int64)
rng = np.random.default_rng(0)


def listed(terms: list[str]) -> tuple[Any, Any]:
    """Terms as one text and where each ends."""
    pieces = [one.encode("utf-8", "surrogatepass") for one in terms]
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([len(one) for one in pieces], dtype=np.int64)


def texts(letters: Any, ends: Any) -> list[str]:
    return [bytes(letters[a:b]).decode("utf-8", "surrogatepass") for a, b in pairwise([0, *ends.tolist()])]


def words(text: str, pattern: str = r"(?u)\b\w\w+\b", n: tuple[int, int] = (1, 1), left_out: tuple[str, ...] = ()) -> list[str]:
    found = [one for one in re.findall(pattern, text) if one not in left_out]
    return [" ".join(found[i : i + k]) for k in range(n[0], n[1] + 1) for i in range(len(found) - k + 1)]


def characters(text: str, n: tuple[int, int]) -> list[str]:
    text = re.sub(r"\s\s+", " ", text)
    return [text[i : i + k] for k in range(n[0], n[1] + 1) for i in range(len(text) - k + 1)]


def within_words(text: str, n: tuple[int, int]) -> list[str]:
    found = []
    for word in (f" {one} " for one in text.split()):
        for k in range(n[0], n[1] + 1):
            found += [word[i : i + k] for i in range(max(len(word) - k + 1, 1))]
            if len(word) <= k:
                break
    return found


def counted(documents: list[str], unit: str = "words", least: int = 2, lower: bool = False, n: tuple[int, int] = (1, 1),
            left_out: tuple[str, ...] = (), threads: int = 1) -> Any:  # fmt: skip
    return _text.count(documents, unit, least, lower, *n, *listed(list(left_out)), threads)


def check(documents: list[str], expected: list[list[str]], found: Any) -> None:
    letters, ends, starts, columns, counts = found
    terms = texts(letters, ends)
    assert terms == sorted({one for some in expected for one in some})
    assert len(starts) == len(documents) + 1
    for row, some in enumerate(expected):
        here = slice(starts[row], starts[row + 1])
        assert (np.diff(columns[here]) > 0).all()
        assert {terms[j]: n for j, n in zip(columns[here], counts[here], strict=True)} == Counter(some)


def drawn(kind: str, n: int = 60) -> list[str]:
    """Texts of characters from everywhere in Unicode, or from some of it."""
    ranges = {
        "ascii": [(0, 128)], "latin": [(0, 256)], "plane": [(0, 0x10000)], "all": [(0, 0x110000)],
        "surrogates": [(0xD700, 0xE100), (65, 91)], "marks": [(0x300, 0x370), (97, 123)], "right to left": [(0x590, 0x700), (32, 33)],
        "spaces": [(9, 14), (28, 33), (0x2000, 0x2010), (97, 100)],
    }[kind]  # fmt: skip
    made = []
    for _ in range(n):
        size = int(rng.integers(0, 80))
        which = rng.integers(0, len(ranges), size)
        often = rng.choice([32, 97, 65, 95, 0xE4, 0x130, 0x3A3], size)
        points = [int(rng.integers(*ranges[k])) if rng.random() < 0.7 else int(one) for k, one in zip(which, often, strict=True)]
        made.append("".join(map(chr, points)))
    return made


KINDS = ("ascii", "latin", "plane", "all", "surrogates", "marks", "right to left", "spaces")


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_words_are_those_of_regular_expressions(kind: str, lower: bool) -> None:
    documents = drawn(kind)
    seen = [one.lower() if lower else one for one in documents]
    check(documents, [words(one) for one in seen], counted(documents, lower=lower))
    check(documents, [words(one, r"(?u)\b\w+\b") for one in seen], counted(documents, lower=lower, least=1))
    check(documents, [words(one, n=(1, 3)) for one in seen], counted(documents, lower=lower, n=(1, 3)))
    check(documents, [words(one, n=(2, 2)) for one in seen], counted(documents, lower=lower, n=(2, 2)))


@pytest.mark.parametrize("kind", KINDS)
def test_characters_and_pieces_are_those_of_python(kind: str) -> None:
    documents = drawn(kind)
    check(documents, [one.split() for one in documents], counted(documents, "pieces", 1))
    for n in ((1, 1), (1, 3), (2, 5), (7, 7)):
        check(documents, [characters(one, n) for one in documents], counted(documents, "char", n=n))
        check(documents, [within_words(one, n) for one in documents], counted(documents, "char_wb", n=n))


def test_every_character_is_in_a_word_or_not_as_python_says() -> None:
    text = " ".join(chr(c) + "a" for c in range(0x110000))
    letters, ends, _, _, _ = counted([text])
    assert texts(letters, ends) == sorted(set(words(text)))


def test_words_are_left_out_before_they_are_put_together() -> None:
    documents = ["the cat and the dog", "and and the", "a dog", ""]
    left_out = ("the", "and", "ça")
    expected = [words(one, n=(1, 2), left_out=left_out) for one in documents]
    assert expected[0] == ["cat", "dog", "cat dog"]
    check(documents, expected, counted(documents, n=(1, 2), left_out=left_out))


@pytest.mark.parametrize("unit", ["words", "char", "char_wb", "pieces"])
def test_threads_give_the_same_bits(unit: str) -> None:
    vocabulary = ["".join(map(chr, rng.integers(97, 123, 4))) for _ in range(300)]
    documents = [" ".join(rng.choice(vocabulary, 20)) for _ in range(2000)]
    one = counted(documents, unit, n=(1, 2))
    for threads in (2, 3, 7):
        for a, b in zip(one, counted(documents, unit, n=(1, 2), threads=threads), strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize("documents", [[], [""], ["", " ", "!"], ["a" * 100_000 + " " + "b" * 70_000], ["\0\0 a\0b ab\0"]])
def test_odd_documents(documents: list[str]) -> None:
    check(documents, [words(one) for one in documents], counted(documents))
    check(documents, [characters(one, (1, 2)) for one in documents], counted(documents, "char", n=(1, 2)))


def test_what_cannot_be_counted() -> None:
    for documents in (["a", None], [b"bytes"], [3]):
        with pytest.raises(TypeError, match="is no text"):
            counted(documents)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shortest"):
        counted(["a"], n=(2, 1))
    with pytest.raises(ValueError, match="unit must be"):
        counted(["a"], "sentences")
    with pytest.raises(ValueError, match="ends must rise"):
        _text.find(NO_LETTERS, np.array([3]), NO_LETTERS, NO_ENDS)
    with pytest.raises(ValueError, match="ends must rise"):
        _text.hash(np.zeros(4, np.uint8), np.array([3, 1]))


def test_a_text_of_somebody_may_lie_about_its_lower_case() -> None:
    class Odd(str):
        def lower(self) -> Any:
            return 3

    with pytest.raises(TypeError, match="lower"):
        counted([Odd("ä")], lower=True)
    assert texts(*counted([Odd("abc")], lower=True)[:2]) == ["abc"]  # ASCII is not asked


def test_sorted_lists_are_searched_and_joined() -> None:
    for _ in range(30):
        pool = sorted({one[:4] for one in drawn("all", 40)})
        a, b = (sorted(rng.choice(pool, int(rng.integers(0, len(pool))), replace=False).tolist()) for _ in range(2))
        known = {one: i for i, one in enumerate(a)}
        assert _text.find(*listed(b), *listed(a)).tolist() == [known.get(one, -1) for one in b]
        letters, ends, of_a, of_b = _text.join(*listed(a), *listed(b))
        both = texts(letters, ends)
        assert both == sorted({*a, *b}) and [both[i] for i in of_a] == a and [both[i] for i in of_b] == b


def test_hashes_are_those_of_the_reference() -> None:
    """The values of Appleby's own code for these keys, seed 0."""
    fox = "The quick brown fox jumps over the lazy dog"
    expected = {"": 0, "hello": 613153351, "hello, world": 345750399, "a": 1009084850, fox: 776992547}
    assert _text.hash(*listed(list(expected))).tolist() == list(expected.values())


def test_hashes_are_those_of_scikit_learn() -> None:
    murmurhash3_32 = pytest.importorskip("sklearn.utils").murmurhash3_32
    terms = [one for one in drawn("plane", 100) if not any(0xD800 <= ord(c) < 0xE000 for c in one)]
    assert _text.hash(*listed(terms)).tolist() == [murmurhash3_32(one, seed=0) for one in terms]


def test_a_run_that_was_given_up_stops_in_the_middle_of_a_document() -> None:
    from tenfold.core.threads import cancellable

    for unit, n in (("words", (1, 2)), ("char", (1, 2)), ("char_wb", (2, 3))):
        with pytest.raises(KeyboardInterrupt), cancellable() as run:
            run.cancel()
            counted(["ab cd " * 50_000], unit, n=n)
