"""What every public density obeys, discovered: it integrates to 1, rows drawn from it follow its cdf, and the density is the slope of that.

A density says where it is not zero (`_support`) and where it is not smooth (`_kinks`); one that is no density of a distribution says why
(`unnormalised`), and one from which no rows can be drawn has no cdf (`has_samples`).
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from conftest import public_classes, small
from numpy.polynomial.legendre import leggauss
from scipy.stats import kstest, norm

import tenfold
from tenfold.base.estimator import Density
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, TenfoldWarning

DENSITIES = {name: cls for name, cls in public_classes().items() if issubclass(cls, Density)}
DRAWN = [name for name, cls in DENSITIES.items() if cls.has_samples]
PROPER = [name for name, cls in DENSITIES.items() if not cls.unnormalised]


def rows(p: int) -> Array:
    """Two groups of rows, one of them skew."""
    rng = np.random.default_rng(p)
    return np.concatenate([rng.normal(-3, 1, (40, p)), rng.gamma(2, 1, (60, p)) + np.arange(p)])


@cache
def fitted(name: str, p: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TenfoldWarning)
        return small(DENSITIES[name]).fit(rows(p))


def drawn(model: Any, n: int = 1000) -> Array:
    found: Array = model._draw(n, np.random.default_rng(0))
    return found


def panels(model: Any, nodes: int, count: int) -> list[tuple[Array, Array]]:
    """For each column the nodes and weights of Gauss-Legendre sums over all of the support that matters, panel by panel."""
    X, (low, high) = drawn(model) if model.has_samples else rows(model.n_features_in_), model._support()
    x, w = leggauss(nodes)
    found = []
    for column, kinks, first, last in zip(X.T, model._kinks(), low, high, strict=True):
        span = np.ptp(column)
        ends = np.clip([column.min() - span, column.max() + span], first, last)
        cuts = np.unique(np.clip(np.concatenate([np.linspace(*ends, count + 1 if len(kinks) == 0 else 9), kinks]), *ends))
        half = np.diff(cuts)[:, None] / 2
        found.append(((cuts[:-1, None] + half * (1 + x)).ravel(), (half * w).ravel()))
    return found


@pytest.mark.parametrize("name", PROPER)
def test_it_integrates_to_one(name: str) -> None:
    ((x, w),) = panels(model := fitted(name, 1), 8, 200)
    np.testing.assert_allclose(w @ np.exp(model.score_samples(x[:, None])), 1.0, atol=1e-6)
    (x, w), (y, v) = panels(model := fitted(name, 2), 6, 80)
    grid = np.column_stack([np.repeat(x, len(y)), np.tile(y, len(x))])
    np.testing.assert_allclose(w @ np.exp(model.score_samples(grid)).reshape(len(x), len(y)) @ v, 1.0, atol=1e-6)


@pytest.mark.parametrize("name", DRAWN)
def test_rows_drawn_from_it_follow_its_cdf(name: str) -> None:
    model = fitted(name, 1)
    X = drawn(model)
    assert kstest(X[:, 0], lambda x: model.cdf(x[:, None])).pvalue > 1e-3
    found, order = model.cdf(X), np.argsort(X[:, 0])
    assert (np.diff(found[order]) >= 0).all() and (found >= 0).all() and (found <= 1).all()
    low, high = model._support()
    assert (low <= X).all() and (high >= X).all()
    assert (model.score_samples(X) > -np.inf).all()


@pytest.mark.parametrize("name", [name for name in PROPER if name in DRAWN])
def test_the_density_is_the_slope_of_the_cdf(name: str) -> None:
    model = fitted(name, 1)
    X = drawn(model, 200)
    h = 1e-5 * np.ptp(X)
    smooth = (np.abs(X - model._kinks()[0]) > 2 * h).all(axis=1)
    X = X[smooth]
    expected = np.exp(model.score_samples(X))
    np.testing.assert_allclose((model.cdf(X + h) - model.cdf(X - h)) / (2 * h), expected, rtol=1e-5, atol=1e-6 * expected.max())


@pytest.mark.parametrize("name", DRAWN)
def test_quantiles_undo_the_cdf(name: str) -> None:
    model = fitted(name, 1)
    X = drawn(model, 200)
    np.testing.assert_allclose(model.quantile(model.cdf(X)), X[:, 0], rtol=0, atol=1e-8 * np.ptp(X))
    q = np.array([[1e-9, 0.1], [0.5, 0.999]])
    np.testing.assert_allclose(model.cdf(model.quantile(q).reshape(-1, 1)), q.ravel(), rtol=1e-6)
    assert model.quantile([0, 1]).tolist() == np.ravel(model._support()).tolist() and isinstance(model.quantile(0.5), float)
    for wrong in (1.5, [0.5, np.nan], "half", [-0.1]):
        with pytest.raises(BadParameter, match="from 0 to 1"):
            model.quantile(wrong)
    for verb, asked in (("cdf", rows(2)), ("quantile", 0.5)):
        with pytest.raises(BadInput, match=f"{verb}: is of a density of one column, and this {name} was fitted on 2"):
            getattr(fitted(name, 2), verb)(asked)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_score_is_the_mean_of_those_of_the_rows(name: str) -> None:
    model, X = fitted(name, 2), rows(2)
    w = np.arange(len(X)) % 3
    rows_of_score, weight = (len(X), w.sum()) if model.score_is_total else (1, 1)
    np.testing.assert_allclose(model.score(X), rows_of_score * model.score_samples(X).mean(), rtol=1e-12)
    np.testing.assert_allclose(model.score(X, sample_weight=w), weight * np.average(model.score_samples(X), weights=w), rtol=1e-12)
    if name not in DRAWN:
        with pytest.raises(AttributeError, match="has no attribute 'cdf'"):
            model.cdf  # noqa: B018


# --- mixtures ---


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "VEV"])
def test_the_cdf_of_a_mixture_is_that_of_its_parts(kind: str) -> None:
    model = tenfold.GaussianMixture(2, covariance_type=kind, random_state=0).fit(rows(1))
    scale = np.sqrt(np.broadcast_to(np.ravel(model.covariances_), 2))
    expected = norm.cdf(rows(1), model.means_[:, 0], scale) @ model.weights_
    np.testing.assert_allclose(model.cdf(rows(1)), expected, rtol=1e-12)


def test_quantiles_between_parts_far_apart_and_of_any_size() -> None:
    """Where the density is zero over long ways, and where numbers are huge or tiny."""
    X = rows(1)
    for center, unit in ((0, 1e60), (1e6, 1e-3), (0, 1e-100), (-1e12, 1.0)):
        model = tenfold.GaussianMixture(2, random_state=0, reg_covar=0).fit(center + unit * np.concatenate([X, X + 1000]))
        q = np.array([1e-6, 0.25, 0.49, 0.51, 0.75, 1 - 1e-6])
        np.testing.assert_allclose(model.cdf(model.quantile(q)[:, None]), q, rtol=1e-3 if center else 1e-9)
