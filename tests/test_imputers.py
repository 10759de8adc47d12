"""Imputers from other columns and rows: against scikit-learn's, the likelihood of a normal distribution, and closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer as TheirIterative
from sklearn.impute import KNNImputer as TheirNeighbours
from sklearn.linear_model import Ridge as TheirRidge

import tenfold

rng = np.random.default_rng(0)
MIX = rng.normal(size=(5, 5))
X = rng.normal(size=(150, 5)) @ MIX
X[rng.random(X.shape) < 0.15] = np.nan
NEW = rng.normal(size=(40, 5)) @ MIX
NEW[rng.random(NEW.shape) < 0.3] = np.nan
NEW[3] = np.nan
IMPUTERS: dict[str, Any] = {
    "KNNImputer": tenfold.KNNImputer(),
    "IterativeImputer": tenfold.IterativeImputer(tenfold.Ridge(), max_iter=100),
    "EMImputer": tenfold.EMImputer(),
}

# --- neighbours ---


def _slow(distance: Any) -> Any:
    return 1 / (1 + distance)


@pytest.mark.parametrize("weights", ["uniform", "distance", _slow], ids=["uniform", "distance", "function"])
@pytest.mark.parametrize("k", [1, 5, 120, 1000])
def test_neighbours_are_those_of_scikit_learn(k: int, weights: Any) -> None:
    ours, theirs = (one(n_neighbors=k, weights=weights).fit(X) for one in (tenfold.KNNImputer, TheirNeighbours))
    for rows in (X, NEW):
        np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows), rtol=1e-7, atol=1e-9)


def _city(a: Any, b: Any, *, missing_values: float = np.nan) -> float:
    gap = np.abs(a - b)
    return float(np.nansum(gap)) if not np.isnan(gap).all() else float("nan")


def test_any_metric() -> None:
    ours, theirs = (one(n_neighbors=4, metric=_city).fit(X[:60]) for one in (tenfold.KNNImputer, TheirNeighbours))
    np.testing.assert_allclose(ours.transform(NEW), theirs.transform(NEW), rtol=1e-10)


def test_a_row_of_weight_two_is_two_neighbours() -> None:
    w = rng.integers(1, 4, len(X))
    again = np.repeat(X, w, axis=0)
    for weights in ("uniform", "distance"):
        one = tenfold.KNNImputer(n_neighbors=4, weights=weights).fit(X, sample_weight=w).transform(NEW)
        np.testing.assert_allclose(one, tenfold.KNNImputer(n_neighbors=4, weights=weights).fit(again).transform(NEW), rtol=1e-10)


def test_exact_distances_where_products_lose_digits() -> None:
    """Far from zero scikit-learn's distances have lost half of their digits; ours come from differences."""
    far = 1e7 + X
    near = tenfold.KNNImputer(weights="distance").fit(X).transform(NEW) + 1e7
    np.testing.assert_allclose(tenfold.KNNImputer(weights="distance").fit(far).transform(NEW + 1e7), near, rtol=1e-13)


# --- regressions in turn ---


@pytest.mark.parametrize(
    "setting",
    [
        {}, dict(imputation_order="descending"), dict(imputation_order="arabic"), dict(imputation_order="roman"),
        dict(imputation_order="random", random_state=0), dict(n_nearest_features=2, random_state=1), dict(skip_complete=True),
        dict(initial_strategy="median"), dict(initial_strategy="constant", fill_value=1.0), dict(min_value=-1, max_value=[1, 2, 1, 2, 3]),
        dict(add_indicator=True), dict(max_iter=0), dict(missing_values=-99.0), dict(keep_empty_features=True),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*Early stopping")
def test_rounds_are_those_of_scikit_learn(setting: Any) -> None:
    rows, new = X.copy(), NEW.copy()
    if "missing_values" in setting:
        rows, new = (np.where(np.isnan(one), -99.0, one) for one in (rows, new))
    if "keep_empty_features" in setting:
        rows[:, 2] = np.nan
    ours, theirs = tenfold.IterativeImputer(tenfold.Ridge(), **setting), TheirIterative(TheirRidge(), **setting)
    np.testing.assert_allclose(ours.fit_transform(rows), theirs.fit_transform(rows), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-8, atol=1e-10)
    assert ours.n_iter_ == theirs.n_iter_ and len(ours.imputation_sequence_) == len(theirs.imputation_sequence_)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.filterwarnings("ignore:.*Early stopping")
def test_bayesian_ridge_and_posterior_draws() -> None:
    """The same draws; regressions stop at other digits."""
    for setting in ({}, dict(sample_posterior=True, random_state=0, max_iter=3, min_value=-2.0)):
        ours, theirs = tenfold.IterativeImputer(**setting), TheirIterative(**setting)
        np.testing.assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), atol=1e-4)
    assert (ours.transform(NEW) != ours.transform(NEW)).any()


def test_limits_are_refused() -> None:
    with pytest.raises(tenfold.BadParameter, match="min_value >= max_value"):
        tenfold.IterativeImputer(min_value=2, max_value=1).fit(X)
    with pytest.raises(tenfold.BadParameter, match="should be of shape"):
        tenfold.IterativeImputer(min_value=[1, 2]).fit(X)
    with pytest.raises(tenfold.BadParameter, match="has no"):
        tenfold.IterativeImputer(tenfold.StandardScaler()).fit(X)
    with pytest.warns(tenfold.NotConverged, match="Early stopping"):
        tenfold.IterativeImputer(max_iter=1, tol=0).fit(X)


# --- a normal distribution ---


def _likelihood(rows: Any, mean: Any, covariance: Any) -> float:
    total = 0.0
    for row in rows:
        o = np.flatnonzero(~np.isnan(row))
        if len(o):
            total += float(multivariate_normal.logpdf(row[o], mean[o], covariance[np.ix_(o, o)]))
    return total


def test_em_finds_the_maximum_of_the_observed_likelihood() -> None:
    """The certificate: the likelihood never falls, and at the end it is flat in every direction."""
    found = tenfold.EMImputer(tol=1e-8).fit(X)
    steps = np.diff(found.log_likelihood_)
    assert (steps > -1e-8 * abs(found.log_likelihood_[-1])).all()
    best = _likelihood(X, found.mean_, found.covariance_)
    np.testing.assert_allclose(found.log_likelihood_[-1], best, rtol=1e-7)
    for seed in range(6):
        draw = np.random.default_rng(seed)
        to, turn = draw.normal(size=5), draw.normal(size=(5, 5)) * 0.1
        ends = []
        for h in (1e-4, -1e-4):
            way = np.eye(5) + h * turn
            ends.append(_likelihood(X, found.mean_ + h * to, way @ found.covariance_ @ way.T))
        assert abs(ends[0] - ends[1]) / 2e-4 < 1e-2  # the slope
        assert max(ends) < best + 1e-6


def test_em_fills_conditional_means() -> None:
    found = tenfold.EMImputer().fit(X)
    filled = found.transform(NEW)
    for row, made in zip(NEW, filled, strict=True):
        o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        S = found.covariance_
        expected = found.mean_[m] + (S[np.ix_(m, o)] @ np.linalg.solve(S[np.ix_(o, o)], row[o] - found.mean_[o]) if len(o) else 0.0)
        np.testing.assert_allclose(made[m], expected, rtol=1e-6, atol=1e-8)
    whole = rng.normal(size=(80, 3))
    plain = tenfold.EMImputer().fit(whole)
    np.testing.assert_allclose(plain.mean_, whole.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(plain.covariance_, np.cov(whole.T, ddof=0), rtol=1e-10, atol=1e-12)


def test_em_on_dependent_and_constant_columns() -> None:
    a = rng.normal(size=200)
    rows = np.column_stack([a, 2 * a, np.ones(200), 1e6 * a + 3])
    rows[:40, 1] = rows[40:60, 2] = rows[60:80, 3] = np.nan
    filled = tenfold.EMImputer().fit_transform(rows)
    np.testing.assert_allclose(filled[:, 1], 2 * a, atol=1e-3)
    np.testing.assert_allclose(filled[:, 2], 1.0, rtol=1e-7)
    np.testing.assert_allclose(filled[:, 3], 1e6 * a + 3, rtol=1e-3, atol=1e3)


# --- all of them ---


@pytest.mark.parametrize("name", IMPUTERS)
def test_empty_columns_indicators_and_marks(name: str) -> None:
    rows = X.copy()
    rows[:, 1] = np.nan
    model = IMPUTERS[name]
    kept = type(model)(**model.get_params(deep=False) | {"keep_empty_features": True}).fit(rows)
    assert kept.transform(rows).shape == rows.shape and (kept.transform(rows)[:, 1] == 0).all()
    marked = type(model)(**model.get_params(deep=False) | {"add_indicator": True}).fit(rows)
    assert marked.transform(rows).shape == (len(rows), 4 + 5) and marked.indicator_.features_.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(marked.transform(rows)[:, 4:], np.isnan(rows))
    assert marked.get_feature_names_out()[-1] == "missingindicator_x4"
    plain = type(model)(**model.get_params(deep=False) | {"missing_values": -1.0}).fit(np.where(np.isnan(X), -1.0, X))
    expected = type(model)(**model.get_params(deep=False)).fit(X).transform(NEW)
    np.testing.assert_allclose(plain.transform(np.where(np.isnan(NEW), -1.0, NEW)), expected, rtol=1e-7)
    with pytest.raises(tenfold.BadInput, match="not what stands for a missing value"):
        plain.transform(NEW)


@pytest.mark.parametrize("name", IMPUTERS)
def test_few_rows_single_precision_and_files(name: str, tmp_path: Path) -> None:
    model = type(IMPUTERS[name])(**IMPUTERS[name].get_params(deep=False))
    single = model.fit(X.astype(np.float32)).transform(NEW.astype(np.float32))
    assert single.dtype == np.float32
    model.fit(X)
    np.testing.assert_allclose(single, model.transform(NEW), rtol=1e-2, atol=1e-2)
    tenfold.save(model, tmp_path / "i.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "i.tenfold").transform(NEW), model.transform(NEW))
    one = type(model)(**model.get_params(deep=False)).fit([[1.0, 2.0]])
    assert one.transform([[np.nan, 2.0]]).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("name", IMPUTERS)
def test_better_than_means(name: str) -> None:
    truth = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(400, 6))
    gaps = rng.random(truth.shape) < 0.1
    rows = np.where(gaps, np.nan, truth)
    model = type(IMPUTERS[name])(**IMPUTERS[name].get_params(deep=False))
    wrong = [np.abs(one.fit_transform(rows) - truth)[gaps].mean() for one in (model, tenfold.SimpleImputer())]
    assert wrong[0] < 0.6 * wrong[1]


def test_a_function_of_distances_may_leave_all_neighbours_alike() -> None:
    X = np.array([[0.0, 0.0], [np.nan, 2.0], [4.0, 3.0], [5.0, 6.0], [7.0, 7.0]])
    np.testing.assert_array_equal(tenfold.KNNImputer(weights=lambda _: None).fit_transform(X), tenfold.KNNImputer().fit_transform(X))
