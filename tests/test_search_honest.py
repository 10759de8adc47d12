"""The corrected score of a search: what it removes, what it covers, what it does not depend on; pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit

import tenfold
from tenfold.compose.search import correction
from tenfold.compose.search.correction import HeldOut, units_of
from tenfold.evaluate.validate.memory import read
from tenfold.score.registry import find_score

NOISE = {"max_depth": [1, 2, 4, 8], "max_features": [None, 2, 4], "min_samples_leaf": [1, 5, 9]}


@pytest.mark.parametrize("scoring, level", [("accuracy", 0.5), ("roc_auc", 0.5), ("neg_log_loss", None)])
def test_on_noise_the_best_score_flatters_and_the_corrected_one_does_not(scoring: str, level: float | None) -> None:
    """Labels that the columns tell nothing of: the best of 36 settings of a tree is as good as any."""
    naive, corrected, covered = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 6)), rng.integers(0, 2, 100)
        search = tenfold.GridSearchCV(tenfold.DecisionTreeClassifier(random_state=0), NOISE, scoring=scoring).fit(X, y)
        truth = search.score(rng.normal(size=(3000, 6)), rng.integers(0, 2, 3000)) if level is None else level
        naive.append(search.best_score_ - truth)
        corrected.append(search.best_score_corrected_ - truth)
        covered.append(search.best_score_range_[0] <= truth <= search.best_score_range_[1])
    assert np.mean(naive) > 0.03
    assert abs(np.mean(corrected)) < 0.6 * np.mean(naive)
    assert np.mean(covered) >= 7 / 8


def test_of_one_setting_the_corrected_score_is_its_score_on_all_held_out_rows() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + rng.normal(size=90)
    for scoring in ("neg_mean_squared_error", "neg_root_mean_squared_error", "r2", "neg_mean_absolute_error"):
        search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0]}, scoring=scoring, cv=6).fit(X, y)
        judge = find_score(scoring, "regressor")
        predicted = _held_out_predictions(search, X, y)
        expected = judge.sign * judge.of(y[:, None], predicted[:, None], np.ones(90))
        assert search.best_score_corrected_ == pytest.approx(expected, rel=1e-9)


def _held_out_predictions(search: Any, X: Any, y: Any) -> Any:
    from tenfold.compose.search.folds import rounds_of_search

    rows = read(search.estimator, X, y)
    ((one,), _) = rounds_of_search(search, search.estimator, rows, None)
    predicted = np.empty(len(y))
    for k in range(len(one)):
        train, test = one.train_rows(k), one.test_rows(k)
        predicted[test] = tenfold.Ridge(alpha=1.0).fit(X[train], y[train]).predict(X[test])
    return predicted


def test_pseudo_values_of_a_score_that_is_no_mean_average_to_it() -> None:
    """The mean of the jackknife's pseudo-values is the score of all rows, but for a bias of order 1/n."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    raw = rng.normal(size=200) + y
    source = read(tenfold.GaussianNB(), rng.normal(size=(200, 2)), y)
    held = HeldOut(find_score("roc_auc", "classifier"), source, [np.arange(200)], units_of(source, None))
    held.add(0, [held.part(0, np.column_stack([np.zeros(200), raw]))])
    assert held.count == correction.JACKKNIFE
    assert -held.losses[0].mean() == pytest.approx(roc_auc_score(y, raw), abs=2e-3)


def test_more_rows_than_units_are_taken_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * correction.MOST_UNITS, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0, 1e4]}, scoring="neg_mean_squared_error").fit(X, y)
    low, high = search.best_score_range_
    assert low < search.best_score_corrected_ < high and high - low < 0.4
    assert search.best_score_corrected_ == pytest.approx(search.best_score_, abs=0.01)


def test_printed_beside_the_score_that_chose() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    search = tenfold.GridSearchCV(tenfold.GaussianNB(), {"var_smoothing": [1e-9, 1.0]})
    assert str(search) == repr(search)
    text = str(search.fit(X, X[:, 0] > 0)).splitlines()
    assert text[0] == repr(search) and text[1].startswith("best of 2 settings on 5 splits: var_smoothing=")
    low, high = search.best_score_range_
    assert text[2] == (
        f"score {search.best_score_:.4g} on the folds it was chosen by; "
        f"{search.best_score_corrected_:.4g} ({low:.4g} to {high:.4g}) for new rows"
    )
    assert "for new rows" in search._repr_html_()


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, X[:, 0] ** 2 + X[:, 1]


def test_a_curve_along_one_parameter(rows: tuple[Any, Any]) -> None:
    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": np.logspace(-2, 3, 6)}).fit(*rows)
    ax = search.plot()
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "alpha" and ax.get_ylabel() == "R² on held-out rows"
    (curve,) = [line for line in ax.lines if line.get_label() == "mean of the folds"]
    np.testing.assert_allclose(curve.get_ydata(), search.cv_results_["mean_test_score"], rtol=1e-12)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any(word.startswith("best: alpha = ") for word in words) and any("for new rows" in word for word in words)


def test_a_map_over_two_and_the_best_over_others(rows: tuple[Any, Any]) -> None:
    model = tenfold.make_pipeline(tenfold.PolynomialFeatures(), tenfold.Ridge())
    grid = {"polynomialfeatures__degree": [1, 2], "ridge__alpha": [0.1, 1.0, 10.0], "ridge__fit_intercept": [True, False]}
    search = tenfold.GridSearchCV(model, grid).fit(*rows)
    ax = search.plot(parameters=["ridge__alpha", "polynomialfeatures__degree"])
    (image,) = ax.images
    table = search.cv_results_
    for i, degree in enumerate([1, 2]):
        for j, alpha in enumerate([0.1, 1.0, 10.0]):
            here = (table["param_polynomialfeatures__degree"] == degree) & (table["param_ridge__alpha"] == alpha)
            assert image.get_array()[i, j] == pytest.approx(table["mean_test_score"][here].max(), rel=1e-12)
    assert "best over other parameters" in ax.get_title()
    assert search.plot(parameters="ridge__fit_intercept").get_xlabel() == "ridge__fit_intercept"
    with pytest.raises(tenfold.BadParameter, match="one or two of"):
        search.plot(parameters="alpha")


class Drawn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Anybody's learner of nothing: a plane drawn by a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_, self.w_ = np.unique(y), np.random.default_rng(self.seed).normal(size=X.shape[1])
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X @ self.w_ > 0).astype(int)]


def test_the_choice_among_learners_of_others_is_accounted_for_by_the_scores_of_folds() -> None:
    naive, corrected, covered = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 5)), rng.integers(0, 2, 100)
        search = tenfold.GridSearchCV(Drawn(), {"seed": list(range(20))}, cv=10).fit(X, y)
        low, high = search.best_score_range_
        naive.append(search.best_score_ - 0.5)
        corrected.append(search.best_score_corrected_ - 0.5)
        covered.append(low <= 0.5 <= high)
    assert np.mean(naive) > 0.06 and abs(np.mean(corrected)) < 0.3 * np.mean(naive) and np.mean(covered) > 0.9
    assert f"{search.best_score_corrected_:.4g} ({low:.4g} to {high:.4g}) for new rows" in str(search)
    one = tenfold.GridSearchCV(Drawn(), {"seed": [3]}, cv=5).fit(X, y)
    assert one.best_score_corrected_ == pytest.approx(one.best_score_, rel=1e-12)
    overlap = tenfold.GridSearchCV(Drawn(), {"seed": [3, 4]}, cv=ShuffleSplit(5, random_state=0)).fit(X, y)
    with pytest.raises(tenfold.NotFitted, match="share rows"):
        _ = overlap.best_score_corrected_


@pytest.mark.parametrize("learner", [Drawn(), tenfold.GaussianNB()], ids=["theirs", "ours"])
def test_a_scorer_that_is_nan_everywhere_is_named(learner: Any) -> None:
    def silent(model: Any, X: Any, y: Any) -> float:
        return float("nan")

    rng = np.random.default_rng(0)
    grid = {"seed": [0, 1]} if isinstance(learner, Drawn) else {"var_smoothing": [1e-9, 1e-3]}
    search = tenfold.GridSearchCV(learner, grid, scoring=silent)
    told = "the scorer silent gives NaN for every setting"
    with pytest.warns(UserWarning, match="non-finite"), pytest.raises(tenfold.BadInput, match=told):
        search.fit(rng.normal(size=(40, 3)), rng.integers(0, 2, 40))
