"""Folds dealt at random and rows in the order of codes: the kernels against plain twins, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tenfold import _folds

NO_CODES = np.empty(0, dtype=np.int64)
GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def draw(seed: int, i: int) -> int:
    z = (seed + (i + 1) * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def dealt(n: int, folds: int, codes: np.ndarray, seed: int) -> list[int]:
    """Each row takes a lot of its class at random; the lots are 0, 1, ..., folds − 1, 0, ... class after class."""
    codes = codes if len(codes) else np.zeros(n, dtype=np.int64)
    lots, found = {}, []
    for c in range(int(codes.max(initial=0)) + 1):
        before = int((codes < c).sum())
        lots[c] = [(before + i) % folds for i in range(int((codes == c).sum()))]
    for i, c in enumerate(codes):
        left = lots[c]
        at = draw(seed, i) * len(left) >> 64
        found.append(left[at])
        left[at] = left[0]
        left.pop(0)
    return found


@pytest.mark.parametrize("n, folds, classes", [(0, 2, 1), (1, 1, 1), (7, 3, 1), (50, 50, 1), (64, 5, 3), (200, 10, 40)])
def test_folds_are_dealt_as_by_hand(n: int, folds: int, classes: int) -> None:
    rng = np.random.default_rng(n)
    codes = rng.integers(0, classes, n) if classes > 1 else NO_CODES
    for seed in (0, 1, 2**63 + 5):
        assert _folds.deal(n, folds, codes, classes, seed).tolist() == dealt(n, folds, codes, seed)


def test_every_pair_of_rows_is_together_equally_often() -> None:
    n, folds, times = 12, 3, 3000
    together = np.zeros((n, n))
    for seed in range(times):
        fold = _folds.deal(n, folds, NO_CODES, 1, seed * GOLDEN & MASK)
        assert (np.bincount(fold) == n // folds).all()
        together += fold[:, None] == fold
    share = (n / folds - 1) / (n - 1)
    apart = together[np.triu_indices(n, 1)] / times - share
    assert np.abs(apart).max() < 4.5 * np.sqrt(share * (1 - share) / times)


@pytest.mark.parametrize("n, count", [(0, 1), (1, 1), (9, 4), (1000, 10), (300, 5000)])
def test_rows_are_in_the_order_of_their_codes(n: int, count: int) -> None:
    codes = np.random.default_rng(n).integers(0, count, n)
    assert np.array_equal(_folds.by_code(codes, count), np.argsort(codes, kind="stable"))


@pytest.mark.parametrize(
    "change, words",
    [
        (dict(codes=np.array([0, 3])), "outside its range"),
        (dict(codes=np.array([0, -1])), "outside its range"),
        (dict(codes=np.array([0, 1, 1])), "an entry for each row"),
        (dict(codes=NO_CODES), "an entry for each row"),
        (dict(folds=0), "folds"),
        (dict(n=-1), "rows"),
        (dict(n=2**31), "rows"),
        (dict(classes=0), "classes"),
        (dict(classes=2**40), "classes"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _folds.deal(**{**dict(n=2, folds=2, codes=np.array([0, 2]), classes=3, seed=0), **change})


def test_codes_outside_their_range_are_refused() -> None:
    for codes in (np.array([0, 2]), np.array([-1, 0])):
        with pytest.raises(ValueError, match="outside its range"):
            _folds.by_code(codes, 2)
    with pytest.raises(ValueError, match="codes"):
        _folds.by_code(NO_CODES, 0)
