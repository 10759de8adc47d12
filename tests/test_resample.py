"""The bootstrap estimate of error: by brute force, and against the true error in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

import tenfold
from tenfold.core.threads import single_blas
from tenfold.evaluate.validate.resample import _plus, bootstrap_error, no_information
from tenfold.score.registry import SCORES


def test_out_of_bag_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=40)
    found = bootstrap_error(tenfold.Ridge(), X, y, replicates=30, random_state=5)
    draw = np.random.default_rng(5)
    total, seen = np.zeros(40), np.zeros(40)
    for _ in range(30):
        rows = draw.integers(0, 40, size=40)
        out = np.setdiff1d(np.arange(40), rows)
        total[out] += (tenfold.Ridge().fit(X[rows], y[rows]).predict(X[out]) - y[out]) ** 2
        seen[out] += 1
    np.testing.assert_allclose(found.out_of_bag, (total / seen).mean(), rtol=1e-9)
    fit = tenfold.Ridge().fit(X, y).predict(X)
    np.testing.assert_allclose(found.training, ((fit - y) ** 2).mean(), rtol=1e-10)
    np.testing.assert_allclose(found.no_information, ((y[:, None] - fit) ** 2).mean(), rtol=1e-10)
    np.testing.assert_allclose(found.point632, 0.368 * found.training + 0.632 * found.out_of_bag, rtol=1e-12)


@pytest.mark.parametrize("loss", ["error", "log_loss"])
def test_no_information_rate_of_classes_by_brute_force(loss: str) -> None:
    rng = np.random.default_rng(0)
    codes, scores = rng.integers(0, 3, size=30), rng.normal(size=(30, 3))
    row_loss = SCORES[loss].row_loss
    assert row_loss is not None
    pairs = [row_loss(np.full(30, code), scores).mean() for code in codes]
    np.testing.assert_allclose(no_information(row_loss, codes, scores, np.full(30, 1 / 30)), np.mean(pairs), rtol=1e-12)


def test_plus_moves_with_overfitting() -> None:
    np.testing.assert_allclose(_plus(0.2, 0.2, 0.5), 0.2, rtol=1e-12)  # no overfitting
    np.testing.assert_allclose(_plus(0.0, 0.5, 0.5), 0.5, rtol=1e-12)  # nothing but overfitting


@pytest.mark.parametrize("case", ["regression", "classes"])
@single_blas  # thousands of small products, which threads of BLAS would only slow down
def test_the_promise_in_simulation(case: str) -> None:
    """200 data sets: the mean .632+ estimate is within 2 standard errors of the true error of the fit to all rows, the mean
    out-of-bag error within 2 of that of fits to drawn rows, which is what it estimates.
    """
    rng = np.random.default_rng(1)
    gaps = []
    for seed in range(200):
        X, fresh = rng.normal(size=(60, 4)), rng.normal(size=(4000, 4))
        y, new = X[:, 0] + rng.normal(size=60), fresh[:, 0] + rng.normal(size=4000)
        model = tenfold.LinearRegression() if case == "regression" else tenfold.LinearDiscriminantAnalysis()
        if case == "classes":
            y, new = (y > 0) * 1, (new > 0) * 1

        def error(rows: np.ndarray) -> float:
            found = model.fit(X[rows], y[rows]).predict(fresh)  # noqa: B023
            return float(((found - new) ** 2).mean() if case == "regression" else (found != new).mean())  # noqa: B023

        found = bootstrap_error(model, X, y, replicates=40, random_state=1000 + seed)
        drawn = np.mean([error(rng.integers(0, 60, 60)) for _ in range(3)])
        gaps.append((found.point632_plus - error(np.arange(60)), found.out_of_bag - drawn))
    gaps = np.array(gaps)
    assert (np.abs(gaps.mean(axis=0)) < 2 * gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))).all(), gaps.mean(axis=0)


def test_weights_and_bad_requests() -> None:
    X, y = load_wine(return_X_y=True)
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.GaussianNB())
    found = bootstrap_error(model, X, y, replicates=30)
    assert 0 <= found.training <= found.point632_plus <= found.out_of_bag < 0.1 and ".632+" in str(found)
    w = np.where(y == 2, 0.0, 1.0)
    two = bootstrap_error(model, X, y, sample_weight=w, replicates=30)
    alone = bootstrap_error(model, X[y < 2], y[y < 2], replicates=30)
    np.testing.assert_allclose(two.out_of_bag, alone.out_of_bag, rtol=1e-12)
    for bad in (dict(loss="mse"), dict(replicates=0), dict(replicates=1)):
        with pytest.raises(tenfold.TenfoldError):
            bootstrap_error(model, X, y, **bad)
    with pytest.raises(tenfold.BadInput, match="nothing to judge"):
        bootstrap_error(tenfold.PCA(), X, y)
