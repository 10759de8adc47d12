"""Fits that are odd but allowed, or refused in one sentence: numbers at the ends of their range, no rows, one learner in many threads."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags

import tenfold
from tenfold.base.estimator import Estimator, Regressor
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import estimator


def table(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.normal(size=n)


def line(x: Any, a: float, b: float) -> Any:
    return a * x[:, 0] + b


def test_curves_in_the_tools_of_scikit_learn() -> None:
    model = tenfold.CurveFit(line, start=[1.0, 0.0])
    assert not get_tags(model).input_tags.categorical
    X = np.linspace(0, 1, 40)[:, None]
    y = 3 * X[:, 0] + 1
    assert cross_val_score(clone(model), X, y).min() > 0.999
    for tool in (make_pipeline(FunctionTransformer(), model), VotingRegressor([("curve", model)])):
        np.testing.assert_allclose(clone(tool).fit(X, y).predict(X), y, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("unit", [1e-160, 1e-200, 1e-310])
@pytest.mark.parametrize("where", ["X", "y", "both"])
@pytest.mark.parametrize("name", ["LeastAbsoluteDeviations", "QuantileRegressor", "MMRegressor", "HuberRegressor"])
@pytest.mark.filterwarnings("ignore::tenfold.core.errors.Degenerate", "ignore::tenfold.core.errors.NotConverged")
def test_values_whose_squares_are_nothing(name: str, where: str, unit: float, fit_intercept: bool) -> None:
    X, y = table()
    X, y = X * (1.0 if where == "y" else unit), y * (1.0 if where == "X" else unit)
    more = {"tol": 1e100} if name == "MMRegressor" else {}
    model = getattr(tenfold, name)(fit_intercept=fit_intercept, **more).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("value", [1e30, 1e99])
@pytest.mark.parametrize("kind", ["BaggingClassifier", "BaggingRegressor"])
def test_more_draws_than_can_be_counted(kind: str, value: float) -> None:
    X, y = table()
    with pytest.raises(BadParameter, match=r"max_samples=1e\+\d\d\): must draw at most 1e\+15 rows"):
        getattr(tenfold, kind)(max_samples=value).fit(X, y > 0)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
@pytest.mark.parametrize("values", ["text", "category", "date"])
def test_no_rows_of_categories(make: Any, values: str) -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": np.arange(20.0)})
    if values == "category":
        frame["a"] = frame["a"].astype("category")
    if values == "date":
        frame["a"] = pd.Timestamp("2024-01-01")
    empty = make(frame[:0])
    for learner in (tenfold.Ridge(), tenfold.RandomForestRegressor(), tenfold.StandardScaler()):
        with pytest.raises(BadInput, match="0 sample"):
            learner.fit(empty, [])
        fitted = learner.fit(pd.DataFrame({"a": np.arange(20.0), "b": 1.0}), frame["b"])
        with pytest.raises(BadInput, match="0 sample"):
            (fitted.transform if isinstance(learner, tenfold.StandardScaler) else fitted.predict)(empty)


# --- one learner in many threads ---


@estimator
class Met(Regressor, Estimator):
    """A learner whose fits wait for one another in their middle."""

    for width in range(1, 9):
        vars()[f"only_{width}_"] = learned("bool", "left by the fit to so many columns", optional=True)
    del width
    barrier: ClassVar[threading.Barrier]

    def _learn(self, source: Any) -> Generator[Any, Any, dict[str, Any]]:
        mean = yield lambda block: block.y.mean() * np.ones(1)
        self.barrier.wait(timeout=60)
        width = self.n_features_in_  # of this fit, whatever others do
        self.barrier.wait(timeout=60)
        return dict(mean_=float(mean[0]), width_=width, **{f"only_{width}_": True})


def test_fits_in_threads_do_not_see_one_another() -> None:
    Met.barrier, learner, wrong = threading.Barrier(8), Met(), []

    def fit(width: int) -> None:
        try:
            learner.fit(np.zeros((5, width)), np.full(5, float(width)))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=fit, args=(width,)) for width in range(1, 9)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    assert learner.width_ == learner.n_features_in_ == learner.mean_
    assert [name for name in vars(learner) if name.startswith("only")] == [f"only_{learner.width_}_"]


@pytest.mark.parametrize("name", ["HistGradientBoostingClassifier", "GradientBoostingClassifier", "LogisticRegression"])
def test_the_last_fit_wins(name: str) -> None:
    X, y = table(200)
    options = {} if name == "LogisticRegression" else {"random_state": 0}
    learner, wrong = getattr(tenfold, name)(**options), []

    def fit(i: int) -> None:
        try:
            for _ in range(2):
                learner.fit(X[:, : 1 + i % 3], y > 0)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    p = learner.n_features_in_
    alone = getattr(tenfold, name)(**options).fit(X[:, :p], y > 0)
    np.testing.assert_array_equal(learner.predict_proba(X[:, :p]), alone.predict_proba(X[:, :p]))


def test_a_fit_that_fails_leaves_nothing() -> None:
    X, y = table()
    model = tenfold.Ridge().fit(X, y)
    with pytest.raises(BadInput):
        model.fit(np.where(X > 2, np.nan, X), y)
    assert not [name for name in vars(model) if name.endswith("_")]
