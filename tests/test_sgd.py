"""Stochastic gradient descent: scikit-learn's steps, the optimum of the batch, parts and streams, and what goes wrong told in words."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

import tenfold
from tenfold import SGDClassifier, SGDRegressor

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6))
Y = X @ RNG.normal(size=6) + 0.5 * RNG.normal(size=600)
TWO, THREE = (Y > 0).astype(int), np.array(["a", "b", "c"])[np.digitize(Y, [-1, 1])]
STILL: dict[str, Any] = dict(shuffle=False, max_iter=4, tol=None)
CLASSES: list[dict[str, Any]] = [
    dict(), dict(loss="log_loss", eta0=0.1, learning_rate="invscaling"), dict(loss="squared_hinge", alpha=0.1, learning_rate="constant"),
    dict(penalty="l1"), dict(loss="modified_huber", alpha=0.01, penalty="elasticnet", learning_rate="adaptive"),
    dict(loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0),
    dict(learning_rate="pa1", eta0=1.0, penalty=None), dict(class_weight="balanced"), dict(class_weight={}, average=30, alpha=0.01),
    dict(loss="huber", fit_intercept=False, learning_rate="invscaling", eta0=0.1),
]  # fmt: skip
NUMBERS: list[dict[str, Any]] = [
    dict(), dict(loss="huber", epsilon=0.5, average=True), dict(loss="epsilon_insensitive", learning_rate="pa2", eta0=1.0, penalty=None),
    dict(loss="squared_epsilon_insensitive", penalty="l1", alpha=0.01), dict(learning_rate="adaptive"),
    dict(learning_rate="optimal", alpha=0.1),
]  # fmt: skip


def same_as_scikit_learn(name: str, setting: dict[str, Any], rows: Any, y: Array) -> None:
    one, other = (getattr(home, name)(**setting, **STILL).fit(rows, y) for home in (tenfold, sklearn.linear_model))
    for attribute in ("coef_", "intercept_", "t_", "n_iter_"):
        assert_allclose(getattr(one, attribute), getattr(other, attribute), rtol=1e-8, atol=1e-10)
        assert np.shape(getattr(one, attribute)) == np.shape(getattr(other, attribute))
    assert_array_equal(one.predict(rows), other.predict(rows)) if y.dtype.kind != "f" else assert_allclose(
        one.predict(rows), other.predict(rows), rtol=1e-8
    )


@pytest.mark.parametrize("rows", [X, csr_array(X * (np.abs(X) > 0.6))], ids=["dense", "sparse"])
@pytest.mark.parametrize("setting", CLASSES, ids=str)
def test_classes_are_those_of_scikit_learn(setting: dict[str, Any], rows: Any) -> None:
    same_as_scikit_learn("SGDClassifier", setting, rows, TWO)
    same_as_scikit_learn("SGDClassifier", setting, rows, THREE)


@pytest.mark.parametrize("rows", [X, csr_array(X * (np.abs(X) > 0.6))], ids=["dense", "sparse"])
@pytest.mark.parametrize("setting", NUMBERS, ids=str)
def test_numbers_are_those_of_scikit_learn(setting: dict[str, Any], rows: Any) -> None:
    same_as_scikit_learn("SGDRegressor", setting, rows, Y)


def objective(model: Any, alpha: float) -> float:
    z = (2 * TWO - 1) * model.decision_function(X)
    return float(np.logaddexp(0, -z).mean() + alpha / 2 * (model.coef_**2).sum())


def test_many_epochs_end_at_the_optimum_of_the_batch() -> None:
    alpha = 0.01
    best = objective(tenfold.LogisticRegression(C=1 / (alpha * len(X)), tol=1e-10).fit(X, TWO), alpha)
    model = SGDClassifier("log_loss", alpha=alpha, max_iter=300, tol=None, random_state=0, average=600).fit(X, TWO)
    assert best <= objective(model, alpha) < 1.0005 * best
    line = SGDRegressor(alpha=0.0, max_iter=200, tol=None, random_state=0, average=600).fit(X, Y)
    assert_allclose(line.coef_, tenfold.LinearRegression().fit(X, Y).coef_, atol=5e-3)
    lasso = SGDRegressor(penalty="l1", alpha=0.1, max_iter=100, tol=None, random_state=0).fit(X, Y)
    assert_allclose(lasso.coef_, tenfold.Lasso(alpha=0.1).fit(X, Y).coef_, atol=0.02)


def test_the_order_of_rows_is_the_same_wherever_they_are(tmp_path: Path) -> None:
    """A table of several blocks: on threads, and on engines of others; blocks that are read in order have one of their own."""
    rows = RNG.normal(size=(9000, 64))
    y = np.digitize(rows[:, 0] + rows[:, 1], [-1, 0, 1])
    fits = []
    for on in (tenfold.Local(), tenfold.Threads(1), tenfold.Threads(3)):
        with tenfold.engine(on):
            fits.append(SGDClassifier(random_state=3, max_iter=2, tol=None).fit(rows, y))
    for one in fits[1:]:
        assert_array_equal(one.coef_, fits[0].coef_)
    assert np.abs(fits[0].coef_ - SGDClassifier(random_state=4, max_iter=2, tol=None).fit(rows, y).coef_).max() > 1e-3
    stream = [(rows[a : a + 4096], y[a : a + 4096]) for a in range(0, 9000, 4096)]
    streamed = SGDClassifier(random_state=3, max_iter=2, tol=None).fit(stream)
    assert streamed.score(rows, y) == pytest.approx(fits[0].score(rows, y), abs=0.05)
    assert_array_equal(SGDClassifier(random_state=3, max_iter=2, tol=None).fit(lambda: iter(stream)).coef_, streamed.coef_)


@pytest.mark.parametrize("setting", [dict(average=40), dict(penalty="elasticnet", average=True), dict(penalty="l1")], ids=str)
def test_part_by_part_is_one_pass(setting: dict[str, Any], tmp_path: Path) -> None:
    """Also where a part is a row, and where the learner was saved in between."""
    setting = setting | dict(loss="log_loss", shuffle=False, learning_rate="constant", eta0=0.1)
    whole = SGDClassifier(max_iter=1, tol=None, **setting).fit(X, THREE)
    parts = SGDClassifier(**setting)
    for a, b in ((0, 1), (1, 2), (2, 100), (100, 101), (101, 600)):
        parts.partial_fit(X[a:b], THREE[a:b], ["a", "b", "c"])
        tenfold.save(parts, tmp_path / "part.tenfold")
        parts = tenfold.load(tmp_path / "part.tenfold")
    assert_allclose(parts.coef_, whole.coef_, rtol=1e-10, atol=1e-12)
    assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-10)
    assert parts.t_ == whole.t_ == 601
    stream = SGDClassifier(**setting).partial_fit(((X[a : a + 50], THREE[a : a + 50]) for a in range(0, 600, 50)), classes=["a", "b", "c"])
    assert_allclose(stream.coef_, whole.coef_, rtol=1e-10, atol=1e-12)


def test_averages_can_begin_later_than_the_first_part() -> None:
    model, plain = (SGDRegressor(shuffle=False, average=average) for average in (100, False))
    model.partial_fit(X[:50], Y[:50])
    assert_array_equal(model.coef_, plain.partial_fit(X[:50], Y[:50]).coef_)
    weights = []
    for i in range(50, 200):
        plain.partial_fit(X[i : i + 1], Y[i : i + 1])
        weights.append(plain.coef_)
    model.partial_fit(X[50:200], Y[50:200])
    assert_allclose(model.coef_, np.mean(weights[49:], axis=0), rtol=1e-10)
    assert_allclose(model.last_coef_[0], plain.coef_, rtol=1e-10)


def test_a_start_is_given_or_that_of_the_fit_before() -> None:
    first = SGDClassifier(random_state=0, warm_start=True, max_iter=3, tol=None).fit(X, THREE)
    given = SGDClassifier(random_state=0, max_iter=3, tol=None)
    given.fit(X, THREE, coef_init=first.coef_, intercept_init=first.intercept_)
    assert_array_equal(first.fit(X, THREE).coef_, given.coef_)
    for bad in (np.zeros((2, 6)), np.zeros(6), np.full((3, 6), np.nan)):
        with pytest.raises(tenfold.BadInput, match="coef_init"):
            SGDClassifier().fit(X, THREE, coef_init=bad)
    with pytest.raises(tenfold.BadInput, match="intercept_init"):
        SGDRegressor().fit(X, Y, intercept_init=np.zeros(2))


def test_early_stopping_holds_out_the_same_rows_everywhere() -> None:
    setting: dict[str, Any] = dict(early_stopping=True, validation_fraction=0.3, shuffle=False, random_state=1, max_iter=30)
    whole = SGDClassifier(**setting).fit(X, THREE)
    assert whole.n_iter_ < 30 and whole.score(X, THREE) > 0.6
    assert whole.steps_.max() / whole.n_iter_ == pytest.approx(420, abs=50)
    assert_allclose(SGDClassifier(**setting).fit([(X[:100], THREE[:100]), (X[100:], THREE[100:])]).coef_, whole.coef_, rtol=1e-9)
    line = SGDRegressor(**setting).fit(X, Y)
    assert line.n_iter_ < 30 and line.score(X, Y) > 0.8
    sparse = csr_array(X * (np.abs(X) > 0.5))
    assert SGDClassifier(**setting).fit(sparse, THREE).n_iter_ < 30
    with pytest.raises(tenfold.BadInput, match="empty set"):
        SGDRegressor(early_stopping=True, validation_fraction=1e-6).fit(X, Y)


def test_probabilities_sum_to_one_and_are_those_of_scikit_learn() -> None:
    for loss in ("log_loss", "modified_huber"):
        for y in (TWO, THREE):
            one, other = (
                home.SGDClassifier(loss=loss, alpha=0.1, **STILL).fit(X, y) for home in (tenfold, sklearn.linear_model)
            )
            assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-7, atol=1e-12)
            assert_allclose(one.predict_proba(X).sum(axis=1), 1, rtol=1e-9)
            with np.errstate(divide="ignore"):
                assert_allclose(one.predict_log_proba(X), np.log(one.predict_proba(X)), rtol=1e-9)
            assert tenfold.cross_validate(one, X, y, scoring="neg_log_loss", cv=3)["test_score"].max() < 0
    with pytest.raises(AttributeError, match="predict_proba"):
        SGDClassifier().fit(X, TWO).predict_proba(X)


# --- what goes wrong ---


def test_steps_that_go_astray_are_told_in_words() -> None:
    with pytest.raises(tenfold.BadInput, match=r"epoch #1.*StandardScaler"):
        SGDRegressor(learning_rate="constant", eta0=1e100, loss="squared_error", penalty=None).fit(1e30 * X, 1e40 * Y)
    with pytest.warns(tenfold.NotConverged, match="gone astray.*Scale the columns"):
        model = SGDRegressor(random_state=0).fit(1e4 * X, Y)
    assert np.isfinite(model.coef_).all()
    with pytest.warns(tenfold.NotConverged, match="out of their reach"):
        SGDRegressor(random_state=0).fit(X, 1e60 * Y)
    part = SGDRegressor(learning_rate="constant", eta0=0.01).partial_fit(X, Y)
    before = part.coef_.copy()
    with pytest.raises(tenfold.BadInput, match="StandardScaler"):
        part.set_params(eta0=1e100).partial_fit(1e60 * X, 1e60 * Y, sample_weight=np.full(600, 1e100))
    assert_array_equal(part.coef_, before)


def test_labels_that_nobody_named_are_refused() -> None:
    model = SGDClassifier().partial_fit(X, THREE, classes=["a", "b", "c"])
    with pytest.raises(tenfold.BadInput, match="'d' in y do not exist"):
        model.partial_fit(X[:2], ["a", "d"])
    with pytest.raises(tenfold.BadInput, match="not the same as on last call"):
        model.partial_fit(X[:2], ["a", "b"], classes=["a", "b"])
    with pytest.raises(tenfold.BadInput, match="classes must be passed"):
        SGDClassifier().partial_fit(X, THREE)
    with pytest.raises(tenfold.BadInput, match="only one class"):
        SGDClassifier().fit(X, np.ones(600))
    with pytest.raises(tenfold.BadInput, match="5 features"):
        model.partial_fit(X[:, :5], THREE)
    with pytest.raises(tenfold.BadInput, match="NaN"):
        model.partial_fit(np.where(X > 2, np.nan, X), THREE)


def test_settings_that_do_not_go_together_are_refused() -> None:
    for setting, words in (
        (dict(alpha=0), "alpha must be > 0"), (dict(learning_rate="pa1", loss="log_loss"), "only works with loss 'hinge'"),
        (dict(penalty="elasticnet", l1_ratio=None), "l1_ratio must be set"), (dict(validation_fraction=1.0), "must be < 1"),
        (dict(loss="quantile"), "must be one of"), (dict(eta0=0), "must be > 0"), (dict(average=0), "average=0"),
    ):  # fmt: skip
        with pytest.raises(tenfold.BadParameter, match=words):
            SGDClassifier(**setting).fit(X, TWO)
    with pytest.raises(tenfold.BadParameter, match="early_stopping should be False"):
        SGDRegressor(early_stopping=True).partial_fit(X, Y)
    with pytest.raises(tenfold.ReadOnce, match="partial_fit"):
        SGDRegressor().fit((X[a : a + 100], Y[a : a + 100]) for a in range(0, 600, 100))
    with pytest.warns(tenfold.NotConverged, match="Maximum number of iteration"):
        SGDRegressor(max_iter=2, random_state=0).fit(X, Y)


def test_a_million_sparse_columns_cost_their_values() -> None:
    rng = np.random.default_rng(1)
    rows = csr_array(random_array((2000, 1_000_000), density=2e-5, rng=rng, data_sampler=lambda size: np.ones(size)))
    y = np.asarray(rows[:, :500_000].sum(axis=1) > rows[:, 500_000:].sum(axis=1)).astype(int)
    begun = time.process_time()
    model = SGDClassifier("log_loss", random_state=0, average=True, max_iter=5, tol=None).fit(rows, y)
    assert time.process_time() - begun < 5
    assert model.score(rows, y) > 0.95


def test_columns_of_zeros_one_row_and_weights_of_zero() -> None:
    zeros = np.column_stack([X, np.zeros(600)])
    assert SGDRegressor(random_state=0).fit(zeros, Y).coef_[-1] == 0
    assert SGDRegressor(random_state=0, max_iter=7, tol=None).fit(X[:1], Y[:1]).t_ == 8
    w = (np.arange(600) < 300).astype(float)
    half = SGDClassifier(**STILL).fit(X[:300], TWO[:300])
    assert_array_equal(SGDClassifier(**STILL).fit(X, TWO, sample_weight=w).coef_, half.coef_)
    with pytest.raises(tenfold.BadInput, match="block 1"):
        SGDClassifier(**STILL).fit([(X[:300], TWO[:300]), (X[:0], TWO[:0])])
    single = SGDClassifier(**STILL).fit(X.astype(np.float32), TWO)
    assert single.coef_.dtype == np.float32


def test_fits_in_two_threads_do_not_meet() -> None:
    alone = [SGDClassifier(random_state=k, max_iter=20, tol=None).fit(X, THREE).coef_ for k in (0, 1)]
    found: dict[int, Array] = {}

    def fit(k: int) -> None:
        found[k] = SGDClassifier(random_state=k, max_iter=20, tol=None).fit(X, THREE).coef_

    workers = [threading.Thread(target=fit, args=(k,)) for k in (0, 1)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    for k in (0, 1):
        assert_array_equal(found[k], alone[k])
