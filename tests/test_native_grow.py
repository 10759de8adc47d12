"""The growers of trees against plain twins: every split of every node, found by trying them all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold import _forest
from tenfold.tree.bins import Bins
from tenfold.tree.forest.binned_table import native_forest, with_rare
from tenfold.tree.single.exact import Growth, Presorted, one_tree
from tenfold.tree.structure.arrays import Trees

Array = np.ndarray[Any, Any]


def impurity(criterion: str, y: Array, w: Array, classes: int) -> float:
    """Impurity times weight, from the definition."""
    if classes:
        share = np.bincount(y, w, classes) / w.sum()
        if criterion == "gini":
            return float(w.sum() * (1 - share @ share))
        share = share[share > 0]
        return float(-w.sum() * (share * np.log2(share)).sum())
    mean = w @ y / w.sum()
    if criterion == "squared_error":
        return float(w @ (y - mean) ** 2)
    if criterion == "poisson":
        some = y > 0
        return float((w * y)[some] @ np.log(y[some] / mean))
    return float((w @ np.abs(y[:, None] - y)).min())  # around the best of its values


def best_gain(X: Array, y: Array, w: Array, criterion: str, classes: int, category: list[bool]) -> float:
    """The largest loss of impurity of any split of any column; missing values on either side; any set of categories."""
    whole, best = impurity(criterion, y, w, classes), -1.0
    for j in range(X.shape[1]):
        x = X[:, j]
        known = np.unique(x[~np.isnan(x)])
        if category[j]:
            sets = [
                np.isin(x, known[[k for k in range(len(known)) if bits >> k & 1]]) for bits in range(2 ** len(known))
            ]
        else:
            sets = [x <= value for value in known]
        for left in [side | also for side in sets for also in (np.zeros(len(x), bool), np.isnan(x))]:
            if not left.any() or left.all():
                continue
            sides = sum(impurity(criterion, y[side], w[side], classes) for side in (left, ~left))
            if criterion == "poisson" and not (y[left].sum() > 0 and y[~left].sum() > 0):
                continue
            best = max(best, whole - sides)
    return best


def walk(trees: Trees, X: Array, node: int, rows: Array) -> list[tuple[int, Array]]:
    """Each node with its training rows, by the rule that the packed trees state."""
    found = [(node, rows)]
    if trees.children_left[node] < 0:
        return found
    x = X[rows, trees.feature[node]]
    if trees.subset[node] >= 0:
        left = np.isin(x, trees.categories_left(node))
    else:
        left = x <= trees.threshold[node]
    left = np.where(np.isnan(x), bool(trees.missing_go_to_left[node]), left)
    for side, child in ((left, trees.children_left[node]), (~left, trees.children_right[node])):
        found += walk(trees, X, int(child), rows[side])
    return found


CASES = [
    ("gini", 2),
    ("gini", 3),
    ("entropy", 2),
    ("entropy", 3),
    ("squared_error", 0),
    ("absolute_error", 0),
    ("poisson", 0),
]


def of_forest(X: Array, by: Growth, y: Array, w: Array | None, classes: int = 0, empty: int = 0) -> Trees:
    """A tree of a forest with all rows and columns; it is exact where every value has a bin. `empty` more bins have no rows."""
    n, p = X.shape
    category = by.categorical > 0 if len(by.categorical) else np.zeros(p, dtype=bool)
    bins, weight = Bins.of(X, categorical=category), np.ones(n) if w is None else w
    if empty:
        ends = [np.linspace(-9.0, 9.0, empty) if known is None else [] for known in bins.categories]
        bins = Bins([np.union1d(*pair) for pair in zip(bins.edges, ends, strict=True)], bins.categories)
        assert bins.wide and (bins.n_bins[~category] > empty).all()
    forest = native_forest(
        bins, category, bins.code(X), y.astype(float), weight, classes=[classes], factors=None, rate=0.0,
        criterion=by.criterion,
    )  # fmt: skip
    arrays, leaf = forest.tree(
        by.seed, random=by.random, max_depth=by.max_depth, min_split=by.min_split, min_leaf=by.min_leaf,
        min_weight_share=by.min_weight_leaf / weight.sum(), max_features=p, max_leaves=by.max_leaves,
        min_decrease=by.min_gain / weight.sum(), monotonic=by.monotonic,
    )  # fmt: skip
    assert (leaf == -1).all()  # every row was there
    return with_rare(one_tree(arrays), bins)


def of_wide_forest(X: Array, by: Growth, y: Array, w: Array | None, classes: int = 0) -> Trees:
    return of_forest(X, by, y, w, classes, empty=1000)


def exact(X: Array, by: Growth, y: Array, w: Array | None, classes: int = 0) -> Trees:
    return Presorted(X).grow(by, y, w, classes)


@pytest.mark.parametrize("grow", [exact, of_forest, of_wide_forest])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion, classes", CASES)
def test_every_split_is_the_best(criterion: str, classes: int, weighted: bool, grow: Any) -> None:
    rng = np.random.default_rng(classes)
    n, p = 60, 4
    X = rng.normal(size=(n, p))
    X[:, 1] = rng.integers(0, 4, n)  # ties
    X[:, 3] = rng.integers(0, 5, n)  # categories
    X[rng.random((n, p)) < 0.1] = np.nan
    y = (
        rng.integers(0, classes, n)
        if classes
        else rng.poisson(2.0, n) + (0.0 if criterion == "poisson" else rng.random(n))
    )
    w = rng.random(n) + 0.1 if weighted else np.ones(n)
    w /= w.max()
    category = [False, False, False, classes != 3]  # the order of categories is exact for two classes and for numbers
    by = Growth(criterion, categorical=np.array(category, dtype=np.uint8))
    trees = grow(X, by, y, w if weighted else None, classes)
    nodes = walk(trees, X, 0, np.arange(n))
    assert sorted(node for node, _ in nodes) == list(range(len(trees.feature)))
    for node, rows in nodes:
        own = impurity(criterion, y[rows], w[rows], classes)
        np.testing.assert_allclose(trees.impurity[node], own / w[rows].sum(), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trees.weighted_n_node_samples[node], w[rows].sum(), rtol=1e-9)
        assert trees.n_node_samples[node] == len(rows)
        if classes:
            share = np.bincount(y[rows], w[rows], classes) / w[rows].sum()
            np.testing.assert_allclose(trees.value[node], share, rtol=0, atol=1e-9)
        elif criterion != "absolute_error":
            np.testing.assert_allclose(trees.value[node, 0], np.average(y[rows], weights=w[rows]), rtol=1e-9)
        else:  # a median: nothing is closer to all targets
            np.testing.assert_allclose(w[rows] @ np.abs(y[rows] - trees.value[node, 0]), own, rtol=1e-9, atol=1e-12)
        best = best_gain(X[rows], y[rows], w[rows], criterion, classes, category)
        if trees.children_left[node] >= 0:
            np.testing.assert_allclose(trees.gain[node], best, rtol=1e-7, atol=1e-9)
        else:
            assert best < 0 or own < 1e-9, "a leaf that could be split"


@pytest.mark.parametrize("weighted", [False, True])
def test_gain_ratio_compares_columns_that_gain_at_least_the_mean(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    n, p, classes = 80, 5, 3
    X = rng.normal(size=(n, p)) if weighted else rng.integers(0, 2, (n, p)).astype(float)  # no ties of gains
    X[:, 0] = np.where(rng.random(n) < 0.9, 0.0, X[:, 0])
    y, w = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.5) + (X[:, 2] > 1).astype(int), np.ones(n)
    w = rng.random(n) + 0.1 if weighted else w
    trees = Presorted(X).grow(Growth("gain_ratio", min_leaf=3), y, w if weighted else None, classes)

    def entropy(rows: Array) -> float:
        return impurity("entropy", y[rows], w[rows], classes)

    n_inner = 0
    for node, rows in walk(trees, X, 0, np.arange(n)):
        if trees.children_left[node] < 0:
            continue
        n_inner += 1
        gains, ratios = np.full(p, np.nan), np.full(p, np.nan)
        for j in range(p):
            for cut in np.unique(X[rows, j])[:-1]:
                sides = rows[X[rows, j] <= cut], rows[X[rows, j] > cut]
                gain = entropy(rows) - sum(map(entropy, sides))
                if min(map(len, sides)) >= 3 and not gain <= gains[j]:
                    share = np.array([w[side].sum() for side in sides]) / w[rows].sum()
                    gains[j], ratios[j] = gain, -gain / (share @ np.log2(share))
        ratios[gains < np.nanmean(gains) * (1 - 1e-9)] = np.nan
        np.testing.assert_allclose(ratios[trees.feature[node]], np.nanmax(ratios), rtol=1e-8)
        np.testing.assert_allclose(trees.gain[node], gains[trees.feature[node]], rtol=1e-8)
    assert n_inner >= 5


def assert_same(a: Trees, b: Trees) -> None:
    for name in ("feature", "threshold", "children_left", "value", "gain", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_allclose(a.impurity, b.impurity, rtol=1e-12)


@pytest.mark.parametrize("criterion, classes", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_bits_for_any_number_of_threads(criterion: str, classes: int, dtype: Any) -> None:
    """Large enough that columns are shared out, and that subtrees grow in copies of their own."""
    rng = np.random.default_rng(7)
    n = 20_000 if criterion != "absolute_error" else 9_000
    X = rng.normal(size=(n, 5)).astype(dtype)
    X[:, 4] = rng.integers(0, 9, n)
    y = rng.integers(0, classes, n) if classes else rng.poisson(2.0, n).astype(float)
    by = Growth(criterion, max_depth=12, max_features=3, seed=5)
    with tenfold.threads(1):
        one = Presorted(X).grow(by, y, None, classes)
    with tenfold.threads(3):
        assert_same(one, Presorted(X).grow(by, y, None, classes))
    if criterion == "squared_error":
        rows = rng.permutation(n)
        whole = Growth(criterion, min_leaf=50)
        assert_same(Presorted(X).grow(whole, y), Presorted(X[rows]).grow(whole, y[rows]))


def test_random_thresholds_lie_between_the_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 3)).astype(float)
    trees = Presorted(X).grow(Growth("gini", random=True, seed=1), X[:, 0] > 1, None, 2)
    inner = ~trees.leaves()
    assert ((trees.threshold[inner] >= 0) & (trees.threshold[inner] < 2)).all()
    assert (trees.predict(X).argmax(axis=1) == (X[:, 0] > 1)).all()


def test_limits_hold() -> None:
    rng = np.random.default_rng(2)
    X, y, w = rng.normal(size=(300, 3)), rng.normal(size=300), rng.random(300)
    grow = Presorted(X).grow
    assert grow(Growth("squared_error", max_depth=3), y, w).depths().max() == 3
    assert grow(Growth("squared_error", min_leaf=9), y, w).n_node_samples.min() >= 9
    assert grow(Growth("squared_error", max_leaves=7), y, w).leaves().sum() == 7
    assert grow(Growth("squared_error", min_weight_leaf=5.0), y, w).weighted_n_node_samples.min() >= 5.0
    some = grow(Growth("squared_error", min_gain=2.0), y, w)
    assert some.gain[~some.leaves()].min() >= 2.0 and len(some.feature) > 1
    split = grow(Growth("squared_error", min_split=40), y, w)
    assert split.n_node_samples[~split.leaves()].min() >= 40


def test_odd_tables() -> None:
    for X, y in (
        (np.zeros((1, 1)), [3.0]),
        (np.zeros((5, 2)), [1.0, 2, 3, 4, 5]),
        (np.full((4, 1), np.nan), [1.0, 2, 3, 4]),
        (np.array([[np.nan], [1.0], [np.nan], [1.0]]), [1.0, 2, 1, 2]),
        (np.array([[-0.0], [0.0]]), [1.0, 2.0]),
        (np.array([[1.0], [np.nextafter(1.0, 2.0)]]), [1.0, 2.0]),
        (np.array([[-1e308], [1e308]]), [1.0, 2.0]),
        (np.arange(3.0)[:, None], [1e-300, 0.0, 1e90]),
    ):
        y = np.array(y)
        trees = Presorted(X).grow(Growth("squared_error"), y)
        best = best_gain(X, y, np.ones(len(y)), "squared_error", 0, [False] * X.shape[1]) if len(y) > 1 else -1
        assert len(trees.feature) == 1 if best < 0 else np.allclose(trees.predict(X)[:, 0], y, rtol=1e-12, atol=0)
    with pytest.raises(ValueError, match="y and w"):
        Presorted(np.zeros((3, 1))).grow(Growth("squared_error"), np.zeros(2))
    with pytest.raises(ValueError, match="code"):
        Presorted(np.zeros((3, 1))).grow(Growth("gini"), np.array([0, 1, 2]), None, 2)


@pytest.mark.parametrize("grow", [exact, of_forest, of_wide_forest])
@pytest.mark.parametrize("direction", [-1, 1])
def test_monotone_columns(direction: int, grow: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=400)
    line = np.column_stack([np.linspace(-3, 3, 99), np.full(99, 0.3)])
    for criterion in ("squared_error", "absolute_error"):
        free = grow(X, Growth(criterion), y, None).predict(line)[:, 0]
        assert (np.diff(free) * direction < 0).any()
        by = Growth(criterion, monotonic=np.array([direction, 0]))
        bound = grow(X, by, y, None).predict(line)[:, 0]
        assert (np.diff(bound) * direction >= 0).all()
    for criterion in ("gini", "entropy"):
        by = Growth(criterion, monotonic=np.array([direction, 0]))
        bound = grow(X, by, y > 0, None, 2).predict(line)[:, 1]
        assert (np.diff(bound) * direction >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 300, 5000])
def test_trees_tell_any_two_numbers_apart(n: int, dtype: Any) -> None:
    """Values that differ in their last bits alone, beside equal ones, blanks, both zeros and infinitely large ones."""
    rng = np.random.default_rng(n)
    close = 1.7e9 + rng.integers(0, max(n // 2, 2), n) * 1e-3
    tiny = np.where(rng.random(n) < 0.5, 0.0, -0.0) + rng.integers(-3, 4, n) * 5e-324
    mixed = rng.choice([-np.inf, -1e300, -1.0, -0.0, 0.0, 1.0, np.nextafter(1.0, 2.0), 1e300, np.inf, np.nan], n)
    with np.errstate(over="ignore"):
        X = np.column_stack([close, tiny, mixed]).astype(dtype)
    for j in range(3):
        column = np.ascontiguousarray(X[:, [j]])
        order = np.unique(column[:, 0], return_inverse=True)[1]  # blanks are equal to each other
        trees = Presorted(column).grow(Growth("squared_error"), order.astype(np.float64))
        assert trees.leaves().sum() == len(np.unique(order))
        finite = np.isfinite(column[:, 0])
        np.testing.assert_allclose(trees.predict(column)[finite, 0], order[finite], rtol=1e-12)


def test_the_lists_of_a_table_may_go_into_one_tree() -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    once, often = Presorted(X, once=True), Presorted(X)
    trees = [one.grow(Growth("squared_error"), y) for one in (once, often, often)]
    for other in trees[1:]:
        assert_same(trees[0], other)
    with pytest.raises(ValueError, match="went into the last tree"):
        once.grow(Growth("squared_error"), y)


def medians(y: Array, w: Array) -> float:
    """Half the weight lies on either side; the middle of two where it is exactly half."""
    order = np.argsort(y)
    up_to, half = np.cumsum(w[order]), w.sum() / 2
    at = int(np.searchsorted(up_to, half * (1 - 1e-12)))
    return float((y[order[at]] + y[order[at + 1]]) / 2 if abs(up_to[at] - half) < 1e-12 * half else y[order[at]])


SEVERAL = [("gini", [2, 3]), ("entropy", [3, 2]), ("squared_error", [0, 0]), ("poisson", [0, 0]), ("absolute_error", [0, 0])]


@pytest.mark.parametrize("most", [0, 255, 1000])  # bins of a forest; 0: the exact grower
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion, classes", SEVERAL)
def test_every_split_for_several_targets_is_the_best(criterion: str, classes: list[int], weighted: bool, most: int) -> None:
    """The criterion is the mean of those of the targets; values stand side by side. Rows of nodes move into copies too."""
    rng = np.random.default_rng(1)
    n, p = 400, 3
    X = rng.normal(size=(n, p))
    X[:, 1] = rng.integers(0, 4, n)  # ties
    X[rng.random(n) < 0.1, 2] = np.nan
    y = np.column_stack([rng.integers(0, k, n) if k else 1 + rng.poisson(2.0, n) * 10.0**i for i, k in enumerate(classes)])
    w = rng.random(n) + 0.1 if weighted else np.ones(n)
    if most:
        bins = Bins.of(X, max_bins=most)
        forest = native_forest(
            bins, np.zeros(p, dtype=bool), bins.code(X), y.astype(float), w, classes=classes, factors=None, rate=0.0, criterion=criterion
        )
        limits: dict[str, Any] = dict(random=False, max_depth=40, min_split=20, min_leaf=2, min_weight_share=0.0)
        arrays, leaf = forest.tree(3, **limits, max_features=p, max_leaves=-1, min_decrease=0.0, monotonic=np.empty(0, dtype=np.int64))
        trees, said = one_tree(arrays), bins.code(X)[:, :p] + 0.0  # what the tree can tell apart
        assert (leaf == -1).all()
        said[said == bins.n_bins] = np.nan
    else:
        by = Growth(criterion, max_depth=40, min_split=20, min_leaf=2)
        trees, said = Presorted(X).grow_several(by, y, w if weighted else None, classes if any(classes) else None), X
    assert len(trees.feature) > 20
    for node, rows in walk(trees, X, 0, np.arange(n)):
        each = [impurity(criterion, y[rows, k], w[rows], own) for k, own in enumerate(classes)]
        np.testing.assert_allclose(trees.impurity[node], np.mean(each) / w[rows].sum(), rtol=1e-9, atol=1e-12)
        shares = [np.bincount(y[rows, k].astype(int), w[rows], own) for k, own in enumerate(classes) if own]
        value = (np.concatenate(shares) if shares else w[rows] @ y[rows]) / w[rows].sum()
        if criterion == "absolute_error":
            value = np.array([medians(y[rows, k], w[rows]) for k in range(2)])
        np.testing.assert_allclose(trees.value[node], value, rtol=1e-9, atol=1e-12)
        if trees.feature[node] < 0 or len(rows) > 60:
            continue
        best = -1.0
        for x in said[rows].T:
            for cut in np.unique(x[~np.isnan(x)]):
                for left in {tuple(x <= cut), tuple((x <= cut) | np.isnan(x))}:
                    sides = [np.flatnonzero(left), np.flatnonzero(~np.array(left))]
                    if min(map(len, sides)) >= 2:
                        parts = [rows[side] for side in sides]
                        best = max(best, np.mean([
                            own - sum(impurity(criterion, y[part, k], w[part], classes[k]) for part in parts)
                            for k, own in enumerate(each)
                        ]))  # fmt: skip
        np.testing.assert_allclose(trees.gain[node], best, rtol=1e-9)


@pytest.mark.parametrize("grow", [of_forest, of_wide_forest])
@pytest.mark.parametrize("criterion, classes", CASES)
def test_odd_tables_of_forests(criterion: str, classes: int, grow: Any) -> None:
    """One row, two rows, equal rows, blanks only, thresholds drawn at random, limits that forbid every split."""
    tables = ([[0.5]], [[0.5], [1.5]], [[1.0]] * 5, [[np.nan]] * 3, [[np.nan], [1.0], [np.nan], [1.0], [2.0]])
    for X in map(np.array, tables):
        y = np.arange(len(X)) % max(classes, 2) + (0 if classes else 1)
        for random in (False, True):
            trees = grow(X, Growth(criterion, random=random, seed=3), y, None, classes)
            assert trees.n_node_samples[0] == len(X) and np.isfinite(trees.value).all()
            varies = len(np.unique(X[:, 0])) > 1 and len(y) > 1
            assert (len(trees.feature) > 1) == varies or len(X) == 5
        alone = grow(X, Growth(criterion, min_leaf=len(X)), y, None, classes)
        assert len(alone.feature) == 1


def test_forests_check_what_they_are_given() -> None:
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    bins = Bins.of(X)

    def forest(**changed: Any) -> Any:
        given: dict[str, Any] = dict(
            codes=bins.code(X), n_bins=bins.n_bins, edges=bins.padded, start=bins.start,
            category_codes=np.zeros((1, 256), dtype=np.int64), categorical=np.zeros(1, dtype=np.uint8),
            y=y[:, None], classes=np.zeros(1, dtype=np.int64),
            factor=np.empty(0), key=np.zeros(6, dtype=np.uint64),
            first=np.zeros(6, dtype=np.int64), rate=1.0, criterion="squared_error",
        )  # fmt: skip
        return _forest.Forest(**{**given, **changed})

    forest()
    for changed, words in (
        ({"n_bins": np.array([256])}, "too many bins"),
        ({"codes": bins.code(X).astype(np.uint16), "n_bins": np.array([65_536])}, "too many bins"),
        ({"start": np.array([255])}, "beyond the edges"),
        ({"start": np.array([-1])}, "beyond the edges"),
        ({"start": np.zeros(2, dtype=np.int64)}, "start must have p values"),
        ({"codes": bins.code(X)[:5]}, "codes must be"),
        ({"y": np.arange(5.0)[:, None]}, "codes must be"),
        ({"classes": np.array([3])}, "not that of a class"),
        ({"classes": np.array([0, 0])}, "as many values"),
        ({"y": np.zeros((6, 2)), "classes": np.array([0, 2])}, "all of them"),
        ({"factor": np.ones(5)}, "n values"),
        ({"first": np.zeros(5, dtype=np.int64)}, "n values"),
    ):
        with pytest.raises(ValueError, match=words):
            forest(**changed)
    with pytest.raises(TypeError, match="uint8 or uint16"):
        forest(codes=bins.code(X).astype(np.int64))
    limits: dict[str, Any] = dict(
        random=False, max_depth=-1, min_split=2, min_leaf=1, min_weight_share=0.0, max_features=1, max_leaves=-1,
        min_decrease=0.0,
    )  # fmt: skip
    with pytest.raises(ValueError, match="monotonic must have p values"):
        forest().tree(1, **limits, monotonic=np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="two classes"):
        forest(y=y[:, None] % 3, classes=np.array([3]), criterion="gini").tree(1, **limits, monotonic=np.ones(1, dtype=np.int64))


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_trees_do_not_depend_on_how_the_codes_lie(classes: int) -> None:
    """Codes of one byte are read row by row too, where nodes are small; those of two bytes column by column alone."""
    rng = np.random.default_rng(3)
    n, p = 3000, 7
    codes = rng.integers(0, 31, (n, p)).astype(np.uint8)
    codes[rng.random((n, p)) < 0.05] = 30  # the bin of missing values
    y = rng.integers(0, classes, n).astype(float) if classes else codes[:, 0] + rng.standard_normal(n)
    table: dict[str, Any] = dict(
        n_bins=np.full(p, 30), edges=np.tile(np.append(np.arange(30.0), np.inf), p), start=np.arange(p) * 31,
        category_codes=np.tile(np.arange(256), (p, 1)), categorical=(np.arange(p) == 2).astype(np.uint8), y=y[:, None],
        classes=np.array([classes]), factor=np.empty(0), key=np.arange(n, dtype=np.uint64), first=np.zeros(n, dtype=np.int64),
        rate=1.0, criterion="gini" if classes else "squared_error",
    )  # fmt: skip
    limits: dict[str, Any] = dict(
        random=False, max_depth=-1, min_split=2, min_leaf=1, min_weight_share=0.0, max_features=3, max_leaves=-1, min_decrease=0.0,
        monotonic=np.empty(0, dtype=np.int64),
    )  # fmt: skip
    beyond = np.where(codes == 30, np.uint8(200), codes)  # no bin: missing as well
    padded = np.pad(codes, ((0, 0), (0, 5)))
    for given in (codes.astype(np.uint16), beyond, padded):
        for seed in (1, 2):
            tree, leaf = _forest.Forest(codes, **table).tree(seed, **limits)
            other, other_leaf = _forest.Forest(given, **table).tree(seed, **limits)
            np.testing.assert_array_equal(leaf, other_leaf)
            for mine, same in zip(tree, other, strict=True):
                np.testing.assert_array_equal(mine, same)
