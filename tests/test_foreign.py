"""Learners that are not Tenfold's inside those that are: scikit-learn's, and classes of the user's own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import tenfold
from tenfold.base.foreign import ByVerbs, learner_of, own_of, role_of
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput, BadParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
LABELS = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


class Nearest:
    """A user's own classifier: nothing but fit and predict."""

    def fit(self, X: Any, y: Any) -> Nearest:
        self.X, self.y = np.asarray(X), np.asarray(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.y[((np.asarray(X)[:, None] - self.X[None]) ** 2).sum(axis=2).argmin(axis=1)]


class Short(Nearest):
    def predict(self, X: Any) -> Any:
        return super().predict(X)[1:]


def test_ours_stay_as_they_are_and_others_are_asked_by_their_verbs() -> None:
    ridge, svc = tenfold.Ridge(), SVC(C=3.0)
    assert learner_of(ridge) is ridge
    one = learner_of(svc)
    assert isinstance(one, ByVerbs) and own_of(one) is svc and own_of(ridge) is ridge
    assert (one.role, one.target, role_of(SVR())) == ("classifier", "label", "regressor")
    assert one.get_params()["C"] == 3.0 and one.set_params(C=5.0).learner.C == 5.0


def test_a_fresh_copy_is_unfitted_and_leaves_the_users_own_alone() -> None:
    mine = Nearest()
    copies = fresh(learner_of(mine)), fresh(learner_of(SVC(C=2.0).fit(X, LABELS)))
    assert copies[0].learner is not mine and not hasattr(copies[1].learner, "classes_") and copies[1].learner.C == 2.0


def test_cross_validation_refits_per_fold_and_gives_the_scores_of_the_learner() -> None:
    found = tenfold.evaluate.cross_validate(learner_of(SVC()), X, LABELS, random_state=0)
    assert found.method == "refitted"
    assert float(np.mean(found.scores)) > 0.7


def test_one_against_the_rest_around_another_librarys_classifier() -> None:
    from sklearn.multiclass import OneVsRestClassifier

    ours, theirs = tenfold.OneVsRestClassifier(SVC()).fit(X, LABELS), OneVsRestClassifier(SVC()).fit(X, LABELS)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-10)


def test_bad_members_are_refused_in_one_sentence() -> None:
    with pytest.raises(BadParameter, match="has no fit"):
        tenfold.OneVsRestClassifier(object()).fit(X, LABELS)
    with pytest.raises(BadParameter, match="is the class SVC, and an instance is needed"):
        tenfold.OneVsRestClassifier(SVC).fit(X, LABELS)
    with pytest.raises(BadParameter, match="a regressor, and a classifier is needed"):
        tenfold.MultiOutputClassifier(SVR()).fit(X, LABELS)
    with pytest.raises(BadInput, match="Short: predict has returned 89 of 90 rows"):
        learner_of(Short())._fit(tenfold.base.check.check_fit(learner_of(Short()), X, X[:, 0]))._predict(X)


# --- pipelines ---

FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


class Rowless:
    """A user's own transformer that loses a row."""

    def fit(self, X: Any, y: Any = None) -> Rowless:
        return self

    def transform(self, X: Any) -> Any:
        return X[1:]


class Columns(BaseEstimator, TransformerMixin):
    """A user's own transformer, which wants a frame."""

    def __init__(self, names: Any = ("a", "b")) -> None:
        self.names = names

    def fit(self, X: Any, y: Any = None) -> Columns:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X[list(self.names)]


def test_a_pipeline_of_anybodys_steps_equals_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    def steps() -> list[Any]:
        return [("chosen", Columns()), ("scaled", StandardScaler()), ("off", "passthrough"), ("clf", LogisticRegression())]

    ours, theirs = tenfold.Pipeline(steps()).fit(FRAME, LABELS), Pipeline(steps()).fit(FRAME, LABELS)
    np.testing.assert_array_equal(ours.predict_proba(FRAME), theirs.predict_proba(FRAME))
    assert ours.named_steps.clf is ours[-1] and ours.named_steps["clf"] is ours["clf"] and len(ours) == 4
    assert list(ours.classes_) == ["a", "b", "c"] and ours.score(FRAME, LABELS) == theirs.score(FRAME, LABELS)
    assert ours[:2].transform(FRAME).shape == (90, 2)
    assert ours.set_params(chosen__names=("a",))[0].names == ("a",)


def test_ours_and_theirs_in_one_pipeline_and_texts_as_they_are() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["red apple", "green pear", "red rose", "green leaf"] * 5
    model = tenfold.make_pipeline(CountVectorizer(), tenfold.LogisticRegression()).fit(texts, ["r", "g"] * 10)
    assert list(model.predict(["red leaf", "green"])) == ["r", "g"]
    assert "apple" in model[:-1].get_feature_names_out()


def test_arguments_for_one_step_reach_it_alone() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    w = RNG.uniform(size=90)
    ours = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression(tol=1e-12))
    theirs = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-12, max_iter=10_000))
    given = dict(logisticregression__sample_weight=w)
    said = ours.fit(X, LABELS, **given).predict_proba(X), theirs.fit(X, LABELS, **given).predict_proba(X)
    np.testing.assert_allclose(*said, atol=1e-6)
    with pytest.raises(ValueError, match="stepname__parameter"):
        ours.fit(X, LABELS, bad=1)


def test_a_pipeline_fitted_by_its_verbs_is_saved_and_comes_back(tmp_path: Any) -> None:
    w = RNG.uniform(size=90)
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()).fit(X, X[:, 0], ridge__sample_weight=w)
    tenfold.save(model, tmp_path / "model.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "model.tenfold").predict(X), model.predict(X))


def test_saving_a_step_of_another_library_is_refused_by_its_name(tmp_path: Any) -> None:
    model = tenfold.Pipeline([("scaled", StandardScaler()), ("ridge", tenfold.Ridge())]).fit(X, X[:, 0])
    with pytest.raises(tenfold.BadFile, match=r"Pipeline.steps 'scaled' is a StandardScaler, which cannot be saved.*pickle"):
        tenfold.save(model, tmp_path / "model.tenfold")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_bad_steps_are_refused_by_name() -> None:
    for steps, message in (
        ([("a", object()), ("r", SVR())], "All intermediate steps should be transformers .* step 'a'"),
        ([("a", StandardScaler()), ("r", object())], "Last step of Pipeline should implement fit .* Step 'r'"),
        ([("a", StandardScaler), ("r", SVR())], "got estimator class instead .StandardScaler."),
        ([("a", Rowless()), ("r", SVR())], "step 'a' .Rowless. has made 89 rows of 90"),
    ):
        with pytest.raises((BadInput, TypeError), match=message):
            tenfold.Pipeline(steps).fit(X, X[:, 0])
    short = tenfold.Pipeline([("a", StandardScaler()), ("s", Short())]).fit(X, LABELS)
    with pytest.raises(BadInput, match=r"step 's' .Short.: predict has returned 89 of 90 rows"):
        short.predict(X)


def test_memory_keeps_fitted_transformers(tmp_path: Any) -> None:
    first = tenfold.Pipeline([("scaled", StandardScaler()), ("svr", SVR())], memory=str(tmp_path))
    mine = first[0]
    said = first.fit(X, X[:, 0]).predict(X)
    assert not hasattr(mine, "mean_") and hasattr(first[0], "mean_")
    np.testing.assert_array_equal(first.fit(X, X[:, 0]).predict(X), said)


def test_names_pass_through_every_step() -> None:
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.SimpleImputer()).fit(FRAME)
    assert list(model.get_feature_names_out()) == ["a", "b", "c"]
    assert list(model.set_output(transform="pandas").transform(FRAME).columns) == ["a", "b", "c"]
    assert model.set_output(transform="polars").transform(FRAME).columns == ["a", "b", "c"]
    last = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()).set_output(transform="pandas").fit(FRAME, X[:, 0])
    assert list(last[-1].feature_names_in_) == ["a", "b", "c"] == list(last[:-1].get_feature_names_out())
    assert np.isfinite(last.predict(FRAME)).all()


def test_the_configuration_of_scikit_learn_chooses_the_container() -> None:
    import sklearn

    one = tenfold.StandardScaler().fit(FRAME)
    chosen = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.SimpleImputer()).fit(FRAME)
    union = tenfold.FeatureUnion([("s", tenfold.StandardScaler()), ("i", tenfold.SimpleImputer())]).fit(FRAME)
    with sklearn.config_context(transform_output="pandas"):
        assert [type(each.transform(FRAME)).__name__ for each in (one, chosen, union)] == ["DataFrame"] * 3
        assert isinstance(tenfold.StandardScaler().set_output(transform="default").fit(FRAME).transform(FRAME), np.ndarray)
    assert isinstance(one.transform(FRAME), np.ndarray)


def test_steps_fitted_before_make_a_fitted_pipeline() -> None:
    scaler = tenfold.StandardScaler().fit(X)
    ridge = tenfold.Ridge().fit(scaler.transform(X), X[:, 0])
    model = tenfold.Pipeline([("s", scaler), ("r", ridge)])
    np.testing.assert_array_equal(model.predict(X), ridge.predict(scaler.transform(X)))
    assert model.n_features_in_ == 3


def test_scores_by_name_of_a_pipeline_in_scikit_learns_tools() -> None:
    from sklearn.model_selection import GridSearchCV, cross_val_score

    y = LABELS == "a"
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression())
    assert (cross_val_score(model, X, y, scoring="roc_auc") > 0.7).all()
    found = GridSearchCV(model, {"logisticregression__C": [1e-9, 1.0]}, scoring="neg_log_loss").fit(X, y)
    assert found.best_params_ == {"logisticregression__C": 1.0}


def test_the_fast_route_of_our_own_reads_the_rows_once() -> None:
    """Cross-validation of a scaler and a ridge merges sums: the rows are read as often as for one fold."""
    from tenfold.core.data import Source
    from tenfold.core.engine import Threads

    read: list[Any] = []

    class Counting(Threads):
        def run(self, summarize: Any, source: Any) -> Any:
            if isinstance(source, Source):  # not the solutions of the folds, which threads share too
                read.append(source)
            return super().run(summarize, source)

    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge())
    passes = {}
    for folds in (3, 10):
        read.clear()
        with tenfold.engine(Counting()):
            found = tenfold.evaluate.cross_validate(model, X, X[:, 0] + X[:, 1] ** 2, folds=folds)
        assert found.method == "merged statistics"
        passes[folds] = len(read)
    assert passes[3] == passes[10] == 1


class Doubled(tenfold.StandardScaler):  # type: ignore[name-defined, misc]
    """A class of the user's, made from one of ours, with a verb of its own."""

    def transform(self, X: Any) -> Any:
        return 2 * super().transform(X)


def test_a_class_made_from_ours_is_asked_by_its_own_verbs() -> None:
    model = tenfold.make_pipeline(Doubled(), tenfold.Ridge()).fit(X, X[:, 0])
    np.testing.assert_allclose(model[:-1].transform(X), 2 * tenfold.StandardScaler().fit_transform(X), rtol=1e-9)
    Z = Doubled().fit_transform(X)
    np.testing.assert_allclose(model.predict(X), tenfold.Ridge().fit(Z, X[:, 0]).predict(Z), rtol=1e-9)
    both = tenfold.FeatureUnion([("a", Doubled()), ("b", tenfold.StandardScaler())]).fit_transform(X)
    np.testing.assert_allclose(both[:, :3], 2 * both[:, 3:], rtol=1e-9)


# --- unions, votes, stacks ---


def test_columns_and_unions_of_anybodys_transformers_equal_scikit_learns() -> None:
    from sklearn import compose, pipeline
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import MinMaxScaler

    frame = FRAME.assign(words=["red leaf", "green", "blue red"] * 30)
    entries = [("scaled", StandardScaler(), ["a", "b"]), ("words", CountVectorizer(), "words")]
    for remainder in ("drop", "passthrough"):
        ours = tenfold.ColumnTransformer(entries, remainder=remainder)
        theirs = compose.ColumnTransformer(entries, remainder=remainder)
        np.testing.assert_array_equal(ours.fit_transform(frame), theirs.fit_transform(frame))
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
        np.testing.assert_array_equal(ours.transform(frame[:5]), theirs.transform(frame[:5]))
    assert isinstance(ours.named_transformers_.words, CountVectorizer) and not hasattr(entries[1][1], "vocabulary_")
    made = ours.set_output(transform="pandas").set_params(words="drop").fit_transform(frame)
    assert list(made.columns) == ["scaled__a", "scaled__b", "remainder__c"]
    both = [("s", StandardScaler()), ("m", MinMaxScaler()), ("ours", tenfold.StandardScaler())]
    joined = tenfold.FeatureUnion(both).fit_transform(X)
    np.testing.assert_allclose(joined, pipeline.FeatureUnion(both).fit_transform(X), atol=1e-15)
    with pytest.raises(BadInput, match=r"'bad' has made 89 rows of 90"):
        tenfold.FeatureUnion([("s", StandardScaler()), ("bad", Rowless())]).fit_transform(X)
    with pytest.raises(TypeError, match="'no' cannot transform"):
        tenfold.FeatureUnion([("s", StandardScaler()), ("no", SVR())]).fit(X)


@pytest.mark.parametrize("name", ["VotingRegressor", "StackingRegressor"])
def test_regressors_of_regressors_equal_scikit_learns(name: str) -> None:
    from sklearn import ensemble
    from sklearn.linear_model import Ridge
    from sklearn.tree import DecisionTreeRegressor

    members = [("svr", SVR()), ("ours", tenfold.Ridge()), ("tree", DecisionTreeRegressor(max_depth=2, random_state=0))]
    more = dict(final_estimator=Ridge()) if name.startswith("Stacking") else {}
    ours = getattr(tenfold, name)(members, **more).fit(FRAME, X[:, 0] ** 2)
    theirs = getattr(ensemble, name)(members, **more).fit(FRAME, X[:, 0] ** 2)
    np.testing.assert_allclose(ours.predict(FRAME), theirs.predict(FRAME), rtol=1e-12)
    np.testing.assert_allclose(ours.transform(FRAME), theirs.transform(FRAME), rtol=1e-12)
    assert [type(one).__module__.split(".")[0] for one in ours.estimators_] == ["sklearn", "tenfold", "sklearn"]
    assert isinstance(ours.named_estimators_.svr, SVR) and ours.set_params(svr__C=3.0).named_estimators.svr.C == 3.0


@pytest.mark.parametrize("name", ["VotingClassifier", "StackingClassifier"])
def test_classifiers_of_classifiers_equal_scikit_learns(name: str) -> None:
    from sklearn import ensemble
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    members = [("knn", KNeighborsClassifier()), ("lr", LogisticRegression())]
    more: dict[str, Any] = dict(final_estimator=LogisticRegression()) if name.startswith("Stacking") else dict(voting="soft")
    ours = getattr(tenfold, name)(members, **more).fit(FRAME, LABELS)
    theirs = getattr(ensemble, name)(members, **more).fit(FRAME, LABELS)
    np.testing.assert_allclose(ours.predict_proba(FRAME), theirs.predict_proba(FRAME), rtol=1e-9)
    assert (ours.predict(FRAME) == theirs.predict(FRAME)).all()
    with pytest.raises(BadInput, match="KNeighborsClassifier does not support sample weights"):
        ours.fit(FRAME, LABELS, sample_weight=np.ones(90) * 2)


def test_a_stack_of_learners_that_were_fitted_before() -> None:
    from sklearn import ensemble

    members = [("svc", SVC().fit(X, LABELS)), ("rbf", SVC(gamma=0.1).fit(X, LABELS))]
    final = tenfold.LogisticRegression(tol=1e-12)
    ours = tenfold.StackingClassifier(members, final, cv="prefit").fit(X, LABELS)
    theirs = ensemble.StackingClassifier(members, final, cv="prefit").fit(X, LABELS)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert ours.estimators_[0] is members[0][1]
    with pytest.raises(tenfold.NotFitted, match="SVC"):
        tenfold.StackingClassifier([("svc", SVC())], final, cv="prefit").fit(X, LABELS)


def test_a_target_transformed_by_another_librarys_transformer() -> None:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import MinMaxScaler

    ours = tenfold.TransformedTargetRegressor(SVR(), transformer=MinMaxScaler()).fit(X, X[:, 0] * 3)
    theirs = TransformedTargetRegressor(SVR(), transformer=MinMaxScaler()).fit(X, X[:, 0] * 3)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert isinstance(ours.regressor_, SVR) and isinstance(ours.transformer_, MinMaxScaler)


def test_several_targets_and_pairs_of_classes() -> None:
    from sklearn.multiclass import OneVsOneClassifier
    from sklearn.multioutput import MultiOutputRegressor

    Y = np.column_stack([X[:, 0], X[:, 1] ** 2])
    said = tenfold.MultiOutputRegressor(SVR()).fit(FRAME, Y).predict(FRAME), MultiOutputRegressor(SVR()).fit(FRAME, Y).predict(FRAME)
    np.testing.assert_allclose(*said, rtol=1e-12)
    ours, theirs = tenfold.OneVsOneClassifier(SVC()).fit(X, LABELS), OneVsOneClassifier(SVC()).fit(X, LABELS)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-12)
    assert all(isinstance(one, SVC) for one in ours.estimators_)


def test_metadata_go_where_they_are_requested() -> None:
    import sklearn

    w = RNG.uniform(0.5, 2.0, size=90)
    Z = StandardScaler().fit_transform(X)
    weighted = tenfold.LogisticRegression(tol=1e-12).fit(Z, LABELS, w).predict_proba(Z)
    with sklearn.config_context(enable_metadata_routing=True):
        for scaler in (StandardScaler(), tenfold.StandardScaler()):
            last = tenfold.LogisticRegression(tol=1e-12).set_fit_request(sample_weight=True)
            model = tenfold.make_pipeline(scaler.set_fit_request(sample_weight=False), last)
            np.testing.assert_allclose(model.fit(X, LABELS, sample_weight=w).predict_proba(X), weighted, atol=1e-9)
        with pytest.raises(ValueError, match=r"sample_weight. are passed but are not explicitly set as requested"):
            tenfold.make_pipeline(StandardScaler(), SVC()).fit(X, LABELS, sample_weight=w)


def test_a_pipeline_in_scikit_learns_tools_around_a_classifier() -> None:
    """What reads the names of methods: tuned thresholds, calibration, stacks and importances."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import StackingClassifier
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import TunedThresholdClassifierCV

    y = (LABELS == "a").astype(int)
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression())
    assert TunedThresholdClassifierCV(model, cv=3).fit(X, y).score(X, y) > 0.8
    assert CalibratedClassifierCV(model, cv=3).fit(X, y).score(X, y) > 0.8
    assert StackingClassifier([("model", model)], cv=3).fit(X, y).score(X, y) > 0.8
    drops = permutation_importance(model.fit(X, y), X, y, scoring="roc_auc", n_repeats=2, random_state=0).importances_mean
    assert drops[0] > drops[2]
