"""Histograms: NumPy's counts and rules, the costs of grids by brute force, streams, weights, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, Degenerate
from tenfold.solve.bins import Ladder, cost, edges_of, quartiles
from tenfold.solve.columns import Ranges

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, 300), RNG.gamma(2, 1.5, 500) + 2])[:, None]
XY = np.column_stack([X[:, 0], RNG.normal(size=800) + 0.5 * X[:, 0]])


@pytest.mark.parametrize("bins", ["scott", "fd", 7, [-3.0, 0.0, 0.5, 4.0, 20.0]])
def test_of_one_column_it_is_numpys(bins: Any) -> None:
    model = tenfold.Histogram(bins).fit(X)
    expected, edges = np.histogram(X[:, 0], bins, density=True)
    np.testing.assert_allclose(model.edges_[0], edges, rtol=1e-14)
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.score_samples(middle), np.log(expected), rtol=1e-12)
    found = np.exp(model.score_samples(edges[:, None]))  # a bin holds its left edge, the last one both
    np.testing.assert_allclose(found, [*expected, expected[-1]], rtol=1e-12)
    assert (model.score_samples([[edges[0] - 1e-9], [edges[-1] + 1e-9]]) == -np.inf).all()


BOX = [[-1.0, 4.0], [-2.0, 2.5]]


@pytest.mark.parametrize(("bins", "box"), [((5, 8), None), ((5, 8), BOX), (6, None), (6, BOX), ([[-5, 0.0, 1, 30], [-9.0, 0, 9]], None)])
def test_of_several_columns_it_is_numpys(bins: Any, box: Any) -> None:
    model = tenfold.Histogram(bins, range=box).fit(XY)
    expected, edges = np.histogramdd(XY, bins, box, density=True)
    middles = np.stack(np.meshgrid(*[(e[1:] + e[:-1]) / 2 for e in edges], indexing="ij"), axis=-1)
    found = np.exp(model.score_samples(middles.reshape(-1, 2))).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(model.cells_) == (expected > 0).sum()


def squared_error(x: Array, edges: Array) -> float:
    """∫ p̂² − 2/n Σ p̂₋ᵢ(xᵢ), each row left out in its turn."""
    counts, width = np.histogram(x, edges)[0], edges[1] - edges[0]
    n, whole = len(x), float((np.histogram(x, edges, density=True)[0] ** 2).sum() * width)
    place = np.minimum(np.searchsorted(edges, x, side="right") - 1, len(counts) - 1)
    return whole - 2 / n * sum((counts[i] - 1) / ((n - 1) * width) for i in place)


def shimazaki(x: Array, edges: Array) -> float:
    counts = np.histogram(x, edges)[0]
    return float((2 * counts.mean() - counts.var()) / (edges[1] - edges[0]) ** 2)


@pytest.mark.parametrize(("rule", "brute"), [("cv", squared_error), ("shimazaki", shimazaki)])
def test_of_all_numbers_of_bins_the_best_is_chosen(rule: str, brute: Any) -> None:
    x = X[::4, 0]
    every = [brute(x, np.linspace(x.min(), x.max(), m + 1)) for m in range(1, 51)]
    counts = [np.histogram(x, m)[0] for m in range(1, 51)]
    found = cost(rule, 200, np.array([(c**2).sum() for c in counts]), np.arange(1, 51))
    np.testing.assert_allclose(found, np.array(every) * np.ptp(x) ** (2 if rule == "shimazaki" else 1), rtol=1e-10)
    assert tenfold.Histogram(rule).fit(x[:, None]).n_bins_.tolist() == [1 + np.argmin(every)]
    of_two = tenfold.Histogram(rule).fit(XY)
    for unit in (1e-140, 1e55):
        assert np.array_equal(tenfold.Histogram(rule).fit(XY * unit).n_bins_, of_two.n_bins_)
    assert (of_two.n_bins_ > 2).all() and of_two.score(XY) > tenfold.Histogram(2).fit(XY).score(XY)


def test_all_grids_are_counted_as_each_by_itself() -> None:
    """With values that are edges of some of them."""
    rows = np.round(X[:200], 1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    found = Ladder.of(Block(rows, None, np.ones(200)), low, high, 60).counts[0]
    expected = [np.histogram(rows[:, 0], edges_of(low[0], high[0], m))[0] for m in range(1, 61)]
    np.testing.assert_array_equal(found, np.concatenate(expected))


def test_scotts_rule_for_several_columns() -> None:
    """Scott 1992, equation 3.66."""
    d, n = 2, len(XY)
    width = 2 * 3 ** (1 / (2 + d)) * np.pi ** (d / (4 + 2 * d)) * XY.std(axis=0) * n ** (-1 / (2 + d))
    assert tenfold.Histogram().fit(XY).n_bins_.tolist() == np.ceil(np.ptp(XY, axis=0) / width).tolist()


def test_quartiles_are_exact_whatever_the_rows() -> None:
    """Also of many rows, with an outlier, of which a sketch knows but roughly; of weights as of copies, and with cells missing."""
    from tenfold.core.data import Arrays, Target
    from tenfold.core.engine import current_engine
    from tenfold.core.learning import drive

    def found(rows: Array, w: Array | None = None) -> Array:
        source = Arrays(rows, None, w, Target("none"), {}, trusted=True)
        engine = current_engine(source)
        return drive(quartiles(engine.run(Ranges.of, source)), source, engine)

    for n in (1, 2, 3, 7, 100_000):
        rows = np.column_stack([RNG.standard_cauchy(n), RNG.integers(0, 3, n), np.full(n, 4.0)])
        np.testing.assert_allclose(found(rows), np.quantile(rows, [0.25, 0.75], axis=0), rtol=1e-13, atol=1e-13)
    rows, w = rows[:3000], RNG.integers(1, 5, 3000)
    np.testing.assert_allclose(found(rows, w * 1.0), np.quantile(np.repeat(rows, w, axis=0), [0.25, 0.75], axis=0), rtol=1e-12)
    gaps = np.where(RNG.random(rows.shape) < [0.6, 0, 0.1], np.nan, rows)
    np.testing.assert_allclose(found(gaps), np.nanquantile(gaps, [0.25, 0.75], axis=0), rtol=1e-12)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("bins", ["fd", "cv", "shimazaki"])
def test_a_stream_is_the_table_and_weights_are_copies(bins: Any, p: int) -> None:
    rng = np.random.default_rng(1)
    rows, w = rng.standard_t(4, size=(9000, p)), rng.integers(0, 3, 9000)
    whole = tenfold.Histogram(bins).fit(np.repeat(rows, w, axis=0))
    table = tenfold.Histogram(bins).fit(rows, sample_weight=w)
    parts = tenfold.Histogram(bins).fit([(rows[i : i + 999], None, w[i : i + 999]) for i in range(0, 9000, 999)])
    for one in (table, parts):
        assert all(map(np.array_equal, whole.edges_, one.edges_))
        assert np.array_equal(whole.cells_, one.cells_) and np.array_equal(whole.counts_, one.counts_)


def test_smoothing_is_a_count_in_every_cell() -> None:
    model = tenfold.Histogram([0, 1, 2, 4], smoothing=0.5).fit([[0.5], [3.0], [3.5]])
    np.testing.assert_allclose(np.exp(model.score_samples([[0], [1], [2]])), np.array([1.5, 0.5, 2.5 / 2]) / 4.5, rtol=1e-9, atol=1e-12)
    assert model.score_samples([[5]]) == -np.inf
    drawn = model.sample(30_000, random_state=0)
    np.testing.assert_allclose(np.histogram(drawn, [0, 1, 2, 4])[0] / 30_000, np.array([1.5, 0.5, 2.5]) / 4.5, atol=0.01)


def test_columns_that_hardly_vary() -> None:
    for value in (3.0, 0.0, -1e20):
        for bins in ("scott", "fd", "cv", "shimazaki", 5):
            model = tenfold.Histogram(bins).fit(np.full((10, 1), value))
            assert np.isfinite(model.score_samples([[value]])).all()
            assert model.edges_[0][0] < value < model.edges_[0][-1]
    one_off = np.nextafter(1e8, 2e8)
    assert tenfold.Histogram(50).fit([[1e8], [one_off]]).n_bins_.tolist() == [1]  # no number lies between
    with pytest.warns(Degenerate, match="column 0 of X are too small to be squared"):
        assert tenfold.Histogram().fit(X * 1e-200).n_bins_ == [1]
    half = np.append(np.zeros(80), np.arange(20))[:, None]  # quartiles that are one value: scott's rule
    assert tenfold.Histogram("fd").fit(half).n_bins_ == tenfold.Histogram("scott").fit(half).n_bins_


def test_what_is_refused() -> None:
    wide = RNG.normal(size=(1000, 50))
    for bins in ("scott", "fd", "cv", 3):
        with pytest.raises(BadInput, match=r"cells in 50 columns would be empty nearly everywhere: give fewer columns"):
            tenfold.Histogram(bins).fit(wide)
    with pytest.raises(BadInput, match=r"= 10\^1505.1 cells in 5000 columns"):
        tenfold.Histogram(2).fit(RNG.normal(size=(20, 5000)))
    with pytest.raises(BadInput, match=r"column 0 of X would have .* bins by the rule 'fd', because a few values lie far"):
        tenfold.Histogram("fd").fit(np.append(RNG.normal(size=100), 1e9)[:, None])
    with pytest.raises(BadInput, match="no row of X lies between 100 and 200"):
        tenfold.Histogram(3, range=(100, 200)).fit(X)
    for asked in ({"bins": "auto"}, {"bins": 0}, {"bins": 2.5}, {"bins": True}, {"bins": [3, 4, 5]}, {"bins": [[0, 1]]}, {"bins": []}):
        with pytest.raises(BadParameter, match="bins"):
            tenfold.Histogram(**asked).fit(XY)
    for asked in ({"bins": [1.0, 1.0]}, {"bins": [0, np.nan]}, {"bins": ["a", "b"]}, {"bins": [3]}):
        with pytest.raises(BadParameter, match="at least two finite numbers that rise"):
            tenfold.Histogram(**asked).fit(X)
    for box in ((1, 0), (0, np.inf), "x", [[0, 1], [0, 1]], 3):
        with pytest.raises(BadParameter, match="range"):
            tenfold.Histogram(range=box).fit(X)
