"""LogisticRegression: certificate, peers, laws for large tables, separable classes, sparse rows, float32."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as Peer

import tenfold
from tenfold import LogisticRegression

TABLES = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}


def made(n: int, p: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with labels drawn from a softmax of linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal((p, k)) + rng.gumbel(size=(n, k))
    return X, scores.argmax(1)


def gradient(model: LogisticRegression, X: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Of Σ w loss + ‖coef‖² / 2C over (coef, intercept), written out with probabilities."""
    w = np.ones(len(X)) if w is None else w
    R = (model.predict_proba(X) - (y[:, None] == model.classes_)) * w[:, None]
    R = R[:, 1:] if len(model.classes_) == 2 else R
    penalised = R.T @ X + model.coef_ / model.C
    return np.column_stack([penalised, R.sum(0) if model.fit_intercept else 0 * R.sum(0)])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", TABLES)
def test_gradient_is_far_below_tol(name: str, fit_intercept: bool) -> None:
    X, y = TABLES[name](return_X_y=True)
    model = LogisticRegression(fit_intercept=fit_intercept).fit(X, y)
    assert np.abs(gradient(model, X, y)).max() / len(X) < 1e-8


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", ["iris", "wine", "cancer"])
def test_same_as_scikit_learn(name: str, C: float) -> None:
    X, y = TABLES[name](return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    model = LogisticRegression(C=C).fit(X, y)
    peer = Peer(C=C, tol=1e-10, max_iter=10_000, solver="newton-cg").fit(X, y)
    assert model.coef_.shape == peer.coef_.shape and model.intercept_.shape == peer.intercept_.shape
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.5}])
def test_class_and_sample_weights_as_scikit_learn(class_weight: object) -> None:
    X, y = made(300, 4, 3)
    w = np.random.default_rng(1).uniform(0.1, 3, 300)
    model = LogisticRegression(class_weight=class_weight).fit(X, y, w)
    peer = Peer(class_weight=class_weight, tol=1e-10, max_iter=10_000).fit(X, y, w)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-5, atol=1e-5)


def test_without_penalty_as_statsmodels() -> None:
    X, y = made(400, 5, 2)
    model = LogisticRegression(C=np.inf).fit(X, y)
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(model.coef_[0], peer.params[1:], rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, peer.params[:1], rtol=1e-8)
    same = LogisticRegression(penalty=None).fit(X, y)
    np.testing.assert_array_equal(same.coef_, model.coef_)


def test_many_classes_without_penalty_as_statsmodels() -> None:
    X, y = made(500, 3, 3)
    model = LogisticRegression(C=np.inf).fit(X, y)
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    full = np.column_stack([model.intercept_, model.coef_])
    np.testing.assert_allclose((full[1:] - full[0]).T, peer.params, rtol=1e-7)
    np.testing.assert_allclose(full.sum(0), 0, atol=1e-12)


@pytest.mark.parametrize("k", [2, 4])
def test_large_tables_obey_the_laws(k: int) -> None:
    """Large enough for a start on a sample: order and repetition change the sample, not the result."""
    X, y = made(24_000, 80, k)
    records: list[tenfold.core.monitor.Record] = []
    with tenfold.monitor(records.append):
        model = LogisticRegression().fit(X, y)
    assert any("sample" in record.learner for record in records)
    assert np.abs(gradient(model, X, y)).max() / len(X) < 1e-8
    order = np.random.default_rng(2).permutation(len(X))
    shuffled = LogisticRegression().fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.coef_, model.coef_, rtol=1e-8, atol=1e-9)
    w = np.random.default_rng(3).integers(0, 3, len(X)).astype(float)
    weighted = LogisticRegression().fit(X, y, w)
    repeated = LogisticRegression().fit(np.repeat(X, w.astype(int), 0), np.repeat(y, w.astype(int)))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-9)
    with tenfold.threads(1):
        one = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(one.coef_, model.coef_)
    np.testing.assert_array_equal(one.intercept_, model.intercept_)


def test_rows_sorted_by_class_are_no_worse() -> None:
    X, y = made(24_000, 80, 3)
    order = np.argsort(y, kind="stable")
    model, other = LogisticRegression().fit(X, y), LogisticRegression().fit(X[order], y[order])
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-8, atol=1e-9)


def test_blocks_do_not_matter() -> None:
    X, y = made(300, 4, 3)
    model = LogisticRegression().fit(X, y)
    blocks = [(X[i : i + 37], y[i : i + 37]) for i in range(0, 300, 37)]
    streamed = LogisticRegression().fit(blocks)
    np.testing.assert_allclose(streamed.coef_, model.coef_, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("wide", [False, True])
def test_sparse_is_dense(k: int, wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made(400, 30, k)
    X[np.random.default_rng(5).random(X.shape) < 0.8] = 0.0
    if wide:  # curvature by diagonals, as for wide tables
        monkeypatch.setattr("tenfold.linear.logistic.LARGEST", 100)
        monkeypatch.setattr("tenfold.linear.logistic.SMALL", 10)
    dense = LogisticRegression(tol=1e-9).fit(X, y)
    sparse = LogisticRegression(tol=1e-9).fit(sp.csr_array(X), y)
    assert np.abs(gradient(dense, X, y)).max() / len(X) < 1e-9
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), rtol=1e-6)


def test_large_sparse_tables_start_on_a_sample() -> None:
    X, y = made(20_000, 80, 3)
    X[np.random.default_rng(5).random(X.shape) < 0.5] = 0.0
    dense, sparse = LogisticRegression().fit(X, y), LogisticRegression().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8, atol=1e-9)


def test_wide_sparse_never_squares_the_width() -> None:
    p = 50_000
    X = sp.random_array((200, p), density=1e-3, format="csr", random_state=np.random.default_rng(0))
    y = np.asarray(X[:, : p // 2].sum(1)).ravel() > np.asarray(X[:, p // 2 :].sum(1)).ravel()
    model = LogisticRegression(tol=1e-6).fit(X, y)  # a p x p matrix would take 20 GB
    R = model.predict_proba(X)[:, 1] - y
    assert np.abs(X.T @ R + model.coef_[0]).max() / 200 <= 1e-6


@pytest.mark.parametrize("k", [2, 3])
def test_float32_is_near_float64(k: int) -> None:
    X, y = made(500, 5, k)
    small = X.astype(np.float32)
    model, same = LogisticRegression().fit(small, y), LogisticRegression().fit(small.astype(float), y)
    assert model.coef_.dtype == np.float32, "told in the precision of the table, and that is all that is lost"
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=2.0**-24)  # one rounding
    assert model.predict_proba(small).dtype == np.float32
    np.testing.assert_allclose(model.predict_proba(small), same.predict_proba(small.astype(float)), rtol=1e-5)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_far_columns_and_odd_units(C: float) -> None:
    X, y = made(400, 3, 2)
    model = LogisticRegression(C=C).fit(X, y)
    far = LogisticRegression(C=C).fit(X + np.array([1e7, -1e5, 0.0]), y)
    np.testing.assert_allclose(far.coef_, model.coef_, rtol=1e-6)
    if np.inf == C:
        units = np.array([1e-8, 1.0, 1e9])
        np.testing.assert_allclose(LogisticRegression(C=C).fit(X * units, y).coef_ * units, model.coef_, rtol=1e-7)


def test_separable_classes_are_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(tenfold.Degenerate, match="separated"):
        model = LogisticRegression(C=np.inf).fit(X, y == 0)
    assert model.score(X, y == 0) == 1.0 and np.isfinite(model.coef_).all()
    with pytest.warns(tenfold.Degenerate, match="only the penalty"):
        model = LogisticRegression(C=1e12).fit(X, y == 0)
    assert model.score(X, y == 0) == 1.0 and np.abs(gradient(model, X, y == 0)).max() / 150 < 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LogisticRegression().fit(X, y == 0)


def test_separation_in_part_and_dependent_columns_are_told() -> None:
    with pytest.warns(tenfold.Degenerate, match="in part"):
        model = LogisticRegression(C=np.inf).fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.5, 0.5]], atol=1e-6)
    X, y = made(300, 2, 2)
    with pytest.warns(tenfold.Degenerate, match="dependent"):
        twice = LogisticRegression(C=np.inf).fit(np.hstack([X, X[:, :1]]), y)
    once = LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(twice.predict_proba(np.hstack([X, X[:, :1]])), once.predict_proba(X), rtol=1e-6)


def test_passes_used_up_are_told() -> None:
    X, y = load_digits(return_X_y=True)
    with pytest.warns(tenfold.NotConverged, match=r"failed to converge: .* after 3 steps, .* \(max_iter\)"):
        model = LogisticRegression(max_iter=3).fit(X, y)
    assert model.n_iter_.tolist() == [3]


def test_objective_falls_and_the_monitor_hears_the_certificate() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    records: list[tenfold.core.monitor.Record] = []
    with tenfold.monitor(records.append):
        LogisticRegression(C=1e6).fit(X, y)  # hardly any penalty: the loss itself falls
    losses = [r.loss for r in records if r.loss is not None]
    assert len(losses) > 5 and all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(losses))
    assert records[-1].certificate is not None and records[-1].certificate < 1e-4


def test_a_warm_start_saves_passes_and_changes_nothing() -> None:
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    source = tenfold.base.check.check_fit(model, X, y)
    learning = model._learn_from(source, model._solution())
    again = tenfold.core.learning.drive(learning, source, tenfold.Threads())
    np.testing.assert_allclose(again["coef_"], model.coef_, rtol=1e-6, atol=1e-8)
    assert again["n_iter_"][0] <= 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 0},
        {"penalty": "l0"},
        {"l1_ratio": 1.5},
        {"tol": 0},
        {"class_weight": "even"},
        {"class_weight": {0: -1.0}},
    ],
)
def test_parameters_outside_their_domain_are_refused(parameters: dict[str, object]) -> None:
    X, y = made(50, 2, 2)
    with pytest.raises(tenfold.BadParameter, match="LogisticRegression"):
        LogisticRegression(**parameters).fit(X, y)


def test_a_sample_that_is_separated_is_no_place_to_start() -> None:
    """Nearly separable classes, large C: the solution of a sample lies far out, and took hundreds of passes to leave."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(17_000, 20))
    y = (X @ rng.normal(size=20) + 0.05 * rng.logistic(size=len(X)) > 0).astype(int)
    model = LogisticRegression(C=1e3, max_iter=60).fit(X, y)  # a warning would be an error
    assert model.n_iter_[0] <= 40


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_l1_penalties_are_those_of_scikit_learn(ratio: float, fit_intercept: bool, K: int) -> None:
    """The same columns are chosen, of dense and sparse rows; the conditions of optimality hold to rounding."""
    X, y = made(300, 30, K)
    setting: dict[str, Any] = dict(C=0.1, l1_ratio=ratio, fit_intercept=fit_intercept)
    ours, sparse = (LogisticRegression(**setting, tol=1e-10).fit(rows, y) for rows in (X, sp.csr_array(X)))
    peer = Peer(**setting, solver="saga", tol=1e-7, max_iter=5000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(sparse.coef_, ours.coef_, atol=1e-9)
    assert ((ours.coef_ != 0) == (peer.coef_ != 0)).all() and (ours.coef_ == 0).any()
    P, truth = ours.predict_proba(X), (y[:, None] == ours.classes_).astype(float)
    slope = 0.1 * ((P - truth)[:, -len(ours.coef_) :].T @ X) + (1 - ratio) * ours.coef_
    here = ours.coef_ != 0
    assert np.abs(slope + ratio * np.sign(ours.coef_))[here].max() < 1e-8 and np.abs(slope[~here]).max() <= ratio + 1e-8


def test_l1_of_many_columns_chooses_few() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3000))
    y = X[:, :3].sum(axis=1) > 0
    model = LogisticRegression(C=0.1, l1_ratio=1.0).fit(X, y)
    assert 3 <= np.count_nonzero(model.coef_) < 50 and (model.coef_[0, :3] > 0).all() and model.n_iter_[0] < 20
    named = LogisticRegression("l1", C=0.1).fit(X, y)
    np.testing.assert_array_equal(named.coef_, model.coef_)
    np.testing.assert_array_equal(LogisticRegression("elasticnet", C=0.1, l1_ratio=1.0).fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("weights", ["balanced", {"zebra": 1.0, "ant": 5.0, "moth": 2.0}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_of_text_labels_are_scikit_learns(weighted: bool, weights: Any) -> None:
    """At the optimum: with its default tolerance scikit-learn's probabilities are off by some hundredths on unscaled columns."""
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    keep = rng.random(len(y)) < np.where(y == 1, 1.0, 0.4)
    X, names, w = X[keep], np.array(["zebra", "ant", "moth"])[y[keep]], rng.uniform(0.5, 2.0, keep.sum()) if weighted else None
    ours = LogisticRegression(class_weight=weights).fit(X, names, w)
    peer = Peer(class_weight=weights, tol=1e-10, max_iter=10_000).fit(X, names, w)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-5)


def test_a_penalty_that_leaves_no_column_leaves_the_frequencies() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 400))
    y = (X[:, 0] + rng.logistic(size=300) > 0.5).astype(int)
    model = tenfold.LogisticRegression(l1_ratio=1.0, C=1e-3).fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X[:1])[0, 1], y.mean(), rtol=1e-9)
