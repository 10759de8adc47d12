"""Density trees: what they find, where they stop, how they are pruned, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, Degenerate


def steps(n: int, seed: int = 0) -> Array:
    """0.8 of the rows in [0, 1], the others in [1, 4]."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.8, rng.uniform(0, 1, n), rng.uniform(1, 4, n))[:, None]


@pytest.mark.parametrize("prune", ["cv", 0.3])
def test_steps_are_found_and_noise_is_pruned(prune: Any) -> None:
    model = tenfold.DensityTree(prune=prune, support=(0, 4)).fit(steps(4000))
    full = tenfold.DensityTree(prune=None, support=(0, 4)).fit(steps(4000))
    assert model.get_n_leaves() < 25 and full.get_n_leaves() == 4000
    near = model.threshold_[model.feature_ >= 0]
    assert np.abs(near - 1).min() < 0.01
    x = np.linspace(0.05, 3.95, 400)[:, None]
    truth = np.where(x[:, 0] < 1, 0.8, 0.2 / 3)
    assert np.mean((np.exp(model.score_samples(x)) - truth) ** 2) < 1e-3
    new = steps(2000, seed=1)
    assert model.score(new) > full.score(new) + 0.1
    assert model.score(new) > np.mean(np.log(np.where(new[:, 0] < 1, 0.8, 0.2 / 3))) - 0.02


def test_densities_are_shares_by_volumes() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    w = np.random.default_rng(1).integers(0, 4, 300)
    model = tenfold.DensityTree(min_samples_leaf=10).fit(X, sample_weight=w)
    low, high = model.boxes()
    cells = np.flatnonzero(model.feature_ < 0)
    inside = np.array([((l < X) & (h >= X)).all(axis=1) @ w for l, h in zip(low, high, strict=True)])
    assert inside.min() >= 10 and inside.sum() == w.sum()
    np.testing.assert_allclose(model.mass_[cells], inside / w.sum(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.log_density_[cells]), inside / w.sum() / np.prod(high - low, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((np.exp(model.log_density_[cells]) * np.prod(high - low, axis=1)).sum(), 1.0, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.score_samples(X), model.log_density_[model.apply(X)])


def test_the_four_stopping_rules() -> None:
    X = np.random.default_rng(0).exponential(size=(500, 2))
    plain: dict[str, Any] = dict(prune=None, min_samples_leaf=5)
    full = tenfold.DensityTree(**plain).fit(X)
    assert tenfold.DensityTree(3, **plain).fit(X).get_depth() == 3 < full.get_depth()
    assert min(tenfold.DensityTree(prune=None, min_samples_leaf=40).fit(X).mass_) >= 40 / 500
    dense = tenfold.DensityTree(max_density=0.5, **plain).fit(X)
    assert (np.exp(dense.log_density_[dense.feature_ >= 0]) < 0.5).all() and dense.get_n_leaves() < full.get_n_leaves()
    gains = [tenfold.DensityTree(min_gain=gain, **plain).fit(X).get_n_leaves() for gain in (0.0, 0.1, 1.0, 1e9)]
    assert gains == sorted(gains, reverse=True) and gains[-1] == 1


def test_rows_are_drawn_from_the_cells() -> None:
    X = steps(1000)
    X = np.column_stack([X[:, 0], X[:, 0] + np.random.default_rng(2).normal(size=1000)])
    model = tenfold.DensityTree().fit(X)
    drawn = model.sample(4000, random_state=0)
    share = np.bincount(model.apply(drawn), minlength=len(model.mass_)) / 4000
    cells = model.feature_ < 0
    assert np.abs(share - model.mass_)[cells].max() < 0.02
    largest = np.flatnonzero(cells)[np.argmax(model.mass_[cells])]
    low, high = (ends[np.argmax(model.mass_[cells])] for ends in model.boxes())
    within = drawn[model.apply(drawn) == largest]
    assert all(kstest((within[:, j] - low[j]) / (high[j] - low[j]), "uniform").pvalue > 1e-3 for j in range(2))
    np.testing.assert_array_equal(model.sample(5, random_state=1), model.sample(5, random_state=1))


def test_units_and_places_of_columns_do_not_matter() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2)) ** 3
    model = tenfold.DensityTree().fit(X)
    scale = np.array([1e-100, 2.0**80])
    other = tenfold.DensityTree().fit(X * scale)
    np.testing.assert_array_equal(model.feature_, other.feature_)
    np.testing.assert_allclose(other.score_samples(X * scale), model.score_samples(X) - np.log(scale).sum(), rtol=1e-9)
    assert tenfold.DensityTree().fit(X + 1e9).get_n_leaves() > 1


def test_values_of_a_grid_have_cells_of_their_own() -> None:
    """Half way between whole numbers: each of them may have a cell one wide, and none has less."""
    X = np.random.default_rng(0).binomial(4, 0.3, (2000, 1)).astype(float)
    model = tenfold.DensityTree(support=(-0.5, 4.5)).fit(X)
    np.testing.assert_allclose(np.exp(model.score_samples(np.arange(4.0)[:, None])), np.bincount(X[:, 0].astype(int))[:4] / 2000, rtol=0.2)


def test_without_a_width() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:, 1] = 7
    with pytest.warns(Degenerate, match="DensityTree: column 1 is constant: the density is taken to be 1 wide there; drop the column"):
        model = tenfold.DensityTree().fit(X)
    assert (model.lower_[1], model.upper_[1]) == (6.5, 7.5)
    tenfold.DensityTree(support=([-9, 0, -9], 9)).fit(X)
    with pytest.raises(BadInput, match=r"all 50 rows are equal, and a density needs a width: give other rows, or support"):
        tenfold.DensityTree().fit(np.ones((50, 2)))
    with pytest.raises(BadInput, match="one row only"):
        tenfold.DensityTree().fit(X[:1])
    one = tenfold.DensityTree(support=(-9, 9)).fit(X[:1])
    np.testing.assert_allclose(one.score_samples(X), -3 * np.log(18), rtol=1e-9, atol=1e-12)
    two = tenfold.DensityTree(prune=None, margin=0).fit(np.array([[0.0], [1.0]]))
    np.testing.assert_allclose(two.score_samples([[0.0], [1.0], [1.1]]), [0, 0, -np.inf], rtol=1e-9, atol=1e-12)


def test_weights_that_are_no_copies_are_told() -> None:
    X = steps(100)
    with pytest.warns(Degenerate, match="the weights sum to 1, and count as copies of rows: nothing can be cut; scale them"):
        assert tenfold.DensityTree().fit(X, sample_weight=np.full(100, 0.01)).get_n_leaves() == 1


def test_a_support_of_the_user() -> None:
    X = steps(100)
    for wrong in (3, (1, 0), (0, np.inf), ([0, 0], [1, 1]), "all", (0, 1, 2)):
        with pytest.raises(BadParameter, match=r"DensityTree\(support=...\): must be"):
            tenfold.DensityTree(support=wrong).fit(X)
    with pytest.raises(BadInput, match=r"in column 0 is outside of the support, 0 to 2: give a wider one"):
        tenfold.DensityTree(support=(0, 2)).fit(X)


def test_a_file_that_holds_no_tree_is_refused(tmp_path: Any) -> None:
    for name, wrong in (
        ("children_", np.array([[2, 1], [-1, -1], [-1, -1]], dtype=np.int32)[::-1]),
        ("feature_", np.array([5, -1, -1], dtype=np.int32)),
        ("mass_", np.array([1.0, 0.9, 0.9])),
        ("upper_", np.array([-100.0])),
    ):
        model = tenfold.DensityTree(1, prune=None).fit(steps(50))
        setattr(model, name, np.ascontiguousarray(wrong))
        assert model._objection() is not None
