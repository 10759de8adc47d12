"""warm_start of linear models: a fit begins where the one before ended, and ends where a fresh one does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import tenfold

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("Lasso", {"alpha": 0.01}),
    ("ElasticNet", {"alpha": 0.01}),
    ("HuberRegressor", {}),
    ("LogisticRegression", {}),
]


def table(name: str, p: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, p))
    y = X[:, 0] - 2 * X[:, 1] + 0.5 * rng.normal(size=80) + 3
    return X, np.digitize(y, [2.0, 4.0]) if name == "LogisticRegression" else y


@pytest.mark.parametrize(("name", "setting"), SETTINGS, ids=str)
def test_a_second_fit_has_nothing_left_to_do(name: str, setting: dict[str, Any]) -> None:
    X, y = table(name)
    model = getattr(tenfold, name)(warm_start=True, **setting)
    coef, first = model.fit(X, y).coef_, np.max(model.n_iter_)
    again = model.fit(X, y)
    assert np.max(again.n_iter_) <= 1 < first
    np.testing.assert_allclose(again.coef_, coef, rtol=1e-6, atol=1e-8)
    assert np.max(model.set_params(warm_start=False).fit(X, y).n_iter_) == first


@pytest.mark.parametrize(("name", "setting"), SETTINGS, ids=str)
def test_where_it_ends_does_not_depend_on_the_start(name: str, setting: dict[str, Any]) -> None:
    X, y = table(name)
    model = getattr(tenfold, name)(warm_start=True, **setting).fit(X[::-1] + 1.0, y)
    for rows in (X, sp.csr_array(X)):
        fresh = getattr(tenfold, name)(**setting).fit(rows, y)
        np.testing.assert_allclose(model.fit(rows, y).coef_, fresh.coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "setting"), SETTINGS, ids=str)
def test_other_columns_or_classes_start_anew(name: str, setting: dict[str, Any]) -> None:
    X, y = table(name)
    model = getattr(tenfold, name)(warm_start=True, **setting).fit(X[:, :3], y)
    fresh = getattr(tenfold, name)(**setting).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).coef_, fresh.coef_)
    if name == "LogisticRegression":
        np.testing.assert_array_equal(model.fit(X, y > 0).coef_, tenfold.LogisticRegression().fit(X, y > 0).coef_)


def test_many_columns() -> None:
    X, y = table("Lasso", 4100)
    model = tenfold.Lasso(warm_start=True, alpha=0.1)
    first = model.fit(X, y).n_iter_
    assert model.fit(X, y).n_iter_ <= 2 < first


def test_few_passes_go_on() -> None:
    X, y = table("LogisticRegression")
    model = tenfold.LogisticRegression(max_iter=1, warm_start=True, tol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tenfold.NotConverged)
        for _ in range(30):
            model.fit(X, y)
    np.testing.assert_allclose(model.coef_, tenfold.LogisticRegression(tol=1e-8).fit(X, y).coef_, rtol=1e-6)
