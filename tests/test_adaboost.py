"""AdaBoost: against scikit-learn to the last digits, under its bound, round by round, with members of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier as Theirs
from sklearn.tree import DecisionTreeRegressor

import tenfold


def table(classes: int, n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    return make_classification(n, 8, n_informative=6, n_classes=classes, flip_y=0.1, random_state=seed)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_as_scikit_learn(classes: int) -> None:
    """The same stumps with the same weights, so the same scores, probabilities and importances."""
    X, y = table(classes)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    ours = tenfold.AdaBoostClassifier(n_estimators=30, learning_rate=0.8).fit(X, y, w)
    theirs = Theirs(n_estimators=30, learning_rate=0.8, random_state=0).fit(X, y, w)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    for verb in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(getattr(ours, verb)(X), getattr(theirs, verb)(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0, atol=1e-10)
    staged = zip(ours.staged_decision_function(X), theirs.staged_decision_function(X), strict=True)
    for found, expected in staged:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)), rtol=0, atol=1e-12)


def test_training_error_is_under_its_bound() -> None:
    """Π 2 √(ε(1 − ε)), after every round (Freund & Schapire)."""
    X, y = table(2)
    w = np.random.default_rng(1).integers(1, 4, len(y))
    for member in (None, tenfold.DecisionTreeClassifier(max_depth=2)):
        model = tenfold.AdaBoostClassifier(member, n_estimators=60).fit(X, y, w)
        error = 1 - np.array(list(model.staged_score(X, y, w)))
        e = model.estimator_errors_
        bound = np.cumprod(2 * np.sqrt(e * (1 - e)))
        assert len(error) == len(e) > 20 and (error <= bound + 1e-12).all()
        assert bound[-1] < 0.9 and error[-1] < error[0]


@pytest.mark.parametrize("classes", [2, 4])
def test_real_boosting_by_definition(classes: int) -> None:
    """SAMME.R with the shares of the leaves, written out."""
    X, y = table(classes, n=200)
    model = tenfold.AdaBoostClassifier(n_estimators=8, learning_rate=0.9, algorithm="SAMME.R").fit(X, y)
    w = np.full(len(y), 1 / len(y))
    scores = np.zeros((len(y), classes))
    coded = np.where(np.arange(classes) == y[:, None], 1.0, -1.0 / (classes - 1))
    for t in range(8):
        x, threshold = X[:, model.trees_[t].feature[0]], model.trees_[t].threshold[0]
        shares = np.empty((len(y), classes))
        for side in (x <= threshold, x > threshold):
            shares[side] = np.bincount(y[side], w[side], classes) / w[side].sum()
        logs = np.log(np.maximum(shares, np.finfo(float).eps))
        scores += (classes - 1) * (logs - logs.mean(axis=1, keepdims=True))
        w = w * np.exp(-0.9 * (classes - 1) / classes * (coded * logs).sum(axis=1))
        w /= w.sum()
    found = model.decision_function(X) * 8
    np.testing.assert_allclose(found, scores[:, 1] - scores[:, 0] if classes == 2 else scores, rtol=0, atol=1e-8)
    assert model.score(X, y) > tenfold.AdaBoostClassifier(n_estimators=1).fit(X, y).score(X, y)


def test_stumps_and_trees_of_depth_one_are_the_same() -> None:
    X, y = table(3)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    fast = tenfold.AdaBoostClassifier(n_estimators=15).fit(X, y)
    plain = tenfold.AdaBoostClassifier(tenfold.DecisionTreeClassifier(max_depth=1), n_estimators=15).fit(X, y)
    np.testing.assert_allclose(fast.estimator_weights_, plain.estimator_weights_, rtol=1e-8)
    np.testing.assert_allclose(fast.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(fast.feature_importances_, plain.feature_importances_, rtol=0, atol=1e-9)


def test_rounds_are_a_path() -> None:
    X, y = table(3)
    path = tenfold.validation_path(tenfold.AdaBoostClassifier(), X, y, "n_estimators", [3, 20], folds=3)
    for n, scores in zip([3, 20], path.scores, strict=True):
        one = tenfold.cross_validate(tenfold.AdaBoostClassifier(n_estimators=n), X, y, folds=3)
        np.testing.assert_allclose(one.scores.ravel(), scores, rtol=1e-12)


def test_threads_do_not_matter() -> None:
    X, y = table(2, n=3000)
    with tenfold.threads(1):
        one = tenfold.AdaBoostClassifier(n_estimators=5).fit(X, y).predict_proba(X)
    with tenfold.threads(3):
        np.testing.assert_array_equal(tenfold.AdaBoostClassifier(n_estimators=5).fit(X, y).predict_proba(X), one)


def test_other_members() -> None:
    X, y = table(2)
    linear = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression())
    model = tenfold.AdaBoostClassifier(linear, n_estimators=5).fit(X, y)
    assert len(model.estimators_) <= 5 and model.score(X, y) > 0.7
    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "red", "white"], 200)
    frame = pandas.DataFrame({"colour": colour, "size": rng.normal(size=200)})
    known = tenfold.AdaBoostClassifier(n_estimators=5).fit(frame, colour == "red")
    assert known.score(frame, colour == "red") == 1.0 and len(known.trees_) == 1
    mixed = (colour == "red") ^ (frame["size"] > 0.5)
    trees = tenfold.AdaBoostClassifier(n_estimators=20).fit(frame, mixed)
    plain = tenfold.AdaBoostClassifier(tenfold.DecisionTreeClassifier(max_depth=1), n_estimators=20).fit(frame, mixed)
    np.testing.assert_allclose(trees.predict_proba(frame), plain.predict_proba(frame), rtol=0, atol=1e-9)


def test_it_ends_early() -> None:
    X = np.arange(10.0)[:, None]
    easy = tenfold.AdaBoostClassifier().fit(X, X[:, 0] > 4)
    assert list(easy.estimator_errors_) == [0.0] and easy.score(X, X[:, 0] > 4) == 1.0
    with pytest.warns(tenfold.Degenerate, match="no better than guessing"):
        blind = tenfold.AdaBoostClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1])
    np.testing.assert_allclose(blind.predict_proba([[0.0]]).sum(), 1, rtol=1e-12)
    assert len(blind.estimator_weights_) == 1


def test_interrupted_rounds_are_kept(monkeypatch: Any) -> None:
    from tenfold.tree.single.stumps import Stumps

    plain, calls = Stumps.best, []

    def some(self: Any, weight: Any) -> Any:
        calls.append(1)
        if len(calls) > 4:
            raise KeyboardInterrupt
        return plain(self, weight)

    monkeypatch.setattr(Stumps, "best", some)
    X, y = table(2)
    model = tenfold.AdaBoostClassifier()
    with pytest.raises(KeyboardInterrupt, match="4 of 50 rounds"):
        model.fit(X, y)
    assert len(model.trees_) == 4 and np.isfinite(model.predict_proba(X)).all()


# --- regression -----------------------------------------------------------------------------------------------


def steps(X: Any, y: Any, w: Any, loss: str, rate: float, rounds: int) -> tuple[Any, list[float], list[float]]:
    """AdaBoost.R2 written out with scikit-learn's trees."""
    w = w / w.sum()
    said, weights, errors = [], [], []
    for _ in range(rounds):
        predicted = DecisionTreeRegressor(max_depth=3).fit(X, y, w).predict(X)
        gap = np.abs(predicted - y)
        gap = gap / gap.max()
        gap = {"linear": gap, "square": gap**2, "exponential": 1 - np.exp(-gap)}[loss]
        error = (w * gap).sum()
        if error >= 0.5:
            break
        beta = error / (1 - error)
        said.append(predicted)
        weights.append(rate * np.log(1 / beta))
        errors.append(error)
        w = w * beta ** ((1 - gap) * rate)
        w /= w.sum()
    return np.array(said).T, weights, errors


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regression_by_definition(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=200)
    w = rng.uniform(0.5, 2, 200)
    model = tenfold.AdaBoostRegressor(n_estimators=12, loss=loss, learning_rate=0.8).fit(X, y, w)
    said, weights, errors = steps(X, y, w, loss, 0.8, 12)
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-8)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-8)
    for t, staged in enumerate(model.staged_predict(X), start=1):
        for row in range(0, 200, 17):
            order = np.argsort(said[row, :t])
            below = np.cumsum(np.array(weights[:t])[order])
            median = said[row, order[np.searchsorted(below, below[-1] / 2 * (1 - 1e-12))]]
            assert staged[row] == pytest.approx(median, rel=1e-9)
    np.testing.assert_array_equal(staged, model.predict(X))
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y) > scores[0]


def test_regression_with_other_members_and_odd_targets() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.standard_t(2, size=100)
    model = tenfold.AdaBoostRegressor(tenfold.Ridge(), n_estimators=10).fit(X, y)
    assert len(model.estimators_) == len(model.estimator_weights_) and model.score(X, y) > 0.4
    flat = tenfold.AdaBoostRegressor().fit(X, np.ones(100))
    assert list(flat.estimator_errors_) == [0.0] and (flat.predict(X) == 1).all()
    path = tenfold.validation_path(tenfold.AdaBoostRegressor(), X, y, "n_estimators", [2, 9], folds=3)
    one = tenfold.cross_validate(tenfold.AdaBoostRegressor(n_estimators=2), X, y, folds=3)
    np.testing.assert_allclose(one.scores.ravel(), path.scores[0], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_anybodys_classifier_is_boosted_as_by_scikit_learn(n_classes: int) -> None:
    from scipy.sparse import csc_array
    from sklearn.datasets import load_wine
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], np.array(["a", "b", "c"])[y[y < n_classes]]
    settings = dict(n_estimators=6, learning_rate=0.5, random_state=0)
    theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **settings).fit(X, y)
    ours = tenfold.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **settings).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    for verb in ("decision_function", "predict_proba", "predict_log_proba"):
        np.testing.assert_allclose(getattr(ours, verb)(X), getattr(theirs, verb)(X), atol=1e-9)
    assert type(ours[0]) is DecisionTreeClassifier and len(ours) == 6
    sparse = tenfold.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **settings).fit(csc_array(X), y)
    np.testing.assert_array_equal(sparse.predict(csc_array(X)), ours.predict(X))
    assert [one.tree_.threshold[0] for one in sparse] == [one.tree_.threshold[0] for one in ours]


def test_members_of_packed_trees() -> None:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    model = tenfold.AdaBoostRegressor(n_estimators=5).fit(X, y)
    median = np.sort(np.stack([one.predict(X) for one in model]), axis=0)
    assert ((model.predict(X) >= median[0]) & (model.predict(X) <= median[-1])).all()
    assert len({one.random_state for one in model.estimators_}) == len(model) == 5
    label = tenfold.AdaBoostClassifier(n_estimators=5).fit(X, np.digitize(y, [100, 200]))
    votes = sum(a * np.eye(3)[one.predict(X)] for a, one in zip(label.estimator_weights_, label.estimators_, strict=True))
    np.testing.assert_array_equal(votes.argmax(axis=1), label.predict(X))


def test_members_without_weights() -> None:
    """A regressor is fitted to rows drawn by their weights; a classifier is refused."""

    class Mean:
        def fit(self, X: Any, y: Any) -> None:
            self.mean = np.mean(y)

        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.mean)

    X, y = np.arange(30.0)[:, None], np.arange(30.0)
    assert 10 < tenfold.AdaBoostRegressor(Mean(), n_estimators=3, random_state=0).fit(X, y).predict(X)[0] < 20
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        tenfold.AdaBoostClassifier(Mean()).fit(X, y > 3)
