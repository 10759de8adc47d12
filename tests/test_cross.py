"""Cross-validation: every shortcut equals refitting, every row is predicted by a model that has not seen it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import tenfold
from tenfold.evaluate.result import corrected_error
from tenfold.evaluate.splits import assign_folds

CLASSIFIERS = [
    tenfold.GaussianNB(),
    tenfold.LinearDiscriminantAnalysis(),
    tenfold.QuadraticDiscriminantAnalysis(reg_param=0.1),
    tenfold.NearestCentroid(),
    tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression()),
]
REGRESSORS = [
    tenfold.Ridge(alpha=3.0),
    tenfold.LinearRegression(),
    tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()),
]


def name(model: object) -> str:
    return type(model).__name__


@pytest.mark.parametrize("model", REGRESSORS, ids=name)
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_equals_refitting(model: tenfold.Ridge, weighted: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    w = np.random.default_rng(0).uniform(0.5, 2, size=len(y)) if weighted else None
    result = tenfold.cross_validate(model, X, y, folds=7, sample_weight=w, score="mse")
    fold = result.fold[0]
    for k in range(7):
        out = fold == k
        fitted = model.fit(X[~out], y[~out], None if w is None else w[~out])
        predicted = fitted.predict(X[out])
        np.testing.assert_allclose(result.predictions[out], predicted, rtol=1e-8)
        np.testing.assert_allclose(
            result.scores[0, k], np.average((predicted - y[out]) ** 2, weights=None if w is None else w[out]), rtol=1e-8
        )


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
def test_classification_equals_refitting(model: tenfold.GaussianNB) -> None:
    X, y = load_wine(return_X_y=True)
    result = tenfold.cross_validate(model, X, y, folds=5, score="log_loss")
    for k in range(5):
        out = result.fold[0] == k
        proba = model.fit(X[~out], y[~out]).predict_proba(X[out])
        np.testing.assert_allclose(result.probabilities[out], proba, rtol=1e-6, atol=1e-8)
        expected = -np.log(np.maximum(proba[np.arange(out.sum()), y[out]], np.finfo(float).tiny)).mean()
        np.testing.assert_allclose(result.scores[0, k], expected, rtol=1e-6)
    one_pass = model.kind == "one pass"
    assert result.method == ("merged statistics" if one_pass else "refitted")


def test_ridge_path_equals_honest_refits() -> None:
    X, y = load_diabetes(return_X_y=True)
    alphas = np.logspace(-3, 3, 20)
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", alphas, folds=10)
    fold = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=10).fold[0]
    for v, alpha in enumerate(alphas):
        for k in range(10):
            out = fold == k
            model = tenfold.Ridge(alpha=alpha).fit(X[~out], y[~out])
            np.testing.assert_allclose(path.scores[v, k], model.score(X[out], y[out]), rtol=1e-8)
    assert path.best == alphas[path.mean.argmax()]


@pytest.mark.parametrize("score", ["mse", "rmse", "r2", "mae"])
def test_path_scores_by_moments_and_by_predictions_agree(score: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    alphas = [0.01, 1.0, 100.0]
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", alphas, folds=4, score=score)
    for v, alpha in enumerate(alphas):
        one = tenfold.cross_validate(tenfold.Ridge(alpha=alpha), X, y, folds=4, score=score)
        np.testing.assert_allclose(path.scores[v], one.scores[0], rtol=1e-9)


def test_a_perfect_fit_does_not_lose_its_digits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + 1e-7 * rng.normal(size=200)
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", [1e-12], folds=5, score="mse")
    one = tenfold.cross_validate(tenfold.Ridge(alpha=1e-12), X, y, folds=5, score="mse")
    np.testing.assert_allclose(path.scores[0], one.scores[0], rtol=1e-6)


def test_path_in_a_pipeline_fits_the_scaler_in_each_fold() -> None:
    X, y = load_diabetes(return_X_y=True)
    pipe = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge())
    path = tenfold.validation_path(pipe, X, y, "ridge__alpha", [0.1, 10.0], folds=5, score="mse")
    for v, alpha in enumerate([0.1, 10.0]):
        one = tenfold.cross_validate(
            tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge(alpha=alpha)), X, y, folds=5, score="mse"
        )
        np.testing.assert_allclose(path.scores[v], one.scores[0], rtol=1e-9)


def test_repeats_groups_and_strata() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    result = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=5, repeats=3)
    assert result.scores.shape == (3, 5) and not (result.fold[0] == result.fold[1]).all()
    for fold in result.fold:
        shares = [y[fold == k].mean() for k in range(5)]
        assert max(shares) - min(shares) < 0.02
    groups = np.arange(len(y)) // 7
    grouped = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=5, groups=groups)
    assert all(len(set(grouped.fold[0][groups == g])) == 1 for g in range(groups.max() + 1))


def test_folds_are_even_and_reproducible() -> None:
    a, b = (assign_folds(103, 10, np.random.default_rng(1)) for _ in range(2))
    assert (a == b).all() and np.bincount(a).max() - np.bincount(a).min() <= 1


def test_standard_error_is_that_of_nadeau_and_bengio() -> None:
    scores = np.array([0.8, 0.9, 0.7, 0.85])
    expected = np.sqrt((1 / 4 + 1 / 3) * scores.var(ddof=1))
    np.testing.assert_allclose(corrected_error(scores, 4), expected, rtol=1e-14)


def test_zero_weight_rows_take_no_part() -> None:
    X, y = load_diabetes(return_X_y=True)
    w = np.ones(len(y))
    w[::3] = 0
    kept = tenfold.cross_validate(tenfold.Ridge(), X[w > 0], y[w > 0], folds=5)
    result = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=5, sample_weight=w)
    np.testing.assert_allclose(result.scores, kept.scores, rtol=1e-12)


def test_a_score_of_the_users_own() -> None:
    X, y = load_wine(return_X_y=True)
    result = tenfold.cross_validate(
        tenfold.GaussianNB(), X, y, folds=3, score=lambda truth, guess: float((truth == guess).mean())
    )
    expected = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=3)
    np.testing.assert_allclose(result.scores, expected.scores, rtol=1e-15)


def test_cross_val_predict() -> None:
    X, y = load_wine(return_X_y=True)
    labels = tenfold.cross_val_predict(tenfold.GaussianNB(), X, y)
    proba = tenfold.cross_val_predict(tenfold.GaussianNB(), X, y, method="predict_proba")
    assert (labels == proba.argmax(axis=1)).mean() == 1.0 and (labels == y).mean() > 0.95


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        (dict(folds=1), "at least 2"),
        (dict(folds=1000), "cannot make 1000 folds"),
        (dict(repeats=0), "repeats=0"),
        (dict(score="rmse"), "judged by"),
        (dict(groups=[1, 2]), "groups has 2"),
        (dict(stratify="yes"), "stratify"),
    ],
)
def test_bad_requests_are_told(kwargs: dict, words: str) -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(tenfold.TenfoldError, match=words):
        tenfold.cross_validate(tenfold.GaussianNB(), X, y, **kwargs)


def test_rare_classes_and_learners_without_a_target_are_told() -> None:
    X, y = load_wine(return_X_y=True)
    y = np.where(np.arange(len(y)) == 0, 9, y)
    with pytest.raises(tenfold.BadInput, match="class np.int64\\(9\\)|class 9"):
        tenfold.cross_validate(tenfold.GaussianNB(), X, y)
    with pytest.raises(tenfold.BadInput, match="nothing to score"):
        tenfold.cross_validate(tenfold.StandardScaler(), X)
    with pytest.raises(tenfold.BadParameter, match="alpha=-1"):
        tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", [-1.0])


def test_printed_and_drawn(tmp_path) -> None:
    X, y = load_diabetes(return_X_y=True)
    result = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=5, repeats=2)
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", np.logspace(-3, 3, 30), folds=5)
    assert "fold 5" in str(result) and "±" in str(result) and "best" in str(path)
    for drawn, label in ((result.plot(), "fold"), (path.plot(), "alpha")):
        assert drawn.get_xlabel() == label
        drawn.figure.savefig(tmp_path / "picture.png")
