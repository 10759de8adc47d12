"""Boosting in two halves, one that decides and others that have rows, against the tree of one process; and exact sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tenfold import _boost

Array = np.ndarray[Any, Any]
SETTINGS = dict(
    l1=0.0, l2=0.0, least_curvature=1e-3, least_gain=0.0, least_rows=2, split_rows=2, leaves=31, depth=99, columns=99,
    seed=5, rate=0.1, longest=np.inf, whole=False,
)  # fmt: skip
WHOLE = dict(whole=True, leaves=1 << 30)


class Case:
    """A table of codes with some missing and a column of categories, in three parts."""

    def __init__(self, n: int, p: int, order: int = 0, together: Any = (), bins: int = 40) -> None:
        rng = np.random.default_rng(n + p)
        n_bins = np.where(np.arange(p) == 2, min(bins, 40), bins)
        wide = bins > 255
        self.n, self.codes = (
            n,
            np.zeros((n, (p + 3) // 4 * 4 if wide else (p + 7) // 8 * 8), np.uint16 if wide else np.uint8),
        )
        self.codes[:, :p] = rng.integers(0, n_bins + 1, (n, p))
        share = self.codes / (bins / 40)
        self.y = rng.normal(size=n) + 0.3 * share[:, 0] * (share[:, 1 % p] > 13)
        self.w = rng.integers(1, 4, n).astype(np.float64)
        self.rows = np.flatnonzero(rng.random(n) < 0.8).astype(np.uint32) if n > 2 else np.arange(n, dtype=np.uint32)
        self.columns = (
            n_bins,
            (np.arange(p) == 2).astype(np.uint8),
            np.where(np.arange(p) == 0, order, 0),
            np.array(together, dtype=np.uint8).reshape(-1, p),
        )

    def tree_here(self, settings: dict[str, Any]) -> tuple[tuple[Array, ...], Array]:
        boosting, raw = _boost.Boosting(self.codes, *self.columns, 2), np.zeros(self.n)
        boosting.gradients(0, self.y, raw, self.w, 0.0)
        nodes = boosting.grow(self.rows, _boost.TreeLimits(**settings))
        boosting.update(raw)
        return nodes, raw

    def holders(self) -> tuple[list[Holder], tuple[float, float]]:
        cuts = [slice(a, a + self.n // 3 + 1) for a in range(0, self.n, self.n // 3 + 1)]
        at = [(0, self.y[cut], np.zeros(len(self.y[cut])), self.w[cut], 0.0) for cut in cuts]
        tops = np.max([_boost.extent(*one) for one in at], axis=0)
        terms = [_boost.fixed_gradients(*one, *tops, self.n) for one in at]
        inside = [self.rows[(self.rows >= cut.start) & (self.rows < cut.stop)] - np.uint32(cut.start) for cut in cuts]
        made = [Holder(self.codes[cut], self.columns[0], *one) for cut, *one in zip(cuts, terms, inside, strict=True)]
        return made, (float(tops[0]), float(tops[1]))


class Holder:
    """Some rows, and where those of each node are."""

    def __init__(self, codes: Array, n_bins: Array, terms: Array, rows: Array) -> None:
        self.codes, self.n_bins, self.terms, self.rows = codes, n_bins, terms, rows
        self.places = {0: (0, len(rows))}

    def turn(self, node: Array, first: Array, *splits: Array) -> Array:
        places = [self.places[i] for i in node.tolist()]
        begin, end = np.array(places, dtype=np.int64).T.copy()
        where = (self.codes, self.n_bins, self.terms, self.rows, begin, end)
        self.rows, lefts, histograms = _boost.part_and_sum(*where, *splits)
        for left, (a, b), count in zip(first.tolist(), places, lefts.tolist(), strict=True):
            self.places[left], self.places[left + 1] = (a, a + count), (a + count, b)
        return histograms


def tree_of_parts(case: Case, settings: dict[str, Any]) -> tuple[tuple[Array, ...], int]:
    """The nodes, and in how many turns they were found."""
    tree, (holders, tops) = _boost.DistributedTree(*case.columns, 2), case.holders()
    whole = sum(_boost.sum_rows(one.codes, one.n_bins, one.terms, one.rows) for one in holders)
    tree.begin(whole, *tops, case.n, _boost.TreeLimits(**settings))
    turns = 0
    while len((asked := tree.asked())[0]):
        tree.answer(sum(one.turn(*asked) for one in holders))
        turns += 1
    return tree.nodes(), turns


PAIRS = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]


@pytest.mark.parametrize(
    "case, changed, most_turns",
    [
        (Case(5000, 9), {}, 12),
        (Case(5000, 9), dict(columns=3, l1=2.0, l2=1.0), 12),
        (Case(4000, 5, order=1), dict(longest=0.3), 12),
        (Case(4000, 4, together=PAIRS), dict(leaves=100), 25),
        (Case(3000, 9), dict(**WHOLE, depth=5), 4),
        (Case(3000, 7, bins=2000), {}, 12),
        (Case(2000, 4, order=1, bins=65_535), dict(leaves=8), 12),
        (Case(2000, 9), dict(**WHOLE, depth=20, columns=2, least_rows=1), 19),
        (Case(100, 3), dict(leaves=2), 0),
        (Case(2, 1), {}, 0),
        (Case(1, 1), {}, 0),
    ],
    ids=[
        "plain",
        "columns drawn",
        "ordered",
        "together",
        "shallow",
        "pairs of bytes",
        "many bins",
        "whole",
        "stump",
        "two rows",
        "one row",
    ],
)
def test_two_halves_grow_the_tree_of_one(case: Case, changed: dict[str, Any], most_turns: int) -> None:
    settings = {**SETTINGS, **changed}
    expected, raw = case.tree_here(settings)
    found, turns = tree_of_parts(case, settings)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert turns <= most_turns
    leaf = _boost.leaves_of(case.codes, case.columns[0], *found[:7])
    np.testing.assert_array_equal(found[7][leaf], raw)


@pytest.mark.parametrize(
    "n, p, bins", [(500, 3, 40), (500, 3, 300), (1, 2, 300), (900, 2, 65_535), (2100, 5, 256), (70, 9, 1000)]
)
def test_histograms_and_parted_rows_by_hand(n: int, p: int, bins: int) -> None:
    case = Case(n, p, bins=bins)
    terms = np.random.default_rng(0).integers(-99, 99, (n, 2))
    start = np.cumsum([0, *(case.columns[0] + 1)])
    expected = np.zeros((start[-1], 2), dtype=np.int64)
    for j in range(p):
        np.add.at(expected, start[j] + case.codes[case.rows, j].astype(int), terms[case.rows])
    np.testing.assert_array_equal(_boost.sum_rows(case.codes, case.columns[0], terms, case.rows), expected)
    a, n, middle = min(100, len(case.rows) // 5), len(case.rows), bins // 2
    places = np.array([a]), np.array([n])
    one = (np.array([1], np.int32), np.array([middle], np.int32), np.ones(1, np.uint8), np.zeros(1, np.uint8))
    more = (*one, np.zeros((1, 4), dtype=np.uint64), np.full(1, 3, dtype=np.uint8))
    rows, lefts, sums = _boost.part_and_sum(case.codes, case.columns[0], terms, case.rows, *places, *more)
    code = case.codes[case.rows[a:], 1]
    left = (code <= middle) | (code == bins)
    np.testing.assert_array_equal(rows, [*case.rows[:a], *case.rows[a:][left], *case.rows[a:][~left]])
    assert lefts.tolist() == [left.sum()] and len(sums) == 2
    for side, rows_of_side in zip(sums, (case.rows[a:][left], case.rows[a:][~left]), strict=True):
        np.testing.assert_array_equal(side, _boost.sum_rows(case.codes, case.columns[0], terms, rows_of_side))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_codes_beyond_the_bins_stay_in_memory(dtype: Any) -> None:
    codes, terms = np.full((50, 8), np.iinfo(dtype).max, dtype=dtype), np.ones((50, 2), dtype=np.int64)
    rows = np.arange(50, dtype=np.uint32)
    found = _boost.sum_rows(codes, np.array([3, 3]), terms, rows)
    assert found.shape == (8, 2)
    by_set = (np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.uint8), np.ones(1, np.uint8))
    sets, everything = np.full((1, 4), np.iinfo(np.uint64).max, dtype=np.uint64), (np.array([0]), np.array([50]))
    _boost.part_and_sum(codes, np.array([3, 3]), terms, rows, *everything, *by_set, sets, np.full(1, 3, np.uint8))
    tree = (np.array([1, -1, -1], np.int32), np.array([2, -1, -1], np.int32))
    nodes = [np.concatenate([one, np.zeros_like(one), np.zeros_like(one)]) for one in (*by_set, sets)]
    assert set(_boost.leaves_of(codes, np.array([3, 3]), *tree, *nodes).tolist()) <= {1, 2}


@pytest.mark.parametrize("n", [0, 1, 3, 1000])
def test_sums_are_exact_in_any_order(n: int) -> None:
    rng = np.random.default_rng(n)
    values = rng.normal(size=n) * 10.0 ** rng.integers(-320, 300, n)
    values[: n // 3] = -values[n - n // 3 :]
    group = rng.integers(0, 3, n).astype(np.int32)
    words = _boost.exact_sums(values, group, 3)
    order = rng.permutation(n)
    half = [order[: n // 2], order[n // 2 :]]
    parts = sum(_boost.exact_sums(values[some], group[some], 3) for some in half)
    expected = [math.fsum(values[group == k]) for k in range(3)]
    for one in (words, parts):
        np.testing.assert_array_equal(_boost.exact_values(one), expected)


def test_exact_sums_at_the_ends_of_the_numbers() -> None:
    small, large, half = 5e-324, 1e308, 2.0**-53
    cases = [([small] * 3, 3 * small), ([-small], -small), ([1.0, half], 1.0), ([1.0, half, small], 1 + 2 * half)]
    cases += [([large, large, -large], large), ([-3.0, 3.0], 0.0), ([large, large], np.inf), ([np.nan], np.inf)]
    for values, expected in cases:
        words = _boost.exact_sums(np.array(values), np.zeros(len(values), dtype=np.int32), 1)
        assert _boost.exact_values(words)[0] == expected


def test_losses_of_groups_are_sums_of_rows() -> None:
    rng = np.random.default_rng(1)
    y, raw, w = rng.normal(size=3001), rng.normal(size=3001), rng.random(3001)
    group = rng.integers(0, 2, 3001).astype(np.int32)
    one, three = (_boost.loss_sums(0, y, raw, w, 0.0, group, 2, threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
    expected = np.bincount(group, w * (raw - y) ** 2 / 2)
    np.testing.assert_allclose(_boost.exact_values(one), expected, rtol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    case = Case(60, 3)
    (holder, *_), tops = case.holders()
    tree = _boost.DistributedTree(*case.columns, 1)
    with pytest.raises(ValueError, match="two numbers for each bin"):
        tree.begin(np.zeros((4, 2), dtype=np.int64), *tops, case.n, _boost.TreeLimits(**SETTINGS))
    with pytest.raises(ValueError, match="no such row"):
        _boost.sum_rows(holder.codes, holder.n_bins, holder.terms, np.array([99], dtype=np.uint32))
    with pytest.raises(ValueError, match="as were asked for"):
        tree.begin(_boost.sum_rows(holder.codes, holder.n_bins, holder.terms, holder.rows), *tops, case.n, _boost.TreeLimits(**SETTINGS))
        tree.answer(np.zeros((9, 1, 2), dtype=np.int64))
    nothing, sets = np.zeros(1, dtype=np.uint8), np.zeros((1, 4), dtype=np.uint64)
    zero, one = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="no such column"):
        splits = (zero + 3, zero, nothing, nothing, sets, nothing)
        _boost.part_and_sum(holder.codes, holder.n_bins, holder.terms, holder.rows, one, one, *splits)
    with pytest.raises(ValueError, match="no such rows"):
        splits = (zero, zero, nothing, nothing, sets, nothing)
        _boost.part_and_sum(holder.codes, holder.n_bins, holder.terms, holder.rows, one, one + 99, *splits)
    with pytest.raises(ValueError, match="follow their parent"):
        _boost.leaves_of(holder.codes, holder.n_bins, zero, zero, zero, zero, nothing, nothing, sets)
    with pytest.raises(ValueError, match="no such group"):
        _boost.exact_sums(np.ones(2), np.array([0, 3], dtype=np.int32), 3)
