"""Selection of columns by learners: from a model, by elimination, one at a time. Oracle: scikit-learn, and fits of every candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.feature_selection as theirs
import sklearn.linear_model as linear
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

import tenfold
from tenfold.compose.select.splits import Splits

X, Y = load_diabetes(return_X_y=True)
FLOWERS, KINDS = load_iris(return_X_y=True)


# --- from a model -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [None, "mean", "median", "0.5*mean", 100.0])
@pytest.mark.parametrize("most", [None, 3, lambda X: 2])
@pytest.mark.parametrize("name", ["Lasso", "Ridge"])
def test_from_model_is_that_of_scikit_learn(name: str, threshold: Any, most: Any) -> None:
    mine = tenfold.SelectFromModel(getattr(tenfold, name)(alpha=0.5), threshold=threshold, max_features=most).fit(X, Y)
    expected = theirs.SelectFromModel(getattr(linear, name)(alpha=0.5, tol=1e-10), threshold=threshold, max_features=most).fit(X, Y)
    np.testing.assert_array_equal(mine.get_support(), expected.get_support())
    assert mine.threshold_ == pytest.approx(expected.threshold_, rel=1e-5)


def test_from_model_of_forests_classes_and_anybodys_learners() -> None:
    forest = tenfold.SelectFromModel(tenfold.RandomForestClassifier(20, random_state=0)).fit(FLOWERS, KINDS)
    assert forest.get_support().tolist() == [False, False, True, True]
    foreign = tenfold.SelectFromModel(RandomForestClassifier(20, random_state=0), threshold="median").fit(FLOWERS, KINDS)
    assert foreign.transform(FLOWERS).shape == (150, 2) and isinstance(foreign.estimator_, RandomForestClassifier)
    several = tenfold.SelectFromModel(tenfold.LinearDiscriminantAnalysis(), norm_order=2).fit(FLOWERS, KINDS)
    np.testing.assert_allclose(several.importances_, np.linalg.norm(several.estimator_.coef_, axis=0), rtol=1e-12)


def test_permutation_importance_by_a_getter() -> None:
    def permuted(model: Any) -> Any:
        return tenfold.evaluate.permutation_importance(model, FLOWERS, KINDS, random_state=0).importances_mean

    chosen = tenfold.SelectFromModel(tenfold.GaussianNB(), importance_getter=permuted).fit(FLOWERS, KINDS)
    assert set(chosen.get_support(indices=True)) <= {2, 3}
    with pytest.raises(tenfold.BadInput, match="importance_getter"):
        tenfold.SelectFromModel(tenfold.GaussianNB()).fit(FLOWERS, KINDS).get_support()


def test_a_model_that_was_fitted_before_is_used_as_it_is() -> None:
    model = tenfold.Lasso(alpha=0.5).fit(X, Y)
    chosen = tenfold.SelectFromModel(model, prefit=True)
    expected = tenfold.SelectFromModel(tenfold.Lasso(alpha=0.5)).fit(X, Y).get_support()
    np.testing.assert_array_equal(chosen.get_support(), expected)  # without a fit
    np.testing.assert_array_equal(chosen.fit(X[:9], Y[:9]).get_support(), expected)
    with pytest.raises(tenfold.NotFitted, match="expected to be a fitted"):
        tenfold.SelectFromModel(tenfold.Lasso(), prefit=True).fit(X, Y)
    with pytest.raises(tenfold.BadParameter, match="gobbledigook"):
        tenfold.SelectFromModel(model, threshold="gobbledigook", prefit=True).fit(X, Y).transform(X)
    with pytest.raises(TypeError, match="max_features"):
        tenfold.SelectFromModel(model, max_features=1.5).fit(X, Y)


def test_from_model_learns_on_in_blocks() -> None:
    blocks = [(X[i : i + 100], Y[i : i + 100]) for i in range(0, len(X), 100)]
    whole, stream, parts = (tenfold.SelectFromModel(tenfold.Ridge()) for _ in range(3))
    whole.fit(X, Y)
    stream.fit(blocks)
    for block in blocks:
        parts.partial_fit(*block)
    for one in (stream, parts):
        np.testing.assert_allclose(one.estimator_.coef_, whole.estimator_.coef_, rtol=1e-9)
        np.testing.assert_array_equal(one.get_support(), whole.get_support())


# --- elimination ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [None, 2, 0.3, 12])
@pytest.mark.parametrize("step", [1, 3, 0.2])
def test_rfe_is_that_of_scikit_learn(wanted: Any, step: Any) -> None:
    mine = tenfold.RFE(tenfold.LinearRegression(), n_features_to_select=wanted, step=step)
    expected = theirs.RFE(linear.LinearRegression(), n_features_to_select=wanted, step=step)
    if wanted == 12:
        for one in (mine, expected):
            with pytest.warns(UserWarning, match="no feature selection"):
                one.fit(X, Y)
    else:
        mine.fit(X, Y), expected.fit(X, Y)
    np.testing.assert_array_equal(mine.ranking_, expected.ranking_)
    np.testing.assert_allclose(mine.predict(X), expected.predict(X), rtol=1e-9)
    assert mine.score(X, Y) == pytest.approx(expected.score(X, Y), rel=1e-10) and mine.n_features_ == expected.n_features_


def test_rfe_reads_a_stream_once_and_predicts() -> None:
    reads = []

    def stream() -> Any:
        reads.append(1)
        yield from ((X[i : i + 100], Y[i : i + 100]) for i in range(0, len(X), 100))

    chosen = tenfold.RFE(tenfold.Ridge(alpha=0.1)).fit(stream)
    expected = tenfold.RFE(tenfold.Ridge(alpha=0.1)).fit(X, Y)
    np.testing.assert_array_equal(chosen.ranking_, expected.ranking_)
    np.testing.assert_allclose(chosen.predict(X), expected.predict(X), rtol=1e-9)
    assert len(reads) <= 2  # a look at the first block, and one reading
    once = (block for block in [(X[:200], Y[:200]), (X[200:], Y[200:])])
    one, other = (tenfold.SequentialFeatureSelector(tenfold.Ridge(), n_features_to_select=3) for _ in range(2))
    np.testing.assert_array_equal(one.fit(once).support_, other.fit(X, Y).support_)  # rows that can be read only once
    single = expected.fit(X.astype(np.float32), Y).predict(X.astype(np.float32))
    assert single.dtype == np.float32
    sparse = tenfold.RFE(tenfold.Ridge(alpha=0.1)).fit(csr_matrix(X), Y)
    np.testing.assert_array_equal(sparse.ranking_, expected.ranking_)


def test_rfe_of_classifiers_frames_and_anybodys_learners() -> None:
    frame = pandas.DataFrame(FLOWERS, columns=list("abcd"))
    expected = theirs.RFE(linear.LogisticRegression(max_iter=300), n_features_to_select=2).fit(FLOWERS, KINDS)
    for learner in (tenfold.LogisticRegression(), linear.LogisticRegression(max_iter=300)):
        chosen = tenfold.RFE(learner, n_features_to_select=2).fit(frame, KINDS)
        assert chosen.get_feature_names_out().tolist() == ["c", "d"]
        np.testing.assert_array_equal(chosen.predict(frame), expected.predict(FLOWERS))
        np.testing.assert_allclose(chosen.predict_proba(frame), expected.predict_proba(FLOWERS), atol=1e-3, rtol=0)
        assert chosen.score(frame, KINDS) > 0.9 and chosen.classes_.tolist() == [0, 1, 2]
    assert tenfold.cross_val_score(tenfold.RFE(tenfold.LinearDiscriminantAnalysis()), FLOWERS, KINDS, cv=5).mean() > 0.9
    with pytest.raises(tenfold.BadInput, match="minimum of 2"):
        tenfold.RFE(tenfold.Ridge()).fit(X[:, :1], Y)
    with pytest.raises(AttributeError, match="random"):
        tenfold.RFE(tenfold.Ridge(), importance_getter="random").fit(X, Y)
    with pytest.raises(tenfold.BadParameter, match="no fit"):
        tenfold.RFE("ridge").fit(X, Y)


def test_dependent_columns_are_eliminated_by_fits() -> None:
    """Where the moments have too few digits, the rows are read again."""
    double = np.column_stack([X, X[:, 0] + X[:, 1] + 1e-9 * X[:, 2]])
    mine, expected = (one.fit(double, Y) for one in (tenfold.RFE(tenfold.Ridge(1e-6)), theirs.RFE(linear.Ridge(1e-6, solver="svd"))))
    np.testing.assert_array_equal(mine.ranking_, expected.ranking_)


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize("name", ["Ridge", "LinearRegression"])
def test_rfecv_is_that_of_scikit_learn(name: str, scoring: Any) -> None:
    mine = tenfold.RFECV(getattr(tenfold, name)(), cv=4, scoring=scoring, min_features_to_select=2).fit(X, Y)
    expected = theirs.RFECV(getattr(linear, name)(), cv=4, scoring=scoring, min_features_to_select=2).fit(X, Y)
    np.testing.assert_array_equal(mine.ranking_, expected.ranking_)
    assert mine.cv_results_.keys() == expected.cv_results_.keys()
    for key, values in expected.cv_results_.items():
        np.testing.assert_allclose(mine.cv_results_[key], values, rtol=1e-10, err_msg=key)
    assert mine.score(X, Y) == pytest.approx(expected.score(X, Y), rel=1e-9)


def test_rfecv_of_classes_groups_and_anybodys_learners() -> None:
    for learner in (tenfold.LinearDiscriminantAnalysis(), linear.LogisticRegression(max_iter=200)):
        chosen = tenfold.RFECV(learner, cv=3).fit(FLOWERS, KINDS)
        assert chosen.cv_results_["mean_test_score"].max() > 0.9 and chosen.predict(FLOWERS).shape == (150,)
    groups = np.arange(len(X)) // 20
    chosen = tenfold.RFECV(tenfold.Ridge(), cv=tenfold.evaluate.GroupKFold(3)).fit(X, Y, groups=groups)
    expected = theirs.RFECV(linear.Ridge(), cv=tenfold.evaluate.GroupKFold(3)).fit(X, Y, groups=groups)
    np.testing.assert_allclose(chosen.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-9)


def test_pictures(tmp_path: Any) -> None:
    chosen = tenfold.RFECV(tenfold.Ridge(), cv=4).fit(X, Y)
    ax = chosen.plot()
    assert ax.get_xlabel() == "number of columns" and any("standard error" in text.get_text() for text in ax.get_legend().get_texts())
    frame = pandas.DataFrame(X, columns=[f"column {j}" for j in range(10)])
    best = tenfold.SelectKBest("f_regression", k=3).fit(frame, Y)
    bars = best.plot(n=4)
    order = np.argsort(-best.scores_)[:4]
    assert [text.get_text() for text in bars.get_yticklabels()] == [f"column {j}" for j in order]
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], best.scores_[order], rtol=1e-12)
    assert bars.get_title() == "3 of 10 columns kept; 6 not shown"
    with pytest.raises(tenfold.BadInput, match="no scores"):
        tenfold.draw.draw_feature_scores(chosen)


# --- one at a time ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", ["Ridge", "LinearRegression"])
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_sequential_is_that_of_scikit_learn(direction: str, name: str, scoring: Any) -> None:
    for params in ({"n_features_to_select": 0.5}, {"tol": 1e-3 if direction == "forward" else -1e-3}):
        mine = tenfold.SequentialFeatureSelector(getattr(tenfold, name)(), direction=direction, scoring=scoring, cv=3, **params)
        expected = theirs.SequentialFeatureSelector(getattr(linear, name)(), direction=direction, scoring=scoring, cv=3, **params)
        np.testing.assert_array_equal(mine.fit(X[:, :7], Y).support_, expected.fit(X[:, :7], Y).support_)
        assert mine.n_features_to_select_ == expected.n_features_to_select_


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["Ridge", "LinearRegression"])
def test_scores_by_updates_are_those_of_fits(name: str, intercept: bool) -> None:
    """Every candidate of a step, from one factor for each fold, against a cross-validation of its own; with weights."""
    rng = np.random.default_rng(0)
    w = rng.integers(1, 4, len(X)).astype(float)
    selector = tenfold.SequentialFeatureSelector(getattr(tenfold, name)(fit_intercept=intercept), scoring="mse", cv=4)
    source = tenfold.base.check.check_fit(selector, X, Y, w)
    splits = selector._driven(lambda source: Splits.of(selector, source, "mse"), source)
    held = splits.held()
    chosen, rest = np.array([2, 5, 8]), np.array([0, 1, 3, 4, 6, 7, 9])
    more = np.mean([one.one_more(chosen, rest) for one in held], axis=0)
    less = np.mean([one.one_less(chosen) for one in held], axis=0)
    np.testing.assert_allclose(-more, [splits.scores(np.sort(np.append(chosen, j))).mean() for j in rest], rtol=1e-9)
    np.testing.assert_allclose(-less, [splits.scores(chosen[chosen != j]).mean() for j in chosen], rtol=1e-9)
    alone = np.mean([one.one_more(chosen[:0], rest) for one in held], axis=0)
    np.testing.assert_allclose(-alone, [splits.scores(np.array([j])).mean() for j in rest], rtol=1e-9)


def test_candidates_that_depend_on_the_chosen_are_fitted() -> None:
    repeated = np.column_stack([X, X[:, 2], np.ones(len(X))])
    mine = tenfold.SequentialFeatureSelector(tenfold.Ridge(), n_features_to_select=4).fit(repeated, Y)
    expected = theirs.SequentialFeatureSelector(linear.Ridge(), n_features_to_select=4).fit(repeated, Y)
    np.testing.assert_array_equal(mine.support_, expected.support_)


def test_sequential_of_classes_and_anybodys_learners() -> None:
    expected = theirs.SequentialFeatureSelector(GaussianNB(), cv=3).fit(FLOWERS, KINDS).support_
    for learner in (tenfold.GaussianNB(), GaussianNB()):
        np.testing.assert_array_equal(tenfold.SequentialFeatureSelector(learner, cv=3).fit(FLOWERS, KINDS).support_, expected)
    clusters = tenfold.SequentialFeatureSelector(tenfold.KMeans(3, random_state=0), n_features_to_select=2, cv=3).fit(FLOWERS)
    assert clusters.transform(FLOWERS).shape == (150, 2)


def test_bad_numbers_are_refused() -> None:
    for params, words in (
        ({"n_features_to_select": 10}, "must be < n_features"),
        ({"n_features_to_select": 0}, "at least 1"),
        ({"n_features_to_select": 1.5}, "at most 1"),
        ({"tol": -0.1}, "strictly positive"),
        ({"direction": "up"}, "direction"),
        ({"cv": 1}, "cv=1"),
        ({"scoring": "best"}, "scoring"),
    ):
        with pytest.raises(tenfold.TenfoldError, match=words):
            tenfold.SequentialFeatureSelector(tenfold.Ridge(), **params).fit(X, Y)


def test_selectors_in_pipelines_see_training_rows_only() -> None:
    rng = np.random.default_rng(1)
    found = []
    for _ in range(6):
        noise, y = rng.normal(size=(60, 40)), rng.normal(size=60)
        pipeline = tenfold.make_pipeline(tenfold.SequentialFeatureSelector(tenfold.Ridge(), n_features_to_select=5), tenfold.Ridge())
        found.append(tenfold.cross_val_score(pipeline, noise, y, cv=4).mean())
    assert np.mean(found) < 0.05


def test_learners_inside_travel_in_files(tmp_path: Any) -> None:
    for model in (
        tenfold.RFECV(tenfold.Ridge()), tenfold.RFE(tenfold.Lasso(0.1)), tenfold.SelectFromModel(tenfold.Lasso(0.5)),
        tenfold.SequentialFeatureSelector(tenfold.Ridge()),
    ):  # fmt: skip
        tenfold.save(model.fit(X, Y), tmp_path / "m.tenfold")
        again = tenfold.load(tmp_path / "m.tenfold")
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        if hasattr(model, "predict"):
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
