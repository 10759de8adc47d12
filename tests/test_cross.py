"""Cross-validation: shortcuts equal refitting; every row is predicted by a model that has not seen it."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.model_selection as theirs
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import tenfold
from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.evaluate import (
    GroupKFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    nested_cross_validate,
)
from tenfold.evaluate.split.splitters import assign_folds
from tenfold.evaluate.validate.held_out import start_of
from tenfold.evaluate.validate.result import ValidationPath, corrected_error

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
            result.scores[0, k],
            np.average((predicted - y[out]) ** 2, weights=None if w is None else w[out]),
            rtol=1e-8,
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
            tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge(alpha=alpha)),
            X,
            y,
            folds=5,
            score="mse",
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
    with pytest.raises(tenfold.BadInput, match=r"class np.int64\(9\)|class 9"):
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


# --- other splits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [tenfold.Ridge(), tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge())], ids=name
)
@pytest.mark.parametrize(
    "splitter",
    [
        TimeSeriesSplit(5, gap=3),
        ShuffleSplit(4, test_size=0.3, random_state=0),
        RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
        theirs.KFold(6, shuffle=True, random_state=1),
        theirs.ShuffleSplit(3, test_size=0.2, random_state=1),
    ],
    ids=lambda s: type(s).__module__.split(".")[0] + type(s).__name__,
)
def test_any_splitter_equals_refitting(model: tenfold.Ridge, splitter: ShuffleSplit) -> None:
    X, y = load_diabetes(return_X_y=True)
    result = tenfold.cross_validate(model, X, y, folds=splitter, score="mse")
    pairs = [(np.sort(train), np.sort(test)) for train, test in splitter.split(X, y)]
    explicit = tenfold.cross_validate(model, X, y, folds=pairs, score="mse")
    np.testing.assert_array_equal(result.scores, explicit.scores)
    total, count = np.zeros(len(y)), np.zeros(len(y))
    for score, (train, test) in zip(result.scores.reshape(-1), pairs, strict=True):
        predicted = fresh(model).fit(X[train], y[train]).predict(X[test])
        np.testing.assert_allclose(score, ((predicted - y[test]) ** 2).mean(), rtol=1e-8)
        total[test] += predicted
        count[test] += 1
    rows = np.arange(len(y)) if result.rows is None else result.rows
    np.testing.assert_array_equal(rows, np.flatnonzero(count))
    np.testing.assert_allclose(result.predictions, total[rows] / count[rows], rtol=1e-8)
    if model.kind == "one pass":
        assert result.method == "merged statistics"
    ratio = np.mean([len(test) / len(train) for train, test in pairs])
    if not isinstance(splitter, (RepeatedKFold, theirs.KFold)):
        scores = result.scores
        np.testing.assert_allclose(
            result.standard_error, np.sqrt((1 / scores.size + ratio) * scores.var(ddof=1)), rtol=1e-12
        )


def test_splitters_of_labels_and_groups_get_them() -> None:
    X, y = load_wine(return_X_y=True)
    labels = np.array(["x", "y", "z"])[y]
    result = tenfold.cross_validate(tenfold.GaussianNB(), X, labels, folds=StratifiedKFold(5))
    for _, test in StratifiedKFold(5).split(X, labels):
        assert len(set(result.fold[0][test])) == 1
    groups = np.arange(len(y)) % 20
    result = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=GroupKFold(4), groups=groups)
    assert all(len(set(result.fold[0][groups == g])) == 1 for g in range(20))
    stratified = tenfold.cross_validate(tenfold.GaussianNB(), X, y, folds=4, groups=groups, stratify=True)
    assert all(len(set(stratified.fold[0][groups == g])) == 1 for g in range(20))


def test_duplicates_stay_together() -> None:
    X, y = load_wine(return_X_y=True)
    twice, labels = np.concatenate([X, X]), np.concatenate([y, y])
    result = tenfold.cross_validate(tenfold.GaussianNB(), twice, labels, folds=5, groups="duplicates")
    np.testing.assert_array_equal(result.fold[0][: len(y)], result.fold[0][len(y) :])


def test_explicit_rows_with_weights_of_zero() -> None:
    X, y = load_diabetes(return_X_y=True)
    w = np.ones(len(y))
    w[::4] = 0
    pairs = list(theirs.KFold(5).split(X))
    result = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=pairs, sample_weight=w, score="mse")
    for score, (train, test) in zip(result.scores[0], pairs, strict=True):
        model = tenfold.Ridge().fit(X[train], y[train], w[train])
        np.testing.assert_allclose(
            score, np.average((model.predict(X[test]) - y[test]) ** 2, weights=w[test]), rtol=1e-8
        )


def test_cross_val_predict_needs_every_row() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(tenfold.BadInput, match="ever held out"):
        tenfold.cross_val_predict(tenfold.Ridge(), X, y, folds=TimeSeriesSplit(4))


@pytest.mark.parametrize(
    ("folds", "words"),
    [
        ([], "at least one pair"),
        ([([0, 1], [1, 2])], "at once"),
        ([([0, 1], [])], "empty"),
        ([([0, 1], [5000])], "outside 0 to"),
        (["ab", "cd"], "empty|pairs"),
        ("five", "number of folds"),
        (2.5, "whole number"),
        (None, "whole number"),
    ],
)
def test_bad_folds_are_told(folds: object, words: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(tenfold.TenfoldError, match=words):
        tenfold.cross_validate(tenfold.Ridge(), X, y, folds=folds)


# --- other kinds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [tenfold.LinearDiscriminantAnalysis(), CLASSIFIERS[-1]], ids=name)
def test_reversed_equals_refitting(model: tenfold.GaussianNB) -> None:
    X, y = load_wine(return_X_y=True)
    X = X[:, :5]
    result = tenfold.cross_validate(model, X, y, folds=4, kind="reversed", score="log_loss")
    for k in range(4):
        inside = result.fold[0] == k
        proba = fresh(model).fit(X[inside], y[inside]).predict_proba(X[~inside])
        expected = -np.log(proba[np.arange(len(proba)), y[~inside]]).mean()
        np.testing.assert_allclose(result.scores[0, k], expected, rtol=1e-6)
    pairs = [(np.flatnonzero(result.fold[0] != k), np.flatnonzero(result.fold[0] == k)) for k in range(4)]
    explicit = tenfold.cross_validate(model, X, y, folds=pairs, kind="reversed", score="log_loss")
    np.testing.assert_allclose(explicit.scores, result.scores, rtol=1e-6)


@pytest.mark.parametrize("model", REGRESSORS, ids=name)
def test_corrected_equals_its_definition(model: tenfold.Ridge) -> None:
    X, y = load_diabetes(return_X_y=True)
    result = tenfold.cross_validate(model, X, y, folds=5, kind="corrected", score="mse")
    error = lambda fitted, rows: ((fitted.predict(X[rows]) - y[rows]) ** 2).mean()  # noqa: E731
    everything = np.arange(len(y))
    training = error(fresh(model).fit(X, y), everything)
    optimism = []
    for k in range(5):
        out = result.fold[0] == k
        fitted = fresh(model).fit(X[~out], y[~out])
        optimism.append(error(fitted, np.flatnonzero(out)) - error(fitted, everything))
    np.testing.assert_allclose(result.mean, training + np.mean(optimism), rtol=1e-8)
    np.testing.assert_allclose(result.optimism, np.mean(optimism), rtol=1e-6)
    plain = tenfold.cross_validate(model, X, y, folds=5, score="mse")
    np.testing.assert_allclose(result.predictions, plain.predictions, rtol=1e-8)


def test_corrected_estimates_the_true_error() -> None:
    """200 data sets: the mean estimate is within two standard errors of the truth; that of plain folds is
    not.
    """
    beta, p, n = np.array([1.0, -1.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]), 8, 100
    corrected, plain, truth = [], [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p))
        y = X @ beta + rng.normal(size=n)
        model = tenfold.LinearRegression().fit(X, y)
        truth.append(1 + ((model.coef_ - beta) ** 2).sum() + model.intercept_**2)  # of a new row: exact
        for found, kind in ((corrected, "corrected"), (plain, "k-fold")):
            found.append(tenfold.cross_validate(tenfold.LinearRegression(), X, y, folds=2, kind=kind, score="mse").mean)
    off = np.array(corrected) - truth
    assert abs(off.mean()) < 2 * off.std(ddof=1) / np.sqrt(200)
    bias = np.array(plain) - truth
    assert bias.mean() > 4 * bias.std(ddof=1) / np.sqrt(200)


def test_bad_kinds_are_told() -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(tenfold.BadParameter, match="kind='upside down'"):
        tenfold.cross_validate(tenfold.Ridge(), X, y, kind="upside down")
    with pytest.raises(tenfold.BadParameter, match="make up all rows"):
        tenfold.cross_validate(tenfold.Ridge(), X, y, kind="corrected", folds=TimeSeriesSplit(3))
    with pytest.raises(tenfold.BadParameter, match="leave repeats"):
        tenfold.cross_validate(tenfold.Ridge(), X, y, repeats=2, folds=TimeSeriesSplit(3))


# --- nested -------------------------------------------------------------------------------------------------


def brute_force(model: object, X: np.ndarray, y: np.ndarray, settings: list, fold: np.ndarray) -> tuple[list, list]:
    """R² (or accuracy) of each outer fold, and the settings chosen on the other folds."""
    scores, chosen = [], []
    for k in range(fold.max() + 1):
        means = []
        for setting in settings:
            inner = []
            for j in set(range(fold.max() + 1)) - {k}:
                train, test = (fold != k) & (fold != j), fold == j
                inner.append(fresh(model).set_params(**setting).fit(X[train], y[train]).score(X[test], y[test]))
            means.append(np.mean(inner))
        chosen.append(settings[int(np.argmax(means))])
        best = fresh(model).set_params(**chosen[-1]).fit(X[fold != k], y[fold != k])
        scores.append(best.score(X[fold == k], y[fold == k]))
    return scores, chosen


@pytest.mark.parametrize(
    ("model", "grid", "method"),
    [
        (tenfold.Ridge(), {"alpha": np.logspace(-2, 2, 5)}, "merged statistics"),
        (tenfold.Ridge(), {"fit_intercept": [False, True], "alpha": [0.05, 5.0]}, "merged statistics"),
        (REGRESSORS[2], {"ridge__alpha": [0.1, 100.0]}, "merged statistics"),
        (tenfold.make_pipeline(tenfold.PCA(5), tenfold.Ridge()), {"ridge__alpha": [0.1, 100.0]}, "refitted"),
    ],
    ids=str,
)
def test_nested_equals_brute_force(model: tenfold.Ridge, grid: dict, method: str) -> None:
    X, y = (part[:150] for part in load_diabetes(return_X_y=True))
    result = nested_cross_validate(model, X, y, grid, folds=4)
    scores, chosen = brute_force(model, X, y, result.settings, result.fold[0])
    assert result.chosen == chosen and result.method == method
    np.testing.assert_allclose(result.scores[0], scores, rtol=1e-8)
    assert "nested" in str(result) and "fold 4" in str(result)


def test_nested_classification_with_inner_folds_of_their_own() -> None:
    X, y = load_wine(return_X_y=True)
    grid = {"reg_param": [0.0, 0.5, 1.0]}
    model = tenfold.QuadraticDiscriminantAnalysis()
    result = nested_cross_validate(model, X, y, grid, folds=3, inner=4, repeats=2)
    assert result.scores.shape == (2, 3) and len(result.chosen) == 6 and result.inner_scores.shape == (6, 3)
    fold, k = result.fold[0], 1
    train = np.flatnonzero(fold != k)
    inner = assign_folds(len(train), 4, np.random.default_rng(k), codes=y[train])
    for setting, mean in zip(result.settings, result.inner_scores[k], strict=True):
        scores = []
        for j in range(4):
            one = fresh(model).set_params(**setting).fit(X[train[inner != j]], y[train[inner != j]])
            scores.append(one.score(X[train[inner == j]], y[train[inner == j]]))
        np.testing.assert_allclose(mean, np.mean(scores), rtol=1e-8)
    assert result.chosen[k] == result.settings[int(np.argmax(result.inner_scores[k]))]
    best = fresh(model).set_params(**result.chosen[k]).fit(X[train], y[train])
    np.testing.assert_allclose(result.scores[0, k], best.score(X[fold == k], y[fold == k]), rtol=1e-12)


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        (dict(grid={}), "at least one parameter"),
        (dict(grid={"alpha": []}), "at least one value"),
        (dict(grid={"alpha": 3.0}), "must be a list"),
        (dict(grid={"alpha": [-1.0]}), "alpha=-1"),
        (dict(grid={"alpha": [1.0]}, folds=2), "at least 3"),
        (dict(grid={"alpha": [1.0]}, folds=TimeSeriesSplit(3)), "make up all rows"),
    ],
)
def test_bad_nested_requests_are_told(kwargs: dict, words: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(tenfold.TenfoldError, match=words):
        nested_cross_validate(tenfold.Ridge(), X, y, **kwargs)


# --- the simplest of the best, and starting near the solution -----------------------------------------------


def test_one_standard_error() -> None:
    judge = tenfold.cross_validate(tenfold.Ridge(), np.eye(4), np.arange(4.0), folds=2, score="mse").score
    scores = np.array([[1.0, 1.2, 1.4], [0.9, 1.1, 1.3], [1.0, 1.15, 1.3], [2.0, 2.0, 2.0]])
    path = ValidationPath("Ridge()", "ridge__alpha", [0.1, 1.0, 10.0, 100.0], judge, scores, 3, 30, 0.0)
    assert path.best == 1.0 and scores[1].std(ddof=1) / np.sqrt(3) > 0.1
    assert path.one_standard_error == path.simplest("larger") == 10.0 and path.simplest("smaller") == 0.1
    odd = ValidationPath("Ridge()", "degrees", [1, 2, 3, 4], judge, scores, 3, 30, 0.0)
    with pytest.raises(tenfold.BadParameter, match="not known"):
        _ = odd.one_standard_error
    with pytest.raises(tenfold.BadParameter, match="'larger' or 'smaller'"):
        odd.simplest("nicer")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_start_near_the_solution_leads_to_the_same_end(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X[:, 0] + rng.normal(size=600) > 0).astype(int) + (n_classes == 3) * (X[:, 1] > 0.5)
    model = tenfold.LogisticRegression(tol=1e-8)
    source = check.in_memory(model, X, y)
    start = start_of(model, source)
    assert start is not None and start_of(tenfold.GaussianNB(), source) is None
    part = source.select(np.arange(500))
    warm, cold = fresh(model)._fit(part, start), fresh(model)._fit(part)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(warm.intercept_, cold.intercept_, rtol=1e-6, atol=1e-8)
    assert warm.n_iter_[0] <= cold.n_iter_[0]


def test_the_choice_of_nearest_centroid_is_that_of_predict() -> None:
    X, y = load_wine(return_X_y=True)
    for model in (
        tenfold.NearestCentroid(),
        tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.NearestCentroid()),
    ):
        result = tenfold.cross_validate(model, X, y, folds=5)
        for k in range(5):
            out = result.fold[0] == k
            expected = fresh(model).fit(X[~out], y[~out]).predict(X[out])
            np.testing.assert_array_equal(result.predictions[out], expected)
            np.testing.assert_allclose(result.scores[0, k], (expected == y[out]).mean(), rtol=1e-12)
