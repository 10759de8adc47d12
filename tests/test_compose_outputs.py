"""Several targets and several labels by learners of one, and metadata in learners made of learners, held to scikit-learn's classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.multiclass as their_classes
import sklearn.multioutput as theirs
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import LinearSVC

import tenfold
from tenfold import BadInput, BadParameter

rng = np.random.default_rng(0)
N = 160
X = rng.normal(size=(N, 4))
LABELS = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(N, 3)) > 0).astype(int)
WORDS = np.column_stack([np.where(LABELS[:, 0], "warm", "cold"), np.array(["a", "b", "c"])[LABELS[:, 1] + LABELS[:, 2]]])
NUMBERS = np.column_stack([X[:, 0] ** 2, X[:, 0] ** 2 + X[:, 1]])
WEIGHT = rng.integers(1, 4, N).astype(float)
CLASSIFIERS = [tenfold.GaussianNB(), tenfold.LogisticRegression(tol=1e-10), tenfold.DecisionTreeClassifier(max_depth=3), LinearSVC()]
name_of: Any = lambda one: type(one).__name__  # noqa: E731


def same(ours: Any, other: Any, *verbs: str) -> None:
    for verb in verbs:
        assert hasattr(ours, verb) == hasattr(other, verb), verb
        if hasattr(ours, verb):
            found, wanted = getattr(ours, verb)(X), getattr(other, verb)(X)
            for a, b in zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]:
                if np.asarray(b).dtype.kind in "fc":
                    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8, err_msg=verb)
                else:
                    assert np.array_equal(a, b), verb


@pytest.mark.parametrize("member", [*CLASSIFIERS, tenfold.Ridge()], ids=name_of)
def test_labels(member: Any) -> None:
    ours, other = (kind.OneVsRestClassifier(clone(member)).fit(X, LABELS) for kind in (tenfold, their_classes))
    same(ours, other, "predict", "predict_proba", "decision_function")
    assert ours.multilabel_ and ours.score(X, LABELS) == other.score(X, LABELS)
    assert np.array_equal(ours.classes_, other.classes_)
    of_sparse = clone(ours).fit(sp.csr_matrix(X) if ours.sparse else X, sp.lil_matrix(LABELS))
    assert sp.issparse(of_sparse.predict(X)) and np.array_equal(of_sparse.predict(X).toarray(), ours.predict(X))
    if hasattr(ours, "predict_proba") and ours.accepts == "rows":
        assert clone(ours).fit(X.astype(np.float32), LABELS).predict_proba(X.astype(np.float32)).dtype == np.float32
    again = clone(ours).fit(X, LABELS[:, 0])
    assert not again.multilabel_ and again.predict(X).ndim == 1


def test_labels_of_all_rows_and_of_none(tmp_path: Any) -> None:
    Y = np.column_stack([LABELS[:, 0], np.ones(N, dtype=int), np.zeros(N, dtype=int)])
    with pytest.warns(UserWarning, match=r"Label (not )?\d is present in all"):
        ours = tenfold.OneVsRestClassifier(tenfold.LogisticRegression()).fit(X, Y)
    with pytest.warns(UserWarning, match="Label"):
        other = their_classes.OneVsRestClassifier(tenfold.LogisticRegression()).fit(X, Y)
    same(ours, other, "predict", "predict_proba")
    tenfold.save(ours, tmp_path / "labels.tenfold")
    back = tenfold.load(tmp_path / "labels.tenfold")
    assert back.multilabel_ and np.array_equal(back.predict_proba(X), ours.predict_proba(X))
    with pytest.raises(BadInput, match="Multioutput target data is not supported"):
        tenfold.OneVsRestClassifier(tenfold.LogisticRegression()).fit(X, LABELS + 1)


def test_leads_that_are_large_are_still_told_apart() -> None:
    """Probabilities are all 1 in float64 from a lead of 37 on: the larger lead wins still."""

    class Steep(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            self.classes_, self.at_ = np.unique(y), float(y.argmax())
            return self

        def decision_function(self, X: Any) -> Any:
            return 1000.0 + 100 * self.at_ + 0 * X[:, 0]

        def predict(self, X: Any) -> Any:
            return np.ones(len(X), dtype=int)

    y = np.repeat([2, 0, 1], 5)
    ours, other = (kind.OneVsRestClassifier(Steep()).fit(X[:15], y) for kind in (tenfold, their_classes))
    assert np.array_equal(ours.predict(X[:3]), other.predict(X[:3]))


@pytest.mark.parametrize("member", CLASSIFIERS, ids=name_of)
def test_one_classifier_for_each_target(member: Any, tmp_path: Any) -> None:
    ours, other = (kind.MultiOutputClassifier(clone(member)).fit(X, WORDS) for kind in (tenfold, theirs))
    same(ours, other, "predict", "predict_proba")
    assert ours.score(X, WORDS) == other.score(X, WORDS)
    assert [one.tolist() for one in ours.classes_] == [["cold", "warm"], ["a", "b", "c"]]
    if isinstance(member, tenfold.GaussianNB):
        tenfold.save(ours, tmp_path / "each.tenfold")
        assert np.array_equal(tenfold.load(tmp_path / "each.tenfold").predict(X), ours.predict(X))
    alone = clone(ours).fit(X, WORDS[:, 1])
    assert np.array_equal(alone.predict(X), ours.predict(X)[:, 1])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("member", [tenfold.LogisticRegression(tol=1e-10), LinearSVC()], ids=name_of)
def test_chain_of_classifiers(member: Any, method: str) -> None:
    if not hasattr(member, method):
        with pytest.raises(BadParameter, match="has none of these"):
            tenfold.ClassifierChain(member, chain_method=method).fit(X, LABELS)
        return
    made = [kind.ClassifierChain(clone(member), order=[2, 0, 1], chain_method=method) for kind in (tenfold, theirs)]
    same(made[0].fit(X, LABELS), made[1].fit(X, LABELS), "predict", "predict_proba", "decision_function")
    held = [clone(one).set_params(cv=3).fit(X, LABELS) for one in made]
    assert (held[0].predict(X) == held[1].predict(X)).mean() > 0.98 and held[0].chain_method_ == method
    assert np.array_equal(made[0].fit(sp.csr_matrix(X), LABELS).predict(X), made[1].predict(X))


def test_chain_of_regressors(tmp_path: Any) -> None:
    made = [kind.RegressorChain(tenfold.Ridge(), order=[1, 0]) for kind in (tenfold, theirs)]
    same(made[0].fit(X, NUMBERS), made[1].fit(X, NUMBERS), "predict")
    weighted = [clone(one).fit(X, NUMBERS, sample_weight=WEIGHT) for one in made]
    same(weighted[0], weighted[1], "predict")
    tenfold.save(made[0], tmp_path / "chain.tenfold")
    assert np.array_equal(tenfold.load(tmp_path / "chain.tenfold").predict(X), made[0].predict(X))
    with pytest.raises(BadParameter, match="invalid order"):
        tenfold.RegressorChain(tenfold.Ridge(), order=[0, 2]).fit(X, NUMBERS)


def test_one_reading_of_the_rows_serves_a_whole_chain() -> None:
    def readings(model: Any, y: Any) -> int:
        count = 0

        def blocks() -> Any:
            nonlocal count
            count += 1
            yield X[:90], y[:90]
            yield X[90:], y[90:]

        model.fit(blocks)
        return count

    assert readings(tenfold.RegressorChain(tenfold.Ridge()), NUMBERS) == readings(tenfold.Ridge(), NUMBERS)


def test_partial_fit_is_a_fit_to_all_rows() -> None:
    nb, code = tenfold.GaussianNB(), LABELS.sum(axis=1)
    for model, y, classes in [
        (tenfold.OneVsRestClassifier(nb), code, np.unique(code)),
        (tenfold.OneVsOneClassifier(nb), code, np.unique(code)),
        (tenfold.MultiOutputClassifier(nb), WORDS, [np.unique(column) for column in WORDS.T]),
    ]:
        whole, parts = clone(model).fit(X, y, WEIGHT), clone(model)
        for some in (slice(0, 50), slice(50, None)):
            parts.partial_fit(X[some], y[some], classes=classes if some.start == 0 else None, sample_weight=WEIGHT[some])
        assert np.array_equal(parts.predict(X), whole.predict(X)) and parts.n_features_in_ == 4
        with pytest.raises(BadInput, match="must be passed on the first call"):
            clone(model).partial_fit(X, y)
    numbers = tenfold.MultiOutputRegressor(tenfold.Ridge())
    numbers.partial_fit(X[:50], NUMBERS[:50]).partial_fit(X[50:], NUMBERS[50:])
    np.testing.assert_allclose(numbers.predict(X), clone(numbers).fit(X, NUMBERS).predict(X), rtol=1e-9)
    assert not hasattr(tenfold.OneVsRestClassifier(tenfold.DecisionTreeClassifier()), "partial_fit")
    with pytest.raises(BadInput, match="must be subset of"):
        tenfold.OneVsRestClassifier(nb).partial_fit(X, code, classes=[0, 1])


class Told(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers what its fit was given."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, where: Any = None) -> Any:
        self.classes_, self.told_ = np.unique(y), (len(X), sample_weight, where)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def beside(one: Any) -> list[Any]:
    return [("told", one), ("nb", tenfold.GaussianNB().set_fit_request(sample_weight=False))]


MADE: dict[str, Any] = {
    "votes": lambda one: tenfold.VotingClassifier(beside(one)),
    "stack": lambda one: tenfold.StackingClassifier(beside(one), tenfold.GaussianNB()),
    "rest": tenfold.OneVsRestClassifier,
    "pairs": tenfold.OneVsOneClassifier,
    "each": tenfold.MultiOutputClassifier,
    "chain": tenfold.ClassifierChain,
}


@pytest.mark.parametrize("name", MADE)
def test_each_learner_receives_what_it_has_asked_for(name: str) -> None:
    where, code = np.arange(N), LABELS.sum(axis=1)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MADE[name](Told().set_fit_request(where=True, sample_weight=True))
        y = LABELS if name in ("each", "chain") else code
        fitted = model.fit(X, y, sample_weight=WEIGHT, where=where)
        n, weight, received = fitted.estimators_[0].told_
        assert len(weight) == len(received) == n and (n == N or name == "pairs")
        assert np.array_equal(weight, WEIGHT[received])
        with pytest.raises(ValueError, match="not explicitly set as requested"):
            MADE[name](Told()).fit(X, y, where=where)
    if name != "each":  # which hands all on, as scikit-learn's
        with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
            model.fit(X, y, where=where)


def test_weights_go_to_those_who_ask() -> None:
    y = NUMBERS[:, 0]
    with sklearn.config_context(enable_metadata_routing=True):
        pair = [
            ("with", tenfold.Ridge().set_fit_request(sample_weight=True)),
            ("without", tenfold.Ridge().set_fit_request(sample_weight=False)),
        ]
        votes = tenfold.VotingRegressor(pair).fit(X, y, sample_weight=WEIGHT)
    with_weights, without = votes.estimators_
    np.testing.assert_allclose(with_weights.coef_, tenfold.Ridge().fit(X, y, WEIGHT).coef_, rtol=1e-12)
    np.testing.assert_allclose(without.coef_, tenfold.Ridge().fit(X, y).coef_, rtol=1e-12)


def test_what_a_stack_is_asked_with_goes_to_its_last_learner() -> None:
    from sklearn.linear_model import BayesianRidge

    stack = tenfold.StackingRegressor([("ridge", tenfold.Ridge())], BayesianRidge()).fit(X, NUMBERS[:, 0])
    mean, deviation = stack.predict(X, return_std=True)
    assert np.array_equal(mean, stack.predict(X)) and deviation.shape == (N,)


def test_what_is_not_there_says_why() -> None:
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'") as told:
        tenfold.VotingClassifier([("nb", tenfold.GaussianNB())]).predict_proba  # noqa: B018
    assert "voting='hard'" in str(told.value.__cause__)
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as told:
        tenfold.OneVsRestClassifier(tenfold.LogisticRegression()).partial_fit  # noqa: B018
    assert "'LogisticRegression' object has no attribute 'partial_fit'" in str(told.value.__cause__)
