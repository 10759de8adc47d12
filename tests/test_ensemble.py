"""Bagging: what each member has seen, what is said out of bag, more members, fewer members, any learner."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import BaggingRegressor as Theirs

import tenfold

CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def test_out_of_bag_is_within_a_point_of_cross_validation() -> None:
    X, y = CANCER
    model = tenfold.BaggingClassifier(n_estimators=60, random_state=0).fit(X, y)
    crossed = tenfold.cross_validate(tenfold.BaggingClassifier(n_estimators=60, random_state=0), X, y, folds=10)
    assert model.oob_score_ == pytest.approx(crossed.scores.mean(), abs=0.015)
    sure = ~np.isnan(model.oob_decision_function_[:, 0])
    right = model.oob_decision_function_[sure].argmax(axis=1) == y[sure]
    assert model.oob_score_ == pytest.approx(right.mean(), rel=1e-12)


def test_out_of_bag_by_hand() -> None:
    """With whole trees a member repeats the target of every row it has seen, so out-of-bag rows are those it does not."""
    X, y = DIABETES
    model = tenfold.BaggingRegressor(n_estimators=1, random_state=3).fit(X, y)
    said = model.estimators_[0].predict(X)
    outside = ~np.isnan(model.oob_prediction_)
    assert 0.3 < outside.mean() < 0.44  # about 1/e
    np.testing.assert_allclose(said[~outside], y[~outside], rtol=1e-12)
    np.testing.assert_allclose(said[outside], model.oob_prediction_[outside], rtol=1e-12)
    rest = ((y - said)[outside] ** 2).sum() / ((y[outside] - y[outside].mean()) ** 2).sum()
    assert model.oob_score_ == pytest.approx(1 - rest, rel=1e-9)


def test_as_good_as_scikit_learn() -> None:
    X, y = DIABETES
    ours = tenfold.BaggingRegressor(n_estimators=40, random_state=0).fit(X[:300], y[:300]).score(X[300:], y[300:])
    theirs = Theirs(n_estimators=40, random_state=0).fit(X[:300], y[:300]).score(X[300:], y[300:])
    assert ours > theirs - 0.05


def test_draws_do_not_depend_on_the_order_of_rows() -> None:
    """Nor on copies; rows that differ only beyond float32 are told apart."""
    rng = np.random.default_rng(0)
    X = 1.7e9 + rng.integers(0, 40, (200, 2)).astype(float)
    y = X[:, 0] - X[:, 1]
    w = rng.integers(1, 4, 200)
    bag = tenfold.BaggingRegressor(n_estimators=4, max_samples=1.0, random_state=0)  # as many rows as the total weight
    expected = bag.fit(X, y, w).predict(X)
    for order in (rng.permutation(200), rng.permutation(np.repeat(np.arange(200), w))):
        weight = w[order] if len(order) == 200 else None
        again = bag.fit(X[order], y[order], weight)
        np.testing.assert_allclose(again.predict(X), expected, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
def test_more_members_later_and_fewer_on_a_path(threads: int) -> None:
    X, y = CANCER
    with tenfold.threads(threads):
        whole = tenfold.BaggingClassifier(n_estimators=12, random_state=0).fit(X, y)
        grown = tenfold.BaggingClassifier(n_estimators=5, random_state=0, warm_start=True).fit(X, y)
        first = grown.estimators_[0]
        grown.set_params(n_estimators=12).fit(X, y)
    assert grown.estimators_[0] is first
    np.testing.assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(grown.oob_decision_function_, whole.oob_decision_function_)
    with pytest.raises(tenfold.BadParameter, match="12 members"):
        grown.set_params(n_estimators=3).fit(X, y)
    path = tenfold.validation_path(tenfold.BaggingClassifier(random_state=0), X, y, "n_estimators", [2, 5], folds=3)
    for n, scores in zip([2, 5], path.scores, strict=True):
        one = tenfold.cross_validate(tenfold.BaggingClassifier(n_estimators=n, random_state=0), X, y, folds=3)
        np.testing.assert_allclose(one.scores.ravel(), scores, rtol=1e-12)


@pytest.mark.parametrize(
    "member",
    [
        tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression()),
        tenfold.C45Classifier(),
        tenfold.NearestCentroid(),
    ],
    ids=["pipeline", "c45", "centroid"],
)
def test_of_any_learner(member: Any) -> None:
    X, y = CANCER
    model = tenfold.BaggingClassifier(member, n_estimators=5, max_features=0.6, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.88
    np.testing.assert_allclose(model.predict_proba(X[:9]).sum(axis=1), 1, rtol=1e-12)
    assert all(len(columns) == 18 for columns in model.estimators_features_)
    members = [
        one.predict_proba(X[:9][:, f]) for one, f in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba(X[:9]), np.mean(members, axis=0), rtol=1e-10)


def test_categories_go_through() -> None:
    """A member that has not drawn a category treats it as missing, whatever the number it has in the whole table."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "green", "red", "white"], 200, p=[0.45, 0.05, 0.45, 0.05])
    X = pandas.DataFrame({"colour": colour, "size": rng.normal(size=200)})
    y = np.isin(colour, ["red", "white"])
    model = tenfold.BaggingClassifier(n_estimators=7, max_samples=0.1, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert {len(one.categories_[0]) for one in model.estimators_} != {4}  # some have not met all of them


def test_too_few_classes_are_drawn_again_or_told() -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40) == 0
    with pytest.raises(tenfold.BadInput, match="max_samples"):
        tenfold.BaggingClassifier(tenfold.LogisticRegression(), max_samples=1, random_state=0).fit(X, y)
    with pytest.raises(tenfold.BadParameter, match="a regressor, and a classifier is needed"):
        tenfold.BaggingClassifier(tenfold.Ridge()).fit(X, y)
    with pytest.raises(tenfold.BadParameter, match="only 1 columns"):
        tenfold.BaggingClassifier(max_features=2).fit(X, y)
    whole = tenfold.BaggingClassifier(bootstrap=False, n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(tenfold.NotFitted, match="every member has seen every row"):
        whole.oob_score_  # noqa: B018


def test_interrupted_fits_keep_their_members(monkeypatch: Any) -> None:
    from tenfold.compose import bagging_draws as draws

    X, y = DIABETES
    plain, calls = draws.each, []

    def twice(function: Any, items: list[int]) -> list[Any]:
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(items)
        return plain(function, items)

    monkeypatch.setattr(draws, "each", twice)
    model = tenfold.BaggingRegressor(n_estimators=20, random_state=0)
    with tenfold.threads(1), pytest.raises(KeyboardInterrupt, match="8 of 20 members"):
        model.fit(X, y)
    assert len(model.estimators_) == 8 and np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_attributions_add_up(classes: int) -> None:
    """Of bags of trees (some columns, some classes only) and of boosted stumps: to what the model says."""
    from tenfold.evaluate import attributions

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [0.0, 1.5][: classes - 1])
    bag = tenfold.BaggingClassifier(n_estimators=6, max_features=3, max_samples=0.3, random_state=0).fit(X, y)
    boost = tenfold.AdaBoostClassifier(n_estimators=15).fit(X, y)
    for model, said in ((bag, bag.predict_proba(X)), (boost, boost.decision_function(X))):
        for background in (None, X[:7]):
            found = attributions(model, X, background)
            expected = said[:, 1] if classes == 2 and said.ndim == 2 else said
            np.testing.assert_allclose(found.base + found.values.sum(axis=1), expected, rtol=0, atol=1e-10)
    plain = tenfold.BaggingRegressor(n_estimators=3, random_state=0).fit(X, X[:, 0])
    found = attributions(plain, X)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), plain.predict(X), rtol=0, atol=1e-10)
    with pytest.raises(tenfold.BadInput, match="bags of decision trees"):
        attributions(tenfold.BaggingClassifier(tenfold.GaussianNB(), random_state=0).fit(X, y), X)
    with pytest.raises(tenfold.BadInput, match="only stumps"):
        attributions(tenfold.AdaBoostClassifier(tenfold.GaussianNB()).fit(X, y), X)


def test_weights_are_chances_in_any_unit() -> None:
    X, y = CANCER
    w = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    for settings in ({}, {"max_samples": 50}, {"bootstrap": False, "max_samples": 0.4}):
        bag = tenfold.BaggingClassifier(n_estimators=3, random_state=0, **settings)
        for weight, other in ((w, 10.001 * w), (None, np.full(len(y), 10.0))):
            one = bag.fit(X, y, weight)
            expected, samples = one.predict_proba(X), one.estimators_samples_
            np.testing.assert_allclose(bag.fit(X, y, other).predict_proba(X), expected, rtol=1e-12)
            assert all((a == b).all() for a, b in zip(samples, bag.estimators_samples_, strict=True))
    assert not np.isin(tenfold.BaggingClassifier(random_state=0).fit(X, y, w).estimators_samples_[0], np.flatnonzero(w == 0)).any()


@pytest.mark.parametrize("own", [True, False], ids=["ours", "anybody's"])
def test_a_member_is_its_fit_to_its_samples(own: bool) -> None:
    from sklearn.linear_model import Ridge

    X, y = DIABETES
    member = tenfold.Ridge() if own else Ridge()
    model = tenfold.BaggingRegressor(member, n_estimators=3, max_features=0.5, random_state=0).fit(X, y)
    assert len(model) == 3 and [type(one) for one in model] == [type(member)] * 3 and type(model.estimator_) is type(member)
    for one, rows, columns in zip(model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True):
        again = type(member)().fit(X[rows][:, columns], y[rows])
        np.testing.assert_allclose(one.coef_, again.coef_, rtol=1e-6)


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array"])
def test_sparse_rows_and_several_targets(kind: str) -> None:
    import scipy.sparse

    X, y = DIABETES
    some = np.where(np.abs(X) > 0.03, X, 0.0)
    sparse = getattr(scipy.sparse, kind)(some)
    two = np.column_stack([y, X[:, 0]])
    for settings in ({}, {"max_features": 4, "bootstrap": False, "max_samples": 60}):
        model = tenfold.BaggingRegressor(tenfold.Ridge(), n_estimators=3, random_state=0, **settings)
        expected = model.fit(some, two).predict(some)
        assert expected.shape == two.shape
        np.testing.assert_allclose(model.fit(sparse, two).predict(sparse), expected, rtol=1e-9)


def test_members_without_weights_or_probabilities() -> None:
    """Such a member is fitted to the rows drawn, and votes."""

    class Nearest:
        def fit(self, X: Any, y: Any) -> None:
            self.X, self.y, self.classes_ = X, y, np.unique(y)

        def predict(self, X: Any) -> Any:
            return self.y[np.abs(X[:, None] - self.X[None]).sum(axis=2).argmin(axis=1)]

    X, y = CANCER
    labels = np.where(y == 1, "good", "bad")
    model = tenfold.BaggingClassifier(Nearest(), n_estimators=20, oob_score=True, random_state=0).fit(X[:400], labels[:400])
    assert model.score(X[400:], labels[400:]) > 0.9 and 0.85 < model.oob_score_ < 1
    np.testing.assert_allclose(model.predict_proba(X) * 20 % 1, 0, atol=1e-12)
    assert not hasattr(model, "decision_function")


def test_pipelines_of_anybodys_steps() -> None:
    """Their fit takes no weights by that name, or hands them to a step that takes none: they are fitted to the rows drawn."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = CANCER
    for made in (make_pipeline, tenfold.make_pipeline):
        member = made(StandardScaler(), KNeighborsClassifier())
        model = tenfold.BaggingClassifier(member, n_estimators=3, random_state=0).fit(np.asfortranarray(X), y)
        assert model.score(X, y) > 0.95
        rows = model.estimators_samples_[1]
        again = tenfold.base.sklearn_api.fresh(member).fit(X[rows], y[rows])
        np.testing.assert_array_equal(model.estimators_[1].predict(X), again.predict(X))


def test_weights_reach_a_member_in_one_piece() -> None:
    """Without draws a member is fitted with the weights as they are, which some want contiguous."""
    from sklearn.svm import SVR

    X, y = DIABETES
    w = 1.0 + np.arange(60) % 3
    model = tenfold.BaggingRegressor(SVR(), n_estimators=1, bootstrap=False).fit(X[:60], y[:60], w)
    np.testing.assert_allclose(model.predict(X), SVR().fit(X[:60], y[:60], w).predict(X), rtol=1e-9)
