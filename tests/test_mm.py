"""MM regression: published fits, statsmodels, its own fixed point, gross errors and bad leverage, efficiency."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.solve.biweight import HALF, scale_of

# Brownlee's plant: air flow, water temperature, acid; and the loss of ammonia (in public since 1965).
PLANT = np.array([
    [80, 27, 89, 42], [80, 27, 88, 37], [75, 25, 90, 37], [62, 24, 87, 28], [62, 22, 87, 18], [62, 23, 87, 18],
    [62, 24, 93, 19], [62, 24, 93, 20], [58, 23, 87, 15], [58, 18, 80, 14], [58, 18, 89, 14], [58, 17, 88, 13],
    [58, 18, 82, 11], [58, 19, 93, 12], [50, 18, 89, 8], [50, 18, 86, 7], [50, 19, 72, 8], [50, 19, 79, 8],
    [50, 20, 80, 9], [56, 20, 82, 15], [70, 20, 91, 15],
], dtype=float)  # fmt: skip


def spoiled(kind: str, n: int = 400, p: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    """30 % of the rows spoiled, in y alone or far out in X too; and the true coefficients."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    true = rng.uniform(1, 3, p) * rng.choice([-1, 1], p)
    y = X @ true + 1 + 0.1 * rng.normal(size=n)
    bad = rng.permutation(n)[: int(0.3 * n)]
    if kind == "gross":
        y[bad] = 1000 * rng.normal(size=len(bad))
    else:
        y[bad] = -30 + 0.1 * rng.normal(size=len(bad))
        X[bad] = 5 + (10 if kind == "wide" else 0.1) * rng.normal(size=(len(bad), p))
    return X, y, true


def test_published_fit_of_the_plant() -> None:
    """As robustbase's lmrob prints it."""
    model = tenfold.MMRegressor().fit(PLANT[:, :3], PLANT[:, 3])
    np.testing.assert_allclose(model.intercept_, -41.5246, atol=1e-4)
    np.testing.assert_allclose(model.coef_, [0.9388, 0.5796, -0.1129], atol=1e-4)
    np.testing.assert_allclose(model.scale_, 1.912, atol=5e-4)


def test_statsmodels_from_the_same_start() -> None:
    api = pytest.importorskip("statsmodels.api")
    X, y, _ = spoiled("tight")
    model = tenfold.MMRegressor().fit(X, y)
    theirs = api.RLM(y, api.add_constant(X), M=api.robust.norms.TukeyBiweight(c=4.685)).fit(
        start_params=np.append(model.intercept_ + 0.01, model.coef_ - 0.01),
        start_scale=model.scale_,
        update_scale=False,
        tol=1e-14,
        maxiter=500,
        conv="coefs",
    )
    np.testing.assert_allclose(theirs.params, np.append(model.intercept_, model.coef_), rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [300, 6000], ids=["in one pass", "in many"])
def test_fixed_point(n: int, intercept: bool) -> None:
    """The normal equations of the weighted rows hold."""
    X, y, _ = spoiled("wide", n=n)
    w = np.random.default_rng(1).integers(1, 4, n).astype(float)
    model = tenfold.MMRegressor(fit_intercept=intercept).fit(X, y, w)
    r = y - model.predict(X)
    pull = w * model.weights(X, y) * r / model.scale_ / w.sum()
    np.testing.assert_allclose(pull @ X, 0, atol=1e-11)
    assert abs(pull.sum()) < 1e-11 or not intercept


def test_scale_is_that_of_the_start() -> None:
    """Few rows: the start is the fit of least scale, below that of every subset; the scale solves its equation."""
    X, y, _ = spoiled("tight", n=60)
    model = tenfold.MMRegressor().fit(X, y)
    w, b = np.ones(60), 0.5 * (1 - 4 / 60)
    Z = np.column_stack([X, np.ones(60)])
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = rng.choice(60, 4, replace=False)
        r = y - Z @ np.linalg.solve(Z[rows], y[rows])
        s = scale_of(r, w, b)
        u = np.minimum((r / (HALF * s)) ** 2, 1)
        np.testing.assert_allclose((1 - (1 - u) ** 3).mean(), b, rtol=1e-9)
        assert model.scale_ <= s * (1 + 1e-12)


@pytest.mark.parametrize("p", [1, 3, 15])
@pytest.mark.parametrize("kind", ["gross", "wide", "tight"])
def test_spoiled_rows_do_not_move_it(kind: str, p: int) -> None:
    X, y, true = spoiled(kind, n=1000, p=p)
    model = tenfold.MMRegressor().fit(X, y)
    assert np.linalg.norm(model.coef_ - true) < 0.02 * np.linalg.norm(true)
    assert abs(model.outliers(X, y).mean() - 0.3) < 0.02
    if kind != "gross" and p < 10:
        convex = tenfold.HuberRegressor(max_iter=500).fit(X, y)
        assert np.linalg.norm(convex.coef_ - true) > 0.2 * np.linalg.norm(true)


def test_far_away_by_any_amount() -> None:
    X, y, true = spoiled("tight")
    far = np.abs(X[:, 0] - 5) < 1
    X[far & (y < -25)] *= 1e9
    y[far & (y < -25)] *= 1e9
    np.testing.assert_allclose(tenfold.MMRegressor().fit(X, y).coef_, true, rtol=0.02)


def test_efficiency_for_gaussian_noise() -> None:
    """The variance of least squares over that of coefficients is 0.95, for many rows; of a smaller tuning, less."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 1))
    ours, rough, best = [], [], []
    for _ in range(60):
        y = X[:, 0] + rng.normal(size=60)
        ours.append(tenfold.MMRegressor(n_subsets=10).fit(X, y).coef_[0])
        rough.append(tenfold.MMRegressor(n_subsets=10, tuning=2.0).fit(X, y).coef_[0])
        best.append((X[:, 0] - X.mean()) @ y / ((X - X.mean()) ** 2).sum())
    assert 0.85 < np.var(best) / np.var(ours) < 1.02
    assert np.var(best) / np.var(rough) < 0.7


def test_half_that_fits_exactly_is_told() -> None:
    X, _, true = spoiled("gross", n=50)
    y = X @ true + 1
    y[:20] += np.arange(1, 21)
    with pytest.warns(tenfold.Degenerate, match="fit exactly"):
        model = tenfold.MMRegressor().fit(X, y)
    np.testing.assert_allclose(model.coef_, true, rtol=1e-9)
    assert model.scale_ == 0 and model.weights(X, y)[:20].max() == 0 and model.weights(X, y)[20:].min() == 1


def test_columns_that_depend_on_one_another() -> None:
    X, y, _ = spoiled("tight")
    twice = np.column_stack([X, X[:, 0] - X[:, 1]])
    one, two = tenfold.MMRegressor().fit(X, y), tenfold.MMRegressor().fit(twice, y)
    np.testing.assert_allclose(two.predict(twice), one.predict(X), rtol=1e-6, atol=1e-6)


def test_too_few_steps_and_no_rows_kept() -> None:
    X, y, _ = spoiled("tight")
    with pytest.warns(tenfold.NotConverged, match="raise max_iter"):
        model = tenfold.MMRegressor(max_iter=1, tol=1e-12).fit(X, y)
    with pytest.raises(AttributeError, match=r"call weights\(X, y\)"):
        model.weights_  # noqa: B018
    with pytest.raises(tenfold.BadParameter, match="random_state"):
        tenfold.MMRegressor(random_state=-3).fit(X, y)


def test_more_parameters_than_rows_are_told() -> None:
    """And the solution is the one of least norm."""
    X, y = np.random.default_rng(0).normal(size=(4, 7)), np.arange(4.0)
    with pytest.warns(tenfold.Degenerate, match="4 rows do not determine 8"):
        model = tenfold.MMRegressor().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(centred) @ (y - y.mean()), atol=1e-9)
