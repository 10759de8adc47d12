"""Searches: scikit-learn's table of results, the fits that settings share, failures, interrupts, saved results."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.model_selection as theirs
from scipy.stats import loguniform, uniform
from sklearn.svm import SVC

import tenfold
from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.compose.search.sharing import with_setting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = 2 * X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=120)
LABEL = np.where(Y > 1, "yes", "no")
CODE = np.digitize(Y, [0, 2])
FOLDS = theirs.KFold(4, shuffle=True, random_state=0)
CLASS_FOLDS = theirs.StratifiedKFold(4)
PIPE = tenfold.make_pipeline


class Counted:
    """Counts fits by the name of the class, and passes over rows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fits: list[str] = []
        fit = Estimator._fit

        def counting(learner: Any, *given: Any, **more: Any) -> Any:
            self.fits.append(type(learner).__name__)
            return fit(learner, *given, **more)

        monkeypatch.setattr(Estimator, "_fit", counting)

    def of(self, name: str) -> int:
        return self.fits.count(name)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    yield Counted(monkeypatch)


# --- the same table as scikit-learn's ---------------------------------------------------------------------------------

SAME: list[tuple[Any, Any, Any, Any, dict[str, Any]]] = [
    (tenfold.Ridge(), {"alpha": [0.1, 1, 10.0], "fit_intercept": [True, False]}, Y, FOLDS, {}),
    (tenfold.Lasso(), [{"alpha": [0.01, 0.1]}, {"positive": [True]}], Y, FOLDS, {"scoring": "neg_mean_squared_error"}),
    (tenfold.LogisticRegression(tol=1e-10), {"C": [0.1, 1.0, 10.0]}, LABEL, CLASS_FOLDS, {"scoring": "neg_log_loss"}),
    (tenfold.LogisticRegression(tol=1e-10), {"C": [0.1, 10.0]}, CODE, CLASS_FOLDS,
     {"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}),
    (tenfold.HistGradientBoostingClassifier(), {"max_iter": [3, 8], "max_leaf_nodes": [3, 5]}, LABEL, CLASS_FOLDS,
     {"scoring": {"auc": "roc_auc", "share": "accuracy"}, "refit": "auc"}),
    (tenfold.DecisionTreeRegressor(random_state=0), {"ccp_alpha": [0.0, 0.1], "criterion": ["squared_error"]}, Y, FOLDS,
     {"scoring": "neg_mean_absolute_error"}),
    (tenfold.GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, LABEL, CLASS_FOLDS, {"refit": False}),
]  # fmt: skip


@pytest.mark.parametrize("model, grid, y, cv, more", SAME, ids=lambda one: type(one).__name__)
def test_results_are_those_of_scikit_learn(model: Any, grid: Any, y: Any, cv: Any, more: dict[str, Any]) -> None:
    ours = tenfold.GridSearchCV(model, grid, cv=cv, return_train_score=True, **more).fit(X, y)
    peer = theirs.GridSearchCV(model, grid, cv=cv, return_train_score=True, **more).fit(X, y)
    found, expected = ours.cv_results_, peer.cv_results_
    assert list(found) == list(expected)
    assert found["params"] == expected["params"]
    for key, column in expected.items():
        if key.startswith("param_"):
            assert found[key].dtype == column.dtype and found[key].tolist() == column.tolist()
        elif key.startswith("rank_"):
            np.testing.assert_array_equal(found[key], column)
        elif key != "params" and "time" not in key:
            np.testing.assert_allclose(found[key], column, rtol=1e-9, atol=1e-12)
    assert (ours.best_params_, ours.best_index_, ours.n_splits_) == (peer.best_params_, peer.best_index_, peer.n_splits_)
    assert ours.multimetric_ == peer.multimetric_
    assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-9)
    if more.get("refit", True):
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
        assert ours.score(X, y) == pytest.approx(peer.score(X, y), rel=1e-9)


def test_learners_are_searched_by_scikit_learn_too() -> None:
    pipe = PIPE(tenfold.StandardScaler(), tenfold.Ridge())
    search = theirs.GridSearchCV(pipe, {"ridge__alpha": [0.1, 1.0]}, scoring="neg_mean_squared_error").fit(X, Y)
    ours = tenfold.GridSearchCV(pipe, {"ridge__alpha": [0.1, 1.0]}, scoring="neg_mean_squared_error", cv=theirs.KFold(5))
    assert search.best_score_ == pytest.approx(ours.fit(X, Y).best_score_, rel=1e-9)


# --- shared work ------------------------------------------------------------------------------------------------------

SHARED: list[tuple[Any, Any, Any]] = [
    (tenfold.Ridge(), {"alpha": [0.1, 1.0, 10.0], "fit_intercept": [True, False], "positive": [False, True]}, Y),
    (tenfold.LinearRegression(), {"fit_intercept": [True, False], "solver": ["auto", "qr"]}, Y),
    (tenfold.ElasticNet(), {"alpha": [0.01, 0.1], "l1_ratio": [0.2, 0.9]}, Y),
    (PIPE(tenfold.StandardScaler(), tenfold.Ridge()), {"ridge__alpha": [0.1, 10.0], "standardscaler__with_mean": [True, False]}, Y),
    (PIPE(tenfold.PCA(2), tenfold.Ridge()), {"ridge__alpha": [0.1, 10.0], "pca__n_components": [1, 3]}, Y),
    (PIPE(tenfold.PolynomialFeatures(), tenfold.Ridge()), {"ridge__alpha": [0.1, 10.0], "polynomialfeatures__degree": [1, 2]}, Y),
    (PIPE(tenfold.PolynomialFeatures(), tenfold.StandardScaler(), tenfold.Lasso()), {"lasso__alpha": [0.1, 1.0]}, Y),
    (PIPE(tenfold.StandardScaler(), tenfold.LogisticRegression(tol=1e-10)), {"logisticregression__C": [0.1, 1.0]}, LABEL),
    (tenfold.GradientBoostingRegressor(), {"n_estimators": [3, 8], "max_depth": [1, 2]}, Y),
    (tenfold.RandomForestClassifier(random_state=0), {"n_estimators": [3, 8], "max_depth": [1, 2]}, LABEL),
    (tenfold.BaggingClassifier(tenfold.GaussianNB(), random_state=0),
     {"n_estimators": [2, 4], "estimator__var_smoothing": [1e-9, 1.0]}, LABEL),
    (tenfold.LinearDiscriminantAnalysis(), {"solver": ["svd", "lsqr"], "priors": [None, [0.3, 0.3, 0.4]]}, CODE),
]  # fmt: skip


@pytest.mark.parametrize("model, grid, y", SHARED, ids=lambda one: repr(one)[:50])
@pytest.mark.parametrize("cv", [FOLDS, theirs.ShuffleSplit(2, test_size=0.3, random_state=0)], ids=["folds", "shuffled"])
def test_shared_fits_are_those_of_each_setting_alone(model: Any, grid: Any, y: Any, cv: Any) -> None:
    search = tenfold.GridSearchCV(model, grid, cv=cv).fit(X, y)
    splits = list(cv.split(X, y))
    for i, setting in enumerate(search.cv_results_["params"]):
        for k, (train, test) in enumerate(splits):
            alone = with_setting(model, setting).fit(X[train], y[train]).score(X[test], y[test])
            assert search.cv_results_[f"split{k}_test_score"][i] == pytest.approx(alone, rel=1e-9)


def test_steps_may_be_replaced_and_take_the_parameters_that_follow() -> None:
    model = PIPE(tenfold.StandardScaler(), tenfold.Ridge())
    grid = [
        {"ridge": [tenfold.Lasso(), tenfold.Ridge()], "ridge__alpha": [0.1, 1.0]},
        {
            "standardscaler": ["passthrough"],
            "ridge": [tenfold.GradientBoostingRegressor(loss="quantile", n_estimators=3)],
            "ridge__alpha": [0.2, 0.5],
        },
    ]
    search = tenfold.GridSearchCV(model, grid, cv=FOLDS).fit(X, Y)
    peer = theirs.GridSearchCV(model, grid, cv=FOLDS).fit(X, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-9)
    assert repr(search.best_estimator_) == repr(peer.best_estimator_)
    assert model[-1].__class__ is tenfold.Ridge and "coef_" not in vars(model[-1])  # nothing that was given is fitted


def test_a_path_costs_one_fit_for_each_fold(counted: Counted) -> None:
    tenfold.GridSearchCV(tenfold.HistGradientBoostingRegressor(), {"max_iter": [2, 4, 6, 8]}, cv=3).fit(X, Y)
    assert counted.of("HistGradientBoostingRegressor") == 3 + 1  # and the refit
    counted.fits.clear()
    grid = {"ccp_alpha": np.linspace(0, 0.1, 20), "max_depth": [2, 4]}
    tenfold.GridSearchCV(tenfold.DecisionTreeClassifier(random_state=0), grid, cv=3).fit(X, LABEL)
    assert counted.of("DecisionTreeClassifier") == 2 * 3 + 1


def test_merged_sums_cost_no_fit_at_all(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    summarize = tenfold.Ridge._summarize
    monkeypatch.setattr(tenfold.Ridge, "_summarize", lambda self, block: read.append(len(block)) or summarize(self, block))
    tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": np.logspace(-3, 3, 30), "fit_intercept": [True, False]}, cv=5).fit(X, Y)
    assert counted.of("Ridge") == 1  # the refit
    assert sum(read) == 2 * len(X)  # all folds together once, and the refit


@pytest.mark.parametrize("front", [tenfold.StandardScaler(), tenfold.PolynomialFeatures()], ids=["scaler", "polynomials"])
def test_a_front_that_merges_costs_no_fit_either(front: Any, counted: Counted) -> None:
    tenfold.GridSearchCV(PIPE(front, tenfold.Ridge()), {"ridge__alpha": np.logspace(-3, 3, 30)}, cv=5).fit(X, Y)
    assert counted.of("Ridge") == 0 and counted.of("Pipeline") == 1


def test_the_front_of_a_pipeline_is_fitted_once_for_each_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    front: list[int] = []
    learn = tenfold.PCA._learn
    monkeypatch.setattr(tenfold.PCA, "_learn", lambda self, source: front.append(1) or learn(self, source))
    model = PIPE(tenfold.PCA(2), tenfold.HistGradientBoostingRegressor())
    grid = {"histgradientboostingregressor__max_iter": [2, 4], "histgradientboostingregressor__max_leaf_nodes": [2, 3, 5]}
    tenfold.GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert len(front) == 3 + 1


def test_a_setting_starts_where_the_one_before_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[Any] = []
    learn = tenfold.LogisticRegression._learn_from

    def watched(self: Any, source: Any, start: Any) -> Any:
        starts.append(start)
        return learn(self, source, start)

    monkeypatch.setattr(tenfold.LogisticRegression, "_learn_from", watched)
    search = tenfold.GridSearchCV(tenfold.LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, cv=3).fit(X, LABEL)
    assert search.n_splits_ == 3
    assert sum(start is None for start in starts) == 2  # the fit to all rows that the first settings start from, and the refit


CLASSES = [cls for cls in (getattr(tenfold, name) for name in tenfold.PUBLIC) if isinstance(cls, type)]
OF_SUMS = [cls for cls in CLASSES if issubclass(cls, OnePass) and cls.summary_reads is not None]


@pytest.mark.parametrize("cls", OF_SUMS, ids=lambda cls: cls.__name__)
def test_sums_depend_on_the_declared_parameters_alone(cls: Any) -> None:
    """`summary_reads` is what `_summarize` reads."""
    read: set[str] = set()

    class Watched(cls):  # type: ignore[misc, valid-type]
        def __getattribute__(self, attribute: str) -> Any:
            read.add(attribute)
            return super().__getattribute__(attribute)

    learner = Watched()
    y = CODE if learner.target == "label" else Y
    source = check.check_fit(learner, np.abs(X) if learner.nonnegative else X, y)
    vars(learner).update(source.facts)
    read.clear()
    learner._summarize(source.load(0))
    assert read & set(cls._domains) <= set(cls.summary_reads)


# --- drawn settings ---------------------------------------------------------------------------------------------------


def test_draws_are_those_of_scikit_learn() -> None:
    for given in (
        {"alpha": uniform(0, 1), "solver": ["a", "b", "c"]},
        {"alpha": list(range(50)), "beta": list(range(30))},
        [{"alpha": loguniform(0.1, 1)}, {"beta": [1, 2, 3]}],
        {"alpha": [1, 2, 3]},
    ):
        size = 3 if given == {"alpha": [1, 2, 3]} else 20
        drawn = list(tenfold.ParameterSampler(given, size, random_state=7))
        assert drawn == list(theirs.ParameterSampler(given, size, random_state=7))
    grid = [{"b": [1, 2], "a": [3, 4]}, {"c": [5]}]
    ours, peer = tenfold.ParameterGrid(grid), theirs.ParameterGrid(grid)
    assert list(ours) == list(peer) == [ours[i] for i in range(len(ours))] and len(ours) == len(peer) == 5


@pytest.mark.parametrize("container", ["csr", "frame", "blocks"])
def test_rows_in_any_form(container: str) -> None:
    import pandas
    from scipy.sparse import csr_matrix

    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 10.0]})
    expected = search.fit(X, Y).best_score_
    if container == "blocks":
        search.fit([(X[:50], Y[:50]), (X[50:], Y[50:])])
    else:
        search.fit(csr_matrix(X) if container == "csr" else pandas.DataFrame(X, columns=list("abcd")), Y)
    assert search.best_score_ == pytest.approx(expected, rel=1e-9)


def test_categories_reach_the_learner() -> None:
    import pandas

    frame = pandas.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] > 0, "up", "down")})
    model = tenfold.HistGradientBoostingClassifier()
    search = tenfold.GridSearchCV(model, {"max_iter": [2, 5]}, cv=CLASS_FOLDS).fit(frame, LABEL)
    for k, (train, test) in enumerate(CLASS_FOLDS.split(frame, LABEL)):
        alone = with_setting(model, {"max_iter": 5}).fit(frame.iloc[train], LABEL[train]).score(frame.iloc[test], LABEL[test])
        assert search.cv_results_[f"split{k}_test_score"][1] == pytest.approx(alone, rel=1e-12)
    assert search.score(frame, LABEL) == search.best_estimator_.score(frame, LABEL)


def test_draws_without_repeats_from_a_huge_grid() -> None:
    grid = {name: list(range(100)) for name in "abcdef"}
    drawn = list(tenfold.ParameterSampler(grid, 50, random_state=0))
    assert len({tuple(one.items()) for one in drawn}) == 50


def test_randomized_search_draws_by_seed() -> None:
    given = {"alpha": loguniform(0.01, 100)}
    one, two, other = (
        tenfold.RandomizedSearchCV(tenfold.Ridge(), given, n_iter=4, random_state=seed).fit(X, Y) for seed in (0, 0, 1)
    )
    assert one.cv_results_["params"] == two.cv_results_["params"] != other.cv_results_["params"]
    peer = theirs.RandomizedSearchCV(tenfold.Ridge(), given, n_iter=4, random_state=0).fit(X, Y)
    assert one.cv_results_["params"] == peer.cv_results_["params"]
    with pytest.warns(tenfold.DataWarning, match="total space of parameters 2 is smaller than n_iter"):
        tenfold.RandomizedSearchCV(tenfold.Ridge(), {"alpha": [1.0, 2.0]}).fit(X, Y)


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_setting_that_fails_has_the_error_score_and_the_last_rank() -> None:
    with pytest.warns(tenfold.DataWarning, match=r"1 of 3 settings failed to fit.*alpha=-1"):
        search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [-1, 1.0, 2.0]}, cv=3).fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"][0]) and search.cv_results_["rank_test_score"][0] == 3
    with pytest.warns(tenfold.DataWarning, match="have the score 0"):
        search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [-1, 1.0]}, cv=3, error_score=0).fit(X, Y)
    assert search.cv_results_["mean_test_score"][0] == 0
    with pytest.raises(tenfold.BadParameter, match=">= 0"):
        tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [-1, 1.0]}, error_score="raise").fit(X, Y)
    with pytest.raises(tenfold.BadInput, match="every setting fails"):
        tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [-1]}).fit(X, Y)


def test_a_fit_that_fails_on_one_split_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    model = PIPE(tenfold.PCA(2), tenfold.Ridge())
    with pytest.warns(tenfold.DataWarning, match=r"2 of 4 settings failed"):
        search = tenfold.GridSearchCV(model, {"pca__n_components": [2, 40], "ridge__alpha": [1.0, 2.0]}, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).tolist() == [True, True, False, False]


def test_a_front_that_cannot_be_fitted_fails_alone() -> None:
    model = PIPE(tenfold.PolynomialFeatures(), tenfold.Ridge())
    with pytest.warns(tenfold.DataWarning, match=r"2 of 4 settings failed.*makes .* columns"):
        search = tenfold.GridSearchCV(model, {"polynomialfeatures__degree": [1, 500], "ridge__alpha": [0.1, 1.0]}).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).tolist() == [True, True, False, False]


def test_test_sets_without_a_score_are_told() -> None:
    rare = np.r_[np.zeros(118), 1, 1]
    with pytest.raises(tenfold.BadInput, match="some test sets have no score"):
        tenfold.GridSearchCV(tenfold.GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring="roc_auc").fit(X, rare)
    with pytest.warns(tenfold.DataWarning, match="some test sets have no score"):
        tenfold.GridSearchCV(
            tenfold.GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=["accuracy", "roc_auc"], refit="accuracy"
        ).fit(X, rare)
    with pytest.warns(tenfold.DataWarning, match="r2 of a test set of one row"):
        tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0]}, cv=theirs.LeaveOneOut()).fit(X[:20], Y[:20])


BAD: list[tuple[dict[str, Any], str]] = [
    (dict(estimator="Ridge", param_grid={"C": [1]}), "implementing 'fit' method"),
    (dict(estimator=SVC, param_grid={"C": [1]}), "implementing 'fit' method"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpa": [1]}), "Invalid parameter 'alpa'"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": "1"}), "needs to be a list or a numpy array"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": []}), "is an empty list"),
    (dict(estimator=tenfold.Ridge(), param_grid=[]), "must be a dict of values"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": [1]}, cv=1), "at least 2 folds"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": [1]}, cv=[([0], [0])]), r"GridSearchCV\(cv="),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": [1]}, scoring="accuracy"), "a regressor can be judged by"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": [1]}, scoring=["r2", "mse"]), "the name of the one that chooses"),
    (dict(estimator=tenfold.Ridge(), param_grid={"alpha": [1]}, refit=lambda table: 5), "number of a setting, 0 to 0"),
]


@pytest.mark.parametrize("given, match", BAD, ids=[match[:20] for _, match in BAD])
def test_bad_searches_are_refused_in_a_sentence(given: dict[str, Any], match: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=match):
        tenfold.GridSearchCV(**given).fit(X, Y)


def test_verbs_before_the_fit_and_without_a_refit() -> None:
    search = tenfold.GridSearchCV(tenfold.GaussianNB(), {"var_smoothing": [1e-9]}, refit=False)
    assert hasattr(search, "predict_proba") and not hasattr(search, "transform")
    assert not hasattr(tenfold.GridSearchCV(tenfold.Ridge(), {}), "predict_proba")
    with pytest.raises(tenfold.NotFitted, match="Call 'fit'"):
        search.predict(X)
    with pytest.raises(tenfold.NotFitted, match="Call 'fit'"):
        _ = search.cv_results_
    search.fit(X, LABEL)
    with pytest.raises(tenfold.NotFitted, match="refit=False"):
        search.predict(X)


def test_ctrl_c_keeps_the_settings_that_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = tenfold.GradientBoostingRegressor._fit
    count = [0]

    def stopping(self: Any, *given: Any, **more: Any) -> Any:
        count[0] += 1
        if count[0] == 8:  # in the third setting
            raise KeyboardInterrupt
        return fit(self, *given, **more)

    monkeypatch.setattr(tenfold.GradientBoostingRegressor, "_fit", stopping)
    model = tenfold.GradientBoostingRegressor(n_estimators=3)
    search = tenfold.GridSearchCV(model, {"max_depth": [1, 2, 3, 4]}, cv=3)
    with tenfold.engine(tenfold.Local()), tenfold.threads(1), pytest.raises(KeyboardInterrupt, match="2 of 4 settings"):
        search.fit(X, Y)
    assert len(search.cv_results_["params"]) == 2 and search.best_params_["max_depth"] in (1, 2)
    assert search.predict(X).shape == Y.shape


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_refit_by_a_function_of_the_table() -> None:
    def simplest(table: dict[str, Any]) -> int:
        return int(np.argmax(table["param_alpha"]))

    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 1.0, 100.0]}, refit=simplest).fit(X, Y)
    assert search.best_params_ == {"alpha": 100.0} and search.best_estimator_.alpha == 100.0
    with pytest.raises(tenfold.NotFitted, match="refit is a function"):
        _ = search.best_score_corrected_


def test_groups_are_never_split() -> None:
    groups = np.arange(120) // 4
    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0, 10.0]}, cv=theirs.GroupKFold(3))
    search.fit(X, Y, groups=groups)
    peer = theirs.GridSearchCV(tenfold.Ridge(), {"alpha": [1.0, 10.0]}, cv=theirs.GroupKFold(3)).fit(X, Y, groups=groups)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-9)


def test_scores_may_be_functions() -> None:
    def shift(truth: Any, prediction: Any) -> float:
        return -abs(float(np.mean(truth - prediction)))

    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 1e4]}, scoring=shift, cv=FOLDS).fit(X, Y)
    peer = theirs.GridSearchCV(
        tenfold.Ridge(), {"alpha": [0.1, 1e4]}, scoring=lambda model, X, y: shift(y, model.predict(X)), cv=FOLDS
    ).fit(X, Y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-9)
    assert search.best_score_range_[0] <= search.best_score_corrected_ <= search.best_score_range_[1]


def test_results_are_saved_with_the_best_model(tmp_path: Path) -> None:
    grid = [{"alpha": [0.1, 1.0]}, {"positive": [True], "solver": ["auto"]}]
    search = tenfold.GridSearchCV(tenfold.Ridge(), grid, return_train_score=True).fit(X, Y)
    tenfold.save(search, tmp_path / "search.tenfold")
    for again in (tenfold.load(tmp_path / "search.tenfold"), pickle.loads(pickle.dumps(search))):
        assert str(again) == str(search)
        np.testing.assert_array_equal(again.predict(X), search.predict(X))
        for key, column in search.cv_results_.items():
            assert np.array_equal(np.ma.filled(again.cv_results_[key], 0), np.ma.filled(column, 0)), key


def test_draws_from_distributions_are_saved_without_them(tmp_path: Path) -> None:
    search = tenfold.RandomizedSearchCV(tenfold.Ridge(), {"alpha": uniform(0, 1)}, n_iter=3, random_state=0).fit(X, Y)
    with pytest.raises(tenfold.BadFile, match="param_distributions is a rv_continuous_frozen"):
        tenfold.save(search, tmp_path / "search.tenfold")
    tenfold.save(search.set_params(param_distributions=None), tmp_path / "search.tenfold")
    assert tenfold.load(tmp_path / "search.tenfold").best_params_ == search.best_params_


def test_progress_counts_settings() -> None:
    records: list[Any] = []
    with tenfold.monitor(records.append):
        tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 1.0], "fit_intercept": [True, False]}).fit(X, Y)
    mine = [record for record in records if record.learner == "GridSearchCV"]
    assert [record.n_pass for record in mine if record.of == 4] == [1, 2, 3, 4]


def test_a_search_inside_other_learners() -> None:
    search = tenfold.GridSearchCV(tenfold.Ridge(), {"alpha": [0.1, 100.0]}, cv=3)
    assert tenfold.cross_validate(search, X, Y, folds=3).mean > 0.4
    pipe = PIPE(tenfold.StandardScaler(), search).fit(X, Y)
    assert pipe.predict(X).shape == Y.shape
    assert tenfold.BaggingRegressor(search, n_estimators=2, random_state=0).fit(X, Y).score(X, Y) > 0.4
    assert repr(search.fit(X, Y)._at_choice()) == repr(tenfold.Ridge(alpha=search.best_params_["alpha"]))
