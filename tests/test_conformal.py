"""Conformal prediction: by brute force, and by how often the truth is inside."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.base.estimator import softmax
from tenfold.base.sklearn_api import fresh
from tenfold.evaluate import Conformal

Data = tuple[np.ndarray, np.ndarray]


def numbers(seed: int, n: int) -> Data:
    """Noise that grows with the first column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X @ [1.0, 2.0, 0.0, 1.0] + rng.normal(size=n) * np.exp(0.7 * X[:, 0])


def classes(seed: int, n: int) -> Data:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    return rng.normal(size=(n, 4)) + 0.6 * y[:, None], y


QUANTILE = tenfold.QuantileRegressor(alpha=0.0)


def coverage(make: Callable[[], Conformal], data: Callable[[int, int], Data]) -> float:
    """The share of new rows whose truth is inside, over 40 data sets of 500 rows (its standard error: 0.003)."""
    inside = []
    for seed in range(40):
        model, (X, y) = make().fit(*data(seed, 500)), data(10_000 + seed, 300)
        if model.role == "regressor":
            low, high = model.predict_interval(X).T
            inside.append(((low <= y) & (y <= high)).mean())
        else:
            inside.append(model.predict_set(X)[np.arange(len(y)), y].mean())
    return float(np.mean(inside))


@pytest.mark.parametrize(
    "kwargs",
    [
        dict(),
        dict(method="jackknife+"),
        dict(method="split"),
        dict(scale=tenfold.Ridge()),
        dict(method="split", scale=tenfold.Ridge()),
        dict(model=QUANTILE, method="cqr"),
    ],
    ids=str,
)
def test_intervals_cover_as_often_as_they_say(kwargs: dict) -> None:
    kwargs = {"model": tenfold.Ridge(), **kwargs}
    assert 0.88 <= coverage(lambda: Conformal(**kwargs), numbers) <= 0.93


@pytest.mark.parametrize("kwargs", [dict(), dict(sets="aps"), dict(method="split")], ids=str)
def test_sets_cover_as_often_as_they_say(kwargs: dict) -> None:
    make = lambda: Conformal(tenfold.LinearDiscriminantAnalysis(), **kwargs)  # noqa: E731
    assert 0.88 <= coverage(make, classes) <= 0.93


def smallest(values: Any, k: int) -> float:
    return np.inf if k > len(values) else -np.inf if k < 1 else float(np.sort(values)[k - 1])


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_cv_plus_by_brute_force(level: float) -> None:
    X, y = numbers(0, 60)
    new, _ = numbers(1, 5)
    model = Conformal(tenfold.Ridge(), folds=5, coverage=level).fit(X, y)
    residual, value = np.empty(60), np.empty((60, 5))
    for k in range(5):
        out = model.fold_ == k
        one = tenfold.Ridge().fit(X[~out], y[~out])
        residual[out], value[out] = np.abs(y[out] - one.predict(X[out])), one.predict(new)
    np.testing.assert_allclose(model.scores_, residual, rtol=1e-8)
    for row, (low, high) in enumerate(model.predict_interval(new)):
        np.testing.assert_allclose(low, smallest(value[:, row] - residual, floor((1 - level) * 61)), rtol=1e-8)
        np.testing.assert_allclose(high, smallest(value[:, row] + residual, ceil(level * 61)), rtol=1e-8)


@pytest.mark.parametrize(("rows", "level"), [(9, 0.9), (99, 0.9), (64, 0.8)])
def test_intervals_of_mirrored_targets_are_mirrored(rows: int, level: float) -> None:
    X, y = numbers(0, rows)
    there, back = (Conformal(tenfold.Ridge(), folds=3, coverage=level).fit(X, sign * y).predict_interval(X[:5]) for sign in (1, -1))
    assert np.isfinite(there).all()
    np.testing.assert_allclose(there, -back[:, ::-1], rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_jackknife_plus_closed_form_equals_refitting(weighted: bool) -> None:
    X, y = numbers(0, 50)
    new, _ = numbers(1, 5)
    w = np.random.default_rng(0).uniform(0.5, 2, size=50) if weighted else None
    model = Conformal(tenfold.LinearRegression(), method="jackknife+").fit(X, y, w)
    assert "coefficients_" in vars(model)
    residual, value = np.empty(50), np.empty((50, 5))
    for i in range(50):
        k = np.arange(50) != i
        one = tenfold.LinearRegression().fit(X[k], y[k], None if w is None else w[k])
        residual[i], value[i] = abs(y[i] - one.predict(X[i : i + 1])[0]), one.predict(new)
    np.testing.assert_allclose(model.scores_, residual, rtol=1e-8)
    expected = [smallest(value[:, r] + residual, ceil(0.9 * 51)) for r in range(5)]
    np.testing.assert_allclose(model.predict_interval(new)[:, 1], expected, rtol=1e-8)


@pytest.mark.parametrize("sets", ["lac", "aps"])
def test_sets_by_brute_force(sets: str) -> None:
    X, y = classes(0, 90)
    new, _ = classes(1, 20)
    model = Conformal(tenfold.GaussianNB(), folds=4, sets=sets).fit(X, y)

    def scores(p: np.ndarray) -> np.ndarray:
        if sets == "lac":
            return 1 - p
        return np.array([[row[row >= one].sum() for one in row] for row in p])

    held, fresh_scores = np.empty(90), np.empty((90, 20, 3))
    for k in range(4):
        out = model.fold_ == k
        one = tenfold.GaussianNB().fit(X[~out], y[~out])
        held[out] = scores(one.predict_proba(X[out]))[np.arange(out.sum()), y[out]]
        fresh_scores[out] = scores(one.predict_proba(new))
    below = (held[:, None, None] < fresh_scores - 1e-12).sum(axis=0)
    np.testing.assert_array_equal(model.predict_set(new), below < 0.9 * 91)


def test_local_scale_makes_intervals_follow_the_noise() -> None:
    X, y = numbers(0, 800)
    plain = Conformal(tenfold.Ridge(), scale=None).fit(X, y)
    scaled = Conformal(tenfold.Ridge(), scale=tenfold.Ridge()).fit(X, y)
    quiet, loud = np.array([[-1.5, 0, 0, 0.0]]), np.array([[1.5, 0, 0, 0.0]])
    width = lambda model, row: float(np.ptp(model.predict_interval(row)))  # noqa: E731
    assert width(scaled, loud) > 4 * width(scaled, quiet)
    assert abs(width(plain, loud) / width(plain, quiet) - 1) < 0.2


def test_intervals_of_uneven_noise_hold_every_quarter_of_the_rows() -> None:
    """From 150 rows on sizes of residuals are learned; below, and for jackknife+ and classes, they are the same everywhere."""
    held: dict[str, list[list[float]]] = {"same": [], "auto": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, new = rng.normal(size=(200, 3)), rng.normal(size=(2000, 3))
        y, truth = (rows[:, 1] + np.exp(0.7 * rows[:, 0]) * rng.normal(size=len(rows)) for rows in (X, new))
        quarter = np.argsort(np.argsort(new[:, 0])) * 4 // len(new)
        for name, scale in (("same", None), ("auto", "auto")):
            low, high = Conformal(tenfold.Ridge(), scale=scale).fit(X, y).predict_interval(new).T
            inside = (low <= truth) & (truth <= high)
            held[name].append([float(inside[quarter == q].mean()) for q in range(4)])
    same, auto = (np.mean(held[name], axis=0) for name in ("same", "auto"))
    assert same.min() < 0.75 and auto.min() > 0.87 and 0.88 < auto.mean() < 0.94
    few = Conformal(tenfold.Ridge()).fit(X[:149], y[:149])
    assert few.sizes_ == [None] * 10 and Conformal(tenfold.GaussianNB()).fit(X, y > 0).sizes_ == [None] * 10
    assert "coefficients_" in vars(Conformal(tenfold.Ridge(), method="jackknife+").fit(X, y))
    with pytest.raises(tenfold.BadParameter, match="scale='forest'"):
        Conformal(tenfold.Ridge(), scale="forest").fit(X, y)


def test_few_rows_give_infinite_intervals_and_full_sets() -> None:
    X, y = numbers(0, 8)
    assert np.isinf(Conformal(tenfold.Ridge(), folds=4, coverage=0.95).fit(X, y).predict_interval(X)).all()
    X, y = classes(0, 12)
    model = Conformal(tenfold.NearestCentroid(), folds=3, coverage=0.95).fit(X, y)
    assert model.predict_set(X).all()


def test_it_is_a_learner_with_parameters() -> None:
    X, y = numbers(0, 100)
    model = Conformal(tenfold.Ridge(alpha=3.0), coverage=0.8)
    copy = fresh(model).set_params(model__alpha=2.0).fit(X, y)
    assert copy.model.alpha == 2.0 and model.model.alpha == 3.0 and "Ridge" in repr(copy)
    np.testing.assert_array_equal(copy.predict(X), tenfold.Ridge(alpha=2.0).fit(X, y).predict(X))
    wide, narrow = (np.ptp(copy.predict_interval(X, coverage=c), axis=1) for c in (0.95, 0.5))
    assert (wide > narrow).all()
    ends = [tenfold.QuantileRegressor(alpha=0.0, quantile=q) for q in (0.05, 0.95)]
    pair, alone = Conformal(tuple(ends), method="cqr").fit(X, y), Conformal(QUANTILE, method="cqr").fit(X, y)
    np.testing.assert_allclose(pair.predict_interval(X), alone.predict_interval(X), rtol=1e-9)
    np.testing.assert_allclose(alone.predict(X), alone.predict_interval(X).mean(axis=1), rtol=1e-9)
    piped = Conformal(tenfold.make_pipeline(tenfold.StandardScaler(), QUANTILE), method="cqr").fit(X, y)
    np.testing.assert_allclose(piped.predict_interval(X), alone.predict_interval(X), rtol=1e-6)


def test_quantiles_follow_a_spread_that_changes() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, size=(600, 1))
    y = x[:, 0] + (0.1 + x[:, 0]) * rng.normal(size=600)
    width = np.ptp(Conformal(QUANTILE, method="cqr").fit(x, y).predict_interval([[0.2], [2.8]]), axis=1)
    assert width[1] > 3 * width[0]
    assert np.ptp(np.ptp(Conformal(tenfold.Ridge(), method="split", scale=None).fit(x, y).predict_interval(x), axis=1)) < 1e-9


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        (dict(coverage=1.5), "coverage"),
        (dict(coverage=1.0), "below 1"),
        (dict(method="bayes"), "method"),
        (dict(model=None), "give a classifier"),
        (dict(method="cqr"), "quantile"),
        (dict(folds=1), "folds"),
        (dict(model=tenfold.GaussianNB(), scale=tenfold.Ridge()), "no residuals"),
        (dict(model=tenfold.GaussianNB(), method="cqr"), "quantile regressors"),
    ],
)
def test_bad_requests_are_told(kwargs: dict, words: str) -> None:
    X, y = classes(0, 40)
    with pytest.raises(tenfold.TenfoldError, match=words):
        Conformal(**{"model": tenfold.Ridge(), **kwargs}).fit(X, y)


def test_wrong_verbs_and_unfitted_are_told() -> None:
    X, y = classes(0, 40)
    with pytest.raises(tenfold.NotFitted, match="not fitted"):
        Conformal(tenfold.Ridge()).predict_interval(X)
    with pytest.raises(tenfold.BadInput, match="predict_interval"):
        Conformal(tenfold.Ridge()).fit(X, y).predict_set(X)
    with pytest.raises(tenfold.BadInput, match="predict_set"):
        Conformal(tenfold.GaussianNB()).fit(X, y).predict_interval(X)
    with pytest.raises(tenfold.BadInput, match="one target"):
        Conformal(tenfold.Ridge()).fit(X, X)
    with pytest.raises(tenfold.BadParameter, match="between 0 and 1"):
        Conformal(tenfold.Ridge()).fit(X, y).predict_interval(X, coverage=2)


def test_probabilities_of_the_folds_are_those_of_the_models() -> None:
    X, y = classes(3, 60)
    model = Conformal(tenfold.LinearDiscriminantAnalysis(), folds=3).fit(X, y)
    for k, one in enumerate(model.models_):
        rows = np.flatnonzero(model.fold_ == k)
        p = softmax(one._scores(X[rows]))[np.arange(len(rows)), y[rows]]
        np.testing.assert_allclose(model.scores_[rows], 1 - p, rtol=1e-12)
