"""Density forests: a mean of trees, closer than one of them, the same on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, poisson

import tenfold
from tenfold.core.errors import BadParameter, DataWarning
from tenfold.density.forest import Bag


def moons(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    angle, upper = rng.uniform(0, np.pi, n), rng.random(n) < 0.5
    X = np.column_stack([np.where(upper, np.cos(angle), 1 - np.cos(angle)), np.where(upper, np.sin(angle), 0.5 - np.sin(angle))])
    return X + rng.normal(size=X.shape) * 0.1


def test_the_mean_of_its_trees() -> None:
    X, new = moons(300), moons(100, seed=1)
    model = tenfold.DensityForest(7, random_state=0).fit(X)
    each = []
    for tree, first in zip(model._trees(), model.first_, strict=False):
        low, high = tree.boxes(model.lower_, model.upper_)
        inside = ((low[:, None] < new) & (high[:, None] >= new)).all(axis=2)
        assert (inside.sum(axis=0) <= 1).all()
        density = tree.mass[tree.is_leaf] / np.prod(high - low, axis=1)
        np.testing.assert_allclose(np.log(density), model.log_density_[first : first + len(tree)][tree.is_leaf], rtol=1e-9, atol=1e-12)
        each.append(inside.T @ density)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.score_samples(new), np.log(np.mean(each, axis=0)), rtol=1e-9, atol=1e-12)


def test_closer_than_one_tree_and_out_of_bag() -> None:
    X, new = moons(600), moons(2000, seed=1)
    model = tenfold.DensityForest(60, random_state=0, oob_score=True).fit(X)
    inside = np.isfinite(model.score_samples(new))
    assert inside.mean() > 0.99
    assert model.score(new[inside]) > tenfold.DensityTree().fit(X).score(new[inside]) + 0.1
    assert abs(model.oob_score_ - model.score(new[inside])) < 0.15  # a row is scored by a third of the trees
    assert model.score(X) > model.oob_score_ + 0.3


def test_threads_and_draws() -> None:
    X = moons(400)
    fits = []
    for engine in (tenfold.Local(), tenfold.Threads(3)):
        with tenfold.engine(engine):
            fits.append(tenfold.DensityForest(20, random_state=3).fit(X))
    for name in ("first_", "feature_", "threshold_", "log_density_"):
        np.testing.assert_array_equal(getattr(fits[0], name), getattr(fits[1], name))
    other = tenfold.DensityForest(20, random_state=4).fit(X)
    assert not np.array_equal(other.first_, fits[0].first_)
    whole = tenfold.DensityForest(2, bootstrap=False, max_features=None, random_state=0).fit(X)
    one = tenfold.DensityTree(prune=None).fit(X)
    np.testing.assert_allclose(whole.score_samples(X), one.score_samples(X), rtol=1e-12)


def test_rows_are_drawn_as_often_as_they_weigh() -> None:
    rng = np.random.default_rng(0)
    w = rng.choice([0.5, 1.0, 3.0], 20_000)
    counts = Bag(rng.integers(0, 2**64, len(w), dtype=np.uint64), w).draw(np.uint64(7))
    for value in (0.5, 1.0, 3.0):
        found = np.bincount(counts[w == value].astype(int), minlength=12)[:12] / (w == value).sum()
        np.testing.assert_allclose(found, poisson.pmf(np.arange(12), value), atol=0.015)
    many = Bag(rng.integers(0, 2**64, len(w), dtype=np.uint64), rng.uniform(0.5, 2, len(w))).draw(np.uint64(7))
    assert abs(many.mean() - 1.25) < 0.03


def test_in_one_column_its_cdf_is_a_mean() -> None:
    X = moons(200)[:, :1]
    model = tenfold.DensityForest(5, random_state=0).fit(X)
    drawn = model.sample(2000, random_state=0)
    assert kstest(drawn[:, 0], lambda x: model.cdf(x[:, None])).pvalue > 1e-3


@pytest.mark.parametrize("many", [9e5, 2e6, 1e16, 1e90])
@pytest.mark.parametrize("different", [1, 100])
def test_weights_beyond_any_table_of_draws(many: float, different: int) -> None:
    """Of so many draws the number is Gaussian; other rows are drawn as ever."""
    rng = np.random.default_rng(0)
    w = np.append(many * rng.uniform(1, 2, different)[np.arange(1000) % different], np.ones(1000))
    counts = Bag(np.arange(2000, dtype=np.uint64), w).draw(np.uint64(3))
    off = (counts - w)[:1000] / np.sqrt(w[:1000])
    assert abs(off.mean()) < 0.1 and (many > 1e16 or abs(off.std() - 1) < 0.1)  # that of 1e90 is below its rounding
    np.testing.assert_allclose([np.mean(counts[1000:] == k) for k in range(5)], poisson.pmf(np.arange(5), 1), atol=0.05)
    model = tenfold.DensityForest(5, random_state=0).fit(moons(2000), sample_weight=w)
    assert np.isfinite(model.log_density_[np.isfinite(model.log_density_)]).any()


def test_what_is_refused_and_told() -> None:
    X = moons(30)
    for wrong in (3, 1.5):
        with pytest.raises(BadParameter, match=r"DensityForest\(max_features="):
            tenfold.DensityForest(max_features=wrong).fit(X)
    for right in (1, 0.6, "log2", None):
        tenfold.DensityForest(2, max_features=right).fit(X)
    with pytest.warns(DataWarning, match=r"rows were seen by all trees, and do not count in oob_score_: use more trees"):
        tenfold.DensityForest(2, oob_score=True, random_state=0).fit(X)
    with pytest.raises(BadParameter, match="no tree has left out a row"):
        tenfold.DensityForest(2, oob_score=True, bootstrap=False).fit(X)
    model = tenfold.DensityForest(2, random_state=0).fit(X)
    model.first_ = model.first_[:-1]
    assert model._objection() == "first_ does not say where the trees begin"
