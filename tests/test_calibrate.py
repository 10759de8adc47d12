"""Calibration curves, isotonic regression and calibrators: against scikit-learn, brute force and certificates."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV as SklearnCalibrated
from sklearn.calibration import _SigmoidCalibration
from sklearn.calibration import calibration_curve as sklearn_calibration_curve
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SklearnLDA
from sklearn.isotonic import IsotonicRegression
from sklearn.isotonic import isotonic_regression as sklearn_isotonic_regression

import tenfold
from tenfold import CalibratedClassifierCV
from tenfold.base import check
from tenfold.compose.folds import folds_by_content
from tenfold.evaluate import calibration_curve, fit_calibrator, isotonic_regression
from tenfold.evaluate.calibrate.maps import calibrator_of, fit_map, inverse_temperature, log_odds

# --- calibration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("seed", range(5))
def test_calibration_curve_equals_scikit_learn(strategy: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(0.5, 0.5, size=200), 2)
    y = rng.random(200) < p
    ours = calibration_curve(y, p, n_bins=7, strategy=strategy)
    for mine, theirs in zip(ours, sklearn_calibration_curve(y, p, n_bins=7, strategy=strategy), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-15)
    assert (ours.low <= ours.prob_true).all() and (ours.prob_true <= ours.high).all()


def test_calibration_curve_counts_weights_as_copies() -> None:
    rng = np.random.default_rng(0)
    p, w = rng.random(60), rng.integers(0, 4, size=60)
    y = (rng.random(60) < p).astype(int)
    ours, copied = calibration_curve(y, p, sample_weight=w), calibration_curve(np.repeat(y, w), np.repeat(p, w))
    np.testing.assert_allclose(ours.prob_true, copied.prob_true, rtol=1e-12)
    np.testing.assert_allclose(ours.prob_pred, copied.prob_pred, rtol=1e-12)
    np.testing.assert_allclose(ours.error, copied.error, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_isotonic_regression_equals_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    y = rng.integers(0, 10, size=n) * 0.1 + rng.choice([0, 0.005]) * np.arange(n)
    w = rng.uniform(0.1, 3, size=n)
    for kwargs in (dict(), dict(increasing=False), dict(y_min=0.3, y_max=0.6)):
        theirs = sklearn_isotonic_regression(y, sample_weight=w, **kwargs)
        np.testing.assert_allclose(isotonic_regression(y, sample_weight=w, **kwargs), theirs, rtol=1e-12, atol=1e-14)


def test_isotonic_regression_of_one_long_chain_of_poolings() -> None:
    """Rising values, then a very low one: each pooling causes the next. The answer is flat; the time is linear."""
    y = np.append(np.arange(100_000.0), -1e10)
    np.testing.assert_allclose(isotonic_regression(y), np.full(100_001, y.mean()), rtol=1e-12)
    with pytest.raises(tenfold.BadInput, match="finite"):
        isotonic_regression([1.0, np.nan])


def three_classes(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 3)) * 3
    p = np.exp(scores / 2.5)
    return np.array([rng.choice(3, p=row / row.sum()) for row in p]), scores


def test_the_temperature_minimises_the_log_loss() -> None:
    codes, scores = three_classes(0, 500)
    w = np.random.default_rng(1).uniform(0.5, 2, size=500)

    def loss(beta: float) -> float:
        s = beta * scores
        return float(w @ (np.log(np.exp(s).sum(axis=1)) - s[np.arange(500), codes]))

    found = inverse_temperature(codes, scores, w)
    best = minimize_scalar(loss, bounds=(0.01, 5), method="bounded", options=dict(xatol=1e-10))
    np.testing.assert_allclose(found, best.x, rtol=1e-5)
    assert loss(found) <= best.fun + 1e-12 and abs(1 / found - 2.5) < 0.4
    assert inverse_temperature(np.array([0, 1]), np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2)) > 30  # separated


def test_sigmoid_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    f = rng.normal(size=300) * 2
    y = rng.random(300) < expit(0.5 * f - 0.3)
    theirs = _SigmoidCalibration().fit(f, y)
    a, b = fit_map("sigmoid", f, y, np.ones(300))
    np.testing.assert_allclose((a, b), (-theirs.a_, -theirs.b_), rtol=1e-4)


def test_beta_has_no_slope_left_and_never_falls() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(2, 1, size=500)
    y = rng.random(500) < p**2

    def loss(theta: np.ndarray) -> float:
        eta = theta[0] * np.log(p) - theta[1] * np.log1p(-p) + theta[2]
        return float((np.logaddexp(0, eta) - y * eta).sum())

    found = fit_map("beta", np.log(p / (1 - p)), y, np.ones(500))
    assert loss(found) <= minimize(loss, [1.0, 1.0, 0.0], bounds=[(0, None)] * 2 + [(None, None)]).fun + 1e-6
    falling = fit_map("beta", np.log(p / (1 - p)), ~y, np.ones(500))
    assert (falling[:2] >= 0).all()


def test_isotonic_calibration_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    f = np.round(rng.normal(size=400), 1)
    y = rng.random(400) < expit(f)
    new = np.linspace(-5, 5, 101)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(f, y).predict(new)
    knots, level = fit_map("isotonic", f, y, np.ones(400))
    np.testing.assert_allclose(np.interp(new, knots, level), theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", ["temperature", "sigmoid", "beta", "isotonic"])
def test_calibrators_repair_probabilities(method: str) -> None:
    codes, scores = three_classes(0, 3000)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    repaired = fit_calibrator(codes[:2000], P[:2000], method)(P[2000:])
    np.testing.assert_allclose(repaired.sum(axis=1), 1, rtol=1e-12)
    held = codes[2000:]
    before = calibration_curve(held == 0, P[2000:, 0], n_bins=10).error
    assert calibration_curve(held == 0, repaired[:, 0], n_bins=10).error < 0.7 * before
    same = calibrator_of(method, codes, scores, np.ones(3000)).log_probabilities(scores + 100.0)
    np.testing.assert_allclose(
        same, calibrator_of(method, codes, scores, np.ones(3000)).log_probabilities(scores), atol=1e-6
    )
    one = fit_calibrator((codes == 0).astype(int), P[:, 0], method)
    assert one(P[:, 0]).shape == (3000,) and ((one(P[:, 0]) >= 0) & (one(P[:, 0]) <= 1)).all()


@pytest.mark.parametrize("method", ["temperature", "sigmoid", "beta", "isotonic"])
@pytest.mark.parametrize("k", [2, 3])
def test_calibrators_count_weights_as_copies(method: str, k: int) -> None:
    codes, scores = three_classes(2, 300)
    codes, scores, w = np.minimum(codes, k - 1), scores[:, :k], np.random.default_rng(0).integers(1, 4, size=300)
    weighted = calibrator_of(method, codes, scores, w.astype(float))
    copied = calibrator_of(method, np.repeat(codes, w), np.repeat(scores, w, axis=0), np.ones(w.sum()))
    P, Q = (np.exp(one.log_probabilities(scores)) for one in (weighted, copied))
    np.testing.assert_allclose(P, Q, rtol=1e-6, atol=1e-9)


def test_log_odds_of_three_classes() -> None:
    _, scores = three_classes(1, 50)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(log_odds(scores), np.log(P / (1 - P)), rtol=1e-9)


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_equals_scikit_learn(method: str, ensemble: bool) -> None:
    """On the same folds; discriminant scores are log-odds in both."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5]
    fold = np.arange(len(y)) % 4
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    settings = dict(method=method, cv=splits, ensemble=ensemble)
    model = CalibratedClassifierCV(tenfold.LinearDiscriminantAnalysis(), **settings).fit(X, y)
    peer = SklearnCalibrated(SklearnLDA(), **settings).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-4)
    assert len(model.calibrated_classifiers_) == len(peer.calibrated_classifiers_) == (4 if ensemble else 1)


def test_parameters_are_those_of_scikit_learn() -> None:
    ours, theirs = (inspect.signature(one).parameters for one in (CalibratedClassifierCV, SklearnCalibrated))
    assert [(p.name, p.default) for p in ours.values()] == [(p.name, p.default) for p in theirs.values()]


def test_calibrated_tells_the_truth_about_copied_columns() -> None:
    X, y = load_wine(return_X_y=True)
    X = np.repeat(X[:, :3], 4, axis=1)
    sure = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=5, score="log_loss")
    for method in ("temperature", "sigmoid", "beta", "isotonic"):
        model = CalibratedClassifierCV(tenfold.GaussianNB(), method=method)
        honest = tenfold.cross_validate(model, X, y, folds=5, score="log_loss")
        assert honest.mean < sure.mean or method == "isotonic"  # isotonic may say 0, which costs without bound
    piped = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.GaussianNB())
    model = CalibratedClassifierCV(piped, method="temperature", ensemble=False).fit(X, y)
    again = CalibratedClassifierCV(**model.get_params(deep=False)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), tenfold.GaussianNB().fit(X, y).predict(X))  # order is kept


@pytest.mark.parametrize("method", ["temperature", "sigmoid", "beta", "isotonic"])
def test_calibrated_is_saved(method: str, tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    for k, ensemble in ((2, True), (3, False)):
        model = CalibratedClassifierCV(tenfold.GaussianNB(), method=method, cv=3, ensemble=ensemble).fit(
            X[y < k], y[y < k]
        )
        tenfold.save(model, tmp_path / "model.tenfold")
        again = tenfold.load(tmp_path / "model.tenfold")
        assert repr(again) == repr(model)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_folds_by_content_keep_copies_together_and_classes_even() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 2)), 3, axis=0)
    y = np.repeat(np.arange(60) % 3, 3)
    source = check.in_memory(tenfold.GaussianNB(), X, y, None)
    fold = folds_by_content(source, 4)
    assert (fold.reshape(60, 3) == fold.reshape(60, 3)[:, :1]).all()
    counts = np.array([[np.sum((y == k) & (fold == f)) for f in range(4)] for k in range(3)])
    assert np.ptp(counts, axis=1).max() <= 3 and np.ptp(counts.sum(axis=0)) <= 3
    order = rng.permutation(180)
    other = check.in_memory(tenfold.GaussianNB(), X[order], y[order], None)
    np.testing.assert_array_equal(folds_by_content(other, 4), fold[order])


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CalibratedClassifierCV(tenfold.Ridge()), "a classifier is needed"),
        (CalibratedClassifierCV(tenfold.GaussianNB(), method="magic"), "method='magic'"),
        (CalibratedClassifierCV(tenfold.GaussianNB(), cv=1), "cv=1"),
        (CalibratedClassifierCV(tenfold.GaussianNB(), cv="many"), "cv='many'"),
        (CalibratedClassifierCV(tenfold.GaussianNB(), ensemble="some"), "ensemble='some'"),
        (CalibratedClassifierCV(tenfold.GaussianNB(var_smoothing=-1.0)), "var_smoothing"),
    ],
)
def test_calibrated_refuses(model: CalibratedClassifierCV, words: str) -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(tenfold.TenfoldError, match=words):
        model.fit(X, y)


def test_trees_and_naive_bayes_are_calibrated_on_probabilities() -> None:
    """Log-odds of shares are +-690 where all trees agree: no decision_function, and maps of the probabilities, as in scikit-learn."""
    from sklearn.naive_bayes import GaussianNB as Theirs

    X, y = load_breast_cancer(return_X_y=True)
    splits = [(np.flatnonzero(np.arange(len(y)) % 4 != k), np.flatnonzero(np.arange(len(y)) % 4 == k)) for k in range(4)]
    forest = tenfold.RandomForestClassifier(n_estimators=20, random_state=0)
    pipe = tenfold.make_pipeline(tenfold.StandardScaler(), forest)
    for one in (forest, tenfold.DecisionTreeClassifier(), tenfold.BaggingClassifier(), tenfold.GaussianNB(), pipe):
        assert not hasattr(one, "decision_function")
    before = ((forest.fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1] - y[1::2]) ** 2).mean()
    for model in (forest, pipe):
        for around in (CalibratedClassifierCV, SklearnCalibrated):
            after = around(model).fit(X[::2], y[::2]).predict_proba(X[1::2])[:, 1]
            assert ((after - y[1::2]) ** 2).mean() < 1.15 * before
    for method in ("sigmoid", "temperature"):
        ours = CalibratedClassifierCV(tenfold.GaussianNB(), method=method, cv=splits).fit(X, y)
        theirs = SklearnCalibrated(Theirs(), method=method, cv=splits).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_anybodys_classifier_gives_scikit_learns_numbers(method: str, ensemble: bool) -> None:
    from sklearn.svm import LinearSVC

    X, y = load_breast_cancer(return_X_y=True)
    X, labels, w = X[:, :5] / X[:, :5].std(axis=0), np.where(y == 1, "good", "bad"), 1.0 + np.arange(len(y)) % 3
    settings = dict(estimator=LinearSVC(), method=method, cv=4, ensemble=ensemble)
    model = CalibratedClassifierCV(**settings).fit(X, labels, w)
    theirs = SklearnCalibrated(**settings).fit(X, labels, w)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
    one, other = (each.calibrated_classifiers_[0].calibrators[0] for each in (model, theirs))
    for name in ("a_", "b_", "beta_"):
        assert hasattr(one, name) == hasattr(other, name)
        if hasattr(one, name):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=2e-4)


def test_frozen_classifiers_and_what_is_given_beside() -> None:
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression

    class Asking(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: object, y: object, sample_weight: object = None, *, cost: np.ndarray, all_of_it: object) -> Asking:
            assert len(cost) == X.shape[0] and (cost == X[:, 0]).all() and all_of_it == "all"  # type: ignore[attr-defined]
            return super().fit(X, y, sample_weight)  # type: ignore[no-any-return]

    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5] / X[:, :5].std(axis=0)
    CalibratedClassifierCV(Asking()).fit(X, y, cost=X[:, 0], all_of_it="all")
    with pytest.raises(TypeError, match="cost"):
        CalibratedClassifierCV(tenfold.GaussianNB()).fit(X, y, cost=X[:, 0])
    known = tenfold.LogisticRegression().fit(X[:200], y[:200])
    model = CalibratedClassifierCV(FrozenEstimator(known)).fit(X[200:400], y[200:400])
    assert len(model.calibrated_classifiers_) == 1 and (known.coef_ == model.estimators_[0].coef_).all()
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def test_a_class_that_a_fold_has_not_met_has_no_probability() -> None:
    X, y = np.random.default_rng(0).normal(size=(12, 5)), np.repeat([0, 1, 2, 3], 3)
    splits = [(np.flatnonzero(np.arange(12) // 4 != k), np.flatnonzero(np.arange(12) // 4 == k)) for k in range(3)]
    model = CalibratedClassifierCV(tenfold.DecisionTreeClassifier(random_state=0), cv=splits).fit(X, y)
    said = model.calibrated_classifiers_[0].predict_proba(X)
    assert (said[:, 0] == 0).all() and (said[:, 1:] > 0).all()
