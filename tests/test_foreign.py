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
        tenfold.OneVsRestClassifier(SVR()).fit(X, LABELS)
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
