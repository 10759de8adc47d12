"""Training sets from merged sums: equal to fits on their rows, for learners of one pass and for pipelines that end in one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from small_portfolio import GRIDS, shrink

import tenfold
from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.compose.front import Front
from tenfold.core import mapped
from tenfold.core.stats import Moments
from tenfold.evaluate import nested_cross_validate
from tenfold.evaluate.validate import training_sets
from tenfold.evaluate.validate.held_out import prepared
from tenfold.evaluate.validate.merges import FoldSums, all_but_one, all_but_some
from tenfold.evaluate.validate.training_sets import solver_of
from tenfold.score.registry import SCORES
from tenfold.selection.plan.folds import Division
from tenfold.selection.plan.guess import FrequencyGuess, MeanGuess
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows

BY_MOMENTS = [
    tenfold.LinearRegression(),
    tenfold.Ridge(alpha=2.0),
    tenfold.Ridge(positive=True),
    MeanGuess(),
    tenfold.LinearDiscriminantAnalysis(),
    tenfold.QuadraticDiscriminantAnalysis(reg_param=0.1),
    tenfold.GaussianNB(),
    tenfold.NearestCentroid(),
    FrequencyGuess(),
]


def gappy(n: int = 120, p: int = 5, classes: int = 0, constant: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Columns of different size and place, two with missing values, and a constant one (which least squares must see the rows for)."""
    rng = np.random.default_rng(n + p)
    X = rng.normal(size=(n, p)) * 10.0 ** np.arange(-2, p - 2) + 7.0
    y = X[:, 0] * 50 + X[:, 1] * 5 + rng.normal(size=n)
    X[rng.random(n) < 0.2, 0] = np.nan
    X[rng.random(n) < 0.1, 3] = np.nan
    X[:, 2] = 4.0 if constant else X[:, 2]
    return X, np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)) if classes else y


def outputs(model: Any, X: np.ndarray) -> np.ndarray:
    return np.asarray(model._outputs(X), dtype=np.float64)


def test_sums_of_folds_are_merges_from_the_left_and_right() -> None:
    rng = np.random.default_rng(0)
    for k in (3, 4, 7):
        stats = [Moments.of(rng.normal(size=(9, 3)), rng.normal(size=(9, 1)), np.ones(9)) for _ in range(k)]
        sums = FoldSums(stats)
        for held, wanted in zip([(i,) for i in range(k)], all_but_one(stats), strict=True):
            assert np.array_equal(sums.without(held).scatter, wanted.scatter)
        pairs = list(zip(combinations(range(k), 2), all_but_some(stats, 2), strict=True))
        for held, wanted in [*pairs, *pairs[::-1], *pairs[::2]]:  # in any order, the same bits
            assert np.array_equal(sums.without(held).scatter, wanted.scatter)
            assert np.array_equal(sums.without(held[::-1]).mean, wanted.mean)


@pytest.mark.parametrize("learner", BY_MOMENTS, ids=str)
def test_statistics_from_moments_give_the_same_fit(learner: Any) -> None:
    X, y = load_wine(return_X_y=True) if learner.role == "classifier" else load_diabetes(return_X_y=True)
    source = check.in_memory(learner, X, y)
    template = prepared(learner, source)
    one = source.load(0)
    moments = Moments.by_group(one.X, one.y, one.w, 3) if learner.role == "classifier" else Moments.of_block(one)
    found = template._solved(template._from_moments(moments), [])
    np.testing.assert_allclose(outputs(found[0], X), outputs(fresh(learner).fit(X, y), X), rtol=1e-9, atol=1e-9)


def test_every_learner_with_statistics_from_moments_is_tested() -> None:
    public = [getattr(tenfold, name) for name in tenfold.__all__]
    own = {one for one in public if isinstance(one, type) and issubclass(one, OnePass)}
    assert {one for one in own if "_from_moments" in vars(one)} <= {type(one) for one in BY_MOMENTS}


@pytest.mark.parametrize("classes", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_front_from_moments_is_the_front_of_the_rows(classes: int, weighted: bool) -> None:
    X, y = gappy(classes=classes)
    w = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    steps = [tenfold.SimpleImputer(), tenfold.StandardScaler()]
    last = tenfold.GaussianNB() if classes else tenfold.Ridge()
    model = tenfold.make_pipeline(*steps, last)
    source = check.in_memory(model, X, y, w)
    front = Front.of(steps, source)
    fitted, moments = front.solve(front.summarize(source.load(0)))
    whole = fresh(model)._fit(source)
    for mine, direct in zip(fitted, whole.steps, strict=False):
        np.testing.assert_allclose(mine._transform(X), direct[1]._transform(X), rtol=1e-12, atol=1e-12)
        assert (vars(mine).keys() | {"stats_"}) == vars(direct[1]).keys()
    Z = whole._through(X)
    v = np.ones(len(X)) if w is None else w
    direct = Moments.by_group(Z, y, v, classes) if classes else Moments.of(Z, y[:, None], v)
    np.testing.assert_allclose(moments.mean, direct.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moments.scatter, direct.scatter, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("learner", BY_MOMENTS, ids=str)
def test_pipelines_on_training_sets_are_merged(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind an imputer and a scaler: every training set as by fitting its rows, without a fit."""
    X, y = gappy(
        classes=3 if learner.role == "classifier" else 0, constant=not isinstance(learner, tenfold.LinearRegression)
    )
    model = tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), learner)
    source = check.in_memory(model, X, y)
    folds = [np.arange(k, len(X), 4) for k in range(4)]
    rows = {held: np.setdiff1d(np.arange(len(X)), np.concatenate([folds[k] for k in held])) for held in [(0,), (1, 3)]}
    wanted = {held: outputs(fresh(model).fit(X[some], y[some]), X) for held, some in rows.items()}
    monkeypatch.setattr(Estimator, "_fit", lambda *_: pytest.fail("fitted again"))
    solve = solver_of(prepared(model, source), source, folds, [])
    for held, expected in wanted.items():
        np.testing.assert_allclose(outputs(solve(held)[0], X), expected, rtol=1e-8, atol=1e-8)


def test_nested_pipeline_with_missing_values_equals_refitting(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = gappy()
    model = tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.Ridge())
    grid = {"ridge__alpha": [0.01, 1.0, 100.0], "simpleimputer__strategy": ["mean", "constant"]}
    merged = nested_cross_validate(model, X, y, grid, folds=4)
    assert merged.method == "merged statistics"
    monkeypatch.setattr(training_sets, "MOST_SUMS", -1)
    refitted = nested_cross_validate(model, X, y, grid, folds=4)
    assert refitted.method == "refitted" and merged.chosen == refitted.chosen
    np.testing.assert_allclose(merged.inner_scores, refitted.inner_scores, rtol=1e-9)
    np.testing.assert_allclose(merged.scores, refitted.scores, rtol=1e-9)


def test_an_empty_column_is_dropped_before_a_scaler() -> None:
    X, y = gappy()
    X[:, 1] = np.nan
    model = tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.Ridge())
    with pytest.warns(tenfold.DataWarning, match="without any observed values"):
        assert len(model.fit(X, y)[-1].coef_) == 4


def test_what_no_map_by_columns_does_is_fitted_again() -> None:
    X, y = gappy()
    for front in (tenfold.SimpleImputer(strategy="median"), tenfold.SimpleImputer(add_indicator=True)):
        model = tenfold.make_pipeline(front, tenfold.Ridge())
        assert prepared(model, check.in_memory(model, X, y))._from_sums(check.in_memory(model, X, y)) is None
    few = X.copy()
    few[10:, 0] = np.nan  # without the first rows, nothing of the first column is left
    model = tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.Ridge())
    source = check.in_memory(model, few, y)
    folds = [np.arange(0, 40), np.arange(40, 80), np.arange(80, 120)]
    solve = solver_of(prepared(model, source), source, folds, [])
    assert solve((0,)) is None and solve((1,)) is not None
    with pytest.warns(tenfold.DataWarning, match="without any observed values"):
        result = nested_cross_validate(model, few, y, {"ridge__alpha": [0.1, 1.0]}, folds=_Given(folds))
    assert result.method == "refitted"


class _Given:
    """A splitter of given folds."""

    def __init__(self, folds: list[np.ndarray]) -> None:
        self.folds = folds

    def get_n_splits(self, *_: Any) -> int:
        return len(self.folds)

    def split(self, X: Any, *_: Any) -> Any:
        everything = np.arange(len(X))
        for rows in self.folds:
            yield np.setdiff1d(everything, rows), rows


# --- the race ---------------------------------------------------------------------------------------------


def race_of(classes: int, monkeypatch: pytest.MonkeyPatch) -> Race:
    shrink(monkeypatch, 3, (2, 3))
    X, y = gappy(classes=classes, constant=bool(classes))
    role, judges = ("classifier", ["log_loss", "accuracy"]) if classes else ("regressor", ["rmse", "r2"])
    # A mixture starts from rows drawn by a hash of their bits, and sums that were merged scale rows by other last bits; the search of a
    # process for the most evidence ends within its tolerance.
    merging = [one for one in portfolio(role, *X.shape, classes) if not one.raw and one.kind != "basis"]
    families = [one for one in merging if one.title not in ("mixture discriminant", "Gaussian process")]
    return Race(Rows(X, y, Division(np.arange(len(X)) % 4)), families, [SCORES[name] for name in judges], pairs=True)


@pytest.mark.parametrize("classes", [0, 3])
def test_the_race_from_merged_sums_is_the_race_of_fits(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    merged = race_of(classes, monkeypatch)
    merged.run()
    monkeypatch.setattr(training_sets, "MOST_SUMS", -1)
    refitted = race_of(classes, monkeypatch)
    refitted.run()
    assert not refitted.failures and refitted.failures == merged.failures
    for name, scores in merged.scores.items():
        np.testing.assert_allclose(scores, refitted.scores[name], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(merged.outputs, refitted.outputs, rtol=1e-5, atol=1e-5)


def test_learners_of_one_pass_see_each_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten training sets of four folds: ten fits of each learner of one pass before, none now, and one pass over the rows. Neighbours
    are fitted once to each, whatever their number, and all penalties of kernel ridge regression come from one decomposition of each."""
    fits: dict[str, int] = {}
    rows = [0]
    fit, summarize = Estimator._fit, Front.summarize

    def counted_fit(self: Any, *given: Any) -> Any:
        fits[type(self).__name__] = fits.get(type(self).__name__, 0) + 1
        return fit(self, *given)

    def counted_rows(self: Any, block: Any) -> Any:
        rows[0] += len(block)
        return summarize(self, block)

    monkeypatch.setattr(Estimator, "_fit", counted_fit)
    monkeypatch.setattr(Front, "summarize", counted_rows)
    penalties = len(GRIDS["LOGISTIC_ROWS"])
    for classes, left in ((3, {"LogisticRegression": 10 * penalties, "KNeighborsClassifier": 10}), (0, {"KNeighborsRegressor": 10})):
        fits.clear()
        rows[0] = 0
        race = race_of(classes, monkeypatch)
        race.run()
        assert len(race.training_sets()) == 10 and fits == left and rows == [120]
        assert race.fits_to_do == sum(left.values()) + (10 if classes == 0 else 0)


def test_settings_start_from_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer passes than from zero, and the same models to within the tolerance."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = tenfold.LogisticRegression(tol=1e-8)
    rows = check.in_memory(model, X, y)
    values = [0.01, 0.1, 1.0, 10.0]
    sets = training_sets.TrainingSets(model, "C", values, lambda held: rows)
    near, far = sets.models((0,)), [sets.one(value, rows) for value in values]
    assert sum(int(one.n_iter_[0]) for one in near) < sum(int(one.n_iter_[0]) for one in far)
    for one, other in zip(near, far, strict=True):
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_pass_once_through_the_transformers_before_a_parameter(
    dtype: Any, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A logistic regression passes over its rows again and again, for each C; bits are those of a fit through the transformers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)).astype(dtype)
    y, w = (X[:, 0] * X[:, 1] > 0).astype(int), rng.integers(1, 3, 9000).astype(float) if weighted else None
    near = tenfold.RadialBasisFeatures(40, centers="sample", bandwidth=1.0)
    model = tenfold.make_pipeline(tenfold.StandardScaler(), near, tenfold.LogisticRegression())
    source = check.in_memory(model, X, y, w)
    seen: list[int] = []
    transform = tenfold.RadialBasisFeatures._transform
    monkeypatch.setattr(
        tenfold.RadialBasisFeatures, "_transform", lambda self, rows: (seen.append(len(rows)), transform(self, rows))[1]
    )
    first, second = model._fit_values(source, "logisticregression__C", [0.1, 1.0])
    assert sum(seen) == len(X)
    alone = [fresh(model).set_params(logisticregression__C=C).fit(X, y, w) for C in (0.1, 1.0)]
    np.testing.assert_array_equal(first.predict_proba(X), alone[0].predict_proba(X))
    np.testing.assert_allclose(second.predict_proba(X), alone[1].predict_proba(X), atol=1e-3)
    assert second.get_params()["logisticregression__C"] == 1.0


def test_rows_that_are_sparse_or_too_many_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    model = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression())
    kept = model._fit_values(check.in_memory(model, X, y), "logisticregression__C", [0.1, 1.0])
    monkeypatch.setattr(mapped, "MOST_KEPT", 0)
    again = model._fit_values(check.in_memory(model, X, y), "logisticregression__C", [0.1, 1.0])
    for one, other in zip(kept, again, strict=True):
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    model = tenfold.make_pipeline(tenfold.MaxAbsScaler(), tenfold.LogisticRegression())
    monkeypatch.undo()
    found = model._fit_values(check.in_memory(model, sparse.csr_matrix(X), y), "logisticregression__C", [0.1])
    alone = model.set_params(logisticregression__C=0.1).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(found[0].predict_proba(X), alone.predict_proba(X))
