"""float32 tables: what is learned in the unit of the columns is float32, as the predictions are; sums are double either way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tenfold

REGRESSORS = ["LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet", "LassoCV", "Lars", "BayesianRidge", "HuberRegressor"]


def table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, X @ [1.0, -2.0, 0.0, 3.0] + 0.1 * rng.normal(size=60) + 5


@pytest.mark.parametrize("name", REGRESSORS)
def test_coefficients_have_the_precision_of_the_table(name: str) -> None:
    X, y = table()
    for dtype, expected in ((np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)):
        model = getattr(tenfold, name)().fit((10 * X).astype(dtype), y)
        assert model.coef_.dtype == expected and model.intercept_.dtype == expected
    double = getattr(tenfold, name)().fit(X.astype(np.float32).astype(np.float64), y)
    single = getattr(tenfold, name)().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-6, atol=1e-6)


def test_classes_sparse_rows_and_pipelines() -> None:
    X, y = table()
    single, labels = X.astype(np.float32), y > 5
    for rows in (single, sp.csr_matrix(single)):
        model = tenfold.LogisticRegression().fit(rows, labels)
        assert model.coef_.dtype == model.intercept_.dtype == model.predict_proba(rows).dtype == np.float32
    pipeline = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()).fit(single, y)
    assert pipeline.predict(single).dtype == np.float32


def test_learning_on_keeps_it_and_loses_nothing() -> None:
    X, y = table()
    single = X.astype(np.float32)
    parts = tenfold.Ridge().partial_fit(single[:30], y[:30]).partial_fit(single[30:], y[30:])
    whole = tenfold.Ridge().fit(single, y)
    merged = tenfold.Ridge().fit(single[:30], y[:30]).merge(tenfold.Ridge().fit(single[30:], y[30:]))
    for one in (parts, merged):
        assert one.coef_.dtype == np.float32 and np.abs(one.coef_ - whole.coef_).max() <= 1e-6
    assert np.isfinite(tenfold.Ridge().fit(single, 1e60 * y).coef_).all(), "beyond the range of float32: it stays double"


def test_lists_of_paths_and_covariances() -> None:
    X, y = table()
    path = tenfold.Lars().fit(X.astype(np.float32), np.column_stack([y, -y]))
    assert [one.dtype for one in path.coef_path_] == [np.float32] * 2
    bayes = tenfold.BayesianRidge(compute_score=True).fit(X.astype(np.float32), y)
    assert bayes.sigma_.dtype == np.float32 and len(bayes.scores_) == bayes.n_iter_ + 1
    mean, deviation = bayes.predict(X.astype(np.float32), return_std=True)
    assert mean.dtype == deviation.dtype == np.float32


def test_isotonic_regression_of_float32() -> None:
    found = tenfold.evaluate.isotonic_regression(np.array([1.0, 3.0, 2.0], dtype=np.float32))
    assert found.dtype == np.float32 and found.tolist() == [1.0, 2.5, 2.5]
