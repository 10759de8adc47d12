"""Linear support vector machines for classes: scikit-learn's objective, its duality gap, every shape of table by every route."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn import svm

import tenfold

PROBLEMS = (("l2", "squared_hinge"), ("l2", "hinge"), ("l1", "squared_hinge"))


def table(n: int = 150, p: int = 5, classes: int = 2, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, p)) + np.eye(classes, p)[y]
    return X, y, rng.integers(1, 4, n).astype(float)


def objectives(model: Any, X: Any, y: Any, w: Any) -> Any:
    """As documented, of each class; `model` may be scikit-learn's."""
    found = []
    for k, coef in enumerate(model.coef_):
        b = float(np.broadcast_to(model.intercept_, len(model.coef_))[k])
        t = np.where(y == model.classes_[k if len(model.coef_) > 1 else 1], 1.0, -1.0)
        over = np.maximum(1 - t * (X @ coef + b), 0)
        size = np.append(coef, b / model.intercept_scaling)
        penalty = 0.5 * size @ size if model.penalty == "l2" else np.abs(size).sum()
        found.append(penalty + model.C * float(w @ (over if model.loss == "hinge" else over**2)))
    return np.array(found)


def exact(penalty: str, loss: str, **more: Any) -> Any:
    """Scikit-learn's at its tightest."""
    return svm.LinearSVC(penalty=penalty, loss=loss, dual=loss == "hinge", tol=1e-9, max_iter=200_000, random_state=0, **more)


@pytest.mark.parametrize("penalty,loss", PROBLEMS)
@pytest.mark.parametrize("C", [0.02, 5.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
def test_not_above_scikit_learn(penalty: str, loss: str, C: float, intercept: bool, classes: int) -> None:
    X, y, w = table(classes=classes)
    settings: dict[str, Any] = dict(C=C, fit_intercept=intercept, intercept_scaling=2.0)
    ours = tenfold.LinearSVC(penalty, loss, tol=1e-11, **settings).fit(X, y, w)
    theirs = exact(penalty, loss, **settings).fit(X, y, w)
    assert (objectives(ours, X, y, w) <= objectives(theirs, X, y, w) * (1 + 1e-12)).all()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert (ours.dual_gap_ <= 1e-11).all() and np.shape(ours.intercept_) == np.shape(theirs.intercept_)


@pytest.mark.parametrize("penalty,loss", PROBLEMS)
@pytest.mark.parametrize("shape,dense_solver", [((200, 30), "newton"), ((25, 300), "newton"), ((150, 1200), "")])
def test_sparse_rows_and_every_shape(penalty: str, loss: str, shape: Any, dense_solver: str) -> None:
    """Rows without a value among them; dense and sparse tables, whatever the algorithm, end at the same place."""
    n, p = shape
    X, y, w = table(n, p, 3)
    X[np.random.default_rng(1).random(X.shape) < 0.9] = 0.0
    X[3] = 0.0
    model = tenfold.LinearSVC(penalty, loss, C=0.5, tol=1e-10)
    dense, sparse = (tenfold.LinearSVC(**model.get_params()).fit(given, y, w) for given in (X, scipy.sparse.csr_array(X)))
    assert (dense.dual_gap_ <= 1e-10).all() and (sparse.dual_gap_ <= 1e-10).all()
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=3e-5)
    np.testing.assert_allclose(objectives(dense, X, y, w), objectives(sparse, X, y, w), rtol=2e-10)
    if penalty == "l1":
        assert dense.solver_ == sparse.solver_ == "proximal newton"
    else:
        many = {"hinge": "dual descent", "squared_hinge": "newton-cg"}[loss]
        assert dense.solver_ == ("newton" if 2 * n < p else dense_solver or many)
        assert sparse.solver_ == (many if p > 1024 else "newton")


@pytest.mark.parametrize("penalty,loss", PROBLEMS)
def test_very_many_columns_by_blocks(penalty: str, loss: str) -> None:
    """Passes over blocks, dense or sparse, give what the table in memory does."""
    X, y, _ = table(700, 1100, 2)
    X[np.random.default_rng(1).random(X.shape) < 0.8] = 0.0
    model = tenfold.LinearSVC(penalty, loss, C=0.1, tol=1e-9)
    whole = tenfold.LinearSVC(**model.get_params()).fit(X, y)
    for kind in (np.asarray, scipy.sparse.csr_array):
        blocks = [(kind(X[i : i + 300]), y[i : i + 300]) for i in range(0, len(X), 300)]
        found = tenfold.LinearSVC(**model.get_params()).fit(blocks)
        np.testing.assert_allclose(found.coef_, whole.coef_, atol=3e-5)


def test_threads_change_no_bits() -> None:
    X, y, _ = table(900, 1100, 2)
    X[np.random.default_rng(1).random(X.shape) < 0.8] = 0.0
    rows, found = scipy.sparse.csr_array(X), []
    for n in (1, 2):
        with tenfold.threads(n):
            found.append([tenfold.LinearSVC(loss=loss).fit(rows, y).coef_ for loss in ("hinge", "squared_hinge")])
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("penalty,loss", PROBLEMS)
def test_class_weights_are_scikit_learns(penalty: str, loss: str) -> None:
    for classes in (2, 3):
        X, y, _ = table(classes=classes)
        X, y = X[y > -1 + (np.arange(len(y)) % 3 > 0)], y[y > -1 + (np.arange(len(y)) % 3 > 0)]
        for weight in ("balanced", {0: 3.0, 1: 0.5}):
            ours = tenfold.LinearSVC(penalty, loss, class_weight=weight, tol=1e-11).fit(X, y)
            theirs = exact(penalty, loss, class_weight=weight).fit(X, y)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_the_margin_by_hand() -> None:
    """Two points at ±1: the widest margin has w = 1 for large C; for small ones hinge is w = 2 C, squares w = 4 C / (1 + 4 C)."""
    X, y = [[-1.0], [1.0]], [0, 1]
    for C in (0.01, 0.1, 0.4, 10.0, 1e6):
        hinge = tenfold.LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-12).fit(X, y)
        np.testing.assert_allclose(hinge.coef_, [[min(2 * C, 1.0)]], rtol=1e-9)
        squared = tenfold.LinearSVC(C=C, fit_intercept=False, tol=1e-12).fit(X, y)
        np.testing.assert_allclose(squared.coef_, [[4 * C / (1 + 4 * C)]], rtol=1e-9)


def test_a_class_between_others_rests_on_all_its_rows() -> None:
    """No plane tells it from the rest: every row of the rest lies on the margin, and the gap closes all the same."""
    X = np.repeat([-2.0, 0.0, 2.0], 100)[:, None] + np.random.default_rng(0).normal(size=(300, 1)) / 3
    model = tenfold.LinearSVC(loss="hinge", tol=1e-12).fit(X, np.repeat([0, 1, 2], 100))
    np.testing.assert_allclose([model.coef_[1, 0], model.intercept_[1]], [0, -1], atol=1e-6)
    assert model.dual_gap_.max() <= 1e-12


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_few_sparse_rows_and_a_large_C(loss: str) -> None:
    """Steps by products or in the dual would not end: the rows are solved in the space that they span."""
    X, y, _ = table(200, 6, 2)
    X = np.tile(X, (1, 200))
    y = (X[:, 0] > 0.5).astype(int)
    found = tenfold.LinearSVC(loss=loss, C=1e5, max_iter=50).fit(scipy.sparse.csr_array(X), y)
    dense = tenfold.LinearSVC(loss=loss, C=1e5).fit(X, y)
    assert found.dual_gap_[0] <= 1e-4 and found.score(X, y) == 1.0
    ones = np.ones(200)
    np.testing.assert_allclose(objectives(found, X, y, ones), objectives(dense, X, y, ones), rtol=2e-4)


def test_what_is_refused_and_told() -> None:
    X, y, _ = table(400)
    with pytest.raises(tenfold.BadParameter, match="squared_hinge"):
        tenfold.LinearSVC("l1", "hinge").fit(X, y)
    with pytest.raises(tenfold.BadParameter, match="'ovr'"):
        tenfold.LinearSVC(multi_class="crammer_singer").fit(X, y)
    with pytest.raises(tenfold.BadInput, match="class"):
        tenfold.LinearSVC().fit(X, np.zeros(len(X)))
    model = tenfold.LinearSVC().fit(X, y)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba")
    with pytest.raises(tenfold.BadParameter, match="predict_proba"):
        tenfold.cross_validate(tenfold.LinearSVC(), X, y, score="log_loss")
    long = scipy.sparse.csr_array(np.tile(np.repeat(X, 3, axis=0), (1, 210)))
    with pytest.warns(tenfold.NotConverged, match="duality gap"):
        tenfold.LinearSVC(loss="hinge", max_iter=2, tol=1e-9).fit(long, np.repeat(y, 3))


def test_bags_of_them_vote() -> None:
    X, y, _ = table(200, classes=3)
    bag = tenfold.BaggingClassifier(tenfold.LinearSVC(), n_estimators=5, random_state=0).fit(X, y)
    votes = np.mean([member.predict(X)[:, None] == np.arange(3) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), votes, atol=1e-12)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regression_of_very_many_columns(loss: str) -> None:
    """LinearSVR by products and in the dual: scikit-learn's objective, dense and sparse alike."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((700, 1100)) < 0.05, rng.normal(size=(700, 1100)), 0.0)
    y = X @ rng.normal(size=1100) + rng.normal(size=700)
    sparse = tenfold.LinearSVR(loss=loss, epsilon=0.3, tol=1e-9).fit(scipy.sparse.csr_array(X), y)
    dense = tenfold.LinearSVR(loss=loss, epsilon=0.3, tol=1e-9).fit(X, y)
    theirs = svm.LinearSVR(loss=loss, epsilon=0.3, tol=1e-8, max_iter=100_000).fit(X, y)

    def objective(model: Any) -> float:
        b = float(np.ravel(model.intercept_)[0])
        over = np.maximum(np.abs(y - X @ model.coef_ - b) - 0.3, 0)
        return 0.5 * float(model.coef_ @ model.coef_ + b * b) + float((over if loss[0] == "e" else over**2).sum())

    assert sparse.dual_gap_ <= 1e-9 and dense.dual_gap_ <= 1e-9
    assert max(objective(sparse), objective(dense)) <= objective(theirs) * (1 + 1e-9)
    np.testing.assert_allclose(sparse.coef_, theirs.coef_, atol=1e-3)
