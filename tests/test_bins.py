"""Bins: where columns are cut, and the bytes that stand for their values."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from tenfold.base.check import in_memory
from tenfold.base.traits import Traits
from tenfold.core.data import Array
from tenfold.core.engine import Local
from tenfold.core.learning import drive
from tenfold.sources.stream import open_stream
from tenfold.tree import bins as module
from tenfold.tree.bins import Bins, learn_bins, smallest_hashes
from tenfold.tree.forest.binned_table import values_of


class Unsupervised(Traits):
    missing = True
    _domains: ClassVar[dict[str, Any]] = {}


def table(n: int = 500, p: int = 5, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.2, 2] = np.nan
    return X


def test_few_values_have_a_bin_each_with_thresholds_half_way() -> None:
    bins = Bins.of(np.array([[3.0], [1.0], [1.0], [7.0], [np.nan]]))
    np.testing.assert_array_equal(bins.edges[0], [2.0, 5.0])
    np.testing.assert_array_equal(bins.code(np.array([[0.0], [2.0], [2.1], [9.0], [np.nan]]))[:, 0], [0, 0, 1, 2, 3])
    close = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert Bins.of(close).edges[0][0] == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256, 300, 65_535])
def test_codes_are_counts_of_edges_below(max_bins: int, dtype: Any) -> None:
    X = table().astype(dtype)
    bins = Bins.of(X, max_bins=max_bins)
    codes = bins.code(X)
    assert codes.shape == (500, 8) and (codes[:, 5:] == 0).all() and (bins.n_bins <= max_bins).all()
    assert codes.dtype == (np.uint8 if max_bins <= 255 else np.uint16)
    for j in range(5):
        expected = np.searchsorted(bins.edges[j], X[:, j].astype(np.float64))
        np.testing.assert_array_equal(codes[:, j], np.where(np.isnan(X[:, j]), bins.n_bins[j], expected))
        counts = np.bincount(expected[~np.isnan(X[:, j])], minlength=bins.n_bins[j])
        assert counts.min() > 0, "no bin is empty"
        if j != 1:
            assert counts.max() < 1.5 * counts.sum() / bins.n_bins[j] + 1, "bins are about equally heavy"


@pytest.mark.parametrize("n", [255, 256, 257, 512, 65_535, 70_000])
def test_every_value_may_have_a_bin(n: int) -> None:
    X = np.column_stack([np.arange(float(n)), np.arange(n) % 3])
    bins = Bins.of(X, max_bins=65_535)
    codes = bins.code(X)
    assert bins.wide == (n > 255) == (codes.dtype == np.uint16)
    assert codes.shape == (n, 4 if bins.wide else 8) and bins.row_bytes == 8
    np.testing.assert_array_equal(bins.n_bins, [min(n, 65_535), 3])
    if n <= 65_535:
        np.testing.assert_array_equal(codes[:, :2], X)
        np.testing.assert_array_equal(bins.thresholds(np.zeros(n - 1, dtype=int), np.arange(n - 1)), X[:-1, 0] + 0.5)
    again = values_of(codes, bins)
    np.testing.assert_array_equal(bins.code(again), codes)
    np.testing.assert_array_equal(bins.code(np.full((1, 2), np.nan))[0, :2], bins.n_bins)


def test_few_values_take_a_byte_however_many_bins_are_allowed() -> None:
    X = table()[:200]
    wide, narrow = Bins.of(X, max_bins=65_535), Bins.of(X)
    assert not wide.wide
    np.testing.assert_array_equal(wide.code(X), narrow.code(X))


def test_a_heavy_value_has_a_bin_of_its_own() -> None:
    x = np.concatenate([np.zeros(5000), np.linspace(-1, 1, 1000)])
    bins = Bins.of(x[:, None], max_bins=20)
    codes = bins.code(x[:, None])[:, 0]
    assert set(x[codes == codes[0]]) == {0.0}
    assert bins.n_bins[0] == 20


def test_weights_are_copies() -> None:
    X, w = table(), np.random.default_rng(1).integers(1, 4, 500)
    one = Bins.of(X, w.astype(float), max_bins=40)
    two = Bins.of(np.repeat(X, w, axis=0), max_bins=40)
    for a, b in zip(one.edges, two.edges, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("max_bins", [255, 60_000])
def test_categories_beyond_the_bins_share_that_of_missing_values(max_bins: int) -> None:
    x = np.repeat(np.arange(300.0), np.arange(300)[::-1] % 7 + 1)
    X = np.concatenate([x, [np.nan]])[:, None]
    bins = Bins.of(X, max_bins=max_bins, categorical=np.array([True]))
    known = bins.categories[0]
    assert known is not None and len(known) == 254 == bins.n_bins[0]
    counts = np.bincount(x.astype(int))
    assert counts[np.setdiff1d(np.arange(300), known)].max() <= counts[known].min()
    codes = bins.code(np.array([[known[7]], [np.nan], [5000.0], [np.setdiff1d(np.arange(300), known)[0]]]))
    np.testing.assert_array_equal(codes[:, 0], [7, 254, 254, 254])


def test_columns_without_values() -> None:
    bins = Bins.of(np.full((3, 2), np.nan), categorical=np.array([False, True]))
    np.testing.assert_array_equal(bins.n_bins, [1, 0])
    np.testing.assert_array_equal(bins.code(np.array([[np.nan, np.nan], [1.0, 2.0]]))[:, :2], [[1, 0], [0, 0]])


def test_a_long_table_is_cut_by_rows_chosen_by_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the order of the rows, nor where they are, nor how they are cut into blocks matters."""
    monkeypatch.setattr(module, "SAMPLE_ROWS", 300)
    monkeypatch.setattr(smallest_hashes, "__defaults__", (300,))
    X = table(2000)
    expected = Bins.of(X, max_bins=30)
    assert any(len(a) != len(b) or (a != b).any() for a, b in zip(Bins.of(X[:300]).edges, expected.edges, strict=True))
    shuffled = X[np.random.default_rng(2).permutation(2000)]
    sources = [
        in_memory(Unsupervised(), X),
        in_memory(Unsupervised(), shuffled),
        open_stream(Unsupervised(), [X[:700], X[700:]], None, None, None),
    ]
    for source in sources:
        found = drive(_wrapped(learn_bins(source, 30, None)), source, Local())["bins"]
        for a, b in zip(found.edges, expected.edges, strict=True):
            np.testing.assert_array_equal(a, b)


def _wrapped(learning: Any) -> Any:
    return dict(bins=(yield from learning))
