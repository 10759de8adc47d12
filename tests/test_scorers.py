"""Scorers: scikit-learn's are the oracle, for models of both libraries."""

from __future__ import annotations

import functools
import pickle
import re

import numpy as np
import pytest
import sklearn
from sklearn import linear_model, svm
from sklearn.metrics import get_scorer as their_scorer
from sklearn.metrics import get_scorer_names as their_names
from sklearn.metrics import make_scorer as their_make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate

import tenfold
from tenfold import evaluate
from tenfold.core.errors import BadParameter
from tenfold.evaluate import check_scoring, get_scorer, get_scorer_names, make_scorer
from tenfold.score.registry import find_score

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
TWO = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=60), [-0.5, 0.5])
NUMBERS = np.exp(X[:, 0] + RNG.normal(size=60))
WEIGHTS = RNG.uniform(0.5, 2, size=60)
CLUSTER = {name for name in get_scorer_names() if name in evaluate.PUBLIC and evaluate.PUBLIC[name].endswith("clustering")}


TARGETS = {"two": TWO, "three": THREE, "numbers": NUMBERS}
BOTH = sorted(set(get_scorer_names()) & set(their_names()))
BY_NAME = [(name, target) for name in BOTH for target in TARGETS if not (target == "numbers" and name in CLUSTER)]  # groups are no numbers


@functools.cache
def _models(target):
    y = TARGETS[target]
    kinds = (tenfold.Ridge(), linear_model.Ridge()) if y.dtype == float else (
        tenfold.LogisticRegression(), linear_model.LogisticRegression(), svm.LinearSVC()
    )  # fmt: skip
    return [model.fit(X, y) for model in kinds]


def _value(scorer, model, y, **more):
    try:
        return float(scorer(model, X, y, **more))
    except (ValueError, AttributeError):
        return None


@pytest.mark.filterwarnings("ignore:.*(ill-defined|undefined|different labels|number of unique classes):UserWarning")
@pytest.mark.parametrize("name, target", BY_NAME)
def test_scorers_by_name_are_scikit_learns(name, target):
    y = TARGETS[target]
    for model in _models(target):
        weights = {} if name in CLUSTER or "_ovo" in name or name == "neg_max_error" else dict(sample_weight=WEIGHTS)
        theirs = _value(their_scorer(name), model, y, **weights)
        if theirs is not None:
            assert get_scorer(name)(model, X, y, **weights) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_names_are_scikit_learns():
    ours = set(get_scorer_names())
    assert {"accuracy", "roc_auc", "roc_auc_ovr", "neg_log_loss", "neg_brier_score", "r2", "neg_mean_squared_error"} <= ours
    assert ours - set(their_names()) == {"neg_zero_one_loss"}
    with pytest.raises(BadParameter, match="'no such score' is not a valid scoring value: it must be one of accuracy"):
        get_scorer("no such score")


@pytest.mark.parametrize("make", [make_scorer, their_make_scorer])
def test_scorers_of_functions(make):
    model = tenfold.LogisticRegression().fit(X, TWO)
    assert make(evaluate.fbeta_score, beta=2)(model, X, TWO) == evaluate.fbeta_score(TWO, model.predict(X), beta=2)
    loss = make(evaluate.log_loss, greater_is_better=False, response_method="predict_proba")
    assert loss(model, X, TWO, sample_weight=WEIGHTS) == -evaluate.log_loss(
        TWO, model.predict_proba(X)[:, 1], sample_weight=WEIGHTS
    )
    area = make(evaluate.roc_auc_score, response_method=("decision_function", "predict_proba"))
    assert area(model, X, TWO) == evaluate.roc_auc_score(TWO, model.predict_proba(X)[:, 1])
    assert re.fullmatch(r"make_scorer\(fbeta_score, response_method='predict', beta=2\)", repr(make(evaluate.fbeta_score, beta=2)))


def test_text_labels_take_the_second_class():
    text = np.array(["no", "yes"])[TWO]
    model, numbers = tenfold.LogisticRegression().fit(X, text), tenfold.LogisticRegression().fit(X, TWO)
    for name in ("f1", "precision", "average_precision", "roc_auc", "neg_brier_score", "neg_log_loss"):
        assert get_scorer(name)(model, X, text) == get_scorer(name)(numbers, X, TWO)
    first = make_scorer(evaluate.average_precision_score, response_method="decision_function", pos_label="no")
    assert first(model, X, text) == evaluate.average_precision_score(1 - TWO, -model.decision_function(X))
    with pytest.raises(BadParameter, match="pos_label=maybe is not a valid label"):
        make_scorer(evaluate.average_precision_score, response_method="decision_function", pos_label="maybe")(model, X, text)


def test_several_scorers_ask_once():
    class Counting(linear_model.LogisticRegression):
        asked = 0

        def predict(self, X):
            type(self).asked += 1
            return super().predict(X)

    model = Counting().fit(X, TWO)
    scores = check_scoring(model, ["accuracy", "f1", "roc_auc"])(model, X, TWO, sample_weight=WEIGHTS)
    assert list(scores) == ["accuracy", "f1", "roc_auc"] and Counting.asked == 1
    assert scores["accuracy"] == evaluate.accuracy_score(TWO, model.predict(X), sample_weight=WEIGHTS)
    failing = {"good": "accuracy", "bad": make_scorer(lambda y, p: 1 / 0)}
    assert "ZeroDivisionError" in check_scoring(model, failing, raise_exc=False)(model, X, TWO)["bad"]
    with pytest.raises(ZeroDivisionError):
        check_scoring(model, failing)(model, X, TWO)


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ([], "Empty list was given"),
        (["f1", "f1"], "Duplicate elements were found"),
        ([5], "Non-string types were found"),
        ([make_scorer(evaluate.f1_score)], "One or more of the elements were callables"),
        ({}, "An empty dict was passed"),
        ({4: "accuracy"}, "Non-string types were found in the keys"),
        (evaluate.f1_score, "looks like it is a metric function rather than a scorer"),
        (3, "scoring=3: must be a name"),
    ],
)
def test_refusals(scoring, words):
    with pytest.raises(BadParameter, match=words):
        check_scoring(tenfold.LogisticRegression(), scoring)


def test_no_scoring_is_the_models_own_score():
    model = tenfold.Ridge().fit(X, NUMBERS)
    assert check_scoring(model)(model, X, NUMBERS) == model.score(X, NUMBERS)
    assert check_scoring(object(), allow_none=True) is None
    with pytest.raises(TypeError, match="the estimator passed should have a 'score' method"):
        check_scoring(object())
    with pytest.raises(AttributeError, match="Ridge has none of the following attributes: predict_proba"):
        get_scorer("neg_log_loss")(model, X, TWO)
    with pytest.raises(BadParameter, match="response_method='transform'"):
        make_scorer(evaluate.f1_score, response_method="transform")


def test_scorers_are_scores_of_the_registry_where_they_can_be():
    assert find_score(get_scorer("neg_mean_squared_error"), "regressor").name == "mse"
    assert find_score(make_scorer(evaluate.accuracy_score), "classifier").name == "accuracy"
    wrong_way = find_score(make_scorer(evaluate.mean_squared_error), "regressor")
    assert wrong_way.greater_is_better and not wrong_way.merges
    assert find_score(make_scorer(evaluate.fbeta_score, beta=2), "classifier").weighted
    assert not find_score(make_scorer(lambda y, p: 0.0), "classifier").weighted
    assert pickle.loads(pickle.dumps(get_scorer("roc_auc"))).name == "roc_auc"


def test_weights_by_metadata_routing():
    scorer = make_scorer(evaluate.accuracy_score)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        scorer.set_score_request(sample_weight=True)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer.set_score_request(sample_weight="w")
        assert scorer.get_metadata_routing().score.requests == {"sample_weight": "w"}
        assert make_scorer(evaluate.accuracy_score).get_metadata_routing().score.requests == {
            "normalize": None,
            "sample_weight": None,
        }
        model = linear_model.LogisticRegression().set_fit_request(sample_weight=False)
        got = cross_validate(model, X, TWO, scoring=scorer, params={"w": WEIGHTS}, cv=3)["test_score"]
        theirs = their_make_scorer(evaluate.accuracy_score).set_score_request(sample_weight="w")
        expected = cross_validate(model, X, TWO, scoring=theirs, params={"w": WEIGHTS}, cv=3)["test_score"]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert not np.allclose(got, cross_validate(model, X, TWO, scoring=scorer, cv=3)["test_score"], rtol=1e-6)


def test_scorers_inside_scikit_learns_search():
    model = GridSearchCV(
        linear_model.LogisticRegression(), {"C": [0.01, 1.0]}, scoring={"area": get_scorer("roc_auc"), "f": "f1"}, refit="area", cv=3
    ).fit(X, TWO)
    other = GridSearchCV(linear_model.LogisticRegression(), {"C": [0.01, 1.0]}, scoring="roc_auc", cv=3).fit(X, TWO)
    np.testing.assert_allclose(model.cv_results_["mean_test_area"], other.cv_results_["mean_test_score"], rtol=1e-12)
