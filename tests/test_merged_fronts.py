"""Cross-validation of scalers and selectors before a learner of one pass costs about one pass: statistics of the folds are merged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.compose.front import Front

rng = np.random.default_rng(0)
N = 600
X = rng.gamma(2.0, size=(N, 7)) * np.logspace(0, 3, 7) + 5
X[:, 6] = 3.0  # a constant
LABEL = (X[:, 0] + X[:, 1] / 3 + rng.normal(size=N) > 9).astype(int) + (X[:, 2] > 60)
Y = X[:, 0] - X[:, 1] / 5 + rng.normal(size=N)
GAPS = np.where(rng.random(X.shape) < 0.1, np.nan, X)
where = rng.integers(0, 5, N)
FOLDS = [(np.flatnonzero(where != k), np.flatnonzero(where == k)) for k in range(5)]
CASES: dict[str, tuple[list[Any], Any]] = {
    "to a range": ([tenfold.MinMaxScaler()], X),
    "to another range, kept": ([tenfold.MinMaxScaler((-2, 3), clip=True)], X),
    "by the largest": ([tenfold.MaxAbsScaler()], X),
    "by tens": ([tenfold.DecimalScaler()], X),
    "filled, then to a range": ([tenfold.SimpleImputer(), tenfold.MinMaxScaler()], GAPS),
    "filled far away, then to a range": ([tenfold.SimpleImputer(strategy="constant", fill_value=-1e4), tenfold.MaxAbsScaler()], GAPS),
    "no constants": ([tenfold.VarianceThreshold(), tenfold.StandardScaler()], X),
    "little variance": ([tenfold.MinMaxScaler(), tenfold.VarianceThreshold(0.02)], X),
    "standard, then to a range": ([tenfold.StandardScaler(), tenfold.MinMaxScaler(), tenfold.MaxAbsScaler()], X),
}
OF_NUMBERS = {
    "best by F": ([tenfold.StandardScaler(), tenfold.SelectKBest(tenfold.f_regression, k=3)], X[:, :6]),
    "best by correlation": ([tenfold.SelectKBest(tenfold.r_regression, k=2), tenfold.StandardScaler()], X[:, :6]),
    "filled, chosen": ([tenfold.SimpleImputer(), tenfold.SelectFwe(tenfold.f_regression)], GAPS[:, :6]),
}
OF_CLASSES = {
    "best by F of classes": ([tenfold.StandardScaler(), tenfold.SelectKBest(k=2)], X[:, :6]),
    "best by chi-square": ([tenfold.MinMaxScaler(), tenfold.SelectKBest(tenfold.chi2, k=3), tenfold.StandardScaler()], X[:, :6]),
    "most of the best": ([tenfold.SimpleImputer(), tenfold.SelectPercentile(percentile=60)], GAPS[:, :6]),
}
REGRESSIONS = {**CASES, **OF_NUMBERS}
CLASSIFICATIONS = {**CASES, **OF_CLASSES}


def agrees(steps: list[Any], table: Any, y: Any, last: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[int]()
    summarize = Front.summarize

    def counted(self: Any, block: Any) -> Any:
        seen.append(len(block.w))
        return summarize(self, block)

    monkeypatch.setattr(Front, "summarize", counted)
    result = tenfold.cross_validate(tenfold.make_pipeline(*steps, last), table, y, folds=FOLDS)
    assert result.method == "merged statistics"
    assert sum(seen) == N, "the rows were summed more than once"
    expected = np.empty(N)
    for k in range(5):
        train, test = where != k, where == k
        expected[test] = tenfold.make_pipeline(*steps, last).fit(table[train], y[train]).predict(table[test])
    np.testing.assert_allclose(result.predictions, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agrees(*REGRESSIONS[name], Y, tenfold.Ridge(), monkeypatch)


@pytest.mark.parametrize("name", CLASSIFICATIONS)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of a constant within classes
def test_classifications(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    agrees(*CLASSIFICATIONS[name], LABEL, tenfold.LinearDiscriminantAnalysis(), monkeypatch)


def test_fitted_steps_are_those_of_a_fit() -> None:
    steps = [tenfold.MinMaxScaler(), tenfold.SelectKBest(tenfold.f_regression, k=2)]
    search = tenfold.GridSearchCV(tenfold.make_pipeline(*steps, tenfold.Ridge()), {"selectkbest__k": [1, 2, 4]}, cv=3).fit(X[:, :6], Y)
    assert search.best_params_["selectkbest__k"] in (2, 4)
    single = tenfold.cross_validate(tenfold.make_pipeline(*steps, tenfold.Ridge()), X[:, :6], Y, folds=FOLDS, return_estimator=True)
    one, alone = single["estimator"][0], tenfold.make_pipeline(*steps, tenfold.Ridge()).fit(X[where != 0, :6], Y[where != 0])
    assert one[-1].n_features_in_ == 2 and one[1].get_support().tolist() == alone[1].get_support().tolist()
    np.testing.assert_allclose(one[0].data_min_, alone[0].data_min_, rtol=1e-12)
    np.testing.assert_allclose(one[1].pvalues_, alone[1].pvalues_, rtol=1e-8)
    np.testing.assert_allclose(one[-1].coef_, alone[-1].coef_, rtol=1e-8)


def test_what_the_sums_do_not_tell_is_fitted_again() -> None:
    negative = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.SelectKBest(tenfold.chi2, k=2), tenfold.GaussianNB())
    with pytest.raises(tenfold.BadInput, match="must be non-negative"):
        tenfold.cross_validate(negative, X[:, :6], LABEL, folds=FOLDS)
    nothing = tenfold.make_pipeline(tenfold.SelectFwe(tenfold.f_regression, alpha=1e-300), tenfold.Ridge())
    with pytest.raises(tenfold.BadInput, match="keeps no column"):
        tenfold.cross_validate(nothing, rng.normal(size=(N, 3)), Y, folds=FOLDS)
