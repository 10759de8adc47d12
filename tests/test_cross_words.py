"""Cross-validation in scikit-learn's words: its numbers, its keys, anybody's learners; and our quick ways are still taken."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.linear_model
import sklearn.model_selection as theirs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.inspection import permutation_importance
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import tenfold
from tenfold import evaluate
from tenfold.core.data import Arrays
from tenfold.evaluate import GroupKFold, KFold, make_scorer, mean_absolute_error

X, Y = load_diabetes(return_X_y=True)
XC, YC = load_breast_cancer(return_X_y=True)
GROUPS = np.arange(len(Y)) % 7


class Stubborn(ClassifierMixin, BaseEstimator):
    """Fails where the first training row is one of `on`."""

    def __init__(self, on: tuple = ()) -> None:
        self.on = on

    def fit(self, X: Any, y: Any) -> Stubborn:
        if X[0, 0] in self.on:
            raise ValueError("the stubborn learner does not like these rows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_median_absolute_error", ["r2", "max_error"], None])
@pytest.mark.parametrize("cv", [4, KFold(3, shuffle=True, random_state=1), None])
def test_the_numbers_are_scikit_learns(scoring: Any, cv: Any) -> None:
    names = [scoring] if isinstance(scoring, str) or scoring is None else scoring
    keys = ["test_score", "train_score"] if not isinstance(scoring, list) else [f"{a}_{b}" for a in ("test", "train") for b in names]
    scoring = "neg_max_error" if scoring == "max_error" else scoring
    if isinstance(scoring, list):
        scoring = {"r2": "r2", "max_error": "neg_max_error"}
        keys = [f"{a}_{b}" for a in ("test", "train") for b in scoring]
    expected = theirs.cross_validate(sklearn.linear_model.Ridge(), X, Y, cv=cv, scoring=scoring, return_train_score=True)
    for model in (tenfold.Ridge(), sklearn.linear_model.Ridge()):
        found = tenfold.cross_validate(model, X, Y, cv=cv, scoring=scoring, return_train_score=True, return_estimator=True)
        for key in keys:
            np.testing.assert_allclose(found[key], expected[key], rtol=1e-9)
        assert isinstance(found, dict) and set(found) == {*expected, "estimator"}
        assert pandas.DataFrame({k: v for k, v in found.items() if k != "estimator"}).shape[0] == len(expected["fit_time"])
        train = next(iter(theirs.check_cv(cv).split(X)))[0]
        fitted = sklearn.linear_model.Ridge().fit(X[train], Y[train])
        np.testing.assert_allclose(found["estimator"][0].predict(X[:5]), fitted.predict(X[:5]), rtol=1e-9)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "average_precision", "f1", "balanced_accuracy"])
def test_the_numbers_of_classifiers_are_scikit_learns(scoring: str) -> None:
    found = tenfold.cross_val_score(tenfold.GaussianNB(), XC, YC, cv=4, scoring=scoring)
    np.testing.assert_allclose(found, theirs.cross_val_score(GaussianNB(), XC, YC, cv=4, scoring=scoring), rtol=1e-6)
    assert found.standard_error > 0 and found.result is not None and isinstance(found.mean(), float)
    assert pickle.loads(pickle.dumps(found)).tolist() == found.tolist()


def test_own_words_are_as_before_and_read_like_scikit_learns_too() -> None:
    ours = tenfold.cross_validate(tenfold.Ridge(), X, Y, folds=5, score="rmse")
    assert len(ours["test_score"]) == 5 and (ours.scores > 0).all()
    np.testing.assert_array_equal(ours["test_score"], -ours.scores[0])
    assert len(tenfold.cross_val_score(tenfold.Ridge(), X, Y)) == 5
    assert len(tenfold.cross_val_score(tenfold.Ridge(), X, Y, folds=4)) == 4
    with pytest.raises(tenfold.BadParameter, match="give one of them"):
        tenfold.cross_validate(tenfold.Ridge(), X, Y, folds=5, cv=5)


@pytest.mark.parametrize("model", [tenfold.Ridge(), tenfold.Lasso(alpha=0.1)], ids=["ridge", "lasso"])
def test_the_rows_are_read_as_often_as_in_our_own_words(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    load = Arrays.load

    def counted(self: Any, part: Any) -> Any:
        block = load(self, part)
        read.append(len(block.X))
        return block

    monkeypatch.setattr(Arrays, "load", counted)
    tenfold.cross_validate(model, X, Y, folds=10)
    own = sum(read)
    read.clear()
    result = tenfold.cross_validate(model, X, Y, cv=10, scoring="r2")
    assert sum(read) == own and result.method == "merged statistics"


def test_scorers_look_at_the_model_and_at_x() -> None:
    def largest_weight(model: Any, X: Any, y: Any) -> float:
        return float(np.abs(model.coef_).max() + len(X))

    found = tenfold.cross_validate(tenfold.Ridge(), X, Y, cv=3, scoring={"weight": largest_weight, "r2": "r2"})
    expected = theirs.cross_validate(sklearn.linear_model.Ridge(), X, Y, cv=3, scoring={"weight": largest_weight, "r2": "r2"})
    for key in ("test_weight", "test_r2"):
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-8)
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    np.testing.assert_allclose(
        tenfold.cross_val_score(tenfold.Ridge(), X, Y, scoring=scorer),
        theirs.cross_val_score(sklearn.linear_model.Ridge(), X, Y, scoring="neg_mean_absolute_error"), rtol=1e-9,
    )  # fmt: skip


def test_fits_are_given_what_params_hold() -> None:
    w = np.random.default_rng(0).uniform(0.1, 2, size=len(Y))
    for model in (tenfold.Ridge(), sklearn.linear_model.Ridge()):
        found = tenfold.cross_val_score(model, X, Y, cv=3, params={"sample_weight": w})
        np.testing.assert_array_equal(found, tenfold.cross_val_score(model, X, Y, cv=3, fit_params={"sample_weight": w}))
        expected = theirs.cross_val_score(sklearn.linear_model.Ridge(), X, Y, cv=3, params={"sample_weight": w})
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_groups_reach_the_splitter() -> None:
    found = tenfold.cross_validate(tenfold.Ridge(), X, Y, cv=GroupKFold(3), groups=GROUPS, return_indices=True)
    for train, test in zip(found["indices"]["train"], found["indices"]["test"], strict=True):
        assert not set(GROUPS[train]) & set(GROUPS[test])
    for model in (tenfold.Ridge(), sklearn.linear_model.Ridge()):
        words = dict(cv=GroupKFold(3), groups=GROUPS)
        expected = theirs.cross_val_score(sklearn.linear_model.Ridge(), X, Y, **words)
        np.testing.assert_allclose(tenfold.cross_val_score(model, X, Y, **words), expected, rtol=1e-9)
        given = GroupKFold(3).split(X, Y, GROUPS)
        np.testing.assert_allclose(tenfold.cross_val_score(model, X, Y, cv=given), expected, rtol=1e-9)
        with pytest.raises(ValueError, match="The 'groups' parameter should not be None"):
            tenfold.cross_val_score(model, X, Y, cv=GroupKFold(3))


def test_indices_are_those_of_the_users_table() -> None:
    w = np.where(np.arange(len(Y)) % 3, 1.0, 0.0)
    found = tenfold.cross_validate(tenfold.Ridge(), X, Y, folds=3, sample_weight=w, return_indices=True)
    assert sorted(np.concatenate(found["indices"]["test"])) == np.flatnonzero(w).tolist()


def test_a_class_of_one_row_is_held_out_by_a_splitter() -> None:
    rows, y = np.arange(1.0, 6)[:, None], [0, 0, 0, 0, 1]
    search = tenfold.GridSearchCV(tenfold.DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=KFold(5)).fit(rows, y)
    assert search.cv_results_["mean_test_score"].tolist() == [0.8, 0.8]
    with pytest.raises(tenfold.BadInput, match="class 1 has 1 row"):
        tenfold.GridSearchCV(tenfold.DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(rows, y)


def test_a_fit_that_fails_is_told_and_has_the_error_score() -> None:
    rows = np.arange(60.0)[:, None]
    y = np.tile([0, 1], 30)
    with pytest.warns(UserWarning, match=r"1 fits failed out of a total of 3(.|\n)*does not like these rows"):
        found = tenfold.cross_val_score(Stubborn(on=(20.0,)), rows, y, cv=KFold(3), error_score=-1.0)
    np.testing.assert_array_equal(found, [-1.0, 0.5, 0.5])
    with pytest.raises(ValueError, match=r"All the 2 fits failed(.|\n)*does not like these rows"):
        tenfold.cross_val_score(Stubborn(on=(0.0, 30.0)), rows, y, cv=KFold(2))
    with pytest.raises(ValueError, match="does not like these rows"):
        tenfold.cross_val_score(Stubborn(on=(20.0,)), rows, y, cv=KFold(3), error_score="raise")


def test_a_scorer_that_fails_or_says_nan_is_named() -> None:
    def odd(model: Any, X: Any, y: Any) -> float:
        raise RuntimeError("the odd scorer")

    with pytest.warns(UserWarning) as told:
        found = tenfold.cross_val_score(tenfold.Ridge(), X, Y, cv=3, scoring=odd, error_score=0.25)
    assert found.tolist() == [0.25] * 3 and all("the odd scorer" in str(one.message) for one in told)
    with pytest.warns(UserWarning, match="'score' is NaN on 3 of 3 splits, first on split 0"):
        tenfold.cross_val_score(tenfold.Ridge(), X, Y, cv=3, scoring=lambda model, X, y: float("nan"))
    with pytest.raises(ValueError, match="scoring must return a number"):
        tenfold.cross_val_score(tenfold.Ridge(), X, Y, cv=3, scoring=lambda model, X, y: "good")


def test_what_is_no_learner_is_refused_in_a_sentence() -> None:
    class Short(Stubborn):
        def predict(self, X: Any) -> Any:
            return super().predict(X)[1:]

    labels = YC[:60]
    for call, words in (
        (lambda: tenfold.cross_validate(object(), XC, YC), "is a object, which has no fit"),
        (lambda: tenfold.cross_val_score(GaussianNB, XC, YC), "is the class GaussianNB, and an instance is needed"),
        (lambda: tenfold.cross_val_predict(Stubborn(), XC, YC, method="predict_proba"), "has no predict_proba"),
        (lambda: tenfold.cross_val_predict(Short(), XC[:60], labels, cv=3), "Short: predict has returned 19 of 20 rows"),
    ):
        with pytest.raises(tenfold.BadInput, match=words):
            call()
    rows = np.arange(len(Y))
    assert "1 folds" in str(tenfold.cross_validate(tenfold.Ridge(), X, Y, cv=[(rows, rows)]))


def test_a_search_by_the_ordinary_route_is_saved_with_a_learner_of_ours(tmp_path: Any) -> None:
    search = tenfold.RandomizedSearchCV(tenfold.KMeans(random_state=0), {"n_clusters": [2, 3]}, n_iter=2, random_state=0).fit(X)
    tenfold.save(search, tmp_path / "model")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "model").predict(X), search.predict(X))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_predictions_of_rows_that_were_not_seen(method: str) -> None:
    expected = theirs.cross_val_predict(GaussianNB(), XC, YC, cv=3, method=method)
    for model in (tenfold.GaussianNB(), GaussianNB()):
        found = tenfold.cross_val_predict(model, XC, YC, cv=3, method=method)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_training_set_without_a_class() -> None:
    iris, y = load_iris(return_X_y=True)
    with pytest.warns(RuntimeWarning, match=r"Number of classes in training fold \(2\)"):
        found = tenfold.cross_val_predict(tenfold.GaussianNB(), iris, y, cv=KFold(3), method="predict_proba")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = theirs.cross_val_predict(GaussianNB(), iris, y, cv=KFold(3), method="predict_proba")
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_array_equal(tenfold.cross_val_score(tenfold.GaussianNB(), iris, y, cv=KFold(3)), 0.0)


def test_frames_texts_and_lists_go_to_anybodys_learner_as_they_are() -> None:
    seen: list[type] = []

    class Sees(Stubborn):
        def fit(self, X: Any, y: Any) -> Sees:
            seen.append(type(X))
            self.classes_ = np.unique(y)
            return self

    y = np.tile([0, 1], 10)
    for table in (pandas.DataFrame({"a": ["x", "y"] * 10}), ["some text", "other"] * 10):
        tenfold.cross_val_score(Sees(), table, y, cv=2)
        assert seen[-1] is type(table)


def test_a_learner_changed_by_the_user_is_asked_itself() -> None:
    class Doubled(tenfold.Ridge):
        def predict(self, X: Any) -> Any:
            return 2 * super().predict(X)

    found = tenfold.cross_val_predict(Doubled(), X, Y, cv=3)
    np.testing.assert_allclose(found, 2 * tenfold.cross_val_predict(tenfold.Ridge(), X, Y, cv=3), rtol=1e-9)


# --- curves, permutations and importance ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [dict(cv=5), dict(cv=3, scoring="neg_mean_squared_error"), dict(train_sizes=[10, 50, 100], cv=4, shuffle=True, random_state=0)],
)
def test_learning_curves_unpack_as_scikit_learns(words: dict) -> None:
    expected = theirs.learning_curve(sklearn.linear_model.Ridge(), X, Y, **words)
    for model, method in ((tenfold.Ridge(), "merged statistics"), (sklearn.linear_model.Ridge(), "refitted")):
        found = evaluate.learning_curve(model, X, Y, **words)
        sizes, train, test = found
        np.testing.assert_array_equal(sizes, expected[0])
        np.testing.assert_allclose(train, expected[1], rtol=1e-8)
        np.testing.assert_allclose(test, expected[2], rtol=1e-8)
        assert found.method == method
    assert len(evaluate.learning_curve(tenfold.Ridge(), X, Y, cv=3, return_times=True)) == 5
    with pytest.raises(ValueError, match=r"must be within \(0, 1\]"):
        evaluate.learning_curve(tenfold.Ridge(), X, Y, train_sizes=[0.5, 1.5])


@pytest.mark.parametrize(
    "words",
    [
        dict(param_name="alpha", param_range=[0.1, 1, 10]),
        dict(param_name="alpha", param_range=[0.1, 1], cv=theirs.ShuffleSplit(3, random_state=0), scoring="neg_mean_squared_error"),
        dict(param_name="fit_intercept", param_range=[True, False]),
    ],
)
def test_validation_curves_unpack_as_scikit_learns(words: dict) -> None:
    expected = theirs.validation_curve(sklearn.linear_model.Ridge(), X, Y, **words)
    for model in (tenfold.Ridge(), sklearn.linear_model.Ridge()):
        train, test = evaluate.validation_curve(model, X, Y, **words)
        np.testing.assert_allclose(train, expected[0], rtol=1e-8)
        np.testing.assert_allclose(test, expected[1], rtol=1e-8)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_permutation_tests_are_scikit_learns(groups: Any) -> None:
    words = dict(n_permutations=9, cv=KFold(3), groups=groups, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the groups parameter is ignored by KFold
        expected = theirs.permutation_test_score(sklearn.linear_model.Ridge(), X, Y, **words)
        for model in (tenfold.Ridge(), sklearn.linear_model.Ridge()):
            score, scores, pvalue = evaluate.permutation_test_score(model, X, Y, **words)
            np.testing.assert_allclose(scores, expected[1], rtol=1e-7)
            assert abs(score - expected[0]) < 1e-12 and pvalue == expected[2]


@pytest.mark.parametrize(
    "words", [dict(), dict(scoring="neg_mean_absolute_error", n_repeats=3), dict(sample_weight=np.arange(1.0, len(Y) + 1))]
)
def test_the_importance_of_a_fitted_model_is_scikit_learns(words: dict) -> None:
    theirs_fitted = sklearn.linear_model.Ridge().fit(X, Y)
    expected = permutation_importance(theirs_fitted, X, Y, random_state=3, **words)
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    for model, table in ((tenfold.Ridge().fit(X, Y), X), (theirs_fitted, X), (sklearn.linear_model.Ridge().fit(frame, Y), frame)):
        found = evaluate.permutation_importance(model, table, Y, random_state=3, **words)
        np.testing.assert_allclose(found.importances, expected.importances, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found["importances_mean"], expected["importances_mean"], rtol=1e-7, atol=1e-9)


def test_importance_by_several_scores_and_on_some_of_the_rows() -> None:
    fitted = tenfold.Ridge().fit(X, Y)
    found = evaluate.permutation_importance(fitted, X, Y, scoring=["r2", "neg_mean_squared_error"])
    assert list(found) == ["r2", "neg_mean_squared_error"]
    part = evaluate.permutation_importance(fitted, X, Y, max_samples=0.5, n_repeats=3)
    assert part.importances.shape == (X.shape[1], 3)
    with pytest.raises(ValueError, match="max_samples"):
        evaluate.permutation_importance(fitted, X, Y, max_samples=10_000)


# --- searches ---------------------------------------------------------------------------------------------------


def test_searches_of_anybodys_learner_have_scikit_learns_table() -> None:
    iris, y = load_iris(return_X_y=True)
    grid = {"C": [0.1, 1, 10], "gamma": [0.1, 1]}
    for words in (dict(), dict(scoring=["accuracy", "f1_macro"], refit="f1_macro", return_train_score=True, cv=3)):
        found = tenfold.GridSearchCV(SVC(), grid, **words).fit(iris, y)
        expected = theirs.GridSearchCV(SVC(), grid, **words).fit(iris, y)
        assert set(found.cv_results_) == set(expected.cv_results_)
        for key, column in expected.cv_results_.items():
            if "time" not in key and key != "params":
                np.testing.assert_array_equal(found.cv_results_[key], column)
        assert found.best_params_ == expected.best_params_ and found.best_score_ == expected.best_score_
        assert found.score(iris, y) == expected.score(iris, y)
        np.testing.assert_array_equal(found.predict(iris), expected.predict(iris))
        assert isinstance(found.best_estimator_, SVC) and found.classes_.tolist() == [0, 1, 2] and found.n_features_in_ == 4


def test_a_search_judged_by_a_scorer_that_looks_at_the_model() -> None:
    scorer = lambda model, X, y: -np.abs(model.coef_).max()  # noqa: E731
    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0, 100.0]}, scoring=scorer).fit(X, Y)
    assert search.best_params_ == {"alpha": 100.0} and search.best_score_corrected_ <= search.best_score_
    weights = np.arange(1.0, len(Y) + 1)
    search = tenfold.GridSearchCV(sklearn.linear_model.Ridge(), {"alpha": [1.0, 100.0]}).fit(X, Y, sample_weight=weights)
    expected = theirs.GridSearchCV(sklearn.linear_model.Ridge(), {"alpha": [1.0, 100.0]}).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, expected.best_estimator_.coef_)


def test_a_search_tells_of_settings_that_fail() -> None:
    rows, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    grid = {"on": [(), (0.0, 20.0)]}
    with pytest.warns(UserWarning) as told:
        search = tenfold.GridSearchCV(Stubborn(), grid, cv=KFold(3)).fit(rows, y)
    assert search.best_params_ == {"on": ()} and np.isnan(search.cv_results_["mean_test_score"][1])
    words = " ".join(str(one.message) for one in told)
    assert "3 fits failed out of a total of 6" in words and "scores are non-finite" in words


# --- metadata routing -------------------------------------------------------------------------------------------


def test_metadata_is_routed_as_by_scikit_learn() -> None:
    w = np.random.default_rng(0).uniform(0.1, 2, size=len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        expected = theirs.cross_val_score(
            sklearn.linear_model.Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=False), X, Y,
            cv=theirs.GroupKFold(3), params={"sample_weight": w, "groups": GROUPS},
        )  # fmt: skip
        for kind in (tenfold.Ridge, sklearn.linear_model.Ridge):
            model = kind().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
            params = {"sample_weight": w, "groups": GROUPS}
            found = tenfold.cross_val_score(model, X, Y, cv=GroupKFold(3), params=params)
            np.testing.assert_allclose(found, expected, rtol=1e-8)
            search = tenfold.GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=GroupKFold(3)).fit(X, Y, **params)
            assert search.n_splits_ == 3
            asked = search.get_metadata_routing()
            assert asked.consumes("fit", ["sample_weight", "groups"]) == {"sample_weight", "groups"}
        with pytest.raises(ValueError, match="`groups` can only be passed if metadata routing is not enabled"):
            tenfold.cross_val_score(sklearn.linear_model.Ridge(), X, Y, cv=GroupKFold(3), groups=GROUPS)
        with pytest.raises(ValueError, match=r"\[sample_weight\] are passed but are not explicitly set as requested"):
            tenfold.cross_val_score(tenfold.Ridge(), X, Y, params={"sample_weight": w})


def test_what_predicts_no_target_is_judged_by_its_own_score_in_scikit_learns_words() -> None:
    assert tenfold.cross_val_score(tenfold.KMeans(2, random_state=0), X, cv=3).shape == (3,)
    assert tenfold.cross_val_predict(tenfold.KMeans(2, random_state=0), X, cv=3).shape == Y.shape
    with pytest.raises(tenfold.BadInput, match="predicts no target"):
        tenfold.cross_validate(tenfold.KMeans(2), X, Y)


def test_a_search_scores_labels_it_has_not_met_and_tells_of_scores_without_weights() -> None:
    iris, y = load_iris(return_X_y=True)
    search = tenfold.GridSearchCV(tenfold.GaussianNB(), {"var_smoothing": [1e-9]}).fit(iris[:100], y[:100])
    assert search.score(iris, y) == pytest.approx(2 / 3)
    with pytest.warns(UserWarning, match="does not support sample_weight"):
        search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0]}, scoring=lambda truth, said: -abs(truth - said).max())
        search.fit(X, Y, np.ones(len(Y)))


def test_all_scores_are_printed() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    found = tenfold.cross_validate(tenfold.GaussianNB(), X, y, cv=3, scoring=["accuracy", "roc_auc", "f1"])
    lines = str(found).splitlines()
    assert lines[-2].split() == ["roc_auc", f"{found['test_roc_auc'].mean():.4f}"]
    assert lines[-1].split() == ["f1", f"{found['test_f1'].mean():.4f}"]
    one = tenfold.cross_validate(tenfold.GaussianNB(), X, y, cv=3)
    assert len(str(one).splitlines()) == len(lines) - 2
