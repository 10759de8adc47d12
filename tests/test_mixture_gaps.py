"""Gaussian mixtures of rows with missing cells: EM written out, the gradient of the observed likelihood, SciPy's marginals."""

from __future__ import annotations

import numpy as np
import pytest
from dask.array import from_array
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

import tenfold
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.density import shapes

WHOLE = load_iris().data
GAPS = WHOLE.copy()
GAPS[np.random.default_rng(0).random(WHOLE.shape) < 0.2] = np.nan
GAPS[7] = np.nan


def log_density(model: tenfold.GaussianMixture, x: Array) -> Array:
    """Of every component, times its share, at what is observed of a row: by SciPy."""
    seen = ~np.isnan(x)
    if not seen.any():
        return np.log(model.weights_)
    parts = zip(model.weights_, model.means_, model.covariances_, strict=True)
    return np.array([np.log(share) + multivariate_normal(m[seen], C[np.ix_(seen, seen)]).logpdf(x[seen]) for share, m, C in parts])


def test_one_component_is_the_em_of_a_gaussian() -> None:
    """Little & Rubin's, written out row by row, ends in the same place; so does `EMImputer`."""
    rows = GAPS[:90]
    mean, C = np.nanmean(rows, axis=0), np.diag(np.nanvar(rows, axis=0))
    for _ in range(80):
        first, second = np.zeros(4), np.zeros((4, 4))
        for x in rows:
            o, m, z, left = ~np.isnan(x), np.isnan(x), x.copy(), np.zeros((4, 4))
            slope = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
            z[m] = mean[m] + slope @ (x[o] - mean[o])
            left[np.ix_(m, m)] = C[np.ix_(m, m)] - slope @ C[np.ix_(o, m)]
            first, second = first + z, second + np.outer(z, z) + left
        mean = first / len(rows)
        C = second / len(rows) - np.outer(mean, mean)
    model = tenfold.GaussianMixture(reg_covar=0, tol=1e-14, max_iter=500).fit(rows)
    np.testing.assert_allclose(model.means_[0], mean, rtol=1e-6)
    np.testing.assert_allclose(model.covariances_[0], C, rtol=1e-5, atol=1e-6)
    other = tenfold.EMImputer(tol=1e-9, max_iter=1000, ridge=0).fit(rows)
    np.testing.assert_allclose(model.impute(rows), other.transform(rows), rtol=1e-5)
    np.testing.assert_allclose(model.score(rows) * len(rows), other.log_likelihood_[-1], rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_the_gradient_of_the_observed_likelihood_is_zero(kind: str) -> None:
    model = tenfold.GaussianMixture(2, covariance_type=kind, random_state=0, reg_covar=0, tol=1e-13, max_iter=3000).fit(GAPS)
    assert (np.diff(model.lower_bounds_) > -1e-12).all()
    gradient, shares = np.zeros_like(model.means_), np.zeros(2)
    full = {"full": model.covariances_, "tied": np.tile(model.covariances_, (2, 1, 1))}.get(kind)
    if full is None:
        full = np.array([np.diag(np.broadcast_to(one, 4)) for one in model.covariances_])
    curve = np.zeros_like(full)
    for x in GAPS:
        o = ~np.isnan(x)
        joint = np.array([
            np.log(share) + (multivariate_normal(m[o], C[np.ix_(o, o)]).logpdf(x[o]) if o.any() else 0.0)
            for share, m, C in zip(model.weights_, model.means_, full, strict=True)
        ])  # fmt: skip
        r = np.exp(joint - logsumexp(joint))
        shares += r
        for k in range(2):
            P = np.linalg.inv(full[k][np.ix_(o, o)])
            pull = P @ (x[o] - model.means_[k][o])
            gradient[k][o] += r[k] * pull
            curve[k][np.ix_(o, o)] += 0.5 * r[k] * (np.outer(pull, pull) - P)
    np.testing.assert_allclose(gradient / len(GAPS), 0, atol=2e-6)
    np.testing.assert_allclose(shares / len(GAPS), model.weights_, atol=1e-6)
    own = np.diagonal(curve, axis1=1, axis2=2)
    free = {"full": curve, "tied": curve.sum(axis=0), "diag": own, "spherical": own.sum(axis=1)}[kind]
    np.testing.assert_allclose(free / len(GAPS), 0, atol=1e-4)


@pytest.mark.parametrize("shape", list(shapes.SHAPES))
def test_no_step_lowers_the_observed_likelihood(shape: str) -> None:
    model = tenfold.GaussianMixture(2, covariance_type=shape, random_state=1, tol=1e-7, max_iter=2000, reg_covar=0).fit(GAPS)
    assert (np.diff(model.lower_bounds_) >= -1e-10).all()


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_no_step_lowers_the_evidence(kind: str) -> None:
    model = tenfold.BayesianGaussianMixture(2, covariance_type=kind, random_state=1, tol=1e-4, max_iter=2000).fit(GAPS)
    assert (np.diff(model.lower_bounds_) >= -1e-8).all()


def test_what_is_observed_of_a_row_decides() -> None:
    model = tenfold.GaussianMixture(3, random_state=0).fit(GAPS)
    joint = np.array([log_density(model, x) for x in GAPS])
    np.testing.assert_allclose(model.score_samples(GAPS), logsumexp(joint, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(GAPS), np.exp(joint - logsumexp(joint, axis=1)[:, None]), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(GAPS[7:8])[0], model.weights_, rtol=1e-12)
    whole = ~np.isnan(GAPS).any(axis=1)
    assert np.array_equal(model.score_samples(GAPS)[whole], model.score_samples(GAPS[whole]))
    weights = np.random.default_rng(1).integers(0, 3, len(GAPS))
    asked = dict(n_components=2, random_state=0, tol=1e-8, max_iter=500)
    one = tenfold.GaussianMixture(**asked).fit(GAPS, sample_weight=weights)
    two = tenfold.GaussianMixture(**asked).fit(GAPS.repeat(weights, axis=0))
    np.testing.assert_allclose(one.means_, two.means_, rtol=1e-9)
    stream = tenfold.GaussianMixture(**asked).fit([GAPS[:8], GAPS[8:9], GAPS[9:]])
    np.testing.assert_allclose(stream.means_, tenfold.GaussianMixture(**asked).fit(GAPS).means_, rtol=1e-9)


def test_gaps_are_filled_by_what_is_expected_and_by_draws() -> None:
    model, missing = tenfold.GaussianMixture(3, random_state=0).fit(GAPS), np.isnan(GAPS)
    filled = model.impute(GAPS)
    assert np.array_equal(filled[~missing], WHOLE[~missing]) and not np.isnan(filled).any()
    error = np.abs(filled - WHOLE)[missing].mean()
    assert error < 0.6 * np.abs(np.nanmean(GAPS, axis=0) - WHOLE)[missing].mean()
    row = np.repeat(GAPS[missing.sum(axis=1) == 2][:1], 40_000, axis=0)
    drawn, gap = model.impute(row, draw=True, random_state=1), np.isnan(row[0])
    np.testing.assert_allclose(drawn.mean(axis=0), model.impute(row[:1])[0], atol=0.02)
    joint = log_density(model, row[0])
    r, o = np.exp(joint - logsumexp(joint)), ~gap
    spread = np.zeros((2, 2))
    for share, m, C in zip(r, model.means_, model.covariances_, strict=True):
        slope = C[np.ix_(gap, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        away = m[gap] + slope @ (row[0, o] - m[o]) - drawn[:, gap].mean(axis=0)
        spread += share * (C[np.ix_(gap, gap)] - slope @ C[np.ix_(o, gap)] + np.outer(away, away))
    np.testing.assert_allclose(np.cov(drawn[:, gap].T), spread, atol=0.01)
    np.testing.assert_allclose(model.impute(from_array(GAPS, chunks=(50, 4))).compute(), filled, rtol=1e-12)
    assert np.array_equal(model.impute(GAPS, draw=True), model.impute(GAPS, draw=True))
    assert not np.array_equal(model.impute(GAPS, draw=True, random_state=1), model.impute(GAPS, draw=True, random_state=2))


def test_a_column_without_values_is_named() -> None:
    empty = GAPS.copy()
    empty[:, 2] = np.nan
    with pytest.raises(BadInput, match="column 2 holds no values"):
        tenfold.GaussianMixture(2).fit(empty)
