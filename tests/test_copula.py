"""Copula densities: columns by themselves, times how they depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal, norm, rankdata, spearmanr

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.density.copula import ranks, shrunken_correlations


def skewed(n: int, seed: int = 0) -> Array:
    """A Gaussian copula with correlation 0.8 and exponential columns, and a third by itself."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    Z[:, 1] = 0.8 * Z[:, 0] + 0.6 * Z[:, 1]
    return np.asarray(-np.log(norm.sf(Z)) * [1, 10, 0.1])


def test_ranks_are_those_of_scipy() -> None:
    X = np.random.default_rng(0).integers(0, 6, (40, 3)).astype(float)
    w = np.random.default_rng(1).integers(1, 4, 40)
    expected = np.column_stack([rankdata(column) for column in np.repeat(X, w, axis=0).T])
    np.testing.assert_allclose(np.repeat(ranks(X, w.astype(float)), w, axis=0), (expected - 0.5) / w.sum(), rtol=1e-14, atol=0)


def test_a_gaussian_copula_is_that_of_scipy() -> None:
    X, new = skewed(400), skewed(50, seed=1)
    for share in (None, 0.0, 0.3):
        model = tenfold.CopulaDensity("gaussian", "gaussian", shrinkage=share).fit(X)
        Z = norm.ppf(ranks(X, np.ones(len(X))))
        R = np.corrcoef(Z.T) * (1 - model.shrinkage_) + np.eye(3) * model.shrinkage_
        np.testing.assert_allclose(model.correlation_, R, rtol=1e-9, atol=1e-12)
        mean, scale = X.mean(axis=0), X.std(axis=0)
        z = (new - mean) / scale
        expected = multivariate_normal(cov=R).logpdf(z) - np.log(scale).sum()  # the columns are Gaussian too
        rows = np.abs(z).max(axis=1) < 5  # beyond, the cdf of a column is 1 to nearly all digits
        np.testing.assert_allclose(model.score_samples(new)[rows], expected[rows], rtol=1e-4)
    assert 0.75 < model.correlation_[0, 1] / 0.7 < 1.2


def test_the_shrinkage_is_that_of_least_expected_error() -> None:
    """Schäfer and Strimmer's formula, by loops; little is shrunk where rows are many, and all where nothing is correlated."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4))
    S = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    above = below = 0.0
    for i in range(4):
        for j in range(4):
            if i != j:
                products = S[:, i] * S[:, j]
                above += products.var() / len(Z)
                below += products.mean() ** 2
    np.testing.assert_allclose(shrunken_correlations(Z, np.ones(30), None)[1], min(1.0, above / below), rtol=1e-9, atol=1e-12)
    same = np.repeat(rng.normal(size=(10, 1)), 3, axis=1)
    R, share = shrunken_correlations(same, np.ones(10), 0.0)
    assert share < 1e-8 and np.linalg.eigvalsh(R)[0] > 0
    R, share = shrunken_correlations(np.column_stack([same[:, :2], np.ones(10)]), np.ones(10), 0.0)
    np.testing.assert_allclose(R, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-8)


@pytest.mark.parametrize("copula", ["tree", "forest", "gaussian"])
def test_dependence_is_found_and_drawn(copula: str) -> None:
    X, new = skewed(1000), skewed(1000, seed=1)
    model = tenfold.CopulaDensity(copula, random_state=0).fit(X)
    low, high = model._support()
    inside = ((new >= low) & (new <= high)).all(axis=1)
    alone = sum(one._log_density(new[inside][:, [j]]) for j, one in enumerate(model.marginals_)).mean()
    truth = -0.5 * np.log(1 - 0.8**2)  # the mutual information of the first two columns
    assert 0.45 * truth < model.score(new[inside]) - alone < 1.1 * truth
    drawn = model.sample(1500, random_state=0)
    np.testing.assert_allclose(spearmanr(drawn).statistic, spearmanr(X).statistic, atol=0.2 if copula == "forest" else 0.1)
    if copula == "gaussian":  # of which the columns are exactly uniform
        for j, one in enumerate(model.marginals_):
            assert kstest(drawn[:, j], lambda x, one=one: one.cdf(x[:, None])).pvalue > 1e-3


def test_a_copula_of_cells_is_theirs_at_the_cdfs() -> None:
    X = skewed(200)
    model = tenfold.CopulaDensity(tenfold.DensityTree(min_samples_leaf=20), tenfold.Histogram(bins=5)).fit(X)
    U = np.column_stack([one.cdf(X[:, [j]]) for j, one in enumerate(model.marginals_)])
    alone = [one.score_samples(X[:, [j]]) for j, one in enumerate(model.marginals_)]
    np.testing.assert_allclose(model.score_samples(X), model.copula_.score_samples(U) + np.sum(alone, axis=0), rtol=1e-9, atol=1e-12)
    assert (model.copula_.lower_ == 0).all() and (model.copula_.upper_ == 1).all() and model.copula_.mass_.min() >= 20 / 200
    assert {len(one.edges_[0]) for one in model.marginals_} == {6}
    one = tenfold.CopulaDensity().fit(X[:, :1])
    np.testing.assert_array_equal(one.score_samples(X[:, :1]), one.marginals_[0].score_samples(X[:, :1]))
    assert not hasattr(one, "copula_")


@pytest.mark.parametrize("marginals", ["histogram", "tree", "kde", "gaussian"])
def test_densities_of_the_columns(marginals: str) -> None:
    X, new = skewed(300), skewed(300, seed=1)
    X[:, 2] = new[:, 2] = 7.0
    model = tenfold.CopulaDensity("gaussian", marginals).fit(X)
    assert (np.isfinite(model.score_samples(new))).mean() > 0.95 and np.isfinite(model.score_samples(X)).all()
    np.testing.assert_allclose(model.correlation_[:2, 2], 0.0, atol=1e-12)
    assert spearmanr(model.sample(500, random_state=0)[:, :2]).statistic > 0.7


def test_columns_that_say_nothing_or_the_same() -> None:
    X = skewed(60)
    X = np.column_stack([X, X[:, 0], np.full(60, 7.0)])
    for copula in ("gaussian", "tree"):
        model = tenfold.CopulaDensity(copula).fit(X)
        assert np.isfinite(model.score_samples(X)).all() and np.isfinite(model.sample(20, random_state=0)).all()
    assert np.isfinite(tenfold.CopulaDensity("gaussian").fit(np.ones((5, 2))).score_samples(np.ones((5, 2)))).all()
    assert np.isfinite(tenfold.CopulaDensity("gaussian").fit(X[:1]).score_samples(X[:1])).all()


def test_digits_by_bayes_rule() -> None:
    """Pixels hold whole numbers from 0 to 16: a bin for each, and one row more."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, y = X[y > 4, 16:48], y[y > 4]  # five classes, and the middle of the image
    bins = tenfold.Histogram(bins=np.arange(-0.5, 17), smoothing=0.5)
    model = tenfold.BayesClassifier(tenfold.CopulaDensity("gaussian", bins)).fit(X[:600], y[:600])
    alone = tenfold.BayesClassifier(tenfold.CopulaDensity("gaussian", bins, shrinkage=1.0)).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > alone.score(X[600:], y[600:]) + 0.03 > 0.9


def test_what_is_refused() -> None:
    X = skewed(30)
    wrong: list[Any] = ["vine", 3, tenfold.Histogram(), None]
    for copula in wrong:
        with pytest.raises(BadParameter, match=r"CopulaDensity\(copula=.*must be 'tree', 'forest', 'gaussian'"):
            tenfold.CopulaDensity(copula).fit(X)
    for marginals in ["normal", 3, tenfold.Ridge(), None]:
        with pytest.raises(BadParameter, match=r"CopulaDensity\(marginals=.*must be 'tree', 'histogram', 'kde', 'gaussian', or a density"):
            tenfold.CopulaDensity("tree", marginals).fit(X)
    flat = np.column_stack([X, np.ones(30)])
    with pytest.raises(BadInput, match="CopulaDensity: there is no density of column 3 alone: DensityTree: all 30 rows are equal"):
        tenfold.CopulaDensity("tree", tenfold.DensityTree()).fit(flat)
    model = tenfold.CopulaDensity("gaussian").fit(X)
    model.correlation_ = np.ones((3, 3))
    assert model._objection() == "correlation_ does not hold correlations"


def test_no_rank_is_above_one() -> None:
    """Where one row outweighs the others, rounding of the sum of weights is more than half a row of theirs."""
    rng = np.random.default_rng(0)
    for n in range(2, 40):
        w = np.ones(n)
        w[rng.integers(n)] = 1e16
        U = ranks(rng.normal(size=(n, 3)), w)
        assert U.min() >= 0 and U.max() <= 1
