"""Leave-one-out in closed form, leave-p-out by merging: equal to refitting, also where digits are short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes, load_wine

import tenfold
from tenfold.base import check
from tenfold.base.estimator import log_softmax
from tenfold.base.sklearn_api import fresh
from tenfold.evaluate import LeaveOneOut, LeavePOut
from tenfold.evaluate.validate.leave_out import leave_one_out_coefficients, leave_one_out_outputs
from tenfold.evaluate.validate.merges import all_but_some

PRIORS = [0.2, 0.3, 0.5]
REGRESSORS = [
    tenfold.LinearRegression(),
    tenfold.LinearRegression(fit_intercept=False),
    tenfold.LinearRegression(solver="qr"),
    tenfold.Ridge(alpha=0.1),
    tenfold.Ridge(alpha=2.0, fit_intercept=False),
]
CLASSIFIERS = [
    tenfold.GaussianNB(),
    tenfold.GaussianNB(var_smoothing=0.1, priors=PRIORS),
    tenfold.NearestCentroid(),
    tenfold.NearestCentroid(priors="empirical"),
    tenfold.LinearDiscriminantAnalysis(),
    tenfold.LinearDiscriminantAnalysis(priors=PRIORS),
    tenfold.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    tenfold.LinearDiscriminantAnalysis(solver="svd", shrinkage=0.3),
    tenfold.LinearDiscriminantAnalysis(solver="eigen"),
    tenfold.QuadraticDiscriminantAnalysis(),
    tenfold.QuadraticDiscriminantAnalysis(reg_param=0.1),
    tenfold.QuadraticDiscriminantAnalysis(shrinkage=0.1, reg_param=0.01, priors=PRIORS),
]


def weights(n: int, weighted: bool) -> np.ndarray | None:
    return np.random.default_rng(0).uniform(0.5, 3, size=n) if weighted else None


def closed_form(model: Any, X: Any, y: Any, w: Any = None) -> np.ndarray:
    source = check.in_memory(model, X, y, w)
    outputs = leave_one_out_outputs(fresh(model)._fit(source), source)
    assert outputs is not None, "no closed form"
    return outputs


def refitted(model: Any, X: Any, y: Any, w: Any = None) -> np.ndarray:
    rows = []
    for i in range(len(y)):
        k = np.arange(len(y)) != i
        fitted = fresh(model).fit(X[k], y[k], None if w is None else w[k])
        rows.append(fitted._outputs(np.ascontiguousarray(X[i : i + 1]))[0])
    return np.array(rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_regression(model: Any, weighted: bool) -> None:
    X, y = (part[:120] for part in load_diabetes(return_X_y=True))
    w = weights(len(y), weighted)
    np.testing.assert_allclose(closed_form(model, X, y, w), refitted(model, X, y, w), rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_classification(model: Any, weighted: bool) -> None:
    X, y = (part[::2].copy() for part in load_wine(return_X_y=True))
    w = weights(len(y), weighted)
    found, expected = closed_form(model, X, y, w), refitted(model, X, y, w)
    np.testing.assert_allclose(log_softmax(found[:, :3]), log_softmax(expected[:, :3]), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(found[:, 3:], expected[:, 3:])  # the choice, where it is told


def test_several_targets_sparse_rows_and_float32() -> None:
    X, y = (part[:80] for part in load_diabetes(return_X_y=True))
    Y = np.column_stack([y, y**2])
    np.testing.assert_allclose(
        closed_form(tenfold.Ridge(), X, Y), refitted(tenfold.Ridge(), X, Y), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(
        closed_form(tenfold.Ridge(), csr_array(X), y), closed_form(tenfold.Ridge(), X, y), rtol=1e-10
    )
    single = X.astype(np.float32)
    for model, target in ((tenfold.Ridge(), y), (tenfold.GaussianNB(), y > 150)):
        np.testing.assert_allclose(
            closed_form(model, single, target), refitted(model, single, target), rtol=1e-5, atol=1e-4
        )


def test_nearly_dependent_columns() -> None:
    t = np.linspace(0, 1, 50)
    X, y = np.vander(t, 9)[:, :-1], np.sin(5 * t)
    np.testing.assert_allclose(
        closed_form(tenfold.LinearRegression(), X, y), refitted(tenfold.LinearRegression(), X, y), rtol=1e-8
    )


def test_a_row_that_decides_alone_is_refitted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 2] = 0.0
    X[5, 2] = 1.0  # only this row tells about the last column: its leverage is 1
    y = rng.normal(size=40)
    with pytest.warns(tenfold.Degenerate):
        found = closed_form(tenfold.LinearRegression(), X, y)
        expected = refitted(tenfold.LinearRegression(), X, y)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    far = rng.normal(size=(60, 2))
    far[0] = [1e6, 3.0]  # carries nearly all of the spread of its class
    labels = np.arange(60) % 2
    for model in (tenfold.GaussianNB(), tenfold.QuadraticDiscriminantAnalysis(), tenfold.NearestCentroid()):
        np.testing.assert_allclose(
            log_softmax(closed_form(model, far, labels)[1:, :2]),
            log_softmax(refitted(model, far, labels)[1:, :2]),
            rtol=1e-7,
            atol=1e-8,
        )
        np.testing.assert_allclose(closed_form(model, far, labels)[0], refitted(model, far, labels)[0], rtol=1e-8)


def small_table(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Few rows, units and means of all sizes; some with whole numbers, an outlier, or dependent columns."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 30)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 4, size=p) + 10.0 ** rng.integers(-2, 2)
    kind = seed % 4
    if kind == 1:
        X = np.round(3 * X / X.std(axis=0))
    if kind == 2:
        X[0] *= 1e4
    if kind == 3 and p > 1:
        X[:, 1] = 2 * X[:, 0]
    y = X @ rng.normal(size=p) + rng.normal(size=n)
    return X, np.arange(n) % 2, y, None if seed % 3 else 10.0 ** rng.uniform(-1, 1, size=n)


@pytest.mark.filterwarnings("ignore::tenfold.Degenerate")
@pytest.mark.parametrize(
    "model",
    [
        tenfold.Ridge(alpha=1e-3),
        tenfold.GaussianNB(),
        tenfold.NearestCentroid(),
        tenfold.LinearDiscriminantAnalysis(),
        tenfold.QuadraticDiscriminantAnalysis(),
        tenfold.QuadraticDiscriminantAnalysis(reg_param=0.2),
    ],
    ids=repr,
)
def test_small_tables_of_all_kinds(model: Any) -> None:
    compared = 0
    for seed in range(40):
        X, labels, y, w = small_table(seed)
        target = y if model.role == "regressor" else labels
        source = check.in_memory(model, X, target, w)
        found = leave_one_out_outputs(fresh(model)._fit(source), source)
        if found is None:
            continue
        expected = refitted(model, X, target, w)
        if model.role == "classifier":
            np.testing.assert_array_equal(found[:, 2:], expected[:, 2:], err_msg=str(seed))
            found, expected = log_softmax(found[:, :2]), log_softmax(expected[:, :2])
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max(), err_msg=str(seed))
        compared += 1
    assert compared >= 15


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_coefficients_without_each_row(fit_intercept: bool) -> None:
    X, y = (part[:60] for part in load_diabetes(return_X_y=True))
    w = weights(60, True)
    model = tenfold.Ridge(alpha=0.1, fit_intercept=fit_intercept)
    source = check.in_memory(model, X, y, w)
    found = leave_one_out_coefficients(fresh(model)._fit(source), source)
    assert found is not None
    for i in range(60):
        k = np.arange(60) != i
        one = fresh(model).fit(X[k], y[k], w[k])
        np.testing.assert_allclose(found[i], [*one.coef_, one.intercept_], rtol=1e-8)


def test_cross_validation_uses_it() -> None:
    X, y = load_wine(return_X_y=True)
    for model in (tenfold.LinearDiscriminantAnalysis(), tenfold.NearestCentroid()):
        result = tenfold.cross_validate(model, X, y, folds=LeaveOneOut())
        assert result.method == "closed form" and result.scores.shape == (1, len(y))
        right = [model.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] == y[i] for i in range(len(y))]
        np.testing.assert_array_equal(result.scores[0], right)
        np.testing.assert_array_equal(result.predictions == y, right)
    by_number = tenfold.cross_validate(model, X, y, folds=len(y))
    assert by_number.mean == result.mean and by_number.method == "closed form"
    shrunk = tenfold.NearestCentroid(shrink_threshold=0.5)
    assert tenfold.cross_validate(shrunk, X, y, folds=LeaveOneOut()).method == "merged statistics"


@pytest.mark.parametrize("score", ["mse", "mae", "rmse", "r2"])
def test_leave_one_out_scores(score: str) -> None:
    X, y = (part[:80] for part in load_diabetes(return_X_y=True))
    result = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=LeaveOneOut(), score=score)
    error = y - refitted(tenfold.Ridge(), X, y)[:, 0]
    expected = {
        "mse": (error**2).mean(),
        "mae": np.abs(error).mean(),
        "rmse": np.sqrt((error**2).mean()),
        "r2": 1 - (error**2).sum() / ((y - y.mean()) ** 2).sum(),
    }
    np.testing.assert_allclose(result.mean, expected[score], rtol=1e-8)
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", [1.0, 5.0], folds=LeaveOneOut(), score=score)
    np.testing.assert_allclose(path.mean[0], expected[score], rtol=1e-8)


def test_all_but_some_by_brute_force() -> None:
    from itertools import combinations

    values = [2**i for i in range(7)]
    for p in (1, 2, 3, 6):
        expected = [sum(values) - sum(left) for left in combinations(values, p)]
        assert all_but_some(values, p) == expected


def test_leave_two_out_equals_refitting() -> None:
    X, y = (part[:14, ...] for part in load_diabetes(return_X_y=True))
    X = X[:, :3]
    result = tenfold.cross_validate(tenfold.Ridge(alpha=0.01), X, y, folds=LeavePOut(2), score="mse")
    assert result.scores.shape == (1, 91) and result.method == "merged statistics"
    for score, (train, test) in zip(result.scores[0], LeavePOut(2).split(X), strict=True):
        fitted = tenfold.Ridge(alpha=0.01).fit(X[train], y[train])
        np.testing.assert_allclose(score, ((fitted.predict(X[test]) - y[test]) ** 2).mean(), rtol=1e-8)
    with pytest.raises(tenfold.BadInput, match="splits"):
        tenfold.cross_validate(tenfold.Ridge(), np.zeros((5000, 1)), np.arange(5000.0), folds=LeavePOut(2))


@pytest.mark.parametrize("model", [*REGRESSORS[:1], tenfold.Ridge(), *(CLASSIFIERS[i] for i in (0, 2, 4, 9))], ids=repr)
def test_all_rows_are_read_twice_and_nothing_is_fitted_again(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass for the fit to all rows, one for what each of them would be predicted without it."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, size=20_000)
    X = rng.normal(size=(20_000, 20)) + 0.3 * labels[:, None]
    target = X @ rng.normal(size=20) + rng.normal(size=20_000) if model.role == "regressor" else labels
    source, fits, reads = check.check_fit(fresh(model), X, target), [], []
    fit, where = type(model)._fit, type(source).where
    monkeypatch.setattr(type(model), "_fit", lambda self, *given: (fits.append(1), fit(self, *given))[1])
    monkeypatch.setattr(type(source), "where", lambda self, part: (reads.append(part), where(self, part))[1])
    assert leave_one_out_outputs(fresh(model)._fit(source), source) is not None
    assert len(fits) == 1 and len(reads) <= 2 * source.n_parts
