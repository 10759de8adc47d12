"""LogisticRegressionCV: every fit of every fold at its optimum, the scores of scikit-learn, the choice, attributes, weights, routes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegressionCV as Peer
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

import tenfold
from tenfold import LogisticRegression, LogisticRegressionCV

NEW: dict[str, Any] = dict(use_legacy_attributes=False, l1_ratios=(0.0,), scoring="neg_log_loss")


def scaled(load: Any) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), y


def slope(theta: np.ndarray, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Of the loss, (M, p + 1)."""
    scores = X @ theta[:, :-1].T + theta[:, -1]
    scores = scores if scores.shape[1] > 1 else np.hstack([0 * scores, scores])
    P = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    P[np.arange(len(y)), y] -= 1
    R = (P * w[:, None])[:, -len(theta) :]
    return np.column_stack([R.T @ X, R.sum(0)])


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_every_fit_of_every_fold_is_at_its_optimum(load: Any, ratio: float) -> None:
    """The conditions of optimality, though each began at another solution."""
    X, y = scaled(load)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = LogisticRegressionCV(Cs=6, l1_ratios=(ratio,), use_legacy_attributes=False).fit(X, y, w)
    for f, (train, _) in enumerate(StratifiedKFold(5).split(X, y)):
        for c, C in enumerate(model.Cs_):
            theta = model.coefs_paths_[f, 0, c]
            g = slope(theta, X[train], y[train], w[train])
            W, G = theta[:, :-1], g[:, :-1] + (1 - ratio) / C * theta[:, :-1]
            l1 = ratio / C
            wrong = np.where(W != 0, np.abs(G + l1 * np.sign(W)), np.maximum(np.abs(G) - l1, 0))
            assert max(wrong.max(), np.abs(g[:, -1]).max()) < 1e-6 * w[train].sum(), (f, C)


def test_scores_choice_and_coefficients_are_those_of_scikit_learn() -> None:
    X, y = scaled(load_iris)
    Cs = np.logspace(-3, 2, 6)
    for scoring in ("neg_log_loss", "accuracy", "roc_auc_ovr", "f1_macro", "neg_brier_score"):
        ours = LogisticRegressionCV(Cs=Cs, scoring=scoring, l1_ratios=(0.0,), use_legacy_attributes=False).fit(X, y)
        peer = Peer(
            Cs=Cs, scoring=scoring, l1_ratios=(0.0,), use_legacy_attributes=False, solver="newton-cholesky", tol=1e-10, max_iter=1000
        ).fit(X, y)
        np.testing.assert_allclose(ours.scores_, peer.scores_, rtol=1e-6, atol=1e-6, err_msg=scoring)
        np.testing.assert_allclose(ours.coefs_paths_, peer.coefs_paths_, atol=1e-4, err_msg=scoring)
        assert ours.C_ == peer.C_ and ours.l1_ratio_ == peer.l1_ratio_ == 0.0
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
        assert ours.score(X, y) == pytest.approx(peer.score(X, y), rel=1e-6)


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("ratios", [None, np.array([0.2, 0.8])])
def test_attributes_have_the_shapes_of_scikit_learn(ratios: Any, k: int, refit: bool) -> None:
    X, y = scaled(load_iris)
    X, y = X[y < k], y[y < k]
    for legacy in (True, False):
        given: dict[str, Any] = dict(Cs=3, cv=4, l1_ratios=ratios, refit=refit, scoring="accuracy", use_legacy_attributes=legacy)
        ours = LogisticRegressionCV(**given).fit(X, y)
        with pytest.warns() as _:
            peer = Peer(**given, solver="saga", max_iter=20, random_state=0).fit(X, y)
        for name in ("coef_", "intercept_", "C_", "Cs_", "l1_ratios_", "n_iter_", "l1_ratio_", "scores_", "coefs_paths_"):
            mine, theirs = getattr(ours, name), getattr(peer, name)
            assert isinstance(mine, type(theirs)), name
            if isinstance(theirs, dict):
                assert list(mine) == list(theirs)
                assert {key: one.shape for key, one in mine.items()} == {key: one.shape for key, one in theirs.items()}, name
            else:
                assert np.shape(mine) == np.shape(theirs), name


def test_the_score_to_expect_stands_beside_the_score_that_chose() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 10)), rng.integers(0, 2, 80)  # nothing to learn
    model = LogisticRegressionCV(Cs=20, scoring="accuracy", l1_ratios=[0.0, 0.5, 1.0], use_legacy_attributes=False).fit(X, y)
    low, high = model.best_score_range_
    assert model.best_score_ == pytest.approx(model.scores_.mean(axis=0).max())
    assert low < model.best_score_corrected_ < model.best_score_ and low < 0.5 < high
    search = tenfold.GridSearchCV(LogisticRegression(), {"C": list(np.logspace(-3, 1, 5))}, cv=5, scoring="neg_log_loss").fit(X, y)
    same = LogisticRegressionCV(Cs=np.logspace(-3, 1, 5), **{**NEW, "l1_ratios": None}).fit(X, y)
    assert same.best_score_ == pytest.approx(search.best_score_) and search.best_params_["C"] == same.C_
    assert same.best_score_corrected_ == pytest.approx(search.best_score_corrected_)
    np.testing.assert_allclose(same.best_score_range_, search.best_score_range_, rtol=1e-6)


def test_a_function_is_asked_once_for_each_test_set() -> None:
    X, y = scaled(load_iris)
    asked = []

    def fewest(model: Any, X: Any, y: Any) -> float:
        asked.append(len(X))
        return float((model.predict(X) == y).mean())

    model = LogisticRegressionCV(Cs=3, scoring=fewest, use_legacy_attributes=False).fit(X, y)
    assert len(asked) == 15 and set(asked) == {30}
    plain = LogisticRegressionCV(Cs=3, scoring="accuracy", use_legacy_attributes=False).fit(X, y)
    np.testing.assert_allclose(model.scores_, plain.scores_, rtol=1e-12)
    assert 0.8 < model.best_score_corrected_ <= 1.0


def test_splitters_and_pairs_whose_test_sets_overlap() -> None:
    X, y = scaled(load_breast_cancer)
    splitter = ShuffleSplit(4, test_size=0.3, random_state=0)
    model = LogisticRegressionCV(Cs=[0.1, 10.0], cv=splitter, **NEW).fit(X, y)
    pairs = LogisticRegressionCV(Cs=[0.1, 10.0], cv=list(splitter.split(X, y)), **NEW).fit(X, y)
    np.testing.assert_array_equal(model.coefs_paths_, pairs.coefs_paths_)
    for f, (train, test) in enumerate(splitter.split(X, y)):
        one = LogisticRegression(C=10.0).fit(X[train], y[train])
        np.testing.assert_allclose(model.coefs_paths_[f, 0, 1, 0, :-1], one.coef_[0], atol=1e-5)
        assert model.scores_[f, 0, 1] == pytest.approx(np.log(one.predict_proba(X[test])[np.arange(len(test)), y[test]]).mean(), rel=1e-5)


def test_many_training_sets_go_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = scaled(load_iris)
    model = LogisticRegressionCV(Cs=2, cv=7, **{**NEW, "l1_ratios": (0.0, 1.0)}).fit(X, y)
    monkeypatch.setattr("tenfold.compose.search.logistic_folds.MOST_TOGETHER", 3)
    monkeypatch.setattr("tenfold.compose.search.logistic_folds.LARGEST_OUTPUTS", 1)
    again = LogisticRegressionCV(Cs=2, cv=7, **{**NEW, "l1_ratios": (0.0, 1.0)}).fit(X, y)
    np.testing.assert_array_equal(model.coefs_paths_, again.coefs_paths_)
    np.testing.assert_allclose(model.scores_, again.scores_, rtol=1e-12)


def test_sparse_rows_streams_and_threads_give_the_same(tmp_path: Path) -> None:
    X, y = scaled(load_breast_cancer)
    X[np.abs(X) < 0.5] = 0.0
    model = LogisticRegressionCV(Cs=4, **NEW).fit(X, y)
    sparse = LogisticRegressionCV(Cs=4, **NEW).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coefs_paths_, model.coefs_paths_, atol=1e-5)
    blocks = [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(X), 100)]
    np.testing.assert_allclose(LogisticRegressionCV(Cs=4, **NEW).fit(blocks).coef_, model.coef_, rtol=1e-9)
    with tenfold.threads(1):
        np.testing.assert_array_equal(LogisticRegressionCV(Cs=4, **NEW).fit(X, y).coefs_paths_, model.coefs_paths_)
    tenfold.save(model, tmp_path / "m.tenfold")
    again = tenfold.load(tmp_path / "m.tenfold")
    np.testing.assert_array_equal(again.scores_, model.scores_)
    assert again.C_ == model.C_ and again.best_score_corrected_ == model.best_score_corrected_


def test_rows_of_weight_zero_take_no_part() -> None:
    X, y = scaled(load_iris)
    w = (np.arange(len(y)) % 3 > 0).astype(float)
    with_zeros = LogisticRegressionCV(Cs=3, **NEW).fit(X, y, w)
    without = LogisticRegressionCV(Cs=3, **NEW).fit(X[w > 0], y[w > 0])
    np.testing.assert_allclose(with_zeros.coefs_paths_, without.coefs_paths_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(with_zeros.scores_, without.scores_, rtol=1e-9)


def test_balanced_classes_are_those_of_all_rows() -> None:
    X, y = scaled(load_breast_cancer)
    ours = LogisticRegressionCV(Cs=[0.1], class_weight="balanced", **NEW).fit(X, y)
    peer = Peer(Cs=[0.1], class_weight="balanced", solver="newton-cholesky", tol=1e-10, **NEW).fit(X, y)
    np.testing.assert_allclose(ours.coefs_paths_, peer.coefs_paths_, atol=1e-6)


def test_a_C_may_be_infinite_and_a_class_rare() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.r_[np.ones(3, int), np.zeros(57, int)]
    with pytest.warns(tenfold.DataWarning, match="only 3 members"):
        model = LogisticRegressionCV(Cs=[np.inf, 1.0], **NEW).fit(X, y)
    assert model.scores_.shape == (5, 1, 2) and np.isfinite(model.scores_).all()
    few = LogisticRegressionCV(Cs=2, **NEW).fit(X[:6], y[:6])  # three rows of each class are three folds
    assert few.scores_.shape == (3, 1, 2)
    with pytest.raises(tenfold.BadInput, match=r"LogisticRegressionCV\(cv=5\).*members in each class"):
        LogisticRegressionCV(cv=5).fit(X[:6], y[:6])
    with pytest.raises(tenfold.BadInput, match="class 1 has 1 row"):
        LogisticRegressionCV().fit(X[2:], y[2:])


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"Cs": 0}, "Cs=0"),
        ({"Cs": [1.0, -1.0]}, "above 0"),
        ({"Cs": []}, "above 0"),
        ({"Cs": "many"}, "above 0"),
        ({"Cs": [np.nan]}, "above 0"),
        ({"l1_ratios": [0.5, 2.0]}, "between 0 and 1"),
        ({"l1_ratios": 0.5}, "between 0 and 1"),
        ({"penalty": "elasticnet"}, "between 0 and 1"),
        ({"cv": 1}, "at least 2"),
        ({"cv": True}, "at least 2"),
        ({"scoring": "r2"}, "scoring"),
    ],
)
def test_bad_parameters_are_told(parameters: dict[str, Any], word: str) -> None:
    X, y = scaled(load_iris)
    with pytest.raises(tenfold.BadParameter, match=word):
        LogisticRegressionCV(**parameters).fit(X, y)


def test_fits_that_do_not_converge_are_counted() -> None:
    X, y = scaled(load_breast_cancer)
    with pytest.warns(tenfold.NotConverged) as told:
        LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], max_iter=1, tol=1e-8).fit(X, y)
    assert "LogisticRegressionCV: 15 of 15 fits failed to converge within max_iter=1 steps" in str(told[0].message)


def test_a_warm_start_of_an_l1_penalty_goes_all_the_way() -> None:
    """From the solution for a near penalty the first step was so rough that nothing seemed to be left to gain."""
    X, y = scaled(load_iris)
    start = LogisticRegression(C=1300.0, l1_ratio=0.5, warm_start=True).fit(X, y)
    warm, cold = start.set_params(C=1e4).fit(X, y), LogisticRegression(C=1e4, l1_ratio=0.5).fit(X, y)
    np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
