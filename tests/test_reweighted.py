"""ReweightedLeastSquares: the likelihood is at its maximum, the truth is found, better than least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import tenfold

Array = np.ndarray[Any, Any]
Model = tenfold.ReweightedLeastSquares


def rows(n: int = 400, seed: int = 0, kind: str = "columns") -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(1, 3, size=(n, 2)) * [1.0, 10.0]
    groups = rng.integers(0, 3, n)
    mean = 2 + X @ [3.0, -0.1]
    log_v = {
        "columns": -3 + X @ [2.0, -0.05],
        "power": 1.5 * np.log(mean) - 3,
        "groups": np.array([-2.0, 0, 2])[groups],
    }
    return X, mean + np.exp(log_v[kind] / 2) * rng.normal(size=n), groups


def deviance(parameters: Array, X: Array, y: Array, s: Array, kind: str, groups: Array) -> float:
    """−2 log likelihood without its constant, from the docstring alone."""
    w, rest = parameters[:3], parameters[3:]
    mean = w[0] + X @ w[1:]
    log_v = rest[0] + X @ rest[1:] if kind == "columns" else rest[groups]
    return float(s @ (log_v + (y - mean) ** 2 / np.exp(log_v)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["columns", "groups"])
def test_the_likelihood_is_at_its_maximum(kind: str, weighted: bool) -> None:
    X, y, groups = rows(kind=kind)
    s = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else np.ones(len(y), dtype=np.int64)
    labels = np.array(["a", "b", "c"])[groups]
    model = Model(variance_model=kind, tol=1e-10).fit(X, y, s, **({"groups": labels} if kind == "groups" else {}))
    first = [model.variance_intercept_] if kind == "columns" else []
    found = np.concatenate([[model.intercept_], model.coef_, first, model.variance_coef_])
    here = deviance(found, X, y, s, kind, groups)
    np.testing.assert_allclose(model.log_likelihood_, -0.5 * (here + s.sum() * np.log(2 * np.pi)), rtol=1e-10)
    best = minimize(deviance, found, args=(X, y, s, kind, groups), method="BFGS")
    assert here <= best.fun + 1e-7
    away = found + 0.01 * np.random.default_rng(2).normal(size=(20, len(found)))
    assert all(deviance(one, X, y, s, kind, groups) > here for one in away)


@pytest.mark.parametrize("kind, truth", [("columns", [2.0, -0.05]), ("power", [1.5]), ("groups", [-2.0, 0.0, 2.0])])
def test_the_truth_is_found(kind: str, truth: list[float]) -> None:
    X, y, groups = rows(20_000, kind=kind)
    given = {"groups": groups} if kind == "groups" else {}
    model = Model(variance_model=kind).fit(X, y, **given)
    np.testing.assert_allclose(model.variance_coef_, truth, rtol=0, atol=0.12)
    np.testing.assert_allclose(model.coef_, [3.0, -0.1], rtol=0.02)
    ratio = (y - model.predict(X)) ** 2 / model.variance(X, **given)
    np.testing.assert_allclose(ratio.mean(), 1.0, rtol=0.05)
    assert abs(np.corrcoef(ratio, model.predict(X))[0, 1]) < 0.03, "what is left of the noise still has a trend"


def test_a_given_power() -> None:
    """With the exponent known it is least squares over the variances of its own predictions, at the fixed point."""
    X, y, _ = rows(kind="power")
    model = Model(variance_model="power", power=1.5, tol=1e-12).fit(X, y)
    assert model.variance_coef_ == [1.5]
    again = tenfold.WeightedLeastSquares().fit(X, y, variance=model.variance(X))
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-8)
    np.testing.assert_allclose(again.inference().standard_errors, model.inference().standard_errors, rtol=1e-7)


def test_smaller_errors_than_least_squares() -> None:
    """In repeated samples the estimates scatter less, and their standard errors say by how much."""
    ours, plain, said = [], [], []
    for seed in range(150):
        X, y, _ = rows(seed=seed)
        model = Model(tol=1e-5).fit(X, y)
        ours.append(model.coef_)
        plain.append(tenfold.LinearRegression().fit(X, y).coef_)
        said.append(model.inference().standard_errors[0, 1:])
    assert (np.std(ours, axis=0) < 0.8 * np.std(plain, axis=0)).all()
    np.testing.assert_allclose(np.std(ours, axis=0), np.mean(said, axis=0), rtol=0.2)


def test_equal_variances_change_little() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=500)
    model, plain = Model().fit(X, y), tenfold.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=0.02)
    assert np.abs(model.variance_coef_).max() < 0.2


def test_an_exact_target() -> None:
    X, _, _ = rows()
    model = Model().fit(X, X @ [1.0, 2.0] + 3)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0], rtol=1e-9)


def test_what_is_told_and_refused() -> None:
    X, y, groups = rows(kind="groups")
    with pytest.raises(tenfold.BadInput, match="needs groups="):
        Model(variance_model="groups").fit(X, y)
    with pytest.raises(tenfold.BadInput, match="takes no groups="):
        Model().fit(X, y, groups=groups)
    with pytest.raises(tenfold.BadInput, match="has 3"):
        Model(variance_model="groups").fit(X, y, groups=[1, 2, 3])
    model = Model(variance_model="groups").fit(X, y, groups=groups)
    with pytest.raises(tenfold.BadInput, match="do not exist in the initial classes"):
        model.variance(X[:1], groups=[7])
    with pytest.raises(tenfold.BadInput, match="groups has 0"):
        model.variance(X)
    with pytest.warns(tenfold.NotConverged, match="raise max_iter"):
        Model(max_iter=2).fit(X, y)
    alone = np.where(np.arange(len(y)) < 9, 9, 1)  # a group without any noise
    y = np.where(alone == 9, 2 + X @ [3.0, -0.1], y)
    with pytest.warns(tenfold.Degenerate, match="at its bound"):
        Model(variance_model="groups").fit(X, y, groups=alone)
    with pytest.warns(tenfold.Degenerate, match="no maximum"):
        few = Model().fit(X[:6], y[:6])
    np.testing.assert_allclose(few.coef_, tenfold.LinearRegression().fit(X[:6], y[:6]).coef_, rtol=1e-8)
