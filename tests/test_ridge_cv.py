"""RidgeCV: leave-one-out in closed form against refitting, scikit-learn's choice, folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV as SklearnRidgeCV
from sklearn.metrics import make_scorer, mean_absolute_error

import tenfold

ALPHAS = np.logspace(-2, 4, 13)


def table(targets: int = 1) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12)) @ rng.normal(size=(12, 12)) + 5
    Y = X @ rng.normal(size=(12, targets)) + 4 * rng.normal(size=(40, targets)) + 100
    return X, Y[:, 0] if targets == 1 else Y, rng.integers(0, 3, 40)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 3])
def test_equal_to_scikit_learn(targets: int, fit_intercept: bool) -> None:
    X, Y, _ = table(targets)
    ours = tenfold.RidgeCV(ALPHAS, fit_intercept=fit_intercept).fit(X, Y)
    peer = SklearnRidgeCV(ALPHAS, fit_intercept=fit_intercept).fit(X, Y)
    assert ours.alpha_ == peer.alpha_
    assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-8)


def test_leave_one_out_is_refitting() -> None:
    """A row is left out whole, whatever its weight: of s copies that stayed, the others would tell what it is."""
    X, y, w = table()
    found = tenfold.RidgeCV([3.0]).fit(X, y, w)
    errors = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = tenfold.Ridge(3.0).fit(X[rest], y[rest], w[rest])
        errors.append(float(y[i] - model.predict(X[i : i + 1])[0]) ** 2)
    assert found.best_score_ == pytest.approx(-np.average(errors, weights=w), rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "r2"])
def test_weights_as_in_scikit_learn(scoring: str | None, targets: int, fit_intercept: bool) -> None:
    X, Y, w = table(targets)
    w = w + np.linspace(0.1, 30.0, len(w))
    setting: dict[str, Any] = dict(scoring=scoring, fit_intercept=fit_intercept, store_cv_results=True)
    ours, peer = (library(ALPHAS, **setting).fit(X, Y, w) for library in (tenfold.RidgeCV, SklearnRidgeCV))
    assert ours.alpha_ == peer.alpha_
    np.testing.assert_allclose(ours.cv_results_, peer.cv_results_, rtol=1e-6)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-7)
    mean = len(w) / w.sum() if scoring is None else 1.0  # theirs is a sum of weights times errors, by the number of rows
    assert ours.best_score_ == pytest.approx(mean * peer.best_score_, rel=1e-7)


def test_large_weights_do_not_look_like_training_error() -> None:
    X, y, _ = table()
    plain = tenfold.RidgeCV(ALPHAS).fit(X, y)
    heavy = tenfold.RidgeCV(1000 * ALPHAS).fit(X, y, np.full(len(y), 1000.0))
    assert heavy.alpha_ == 1000 * plain.alpha_
    assert heavy.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)


def test_rows_of_weight_zero_keep_their_place() -> None:
    X, y, w = table()
    assert (w == 0).any()
    errors = tenfold.RidgeCV(ALPHAS, store_cv_results=True).fit(X, y, w).cv_results_
    assert errors.shape == (len(y), len(ALPHAS)) and ((errors == 0).all(axis=1) == (w == 0)).all()


@pytest.mark.parametrize("targets", [1, 3])
def test_folds_equal_scikit_learn(targets: int) -> None:
    X, Y, _ = table(targets)
    ours, peer = tenfold.RidgeCV(ALPHAS, cv=4).fit(X, Y), SklearnRidgeCV(ALPHAS, cv=4).fit(X, Y)
    assert ours.alpha_ == peer.alpha_
    assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-8)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-7)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 60))
    y = X[:, 0] + rng.normal(size=20)
    ours, peer = tenfold.RidgeCV(ALPHAS).fit(X, y), SklearnRidgeCV(ALPHAS).fit(X, y)
    assert ours.alpha_ == peer.alpha_
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-6)


NAMES = ["r2", "explained_variance", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error",
         "neg_median_absolute_error", "neg_max_error"]  # fmt: skip


OF_TARGETS = [(name, targets) for name in NAMES for targets in (1, 3) if (name, targets) != ("neg_max_error", 3)]  # theirs is of one target


@pytest.mark.parametrize("scoring, targets", OF_TARGETS)
def test_scores_are_those_of_scikit_learn(scoring: str, targets: int) -> None:
    X, Y, _ = table(targets)
    for cv in (None, 4):
        ours = tenfold.RidgeCV(ALPHAS, scoring=scoring, cv=cv).fit(X, Y)
        peer = SklearnRidgeCV(ALPHAS, scoring=scoring, cv=cv).fit(X, Y)
        assert ours.alpha_ == peer.alpha_
        assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-7)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_a_penalty_for_each_target_and_what_leaving_out_gave(scoring: str | None) -> None:
    X, Y, _ = table(3)
    Y = Y * [1.0, 5.0, 1.0] + np.random.default_rng(5).normal(size=Y.shape) * [0.0, 0.0, 30.0]
    setting: dict[str, Any] = dict(alpha_per_target=True, store_cv_results=True, scoring=scoring)
    ours, peer = tenfold.RidgeCV(ALPHAS, **setting).fit(X, Y), SklearnRidgeCV(ALPHAS, **setting).fit(X, Y)
    assert len(set(peer.alpha_)) > 1, "the table is too easy to test that"
    np.testing.assert_array_equal(ours.alpha_, peer.alpha_)
    np.testing.assert_allclose(ours.best_score_, peer.best_score_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-7)
    np.testing.assert_allclose(ours.cv_results_, peer.cv_results_, rtol=1e-6)
    setting["alpha_per_target"] = scoring is None  # with a score theirs fails on one target
    one, other = (library(ALPHAS, **setting).fit(X, Y[:, 0]) for library in (tenfold.RidgeCV, SklearnRidgeCV))
    np.testing.assert_allclose(one.cv_results_, other.cv_results_, rtol=1e-6)
    assert one.alpha_ == other.alpha_ and isinstance(one.alpha_, float)


def test_a_scorer_of_ones_own() -> None:
    X, y, _ = table()
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    ours, named = (tenfold.RidgeCV(ALPHAS, scoring=one).fit(X, y) for one in (scorer, "neg_mean_absolute_error"))
    assert ours.best_score_ == pytest.approx(named.best_score_, rel=1e-12)

    def broken(model: Any, X: Any, y: Any) -> float:
        raise KeyError("no such thing")

    with pytest.raises(tenfold.BadParameter, match="must return a number, but raised KeyError"):
        tenfold.RidgeCV(scoring=broken).fit(X, y)


@pytest.mark.parametrize("scoring", ["neg_median_absolute_error", "r2", "explained_variance"])
def test_weights_of_scores_are_copies(scoring: str) -> None:
    """In folds that hold all copies of a row."""
    X, y, w = table()
    copies = np.repeat(np.arange(len(y)), w)
    pairs = [(np.arange(len(y)) % 4 != k, np.arange(len(y)) % 4 == k) for k in range(4)]
    splits = [(np.flatnonzero(a & (w > 0)), np.flatnonzero(b & (w > 0))) for a, b in pairs]
    copied = [(np.flatnonzero(a[copies]), np.flatnonzero(b[copies])) for a, b in pairs]
    one = tenfold.RidgeCV(ALPHAS, scoring=scoring, cv=splits).fit(X, y, w)
    other = tenfold.RidgeCV(ALPHAS, scoring=scoring, cv=copied).fit(X[copies], y[copies])
    assert one.best_score_ == pytest.approx(other.best_score_, rel=1e-9)


@pytest.mark.parametrize("wrong", [{"store_cv_results": True}, {"alpha_per_target": True}], ids=str)
def test_options_that_go_with_leaving_one_out(wrong: dict[str, Any]) -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.BadParameter, match="it goes with cv=None"):
        tenfold.RidgeCV(cv=3, **wrong).fit(X, y)


@pytest.mark.parametrize("wrong", [{"alphas": [0.0]}, {"alphas": "all"}, {"scoring": "r3"}, {"cv": 1}], ids=str)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.BadParameter, match=next(iter(wrong))):
        tenfold.RidgeCV(**wrong).fit(X, y)


def test_a_stream_that_can_be_read_once() -> None:
    X, y, _ = table()
    with pytest.raises(tenfold.ReadOnce, match="several passes"):
        tenfold.RidgeCV().fit(iter([(X, y)]))


@pytest.mark.parametrize("p", [12, 200])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_penalty_for_each_target_of_ridge(p: int, fit_intercept: bool) -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(40, p)), rng.normal(size=(40, 3)) + 2
    found = tenfold.Ridge([0.5, 1.0, 20.0], fit_intercept=fit_intercept).fit(X, Y)
    for j, alpha in enumerate([0.5, 1.0, 20.0]):
        alone = tenfold.Ridge(alpha, fit_intercept=fit_intercept).fit(X, Y[:, j])
        np.testing.assert_allclose(found.coef_[j], alone.coef_, rtol=1e-10)
        np.testing.assert_allclose(found.predict(X)[:, j], alone.predict(X), rtol=1e-9)
    assert tenfold.Ridge(solver="svd").fit(X, Y).solver_ == "svd"
    with pytest.raises(tenfold.BadParameter, match="Number of targets and number of penalties do not correspond: 2 != 3"):
        tenfold.Ridge([1.0, 2.0]).fit(X, Y)
    assert np.isfinite(tenfold.cross_validate(tenfold.Ridge(np.array([0.5, 1.0, 20.0])), X, Y, folds=3).mean)


@pytest.mark.parametrize("alphas", [[1.0, [2.0]], [True, 1.0], "x", None, np.array([[1.0]])], ids=str)
def test_penalties_of_another_type(alphas: Any) -> None:
    X, y, _ = table()
    for model in (tenfold.RidgeCV(alphas), tenfold.LassoCV(alphas=alphas)):
        with pytest.raises(TypeError, match="must be an instance of float"):
            model.fit(X, y)
