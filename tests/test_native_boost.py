"""The kernels of boosting against plain NumPy, in odd shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenfold import _boost

Array = np.ndarray[Any, Any]
NONE, ALL = np.empty(0), np.empty(0, dtype=np.uint32)
LOSSES = {
    "squared": 0,
    "absolute": 1,
    "huber": 2,
    "quantile": 3,
    "poisson": 4,
    "gamma": 5,
    "logistic": 6,
    "exponential": 8,
}

LEVELS = [name for name in ("baseline", "avx2", "avx512") if _boost.use_level(name)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n, p", [(0, 1), (1, 1), (17, 3), (130, 9), (2100, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("most", [255, 3000, 65_535])
def test_code_rows(level: str, n: int, p: int, dtype: type, most: int) -> None:
    _boost.use_level(level)
    rng = np.random.default_rng(n + p)
    X = np.round(rng.normal(size=(n, p)), 2).astype(dtype)
    X[rng.random((n, p)) < 0.1] = np.nan
    counts = rng.integers(0, most, p)
    counts[0] = most - 1
    counts[-1] = min(int(counts[-1]), 254)  # short columns beside long ones
    lengths = np.array([max(256, 1 << int(c).bit_length()) for c in counts])
    start = np.cumsum(lengths) - lengths
    edges, expected = np.full(lengths.sum(), np.inf), np.zeros((n, p + 2), dtype=np.uint8 if most < 256 else np.uint16)
    for j in range(p):
        own = edges[start[j] : start[j] + counts[j]]
        own[:] = np.sort(rng.normal(size=counts[j]).round(2))
        code = np.searchsorted(own, X[:, j].astype(np.float64))
        expected[:, j] = np.where(np.isnan(X[:, j]), counts[j] + 1, code)
    halvings = np.array([int(c).bit_length() for c in counts], dtype=np.int32)
    found = _boost.code_rows(X, edges, start, halvings, counts + 1, p + 2, most > 255)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    _boost.use_level(LEVELS[-1])


def test_code_rows_refuses_wrong_shapes() -> None:
    X, edges, start = np.zeros((2, 3)), np.full(3 * 256, np.inf), 256 * np.arange(3)
    ok = np.zeros(3, dtype=np.int32), np.ones(3, dtype=np.int64)
    with pytest.raises(ValueError, match="hold all columns"):
        _boost.code_rows(X, edges, start, *ok, 2, False)
    with pytest.raises(ValueError, match="must be"):
        _boost.code_rows(X, edges, start[:2], *ok, 3, False)
    with pytest.raises(ValueError, match="255 edges"):
        _boost.code_rows(X, edges, start, ok[0] + 9, ok[1], 3, False)
    with pytest.raises(ValueError, match="65535 edges"):
        _boost.code_rows(X, edges, start, ok[0] + 17, ok[1], 3, True)
    with pytest.raises(ValueError, match="65535 bins"):
        _boost.code_rows(X, edges, start, ok[0], ok[1] + 65_535, 3, True)
    for wrong in (start + 1, start - 1):
        with pytest.raises(ValueError, match="256 or more"):
            _boost.code_rows(X, edges, wrong, *ok, 3, False)
    with pytest.raises(ValueError, match="256 or more"):
        _boost.code_rows(X, edges, start, ok[0] + 9, ok[1], 3, True)


def test_edges_of_nothing_and_of_one_value() -> None:
    nothing = np.empty(0)
    assert len(_boost.bin_edges(nothing, nothing, 255)) == 0
    assert len(_boost.bin_edges(np.ones(4), nothing, 255)) == 0
    with pytest.raises(ValueError, match="as many"):
        _boost.bin_edges(np.ones(4), np.ones(3), 255)


# --- trees ------------------------------------------------------------------------------------------------------------


class Case:
    """A table of codes with some missing, targets and weights."""

    def __init__(self, n: int, p: int, bins: int = 9, seed: int = 0, categorical: tuple[int, ...] = ()) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.p, self.bins = n, p, bins
        self.categorical = np.isin(np.arange(p), categorical).astype(np.uint8)
        self.n_bins = np.where(self.categorical > 0, min(bins, 255), bins)
        wide = bins > 255
        self.codes = np.zeros((n, (p + 3) // 4 * 4 if wide else (p + 7) // 8 * 8), np.uint16 if wide else np.uint8)
        self.codes[:, :p] = rng.integers(0, self.n_bins + 1, (n, p))  # the last is that of missing values
        share = self.codes / (bins / 9)
        self.y = rng.normal(size=n) + 0.3 * share[:, 0] * (share[:, 1 % p] > 3)
        self.w = rng.integers(1, 4, n).astype(np.float64)

    def boosting(self, threads: int = 1, order: Array | None = None, together: Array | None = None) -> Any:
        return _boost.Boosting(
            self.codes,
            self.n_bins,
            self.categorical,
            np.zeros(self.p, dtype=np.int64) if order is None else order,
            np.zeros((0, self.p), dtype=np.uint8) if together is None else together,
            threads,
        )


def grow(boosting: Any, rows: Array = ALL, **changed: Any) -> tuple[Array, ...]:
    settings = dict(
        l1=0.0, l2=0.0, least_curvature=1e-3, least_gain=0.0, least_rows=2, split_rows=2, leaves=6, depth=99,
        columns=99, seed=0, rate=1.0, longest=np.inf, whole=False,
    )  # fmt: skip
    return boosting.grow(rows, _boost.TreeLimits(**{**settings, **changed}))


def best_by_hand(
    codes: Array, g: Array, h: Array, bins: int, l1: float, l2: float, least: int
) -> tuple[float, set[Any]]:
    """The largest gain of all thresholds of all columns, and where it is."""

    def score(of: Array) -> float:
        return max(abs(g[of].sum()) - l1, 0.0) ** 2 / (h[of].sum() + l2)

    found: dict[Any, float] = {}
    for j in range(codes.shape[1]):
        missing = codes[:, j] == bins
        for b in range(bins):
            for side in (False, True):
                left = np.where(missing, side, codes[:, j] <= b)
                if min(left.sum(), (~left).sum()) >= least:
                    found[j, b, side] = score(left) + score(~left) - score(np.ones(len(g), dtype=bool))
    top = max(found.values())
    return top, {place for place, gain in found.items() if gain > top - 1e-9 * abs(top)}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "n, p, weighted, l1, l2, bins",
    [
        (9, 1, False, 0, 0, 9),
        (60, 9, True, 0, 1, 9),
        (300, 17, True, 2, 0.5, 9),
        (9, 1, False, 0, 0, 300),
        (60, 3, True, 0, 1, 700),
        (30, 2, True, 1, 0.5, 1100),
    ],
)
def test_splits_are_the_best_there_are(
    level: str, n: int, p: int, weighted: bool, l1: float, l2: float, bins: int
) -> None:
    _boost.use_level(level)
    case = Case(n, p, bins)
    w = case.w if weighted else NONE
    boosting, raw = case.boosting(), np.zeros(n)
    boosting.gradients(0, case.y, raw, w, 0.0)
    left, right, feature, bin, missing_left, _, _, value, gain, count = grow(boosting, l1=l1, l2=l2, rate=0.5)
    h = case.w if weighted else np.ones(n)
    g, rows = -case.y * h, {0: np.arange(n)}
    for node in range(len(left)):
        here = rows[node]
        assert len(here) == count[node]
        shrunk = np.sign(g[here].sum()) * max(abs(g[here].sum()) - l1, 0.0)
        np.testing.assert_allclose(value[node], -0.5 * shrunk / (h[here].sum() + l2), rtol=1e-9, atol=1e-12)
        if left[node] < 0:
            raw[here] = value[node]
            continue
        top, places = best_by_hand(case.codes[here, :p], g[here], h[here], case.bins, l1, l2, least=2)
        np.testing.assert_allclose(gain[node], top, rtol=1e-8)
        codes = case.codes[here, feature[node]]
        anything_missing = (codes == case.bins).any()
        sides = {bool(missing_left[node])} if anything_missing else {True, False}
        assert any((feature[node], bin[node], side) in places for side in sides)
        goes_left = np.where(codes == case.bins, missing_left[node] > 0, codes <= bin[node])
        rows[left[node]], rows[right[node]] = here[goes_left], here[~goes_left]
    found = np.zeros(n)
    boosting.update(found)
    np.testing.assert_array_equal(found, raw)
    _boost.use_level(LEVELS[-1])


@pytest.mark.parametrize(
    "n, bins", [(1, 200), (2, 200), (5000, 200), (20_000, 200), (1, 1000), (5000, 65_535), (9000, 1000)]
)
def test_threads_and_levels_give_the_same_tree(n: int, bins: int) -> None:
    case = Case(n, 11 if bins < 65_535 else 3, bins, categorical=(2, 5))
    trees = []
    for level in LEVELS:
        _boost.use_level(level)
        for threads in (1, 3):
            boosting, raw = case.boosting(threads), np.zeros(n)
            boosting.gradients(0, case.y, raw, case.w, 0.0)
            tree = grow(boosting, leaves=31, least_rows=5)
            boosting.update(raw)
            trees.append((*tree[:7], tree[9], raw, tree[7], tree[8]))
    for tree in trees[1:]:
        for a, b in zip(tree[:8], trees[0][:8], strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(tree[8:], trees[0][8:], strict=True):  # products and sums may be one instruction or two
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bins", [9, 255])
def test_bytes_and_pairs_of_bytes_give_the_same_tree(bins: int) -> None:
    """Codes as they are, and the same ones beside a column of many bins whose rows are all in the first."""
    narrow, wide = Case(3000, 5, bins, categorical=(1,)), Case(3000, 5, bins, categorical=(1,))
    wide.codes = np.ascontiguousarray(np.pad(narrow.codes[:, :5], ((0, 0), (0, 3))).astype(np.uint16))
    wide.p, wide.categorical = 6, np.append(narrow.categorical, 0).astype(np.uint8)
    wide.n_bins = np.append(narrow.n_bins, 60_000)
    trees = []
    for case in (narrow, wide):
        boosting, raw = case.boosting(2), np.zeros(3000)
        boosting.gradients(0, case.y, raw, NONE, 0.0)
        tree = grow(boosting, np.arange(0, 3000, 2, dtype=np.uint32), leaves=20)
        boosting.update(raw)
        trees.append((*tree, raw))
    for a, b in zip(*trees, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("bins", [9, 3000])
def test_rows_that_are_left_out_walk_down(bins: int) -> None:
    case = Case(500, 6, bins, categorical=(1,))
    some = np.flatnonzero(np.arange(500) % 3 > 0).astype(np.uint32)
    boosting, raw, whole = case.boosting(), np.zeros(500), np.zeros(500)
    boosting.gradients(0, case.y, raw, NONE, 0.0)
    left, right, feature, bin, missing_left, by_set, sets, value, _, count = grow(boosting, some, leaves=12)
    assert count[0] == len(some)
    boosting.update(raw)
    for i in range(500):
        node = 0
        while left[node] >= 0:
            code = int(case.codes[i, feature[node]])
            goes_left = code <= bin[node]
            if by_set[node]:
                goes_left = bool(int(sets[node, code // 64]) >> (code % 64) & 1)
            if code == case.n_bins[feature[node]]:
                goes_left = missing_left[node] > 0
            node = left[node] if goes_left else right[node]
        whole[i] = value[node]
    np.testing.assert_array_equal(raw, whole)
    np.testing.assert_allclose(boosting.weight(np.ones(500)), count, rtol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("level", LEVELS)
def test_gradients_are_derivatives_of_the_loss(level: str, loss: str) -> None:
    _boost.use_level(level)
    case, number, parameter = Case(37, 2), LOSSES[loss], 0.7
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 37).astype(float) if loss in ("logistic", "exponential") else rng.gamma(2.0, size=37)
    raw, step, l2 = rng.normal(size=37), 1e-5, 3.0
    boosting = case.boosting()

    def value(shift: float) -> float:
        words = _boost.loss_sums(number, y, raw + shift, case.w, parameter, np.zeros(37, dtype=np.int32), 1, 2)
        return float(_boost.exact_values(words)[0])

    first = (value(step) - value(-step)) / (2 * step)
    second = (value(1e-4) - 2 * value(0.0) + value(-1e-4)) / 1e-8
    boosting.gradients(number, y, raw, case.w, parameter)
    newton, damped = (float(grow(boosting, leaves=1, l2=one)[7][0]) for one in (0.0, l2))
    curvature = l2 * damped / (newton - damped)  # from −g / h and −g / (h + l2)
    np.testing.assert_allclose(-newton * curvature, first, rtol=1e-6)
    if loss in ("squared", "poisson", "gamma", "logistic", "exponential"):
        np.testing.assert_allclose(curvature, second, rtol=1e-4)
    else:
        np.testing.assert_allclose(curvature, case.w.sum(), rtol=1e-6)
    _boost.use_level(LEVELS[-1])


def test_softmax_and_leaf_medians() -> None:
    case = Case(1001, 3)
    boosting, rng = case.boosting(2), np.random.default_rng(1)
    raw = rng.normal(size=(5, 1001)) * 30
    shares = np.exp(raw - raw.max(axis=0))
    np.testing.assert_allclose(_boost.softmax(raw, 2), shares / shares.sum(axis=0), rtol=1e-12, atol=1e-300)
    line = raw[0]
    boosting.gradients(1, case.y, line, NONE, 0.0)
    grow(boosting, leaves=1)
    boosting.renew(1, case.y, line, NONE, 0.0, 1.0)
    np.testing.assert_allclose(boosting.values(), [np.median(case.y - line)], rtol=1e-12)
    boosting.renew(3, case.y, line, case.w, 0.25, 1.0)
    copies = np.repeat(case.y - line, case.w.astype(int))
    np.testing.assert_allclose(boosting.values(), [np.sort(copies)[int(np.ceil(0.25 * len(copies))) - 1]], rtol=1e-12)


def test_a_table_that_cannot_be_grown_on_is_refused() -> None:
    case = Case(20, 3)
    case.codes[3, 1] = 11
    with pytest.raises(ValueError, match="column 1 has a code beyond"):
        case.boosting()
    case = Case(20, 3, 300)
    case.codes[3, 1] = 301
    with pytest.raises(ValueError, match="column 1 has a code beyond"):
        case.boosting()
    case.codes[3, 1], case.categorical[2] = 300, 1
    with pytest.raises(ValueError, match="categories has at most 255"):
        case.boosting()
    case.categorical[2], case.n_bins[0] = 0, 65_536
    with pytest.raises(ValueError, match="at most 65535"):
        case.boosting()
    case = Case(20, 3, 300)
    case.codes = case.codes.astype(np.int16)
    with pytest.raises(ValueError, match="uint8 or uint16"):
        case.boosting()
    case.codes = np.zeros((20, 6), dtype=np.uint16)
    with pytest.raises(ValueError, match="whole words"):
        case.boosting()
    with pytest.raises(ValueError, match="2\\^32 bins"):
        many = np.zeros(70_000, dtype=np.int64)
        none = np.zeros(70_000, dtype=np.uint8)
        _boost.DistributedTree(many + 65_535, none, many, np.zeros((0, 70_000), dtype=np.uint8), 1)
    sound = Case(20, 3).boosting()
    with pytest.raises(ValueError, match="no such row"):
        grow(sound, np.array([20], dtype=np.uint32))
    with pytest.raises(ValueError, match="no such loss"):
        sound.gradients(9, np.zeros(20), np.zeros(20), NONE, 0.0)
    with pytest.raises(ValueError, match="each row"):
        sound.update(np.zeros(19))
    with pytest.raises(ValueError, match="each row"):
        sound.gradients(0, np.zeros(20), np.zeros(20), np.ones(3), 0.0)
